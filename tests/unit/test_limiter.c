/* SPDX-License-Identifier: MIT */
/* The public limiter: grants and hints, costs, windows, what is in flight, cancels. */
#include "limiter_rig.h"

#include <stdbool.h>

/* ---- grants and hints ---- */

static void a_grant_is_at_most_now_and_sets_the_ticket(void **state)
{
    struct fly_limiter *l = limiter("rate=10/s burst=2", 1000);
    uint64_t a = 0;
    uint64_t b = 0;

    (void)state;
    assert_at_most(take(l, 1000, &a), 1000);
    assert_at_most(take(l, 1000, &b), 1000);
    assert_true(a != 0 && b != 0 && a != b);
    fly_limiter_free(l);
}

static void a_hint_is_later_and_changes_nothing(void **state)
{
    struct fly_limiter *l = limiter("rate=10/s burst=2", 0);
    uint64_t ticket = 42;

    (void)state;
    assert_int_equal(grants_at(l, 0, 100), 2);
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(take(l, 0, &ticket), 100 * MS);
        assert_int_equal(take(l, 50 * MS, &ticket), 100 * MS);
        assert_int_equal(take(l, 100 * MS - 1, &ticket), 100 * MS);
        assert_int_equal(ticket, 42);
    }
    assert_int_equal(grants_at(l, 100 * MS, 100), 1);
    assert_int_equal(grants_at(l, 200 * MS, 100), 1);
    fly_limiter_free(l);
}

/* A ticket tells how it was granted: with its cost counted, or by one compare-and-swap. */
static bool without_a_lock(uint64_t ticket)
{
    return (ticket >> 8 & 1) == 0;
}

static void a_bucket_alone_grants_without_a_lock(void **state)
{
    static const char *const others[] = {"rate=10/s concurrency=9", "rate=10/s window=9/1s", ""};
    struct fly_limiter *l = limiter("rate=1/s burst=20000", 0);
    int locked = 0;

    (void)state;
    for (int i = 0; i < 20000; i++)
        locked += !without_a_lock(granted(l, 0, 1));
    /* Now and then one goes to see to the books. */
    assert_true(locked > 0 && locked < 20);
    fly_limiter_free(l);
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        l = limiter(others[i], 0);
        assert_false(without_a_lock(granted(l, 0, 1)));
        fly_limiter_free(l);
    }
}

static void twenty_requests_at_two_a_second(void **state)
{
    static const struct {
        const char *spec;
        int64_t took_ns;
    } rows[] = {{"rate=2/s burst=10", 5 * S}, {"rate=2/s burst=1", 9500 * MS}, {"rate=2/s", 5 * S}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fly_limiter *l = limiter(rows[i].spec, 0);
        int64_t now_ns = 0;
        for (int n = 0; n < 20; n++) {
            now_ns = fb_max64(now_ns, next_at(l, now_ns, 1));
            granted(l, now_ns, 1);
        }
        assert_int_equal(now_ns, rows[i].took_ns);
        fly_limiter_free(l);
    }
}

static void the_rate_it_keeps(void **state)
{
    static const struct {
        const char *spec;
        double rate;
    } rows[] = {{"rate=2.5/s", 2.5},         {"rate=5000/1h", 5000.0 / 3600.0},
                {"rate=999983/s", 999983.0}, {"adapt=off", 0.0},
                {"window=10/1s", 0.0},       {"", 1.0},
                {"adapt=aimd", 0.5}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fly_limiter *l = limiter(rows[i].spec, 0);
        assert_close(fly_limiter_rate(l), rows[i].rate, rows[i].rate * 1e-8);
        fly_limiter_free(l);
    }
}

static void without_any_limit_everything_goes(void **state)
{
    struct fly_limiter *l = limiter("adapt=off", 0);

    (void)state;
    assert_int_equal(grants_at(l, 0, 100000), 100000);
    refuse(l, 0, granted(l, 0, 1), 7 * S);
    assert_at_least(next_at(l, 0, 1), 7 * S);
    fly_limiter_free(l);
}

static void the_state_is_small(void **state)
{
    (void)state;
    assert_at_most((int64_t)fly_limiter_state_size(), 640);
    assert_true(fly_limiter_state_size() > 0);
}

