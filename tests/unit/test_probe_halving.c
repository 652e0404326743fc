/* SPDX-License-Identifier: MIT */
/* A limit that stores nothing: halving what lies between two paces, and what is left of a gap. */
#include "test_probe_spacing.h"

/* ---- halving ---- */

/* Between the pace that lasts and the one that does not, as many as chance needs. */
static void a_step_goes_half_way(void **state)
{
    static const struct {
        float sway_ms;
        int32_t tests;
    } rows[] = {{0.0f, 8}, {4.0f, 40}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct hand h = spaced(4.0f, 9.0f, rows[i].sway_ms);
        struct probe *p = &h.c.probe;

        if (i == 1)
            p->too_fast = 5.0f;
        float half = sqrtf(p->too_fast / 4.0f) - 1.0f;
        look_after(&h);
        assert_close((double)p->lean, (double)half, 1e-5);
        float rate = p->rate;
        serve(&h, rows[i].tests - 1);
        assert_true(fb_probe_halves_spacing(p));
        serve(&h, 1);
        assert_false(fb_probe_halves_spacing(p)); /* it lasts, so it is the limit */
        assert_true(p->limit == rate && p->lean < 0.0f);
        assert_int_equal(p->phase, PROBE_SETTLED);
        assert_says(&h, "under the limit of");
    }
}

/* Refused in such a step: too fast, and the limit stays. */
static void a_step_that_is_refused_is_too_fast(void **state)
{
    static const float before[] = {0.0f, 4.4f};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(before); i++)
        for (int32_t let_through = 0; let_through < 30; let_through += 10) {
            struct hand h = stepping(4.0f, 9.0f, 0.0f, 0.5f);
            struct probe *p = &h.c.probe;

            p->held = before[i]; /* a step before may have lasted */
            p->step_count = let_through;
            refuse(&h);
            recover(&h, READ_SPACED);
            assert_close((double)p->too_fast, 6.0, 1e-5);
            assert_close((double)p->limit, i == 0 ? 4.0 : 4.4, 1e-5);
            assert_true(fb_probe_spaced(p));
            assert_no_raise(&h);
        }
}

/* In a climb nothing lies between, and where `held` is there may be a cycle. */
static void a_climb_halves_nothing(void **state)
{
    struct hand h = stepping(4.0f, 9.0f, 0.0f, 0.5f);
    struct probe *p = &h.c.probe;

    (void)state;
    assert_true(fb_probe_halves_spacing(p));
    p->phase = PROBE_FIRST;
    assert_false(fb_probe_halves_spacing(p));
    serve(&h, 30);
    assert_true(p->cycle_s == 0.0f && p->phase == PROBE_FIRST);
}

/* Nobody uses that much: so nothing was seen to last. */
static void what_is_not_used_does_not_last(void **state)
{
    struct hand h = stepping(4.0f, 9.0f, 0.0f, 0.5f);
    struct probe *p = &h.c.probe;

    (void)state;
    p->late = 1.0f;
    for (int i = 0; i < 10; i++) {
        h.now_ns = p->next_ns + 100 * MS;
        request(&h, 200);
    }
    assert_true(p->limit == 4.0f && p->lean == 0.5f);
}

