/* SPDX-License-Identifier: MIT */
/*
 * conn.c - the life of a connection: bytes come in, states follow, deadlines end what stalls.
 *
 * Invariant: on_close is called once for every on_request. The memory lives until both handles are
 * closed, so whoever calls into a handler may look at the state afterwards.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "serve/conn.h"
#include "util/alloc.h"

#define LINGER_MS 2000

static const struct handler *handler_of(const struct conn *c)
{
    return c->server->handler;
}

static void read_if_room(struct conn *c);

/* ---- the end ---- */

static void on_handle_closed(uv_handle_t *handle)
{
    struct conn *c = handle->data;
    struct server *s = c->server;

    if (--c->handles > 0)
        return;
    *c->link = c->next;
    if (c->next)
        c->next->link = c->link;
    s->stats.open--;
    fb_free(c);
    fb_server_forget(s);
}

static void end_exchange(struct conn *c, bool complete)
{
    if (!c->open)
        return;
    c->open = false;
    c->wants_room = false;
    c->paused = false;
    if (handler_of(c)->on_close)
        handler_of(c)->on_close(c->server->context, &c->exchange, complete);
}

void fb_conn_close(struct conn *c, bool reset)
{
    if (c->state == CONN_CLOSED)
        return;
    c->state = CONN_CLOSED;
    end_exchange(c, false);
    uv_close((uv_handle_t *)&c->timer, on_handle_closed);
    reset = reset && c->wire.handle.type == UV_TCP;
    if (!reset || uv_tcp_close_reset(&c->wire.tcp, on_handle_closed) < 0)
        uv_close(&c->wire.handle, on_handle_closed);
}

static void on_shut(uv_shutdown_t *request, int status)
{
    struct conn *c = request->handle->data;

    if (c->state == CONN_CLOSED)
        return;
    if (status < 0 || c->eof) {
        fb_conn_close(c, false);
        return;
    }
    c->state = CONN_LINGER;
    fb_conn_set_timer(c, LINGER_MS);
}

/* No more answers; libuv shuts the connection once all that is queued is written. */
static void flush(struct conn *c)
{
    if (c->state >= CONN_FLUSH)
        return;
    c->state = CONN_FLUSH;
    c->queue_then = fb_conn_queued(c);
    fb_conn_set_timer(c, c->server->options.idle_ms);
    if (uv_shutdown(&c->shut, &c->wire.stream, on_shut) < 0)
        fb_conn_close(c, false);
    else
        read_if_room(c);
}

void fb_conn_retire(struct conn *c)
{
    if (c->state == CONN_IDLE && fb_conn_queued(c) == 0)
        fb_conn_close(c, false);
    else if (c->state == CONN_IDLE)
        flush(c);
}

/* ---- requests ---- */

static void enter_idle(struct conn *c)
{
    const struct server_options *o = &c->server->options;

    c->state = CONN_IDLE;
    c->idle_since_ms = uv_now(c->server->loop);
    c->queue_then = fb_conn_queued(c);
    if (c->server->draining && c->in_at == c->in_end)
        flush(c);
    else
        fb_conn_set_timer(c, c->used ? o->idle_ms : o->head_ms);
}

static void enter_body(struct conn *c)
{
    c->state = CONN_BODY;
    c->body_since_ms = uv_now(c->server->loop);
    c->body_bytes = 0;
    fb_conn_set_timer(c, c->server->options.idle_ms);
}

static void enter_answer(struct conn *c)
{
    c->state = CONN_ANSWER;
    if (!c->failed)
        uv_timer_stop(&c->timer);
    if (fb_conn_queued(c) > 0)
        fb_conn_watch_writing(c);
}

void fb_conn_answered(struct conn *c, bool complete)
{
    end_exchange(c, complete);
    if (c->state == CONN_CLOSED)
        return;
    if (!c->keep) {
        flush(c);
        return;
    }
    enter_idle(c);
    fb_conn_pump(c);
}

static void on_head(struct conn *c, struct slice body)
{
    const struct http_request *q = &c->reader.request;

    (void)body;
    c->server->stats.requests++;
    c->used = true;
    c->open = true;
    c->begun = false;
    c->keep = true;
    c->chunked = false;
    c->out_left = -1;
    c->body_left = q->chunked || q->length > 0;
    c->exchange.request = q;
    c->exchange.data = NULL;
    enter_body(c);
    handler_of(c)->on_request(c->server->context, &c->exchange);
    if (c->open && !c->begun && q->wants_continue && c->body_left)
        fb_conn_send_continue(c);
}

static void on_body(struct conn *c, struct slice body)
{
    c->body_bytes += (int64_t)body.length;
    if (c->open && handler_of(c)->on_body)
        handler_of(c)->on_body(c->server->context, &c->exchange, body);
}

static void on_end(struct conn *c, struct slice body)
{
    (void)body;
    c->body_left = false;
    if (c->open) {
        enter_answer(c);
        handler_of(c)->on_end(c->server->context, &c->exchange);
    } else {
        enter_idle(c);
    }
}

static void on_bad(struct conn *c, struct slice body)
{
    (void)body;
    c->server->stats.bad++;
    fb_conn_refuse(c, fb_http_fault_status(c->reader.fault), fb_http_fault_reason(c->reader.fault));
}

static void (*const events[])(struct conn *c, struct slice body) = {
    [HTTP_HEAD] = on_head,
    [HTTP_BODY] = on_body,
    [HTTP_END] = on_end,
    [HTTP_BAD] = on_bad,
};

/* Not while an answer is due, and not while the answers before it wait to be read. */
static bool may_read(const struct conn *c)
{
    return c->state <= CONN_BODY && !c->paused && !(c->state == CONN_IDLE && fb_conn_is_full(c));
}

