/* SPDX-License-Identifier: MIT */
/* Windows: the limit in every interval, exactly; what comes back; the guard; the pace. */
#include "window_rig.h"

/* ---- the limit ---- */

static void nothing_to_do_without_windows(void **state)
{
    struct spec s = {0};
    int64_t slot = 0;

    (void)state;
    assert_int_equal(fb_window_bytes(&s), 0);
    assert_false(fb_constraint_window.init(&slot, &s, NULL, 0));
    assert_null(fb_constraint_window.idle); /* it records every grant */
}

static void holds_its_limit_and_not_a_unit_more(void **state)
{
    struct rig r = rig_one(3, S);

    (void)state;
    take(&r, 1, 0);
    take(&r, 1, 100 * MS);
    take(&r, 1, 200 * MS);
    assert_int_equal(ready_at(&r, 1, 200 * MS), S);
    assert_int_equal(ready_at(&r, 1, S - 1), S); /* half open: exactly a second later is free */
    take(&r, 1, S);
    assert_int_equal(ready_at(&r, 1, S), S + 100 * MS);
    free(r.slot);
}

static void instants_may_be_negative(void **state)
{
    struct rig r = rig_one(1, S);

    (void)state;
    take(&r, 1, -5 * S);
    assert_int_equal(ready_at(&r, 1, -5 * S), -4 * S);
    free(r.slot);
}

static void of_several_windows_the_latest_wins(void **state)
{
    struct spec s = {.window = {{10, 10, S}, {15, 15, 60 * S}}, .window_count = 2};
    struct rig r = rig_of(&s);

    (void)state;
    for (int i = 0; i < 10; i++)
        take(&r, 1, 0);
    assert_int_equal(ready_at(&r, 1, 0), S);
    for (int i = 0; i < 5; i++)
        take(&r, 1, S);
    assert_int_equal(ready_at(&r, 1, S), 60 * S);
    free(r.slot);
}

static void a_cost_waits_for_as_many_units(void **state)
{
    struct rig r = rig_one(10, S);

    (void)state;
    take(&r, 4, 0);
    take(&r, 4, 100 * MS);
    assert_int_equal(ready_at(&r, 2, 200 * MS), 200 * MS);
    assert_int_equal(ready_at(&r, 6, 200 * MS), S);
    assert_int_equal(ready_at(&r, 7, 200 * MS), S + 100 * MS);
    assert_int_equal(ready_at(&r, 10, 200 * MS), S + 100 * MS);
    take(&r, 10, S + 100 * MS);
    assert_int_equal(ready_at(&r, 1, S + 100 * MS), 2 * S + 100 * MS);
    free(r.slot);
}

static void a_cost_above_the_limit_never_leaves(void **state)
{
    struct spec s = {.window = {{100, 90, S}, {10, 9, S}}, .window_count = 2};
    struct rig r = rig_of(&s);

    (void)state;
    assert_int_equal(ready_at(&r, 9, 0), 0);
    assert_int_equal(ready_at(&r, 10, 0), FB_NEVER);
    assert_false(fb_window_too_large(r.slot, 9));
    assert_true(fb_window_too_large(r.slot, 10));
    free(r.slot);
}

static void may_be_mapped_elsewhere(void **state)
{
    struct rig r = rig_one(1, S);

    (void)state;
    take(&r, 1, 0);
    int64_t *elsewhere = malloc(r.bytes);
    assert_non_null(elsewhere);
    memcpy(elsewhere, r.slot, r.bytes);
    memset(r.slot, 0xff, r.bytes);
    free(r.slot);
    r.slot = elsewhere;
    assert_int_equal(ready_at(&r, 1, 0), S);
    free(r.slot);
}

/* ---- what comes back ---- */

static void a_cancelled_grant_gives_its_units_back(void **state)
{
    struct rig r = rig_one(10, S);

    (void)state;
    take(&r, 6, 0);
    uint64_t id = take(&r, 4, 0);
    assert_int_equal(ready_at(&r, 4, 0), S);
    refund(&r, id, 4, 0);
    assert_int_equal(ready_at(&r, 4, 0), 0);
    assert_int_equal(ready_at(&r, 5, 0), S);
    free(r.slot);
}

