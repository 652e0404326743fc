/* SPDX-License-Identifier: MIT */
/*
 * bucket.c - the slow side of the bucket: setting it up, saying when, changing its rate.
 *
 * Invariant: LEVEL and GIVEN_BACK never fall while the rate stands, but for a shift.
 *
 * No sum overflows. In units of 2^60 the clock is below 1 when something is spent, and a burst
 * or a request is worth at most 6, so a level stays below 7. That bounds nothing real: where a
 * nanosecond has more than two ticks a permit has at most 1.5 * 2^30, of which 2^32 are still
 * within 6; where it has one or two, 6 is more than a hundred years.
 */
#include "core/bucket.h"

#include <assert.h>
#include <string.h>

#include "core/constraint.h"
#include "core/controller.h"
#include "core/instant.h"
#include "core/spec.h"
#include "core/wide.h"

#define EXACT_MAX  (INT64_C(1) << 30)    /* ticks of a permit, where a nanosecond has several */
#define PERMIT_MAX (INT64_C(1) << 58)    /* of a pace: nine years; a fifth of any stated rate */
#define PACE_BYTES (3 * sizeof(int64_t)) /* TICKS, PERMIT, BURST */

static_assert((int)FB_BUCKET_SLOTS == (int)FB_SLOTS_bucket, "as its row says");

double fb_bucket_rate(const int64_t *slot)
{
    if (slot[FB_BUCKET_TICKS] == 0)
        return 0.0;
    assert(slot[FB_BUCKET_TICKS] > 0 && slot[FB_BUCKET_PERMIT] > 0);
    return (double)slot[FB_BUCKET_TICKS] * 1e9 / (double)slot[FB_BUCKET_PERMIT];
}

static bool unbounded(const int64_t *slot)
{
    return slot[FB_BUCKET_TICKS] == 0;
}

/* ---- setting up ---- */

static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static void set_rate(int64_t *slot, const struct rate *r)
{
    int64_t divisor = common_divisor(r->permits, r->period_ns);
    int64_t ticks = r->permits / divisor;
    int64_t permit = r->period_ns / divisor;

    assert(r->permits >= 1 && r->period_ns >= 1);
    if (permit > EXACT_MAX) {
        /* Both rounded up: at most one tick in EXACT_MAX too slow, never too fast; 1 stays 1. */
        int64_t fewer = (int64_t)(((fb_wide)ticks * EXACT_MAX + permit - 1) / permit);
        permit = (int64_t)(((fb_wide)permit * fewer + ticks - 1) / ticks);
        ticks = fewer;
    }
    /* Never faster than stated. */
    assert(ticks >= 1 && (fb_wide)ticks * r->period_ns <= (fb_wide)permit * r->permits);
    slot[FB_BUCKET_TICKS] = ticks;
    slot[FB_BUCKET_PERMIT] = permit;
}

static bool bucket_init(int64_t *slot, const struct spec *s, void *memory, int64_t now_ns)
{
    (void)memory;
    slot[FB_BUCKET_BASE] = now_ns;
    /* What learns has a pace of its own; whatever it is, it finds the bucket full. */
    if (s->controller || s->rate.permits == 0)
        return s->controller != NULL;

    set_rate(slot, &s->rate);
    slot[FB_BUCKET_BURST] = fb_bucket_ticks(slot, s->burst);
    return true;
}

/* ---- asking ---- */

/* Ticks that are missing from a full bucket; more than the burst is a debt. */
static inline int64_t missing_at(const int64_t *slot, int64_t now_ns)
{
    assert(now_ns >= slot[FB_BUCKET_BASE] && slot[FB_BUCKET_LEVEL] <= FB_BUCKET_LEVEL_MAX);
    return fb_max64(0, slot[FB_BUCKET_LEVEL] - fb_bucket_clock(slot, now_ns));
}

static int64_t bucket_ready_at(const int64_t *slot, const struct ask *q)
{
    assert(q->cost >= 1);
    if (unbounded(slot))
        return q->now_ns;

    /* Full is enough for any cost; otherwise so much may be missing. */
    int64_t spare = fb_max64(0, slot[FB_BUCKET_BURST] - fb_bucket_ticks(slot, q->cost));
    int64_t wait = missing_at(slot, q->now_ns) - spare;
    if (wait <= 0)
        return q->now_ns;
    return fb_after(q->now_ns, (wait - 1) / slot[FB_BUCKET_TICKS] + 1);
}

/* ---- taking and giving back ---- */

