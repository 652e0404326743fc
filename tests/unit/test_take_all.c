/* SPDX-License-Identifier: MIT */
/* Several limiters at once: all or none, the latest time, and no deadlock in any order. */
#include "limiter_rig.h"

#include <pthread.h>

static void all_grant(void **state)
{
    struct fly_limiter *l[] = {limiter("rate=1/s burst=5", 0), limiter("window=10/1s margin=0%", 0),
                               limiter("rate=1/s burst=100 concurrency=3", 0)};
    uint32_t cost[] = {5, 10, 0};
    uint64_t tickets[3] = {0};

    (void)state;
    assert_int_equal(fly_take_all(l, cost, 3, 0, tickets), 0);
    for (int i = 0; i < 3; i++)
        assert_true(tickets[i] != 0);
    assert_int_equal(next_at(l[0], 0, 1), S);
    assert_int_equal(next_at(l[1], 0, 1), S);
    assert_int_equal(next_at(l[2], 0, 99), 0); /* a cost of 0 was one permit */
    assert_int_equal(next_at(l[2], 0, 100), S);

    /* Each ticket belongs to its limiter. */
    fly_limiter_cancel(l[0], 0, tickets[0]);
    fly_limiter_cancel(l[1], 0, tickets[1]);
    assert_int_equal(next_at(l[0], 0, 5), 0);
    assert_int_equal(next_at(l[1], 0, 10), 0);
    for (int i = 0; i < 3; i++)
        fly_limiter_free(l[i]);
}

static void none_grants_where_one_does_not(void **state)
{
    struct fly_limiter *l[] = {limiter("rate=1/s burst=5", 0), limiter("rate=1/s burst=5", 0),
                               limiter("window=10/1s margin=0%", 0)};
    uint32_t cost[] = {1, 1, 1};
    uint64_t tickets[3] = {42, 43, 44};

    (void)state;
    granted(l[1], 0, 5);
    assert_int_equal(fly_take_all(l, cost, 3, 0, tickets), S);
    assert_int_equal(tickets[0], 42);
    assert_int_equal(tickets[1], 43);
    assert_int_equal(tickets[2], 44);
    assert_int_equal(next_at(l[0], 0, 5), 0); /* untouched */
    assert_int_equal(next_at(l[2], 0, 10), 0);
    assert_int_equal(fly_take_all(l, cost, 3, S, tickets), S);
    for (int i = 0; i < 3; i++)
        fly_limiter_free(l[i]);
}

static void the_latest_time_is_told(void **state)
{
    struct fly_limiter *l[] = {limiter("rate=1/s burst=1", 0), limiter("rate=1/7s burst=1", 0),
                               limiter("rate=1/3s burst=1", 0)};
    uint32_t cost[] = {1, 1, 1};
    uint64_t tickets[3];

    (void)state;
    assert_int_equal(fly_take_all(l, cost, 3, 0, tickets), 0);
    assert_int_equal(fly_take_all(l, cost, 3, 0, tickets), 7 * S);
    assert_int_equal(fly_take_all(l, cost, 1, 0, tickets), S);
    assert_int_equal(fly_take_all(l + 2, cost, 1, 0, tickets), 3 * S);
    assert_int_equal(fly_take_all(l, cost, 3, 7 * S, tickets), 7 * S);
    for (int i = 0; i < 3; i++)
        fly_limiter_free(l[i]);
}

static void never_is_later_than_all_else(void **state)
{
    struct fly_limiter *l[] = {limiter("rate=1/s burst=1", 0), limiter("window=5/1s margin=0%", 0),
                               limiter("adapt=off concurrency=1", 0)};
    uint32_t cost[] = {1, 1, 1};
    uint32_t too_large[] = {1, 6, 1};
    uint64_t tickets[3];

    (void)state;
    assert_int_equal(fly_take_all(l, too_large, 3, 0, tickets), FLY_NEVER);
    assert_int_equal(fly_take_all(l, cost, 3, 0, tickets), 0);
    assert_int_equal(fly_take_all(l, cost, 3, 100 * S, tickets), FLY_NEVER);
    report(l[2], 100 * S, tickets[2], 200);
    assert_int_equal(fly_take_all(l, cost, 3, 100 * S, tickets), 100 * S);
    for (int i = 0; i < 3; i++)
        fly_limiter_free(l[i]);
}

