/* SPDX-License-Identifier: MIT */
/* Windows that close: in the first climb, and far too early. */
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
    assert_true(h.c.probe.closed && !fb_probe_closed(&h.c.probe));
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_refused_is_a_window_that_closed),
        cmocka_unit_test(it_is_asked_early_and_ever_more_rarely),
        cmocka_unit_test(a_long_window_is_kept),
        cmocka_unit_test(a_short_window_is_paced_evenly),
        cmocka_unit_test(the_window_before_must_have_fitted),
        cmocka_unit_test(refused_far_too_early_is_an_echo),
        cmocka_unit_test(fewer_workers_than_the_pace_needs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
