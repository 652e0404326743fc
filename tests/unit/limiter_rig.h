/* SPDX-License-Identifier: MIT */
/*
 * limiter_rig.h - what tests of the public limiter share: short calls, and a limiter of every kind.
 */
#ifndef FLYBALL_TESTS_LIMITER_RIG_H
#define FLYBALL_TESTS_LIMITER_RIG_H

#include "unit.h"

#include "core/instant.h"
#include "core/rng.h"

static inline int64_t take(struct fly_limiter *l, int64_t now_ns, uint64_t *ret_ticket)
{
    return fly_limiter_take(l, now_ns, 1, ret_ticket);
}

static inline uint64_t granted(struct fly_limiter *l, int64_t now_ns, uint32_t cost)
{
    uint64_t ticket = 0;

    assert_at_most(fly_limiter_take(l, now_ns, cost, &ticket), now_ns);
    assert_true(ticket != 0);
    return ticket;
}

/* When the next request of this cost may start; a grant is given back. */
static inline int64_t next_at(struct fly_limiter *l, int64_t now_ns, uint32_t cost)
{
    struct fly_why w = {.size = sizeof(w)};

    assert_int_equal(fly_limiter_why(l, now_ns, cost, &w), 0);
    return w.until_ns;
}

static inline int grants_at(struct fly_limiter *l, int64_t now_ns, int most)
{
    uint64_t ticket;
    int n = 0;

    while (n < most && take(l, now_ns, &ticket) <= now_ns)
        n++;
    return n;
}

static inline void refuse(struct fly_limiter *l, int64_t now_ns, uint64_t ticket,
                          int64_t retry_after_ns)
{
    struct fly_outcome o = outcome(ticket, 429, now_ns);

    o.retry_after_ns = retry_after_ns;
    fly_limiter_report(l, now_ns, &o);
}

static const char *const every_kind[] = {
    "",
    "rate=5/s",
    "rate=5/s burst=1",
    "rate=1000/s burst=50 concurrency=4",
    "window=10/1s",
    "window=10/1s window=50/1m rate=20/s",
    "window=20000/1m",
    "adapt=aimd",
    "adapt=aimd rate=2/s floor=1/s ceiling=10/s burst=3",
    "adapt=step rate=10/s",
    "adapt=step window=30/1s concurrency=8",
    "adapt=probe rate=20/s ceiling=100/s",
    "pacing=even",
    "pacing=demand reserve=5%",
    "pacing=even rate=100/s reserve=20%",
    "adapt=off",
    "concurrency=3",
};

/* A random outcome; most are successes. */
static inline struct fly_outcome random_outcome(struct rng *rng, uint64_t ticket, int64_t now_ns)
{
    static const int32_t statuses[] = {200, 200, 200, 200, 204, 304, 429, 503, 500, 403, 0};
    struct fly_outcome o = outcome(ticket, statuses[fb_rng_next(rng) % COUNT_OF(statuses)], now_ns);

    o.latency_ns = (int64_t)(fb_rng_next(rng) % (uint64_t)S);
    o.sent_ns = now_ns - o.latency_ns;
    if (fb_rng_next(rng) % 8 == 0) {
        o.limit = 1 + (int64_t)(fb_rng_next(rng) % 100);
        o.remaining = (int64_t)(fb_rng_next(rng) % (uint64_t)(o.limit + 1));
        o.reset_ns = now_ns + (int64_t)(fb_rng_next(rng) % (uint64_t)(20 * S));
    }
    if (o.status == 429 && fb_rng_next(rng) % 2)
        o.retry_after_ns = (int64_t)(fb_rng_next(rng) % (uint64_t)(10 * S));
    return o;
}

#endif
