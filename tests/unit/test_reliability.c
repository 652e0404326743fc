/* SPDX-License-Identifier: MIT */
/* Reliability: failures, latency, what is forgotten, and a rank that does not flutter. */
#include "unit.h"

#include <stdbool.h>

#include "core/instant.h"
#include "core/reliability.h"
#include "core/rng.h"

static struct reliability_limits limits(void)
{
    struct reliability_limits l;

    fb_reliability_limits_init(&l);
    return l;
}

static double score(const struct reliability *r, int64_t now_ns)
{
    struct reliability_limits l = limits();

    return fb_reliability_figures(r, &l, now_ns).score;
}

static void what_is_not_known_speaks_for_it(void **state)
{
    struct reliability_limits l = limits();
    struct reliability r;

    (void)state;
    fb_reliability_init(&r);
    struct reliability_figures f = fb_reliability_figures(&r, &l, 0);
    assert_close(f.score, 1.0, 0);
    assert_close(f.failure_rate, 0.0, 0);
    assert_int_equal(f.latency_ns, 0);
    assert_int_equal(f.requests, 0);
    /* One failure is not yet a verdict. */
    fb_reliability_on_failure(&r, 0);
    assert_close(score(&r, 0), 0.8, 1e-9);
    assert_false(fb_reliability_judge(&r, &l, 0));
}

static void failures_and_latency_count(void **state)
{
    struct reliability_limits l = limits();
    struct reliability r = {.count = 0};

    (void)state;
    for (int i = 0; i < 12; i++)
        fb_reliability_on_success(&r, (i % 2 ? 1 : 2) * S, i * S);
    for (int i = 0; i < 4; i++)
        fb_reliability_on_failure(&r, 12 * S);
    struct reliability_figures f = fb_reliability_figures(&r, &l, 12 * S);
    assert_int_equal(f.requests, 16);
    assert_close(f.failure_rate, 0.25, 1e-9);
    assert_int_equal(f.latency_ns, 3 * S / 2);
    assert_close(f.score, 16.0 / 20.0, 1e-9);
    /* Twice as slow as expected is worth half. */
    l.latency_ns = 3 * S / 4;
    assert_close(fb_reliability_figures(&r, &l, 12 * S).score, 8.0 / 20.0, 1e-9);
}

static void only_the_latest_count(void **state)
{
    struct reliability_limits l = limits();
    struct reliability r = {.count = 0};

    (void)state;
    for (int i = 0; i < 100; i++)
        fb_reliability_on_failure(&r, 0);
    assert_int_equal(fb_reliability_figures(&r, &l, 0).requests, FB_RELIABILITY_LAST);
    for (int i = 0; i < FB_RELIABILITY_LAST; i++)
        fb_reliability_on_success(&r, S, S);
    assert_close(score(&r, S), 1.0, 0);
    /* And none that is older than the window. */
    fb_reliability_on_failure(&r, 2 * S);
    assert_close(score(&r, 602 * S), 4.0 / 5.0, 1e-9);
    assert_close(score(&r, 602 * S + 1), 1.0, 0);
}

static void absurd_latencies_are_kept_in_range(void **state)
{
    struct reliability_limits l = limits();
    struct reliability r = {.count = 0};

    (void)state;
    for (int i = 0; i < FB_RELIABILITY_LAST; i++)
        fb_reliability_on_success(&r, INT64_MAX, 0);
    struct reliability_figures f = fb_reliability_figures(&r, &l, 0);
    assert_int_equal(f.latency_ns, FB_TIME_MAX / FB_RELIABILITY_LAST);
    assert_true(f.score > 0.0 && f.score < 1e-6);
    for (int i = 0; i < FB_RELIABILITY_LAST; i++)
        fb_reliability_on_success(&r, INT64_MIN, 0);
    assert_int_equal(fb_reliability_figures(&r, &l, 0).latency_ns, 0);
    assert_close(score(&r, 0), 1.0, 0);
}

/* Demoted below a half, and back only above 0.7. */
static void demotion_has_two_bounds(void **state)
{
    struct reliability_limits l = limits();
    struct reliability r = {.count = 0};
    int failures = 0;
    int successes = 0;

    (void)state;
    while (!fb_reliability_judge(&r, &l, 0)) {
        assert_true(score(&r, 0) >= 0.5);
        fb_reliability_on_failure(&r, 0);
        failures++;
    }
    assert_true(r.demoted);
    assert_int_equal(failures, 5); /* 4 of 9 */
    while (!fb_reliability_judge(&r, &l, 0)) {
        assert_true(score(&r, 0) < 0.7);
        fb_reliability_on_success(&r, S, 0);
        successes++;
    }
    assert_false(r.demoted);
    assert_int_equal(successes, 8); /* 12 of 17 */
    /* Nor does time alone keep it down. */
    for (int i = 0; i < 20; i++)
        fb_reliability_on_failure(&r, 0);
    assert_true(fb_reliability_judge(&r, &l, 600 * S));
    assert_true(r.demoted);
    assert_true(fb_reliability_judge(&r, &l, 600 * S + 1));
    assert_false(r.demoted);
}

/* Whatever comes, the score is a share and the figures agree with each other. */
static void figures_stay_in_range(void **state)
{
    struct rng rng = {seed_of_run()};
    struct reliability_limits l = limits();
    struct reliability r = {.count = 0};
    int64_t now_ns = 0;

    (void)state;
    for (int i = 0; i < 20000; i++) {
        now_ns += (int64_t)(fb_rng_next(&rng) % (uint64_t)(20 * S));
        if (fb_rng_next(&rng) % 3 == 0)
            fb_reliability_on_failure(&r, now_ns);
        else
            fb_reliability_on_success(&r, (int64_t)fb_rng_next(&rng), now_ns);
        struct reliability_figures f = fb_reliability_figures(&r, &l, now_ns);
        assert_true(f.score >= 0.0 && f.score <= 1.0);
        assert_true(f.failure_rate >= 0.0 && f.failure_rate <= 1.0);
        assert_true(f.requests >= 1 && f.latency_ns >= 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_not_known_speaks_for_it),
        cmocka_unit_test(failures_and_latency_count),
        cmocka_unit_test(only_the_latest_count),
        cmocka_unit_test(absurd_latencies_are_kept_in_range),
        cmocka_unit_test(demotion_has_two_bounds),
        cmocka_unit_test(figures_stay_in_range),
    };

    return cmocka_run_group_tests_name("reliability", tests, NULL, NULL);
}
