/* SPDX-License-Identifier: MIT */
/* A bucket that shuts for some seconds whenever it refuses, and tells so. */
#include "test_probe_hand.h"

#include "test_probe.h"

#define READ_PENALTY "counted between two refusals that shut it for as long"

static void refuse_for(struct hand *h, int64_t wait_ns)
{
    h->o.retry_after_ns = wait_ns;
    refuse(h);
    h->o.retry_after_ns = FLY_ABSENT;
}

/* The climb got 35 in 6.3 s and was told to wait for 5: it may be a window. */
static struct hand climb_shut(void)
{
    struct hand h = first_climb(13.0f);
    struct probe *p = &h.c.probe;

    serve(&h, 10);
    p->total = p->accepted = 35.0f;
    p->total_ns = p->empty_ns = h.now_ns - 6290 * MS;
    p->since_refusal = 35;
    refuse_for(&h, 5 * S);
    recover(&h, READ_SHUT);
    assert_close((double)p->window_s, 5.0, 0.01);
    assert_close((double)p->limit, 7.0, 0.5);
    assert_int_equal(p->told_wait_s, 5);
    return h;
}

/* From the wait on so many were accepted in so long. */
static void pass(struct hand *h, float accepted, int64_t lasted_ns)
{
    struct probe *p = &h->c.probe;

    p->total += accepted;
    p->accepted += accepted;
    p->since_refusal = (int32_t)accepted;
    h->now_ns = p->next_ns = h->now_ns + lasted_ns - 10 * MS;
}

static void the_same_wait_twice_is_a_penalty(void **state)
{
    struct hand h = climb_shut();
    struct probe *p = &h.c.probe;

    (void)state;
    pass(&h, 71.0f, 10 * S);
    refuse_for(&h, 5 * S);
    assert_true(fb_probe_in_penalty(p) && p->failed_pings == 0);
    int64_t refused_ns = p->refused_ns;
    recover(&h, READ_PENALTY);
    assert_true(p->window_s <= 0.0f && !p->opening_seen && p->phase == PROBE_SETTLED);
    assert_close((double)p->limit, 4.8, 0.05);              /* 72 in 15 s, at least */
    assert_close((double)p->burst, 35.0 - 6.29 * 4.8, 1.0); /* the climb was full at first */
    assert_true(p->look_ns - h.now_ns < 140 * S);           /* so it is looked at soon */
    assert_int_equal(p->ahead_ns, refused_ns);              /* it fills up in the wait */
    assert_true(p->empty_ns > refused_ns);                  /* as far as it can store */
}

/* The climb got no more than is made: nothing is stored in the wait but one. */
static void what_stores_nothing_is_empty_after_the_wait(void **state)
{
    struct hand h = climb_shut();
    struct probe *p = &h.c.probe;

    (void)state;
    pass(&h, 110.0f, 10 * S);
    refuse_for(&h, 5 * S);
    recover(&h, READ_PENALTY);
    assert_true(p->burst <= 0.0f);
    assert_close((double)(h.now_ns - p->empty_ns) / 1e9, 1.0 / (double)p->limit, 0.05);
}

/* In a look upward that was refused, what was kept before counts. */
static void what_a_look_kept_is_the_least(void **state)
{
    struct hand h = climb_shut();
    struct probe *p = &h.c.probe;

    (void)state;
    pass(&h, 40.0f, 10 * S);
    p->lean = 0.3f;
    p->held = 8.0f;
    p->rate = 1.3f * p->limit;
    refuse_for(&h, 5 * S);
    recover(&h, READ_PENALTY);
    assert_close((double)p->limit, 8.0, 0.01);
    assert_no_raise(&h);
}

