/* SPDX-License-Identifier: MIT */
/*
 * write.c - bytes to the client: at once if the system takes them, else copied and queued.
 *
 * A write that fails never closes the connection from within, since handlers call this in the
 * middle of their work: it is marked, what follows is dropped, and its timer ends it.
 */
#include <string.h>

#include "serve/conn.h"
#include "util/alloc.h"

#define QUEUE_MAX ((size_t)256 * 1024)

struct pending {
    uv_write_t request;
    char bytes[];
};

static void fail(struct conn *c)
{
    c->failed = true;
    fb_conn_set_timer(c, 0);
}

static void on_written(uv_write_t *request, int status)
{
    struct conn *c = request->handle->data;

    fb_free(request->data);
    if (c->state == CONN_CLOSED)
        return;
    if (status < 0) {
        fb_conn_close(c, false);
        return;
    }
    if (c->open && c->wants_room && !fb_conn_is_full(c)) {
        c->wants_room = false;
        if (c->server->handler->on_room)
            c->server->handler->on_room(c->server->context, &c->exchange);
    }
    fb_conn_pump(c);
}

/* Copy what is left after the first `skip` bytes, and let libuv write it when it can. */
static void queue(struct conn *c, const uv_buf_t *bufs, unsigned count, size_t skip, size_t total)
{
    struct pending *p = fb_alloc(sizeof *p + total - skip);
    size_t at = 0;

    if (!p) {
        fail(c);
        return;
    }
    for (unsigned i = 0; i < count; i++) {
        size_t from = skip < bufs[i].len ? skip : bufs[i].len;

        memcpy(p->bytes + at, bufs[i].base + from, bufs[i].len - from);
        at += bufs[i].len - from;
        skip -= from;
    }
    uv_buf_t all = uv_buf_init(p->bytes, (unsigned)at);
    p->request.data = p;
    if (uv_write(&p->request, &c->wire.stream, &all, 1, on_written) < 0) {
        fb_free(p);
        fail(c);
        return;
    }
    fb_conn_watch_writing(c);
}

void fb_conn_write(struct conn *c, const uv_buf_t *bufs, unsigned count)
{
    size_t total = 0;

    if (c->failed || c->state == CONN_CLOSED)
        return;
    for (unsigned i = 0; i < count; i++)
        total += bufs[i].len;
    /* While something waits, this waits behind it. */
    int sent = fb_conn_queued(c) > 0 ? UV_EAGAIN : uv_try_write(&c->wire.stream, bufs, count);
    if (sent < 0 && sent != UV_EAGAIN)
        fail(c);
    else if (sent < 0 || (size_t)sent < total)
        queue(c, bufs, count, sent < 0 ? 0 : (size_t)sent, total);
}

size_t fb_conn_queued(const struct conn *c)
{
    return uv_stream_get_write_queue_size(&c->wire.stream);
}

bool fb_conn_is_full(const struct conn *c)
{
    return fb_conn_queued(c) > QUEUE_MAX;
}
