/* SPDX-License-Identifier: MIT */
/* Quota: health, the delay rule, both ways to spend, windows of the server, silence. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <flyball/flyball.h>

#include "core/constraint.h"
#include "core/controller.h"
#include "core/instant.h"
#include "core/quota.h"
#include "core/rng.h"
#include "core/spec.h"

#define S     FB_NS_PER_S
#define MS    FB_NS_PER_MS
#define DAY   (86400 * S)
#define NOW   (1000 * S)
#define SLOTS FB_SLOTS_quota

/* ---- the rule ---- */

static void health_changes_at_its_bounds(void **state)
{
    (void)state;
    assert_int_equal(fb_quota_health(100, -INT64_MAX), QUOTA_EXHAUSTED); /* more is out */
    assert_int_equal(fb_quota_health(100, 100), QUOTA_HEALTHY);
    assert_int_equal(fb_quota_health(100, 51), QUOTA_HEALTHY);
    assert_int_equal(fb_quota_health(100, 50), QUOTA_WARNING);
    assert_int_equal(fb_quota_health(100, 20), QUOTA_WARNING);
    assert_int_equal(fb_quota_health(100, 19), QUOTA_CRITICAL);
    assert_int_equal(fb_quota_health(100, 5), QUOTA_CRITICAL);
    assert_int_equal(fb_quota_health(100, 4), QUOTA_CRITICAL);
    assert_int_equal(fb_quota_health(100, 1), QUOTA_CRITICAL);
    assert_int_equal(fb_quota_health(100, 0), QUOTA_EXHAUSTED);
    assert_int_equal(fb_quota_health(100, -3), QUOTA_EXHAUSTED);
    assert_int_equal(fb_quota_health(1, 1), QUOTA_HEALTHY);
    assert_int_equal(fb_quota_health(FB_QUOTA_MAX, FB_QUOTA_MAX / 2), QUOTA_WARNING);
}

/* Of 1000, without a reserve, with 100 s for each one left: the multiplier is what is seen. */
static int64_t tenths_of_delay(int64_t remaining)
{
    return fb_quota_delay_ns(1000, remaining, 0, remaining * S) / (S / 10);
}

static void the_multiplier_follows_the_table(void **state)
{
    (void)state;
    assert_int_equal(tenths_of_delay(1000), 10);
    assert_int_equal(tenths_of_delay(501), 10);
    assert_int_equal(tenths_of_delay(500), 15);
    assert_int_equal(tenths_of_delay(200), 15);
    assert_int_equal(tenths_of_delay(199), 20);
    assert_int_equal(tenths_of_delay(50), 20);
    assert_int_equal(tenths_of_delay(49), 40);
    assert_int_equal(tenths_of_delay(1), 40);
}

static void the_delay_spreads_what_is_left(void **state)
{
    (void)state;
    /* 5000 an hour, all left, a tenth kept: 3600 s over 4500. */
    assert_int_equal(fb_quota_delay_ns(5000, 5000, 500, 3600 * S), 800 * MS);
    /* 4850 left, 42 min 30 s to go: 2550 s over 4350, rounded up. */
    assert_int_equal(fb_quota_delay_ns(5000, 4850, 500, 2550 * S), 586206897);
    /* 28 of 30 left, 75 s to go: 75 s over 25. */
    assert_int_equal(fb_quota_delay_ns(30, 28, 3, 75 * S), 3 * S);
}

static void the_delay_has_bounds(void **state)
{
    (void)state;
    assert_int_equal(fb_quota_delay_ns(5000, 5000, 500, 0), 50 * MS);
    assert_int_equal(fb_quota_delay_ns(5000, 5000, 0, 250 * S), 50 * MS);
    assert_int_equal(fb_quota_delay_ns(5000, 5000, 0, 250 * S + 1), 50 * MS + 1);
    assert_int_equal(fb_quota_delay_ns(5000, 5000, 5000, 3600 * S), 60 * S); /* max(1, 0) */
    assert_int_equal(fb_quota_delay_ns(5000, 5000, 4999, 60 * S - 1), 60 * S - 1);
    assert_int_equal(fb_quota_delay_ns(5000, 400, 500, 3600 * S), 60 * S);
    assert_int_equal(fb_quota_delay_ns(5000, 0, 500, 10 * S), 40 * S);
    assert_int_equal(fb_quota_delay_ns(5000, -7, 500, FB_TIME_MAX), 60 * S);
    assert_int_equal(fb_quota_delay_ns(FB_QUOTA_MAX, FB_QUOTA_MAX, 0, FB_TIME_MAX), 50 * MS);
}

