/* SPDX-License-Identifier: MIT */
/* A bucket that tells to wait for a second whenever it refuses. */
#include "test_probe_hand.h"

#include "test_probe.h"

/* The climb was refused at 128/s, and goes on at half of it. */
static struct hand climb_refused(void)
{
    struct hand h = first_climb(128.0f);
    struct probe *p = &h.c.probe;

    serve(&h, 40);
    h.o.retry_after_ns = S;
    refuse(&h);
    h.o.retry_after_ns = FLY_ABSENT;
    p->log.second = 60;
    recover(&h, READ_CLIMB);
    assert_true(p->phase == PROBE_FIRST && p->surprises == 1 && p->cycle_s == 0.0f);
    assert_close((double)p->rate, 64.0, 0.01);
    return h;
}

/* From the wait on so many were accepted in so long; then it is refused and told to wait. */
static void cycle(struct hand *h, int accepted, int64_t lasted_ns)
{
    struct probe *p = &h->c.probe;

    p->step_count = accepted;
    p->since_refusal = accepted;
    p->accepted = (float)accepted;
    h->now_ns = p->next_ns = p->step_ns + lasted_ns - 10 * MS;
    h->o.retry_after_ns = S;
    refuse(h);
    h->o.retry_after_ns = FLY_ABSENT;
    recover(h, READ_CLIMB);
    assert_no_raise(h);
}

static void two_cycles_tell_the_limit_and_the_store(void **state)
{
    struct hand h = climb_refused();
    struct probe *p = &h.c.probe;

    (void)state;
    assert_false(fb_probe_is_near(p)); /* it may be twice as much */
    cycle(&h, 90, 1400 * MS);          /* 50 a second, and 20 that were stored */
    assert_true(p->phase == PROBE_FIRST && p->surprises == 1 && fb_probe_is_near(p));
    assert_close((double)p->cycle, 90.0, 0.01);
    assert_close((double)p->cycle_s, 1.4, 0.001);
    assert_close((double)p->rate, 0.88 * 64.0, 0.01);
    assert_close((double)(p->limit * (1.0f + p->lean)), (double)p->rate, 0.01);
    cycle(&h, 185, 3300 * MS);
    assert_true(p->phase == PROBE_SETTLED && p->surprises == 0 && !fb_probe_is_near(p));
    assert_close((double)p->limit, 50.0, 0.1);
    assert_close((double)p->burst, 20.0, 0.3);
    assert_close((double)p->margin, (double)MARGIN, 1e-6);
    assert_true(p->look_ns - h.now_ns > 40 * S); /* a look costs a second more */
}

/* Neither what hardly differs tells anything, nor what an uneven line may have brought. */
static void cycles_that_do_not_differ_enough_go_on(void **state)
{
    static const struct {
        int accepted;
        int64_t lasted_ns;
        unsigned sway_ms;
        double slower; /* 0: it tells the limit */
    } rows[] = {
        {145, 2500 * MS, 0, 0.0},  {145, 2500 * MS, 40, 0.88}, {190, 3400 * MS, 40, 0.88},
        {275, 5000 * MS, 40, 0.0}, {110, 1790 * MS, 0, 0.88},  {120, 2000 * MS, 0, 0.88},
        {60, 900 * MS, 0, 0.88},   {120, 1740 * MS, 0, 0.952}, /* by what it let through */
        {135, 1790 * MS, 0, 0.98},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct hand h = climb_refused();
        struct probe *p = &h.c.probe;

        cycle(&h, 90, 1400 * MS);
        p->sway_s = (float)rows[i].sway_ms / 1000.0f;
        cycle(&h, rows[i].accepted, rows[i].lasted_ns);
        assert_int_equal(p->phase, rows[i].slower > 0.0 ? PROBE_FIRST : PROBE_SETTLED);
        if (rows[i].slower > 0.0) { /* the later is the one to go by */
            assert_close((double)p->cycle, (double)rows[i].accepted, 0.01);
            assert_close((double)p->rate, rows[i].slower * 0.88 * 64.0, 0.1);
        }
    }
}