static void also_when_the_window_has_slid(void **state)
{
    struct rig r = rig_one(3, S);

    (void)state;
    for (int64_t i = 0; i < 3; i++)
        take(&r, 1, i * 100 * MS);
    /* Twice: what a cancelled grant pushed out of the ring has expired and must not block. */
    for (int i = 0; i < 2; i++) {
        uint64_t id = take(&r, 1, S);
        assert_int_equal(ready_at(&r, 1, S), S + 100 * MS);
        refund(&r, id, 1, S);
        assert_int_equal(ready_at(&r, 1, S), S);
    }
    take(&r, 1, S);
    assert_int_equal(ready_at(&r, 2, S), S + 200 * MS);
    free(r.slot);
}

static void units_between_others_come_back(void **state)
{
    struct rig r = rig_one(4, S);

    (void)state;
    take(&r, 1, 0);
    uint64_t id = take(&r, 2, 100 * MS);
    take(&r, 1, 200 * MS);
    refund(&r, id, 2, 300 * MS);
    take(&r, 1, 300 * MS);
    take(&r, 1, 400 * MS);
    assert_int_equal(ready_at(&r, 1, 400 * MS), S);
    assert_int_equal(ready_at(&r, 2, 400 * MS), S + 200 * MS);
    assert_int_equal(ready_at(&r, 3, 400 * MS), S + 300 * MS);
    free(r.slot);
}

static void what_the_ring_has_forgotten_stays_spent(void **state)
{
    struct rig r = rig_one(2, S);

    (void)state;
    uint64_t id = take(&r, 1, 0);
    take(&r, 2, S);
    refund(&r, id, 1, S);
    assert_int_equal(ready_at(&r, 1, S), 2 * S);
    free(r.slot);
}

static void only_the_part_still_known_comes_back(void **state)
{
    struct rig r = rig_one(3, S);

    (void)state;
    take(&r, 1, 0);
    uint64_t id = take(&r, 2, 100 * MS);
    take(&r, 1, S);            /* pushes out the first */
    take(&r, 1, S + 100 * MS); /* pushes out one of the two */
    refund(&r, id, 2, S + 200 * MS);
    assert_int_equal(ready_at(&r, 1, S + 200 * MS), S + 200 * MS);
    assert_int_equal(ready_at(&r, 2, S + 200 * MS), 2 * S);
    free(r.slot);
}

static void a_lower_true_cost_gives_the_difference_back(void **state)
{
    struct rig r = rig_one(10, S);

    (void)state;
    uint64_t id = take(&r, 10, 0);
    refund(&r, id, 0, 0); /* settled as asked */
    assert_int_equal(ready_at(&r, 1, 0), S);
    refund(&r, id, 7, 0);
    assert_int_equal(ready_at(&r, 7, 0), 0);
    assert_int_equal(ready_at(&r, 8, 0), S);
    free(r.slot);
}

static void a_higher_true_cost_counts_from_now(void **state)
{
    struct rig r = rig_one(10, S);

    (void)state;
    take(&r, 2, 0);
    uint64_t id = take(&r, 5, 100 * MS);
    refund(&r, id, -6, 500 * MS); /* 13 in a window of 10 */
    assert_int_equal(ready_at(&r, 1, 500 * MS), S + 100 * MS);
    assert_int_equal(ready_at(&r, 5, 500 * MS), S + 500 * MS);
    refund(&r, id, 8, 600 * MS); /* settled again: the later charge first */
    assert_int_equal(ready_at(&r, 5, 600 * MS), 600 * MS);
    /* The ring had to forget three: the latest of them stands for all. */
    assert_int_equal(ready_at(&r, 6, 600 * MS), S + 100 * MS);
    assert_int_equal(ready_at(&r, 8, 600 * MS), S + 100 * MS);
    free(r.slot);
}