static void the_outcome_has_64_bytes(void **state)
{
    (void)state;
    assert_int_equal(sizeof(struct fly_outcome), 64);
    assert_true(sizeof(((struct fly_error *)0)->text) >= 256);
    assert_string_equal(fly_version(), "0.1.0");
}

/* ---- costs ---- */

static void cost_0_counts_as_1(void **state)
{
    struct fly_limiter *l = limiter("rate=10/s burst=3", 0);

    (void)state;
    for (int i = 0; i < 3; i++)
        granted(l, 0, 0);
    assert_int_equal(next_at(l, 0, 0), 100 * MS);
    assert_int_equal(next_at(l, 0, 1), 100 * MS);
    fly_limiter_free(l);

    l = limiter("window=3/1s margin=0%", 0);
    for (int i = 0; i < 3; i++)
        granted(l, 0, 0);
    assert_int_equal(next_at(l, 0, 0), S);
    fly_limiter_free(l);
}

static void above_the_burst_only_from_a_full_bucket_into_debt(void **state)
{
    struct fly_limiter *l = limiter("rate=10/s burst=5", 0);

    (void)state;
    granted(l, 0, 1);
    assert_int_equal(next_at(l, 0, 6), 100 * MS);
    granted(l, 100 * MS, 20);
    assert_int_equal(next_at(l, 100 * MS, 1), 1700 * MS);
    fly_limiter_free(l);
}

static void above_a_window_it_is_too_large_for_ever(void **state)
{
    struct fly_limiter *l = limiter("rate=1000/s window=10/1s window=100/1h", 0);
    struct fly_why w = {.size = sizeof(w)};
    uint64_t ticket = 42;

    (void)state;
    assert_int_equal(fly_limiter_take(l, 0, 10, &ticket), FLY_NEVER);
    assert_int_equal(fly_limiter_take(l, 1000 * S, 10, &ticket), FLY_NEVER);
    assert_int_equal(fly_limiter_take(l, 1000 * S, UINT32_MAX, &ticket), FLY_NEVER);
    assert_int_equal(ticket, 42);
    assert_int_equal(fly_limiter_why(l, 0, 10, &w), 0);
    assert_int_equal(w.until_ns, FLY_NEVER);
    assert_string_equal(w.cause, "too-large");
    granted(l, 1000 * S, 9);
    fly_limiter_free(l);
}

static void the_true_cost_is_settled_up_and_down(void **state)
{
    static const char *const specs[] = {"rate=10/s burst=10", "rate=10/s burst=10 concurrency=50"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(specs); i++) {
        struct fly_limiter *l = limiter(specs[i], 0);
        uint64_t up = granted(l, 0, 1);
        uint64_t down = granted(l, 0, 7);
        fly_limiter_settle(l, 0, up, 3);
        report(l, 0, up, 200);
        assert_int_equal(next_at(l, 0, 1), 100 * MS); /* 3 + 7 are gone */
        fly_limiter_settle(l, 0, down, 2);
        report(l, 0, down, 200);
        assert_int_equal(next_at(l, 0, 5), 0); /* 3 + 2 */
        assert_int_equal(next_at(l, 0, 6), 100 * MS);
        fly_limiter_free(l);
    }
}

static void the_true_cost_counts_in_a_window(void **state)
{
    struct fly_limiter *l = limiter("window=10/1s margin=0%", 0);
    uint64_t up = granted(l, 0, 1);
    uint64_t down = granted(l, 0, 5);

    (void)state;
    fly_limiter_settle(l, 0, up, 4);
    report(l, 0, up, 200);
    fly_limiter_settle(l, 0, down, 2);
    report(l, 0, down, 200);
    assert_int_equal(grants_at(l, 0, 100), 4);
    assert_int_equal(next_at(l, 0, 1), S);
    fly_limiter_free(l);
}

static void a_true_cost_of_0_gives_all_back(void **state)
{
    struct fly_limiter *l = limiter("rate=1/s burst=5", 0);
    uint64_t ticket = granted(l, 0, 5);

    (void)state;
    fly_limiter_settle(l, 0, ticket, 0);
    report(l, 0, ticket, 200);
    assert_int_equal(grants_at(l, 0, 100), 5);
    fly_limiter_free(l);
}

