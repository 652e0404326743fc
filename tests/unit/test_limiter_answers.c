/* SPDX-License-Identifier: MIT */
/* What answers do to a limiter: refusals and holds, odd clocks, absurd figures. */
#include "limiter_rig.h"

/* ---- refusals ---- */

static void a_refusal_holds_for_as_long_as_was_asked(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(every_kind); i++) {
        struct fly_limiter *l = limiter(every_kind[i], 0);
        uint64_t ticket;
        refuse(l, S, granted(l, 0, 1), 30 * S);
        int64_t at_ns = next_at(l, S, 1);
        assert_at_least(at_ns, 31 * S);
        assert_at_most(at_ns, 34 * S);
        assert_true(take(l, 31 * S - 1, &ticket) >= 31 * S);
        fly_limiter_free(l);
    }
}

static void a_refusal_that_tells_no_time_holds_for_a_minute(void **state)
{
    static const char *const specs[] = {"rate=5/s", "window=10/1s", "adapt=off",
                                        "rate=5/s concurrency=4"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(specs); i++) {
        struct fly_limiter *l = limiter(specs[i], 0);
        refuse(l, S, granted(l, 0, 1), FLY_ABSENT);
        assert_at_least(next_at(l, S, 1), 61 * S);
        assert_at_most(next_at(l, S, 1), 63 * S);
        fly_limiter_free(l);
    }
}

/* However many were granted since, the first answer of each is heard. */
static void a_late_refusal_is_heard(void **state)
{
    static const char *const specs[] = {"rate=1000000/s burst=100000", "rate=1000/s burst=3000",
                                        "window=100000/1s",
                                        "rate=1000000/s burst=2000 concurrency=5000"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(specs); i++) {
        struct fly_limiter *l = limiter(specs[i], 0);
        uint64_t first = granted(l, 0, 1);
        assert_true(grants_at(l, 0, 2000) > 1900);
        refuse(l, S, first, 30 * S);
        assert_at_least(next_at(l, S, 1), 31 * S);
        fly_limiter_free(l);
    }
}

/* Absent is not zero, but neither means "at once". */
static void retry_after_0_still_backs_off(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(every_kind); i++) {
        struct fly_limiter *l = limiter(every_kind[i], 0);
        refuse(l, S, granted(l, 0, 1), 0);
        assert_true(next_at(l, S, 1) > S);
        fly_limiter_free(l);
    }
}

static void a_hold_is_never_shortened(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(every_kind); i++) {
        struct fly_limiter *l = limiter(every_kind[i], 0);
        uint64_t tickets[4];
        int n = 0;
        while (n < 4 && take(l, 0, &tickets[n]) <= 0)
            n++;
        refuse(l, S, tickets[0], 100 * S);
        int64_t at_ns = next_at(l, S, 1);
        for (int j = 1; j < n; j++) {
            if (j == 1)
                refuse(l, 2 * S, tickets[j], S);
            else
                report(l, 2 * S, tickets[j], 200);
            assert_at_least(next_at(l, 2 * S, 1), fb_min64(at_ns, 101 * S));
        }
        assert_at_least(next_at(l, 50 * S, 1), 101 * S);
        fly_limiter_free(l);
    }
}

static void a_refusal_by_another_name(void **state)
{
    struct fly_limiter *l = limiter("rate=5/s", 0);
    struct fly_outcome o = outcome(granted(l, 0, 1), 200, 0);

    (void)state;
    o.flags = FLY_THROTTLED;
    o.retry_after_ns = 10 * S;
    fly_limiter_report(l, 0, &o);
    assert_at_least(next_at(l, 0, 1), 10 * S);
    fly_limiter_free(l);
}

/* A key that was held comes back one at a time, and only answers open it further. */
static void it_comes_back_gently(void **state)
{
    struct fly_limiter *l = limiter("rate=1000/s burst=100", 0);
    uint64_t ticket;

    (void)state;
    refuse(l, 0, granted(l, 0, 1), 10 * S);
    int64_t now_ns = next_at(l, 0, 1);
    ticket = granted(l, now_ns, 1);
    uint64_t none;
    assert_int_equal(take(l, now_ns, &none), FLY_NEVER);
    report(l, now_ns + S, ticket, 200);
    now_ns += 2 * S;
    assert_int_equal(grants_at(l, now_ns, 100), 2);
    fly_limiter_free(l);
}

/* ---- what is left ---- */

