/* SPDX-License-Identifier: MIT */
/*
 * answer.c - the answer to one request: its head, its framing, its end.
 *
 * Invariant: what goes out is always one whole answer by its own framing, or the connection is cut
 * so that the client can tell.
 */
#include <assert.h>
#include <stdio.h>
#include <time.h>

#include "serve/conn.h"

static uv_buf_t buf_of(struct slice s)
{
    /* libuv does not write to it, but its type says that it may. */
    return (uv_buf_t){.base = (char *)(uintptr_t)s.at, .len = s.length};
}

static void begin(struct conn *c, int status)
{
    c->bodiless = status < 200 || status == 204 || status == 304 ||
                  (c->open && fb_slice_is(c->exchange.request->method, "HEAD"));
    fb_head_start(&c->head, status);
    fb_head_date(&c->head, (int64_t)time(NULL));
}

void fb_answer_begin(struct exchange *x, int status)
{
    struct conn *c = fb_conn_of(x);

    assert(c->open && !c->begun);
    begin(c, status);
}

void fb_answer_field(struct exchange *x, const char *name, struct slice value)
{
    fb_head_field(&fb_conn_of(x)->head, fb_slice_of(name), value);
}

void fb_answer_number(struct exchange *x, const char *name, int64_t value)
{
    fb_head_number(&fb_conn_of(x)->head, name, value);
}

/* What an answer says about the connection. Who has not read the request cannot keep it. */
static void add_connection(struct conn *c)
{
    const struct http_request *q = c->open ? c->exchange.request : NULL;

    c->keep = c->keep && q && q->keep_alive && !c->body_left && !c->server->draining;
    if (!c->keep)
        fb_head_field(&c->head, FB_SLICE("Connection"), FB_SLICE("close"));
    else if (q->minor == 0)
        fb_head_field(&c->head, FB_SLICE("Connection"), FB_SLICE("keep-alive"));
}

/* The head, complete. A handler that tried to send nonsense sends a 500 without a body. */
static struct slice finish_head(struct conn *c)
{
    add_connection(c);
    c->begun = true;
    struct slice head = fb_head_end(&c->head);
    if (head.at)
        return head;
    c->keep = false;
    c->bodiless = true;
    c->chunked = false;
    return FB_SLICE("HTTP/1.1 500 Internal Server Error\r\n"
                    "Content-Length: 0\r\nConnection: close\r\n\r\n");
}

static void send_whole(struct conn *c, struct slice body)
{
    if (!c->bodiless || body.length > 0)
        fb_head_number(&c->head, "Content-Length", (int64_t)body.length);
    uv_buf_t bufs[2] = {buf_of(finish_head(c)), buf_of(body)};
    fb_conn_write(c, bufs, c->bodiless || body.length == 0 ? 1 : 2);
}

void fb_answer_send(struct exchange *x, struct slice body)
{
    struct conn *c = fb_conn_of(x);

    assert(c->open && !c->begun);
    send_whole(c, body);
    fb_conn_answered(c, true);
}

void fb_answer_stream(struct exchange *x, int64_t length)
{
    struct conn *c = fb_conn_of(x);

    assert(c->open && !c->begun);
    c->out_left = length;
    if (length >= 0) {
        fb_head_number(&c->head, "Content-Length", length);
    } else if (x->request->minor == 1 && !c->bodiless) {
        c->chunked = true;
        fb_head_field(&c->head, FB_SLICE("Transfer-Encoding"), FB_SLICE("chunked"));
    } else if (!c->bodiless) {
        c->keep = false; /* the end of the connection is the end of the body */
    }
    uv_buf_t head = buf_of(finish_head(c));
    fb_conn_write(c, &head, 1);
}

static void write_chunk(struct conn *c, struct slice piece)
{
    char size[24];
    int digits = snprintf(size, sizeof(size), "%zx\r\n", piece.length);
    uv_buf_t bufs[3] = {
        {.base = size, .len = (size_t)digits}, buf_of(piece), buf_of(FB_SLICE("\r\n"))};

    fb_conn_write(c, bufs, 3);
}

bool fb_answer_write(struct exchange *x, struct slice piece)
{
    struct conn *c = fb_conn_of(x);

    assert(c->open && c->begun);
    if (c->out_left >= 0) {
        piece = fb_slice_head(piece, (size_t)c->out_left);
        c->out_left -= (int64_t)piece.length;
    }
    if (piece.length > 0 && !c->bodiless) {
        uv_buf_t whole = buf_of(piece);

        if (c->chunked)
            write_chunk(c, piece);
        else
            fb_conn_write(c, &whole, 1);
    }
    c->wants_room = fb_conn_is_full(c);
    return !c->wants_room;
}

void fb_answer_end(struct exchange *x)
{
    struct conn *c = fb_conn_of(x);

    assert(c->open && c->begun);
    if (c->out_left > 0 && !c->bodiless) {
        fb_answer_cut(x, true);
        return;
    }
    if (c->chunked) {
        uv_buf_t last = buf_of(FB_SLICE("0\r\n\r\n"));

        fb_conn_write(c, &last, 1);
    }
    fb_conn_answered(c, true);
}

void fb_answer_cut(struct exchange *x, bool reset)
{
    struct conn *c = fb_conn_of(x);

    assert(c->open);
    c->keep = false;
    if (reset)
        fb_conn_close(c, true);
    else
        fb_conn_answered(c, false);
}

/* ---- the server's own ---- */

void fb_conn_send_continue(struct conn *c)
{
    uv_buf_t line = buf_of(FB_SLICE("HTTP/1.1 100 Continue\r\n\r\n"));

    fb_conn_write(c, &line, 1);
}

void fb_conn_refuse(struct conn *c, int status, const char *reason)
{
    char body[200];
    int size = snprintf(body, sizeof(body), "%s\n", reason);

    c->keep = false;
    if (c->open && c->begun) {
        fb_conn_close(c, true);
        return;
    }
    begin(c, status);
    fb_head_field(&c->head, FB_SLICE("Content-Type"), FB_SLICE("text/plain"));
    send_whole(c, (struct slice){body, (size_t)size});
    fb_conn_answered(c, false);
}
