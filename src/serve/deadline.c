/* SPDX-License-Identifier: MIT */
/*
 * deadline.c - what ends a connection that stalls: one timer, whose meaning is the state's.
 *
 * A client is given time to bring a head, to bring a body at a least rate, to take what is written
 * to it, and to ask again. A handler has all the time it wants.
 */
#include "serve/conn.h"

static void on_stalled(struct conn *c)
{
    size_t now = fb_conn_queued(c);

    if (now == 0 && c->state == CONN_ANSWER)
        return; /* all is written; the handler may take its time */
    if (now == c->queue_then) {
        fb_conn_close(c, true);
        return;
    }
    c->queue_then = now;
    fb_conn_set_timer(c, c->server->options.idle_ms);
}

/*
 * A body has a grace, and then so much time as its bytes are worth. While the handler wants none
 * of it, the client is not to blame.
 */
static void on_slow_body(struct conn *c)
{
    const struct server_options *o = &c->server->options;
    int64_t allowed_ms = o->idle_ms + c->body_bytes * 1000 / o->body_rate_min;
    int64_t since_ms = (int64_t)(uv_now(c->server->loop) - c->body_since_ms);

    if (c->paused || since_ms < allowed_ms) {
        fb_conn_set_timer(c, c->paused ? o->idle_ms : allowed_ms - since_ms);
        return;
    }
    c->server->stats.bad++;
    fb_conn_refuse(c, 408, "the body of the request took too long");
}

static void on_deadline(uv_timer_t *timer)
{
    struct conn *c = timer->data;
    bool quiet = c->state == CONN_IDLE && fb_conn_queued(c) == 0;

    if (c->failed || quiet || c->state == CONN_LINGER) {
        fb_conn_close(c, false);
    } else if (c->state == CONN_HEAD) {
        c->server->stats.bad++;
        fb_conn_refuse(c, 408, "the head of the request took too long");
    } else if (c->state == CONN_BODY) {
        on_slow_body(c);
    } else {
        on_stalled(c);
    }
}

void fb_conn_set_timer(struct conn *c, int64_t ms)
{
    /* What has failed is ended by the next turn of the loop, whatever comes between. */
    uv_timer_start(&c->timer, on_deadline, c->failed ? 0 : (uint64_t)ms, 0);
}

void fb_conn_watch_writing(struct conn *c)
{
    if (c->state != CONN_ANSWER || uv_is_active((uv_handle_t *)&c->timer))
        return;
    c->queue_then = fb_conn_queued(c);
    fb_conn_set_timer(c, c->server->options.idle_ms);
}