static void of_none_and_of_one(void **state)
{
    struct fly_limiter *l = limiter("rate=1/s burst=2", 0);
    uint32_t cost = 1;
    uint64_t ticket = 0;

    (void)state;
    assert_int_equal(fly_take_all(&l, &cost, 0, 17, &ticket), 17);
    assert_int_equal(ticket, 0);
    assert_int_equal(fly_take_all(&l, &cost, 1, 17, &ticket), 17);
    assert_true(ticket != 0);
    fly_limiter_free(l);
}

static void a_grant_is_at_most_now_on_any_clock(void **state)
{
    static const int64_t nows[] = {INT64_MIN, -S, 0, S, INT64_MAX / 2, INT64_MAX - 1};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(nows); i++) {
        struct fly_limiter *l[] = {limiter("rate=1/s burst=1", nows[i]), limiter("", nows[i])};
        uint32_t cost[] = {1, 1};
        uint64_t tickets[2] = {0, 0};
        assert_at_most(fly_take_all(l, cost, 2, nows[i], tickets), nows[i]);
        assert_true(tickets[0] != 0 && tickets[1] != 0);
        fly_limiter_free(l[0]);
        fly_limiter_free(l[1]);
    }
}

/* Two threads that name the same limiters in opposite orders, and one that uses a part. */

enum { LIMITERS = 4, ROUNDS = 20000 };

struct worker {
    struct fly_limiter *l[LIMITERS];
    size_t n;
    int64_t granted;
};

static void *work(void *argument)
{
    struct worker *w = argument;
    uint32_t cost[LIMITERS] = {1, 1, 1, 1};

    for (int64_t i = 0; i < ROUNDS; i++) {
        uint64_t tickets[LIMITERS];
        int64_t now_ns = i * MS;
        if (fly_take_all(w->l, cost, w->n, now_ns, tickets) > now_ns)
            continue;
        w->granted++;
        for (size_t k = 0; k < w->n; k++)
            report(w->l[k], now_ns, tickets[k], 200);
    }
    return NULL;
}

static void opposite_orders_do_not_deadlock(void **state)
{
    struct fly_limiter *l[LIMITERS] = {
        limiter("rate=100/s burst=10", 0), limiter("window=100/1s margin=0%", 0),
        limiter("rate=1000/s concurrency=10", 0), limiter("rate=50/s burst=10", 0)};
    struct worker w[3] = {{.l = {l[0], l[1], l[2], l[3]}, .n = 4},
                          {.l = {l[3], l[2], l[1], l[0]}, .n = 4},
                          {.l = {l[3], l[0]}, .n = 2}};
    pthread_t threads[3];

    (void)state;
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, &w[i]), 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    int64_t sum = w[0].granted + w[1].granted + w[2].granted;
    assert_true(sum > 0);
    assert_at_most(sum, 10 + ROUNDS * MS / S * 50); /* of the slowest */
    for (int i = 0; i < LIMITERS; i++)
        fly_limiter_free(l[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_grant),
        cmocka_unit_test(none_grants_where_one_does_not),
        cmocka_unit_test(the_latest_time_is_told),
        cmocka_unit_test(never_is_later_than_all_else),
        cmocka_unit_test(of_none_and_of_one),
        cmocka_unit_test(a_grant_is_at_most_now_on_any_clock),
        cmocka_unit_test(opposite_orders_do_not_deadlock),
    };

    return cmocka_run_group_tests_name("take_all", tests, NULL, NULL);
}