/* Whether the reader got all there is. */
static bool pump_once(struct conn *c)
{
    struct slice bytes = {c->in + c->in_at, c->in_end - c->in_at};
    struct slice body = {NULL, 0};
    enum http_event event = fb_http_read(&c->reader, &bytes, &body);

    c->in_at = c->in_end - bytes.length;
    if (event != HTTP_MORE) {
        events[event](c, body);
        return false;
    }
    if (c->state == CONN_IDLE && !fb_http_reader_is_idle(&c->reader)) {
        c->state = CONN_HEAD;
        fb_conn_set_timer(c, c->server->options.head_ms);
    }
    return true;
}

/* ---- bytes from the client ---- */

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
    struct conn *c = handle->data;

    (void)suggested;
    if (c->state >= CONN_FLUSH)
        c->in_at = c->in_end;
    c->in_end -= c->in_at;
    memmove(c->in, c->in + c->in_at, c->in_end);
    c->in_at = 0;
    *buf = uv_buf_init(c->in + c->in_end, (unsigned)(sizeof(c->in) - c->in_end));
}

/* A client that has its answers, or asked nothing, may go; what is queued is written first. */
static void on_client_gone(struct conn *c, bool eof)
{
    c->eof = true;
    if (eof && !c->open && c->state != CONN_LINGER && fb_conn_queued(c) > 0) {
        uv_read_stop(&c->wire.stream);
        flush(c);
    } else {
        fb_conn_close(c, false);
    }
}

static void on_read(uv_stream_t *stream, ssize_t size, const uv_buf_t *buf)
{
    struct conn *c = stream->data;

    (void)buf;
    if (c->state == CONN_CLOSED || size == 0)
        return;
    if (size < 0) {
        on_client_gone(c, size == UV_EOF);
        return;
    }
    c->in_end += (size_t)size;
    fb_conn_pump(c);
}

/* Read while there is room even if nothing is to be done: so a leaving client is seen. */
static void read_if_room(struct conn *c)
{
    bool room = c->state >= CONN_FLUSH || c->in_end - c->in_at < sizeof(c->in);

    if (room == c->reading || c->eof || c->state == CONN_CLOSED)
        return;
    c->reading = room;
    if (!room)
        uv_read_stop(&c->wire.stream);
    else if (uv_read_start(&c->wire.stream, on_alloc, on_read) < 0)
        fb_conn_close(c, false);
}

void fb_conn_pump(struct conn *c)
{
    bool done = false;

    if (c->pumping)
        return;
    c->pumping = true;
    while (!done && may_read(c))
        done = pump_once(c);
    c->pumping = false;
    read_if_room(c);
}

void fb_request_pause(struct exchange *x)
{
    fb_conn_of(x)->paused = true;
}

void fb_request_resume(struct exchange *x)
{
    struct conn *c = fb_conn_of(x);

    c->paused = false;
    c->body_since_ms = uv_now(c->server->loop);
    c->body_bytes = 0;
    fb_conn_pump(c);
}

/* ---- the beginning ---- */

/* One answer without a look at the request, and the end: no room for more. */
static void turn_away(struct conn *c)
{
    static char sorry[] = "HTTP/1.1 503 Service Unavailable\r\n"
                          "Content-Length: 0\r\nRetry-After: 1\r\nConnection: close\r\n\r\n";
    uv_buf_t buf = uv_buf_init(sorry, sizeof(sorry) - 1);

    c->server->stats.turned_away++;
    uv_try_write(&c->wire.stream, &buf, 1);
    fb_conn_close(c, false);
}

static void link_to_server(struct conn *c, struct server *s)
{
    c->server = s;
    c->next = s->first;
    if (c->next)
        c->next->link = &c->next;
    s->first = c;
    c->link = &s->first;
    s->stats.open++;
    c->exchange.connection = ++s->stats.accepted;
    c->exchange.peer = &c->peer;
}

static void init_wire(union wire *w, const struct server *s)
{
    if (s->listener.handle.type == UV_NAMED_PIPE)
        uv_pipe_init(s->loop, &w->pipe, 0);
    else
        uv_tcp_init(s->loop, &w->tcp);
}

/* All who come through a socket in the file system are one client: its owner. */
static int find_peer(struct conn *c)
{
    int size = sizeof(c->peer);

    if (c->wire.handle.type == UV_TCP)
        return uv_tcp_getpeername(&c->wire.tcp, &c->peer.any, &size);
    c->peer.any.sa_family = AF_UNIX;
    return 0;
}

int fb_conn_accept(struct server *s, uv_stream_t *listener)
{
    struct conn *c = fb_alloc_raw(sizeof *c);
    struct http_limits limits = FB_HTTP_LIMITS;

    if (!c)
        return -ENOMEM;
    memset(c, 0, offsetof(struct conn, head));
    limits.body = s->options.body_bytes_max;
    fb_http_reader_init(&c->reader, &limits, c->store, c->field);
    init_wire(&c->wire, s);
    uv_timer_init(s->loop, &c->timer);
    c->wire.handle.data = c->timer.data = c;
    c->handles = 2;

    int rc = uv_accept(listener, &c->wire.stream);
    bool full = rc < 0 || find_peer(c) < 0 || !fb_server_has_room(s, &c->peer);
    link_to_server(c, s);
    if (full) {
        turn_away(c);
        return rc;
    }
    if (c->wire.handle.type == UV_TCP)
        uv_tcp_nodelay(&c->wire.tcp, 1);
    enter_idle(c);
    read_if_room(c);
    return 0;
}
