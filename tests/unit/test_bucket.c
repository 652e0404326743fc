/* SPDX-License-Identifier: MIT */
/* The bucket: exact over any number of permits, never early, and nothing lost or doubled. */
#include "unit.h"

#include "core/bucket.h"
#include "core/constraint.h"
#include "core/controller.h"
#include "core/instant.h"
#include "core/rng.h"
#include "core/spec.h"
#include "core/wide.h"

static const struct constraint *const bucket = &fb_constraint_bucket;

struct rig {
    int64_t slot[FB_BUCKET_SLOTS];
    struct rate rate;
    int64_t burst;
    int64_t base_ns;
};

static struct rig rig_at(int64_t permits, int64_t period_ns, int64_t burst, int64_t now_ns)
{
    struct spec s = {.rate = {permits, period_ns}, .burst = burst};
    struct rig r = {.rate = s.rate, .burst = burst, .base_ns = now_ns};

    assert_true(bucket->init(r.slot, &s, NULL, now_ns));
    return r;
}

static struct rig rig_of(int64_t permits, int64_t period_ns, int64_t burst)
{
    return rig_at(permits, period_ns, burst, 0);
}

static int64_t ready_at(const struct rig *r, int64_t cost, int64_t now_ns)
{
    return bucket->ready_at(r->slot, &(struct ask){.now_ns = now_ns, .cost = cost});
}

static void take(struct rig *r, int64_t cost, int64_t now_ns)
{
    assert_int_equal(ready_at(r, cost, now_ns), now_ns);
    bucket->take(r->slot, &(struct ask){.now_ns = now_ns, .cost = cost});
}

static void refund(struct rig *r, int64_t cost, int64_t now_ns)
{
    bucket->refund(r->slot, &(struct ask){.now_ns = now_ns, .cost = cost});
}

static void repace(struct rig *r, double rate, double burst, int64_t now_ns)
{
    bucket->repace(r->slot, &(struct pace){.rate = rate, .burst = (float)burst}, now_ns);
}

/* How many permits can be taken one by one at this instant. */
static int64_t there_are(const struct rig *r, int64_t now_ns)
{
    struct rig copy = *r;
    int64_t n = 0;

    for (; n < 100000 && ready_at(&copy, 1, now_ns) <= now_ns; n++)
        take(&copy, 1, now_ns);
    return n;
}

/* The most that the limit allows from its beginning until `now_ns`. */
static int64_t allowed(const struct rig *r, int64_t now_ns)
{
    fb_wide passed = (fb_wide)(now_ns - r->base_ns) * r->rate.permits / r->rate.period_ns;

    return (int64_t)passed + r->burst;
}

/* ---- exactness ---- */

static const struct rate awkward[] = {
    {3, S},      {7, S},  {650, S},        {1, 10 * S}, {1, 86400 * S},
    {999983, S}, {7, 13}, {1000000000, S}, {1, 3 * S},  {5000, 3600 * S},
};

/*
 * Always backlogged: each grant comes at the first nanosecond at which burst + elapsed x rate
 * allows it. `slack` permits may be missing. Costs are below the burst: a full bucket spills.
 */
static void run_backlogged(struct rig *r, int64_t decisions, int64_t cost_max, int64_t slack,
                           struct rng *rng)
{
    int64_t now_ns = r->base_ns;
    int64_t granted = 0;

    for (int64_t i = 0; i < decisions; i++) {
        int64_t cost = 1 + (int64_t)(fb_rng_next(rng) % (uint64_t)cost_max);
        int64_t at_ns = ready_at(r, cost, now_ns);
        if (at_ns == FB_NEVER)
            break;
        granted += cost;
        if (at_ns > now_ns) {
            assert_int_equal(ready_at(r, cost, at_ns - 1), at_ns);
            assert_at_least(granted + slack, allowed(r, at_ns - 1) + 1);
        }
        now_ns = at_ns;
        take(r, cost, now_ns);
        assert_at_most(granted, allowed(r, now_ns));
    }
}

