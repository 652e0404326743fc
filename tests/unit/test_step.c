/* SPDX-License-Identifier: MIT */
/* step: the source scenarios, giving back, the recovery estimate, and the controller around it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
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

static void refuse(struct step *s, int times)
{
    for (int i = 0; i < times; i++)
        fb_step_refused(s, FLY_ABSENT);
}

static void succeed(struct step *s, int times)
{
    for (int i = 0; i < times; i++)
        fb_step_succeeded(s);
}

/* ---- the scenarios of the source ---- */

static void learns_from_three_refusals(void **state)
{
    struct step s = {0};

    (void)state;
    fb_step_refused(&s, 2 * S);
    fb_step_refused(&s, 2 * S);
    assert_int_equal(s.reduction, 0);
    fb_step_refused(&s, 2 * S);
    assert_int_equal(s.refused_row, 3);
    assert_int_equal(s.reduction, 10);
    assert_int_equal(fb_step_recovery_ns(&s), 2 * S);
}

static void cuts_more_the_longer_it_is_refused(void **state)
{
    static const int32_t after[] = {0, 0, 10, 20, 40, 60, 80, 80, 80, 80, 80};
    struct step s = {0};

    (void)state;
    for (size_t i = 0; i < sizeof(after) / sizeof(after[0]); i++) {
        refuse(&s, 1);
        assert_int_equal(s.reduction, after[i]);
    }
    /* From the tenth in a row on it is 30 points at once. */
    s.reduction = 0;
    refuse(&s, 1);
    assert_int_equal(s.reduction, 30);
    s = (struct step){.refused_row = 8};
    refuse(&s, 1);
    assert_int_equal(s.reduction, 20);
    refuse(&s, 1);
    assert_int_equal(s.reduction, 50);
}

static void five_more_refusals_cut_more(void **state)
{
    struct step s = {0};

    (void)state;
    refuse(&s, 5);
    int32_t first = s.reduction;
    refuse(&s, 5);
    assert_true(s.reduction > first);
    assert_int_equal(s.reduction, 80); /* a fifth always remains */
}

static void a_success_ends_the_row(void **state)
{
    struct step s = {0};

    (void)state;
    refuse(&s, 3);
    assert_int_equal(s.refused_row, 3);
    succeed(&s, 1);
    assert_int_equal(s.refused_row, 0);
    refuse(&s, 2);
    assert_int_equal(s.reduction, 10);
}

static void the_effective_limit_falls_with_the_cut(void **state)
{
    struct step s = {0};

    (void)state;
    assert_int_equal(fb_step_limit(&s, 100), 100);
    s.reduction = 20;
    assert_int_equal(fb_step_limit(&s, 100), 80);
    assert_int_equal(fb_step_limit(&s, 9), 7); /* 7.2 rounded down */
    s.reduction = 80;
    assert_int_equal(fb_step_limit(&s, 100), 20);
    assert_int_equal(fb_step_limit(&s, 4), 1); /* at least 1 */
    assert_int_equal(fb_step_limit(&s, 0), 1);
}

/* What is kept of it is a plain value: a copy goes on where the original stopped. */
static void a_copy_goes_on_where_it_stopped(void **state)
{
    struct step s = {.rate = 5.0};

    (void)state;
    for (int i = 0; i < 3; i++)
        fb_step_refused(&s, 7 * S);
    struct step copy;
    memcpy(&copy, &s, sizeof(s));
    assert_int_equal(copy.reduction, 10);
    assert_int_equal(fb_step_recovery_ns(&copy), 7 * S);
    refuse(&copy, 1);
    assert_int_equal(copy.reduction, 20);
}

/* ---- the recovery estimate ---- */

static void recovery_is_two_seconds_until_told(void **state)
{
    struct step s = {0};

    (void)state;
    assert_int_equal(fb_step_recovery_ns(&s), 2 * S);
    fb_step_refused(&s, FLY_ABSENT);
    fb_step_refused(&s, 0); /* 0 teaches nothing */
    assert_int_equal(fb_step_recovery_ns(&s), 2 * S);
}

static void recovery_is_the_median_of_what_was_told(void **state)
{
    struct step s = {0};

    (void)state;
    fb_step_refused(&s, 30 * S);
    assert_int_equal(fb_step_recovery_ns(&s), 30 * S);
    fb_step_refused(&s, 10 * S);
    assert_int_equal(fb_step_recovery_ns(&s), 30 * S); /* the upper of two middles */
    fb_step_refused(&s, 20 * S);
    assert_int_equal(fb_step_recovery_ns(&s), 20 * S);
    fb_step_refused(&s, 1); /* rounded up to a millisecond */
    fb_step_refused(&s, INT64_MAX);
    assert_int_equal(fb_step_recovery_ns(&s), 20 * S);
}

