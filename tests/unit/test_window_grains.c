/* SPDX-License-Identifier: MIT */
/* Windows above 10,000, where units share stamps: their limit, what comes back, what is used. */
#include "window_rig.h"

#define BIG       20000
#define BIG_GRAIN 20 /* 1024 stamps */

static void a_large_limit_needs_little_memory(void **state)
{
    struct spec exact = {.window[0] = {10000, 10000, S}, .window_count = 1};
    struct spec large = {.window[0] = {1000000000, 1000000000, S}, .window_count = 1};

    (void)state;
    assert_in_range(fb_window_bytes(&exact), 10000 * 10, 10000 * 10 + 4096);
    assert_in_range(fb_window_bytes(&large), 1024 * 10, 1024 * 10 + 4096);
}

static void a_large_window_holds_its_limit(void **state)
{
    struct rig r = rig_one(BIG, 3600 * S);

    (void)state;
    for (int64_t i = 0; i < BIG; i++)
        take(&r, 1, i * MS);
    int64_t end = BIG * MS;
    /* The first unit expires with the last of its grain: late by less than a grain. */
    assert_int_equal(ready_at(&r, 1, end), 3600 * S + (BIG_GRAIN - 1) * MS);
    assert_int_equal(ready_at(&r, BIG_GRAIN, end), 3600 * S + (BIG_GRAIN - 1) * MS);
    assert_int_equal(ready_at(&r, BIG, end), 3600 * S + (BIG - 1) * MS);
    assert_int_equal(ready_at(&r, BIG + 1, end), FB_NEVER);
    take(&r, BIG, 3600 * S + (BIG - 1) * MS);
    free(r.slot);
}

static void a_large_window_gives_back_what_is_newest(void **state)
{
    struct rig r = rig_one(BIG, S);

    (void)state;
    take(&r, BIG - BIG_GRAIN, 0);
    uint64_t first = take(&r, 10, 0); /* begins a grain */
    uint64_t second = take(&r, 5, 0);
    refund(&r, second & 0xffff, 5, 0); /* the low bits of an id are enough */
    assert_int_equal(ready_at(&r, 10, 0), 0);
    refund(&r, first, 10, 0);
    assert_int_equal(ready_at(&r, 20, 0), 0);
    refund(&r, first, 1, 0); /* nothing is under the newest stamp any more */
    assert_int_equal(ready_at(&r, 20, 0), 0);
    assert_int_equal(ready_at(&r, 21, 0), S);
    free(r.slot);
}

static void a_grant_just_below_a_grain_comes_back(void **state)
{
    struct rig r = rig_one(10240, S); /* 1024 grains of 10 */

    (void)state;
    take(&r, 10230, 0);
    uint64_t id = take(&r, 9, 0);
    assert_int_equal(ready_at(&r, 2, 0), S);
    refund(&r, id, 9, 0);
    assert_int_equal(ready_at(&r, 10, 0), 0);
    take(&r, 10, 0);
    refund(&r, id + 1, 10, 0); /* a full grain */
    assert_int_equal(ready_at(&r, 10, 0), 0);
    assert_int_equal(ready_at(&r, 11, 0), S);
    free(r.slot);
}

/* The last units are those of the latest grant, over however many grains. */
static void a_large_window_gives_back_what_is_last(void **state)
{
    struct rig r = rig_one(BIG, S);

    (void)state;
    take(&r, 15, 0);
    uint64_t across = take(&r, 50, 100 * MS); /* the rest of the first grain and 45 more */
    refund(&r, across, 48, 200 * MS);
    assert_int_equal(ready_at(&r, BIG - 17, 200 * MS), 200 * MS);
    assert_int_equal(ready_at(&r, BIG - 16, 200 * MS), S + 100 * MS);
    refund(&r, across, 2, 200 * MS);
    uint64_t next = take(&r, 5, 300 * MS); /* fills the grain */
    refund(&r, next, 5, 300 * MS);
    assert_int_equal(ready_at(&r, BIG - 15, 300 * MS), 300 * MS);
    assert_int_equal(ready_at(&r, BIG - 14, 300 * MS), S + 300 * MS);
    free(r.slot);
}