static void exact_over_ten_million_decisions(void **state)
{
    struct rng rng = {seed_of_run()};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(awkward); i++) {
        struct rig r = rig_of(awkward[i].permits, awkward[i].period_ns, 10);
        run_backlogged(&r, 10000000 / (int64_t)COUNT_OF(awkward), 1, 0, &rng);
    }
}

static void exact_over_a_billion_permits(void **state)
{
    struct rng rng = {seed_of_run()};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(awkward); i++) {
        /* As many as fit into the range of instants. */
        struct rig r = rig_at(awkward[i].permits, awkward[i].period_ns, 50000, -FB_TIME_MAX);
        run_backlogged(&r, 60000, 49999, 0, &rng);
    }
}

/* Rates whose ticks would be too fine: late by less than a permit in 10^9, never early. */
static void nearly_exact_where_ticks_would_be_too_fine(void **state)
{
    static const struct rate rates[] = {
        {4999, 3600 * S},
        {7001, 60 * S},
        {7, 60 * S},
        {99991, 3600 * S},
        {86399999999999, 86400 * S},
        {999999999, S + 1},
        {2, 3 * S + 1},
        {123456789, 10000000 * S},
    };
    struct rng rng = {seed_of_run()};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rates); i++) {
        struct rig r = rig_at(rates[i].permits, rates[i].period_ns, 100000, -FB_TIME_MAX);
        run_backlogged(&r, 20000, 99999, 1, &rng);
    }
}

/* Random arrivals: over every span between two grants no more than burst + span x rate. */
static void never_more_over_any_span(void **state)
{
    enum { GRANTS = 400 };
    struct rng rng = {seed_of_run()};

    (void)state;
    for (int round = 0; round < 50; round++) {
        struct rate rate = awkward[fb_rng_next(&rng) % COUNT_OF(awkward)];
        int64_t burst = 1 + (int64_t)(fb_rng_next(&rng) % 20);
        struct rig r = rig_of(rate.permits, rate.period_ns, burst);
        int64_t at_ns[GRANTS];
        int64_t now_ns = 0;

        for (int i = 0; i < GRANTS; i++) {
            uint64_t gap_ns = (uint64_t)(rate.period_ns * 2 / rate.permits + 1);
            now_ns += (int64_t)(fb_rng_next(&rng) % gap_ns);
            now_ns = ready_at(&r, 1, now_ns);
            take(&r, 1, now_ns);
            at_ns[i] = now_ns;
            for (int j = 0; j <= i; j++) {
                fb_wide span = at_ns[i] - at_ns[j];
                assert_at_most(i - j + 1, burst + (int64_t)(span * rate.permits / rate.period_ns));
            }
        }
    }
}

static int64_t time_of_20_at_2_a_second(int64_t burst)
{
    struct rig r = rig_of(2, S, burst);
    int64_t now_ns = 0;

    for (int i = 0; i < 20; i++) {
        now_ns = ready_at(&r, 1, now_ns);
        take(&r, 1, now_ns);
    }
    return now_ns;
}

static void twenty_at_two_a_second(void **state)
{
    (void)state;
    assert_int_equal(time_of_20_at_2_a_second(10), 5 * S);
    assert_int_equal(time_of_20_at_2_a_second(1), 9 * S + S / 2);
}

static void an_idle_bucket_holds_its_burst_and_no_more(void **state)
{
    struct rig r = rig_of(10, S, 5);

    (void)state;
    assert_int_equal(there_are(&r, 0), 5);
    assert_int_equal(there_are(&r, 3600 * S), 5);
    assert_int_equal(there_are(&r, FB_TIME_MAX), 5);
    for (int i = 0; i < 5; i++)
        take(&r, 1, 3600 * S);
    assert_int_equal(there_are(&r, 3600 * S), 0);
    assert_int_equal(ready_at(&r, 1, 3600 * S), 3600 * S + 100 * MS);
    assert_int_equal(ready_at(&r, 5, 3600 * S), 3600 * S + 500 * MS);
}

/* ---- costs ---- */