static void a_later_charge_that_lies_apart_comes_back_too(void **state)
{
    struct rig r = rig_one(10, S);

    (void)state;
    uint64_t id = take(&r, 3, 0);
    take(&r, 1, 100 * MS);
    refund(&r, id, -2, 200 * MS);
    refund(&r, id, 4, 300 * MS);
    assert_int_equal(ready_at(&r, 8, 300 * MS), 300 * MS);
    assert_int_equal(ready_at(&r, 9, 300 * MS), S);
    assert_int_equal(ready_at(&r, 10, 300 * MS), S + 100 * MS);
    free(r.slot);
}

static void an_absurd_true_cost_fills_the_window_once(void **state)
{
    struct rig r = rig_one(10, S);

    (void)state;
    uint64_t id = take(&r, 1, 0);
    refund(&r, id, -1000000, 300 * MS);
    assert_int_equal(ready_at(&r, 1, 300 * MS), S + 300 * MS);
    assert_int_equal(ready_at(&r, 10, 300 * MS), S + 300 * MS);
    take(&r, 10, S + 300 * MS);
    free(r.slot);
}

/* ---- the guard ---- */

static void the_guard_is_the_spread_of_the_latencies(void **state)
{
    struct rig r = rig_one(1, S);

    (void)state;
    take(&r, 1, 0);
    for (int64_t i = 0; i < 15; i++)
        report(&r, i % 2 ? 429 : 200, (20 + i) * MS);
    report(&r, 0, 5 * S); /* a timeout tells no latency */
    report(&r, 200, FLY_ABSENT);
    assert_int_equal(ready_at(&r, 1, 0), S); /* too few to tell */
    report(&r, 500, 120 * MS);
    assert_int_equal(ready_at(&r, 1, 0), S + 100 * MS);
    free(r.slot);
}

static void the_guard_is_at_most_a_quarter(void **state)
{
    struct spec s = {.window = {{1, 1, S}, {2, 2, 8 * S}}, .window_count = 2};
    struct rig r = rig_of(&s);

    (void)state;
    take(&r, 1, 0);
    for (int i = 0; i < 16; i++)
        report(&r, 200, i ? INT64_MAX : 0);
    assert_int_equal(ready_at(&r, 1, 0), S + S / 4);
    take(&r, 1, 2 * S);
    assert_int_equal(ready_at(&r, 1, 4 * S), 10 * S);
    free(r.slot);
}

static void the_guard_leaves_out_the_last_percent(void **state)
{
    struct rig r = rig_one(1, 100 * S);

    (void)state;
    take(&r, 1, 0);
    for (int64_t i = 1; i <= 256; i++)
        report(&r, 200, i * MS);
    assert_int_equal(ready_at(&r, 1, 0), 100 * S + 251 * MS); /* 3 ms to 254 ms */
    for (int i = 0; i < 256; i++)
        report(&r, 200, 7 * MS);
    assert_int_equal(ready_at(&r, 1, 0), 100 * S); /* only the last 256 count */
    free(r.slot);
}

/* ---- the pace ---- */

static void the_pace_leaves_a_share(void **state)
{
    struct rig r = rig_one(10, S);

    (void)state;
    repace(&r, 0.7);
    take(&r, 7, 0);
    assert_int_equal(ready_at(&r, 1, 0), S);
    repace(&r, 0.75); /* 7.5 rounded down */
    assert_int_equal(ready_at(&r, 1, 0), S);
    repace(&r, 1.0);
    assert_int_equal(ready_at(&r, 3, 0), 0);
    assert_int_equal(ready_at(&r, 4, 0), S);
    repace(&r, 0.001);
    assert_int_equal(ready_at(&r, 1, S), S); /* at least 1 */
    free(r.slot);
}

static void a_cost_above_the_share_goes_into_an_empty_window(void **state)
{
    struct rig r = rig_one(10, S);

    (void)state;
    repace(&r, 0.2);
    assert_int_equal(ready_at(&r, 8, 0), 0);
    take(&r, 1, 0);
    take(&r, 1, 100 * MS);
    assert_int_equal(ready_at(&r, 8, 100 * MS), S + 100 * MS);
    take(&r, 8, S + 100 * MS);
    assert_int_equal(ready_at(&r, 8, S + 100 * MS), 2 * S + 100 * MS);
    free(r.slot);
}

