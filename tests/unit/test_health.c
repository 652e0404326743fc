/* SPDX-License-Identifier: MIT */
/* Health: the thresholds to the nanosecond, stalls, recoveries that back off, idleness. */
#include "unit.h"

#include <stdbool.h>

#include "core/health.h"

static struct health_limits limits(void)
{
    struct health_limits l;

    fb_health_limits_init(&l);
    return l;
}

static struct health_state healthy(void)
{
    struct health_state h;

    fb_health_init(&h, 0);
    return h;
}

/* Live items of these ages, and an update that has just succeeded. */
static struct health_facts ages(int64_t p50_ns, int64_t p95_ns, int64_t oldest_ns, int64_t now_ns)
{
    return (struct health_facts){
        .live = {.count = 100, .p50_ns = p50_ns, .p95_ns = p95_ns, .oldest_ns = oldest_ns},
        .success_ns = now_ns,
        .has_work = true,
    };
}

static enum health grade_of(int64_t p50_ns, int64_t p95_ns, int64_t oldest_ns)
{
    struct health_limits l = limits();
    struct health_state h = healthy();
    struct health_facts f = ages(p50_ns, p95_ns, oldest_ns, S);
    struct health_verdict v = fb_health_judge(&h, &l, &f, S);

    assert_false(v.recover);
    assert_int_equal(v.changed, h.grade != HEALTH_healthy);
    return h.grade;
}

static void the_thresholds(void **state)
{
    (void)state;
    assert_int_equal(grade_of(0, 0, 0), HEALTH_healthy);
    assert_int_equal(grade_of(30 * S, 60 * S - 1, 120 * S - 1), HEALTH_healthy);
    assert_int_equal(grade_of(30 * S, 60 * S, 60 * S), HEALTH_degraded);
    assert_int_equal(grade_of(60 * S, 60 * S, 60 * S), HEALTH_degraded);
    assert_int_equal(grade_of(60 * S, 119 * S, 120 * S - 1), HEALTH_degraded);
    assert_int_equal(grade_of(S, S, 120 * S), HEALTH_failing);
    assert_string_equal(fb_health_name(HEALTH_healthy), "healthy");
    assert_string_equal(fb_health_name(HEALTH_failing), "failing");
}

/* Overload is told before it hurts, and is no failure by itself. */
static void overload_is_degraded(void **state)
{
    struct health_limits l = limits();
    struct health_state h = healthy();
    struct health_facts f = ages(S, S, S, S);

    (void)state;
    f.is_overloaded = true;
    assert_true(fb_health_judge(&h, &l, &f, S).changed);
    assert_int_equal(h.grade, HEALTH_degraded);
    f.live.oldest_ns = 120 * S;
    assert_true(fb_health_judge(&h, &l, &f, 2 * S).changed);
    assert_int_equal(h.grade, HEALTH_failing);
    f = ages(S, S, S, 3 * S);
    assert_true(fb_health_judge(&h, &l, &f, 3 * S).changed);
    assert_int_equal(h.grade, HEALTH_healthy);
}

/* Judged anew each time: a threshold that is crossed shows with the next interval, both ways. */
static void grades_change_within_an_interval(void **state)
{
    struct health_limits l = limits();
    struct health_state h = healthy();
    static const struct {
        int64_t p95_s;
        int64_t oldest_s;
        enum health grade;
        bool changed;
    } steps[] = {
        {10, 20, HEALTH_healthy, false},  {60, 70, HEALTH_degraded, true},
        {61, 75, HEALTH_degraded, false}, {61, 130, HEALTH_failing, true},
        {61, 90, HEALTH_degraded, true},  {50, 90, HEALTH_healthy, true},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        int64_t now_ns = (int64_t)(i + 1) * 5 * S;
        struct health_facts f = ages(0, steps[i].p95_s * S, steps[i].oldest_s * S, now_ns);
        struct health_verdict v = fb_health_judge(&h, &l, &f, now_ns);
        assert_int_equal(h.grade, steps[i].grade);
        assert_int_equal(v.changed, steps[i].changed);
        assert_false(v.recover);
        assert_true(!v.changed || h.since_ns == now_ns);
    }
    /* Other limits hold from the next interval on. */
    l.degraded_ns = 30 * S;
    struct health_facts f = ages(0, 50 * S, 90 * S, 100 * S);
    assert_true(fb_health_judge(&h, &l, &f, 100 * S).changed);
    assert_int_equal(h.grade, HEALTH_degraded);
}

/* ---- idle ---- */

static void without_work_nothing_stalls(void **state)
{
    struct health_limits l = limits();
    struct health_state h = healthy();
    struct health_facts idle = {.success_ns = FB_LONG_AGO};

    (void)state;
    for (int64_t now_ns = 0; now_ns < 86400 * S; now_ns += 3600 * S) {
        assert_false(fb_health_judge(&h, &l, &idle, now_ns).recover);
        assert_int_equal(h.grade, HEALTH_healthy);
    }
    /* What then begins has its time, however long ago the last success was. */
    struct health_facts f = ages(0, 0, 0, 0);
    f.success_ns = 0;
    assert_false(fb_health_judge(&h, &l, &f, 86400 * S).recover);
    assert_false(fb_health_judge(&h, &l, &f, 86490 * S - 1).recover);
    assert_true(fb_health_judge(&h, &l, &f, 86490 * S).recover);
    assert_int_equal(h.grade, HEALTH_recovering);
}

/* ---- stalls ---- */