static void a_cost_above_the_burst_goes_into_debt(void **state)
{
    struct rig r = rig_of(10, S, 5);

    (void)state;
    take(&r, 1, 0);
    /* Only a full bucket will do, and nothing more than full is asked of it. */
    assert_int_equal(ready_at(&r, 6, 0), 100 * MS);
    assert_int_equal(ready_at(&r, 1000, 0), 100 * MS);
    take(&r, 25, 100 * MS);
    assert_int_equal(there_are(&r, 100 * MS), 0);
    assert_int_equal(ready_at(&r, 1, 100 * MS), 2200 * MS);
    assert_int_equal(ready_at(&r, 7, 100 * MS), 2600 * MS);
}

static void the_largest_cost_is_owed_for_as_long_as_it_takes(void **state)
{
    struct rig slow = rig_of(1, S, 1);
    struct rig slower = rig_of(1, 366 * 86400 * S, 1);
    struct rig fast = rig_of(1000000000, S, 1);

    (void)state;
    take(&slow, UINT32_MAX, 0);
    /* 136 years are beyond the range of instants. */
    assert_int_equal(ready_at(&slow, 1, 0), FB_NEVER);
    take(&slower, UINT32_MAX, 0);
    assert_int_equal(ready_at(&slower, 1, 0), FB_NEVER);
    take(&fast, UINT32_MAX, 0);
    assert_int_equal(ready_at(&fast, 1, 0), UINT32_MAX);
    assert_int_equal(ready_at(&fast, UINT32_MAX, 0), UINT32_MAX);
}

/* ---- giving back and owing ---- */

static void cancelled_permits_come_back_at_once(void **state)
{
    struct rig r = rig_of(10, S, 5);

    (void)state;
    for (int i = 0; i < 5; i++)
        take(&r, 1, S);
    refund(&r, 1, S);
    assert_int_equal(there_are(&r, S), 1);
    refund(&r, 2, S);
    assert_int_equal(there_are(&r, S), 3);
    take(&r, 3, S);
    assert_int_equal(there_are(&r, S), 0);
}

static void a_full_bucket_takes_nothing_back(void **state)
{
    struct rig r = rig_of(10, S, 5);

    (void)state;
    take(&r, 1, 0);
    refund(&r, 3, 0);
    assert_int_equal(there_are(&r, 0), 5);
    take(&r, 2, S);
    refund(&r, 2, 2 * S); /* refilled long ago */
    assert_int_equal(there_are(&r, 2 * S), 5);
    take(&r, 5, 2 * S);
    assert_int_equal(ready_at(&r, 1, 2 * S), 2100 * MS);
}

static void half_refilled_takes_back_half(void **state)
{
    struct rig r = rig_of(10, S, 5);

    (void)state;
    take(&r, 5, 0);
    refund(&r, 5, 250 * MS);
    assert_int_equal(there_are(&r, 250 * MS), 5);
    take(&r, 5, 250 * MS);
    assert_int_equal(there_are(&r, 349 * MS), 0);
    assert_int_equal(there_are(&r, 351 * MS), 1);
}

static void what_turns_out_to_be_used_is_owed(void **state)
{
    struct rig r = rig_of(10, S, 5);

    (void)state;
    take(&r, 1, 0);
    refund(&r, -3, 0);
    assert_int_equal(there_are(&r, 0), 1);
    refund(&r, -11, 0);
    assert_int_equal(ready_at(&r, 1, 0), 1100 * MS);
    /* A bucket that has filled up in the meantime owes it from now on, not from then. */
    refund(&r, -5, 10 * S);
    assert_int_equal(there_are(&r, 10 * S), 0);
    assert_int_equal(ready_at(&r, 1, 10 * S), 10 * S + 100 * MS);
    refund(&r, 0, 10 * S);
    assert_int_equal(ready_at(&r, 1, 10 * S), 10 * S + 100 * MS);
}

