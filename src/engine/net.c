/* SPDX-License-Identifier: MIT */
/*
 * net.c - the engine on a libuv loop: one epoll, one timerfd, turns.
 *
 * A turn handles what has come, lets libcurl see its timeouts, hands finished transfers to the
 * engine, lets the engine decide, and sets the timer. The clock is read in fb_net_now() and
 * nowhere else.
 */
#include "engine/net.h"

#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include <flyball/flyball.h>

#include "core/instant.h"
#include "engine/watchdog.h"

#define EVENTS_MAX 64
#define ROUNDS_MAX 4 /* of one turn; then the loop has its own */

int64_t fb_net_clock(clockid_t id)
{
    struct timespec t;

    clock_gettime(id, &t);
    return t.tv_sec * FB_NS_PER_S + t.tv_nsec;
}

int64_t fb_net_now(const struct net *n)
{
    return fb_net_clock(CLOCK_BOOTTIME) + n->anchor_ns;
}

/* ------------------------------------------------------------------------------------- the turn */

static int64_t next_due(const struct net *n)
{
    int64_t at_ns = n->wake_ns;

    for (const struct net_pool *p = n->pool; p; p = p->next)
        at_ns = fb_min64(at_ns, p->due_ns);
    return at_ns;
}

/* An earlier alarm than needed is left as it is: it finds nothing to do, and sets the next. */
static void arm(struct net *n, int64_t at_ns)
{
    struct itimerspec t = {0};
    int64_t boot_ns = fb_max64(at_ns - n->anchor_ns, 1);

    if (at_ns >= n->armed_ns)
        return;
    t.it_value.tv_sec = boot_ns / FB_NS_PER_S;
    t.it_value.tv_nsec = boot_ns % FB_NS_PER_S;
    n->armed_ns = at_ns;
    (void)timerfd_settime(n->timer_fd, TFD_TIMER_ABSTIME, &t, NULL);
}

static void on_soon(uv_idle_t *handle);

static void have_turn_soon(struct net *n)
{
    if (!n->is_soon) {
        n->is_soon = true;
        uv_idle_start(&n->soon, on_soon);
    }
}

static void run_pools(struct net *n, int64_t now_ns)
{
    struct net_pool *next;

    for (struct net_pool *p = n->pool; p; p = next) {
        next = p->next;
        if (p->due_ns <= now_ns)
            fb_net_pool_time(p);
        fb_net_pool_collect(p);
        /* An old one has ended with its last transfer. */
        if (p != n->pool && p->running == 0)
            fb_net_pool_free(p);
    }
}

static void turn(struct net *n)
{
    int64_t now_ns = fb_net_now(n);

    for (int i = 0; i < ROUNDS_MAX; i++) {
        fb_engine_read_clock(n->engine);
        run_pools(n, now_ns);
        n->wake_ns = FLY_NEVER;
        fb_engine_tick(n->engine);
        now_ns = fb_net_now(n);
        if (next_due(n) > now_ns) {
            arm(n, next_due(n));
            return;
        }
    }
    have_turn_soon(n);
}

static void on_soon(uv_idle_t *handle)
{
    struct net *n = handle->data;

    n->is_soon = false;
    uv_idle_stop(&n->soon);
    turn(n);
}

static void on_timer(struct net *n)
{
    uint64_t times;

    n->armed_ns = FLY_NEVER;
    (void)!read(n->timer_fd, &times, sizeof(times));
}

void fb_net_on_events(uv_poll_t *handle, int status, int what)
{
    struct net *n = handle->data;
    struct epoll_event event[EVENTS_MAX];
    int count;

    (void)status;
    (void)what;
    if (n->watchdog)
        fb_watchdog_note(n->watchdog, false);
    fb_engine_read_clock(n->engine);
    count = epoll_wait(n->epoll_fd, event, EVENTS_MAX, 0);
    for (int i = 0; i < count; i++) {
        uint64_t mark = event[i].data.u64;

        if (mark == FB_NET_TIMER)
            on_timer(n);
        else
            fb_net_pool_event(n, (int)(uint32_t)mark, (uint32_t)(mark >> 32), event[i].events);
    }
    turn(n);
}

/* ------------------------------------------------------------------------------------ the ports */

static int64_t port_now(void *self)
{
    return fb_net_now(self);
}

static void port_wake_at(void *self, int64_t at_ns)
{
    struct net *n = self;

    n->wake_ns = at_ns;
    if (at_ns == 0)
        have_turn_soon(n);
    /* Otherwise it is asked for within a turn, which sets the timer at its end. */
}

static int port_send(void *self, struct attempt *a, const struct attempt_request *r,
                     void **ret_transfer)
{
    struct transfer *t = NULL;
    int rc = fb_transfer_start(self, a, r, &t);

    *ret_transfer = t;
    return rc;
}

static void port_abort(void *self, void *transfer)
{
    (void)self;
    fb_transfer_abort(transfer);
}

static void port_busy(void *self, bool has_work)
{
    struct net *n = self;

    if (has_work)
        uv_ref((uv_handle_t *)&n->poll);
    else
        uv_unref((uv_handle_t *)&n->poll);
}

/* Without memory for a new one the old pool goes on. */
static void port_recycle(void *self)
{
    (void)fb_net_pool_new(self);
}

static void port_tune(void *self, const struct engine_options *o)
{
    struct net *n = self;

    n->options.connect_ns = o->connect_ns;
    n->options.body_bytes_max = o->body_bytes_max;
    n->options.spill_bytes = o->spill_bytes;
    n->options.head_bytes_max = o->head_bytes_max;
    n->options.headers_max = o->headers_max;
    n->options.inflate_max = o->inflate_max;
    n->options.concurrency = o->concurrency;
    for (struct net_pool *p = n->pool; p; p = p->next)
        fb_net_pool_tune(p);
}

static int64_t port_connections(void *self, int64_t *ret_open)
{
    const struct net *n = self;

    if (ret_open)
        *ret_open = n->connections_open;
    return n->connections;
}

const struct engine_ports fb_net_ports = {
    .has_threads = true,
    .now = port_now,
    .wake_at = port_wake_at,
    .send = port_send,
    .abort = port_abort,
    .busy = port_busy,
    .recycle = port_recycle,
    .tune = port_tune,
    .connections = port_connections,
    .close = fb_net_close,
};
