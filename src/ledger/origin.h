/* SPDX-License-Identifier: MIT */
/*
 * origin.h - from the caller's clock to the books' and back.
 *
 * Books keep time from the instant at which they were opened, so that any clock will do; what is
 * more than 73 years off is all the same.
 */
#ifndef FLYBALL_LEDGER_ORIGIN_H
#define FLYBALL_LEDGER_ORIGIN_H

#include <stdint.h>

#include <flyball/flyball.h>

#include "core/instant.h"

/* An instant of the caller's clock in the books. */
static inline int64_t fb_from_clock(int64_t origin_ns, int64_t at_ns)
{
    int64_t since_ns;

    if (__builtin_sub_overflow(at_ns, origin_ns, &since_ns))
        since_ns = at_ns < origin_ns ? -FB_TIME_MAX : FB_TIME_MAX;
    return fb_clamp64(since_ns, -FB_TIME_MAX, FB_TIME_MAX);
}

/* And back. */
static inline int64_t fb_to_clock(int64_t origin_ns, int64_t since_ns)
{
    int64_t at_ns;

    if (since_ns == FB_NEVER || __builtin_add_overflow(since_ns, origin_ns, &at_ns))
        return FLY_NEVER;
    return at_ns;
}

/*
 * An outcome on the books' clock. What a response says is input: absurd values become absent
 * ones, one by one. `now_ns` is the books'.
 */
static inline struct fly_outcome fb_outcome_from_clock(int64_t origin_ns,
                                                       const struct fly_outcome *o, int64_t now_ns)
{
    struct fly_outcome c = *o;

    c.sent_ns = fb_min64(fb_from_clock(origin_ns, c.sent_ns), now_ns);
    c.latency_ns = fb_clamp64(c.latency_ns, 0, FB_TIME_MAX);
    if (c.limit <= 0)
        c.limit = FLY_ABSENT;
    if (c.remaining < 0)
        c.remaining = FLY_ABSENT;
    if (c.retry_after_ns < 0)
        c.retry_after_ns = FLY_ABSENT;
    if (c.reset_ns != FLY_ABSENT)
        c.reset_ns = fb_from_clock(origin_ns, c.reset_ns);
    if (c.reset_ns <= -FB_TIME_MAX || c.reset_ns >= FB_TIME_MAX)
        c.reset_ns = FLY_ABSENT;
    return c;
}

#endif
