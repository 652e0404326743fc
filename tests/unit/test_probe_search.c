/* SPDX-License-Identifier: MIT */
/* The search between episodes by hand: looks upward, demand that is the limit, costs, bounds. */
#include "test_probe_hand.h"

/* ---- looking upward ---- */

static void a_look_begins_small_and_doubles(void **state)
{
    struct hand h = settled(10.0f, 300.0f);
    struct probe *p = &h.c.probe;
    double lean = 0.02;

    (void)state;
    p->moves = true; /* else what is stored is used up slowly */
    h.now_ns = p->look_ns - S;
    request(&h, 200);
    assert_true(p->lean == -MARGIN);
    p->late = 0.0f; /* that was a gap in the test, not in the demand */
    h.now_ns = p->look_ns;
    p->next_ns = h.now_ns;
    request(&h, 200);
    for (int i = 0; i < 5; i++) {
        assert_close((double)p->lean, lean, 1e-6);
        assert_close(h.pace.rate, 10.0 * (1.0 + lean), 1e-4);
        serve(&h, STEP - 1);
        assert_close((double)p->lean, lean, 1e-6);
        serve(&h, 1);
        lean *= 2.0;
    }
}

/* With many in flight each step is a small one: what is on its way is not answered yet. */
static void steps_are_small_while_much_is_in_flight(void **state)
{
    struct hand h = looking(10.0f, 0.1f, 300.0f);

    (void)state;
    h.in_flight = 3;
    serve(&h, STEP);
    assert_close((double)h.c.probe.lean, 0.115, 1e-6);
}

