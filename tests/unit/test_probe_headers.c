/* SPDX-License-Identifier: MIT */
/* What responses tell about the quota, by hand: followed, checked once, dropped, or a bound. */
#include "test_probe_told.h"

#define DAY (86400 * S)

/* ---- the pace ---- */

static void what_is_left_evenly_spent_is_the_pace(void **state)
{
    static const struct {
        int64_t remaining, in_flight;
        double left_s;
    } rows[] = {{599, 0, 59.9}, {500, 0, 50.0}, {400, 0, 50.0}, {30, 5, 12.0},
                {3, 1, 10.0},   {590, 0, 40.0}, {2, 0, 1.0}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct hand h = told();
        h.now_ns = h.o.reset_ns - (int64_t)(rows[i].left_s * 1e9) - 10 * MS;
        h.in_flight = rows[i].in_flight;
        tell(&h, 600, rows[i].remaining, h.o.reset_ns);
        request(&h, 200);
        double left = (double)(rows[i].remaining - rows[i].in_flight);
        assert_close(h.pace.rate, left / rows[i].left_s, 1e-3 * h.pace.rate);
        assert_says(&h, "/s: what the server says is left, spent evenly until its reset.");
    }
}

/* Of the first window a rest was seen: neither its length nor that nothing is known is true. */
static void a_climb_to_what_is_told_says_so(void **state)
{
    struct hand h = hand_of("");

    (void)state;
    tell(&h, 50, 48, h.now_ns + 3 * S);
    request(&h, 200);
    assert_true(h.c.probe.phase == PROBE_FIRST && h.c.probe.window_s > 0.0f);
    assert_says(&h, "/s: climbing to what the server says is left, spent evenly until its reset.");
    h.now_ns += 4 * S; /* which holds no longer */
    assert_says(&h, "/s: no limit known yet, climbing.");
}

/* Much left is no reason to race: three times the limit at most. */
static void what_is_left_late_is_not_spent_at_once(void **state)
{
    struct hand h = told();

    (void)state;
    h.now_ns = h.o.reset_ns - 5 * S - 10 * MS;
    tell(&h, 600, 400, h.o.reset_ns);
    request(&h, 200);
    assert_close(h.pace.rate, 30.0, 0.01);
    assert_says(&h, "under the limit of 10");
}

/* More in flight than is left: one more until the reset, not none, and not in an hour. */
static void nothing_left_is_one_until_the_reset(void **state)
{
    struct hand h = told();

    (void)state;
    h.now_ns += 10 * S;
    h.in_flight = 40;
    tell(&h, 600, 20, h.o.reset_ns);
    request(&h, 200);
    assert_close(h.pace.rate, 1.0 / 49.98, 1e-3);
}

/* The climb goes on below what is told, which bounds it. */
static void a_climb_ends_at_what_is_told(void **state)
{
    struct hand h = hand_of("");
    int64_t left = 600;

    (void)state;
    while (h.now_ns < 59 * S) {
        tell(&h, 600, --left, 60 * S);
        h.now_ns += (int64_t)(1e9 / h.pace.rate) - 10 * MS;
        request(&h, 200);
        double evenly = (double)left / ((double)(60 * S - h.now_ns) / 1e9);
        assert_true(h.pace.rate <= 1.0001 * evenly);
    }
    assert_at_most(left, 40); /* all of it was used */
    assert_says(&h, "what the server says is left");
}

static void a_window_that_is_over_binds_no_more(void **state)
{
    struct hand h = told();

    (void)state;
    h.now_ns += 50 * S;
    tell(&h, 600, 2, h.o.reset_ns);
    request(&h, 200);
    assert_true(h.pace.rate < 0.3);
    tell(&h, FLY_ABSENT, FLY_ABSENT, FLY_ABSENT);
    h.now_ns += 20 * S;
    request(&h, 200);
    assert_true(h.c.probe.told_until_ns == FB_LONG_AGO);
    h.c.probe.look_ns = h.now_ns;
    h.c.probe.late = 0.0f;
    request(&h, 200);
    assert_true(h.pace.rate > 9.0);
}

