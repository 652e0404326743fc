/* SPDX-License-Identifier: MIT */
/* A limit that stores nothing: the hint, the pair, what lies where the pace does, all of it. */
#include "test_probe_spacing.h"

#include "test_probe.h"

#define HALF_HOUR (1800 * S)

/* ---- the hint ---- */

static void who_is_refused_at_once_has_a_hint(void **state)
{
    static const struct refusal rows[] = {
        {-MARGIN, 0, 30, 0, 1, false, false, false, true}, /* after a ping */
        {-MARGIN, 1, 30, 0, 1, false, false, false, false},
        {0.04f, 0, 30, 0, 1, false, false, false, true},
        {0.04f, 1, 30, 0, 1, false, false, false, true}, /* a gap of the step before */
        {0.04f, 1, 2, 0, 1, false, false, false, true},
        {0.04f, 1, 1, 0, 1, false, false, false, false}, /* no step: the ping came before */
        {0.04f, 2, 30, 0, 1, false, false, false, false},
        {-MARGIN, 0, 30, 1, 1, false, false, false, false},
        {-MARGIN, 0, 30, 0, 2, false, false, false, true},
        {-MARGIN, 0, 30, 0, 3, false, false, false, false},
        {-MARGIN, 0, 30, 0, 2, true, false, false, false},
        {-MARGIN, 0, 30, 0, 1, false, true, false, false},
        {-MARGIN, 0, 30, 0, 1, false, false, true, false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct hand h =
            rows[i].lean > 0.0f ? looking(10.0f, rows[i].lean, 300.0f) : settled(10.0f, 300.0f);
        struct probe *p = &h.c.probe;

        be_refused(&h, &rows[i]);
        if (rows[i].hint)
            assert_true(p->too_fast == h.refused_at);
        else
            assert_true(p->too_fast == 0.0f);
        assert_false(fb_probe_spaced(p));
    }
}

/* What was under way with it, and is let through, was sent at the pace before. */
static void what_was_under_way_does_not_count(void **state)
{
    struct hand h = settled(10.0f, 300.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    h.in_flight_then = 2;
    grant(&h);
    refuse(&h);
    h.id = h.latest - 1;
    reply(&h, 200);
    assert_int_equal(p->also_accepted, 1);
    recover(&h, NULL);
    assert_true(p->too_fast == h.refused_at);
}

/* The slowest of them counts. Many that were let through had been stored. */
static void a_hint_is_kept_until_many_are_let_through(void **state)
{
    static const struct {
        float before;
        int32_t let_through;
        float after;
    } rows[] = {
        {8.0f, 0, 8.0f}, {12.0f, 0, 10.4f}, {12.0f, 2, 12.0f}, {12.0f, 7, 12.0f}, {12.0f, 8, 0.0f},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct hand h = looking(10.0f, 0.04f, 300.0f);
        struct refusal r = {.let_through = rows[i].let_through, .grants = 30, .in_flight = 1};

        h.c.probe.too_fast = rows[i].before;
        be_refused(&h, &r);
        assert_close((double)h.c.probe.too_fast, (double)rows[i].after, 1e-5);
    }
}

/* Where something else explains it there is no hint, and what lies in its place is not touched. */
static void what_is_explained_is_no_hint(void **state)
{
    static const struct {
        float window_s;
        float told_left;
        bool by_second;
    } rows[] = {
        {60.0f, -1.0f, false}, {0.0f, -61.0f, false}, {0.0f, 5.0f, false}, {0.0f, -1.0f, true}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct hand h = spaced(10.0f, 7.0f, 0.0f);
        struct probe *p = &h.c.probe;

        p->window_s = rows[i].window_s;
        p->told_left = rows[i].told_left;
        if (rows[i].told_left < 0.0f)
            p->log.by_second = rows[i].by_second;
        assert_false(fb_probe_spaced(p));
        p->step_count = 50;
        assert_false(fb_probe_may_pair(p));
        p->lean = FB_PAIR_LEAN;
        assert_false(fb_probe_pairs(p));
        p->lean = -MARGIN;
        p->step_count = 0;
        refuse(&h);
        assert_true(p->too_fast == 7.0f);
        recover(&h, NULL);
        assert_true(p->too_fast == 7.0f || p->window_s > 0.0f);
        assert_false(fb_probe_spaced(p));
    }
}

/* What stores some is none, nor where nothing was refused at once. */
static void what_spacing_is(void **state)
{
    struct hand h = spaced(10.0f, 11.0f, 0.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    p->burst = 0.5f;
    assert_false(fb_probe_spaced(p));
    p->burst = 0.0f;
    p->burst_found = false;
    assert_false(fb_probe_spaced(p));
    p->burst_found = true;
    p->too_fast = 0.0f;
    assert_false(fb_probe_spaced(p));
}

/* ---- the pair ---- */

static void the_pair_begins_when_what_stores_some_has_some(void **state)
{
    struct hand h = hinted(10.0f, 10.4f);
    struct probe *p = &h.c.probe;

    (void)state;
    serve(&h, 39);
    assert_true(p->lean == -MARGIN && !fb_probe_pairs(p));
    serve(&h, 1);
    assert_true(p->lean == FB_PAIR_LEAN && fb_probe_pairs(p));
    assert_close(h.pace.rate, 40.0, 1e-4);
}

/* When answers come, or which, is not known well, nor what the limit is: none begins. */
static void no_pair_where_it_says_little(void **state)
{
    static const struct {
        float too_fast;
        uint8_t phase;
        float latency_s;
        unsigned sway_ms;
        int64_t in_flight;
        bool known;
        bool pair;
    } rows[] = {
        {0.52f, PROBE_SETTLED, 0.5f, 19, 0, false, true},
        {0.0f, PROBE_SETTLED, 0.5f, 19, 0, false, false},
        {0.52f, PROBE_TRIAL, 0.5f, 19, 0, false, false},
        {0.52f, PROBE_SETTLED, 0.6f, 19, 0, false, false},
        {0.52f, PROBE_SETTLED, 0.5f, 20, 0, false, false},
        {0.52f, PROBE_SETTLED, 0.5f, 19, 1, false, false}, /* its answer would end the pair */
        {0.52f, PROBE_SETTLED, 0.5f, 19, 0, true, false},
        {0.8f, PROBE_SETTLED, 0.49f, 19, 0, false, true},
        {1.0f, PROBE_SETTLED, 0.39f, 19, 0, false, true},
        {1.0f, PROBE_SETTLED, 0.41f, 19, 0, false, false}, /* it would be no closer */
        {5.0f, PROBE_SETTLED, 0.39f, 19, 0, false, true},  /* that is far above the limit */
        {5.0f, PROBE_SETTLED, 0.41f, 19, 0, false, false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct hand h = hinted(0.5f, rows[i].too_fast);
        struct probe *p = &h.c.probe;

        p->phase = rows[i].phase;
        p->latency_s = rows[i].latency_s;
        p->log.sway_ms = rows[i].sway_ms & 127u;
        p->burst_found = rows[i].known;
        h.in_flight = rows[i].in_flight;
        serve(&h, 60);
        assert_int_equal(p->too_fast == 0.0f && rows[i].too_fast > 0.0f, rows[i].pair);
        assert_true(p->lean < 0.0f);
    }
}

/* In a step of a look none begins. */
static void none_while_looking(void **state)
{
    struct hand h = looking(10.0f, 0.02f, 300.0f);

    (void)state;
    h.c.probe.too_fast = 11.0f;
    h.c.probe.moves = true;
    h.c.probe.step_count = 100;
    assert_false(fb_probe_may_pair(&h.c.probe));
    h.c.probe.step_count = 0;
    serve(&h, 60);
    assert_true(h.c.probe.lean == 0.04f);
}

/* Only after a hint, below a limit that is known, and as long as it is not known to be spaced. */
static void what_a_pair_is(void **state)
{
    static const struct {
        float too_fast;
        uint8_t phase;
        bool known;
        bool pair;
    } rows[] = {
        {10.4f, PROBE_SETTLED, false, true},
        {0.0f, PROBE_SETTLED, false, false},
        {10.4f, PROBE_FIRST, false, false},
        {10.4f, PROBE_SETTLED, true, false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct hand h = hinted(10.0f, rows[i].too_fast);

        h.c.probe.lean = FB_PAIR_LEAN;
        h.c.probe.phase = rows[i].phase;
        h.c.probe.burst_found = rows[i].known;
        assert_int_equal(fb_probe_pairs(&h.c.probe), rows[i].pair);
    }
}

/* It stores some. No request leaves earlier than it would have without the pair. */
static void where_it_is_noisy_a_pair_proves_nothing(void **state)
{
    struct hand h = hinted(4.0f, 9.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    p->step_count = 40;
    assert_true(fb_probe_may_pair(p));
    p->surprises = 3;
    assert_false(fb_probe_may_pair(p));
    p->surprises = 0;
    p->noise_known = true;
    assert_false(fb_probe_may_pair(p));
}

static void a_pair_that_passes_ends_the_hint(void **state)
{
    struct hand h = pairing(10.0f, 10.4f);
    struct probe *p = &h.c.probe;
    int64_t began_ns = p->step_ns;

    (void)state;
    serve(&h, 1);
    assert_true(h.now_ns - began_ns < 30 * MS);
    assert_true(p->too_fast == 0.0f && p->lean == -MARGIN);
    assert_int_equal(p->phase, PROBE_SETTLED);
    assert_true(p->limit == 10.0f);
    assert_close(h.pace.rate, 9.85, 1e-3);
    assert_close((double)(h.pace.not_before_ns - began_ns) / 1e9, 2.0 / 9.85, 1e-3);
    h.now_ns = h.pace.not_before_ns;
    serve(&h, 60);
    assert_true(p->lean == -MARGIN); /* and none is tried again */
}

static void a_pair_that_is_refused_tells_that_nothing_is_stored(void **state)
{
    struct hand h = pairing(10.0f, 10.4f);
    struct probe *p = &h.c.probe;

    (void)state;
    p->surprises = 2;
    p->cuts = 4;
    p->looked = false;
    refuse(&h);
    recover(&h, READ_SPACED);
    assert_true(fb_probe_spaced(p) && p->burst == 0.0f);
    assert_true(p->surprises == 0 && p->cuts == 1 && p->looked); /* neither noise nor a store */
    assert_true(p->limit == 10.0f && p->too_fast == 10.4f);
    assert_int_equal(p->phase, PROBE_SETTLED);
    assert_close((double)(p->look_ns - h.now_ns) * (double)p->rate / 1e9, 8.0, 0.2);
    assert_no_raise(&h);
}

/* The pace that is too fast is never above one that was refused. */
static void a_pair_may_be_slower_than_the_hint(void **state)
{
    struct hand h = pairing(10.0f, 10.4f);

    (void)state;
    h.c.probe.too_fast = 100.0f;
    refuse(&h);
    recover(&h, READ_SPACED);
    assert_close((double)h.c.probe.too_fast, 40.0, 1e-4);
    assert_true(h.c.probe.limit == 10.0f);
}

/* Nothing was proven; nor does the height of the pair say anything about the limit. */
static void a_pair_that_is_refused_otherwise_says_nothing(void **state)
{
    static const struct {
        int32_t let_through;
        int pings;
        int64_t wait_ns;
    } rows[] = {{1, 0, FLY_ABSENT}, {0, 1, FLY_ABSENT}, {0, 0, S}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct hand h = pairing(10.0f, 10.4f);
        struct probe *p = &h.c.probe;

        p->step_count = rows[i].let_through;
        h.o.retry_after_ns = rows[i].wait_ns;
        refuse(&h);
        h.o.retry_after_ns = FLY_ABSENT;
        for (int k = 0; k < rows[i].pings; k++)
            ping(&h, 429);
        recover(&h, READ_EXPECTED);
        assert_true(p->too_fast == 0.0f && !fb_probe_spaced(p));
        assert_close((double)p->limit, 10.0, 0.11);
    }
}

/* A high step of a look is no pair, though there is a hint. */
static void a_high_step_is_no_pair(void **state)
{
    struct hand h = looking(10.0f, 5.12f, 300.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    p->too_fast = 11.0f;
    assert_false(fb_probe_pairs(p));
    serve(&h, 1);
    assert_true(p->lean == 5.12f && p->too_fast == 11.0f);
}

/* ---- what lies where `too_fast` does ---- */

static void the_next_run_knows_it(void **state)
{
    struct hand h = pairing(10.0f, 12.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    refuse(&h);
    recover(&h, READ_SPACED);
    float margin = p->margin;
    go_on_elsewhere(&h);
    assert_true(fb_probe_spaced(p));
    assert_true(p->too_fast == 12.0f && p->limit == 10.0f);
    assert_close((double)p->margin, (double)margin, 1e-6);
    assert_says(&h, READ_SPACED);
    look_after(&h);
    assert_true(fb_probe_halves_spacing(p));
    go_on_elsewhere(&h); /* a step is not gone on with */
    assert_true(fb_probe_spaced(p) && p->lean < 0.0f && p->limit == 10.0f);
}

/* Once is a hint only: it may be something else in the next run. */
static void the_next_run_has_no_hint(void **state)
{
    struct hand h = hinted(10.0f, 12.0f);

    (void)state;
    go_on_elsewhere(&h);
    assert_true(h.c.probe.too_fast == 0.0f);
}

/* It was shut for long, as a window is: that is counted from its opening on. */
static void a_window_that_is_met_counts_anew(void **state)
{
    struct hand h = spaced(10.0f, 1000.0f, 0.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    refuse(&h);
    while (h.now_ns - p->refused_ns < 40 * S)
        ping(&h, 429);
    recover(&h, READ_SHUT);
    assert_true(p->window_s >= 10.0f && p->spent == 1.0f && !fb_probe_spaced(p));
    fb_probe_no_window(p); /* and it was none */
    assert_true(p->too_fast == 0.0f && !fb_probe_spaced(p) && p->told_left == -1.0f);
    assert_true(p->window_s == 0.0f && !p->opening_seen);
}

/* It opens for a few only, again and again: no window, and the one that opened it is no pace. */
static void a_window_that_is_none_leaves_no_pace(void **state)
{
    struct hand h = settled(10.0f, 3.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    p->burst_found = true;
    p->window_s = 60.0f;
    p->opening_seen = true;
    p->spent = 3.0f;
    p->echoes = 3;
    p->since_refusal = 3;
    refuse(&h);
    recover(&h, READ_WINDOW);
    assert_true(p->window_s == 0.0f && p->too_fast == 0.0f && !fb_probe_spaced(p));
}

/* Headers tell of a window, of which some was used before: only what is seen of it is counted. */
static void headers_that_come_later_count_anew(void **state)
{
    static const struct {
        int64_t limit, remaining, length_ns;
    } rows[] = {{600, 300, 60 * S}, {20, 10, S}, {20, 19, S}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct hand h = spaced(10.0f, 1000.0f, 0.0f);
        struct probe *p = &h.c.probe;

        h.o.limit = rows[i].limit;
        h.o.remaining = rows[i].remaining;
        h.o.reset_ns = h.now_ns + rows[i].length_ns;
        request(&h, 200);
        assert_true(fb_probe_was_told(p) && p->window_s > 0.0f && !fb_probe_spaced(p));
        assert_true(p->spent == 1.0f);
        h.ample = true; /* more is told than is wanted */
        request(&h, 200);
        assert_true(fb_probe_kept_s(p) > 0.0f && !fb_probe_spaced(p));
        assert_true(p->kept_limit <= 20.0f);
    }
}

/* What headers told is kept, while it climbs: 503s that are none do not end that. */
static void what_is_kept_is_no_window_that_is_none(void **state)
{
    struct hand h = settled(10.0f, 300.0f);
    struct probe *p = &h.c.probe;

    (void)state;
    p->told_left = -61.0f;
    p->kept_limit = 10.0f;
    p->phase = PROBE_FIRST;
    p->lean = 1.0f;
    p->rate = 20.0f;
    assert_true(fb_probe_kept_s(p) == 60.0f);
    p->soft_row = SOFT_ROW_MAX - 1;
    p->soft_mean = 3.0f;
    p->since_refusal = 1;
    request(&h, 503);
    assert_int_equal(p->soft_row, SOFT_ROW_MAX);
    assert_true(fb_probe_kept_s(p) == 60.0f && p->kept_limit == 10.0f);
    h.o.limit = 600;
    h.o.remaining = 300;
    h.o.reset_ns = h.now_ns + 30 * S;
    request(&h, 200);
    assert_true(p->window_s == 60.0f && p->phase == PROBE_SETTLED);

    p->told_left = -61.0f; /* another window was met meanwhile, and was none */
    p->window_s = 10.0f;
    p->spent = 3.0f;
    fb_probe_no_window(p);
    assert_true(p->told_left == -1.0f && p->window_s == 0.0f && p->too_fast == 0.0f);
}

/* In a climb there was no limit to keep, and what was spent of the window is no pace. */
static void what_was_spent_is_no_pace(void **state)
{
    struct hand h = hand_of("");
    struct probe *p = &h.c.probe;

    (void)state;
    h.o.limit = 5000;
    h.o.remaining = 4000;
    h.o.reset_ns = 3000 * S;
    request(&h, 200);
    assert_true(p->spent > 0.0f && p->phase == PROBE_FIRST);
    fb_probe_need_not_be_told(p, h.now_ns);
    assert_true(p->too_fast == 0.0f && p->told_left == -1.0f);
}

/* What is counted by the second is no spacing, in no other process either. */
static void by_the_second_there_is_no_hint(void **state)
{
    static const float told_left[] = {-1.0f, -61.0f};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(told_left); i++) {
        struct hand h = hinted(20.0f, 30.0f);
        struct probe *p = &h.c.probe;
        struct answer a = {.outcome = &h.o, .now_ns = h.now_ns};

        p->told_left = told_left[i];
        p->burst_found = true;
        p->log.second = p->log.second_before = 20;
        fb_probe_settle_by_second(p, 20.0f, &a);
        assert_true(p->too_fast == (i == 0 ? 0.0f : 30.0f)); /* else it is what is kept */
        go_on_elsewhere(&h);
        assert_false(fb_probe_spaced(p));
    }
}

/* ---- as a whole ---- */

static void found(enum kind kind, double rate, double least, int64_t refused_most)
{
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct world w = {.kind = kind, .rate = rate, .burst = 1, .seed = seed};

        print_message("%s of %.1f/s, seed %d\n", kind == BUCKET ? "bucket" : "spacing", rate,
                      (int)seed);
        w.jitter_ns = 6 * MS;
        w.workers = seed == 3 ? 8 : 1;
        begin(&w, "");
        run_until(&w, HALF_HOUR);
        double used = accepted_rate(&w, 2 * HALF_HOUR) / rate;
        if (!(used >= least && used <= 1.001))
            fail_msg("used %.3f of the limit", used);
        assert_contains(why(&w).text, READ_SPACED);
        assert_at_most(w.refused, refused_most);
        end(&w);
    }
}

/* What stores one is the same as what wants a distance. */
static void strict_spacing_is_found_and_kept(void **state)
{
    (void)state;
    found(SPACING, 2.0, 0.97, 14);
    found(BUCKET, 2.0, 0.97, 14);
    found(SPACING, 10.0, 0.93, 25);
    found(BUCKET, 10.0, 0.93, 25);
}

/* What stores two or more is not: it lets a pair through. */
static void what_stores_two_is_no_spacing(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct world w = {.kind = BUCKET, .rate = 2, .burst = 3, .seed = seed, .jitter_ns = 6 * MS};

        print_message("seed %d\n", (int)seed);
        begin(&w, "");
        run_until(&w, HALF_HOUR);
        assert_true(accepted_rate(&w, 2 * HALF_HOUR) >= 0.93 * 2.0);
        assert_null(strstr(why(&w).text, READ_SPACED));
        end(&w);
    }
}

/* Where answers take about as long as the gap no pair is close, so that none tells anything. */
static void answers_that_take_a_gap_mislead_nobody(void **state)
{
    static const struct {
        double rate;
        int64_t latency_ns;
        double least;
    } rows[] = {{10.0, 90 * MS, 0.75}, {3.0, 300 * MS, 0.7}, {3.0, 450 * MS, 0.88}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct world w = {.kind = SPACING, .rate = rows[i].rate, .workers = 8, .seed = 1};

        w.latency_ns = rows[i].latency_ns;
        w.jitter_ns = 6 * MS;
        begin(&w, "");
        run_until(&w, HALF_HOUR);
        double used = accepted_rate(&w, 2 * HALF_HOUR) / rows[i].rate;
        if (!(used >= rows[i].least && used <= 1.001))
            fail_msg("row %zu: used %.3f", i, used);
        end(&w);
    }
}

/* Up to ten times, or down to a quarter. */
static void a_distance_that_changes_is_followed(void **state)
{
    static const double to[] = {0.5, 4.0, 20.0};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(to); i++) {
        struct world w = {.kind = SPACING, .rate = 2, .seed = i + 1, .jitter_ns = 6 * MS};

        begin(&w, "");
        run_until(&w, HALF_HOUR);
        int64_t refused = w.refused;
        w.rate = to[i];
        run_until(&w, 3 * HALF_HOUR);
        double used = accepted_rate(&w, 5 * HALF_HOUR) / to[i];
        if (!(used >= 0.88 && used <= 1.001))
            fail_msg("used %.3f of %.1f", used, to[i]);
        assert_at_most(w.refused - refused, 30);
        end(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_is_refused_at_once_has_a_hint),
        cmocka_unit_test(what_was_under_way_does_not_count),
        cmocka_unit_test(a_hint_is_kept_until_many_are_let_through),
        cmocka_unit_test(what_is_explained_is_no_hint),
        cmocka_unit_test(what_spacing_is),
        cmocka_unit_test(the_pair_begins_when_what_stores_some_has_some),
        cmocka_unit_test(no_pair_where_it_says_little),
        cmocka_unit_test(none_while_looking),
        cmocka_unit_test(what_a_pair_is),
        cmocka_unit_test(where_it_is_noisy_a_pair_proves_nothing),
        cmocka_unit_test(a_pair_that_passes_ends_the_hint),
        cmocka_unit_test(a_pair_that_is_refused_tells_that_nothing_is_stored),
        cmocka_unit_test(a_pair_may_be_slower_than_the_hint),
        cmocka_unit_test(a_pair_that_is_refused_otherwise_says_nothing),
        cmocka_unit_test(a_high_step_is_no_pair),
        cmocka_unit_test(the_next_run_knows_it),
        cmocka_unit_test(the_next_run_has_no_hint),
        cmocka_unit_test(a_window_that_is_met_counts_anew),
        cmocka_unit_test(a_window_that_is_none_leaves_no_pace),
        cmocka_unit_test(headers_that_come_later_count_anew),
        cmocka_unit_test(what_is_kept_is_no_window_that_is_none),
        cmocka_unit_test(what_was_spent_is_no_pace),
        cmocka_unit_test(by_the_second_there_is_no_hint),
        cmocka_unit_test(strict_spacing_is_found_and_kept),
        cmocka_unit_test(what_stores_two_is_no_spacing),
        cmocka_unit_test(answers_that_take_a_gap_mislead_nobody),
        cmocka_unit_test(a_distance_that_changes_is_followed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