/* No order of absurd costs overflows, or sets the bucket back to where it was generous. */
static void absurd_costs_never_overflow(void **state)
{
    static const struct rate rates[] = {{1, S}, {1, 366 * 86400 * S}, {1000000000, S}, {3, S}};
    struct rng rng = {seed_of_run()};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rates); i++) {
        struct rig r = rig_at(rates[i].permits, rates[i].period_ns, 1000000000, -FB_TIME_MAX);
        for (int64_t now_ns = -FB_TIME_MAX; now_ns < FB_TIME_MAX; now_ns += FB_TIME_MAX / 100) {
            for (int j = 0; j < 20; j++) {
                switch (fb_rng_next(&rng) % 3) {
                case 0:
                    if (ready_at(&r, UINT32_MAX, now_ns) <= now_ns)
                        take(&r, UINT32_MAX, now_ns);
                    break;
                case 1:
                    refund(&r, UINT32_MAX, now_ns);
                    break;
                case 2:
                    refund(&r, -(int64_t)UINT32_MAX, now_ns);
                    break;
                }
                assert_at_least(r.slot[FB_BUCKET_LEVEL], r.slot[FB_BUCKET_GIVEN_BACK]);
                assert_at_least(ready_at(&r, 1, now_ns), now_ns);
            }
        }
    }
}

/* ---- saying when without a lock ---- */

static void the_wait_is_what_ready_at_says(void **state)
{
    struct rig r = rig_of(3, S, 4);
    struct rng rng = {seed_of_run()};
    int64_t now_ns = 0;

    (void)state;
    for (int i = 0; i < 20000; i++) {
        now_ns += (int64_t)(fb_rng_next(&rng) % (uint64_t)(400 * MS));
        int64_t wait_ns = fb_bucket_wait_ns(r.slot, r.slot[FB_BUCKET_LEVEL], now_ns);
        assert_int_equal(now_ns + wait_ns, ready_at(&r, 1, now_ns));
        if (wait_ns == 0)
            take(&r, 1, now_ns);
    }
    /* Where a number is large, or nothing bounds it, the books say. */
    assert_int_equal(fb_bucket_wait_ns(r.slot, FB_BUCKET_SMALL, now_ns), 0);
    assert_int_equal(fb_bucket_wait_ns(r.slot, 1, FB_TIME_MAX), 0);
    r.slot[FB_BUCKET_BASE] = -FB_TIME_MAX;
    assert_int_equal(fb_bucket_wait_ns(r.slot, 1, INT64_MAX), 0);
    assert_int_equal(fb_bucket_spend(r.slot, 1, 1, INT64_MAX), -1);
    r.slot[FB_BUCKET_TICKS] = 0;
    assert_int_equal(fb_bucket_wait_ns(r.slot, 1, now_ns), 0);
}

static void an_exhausted_bucket_is_empty(void **state)
{
    struct rig r = rig_of(1, S, 5);

    (void)state;
    take(&r, 2, 10 * S);
    bucket->exhaust(r.slot, 10 * S);
    assert_int_equal(ready_at(&r, 1, 10 * S), 11 * S);
    bucket->exhaust(r.slot, 10 * S); /* no more than that */
    assert_int_equal(ready_at(&r, 1, 10 * S), 11 * S);
    r.slot[FB_BUCKET_TICKS] = 0;
    bucket->exhaust(r.slot, 10 * S);
    assert_int_equal(ready_at(&r, 1, 10 * S), 10 * S);
}

/* ---- the clock's range ---- */

static int64_t spend(const struct rig *r, int64_t cost, int64_t now_ns)
{
    return fb_bucket_spend(r->slot, (uint64_t)r->slot[FB_BUCKET_LEVEL], cost, now_ns);
}

