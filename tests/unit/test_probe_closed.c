/* SPDX-License-Identifier: MIT */
/* Windows that close: in the first climb, far too early, and once more. */
#include "test_probe_hand.h"

/* In the first climb at `rate` a second, which has grown with a time constant of `growth_s`. */
static struct hand climbing(float rate, float growth_s)
{
    struct hand h = first_climb(rate);
    struct probe *p = &h.c.probe;

    p->latency_s = 0.036f;
    p->total = rate * growth_s;
    p->total_ns = h.now_ns - 200 * S;
    p->step_ns = h.now_ns - 2 * S;
    p->step_count = (int32_t)(2.0f * rate);
    p->accepted = p->total;
    p->empty_ns = p->total_ns;
    p->since_refusal = 1000;
    (void)cancel(&h);
    return h;
}

/* Refused with others under way: some are let through, then all the rest is refused. */
static void close_on(struct hand *h, int accepted, int refused)
{
    for (int i = 0; i < accepted + refused; i++)
        grant(h);
    uint64_t straggler = h->id;
    refuse(h);
    h->id = straggler;
    for (int i = 0; i < accepted; i++)
        reply(h, 200);
    for (int i = 0; i < refused; i++)
        reply(h, 429);
}

static double pause_s(const struct hand *h)
{
    return (double)(h->pace.not_before_ns - h->c.probe.refused_ns) / 1e9;
}

static void all_refused_is_a_window_that_closed(void **state)
{
    struct hand h = climbing(400.0f, 20.0f);

    (void)state;
    close_on(&h, 0, 3); /* not yet: five in a row may be a ban */
    assert_false(h.c.probe.closed);
    assert_close(pause_s(&h), (double)PATIENCE_S, 0.01);
    reply(&h, 429); /* too late for patience */
    assert_true(fb_probe_closed(&h.c.probe));
    assert_close(pause_s(&h), 0.072, 1e-3);

    h = climbing(400.0f, 20.0f); /* answers overtake each other */
    close_on(&h, 1, 4);
    assert_true(h.c.probe.closed);
    h = climbing(400.0f, 20.0f); /* a bucket lets some through */
    close_on(&h, 2, 7);
    assert_false(h.c.probe.closed);
    h = climbing(400.0f, 20.0f); /* how long it takes was not told */
    h.c.probe.latency_s = 0.0f;
    close_on(&h, 0, 4);
    assert_close(pause_s(&h), 0.05, 1e-3);
    h = climbing(400.0f, 20.0f); /* who tells when it opens is believed */
    h.o.retry_after_ns = 7 * S;
    close_on(&h, 0, 4);
    assert_false(h.c.probe.closed);
    assert_close(pause_s(&h), 7.0, 1e-3);
    h = climbing(400.0f, 20.0f); /* what was let through is still in service */
    h.c.probe.latency_s = 0.2f;
    close_on(&h, 0, 9);
    assert_false(h.c.probe.closed);
    h = settled(400.0f, 8000.0f); /* where a limit is known that is no news */
    close_on(&h, 0, 4);
    assert_false(h.c.probe.closed);
}

/* Four times as long after the refusal each time, later twice, at most an hour apart. */
static void it_is_asked_early_and_ever_more_rarely(void **state)
{
    struct hand h = climbing(400.0f, 20.0f);
    double was_s = 0.0;

    (void)state;
    close_on(&h, 0, 4);
    for (int i = 0; i < 12; i++) {
        was_s = pause_s(&h);
        ping(&h, 429);
        double times = pause_s(&h) / was_s;
        assert_true(times > 1.9 && times < 4.6);
        assert_true(was_s > 20.0 ? times < 2.1 : was_s > 1.0 || times > 3.9);
    }
    for (int i = 0; i < 20; i++) {
        assert_true(h.pace.not_before_ns - h.now_ns <= 3600 * S);
        ping(&h, 429);
    }
    close_on(&h, 0, 0); /* and what follows is another episode */
}