static void what_is_not_told_in_full_says_nothing(void **state)
{
    static const struct {
        int64_t limit, remaining, reset_ns;
    } rows[] = {
        {FLY_ABSENT, 3, 10060 * S},
        {600, FLY_ABSENT, 10060 * S},
        {600, 3, FLY_ABSENT},
        {600, 3, 9999 * S},             /* in the past */
        {600, 3, 10000 * S + 33 * DAY}, /* in more than a month */
        {FLY_ABSENT, FLY_ABSENT, FLY_ABSENT},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct hand h = settled(10.0f, 300.0f);
        tell(&h, rows[i].limit, rows[i].remaining, rows[i].reset_ns);
        request(&h, 200);
        assert_close(h.pace.rate, 9.85, 1e-4);
        assert_true(h.c.probe.told_until_ns == FB_LONG_AGO && h.c.probe.window_s == 0.0f);
    }
}

/* What is told with an answer that is neither is noted, and paces nothing. */
static void an_error_with_headers_paces_nothing(void **state)
{
    struct hand h = told();
    double rate = h.pace.rate;

    (void)state;
    tell(&h, 600, 300, h.o.reset_ns);
    request(&h, 500);
    assert_true(h.pace.rate == rate);
    assert_true(h.c.probe.told_left == 300.0f);
}

/* An answer of the window before, that came late. */
static void an_old_window_is_not_listened_to(void **state)
{
    struct hand h = told();
    double rate = h.pace.rate;

    (void)state;
    tell(&h, 600, 10, h.o.reset_ns - 10 * S);
    request(&h, 200);
    assert_true(h.pace.rate == rate);
    assert_true(h.c.probe.told_left == 599.0f);
    request(&h, 429); /* but a refusal is */
    assert_true(h.c.probe.told_left == 10.0f);
}

/* ---- checked once ---- */

static void the_second_window_checks_the_headers(void **state)
{
    struct hand h = checking();

    (void)state;
    assert_close(h.pace.rate, 10.6, 0.01); /* a little faster than they allow */
    assert_int_equal(h.pace.in_flight_max, FB_NO_CAP);
    h.now_ns += 55 * S;
    tell(&h, 600, 20, h.o.reset_ns);
    request(&h, 200);
    assert_close(h.pace.rate, 10.6, 0.01);
    assert_int_equal(h.pace.in_flight_max, 1); /* one refusal is enough to see that 0 means 0 */
}

static void a_refusal_with_nothing_left_proves_them(void **state)
{
    struct hand h = honest();

    (void)state;
    assert_close(h.pace.rate, 10.0, 0.05); /* evenly again, and no faster */
    assert_int_equal(h.pace.in_flight_max, FB_NO_CAP);
    for (int window = 0; window < 3; window++) { /* checked once */
        h.c.probe.told_left = 9.0f;
        h.now_ns = h.o.reset_ns;
        tell(&h, 600, 599, h.o.reset_ns + 60 * S);
        request(&h, 200);
        assert_false(fb_probe_verifying(&h.c.probe));
        assert_close(h.pace.rate, 10.0, 0.05);
    }
}

/* Of what was used a quarter is ours: then so is a quarter of what is left, and a little more. */
static void what_others_use_is_left_to_them(void **state)
{
    struct hand h = honest();
    struct probe *p = &h.c.probe;

    (void)state;
    for (int i = 0; i < 300; i++) {
        tell(&h, 600, 300, h.o.reset_ns);
        p->told_own = 75.0f;
        request(&h, 200);
    }
    double evenly = 300e9 / (double)(p->told_until_ns - h.now_ns);
    assert_close((double)p->share, 0.25, 0.01);
    assert_true(h.pace.rate > 0.25 * evenly && h.pace.rate < 0.36 * evenly);
    assert_true(h.pace.not_before_ns <= h.now_ns);

    tell(&h, 600, 7, h.o.reset_ns); /* the last ones are under way to others */
    p->told_own = 148.0f;
    request(&h, 200);
    assert_at_least(h.pace.not_before_ns, p->told_until_ns);

    p->share = 0.01f; /* it never vanishes */
    p->block_ns = FB_LONG_AGO;
    tell(&h, 600, 300, h.o.reset_ns);
    p->told_own = 0.0f;
    reply(&h, 200);
    assert_true(p->share == 0.01f);
}

