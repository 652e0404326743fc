/* SPDX-License-Identifier: MIT */
/*
 * net_open.c - beginning and end of an engine on a libuv loop.
 *
 * What can fail is done before the loop knows of it. A handle of libuv ends only in a later turn
 * of the loop: memory goes with the last one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <flyball/flyball.h>

#include "engine/curl_memory.h"
#include "engine/net.h"
#include "engine/watchdog.h"
#include "util/alloc.h"
#include "util/text.h"

/* -------------------------------------------------------------------------------------- the end */

static void net_free(struct net *n)
{
    while (n->pool)
        fb_net_pool_free(n->pool);
    fb_watchdog_free(n->watchdog);
    if (n->epoll_fd >= 0)
        close(n->epoll_fd);
    if (n->timer_fd >= 0)
        close(n->timer_fd);
    for (size_t i = 0; i < n->text_count; i++)
        fb_free(n->text[i]);
    fb_free(n->text);
    curl_slist_free_all(n->resolve);
    curl_slist_free_all(n->usual);
    fb_free(n->socket);
    fb_free(n);
    fb_curl_memory_end();
}

static void on_handle_closed(uv_handle_t *handle)
{
    struct net *n = handle->data;
    void (*done)(void *arg) = n->on_closed;
    void *arg = n->on_closed_arg;

    if (--n->handles_open > 0)
        return;
    net_free(n);
    if (done)
        done(arg);
}

void fb_net_close(void *self, void (*done)(void *arg), void *arg)
{
    struct net *n = self;

    n->on_closed = done;
    n->on_closed_arg = arg;
    while (n->pool)
        fb_net_pool_free(n->pool);
    if (n->handles_open == 0) {
        net_free(n);
        if (done)
            done(arg);
        return;
    }
    if (n->watchdog) {
        uv_close((uv_handle_t *)&n->before, on_handle_closed);
        uv_close((uv_handle_t *)&n->after, on_handle_closed);
    }
    uv_close((uv_handle_t *)&n->soon, on_handle_closed);
    uv_close((uv_handle_t *)&n->poll, on_handle_closed);
}

/* ------------------------------------------------------------------------------------ beginning */

static void on_before_poll(uv_prepare_t *handle)
{
    fb_watchdog_note(((struct net *)handle->data)->watchdog, true);
}

static void on_after_poll(uv_check_t *handle)
{
    fb_watchdog_note(((struct net *)handle->data)->watchdog, false);
}

static int start_watchdog(struct net *n)
{
    const struct engine_options *o = &n->options;
    int rc;

    if (!o->on_stuck)
        return 0;
    rc = fb_watchdog_new(o->stuck_ns, o->on_stuck, o->user, &n->watchdog);
    if (rc < 0)
        return rc;
    uv_prepare_init(n->loop, &n->before);
    uv_check_init(n->loop, &n->after);
    n->before.data = n->after.data = n;
    n->handles_open += 2;
    uv_prepare_start(&n->before, on_before_poll);
    uv_check_start(&n->after, on_after_poll);
    uv_unref((uv_handle_t *)&n->before);
    uv_unref((uv_handle_t *)&n->after);
    return 0;
}

static int open_descriptors(struct net *n)
{
    struct epoll_event ev = {.events = EPOLLIN, .data.u64 = FB_NET_TIMER};

    n->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    n->timer_fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
    if (n->epoll_fd < 0 || n->timer_fd < 0 ||
        epoll_ctl(n->epoll_fd, EPOLL_CTL_ADD, n->timer_fd, &ev) < 0)
        return -errno;
    return 0;
}

static int start_handles(struct net *n)
{
    int rc = uv_poll_init(n->loop, &n->poll, n->epoll_fd);

    if (rc < 0)
        return rc;
    n->poll.data = n->soon.data = n;
    n->handles_open++;
    uv_idle_init(n->loop, &n->soon);
    n->handles_open++;
    uv_poll_start(&n->poll, UV_READABLE, fb_net_on_events);
    uv_unref((uv_handle_t *)&n->poll);
    return 0;
}

/* The strings of the options outlive the call. */
static bool keep_text(struct net *n, const char **text)
{
    size_t size = *text ? strlen(*text) + 1 : 0;
    char *copy;

    if (!*text)
        return true;
    copy = fb_alloc(size);
    if (!copy)
        return false;
    *text = memcpy(copy, *text, size);
    n->text[n->text_count++] = copy;
    return true;
}

