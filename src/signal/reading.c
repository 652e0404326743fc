/* SPDX-License-Identifier: MIT */
/*
 * reading.c - what was told, kept: pools by name, and of two statements the more cautious one.
 */
#include "signal/reading.h"

#include <assert.h>
#include <string.h>

#include "core/instant.h"
#include "core/wide.h"

struct pool *fb_pool_find(struct reading *r, struct slice name)
{
    struct slice key = fb_slice_head(name, FLY_POOL_NAME_SIZE - 1);

    for (size_t i = 0; i < r->pool_count; i++) {
        struct pool *p = &r->pool[i];
        if (p->length == key.length && (key.length == 0 || !memcmp(p->name, key.at, key.length)))
            return p;
    }
    return NULL;
}

static struct pool *pool_add(struct reading *r, struct slice name, size_t vendor)
{
    struct pool *p = &r->pool[r->pool_count++];

    assert(r->pool_count <= FLY_POOLS_MAX);
    p->length = (uint8_t)name.length;
    p->vendor = (uint8_t)(vendor < name.length ? vendor : name.length);
    p->flags = 0;
    p->limit = p->decimal = p->remaining = p->used = FLY_ABSENT;
    p->refill = p->fill = p->window_ns = FLY_ABSENT;
    p->number = p->after_ns = p->at_ns = FLY_ABSENT;
    if (name.length > 0)
        memcpy(p->name, name.at, name.length);
    return p;
}

struct pool *fb_pool_get(struct reading *r, struct slice name, size_t vendor)
{
    struct pool *p = fb_pool_find(r, name);

    if (p || r->pool_count == FLY_POOLS_MAX)
        return p;
    return pool_add(r, fb_slice_head(name, FLY_POOL_NAME_SIZE - 1), vendor);
}

void fb_pool_drop(struct reading *r, struct pool *p)
{
    size_t i = (size_t)(p - r->pool);

    assert(i < r->pool_count);
    r->pool_count--;
    memmove(p, p + 1, (r->pool_count - i) * sizeof(*p));
}

void fb_told_least(int64_t *told, int64_t value)
{
    if (value != FLY_ABSENT && (*told == FLY_ABSENT || value < *told))
        *told = value;
}

void fb_told_most(int64_t *told, int64_t value)
{
    static_assert(FLY_ABSENT == INT64_MIN, "nothing told is less than anything");
    if (value > *told)
        *told = value;
}

void fb_told_window(struct pool *p, int64_t window_ns)
{
    if (window_ns > 0 && window_ns <= FLY_SIGNAL_RESET_MAX_NS)
        fb_told_most(&p->window_ns, window_ns);
}

void fb_told_wait(struct reading *r, int64_t span_ns)
{
    assert(span_ns >= 0);
    if (span_ns <= FLY_SIGNAL_WAIT_MAX_NS)
        fb_told_most(&r->wait_ns, span_ns);
}

void fb_told_wait_until(struct reading *r, int64_t epoch_ns)
{
    /* The Date may come later and move it a little; what is absurd must not hide what is not. */
    if (epoch_ns <= fb_reading_now(r) + FLY_SIGNAL_WAIT_MAX_NS + FB_DAY_NS)
        fb_told_most(&r->wait_at_ns, epoch_ns);
}

int64_t fb_per_second(int64_t millionths, int64_t window_ns)
{
    fb_wide rate = (fb_wide)millionths * FB_S / window_ns;

    assert(millionths > 0 && window_ns > 0);
    return rate < INT64_MAX ? fb_max64((int64_t)rate, 1) : INT64_MAX;
}

int64_t fb_reading_now(const struct reading *r)
{
    return r->date_ns != FLY_ABSENT ? r->date_ns : r->now_ns;
}