static void with_nothing_left_it_waits_for_the_reset(void **state)
{
    struct hand h = honest();

    (void)state;
    h.now_ns += 40 * S;
    tell(&h, 600, 0, h.o.reset_ns);
    request(&h, 200);
    assert_close((double)(h.pace.not_before_ns - h.o.reset_ns) / 1e6, 5.0, 0.2);
    struct hand unproven = told(); /* who asks before that learns nothing */
    unproven.now_ns += 40 * S;
    tell(&unproven, 600, 0, unproven.o.reset_ns);
    request(&unproven, 200);
    assert_true(unproven.pace.not_before_ns > unproven.o.reset_ns);
    struct hand checked = checking(); /* but it is checked once */
    checked.now_ns += 40 * S;
    tell(&checked, 600, 0, checked.o.reset_ns);
    request(&checked, 200);
    assert_true(checked.pace.not_before_ns <= checked.now_ns);
}

/* The last of every window has nothing left: one in each of two windows says nothing. */
static void the_last_of_a_window_is_accepted(void **state)
{
    struct hand h = checking();
    struct probe *p = &h.c.probe;

    (void)state;
    for (int window = 0; window < 3; window++) {
        h.now_ns = h.o.reset_ns - 5 * S;
        tell(&h, 600, 0, h.o.reset_ns);
        request(&h, 200);
        assert_true(p->verified == SECOND_ZERO);
        h.now_ns = h.o.reset_ns;
        tell(&h, 600, 599, h.o.reset_ns + 60 * S);
        request(&h, 200);
        assert_true(p->verified == VERIFYING);
    }
}

static void accepted_with_nothing_left_twice_they_are_dropped(void **state)
{
    struct hand h = checking();
    struct probe *p = &h.c.probe;

    (void)state;
    h.now_ns += 50 * S;
    tell(&h, 600, 0, h.o.reset_ns);
    request(&h, 200);
    assert_true(fb_probe_verifying(p));
    request(&h, 200);
    assert_false(fb_probe_verifying(p));
    assert_int_equal(p->phase, PROBE_TRIAL);
    assert_true(p->told_until_ns == FB_LONG_AGO);
    assert_close(h.pace.rate, 9.85, 0.01);

    /* For a day nothing that is told counts. */
    tell(&h, 600, 1, h.now_ns + 60 * S);
    request(&h, 200);
    assert_close(h.pace.rate, 9.85, 0.01);
    h.now_ns = p->told_reset_ns;
    assert_close((double)h.now_ns / 1e9, 10110.0 + 86400.0, 1.0);
    tell(&h, 600, 1, h.now_ns + 60 * S);
    h.o.sent_ns = h.now_ns;
    reply(&h, 200);
    assert_true(p->told_until_ns != FB_LONG_AGO);
}

/* Refused with room left: there is another limit, or they lie. A bound is all they are. */
static void refused_with_room_left_they_are_a_bound_only(void **state)
{
    struct hand h = told();
    struct probe *p = &h.c.probe;

    (void)state;
    tell(&h, 600, 200, h.o.reset_ns);
    refuse(&h);
    recover(&h, READ_WINDOW);
    float limit = p->limit;
    assert_true(limit < 9.0f);
    tell(&h, 600, 550, h.now_ns + 60 * S);
    request(&h, 200);
    assert_true(p->limit == limit); /* not what is told */
    double rate = h.pace.rate;
    assert_close(rate, 0.985 * (double)limit, 0.01);
    tell(&h, 600, 10, h.o.reset_ns);
    request(&h, 200);
    assert_true(h.pace.rate < 0.2 && rate > 1.0); /* but no faster than that */
    assert_false(fb_probe_verifying(p));
}

/* A refusal with next to nothing left, before the check: it proves nothing. */
static void a_refusal_before_the_check_proves_nothing(void **state)
{
    struct hand h = told();

    (void)state;
    tell(&h, 600, 12, h.o.reset_ns);
    refuse(&h);
    assert_false(fb_probe_verifying(&h.c.probe));
    h.now_ns = h.o.reset_ns;
    tell(&h, 600, 599, h.o.reset_ns + 60 * S);
    request(&h, 200);
    assert_true(fb_probe_verifying(&h.c.probe)); /* the check comes as it should */
}

