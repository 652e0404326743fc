/* SPDX-License-Identifier: MIT */
/* What the constraints are asked to keep: after idling, and on a network that stalls. */
#include "test_probe_hand.h"

/* Idle for `s` seconds, then a grant, which is not answered yet. */
static void wake(struct hand *h, int64_t s)
{
    h->now_ns = h->c.probe.next_ns + s * S;
    grant(h);
}

/* Settled at 10/s under a quota of 600 a minute that was seen to open, and woken after a while. */
static struct hand under_quota(int64_t idle_s)
{
    struct hand h = settled(10.0f, 300.0f);
    struct probe *p = &h.c.probe;

    p->window_s = 60.0f;
    p->opening_seen = true;
    p->spent = 300.0f;
    wake(&h, idle_s);
    return h;
}

/* Answer what was granted, and grant the next. */
static void spend(struct hand *h, int times)
{
    for (int i = 0; i < times; i++) {
        h->now_ns += MS;
        reply(h, 200);
        grant(h);
    }
}

/* ---- a bucket ---- */

/* What it stores is not known: two at a time find out, without many refusals. */
static void what_is_stored_is_found_after_idling(void **state)
{
    struct hand h = settled(10.0f, 300.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    h.c.probe.put_off = true; /* not the first pause */
    wake(&h, 100);
    assert_true(p->bursting);
    assert_close(h.pace.rate, 80.0, 1e-3);
    assert_int_equal(h.pace.in_flight_max, 2);
    assert_says(&h, "what was saved up while idling leaves at once, then not above 10");
    spend(&h, 30);
    h.now_ns += MS;
    reply(&h, 429);
    assert_int_equal(h.pace.in_flight_max, FB_NO_CAP);
    recover(&h, READ_SAVED);
    assert_true(p->burst_found);
    assert_close((double)p->burst, 30.0, 1.0);
    assert_close(h.pace.burst, 0.95 * (double)p->burst, 1e-3);

    wake(&h, 100); /* known now: that leaves, and no more */
    assert_close(h.pace.rate, 9.85, 1e-3);
}

/* While the server tells what is left nothing is tried. */
static void what_is_told_bounds_a_burst_too(void **state)
{
    struct hand h = settled(10.0f, 300.0f);

    (void)state;
    h.c.probe.put_off = true; /* not the first pause */
    h.c.probe.told = 5.0f;
    h.c.probe.told_until_ns = h.now_ns + 1000 * S;
    wake(&h, 100);
    assert_true(h.c.probe.bursting);
    assert_close(h.pace.rate, 5.0, 1e-3);
    assert_int_equal(h.pace.in_flight_max, FB_NO_CAP);
}

/* At 1/s a hundred that are stored would take too long. */
static void a_slow_limit_is_tried_fast(void **state)
{
    struct hand h = settled(1.0f, 300.0f);

    (void)state;
    h.c.probe.put_off = true; /* not the first pause */
    wake(&h, 1000);
    assert_close(h.pace.rate, 32.0, 1e-3);
}

/* Most of what is known leaves first, with as many in flight as there are. */
static void what_is_known_to_be_stored_leaves_at_once(void **state)
{
    struct hand h = settled(10.0f, 300.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    h.c.probe.put_off = true; /* not the first pause */
    p->burst = 100.0f;
    wake(&h, 100);
    assert_close(h.pace.burst, 80.0, 1e-3);
    assert_int_equal(h.pace.in_flight_max, FB_NO_CAP);
    p->ahead = 60.0f;
    spend(&h, 1);
    assert_int_equal(h.pace.in_flight_max, 2);
}

/* Where two at a time are slower than the limit there is nothing to find out. */
static void slow_answers_end_the_trial(void **state)
{
    struct hand h = settled(10.0f, 300.0f);

    (void)state;
    wake(&h, 100);
    for (int i = 0; i < 20; i++) {
        h.now_ns += 300 * MS;
        reply(&h, 200);
        grant(&h);
    }
    assert_false(h.c.probe.bursting);
    assert_int_equal(h.pace.in_flight_max, FB_NO_CAP);
}

/* With something still in flight nobody idled: the answers are slow. */
static void who_waits_for_answers_does_not_idle(void **state)
{
    struct hand h = settled(10.0f, 300.0f);

    (void)state;
    h.in_flight = 5;
    wake(&h, 100);
    assert_false(h.c.probe.bursting);
}

/* ---- a window ---- */

static void a_quota_leaves_at_once_after_idling(void **state)
{
    struct hand h = under_quota(100);
    struct probe *p = &h.c.probe;

    (void)state;
    assert_true(p->bursting && p->spent == 0.0f);
    assert_close(h.pace.rate, 600.0, 1e-3);
    assert_int_equal(h.pace.in_flight_max, FB_NO_CAP);
    p->spent = 450.0f; /* it may be less than is believed */
    spend(&h, 1);
    assert_int_equal(h.pace.in_flight_max, 4);

    p->spent = 569.0f;
    spend(&h, 1);
    assert_int_equal(p->quotas, 1);
    assert_int_equal(h.pace.not_before_ns, p->opened_ns + 60 * S);
    h.now_ns = h.pace.not_before_ns;
    grant(&h); /* the next one, carefully: is it open again? */
    assert_int_equal(p->opened_ns, h.now_ns);
    assert_int_equal(h.pace.in_flight_max, 2);
    p->spent = 100.0f;
    spend(&h, 1);
    assert_int_equal(h.pace.in_flight_max, FB_NO_CAP);
}

static void a_few_quotas_then_evenly(void **state)
{
    struct hand h = under_quota(100);
    struct probe *p = &h.c.probe;

    (void)state;
    for (int i = 0; i < 4; i++) {
        assert_true(p->bursting);
        p->spent = 570.0f;
        grant(&h);
        h.now_ns = h.pace.not_before_ns;
        grant(&h);
    }
    assert_false(p->bursting);
    assert_close(h.pace.rate, 9.85, 1e-3);
}

/* Within the window what was spent before still counts. */
static void a_short_gap_saves_up_nothing_under_a_window(void **state)
{
    struct hand h = under_quota(30);

    (void)state;
    assert_false(h.c.probe.bursting);
    assert_close(h.pace.rate, 9.85, 1e-3);
}

/* Refused after a quota was spent at once: that count is exact, whatever length was believed. */
static void a_quota_that_was_refused_is_counted(void **state)
{
    struct hand h = under_quota(100);
    struct probe *p = &h.c.probe;

    (void)state;
    p->window_s = 30.0f;
    p->quotas = 1;
    p->bursting = false;
    p->accepted = 300.0f;
    p->empty_ns = h.now_ns - 31 * S;
    p->since_refusal = 300;
    h.now_ns += MS;
    reply(&h, 429);
    h.now_ns = h.pace.not_before_ns;
    ping(&h, 429);
    recover_at(&h, p->empty_ns + 59 * S, READ_WINDOW);
    assert_true(p->window_s == 60.0f);
    assert_close((double)p->limit, 5.0, 0.2);
}

/* ---- the network ---- */

static void what_a_stall_holds_back_is_bounded(void **state)
{
    static const struct {
        float latency_s;
        int64_t most;
    } rows[] = {{0.0f, FB_NO_CAP}, {0.04f, 2}, {0.1f, 4}, {0.2f, 8}, {0.9f, 64}, {1.1f, FB_NO_CAP}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct hand h = settled(10.0f, 300.0f);
        h.c.probe.latency_s = rows[i].latency_s;
        cancel(&h);
        assert_int_equal(h.pace.in_flight_max, rows[i].most);
    }

    struct hand fast = settled(1000.0f, 300.0f);
    fast.c.probe.latency_s = 0.1f;
    cancel(&fast);
    assert_int_equal(fast.pace.in_flight_max, FB_NO_CAP);
}

/* One late answer does not change what answers usually take. */
static void latency_is_learned(void **state)
{
    struct hand h = settled(10.0f, 300.0f);

    (void)state;
    h.o.latency_ns = 40 * MS;
    serve(&h, 3);
    assert_close((double)h.c.probe.latency_s, 0.04, 1e-6);
    h.o.latency_ns = 10 * S;
    serve(&h, 1);
    assert_close((double)h.c.probe.latency_s, 0.044, 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_stored_is_found_after_idling),
        cmocka_unit_test(what_is_told_bounds_a_burst_too),
        cmocka_unit_test(a_slow_limit_is_tried_fast),
        cmocka_unit_test(what_is_known_to_be_stored_leaves_at_once),
        cmocka_unit_test(slow_answers_end_the_trial),
        cmocka_unit_test(who_waits_for_answers_does_not_idle),
        cmocka_unit_test(a_quota_leaves_at_once_after_idling),
        cmocka_unit_test(a_few_quotas_then_evenly),
        cmocka_unit_test(a_short_gap_saves_up_nothing_under_a_window),
        cmocka_unit_test(a_quota_that_was_refused_is_counted),
        cmocka_unit_test(what_a_stall_holds_back_is_bounded),
        cmocka_unit_test(latency_is_learned),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
