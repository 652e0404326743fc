/* SPDX-License-Identifier: MIT */
/* Too many at a time at a provider that is behind an uneven line. */
#include "test_probe_hand.h"

/* A first climb at 120/s over an uneven line. */
static struct hand climb_on_line(void)
{
    struct hand h = first_climb(120.0f);

    h.c.probe.sway_s = 0.03f;
    h.c.probe.latency_s = 0.12f;
    return h;
}

/* One is refused; of what was under way with it some are let through, and some are not. */
static void refuse_beside(struct hand *h, int accepted, int also_refused)
{
    uint64_t first = h->latest + 1;

    h->in_flight_then = 1 + accepted + also_refused;
    for (int i = 0; i < accepted + also_refused; i++)
        grant(h);
    refuse(h);
    for (int i = 0; i < accepted + also_refused; i++) {
        h->id = first + (uint64_t)i;
        reply(h, i < accepted ? 200 : 429);
    }
    h->in_flight_then = 1;
}

/* The pace is that of the first climb again, however it was read. */
static void climb_on(struct hand *h)
{
    struct probe *p = &h->c.probe;

    p->phase = PROBE_FIRST;
    p->limit = 60.0f;
    p->lean = 1.0f;
    p->rate = 120.0f;
    p->surprises = 0;
    h->now_ns += 3 * S;
    p->next_ns = h->now_ns;
}

/* All others are let through, twice: it is about how many there are at a time. */
static void what_is_let_through_proves_it(void **state)
{
    struct hand h = climb_on_line();
    struct probe *p = &h.c.probe;

    (void)state;
    refuse_beside(&h, 12, 0);
    recover(&h, READ_CLIMB);
    assert_true(p->line == 12.0f);
    assert_true(h.pace.in_flight_max > 14);
    climb_on(&h);
    refuse_beside(&h, 14, 0);
    recover(&h, READ_CROWD);
    assert_int_equal(h.pace.in_flight_max, 5); /* a third of what was under way */
    assert_int_equal(p->phase, PROBE_SETTLED); /* and the pace stays bounded */
    assert_no_raise(&h);
    fb_probe_resume(p, h.now_ns + S); /* that lasts */
    (void)cancel(&h);
    assert_int_equal(h.pace.in_flight_max, 5);
    assert_true(p->line == 18.0f && p->told_until_ns == FB_LONG_AGO);
}

/* A limit on requests refuses some of that, too. */
static void what_is_also_refused_speaks_against_it(void **state)
{
    static const struct {
        int accepted, refused;
        double line;
    } rows[] = {
        {12, 0, 12.0}, {12, 1, 13.0}, {5, 2, 0.0}, {20, 1, 9.0}, {8, 0, 17.0}, {9, 0, 18.0},
    };
    struct hand h = climb_on_line();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        refuse_beside(&h, rows[i].accepted, rows[i].refused);
        h.c.probe.pause_s = 0.1f;
        recover(&h, i == COUNT_OF(rows) - 1 ? READ_CROWD : NULL);
        assert_close((double)h.c.probe.line, rows[i].line, 1e-6);
        climb_on(&h);
        h.c.probe.sway_s = 0.03f;
        h.c.probe.latency_s = 0.12f;
    }
}

/* Of a few at a time none are too many by chance, and three may always be. */
static void a_bound_is_not_too_small(void **state)
{
    struct hand h = climb_on_line();

    (void)state;
    h.c.probe.line = 18.0f;
    refuse_beside(&h, 4, 0);
    recover(&h, READ_CLIMB);
    climb_on(&h);
    refuse_beside(&h, 6, 0);
    recover(&h, READ_CROWD);
    assert_int_equal(h.pace.in_flight_max, 3);
}