/* A window tells another wait each time, or is told of, or may have been exhausted so early. */
static void other_waits_are_windows(void **state)
{
    static const struct {
        int64_t wait_ns;
        bool headers;
        uint8_t reading;
        float window_s;
        float lean;
        float accepted;
        bool penalty;
    } rows[] = {
        {5 * S, false, 0, 5.0f, -MARGIN, 71.0f, true},
        {5 * S + 400 * MS, false, 0, 5.0f, -MARGIN, 71.0f, true},
        {4 * S, false, 0, 5.0f, -MARGIN, 71.0f, false},
        {5 * S, true, 0, 5.0f, -MARGIN, 71.0f, false},
        {5 * S, false, 0, 5.0f, -MARGIN, 36.0f, false}, /* no more than the first time */
        {5 * S, false, 3, 10.0f, -MARGIN, 71.0f, false},
        {5 * S, false, 3, 5.0f, -MARGIN, 36.0f, true}, /* at its very beginning */
        {5 * S, false, 3, 60.0f, 0.04f, 71.0f, false},
        {5 * S, false, 3, 30.0f, 0.04f, 71.0f, true},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct hand h = climb_shut();
        struct probe *p = &h.c.probe;

        pass(&h, rows[i].accepted, 10 * S);
        p->reading = rows[i].reading;
        p->window_s = rows[i].window_s;
        p->lean = rows[i].lean;
        p->told_reset_ns = rows[i].headers ? h.now_ns : FB_LONG_AGO;
        refuse_for(&h, rows[i].wait_ns);
        assert_int_equal(fb_probe_in_penalty(p), rows[i].penalty);
        assert_int_equal(p->failed_pings, rows[i].penalty ? 0 : 2);
        recover(&h, NULL);
        assert_int_equal(p->window_s > 0.0f, !rows[i].penalty);
    }
}

/* A window that was seen to close after a long wait counts anew: that says nothing. */
static void nothing_before_is_no_proof(void **state)
{
    struct hand h = climb_shut();
    struct probe *p = &h.c.probe;

    (void)state;
    pass(&h, 71.0f, 10 * S);
    p->total = p->accepted;
    refuse_for(&h, 5 * S);
    assert_false(fb_probe_in_penalty(p));
}

/* Neither what may be a second rounded up is a penalty, nor a wait that was never told. */
static void short_and_long_waits_are_none(void **state)
{
    static const struct {
        int64_t wait_ns;
        uint8_t kept_s;
    } rows[] = {{2 * S, 2}, {3000 * S, 250}, {FLY_ABSENT, 0}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct hand h = settled(10.0f, 200.0f);
        struct probe *p = &h.c.probe;

        refuse_for(&h, rows[i].wait_ns);
        recover(&h, NULL);
        assert_int_equal(p->told_wait_s, rows[i].kept_s);
        p->window_s = 0.0f;
        pass(&h, 100.0f, 20 * S);
        refuse_for(&h, rows[i].wait_ns);
        assert_false(fb_probe_in_penalty(p));
    }
}

