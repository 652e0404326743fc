/* SPDX-License-Identifier: MIT */
/*
 * Gates against their definitions, checked from outside: a random crowd knocks, what got through
 * is remembered, and the definition is applied to that record by brute force.
 */
#include "unit.h"

#include <math.h>

#include "core/instant.h"
#include "core/rng.h"
#include "sim/draw.h"
#include "sim/gate.h"

#define KNOCKS 4000

/* Whatever got through, and when. */
struct record {
    int64_t at_ns[KNOCKS];
    int count;
};

static bool knock(struct gate *g, int64_t now_ns, int64_t cost)
{
    if (g->kind->room(g, now_ns) >= cost) {
        g->kind->take(g, now_ns, cost);
        return true;
    }
    if (g->kind->refuse)
        g->kind->refuse(g, now_ns, cost);
    return false;
}

/* Knock at random times, `pace` times as often as the limit allows on average. */
static void crowd(struct gate *g, struct rng *rng, double pace, struct record *ret_record)
{
    double mean_s = 1.0 / (pace * fb_gate_rate(g, 0));
    int64_t now_ns = 0;

    ret_record->count = 0;
    for (int i = 0; i < KNOCKS; i++) {
        now_ns += fb_span(fb_draw_exp(rng, mean_s));
        if (knock(g, now_ns, 1))
            ret_record->at_ns[ret_record->count++] = now_ns;
    }
}

static struct gate windowed(const struct gate_kind *kind, int64_t limit, int64_t window_ns)
{
    return (struct gate){
        .kind = kind, .limit = limit, .window_ns = window_ns, .phase_ns = window_ns / 3};
}

static void ready(struct gate *g)
{
    assert_int_equal(fb_gate_init(g), 0);
}

/* The most in any half-open interval of this length. */
static int most_in_any(const struct record *r, int64_t length_ns)
{
    int most = 0;

    for (int from = 0, to = 0; to < r->count; to++) {
        while (r->at_ns[from] <= r->at_ns[to] - length_ns)
            from++;
        most = to - from + 1 > most ? to - from + 1 : most;
    }
    return most;
}

static void bucket_never_beyond_burst_and_rate(void **state)
{
    struct rng rng = {seed_of_run()};
    static struct record r;
    struct gate g = {.kind = &fb_gate_bucket, .rate = 3.0, .burst = 12.0};

    (void)state;
    ready(&g);
    crowd(&g, &rng, 1.5, &r);
    for (int i = 0; i < r.count; i += 7) {
        for (int k = i; k < r.count; k += 5) {
            double seconds = fb_seconds(r.at_ns[k] - r.at_ns[i]);

            assert_true(k - i + 1 <= 12.0 + 3.0 * seconds + 1e-6);
        }
    }
    /* And it gives all it has: refused half the time, it was empty nearly always. */
    assert_true(r.count > 0.97 * 3.0 * fb_seconds(r.at_ns[r.count - 1]));
}

static void bucket_of_one_is_strict_spacing(void **state)
{
    struct gate g = {.kind = &fb_gate_bucket, .rate = 4.0, .burst = 1.0};

    (void)state;
    ready(&g);
    assert_true(knock(&g, 1 * S, 1));
    assert_false(knock(&g, 1 * S + 249 * MS, 1));
    assert_true(knock(&g, 1 * S + 250 * MS, 1));
    assert_int_equal(g.kind->opens_at(&g, 1 * S + 250 * MS, 1), 1 * S + 500 * MS + 1);
}

static void bucket_follows_the_tide(void **state)
{
    struct tide t = {0};
    struct gate g = {.kind = &fb_gate_bucket, .rate = 2.0, .burst = 1000.0, .tide = &t};

    (void)state;
    fb_tide_add(&t, 0, 1.0);
    fb_tide_add(&t, 100 * S, 0.5);
    fb_tide_add(&t, 200 * S, 3.0);
    ready(&g);
    g.kind->take(&g, 0, 1000);
    assert_int_equal(g.kind->room(&g, 100 * S), 200);
    assert_int_equal(g.kind->room(&g, 200 * S), 300);
    assert_int_equal(g.kind->room(&g, 250 * S), 600);
    assert_true(fb_gate_rate(&g, 150 * S) == 1.0);
}

static void a_swinging_tide_integrates_to_itself(void **state)
{
    struct tide t = {.period_s = 600.0, .swing = 0.5, .shift_s = 77.0};
    double sum = 0.0;

    (void)state;
    for (int ms = 0; ms < 450000; ms++)
        sum += 0.001 * fb_tide_factor(&t, ms * MS + MS / 2);
    assert_true(fabs(sum - fb_tide_sum(&t, 450 * S)) < 1e-3);
    assert_true(fabs(fb_tide_sum(&t, 600 * S) - 600.0) < 1e-6);
}