/* What was stored in the wait hardly counts in so long. */
static void a_long_cycle_is_enough(void **state)
{
    struct hand h = climb_refused();

    (void)state;
    cycle(&h, 500, 9500 * MS);
    assert_int_equal(h.c.probe.phase, PROBE_SETTLED);
    assert_close((double)h.c.probe.limit, 50.0, 0.1);
}

/* Of a slow one too few are counted: half of the wait is taken for stored. */
static void a_slow_one_is_counted_with_half_the_wait(void **state)
{
    struct hand h = climb_refused();
    struct probe *p = &h.c.probe;

    (void)state;
    p->limit *= 0.5f;
    p->rate *= 0.5f;
    cycle(&h, 40, 1500 * MS);
    assert_int_equal(p->phase, PROBE_SETTLED);
    assert_close((double)p->limit, 20.3, 0.5);
}

/* Neither what is refused at once again is a cycle, nor what stays shut. */
static void a_cycle_is_long_and_ends_with_the_wait(void **state)
{
    (void)state;
    for (int shut = 0; shut < 2; shut++) {
        struct hand h = climb_refused();
        struct probe *p = &h.c.probe;

        p->since_refusal = shut ? 90 : NEAR - 2;
        h.o.retry_after_ns = S;
        refuse(&h);
        if (shut)
            ping(&h, 429);
        h.o.retry_after_ns = FLY_ABSENT;
        recover(&h, READ_CLIMB);
        assert_true(p->phase != PROBE_FIRST && p->cuts == 1);
        assert_no_raise(&h);
    }
}

/*
 * The lowered pace is not refused for long. What it got more than the cycle before, in the time by
 * which it is longer, is nearly the pace: it is the limit, and looked at much later.
 */
static void a_pace_that_holds_is_the_limit(void **state)
{
    (void)state;
    for (int uneven = 0; uneven < 2; uneven++) {
        struct hand h = climb_refused();
        struct probe *p = &h.c.probe;

        p->sway_s = uneven ? 0.03f : 0.0f;
        cycle(&h, 90, 1400 * MS);
        float rate = p->rate;
        serve(&h, 299);
        assert_int_equal(p->phase, PROBE_FIRST);
        assert_close((double)h.pace.burst, uneven ? 4.0 : 1.0, 1e-9);
        serve(&h, 140); /* (439 - 90) / (7.8 s - 1.4 s) is 96.9 % of it */
        assert_int_equal(p->phase, PROBE_FIRST);
        assert_true(p->rate == rate && h.pace.burst == 4.0f);
        serve(&h, 20);
        assert_true(p->phase == PROBE_SETTLED && p->surprises == 0);
        assert_close((double)p->limit, (uneven ? 0.985 : 1.0) * (double)rate, 0.01);
        assert_close((double)p->burst, 90.0 - 1.4 * (double)p->limit, 0.1);
        assert_true(p->look_ns - h.now_ns > 40 * S);
    }
}

/* Nor does it wait for ever where the pace is not used, or the cycle before was longer. */
static void a_pace_is_held_for_a_minute_at_most(void **state)
{
    static const struct {
        float cycle_s;
        int64_t lasted_ns;
        bool held;
    } rows[] = {{1.4f, 59 * S, false}, {1.4f, 61 * S, true}, {9.0f, 8 * S, false}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct hand h = climb_refused();
        struct probe *p = &h.c.probe;

        cycle(&h, 90, 1400 * MS);
        p->cycle_s = rows[i].cycle_s;
        p->step_count = 320;
        assert_int_equal(fb_probe_cycle_held(p, p->step_ns + rows[i].lasted_ns) > 0.0f,
                         rows[i].held);
    }
}

/* Half the pace was not refused either: slowly up again, and it was no chance. */
static void a_climb_goes_on_slowly(void **state)
{
    struct hand h = climb_refused();
    struct probe *p = &h.c.probe;

    (void)state;
    serve(&h, 301);
    assert_int_equal(p->surprises, 1);
    assert_close((double)p->rate, (1.0 + 1.15) * 32.0, 0.01);
    assert_int_equal(p->phase, PROBE_FIRST);
}