static void less_left_is_never_healthier_nor_faster(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct rng rng = {seed};
        int64_t limit = 1 + (int64_t)(fb_rng_next(&rng) % 3000);
        int64_t reserve = (int64_t)(fb_rng_next(&rng) % 300);
        int64_t time_left_ns = (int64_t)(fb_rng_next(&rng) % (uint64_t)(3600 * S));

        print_message("seed %llu\n", (unsigned long long)seed);
        for (int64_t left = limit; left > -3; left--) {
            assert_true(fb_quota_health(limit, left - 1) >= fb_quota_health(limit, left));
            assert_true(fb_quota_delay_ns(limit, left - 1, reserve, time_left_ns) >=
                        fb_quota_delay_ns(limit, left, reserve, time_left_ns));
        }
    }
}

/* ---- a limiter's view ---- */

struct rig {
    int64_t slot[SLOTS];
    struct rng rng;
    int64_t in_flight;
    int64_t units_out;
};

static struct rig rig_of(enum pacing pacing, int64_t reserve_ppm)
{
    struct rig r = {.rng = {7}};
    struct spec s = {.pacing = pacing, .reserve_ppm = reserve_ppm};

    assert_true(fb_constraint_quota.init(r.slot, &s, NULL, NOW));
    return r;
}

static int64_t ready_at(const struct rig *r, int64_t cost, int64_t now_ns)
{
    struct ask q = {now_ns, cost, r->in_flight, r->units_out, 1, 0};

    return fb_constraint_quota.ready_at(r->slot, &q);
}

static void take(struct rig *r, int64_t cost, int64_t now_ns)
{
    struct ask q = {now_ns, cost, r->in_flight, r->units_out, 1, 0};

    assert_true(fb_constraint_quota.ready_at(r->slot, &q) <= now_ns);
    fb_constraint_quota.take(r->slot, &q);
    r->in_flight++;
    r->units_out += cost;
}

/* Ends a request of `cost` that left at `sent_ns`. */
static void answer(struct rig *r, int64_t cost, const struct fly_outcome *o, int64_t now_ns)
{
    r->in_flight--;
    r->units_out -= cost;
    struct answer a = {
        .outcome = o,
        .now_ns = now_ns,
        .cost = cost,
        .in_flight = r->in_flight,
        .units_out = r->units_out,
        .throttled = o->status == 429,
        .accepted = o->status >= 200 && o->status < 400,
    };
    fb_constraint_quota.report(r->slot, &a, &r->rng);
}

static struct fly_outcome told(int64_t limit, int64_t remaining, int64_t reset_ns)
{
    return (struct fly_outcome){
        .limit = limit,
        .remaining = remaining,
        .reset_ns = reset_ns,
        .retry_after_ns = FLY_ABSENT,
        .status = 200,
    };
}

/* One request of cost 1 leaves and is answered at once, telling this. */
static void tell(struct rig *r, int64_t limit, int64_t remaining, int64_t reset_ns, int64_t now_ns)
{
    struct fly_outcome o = told(limit, remaining, reset_ns);

    r->in_flight++;
    r->units_out++;
    o.sent_ns = now_ns;
    answer(r, 1, &o, now_ns);
}

static void tell_nothing(struct rig *r, int64_t cost, int32_t status, int64_t now_ns)
{
    struct fly_outcome o = told(FLY_ABSENT, FLY_ABSENT, FLY_ABSENT);

    r->in_flight++;
    r->units_out += cost;
    o.sent_ns = now_ns;
    o.status = status;
    answer(r, cost, &o, now_ns);
}

static bool is_idle(const struct rig *r)
{
    return fb_constraint_quota.idle(r->slot, NOW);
}

/* ---- what is to come ---- */

static void a_backlog_is_said_and_counted_down(void **state)
{
    struct rig r = rig_of(PACING_UNSAID, -1);

    (void)state;
    assert_int_equal(fb_quota_backlog(r.slot), -1);
    fb_quota_count_down(r.slot, 1); /* of what nobody knows */
    assert_int_equal(fb_quota_backlog(r.slot), -1);
    fb_quota_say_backlog(r.slot, 5, 0);
    fb_quota_count_down(r.slot, 3);
    assert_int_equal(fb_quota_backlog(r.slot), 2);
    fb_quota_count_down(r.slot, 2);
    assert_int_equal(fb_quota_backlog(r.slot), 0);
    fb_quota_count_down(r.slot, 1); /* one more than was said */
    assert_int_equal(fb_quota_backlog(r.slot), -1);
    fb_quota_say_backlog(r.slot, INT64_MAX, S); /* and said anew, at once */
    assert_int_equal(fb_quota_backlog(r.slot), FB_QUOTA_MAX);
    fb_quota_count_down(r.slot, INT64_MAX);
    assert_int_equal(fb_quota_backlog(r.slot), -1);
}