/* Set what another thread may be reading just now. */
static void set(int64_t *slot, int index, int64_t value)
{
    __atomic_store_n(&slot[index], value, __ATOMIC_RELAXED);
}

/* The clock as a small number: one that has come far begins anew, and the bucket is the same. */
static inline int64_t small_clock(int64_t *slot, int64_t now_ns)
{
    int64_t clock = fb_bucket_clock(slot, now_ns);

    if (clock < FB_BUCKET_SMALL)
        return clock;
    slot[FB_BUCKET_LEVEL] = missing_at(slot, now_ns);
    set(slot, FB_BUCKET_GIVEN_BACK, 0);
    set(slot, FB_BUCKET_BASE, now_ns);
    assert(fb_bucket_clock(slot, now_ns) == 0);
    return 0;
}

static inline void spend_at(int64_t *slot, int64_t ticks, int64_t clock)
{
    int64_t from = fb_max64(slot[FB_BUCKET_LEVEL], clock);

    assert(ticks >= 0 && clock < FB_BUCKET_SMALL);
    /* More than this is owed only where absurd costs add up. */
    slot[FB_BUCKET_LEVEL] = ticks < FB_BUCKET_LEVEL_MAX - from ? from + ticks : FB_BUCKET_LEVEL_MAX;
}

static void spend(int64_t *slot, int64_t ticks, int64_t now_ns)
{
    spend_at(slot, ticks, small_clock(slot, now_ns));
}

static void bucket_take(int64_t *slot, const struct ask *q)
{
    if (unbounded(slot))
        return;
    int64_t ticks = fb_bucket_ticks(slot, q->cost);
    int64_t clock = small_clock(slot, q->now_ns);

    /* As bucket_ready_at() has said. */
    assert(slot[FB_BUCKET_LEVEL] - clock <= fb_max64(0, slot[FB_BUCKET_BURST] - ticks));
    spend_at(slot, ticks, clock);
}

static void give_back(int64_t *slot, int64_t ticks, int64_t now_ns)
{
    /* A full bucket cannot hold more. */
    int64_t given = fb_min64(ticks, missing_at(slot, now_ns));

    assert(ticks >= 0);
    assert(given == 0 || slot[FB_BUCKET_GIVEN_BACK] + given <= slot[FB_BUCKET_LEVEL]);
    set(slot, FB_BUCKET_GIVEN_BACK, slot[FB_BUCKET_GIVEN_BACK] + given);
}

static void bucket_refund(int64_t *slot, const struct ask *q)
{
    if (unbounded(slot))
        return;
    if (q->cost >= 0)
        give_back(slot, fb_bucket_ticks(slot, q->cost), q->now_ns);
    else
        spend(slot, fb_bucket_ticks(slot, -q->cost), q->now_ns);
}

static void bucket_exhaust(int64_t *slot, int64_t now_ns)
{
    if (!unbounded(slot))
        spend(slot, fb_max64(0, slot[FB_BUCKET_BURST] - missing_at(slot, now_ns)), now_ns);
}

/* ---- another pace ---- */

/* Rounded up, towards waiting; beyond this nothing is slower. */
static int64_t whole_permit(double ticks)
{
    assert(ticks > 0.0);

    if (ticks >= (double)PERMIT_MAX)
        return PERMIT_MAX;
    int64_t whole = (int64_t)ticks;

    return whole + (ticks > (double)whole);
}

static void set_pace(int64_t *slot, const struct pace *p)
{
    /* What learns may climb without end; beyond this nothing is slowed down. */
    double rate = p->rate < (double)FB_RATE_MAX ? p->rate : (double)FB_RATE_MAX;
    double several = (double)EXACT_MAX * rate / 1e9;
    double ticks = several > 1.0 ? (double)(int64_t)several : 1.0;
    double permit = ticks * 1e9 / rate;

    assert(rate > 0.0 && ticks >= 1.0 && ticks <= (double)EXACT_MAX);
    slot[FB_BUCKET_TICKS] = (int64_t)ticks;
    slot[FB_BUCKET_PERMIT] = whole_permit(permit);
    double burst = (double)p->burst * (double)slot[FB_BUCKET_PERMIT];
    slot[FB_BUCKET_BURST] =
        burst < (double)FB_BUCKET_SPEND_MAX ? (int64_t)burst : FB_BUCKET_SPEND_MAX;
}