/*
 * Whether libcurl would find a proxy in the environment: then it is asked for each request anew.
 * Where there is none, an empty name spares it looking.
 */
static bool environment_has_proxy(void)
{
    static const char *const names[] = {"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy",
                                        "ALL_PROXY"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (getenv(names[i]))
            return true;
    return false;
}

/* As a header of ours it is written once; a proxy, too, is to hear it, and does so as an option. */
static int keep_agent(struct net *n)
{
    struct engine_connect *c = &n->options.connect;
    struct buffer line = BUFFER_INIT;

    if (!c->proxy || c->proxy[0])
        return 0;
    fb_buffer_add_text(&line, "User-Agent: ");
    fb_buffer_add_text(&line, c->user_agent);
    if (fb_buffer_text(&line))
        n->usual = curl_slist_append(NULL, line.bytes);
    fb_buffer_fini(&line);
    c->user_agent = NULL;
    return n->usual ? 0 : -ENOMEM;
}

static int keep_texts(struct net *n)
{
    struct engine_connect *c = &n->options.connect;
    const char **all[] = {&c->user_agent,  &c->proxy,      &c->no_proxy,
                          &c->proxy_user,  &c->ca_file,    &c->ca_path,
                          &c->client_cert, &c->client_key, &c->interface};
    struct text t;
    bool good;

    fb_text_init(&t, n->agent, sizeof(n->agent));
    fb_text_add(&t, "flyball/");
    fb_text_add(&t, fly_version());
    if (!c->user_agent)
        c->user_agent = n->agent;
    if (!c->proxy && !environment_has_proxy())
        c->proxy = c->no_proxy = "";
    n->text = fb_alloc(sizeof(all) / sizeof(all[0]) * sizeof(*n->text));
    good = n->text != NULL;
    for (size_t i = 0; good && i < sizeof(all) / sizeof(all[0]); i++)
        good = keep_text(n, all[i]);
    for (const char *const *r = c->resolve; good && r && *r; r++) {
        struct curl_slist *more = curl_slist_append(n->resolve, *r);

        good = more != NULL;
        n->resolve = more ? more : n->resolve;
    }
    return good ? keep_agent(n) : -ENOMEM;
}

static int net_new(uv_loop_t *loop, const struct engine_options *o, struct net **ret_net)
{
    struct net *n = fb_alloc(sizeof(*n));
    int rc;

    if (!n)
        return -ENOMEM;
    fb_curl_memory_begin();
    n->loop = loop;
    n->options = *o;
    n->epoll_fd = n->timer_fd = -1;
    n->wake_ns = n->armed_ns = FLY_NEVER;
    n->anchor_ns =
        o->anchor_ns ? o->anchor_ns : fb_net_clock(CLOCK_REALTIME) - fb_net_clock(CLOCK_BOOTTIME);
    rc = keep_texts(n);
    if (rc == 0)
        rc = open_descriptors(n);
    if (rc == 0)
        rc = fb_net_pool_new(n);
    if (rc < 0) {
        net_free(n);
        return rc;
    }
    *ret_net = n;
    return 0;
}

int fb_engine_open(struct uv_loop_s *loop, const struct engine_options *o,
                   struct engine **ret_engine, struct fly_error *err)
{
    struct engine_ports ports = fb_net_ports;
    struct net *n = NULL;
    int rc;

    err->text[0] = '\0';
    if (curl_global_init_mem(CURL_GLOBAL_DEFAULT, fb_curl_get, fb_curl_put, fb_curl_resize,
                             fb_curl_text, fb_curl_zeroes) != CURLE_OK)
        return -ENOMEM;
    rc = net_new(loop, o, &n);
    if (rc < 0)
        return rc;
    ports.self = n;
    rc = fb_engine_new(&ports, o, &n->engine, err);
    if (rc < 0) {
        net_free(n);
        return rc;
    }
    rc = start_handles(n);
    if (rc == 0)
        rc = start_watchdog(n);
    if (rc < 0) {
        fb_engine_close(n->engine, NULL, NULL);
        return rc;
    }
    *ret_engine = n->engine;
    return 0;
}