/* ---- windows ---- */

static void nine_of_ten_then_a_second_after_the_first(void **state)
{
    struct fly_limiter *l = limiter("window=10/1s", 0);
    uint64_t ticket;

    (void)state;
    for (int i = 0; i < 9; i++)
        granted(l, 500 + i * MS, 1);
    assert_int_equal(take(l, 10 * MS, &ticket), 500 + S);
    assert_int_equal(take(l, 500 + S - 1, &ticket), 500 + S);
    granted(l, 500 + S, 1);
    assert_int_equal(take(l, 500 + S, &ticket), 500 + MS + S);
    fly_limiter_free(l);
}

static void margins(void **state)
{
    static const struct {
        const char *spec;
        int grants;
    } rows[] = {{"window=10/1s margin=0%", 10},
                {"window=10/1s margin=50%", 5},
                {"window=1000/1s", 900},
                {"window=10000/1s margin=0%", 10000},
                {"window=1/1s", 1},
                {"window=10/1s rate=1000/s burst=1000", 9}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fly_limiter *l = limiter(rows[i].spec, 0);
        assert_int_equal(grants_at(l, 0, 100000), rows[i].grants);
        assert_int_equal(next_at(l, 0, 1), S);
        assert_int_equal(grants_at(l, S, 100000), rows[i].grants);
        fly_limiter_free(l);
    }
}

static void several_windows_at_once(void **state)
{
    struct fly_limiter *l = limiter("window=3/1s window=5/10s window=8/1m margin=0%", 0);

    (void)state;
    assert_int_equal(grants_at(l, 0, 100), 3);
    assert_int_equal(next_at(l, 0, 1), S);
    assert_int_equal(grants_at(l, S, 100), 2);
    assert_int_equal(next_at(l, S, 1), 10 * S);
    assert_int_equal(grants_at(l, 10 * S, 100), 3);
    assert_int_equal(next_at(l, 10 * S, 1), 60 * S);
    assert_int_equal(next_at(l, 10 * S, 3), 60 * S);
    assert_int_equal(next_at(l, 10 * S, 4), FLY_NEVER);
    fly_limiter_free(l);
}

/* A limit too large for the exact form errs towards waiting, by at most 2 %. */
static void a_large_window(void **state)
{
    struct fly_limiter *l = limiter("window=1000000/1h margin=0%", 0);

    (void)state;
    int n = grants_at(l, 0, 2000000);
    assert_at_most(n, 1000000);
    assert_at_least(n, 980000);
    assert_int_equal(next_at(l, 0, 1), 3600 * S);
    assert_at_least(grants_at(l, 3600 * S, 2000000), 980000);
    fly_limiter_free(l);
}

/* ---- in flight ---- */

static void only_an_answer_or_a_cancel_frees_a_place(void **state)
{
    static const char *const specs[] = {"concurrency=3 rate=1000000/s burst=1000000",
                                        "concurrency=3 adapt=off", "concurrency=3 window=10000/1s"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(specs); i++) {
        struct fly_limiter *l = limiter(specs[i], 0);
        uint64_t a = granted(l, 0, 1);
        uint64_t b = granted(l, 0, 5);
        uint64_t ticket = 42;
        granted(l, 0, 1);
        assert_int_equal(take(l, 0, &ticket), FLY_NEVER);
        assert_int_equal(take(l, 1000 * S, &ticket), FLY_NEVER);
        assert_int_equal(ticket, 42);
        report(l, 1000 * S, a, 0); /* timed out */
        granted(l, 1000 * S, 1);
        assert_int_equal(take(l, 1000 * S, &ticket), FLY_NEVER);
        fly_limiter_cancel(l, 1000 * S, b);
        granted(l, 1000 * S, 1);
        assert_int_equal(take(l, 1000 * S, &ticket), FLY_NEVER);
        fly_limiter_free(l);
    }
}

/* ---- cancel ---- */

