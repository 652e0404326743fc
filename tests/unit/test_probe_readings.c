/* SPDX-License-Identifier: MIT */
/* What an episode meant: each reading by hand, at its borders. */
#include "test_probe_hand.h"

/* ---- quota windows ---- */

/* Refused at the pace, then by two pings; accepted again `shut` later. */
static void shut_for(struct hand *h, int64_t shut_ns)
{
    refuse(h);
    int64_t refused_ns = h->now_ns;
    ping(h, 429);
    ping(h, 429);
    assert_int_equal(h->c.probe.failed_pings, 2);
    recover_at(h, refused_ns + shut_ns, READ_SHUT);
}

static void what_stays_shut_for_long_is_a_window(void **state)
{
    struct hand h = settled(10.0f, 200.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    p->total_ns = h.now_ns - 20 * S;
    p->total = 200.0f;
    shut_for(&h, 50 * S);
    assert_true(p->opening_seen && p->echoes == 0);
    assert_true(p->window_s == 60.0f); /* at least as long as to the last ping, and round */
    assert_close((double)p->limit, 200.0 / 60.0, 0.1);
    assert_int_equal(p->opened_ns, h.o.sent_ns);
    assert_true(p->spent == 1.0f && p->total == 1.0f && p->total_ns == p->opened_ns);
    assert_no_raise(&h);
    assert_says(&h, "(window of 1 min)");
    assert_says(&h, READ_SHUT);
}

/* Several windows have passed since the start: the limit is between the mean and the pace. */
static void the_first_window_after_a_long_climb(void **state)
{
    struct hand h = settled(10.0f, 200.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    p->total_ns = h.now_ns - 1000 * S;
    p->total = 1000.0f;
    shut_for(&h, 50 * S);
    assert_close((double)p->limit, sqrt(1.0 * 9.85), 0.1);
    assert_no_raise(&h);
}

/* One that was slowed down in between counted more than the present pace. */
static void the_first_window_never_raises(void **state)
{
    struct hand h = settled(10.0f, 200.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    p->total_ns = h.now_ns - 1000 * S;
    p->total = 11000.0f;
    shut_for(&h, 50 * S);
    assert_true(p->window_s == 60.0f);
    assert_no_raise(&h);
}

/* Seen to be shut for a moment only: the start still counts as the whole window. */
static void a_window_that_was_shut_for_a_short_time(void **state)
{
    struct hand h = settled(10.0f, 200.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    p->total_ns = h.now_ns - 5 * S;
    p->total = 50.0f;
    shut_for(&h, 15 * S);
    assert_true(p->opening_seen);
    assert_int_equal(p->total_ns, 9995 * S);
    assert_true(p->total > 50.0f);
}

/* Rounded up to whole seconds, the wait of a bucket for the next request is a second, too. */
static void a_told_second_is_no_window(void **state)
{
    struct hand h = settled(10.0f, 200.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    h.o.retry_after_ns = S;
    refuse(&h);
    int64_t refused_ns = h.now_ns;
    assert_true(p->told_when && p->failed_pings == 0);
    assert_int_equal(h.pace.not_before_ns, refused_ns + S);
    h.o.retry_after_ns = FLY_ABSENT;
    recover(&h, READ_SURPRISE);
    assert_true(p->window_s == 0.0f);
    assert_int_equal(p->empty_ns, refused_ns + S - S / 2); /* it may have stored that much */
    assert_no_raise(&h);
}

static void a_told_wait_is_a_window_from_three_seconds_on(void **state)
{
    struct hand h = settled(10.0f, 200.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    p->total_ns = h.now_ns - 20 * S;
    p->total = 200.0f;
    h.o.retry_after_ns = 5 * S;
    refuse(&h);
    assert_true(p->told_when && p->failed_pings == 2);
    assert_int_equal(h.pace.not_before_ns, h.now_ns + 5 * S);
    h.o.retry_after_ns = FLY_ABSENT;
    recover(&h, READ_SHUT);
    assert_true(p->window_s == 5.0f);
    assert_no_raise(&h);
}

static void what_opens_soon_is_no_window(void **state)
{
    struct hand h = settled(10.0f, 200.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    refuse(&h);
    int64_t refused_ns = h.now_ns;
    ping(&h, 429);
    ping(&h, 429);
    recover_at(&h, refused_ns + 9 * S, READ_SURPRISE);
    assert_true(p->window_s == 0.0f && !p->opening_seen);
    assert_no_raise(&h);
}

/* Hardly anything was accepted, and the pings failed too: that counts in full. */
static void few_and_refused_again_counts(void **state)
{
    struct hand h = settled(10.0f, 3.0f);
    struct hand once = settled(10.0f, 3.0f);

    (void)state;
    refuse(&h);
    ping(&h, 429);
    recover_at(&h, h.now_ns + 9 * S, READ_SURPRISE);
    refuse(&once);
    recover(&once, READ_SURPRISE);
    assert_true(h.c.probe.limit < 0.5f * h.refused_at);
    assert_true(once.c.probe.limit >= 0.59f * once.refused_at);
    assert_true(h.c.probe.limit >= 0.999f * DROP * h.refused_at);

    h = settled(100.0f, 3.0f); /* but it never falls further than that at once */
    refuse(&h);
    ping(&h, 429);
    recover_at(&h, h.now_ns + 8 * S, READ_SURPRISE);
    assert_close((double)h.c.probe.limit, (double)(DROP * h.refused_at), 1e-3);
}

/* ---- within a window ---- */

static struct hand in_window(float limit, float window_s, float open_s, float accepted)
{
    struct hand h = settled(limit, accepted);
    struct probe *p = &h.c.probe;

    p->window_s = window_s;
    p->opening_seen = true;
    p->empty_ns = h.now_ns - fb_span((double)open_s);
    p->opened_ns = p->empty_ns;
    p->since_refusal = 100;
    return h;
}

static void exhausted_in_the_window_that_was_seen_to_open(void **state)
{
    struct hand h = in_window(5.0f, 60.0f, 50.0f, 240.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    refuse(&h);
    assert_at_least(h.pace.not_before_ns, 10010 * S); /* the window is waited for */
    assert_at_most(h.pace.not_before_ns, 10012 * S);
    recover(&h, READ_WINDOW);
    assert_true(p->window_s == 60.0f);
    assert_close((double)p->limit, 240.0 / 60.0, 0.1);
    assert_int_equal(p->opened_ns, h.o.sent_ns);
    assert_no_raise(&h);
}

/* It lasted longer than was believed. */
static void a_window_that_lasts_longer(void **state)
{
    struct hand h = in_window(5.0f, 60.0f, 65.0f, 240.0f);

    (void)state;
    refuse(&h);
    assert_true(h.c.probe.window_s == 120.0f);
    recover(&h, READ_WINDOW);
    assert_no_raise(&h);
}

/* More than one quota was accepted: another window has begun, whenever that was. */
static void a_window_that_began_again_meanwhile(void **state)
{
    struct hand h = in_window(5.0f, 60.0f, 65.0f, 310.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    refuse(&h);
    assert_true(p->window_s == 60.0f);
    recover(&h, READ_WINDOW);
    assert_true(p->window_s == 60.0f);
    assert_close((double)p->limit, 310.0 / 120.0, 0.1);

    h = in_window(5.0f, 60.0f, 62.0f, 312.0f); /* nor does a refused ping make it longer */
    refuse(&h);
    ping(&h, 429);
    recover(&h, READ_WINDOW);
    assert_true(p->window_s == 60.0f);
}

static void a_second_opening_measures_the_window(void **state)
{
    struct hand h = in_window(10.0f, 30.0f, 30.0f, 295.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    refuse(&h);
    int64_t refused_ns = h.now_ns;
    p->window_s = 30.0f;
    p->pause_s = 1.0f;
    recover_at(&h, refused_ns + 30 * S, READ_WINDOW); /* 30 s open, 29 shut: a minute */
    assert_true(p->window_s == 60.0f);
    assert_close((double)p->limit, 295.0 / 60.0, 0.1);
    assert_no_raise(&h);
}

/* Long after an opening only the count tells, not how long it has been. */
static void exhausted_long_after_the_opening(void **state)
{
    struct hand h = in_window(5.0f, 60.0f, 1205.0f, 5900.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    refuse(&h);
    assert_at_least(h.pace.not_before_ns, 10054 * S);
    recover(&h, READ_WINDOW);
    assert_true(p->window_s == 60.0f);
    assert_close((double)p->limit, 4.68, 0.1);
    assert_no_raise(&h);
}

static void the_reset_that_is_told_says_when(void **state)
{
    struct hand h = in_window(5.0f, 60.0f, 50.0f, 240.0f);

    (void)state;
    h.o.remaining = 0;
    h.o.reset_ns = h.now_ns + 7 * S;
    refuse(&h);
    assert_close((double)(h.pace.not_before_ns - h.now_ns) / 1e9, 7.04, 0.02);
    /* A reset in the past tells nothing. */
    h = in_window(5.0f, 60.0f, 50.0f, 240.0f);
    h.o.remaining = 0;
    h.o.reset_ns = h.now_ns - S;
    refuse(&h);
    assert_at_least(h.pace.not_before_ns, 10010 * S);
}

/* Looking upward in a window: what lasted for a whole one is the limit. */
static void refused_while_looking_in_a_window(void **state)
{
    struct hand h = looking(5.0f, 0.04f, 150.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    p->window_s = 60.0f;
    p->opening_seen = true;
    p->held = 5.1f;
    refuse(&h);
    /* An even pace exhausts it only a little too early. */
    assert_at_most(h.pace.not_before_ns, 10004 * S);
    recover(&h, READ_WINDOW);
    assert_close((double)p->limit, 5.1, 0.01);
    assert_int_equal(p->phase, PROBE_SETTLED);
    assert_no_raise(&h);
}

/* A bound on what is in flight begins a climb anew: what was held before does not count. */
static void what_was_held_is_forgotten(void **state)
{
    struct hand h = looking(5.0f, 0.04f, 150.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    p->window_s = 60.0f;
    p->opening_seen = true;
    p->held = 50.0f;
    p->crowd = CROWD_PROOF;
    p->crowd_min = 9;
    h.in_flight_then = 9;
    refuse(&h);
    recover(&h, READ_CROWD);
    p->crowd = 0.0f;
    h.in_flight_then = 1;
    refuse(&h);
    recover(&h, READ_WINDOW);
    assert_no_raise(&h);
}

/* Refused right after the opening: an old burst still counts there. Wait, and count on. */
static void echoes_are_sat_out(void **state)
{
    struct hand h = in_window(5.0f, 60.0f, 2.0f, 4.0f);
    struct probe *p = &h.c.probe;
    int64_t pause_ns = 0;

    (void)state;
    p->since_refusal = 4;
    for (int echo = 1; echo <= 3; echo++) {
        float limit = p->limit;
        refuse(&h);
        assert_true(h.pace.not_before_ns - h.now_ns > pause_ns); /* ever longer */
        pause_ns = h.pace.not_before_ns - h.now_ns;
        int64_t empty_ns = p->empty_ns;
        recover_at(&h, h.now_ns + 2 * S, READ_WINDOW);
        assert_int_equal(p->echoes, echo);
        assert_true(p->limit == limit && p->empty_ns == empty_ns);
        p->accepted = 4.0f;
        p->empty_ns = h.now_ns - 2 * S;
    }
    refuse(&h);
    recover_at(&h, h.now_ns + 2 * S, READ_WINDOW);
    assert_true(p->window_s == 0.0f && !p->opening_seen && p->echoes == 0);
    assert_no_raise(&h);
}

/* Whole enough by time, by the open part, or by the count. */
static void which_cycles_count(void **state)
{
    static const struct {
        float open_s, accepted;
        int echoes;
    } rows[] = {{10.0f, 45.0f, 0}, {35.0f, 20.0f, 0}, {28.0f, 20.0f, 1}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct hand h = in_window(5.0f, 60.0f, rows[i].open_s, rows[i].accepted);
        refuse(&h);
        recover_at(&h, h.now_ns + 2 * S, READ_WINDOW);
        assert_int_equal(h.c.probe.echoes, rows[i].echoes);
        assert_no_raise(&h);
    }
    struct hand h = in_window(5.0f, 60.0f, 5.0f, 20.0f);
    refuse(&h);
    recover_at(&h, 10060 * S, READ_WINDOW);
    assert_int_equal(h.c.probe.echoes, 0);
}

/* ---- not about the pace ---- */

static void a_bound_on_what_is_in_flight(void **state)
{
    struct hand h = looking(50.0f, 1.0f, 100.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    h.in_flight_then = 9;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(h.pace.in_flight_max, FB_NO_CAP);
        h.now_ns += 10 * S;
        refuse(&h);
        h.in_flight_then = 1;
        recover(&h, i < 2 ? NULL : READ_CROWD);
        h.in_flight_then = 9;
    }
    assert_int_equal(h.pace.in_flight_max, 8);
    assert_int_equal(p->phase, PROBE_FIRST);
    assert_true(p->lean == 1.0f && p->limit == 0.5f * h.refused_at);
}

/* Accepted with as many in flight, again and again: there is no bound. */
static void a_bound_that_is_no_bound_is_forgotten(void **state)
{
    struct hand h = settled(10.0f, 100.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    p->crowd = CROWD_PROOF - 0.1f;
    p->crowd_min = 5;
    h.in_flight_then = 4;
    serve(&h, 50);
    assert_true(p->crowd == CROWD_PROOF - 0.1f);
    h.in_flight_then = 5;
    serve(&h, 10);
    assert_true(p->crowd > 0.0f); /* not yet: some of them may have been on the line */
    serve(&h, 40);
    assert_true(p->crowd == 0.0f && p->crowd_min == NO_CROWD);
}

/* With two in flight it is the pace. */
static void two_in_flight_are_no_crowd(void **state)
{
    (void)state;
    struct hand h = settled(10.0f, 100.0f);
    h.c.probe.crowd = 10.0f;
    h.c.probe.crowd_min = 2;
    h.in_flight_then = 2;
    refuse(&h);
    assert_int_equal(h.pace.in_flight_max, FB_NO_CAP);
    recover(&h, READ_SURPRISE);
}

/* ---- while cruising ---- */

static void a_surprise_lowers_a_little_and_widens_the_margin(void **state)
{
    struct hand h = settled(10.0f, 300.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    refuse(&h);
    recover(&h, READ_SURPRISE);
    assert_close((double)p->limit, 9.85, 0.05);
    assert_true(p->margin == 4.0f * MARGIN && p->lean == -p->margin);
    assert_int_equal(p->surprises, 1);
    assert_close(h.pace.rate, 0.94 * (double)p->limit, 1e-3);
    assert_no_raise(&h);
    assert_says(&h, "6.00 % under the limit of 9.8");
}

/* Refused again at once: the limit falls, by whatever was counted, but never to nothing. */
static void refusals_in_a_row_cut_the_limit(void **state)
{
    struct hand h = settled(10.0f, 300.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    for (int i = 0; i < 300; i++) {
        float limit = p->limit;
        refuse(&h);
        recover(&h, NULL);
        assert_true(p->limit <= limit || i == 0);
        assert_no_raise(&h);
        serve(&h, 1);
        p->failed_pings = 0;
    }
    assert_true(p->limit >= 0.001f && h.pace.rate >= 0.0001);
    assert_int_equal(p->cuts, CUTS_MAX);
}

/* A limit from a few requests is tried again soon, but not for ever. */
static void a_limit_from_a_few_is_in_doubt(void **state)
{
    struct hand h = settled(10.0f, 8.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    for (int doubts = 0; doubts < DOUBTS_MAX; doubts++) {
        refuse(&h);
        recover(&h, NULL);
        assert_int_equal(p->phase, PROBE_DOUBT);
        float limit = p->limit;
        serve(&h, NEAR << doubts);
        h.now_ns = p->look_ns;
        request(&h, 200);
        assert_int_equal(p->doubts, doubts + 1);
        assert_true(p->lean == 1.0f && p->limit == 0.5f * limit);
        p->accepted = 8.0f;
        p->empty_ns = h.now_ns - S;
        p->since_refusal = 8;
        p->cuts = 0;
        p->lean = -MARGIN;
    }
    refuse(&h);
    recover(&h, NULL);
    assert_int_equal(p->phase, PROBE_SETTLED);
}

static void a_trial_that_is_lost(void **state)
{
    struct hand h = settled(10.0f, 300.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    p->phase = PROBE_TRIAL;
    p->limit_before = 8.6f;
    p->burst = 40.0f;
    p->changed_ns = 5000 * S;
    refuse(&h);
    recover(&h, READ_TRIAL); /* 9.85 were measured: it was the burst */
    assert_true(p->limit == 8.6f && p->burst == 40.0f);
    assert_int_equal(p->changed_ns, 5000 * S); /* nothing has changed */
    assert_int_equal(p->phase, PROBE_SETTLED);

    h = settled(10.0f, 300.0f);
    p->phase = PROBE_TRIAL;
    p->limit_before = 5.0f;
    p->burst = 40.0f;
    refuse(&h);
    recover(&h, READ_TRIAL); /* partly right */
    assert_close((double)p->limit, 9.85, 0.1);
    assert_true(p->burst == 20.0f);
    assert_no_raise(&h);
}

/* Refused amid what left at once after a gap: it stores less than that, the limit stands. */
static void a_burst_after_idling_that_was_too_large(void **state)
{
    struct hand h = settled(10.0f, 300.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    p->put_off = true; /* not the first pause */
    p->burst = 50.0f;
    h.now_ns += 100 * S;
    h.cost = 40; /* at once */
    request(&h, 200);
    assert_true(p->bursting && h.pace.burst >= 40.0);
    h.cost = 1;
    p->unit = 1.0f;
    refuse(&h);
    recover(&h, READ_SAVED);
    assert_true(p->limit == 10.0f && p->burst_found);
    assert_close((double)p->burst, 40.0, 0.5);
    assert_true(p->margin == MARGIN);

    /* From now on it is known, and does not grow though all of it is accepted. */
    float burst = p->burst;
    p->ahead = burst;
    p->since_refusal = 1000;
    h.now_ns = p->next_ns + 100 * S;
    request(&h, 200);
    assert_true(p->bursting && p->burst == burst);

    /* Refused long after that: it makes less than was believed. */
    p->total = 90.0f;
    p->total_ns = h.now_ns - 10 * S;
    p->ahead = 30.0f;
    p->since_refusal = 100;
    refuse(&h);
    recover(&h, READ_SAVED);
    assert_true(p->burst == burst);
    assert_close((double)p->limit, 5.2, 0.3);

    /* Refused at once though less left than it was seen to store: it stores less by now. */
    h = settled(10.0f, 300.0f);
    p->bursting = p->burst_found = true;
    p->burst = 50.0f;
    p->total = p->ahead = 20.0f;
    p->total_ns = h.now_ns;
    refuse(&h);
    recover(&h, READ_SAVED);
    assert_true(p->limit == 10.0f);
    assert_close((double)p->burst, 20.0, 0.5);

    /* A limit that was counted from a few says nothing about what is stored. */
    h = settled(10.0f, 300.0f);
    p->bursting = true;
    p->evidence = 5.0f;
    p->total = 30.0f;
    p->total_ns = h.now_ns - 2 * S;
    p->ahead = 10.0f;
    refuse(&h);
    recover(&h, READ_SAVED);
    assert_close((double)p->burst, 30.0, 1.0);

    /* With next to nothing ahead it was the pace. */
    h = settled(10.0f, 300.0f);
    p->bursting = true;
    p->ahead = 1.0f;
    refuse(&h);
    recover(&h, READ_SURPRISE);
}

/* ---- while going up ---- */

static void the_first_refusal_of_a_climb_may_be_chance(void **state)
{
    struct hand h = hand_of("");
    struct probe *p = &h.c.probe;

    (void)state;
    serve(&h, 40);
    float rate = p->rate;
    refuse(&h);
    recover(&h, READ_CLIMB);
    assert_int_equal(p->surprises, 1);
    assert_int_equal(p->phase, PROBE_FIRST);
    assert_true(p->rate == rate && p->limit_before == rate);
    refuse(&h);
    recover(&h, READ_CLIMB);
    assert_int_equal(p->surprises, 0);
    assert_true(p->limit < rate && p->phase != PROBE_FIRST);
    assert_no_raise(&h);
}

/* Refused with what was under way: no chance, and what was let through of that is a first guess. */
static void what_is_let_through_of_the_pace_is_a_first_limit(void **state)
{
    struct hand h = hand_of("");
    struct probe *p = &h.c.probe;

    (void)state;
    for (int i = 0; i < 2; i++) {
        h = hand_of("");
        p->doubts = i == 0 ? 0 : DOUBTS_MAX;
        serve(&h, 200);
        float rate = p->rate;
        refuse(&h);
        uint64_t id = h.id;
        for (int k = 0; k < 4; k++) {
            h.id = id - 4;
            reply(&h, k == 0 ? 429 : 200);
        }
        recover(&h, READ_CLIMB);
        assert_close((double)p->limit, 0.7 * (double)rate, 0.02 * (double)rate);
        assert_int_equal(p->phase, i == 0 ? PROBE_DOUBT : PROBE_SETTLED);
        assert_no_raise(&h);
    }
}

static void the_second_isolated_refusal_of_a_climb_is_believed(void **state)
{
    struct hand h = hand_of("");
    struct probe *p = &h.c.probe;

    (void)state;
    serve(&h, 40);
    p->surprises = 1;
    refuse(&h);
    recover(&h, READ_CLIMB);
    assert_int_equal(p->surprises, 0);
    assert_int_equal(p->phase, PROBE_SETTLED);
    assert_no_raise(&h);
}

/* What was accepted beyond the limit before the first refusal had been stored. */
static void the_climb_tells_what_is_stored(void **state)
{
    struct hand h = hand_of("");
    struct probe *p = &h.c.probe;

    (void)state;
    serve(&h, 60);
    p->surprises = 1;
    p->accepted = 20.0f; /* since it was empty; the 40 before that were quicker */
    p->empty_ns = h.now_ns - 20 * S;
    refuse(&h);
    recover(&h, READ_CLIMB);
    assert_true(p->burst > 10.0f && p->burst < 60.0f);
    /* After a look upward it is not the climb any more that is counted. */
    h = hand_of("");
    serve(&h, 60);
    p->surprises = 1;
    p->accepted = 20.0f;
    p->empty_ns = h.now_ns - 20 * S;
    p->looked = true;
    refuse(&h);
    recover(&h, READ_CLIMB);
    assert_true(p->burst == 0.0f);
}

static void far_beyond_the_limit_a_raise_is_tried(void **state)
{
    struct hand steep = looking(10.0f, 0.64f, 200.0f);
    struct hand slow = looking(10.0f, 0.08f, 200.0f);
    struct hand *both[] = {&steep, &slow};

    (void)state;
    steep.c.probe.ahead = 20.0f;
    slow.c.probe.ahead = 20.0f;
    slow.c.probe.burst = 5.0f;
    slow.c.probe.surprises = 3; /* noise stays what it is */
    steep.c.probe.surprises = 1;
    for (size_t i = 0; i < COUNT_OF(both); i++) {
        refuse(both[i]);
        recover(both[i], READ_BEYOND);
        assert_int_equal(both[i]->c.probe.phase, PROBE_TRIAL);
        assert_true(both[i]->c.probe.limit > 10.0f && both[i]->c.probe.limit_before == 10.0f);
        assert_no_raise(both[i]);
    }
    assert_int_equal(slow.c.probe.surprises, 3);
    assert_int_equal(steep.c.probe.surprises, 0);
    assert_true(slow.c.probe.burst >= 19.0f);
}

static void a_look_that_is_refused_confirms_the_limit(void **state)
{
    struct hand h = looking(10.0f, 0.02f, 200.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    p->ahead = 20.0f; /* but it is too early to tell */
    p->burst = 30.0f;
    p->since_refusal = 30;
    refuse(&h);
    recover(&h, READ_EXPECTED);
    assert_true(p->limit >= 10.0f && p->lean == -p->margin);
    assert_true(p->burst < 30.0f && p->burst > 28.0f);
    assert_true(p->ahead == p->burst); /* it is empty now */
    assert_no_raise(&h);
}

/* More came than was stored: the limit has crept up. */
static void a_limit_that_creeps_is_followed(void **state)
{
    struct hand h = looking(10.0f, 0.04f, 20.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    p->ahead = 20.0f;
    p->burst = 2.0f;
    p->since_refusal = 300;
    refuse(&h);
    recover(&h, READ_EXPECTED);
    assert_true(p->limit > 10.05f && p->burst > 2.0f);
    assert_no_raise(&h);

    h = looking(10.0f, 0.04f, 20.0f);
    p->ahead = 20.0f;
    p->since_refusal = 30; /* of too few it is not learned */
    refuse(&h);
    recover(&h, READ_EXPECTED);
    assert_true(p->limit == 10.0f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_stays_shut_for_long_is_a_window),
        cmocka_unit_test(the_first_window_after_a_long_climb),
        cmocka_unit_test(the_first_window_never_raises),
        cmocka_unit_test(a_window_that_was_shut_for_a_short_time),
        cmocka_unit_test(a_told_second_is_no_window),
        cmocka_unit_test(a_told_wait_is_a_window_from_three_seconds_on),
        cmocka_unit_test(what_opens_soon_is_no_window),
        cmocka_unit_test(few_and_refused_again_counts),
        cmocka_unit_test(exhausted_in_the_window_that_was_seen_to_open),
        cmocka_unit_test(a_window_that_lasts_longer),
        cmocka_unit_test(a_window_that_began_again_meanwhile),
        cmocka_unit_test(a_second_opening_measures_the_window),
        cmocka_unit_test(exhausted_long_after_the_opening),
        cmocka_unit_test(the_reset_that_is_told_says_when),
        cmocka_unit_test(refused_while_looking_in_a_window),
        cmocka_unit_test(what_was_held_is_forgotten),
        cmocka_unit_test(echoes_are_sat_out),
        cmocka_unit_test(which_cycles_count),
        cmocka_unit_test(a_bound_on_what_is_in_flight),
        cmocka_unit_test(a_bound_that_is_no_bound_is_forgotten),
        cmocka_unit_test(two_in_flight_are_no_crowd),
        cmocka_unit_test(a_surprise_lowers_a_little_and_widens_the_margin),
        cmocka_unit_test(refusals_in_a_row_cut_the_limit),
        cmocka_unit_test(a_limit_from_a_few_is_in_doubt),
        cmocka_unit_test(a_trial_that_is_lost),
        cmocka_unit_test(a_burst_after_idling_that_was_too_large),
        cmocka_unit_test(the_first_refusal_of_a_climb_may_be_chance),
        cmocka_unit_test(what_is_let_through_of_the_pace_is_a_first_limit),
        cmocka_unit_test(the_second_isolated_refusal_of_a_climb_is_believed),
        cmocka_unit_test(the_climb_tells_what_is_stored),
        cmocka_unit_test(far_beyond_the_limit_a_raise_is_tried),
        cmocka_unit_test(a_look_that_is_refused_confirms_the_limit),
        cmocka_unit_test(a_limit_that_creeps_is_followed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
