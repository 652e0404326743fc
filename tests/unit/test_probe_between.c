/* SPDX-License-Identifier: MIT */
/* Which window lies between two openings. */
#include "test_probe_hand.h"

#include "core/adapt/probe_reading.h"

/* An opening that may have been `late_s` earlier, a window that is believed, and a look. */
static struct hand opened(float limit, float window_s, float late_s, float lean)
{
    struct hand h = looking(limit, lean, 100.0f);
    struct probe *p = &h.c.probe;

    p->window_s = window_s;
    p->opening_seen = true;
    p->fitted = -late_s;
    p->opened_ns = p->empty_ns;
    p->latency_s = 0.03f;
    return h;
}

static struct reading reading_of(float accepted, float rate, float open_s, float shut_s,
                                 float blocked_s)
{
    return (struct reading){
        .accepted = accepted,
        .rate = rate,
        .open_s = open_s,
        .shut_s = shut_s,
        .blocked_s = blocked_s,
    };
}

/* By how much earlier it may have opened, where that was seen once and nothing counted since. */
static void when_it_opened_is_known_to_a_pause(void **state)
{
    struct hand h = opened(100.0f, 10.0f, 1.5f, 0.25f);
    struct probe *p = &h.c.probe;

    (void)state;
    assert_true(fb_probe_late_s(p) == 1.5f);
    p->opened_ns += 10 * S; /* the next of them opened */
    assert_true(fb_probe_late_s(p) == 1.5f);
    p->opened_ns = p->empty_ns - S; /* it paused since */
    assert_true(fb_probe_late_s(p) == 0.0f);
    fb_probe_count_anew(p, h.now_ns); /* and goes on to the next one */
    p->opened_ns = p->empty_ns + 10 * S;
    assert_true(fb_probe_late_s(p) == 0.0f);
    p->opened_ns = p->empty_ns;
    p->fitted = 500.0f;
    assert_true(fb_probe_late_s(p) == 0.0f);
    p->fitted = -1.5f;
    p->opening_seen = false;
    assert_true(fb_probe_late_s(p) == 0.0f);
}

/* Nor does the next process know when it opened; and where there is no window that is no limit. */
static void it_is_not_known_after_a_restart(void **state)
{
    (void)state;
    for (int with = 0; with <= 1; with++) {
        struct hand h = opened(100.0f, with ? 10.0f : 0.0f, 3.0f, -MARGIN);
        struct probe *p = &h.c.probe;
        p->phase = PROBE_TRIAL;
        go_on_elsewhere(&h);
        assert_true(p->limit_before == 0.0f && p->window_s == (with ? 10.0f : 0.0f));
        p->since_refusal = 100;
        refuse(&h);
        recover(&h, NULL);
        assert_true(p->limit > 0.0f);
    }
}

/* Whole windows lie between, and none is shorter than it was shut. */
static void whole_windows_lie_between_openings(void **state)
{
    static const struct {
        float open_s, shut_s, blocked_s, window_s, count;
    } rows[] = {
        {24.6f, 3.6f, 5.4f, 30.0f, 1.0f}, {24.6f, 3.6f, 5.4f, 15.0f, 2.0f},
        {24.6f, 3.6f, 5.4f, 20.0f, 0.0f}, {24.6f, 3.6f, 5.4f, 3.0f, 0.0f}, /* shut for longer */
        {24.6f, 3.6f, 5.4f, 60.0f, 0.0f}, {29.9f, 0.0f, 0.2f, 10.0f, 3.0f},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct hand h = opened(500.0f, 15.0f, 1.4f, 0.25f);
        struct reading r =
            reading_of(1e4f, 700.0f, rows[i].open_s, rows[i].shut_s, rows[i].blocked_s);
        assert_true(fb_probe_openings(&h.c.probe, &r, rows[i].window_s) == rows[i].count);
    }
}