static void of_several_backlogs_the_largest_counts(void **state)
{
    struct rig r = rig_of(PACING_UNSAID, -1);

    (void)state;
    fb_quota_say_backlog(r.slot, 3000, NOW);
    fb_quota_say_backlog(r.slot, 100, NOW + 5 * S);
    assert_int_equal(fb_quota_backlog(r.slot), 3000);
    fb_quota_say_backlog(r.slot, 3000, NOW + 9 * S); /* again */
    fb_quota_say_backlog(r.slot, 100, NOW + 18 * S);
    assert_int_equal(fb_quota_backlog(r.slot), 3000);
    fb_quota_say_backlog(r.slot, 100, NOW + 19 * S); /* not any more */
    assert_int_equal(fb_quota_backlog(r.slot), 100);
    fb_quota_say_backlog(r.slot, 200, NOW + 19 * S);
    assert_int_equal(fb_quota_backlog(r.slot), 200);
    fb_quota_say_backlog(r.slot, INT64_MIN, NOW + 20 * S); /* not to know is more than any */
    assert_int_equal(fb_quota_backlog(r.slot), -1);
    fb_quota_say_backlog(r.slot, 200, NOW + 29 * S);
    assert_int_equal(fb_quota_backlog(r.slot), -1);
    fb_quota_say_backlog(r.slot, 200, NOW + 30 * S);
    assert_int_equal(fb_quota_backlog(r.slot), 200);
    fb_quota_say_backlog(r.slot, -1, NOW + 60 * S);
    fb_quota_say_backlog(r.slot, -1, NOW + 60 * S);
    assert_int_equal(fb_quota_backlog(r.slot), -1);
}

/* The seconds come round. */
static void a_backlog_is_said_for_long(void **state)
{
    struct rig r = rig_of(PACING_UNSAID, -1);

    (void)state;
    for (int64_t s = (1 << 21) - 30; s < (1 << 21) + 30; s++) {
        fb_quota_say_backlog(r.slot, 7, s * S);
        fb_quota_say_backlog(r.slot, 6, s * S);
        assert_int_equal(fb_quota_backlog(r.slot), 7);
    }
    fb_quota_say_backlog(r.slot, 6, ((1 << 21) + 39) * S);
    assert_int_equal(fb_quota_backlog(r.slot), 6);
}

static int64_t ready_with(const struct rig *r, int64_t to_come, int64_t cost, int64_t now_ns)
{
    struct ask q = {now_ns, cost, r->in_flight, r->units_out, 1, to_come};

    return fb_constraint_quota.ready_at(r->slot, &q);
}

/* 1000 of 5000 left, of which 500 are kept. */
static void what_fits_is_not_spread(void **state)
{
    struct rig r = rig_of(PACING_UNSAID, -1);

    (void)state;
    tell(&r, 5000, 1000, NOW + 3600 * S, NOW);
    for (int i = 0; i < 10; i++)
        take(&r, 1, NOW);
    assert_true(ready_with(&r, 0, 1, NOW) > NOW);
    assert_true(ready_with(&r, 491, 1, NOW) > NOW);
    assert_int_equal(ready_with(&r, 490, 1, NOW), NOW);
    assert_int_equal(ready_with(&r, 1, 490, NOW), NOW);
    assert_true(ready_with(&r, 1, 491, NOW) > NOW);
    struct ask q = {NOW, 1, r.in_flight, r.units_out, 1, 490};
    int64_t next_ns = r.slot[FB_QUOTA_NEXT];
    fb_constraint_quota.take(r.slot, &q);
    assert_int_equal(r.slot[FB_QUOTA_NEXT], next_ns);
}

static void spacing_fits_into_one_slot(void **state)
{
    static const struct spacing all[] = {
        {50 * MS, 60 * S, 10},
        {1 * MS, 1 * MS, 1},
        {3600 * S, 3600 * S, 100000},
        {1 * MS, 3600 * S, 1},
    };
    struct spacing fine = {1, MS + 1, 1};

    (void)state;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        struct spacing s = fb_spacing_unpack(fb_spacing_pack(&all[i]));

        assert_int_equal(s.least_ns, all[i].least_ns);
        assert_int_equal(s.most_ns, all[i].most_ns);
        assert_int_equal(s.ahead, all[i].ahead);
    }
    fine = fb_spacing_unpack(fb_spacing_pack(&fine)); /* rounded up */
    assert_int_equal(fine.least_ns, MS);
    assert_int_equal(fine.most_ns, 2 * MS);
}