static void only_small_numbers_are_spent_without_a_lock(void **state)
{
    struct rig r = rig_of(999983, S, 10);
    int64_t small_ns = (FB_BUCKET_SMALL - 1 - S) / 999983; /* the level stays small, too */

    (void)state;
    assert_int_equal(spend(&r, 1, 0), S);
    assert_int_equal(spend(&r, 1, -5), -1); /* before the clock began: the books say */
    assert_int_equal(spend(&r, 1, -FB_TIME_MAX), -1);
    assert_int_equal(spend(&r, 1, INT64_MIN), -1);
    assert_int_equal(spend(&r, 1, small_ns), small_ns * 999983 + S);
    assert_int_equal(spend(&r, 1, small_ns + 1), -1);
    assert_int_equal(spend(&r, 1, FB_TIME_MAX), -1);
    assert_int_equal(spend(&r, 1 << 16, 0), INT64_C(65536) * S);
    assert_int_equal(spend(&r, 1 << 17, 0), -1);
    r.slot[FB_BUCKET_GIVEN_BACK] = FB_BUCKET_SMALL;
    assert_int_equal(spend(&r, 1, 0), -1);
    r.slot[FB_BUCKET_GIVEN_BACK] = INT64_MAX;
    assert_int_equal(spend(&r, 1, 1), -1);
    r.slot[FB_BUCKET_GIVEN_BACK] = 0;
    r.slot[FB_BUCKET_LEVEL] = FB_BUCKET_SMALL;
    assert_int_equal(spend(&r, 1, small_ns), -1);
}

/* Without a lock and with one the same is spent. */
static void both_ways_to_spend_agree(void **state)
{
    struct rng rng = {seed_of_run()};
    struct rig r = rig_of(3, 7000, 20);
    int64_t now_ns = 0;

    (void)state;
    for (int i = 0; i < 100000; i++) {
        int64_t cost = 1 + (int64_t)(fb_rng_next(&rng) % 30);
        now_ns += (int64_t)(fb_rng_next(&rng) % 50000);
        int64_t level = spend(&r, cost, now_ns);
        assert_int_equal(level >= 0, ready_at(&r, cost, now_ns) <= now_ns);
        if (level >= 0) {
            take(&r, cost, now_ns);
            assert_int_equal(r.slot[FB_BUCKET_LEVEL], level);
        } else {
            refund(&r, cost / 3 - 5, now_ns);
        }
    }
}

static void a_clock_that_has_come_far_is_shifted(void **state)
{
    struct rig r = rig_of(999983, S, 10);
    int64_t far_ns = 86400 * S; /* far beyond what small ticks can count */

    (void)state;
    assert_int_equal(spend(&r, 1, far_ns), -1);
    assert_int_equal(there_are(&r, far_ns), 10);
    take(&r, 10, far_ns);
    assert_int_equal(r.slot[FB_BUCKET_BASE], far_ns);
    assert_int_equal(ready_at(&r, 1, far_ns), far_ns + 1001);
    assert_true(spend(&r, 1, far_ns + 1001) > 0);
}

/* What is given back sets the clock forward, here beyond any number: the bucket is full. */
static void a_clock_that_a_refund_sends_out_of_range_finds_a_full_bucket(void **state)
{
    struct rig r = rig_of(999983, S, 10);
    int64_t last_ns = INT64_MAX / 999983; /* the last instant that alone is in range */

    (void)state;
    take(&r, 10, 0);
    refund(&r, 4, 0);
    assert_int_equal(there_are(&r, last_ns), 10);
    take(&r, 10, last_ns);
    assert_int_equal(r.slot[FB_BUCKET_BASE], last_ns);
    assert_int_equal(r.slot[FB_BUCKET_GIVEN_BACK], 0);
    assert_int_equal(ready_at(&r, 1, last_ns), last_ns + 1001);
}

/* The same calls on a bucket that is shifted all the time and on one that never is. */
static void a_shift_changes_no_answer(void **state)
{
    struct rng rng = {seed_of_run()};
    struct rig fine = rig_of(3, 7, 20); /* shifted about once in ten years */
    struct rig shifted = rig_of(3, 7, 20);
    int64_t now_ns = 0;

    (void)state;
    shifted.slot[FB_BUCKET_TICKS] *= 150000000; /* the same rate in finer ticks */
    shifted.slot[FB_BUCKET_PERMIT] *= 150000000;
    shifted.slot[FB_BUCKET_BURST] *= 150000000;
    for (int i = 0; i < 200000; i++) {
        int64_t cost = 1 + (int64_t)(fb_rng_next(&rng) % 30);
        now_ns += (int64_t)(fb_rng_next(&rng) % 150) + (i % 1000 == 0 ? 100 * S : 0);
        int64_t at_ns = ready_at(&fine, cost, now_ns);
        assert_int_equal(ready_at(&shifted, cost, now_ns), at_ns);
        if (at_ns <= now_ns) {
            take(&fine, cost, now_ns);
            take(&shifted, cost, now_ns);
        } else {
            refund(&fine, cost / 3 - 5, now_ns);
            refund(&shifted, cost / 3 - 5, now_ns);
        }
    }
    assert_true(shifted.slot[FB_BUCKET_BASE] > 0);
}