/* Of two that fit the one is left in which no window held more than the one that closed. */
static void none_held_more_than_the_one_that_closed(void **state)
{
    static const struct {
        float believed_s, lean, accepted, open_s, window_s;
        bool explains;
    } rows[] = {
        {15.0f, 0.25f, 16700.0f, 24.6f, 15.0f, false}, /* 9,000 before, 8,000 in the last */
        {15.0f, 0.25f, 16700.0f, 24.6f, 30.0f, true},  /* all in one */
        {15.0f, 0.25f, 12000.0f, 24.6f, 15.0f, true},  /* fewer before: the pace rose */
        {10.0f, 0.33f, 12400.0f, 25.0f, 10.0f, false}, /* the step before used more than the last */
        {10.0f, -0.01f, 12400.0f, 25.0f, 10.0f, true}, /* that was no step */
        {15.0f, 0.33f, 12400.0f, 25.0f, 10.0f, true},  /* nor of so long a window */
        {10.0f, 0.33f, 4000.0f, 15.2f, 10.0f, true},   /* the one before was no whole one */
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct hand h = opened(560.0f, rows[i].believed_s, 1.4f, rows[i].lean);
        struct reading r = reading_of(rows[i].accepted, 720.0f, rows[i].open_s, 3.6f, 5.4f);
        assert_int_equal(fb_probe_explains(&h.c.probe, &r, rows[i].window_s), rows[i].explains);
    }
}

/* The shortest that people use is believed; what fits in is counted, or what the last one held. */
static void the_shortest_that_explains_it(void **state)
{
    struct hand h = opened(560.0f, 15.0f, 1.4f, 0.25f);
    struct probe *p = &h.c.probe;
    struct reading r = reading_of(16700.0f, 720.0f, 24.6f, 3.6f, 5.4f);
    struct reading none = reading_of(1e6f, 720.0f, 24.6f, 3.6f, 3.7f);

    (void)state;
    assert_true(fb_probe_explaining(p, &r, 3.6f) == 30.0f);
    assert_true(fb_probe_quota_between(p, &r, 30.0f) == 16700.0f);
    assert_close((double)fb_probe_quota_between(p, &r, 15.0f), 16700.0 / 2.0, 1.0);
    r.accepted = 12000.0f;
    assert_true(fb_probe_explaining(p, &r, 10.1f) == 15.0f);
    assert_close((double)fb_probe_quota_between(p, &r, 15.0f), 720.0 * 9.6, 1.0);
    p->fitted = 0.0f;
    assert_true(fb_probe_explaining(p, &none, 3.6f) == 0.0f);
}

/* ---- what comes of it ---- */

/* Refused after so long since it opened; two pings are refused, the next goes through. */
static void shut(struct hand *h, float open_s, float accepted, float shut_s, float blocked_s)
{
    struct probe *p = &h->c.probe;

    p->empty_ns = h->now_ns - fb_span((double)open_s);
    p->opened_ns = p->empty_ns;
    p->accepted = accepted;
    p->spent = accepted;
    p->since_refusal = (int32_t)accepted;
    refuse(h);
    int64_t refused_ns = p->refused_ns;
    h->now_ns = refused_ns + fb_span((double)shut_s / 2.0);
    request(h, 429);
    h->now_ns = refused_ns + fb_span((double)shut_s);
    request(h, 429);
    p->pause_s = blocked_s - shut_s;
    recover_at(h, refused_ns + fb_span((double)blocked_s), NULL);
}

/* The guess was too short: the next closing tells, and what fitted in was counted. */
static void a_guess_that_explains_nothing_is_mended(void **state)
{
    struct hand h = opened(566.0f, 15.0f, 1.4f, 0.28f);
    struct probe *p = &h.c.probe;

    (void)state;
    shut(&h, 24.6f, 16700.0f, 3.6f, 5.4f);
    assert_true(p->window_s == 30.0f && p->fitted > 16600.0f);
    assert_close((double)p->limit, 16700.0 / 30.0, 1.0);
    assert_no_raise(&h);

    h = opened(566.0f, 15.0f, 1.4f, 0.28f); /* shut for longer than it lasts */
    shut(&h, 41.0f, 29000.0f, 16.0f, 19.5f);
    assert_true(p->window_s == 60.0f);
    assert_close((double)p->limit, 29000.0 / 60.0, 1.0);
}

/* Two of the longer ones lie between: more will be known at the next closing. */
static void a_guess_may_be_mended_to_two(void **state)
{
    struct hand h = opened(353.0f, 10.0f, 1.5f, 0.40f);
    struct probe *p = &h.c.probe;

    (void)state;
    shut(&h, 37.3f, 15900.0f, 1.1f, 3.1f);
    assert_true(p->window_s == 20.0f && p->fitted < 0.0f);
    assert_close((double)p->limit, 494.0 * 17.3 / 20.0, 5.0);
    assert_no_raise(&h);
}

