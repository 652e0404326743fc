/* SPDX-License-Identifier: MIT */
/*
 * reset.c - readings of a bare number, from the surest to the least sure.
 *
 *     1. what a preset says
 *     2. milliseconds, where the header's name, another pool of the same response or what was
 *        learned about the host says so
 *     3. by size: below 10^8 it is a span, near now it is an instant (in seconds, milliseconds),
 *        and anything else is nothing
 *     4. a span longer than the window it belongs to is not in seconds
 *
 * Whatever is left in doubt is FLY_ABSENT: a wait that nobody asked for is as wrong as none.
 */
#include "signal/reset.h"

#include <assert.h>

#include "core/instant.h"

/* Numbers are in millionths. */
#define SPAN_END (FB_SPAN_END_S * FB_MILLIONTH)

static bool is_span(int64_t number)
{
    return number < SPAN_END;
}

/* So many millionths of a unit, as a span within bounds; else FLY_ABSENT. */
static int64_t span_ns(int64_t number, int64_t unit_ns)
{
    int64_t each_ns = unit_ns / FB_MILLIONTH;

    assert(number >= 0);
    return number <= FLY_SIGNAL_RESET_MAX_NS / each_ns ? number * each_ns : FLY_ABSENT;
}

/* From now to an instant: over if it has passed lately, FLY_ABSENT if it is too far off. */
static int64_t until(const struct reading *r, int64_t at_ns, int64_t past_ns)
{
    int64_t left_ns = fb_max64(at_ns, 0) - fb_reading_now(r);

    if (left_ns > FLY_SIGNAL_RESET_MAX_NS || left_ns < -past_ns)
        return FLY_ABSENT;
    return left_ns > 0 ? left_ns : 0;
}

static int64_t instant_ns(const struct reading *r, int64_t number, int64_t unit_ns)
{
    /* Seconds in millionths are microseconds; milliseconds in millionths are nanoseconds. */
    if (unit_ns == FB_MS)
        return until(r, number, FB_DAY_NS);
    return number <= INT64_MAX / FB_US ? until(r, number * FB_US, FB_DAY_NS) : FLY_ABSENT;
}

/* ---- milliseconds or seconds ---- */

/* Too long for its window, and as milliseconds not: it proves what this response counts in. */
static bool proves_ms(const struct pool *p)
{
    if (p->number == FLY_ABSENT || p->window_ns == FLY_ABSENT || !is_span(p->number))
        return false;
    int64_t as_s = span_ns(p->number, FB_S);
    return (as_s == FLY_ABSENT || as_s > p->window_ns) && p->number <= p->window_ns;
}

static bool counts_in_ms(const struct reading *r)
{
    if (r->habit && r->habit->unit == FLY_RESET_MILLISECONDS)
        return true;
    for (size_t i = 0; i < r->pool_count; i++) {
        if (proves_ms(&r->pool[i]))
            return true;
    }
    return false;
}

/*
 * More than a day, a whole number of thousands, and not of hours: 600000 is ten minutes in
 * milliseconds more likely than a week in seconds, and nothing here can tell.
 */
static bool is_doubtful(const struct reading *r, int64_t number)
{
    int64_t seconds = number / FB_MILLIONTH;

    if (r->habit && r->habit->unit == FLY_RESET_SECONDS)
        return false;
    return number > FB_DAY_NS / FB_US && seconds % 1000 == 0 && seconds % 3600 != 0;
}

static int64_t by_size(const struct reading *r, const struct pool *p)
{
    int64_t in_s;

    if (!is_span(p->number)) {
        in_s = instant_ns(r, p->number, FB_S);
        return in_s != FLY_ABSENT ? in_s : instant_ns(r, p->number, FB_MS);
    }
    in_s = span_ns(p->number, FB_S);
    if (p->window_ns != FLY_ABSENT)
        return in_s <= p->window_ns ? in_s : FLY_ABSENT;
    return is_doubtful(r, p->number) ? FLY_ABSENT : in_s;
}