static void odd_waits_are_rounded_up_and_bounded(void **state)
{
    struct step s = {0};

    (void)state;
    fb_step_refused(&s, FB_NS_PER_MS + 1);
    assert_int_equal(fb_step_recovery_ns(&s), 2 * FB_NS_PER_MS);
    s = (struct step){0};
    fb_step_refused(&s, INT64_MAX);
    assert_int_equal(fb_step_recovery_ns(&s), UINT32_MAX * FB_NS_PER_MS);
}

static void recovery_forgets_all_but_the_last_fifty(void **state)
{
    struct step s = {0};

    (void)state;
    for (int i = 0; i < 100; i++)
        fb_step_refused(&s, 900 * S);
    for (int i = 0; i < 25; i++)
        fb_step_refused(&s, 5 * S);
    assert_int_equal(fb_step_recovery_ns(&s), 900 * S); /* 25 of either: the upper middle */
    fb_step_refused(&s, 5 * S);
    assert_int_equal(fb_step_recovery_ns(&s), 5 * S);
}

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static void recovery_agrees_with_sorting(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        struct rng rng = {seed};
        struct step s = {0};
        int64_t told[200];
        int count = 1 + (int)(fb_rng_next(&rng) % 200);

        print_message("seed %llu\n", (unsigned long long)seed);
        for (int i = 0; i < count; i++) {
            told[i] = (1 + (int64_t)(fb_rng_next(&rng) % 100)) * S;
            fb_step_refused(&s, told[i]);
        }
        int kept = count < 50 ? count : 50;
        qsort(told + count - kept, (size_t)kept, sizeof(told[0]), by_size);
        assert_int_equal(fb_step_recovery_ns(&s), told[count - kept + kept / 2]);
    }
}

/* ---- giving back, and how sure it is ---- */

static void gives_ten_points_back_per_hundred_successes(void **state)
{
    struct step s = {0};

    (void)state;
    refuse(&s, 5);
    assert_int_equal(s.reduction, 40);
    succeed(&s, 99);
    assert_int_equal(s.reduction, 40);
    succeed(&s, 1);
    assert_int_equal(s.reduction, 30);
    succeed(&s, 50);
    refuse(&s, 1); /* the run of successes begins anew */
    succeed(&s, 99);
    assert_int_equal(s.reduction, 30);
    succeed(&s, 1);
    assert_int_equal(s.reduction, 20);
    succeed(&s, 99); /* each hundred counts from its beginning */
    assert_int_equal(s.reduction, 20);
    succeed(&s, 1 + 100);
    assert_int_equal(s.reduction, 0);
    succeed(&s, 200);
    assert_int_equal(s.reduction, 0);
}

static void confidence_grows_with_agreement(void **state)
{
    struct step s = {0};

    (void)state;
    assert_true(fb_step_confidence(&s) == 0.0);
    succeed(&s, 50);
    assert_true(fb_step_confidence(&s) == 0.5);
    succeed(&s, 100); /* nothing to give back: nothing changes */
    assert_true(fb_step_confidence(&s) == 0.75);
    refuse(&s, 2); /* neither agrees nor changes anything */
    assert_true(fb_step_confidence(&s) == 0.75);
    refuse(&s, 1);
    assert_true(fb_step_confidence(&s) == 0.0);
    succeed(&s, 99);
    assert_true(fb_step_confidence(&s) > 0.66);
    succeed(&s, 1);
    assert_true(fb_step_confidence(&s) == 0.0); /* given back: it has to prove itself */
}

static void counts_end_where_they_must(void **state)
{
    struct step s = {.refused_row = INT32_MAX, .agreeing = INT32_MAX};

    (void)state;
    refuse(&s, 1);
    assert_int_equal(s.refused_row, INT32_MAX);
    s.agreeing = INT32_MAX;
    succeed(&s, 1);
    assert_int_equal(s.agreeing, INT32_MAX);
    assert_true(fb_step_confidence(&s) < 1.0);
}

/* ---- the controller ---- */

struct begun {
    union controller_state c;
    struct pace p;
};

static struct begun begin(int64_t rate, int64_t burst)
{
    struct spec s = {.rate = {rate, S}, .burst = burst};
    struct begun b;

    fb_controller_step.init(&b.c, &b.p, &s, 0);
    return b;
}

static bool outcome(struct begun *b, int32_t status, int64_t retry_after_ns)
{
    struct fly_outcome o = {.status = status, .retry_after_ns = retry_after_ns};
    struct answer a = {.outcome = &o, .throttled = status == 429, .accepted = status == 200};

    return fb_controller_step.on_outcome(&b->c, &b->p, &a);
}

