/* SPDX-License-Identifier: MIT */
/* A limit that is counted by the second, in a window that slides. */
#include "test_probe_hand.h"

#define READ_SECOND "counted in a second, as often as it was refused"
#define READ_UNEVEN "kept, because what was even may arrive unevenly"

/* So many are accepted, one every `gap_ns`, and the next is refused. */
static void accept_until_refused(struct hand *h, int times, int64_t gap_ns)
{
    for (int i = 0; i < times; i++) {
        grant(h);
        reply(h, 200);
        h->now_ns += gap_ns;
    }
    refuse(h);
}

/* Refused in a climb at 100/s when so many were accepted in a second, twice. */
static struct hand refused_twice_over(float sway_s, int first, int second)
{
    struct hand h = first_climb(100.0f);
    struct probe *p = &h.c.probe;

    p->sway_s = sway_s;
    accept_until_refused(&h, first, 10 * MS);
    recover(&h, NULL);
    p->phase = PROBE_FIRST;
    p->lean = 1.0f;
    p->limit = 50.0f;
    p->rate = 100.0f;
    h.now_ns += 2 * S;
    p->next_ns = h.now_ns;
    accept_until_refused(&h, second, 8 * MS);
    return h;
}

static struct hand refused_twice(int first, int second)
{
    return refused_twice_over(0.0f, first, second);
}

static void as_many_in_a_second_are_the_limit(void **state)
{
    struct hand h = refused_twice(50, 50);
    struct probe *p = &h.c.probe;
    int64_t refused_ns = p->refused_ns;

    (void)state;
    recover(&h, READ_SECOND);
    assert_close((double)p->limit, 50.0, 1.0);
    assert_true(p->log.by_second && p->burst == 0.0f);
    assert_close((double)p->margin, 1.2 / 50.0, 1e-3);
    assert_close(h.pace.burst, 2.0, 1e-6);
    /* What is uneven is over a second later, and a look far away. */
    assert_true(h.pace.not_before_ns >= refused_ns + S);
    assert_true(p->look_ns - h.now_ns > 40 * S);
    assert_no_raise(&h);
}

static void another_number_is_another_limit(void **state)
{
    static const struct {
        int first;
        int second;
    } rows[] = {{50, 40}, {40, 50}, {10, 10}, {300, 300}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct hand h = refused_twice(rows[i].first, rows[i].second);
        recover(&h, NULL);
        assert_false(h.c.probe.log.by_second);
    }
}

/* A bucket takes the pace itself, and what is known is not found out. */
static void only_while_it_is_not_known(void **state)
{
    struct hand h = refused_twice(50, 50);
    struct probe *p = &h.c.probe;

    (void)state;
    p->rate = 50.0f;
    p->log.second = p->log.second_before = 50;
    assert_false(fb_probe_is_second(p));
    p->rate = 60.0f;
    assert_true(fb_probe_is_second(p));
    p->window_s = 10.0f;
    assert_false(fb_probe_is_second(p));
    p->window_s = 0.0f;
    p->phase = PROBE_SETTLED;
    assert_false(fb_probe_is_second(p));
    p->phase = PROBE_DOUBT;
    assert_true(fb_probe_is_second(p));
    p->log.second_before = 53; /* on an uneven line that is the same */
    assert_false(fb_probe_is_second(p));
    p->log.sway_ms = 33;
    assert_true(fb_probe_is_second(p));
    p->log.sway_ms = 127; /* but not anything */
    p->log.second_before = 60;
    assert_false(fb_probe_is_second(p));
    p->log.second_before = 50;
    assert_true(fb_probe_is_second(p));
    p->log.second = p->log.second_before = 250; /* so many or more */
    p->rate = 300.0f;
    assert_false(fb_probe_is_second(p));
    p->log.second = p->log.second_before = 50;
    p->told_left = 10.0f; /* who is told what is left need not guess */
    assert_false(fb_probe_is_second(p));
    assert_false(fb_probe_by_second(p));
}

/* A pace of its own, on an uneven line: that it refuses after the same again is no chance. */
static void a_doubted_pace_finds_the_same(void **state)
{
    static const struct {
        float rate, lean;
        unsigned sway_ms;
        bool second;
    } rows[] = {
        {48.0f, -0.015f, 33, true},
        {46.0f, -0.015f, 33, false}, /* far below */
        {48.0f, -0.015f, 10, false},
        {48.0f, 1.0f, 33, false}, /* the pace itself */
    };
    struct hand h = refused_twice(50, 50);
    struct probe *p = &h.c.probe;

    (void)state;
    p->phase = PROBE_DOUBT;
    p->log.second = p->log.second_before = 50;
    p->step_ns = p->refused_ns - 2 * S;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        p->rate = rows[i].rate;
        p->lean = rows[i].lean;
        p->log.sway_ms = rows[i].sway_ms & 127u;
        assert_int_equal(fb_probe_is_second(p), rows[i].second);
    }
}

