/* SPDX-License-Identifier: MIT */
/* aimd: the source scenarios to the digit, its bounds, and the controller around the rule. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <flyball/flyball.h>

#include "core/constraint.h"
#include "core/controller.h"
#include "core/instant.h"
#include "core/rng.h"
#include "core/spec.h"
#include "util/text.h"

#define S FB_NS_PER_S

static struct aimd aimd_at(double rate)
{
    return (struct aimd){.rate = rate, .floor = FB_AIMD_FLOOR, .ceiling = FB_AIMD_CEILING};
}

static void succeed(struct aimd *a, int times)
{
    for (int i = 0; i < times; i++)
        fb_aimd_succeeded(a);
}

/* Doubles as the source's language computes and prints them. */
static void assert_rate(const struct aimd *a, double exact, const char *printed)
{
    char text[32];

    snprintf(text, sizeof(text), "%.3f", a->rate);
    assert_true(a->rate == exact);
    assert_string_equal(text, printed);
}

/* ---- the scenarios of the source ---- */

static void a_refusal_cuts_the_rate_by_a_fifth(void **state)
{
    struct aimd a = aimd_at(1.0);

    (void)state;
    assert_rate(&a, 1.0, "1.000");
    fb_aimd_refused(&a);
    assert_rate(&a, 0.8, "0.800");
    fb_aimd_refused(&a);
    assert_rate(&a, 0.8 * 0.8, "0.640");
    fb_aimd_refused(&a);
    assert_rate(&a, 0.8 * 0.8 * 0.8, "0.512");
}

static void a_raise_needs_a_hundred_successes(void **state)
{
    struct aimd a = aimd_at(1.0);

    (void)state;
    succeed(&a, 99);
    assert_rate(&a, 1.0, "1.000");
    succeed(&a, 1);
    assert_rate(&a, 1.01, "1.010");
}

static void a_refusal_ends_the_run_of_successes(void **state)
{
    struct aimd a = aimd_at(1.0);

    (void)state;
    succeed(&a, 50);
    assert_int_equal(a.successes, 50);
    fb_aimd_refused(&a);
    assert_int_equal(a.successes, 0);
    succeed(&a, 99);
    assert_rate(&a, 0.8, "0.800");
}

static void nothing_oscillates(void **state)
{
    struct aimd a = aimd_at(1.0);

    (void)state;
    fb_aimd_refused(&a);
    succeed(&a, 100);
    assert_rate(&a, 0.808, "0.808");
    succeed(&a, 35); /* as many successes as took the old limiter back to where it was refused */
    assert_rate(&a, 0.808, "0.808");
    succeed(&a, 65);
    assert_rate(&a, 0.808 * 1.01, "0.816");
}

static void a_clean_run_climbs_slowly_to_the_ceiling(void **state)
{
    struct aimd a = aimd_at(0.5);

    (void)state;
    succeed(&a, 100);
    assert_rate(&a, 0.505, "0.505");
    succeed(&a, 100);
    assert_rate(&a, 0.505 * 1.01, "0.510");
    succeed(&a, 137 * 100);
    assert_true(a.rate < 2.0 && a.rate > 1.99);
    succeed(&a, 100);
    assert_rate(&a, 2.0, "2.000");
    succeed(&a, 1000);
    assert_rate(&a, 2.0, "2.000");
}

static void refusals_end_at_the_floor(void **state)
{
    struct aimd a = aimd_at(0.13);

    (void)state;
    fb_aimd_refused(&a);
    assert_rate(&a, 0.13 * 0.8, "0.104");
    fb_aimd_refused(&a);
    fb_aimd_refused(&a);
    assert_rate(&a, 0.1, "0.100");
}

static void no_sequence_leaves_the_bounds(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        struct rng rng = {seed};
        struct aimd a = aimd_at(1.0);

        print_message("seed %llu\n", (unsigned long long)seed);
        for (int i = 0; i < 5000; i++) {
            double before = a.rate;
            if (fb_rng_next(&rng) % (1 + seed * 3) == 0) {
                fb_aimd_refused(&a);
                assert_true(a.rate <= before);
            } else {
                fb_aimd_succeeded(&a);
                assert_true(a.rate >= before && a.rate <= before * 1.01);
            }
            assert_true(a.rate >= a.floor && a.rate <= a.ceiling);
            assert_in_range(a.successes, 0, 99);
        }
    }
}

/* ---- the controller ---- */

struct begun {
    union controller_state c;
    struct pace p;
};

static struct begun begin(struct rate rate, struct rate floor, struct rate ceiling, int64_t burst)
{
    struct spec s = {.rate = rate, .floor = floor, .ceiling = ceiling, .burst = burst};
    struct begun b;