/* Where the pace had hardly risen in the last second it goes on with what was let through. */
static void what_was_let_through_is_kept(void **state)
{
    static const struct {
        uint8_t second;
        float told_left;
        unsigned sway_ms;
        double rate;
    } rows[] = {
        {120, -1.0f, 0, 120.0}, {150, -1.0f, 0, 128.0}, {90, -1.0f, 0, 64.0},
        {90, -1.0f, 30, 90.0},  {80, -1.0f, 30, 64.0},  {120, 10.0f, 0, 64.0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct hand h = first_climb(128.0f);
        struct probe *p = &h.c.probe;

        serve(&h, 40);
        h.o.retry_after_ns = S;
        refuse(&h);
        p->log.second = rows[i].second;
        p->log.sway_ms = rows[i].sway_ms & 127u;
        p->told_left = rows[i].told_left;
        float limit = fb_probe_read_cycle(p, p->rate, 1.0f);
        assert_true(limit == 0.0f);
        assert_close((double)p->rate, rows[i].rate, 0.01);
    }
}

/* Nobody counts the seconds where what is left is told. */
static void who_is_told_what_is_left_has_no_sway(void **state)
{
    struct hand h = climb_refused();
    struct probe *p = &h.c.probe;

    (void)state;
    cycle(&h, 90, 1400 * MS);
    h.o.retry_after_ns = S;
    p->step_count = 145;
    p->since_refusal = 145;
    h.now_ns = p->next_ns = p->step_ns + 2490 * MS;
    refuse(&h);
    p->told_left = 10.0f;
    p->told_pace = 0.0f;
    assert_close((double)fb_probe_read_cycle(p, p->rate, 0.0f), 50.0, 0.1);
}

/* At an even pace a bucket lets the same through in every second: that is no window. */
static void the_pace_itself_is_no_window(void **state)
{
    struct hand h = climb_refused();
    struct probe *p = &h.c.probe;

    (void)state;
    p->step_count = 90;
    h.o.retry_after_ns = S;
    h.now_ns = p->next_ns = p->step_ns + 1390 * MS;
    refuse(&h);
    p->log.second = p->log.second_before = 62;
    assert_false(fb_probe_is_second(p));
    p->step_ns += 300 * MS; /* within a second it is one */
    assert_true(fb_probe_is_second(p));
    p->step_ns -= 300 * MS;
    p->log.second = p->log.second_before = 50; /* so is what is far below the pace */
    assert_true(fb_probe_is_second(p));
}

/* Refused below 64/s and told to wait, after so many in a second as the time before. */
static struct hand refused_after(uint8_t second, uint8_t before, unsigned sway_ms)
{
    struct hand h = climb_refused();
    struct probe *p = &h.c.probe;

    p->step_count = p->since_refusal = 60;
    p->accepted = 60.0f;
    h.now_ns = p->next_ns = p->step_ns + 1390 * MS;
    h.o.retry_after_ns = S;
    refuse(&h);
    h.o.retry_after_ns = FLY_ABSENT;
    p->log.second = second;
    p->log.second_before = before;
    p->log.sway_ms = sway_ms & 127u;
    return h;
}

static void slow_to(struct probe *p, float rate)
{
    p->limit *= rate / p->rate;
    p->rate = rate;
}

/* It may be a window that slides: what that would bear of the number is tried, but only once. */
static void what_a_second_would_bear_is_tried(void **state)
{
    static const struct {
        uint8_t second, before;
        unsigned sway_ms;
        float window_s, cycle_s;
        double rate;
    } rows[] = {
        {50, 52, 40, 0.0f, 0.0f, 45.75},       {53, 46, 30, 0.0f, 0.0f, 45.75},
        {55, 54, 40, 0.0f, 0.0f, 49.87},       {69, 69, 40, 0.0f, 0.0f, 0.98 * 64.0},
        {50, 61, 30, 0.0f, 0.0f, 0.88 * 64.0}, {50, 52, 10, 0.0f, 0.0f, 0.88 * 64.0},
        {50, 52, 40, 9.0f, 0.0f, 0.88 * 64.0}, {50, 52, 40, 0.0f, 1.3f, 0.88 * 64.0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct hand h = refused_after(rows[i].second, rows[i].before, rows[i].sway_ms);
        struct probe *p = &h.c.probe;

        p->window_s = rows[i].window_s;
        p->cycle_s = rows[i].cycle_s;
        p->cycle = 50.0f;
        assert_true(fb_probe_read_cycle(p, p->rate, 0.0f) == 0.0f);
        assert_close((double)p->rate, rows[i].rate, 0.02);
    }
}

/* And where it bears that it is one. A pace that is lower or higher is what it is. */
static void what_bears_it_is_a_window_that_slides(void **state)
{
    static const float shares[] = {1.0f, 0.97f, 1.03f};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(shares); i++) {
        struct hand h = refused_after(50, 52, 40);
        struct probe *p = &h.c.probe;

        slow_to(p, 52.0f); /* nearly that many: it may be the pace that was counted */
        recover(&h, READ_CLIMB);
        assert_no_raise(&h);
        assert_true(p->phase == PROBE_FIRST && !fb_probe_by_second(p));
        p->limit *= shares[i];
        p->rate *= shares[i];
        float rate = p->rate;
        serve(&h, 301);
        assert_int_equal(p->phase, PROBE_SETTLED);
        assert_int_equal(fb_probe_by_second(p), i == 0);
        assert_close((double)p->limit, i == 0 ? 50.0 : 0.985 * (double)rate, 0.1);
        assert_close((double)p->rate, i == 0 ? 45.75 : 0.985 * 0.985 * (double)rate, 0.1);
        assert_true(p->look_ns - h.now_ns > 40 * S);
    }
}

/* Of a slow one enough are counted, where they are as many as the time before. */
static void a_slow_one_may_slide_too(void **state)
{
    struct hand h = refused_after(30, 31, 40);
    struct probe *p = &h.c.probe;

    (void)state;
    slow_to(p, 32.0f);
    p->step_count = 40;
    p->accepted = 40.0f;
    recover(&h, READ_CLIMB);
    assert_int_equal(p->phase, PROBE_FIRST);
    assert_close((double)p->rate, 0.915 * 30.0, 0.1);
}

/* In virtual time: a few refusals, and nearly all of it is used after them. */
static void a_bucket_is_found_by_a_few_refusals(void **state)
{
    static const int bursts[] = {10, 20, 40};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(bursts); i++) {
        struct world w = {.kind = BUCKET, .rate = 50.0, .burst = bursts[i], .retry_after = true};

        w.latency_ns = MS;
        w.workers = 8;
        begin(&w, "");
        run_until(&w, 15 * S);
        assert_true(accepted_rate(&w, 45 * S) >= 0.93 * 50.0);
        assert_at_most(w.refused, 5);
        end(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_cycles_tell_the_limit_and_the_store),
        cmocka_unit_test(cycles_that_do_not_differ_enough_go_on),
        cmocka_unit_test(a_long_cycle_is_enough),
        cmocka_unit_test(a_slow_one_is_counted_with_half_the_wait),
        cmocka_unit_test(a_cycle_is_long_and_ends_with_the_wait),
        cmocka_unit_test(a_pace_that_holds_is_the_limit),
        cmocka_unit_test(a_pace_is_held_for_a_minute_at_most),
        cmocka_unit_test(a_climb_goes_on_slowly),
        cmocka_unit_test(what_was_let_through_is_kept),
        cmocka_unit_test(who_is_told_what_is_left_has_no_sway),
        cmocka_unit_test(the_pace_itself_is_no_window),
        cmocka_unit_test(what_a_second_would_bear_is_tried),
        cmocka_unit_test(what_bears_it_is_a_window_that_slides),
        cmocka_unit_test(a_slow_one_may_slide_too),
        cmocka_unit_test(a_bucket_is_found_by_a_few_refusals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