/* Whole grains at once, the rest with what comes next. */
static void a_large_window_gives_back_what_is_between(void **state)
{
    struct rig r = rig_one(BIG, S);

    (void)state;
    take(&r, 100, 0);
    uint64_t id = take(&r, 50, 100 * MS);
    take(&r, 30, 200 * MS);
    refund(&r, id, 50, 300 * MS);
    assert_int_equal(ready_at(&r, BIG - 140, 300 * MS), 300 * MS);
    assert_int_equal(ready_at(&r, BIG - 139, 300 * MS), S);
    id = take(&r, 10, 300 * MS);
    take(&r, 30, 400 * MS);
    refund(&r, id, 10, 500 * MS);
    assert_int_equal(ready_at(&r, BIG - 160, 500 * MS), 500 * MS);
    assert_int_equal(ready_at(&r, BIG - 159, 500 * MS), S);
    /* A stamp from before the first went for the ten and the ten. */
    assert_int_equal(ready_at(&r, BIG - 80, 500 * MS), S);
    assert_int_equal(ready_at(&r, BIG - 79, 500 * MS), S + 200 * MS);
    assert_int_equal(ready_at(&r, BIG - 40, 500 * MS), S + 200 * MS);
    assert_int_equal(ready_at(&r, BIG - 39, 500 * MS), S + 400 * MS);
    free(r.slot);
}

/* Only a stamp that is no later than the grant may go for it. */
static void a_large_window_keeps_what_is_older(void **state)
{
    struct rig r = rig_one(BIG, S);

    (void)state;
    uint64_t older = take(&r, 3, 0);
    take(&r, 12, 0);
    take(&r, 10, 100 * MS); /* fills the first grain */
    refund(&r, older, 3, 200 * MS);
    assert_int_equal(ready_at(&r, BIG - 25, 200 * MS), 200 * MS);
    assert_int_equal(ready_at(&r, BIG - 24, 200 * MS), S + 100 * MS);
    uint64_t first = take(&r, 40, 300 * MS);
    take(&r, 20, 400 * MS);
    refund(&r, first, 40, 500 * MS); /* two full grains */
    assert_int_equal(ready_at(&r, BIG - 45, 500 * MS), 500 * MS);
    assert_int_equal(ready_at(&r, BIG - 25, 500 * MS), S + 100 * MS);
    assert_int_equal(ready_at(&r, BIG - 24, 500 * MS), S + 400 * MS);
    free(r.slot);
}

static void a_large_window_forgets_what_waited_for_too_long(void **state)
{
    struct rig r = rig_one(BIG, S);

    (void)state;
    take(&r, 100, 0);
    uint64_t id = take(&r, 50, 0);
    take(&r, 30, 0);
    refund(&r, id, 50, 0); /* ten of them wait */
    take(&r, BIG, S);
    take(&r, BIG, 2 * S);
    id = take(&r, 15, 3 * S);
    take(&r, 30, 3 * S);
    refund(&r, id, 15, 3 * S);
    assert_int_equal(ready_at(&r, BIG - 45, 3 * S), 3 * S);
    assert_int_equal(ready_at(&r, BIG - 44, 3 * S), 4 * S);
    free(r.slot);
}

/* What was charged later does not go for a grant of before; what the ring forgot is as old. */
static void a_higher_true_cost_counts_in_a_large_window(void **state)
{
    struct rig r = rig_one(BIG, S);

    (void)state;
    uint64_t first = take(&r, BIG / 2, 0);
    uint64_t second = take(&r, BIG / 4, 50 * MS);
    refund(&r, first, -BIG / 2, 100 * MS);
    assert_int_equal(ready_at(&r, BIG / 4, 100 * MS), S);
    assert_int_equal(ready_at(&r, BIG / 4 + 1, 100 * MS), S + 50 * MS);
    refund(&r, second, BIG / 4, 200 * MS);
    assert_int_equal(ready_at(&r, 1, 200 * MS), S);
    assert_int_equal(ready_at(&r, BIG / 2, 200 * MS), S);
    assert_int_equal(ready_at(&r, BIG / 2 + 1, 200 * MS), S + 100 * MS);
    refund(&r, second, -10 * BIG, 300 * MS); /* absurd: nothing of it comes back */
    refund(&r, second, 10 * BIG, 300 * MS);
    assert_int_equal(ready_at(&r, 1, 300 * MS), S + 300 * MS);
    free(r.slot);
}

static void a_large_window_that_was_mended_keeps_what_is_in_it(void **state)
{
    struct rig r = rig_one(BIG, S);

    (void)state;
    uint64_t first = take(&r, 100, 0);
    uint64_t last = take(&r, 30, 0);
    fb_window_mend(r.slot);
    refund(&r, first, 100, 0);
    refund(&r, last, 30, 0);
    assert_int_equal(ready_at(&r, BIG - 130, 0), 0);
    assert_int_equal(ready_at(&r, BIG - 129, 0), S);
    free(r.slot);
}

