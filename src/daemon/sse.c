/* SPDX-License-Identifier: MIT */
/* sse.c - a list of clients, each with its cursor. */
#include "daemon/sse.h"

#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"

#define HEARTBEAT_S 15
#define ITEM_ID_MAX 256

struct sse_client {
    struct sse *sse;
    struct call *call;
    struct sse_client *next, **link;
    struct news_want want;
    uint64_t cursor;
    int silent_s;
    bool is_full; /* it has not read what was written to it */
    enum sse_figures figures;
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

    while (!c->is_full && fb_news_next(c->sse->news, &c->want, &c->cursor, &b)) {
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

/* Where to go on: a browser that opens a stream anew can say it in the query alone. */
static uint64_t cursor_of(struct sse *s, const struct call *call, const struct news_want *want,
                          bool *ret_gap)
{
    struct slice id = fb_guard_field(call->x->request, "Last-Event-ID");
    char asked[48];
    char recent[8] = "0";

    if (id.length == 0 && fb_call_query(call, "last_event_id", asked, sizeof asked))
        id = fb_slice_of(asked);
    uint64_t at = fb_news_cursor(s->news, want, id, ret_gap);
    if (id.length > 0 || !fb_call_query(call, "recent", recent, sizeof recent))
        return at;
    return fb_news_recent(s->news, strtoul(recent, NULL, 10));
}

/* Of watched items all unless the query says otherwise. */
static struct news_want want_of(const struct call *call)
{
    struct news_want want = {.items = true};
    char which[ITEM_ID_MAX] = "all";

    if (!fb_call_query(call, "items", which, sizeof which) || strcmp(which, "all") == 0)
        return want;
    want.items = strcmp(which, "none") != 0;
    want.about = want.items ? fb_news_about(which) : 0;
    return want;
}

static bool wants_status(const struct call *call)
{
    char with[16] = "";

    return fb_call_query(call, "with", with, sizeof with) && strcmp(with, "status") == 0;
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

void fb_sse_answer(struct sse *s, struct call *call, enum sse_figures full)
{
    struct sse_client *c = s->count < s->max ? fb_alloc(sizeof *c) : NULL;
    struct buffer b = BUFFER_INIT;
    bool gap = false;

    if (!c) {
        fb_call_refuse(call, 503, "too many clients follow the events");
        return;
    }
    c->want = want_of(call);
    c->cursor = cursor_of(s, call, &c->want, &gap);
    c->figures = wants_status(call) ? full : SSE_TICK;
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

static void tick_one(struct sse_client *c, struct slice figures)
{
    struct buffer b = BUFFER_INIT;

    if (c->is_full)
        return;
    if (figures.length > 0)
        fb_news_write(&b, c->figures == SSE_TICK ? "tick" : "status", figures);
    else if (++c->silent_s >= HEARTBEAT_S)
        fb_buffer_add_text(&b, ":\n\n");
    write_out(c, &b);
    fb_buffer_fini(&b);
}

bool fb_sse_wants(const struct sse *s, enum sse_figures figures)
{
    for (const struct sse_client *c = s->first; c; c = c->next)
        if (c->figures == figures)
            return true;
    return false;
}

void fb_sse_tick(struct sse *s, enum sse_figures which, struct slice figures)
{
    for (struct sse_client *c = s->first, *next; c; c = next) {
        next = c->next;
        if (c->figures == which)
            tick_one(c, figures);
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