/* Over an uneven line they may be late: it is asked once, when a bucket would have made some. */
static void over_an_uneven_line_it_is_asked_later(void **state)
{
    static const struct {
        float sway_s, total;
        int accepted;
        double pause_s;
    } rows[] = {
        {0.03f, 98.0f, 0, 8.0},
        {0.01f, 98.0f, 0, 60.05}, /* it is not uneven */
        {0.03f, 40.0f, 0, 60.05}, /* there is little to lose */
        {0.03f, 98.0f, 4, 0.124}, /* half of them are let through: it is not shut */
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct hand h = climbing(100.0f, 1.0f);
        struct probe *p = &h.c.probe;
        p->total = rows[i].total;
        p->total_ns = h.now_ns - 6 * S;
        p->sway_s = rows[i].sway_s;
        close_on(&h, rows[i].accepted, 3);
        assert_close(pause_s(&h), rows[i].pause_s, 0.01);
        if (rows[i].sway_s < 0.02f)
            continue;
        close_on(&h, 0, 1);
        assert_false(p->closed);
    }
}

/* It closes, refuses a ping a pause before its end, and is open at the end. */
static void shut_until(struct hand *h, int64_t open_ns, float pause_s)
{
    struct probe *p = &h->c.probe;

    close_on(h, 0, 5);
    int64_t refused_ns = p->refused_ns;
    h->now_ns = refused_ns + open_ns - fb_span((double)pause_s);
    request(h, 429);
    p->pause_s = pause_s;
    recover_at(h, refused_ns + open_ns, READ_SHUT);
}