/* A failure is none either, and forgets the wait before it. */
static void an_outage_forgets_the_wait(void **state)
{
    struct hand h = settled(10.0f, 200.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    refuse_for(&h, 5 * S);
    recover(&h, NULL);
    assert_int_equal(p->told_wait_s, 5);
    for (int i = 0; i < OUTAGE_ROW; i++)
        request(&h, 500);
    assert_true(p->outage);
    recover(&h, NULL);
    assert_int_equal(p->told_wait_s, 0);
}

/* Settled at 30 a second behind a penalty of 6 s, with that much of a store known. */
static struct hand penalised(float burst)
{
    struct hand h = settled(30.0f, 100.0f);
    struct probe *p = &h.c.probe;

    refuse_for(&h, 6 * S);
    recover(&h, NULL);
    p->window_s = 0.0f;
    p->opening_seen = false;
    p->burst = burst;
    p->limit = 30.0f;
    p->rate = 30.0f * (1.0f - MARGIN);
    p->lean = -MARGIN;
    p->look_ns = h.now_ns + 1000 * S;
    p->accepted = 0.0f;
    p->empty_ns = h.now_ns - fb_span((double)(burst / 30.0f));
    return h;
}

/* What it can store explains no more than the pace: it stores more. */
static void what_is_not_explained_is_stored(void **state)
{
    struct hand h = penalised(0.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    pass(&h, 478.0f, 16 * S); /* 26 a second, and 64 stored */
    refuse_for(&h, 6 * S);
    recover(&h, READ_SURPRISE);
    assert_close((double)p->limit, 25.5, 0.2); /* between 21.7 and 29.9 */
    assert_close((double)p->burst, 70.0, 3.0);
}

static void what_is_explained_is_measured(void **state)
{
    struct hand h = penalised(64.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    pass(&h, 478.0f, 16 * S);
    refuse_for(&h, 6 * S);
    recover(&h, READ_SURPRISE);
    assert_close((double)p->limit, 26.5, 0.4);
    assert_close((double)p->burst, 64.0, 0.01);
}

/* Where each refusal costs seconds a step of a look is long, however high it is. */
static void steps_are_long(void **state)
{
    static const float leans[] = {0.08f, 0.6f};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(leans); i++)
        for (int penalty = 0; penalty < 2; penalty++) {
            struct hand h = looking(10.0f, leans[i], 200.0f);
            struct probe *p = &h.c.probe;

            p->told_when = p->closed = penalty;
            p->ahead = 100.0f; /* more than is stored */
            p->ahead_ns = h.now_ns;
            serve(&h, 60);
            assert_int_equal(p->lean > leans[i], !penalty);
        }
}

/* What was kept tells the limit; what was got beyond it before says nothing about the store. */
static void what_lasted_is_no_store(void **state)
{
    static const struct {
        bool penalty;
        float held;
        float burst;
    } rows[] = {{true, 12.0f, 5.0f}, {true, 0.0f, 80.0f}, {false, 12.0f, 80.0f}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct hand h = looking(10.0f, 0.32f, 200.0f);
        struct probe *p = &h.c.probe;

        p->told_wait_s = rows[i].penalty ? 6 : 0;
        p->burst = 5.0f;
        p->ahead = 80.0f;
        p->ahead_ns = h.now_ns;
        p->held = rows[i].held;
        refuse_for(&h, rows[i].penalty ? 6 * S : S);
        assert_int_equal(fb_probe_in_penalty(p), rows[i].penalty);
        recover(&h, READ_BEYOND);
        assert_close((double)p->burst, (double)rows[i].burst, 2.0);
    }
}

/* It stored more than was known, and that left at once: no window of six seconds. */
static void the_next_run_knows_the_wait(void **state)
{
    struct hand h = penalised(20.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    go_on_elsewhere(&h);
    assert_int_equal(p->told_wait_s, 6);
    p->bursting = true;
    p->ahead = 30.0f;
    pass(&h, 30.0f, S / 2);
    refuse_for(&h, 6 * S);
    assert_true(fb_probe_in_penalty(p) && p->failed_pings == 0);
    recover(&h, READ_SAVED);
    assert_true(p->window_s <= 0.0f);
    assert_close((double)p->limit, 30.0, 0.01);
}

/* What lies in its place while it is shut is no wait. */
static void who_went_while_it_was_shut_kept_none(void **state)
{
    struct hand h = penalised(20.0f);

    (void)state;
    refuse_for(&h, 6 * S);
    go_on_elsewhere(&h);
    assert_int_equal(h.c.probe.told_wait_s, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_wait_twice_is_a_penalty),
        cmocka_unit_test(what_stores_nothing_is_empty_after_the_wait),
        cmocka_unit_test(what_a_look_kept_is_the_least),
        cmocka_unit_test(other_waits_are_windows),
        cmocka_unit_test(nothing_before_is_no_proof),
        cmocka_unit_test(short_and_long_waits_are_none),
        cmocka_unit_test(an_outage_forgets_the_wait),
        cmocka_unit_test(what_is_not_explained_is_stored),
        cmocka_unit_test(what_is_explained_is_measured),
        cmocka_unit_test(steps_are_long),
        cmocka_unit_test(what_lasted_is_no_store),
        cmocka_unit_test(the_next_run_knows_the_wait),
        cmocka_unit_test(who_went_while_it_was_shut_kept_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