/* ---- their clock ---- */

static void the_length_of_the_window_is_learned(void **state)
{
    struct hand h = told();
    struct probe *p = &h.c.probe;

    (void)state;
    assert_true(p->window_s == 60.0f);
    p->told_left = 100.0f;
    h.now_ns = h.o.reset_ns; /* two windows of 45 s, which nobody would guess */
    tell(&h, 600, 599, h.o.reset_ns + 45 * S);
    request(&h, 200);
    assert_true(p->window_s == 45.0f);
    assert_true(p->opened_ns == h.now_ns && p->spent == 1.0f);
}

/* Once they are checked a window of an odd length is a step of their clock. */
static void a_step_of_their_clock_is_no_window(void **state)
{
    static const struct {
        int64_t to_reset_ms;
        float window_s;
    } rows[] = {{60000, 60.0f}, {61000, 61.0f},   {61212, 60.0f}, {58700, 60.0f},
                {90000, 60.0f}, {120000, 120.0f}, {40000, 60.0f}, {3660000, 3660.0f}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct hand h = checking();
        int64_t reset_ns = h.o.reset_ns;
        h.now_ns = reset_ns;
        tell(&h, 600, 599, reset_ns + rows[i].to_reset_ms * MS);
        h.c.probe.told_left = 100.0f;
        request(&h, 200);
        assert_close((double)h.c.probe.window_s, (double)rows[i].window_s, 0.01);
    }
}

/* Where the reset told and the opening seen disagree, the opening counts. */
static void the_opening_that_was_seen_counts(void **state)
{
    static const int64_t steps[] = {1800 * S, 30 * S, -20 * S};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        struct hand h = checking();
        h.now_ns = h.o.reset_ns; /* it opens, and their clock has stepped */
        tell(&h, 600, 599, h.o.reset_ns + 60 * S + steps[i]);
        h.c.probe.told_left = 100.0f;
        request(&h, 200);
        h.now_ns += 20 * S;
        tell(&h, 600, 300, h.o.reset_ns);
        request(&h, 200);
        assert_close((double)(h.c.probe.told_until_ns - h.now_ns) / 1e9, 40.0, 0.1);
        assert_true(h.pace.rate >= 7.0 && h.pace.rate <= 11.0);
    }
}

/* Far beyond the end that was seen, something still leaves. */
static void a_window_that_does_not_end(void **state)
{
    struct hand h = checking();

    (void)state;
    h.now_ns += 59 * S;
    tell(&h, 600, 300, h.o.reset_ns + 500 * MS);
    h.c.probe.opened_ns = h.now_ns - 300 * S;
    request(&h, 200);
    assert_true(isfinite(h.pace.rate) && h.pace.rate > 0.0 && h.pace.rate <= 30.0);
}

/* The reset moves on though nothing rose: the same window, and no opening. */
static void a_reset_that_moves_is_no_opening(void **state)
{
    struct hand h = told();
    int64_t opened_ns = h.c.probe.opened_ns;

    (void)state;
    h.now_ns += 20 * S;
    tell(&h, 600, 400, h.o.reset_ns + 5 * S);
    request(&h, 200);
    assert_int_equal(h.c.probe.opened_ns, opened_ns);
    assert_false(fb_probe_verifying(&h.c.probe));
    assert_close((double)(h.c.probe.told_until_ns - h.now_ns) / 1e9, 45.0, 0.1);
}

/*
 * Used up evenly until the reset, which then moves on by a second while next to nothing comes back:
 * the window slides, and goes on at its pace with nothing left. Its length is no second or two.
 */