static void any_number_of_cancelled_grants_comes_back(void **state)
{
    static const struct rate rates[] = {
        {1, S}, {1, 366 * 86400 * S}, {999983, S}, {4999, 3600 * S}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rates); i++) {
        struct rig r = rig_of(rates[i].permits, rates[i].period_ns, 10);
        for (int j = 0; j < 100000; j++) {
            int64_t cost = j % 100 ? 1 + j % 12 : (int64_t)UINT32_MAX;
            take(&r, cost, 5);
            refund(&r, cost, 5);
            assert_int_equal(ready_at(&r, 10, 5), 5);
        }
    }
}

/* ---- no rate, another rate ---- */

static void without_a_rate_nothing_is_bounded(void **state)
{
    struct spec adaptive = {.controller = &fb_controller_probe};
    struct spec nothing = {0};
    struct rig r = {0};

    (void)state;
    assert_false(bucket->init(r.slot, &nothing, NULL, 0));
    assert_true(bucket->init(r.slot, &adaptive, NULL, 0));
    assert_true(fb_bucket_rate(r.slot) == 0.0);
    for (int i = 0; i < 1000; i++)
        take(&r, UINT32_MAX, 5);
    refund(&r, 1, 5);
    refund(&r, -1, 5);
    assert_int_equal(ready_at(&r, 1, 5), 5);

    /* The first pace finds a full bucket. */
    repace(&r, 2.0, 3.0, 5);
    assert_int_equal(there_are(&r, 5), 3);
    assert_close(fb_bucket_rate(r.slot), 2.0, 1e-9);
}

static void no_pace_changes_nothing(void **state)
{
    struct rig r = rig_of(10, S, 5);
    struct rig same = r;

    (void)state;
    repace(&r, 0.0, 1.0, S);
    assert_memory_equal(&r, &same, sizeof(r));
}

static void the_same_pace_changes_nothing(void **state)
{
    struct rig r = rig_of(2, S, 3);

    (void)state;
    repace(&r, 2.0, 3.0, 0);
    take(&r, 2, S);
    refund(&r, 1, S);
    struct rig same = r;
    repace(&r, 2.0, 3.0, S + 7);
    assert_memory_equal(&r, &same, sizeof(r));
    repace(&r, 2.0, 4.0, S + 7); /* another burst alone is another pace */
    assert_int_equal(r.slot[FB_BUCKET_BASE], S + 7);
}

/* What a damaged file holds is more than a slower pace can count; full is full. */
static void more_than_can_be_counted_is_a_full_bucket(void **state)
{
    struct rig r = rig_of(1000, S, 5);

    (void)state;
    r.slot[FB_BUCKET_BURST] = FB_BUCKET_SPEND_MAX;
    repace(&r, 0.001, 4.0, S);
    assert_int_equal(r.slot[FB_BUCKET_LEVEL], 0);
    assert_int_equal(there_are(&r, S), 4);
}

static void another_rate_keeps_what_is_there(void **state)
{
    struct rig r = rig_of(10, S, 5);

    (void)state;
    take(&r, 3, S);
    repace(&r, 2.0, 5.0, S);
    assert_int_equal(there_are(&r, S), 2);
    take(&r, 2, S);
    assert_int_equal(there_are(&r, S + 499 * MS), 0);
    assert_int_equal(there_are(&r, S + 501 * MS), 1);
    assert_close(fb_bucket_rate(r.slot), 2.0, 1e-9);
}