static void what_may_be_right_is_not_mended(void **state)
{
    static const struct {
        float late_s, open_s, accepted, shut_s, blocked_s, window_s;
        bool told;
    } rows[] = {
        {0.0f, 24.6f, 16700.0f, 3.6f, 5.4f, 15.0f, false}, /* it was counted before */
        {1.4f, 24.6f, 16700.0f, 3.6f, 5.4f, 15.0f, true},  /* headers tell it */
        {1.4f, 24.6f, 20.0f, 3.6f, 5.4f, 15.0f, false},    /* too few */
        {1.4f, 3.0f, 1700.0f, 3.6f, 5.4f, 15.0f, false},   /* shut for longer: another window */
        {1.4f, 24.6f, 12000.0f, 3.6f, 5.4f, 15.0f, false}, /* it explains all */
        {1.4f, 24.6f, 16700.0f, 9.5f, 9.6f, 15.0f, false}, /* nor does any other */
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct hand h = opened(566.0f, 15.0f, rows[i].late_s, 0.28f);
        h.c.probe.told_reset_ns = rows[i].told ? h.now_ns - 20 * S : FB_LONG_AGO;
        shut(&h, rows[i].open_s, rows[i].accepted, rows[i].shut_s, rows[i].blocked_s);
        assert_true(h.c.probe.window_s == rows[i].window_s);
    }
}

/* It was told when it opens, twice: that is known better than any count. */
static void openings_that_were_told_are_not_mended(void **state)
{
    struct hand h = opened(566.0f, 15.0f, 1.4f, -MARGIN);
    struct probe *p = &h.c.probe;

    (void)state;
    p->reading = 2;
    h.o.retry_after_ns = 5400 * MS;
    p->empty_ns = p->opened_ns = h.now_ns - 24600 * MS;
    p->accepted = p->spent = 16700.0f;
    p->since_refusal = 16700;
    refuse(&h);
    recover(&h, READ_WINDOW);
    assert_true(p->window_s == 15.0f);
    assert_close((double)p->limit, 16700.0 / 30.0, 1.0);
}

/* In a look: refused in the first window that was seen to open, all of it was counted. */
static void the_first_window_is_counted_whole(void **state)
{
    static const struct {
        float late_s, held, open_s, limit;
    } rows[] = {
        {20.0f, 0.0f, 96.0f, 402.0f},
        {20.0f, 420.0f, 96.0f, 444.0f}, /* a pace was held for a window */
        {0.0f, 0.0f, 96.0f, 444.0f},    /* by when it opened it is 48,240 in 108 s */
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct hand h = opened(400.0f, 120.0f, rows[i].late_s, 0.25f);
        h.c.probe.held = rows[i].held;
        shut(&h, rows[i].open_s, 48240.0f, 6.0f, 12.6f);
        assert_true(h.c.probe.window_s == 120.0f && h.c.probe.fitted == 0.0f);
        assert_close((double)h.c.probe.limit, (double)rows[i].limit, 2.0);
    }
}

/* Taken for a bucket, but all that was under way is refused, and a ping a second later. */
static struct hand closed_late(float accepted, float open_s, int beside, int let_through)
{
    struct hand h = looking(393.0f, 0.06f, accepted);
    struct probe *p = &h.c.probe;

    p->latency_s = 0.03f;
    p->empty_ns = h.now_ns - fb_span((double)open_s);
    p->opened_ns = p->empty_ns - 100 * S;
    for (int i = 0; i < beside + let_through; i++)
        grant(&h);
    uint64_t straggler = h.id;
    refuse(&h);
    h.id = straggler;
    for (int i = 0; i < beside; i++)
        reply(&h, 429);
    for (int i = 0; i < let_through; i++)
        reply(&h, 200);
    return h;
}

static void open_after(struct hand *h, float shut_s, float blocked_s)
{
    struct probe *p = &h->c.probe;
    int64_t refused_ns = p->refused_ns;

    if (shut_s > 0.0f) {
        h->now_ns = refused_ns + fb_span((double)shut_s);
        request(h, 429);
    }
    p->pause_s = blocked_s - shut_s;
    recover_at(h, refused_ns + fb_span((double)blocked_s), NULL);
}

