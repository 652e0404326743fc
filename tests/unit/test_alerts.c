/* SPDX-License-Identifier: MIT */
/* Alerts: thresholds and how often; the grade: what it takes, and how it is told. */
#include "unit.h"

#include <math.h>

#include "daemon/alerts.h"
#include "daemon/grade.h"

#define EVERY (300 * S)

static const struct alert_rules RULES = {
    .warning = 0.8, .critical = 0.9, .wait_s = 60.0, .grade = true, .every_ns = EVERY};

static void thresholds(void **state)
{
    struct alert_rules off = RULES;

    (void)state;
    assert_int_equal(fb_alert_used(&RULES, 0.0), ALERT_NONE);
    assert_int_equal(fb_alert_used(&RULES, 0.799), ALERT_NONE);
    assert_int_equal(fb_alert_used(&RULES, 0.8), ALERT_WARNING);
    assert_int_equal(fb_alert_used(&RULES, 0.899), ALERT_WARNING);
    assert_int_equal(fb_alert_used(&RULES, 0.9), ALERT_CRITICAL);
    assert_int_equal(fb_alert_used(&RULES, 1.5), ALERT_CRITICAL);
    assert_int_equal(fb_alert_used(&RULES, NAN), ALERT_NONE);
    assert_int_equal(fb_alert_wait(&RULES, 60.0), ALERT_NONE);
    assert_int_equal(fb_alert_wait(&RULES, 60.1), ALERT_WARNING);
    off.wait_s = 0.0;
    assert_int_equal(fb_alert_wait(&off, 1e9), ALERT_NONE);
}

static void not_too_often(void **state)
{
    struct alerts a = {.rules = RULES};
    int64_t now = 1000 * S;

    (void)state;
    assert_false(fb_alert_is_due(&a, ALERT_utilization, 1, ALERT_NONE, now));
    assert_true(fb_alert_is_due(&a, ALERT_utilization, 1, ALERT_WARNING, now));
    assert_false(fb_alert_is_due(&a, ALERT_utilization, 1, ALERT_WARNING, now + S));
    /* Worse is told at once; back and forth is not. */
    assert_true(fb_alert_is_due(&a, ALERT_utilization, 1, ALERT_CRITICAL, now + 2 * S));
    assert_false(fb_alert_is_due(&a, ALERT_utilization, 1, ALERT_NONE, now + 3 * S));
    assert_false(fb_alert_is_due(&a, ALERT_utilization, 1, ALERT_CRITICAL, now + 4 * S));
    assert_false(fb_alert_is_due(&a, ALERT_utilization, 1, ALERT_WARNING, now + EVERY));
    assert_true(fb_alert_is_due(&a, ALERT_utilization, 1, ALERT_WARNING, now + 2 * S + EVERY));
    assert_int_equal(a.raised, 3);
}

static void each_for_itself(void **state)
{
    struct alerts a = {.rules = RULES};

    (void)state;
    assert_true(fb_alert_is_due(&a, ALERT_utilization, 1, ALERT_WARNING, S));
    assert_true(fb_alert_is_due(&a, ALERT_utilization, 2, ALERT_WARNING, S));
    assert_true(fb_alert_is_due(&a, ALERT_wait, 1, ALERT_WARNING, S));
    assert_false(fb_alert_is_due(&a, ALERT_wait, 1, ALERT_WARNING, 2 * S));
}

/* For an hour of seconds, in which it is good and bad in turn: twelve spans of five minutes. */
static void what_flutters(void **state)
{
    struct alerts a = {.rules = RULES};
    int64_t told = 0;

    (void)state;
    for (int64_t s = 1; s <= 3600; s++) {
        told += fb_alert_is_due(&a, ALERT_wait, 1, s % 2 ? ALERT_WARNING : ALERT_NONE, s * S);
        told += fb_alert_grade_is_due(&a, s % 2 ? GRADE_failing : GRADE_healthy, s * S);
    }
    assert_at_most(told, 12 + 24);
    assert_at_least(told, 20);
    assert_int_equal(told, a.raised);
}