static void a_cancelled_permit_goes_back(void **state)
{
    static const char *const specs[] = {"rate=1/1h burst=200", "window=200/1h margin=0%",
                                        "rate=1/1h burst=200 window=1000/1d",
                                        "window=400/1h margin=50%"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(specs); i++) {
        struct fly_limiter *l = limiter(specs[i], 0);
        uint64_t tickets[200];
        for (int n = 0; n < 200; n++)
            tickets[n] = granted(l, n, 1);
        assert_true(next_at(l, 200, 1) > 200);
        for (int n = 199; n >= 0; n -= 2)
            fly_limiter_cancel(l, 200, tickets[n]);
        assert_int_equal(grants_at(l, 200, 1000), 100);
        for (int n = 0; n < 200; n += 2)
            fly_limiter_cancel(l, 201, tickets[n]);
        assert_int_equal(grants_at(l, 201, 1000), 100);
        fly_limiter_free(l);
    }
}

static void a_cancelled_cost_goes_back_whole(void **state)
{
    struct fly_limiter *l = limiter("rate=1/1h burst=10", 0);

    (void)state;
    fly_limiter_cancel(l, 0, granted(l, 0, 7));
    assert_int_equal(next_at(l, 0, 10), 0);
    fly_limiter_cancel(l, 0, granted(l, 0, UINT32_MAX)); /* deep in debt */
    assert_int_equal(next_at(l, 0, 10), 0);
    fly_limiter_free(l);
}

/* So many requests, each as soon as it may leave; the time that it took. */
static int64_t request_told(struct fly_limiter *l, int64_t now_ns, int count, int64_t left)
{
    int64_t began_ns = now_ns;

    for (int i = 0; i < count; i++) {
        uint64_t ticket;
        int64_t at_ns;

        while ((at_ns = fly_limiter_take(l, now_ns, 1, &ticket)) > now_ns)
            now_ns = at_ns;
        struct fly_outcome o = outcome(ticket, 200, now_ns);
        o.limit = 5000;
        o.remaining = left - i;
        o.reset_ns = began_ns + 3600 * S;
        now_ns += 5 * MS;
        fly_limiter_report(l, now_ns, &o);
    }
    return now_ns - began_ns;
}

static void what_is_to_come_and_fits_is_not_spread(void **state)
{
    static const char *const specs[] = {"", "rate=20/s", "adapt=aimd rate=20/s"};

    (void)state;
    for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
        struct fly_limiter *told = limiter(specs[i], 0);
        struct fly_limiter *untold = limiter(specs[i], 0);

        fly_limiter_backlog(told, 0, 200);
        assert_at_most(request_told(told, 0, 200, 4975), 20 * S);
        assert_at_least(request_told(untold, 0, 200, 4975), 100 * S);
        fly_limiter_backlog(untold, 1000 * S, 5001);
        assert_at_least(request_told(untold, 1000 * S, 200, 4775), 100 * S);
        fly_limiter_free(told);
        fly_limiter_free(untold);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_grant_is_at_most_now_and_sets_the_ticket),
        cmocka_unit_test(a_hint_is_later_and_changes_nothing),
        cmocka_unit_test(a_bucket_alone_grants_without_a_lock),
        cmocka_unit_test(twenty_requests_at_two_a_second),
        cmocka_unit_test(the_rate_it_keeps),
        cmocka_unit_test(without_any_limit_everything_goes),
        cmocka_unit_test(the_state_is_small),
        cmocka_unit_test(the_outcome_has_64_bytes),
        cmocka_unit_test(cost_0_counts_as_1),
        cmocka_unit_test(above_the_burst_only_from_a_full_bucket_into_debt),
        cmocka_unit_test(above_a_window_it_is_too_large_for_ever),
        cmocka_unit_test(the_true_cost_is_settled_up_and_down),
        cmocka_unit_test(the_true_cost_counts_in_a_window),
        cmocka_unit_test(a_true_cost_of_0_gives_all_back),
        cmocka_unit_test(nine_of_ten_then_a_second_after_the_first),
        cmocka_unit_test(margins),
        cmocka_unit_test(several_windows_at_once),
        cmocka_unit_test(a_large_window),
        cmocka_unit_test(only_an_answer_or_a_cancel_frees_a_place),
        cmocka_unit_test(a_cancelled_permit_goes_back),
        cmocka_unit_test(what_is_to_come_and_fits_is_not_spread),
        cmocka_unit_test(a_cancelled_cost_goes_back_whole),
    };

    return cmocka_run_group_tests_name("limiter", tests, NULL, NULL);
}