/* Until they are near: looked at again after some requests, then after many. */
static void it_ends_when_they_are_near(void **state)
{
    static const struct {
        float too_fast;
        float sway_ms;
        bool soon;
    } rows[] = {
        {10.4f, 0.0f, true}, {10.2f, 0.0f, false}, /* 3 % */
        {10.9f, 4.0f, true}, {10.6f, 4.0f, false}, /* 1.5 x 4.5 ms of 100 */
        {9.0f, 0.0f, false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct hand h = pairing(10.0f, rows[i].too_fast);
        struct probe *p = &h.c.probe;

        p->sway_s = (rows[i].sway_ms + 0.2f) / 1000.0f;
        refuse(&h);
        recover(&h, READ_SPACED);
        double requests = (double)(p->look_ns - h.now_ns) / 1e9 * (double)p->rate;
        assert_int_equal(requests < 41.0, rows[i].soon);
        assert_int_equal(requests > 500.0, !rows[i].soon);
        look_after(&h);
        assert_int_equal(fb_probe_halves_spacing(p), rows[i].soon);
    }
}

/* Once the limit is known a look begins small, as far as latencies let it, and goes on. */
static void later_looks_begin_small(void **state)
{
    static const struct {
        float sway_ms;
        double lean;
    } rows[] = {{0.0f, 0.02}, {1.0f, 0.02}, {4.0f, 0.045}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct hand h = spaced(10.0f, 10.2f, rows[i].sway_ms);
        struct probe *p = &h.c.probe;

        look_after(&h);
        assert_close((double)p->lean, rows[i].lean, 1e-4);
        float rate = p->rate;
        serve(&h, 40);
        assert_close((double)p->lean, 2.0 * rows[i].lean, 1e-4);
        assert_true(p->held == rate); /* nothing is stored, so that pace lasted */
        assert_true(p->limit == 10.0f);
        refuse(&h);
        recover(&h, READ_SPACED);
        assert_true(p->limit == rate && p->too_fast == h.refused_at);
    }
}

/* However high: a limit that rose is followed. */
static void a_high_step_that_is_refused_leaves_what_lasted(void **state)
{
    struct hand h = stepping(2.0f, 2.04f, 0.0f, 5.12f);
    struct probe *p = &h.c.probe;

    (void)state;
    while (p->lean < 6.0f)
        serve(&h, 1);
    assert_close((double)p->lean, 10.24, 1e-4);
    refuse(&h);
    recover(&h, READ_SPACED);
    assert_close((double)p->limit, 12.24, 1e-3);
    assert_close((double)p->too_fast, 22.48, 1e-3);
}

/* Nothing is stored, so that nothing is waited for. */
static void a_high_step_is_in_no_shadow(void **state)
{
    struct hand h = stepping(2.0f, 2.04f, 0.0f, 0.64f);
    struct probe *p = &h.c.probe;

    (void)state;
    serve(&h, 8);
    assert_close((double)p->lean, 1.28, 1e-4);
    assert_true(p->held > 3.2f);
}

/* In the first climb there was no pace that lasted. */
static void a_climb_held_nothing(void **state)
{
    struct hand h = stepping(4.0f, 9.0f, 0.0f, 1.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    p->phase = PROBE_FIRST;
    p->held = 7.0f; /* another thing lies there */
    refuse(&h);
    recover(&h, READ_SPACED);
    assert_true(p->limit == 4.0f && p->too_fast == 8.0f);
}

/* ---- the margin ---- */

/* 3.4 deviations of a gap are left, but at least the usual margin and at most 30 %. */
static void what_latencies_deviate_by_is_left(void **state)
{
    static const struct {
        float sway_ms;
        double margin;
    } rows[] = {
        {0.0f, 0.0167},
        {4.0f, 0.0153 / 0.1153},
        {19.0f, 0.3},
        {100.0f, 0.3},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct hand h = pairing(10.0f, 10.4f);
        struct probe *p = &h.c.probe;

        p->sway_s = (rows[i].sway_ms + 0.2f) / 1000.0f;
        refuse(&h);
        recover(&h, READ_SPACED);
        assert_close((double)p->margin, rows[i].margin, 1e-4);
        assert_close((double)p->lean, -rows[i].margin, 1e-4);
    }
    struct hand h = pairing(1.0f, 1.1f); /* of a long gap that is little */
    refuse(&h);
    recover(&h, READ_SPACED);
    assert_true(h.c.probe.margin == MARGIN);
}

/* ---- refused below it ---- */

static void be_refused_after(struct hand *h, int32_t grants, int32_t let_through, int pings)
{
    struct refusal r = {
        .lean = -MARGIN,
        .grants = grants,
        .let_through = let_through,
        .pings = pings,
        .in_flight = 1,
    };

    be_refused(h, &r);
}

/* Now and then a gap shrinks: it is made longer by one deviation. */
static void a_gap_that_shrank_grows(void **state)
{
    static const struct {
        int32_t grants, let_through;
        float too_fast;
    } rows[] = {{25, 24, 10.4f}, {300, 200, 10.4f}, {300, 0, 10.4f}, {300, 200, 5.0f}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct hand h = spaced(10.0f, rows[i].too_fast, 4.0f);
        struct probe *p = &h.c.probe;

        be_refused_after(&h, rows[i].grants, rows[i].let_through, 0);
        assert_string_equal(fb_probe_reading_says(p), READ_SPACED);
        double limit = 1.0 / (0.1 + 0.0045);
        assert_close((double)p->limit, limit, 1e-4);
        assert_close((double)p->too_fast, i == 3 ? limit : 10.4, 1e-4);
        assert_true(fb_probe_spaced(p));
    }
}

/* Nor is it believed to be above the pace that was refused. */
static void a_gap_that_shrank_with_much_of_it_left(void **state)
{
    struct hand h = spaced(10.0f, 10.4f, 1.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    p->margin = 0.1f;
    p->lean = -0.1f;
    p->rate = 9.0f;
    be_refused_after(&h, 300, 200, 0);
    assert_close((double)p->limit, 9.0, 1e-5);
    assert_no_raise(&h);
}

/* Twice at once it is no chance: the limit fell. */
static void what_is_refused_at_once_again_is_halved(void **state)
{
    struct hand h = spaced(10.0f, 10.4f, 4.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    be_refused_after(&h, 24, 0, 0);
    assert_string_equal(fb_probe_reading_says(p), READ_SPACED);
    assert_close((double)p->limit, 0.5 * 9.85, 1e-3);
    assert_close((double)p->too_fast, 9.85, 1e-3);
    assert_true(p->look_ns - h.now_ns < 10 * S && fb_probe_spaced(p));
}

/* Some were let through, or pings were refused: it is something else, and read as such. */
static void what_is_refused_otherwise_is_forgotten(void **state)
{
    static const struct {
        int32_t grants, let_through;
        int pings;
        float margin;
        float sway_ms;
        bool forgotten;
    } rows[] = {
        {24, 1, 0, MARGIN, 4.0f, true},
        {300, 200, 1, MARGIN, 4.0f, true},
        {24, 0, 1, MARGIN, 4.0f, true},
        {300, 200, 0, 0.05f, 0.0f, true}, /* no gap shrinks by so much */
        {300, 200, 0, 0.03f, 0.0f, false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct hand h = spaced(10.0f, 10.4f, rows[i].sway_ms);
        struct probe *p = &h.c.probe;

        p->margin = rows[i].margin;
        p->lean = -p->margin;
        p->rate = 10.0f * (1.0f - p->margin);
        be_refused_after(&h, rows[i].grants, rows[i].let_through, rows[i].pings);
        assert_int_equal(fb_probe_spaced(p), !rows[i].forgotten);
        assert_int_equal(p->burst_found, !rows[i].forgotten);
        assert_int_equal(p->too_fast == 0.0f, rows[i].forgotten);
        assert_string_equal(fb_probe_reading_says(p),
                            rows[i].forgotten ? READ_SURPRISE : READ_SPACED);
    }
}

/* A ping that is refused in a look says as much. */
static void a_look_that_stays_shut_is_something_else(void **state)
{
    struct hand h = stepping(10.0f, 12.0f, 0.0f, 0.1f);

    (void)state;
    refuse(&h);
    ping(&h, 429);
    recover(&h, READ_EXPECTED);
    assert_false(fb_probe_spaced(&h.c.probe));
    assert_true(h.c.probe.too_fast == 0.0f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_goes_half_way),
        cmocka_unit_test(a_step_that_is_refused_is_too_fast),
        cmocka_unit_test(a_climb_halves_nothing),
        cmocka_unit_test(what_is_not_used_does_not_last),
        cmocka_unit_test(it_ends_when_they_are_near),
        cmocka_unit_test(later_looks_begin_small),
        cmocka_unit_test(a_high_step_that_is_refused_leaves_what_lasted),
        cmocka_unit_test(a_high_step_is_in_no_shadow),
        cmocka_unit_test(a_climb_held_nothing),
        cmocka_unit_test(what_latencies_deviate_by_is_left),
        cmocka_unit_test(a_gap_that_shrank_grows),
        cmocka_unit_test(a_gap_that_shrank_with_much_of_it_left),
        cmocka_unit_test(what_is_refused_at_once_again_is_halved),
        cmocka_unit_test(what_is_refused_otherwise_is_forgotten),
        cmocka_unit_test(a_look_that_stays_shut_is_something_else),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