static void grades_are_told(void **state)
{
    struct alerts a = {.rules = RULES};
    int64_t now = 1000 * S;

    (void)state;
    assert_false(fb_alert_grade_is_due(&a, GRADE_healthy, now));
    assert_true(fb_alert_grade_is_due(&a, GRADE_degraded, now));
    assert_false(fb_alert_grade_is_due(&a, GRADE_degraded, now + S));
    assert_true(fb_alert_grade_is_due(&a, GRADE_failing, now + 2 * S));
    /* That it is better can wait, but is told in the end. */
    assert_false(fb_alert_grade_is_due(&a, GRADE_recovering, now + 60 * S));
    assert_false(fb_alert_grade_is_due(&a, GRADE_healthy, now + 120 * S));
    assert_true(fb_alert_grade_is_due(&a, GRADE_healthy, now + 2 * S + EVERY));
    assert_true(fb_alert_grade_is_due(&a, GRADE_failing, now + 3 * S + EVERY));
    a.rules.grade = false;
    assert_false(fb_alert_grade_is_due(&a, GRADE_healthy, now + 9 * EVERY));
}

static void words(void **state)
{
    (void)state;
    assert_string_equal(fb_alert_kind_name(ALERT_utilization), "utilization");
    assert_string_equal(fb_alert_kind_name(ALERT_grade), "grade");
    assert_string_equal(fb_alert_level_name(fb_alert_grade(GRADE_healthy)), "info");
    assert_string_equal(fb_alert_level_name(fb_alert_grade(GRADE_recovering)), "info");
    assert_string_equal(fb_alert_level_name(fb_alert_grade(GRADE_degraded)), "warning");
    assert_string_equal(fb_alert_level_name(fb_alert_grade(GRADE_failing)), "critical");
    assert_string_equal(fb_grade_name(GRADE_recovering), "recovering");
}

/* ---------------------------------------------------------------------------------- the grade */

static void what_a_grade_takes(void **state)
{
    static const struct {
        struct grade_facts facts;
        enum grade grade;
    } CASES[] = {
        {{.answers = 0}, GRADE_healthy},
        {{.answers = 4, .errors = 4}, GRADE_healthy}, /* too few to say */
        {{.answers = 100, .errors = 19}, GRADE_healthy},
        {{.answers = 100, .errors = 20}, GRADE_degraded},
        {{.answers = 100, .errors = 79}, GRADE_degraded},
        {{.answers = 5, .errors = 4}, GRADE_failing},
        {{.answers = 100, .broken = 1}, GRADE_degraded},
        {{.answers = 100, .wrong = 1}, GRADE_degraded},
        {{.answers = 100, .errors = 90, .wrong = 1}, GRADE_failing},
        {{.silent_s = GRADE_SILENCE_S - 1}, GRADE_healthy},
        {{.silent_s = GRADE_SILENCE_S}, GRADE_failing},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        struct grader g = {0};

        assert_int_equal(fb_grade(&g, &CASES[i].facts), CASES[i].grade != GRADE_healthy);
        assert_int_equal(g.grade, CASES[i].grade);
    }
}

static void well_again(void **state)
{
    const struct grade_facts bad = {.answers = 10, .errors = 10};
    const struct grade_facts poor = {.answers = 10, .errors = 3};
    const struct grade_facts good = {.answers = 10};
    struct grader g = {0};

    (void)state;
    assert_true(fb_grade(&g, &bad));
    assert_false(fb_grade(&g, &bad));
    for (int i = 0; i < GRADE_WELL_S - 1; i++) {
        (void)fb_grade(&g, &good);
        assert_int_equal(g.grade, GRADE_recovering);
    }
    /* A relapse begins the minute anew. */
    assert_true(fb_grade(&g, &poor));
    assert_int_equal(g.grade, GRADE_degraded);
    for (int i = 0; i < GRADE_WELL_S - 1; i++) {
        (void)fb_grade(&g, &good);
        assert_int_equal(g.grade, GRADE_recovering);
    }
    assert_true(fb_grade(&g, &good));
    assert_int_equal(g.grade, GRADE_healthy);
    /* What was only degraded is well at once. */
    assert_true(fb_grade(&g, &poor));
    assert_true(fb_grade(&g, &good));
    assert_int_equal(g.grade, GRADE_healthy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(thresholds),         cmocka_unit_test(not_too_often),
        cmocka_unit_test(each_for_itself),    cmocka_unit_test(what_flutters),
        cmocka_unit_test(grades_are_told),    cmocka_unit_test(words),
        cmocka_unit_test(what_a_grade_takes), cmocka_unit_test(well_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