/* A window that shuts for long is one; its limit is what fitted in. */
static void a_long_window_is_kept(void **state)
{
    struct hand h = climbing(387.2f, 22.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    shut_until(&h, 9 * S, 1.0f);
    assert_true(p->window_s == 20.0f && p->opening_seen);
    assert_close((double)p->limit, 176.0, 8.0);
    assert_int_equal(p->opened_ns, h.o.sent_ns);
    assert_true(p->spent == 1.0f && p->total == 1.0f && p->total_ns == p->opened_ns);
    assert_true(p->evidence == FEW && p->phase == PROBE_SETTLED);
    assert_no_raise(&h);
}

/* One of a second or two is paced like a bucket that stores nothing. */
static void a_short_window_is_paced_evenly(void **state)
{
    struct hand h = climbing(583.0f, 21.7f);
    struct probe *p = &h.c.probe;

    (void)state;
    shut_until(&h, 200 * MS, 0.1f);
    assert_true(p->window_s == 0.0f && !p->opening_seen && p->burst == 0.0f);
    assert_close((double)p->limit, 520.0, 15.0);
    assert_true(p->evidence == 200.0f && p->looked);
    assert_no_raise(&h);
}

/* What is known of the climb gives the length, and what fitted in. */
static void the_window_before_must_have_fitted(void **state)
{
    static const struct {
        float rate, growth_s, shut_s, window_s, share;
    } rows[] = {
        {400.0f, 20.0f, 0.03f, 1.0f, 0.047f},  {400.0f, 20.0f, 0.15f, 2.0f, 0.088f},
        {400.0f, 20.0f, 3.0f, 10.0f, 0.295f},  {400.0f, 20.0f, 9.0f, 20.0f, 0.423f},
        {400.0f, 20.0f, 40.0f, 60.0f, 0.63f},  {400.0f, 20.0f, 50.0f, 120.0f, 0.96f},
        {400.0f, 20.0f, 2e5f, 86400.0f, 0.0f}, /* longer than any */
        {400.0f, 20.0f, 90.0f, 120.0f, 0.76f}, {400.0f, 20.0f, 500.0f, 600.0f, 0.98f},
        {400.0f, 20.0f, 300.0f, 600.0f, 1.0f}, /* all since the start */
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct hand h = climbing(rows[i].rate, rows[i].growth_s);
        struct probe *p = &h.c.probe;
        p->refused_ns = h.now_ns;
        struct closed c = fb_probe_guess_closed(p, p->total, rows[i].shut_s);
        assert_close((double)c.window_s, (double)rows[i].window_s, 1e-3);
        assert_close((double)(c.fitted / p->total), (double)rows[i].share, 0.03);
    }
}

/* The pace was not kept, for want of workers: what was accepted in the step tells. */
static void fewer_workers_than_the_pace_needs(void **state)
{
    struct hand h = climbing(4000.0f, 20.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    p->refused_ns = h.now_ns;
    p->step_ns = h.now_ns - 2 * S;
    p->step_count = 2000;
    struct closed c = fb_probe_guess_closed(p, 20000.0f, 9.0f);
    assert_true(c.window_s == 20.0f);
    assert_close((double)c.fitted / 20000.0, 0.42, 0.02);
    c = fb_probe_guess_closed(p, 0.0f, 9.0f); /* nothing was accepted at all */
    assert_true(c.window_s > 9.0f && c.fitted <= 1.0f);
}

/* Far too early for a quota to be used up: a short pause, and it is an echo. */
static void refused_far_too_early_is_an_echo(void **state)
{
    static const struct {
        float open_s, accepted, pause_s;
        bool seen;
    } rows[] = {
        {5.0f, 20.0f, 3.75f, true},
        {5.0f, 80.0f, 55.0f, true},  /* a good part of it was used */
        {20.0f, 40.0f, 40.0f, true}, /* or of the time */
        {5.0f, 40.0f, 55.0f, false}, /* or nobody knows when it opened */
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct hand h = settled(5.0f, rows[i].accepted);
        struct probe *p = &h.c.probe;
        p->window_s = 60.0f;
        p->opening_seen = rows[i].seen;
        p->empty_ns = p->opened_ns = h.now_ns - fb_span((double)rows[i].open_s);
        p->since_refusal = 100;
        refuse(&h);
        assert_close(pause_s(&h), (double)rows[i].pause_s + 0.05, 0.02);
        recover(&h, READ_WINDOW);
        assert_int_equal(p->echoes, i == 0 ? 1 : 0);
        assert_no_raise(&h);
    }
}

/* ---- counted once more ---- */

/* A window that was seen to open `open_s` ago, of which `accepted` were used; now it is refused. */
static struct hand in_window(float limit, float window_s, float open_s, float accepted)
{
    struct hand h = settled(limit, accepted);
    struct probe *p = &h.c.probe;

    p->window_s = window_s;
    p->opening_seen = true;
    p->reading = 2;
    p->changed_ns = h.now_ns;
    p->look_ns = h.now_ns + 30 * S;
    p->total = accepted;
    p->empty_ns = p->opened_ns = p->total_ns = h.now_ns - fb_span((double)open_s);
    p->since_refusal = 100;
    return h;
}

static bool is_put_off(const struct hand *h)
{
    const struct probe *p = &h->c.probe;

    return (float)(p->look_ns - h->now_ns) / 1e9f * p->rate >= 0.99f * REFUSAL_WORTH;
}

/* From one opening that was told to the next there are whole windows: what fits in is known. */
static void openings_that_are_told_are_whole_windows_apart(void **state)
{
    static const struct {
        float window_s, open_s, accepted;
        int wait_s;
        bool guess, headers;
        float found_s, limit; /* 0: not so */
    } rows[] = {
        {5.0f, 2.2f, 100.0f, 7, true, false, 10.0f, 10.0f}, /* it was a guess: another one */
        {2.0f, 33.0f, 100.0f, 4, true, false, 0.0f, 0.0f},  /* nobody uses such a window */
        {10.0f, 24.0f, 300.0f, 5, false, false, 10.0f, 10.0f},
        {10.0f, 8.0f, 100.0f, 6, false, false, 0.0f, 0.0f}, /* not a multiple */
        {60.0f, 14.0f, 100.0f, 6, false, false, 0.0f, 0.0f},
        {10.0f, 5.0f, 100.0f, 5, false, true, 0.0f, 0.0f}, /* headers know better */
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct hand h = in_window(45.0f, rows[i].window_s, rows[i].open_s, rows[i].accepted);
        struct probe *p = &h.c.probe;
        p->reading = rows[i].guess ? 0 : 2;
        p->told_reset_ns = rows[i].headers ? h.now_ns - S : FB_LONG_AGO;
        h.o.retry_after_ns = rows[i].wait_s * S;
        refuse(&h);
        recover(&h, rows[i].limit > 0.0f ? READ_WINDOW : NULL);
        assert_int_equal(is_put_off(&h), rows[i].limit > 0.0f);
        assert_no_raise(&h);
        if (rows[i].limit <= 0.0f)
            continue;
        assert_true(p->window_s == rows[i].found_s);
        assert_close((double)p->limit, (double)rows[i].limit, 1e-3);
    }
}

/* The climb got `total`, then it stayed shut for 8 s. */
static struct hand climbed(float total)
{
    struct hand h = first_climb(100.0f);
    struct probe *p = &h.c.probe;

    p->latency_s = 0.01f;
    p->total = p->accepted = total;
    p->total_ns = p->empty_ns = h.now_ns - 6 * S;
    p->since_refusal = 100;
    refuse(&h);
    ping(&h, 429);
    assert_close(pause_s(&h), 8.0, 0.02);
    recover(&h, READ_CLIMB);
    return h;
}

/* A pace in between meets it again; a few say nothing about that. */
static void what_stayed_shut_after_many_is_met_again(void **state)
{
    struct hand h = climbed(98.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    assert_true(p->phase == PROBE_DOUBT && p->opened_ns == h.o.sent_ns);
    assert_close((double)p->limit, 27.0, 1.0); /* between 100 and 98 in 14 s */
    assert_no_raise(&h);
    h = climbed(40.0f);
    assert_true(p->phase == PROBE_SETTLED);
    assert_close((double)p->limit, 5.0, 0.1); /* no lower at once */
}

/* As many again: that is a window, the shortest that is long enough, and it is pinged for. */
static void as_many_again_is_a_window(void **state)
{
    struct hand h = climbed(98.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    int64_t opened_ns = p->opened_ns;
    serve(&h, 97);
    refuse(&h);
    ping(&h, 429);
    assert_close((double)(h.pace.not_before_ns - opened_ns) / 1e9, 5.05, 0.02);
    ping(&h, 429);
    assert_close((double)(h.pace.not_before_ns - opened_ns) / 1e9, 10.05, 0.02);
    recover(&h, READ_SHUT);
    assert_true(p->window_s == 10.0f && p->opening_seen && p->opened_ns == h.o.sent_ns);
    assert_close((double)p->limit, 9.8, 1e-3);
    assert_close((double)p->total, 99.0, 1e-3);
    assert_true(is_put_off(&h));
    assert_no_raise(&h);
    assert_says(&h, "window of 10 s");
}

/* Fewer, or more, or at once open again: that may be a bucket. */
static void another_number_is_no_window(void **state)
{
    static const struct {
        int served, failed;
    } rows[] = {{70, 1}, {105, 1}, {97, 0}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct hand h = climbed(98.0f);
        serve(&h, rows[i].served);
        refuse(&h);
        for (int k = 0; k < rows[i].failed; k++)
            ping(&h, 429);
        recover(&h, NULL);
        assert_true(h.c.probe.window_s == 0.0f && !is_put_off(&h));
    }
}

/* Most of what was under way is refused, after many: that is shut, too. */
static void refused_with_what_was_under_way_is_met_again(void **state)
{
    static const struct {
        float total;
        int accepted;
        bool is_shut;
    } rows[] = {{98.0f, 0, true}, {98.0f, 3, false}, {40.0f, 0, false}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct hand h = climbing(100.0f, 1.0f);
        struct probe *p = &h.c.probe;
        p->total = p->accepted = rows[i].total;
        p->total_ns = p->empty_ns = h.now_ns - 6 * S;
        close_on(&h, rows[i].accepted, 2);
        recover(&h, READ_CLIMB);
        assert_int_equal(p->opened_ns == h.o.sent_ns, rows[i].is_shut);
        assert_int_equal(p->phase, PROBE_DOUBT);
        assert_no_raise(&h);
    }
}

/* A bucket that makes what was counted would have made some: it is a window. */
static void what_stays_shut_again_is_a_window(void **state)
{
    static const struct {
        int served;
        float fitted, window_s;
    } rows[] = {
        {70, 71.0f, 10.0f},  /* with the one that found it open */
        {150, 98.0f, 10.0f}, /* another window began meanwhile: no more than in the first */
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct hand h = climbed(98.0f);
        struct probe *p = &h.c.probe;
        serve(&h, rows[i].served);
        refuse(&h);
        while (h.now_ns - p->refused_ns < 2 * S)
            ping(&h, 429);
        recover(&h, READ_SHUT);
        assert_true(p->opening_seen && is_put_off(&h));
        assert_close((double)p->window_s, (double)rows[i].window_s, 1e-3);
        assert_close((double)(p->limit * p->window_s), (double)rows[i].fitted, 1e-3);
        assert_no_raise(&h);
    }
}

/* Where little was counted, or a limit is known, or it opened meanwhile, that says nothing. */
static void only_what_was_counted_says_so(void **state)
{
    struct hand h = climbed(98.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    serve(&h, 60);
    refuse(&h);
    assert_true(fb_probe_closed_again(p, 60.0f, 5.0f));
    assert_false(fb_probe_closed_again(p, 60.0f, 0.1f));
    assert_false(fb_probe_closed_again(p, 20.0f, 60.0f));
    assert_true(fb_probe_closed_again(p, 97.0f, 0.0f)); /* as many again */
    p->phase = PROBE_SETTLED;
    assert_false(fb_probe_closed_again(p, 60.0f, 5.0f));
    p->phase = PROBE_DOUBT;
    p->total = p->accepted + 11.0f;
    assert_false(fb_probe_closed_again(p, 60.0f, 5.0f));
    p->total = p->accepted + 98.0f;
    p->opened_ns = p->refused_ns + S; /* by what headers tell */
    assert_false(fb_probe_closed_again(p, 60.0f, 5.0f));
    assert_false(fb_probe_quota_again(p, 97.0f));
    ping(&h, 429);
    recover(&h, NULL);
    assert_false(p->opening_seen);
}

/* A window that opens when it is expected to, or holds as many as the one before, is known. */
static void one_quota_is_counted_exactly(void **state)
{
    static const struct {
        float limit, open_s, accepted, before;
        bool seen, failed, exact;
    } rows[] = {
        {19.0f, 5.0f, 100.0f, 0.0f, true, false, true},
        {19.0f, 5.0f, 100.0f, 0.0f, false, false, false}, /* nobody saw it open */
        {19.0f, 5.0f, 20.0f, 0.0f, true, false, false},   /* a few */
        {19.0f, 5.0f, 300.0f, 0.0f, true, false, false},  /* several */
        {19.0f, 5.0f, 100.0f, 0.0f, true, true, false},   /* it opened late */
        {19.0f, 5.0f, 100.0f, 100.0f, true, true, true},  /* but these are as many */
        {21.0f, 5.0f, 100.0f, 0.0f, true, false, false},  /* half as many as it should be */
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct hand h = in_window(rows[i].limit, 10.0f, rows[i].open_s, rows[i].accepted);
        struct probe *p = &h.c.probe;
        p->opening_seen = rows[i].seen;
        p->total += rows[i].before;
        refuse(&h);
        if (rows[i].failed)
            ping(&h, 429);
        recover(&h, READ_WINDOW);
        assert_int_equal(is_put_off(&h), rows[i].exact);
        assert_no_raise(&h);
        if (rows[i].exact)
            assert_close((double)p->limit, 10.0, 0.01);
    }
}

/* Just as many as the time before are one quota: its window is as long as it was open. */
static void the_same_quota_tells_a_longer_window(void **state)
{
    static const struct {
        float limit, accepted, before;
        bool seen;
        double window_s;
    } rows[] = {
        {170.0f, 3000.0f, 3000.0f, true, 20.0}, {170.0f, 3000.0f, 2996.0f, true, 20.0},
        {170.0f, 3000.0f, 3006.0f, true, 20.0}, {170.0f, 3000.0f, 2960.0f, true, 10.0},
        {170.0f, 3000.0f, 3060.0f, true, 10.0}, {170.0f, 3000.0f, 3000.0f, false, 10.0},
        {1.2f, 20.0f, 20.0f, true, 10.0}, /* a few are the same by chance */
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct hand h = in_window(rows[i].limit, 10.0f, 18.0f, rows[i].accepted);
        struct probe *p = &h.c.probe;

        p->opening_seen = rows[i].seen;
        p->total += rows[i].before;
        refuse(&h);
        recover(&h, READ_WINDOW);
        assert_close((double)p->window_s, rows[i].window_s, 0.01);
        assert_no_raise(&h);
        if (rows[i].window_s > 15.0)
            assert_close((double)p->limit, 150.0, 0.5);
    }
}

/* From when it opened until it closed: just as many as the time before, wherever those began. */
static void the_same_number_again_is_one_quota(void **state)
{
    static const struct {
        float accepted, fitted;
        bool seen, known;
    } rows[] = {
        {3000.0f, 3000.0f, true, true},   {3000.0f, 3006.0f, true, true},
        {3000.0f, 2960.0f, true, false},  {3000.0f, 0.0f, true, false},
        {3000.0f, 3000.0f, false, false}, {20.0f, 20.0f, true, false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        for (int stays_shut = 0; stays_shut <= 1; stays_shut++) {
            struct hand h = in_window(0.0567f * rows[i].accepted, 10.0f, 18.0f, rows[i].accepted);
            struct probe *p = &h.c.probe;

            p->opening_seen = rows[i].seen;
            p->fitted = rows[i].fitted;
            p->stood = true;
            refuse(&h);
            int64_t refused_ns = h.now_ns;
            if (stays_shut) {
                ping(&h, 429);
                h.now_ns = refused_ns + 11 * S; /* longer than its window */
                ping(&h, 429);
            }
            recover(&h, NULL);
            double whole_s = stays_shut ? 30.0 : 20.0;
            assert_int_equal(p->window_s > 0.9 * whole_s, rows[i].known);
            if (rows[i].known)
                assert_close((double)p->limit, 3000.0 / whole_s, 1.0);
            assert_false(p->stood);
            assert_close((double)p->fitted, rows[i].seen ? (double)rows[i].accepted : 0.0, 0.5);
        }
}

/* Many within seconds: a minute is too long to wait, and one more may be refused. */
static void who_climbed_fast_is_less_patient(void **state)
{
    static const struct {
        float total;
        int64_t climbed_s;
        double pause_s;
    } rows[] = {{98.0f, 6, 39.7}, {98.0f, 40, 60.05}, {40.0f, 6, 60.05}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct hand h = first_climb(100.0f);
        struct probe *p = &h.c.probe;
        p->total = p->accepted = rows[i].total;
        p->total_ns = p->empty_ns = h.now_ns - rows[i].climbed_s * S;
        p->since_refusal = 100;
        refuse(&h);
        ping(&h, 429);
        ping(&h, 429);
        assert_close(pause_s(&h), rows[i].pause_s, 0.3);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_refused_is_a_window_that_closed),
        cmocka_unit_test(it_is_asked_early_and_ever_more_rarely),
        cmocka_unit_test(over_an_uneven_line_it_is_asked_later),
        cmocka_unit_test(refused_with_what_was_under_way_is_met_again),
        cmocka_unit_test(what_stays_shut_again_is_a_window),
        cmocka_unit_test(only_what_was_counted_says_so),
        cmocka_unit_test(a_long_window_is_kept),
        cmocka_unit_test(a_short_window_is_paced_evenly),
        cmocka_unit_test(the_window_before_must_have_fitted),
        cmocka_unit_test(refused_far_too_early_is_an_echo),
        cmocka_unit_test(fewer_workers_than_the_pace_needs),
        cmocka_unit_test(openings_that_are_told_are_whole_windows_apart),
        cmocka_unit_test(what_stayed_shut_after_many_is_met_again),
        cmocka_unit_test(as_many_again_is_a_window),
        cmocka_unit_test(another_number_is_no_window),
        cmocka_unit_test(one_quota_is_counted_exactly),
        cmocka_unit_test(the_same_number_again_is_one_quota),
        cmocka_unit_test(the_same_quota_tells_a_longer_window),
        cmocka_unit_test(who_climbed_fast_is_less_patient),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