/* 100 left for 1000 s: 10 s apart and 10 ahead, unless somebody says otherwise. */
static void the_bounds_of_the_spacing_are_the_users(void **state)
{
    static const struct {
        struct spec spec;
        int64_t apart_ns;
        int64_t at_once;
    } rows[] = {
        {{.reserve_ppm = 0}, 10 * S, 10},
        {{.reserve_ppm = 0, .interval_max_ns = 4 * S}, 4 * S, 10},
        {{.reserve_ppm = 0, .interval_min_ns = 20 * S}, 20 * S, 10},
        {{.reserve_ppm = 0, .ahead = 3}, 10 * S, 3},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct rig r = {.rng = {7}};
        int64_t count = 0;

        assert_true(fb_constraint_quota.init(r.slot, &rows[i].spec, NULL, NOW));
        tell(&r, 100, 100, NOW + 1000 * S, NOW);
        assert_in_range(r.slot[FB_QUOTA_AHEAD], (rows[i].at_once - 1) * rows[i].apart_ns,
                        (rows[i].at_once - 1) * (rows[i].apart_ns * 11 / 10));
        for (; count < 50 && ready_at(&r, 1, NOW) <= NOW; count++)
            take(&r, 1, NOW);
        assert_in_range(count, rows[i].at_once - 1, rows[i].at_once + 1);
    }
}

static void the_prober_reads_headers_itself(void **state)
{
    struct spec s = {.controller = &fb_controller_probe, .reserve_ppm = -1};
    int64_t slot[SLOTS] = {0};

    (void)state;
    assert_false(fb_constraint_quota.init(slot, &s, NULL, NOW));
    s.pacing = PACING_EVEN;
    assert_true(fb_constraint_quota.init(slot, &s, NULL, NOW));
    s.pacing = PACING_UNSAID;
    s.controller = &fb_controller_aimd;
    assert_true(fb_constraint_quota.init(slot, &s, NULL, NOW));
    s.controller = NULL;
    assert_true(fb_constraint_quota.init(slot, &s, NULL, NOW));
}

static void nothing_is_in_force_until_all_is_told(void **state)
{
    struct rig r = rig_of(PACING_UNSAID, -1);

    (void)state;
    tell(&r, FLY_ABSENT, 0, NOW + 60 * S, NOW);
    tell(&r, 0, 0, NOW + 60 * S, NOW);
    tell(&r, 100, FLY_ABSENT, NOW + 60 * S, NOW);
    tell(&r, 100, -1, NOW + 60 * S, NOW);
    tell(&r, 100, 0, FLY_ABSENT, NOW);
    tell(&r, 100, 0, NOW, NOW);
    tell_nothing(&r, 1, 200, NOW);
    tell_nothing(&r, 1, 500, NOW);
    assert_true(is_idle(&r));
    assert_int_equal(ready_at(&r, 1000, NOW), NOW);
    take(&r, 1000, NOW);
    tell(&r, 100, 100, NOW + 60 * S, NOW);
    assert_false(is_idle(&r));
}

/* ---- even ---- */

static void even_lets_ten_run_ahead_then_spaces(void **state)
{
    struct rig r = rig_of(PACING_UNSAID, 0);

    (void)state;
    tell(&r, 10000, 10000, NOW + 10000 * S, NOW); /* a second each, a little more with jitter */
    for (int i = 0; i < 10; i++)
        take(&r, 1, NOW);
    int64_t at_ns = ready_at(&r, 1, NOW);
    assert_in_range(at_ns - NOW, 98 * S / 100, 102 * S / 100);
    take(&r, 1, at_ns);
    assert_true(ready_at(&r, 1, at_ns) >= at_ns + 99 * S / 100);
}

static void the_reserve_slows_down(void **state)
{
    struct rig r = rig_of(PACING_EVEN, -1); /* a tenth is kept */
    struct rig half = rig_of(PACING_EVEN, 500000);

    (void)state;
    tell(&r, 5000, 5000, NOW + 3600 * S, NOW);
    tell(&half, 5000, 5000, NOW + 3600 * S, NOW);
    for (int i = 0; i < 10; i++) {
        take(&r, 1, NOW);
        take(&half, 1, NOW);
    }
    assert_in_range(ready_at(&r, 1, NOW) - NOW, 780 * MS, 820 * MS);
    assert_in_range(ready_at(&half, 1, NOW) - NOW, 1410 * MS, 1470 * MS);
}