/* Twice the limit may come from what is stored: no higher before that is used up. */
static void in_the_shadow_of_the_burst_it_waits(void **state)
{
    struct hand h = looking(10.0f, 1.0f, 300.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    p->burst = 200.0f;
    serve(&h, STEP);
    assert_true(p->lean == 1.0f);
    assert_int_equal(p->step_count, STEP); /* and goes on counting */
    assert_true(h.now_ns - p->step_ns < S + S / 10);
    p->ahead = 300.0f;
    serve(&h, STEP);
    assert_true(p->lean >= 2.0f);
}

/* Out of doubt each step that is not refused is a pace that lasted. */
static void out_of_doubt_a_pace_lasts(void **state)
{
    struct hand h = looking(10.0f, 1.0f, 300.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    p->phase = PROBE_DOUBT;
    p->ahead = 100.0f; /* more than is stored */
    p->ahead_ns = h.now_ns;
    for (int i = 0; i < STEP && p->lean <= 1.0f; i++)
        serve(&h, 1);
    assert_true(p->lean > 1.0f && p->held == 20.0f);
}

/* What is under way when the first limit is met is refused: two, or a small share of what was. */
static void little_is_at_risk_when_the_first_limit_is_met(void **state)
{
    struct hand h = hand_of("");
    struct probe *p = &h.c.probe;

    (void)state;
    h.o.latency_ns = 50 * MS;
    p->latency_s = 0.05f;
    for (int i = 0; i < 200; i++) {
        h.now_ns += S;
        p->next_ns = h.now_ns;
        request(&h, 200);
    }
    assert_close(h.pace.rate, 40.0, 0.1);
    p->total = 12000.0f;
    for (int i = 0; i < 100; i++) {
        h.now_ns += S;
        p->next_ns = h.now_ns;
        request(&h, 200);
    }
    assert_close(h.pace.rate, 320.0, 3.0);
    p->total = 60000.0f; /* of more a smaller share: the window may be a long one */
    for (int i = 0; i < 100; i++) {
        h.now_ns += S;
        p->next_ns = h.now_ns;
        request(&h, 200);
    }
    assert_close(h.pace.rate, 400.0, 4.0);
}

/* Noise is remembered until it was calm for long. */
static void noise_is_forgotten(void **state)
{
    struct hand h = settled(10.0f, 300.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    p->noise_known = true;
    for (int i = 0; i < 2; i++) {
        p->since_refusal = i == 0 ? FAR : 6 * FAR;
        p->lean = -MARGIN;
        p->late = 0.0f;
        h.now_ns = fb_max64(p->look_ns, h.now_ns);
        p->next_ns = h.now_ns;
        request(&h, 200);
        assert_true(p->lean > 0.0f && p->noise_known == (i == 0));
    }
}

static void a_limit_from_a_few_is_looked_beyond_in_large_steps(void **state)
{
    struct hand h = settled(10.0f, 300.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    p->evidence = 20.0f;
    h.now_ns = p->look_ns;
    p->next_ns = h.now_ns;
    request(&h, 200);
    assert_close((double)p->lean, 0.2, 1e-6);
}

static void a_climb_ends_at_a_billion(void **state)
{
    struct hand h = hand_of("");

    (void)state;
    h.o.latency_ns = 0; /* not known: nothing is bounded by it */
    for (int i = 0; i < 2000; i++) {
        h.now_ns += S;
        h.c.probe.next_ns = h.now_ns;
        request(&h, 200);
    }
    assert_true(h.pace.rate <= 1e9 && h.pace.rate > 9e8);
    assert_true(isfinite(h.c.probe.lean));
}

/* The raise on trial was not refuted: go on in larger steps. */
static void a_trial_that_lasts_is_won(void **state)
{
    struct hand h = settled(10.0f, 300.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    p->phase = PROBE_TRIAL;
    p->burst = 40.0f;
    p->surprises = 3;
    p->margin = 4.0f * MARGIN;
    p->since_refusal = 5 * FAR + 1;
    p->look_ns = h.now_ns;
    request(&h, 200);
    assert_true(p->lean == 0.25f && p->burst == 20.0f);
    assert_true(p->margin == 2.0f * MARGIN);
    assert_int_equal(p->surprises, 0); /* noise that was not seen for so long is over */
    assert_int_equal(p->since_refusal, 0);
}

/* While it climbs, a refusal before a step that went well was chance. */
static void a_step_of_a_climb_clears_a_surprise(void **state)
{
    struct hand h = hand_of("");
    struct probe *p = &h.c.probe;

    (void)state;
    p->surprises = 1;
    serve(&h, NEAR - 1);
    assert_true(p->lean == 1.0f && p->surprises == 1);
    serve(&h, 1);
    assert_true(p->lean == 2.0f && p->surprises == 0);
}

/* In a window a step lasts for a whole one, and what lasted is remembered. */
static void in_a_window_steps_are_windows(void **state)
{
    struct hand h = looking(10.0f, 0.02f, 300.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    p->window_s = 60.0f;
    serve(&h, 600);
    assert_true(p->lean == 0.02f);
    serve(&h, 60);
    assert_close((double)p->held, 10.2, 1e-3);
    assert_true(p->lean == 0.04f);
    assert_true(h.pace.burst == 1.0); /* nothing is saved up in a window */
}

/* Where nothing moves there is time to tell what is stored from a higher limit. */
static void what_is_stored_is_used_up_slowly(void **state)
{
    struct hand h = looking(10.0f, 0.08f, 300.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    p->burst = 40.0f;
    serve(&h, STEP_STORED - 1);
    assert_true(p->lean == 0.08f);
    serve(&h, 30); /* half a minute is enough, too */
    assert_true(p->lean == 0.16f && p->held == 0.0f);

    p->burst = 0.0f; /* all of it is used up: this step proves the limit, the next its pace */
    p->ahead = 20.0f;
    serve(&h, STEP);
    assert_true(p->lean == 0.32f && p->held == 10.0f);
    serve(&h, STEP);
    assert_true(p->held >= 13.2f);
    refuse(&h);
    recover(&h, READ_BEYOND);
    assert_true(p->limit >= 13.2f);
    assert_int_equal(p->phase, PROBE_SETTLED);
}

/* Forty answers of a slow limit take minutes: the clock ends a step of a look. */
static void slow_limits_are_looked_at_by_the_clock(void **state)
{
    struct hand h = looking(0.2f, 0.04f, 300.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    p->burst = 100.0f;
    serve(&h, STEP / 4 - 1);
    assert_true(p->lean == 0.04f);
    serve(&h, 6); /* a minute */
    assert_true(p->lean > 0.04f);
}

/* Noise does not put off a look that is planned; anything else does. */
static void when_the_next_look_is(void **state)
{
    struct hand h = settled(10.0f, 300.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    p->surprises = 2;
    p->look_ns = h.now_ns + 10 * S;
    refuse(&h);
    recover(&h, READ_SURPRISE); /* the third: noise */
    assert_at_most(p->look_ns, 10010 * S);
    p->since_refusal = 0;
    p->unrest = UNREST_MAX - 3.0f;
    refuse(&h);
    ping(&h, 429);
    recover(&h, READ_NOISE); /* more than noise */
    assert_at_least(p->look_ns, h.now_ns + 5 * S);
}

/* There is no pace above a thousand million a second: nothing is climbed to any more. */
static void the_highest_pace_stays(void **state)
{
    struct hand h = first_climb(2e9f);
    struct probe *p = &h.c.probe;

    (void)state;
    p->lean = 1.0f;
    p->rate = 1e9f;
    h.o.latency_ns = 0;
    for (int i = 0; i < 200; i++)
        request(&h, 200);
    assert_true(p->rate == 1e9f && p->lean == 1.0f);
}

/* When the next look is planned after one that was refused, `beside` others with it. */
static double seconds_to_look_at(int64_t age_ns, int64_t latency_ns, uint8_t beside, bool moves)
{
    struct hand h = looking(100.0f, 0.02f, 3000.0f);
    struct probe *p = &h.c.probe;

    p->latency_s = fb_secs(latency_ns);
    p->moves = moves;
    p->changed_ns = h.now_ns - age_ns;
    refuse(&h);
    p->also_refused = beside;
    recover(&h, NULL);
    return (double)(p->look_ns - h.now_ns) / 1e9;
}

static double seconds_to_look(int64_t latency_ns, bool moves)
{
    return seconds_to_look_at(100 * S, latency_ns, 63, moves);
}

/* All that is under way may be refused: looks are rarer, unless the limit is known to move. */
static void much_under_way_makes_looks_rare(void **state)
{
    double usual = seconds_to_look(5 * MS, false);

    (void)state;
    assert_close(seconds_to_look(10 * MS, false) / usual, 1.0, 0.02);
    assert_close(seconds_to_look(160 * MS, false) / usual, 4.0, 0.1);
    assert_close(seconds_to_look(60 * S, false) / usual, 8.0, 0.2);
    assert_close(seconds_to_look(160 * MS, true) / seconds_to_look(5 * MS, true), 1.0, 0.02);
    /* What has stood for long is not doubted for as long again, where that costs several. */
    assert_close(seconds_to_look_at(10000 * S, 20 * MS, 63, false), 78800.0, 10.0);
    assert_close(seconds_to_look_at(10000 * S, 80 * MS, 63, false), 160000.0, 10.0);
    assert_close(seconds_to_look_at(10000 * S, 11 * MS, 63, false), 3000.0, 10.0);
    assert_at_most((int64_t)seconds_to_look_at(10000 * S, 9 * MS, 63, false), 1000);
    assert_at_most((int64_t)seconds_to_look_at(10000 * S, 40 * MS, 63, true), 1000);
    /* What is in service is not under way. */
    assert_close(seconds_to_look_at(10000 * S, 160 * MS, 63, false), 3000.0, 10.0);
}

/* What was let through beside the last refusal would be again: that is a bucket. */
static void looks_that_cost_one_are_not_rare(void **state)
{
    (void)state;
    assert_close(seconds_to_look_at(100 * S, 160 * MS, 0, false) / seconds_to_look(5 * MS, false),
                 1.0, 0.02);
    assert_close(seconds_to_look_at(10000 * S, 80 * MS, 0, false), 3000.0, 10.0);
    assert_close(seconds_to_look_at(10000 * S, 80 * MS, 1, false), 80000.0, 10.0);
}

/* While climbing `limit` is none: what is found is new, though it may be about as much. */
static void what_a_climb_finds_is_new(void **state)
{
    (void)state;
    for (int climbs = 0; climbs <= 1; climbs++) {
        struct hand h = first_climb(64.0f);
        struct probe *p = &h.c.probe;
        struct answer a = {.now_ns = h.now_ns + 65 * S};

        p->limit = 0.5f;
        p->phase = climbs ? PROBE_FIRST : PROBE_SETTLED;
        p->changed_ns = h.now_ns;
        p->latency_s = 0.03f;
        fb_probe_settle(p, 0.53f, 0.0f, &a);
        assert_int_equal(p->changed_ns == a.now_ns, climbs);
        assert_int_equal(p->look_ns - a.now_ns < 100 * S, climbs);
    }
}

/* On an uneven line a look costs more, and what was counted well is left alone for longer. */
static void what_was_counted_over_an_uneven_line_is_left_alone(void **state)
{
    static const struct {
        float accepted, sway_s;
        bool moves;
        double requests;
    } rows[] = {
        {300.0f, 0.03f, false, 2400.0},
        {300.0f, 0.01f, false, 600.0},
        {300.0f, 0.03f, true, 600.0},
        {45.0f, 0.03f, false, 600.0}, /* of too few */
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct hand h = settled(100.0f, rows[i].accepted);
        struct probe *p = &h.c.probe;

        p->sway_s = rows[i].sway_s;
        p->moves = rows[i].moves;
        p->changed_ns = h.now_ns;
        refuse(&h);
        recover(&h, READ_SURPRISE);
        double requests = (double)(p->look_ns - h.now_ns) / 1e9 * (double)p->rate;
        assert_close(requests / rows[i].requests, 1.0, 0.05);
    }
}

/* Over an uneven line what was refused was a guess, and nothing fell: less of the count is left. */
static void a_guess_that_was_counted_needs_less_margin(void **state)
{
    static const struct {
        float accepted, evidence;
        bool by_second;
        float sway_s, margin;
    } rows[] = {
        {100.0f, 0.0f, false, 0.03f, 2.0f * MARGIN},
        {100.0f, 200.0f, true, 0.03f, 2.0f * MARGIN},
        {100.0f, 200.0f, false, 0.03f, 4.0f * MARGIN},
        {50.0f, 0.0f, false, 0.03f, 4.0f * MARGIN}, /* of too few */
        {100.0f, 0.0f, false, 0.0f, 4.0f * MARGIN}, /* an even line: it may be noise */
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct hand h = settled(10.0f, rows[i].accepted);
        struct probe *p = &h.c.probe;

        p->evidence = rows[i].evidence;
        p->log.by_second = rows[i].by_second;
        p->sway_s = rows[i].sway_s;
        p->margin = 0.2f; /* no more can be left of a second */
        refuse(&h);
        recover(&h, READ_SURPRISE);
        assert_true(p->margin == rows[i].margin);
    }
}

/* ---- demand ---- */

/* Grants that come late because nobody asked earlier. */
static void late(struct hand *h, int times, double factor)
{
    for (int i = 0; i < times; i++) {
        h->now_ns = h->c.probe.next_ns + (int64_t)(factor * 1e9 / (double)h->c.probe.rate);
        request(h, 200);
    }
}

static void an_application_that_is_the_limit_is_not_looked_beyond(void **state)
{
    struct hand h = settled(10.0f, 300.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    late(&h, 40, 0.5);
    assert_true(p->late > 0.5f);
    p->look_ns = h.now_ns;
    late(&h, 1, 0.5);
    assert_true(p->lean < 0.0f && p->look_ns > h.now_ns);
}

/* 15/s are allowed, and 11.5 used, far beyond what can be stored. */
static void look_in_vain(struct hand *h)
{
    struct probe *p = &h->c.probe;

    p->late = 1.0f;
    p->ahead = 0.0f;
    late(h, STEP, 0.3);
    assert_true(p->lean == 0.5f); /* not proven to be beyond the burst yet */
    p->ahead = 100.0f;
    p->ahead_ns = h->now_ns;
    for (int i = 0; i < STEP && p->lean > 0.0f; i++)
        late(h, 1, 0.3);
    assert_true(p->lean == -MARGIN);
    assert_close((double)p->limit, 1.1 * 15.0 / 1.3, 0.5);
}

static void a_look_that_is_not_used_ends_at_what_is_used(void **state)
{
    struct hand h = looking(10.0f, 0.5f, 300.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    p->empty_ns = h.now_ns - 400 * S; /* so long ago that it may have been raised */
    look_in_vain(&h);
    assert_int_equal(p->phase, PROBE_SETTLED);
    assert_true(p->accepted == 0.0f);
    assert_int_equal(p->empty_ns, h.now_ns);
}

/* A window that slides has room for a while: refused, what was counted since then decides. */
static void what_is_used_is_on_trial_soon_after_a_refusal(void **state)
{
    struct hand h = looking(10.0f, 0.5f, 300.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    p->empty_ns = h.now_ns - 390 * S; /* soon enough: it looks for less than ten seconds */
    int64_t empty_ns = p->empty_ns;
    look_in_vain(&h);
    assert_int_equal(p->phase, PROBE_TRIAL);
    assert_int_equal(p->empty_ns, empty_ns);
    assert_true(p->accepted > 300.0f && p->limit_before == 10.0f);
    refuse(&h);
    recover(&h, "measured after a higher pace was refused");
    assert_close((double)p->limit, 10.0, 0.1);
}

/* Where that would be kept lies what fitted into a window. */
static void in_a_window_nothing_is_on_trial(void **state)
{
    struct hand h = looking(10.0f, 0.5f, 300.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    p->window_s = 1.0f;
    p->opened_ns = h.now_ns;
    p->fitted = 123.0f;
    look_in_vain(&h);
    assert_int_equal(p->phase, PROBE_SETTLED);
    assert_true(p->fitted == 123.0f);
}

static void a_climb_that_is_not_used_waits(void **state)
{
    struct hand h = hand_of("");

    (void)state;
    h.c.probe.late = 1.0f;
    h.c.probe.ahead = 1000.0f;
    late(&h, 50, 0.5);
    assert_true(h.c.probe.lean == 1.0f && h.pace.rate == 1.0);
    assert_int_equal(h.c.probe.phase, PROBE_FIRST);
}

/* After a gap the provider has filled up, and what was counted is void. */
static void a_gap_ends_the_count(void **state)
{
    struct hand h = settled(10.0f, 300.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    p->burst = 50.0f;
    h.now_ns += 500 * MS; /* a short one does not */
    grant(&h);
    assert_true(p->accepted == 300.0f);
    h.now_ns = p->next_ns + 3 * S; /* nor what a dear one had to wait for */
    h.cost = 50;
    grant(&h);
    assert_true(p->accepted == 300.0f);
    h.cost = 1;
    h.now_ns = p->next_ns + 100 * S;
    p->total = 77.0f;
    p->looked = true;
    grant(&h);
    assert_true(p->accepted == 0.0f && p->total == 0.0f && !p->looked);
    assert_int_equal(p->total_ns, h.now_ns);
    assert_close((double)(h.now_ns - p->empty_ns) / 1e9, 5.0, 1e-3); /* full by then */

    h.now_ns = p->next_ns + 100 * S; /* a window is counted from its opening */
    p->opening_seen = true;
    p->total = 77.0f;
    grant(&h);
    assert_true(p->total == 77.0f);
}

/* It has filled up: a look would see its store. One that is planned for later stays. */
static void a_gap_puts_off_a_look(void **state)
{
    struct hand h = settled(10.0f, 300.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    h.now_ns = p->next_ns + 100 * S;
    p->look_ns = h.now_ns;
    request(&h, 200);
    assert_true(p->lean < 0.0f);
    assert_at_least(p->look_ns, h.now_ns + 55 * S); /* 600 requests */
    int64_t look_ns = p->look_ns + 1000 * S;
    p->look_ns = look_ns;
    h.now_ns = p->next_ns + 100 * S;
    request(&h, 200);
    assert_int_equal(p->look_ns, look_ns);
}

static void a_gap_ends_a_look(void **state)
{
    struct hand h = looking(10.0f, 0.16f, 300.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    h.now_ns = p->next_ns + 100 * S;
    grant(&h);
    assert_true(p->lean == -p->margin && p->limit == 10.0f);
    assert_true(p->look_ns > h.now_ns);

    h = hand_of(""); /* but not the first climb */
    h.now_ns = 100 * S;
    grant(&h);
    assert_true(p->lean == 1.0f && p->phase == PROBE_FIRST);
}

static void a_gap_ends_a_climb_out_of_doubt(void **state)
{
    struct hand h = looking(5.0f, 1.0f, 300.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    p->phase = PROBE_DOUBT;
    p->doubts = 1;
    h.now_ns = p->next_ns + 100 * S;
    grant(&h);
    assert_true(p->limit == 10.0f && p->lean == -p->margin);
    assert_int_equal(p->phase, PROBE_DOUBT);

    h = looking(5.0f, 1.0f, 300.0f);
    p->phase = PROBE_DOUBT;
    p->doubts = DOUBTS_MAX;
    h.now_ns = p->next_ns + 100 * S;
    grant(&h);
    assert_int_equal(p->phase, PROBE_SETTLED);
}

/* ---- costs ---- */

static void a_cost_that_comes_later_delays_what_is_next(void **state)
{
    struct hand h = settled(10.0f, 300.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    grant(&h);
    int64_t next_ns = p->next_ns;
    struct answer a = {.outcome = &h.o,
                       .now_ns = h.now_ns,
                       .cost = 21,
                       .granted = 1,
                       .in_flight_then = 1,
                       .accepted = true};
    fb_controller_probe.on_outcome(&h.c, &h.pace, &a);
    assert_close((double)(p->next_ns - next_ns) / 1e9, 20.0 / 9.85, 0.01);
    assert_true(p->accepted == 321.0f);
    assert_close((double)p->unit, 1.4, 1e-4);
}

/* One request a second to begin with, whatever it costs; and the climb goes on from there. */
static void the_first_cost_sets_the_scale(void **state)
{
    struct hand h = hand_of("");

    (void)state;
    h.cost = 30;
    request(&h, 200);
    assert_true(h.c.probe.limit == 15.0f && h.c.probe.unit == 30.0f && h.pace.rate == 30.0);
    serve(&h, STEP_FIRST);
    assert_true(h.pace.rate == 45.0);
}

/* ---- bounds and words ---- */

static void bounds_of_the_spec(void **state)
{
    struct hand h = hand_of("adapt=probe rate=8/s floor=4/s ceiling=16/s");

    (void)state;
    assert_true(h.pace.rate == 8.0);
    for (int i = 0; i < 100; i++) {
        serve(&h, 1);
        assert_true(h.pace.rate >= 4.0 && h.pace.rate <= 16.0);
    }
    assert_true(h.pace.rate == 16.0);
    for (int i = 0; i < 50; i++) {
        ping(&h, i % 2 ? 200 : 429);
        assert_true(h.pace.rate >= 4.0 && h.pace.rate <= 16.0);
    }
    assert_int_equal(fb_controller_probe.default_hold(&h.c), 0);
    assert_string_equal(fb_controller_probe.name, "probe");
}

static void a_climb_in_a_window_says_so(void **state)
{
    struct hand h = hand_of("");

    (void)state;
    h.c.probe.window_s = 60.0f;
    assert_says(&h, "1.00/s: no limit known yet, climbing.");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_look_begins_small_and_doubles),
        cmocka_unit_test(steps_are_small_while_much_is_in_flight),
        cmocka_unit_test(in_the_shadow_of_the_burst_it_waits),
        cmocka_unit_test(a_climb_ends_at_a_billion),
        cmocka_unit_test(a_trial_that_lasts_is_won),
        cmocka_unit_test(a_step_of_a_climb_clears_a_surprise),
        cmocka_unit_test(in_a_window_steps_are_windows),
        cmocka_unit_test(what_is_stored_is_used_up_slowly),
        cmocka_unit_test(slow_limits_are_looked_at_by_the_clock),
        cmocka_unit_test(when_the_next_look_is),
        cmocka_unit_test(the_highest_pace_stays),
        cmocka_unit_test(much_under_way_makes_looks_rare),
        cmocka_unit_test(looks_that_cost_one_are_not_rare),
        cmocka_unit_test(what_a_climb_finds_is_new),
        cmocka_unit_test(what_was_counted_over_an_uneven_line_is_left_alone),
        cmocka_unit_test(a_guess_that_was_counted_needs_less_margin),
        cmocka_unit_test(an_application_that_is_the_limit_is_not_looked_beyond),
        cmocka_unit_test(a_look_that_is_not_used_ends_at_what_is_used),
        cmocka_unit_test(what_is_used_is_on_trial_soon_after_a_refusal),
        cmocka_unit_test(in_a_window_nothing_is_on_trial),
        cmocka_unit_test(a_climb_that_is_not_used_waits),
        cmocka_unit_test(a_gap_ends_the_count),
        cmocka_unit_test(a_gap_puts_off_a_look),
        cmocka_unit_test(out_of_doubt_a_pace_lasts),
        cmocka_unit_test(noise_is_forgotten),
        cmocka_unit_test(little_is_at_risk_when_the_first_limit_is_met),
        cmocka_unit_test(a_limit_from_a_few_is_looked_beyond_in_large_steps),
        cmocka_unit_test(a_gap_ends_a_look),
        cmocka_unit_test(a_gap_ends_a_climb_out_of_doubt),
        cmocka_unit_test(a_cost_that_comes_later_delays_what_is_next),
        cmocka_unit_test(the_first_cost_sets_the_scale),
        cmocka_unit_test(bounds_of_the_spec),
        cmocka_unit_test(a_climb_in_a_window_says_so),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