static int64_t next_after(int64_t limit, int64_t remaining, int64_t reset_ns)
{
    struct fly_limiter *l = limiter("rate=1000/s", 0);
    struct fly_outcome o = outcome(granted(l, 0, 1), 200, 0);

    o.limit = limit;
    o.remaining = remaining;
    o.reset_ns = reset_ns;
    fly_limiter_report(l, 0, &o);
    int64_t at_ns = next_at(l, 0, 1);
    fly_limiter_free(l);
    return at_ns;
}

static void what_is_used_up_waits_for_the_reset(void **state)
{
    (void)state;
    assert_at_least(next_after(100, 0, 50 * S), 50 * S);
    assert_at_most(next_after(100, 0, 50 * S), 51 * S);
    assert_int_equal(next_after(100, 100, 50 * S), 0);
}

/* Each absurd figure counts as not told, so that nothing is used up. */
static void absurd_figures_are_not_told(void **state)
{
    (void)state;
    assert_int_equal(next_after(FLY_ABSENT, 0, 50 * S), 0);
    assert_int_equal(next_after(0, 0, 50 * S), 0);
    assert_int_equal(next_after(-1, 0, 50 * S), 0);
    assert_int_equal(next_after(100, -1, 50 * S), 0);
    assert_int_equal(next_after(100, FLY_ABSENT, 50 * S), 0);
    assert_int_equal(next_after(100, 0, FLY_ABSENT), 0);
    assert_int_equal(next_after(100, 0, -S), 0);
    assert_int_equal(next_after(100, 0, FB_TIME_MAX + 1), 0);
    assert_int_equal(next_after(100, 0, INT64_MAX), 0);
    assert_int_equal(next_after(100, 0, INT64_MIN + 1), 0);
}

static void a_negative_retry_after_is_not_told(void **state)
{
    struct fly_limiter *l = limiter("rate=5/s", 0);

    (void)state;
    refuse(l, 0, granted(l, 0, 1), -5 * S);
    assert_at_least(next_at(l, 0, 1), 60 * S);
    fly_limiter_free(l);
}

/* ---- odd clocks, absurd answers ---- */

static void any_clock_will_do(void **state)
{
    static const int64_t nows[] = {0,
                                   1,
                                   -1,
                                   S,
                                   -S,
                                   FB_TIME_MAX,
                                   -FB_TIME_MAX,
                                   FB_TIME_MAX + 1,
                                   INT64_MIN,
                                   INT64_MIN + 1,
                                   INT64_MAX / 2,
                                   INT64_MAX - 1,
                                   -INT64_MAX / 2};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(every_kind); i++) {
        for (size_t n = 0; n < COUNT_OF(nows); n++) {
            struct fly_limiter *l = limiter(every_kind[i], nows[n]);
            uint64_t ticket = 0;
            assert_at_most(take(l, nows[n], &ticket), nows[n]);
            assert_true(ticket != 0);
            report(l, nows[n], ticket, 200);
            /* Whatever it answers, the answer says whether there is a ticket. */
            for (int j = 0; j < 50; j++) {
                ticket = 0;
                int64_t at_ns = take(l, nows[n], &ticket);
                assert_int_equal(at_ns <= nows[n], ticket != 0);
            }
            fly_limiter_free(l);
        }
    }
}

static void a_clock_that_jumps_about(void **state)
{
    struct rng rng = {seed_of_run()};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(every_kind); i++) {
        struct fly_limiter *l = limiter(every_kind[i], 0);
        for (int n = 0; n < 2000; n++) {
            uint64_t bits = fb_rng_next(&rng) % 64;
            int64_t now_ns = (int64_t)fb_rng_next(&rng) >> bits;
            uint64_t ticket = 0;
            int64_t at_ns = take(l, now_ns, &ticket);
            if (now_ns < INT64_MAX)
                assert_int_equal(at_ns <= now_ns, ticket != 0);
            if (ticket) {
                struct fly_outcome o = random_outcome(&rng, ticket, now_ns / 2);
                fly_limiter_report(l, (int64_t)fb_rng_next(&rng), &o);
            }
        }
        fly_limiter_free(l);
    }
}

static void time_that_falls_grants_nothing_twice(void **state)
{
    struct fly_limiter *l = limiter("rate=1/s burst=3", 100 * S);

    (void)state;
    assert_int_equal(grants_at(l, 100 * S, 10), 3);
    assert_int_equal(grants_at(l, 0, 10), 0);
    assert_int_equal(grants_at(l, -FB_TIME_MAX, 10), 0);
    assert_int_equal(next_at(l, 0, 1), 101 * S);
    fly_limiter_free(l);
}