static void a_large_cost_is_spaced_as_one_request(void **state)
{
    struct rig r = rig_of(PACING_EVEN, 0);

    (void)state;
    tell(&r, 90000000, 90000000, NOW + 60000 * S, NOW);
    for (int i = 0; i < 10; i++)
        take(&r, 1500, NOW); /* a second's worth each */
    assert_in_range(ready_at(&r, 1500, NOW) - NOW, 98 * S / 100, 102 * S / 100);
}

static void a_cancelled_grant_gives_its_place_back(void **state)
{
    struct rig r = rig_of(PACING_EVEN, 0);
    struct ask q = {.now_ns = NOW, .cost = 1};

    (void)state;
    fb_constraint_quota.refund(r.slot, &q); /* nothing told yet: nothing to give back */
    tell(&r, 10000, 10000, NOW + 10000 * S, NOW);
    for (int i = 0; i < 10; i++)
        take(&r, 1, NOW);
    assert_true(ready_at(&r, 1, NOW) > NOW);
    r.units_out--;
    q.units_out = r.units_out;
    fb_constraint_quota.refund(r.slot, &q);
    assert_true(ready_at(&r, 1, NOW) <= NOW);
    q.cost = -1; /* it was used after all */
    fb_constraint_quota.refund(r.slot, &q);
    assert_true(ready_at(&r, 1, NOW) > NOW);
    q.cost = 0;
    int64_t at_ns = ready_at(&r, 1, NOW);
    fb_constraint_quota.refund(r.slot, &q);
    assert_int_equal(ready_at(&r, 1, NOW), at_ns);
}

static void the_wait_for_a_reset_has_positive_jitter(void **state)
{
    int64_t most = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 500; seed++) {
        struct rig r = rig_of(PACING_DEMAND, -1);
        r.rng.state = seed;
        tell(&r, 100, 0, NOW + 50 * S, NOW);
        int64_t wait_ns = ready_at(&r, 1, NOW) - NOW;
        assert_in_range(wait_ns, 50 * S, 50 * S + S / 2); /* 1 % of it */
        most = fb_max64(most, wait_ns);
    }
    assert_true(most > 50 * S + 49 * S / 100);
}

static void what_is_used_up_waits_for_the_reset(void **state)
{
    struct rig r = rig_of(PACING_EVEN, 0);

    (void)state;
    tell(&r, 100, 3, NOW + 50 * S, NOW);
    assert_true(ready_at(&r, 3, NOW) <= NOW);
    int64_t at_ns = ready_at(&r, 4, NOW);
    assert_in_range(at_ns, NOW + 50 * S, NOW + 50 * S + S / 2); /* positive jitter of 1 % */
    tell(&r, 100, 0, NOW + 50 * S, NOW);
    assert_int_equal(ready_at(&r, 1, NOW), at_ns);
    assert_int_equal(ready_at(&r, 1, NOW + 49 * S), at_ns); /* fixed when it was told */
}

static void no_spacing_reaches_beyond_the_reset(void **state)
{
    struct rig r = rig_of(PACING_EVEN, -1);

    (void)state;
    tell(&r, 100, 10, NOW + 20 * S, NOW); /* only the reserve is left: 60 s each */
    int sent = 0;
    while (ready_at(&r, 1, NOW) <= NOW) {
        take(&r, 1, NOW);
        sent++;
    }
    assert_in_range(sent, 1, 10);
    assert_in_range(ready_at(&r, 1, NOW), NOW + 20 * S, NOW + 21 * S);
}

/* ---- demand ---- */

static void demand_goes_at_full_speed_until_the_end(void **state)
{
    struct rig r = rig_of(PACING_DEMAND, -1);
    struct ask q = {.now_ns = NOW, .cost = 1};

    (void)state;
    tell(&r, 100, 40, NOW + 60 * S, NOW);
    for (int i = 0; i < 40; i++)
        take(&r, 1, NOW);
    assert_in_range(ready_at(&r, 1, NOW), NOW + 60 * S, NOW + 61 * S);
    fb_constraint_quota.refund(r.slot, &q); /* no place in a row to give back */
    r.units_out--;
    assert_int_equal(ready_at(&r, 1, NOW), NOW);
}