/* Elsewhere it says nothing. */
static void it_is_about_uneven_lines_only(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++) {
        struct hand h = climb_on_line();
        struct probe *p = &h.c.probe;
        p->sway_s = i == 0 ? 0.01f : 0.03f;
        p->latency_s = i == 1 ? 0.3f : 0.12f; /* it is in service */
        p->log.by_second = i == 2;
        p->window_s = i == 3 ? 60.0f : 0.0f;
        if (i == 4) { /* a look just above a limit is refused one at a time */
            p->phase = PROBE_SETTLED;
            p->lean = 0.1f;
        }
        if (i == 7) { /* as one that is on trial may be */
            p->phase = PROBE_TRIAL;
            p->lean = -MARGIN;
        }
        refuse_beside(&h, i == 5 ? 4 : 12, 0);
        if (i == 6)
            ping(&h, 429);
        recover(&h, NULL);
        assert_true(p->line == 0.0f);
    }
    struct hand h = settled(80.0f, 300.0f); /* but below a limit as well as in a climb */
    h.c.probe.sway_s = 0.03f;
    h.c.probe.latency_s = 0.12f;
    refuse_beside(&h, 12, 0);
    recover(&h, READ_SURPRISE);
    assert_true(h.c.probe.line == 12.0f);
    h.c.probe.told_left = 10.0f; /* what is told takes its place */
    h.c.probe.line = 18.0f;
    assert_false(fb_probe_on_line(&h.c.probe));
}

/* The next process begins further below, and with fewer in flight where a refusal hints at it. */
static void the_next_run_begins_carefully(void **state)
{
    static const struct {
        float sway_s, told_left, line, latency_s, margin, ret_margin;
        int ret_min; /* refused with so many in flight, as far as it is known */
    } rows[] = {
        {0.03f, -1.0f, 5.9f, 0.12f, 0.015f, 0.1f, NO_CROWD},    /* no hint */
        {0.03f, -1.0f, 6.0f, 0.12f, 0.015f, 0.1f, 6},           /* two thirds of 8.6 */
        {0.03f, -1.0f, 6.0f, 0.01f, 0.085f, 0.115f, 4},         /* the least */
        {0.03f, -1.0f, 6.0f, 90.0f, 0.11f, 0.12f, NO_CROWD},    /* that is in service */
        {0.03f, -1.0f, 0.0f, 0.12f, 0.2f, 0.2f, NO_CROWD},      /* as wide as it was */
        {0.019f, -1.0f, 6.0f, 0.12f, 0.015f, 0.015f, NO_CROWD}, /* an even line */
        {1.1f, -1.0f, 6.0f, 0.12f, 0.015f, 0.015f, NO_CROWD},   /* that was a pause */
        {0.03f, 10.0f, 6.0f, 0.12f, 0.015f, 0.015f, NO_CROWD},  /* it is told what is left */
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct hand h = settled(80.0f, 300.0f);
        struct probe *p = &h.c.probe;
        p->sway_s = rows[i].sway_s;
        p->told_left = rows[i].told_left;
        p->line = rows[i].line;
        p->latency_s = rows[i].latency_s;
        p->margin = rows[i].margin;
        p->lean = -rows[i].margin;
        fb_probe_resume(p, h.now_ns + S);
        assert_close((double)p->margin, (double)rows[i].ret_margin, 1e-6);
        assert_close((double)p->rate, 80.0 * (1.0 - (double)rows[i].ret_margin), 1e-3);
        assert_int_equal(p->crowd_min, rows[i].ret_min);
    }
}

/* A bound that is proven stays, and a climb goes on. */
static void the_next_run_keeps_what_is_proven(void **state)
{
    struct hand h = settled(80.0f, 300.0f);
    struct hand c = climb_on_line();

    (void)state;
    h.c.probe.sway_s = 0.03f;
    h.c.probe.line = 18.0f;
    h.c.probe.crowd = CROWD_PROOF;
    h.c.probe.crowd_min = 8;
    fb_probe_resume(&h.c.probe, h.now_ns + S);
    assert_int_equal(h.c.probe.crowd_min, 8);
    fb_probe_resume(&c.c.probe, c.now_ns + S);
    assert_close((double)c.c.probe.margin, (double)MARGIN, 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_let_through_proves_it),
        cmocka_unit_test(what_is_also_refused_speaks_against_it),
        cmocka_unit_test(a_bound_is_not_too_small),
        cmocka_unit_test(it_is_about_uneven_lines_only),
        cmocka_unit_test(the_next_run_begins_carefully),
        cmocka_unit_test(the_next_run_keeps_what_is_proven),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