/* What was refused right after the other has a part of the second before it in common. */
static void close_ones_are_one(void **state)
{
    struct hand h = first_climb(100.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    accept_until_refused(&h, 50, 10 * MS);
    assert_int_equal(p->log.second, 50);
    recover(&h, NULL);
    refuse(&h);
    assert_int_equal(p->log.second, 50);
    assert_int_equal(p->log.second_before, 0);
    recover(&h, NULL);
    h.now_ns += 2 * S;
    refuse(&h);
    assert_int_equal(p->log.second, 0);
    assert_int_equal(p->log.second_before, 50);
}

static void answer_after(struct hand *h, int64_t latency_ns)
{
    grant(h);
    h->o.latency_ns = latency_ns;
    reply(h, 200);
}

/* Answers come late and in any order; what is too old or too much does not matter. */
static void the_log_is_by_when_it_was_sent(void **state)
{
    struct hand h = first_climb(100.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    for (int i = 0; i < 10; i++)
        answer_after(&h, 0);
    h.now_ns += 500 * MS;
    answer_after(&h, 100 * MS);
    answer_after(&h, 450 * MS); /* before that one */
    answer_after(&h, 3 * S);    /* long ago */
    h.o.latency_ns = 0;
    refuse(&h);
    assert_int_equal(p->log.second, 12);

    h = first_climb(100.0f); /* a second later nothing of it counts */
    for (int i = 0; i < 10; i++)
        answer_after(&h, 0);
    h.now_ns += 1200 * MS;
    p->next_ns = h.now_ns;
    refuse(&h);
    assert_int_equal(p->log.second, 0);

    h = first_climb(1000.0f); /* more than is counted */
    for (int i = 0; i < 300; i++)
        answer_after(&h, 0);
    refuse(&h);
    assert_int_equal(p->log.second, 250);
    h.id = 1;
    for (int i = 0; i < 300; i++)
        reply(&h, 200);
    assert_int_equal(p->log.second, 250);
    assert_int_equal(p->also_accepted, UINT8_MAX);
}

/* Half of what was under way and is accepted was before the one that was refused. */
static void what_was_under_way_counts_by_half(void **state)
{
    struct hand h = first_climb(100.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    uint64_t first = h.latest + 1;
    accept_until_refused(&h, 40, 10 * MS);
    h.id = first;
    for (int i = 0; i < 5; i++)
        reply(&h, 200);
    assert_int_equal(p->log.second, 42);
    p->told_left = 3.0f; /* what is told is there instead */
    p->told_own = 1.0f;
    reply(&h, 200);
    assert_true(p->told_own == 2.0f);
}

/* The first that is told takes the place of the log. */
static void what_is_told_ends_the_log(void **state)
{
    struct hand h = first_climb(100.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    for (int i = 0; i < 20; i++)
        answer_after(&h, 0);
    h.o.limit = 1000;
    h.o.remaining = 900;
    h.o.reset_ns = h.now_ns + 3600 * S;
    answer_after(&h, 0);
    assert_true(fb_probe_was_told(p) && p->told_own == 1.0f);
    assert_true(p->told_low == PLENTY && p->told_pace == 0.0f);
    p->sway_s = 0.05f;
    refuse(&h); /* nothing is counted, and how uneven it is is found anew */
    recover(&h, NULL);
    assert_true(p->sway_s == 0.0f && p->told_own >= 1.0f);
}

/* How uneven a line is outlasts the episode. */
static void how_uneven_outlasts_an_episode(void **state)
{
    struct hand h = first_climb(100.0f);

    (void)state;
    h.c.probe.sway_s = 0.05f;
    refuse(&h);
    recover(&h, NULL);
    assert_close((double)h.c.probe.sway_s, 0.05, 0.002);
}

/* Below it, and refused: the line is uneven, and what it needs is found and kept. */
static void an_uneven_line_needs_a_margin(void **state)
{
    struct hand h = refused_twice(50, 50);
    struct probe *p = &h.c.probe;

    (void)state;
    recover(&h, READ_SECOND);
    float limit = p->limit;
    float margin = p->margin;
    int times = 0;
    while (p->margin < 0.12f) {
        h.now_ns = h.pace.not_before_ns > h.now_ns ? h.pace.not_before_ns : h.now_ns;
        serve(&h, 2 * NEAR);
        p->sway_s = times == 0 ? 0.0f : 0.03f; /* once something stood still for a moment */
        refuse(&h);
        recover(&h, READ_UNEVEN);
        margin += times == 0 ? MARGIN : margin < 0.1f ? 0.01f : 2.0f * MARGIN;
        assert_true(p->limit == limit && p->log.by_second);
        assert_close((double)p->margin, (double)margin, 1e-6);
        times++;
    }
    assert_int_equal(times, 9);
    p->look_ns = h.now_ns; /* a look does not forget it */
    p->late = 0.0f;
    serve(&h, 1);
    assert_true(p->lean > 0.0f && p->margin == margin);
    refuse(&h);
    recover(&h, READ_EXPECTED);
    serve(&h, 2 * NEAR);
    refuse(&h);
    recover(&h, READ_SURPRISE); /* that is more than uneven */

    h = refused_twice(50, 50); /* nor is what comes again at once */
    recover(&h, READ_SECOND);
    serve(&h, 2);
    refuse(&h);
    recover(&h, READ_SURPRISE);
    h = refused_twice(50, 50); /* nor what stays shut */
    recover(&h, READ_SECOND);
    serve(&h, 2 * NEAR);
    refuse(&h);
    ping(&h, 429);
    recover(&h, READ_SURPRISE);
}

/* On an even line something stood still now and then, and that needs less. */
static void an_even_line_needs_less(void **state)
{
    struct hand h = refused_twice(50, 50);

    (void)state;
    recover(&h, READ_SECOND);
    h.now_ns = h.pace.not_before_ns;
    h.c.probe.margin = 6.5f * MARGIN;
    serve(&h, 2 * NEAR);
    refuse(&h);
    recover(&h, READ_SURPRISE);
}

/* What is counted there is wrong by some, and people use round numbers. */
static void a_round_number_is_meant(void **state)
{
    static const struct {
        int count;
        double limit, margin;
    } rows[] = {{48, 50.0, 0.085}, {53, 50.0, 0.085}, {45, 45.0, 0.085}, {98, 100.0, 0.0658}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct hand h = refused_twice_over(0.03f, rows[i].count, rows[i].count);
        recover(&h, READ_SECOND);
        assert_close((double)h.c.probe.limit, rows[i].limit, 0.01);
        assert_close((double)h.c.probe.margin, rows[i].margin, 1e-3);
        /* What is left makes up for what is late; so there is no need to wait for a second. */
        assert_close(h.pace.burst, fmax(2.0, 0.8 * rows[i].margin * rows[i].limit), 0.05);
        assert_true(h.pace.not_before_ns <= h.now_ns);
        assert_true(h.pace.rate < (double)h.refused_at);
    }
    struct hand h = refused_twice(48, 48); /* on an even line it is counted exactly */
    recover(&h, READ_SECOND);
    assert_close((double)h.c.probe.limit, 48.0, 0.6);
}

/* A round number above the pace that was refused is not what is meant. */
static void no_round_number_is_above_what_was_refused(void **state)
{
    struct hand h = refused_twice_over(0.03f, 48, 48);
    struct probe *p = &h.c.probe;

    (void)state;
    p->rate = 48.5f; /* as fast as it was counted: an uneven line refuses that */
    assert_true(fb_probe_is_second(p));
    assert_true(fb_probe_limit_of_second(p) == 48.5f);
    /* The pace is what it would be under that number. */
    assert_close((double)(48.5f * (1.0f - fb_probe_margin_of_second(p, 48.5f))), 50.0 * 0.915,
                 0.01);
    p->rate = 46.0f; /* and some less than the one that was refused */
    assert_true(fb_probe_limit_of_second(p) == 46.0f);
    assert_true(fb_probe_margin_of_second(p, 46.0f) == MARGIN);
    p->rate = 51.0f;
    assert_true(fb_probe_limit_of_second(p) == 50.0f);
    assert_close((double)fb_probe_margin_of_second(p, 50.0f), 0.085, 1e-6);
}

/* It opens within a second: what is refused beside it is no reason to wait for a window. */
static void who_counts_by_the_second_opens_soon(void **state)
{
    (void)state;
    for (int other = 0; other < 2; other++) {
        struct hand h = refused_twice_over(0.03f, 50, other ? 80 : 50);
        for (int i = 0; i < 3; i++) {
            h.id = h.latest - 1;
            reply(&h, 429);
        }
        assert_int_equal(h.pace.not_before_ns - h.now_ns > 7 * S, other);
    }
}

/* ---- over an uneven line: a bound on what is in flight ---- */

/* Settled over an uneven line, where one was refused before and `in_flight` are under way. */
static struct hand on_uneven_line(int64_t in_flight)
{
    struct hand h = settled(80.0f, 300.0f);
    struct probe *p = &h.c.probe;

    h.in_flight_then = in_flight;
    p->sway_s = 0.03f;
    p->latency_s = 0.12f;
    p->surprises = 1;
    return h;
}

/* One of them is refused, some others are let through. */
static void refuse_one(struct hand *h, int accepted, int also_refused)
{
    uint64_t first = h->latest + 1;

    for (int i = 0; i < accepted + also_refused; i++)
        grant(h);
    refuse(h);
    h->in_flight_then--;
    for (int i = 0; i < accepted + also_refused; i++) {
        h->id = first + (uint64_t)i;
        reply(h, i < accepted ? 200 : 429);
    }
    h->in_flight_then = 1;
}

/* Half of what was under way is left, and the pace stays. */
static void too_many_there_by_chance_is_a_bound(void **state)
{
    struct hand h = on_uneven_line(9);
    struct probe *p = &h.c.probe;

    (void)state;
    refuse_one(&h, 8, 0);
    recover(&h, READ_CROWD);
    assert_int_equal(h.pace.in_flight_max, 4);
    assert_true(p->phase == PROBE_SETTLED && p->surprises == 0);
    assert_close((double)p->limit, 78.8, 4.0);
    assert_no_raise(&h);
    h.in_flight_then = 9; /* what was granted before does not end it */
    for (int i = 0; i < 8; i++)
        reply(&h, 200);
    assert_int_equal(h.pace.in_flight_max, 4);
    h.in_flight_then = 2; /* but what is refused with fewer does */
    h.now_ns += S;
    refuse(&h);
    recover(&h, NULL);
    assert_false(fb_probe_crowded(p));
}

/* Else it may be about the pace, or by the second, or chance. */
static void not_every_refusal_there_is_a_bound(void **state)
{
    (void)state;
    for (int i = 0; i < 11; i++) {
        struct hand h = on_uneven_line(i == 0 ? 5 : 9);
        struct probe *p = &h.c.probe;
        p->surprises = i == 1 ? 0 : 1;
        p->sway_s = i == 2 ? 0.01f : 0.03f;
        p->latency_s = i == 3 ? 0.3f : 0.12f;
        p->log.by_second = i == 4;
        p->phase = i == 5 ? PROBE_DOUBT : PROBE_SETTLED;
        p->since_refusal = i == 6 ? 40 : 300;
        if (i == 7) /* much less than the pace was counted */
            p->empty_ns -= 5 * S;
        refuse_one(&h, i == 8 ? 2 : 8, i == 9);
        if (i == 10)
            ping(&h, 429);
        recover(&h, NULL);
        assert_false(fb_probe_crowded(p));
    }
    struct hand h = on_uneven_line(9); /* with as many the others were let through */
    uint64_t first = h.latest + 1;
    for (int i = 0; i < 15; i++)
        grant(&h);
    refuse(&h);
    h.id = first;
    for (int i = 0; i < 15; i++)
        reply(&h, 200);
    recover(&h, READ_SURPRISE);
    h = looking(80.0f, 0.04f, 300.0f); /* a look is refused anyway */
    h.in_flight_then = 9;
    h.c.probe.sway_s = 0.03f;
    h.c.probe.latency_s = 0.12f;
    h.c.probe.surprises = 1;
    refuse_one(&h, 8, 0);
    recover(&h, READ_EXPECTED);
}

/* Another limit, up or down, is not that one any more. */
static void another_limit_is_not_by_the_second(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct hand h = refused_twice(50, 50);
        struct probe *p = &h.c.probe;
        struct answer a = {.outcome = &h.o, .now_ns = h.now_ns};

        recover(&h, READ_SECOND);
        fb_probe_settle(p, p->limit * (i == 0 ? 1.0f : i == 1 ? 1.1f : 0.9f), 100.0f, &a);
        assert_int_equal(p->log.by_second, i == 0);
    }
}

/* ---- pauses ---- */

/* Whoever begins after a pause may be done before a look is worth it; but that holds only once. */
static void a_pause_puts_a_look_off_once(void **state)
{
    struct hand h = settled(50.0f, 300.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    p->look_ns = h.now_ns + S;
    h.now_ns = p->next_ns + 200 * MS; /* no pause yet */
    grant(&h);
    assert_false(p->put_off);
    h.now_ns = p->next_ns + 500 * MS;
    grant(&h);
    assert_true(p->put_off && !p->bursting);
    int64_t look_ns = p->look_ns;
    assert_close((double)(look_ns - h.now_ns) / 1e9, 2400.0 / 49.25, 0.1);
    h.now_ns = p->next_ns + 500 * MS;
    grant(&h);
    assert_true(p->look_ns == look_ns);

    h = looking(50.0f, 0.04f, 300.0f); /* but one that is under way goes on */
    h.now_ns = p->next_ns + 500 * MS;
    grant(&h);
    assert_true(p->lean > 0.0f && !p->put_off);
    h = settled(50.0f, 300.0f); /* where limits move there is no time for that */
    p->moves = true;
    p->look_ns = h.now_ns;
    h.now_ns = p->next_ns + 500 * MS;
    grant(&h);
    assert_close((double)(p->look_ns - h.now_ns) / 1e9, 600.0 / 49.25, 0.1);
    h = settled(5.0f, 300.0f); /* and at a slow pace half a second is none */
    h.now_ns = p->next_ns + 500 * MS;
    grant(&h);
    assert_false(p->put_off);
}

/* The first pause may be the only one: what is stored is tried from the second on. */
static void nothing_is_tried_after_the_first_pause(void **state)
{
    struct hand h = settled(50.0f, 300.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    for (int i = 0; i < 2; i++) {
        h.now_ns = p->next_ns + 10 * S;
        grant(&h);
        assert_int_equal(p->bursting, i);
        assert_close(h.pace.rate, i ? 400.0 : 49.25, 0.01);
        h.now_ns += 10 * MS;
        reply(&h, 200);
    }
    p->log.by_second = true; /* that stores nothing */
    (void)cancel(&h);
    assert_close(h.pace.rate, 49.25, 0.01);
}

/* What is on trial may be wrong about what is stored, too. */
static void on_trial_nothing_is_saved_up(void **state)
{
    struct hand h = settled(50.0f, 300.0f);

    (void)state;
    h.c.probe.burst = 100.0f;
    (void)cancel(&h);
    assert_close(h.pace.burst, 80.0, 1e-3);
    h.c.probe.phase = PROBE_TRIAL;
    (void)cancel(&h);
    assert_close(h.pace.burst, 1.0, 1e-6);
}

/* A pause that made more than anything stores is no part of what is measured. */
static void a_long_pause_does_not_count(void **state)
{
    struct hand h = first_climb(60.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    accept_until_refused(&h, 60, 15 * MS);
    p->pause_s = 8.0f;
    p->block_ns = p->refused_ns + 8 * S;
    p->also_refused = 2;
    recover_at(&h, p->block_ns, NULL);
    assert_true(h.now_ns - p->empty_ns < S);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_many_in_a_second_are_the_limit),
        cmocka_unit_test(another_number_is_another_limit),
        cmocka_unit_test(only_while_it_is_not_known),
        cmocka_unit_test(a_doubted_pace_finds_the_same),
        cmocka_unit_test(close_ones_are_one),
        cmocka_unit_test(the_log_is_by_when_it_was_sent),
        cmocka_unit_test(what_was_under_way_counts_by_half),
        cmocka_unit_test(what_is_told_ends_the_log),
        cmocka_unit_test(how_uneven_outlasts_an_episode),
        cmocka_unit_test(an_uneven_line_needs_a_margin),
        cmocka_unit_test(an_even_line_needs_less),
        cmocka_unit_test(a_round_number_is_meant),
        cmocka_unit_test(no_round_number_is_above_what_was_refused),
        cmocka_unit_test(who_counts_by_the_second_opens_soon),
        cmocka_unit_test(too_many_there_by_chance_is_a_bound),
        cmocka_unit_test(not_every_refusal_there_is_a_bound),
        cmocka_unit_test(another_limit_is_not_by_the_second),
        cmocka_unit_test(a_pause_puts_a_look_off_once),
        cmocka_unit_test(nothing_is_tried_after_the_first_pause),
        cmocka_unit_test(on_trial_nothing_is_saved_up),
        cmocka_unit_test(a_long_pause_does_not_count),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