/* The latest grant with the low bits of such an id would lie before the first of all. */
static void a_large_window_gives_nothing_back_for_an_id_to_come(void **state)
{
    struct rig r = rig_one(BIG, S);

    (void)state;
    uint64_t id = take(&r, 5, 0);
    refund(&r, id + 1, 5, 0);
    assert_int_equal(ready_at(&r, BIG - 5, 0), 0);
    assert_int_equal(ready_at(&r, BIG - 4, 0), S);
    refund(&r, id, 5, 0);
    assert_int_equal(ready_at(&r, BIG, 0), 0);
    free(r.slot);
}

/* ---- greedy demand on a large window ---- */

enum { LATE = 64, STEPS = 20000, LENGTH = 1000 };

struct demand {
    struct rig rig;
    struct rng *rng;
    int64_t sent_at[STEPS]; /* units by instant */
    int64_t inside;
    int64_t all;
    struct {
        uint64_t id;
        int64_t cost;
        int64_t at_ns;
    } out[LATE];
};

/* The true cost of one of the last grants is heard: any part of it comes back. */
static void end_one(struct demand *d, int64_t now_ns)
{
    size_t i = fb_rng_next(d->rng) % LATE;
    int64_t at_ns = d->out[i].at_ns;

    if (d->out[i].cost == 0)
        return;
    int64_t back = 1 + (int64_t)(fb_rng_next(d->rng) % (uint64_t)d->out[i].cost);
    refund(&d->rig, d->out[i].id, back, now_ns);
    d->out[i].cost = 0;
    d->all -= back;
    d->sent_at[at_ns] -= back;
    d->inside -= at_ns > now_ns - LENGTH ? back : 0;
}

/* Returns the units that left and did not come back, in 20 lengths. */
static int64_t spend_greedily(int64_t limit, struct rng *rng, bool comes_back)
{
    struct demand *d = calloc(1, sizeof(*d));

    assert_non_null(d);
    d->rig = rig_one(limit, LENGTH);
    d->rng = rng;
    for (int64_t now_ns = 0; now_ns < STEPS; now_ns++) {
        d->inside -= now_ns >= LENGTH ? d->sent_at[now_ns - LENGTH] : 0;
        int64_t cost = 1 + (int64_t)(fb_rng_next(rng) % (uint64_t)(limit / 300));
        for (; ready_at(&d->rig, cost, now_ns) <= now_ns; cost = 1 + cost / 2) {
            size_t i = fb_rng_next(rng) % LATE;
            d->out[i].id = take(&d->rig, cost, now_ns);
            d->out[i].cost = cost;
            d->out[i].at_ns = now_ns;
            d->sent_at[now_ns] += cost;
            d->inside += cost;
            d->all += cost;
            assert_true(d->inside <= limit);
            if (comes_back)
                end_one(d, now_ns);
        }
    }
    int64_t all = d->all;
    free(d->rig.slot);
    free(d);
    return all;
}

static void large_windows_err_by_less_than_two_percent(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct rng rng = {seed};
        int64_t limit = FB_EXACT_MAX + 1 + (int64_t)(fb_rng_next(&rng) % 100000);

        print_message("seed %llu\n", (unsigned long long)seed);
        assert_true(spend_greedily(limit, &rng, false) >= limit * 20 * 98 / 100);
        assert_true(spend_greedily(limit, &rng, true) >= limit * 20 * 98 / 100);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_large_limit_needs_little_memory),
        cmocka_unit_test(a_large_window_holds_its_limit),
        cmocka_unit_test(a_large_window_gives_back_what_is_newest),
        cmocka_unit_test(a_grant_just_below_a_grain_comes_back),
        cmocka_unit_test(a_large_window_gives_back_what_is_last),
        cmocka_unit_test(a_large_window_gives_back_what_is_between),
        cmocka_unit_test(a_large_window_keeps_what_is_older),
        cmocka_unit_test(a_large_window_forgets_what_waited_for_too_long),
        cmocka_unit_test(a_higher_true_cost_counts_in_a_large_window),
        cmocka_unit_test(a_large_window_that_was_mended_keeps_what_is_in_it),
        cmocka_unit_test(a_large_window_gives_nothing_back_for_an_id_to_come),
        cmocka_unit_test(large_windows_err_by_less_than_two_percent),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