/* Nothing succeeds from `since_ns` on. */
static struct health_facts stalled(int64_t since_ns, int64_t now_ns)
{
    int64_t age_ns = now_ns - since_ns;
    struct health_facts f = ages(age_ns, age_ns, age_ns, since_ns);

    return f;
}

static void a_stall_is_recovered_from(void **state)
{
    struct health_limits l = limits();
    struct health_state h = healthy();
    struct health_facts f;
    int asked = 0;

    (void)state;
    for (int64_t now_ns = 0; now_ns <= 100 * S; now_ns += 5 * S) {
        f = stalled(0, now_ns);
        asked += fb_health_judge(&h, &l, &f, now_ns).recover;
        if (now_ns < 60 * S)
            assert_int_equal(h.grade, HEALTH_healthy);
        else
            assert_int_equal(h.grade, now_ns < 90 * S ? HEALTH_degraded : HEALTH_recovering);
    }
    assert_int_equal(asked, 1);
    /* Updates come again; ages are still high. */
    f = ages(70 * S, 110 * S, 125 * S, 105 * S);
    assert_false(fb_health_judge(&h, &l, &f, 105 * S).changed);
    assert_int_equal(h.grade, HEALTH_recovering);
    f = ages(5 * S, 20 * S, 59 * S, 110 * S);
    assert_true(fb_health_judge(&h, &l, &f, 110 * S).changed);
    assert_int_equal(h.grade, HEALTH_healthy);
}

/* What is not well after its time is called what it is. */
static void a_recovery_has_its_time(void **state)
{
    struct health_limits l = limits();
    struct health_state h = healthy();
    struct health_facts f = stalled(0, 0);

    (void)state;
    (void)fb_health_judge(&h, &l, &f, 0);
    f = stalled(0, 90 * S);
    assert_true(fb_health_judge(&h, &l, &f, 90 * S).recover);
    f = ages(0, 70 * S, 80 * S, 209 * S);
    (void)fb_health_judge(&h, &l, &f, 209 * S);
    assert_int_equal(h.grade, HEALTH_recovering);
    f = ages(0, 70 * S, 80 * S, 210 * S);
    assert_true(fb_health_judge(&h, &l, &f, 210 * S).changed);
    assert_int_equal(h.grade, HEALTH_degraded);
}

/* When each recovery begins, for a day of nothing, an interval of 5 s. */
static void recoveries_back_off(void **state)
{
    static const int64_t spans_s[] = {120, 240, 480, 960, 1800, 1800, 1800};
    struct health_limits l = limits();
    struct health_state h = healthy();
    int64_t last_ns = 0;
    size_t count = 0;
    bool failed = false;

    (void)state;
    for (int64_t now_ns = 0; count <= COUNT_OF(spans_s); now_ns += 5 * S) {
        struct health_facts f = stalled(0, now_ns);
        struct health_verdict v = fb_health_judge(&h, &l, &f, now_ns);
        failed |= h.grade == HEALTH_failing;
        if (!v.recover)
            continue;
        assert_int_equal(h.grade, HEALTH_recovering);
        if (count == 0)
            assert_int_equal(now_ns, 90 * S);
        else
            assert_int_equal(now_ns - last_ns, spans_s[count - 1] * S);
        last_ns = now_ns;
        count++;
    }
    assert_true(failed); /* in between */
    for (int i = 0; i < 100; i++)
        h.recoveries++;
    assert_int_equal(fb_health_recovery_at(&h, &l), last_ns + 1800 * S);
    /* Less patience than a recovery takes is none. */
    l.patience_ns = S;
    assert_int_equal(fb_health_recovery_at(&h, &l), last_ns + 120 * S);
    l.patience_ns = INT64_MAX / 8;
    assert_true(fb_health_recovery_at(&h, &l) > last_ns + 86400 * S);
}

/* A success alone is not well: else what stalls every other minute is recovered each time. */
static void only_being_well_ends_the_backing_off(void **state)
{
    struct health_limits l = limits();
    struct health_state h = healthy();
    struct health_facts f = stalled(0, 0);

    (void)state;
    (void)fb_health_judge(&h, &l, &f, 0);
    f = stalled(0, 90 * S);
    assert_true(fb_health_judge(&h, &l, &f, 90 * S).recover);
    f = ages(0, 0, 0, 100 * S);
    (void)fb_health_judge(&h, &l, &f, 100 * S);
    assert_int_equal(h.grade, HEALTH_healthy);
    f = ages(0, 0, 0, 699 * S);
    (void)fb_health_judge(&h, &l, &f, 699 * S);
    assert_int_equal(h.recoveries, 1);
    assert_int_equal(fb_health_recovery_at(&h, &l), 210 * S);
    f = ages(0, 0, 0, 700 * S);
    (void)fb_health_judge(&h, &l, &f, 700 * S);
    assert_int_equal(h.recoveries, 0);
    assert_true(fb_health_recovery_at(&h, &l) == FB_LONG_AGO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_thresholds),
        cmocka_unit_test(overload_is_degraded),
        cmocka_unit_test(grades_change_within_an_interval),
        cmocka_unit_test(without_work_nothing_stalls),
        cmocka_unit_test(a_stall_is_recovered_from),
        cmocka_unit_test(a_recovery_has_its_time),
        cmocka_unit_test(recoveries_back_off),
        cmocka_unit_test(only_being_well_ends_the_backing_off),
    };

    return cmocka_run_group_tests_name("health", tests, NULL, NULL);
}
