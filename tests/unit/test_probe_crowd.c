/* SPDX-License-Identifier: MIT */
/* A bound on what is in flight: how it is found, and looked at again. */
#include "test_probe_hand.h"

/* A bound that is believed: refused from so many in flight on. */
static struct hand bounded(uint8_t crowd_min, float crowd, int32_t since)
{
    struct hand h = settled(50.0f, 100.0f);
    struct probe *p = &h.c.probe;

    p->crowd_min = crowd_min;
    p->crowd = crowd;
    p->since_refusal = since;
    (void)cancel(&h);
    return h;
}

struct refusal {
    float crowd; /* before */
    int32_t since;
    uint8_t then; /* in flight, itself too */
    bool noisy;
    float ret_crowd;
    int ret_min;
};

static void assert_noted(const struct refusal *r)
{
    struct hand h = bounded(9, r->crowd, r->since);

    h.c.probe.noise_known = r->noisy;
    h.in_flight_then = r->then;
    refuse(&h);
    assert_close((double)h.c.probe.crowd, (double)r->ret_crowd, 1e-6);
    assert_int_equal(h.c.probe.crowd_min, r->ret_min);
}

/* Not believed yet: one less is the same bound, seen better; fewer is another. */
static void the_least_that_was_refused_is_kept(void **state)
{
    static const struct refusal rows[] = {
        {2.0f, 10, 9, false, 3.0f, 9},
        {2.0f, 10, 12, false, 3.0f, 9},
        {2.0f, 10, 8, false, 3.0f, 8},
        {2.0f, 10, 7, false, 1.0f, 7},
        {2.0f, 500, 9, false, 3.0f, 9},
        {2.0f, 500, 9, true, 2.0f, 9}, /* chance, in a noisy place */
        {2.0f, 500, 5, true, 2.0f, 9},
        {2.0f, NEAR - 2, 9, true, 3.0f, 9},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        assert_noted(&rows[i]);
}

/* Believed: right after a look what was added is taken back, later one. */
static void what_is_refused_at_a_bound_makes_it_no_wider(void **state)
{
    static const struct refusal rows[] = {
        {3.0f, 10, 9, false, 4.0f, 9},         /* soon after a look, or the last refusal */
        {3.0f, 10, 7, false, 4.0f, 7},         /* two had been added */
        {3.0f, 10, 6, false, 1.0f, 6},         /* not about that: another bound, or none */
        {7.5f, 10, 9, false, 8.0f, 9},         /* as far as evidence is counted */
        {3.0f, 500, 8, false, 3.0f, 8},        /* it was let through for long */
        {3.0f, 500, 8, true, 3.0f, 9},         /* chance */
        {CROWD_GUESS, 500, 8, false, 4.0f, 8}, /* until here a guess may be widened */
        {CROWD_GUESS, 10, 12, false, 4.0f, 9},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        assert_noted(&rows[i]);
    struct hand h = bounded(3, CROWD_PROOF, 500); /* with two in flight it is the pace */
    h.in_flight_then = 3;
    refuse(&h);
    assert_int_equal(h.c.probe.crowd_min, 3);
}

/* Answers with so many in flight, until the bound is another; how many. */
static int served_until_wider(struct hand *h, int most)
{
    uint8_t before = h->c.probe.crowd_min;
    int count = 0;

    while (h->c.probe.crowd_min == before && count < most) {
        h->c.probe.look_ns = h->now_ns + 1000 * S;
        serve(h, 1);
        count++;
    }
    return count;
}

/* A bound is looked at, the more rarely the more evidence there is; a guess is, soon. */
static void a_bound_is_looked_at(void **state)
{
    static const struct {
        float crowd;
        int requests;
        float ret_crowd;
    } rows[] = {
        {CROWD_PROOF, 4800, CROWD_PROOF},
        {4.0f, 9600, 3.5f},
        {CROWD_GUESS, 2400, CROWD_GUESS},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct hand h = bounded(9, rows[i].crowd, 0);
        h.in_flight_then = 8;
        assert_int_equal(served_until_wider(&h, 20000), rows[i].requests);
        assert_int_equal(h.c.probe.crowd_min, 11); /* an eighth, and one */
        assert_close((double)h.c.probe.crowd, (double)rows[i].ret_crowd, 1e-6);
        assert_int_equal(h.pace.in_flight_max, 10);
        assert_int_equal(h.c.probe.since_refusal, NEAR);
    }
}

/* Only where it is the bound that holds, and never so far that it were none. */
static void a_bound_that_is_not_met_is_left_alone(void **state)
{
    struct hand h = bounded(9, CROWD_GUESS, 5000);
    struct hand wide = bounded(NO_CROWD - 1, CROWD_GUESS, 5000);
    struct hand nearly = bounded(NO_CROWD - 3, CROWD_GUESS, 5000);
    struct hand none = bounded(9, 1.0f, 5000);

    (void)state;
    h.in_flight_then = 7;
    assert_int_equal(served_until_wider(&h, 5), 5);
    wide.in_flight_then = 127; /* as much as a ticket tells */
    assert_int_equal(served_until_wider(&wide, 5), 5);
    nearly.in_flight_then = 126;
    assert_int_equal(served_until_wider(&nearly, 5), 5);
    nearly.in_flight_then = 127;
    assert_int_equal(served_until_wider(&nearly, 5), 1);
    assert_int_equal(nearly.c.probe.crowd_min, NO_CROWD - 1);
    none.in_flight_then = 8;
    assert_int_equal(served_until_wider(&none, 5), 5);
}

/* The next process does not look at it at once. */
static void a_bound_is_left_alone_by_the_next_process(void **state)
{
    struct hand h = bounded(9, CROWD_GUESS, 2000);

    (void)state;
    go_on_elsewhere(&h);
    assert_int_equal(h.c.probe.crowd_min, 9);
    assert_int_equal(h.c.probe.since_refusal, 0);
}

/* While it is the answers that are waited for no pace is too fast, but nor is it needed. */
static void the_pace_does_not_run_away_in_a_crowd(void **state)
{
    struct hand h = first_climb(10.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    p->crowd_min = 5;
    p->crowd = CROWD_PROOF;
    h.in_flight_then = 4;
    h.o.latency_ns = 100 * MS;
    serve(&h, 4000);
    assert_close((double)p->rate, 4.0 * 5.0 / 0.1, 5.0);
    assert_int_equal(p->phase, PROBE_FIRST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_least_that_was_refused_is_kept),
        cmocka_unit_test(what_is_refused_at_a_bound_makes_it_no_wider),
        cmocka_unit_test(a_bound_is_looked_at),
        cmocka_unit_test(a_bound_that_is_not_met_is_left_alone),
        cmocka_unit_test(a_bound_is_left_alone_by_the_next_process),
        cmocka_unit_test(the_pace_does_not_run_away_in_a_crowd),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
