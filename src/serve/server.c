/* SPDX-License-Identifier: MIT */
/*
 * server.c - the listener, the caps and the end.
 *
 * Invariant: the server is freed when, and only when, it drains and neither a connection nor a
 * handle of its own is left.
 */
#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "serve/conn.h"
#include "util/alloc.h"

#define BACKLOG     1024
#define RETRY_MS    100
#define GIB         (INT64_C(1) << 30)
#define CONNECTIONS 4096

const struct server_options fb_server_usual = {
    .head_ms = 10000,
    .idle_ms = 60000,
    .body_rate_min = 1024,
    .body_bytes_max = GIB,
    .connections_max = CONNECTIONS,
    .client_max = CONNECTIONS,
};

int fb_server_new(uv_loop_t *loop, const struct server_options *options,
                  const struct handler *handler, void *context, struct server **ret_server)
{
    struct server *s = fb_alloc(sizeof *s);

    assert(handler->on_request && handler->on_end);
    if (!s)
        return -ENOMEM;
    signal(SIGPIPE, SIG_IGN);
    s->loop = loop;
    s->options = *options;
    s->handler = handler;
    s->context = context;
    uv_timer_init(loop, &s->timer);
    s->timer.data = s;
    s->handles = 1;
    *ret_server = s;
    return 0;
}

/* ---- accepting ---- */

static int count_of(const struct server *s, const union address *peer)
{
    int count = 0;

    for (const struct conn *c = s->first; c; c = c->next)
        count += c->state != CONN_CLOSED && fb_address_is_same_host(&c->peer, peer);
    return count;
}

/* Of one client, or of all (NULL); the list begins with the newest. */
static struct conn *oldest_idle(const struct server *s, const union address *peer)
{
    uint64_t now_ms = uv_now(s->loop);
    struct conn *oldest = NULL;

    for (struct conn *c = s->first; c; c = c->next)
        if (c->state <= CONN_HEAD && fb_conn_queued(c) == 0 &&
            now_ms - c->idle_since_ms >= (uint64_t)s->options.patience_ms &&
            (!peer || fb_address_is_same_host(&c->peer, peer)))
            oldest = c;
    return oldest;
}

bool fb_server_has_room(struct server *s, const union address *peer)
{
    bool is_greedy = count_of(s, peer) >= s->options.client_max;

    if (!is_greedy && s->stats.open < s->options.connections_max)
        return true;
    struct conn *c = s->options.patience_ms > 0 ? oldest_idle(s, is_greedy ? peer : NULL) : NULL;
    if (!c)
        return false;
    s->stats.made_room++;
    fb_conn_close(c, true);
    return true;
}

static void on_connection(uv_stream_t *listener, int status);

static void on_retry(uv_timer_t *timer)
{
    struct server *s = timer->data;

    on_connection(&s->listener.stream, 0);
}

/* A connection that cannot be taken for want of memory waits in libuv, which then takes no more. */
static void on_connection(uv_stream_t *listener, int status)
{
    struct server *s = listener->data;

    if (status < 0 || s->draining)
        return;
    if (fb_conn_accept(s, listener) == -ENOMEM)
        uv_timer_start(&s->timer, on_retry, RETRY_MS, 0);
}

/* The handle exists from here on, and is closed at the end whatever becomes of it. */
static void own_listener(struct server *s)
{
    assert(!s->has_listener && !s->draining);
    s->listener.handle.data = s;
    s->has_listener = true;
    s->handles++;
}

int fb_server_listen(struct server *s, const union address *where, union address *ret_actual)
{
    union address actual;
    int size = sizeof actual;

    uv_tcp_init(s->loop, &s->listener.tcp);
    own_listener(s);
    int rc = uv_tcp_bind(&s->listener.tcp, &where->any, 0);
    if (rc == 0)
        rc = uv_listen(&s->listener.stream, BACKLOG, on_connection);
    if (rc == 0)
        rc = uv_tcp_getsockname(&s->listener.tcp, &actual.any, &size);
    if (rc < 0)
        return rc;
    *ret_actual = actual;
    return 0;
}

int fb_server_listen_path(struct server *s, const char *path, mode_t mode)
{
    struct sockaddr_un name;

    if (strlen(path) >= sizeof(name.sun_path))
        return -ENAMETOOLONG; /* libuv would cut it */
    uv_pipe_init(s->loop, &s->listener.pipe, 0);
    own_listener(s);
    int rc = uv_pipe_bind(&s->listener.pipe, path);
    /* Nobody can connect between the two: it does not listen yet. */
    if (rc == 0 && chmod(path, mode) < 0)
        rc = -errno;
    return rc == 0 ? uv_listen(&s->listener.stream, BACKLOG, on_connection) : rc;
}

/* ---- the end ---- */

static void maybe_done(struct server *s)
{
    if (!s->draining || s->first || s->handles > 0)
        return;

    void (*done)(void *context) = s->done;
    void *context = s->context;
    fb_free(s);
    if (done)
        done(context);
}

static void on_closed(uv_handle_t *handle)
{
    struct server *s = handle->data;

    s->handles--;
    maybe_done(s);
}

void fb_server_forget(struct server *s)
{
    /* The timer has nothing left to wait for once the last connection is gone. */
    if (s->draining && !s->first && !uv_is_closing((uv_handle_t *)&s->timer))
        uv_close((uv_handle_t *)&s->timer, on_closed);
    maybe_done(s);
}

static void on_late(uv_timer_t *timer)
{
    struct server *s = timer->data;

    for (struct conn *c = s->first; c; c = c->next)
        fb_conn_close(c, true);
}

void fb_server_drain(struct server *s, int64_t within_ms, void (*done)(void *context))
{
    uint64_t ms = within_ms > 0 ? (uint64_t)within_ms : 0;

    if (!s->draining) {
        s->draining = true;
        s->done = done;
        if (s->has_listener)
            uv_close(&s->listener.handle, on_closed);
        for (struct conn *c = s->first; c; c = c->next)
            fb_conn_retire(c);
        uv_timer_start(&s->timer, on_late, ms, 0);
    } else if (ms < uv_timer_get_due_in(&s->timer)) {
        uv_timer_start(&s->timer, on_late, ms, 0);
    }
    fb_server_forget(s);
}

struct server_stats fb_server_stats(const struct server *s)
{
    return s->stats;
}
