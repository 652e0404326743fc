/* SPDX-License-Identifier: MIT */
/*
 * bucket.h - a token bucket kept as one rising number, so that one compare-and-swap can take.
 *
 * The level is what was spent so far on a virtual clock: what the clock has reached at `now` is
 * affordable, what lies up to `burst` ahead of it may be spent at once. There is no refill step:
 * an idle bucket costs nothing and cannot drift.
 *
 * The clock counts ticks of which a nanosecond and a permit both have a whole number (3/s: 3 and
 * 10^9), so every instant and every permit is exact: nothing is rounded, for any number of
 * permits, and the bucket is neither early nor late by a nanosecond. Rates that need more than
 * 30 bits for that are slowed down by less than one part in 10^9.
 *
 * Ticks are fine and do not last: when the clock has come far it is shifted, its beginning moves
 * to now, exactly. While clock and level are small (FB_BUCKET_SMALL) a level leaves room for a
 * number beside it in one word.
 */
#ifndef FLYBALL_CORE_BUCKET_H
#define FLYBALL_CORE_BUCKET_H

#include <stdbool.h>
#include <stdint.h>

/* Slots of the constraint `bucket`. From grant to grant only LEVEL and GIVEN_BACK change. */
enum {
    FB_BUCKET_LEVEL,      /* ticks spent on the virtual clock; falls in a shift only */
    FB_BUCKET_GIVEN_BACK, /* ticks of cancelled grants: they set the virtual clock forward */
    FB_BUCKET_BASE,       /* the instant at which the virtual clock was 0 */
    FB_BUCKET_TICKS,      /* in a nanosecond; 0: nothing is bounded */
    FB_BUCKET_PERMIT,     /* in ticks */
    FB_BUCKET_BURST,      /* in ticks */
    FB_BUCKET_SLOTS
};

#define FB_BUCKET_SMALL     (INT64_C(1) << 46) /* a clock that is taken from without a lock */
#define FB_BUCKET_SPEND_MAX (INT64_C(3) << 61) /* ticks of one request, or a burst */
#define FB_BUCKET_LEVEL_MAX (INT64_C(7) << 60) /* and of all that is owed */

/* One of the slots, which another thread may change just now. */
static inline int64_t fb_bucket_get(const int64_t *slot, int index)
{
    return __atomic_load_n(&slot[index], __ATOMIC_RELAXED);
}

/* What `cost` permits are worth in ticks; debts beyond the range of instants are all alike. */
static inline int64_t fb_bucket_ticks(const int64_t *slot, int64_t cost)
{
    int64_t permit = fb_bucket_get(slot, FB_BUCKET_PERMIT);
    int64_t ticks;

    if (cost == 1)
        return permit; /* never so much */
    if (__builtin_mul_overflow(cost, permit, &ticks) || ticks > FB_BUCKET_SPEND_MAX)
        return FB_BUCKET_SPEND_MAX;
    return ticks;
}

/*
 * The virtual clock; INT64_MAX, later than any level, where it has run out of range. Read while
 * another thread may change it: if that shifts the clock the level is another one afterwards; if it
 * gives back, the older figure errs towards waiting.
 */
static inline int64_t fb_bucket_clock(const int64_t *slot, int64_t now_ns)
{
    int64_t base_ns = fb_bucket_get(slot, FB_BUCKET_BASE);
    int64_t clock;

    /* Whoever's time lags behind finds the clock where it began. */
    if (__builtin_expect(now_ns < base_ns, 0))
        now_ns = base_ns;
    if (__builtin_sub_overflow(now_ns, base_ns, &clock) ||
        __builtin_mul_overflow(clock, fb_bucket_get(slot, FB_BUCKET_TICKS), &clock) ||
        __builtin_add_overflow(clock, fb_bucket_get(slot, FB_BUCKET_GIVEN_BACK), &clock))
        return INT64_MAX;
    return clock;
}

/*
 * Spend `cost` permits at `level` (the slot's, or a copy that others take from): the level
 * afterwards; or -1 when they do not fit, when one of the two is no small number, or when the
 * caller's time lags behind the clock. More than the burst fits into a full bucket only, which goes
 * into debt.
 */
static inline int64_t fb_bucket_spend(const int64_t *slot, uint64_t level, int64_t cost,
                                      int64_t now_ns)
{
    uint64_t since = (uint64_t)now_ns - (uint64_t)fb_bucket_get(slot, FB_BUCKET_BASE);
    int64_t from = (int64_t)since; /* what is too far for this sign is too far for a small number */

    if (from < 0 || __builtin_mul_overflow(from, fb_bucket_get(slot, FB_BUCKET_TICKS), &from) ||
        __builtin_add_overflow(from, fb_bucket_get(slot, FB_BUCKET_GIVEN_BACK), &from))
        return -1;
    uint64_t ticks = (uint64_t)fb_bucket_ticks(slot, cost);
    uint64_t after = (uint64_t)from + ticks;
    if (__builtin_expect(level > (uint64_t)from, 0)) { /* a jump: it may still be written */
        after = level + ticks;
        if (after - (uint64_t)from > (uint64_t)fb_bucket_get(slot, FB_BUCKET_BURST))
            return -1;
    }
    return after < (uint64_t)FB_BUCKET_SMALL ? (int64_t)after : -1; /* a large level is so still */
}

/*
 * How long a request of 1 has to wait at `level`, looking at small numbers only; 0 when it need
 * not, or a number is not small. True only if the level was still the same afterwards.
 */
static inline int64_t fb_bucket_wait_ns(const int64_t *slot, int64_t level, int64_t now_ns)
{
    int64_t per_ns = fb_bucket_get(slot, FB_BUCKET_TICKS);
    int64_t burst = fb_bucket_get(slot, FB_BUCKET_BURST);
    int64_t clock = fb_bucket_clock(slot, now_ns);

    if (per_ns == 0 || (level | clock) >= FB_BUCKET_SMALL)
        return 0;
    int64_t wait = level - clock - (burst - fb_bucket_ticks(slot, 1));
    return wait > 0 ? (wait - 1) / per_ns + 1 : 0;
}

/* Permits that are missing from a full bucket, rounded up. */
int64_t fb_bucket_owed(const int64_t *slot, int64_t now_ns);

/* Permits that are there now, a part of one included; 0 when nothing bounds it. */
double fb_bucket_available(const int64_t *slot, int64_t now_ns);

/* So many were missing `passed_ns` ago: from now on they are, but for what came in since. */
void fb_bucket_owe(int64_t *slot, int64_t permits, int64_t now_ns, int64_t passed_ns);

/* Permits a second; 0 when nothing bounds it. */
double fb_bucket_rate(const int64_t *slot);

#endif