    fb_controller_aimd.init(&b.c, &b.p, &s, 0);
    return b;
}

#define UNSAID ((struct rate){0, 0})

static void begins_with_its_defaults(void **state)
{
    struct begun b = begin(UNSAID, UNSAID, UNSAID, 0);

    (void)state;
    assert_true(b.p.rate == 0.5 && b.p.burst == 10.0 && b.p.limit_share == 1.0);
    assert_true(b.p.not_before_ns <= -FB_TIME_MAX && b.p.in_flight_max == FB_NO_CAP);
    assert_true(b.c.aimd.floor == 0.1 && b.c.aimd.ceiling == 2.0);
    assert_int_equal(fb_controller_aimd.default_hold(&b.c), 60 * S);
    assert_null(fb_controller_aimd.on_grant);
    assert_null(fb_controller_aimd.on_cancel);
}

static void begins_with_what_is_stated(void **state)
{
    struct begun b = begin((struct rate){3, S}, (struct rate){1, S}, (struct rate){20, S}, 4);

    (void)state;
    assert_true(b.p.rate == 3.0 && b.p.burst == 4.0);
    assert_true(b.c.aimd.floor == 1.0 && b.c.aimd.ceiling == 20.0);
}

static void bounds_that_are_unsaid_give_way(void **state)
{
    struct begun fast = begin((struct rate){50, S}, UNSAID, UNSAID, 0);
    struct begun slow = begin((struct rate){1, 100 * S}, UNSAID, UNSAID, 0);
    struct begun high = begin(UNSAID, (struct rate){5, S}, UNSAID, 0);
    struct begun low = begin(UNSAID, UNSAID, (struct rate){1, 20 * S}, 0);

    (void)state;
    assert_true(fast.p.rate == 50.0 && fast.c.aimd.ceiling == 50.0 && fast.c.aimd.floor == 0.1);
    assert_true(slow.p.rate == 0.01 && slow.c.aimd.floor == 0.01 && slow.c.aimd.ceiling == 2.0);
    assert_true(high.p.rate == 5.0 && high.c.aimd.ceiling == 5.0);
    assert_true(low.p.rate == 0.05 && low.c.aimd.floor == 0.05);
}

static bool outcome(struct begun *b, bool throttled, bool accepted)
{
    return fb_controller_aimd.on_outcome(
        &b->c, &b->p, &(struct answer){.throttled = throttled, .accepted = accepted});
}

static void only_accepted_answers_are_successes(void **state)
{
    struct begun b = begin((struct rate){1, S}, UNSAID, UNSAID, 0);

    (void)state;
    assert_true(outcome(&b, true, false));
    assert_true(b.p.rate == 0.8);
    for (int i = 0; i < 99; i++) {
        assert_false(outcome(&b, false, true));
        assert_false(outcome(&b, false, false)); /* an error is neither */
    }
    assert_true(b.p.rate == 0.8);
    assert_true(outcome(&b, false, true));
    assert_true(b.p.rate == 0.808);
}

static void explains_itself(void **state)
{
    struct begun b = begin((struct rate){1, S}, UNSAID, UNSAID, 0);
    char buffer[200];
    struct text t;

    (void)state;
    outcome(&b, true, false);
    for (int i = 0; i < 40; i++)
        outcome(&b, false, true);
    fb_text_init(&t, buffer, sizeof(buffer));
    fb_controller_aimd.explain(&b.c, &b.p, 0, &t);
    assert_non_null(strstr(buffer, "0.8"));
    assert_non_null(strstr(buffer, "/s by aimd: -20 % at each refusal"));
    assert_non_null(strstr(buffer, "100 successes in a row (40 so far)."));
    assert_string_equal(fb_controller_aimd.name, "aimd");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_refusal_cuts_the_rate_by_a_fifth),
        cmocka_unit_test(a_raise_needs_a_hundred_successes),
        cmocka_unit_test(a_refusal_ends_the_run_of_successes),
        cmocka_unit_test(nothing_oscillates),
        cmocka_unit_test(a_clean_run_climbs_slowly_to_the_ceiling),
        cmocka_unit_test(refusals_end_at_the_floor),
        cmocka_unit_test(no_sequence_leaves_the_bounds),
        cmocka_unit_test(begins_with_its_defaults),
        cmocka_unit_test(begins_with_what_is_stated),
        cmocka_unit_test(bounds_that_are_unsaid_give_way),
        cmocka_unit_test(only_accepted_answers_are_successes),
        cmocka_unit_test(explains_itself),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
