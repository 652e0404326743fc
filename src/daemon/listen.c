/* SPDX-License-Identifier: MIT */
/*
 * listen.c - the three doors, and who may not come in.
 *
 * A door that somebody else than this machine could reach must be asked for in so many words
 * (allow_remote): else the daemon does not start, and says why.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "daemon/parts.h"
#include "daemon/place.h"

#define BODY_MAX           ((size_t)16 * 1024 * 1024) /* of what is submitted: a list of URLs */
#define HEAD_MS            10000
#define IDLE_MS            60000
#define BODY_RATE          1024
#define PATIENCE_MS        500
#define CONNECTIONS        256
#define CONNECTIONS_OF_ONE 128
#define FDS_KEPT           32 /* for files, sockets to providers, and looking at oneself */

/* With few descriptors there are few connections, so that the rest are told 503. */
static int connections_max(void)
{
    struct rlimit fds = {0};

    if (getrlimit(RLIMIT_NOFILE, &fds) < 0 || fds.rlim_cur >= 4 * CONNECTIONS)
        return CONNECTIONS;
    int64_t share = ((int64_t)fds.rlim_cur - FDS_KEPT) / 4;
    return share < 2 ? 2 : (int)share;
}

static int new_server(struct daemon *d, struct door *door, const struct route *const *tables)
{
    struct server_options o = {
        .head_ms = HEAD_MS,
        .idle_ms = IDLE_MS,
        .body_rate_min = BODY_RATE,
        .body_bytes_max = (int64_t)BODY_MAX,
        .connections_max = connections_max(),
        .client_max = CONNECTIONS_OF_ONE,
        .patience_ms = PATIENCE_MS,
    };

    door->router.tables = tables;
    door->router.body_max = BODY_MAX;
    door->router.context = d;
    int rc = fb_server_new(&d->loop, &o, &fb_router_handler, &door->router, &door->server);
    if (rc == 0)
        d->doors_open++;
    return rc;
}

static bool is_loopback(const union address *a)
{
    static const unsigned char V6[16] = {[15] = 1};

    if (a->any.sa_family == AF_INET6)
        return memcmp(&a->v6.sin6_addr, V6, sizeof V6) == 0;
    return ntohl(a->v4.sin_addr.s_addr) >> 24 == 127;
}

/* The address without its port, as Host has it. */
static void set_own(struct guard *g, const char *where)
{
    const char *colon = strrchr(where, ':');
    size_t size = colon ? (size_t)(colon - where) : 0;

    if (size >= sizeof g->own)
        size = 0;
    memcpy(g->own, where, size);
    g->own[size] = '\0';
}

static int complain(struct fly_error *err, int rc, const char *name, const char *where)
{
    (void)snprintf(err->text, sizeof err->text, "listeners.%s: cannot listen on %.100s: %s", name,
                   where, strerror(-rc));
    return rc;
}

static int open_tcp(struct daemon *d, struct door *door, const struct config_listener *c,
                    const char *name, const struct route *const *tables, struct fly_error *err)
{
    union address where;
    union address actual;

    if (strcmp(c->listen, "off") == 0)
        return 0;
    int rc = fb_address_read(c->listen, &where);
    if (rc < 0)
        return complain(err, rc, name, c->listen);
    if (!is_loopback(&where) && !c->allow_remote) {
        (void)snprintf(err->text, sizeof err->text,
                       "listeners.%s.listen: others could reach %.80s; if that is meant, set "
                       "listeners.%s.allow_remote: true",
                       name, c->listen, name);
        return -EPERM;
    }
    if (fb_config_has_secret(&c->token)) {
        rc = fb_config_read_secret(&c->token, &door->token, err);
        if (rc < 0)
            return rc;
        door->router.guard.token = fb_buffer_text(&door->token);
    }
    door->router.guard.host = c->hosts;
    rc = new_server(d, door, tables);
    if (rc == 0)
        rc = fb_server_listen(door->server, &where, &actual);
    if (rc < 0)
        return complain(err, rc, name, c->listen);
    fb_address_write(&actual, door->where);
    set_own(&door->router.guard, door->where);
    return 0;
}

static int open_control(struct daemon *d, struct fly_error *err)
{
    struct door *door = &d->door[DOOR_CONTROL];
    const char *path = fb_buffer_text(&d->socket);

    if (d->socket.size == 0)
        return 0;
    door->router.guard.is_trusted = true;
    int rc = new_server(d, door, fb_routes_internal);
    if (rc == 0)
        rc = fb_server_listen_path(door->server, path, 0660);
    if (rc < 0)
        return complain(err, rc, "admin", path);
    (void)snprintf(door->where, sizeof door->where, "%s", path);
    return 0;
}

int fb_doors_open(struct daemon *d, struct fly_error *err)
{
    const struct config_listeners *c = &d->config->listeners;
    int rc = open_tcp(d, &d->door[DOOR_PUBLIC], &c->public, "public", fb_routes_public, err);

    if (rc == 0)
        rc =
            open_tcp(d, &d->door[DOOR_INTERNAL], &c->internal, "internal", fb_routes_internal, err);
    return rc == 0 ? open_control(d, err) : rc;
}

static void door_closed(void *context)
{
    struct router *r = context;
    struct daemon *d = r->context;

    for (int i = 0; i < DOORS; i++)
        if (&d->door[i].router == r)
            d->door[i].server = NULL;
    d->doors_open--;
    fb_daemon_maybe_over(d);
}

void fb_doors_close(struct daemon *d, int64_t within_ms)
{
    fb_sse_end(&d->sse);
    for (int i = 0; i < DOORS; i++)
        if (d->door[i].server)
            fb_server_drain(d->door[i].server, within_ms, door_closed);
}