static void a_window_that_was_taken_for_a_bucket(void **state)
{
    struct hand h = closed_late(4497.0f, 11.2f, 14, 0);
    struct probe *p = &h.c.probe;

    (void)state;
    open_after(&h, 1.08f, 5.1f);
    assert_string_equal(fb_probe_reading_says(p), READ_SHUT);
    assert_true(p->window_s == 15.0f && p->opening_seen && p->looked);
    assert_close((double)p->limit, 299.8, 1.0);
    assert_int_equal(p->total_ns, p->opened_ns);
    assert_no_raise(&h);
}

static void else_it_is_a_bucket(void **state)
{
    static const struct {
        float accepted, open_s, shut_s, blocked_s, latency_s, sway_s;
        int beside, let_through;
    } rows[] = {
        {4497.0f, 11.2f, 1.08f, 5.1f, 0.03f, 0.0f, 3, 0},   /* a few */
        {4497.0f, 11.2f, 1.08f, 5.1f, 0.03f, 0.0f, 14, 4},  /* it lets some through */
        {4497.0f, 11.2f, 0.0f, 0.1f, 0.03f, 0.0f, 14, 0},   /* it is open at once */
        {20.0f, 11.2f, 1.08f, 5.1f, 0.03f, 0.0f, 14, 0},    /* too few were counted */
        {900.0f, 3.0f, 3.5f, 9.0f, 0.03f, 0.0f, 14, 0},     /* shut for longer than it was open */
        {4497.0f, 11.2f, 0.03f, 0.1f, 0.03f, 0.0f, 14, 0},  /* a bucket would have made few */
        {4497.0f, 11.2f, 1.08f, 5.1f, 0.2f, 0.0f, 14, 0},   /* those may still be in service */
        {4497.0f, 11.2f, 1.08f, 5.1f, 0.03f, 0.03f, 14, 0}, /* or late, on an uneven line */
        {9000.0f, 24.0f, 8.4f, 8.5f, 0.03f, 0.0f, 14, 0},   /* no window fits */
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct hand h =
            closed_late(rows[i].accepted, rows[i].open_s, rows[i].beside, rows[i].let_through);
        h.c.probe.latency_s = rows[i].latency_s;
        h.c.probe.log.sway_ms = rows[i].sway_s > 0.0f ? 30 : 0;
        open_after(&h, rows[i].shut_s, rows[i].blocked_s);
        assert_true(h.c.probe.window_s == 0.0f);
    }
    struct hand h = closed_late(4497.0f, 11.2f, 14, 0); /* it tells when to come again */
    h.c.probe.told_when = true;
    open_after(&h, 1.08f, 5.1f);
    assert_true(h.c.probe.window_s == 0.0f);
}

/* Shut for most of an hour: that is what people use, though more would be as likely. */
static void an_hour_is_common(void **state)
{
    static const struct {
        float shut_s, blocked_s, window_s;
    } rows[] = {
        {2999.0f, 5999.0f, 3600.0f},
        {3700.0f, 7100.0f, 7200.0f},
        {1795.0f, 3605.0f, 3600.0f}, /* not a half of it */
        {1100.0f, 2300.0f, 1800.0f}, /* shut for less */
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct hand h = first_climb(275.0f);
        struct probe *p = &h.c.probe;
        p->latency_s = 0.03f;
        p->total = p->accepted = 18000.0f;
        p->total_ns = p->empty_ns = h.now_ns - 147 * S;
        p->since_refusal = 1000;
        for (int k = 0; k < 5; k++)
            grant(&h);
        uint64_t straggler = h.id;
        refuse(&h);
        h.id = straggler;
        for (int k = 0; k < 5; k++)
            reply(&h, 429);
        open_after(&h, rows[i].shut_s, rows[i].blocked_s);
        assert_true(p->window_s == rows[i].window_s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(when_it_opened_is_known_to_a_pause),
        cmocka_unit_test(it_is_not_known_after_a_restart),
        cmocka_unit_test(whole_windows_lie_between_openings),
        cmocka_unit_test(none_held_more_than_the_one_that_closed),
        cmocka_unit_test(the_shortest_that_explains_it),
        cmocka_unit_test(a_guess_that_explains_nothing_is_mended),
        cmocka_unit_test(a_guess_may_be_mended_to_two),
        cmocka_unit_test(what_may_be_right_is_not_mended),
        cmocka_unit_test(openings_that_were_told_are_not_mended),
        cmocka_unit_test(the_first_window_is_counted_whole),
        cmocka_unit_test(a_window_that_was_taken_for_a_bucket),
        cmocka_unit_test(else_it_is_a_bucket),
        cmocka_unit_test(an_hour_is_common),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
