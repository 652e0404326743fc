/* SPDX-License-Identifier: MIT */
/* Refusals that slowing down does not end: noise, and when it is more than that. */
#include "test_probe_hand.h"

/* Slowing down did not end it: not about the pace. */
static void surprises_in_a_row_are_noise(void **state)
{
    struct hand h = settled(10.0f, 300.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    refuse(&h);
    recover(&h, READ_SURPRISE);
    float proven = p->limit;
    serve(&h, 100);
    refuse(&h);
    recover(&h, READ_SURPRISE);
    assert_int_equal(p->surprises, 2);
    assert_true(p->limit < proven && p->margin == 4.0f * MARGIN);
    serve(&h, 100);
    refuse(&h);
    recover(&h, READ_SURPRISE);
    assert_int_equal(p->surprises, 3);
    assert_true(p->limit == proven && p->margin == 2.0f * MARGIN);

    serve(&h, 150);
    float limit = p->limit;
    refuse(&h);
    recover(&h, READ_NOISE);
    assert_true(p->limit == (1.0f - NOISE_COST) * limit);
    assert_no_raise(&h);
}

/* Refused once in 450 requests, at a pace that nothing else speaks against. */
static void refuse_long_after(struct hand *h)
{
    h->c.probe.look_ns = INT64_MAX;
    serve(h, 450);
    refuse(h);
    recover(h, READ_SURPRISE);
}

/* The first may be a limit that fell, the second lowers nothing, and the third is chance. */
static void surprises_far_apart_are_noise(void **state)
{
    struct hand h = settled(10.0f, 300.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    refuse(&h);
    recover(&h, READ_SURPRISE);
    float proven = p->limit;
    refuse_long_after(&h);
    assert_true(p->surprises == 1 && p->limit == proven && p->margin == 4.0f * MARGIN);
    assert_true(p->phase == PROBE_SETTLED && p->forgiven);
    refuse_long_after(&h);
    assert_true(fb_probe_noisy(p) && p->noise_known && !p->forgiven);
    assert_true(p->limit == proven && p->margin == 2.0f * MARGIN);
    assert_true(p->noise_gap > (float)FAR && p->noise_gap <= 2.5f * (float)FAR);
    assert_no_raise(&h);
}

/* A limit that fell refuses soon again: that is counted. */
static void soon_after_one_that_was_kept_it_is_counted(void **state)
{
    struct hand h = settled(10.0f, 300.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    refuse(&h);
    recover(&h, READ_SURPRISE);
    p->noise_known = true; /* that was long ago */
    refuse_long_after(&h);
    float kept = p->limit;
    serve(&h, 60);
    refuse(&h);
    recover(&h, READ_SURPRISE);
    assert_true(p->surprises == 2 && p->limit < kept && !p->forgiven);
    assert_no_raise(&h);
}

/* Who tells when to come again is believed, however long ago the last one was. */
static void what_is_told_long_after_is_no_chance(void **state)
{
    struct hand h = settled(10.0f, 300.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    refuse(&h);
    recover(&h, READ_SURPRISE);
    float limit = p->limit;
    p->look_ns = INT64_MAX;
    serve(&h, 450);
    h.o.retry_after_ns = S;
    refuse(&h);
    h.o.retry_after_ns = FLY_ABSENT;
    recover(&h, READ_SURPRISE);
    assert_true(p->surprises == 1 && p->limit < limit && p->limit == p->limit_before);
}

/* Looks are steep there, and a refusal that no other follows soon ends none. */
static void looks_among_noise_are_steep(void **state)
{
    struct hand h = looking(10.0f, 0.02f, 200.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    p->surprises = 3;
    p->noise_gap = 300.0f;
    p->burst = 1000.0f; /* nothing is beyond that */
    h.in_flight = 3;
    serve(&h, STEP);
    assert_true(p->lean == 0.04f);
    refuse(&h);
    recover(&h, READ_CHANCE);
    for (int i = 0; i < STEP_STORED && p->lean < 0.05f; i++)
        serve(&h, 1);
    assert_true(p->lean == 0.08f && p->forgiven); /* it is remembered */
    serve(&h, STEP);
    refuse(&h);
    recover(&h, READ_CHANCE); /* of 300 a limit that is 8 % lower would have refused more */
    serve(&h, 20);
    refuse(&h);
    recover(&h, READ_EXPECTED);
    assert_no_raise(&h);

    h = looking(10.0f, 0.5f, 200.0f); /* but it does not go on for ever */
    p->surprises = 3;
    p->noise_gap = 300.0f;
    p->burst = 1000.0f;
    p->forgiven = true;
    p->since_refusal = 100;
    p->look_ns = h.now_ns - 241 * S;
    refuse(&h);
    recover(&h, READ_EXPECTED);
}

/* Who tells when to come again does not refuse by chance: the limit is lower still. */
static void refusals_that_tell_a_wait_are_no_noise(void **state)
{
    struct hand h = settled(10.0f, 300.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    for (int i = 0; i < 4; i++) {
        float limit = p->limit;
        h.o.retry_after_ns = S;
        refuse(&h);
        h.o.retry_after_ns = FLY_ABSENT;
        recover(&h, READ_SURPRISE);
        assert_true(p->surprises <= 2 && p->limit < limit);
        serve(&h, 100);
    }
    assert_false(p->noise_known);
}

/* A limit that is overrun refuses again and again; all since it began is one measurement. */
static void more_than_the_usual_noise_is_measured(void **state)
{
    struct hand often = settled(10.0f, 300.0f);
    struct hand twice = settled(10.0f, 300.0f);
    struct probe *p = &often.c.probe;

    (void)state;
    p->surprises = 3;
    p->noise_gap = 200.0f;
    refuse(&often);
    recover(&often, READ_NOISE);
    assert_true(p->unrest == 0.0f);
    for (int i = 0; i < 4; i++) {
        serve(&often, 10);
        refuse(&often);
        recover(&often, READ_NOISE);
        assert_int_equal(p->surprises, 3);
        assert_true(p->unrest > 0.0f && p->accepted > 10.0f * (float)(i + 1));
    }
    serve(&often, 10);
    refuse(&often);
    recover(&often, READ_NOISE);
    assert_int_equal(p->surprises, 0);
    assert_true(p->limit < 8.5f);
    assert_no_raise(&often);

    twice.c.probe.surprises = 3;
    twice.c.probe.noise_gap = 300.0f;
    twice.c.probe.since_refusal = 0;
    twice.c.probe.unrest = UNREST_MAX - 3.0f;
    refuse(&twice);
    ping(&twice, 429);
    recover(&twice, READ_NOISE);
    assert_int_equal(twice.c.probe.surprises, 0);
    assert_no_raise(&twice);
}

static void one_refusal_in_a_noisy_place_proves_nothing(void **state)
{
    struct hand h = looking(10.0f, 0.02f, 200.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    p->surprises = 3;
    p->noise_gap = 200.0f;
    refuse(&h);
    float rate = p->rate;
    recover(&h, READ_CHANCE);
    assert_true(p->limit == 10.0f && p->rate == rate && p->lean == 0.02f);
    assert_says(&h, "2.00 % over the limit of 10");
    assert_says(&h, READ_CHANCE);

    serve(&h, 30); /* two in one step do */
    refuse(&h);
    recover(&h, READ_EXPECTED);
    assert_int_equal(p->surprises, 3);

    h = looking(10.0f, 0.02f, 200.0f); /* and so does one that stays shut */
    p->surprises = 3;
    p->noise_gap = 50.0f;
    p->since_refusal = 0;
    refuse(&h);
    ping(&h, 429);
    recover(&h, READ_EXPECTED);
    assert_no_raise(&h);
}

/* The margin after a surprise is wide, but where it is only being found more exactly. */
static void a_told_second_that_lowers_little_keeps_the_margin(void **state)
{
    static const struct {
        float accepted;
        int64_t span_ns, retry_after_ns;
        float margins;
    } rows[] = {
        {200.0f, 20 * S, S, 1.0f},
        {200.0f, 20 * S, FLY_ABSENT, 4.0f}, /* it may be chance */
        {29.0f, 3 * S, S, 4.0f},            /* few were counted */
        {200.0f, 25 * S, S, 4.0f},          /* it fell */
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct hand h = settled(10.0f, rows[i].accepted);
        struct probe *p = &h.c.probe;

        p->empty_ns = h.now_ns - rows[i].span_ns;
        h.o.retry_after_ns = rows[i].retry_after_ns;
        refuse(&h);
        h.o.retry_after_ns = FLY_ABSENT;
        recover(&h, READ_SURPRISE);
        assert_true(p->margin == rows[i].margins * MARGIN);
        assert_no_raise(&h);
    }
}

/* Not by chance, and half of it was kept before. */
static void a_climb_that_is_told_to_wait_goes_on_at_half_its_pace(void **state)
{
    (void)state;
    for (int told = 0; told < 2; told++) {
        struct hand h = hand_of("");
        struct probe *p = &h.c.probe;

        serve(&h, 60);
        float pace = p->rate;
        h.o.retry_after_ns = told ? S : FLY_ABSENT;
        refuse(&h);
        h.o.retry_after_ns = FLY_ABSENT;
        recover(&h, READ_CLIMB);
        assert_true(p->phase == PROBE_FIRST && p->surprises == 1);
        assert_float_equal(p->rate, told ? 0.5f * pace : pace, 0.001);
        assert_float_equal(p->limit * (1.0f + p->lean), p->rate, 0.001);
    }
}

/* Refused again soon, half of what was believed was counted; so often cut the limit was before. */
static float limit_after_cuts(uint8_t cuts)
{
    struct hand h = settled(10.0f, 100.0f);
    struct probe *p = &h.c.probe;

    p->noise_known = true;
    p->cuts = cuts & 7u;
    p->empty_ns = h.now_ns - 20 * S;
    refuse(&h);
    ping(&h, 200);
    assert_int_equal(p->episode, EPISODE_NONE);
    return p->limit;
}

/* Where it is noisy the pace is believed longer, but not for ever. */
static void after_four_cuts_noise_is_no_excuse(void **state)
{
    (void)state;
    assert_true(limit_after_cuts(4) < 0.97f * limit_after_cuts(3));
    assert_true(limit_after_cuts(4) > 4.5f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_told_second_that_lowers_little_keeps_the_margin),
        cmocka_unit_test(a_climb_that_is_told_to_wait_goes_on_at_half_its_pace),
        cmocka_unit_test(surprises_in_a_row_are_noise),
        cmocka_unit_test(surprises_far_apart_are_noise),
        cmocka_unit_test(soon_after_one_that_was_kept_it_is_counted),
        cmocka_unit_test(what_is_told_long_after_is_no_chance),
        cmocka_unit_test(looks_among_noise_are_steep),
        cmocka_unit_test(refusals_that_tell_a_wait_are_no_noise),
        cmocka_unit_test(more_than_the_usual_noise_is_measured),
        cmocka_unit_test(one_refusal_in_a_noisy_place_proves_nothing),
        cmocka_unit_test(after_four_cuts_noise_is_no_excuse),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