static void begins_with_what_is_stated(void **state)
{
    struct begun b = begin(10, 0);
    struct begun windows_only = begin(0, 3);

    (void)state;
    assert_true(b.p.rate == 10.0 && b.p.burst == 10.0 && b.p.limit_share == 1.0);
    assert_true(b.p.not_before_ns <= -FB_TIME_MAX && b.p.in_flight_max == FB_NO_CAP);
    assert_true(windows_only.p.rate == 0.0 && windows_only.p.burst == 3.0);
    assert_int_equal(fb_controller_step.default_hold(&b.c), 2 * S);
    assert_string_equal(fb_controller_step.name, "step");
}

static void cuts_rate_and_windows_alike(void **state)
{
    struct begun b = begin(10, 0);

    (void)state;
    assert_false(outcome(&b, 429, 4 * S));
    assert_false(outcome(&b, 429, 4 * S));
    assert_true(outcome(&b, 429, 4 * S));
    assert_true(b.p.rate == 9.0 && b.p.limit_share == 0.9f);
    assert_true(outcome(&b, 429, 4 * S));
    assert_true(b.p.rate == 8.0 && b.p.limit_share == 0.8f);
    assert_int_equal(fb_controller_step.default_hold(&b.c), 4 * S);
    for (int i = 0; i < 3; i++)
        outcome(&b, 429, FLY_ABSENT);
    assert_true(b.p.rate == 2.0 && b.p.limit_share == 0.2f);
    assert_false(outcome(&b, 429, FLY_ABSENT)); /* 80 in all, no more */
}

static void does_not_cut_below_the_floor(void **state)
{
    struct spec s = {.rate = {10, S}, .floor = {9, S}};
    struct begun b;

    (void)state;
    fb_controller_step.init(&b.c, &b.p, &s, 0);
    for (int i = 0; i < 12; i++)
        outcome(&b, 429, FLY_ABSENT);
    assert_true(b.p.rate == 9.0 && b.p.limit_share == 0.2f);
}

static void gives_back_by_the_controller_too(void **state)
{
    struct begun b = begin(10, 0);

    (void)state;
    for (int i = 0; i < 3; i++)
        outcome(&b, 429, FLY_ABSENT);
    for (int i = 0; i < 99; i++) {
        assert_false(outcome(&b, 200, FLY_ABSENT));
        assert_false(outcome(&b, 500, FLY_ABSENT)); /* an error is neither */
    }
    assert_true(outcome(&b, 200, FLY_ABSENT));
    assert_true(b.p.rate == 10.0 && b.p.limit_share == 1.0);
}

static void explains_itself(void **state)
{
    struct begun b = begin(10, 0);
    struct begun windows_only = begin(0, 0);
    char buffer[240];
    struct text t;

    (void)state;
    for (int i = 0; i < 4; i++) {
        outcome(&b, 429, FLY_ABSENT);
        outcome(&windows_only, 429, FLY_ABSENT);
    }
    for (int i = 0; i < 50; i++)
        outcome(&b, 200, FLY_ABSENT);
    fb_text_init(&t, buffer, sizeof(buffer));
    fb_controller_step.explain(&b.c, &b.p, 0, &t);
    assert_non_null(strstr(buffer, "8"));
    assert_non_null(strstr(buffer, "/s by step: 20 points of 100 cut"));
    assert_non_null(strstr(buffer, "(50 so far); confidence 0.50."));

    fb_text_init(&t, buffer, sizeof(buffer));
    fb_controller_step.explain(&windows_only.c, &windows_only.p, 0, &t);
    assert_non_null(strstr(buffer, "80 % of the stated windows by step: 20 points"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(learns_from_three_refusals),
        cmocka_unit_test(cuts_more_the_longer_it_is_refused),
        cmocka_unit_test(five_more_refusals_cut_more),
        cmocka_unit_test(a_success_ends_the_row),
        cmocka_unit_test(the_effective_limit_falls_with_the_cut),
        cmocka_unit_test(a_copy_goes_on_where_it_stopped),
        cmocka_unit_test(recovery_is_two_seconds_until_told),
        cmocka_unit_test(recovery_is_the_median_of_what_was_told),
        cmocka_unit_test(odd_waits_are_rounded_up_and_bounded),
        cmocka_unit_test(recovery_forgets_all_but_the_last_fifty),
        cmocka_unit_test(recovery_agrees_with_sorting),
        cmocka_unit_test(gives_ten_points_back_per_hundred_successes),
        cmocka_unit_test(confidence_grows_with_agreement),
        cmocka_unit_test(counts_end_where_they_must),
        cmocka_unit_test(begins_with_what_is_stated),
        cmocka_unit_test(cuts_rate_and_windows_alike),
        cmocka_unit_test(does_not_cut_below_the_floor),
        cmocka_unit_test(gives_back_by_the_controller_too),
        cmocka_unit_test(explains_itself),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
