/* SPDX-License-Identifier: MIT */
/* Freshness: ages, what is due, who hurts most, and percentiles as a sorted list has them. */
#include "unit.h"

#include "core/freshness.h"
#include "core/rng.h"

static struct freshness_aims aims(void)
{
    struct freshness_aims a;

    fb_freshness_aims_init(&a);
    return a;
}

/* ---- one item ---- */

static void an_item_ages_until_it_is_looked_at(void **state)
{
    struct freshness f = fb_freshness_new(100 * S);

    (void)state;
    assert_int_equal(fb_freshness_age(&f, 100 * S), 0);
    assert_int_equal(fb_freshness_age(&f, 130 * S), 30 * S);
    fb_freshness_on_snapshot(&f, 130 * S);
    assert_int_equal(fb_freshness_age(&f, 130 * S), 0);
    assert_int_equal(fb_freshness_age(&f, 131 * S), S);
    /* Answers may come out of order, and clocks lag. */
    fb_freshness_on_snapshot(&f, 120 * S);
    assert_int_equal(fb_freshness_age(&f, 131 * S), S);
    assert_int_equal(fb_freshness_age(&f, 129 * S), 0);
}

static void each_state_has_its_aim(void **state)
{
    struct freshness_aims a = aims();
    struct freshness f = fb_freshness_new(0);

    (void)state;
    assert_int_equal(a.aim_ns[ITEM_live], 10 * S);
    /* Never looked at: at once. */
    assert_int_equal(fb_freshness_due_at(&f, &a, ITEM_completed), 0);
    fb_freshness_on_snapshot(&f, 100 * S);
    assert_int_equal(fb_freshness_due_at(&f, &a, ITEM_live), 110 * S);
    assert_int_equal(fb_freshness_due_at(&f, &a, ITEM_imminent), 160 * S);
    assert_int_equal(fb_freshness_due_at(&f, &a, ITEM_completed), 3700 * S);
    a.aim_ns[ITEM_completed] = FB_TIME_MAX;
    assert_true(fb_freshness_due_at(&f, &a, ITEM_completed) == FB_NEVER);
    assert_string_equal(fb_item_state_name(ITEM_live), "live");
    assert_string_equal(fb_item_state_name(ITEM_completed), "completed");
}

/* By what is aimed at: an hour late hurts a live item more than one that is over. */
static void who_is_later_is_more_urgent(void **state)
{
    struct freshness_aims a = aims();
    struct freshness f = fb_freshness_new(0);

    (void)state;
    fb_freshness_on_snapshot(&f, 0);
    assert_int_equal(fb_freshness_urgency(&f, &a, ITEM_live, 10 * S - 1), 0);
    assert_int_equal(fb_freshness_urgency(&f, &a, ITEM_live, 10 * S), 1);
    assert_int_equal(fb_freshness_urgency(&f, &a, ITEM_live, 20 * S), 1001);
    assert_int_equal(fb_freshness_urgency(&f, &a, ITEM_live, 25 * S), 1501);
    assert_int_equal(fb_freshness_urgency(&f, &a, ITEM_completed, 25 * S), 0);
    assert_int_equal(fb_freshness_urgency(&f, &a, ITEM_completed, 7200 * S), 1001);
    a.aim_ns[ITEM_live] = 0; /* as fresh as can be */
    assert_int_equal(fb_freshness_urgency(&f, &a, ITEM_live, 7), 8);
}

/* ---- all of them ---- */

static void no_items_have_no_ages(void **state)
{
    struct freshness_spread s = fb_freshness_spread(NULL, 0);

    (void)state;
    assert_int_equal(s.count, 0);
    assert_int_equal(s.p50_ns | s.p95_ns | s.oldest_ns, 0);
}

static void a_percentile_is_an_age_that_was_seen(void **state)
{
    int64_t one[] = {7};
    int64_t two[] = {9, 3};
    int64_t twenty[20];

    (void)state;
    struct freshness_spread s = fb_freshness_spread(one, 1);
    assert_int_equal(s.p50_ns, 7);
    assert_int_equal(s.p95_ns, 7);
    assert_int_equal(s.oldest_ns, 7);
    s = fb_freshness_spread(two, 2);
    assert_int_equal(s.p50_ns, 3);
    assert_int_equal(s.p95_ns, 9);
    /* One in twenty may be as old as it likes. */
    for (int i = 0; i < 20; i++)
        twenty[i] = i == 4 ? 500 : 20 - i;
    s = fb_freshness_spread(twenty, 20);
    assert_int_equal(s.count, 20);
    assert_int_equal(s.p50_ns, 10);
    assert_int_equal(s.p95_ns, 20);
    assert_int_equal(s.oldest_ns, 500);
}

static int in_order(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

enum { MOST = 300 };

/* Of all lengths, with many that are equal, in order, turned round and at random. */
static void as_a_sorted_list_says(void **state)
{
    struct rng rng = {seed_of_run()};
    int64_t ages[MOST];
    int64_t sorted[MOST];

    (void)state;
    for (size_t count = 1; count <= MOST; count++) {
        for (int kind = 0; kind < 4; kind++) {
            for (size_t i = 0; i < count; i++)
                ages[i] = kind == 0   ? (int64_t)i
                          : kind == 1 ? (int64_t)(count - i)
                                      : (int64_t)(fb_rng_next(&rng) % (kind == 2 ? 5 : 1u << 30));
            memcpy(sorted, ages, count * sizeof(ages[0]));
            qsort(sorted, count, sizeof(sorted[0]), in_order);
            struct freshness_spread s = fb_freshness_spread(ages, count);
            assert_int_equal(s.p50_ns, sorted[(count * 50 + 99) / 100 - 1]);
            assert_int_equal(s.p95_ns, sorted[(count * 95 + 99) / 100 - 1]);
            assert_int_equal(s.oldest_ns, sorted[count - 1]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_item_ages_until_it_is_looked_at),
        cmocka_unit_test(each_state_has_its_aim),
        cmocka_unit_test(who_is_later_is_more_urgent),
        cmocka_unit_test(no_items_have_no_ages),
        cmocka_unit_test(a_percentile_is_an_age_that_was_seen),
        cmocka_unit_test(as_a_sorted_list_says),
    };

    return cmocka_run_group_tests_name("freshness", tests, NULL, NULL);
}