static void another_burst_hands_out_nothing_by_itself(void **state)
{
    struct rig r = rig_of(10, S, 5);

    (void)state;
    take(&r, 3, S);
    repace(&r, 10.0, 8.0, S);
    assert_int_equal(there_are(&r, S), 2);
    assert_int_equal(there_are(&r, 10 * S), 8);
    repace(&r, 10.0, 1.0, 10 * S);
    assert_int_equal(there_are(&r, 10 * S), 1);
}

static void a_debt_outlives_another_rate(void **state)
{
    struct rig r = rig_of(10, S, 5);

    (void)state;
    take(&r, 15, 0); /* owes 10 */
    repace(&r, 100.0, 5.0, 0);
    assert_int_equal(there_are(&r, 109 * MS), 0);
    assert_int_equal(there_are(&r, 111 * MS), 1);
    repace(&r, 1.0, 5.0, 0);
    assert_int_equal(there_are(&r, 10990 * MS), 0);
    assert_int_equal(there_are(&r, 11010 * MS), 1);
}

/* What is there is rounded down, what is owed is rounded up, each by less than a tick. */
static void rounding_to_another_rate_errs_towards_waiting(void **state)
{
    struct rng rng = {seed_of_run()};
    struct rig r = rig_of(7, 13, 5);

    (void)state;
    for (int i = 0; i < 20000; i++) {
        int64_t now_ns = 10 * i;
        int64_t cost = 1 + (int64_t)(fb_rng_next(&rng) % 15);
        if (ready_at(&r, cost, now_ns) <= now_ns)
            take(&r, cost, now_ns);
        struct rig old = r;
        /* Below the fastest: two of those in a row are no change. */
        repace(&r, 1e6 + 0.99e9 * fb_rng_unit(&rng), 5.0, now_ns);

        fb_wide clock = (fb_wide)(now_ns - old.slot[FB_BUCKET_BASE]) * old.slot[FB_BUCKET_TICKS];
        fb_wide missing = old.slot[FB_BUCKET_LEVEL] - clock;
        fb_wide there = old.slot[FB_BUCKET_BURST] - (missing > 0 ? missing : 0);
        there *= r.slot[FB_BUCKET_PERMIT];
        fb_wide kept = r.slot[FB_BUCKET_BURST] - r.slot[FB_BUCKET_LEVEL];
        kept *= old.slot[FB_BUCKET_PERMIT];
        assert_true(kept <= there && there - kept < old.slot[FB_BUCKET_PERMIT]);
    }
}

static void absurd_paces_are_kept_within_reason(void **state)
{
    struct rig r = rig_of(1000000000, S, 1);

    (void)state;
    repace(&r, 1e300, 1.0, 0);
    assert_close(fb_bucket_rate(r.slot), 1e9, 1.0);
    for (int i = 0; i < 8; i++)
        refund(&r, -(int64_t)UINT32_MAX, 0);
    for (double rate = 1e9; rate > 1e-300; rate /= 10.0)
        repace(&r, rate, 1.0, 0);
    assert_true(fb_bucket_rate(r.slot) > 0.0);
    assert_int_equal(ready_at(&r, 1, 0), FB_NEVER);

    struct rig generous = rig_of(1, S, 1);
    repace(&generous, 1e9, 1e300, 0);
    assert_int_equal(ready_at(&generous, 1, 0), 0);
    take(&generous, UINT32_MAX, 10 * S);
    assert_int_equal(ready_at(&r, 1, FB_TIME_MAX), FB_NEVER);
}

/* A fifth of the slowest rate that can be stated is kept, and never passed. */
static void the_slowest_paces_are_kept(void **state)
{
    const double year = 366 * 86400.0;
    struct rig r = rig_of(1, 366 * 86400 * S, 1);

    (void)state;
    repace(&r, 0.2 / year, 1.0, 0);
    assert_close(fb_bucket_rate(r.slot) * year, 0.2, 1e-9);
    assert_true(fb_bucket_rate(r.slot) <= 0.2 / year);
    take(&r, 1, 0);
    assert_at_least(ready_at(&r, 1, 0), 5 * 366 * 86400 * S);

    /* Beyond that all are alike, and what was kept is as sound as any. */
    repace(&r, 1e-300, 1.0, 0);
    struct rig fresh = rig_of(1, 366 * 86400 * S, 1);
    assert_true(bucket->sound(r.slot, fresh.slot));
    assert_at_least(ready_at(&r, 1, 0), 9 * 365 * 86400 * S);
}