/* x * to / from, rounded down. */
static fb_wide scaled(int64_t x, int64_t to, int64_t from)
{
    fb_wide product = (fb_wide)x * to;

    assert(to >= 1 && from >= 1);
    return product / from - (product % from < 0);
}

/* Another rate or burst keeps the permits that are there, as far as the new burst holds them. */
static void bucket_repace(int64_t *slot, const struct pace *p, int64_t now_ns)
{
    if (p->rate <= 0.0)
        return;
    assert(p->burst >= 1.0f);

    int64_t next[FB_BUCKET_SLOTS] = {[FB_BUCKET_BASE] = now_ns};
    set_pace(next, p);
    if (memcmp(&next[FB_BUCKET_TICKS], &slot[FB_BUCKET_TICKS], PACE_BYTES) == 0)
        return;
    if (!unbounded(slot)) {
        int64_t there = slot[FB_BUCKET_BURST] - missing_at(slot, now_ns);
        fb_wide missing =
            next[FB_BUCKET_BURST] - scaled(there, next[FB_BUCKET_PERMIT], slot[FB_BUCKET_PERMIT]);
        missing = missing < FB_BUCKET_LEVEL_MAX ? missing : FB_BUCKET_LEVEL_MAX;
        next[FB_BUCKET_LEVEL] = missing > 0 ? (int64_t)missing : 0;
    }
    for (int i = 0; i < FB_BUCKET_SLOTS; i++)
        set(slot, i, next[i]);
}

/* ---- what lasts ---- */

int64_t fb_bucket_owed(const int64_t *slot, int64_t now_ns)
{
    if (unbounded(slot))
        return 0;
    int64_t missing = missing_at(slot, now_ns);

    assert(slot[FB_BUCKET_PERMIT] >= 1);
    return missing / slot[FB_BUCKET_PERMIT] + (missing % slot[FB_BUCKET_PERMIT] > 0);
}

double fb_bucket_available(const int64_t *slot, int64_t now_ns)
{
    if (unbounded(slot))
        return 0.0;
    int64_t there = fb_max64(0, slot[FB_BUCKET_BURST] - missing_at(slot, now_ns));

    assert(slot[FB_BUCKET_PERMIT] >= 1 && there <= slot[FB_BUCKET_BURST]);
    return (double)there / (double)slot[FB_BUCKET_PERMIT];
}

void fb_bucket_owe(int64_t *slot, int64_t permits, int64_t now_ns, int64_t passed_ns)
{
    assert(permits >= 0 && passed_ns >= 0);
    if (unbounded(slot))
        return;
    fb_wide left = (fb_wide)fb_bucket_ticks(slot, permits) -
                   (fb_wide)passed_ns * slot[FB_BUCKET_TICKS] - missing_at(slot, now_ns);
    if (left > 0)
        spend(slot, (int64_t)left, now_ns);
}

/* Full, as at the beginning. */
static bool bucket_rested(const int64_t *slot, int64_t now_ns)
{
    return missing_at(slot, fb_max64(now_ns, slot[FB_BUCKET_BASE])) == 0;
}

static bool bucket_sound(const int64_t *slot, const int64_t *fresh)
{
    const struct range ranges[] = {
        FB_AN_INSTANT(slot[FB_BUCKET_BASE]),
        {slot[FB_BUCKET_LEVEL], 0, FB_BUCKET_LEVEL_MAX},
        {slot[FB_BUCKET_GIVEN_BACK], 0, FB_BUCKET_LEVEL_MAX},
    };
    const struct range pace[] = {
        {slot[FB_BUCKET_TICKS], 1, EXACT_MAX},
        {slot[FB_BUCKET_PERMIT], 1, PERMIT_MAX},
        {slot[FB_BUCKET_BURST], slot[FB_BUCKET_PERMIT], FB_BUCKET_SPEND_MAX},
    };

    /* Stated it is as it was; what learns may have come to any pace that set_pace() makes. */
    return FB_ALL_IN_RANGE(ranges) &&
           (memcmp(&slot[FB_BUCKET_TICKS], &fresh[FB_BUCKET_TICKS], PACE_BYTES) == 0 ||
            FB_ALL_IN_RANGE(pace));
}

const struct constraint fb_constraint_bucket = {
    .name = "bucket",
    .says = "the rate allows no more yet",
    .init = bucket_init,
    .ready_at = bucket_ready_at,
    .take = bucket_take,
    .refund = bucket_refund,
    .exhaust = bucket_exhaust,
    .repace = bucket_repace,
    .sound = bucket_sound,
    .rested = bucket_rested,
};