/* ---- any interval, any sequence ---- */

#define LOG_MAX 4000

/* What really left, as the origin would count it. */
struct log {
    struct {
        int64_t at_ns;
        int64_t units;
        uint64_t id;
    } row[LOG_MAX];
    int count;
};

static int64_t units_since(const struct log *log, int64_t after_ns)
{
    int64_t units = 0;

    for (int i = log->count - 1; i >= 0 && log->row[i].at_ns > after_ns; i--)
        units += log->row[i].units;
    return units;
}

static void enter(struct log *log, int64_t at_ns, int64_t units, uint64_t id)
{
    assert_true(log->count < LOG_MAX);
    log->row[log->count].at_ns = at_ns;
    log->row[log->count].units = units;
    log->row[log->count].id = id;
    log->count++;
}

/* One of the last few entries, of which 1..all units come back, or more turn out to be used. */
static void change_one(struct rig *r, struct log *log, struct rng *rng, int64_t now_ns, bool debts)
{
    int i = log->count - 1 - (int)(fb_rng_next(rng) % 5);

    if (i < 0 || log->row[i].units == 0)
        return;
    int64_t units = 1 + (int64_t)(fb_rng_next(rng) % (uint64_t)log->row[i].units);
    if (debts && fb_rng_next(rng) % 4 == 0) {
        refund(r, log->row[i].id, -units, now_ns);
        enter(log, now_ns, units, 0);
        log->row[i].id = 0; /* settled once: what it really used and when is open from here */
    } else if (log->row[i].id != 0) {
        refund(r, log->row[i].id, units, now_ns);
        log->row[i].units -= units;
    }
}

struct play {
    struct rig rig;
    struct log log;
    struct rng rng;
    int64_t limit[2];
    int64_t length_ns[2];
    bool debts;
};

static void play_begin(struct play *p, uint64_t seed, int64_t limit_max, bool debts)
{
    struct spec s = {.window_count = 2};

    memset(p, 0, sizeof(*p));
    p->rng.state = seed;
    p->debts = debts;
    for (int i = 0; i < 2; i++) {
        p->limit[i] = 1 + (int64_t)(fb_rng_next(&p->rng) % (uint64_t)limit_max);
        p->length_ns[i] = 1 + (int64_t)(fb_rng_next(&p->rng) % 1000);
        s.window[i] = (struct spec_window){p->limit[i], p->limit[i], p->length_ns[i]};
    }
    p->rig = rig_of(&s);
}

/* Whether the log has room for the cost in both windows. */
static bool has_room(const struct play *p, int64_t cost, int64_t now_ns)
{
    return units_since(&p->log, now_ns - p->length_ns[0]) + cost <= p->limit[0] &&
           units_since(&p->log, now_ns - p->length_ns[1]) + cost <= p->limit[1];
}

static void play_step(struct play *p, int64_t now_ns)
{
    int64_t cost_max = fb_min64(p->limit[0], p->limit[1]);
    int64_t cost = 1 + (int64_t)(fb_rng_next(&p->rng) % (uint64_t)cost_max);

    if (fb_rng_next(&p->rng) % 2)
        cost = 1;
    if (ready_at(&p->rig, cost, now_ns) <= now_ns) {
        assert_true(has_room(p, cost, now_ns));
        enter(&p->log, now_ns, cost, take(&p->rig, cost, now_ns));
    } else if (!p->debts) {
        assert_false(has_room(p, cost, now_ns)); /* nor does it wait without need */
    }
    if (fb_rng_next(&p->rng) % 3 == 0)
        change_one(&p->rig, &p->log, &p->rng, now_ns, p->debts);
}