static void a_long_window_may_slide(void **state)
{
    struct hand h = told();
    struct probe *p = &h.c.probe;

    (void)state;
    h.now_ns = h.o.reset_ns - S;
    tell(&h, 600, 12, h.o.reset_ns);
    request(&h, 200);
    assert_false(fb_probe_slides(p));
    for (int i = 0; i < 8; i++) {
        h.now_ns += 2 * S;
        h.o.remaining = i % 2 ? 10 : 14;
        h.o.reset_ns += 2 * S;
        request(&h, 200);
        assert_true(fb_probe_slides(p) && p->window_s == 60.0f);
        assert_close(h.pace.rate, 588.0 / 60.0, 0.01);
        assert_false(fb_probe_verifying(p));
    }
    h.o.remaining = 3; /* less is left than is kept, and some of it is under way */
    h.in_flight = 1;
    request(&h, 200);
    assert_close(h.pace.rate, 588.0 / 60.0 * 2.0 * 2.0 / 12.0, 0.01);
    h.in_flight = 9;
    request(&h, 200);
    assert_close(h.pace.rate, 58.8 / 60.0, 0.01);
}

/* Who comes back after most of a window finds most of it there again, or none of it. */
static void a_long_window_that_opened_does_not_slide(void **state)
{
    static const struct {
        int64_t moved_s, remaining;
        bool slides;
    } rows[] = {{60, 599, false}, {40, 20, false}, {25, 590, false}, {25, 20, true}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct hand h = told();
        h.now_ns = h.o.reset_ns - S;
        tell(&h, 600, 12, h.o.reset_ns);
        request(&h, 200);
        h.now_ns = h.o.reset_ns + S;
        h.o.remaining = rows[i].remaining;
        h.o.reset_ns += rows[i].moved_s * S;
        request(&h, 200);
        assert_true(fb_probe_slides(&h.c.probe) == rows[i].slides);
    }
}

/* A clock that is set while the window lasts says nothing about it. */
static void a_clock_that_is_set_is_no_window_that_slides(void **state)
{
    struct hand h = told();

    (void)state;
    h.now_ns = h.o.reset_ns - 20 * S;
    tell(&h, 600, 200, h.o.reset_ns + 25 * S);
    request(&h, 200);
    assert_false(fb_probe_slides(&h.c.probe));
}

/* A lagging count may rise without an opening. */
static void a_count_that_rises_alone_is_no_window(void **state)
{
    struct hand h = told();

    (void)state;
    h.now_ns += 20 * S;
    tell(&h, 600, 300, h.o.reset_ns);
    request(&h, 200);
    tell(&h, 600, 400, h.o.reset_ns);
    request(&h, 200);
    assert_true(h.c.probe.window_s == 60.0f);
    assert_true(h.pace.rate <= 400.0 / 40.0 + 0.7);
}

/* Refused right after each opening it is no window; what is told makes it one again. */
static void a_window_that_was_given_up_is_told_again(void **state)
{
    struct hand h = told();
    struct probe *p = &h.c.probe;

    (void)state;
    p->echoes = 3;
    p->opening_seen = true;
    tell(&h, FLY_ABSENT, FLY_ABSENT, h.o.reset_ns);
    for (int i = 0; i < 2; i++) {
        p->accepted = 4.0f;
        p->empty_ns = h.now_ns - 2 * S;
        refuse(&h);
        recover_at(&h, h.now_ns + 2 * S, NULL);
    }
    assert_true(p->window_s == 0.0f);
    tell(&h, 600, 300, h.o.reset_ns);
    request(&h, 200);
    assert_true(p->window_s > 0.0f && isfinite(p->limit));
    assert_true(h.pace.rate > 0.0 && h.pace.rate <= 300.0 / 50.0);
}

/* A server that was started again: the reset moves a little, but all of a window is left. */
static void a_window_is_no_shorter_than_what_is_left_of_it(void **state)
{
    struct hand h = hand_of("");

    (void)state;
    tell(&h, 600, 599, h.now_ns + 60 * S);
    request(&h, 200);
    h.now_ns += 2 * S;
    tell(&h, 600, 598, h.now_ns + 58 * S);
    request(&h, 200);
    tell(&h, 600, 599, h.now_ns + 60 * S);
    request(&h, 200);
    assert_true(h.c.probe.window_s == 60.0f);
    assert_true(h.pace.rate < 11.0);
}