static void fixed_window_counts_per_opening(void **state)
{
    struct rng rng = {seed_of_run()};
    static struct record r;
    static int per_window[KNOCKS];
    struct gate g = windowed(&fb_gate_fixed, 20, 9 * S);

    (void)state;
    memset(per_window, 0, sizeof per_window);
    ready(&g);
    crowd(&g, &rng, 1.5, &r);
    for (int i = 0; i < r.count; i++)
        per_window[(r.at_ns[i] + 6 * S) / (9 * S)]++;
    for (int i = 0; i < KNOCKS; i++)
        assert_in_range(per_window[i], 0, 20);
    assert_int_equal(g.kind->opens_at(&g, 3 * S + 900 * S, 1), 3 * S + 900 * S);
}

static void sliding_log_never_more_in_any_window(void **state)
{
    struct rng rng = {seed_of_run()};
    static struct record r;
    struct gate g = windowed(&fb_gate_log, 17, 5 * S);

    (void)state;
    ready(&g);
    crowd(&g, &rng, 2.0, &r);
    assert_int_equal(most_in_any(&r, 5 * S), 17);
    fb_gate_fini(&g);
}

/* Under pressure a log that counts refusals too never opens again; left alone it does. */
static void logged_refusals_keep_it_shut(void **state)
{
    struct gate g = windowed(&fb_gate_log_all, 5, 10 * S);

    (void)state;
    ready(&g);
    for (int i = 0; i < 5; i++)
        assert_true(knock(&g, i, 1));
    for (int64_t now_ns = 1 * S; now_ns < 60 * S; now_ns += 1 * S)
        assert_false(knock(&g, now_ns, 1));
    assert_int_equal(g.kind->opens_at(&g, 60 * S, 1), 65 * S);
    assert_true(knock(&g, 65 * S, 1));
    fb_gate_fini(&g);
}

static void debt_is_paid_window_by_window(void **state)
{
    struct gate g = {.kind = &fb_gate_debt, .limit = 10, .window_ns = 10 * S};

    (void)state;
    ready(&g);
    for (int i = 0; i < 10; i++)
        assert_true(knock(&g, 1 * S, 1));
    for (int i = 0; i < 15; i++)
        assert_false(knock(&g, 2 * S, 1));
    assert_int_equal(g.kind->opens_at(&g, 3 * S, 1), 20 * S);
    assert_int_equal(g.kind->room(&g, 10 * S), 0);
    assert_int_equal(g.kind->room(&g, 20 * S), 5);
    assert_int_equal(g.kind->room(&g, 100 * S), 10);
}

static void a_refusal_restarts_the_extended_window(void **state)
{
    struct gate g = {.kind = &fb_gate_extend, .limit = 2, .window_ns = 30 * S};

    (void)state;
    ready(&g);
    assert_true(knock(&g, 5 * S, 1));
    assert_true(knock(&g, 6 * S, 1));
    assert_false(knock(&g, 34 * S, 1));
    assert_int_equal(g.kind->opens_at(&g, 40 * S, 1), 64 * S);
    assert_false(knock(&g, 63 * S, 1));
    assert_true(knock(&g, 93 * S, 1));
    assert_true(knock(&g, 94 * S, 1));
}

static void approximate_window_weighs_the_last_one(void **state)
{
    struct gate g = {.kind = &fb_gate_approx, .limit = 100, .window_ns = 10 * S};

    (void)state;
    ready(&g);
    assert_true(knock(&g, 9 * S, 80));
    assert_int_equal(g.kind->room(&g, 10 * S), 20);
    assert_int_equal(g.kind->room(&g, 15 * S), 60);
    assert_true(knock(&g, 15 * S, 60));
    assert_int_equal(g.kind->opens_at(&g, 15 * S, 8), 16 * S + 1);
    assert_int_equal(g.kind->room(&g, 30 * S), 100);
}

static void the_crowd_is_counted_by_heads(void **state)
{
    struct gate g = {.kind = &fb_gate_crowd, .limit = 3};

    (void)state;
    ready(&g);
    for (int i = 0; i < 3; i++)
        assert_true(knock(&g, i, 1));
    assert_false(knock(&g, 9 * S, 1));
    assert_true(g.kind->opens_at(&g, 9 * S, 1) == INT64_MAX);
    g.kind->leave(&g);
    assert_true(knock(&g, 9 * S, 1));
}