/* What is left of the fullest one, when more is, and what the tightest one allows. */
static void the_fullest_and_the_tightest(void **state)
{
    struct spec s = {.window = {{4, 4, S}, {2, 2, 60 * S}, {8, 8, 2 * S}}, .window_count = 3};
    struct rig r = rig_of(&s);

    (void)state;
    assert_true(fb_window_rate(r.slot) > 0.0333 && fb_window_rate(r.slot) < 0.0334);
    assert_int_equal(fb_window_fullest(r.slot, 0).used, 0);
    assert_int_equal(fb_window_fullest(r.slot, 0).frees_ns, 0);
    take(&r, 1, 0);
    assert_int_equal(fb_window_fullest(r.slot, 0).length_ns, 60 * S);
    assert_int_equal(fb_window_fullest(r.slot, 0).frees_ns, 60 * S);
    take(&r, 1, S);
    assert_int_equal(fb_window_fullest(r.slot, S).used, 2);
    assert_int_equal(fb_window_fullest(r.slot, S).frees_ns, 60 * S);
    assert_int_equal(fb_window_fullest(r.slot, 60 * S).frees_ns, 61 * S);
    free(r.slot);

    /* As full as the other, but for longer. */
    s = (struct spec){.window = {{2, 2, S}, {2, 2, 60 * S}, {2, 2, 3 * S}}, .window_count = 3};
    r = rig_of(&s);
    take(&r, 2, 0);
    assert_int_equal(fb_window_fullest(r.slot, 0).length_ns, 60 * S);
    free(r.slot);
}

/* Less is allowed than is in it: so many have to leave before there is room. */
static void a_smaller_pace_frees_later(void **state)
{
    struct rig r = rig_one(4, 60 * S);
    struct pace half = {.limit_share = 0.5f};

    (void)state;
    for (int64_t i = 0; i < 4; i++)
        take(&r, 1, i * S);
    fb_constraint_window.repace(r.slot, &half, 3 * S);
    assert_int_equal(fb_window_fullest(r.slot, 3 * S).frees_ns, 62 * S);
    assert_int_equal(ready_at(&r, 1, 3 * S), 62 * S);
    free(r.slot);
}

static void no_interval_ever_holds_more_than_the_limit(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct play *p = malloc(sizeof(*p));
        assert_non_null(p);
        print_message("seed %llu\n", (unsigned long long)seed);
        play_begin(p, seed, 12, seed % 2 == 0);
        int64_t now_ns = -500;
        for (int i = 0; i < 1500; i++) {
            now_ns += (int64_t)(fb_rng_next(&p->rng) % 60);
            play_step(p, now_ns);
        }
        free(p->rig.slot);
        free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_to_do_without_windows),
        cmocka_unit_test(holds_its_limit_and_not_a_unit_more),
        cmocka_unit_test(instants_may_be_negative),
        cmocka_unit_test(of_several_windows_the_latest_wins),
        cmocka_unit_test(a_cost_waits_for_as_many_units),
        cmocka_unit_test(a_cost_above_the_limit_never_leaves),
        cmocka_unit_test(may_be_mapped_elsewhere),
        cmocka_unit_test(a_cancelled_grant_gives_its_units_back),
        cmocka_unit_test(also_when_the_window_has_slid),
        cmocka_unit_test(units_between_others_come_back),
        cmocka_unit_test(what_the_ring_has_forgotten_stays_spent),
        cmocka_unit_test(only_the_part_still_known_comes_back),
        cmocka_unit_test(a_lower_true_cost_gives_the_difference_back),
        cmocka_unit_test(a_higher_true_cost_counts_from_now),
        cmocka_unit_test(a_later_charge_that_lies_apart_comes_back_too),
        cmocka_unit_test(an_absurd_true_cost_fills_the_window_once),
        cmocka_unit_test(the_guard_is_the_spread_of_the_latencies),
        cmocka_unit_test(the_guard_is_at_most_a_quarter),
        cmocka_unit_test(the_guard_leaves_out_the_last_percent),
        cmocka_unit_test(the_pace_leaves_a_share),
        cmocka_unit_test(a_cost_above_the_share_goes_into_an_empty_window),
        cmocka_unit_test(the_fullest_and_the_tightest),
        cmocka_unit_test(a_smaller_pace_frees_later),
        cmocka_unit_test(no_interval_ever_holds_more_than_the_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
