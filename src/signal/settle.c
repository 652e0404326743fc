/* SPDX-License-Identifier: MIT */
/*
 * settle.c - what was told about pools, put in order once all of it is known.
 */
#include <assert.h>
#include <string.h>

#include "signal/dialect.h"
#include "signal/reset.h"
#include "signal/verdict.h"

/* ---- names ---- */

static struct slice rest_of(const struct pool *p)
{
    return fb_slice_after((struct slice){p->name, p->length}, p->vendor);
}

static bool is_alone(const struct reading *r, const struct pool *p)
{
    for (size_t i = 0; i < r->pool_count; i++) {
        if (&r->pool[i] != p && fb_slice_equal(rest_of(&r->pool[i]), rest_of(p)))
            return false;
    }
    return true;
}

/* "hubspot-daily" is "daily", unless another pool of the response is called so too. */
static void drop_vendors(struct reading *r)
{
    bool alone[FLY_POOLS_MAX];

    for (size_t i = 0; i < r->pool_count; i++)
        alone[i] = r->pool[i].vendor > 0 && is_alone(r, &r->pool[i]);
    for (size_t i = 0; i < r->pool_count; i++) {
        struct pool *p = &r->pool[i];
        if (!alone[i])
            continue;
        p->length = (uint8_t)(p->length - p->vendor);
        memmove(p->name, p->name + p->vendor, p->length);
        p->vendor = 0;
    }
}

/* "X-RateLimit-Resource: core": the pool without a name has one. */
static void set_title(struct reading *r)
{
    struct pool *p = fb_pool_find(r, (struct slice){NULL, 0});

    if (!p || r->title_length == 0 || fb_pool_find(r, (struct slice){r->title, r->title_length}))
        return;
    memcpy(p->name, r->title, r->title_length);
    p->length = r->title_length;
}

/* ---- numbers ---- */

static bool has_counts(const struct pool *p)
{
    return p->remaining != FLY_ABSENT || p->used != FLY_ABSENT || p->after_ns != FLY_ABSENT;
}

/* A limit with a point is a count where others are told beside it, and else a rate. */
static void settle_decimal(struct pool *p)
{
    if (p->decimal == FLY_ABSENT)
        return;
    if (has_counts(p))
        fb_told_least(&p->limit, p->decimal / FB_MILLIONTH);
    else if (p->decimal > 0 && p->refill == FLY_ABSENT)
        p->refill =
            p->window_ns == FLY_ABSENT ? p->decimal : fb_per_second(p->decimal, p->window_ns);
}

static void settle_fill(struct pool *p)
{
    if (p->fill != FLY_ABSENT)
        p->refill = fb_per_second(p->fill, p->window_ns == FLY_ABSENT ? FB_S : p->window_ns);
}

static bool is_empty(const struct pool *p)
{
    return p->limit == FLY_ABSENT && p->refill == FLY_ABSENT && p->window_ns == FLY_ABSENT &&
           !has_counts(p);
}

void fb_pools_settle(struct reading *r)
{
    for (size_t i = 0; i < fb_dialect_count; i++) {
        if (fb_dialects[i]->finish)
            fb_dialects[i]->finish(r);
    }
    drop_vendors(r);
    set_title(r);
    fb_resets_settle(r);
    for (size_t i = r->pool_count; i > 0; i--) {
        struct pool *p = &r->pool[i - 1];
        settle_decimal(p);
        settle_fill(p);
        if (is_empty(p))
            fb_pool_drop(r, p);
    }
}