static void demand_keeps_a_reserve_that_is_said(void **state)
{
    struct rig r = rig_of(PACING_DEMAND, 200000);

    (void)state;
    tell(&r, 99, 40, NOW + 60 * S, NOW); /* 19.8 is rounded up to 20 */
    take(&r, 20, NOW);
    assert_in_range(ready_at(&r, 1, NOW), NOW + 60 * S, NOW + 61 * S);
}

/* ---- what answers tell ---- */

static void what_is_out_counts_as_spent(void **state)
{
    struct rig r = rig_of(PACING_DEMAND, -1);
    struct fly_outcome later = told(100, 48, NOW + 60 * S);
    struct fly_outcome sooner = told(100, 49, NOW + 60 * S);

    (void)state;
    tell(&r, 100, 50, NOW + 60 * S, NOW);
    take(&r, 1, NOW);
    take(&r, 1, NOW);
    assert_int_equal(ready_at(&r, 48, NOW), NOW);
    assert_true(ready_at(&r, 49, NOW) > NOW);
    answer(&r, 1, &later, NOW); /* overtook the other one */
    assert_int_equal(ready_at(&r, 47, NOW), NOW);
    assert_true(ready_at(&r, 48, NOW) > NOW);
    answer(&r, 1, &sooner, NOW); /* the least told is believed */
    assert_int_equal(ready_at(&r, 48, NOW), NOW);
    assert_true(ready_at(&r, 49, NOW) > NOW);
}

static void silence_spends_too(void **state)
{
    struct rig r = rig_of(PACING_DEMAND, -1);

    (void)state;
    tell(&r, 100, 50, NOW + 60 * S, NOW);
    tell_nothing(&r, 5, 200, NOW);
    tell_nothing(&r, 5, 0, NOW); /* nobody knows whether a timed-out request was counted */
    assert_int_equal(ready_at(&r, 40, NOW), NOW);
    assert_true(ready_at(&r, 41, NOW) > NOW);
}

static void silence_counts_until_a_later_request_tells(void **state)
{
    struct rig r = rig_of(PACING_DEMAND, -1);
    struct fly_outcome sooner = told(100, 49, NOW + 60 * S);

    (void)state;
    tell(&r, 100, 50, NOW + 60 * S, NOW);
    take(&r, 1, NOW);
    sooner.sent_ns = NOW;
    tell_nothing(&r, 5, 200, NOW + S);
    answer(&r, 1, &sooner, NOW + 2 * S); /* cannot know of what left after it */
    assert_int_equal(ready_at(&r, 44, NOW + 2 * S), NOW + 2 * S);
    assert_true(ready_at(&r, 45, NOW + 2 * S) > NOW + 2 * S);
    tell(&r, 100, 43, NOW + 60 * S, NOW + 3 * S); /* does */
    assert_int_equal(ready_at(&r, 43, NOW + 3 * S), NOW + 3 * S);
    assert_true(ready_at(&r, 44, NOW + 3 * S) > NOW + 3 * S);
}

static void a_later_reset_is_a_new_window(void **state)
{
    struct rig r = rig_of(PACING_DEMAND, -1);

    (void)state;
    tell(&r, 100, 0, NOW + 60 * S, NOW);
    tell(&r, 100, 90, NOW + 61 * S, NOW); /* within a second: the same one */
    tell(&r, 100, 90, NOW + 59 * S, NOW);
    int64_t at_ns = ready_at(&r, 1, NOW);
    assert_in_range(at_ns, NOW + 61 * S, NOW + 62 * S);
    tell(&r, 200, 150, NOW + 61 * S + 1, NOW);
    assert_int_equal(ready_at(&r, 150, NOW), NOW);
    assert_true(ready_at(&r, 151, NOW) > NOW + 61 * S);
}

static void a_straggler_tells_of_an_older_window(void **state)
{
    struct rig r = rig_of(PACING_DEMAND, -1);
    struct fly_outcome old = told(100, 3, NOW + 60 * S);

    (void)state;
    take(&r, 1, NOW + 59 * S);
    old.sent_ns = NOW + 59 * S;
    tell(&r, 100, 80, NOW + 120 * S, NOW + 59 * S + 1);
    answer(&r, 1, &old, NOW + 59 * S + 2);
    assert_int_equal(ready_at(&r, 80, NOW + 60 * S), NOW + 60 * S);
}

