/* SPDX-License-Identifier: MIT */
/*
 * strava.c - "X-RateLimit-Limit: 600,30000" and "X-RateLimit-Usage: 5,148": a quarter of an hour
 * and a day, told together.
 *
 * The same form comes from proxies that join two lines into one; there no usage is told, and the
 * two numbers are two statements about one pool.
 */
#include "signal/dialect.h"

static bool pairs_have_usage(const struct reading *r)
{
    for (size_t i = 0; i < r->pool_count; i++) {
        if (r->pool[i].used != FLY_ABSENT)
            return true;
    }
    return false;
}

static struct pool *next_pair(struct reading *r)
{
    for (size_t i = 0; i < r->pool_count; i++) {
        if (r->pool[i].flags & POOL_PAIR)
            return &r->pool[i];
    }
    return NULL;
}

/* A usage with one number where the limits are two: it is the first window's. */
static void move_single(struct reading *r)
{
    struct pool *single = fb_pool_find(r, (struct slice){NULL, 0});
    struct pool *first = fb_pool_find(r, FB_SLICE("15min"));

    if (!single || !first || single->used == FLY_ABSENT)
        return;
    fb_told_most(&first->used, single->used);
    fb_pool_drop(r, single);
}

static void join(struct reading *r, struct pool *pair)
{
    struct pool copy = *pair;

    fb_pool_drop(r, pair);
    struct pool *p = fb_pool_get(r, (struct slice){NULL, 0}, 0);
    /* There is room: one was just dropped. */
    fb_told_least(&p->limit, copy.limit);
    fb_told_least(&p->remaining, copy.remaining);
}

static void strava_finish(struct reading *r)
{
    struct pool *pair = next_pair(r);

    if (!pair)
        return;
    if (pairs_have_usage(r)) {
        move_single(r);
        return;
    }
    for (; pair; pair = next_pair(r))
        join(r, pair);
}

const struct dialect fb_dialect_strava = {.name = "strava", .finish = strava_finish};