/* Headers that tell of room: no need to climb slowly. */
static void told_of_room_each_answer_is_a_step(void **state)
{
    struct hand h = hand_of("");

    (void)state;
    for (int i = 0; i < 6; i++) {
        tell(&h, 6000, 5990 - i, h.now_ns + 60 * S);
        request(&h, 200);
    }
    assert_true(h.pace.rate > 16.0);

    h = hand_of("");
    h.c.probe.surprises = 1; /* refused all the same: was that chance? */
    for (int i = 0; i < NEAR - 1; i++) {
        tell(&h, 6000, 5990 - i, h.now_ns + 60 * S);
        request(&h, 200);
    }
    assert_true(h.pace.rate == 1.0);
}

/* ---- more is told than is wanted ---- */

static void what_is_ample_is_no_pace(void **state)
{
    struct hand h = told();
    float rate = h.c.probe.rate;

    (void)state;
    assert_true(h.c.probe.phase == PROBE_SETTLED && !fb_probe_is_unmet(&h.c.probe));
    h.ample = true;
    request(&h, 200);
    assert_true(h.c.probe.phase == PROBE_FIRST && h.c.probe.window_s == 0.0f);
    for (int i = 0; i < 400; i++) {
        h.now_ns += (int64_t)(1e9 / h.pace.rate);
        request(&h, 200);
    }
    assert_true(h.c.probe.rate > 2.0f * rate);
    assert_says(&h,
                "/s: climbing, for all that is to come fits into what the server says is left.");
    h.ample = false; /* and then it is not */
    tell(&h, 600, 10, h.now_ns + 50 * S);
    request(&h, 200);
    assert_true(h.pace.rate < 0.3);
}

/* As if nobody told anything, from the beginning on. */
static void what_is_ample_is_not_heard(void **state)
{
    struct hand h = hand_of(""), other = hand_of("");

    (void)state;
    h.ample = true;
    for (int i = 0; i < 300; i++) {
        int32_t status = i % 100 == 99 ? 429 : 200;

        h.o.limit = 5000;
        h.o.remaining = 4000 - i;
        h.o.reset_ns = h.now_ns + 3000 * S;
        request(&h, status);
        request(&other, status);
        assert_true(h.pace.rate == other.pace.rate);
        h.now_ns = other.now_ns = fb_max64(h.now_ns, h.pace.not_before_ns) + 50 * MS;
    }
}

/* Refused with room left, or found to be wrong: what was found out stays. */
static void what_was_met_is_not_forgotten(void **state)
{
    struct hand h = told();

    (void)state;
    h.c.probe.verified = BOUND_ONLY;
    h.ample = true;
    request(&h, 200);
    assert_true(h.c.probe.phase == PROBE_SETTLED && h.c.probe.verified == BOUND_ONLY);
    assert_true(h.c.probe.told_until_ns == FB_LONG_AGO);
    h = told();
    h.c.probe.verified = DROPPED;
    h.ample = true;
    request(&h, 200);
    assert_true(h.c.probe.phase == PROBE_SETTLED && h.c.probe.verified == DROPPED);
    h = told();
    h.ample = true;
    h.c.probe.episode = EPISODE_WAITING;
    fb_probe_need_not_be_told(&h.c.probe, h.now_ns);
    assert_true(fb_probe_was_told(&h.c.probe));
    h = hand_of(""); /* a climb goes on */
    tell(&h, 5000, 4000, h.now_ns + 3000 * S);
    request(&h, 200);
    float rate = h.c.probe.rate;
    assert_true(h.c.probe.phase == PROBE_FIRST && !fb_probe_is_unmet(&h.c.probe));
    fb_probe_need_not_be_told(&h.c.probe, h.now_ns);
    assert_true(fb_probe_is_unmet(&h.c.probe) && h.c.probe.rate == rate);
}

/* What headers told is kept while it sets no pace, and holds again when it does. */
static void what_was_told_is_kept_while_it_is_ample(void **state)
{
    struct hand h = told();
    struct probe *p = &h.c.probe;
    int64_t reset_ns = h.o.reset_ns;

    (void)state;
    h.ample = true;
    request(&h, 200);
    assert_true(p->phase == PROBE_FIRST && p->window_s == 0.0f && !fb_probe_is_unmet(p));
    assert_close((double)fb_probe_limit_shown(p), 10.0, 1e-4);
    assert_true(fb_probe_kept_s(p) == 60.0f);
    for (int i = 0; i < 20; i++) /* it climbs, and forgets nothing */
        request(&h, 200);
    assert_close((double)fb_probe_limit_shown(p), 10.0, 1e-4);
    h.ample = false;
    tell(&h, 600, 3, reset_ns); /* of a minute only the end is told */
    h.now_ns = reset_ns - S / 2;
    request(&h, 200);
    assert_true(p->phase == PROBE_SETTLED && p->window_s == 60.0f && fb_probe_kept_s(p) == 0.0f);
    assert_close((double)p->limit, 10.0, 1e-4);
}