static void a_server_may_correct_itself(void **state)
{
    struct rig r = rig_of(PACING_DEMAND, -1);

    (void)state;
    tell(&r, 100, 0, NOW + 3600 * S, NOW);
    tell(&r, 100, 99, NOW + 60 * S, NOW + S); /* left after that was told, so it knows better */
    assert_int_equal(ready_at(&r, 99, NOW + S), NOW + S);
    assert_true(ready_at(&r, 100, NOW + S) <= NOW + 62 * S);
    tell(&r, 100, 77, NOW + 30 * S, NOW + S);
    assert_int_equal(ready_at(&r, 77, NOW + S), NOW + S);
    assert_in_range(ready_at(&r, 78, NOW + S), NOW + 30 * S, NOW + 31 * S);
}

static void absurd_figures_end_somewhere(void **state)
{
    struct rig r = rig_of(PACING_EVEN, 990000);

    (void)state;
    tell(&r, INT64_MAX, INT64_MAX, INT64_MAX, NOW);
    assert_int_equal(ready_at(&r, FB_QUOTA_MAX + 1, NOW), ready_at(&r, FB_QUOTA_MAX + 2, NOW));
    assert_true(ready_at(&r, FB_QUOTA_MAX + 1, NOW) <= NOW + 32 * DAY + S);
    tell(&r, 10, 1000, NOW + 32 * DAY, NOW); /* more left than there is */
    assert_true(ready_at(&r, 10, NOW) <= NOW);
    assert_true(ready_at(&r, 11, NOW) > NOW);
}

/* ---- after the reset ---- */

static void after_the_reset_one_request_asks(void **state)
{
    struct rig r = rig_of(PACING_EVEN, 0);
    struct fly_outcome news = told(100, 99, NOW + 120 * S);

    (void)state;
    tell(&r, 100, 0, NOW + 60 * S, NOW);
    int64_t t = ready_at(&r, 1, NOW);
    assert_int_equal(ready_at(&r, 500, t), t); /* whatever it costs: the server will say */
    take(&r, 1, t);
    /* The others wait for its answer, but not for ever: that may be a stream of an hour. */
    assert_int_equal(ready_at(&r, 1, t), t + 10 * S);
    assert_int_equal(ready_at(&r, 1, t + 9 * S), t + 10 * S);
    news.sent_ns = t;
    answer(&r, 1, &news, t + S);
    for (int i = 0; i < 10; i++)
        take(&r, 1, t + S);
    assert_true(ready_at(&r, 1, t + S) > t + S);
}

static void the_old_spacing_does_not_outlive_its_window(void **state)
{
    struct rig r = rig_of(PACING_EVEN, 0);

    (void)state;
    tell(&r, 10000, 40, NOW + 3600 * S, NOW); /* 60 s each */
    for (int i = 0; i < 10; i++)
        take(&r, 1, NOW);
    r.units_out = r.in_flight = 0;
    assert_true(ready_at(&r, 1, NOW) >= NOW + 60 * S);
    tell(&r, 10000, 10000, NOW + 10000 * S, NOW); /* a second each */
    assert_true(ready_at(&r, 1, NOW) <= NOW);
    take(&r, 1, NOW);
    assert_in_range(ready_at(&r, 1, NOW) - NOW, S - 10 * MS, S + 10 * MS);
}

static void a_server_that_stops_telling_is_forgotten(void **state)
{
    struct rig r = rig_of(PACING_EVEN, 0);
    struct fly_outcome straggler = told(100, 1, NOW + 60 * S);

    (void)state;
    tell(&r, 100, 1, NOW + 60 * S, NOW);
    take(&r, 1, NOW + S);
    straggler.sent_ns = NOW + S;
    int64_t t = ready_at(&r, 1, NOW + S);
    answer(&r, 1, &straggler, t + S); /* tells of what is over: it left before */
    assert_false(is_idle(&r));
    for (int i = 0; i < 5; i++)
        tell_nothing(&r, 1, 503, t); /* says nothing about quotas */
    tell_nothing(&r, 1, 200, t);
    tell_nothing(&r, 1, 200, t);
    assert_false(is_idle(&r));
    tell_nothing(&r, 1, 200, t);
    assert_true(is_idle(&r));
    assert_int_equal(ready_at(&r, 1000, t), t);
}

/* ---- against a server with fixed windows ---- */

struct server {
    int64_t limit;
    int64_t length_ns;
    int64_t window;
    int64_t used;
    int64_t refused;
};

/* What it answers to a request that arrives at `at_ns`. */
static struct fly_outcome serve(struct server *v, int64_t cost, int64_t at_ns, bool silent)
{
    if (at_ns / v->length_ns != v->window)
        v->used = 0;
    v->window = at_ns / v->length_ns;
    struct fly_outcome o = told(v->limit, 0, (v->window + 1) * v->length_ns);
    if (v->used + cost > v->limit) {
        o.status = 429;
        v->refused++;
    } else {
        v->used += cost;
    }
    o.remaining = v->limit - v->used;
    return silent ? (struct fly_outcome){.status = o.status} : o;
}