static void the_queue_keeps_waiting(void **state)
{
    struct gate g = {.kind = &fb_gate_queue, .rate = 2.0, .burst = 3.0};

    (void)state;
    ready(&g);
    assert_int_equal(g.kind->take(&g, 0, 1), 500 * MS);
    assert_int_equal(g.kind->take(&g, 0, 1), 1000 * MS);
    assert_int_equal(g.kind->take(&g, 0, 1), 1500 * MS);
    assert_int_equal(g.kind->room(&g, 0), 0);
    assert_int_equal(g.kind->opens_at(&g, 0, 1), 500 * MS);
    assert_int_equal(g.kind->room(&g, 500 * MS), 1);
}

/* What opens_at() promises holds, and not much earlier, for every kind that can be knocked at. */
static void opens_when_it_says(void **state)
{
    struct rng rng = {seed_of_run()};
    struct gate gates[] = {
        {.kind = &fb_gate_bucket, .rate = 5.0, .burst = 30.0},
        windowed(&fb_gate_fixed, 50, 10 * S),
        windowed(&fb_gate_log, 50, 10 * S),
        windowed(&fb_gate_approx, 50, 10 * S),
        windowed(&fb_gate_debt, 50, 10 * S),
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(gates); i++) {
        struct gate *g = &gates[i];
        int64_t now_ns = 0;

        ready(g);
        for (int k = 0; k < 2000; k++) {
            int64_t cost = fb_draw_int(&rng, 1, 9);

            now_ns += fb_span(fb_draw_exp(&rng, 0.5));
            if (g->kind->room(g, now_ns) >= cost) {
                g->kind->take(g, now_ns, cost);
                continue;
            }
            int64_t at_ns = g->kind->opens_at(g, now_ns, cost);
            assert_at_least(at_ns, now_ns + 1);
            if (at_ns - 10 * MS > now_ns)
                assert_at_most(g->kind->room(g, at_ns - 10 * MS), cost - 1);
            assert_at_least(g->kind->room(g, at_ns), cost);
            now_ns = at_ns;
        }
        fb_gate_fini(g);
    }
}

/* The oracle's spacing keeps within every gate although arrivals jump about by up to x / 2. */
static void spacing_is_never_refused(void **state)
{
    struct rng rng = {seed_of_run()};
    static const double squeeze_s = 0.02;
    struct gate gates[] = {
        {.kind = &fb_gate_bucket, .rate = 5.0, .burst = 1.0},
        {.kind = &fb_gate_bucket, .rate = 100.0, .burst = 2.0},
        {.kind = &fb_gate_bucket, .rate = 100.0, .burst = 20.0},
        windowed(&fb_gate_fixed, 10, 1 * S),
        windowed(&fb_gate_log, 100, 1 * S),
        windowed(&fb_gate_approx, 60, 10 * S),
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(gates); i++) {
        struct gate *g = &gates[i];
        double spacing_s = g->kind->spacing(g, 0, squeeze_s, 1);

        ready(g);
        for (int k = 0; k < 5000; k++) {
            double jitter_s = squeeze_s * 0.5 * fb_rng_unit(&rng);
            /* Departures nearer than the jitter may overtake; gates see them in order. */
            if (spacing_s < squeeze_s * 0.5)
                jitter_s = spacing_s * fb_rng_unit(&rng);

            if (!knock(g, fb_span(spacing_s * (k + 1) + jitter_s), 1))
                fail_msg("gate %zu (%s) refused number %d", i, g->kind->name, k);
        }
        fb_gate_fini(g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bucket_never_beyond_burst_and_rate),
        cmocka_unit_test(bucket_of_one_is_strict_spacing),
        cmocka_unit_test(bucket_follows_the_tide),
        cmocka_unit_test(a_swinging_tide_integrates_to_itself),
        cmocka_unit_test(fixed_window_counts_per_opening),
        cmocka_unit_test(sliding_log_never_more_in_any_window),
        cmocka_unit_test(logged_refusals_keep_it_shut),
        cmocka_unit_test(debt_is_paid_window_by_window),
        cmocka_unit_test(a_refusal_restarts_the_extended_window),
        cmocka_unit_test(approximate_window_weighs_the_last_one),
        cmocka_unit_test(the_crowd_is_counted_by_heads),
        cmocka_unit_test(the_queue_keeps_waiting),
        cmocka_unit_test(opens_when_it_says),
        cmocka_unit_test(spacing_is_never_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