static int64_t absurd(struct rng *rng)
{
    static const int64_t values[] = {
        INT64_MIN,   INT64_MIN + 1,   INT64_MAX,     INT64_MAX - 1, 0, -1,
        1,           INT64_MAX / 2,   INT64_MIN / 2, 1000000007,    S, -S,
        FB_TIME_MAX, FB_TIME_MAX - 1, -FB_TIME_MAX};

    return values[fb_rng_next(rng) % COUNT_OF(values)];
}

static struct fly_outcome absurd_outcome(struct rng *rng, uint64_t ticket)
{
    static const int32_t statuses[] = {200, 429, 503, 403, 0, -1, INT32_MIN, INT32_MAX, 999};
    struct fly_outcome o = outcome(ticket, statuses[fb_rng_next(rng) % COUNT_OF(statuses)], 0);

    o.sent_ns = absurd(rng);
    o.latency_ns = absurd(rng);
    o.limit = absurd(rng);
    o.remaining = absurd(rng);
    o.reset_ns = absurd(rng);
    o.retry_after_ns = absurd(rng);
    o.flags = (uint32_t)(fb_rng_next(rng) % 4);
    return o;
}

static void absurd_answers_never_crash(void **state)
{
    struct rng rng = {seed_of_run()};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(every_kind); i++) {
        for (int round = 0; round < 30; round++) {
            struct fly_limiter *l = limiter(every_kind[i], 0);
            int64_t now_ns = 0;
            for (int n = 0; n < 300; n++) {
                uint64_t ticket;
                int64_t at_ns = take(l, now_ns, &ticket);
                if (at_ns <= now_ns) {
                    struct fly_outcome o = absurd_outcome(&rng, ticket);
                    if (fb_rng_next(&rng) % 3 == 0)
                        fly_limiter_settle(l, now_ns, ticket,
                                           fb_rng_next(&rng) % 2 ? UINT32_MAX : 0);
                    fly_limiter_report(l, now_ns, &o);
                } else if (at_ns < FLY_NEVER && at_ns < FB_TIME_MAX / 2) {
                    now_ns = at_ns;
                }
                now_ns += (int64_t)(fb_rng_next(&rng) % (uint64_t)(10 * S));
            }
            fly_limiter_free(l);
        }
    }
}

/* An absurd answer during a hold cannot end it. */
static void absurd_answers_never_unlock_early(void **state)
{
    struct rng rng = {seed_of_run()};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(every_kind); i++) {
        for (int round = 0; round < 200; round++) {
            struct fly_limiter *l = limiter(every_kind[i], 0);
            uint64_t tickets[5];
            int n = 0;
            while (n < 5 && take(l, 0, &tickets[n]) <= 0)
                n++;
            refuse(l, 0, tickets[0], 1000 * S);
            for (int j = 1; j < n; j++) {
                struct fly_outcome o = absurd_outcome(&rng, tickets[j]);
                fly_limiter_report(l, S, &o);
            }
            assert_at_least(next_at(l, S, 1), 1000 * S);
            assert_at_least(next_at(l, 999 * S, 1), 1000 * S);
            fly_limiter_free(l);
        }
    }
}

static void an_endless_retry_after_is_not_an_end_of_all(void **state)
{
    struct fly_limiter *l = limiter("rate=5/s", 0);

    (void)state;
    refuse(l, 0, granted(l, 0, 1), INT64_MAX);
    assert_at_least(next_at(l, 0, 1), 3600 * S);
    assert_true(next_at(l, 0, 1) < FLY_NEVER);
    fly_limiter_free(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_refusal_holds_for_as_long_as_was_asked),
        cmocka_unit_test(a_refusal_that_tells_no_time_holds_for_a_minute),
        cmocka_unit_test(a_late_refusal_is_heard),
        cmocka_unit_test(retry_after_0_still_backs_off),
        cmocka_unit_test(a_hold_is_never_shortened),
        cmocka_unit_test(a_refusal_by_another_name),
        cmocka_unit_test(it_comes_back_gently),
        cmocka_unit_test(what_is_used_up_waits_for_the_reset),
        cmocka_unit_test(absurd_figures_are_not_told),
        cmocka_unit_test(a_negative_retry_after_is_not_told),
        cmocka_unit_test(any_clock_will_do),
        cmocka_unit_test(a_clock_that_jumps_about),
        cmocka_unit_test(time_that_falls_grants_nothing_twice),
        cmocka_unit_test(absurd_answers_never_crash),
        cmocka_unit_test(absurd_answers_never_unlock_early),
        cmocka_unit_test(an_endless_retry_after_is_not_an_end_of_all),
    };

    return cmocka_run_group_tests_name("limiter_answers", tests, NULL, NULL);
}