struct out {
    int64_t due_ns;
    int64_t cost;
    struct fly_outcome o;
};

/* Ends the requests that are due. The server sees them when they leave. */
static void end_due(struct rig *r, struct out *out, int count, int64_t now_ns)
{
    for (int i = 0; i < count; i++) {
        if (out[i].cost > 0 && out[i].due_ns <= now_ns) {
            answer(r, out[i].cost, &out[i].o, now_ns);
            out[i].cost = 0;
        }
    }
}

static void send_if_possible(struct rig *r, struct out *out, int count, struct server *v,
                             int64_t now_ns)
{
    for (int i = 0; i < count; i++) {
        int64_t cost = 1 + (int64_t)(fb_rng_next(&r->rng) % 3);
        if (out[i].cost > 0 || ready_at(r, cost, now_ns) > now_ns)
            continue;
        take(r, cost, now_ns);
        out[i].cost = cost;
        out[i].due_ns = now_ns + (int64_t)(fb_rng_next(&r->rng) % (uint64_t)(2 * S));
        out[i].o = serve(v, cost, now_ns, fb_rng_next(&r->rng) % 10 == 0);
        out[i].o.sent_ns = now_ns;
    }
}

static void the_servers_limit_is_never_passed(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct rig r = rig_of(seed % 2 ? PACING_EVEN : PACING_DEMAND, -1);
        struct server v = {.limit = 30 + (int64_t)(seed % 7) * 20, .length_ns = 60 * S};
        struct out out[8] = {0};

        print_message("seed %llu\n", (unsigned long long)seed);
        r.rng.state = seed;
        tell(&r, v.limit, v.limit, 60 * S, 0);
        for (int64_t now_ns = 0; now_ns < 1800 * S; now_ns += 100 * MS) {
            end_due(&r, out, 8, now_ns);
            send_if_possible(&r, out, 8, &v, now_ns);
        }
        assert_int_equal(v.refused, 0);
        assert_true(v.used > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_backlog_is_said_and_counted_down),
        cmocka_unit_test(of_several_backlogs_the_largest_counts),
        cmocka_unit_test(a_backlog_is_said_for_long),
        cmocka_unit_test(what_fits_is_not_spread),
        cmocka_unit_test(spacing_fits_into_one_slot),
        cmocka_unit_test(the_bounds_of_the_spacing_are_the_users),
        cmocka_unit_test(health_changes_at_its_bounds),
        cmocka_unit_test(the_multiplier_follows_the_table),
        cmocka_unit_test(the_delay_spreads_what_is_left),
        cmocka_unit_test(the_delay_has_bounds),
        cmocka_unit_test(less_left_is_never_healthier_nor_faster),
        cmocka_unit_test(the_prober_reads_headers_itself),
        cmocka_unit_test(nothing_is_in_force_until_all_is_told),
        cmocka_unit_test(even_lets_ten_run_ahead_then_spaces),
        cmocka_unit_test(the_reserve_slows_down),
        cmocka_unit_test(a_large_cost_is_spaced_as_one_request),
        cmocka_unit_test(a_cancelled_grant_gives_its_place_back),
        cmocka_unit_test(the_wait_for_a_reset_has_positive_jitter),
        cmocka_unit_test(what_is_used_up_waits_for_the_reset),
        cmocka_unit_test(no_spacing_reaches_beyond_the_reset),
        cmocka_unit_test(demand_goes_at_full_speed_until_the_end),
        cmocka_unit_test(demand_keeps_a_reserve_that_is_said),
        cmocka_unit_test(what_is_out_counts_as_spent),
        cmocka_unit_test(silence_spends_too),
        cmocka_unit_test(silence_counts_until_a_later_request_tells),
        cmocka_unit_test(a_later_reset_is_a_new_window),
        cmocka_unit_test(a_straggler_tells_of_an_older_window),
        cmocka_unit_test(a_server_may_correct_itself),
        cmocka_unit_test(absurd_figures_end_somewhere),
        cmocka_unit_test(after_the_reset_one_request_asks),
        cmocka_unit_test(the_old_spacing_does_not_outlive_its_window),
        cmocka_unit_test(a_server_that_stops_telling_is_forgotten),
        cmocka_unit_test(the_servers_limit_is_never_passed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
