/* SPDX-License-Identifier: MIT */
/*
 * signal.c - the public functions: a response in, whole or in pieces, and what it means out.
 */
#include <assert.h>
#include <errno.h>

#include <flyball/flyball.h>

#include "core/instant.h"
#include "signal/body.h"
#include "signal/headers.h"
#include "signal/reading.h"
#include "signal/verdict.h"

static_assert(sizeof(struct reading) <= sizeof(struct fly_signal_reader), "room for a reading");
static_assert(_Alignof(struct reading) <= _Alignof(struct fly_signal_reader), "and aligned");

static struct reading *reading_of(struct fly_signal_reader *r)
{
    return (struct reading *)(void *)r;
}

int fly_signal_begin(struct fly_signal_reader *r, const struct fly_response *about)
{
    struct reading *g = reading_of(r);

    if (about->size < sizeof(*about))
        return -EINVAL;
    g->now_ns = fb_clamp64(about->now_ns, 0, FB_EPOCH_MAX_NS);
    g->date_ns = FLY_ABSENT;
    g->status = about->status;
    g->flags = about->flags;
    g->preset = about->preset ? fb_preset_find(fb_slice_of(about->preset)) : NULL;
    g->habit = about->habit;
    g->wait_ns = g->wait_at_ns = g->concurrency = FLY_ABSENT;
    g->stated_limit = g->stated_window_ns = FLY_ABSENT;
    g->wait_in_header = false;
    g->means = 0;
    g->phrase = NULL;
    g->title_length = 0;
    g->pool_count = 0;
    g->body_length = g->tail_length = 0;
    return 0;
}

void fly_signal_header(struct fly_signal_reader *r, const char *name, size_t name_length,
                       const char *value, size_t value_length)
{
    fb_header_read(reading_of(r), (struct slice){name, name_length},
                   (struct slice){value, value_length});
}

void fly_signal_body(struct fly_signal_reader *r, const char *bytes, size_t size)
{
    fb_body_add(reading_of(r), (struct slice){bytes, size});
}

int fly_signal_end(struct fly_signal_reader *r, struct fly_signal *ret_signal)
{
    struct reading *g = reading_of(r);

    if (ret_signal->size < sizeof(*ret_signal))
        return -EINVAL;
    fb_body_read(g);
    fb_pools_settle(g);
    fb_verdict(g, ret_signal);
    return 0;
}

int fly_signal_read(const struct fly_response *about, const struct fly_header *header,
                    size_t header_count, const char *body, size_t body_length,
                    struct fly_signal *ret_signal)
{
    struct fly_signal_reader r;

    if (fly_signal_begin(&r, about) < 0)
        return -EINVAL;
    for (size_t i = 0; i < header_count; i++)
        fly_signal_header(&r, header[i].name, header[i].name_length, header[i].value,
                          header[i].value_length);
    fly_signal_body(&r, body, body_length);
    return fly_signal_end(&r, ret_signal);
}

size_t fly_signal_outcomes(const struct fly_signal *s)
{
    return s->pool_count > 0 ? (size_t)s->pool_count : 1;
}

/* What was not told follows from what was, where two of limit, used and remaining are known. */
static void fill_counts(const struct fly_pool *p, struct fly_outcome *o)
{
    o->limit = p->limit;
    o->remaining = p->remaining;
    if (p->used == FLY_ABSENT)
        return;
    if (p->limit == FLY_ABSENT && p->remaining != FLY_ABSENT)
        o->limit = p->used < INT64_MAX - p->remaining ? p->used + p->remaining : INT64_MAX;
    if (p->remaining == FLY_ABSENT && p->limit != FLY_ABSENT)
        o->remaining = fb_max64(p->limit - p->used, 0);
}

void fly_signal_outcome(const struct fly_signal *s, size_t i, int64_t now_ns, struct fly_outcome *o)
{
    bool throttled = s->flags & FLY_SIGNAL_THROTTLED;
    bool held = s->flags & (FLY_SIGNAL_BANNED | FLY_SIGNAL_QUOTA_GONE);

    static_assert(FLY_SIGNAL_THROTTLED == FLY_THROTTLED, "the same bit in both");
    o->limit = o->remaining = o->reset_ns = FLY_ABSENT;
    if (i < s->pool_count) {
        fill_counts(&s->pool[i], o);
        if (s->pool[i].reset_ns != FLY_ABSENT && now_ns < INT64_MAX - s->pool[i].reset_ns)
            o->reset_ns = now_ns + s->pool[i].reset_ns;
    }
    /* A ban or a spent month holds even where no wait was told. */
    o->retry_after_ns = held ? s->hold_ns : s->retry_after_ns;
    o->status = s->status;
    o->flags = throttled ? FLY_THROTTLED : 0;
}