/* A lower limit that was met meanwhile is not given up for it. */
static void what_is_kept_is_no_reason_to_go_faster(void **state)
{
    struct hand h = told();
    struct probe *p = &h.c.probe;

    (void)state;
    h.ample = true;
    request(&h, 200);
    p->phase = PROBE_SETTLED;
    p->limit = 2.0f;
    p->rate = 1.9f;
    assert_close((double)fb_probe_limit_shown(p), 2.0, 1e-6);
    h.ample = false;
    p->verified = BOUND_ONLY;
    tell(&h, 600, 300, h.o.reset_ns);
    request(&h, 200);
    assert_true(p->limit == 2.0f && p->phase == PROBE_SETTLED && fb_probe_kept_s(p) == 0.0f);
    p->phase = PROBE_FIRST; /* a window was met */
    p->told_left = -61.0f;
    p->window_s = 60.0f;
    assert_true(fb_probe_kept_s(p) == 0.0f);
    h = told(); /* none is known */
    p->window_s = 0.0f;
    fb_probe_need_not_be_told(p, h.now_ns);
    assert_true(p->phase == PROBE_FIRST && p->told_left == -1.0f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_window_is_no_shorter_than_what_is_left_of_it),
        cmocka_unit_test(told_of_room_each_answer_is_a_step),
        cmocka_unit_test(what_is_left_evenly_spent_is_the_pace),
        cmocka_unit_test(a_climb_to_what_is_told_says_so),
        cmocka_unit_test(what_is_left_late_is_not_spent_at_once),
        cmocka_unit_test(nothing_left_is_one_until_the_reset),
        cmocka_unit_test(a_climb_ends_at_what_is_told),
        cmocka_unit_test(a_window_that_is_over_binds_no_more),
        cmocka_unit_test(what_is_not_told_in_full_says_nothing),
        cmocka_unit_test(an_error_with_headers_paces_nothing),
        cmocka_unit_test(an_old_window_is_not_listened_to),
        cmocka_unit_test(the_second_window_checks_the_headers),
        cmocka_unit_test(a_refusal_with_nothing_left_proves_them),
        cmocka_unit_test(what_others_use_is_left_to_them),
        cmocka_unit_test(with_nothing_left_it_waits_for_the_reset),
        cmocka_unit_test(the_last_of_a_window_is_accepted),
        cmocka_unit_test(accepted_with_nothing_left_twice_they_are_dropped),
        cmocka_unit_test(refused_with_room_left_they_are_a_bound_only),
        cmocka_unit_test(a_refusal_before_the_check_proves_nothing),
        cmocka_unit_test(the_length_of_the_window_is_learned),
        cmocka_unit_test(a_step_of_their_clock_is_no_window),
        cmocka_unit_test(the_opening_that_was_seen_counts),
        cmocka_unit_test(a_window_that_does_not_end),
        cmocka_unit_test(a_reset_that_moves_is_no_opening),
        cmocka_unit_test(a_long_window_may_slide),
        cmocka_unit_test(a_long_window_that_opened_does_not_slide),
        cmocka_unit_test(a_clock_that_is_set_is_no_window_that_slides),
        cmocka_unit_test(a_count_that_rises_alone_is_no_window),
        cmocka_unit_test(what_is_ample_is_no_pace),
        cmocka_unit_test(what_is_ample_is_not_heard),
        cmocka_unit_test(what_was_met_is_not_forgotten),
        cmocka_unit_test(what_was_told_is_kept_while_it_is_ample),
        cmocka_unit_test(what_is_kept_is_no_reason_to_go_faster),
        cmocka_unit_test(a_window_that_was_given_up_is_told_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