static int64_t number_ns(const struct reading *r, const struct pool *p, bool ms)
{
    enum reset_unit unit = r->preset ? r->preset->reset : RESET_BY_SIZE;
    bool span = is_span(p->number);

    if (unit == RESET_DELTA_S)
        return span_ns(p->number, FB_S);
    if (unit == RESET_DELTA_MS || (unit == RESET_BY_SIZE && span && (ms || p->flags & POOL_MS)))
        return span_ns(p->number, FB_MS);
    if (unit == RESET_EPOCH_S)
        return instant_ns(r, p->number, FB_S);
    if (unit == RESET_EPOCH_MS)
        return instant_ns(r, p->number, FB_MS);
    return by_size(r, p);
}

/* ---- learning from two responses ---- */

#define APART_MIN_NS (2 * FB_S) /* a countdown in whole seconds has moved by then */
#define APART_MAX_NS FB_HOUR_NS
#define VOTES_MIN    2

static uint32_t hash_of(const struct pool *p)
{
    uint32_t h = 2166136261u;

    for (size_t i = 0; i < p->length; i++)
        h = (h ^ (unsigned char)p->name[i]) * 16777619u;
    return h;
}

/* What a number that shrank by `less` millionths while `apart_ns` passed counts in. */
static uint32_t guess_of(int64_t less, int64_t apart_ns)
{
    int64_t apart_us = apart_ns / FB_US; /* millionths of a second */

    if (less == 0)
        return FLY_RESET_FIXED;
    if (less >= apart_us / 2 && less <= apart_us * 2)
        return FLY_RESET_SECONDS;
    if (less / 1000 >= apart_us / 2 && less / 1000 <= apart_us * 2)
        return FLY_RESET_MILLISECONDS;
    return FLY_RESET_UNKNOWN;
}

static void vote(struct fly_reset_habit *h, uint32_t guess)
{
    if (guess == FLY_RESET_UNKNOWN)
        return;
    h->votes = guess == h->guess ? h->votes + 1 : 1;
    h->guess = guess;
    if (h->votes >= VOTES_MIN)
        h->unit = guess;
}

static void learn(struct fly_reset_habit *h, const struct pool *p, int64_t now_ns)
{
    uint32_t pool = hash_of(p);
    int64_t apart_ns = now_ns - h->seen_ns;
    bool same = h->seen_ns != 0 && h->pool == pool;

    if (same && apart_ns >= 0 && apart_ns < APART_MIN_NS)
        return; /* too soon to tell: the older one stays */
    /* A number that grew belongs to the next window. */
    if (same && apart_ns >= APART_MIN_NS && apart_ns <= APART_MAX_NS && p->number <= h->millionths)
        vote(h, guess_of(h->millionths - p->number, apart_ns));
    h->pool = pool;
    h->seen_ns = now_ns;
    h->millionths = p->number;
}

static void learn_from(struct reading *r)
{
    for (size_t i = 0; r->habit && i < r->pool_count; i++) {
        if (r->pool[i].number != FLY_ABSENT && is_span(r->pool[i].number)) {
            learn(r->habit, &r->pool[i], r->now_ns);
            return;
        }
    }
}

/* ---- all pools ---- */

static void settle(const struct reading *r, struct pool *p, bool ms)
{
    if (p->after_ns != FLY_ABSENT) {
        if (p->after_ns > FLY_SIGNAL_RESET_MAX_NS)
            p->after_ns = FLY_ABSENT;
        return;
    }
    if (p->at_ns != FLY_ABSENT)
        fb_told_most(&p->after_ns, until(r, p->at_ns, INT64_MAX));
    if (p->number != FLY_ABSENT)
        fb_told_most(&p->after_ns, number_ns(r, p, ms));
}

void fb_resets_settle(struct reading *r)
{
    bool ms = counts_in_ms(r);

    learn_from(r);
    for (size_t i = 0; i < r->pool_count; i++)
        settle(r, &r->pool[i], ms);
}
