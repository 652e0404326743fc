/* SPDX-License-Identifier: MIT */
/* sse.c - a list of clients, each with its cursor. */
#include "daemon/sse.h"

#include "util/alloc.h"

#define HEARTBEAT_S 15

struct sse_client {
    struct sse *sse;
    struct call *call;
    struct sse_client *next, **link;
    uint64_t cursor;
    int silent_s;
    bool is_full; /* it has not read what was written to it */
};

void fb_sse_init(struct sse *s, struct news *news)
{
    *s = (struct sse){.news = news, .max = SSE_CLIENTS_MAX};
}

static void write_out(struct sse_client *c, const struct buffer *b)
{
    if (b->failed || b->size == 0)
        return;
    c->silent_s = 0;
    c->is_full = !fb_answer_write(c->call->x, (struct slice){b->bytes, b->size});
}

static void bring(struct sse_client *c)
{
    struct buffer b = BUFFER_INIT;

    while (!c->is_full && fb_news_next(c->sse->news, &c->cursor, &b)) {
        write_out(c, &b);
        fb_buffer_clear(&b);
    }
    fb_buffer_fini(&b);
}

static void on_room(struct call *call)
{
    struct sse_client *c = call->data;

    c->is_full = false;
    bring(c);
}

static void on_close(struct call *call)
{
    struct sse_client *c = call->data;

    *c->link = c->next;
    if (c->next)
        c->next->link = c->link;
    c->sse->count--;
    fb_free(c);
}

static void enlist(struct sse *s, struct sse_client *c, struct call *call)
{
    c->sse = s;
    c->call = call;
    c->next = s->first;
    c->link = &s->first;
    if (c->next)
        c->next->link = &c->next;
    s->first = c;
    s->count++;
    call->data = c;
    call->on_room = on_room;
    call->on_close = on_close;
}

void fb_sse_answer(struct sse *s, struct call *call)
{
    struct sse_client *c = s->count < s->max ? fb_alloc(sizeof *c) : NULL;
    struct buffer b = BUFFER_INIT;
    bool gap = false;

    if (!c) {
        fb_call_refuse(call, 503, "too many clients follow the events");
        return;
    }
    c->cursor = fb_news_cursor(s->news, fb_guard_field(call->x->request, "Last-Event-ID"), &gap);
    enlist(s, c, call);
    fb_call_begin(call, 200, "text/event-stream");
    fb_answer_stream(call->x, -1);
    fb_buffer_add_text(&b, "retry: 1000\n\n");
    if (gap)
        fb_news_write(&b, "gap", FB_SLICE("{}"));
    write_out(c, &b);
    fb_buffer_fini(&b);
    bring(c);
}

void fb_sse_flush(struct sse *s)
{
    for (struct sse_client *c = s->first, *next; c; c = next) {
        next = c->next;
        bring(c);
    }
}

static void tick_one(struct sse_client *c, struct slice tick)
{
    struct buffer b = BUFFER_INIT;

    if (c->is_full)
        return;
    if (tick.length > 0)
        fb_news_write(&b, "tick", tick);
    else if (++c->silent_s >= HEARTBEAT_S)
        fb_buffer_add_text(&b, ":\n\n");
    write_out(c, &b);
    fb_buffer_fini(&b);
}

void fb_sse_tick(struct sse *s, struct slice tick)
{
    for (struct sse_client *c = s->first, *next; c; c = next) {
        next = c->next;
        tick_one(c, tick);
    }
}

void fb_sse_end(struct sse *s)
{
    while (s->first) {
        struct buffer b = BUFFER_INIT;

        fb_news_write(&b, "end", FB_SLICE("{}"));
        write_out(s->first, &b);
        fb_buffer_fini(&b);
        fb_answer_end(s->first->call->x);
    }
}