/* Many changes of rate: each rounding errs towards waiting, by next to nothing. */
static void changes_of_rate_do_not_leak_permits(void **state)
{
    struct rng rng = {seed_of_run()};
    struct rig r = rig_of(10, S, 1);
    double allowed_permits = 1.0;
    double rate = 10.0;
    int64_t granted = 0;
    int64_t now_ns = 0;

    (void)state;
    for (int i = 0; i < 100000; i++) {
        int64_t step_ns = (int64_t)(fb_rng_next(&rng) % (uint64_t)(200 * MS));
        allowed_permits += rate * fb_seconds(step_ns);
        now_ns += step_ns;
        while (ready_at(&r, 1, now_ns) <= now_ns) {
            take(&r, 1, now_ns);
            granted++;
        }
        /* The bucket holds one permit: what it could not hold is not owed to anybody. */
        if (allowed_permits > (double)granted + 1.0)
            allowed_permits = (double)granted + 1.0;
        assert_true((double)granted <= allowed_permits + 1e-3);
        rate = 0.5 + 20.0 * fb_rng_unit(&rng);
        repace(&r, rate, 1.0, now_ns);
    }
    assert_true(granted > 50000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_over_ten_million_decisions),
        cmocka_unit_test(the_wait_is_what_ready_at_says),
        cmocka_unit_test(an_exhausted_bucket_is_empty),
        cmocka_unit_test(exact_over_a_billion_permits),
        cmocka_unit_test(nearly_exact_where_ticks_would_be_too_fine),
        cmocka_unit_test(never_more_over_any_span),
        cmocka_unit_test(twenty_at_two_a_second),
        cmocka_unit_test(an_idle_bucket_holds_its_burst_and_no_more),
        cmocka_unit_test(a_cost_above_the_burst_goes_into_debt),
        cmocka_unit_test(the_largest_cost_is_owed_for_as_long_as_it_takes),
        cmocka_unit_test(cancelled_permits_come_back_at_once),
        cmocka_unit_test(a_full_bucket_takes_nothing_back),
        cmocka_unit_test(half_refilled_takes_back_half),
        cmocka_unit_test(what_turns_out_to_be_used_is_owed),
        cmocka_unit_test(absurd_costs_never_overflow),
        cmocka_unit_test(only_small_numbers_are_spent_without_a_lock),
        cmocka_unit_test(both_ways_to_spend_agree),
        cmocka_unit_test(a_clock_that_has_come_far_is_shifted),
        cmocka_unit_test(a_clock_that_a_refund_sends_out_of_range_finds_a_full_bucket),
        cmocka_unit_test(a_shift_changes_no_answer),
        cmocka_unit_test(any_number_of_cancelled_grants_comes_back),
        cmocka_unit_test(without_a_rate_nothing_is_bounded),
        cmocka_unit_test(no_pace_changes_nothing),
        cmocka_unit_test(the_same_pace_changes_nothing),
        cmocka_unit_test(more_than_can_be_counted_is_a_full_bucket),
        cmocka_unit_test(another_rate_keeps_what_is_there),
        cmocka_unit_test(another_burst_hands_out_nothing_by_itself),
        cmocka_unit_test(a_debt_outlives_another_rate),
        cmocka_unit_test(rounding_to_another_rate_errs_towards_waiting),
        cmocka_unit_test(absurd_paces_are_kept_within_reason),
        cmocka_unit_test(the_slowest_paces_are_kept),
        cmocka_unit_test(changes_of_rate_do_not_leak_permits),
    };

    return cmocka_run_group_tests_name("bucket", tests, NULL, NULL);
}
