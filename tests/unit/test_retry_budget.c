/* SPDX-License-Identifier: MIT */
/* Retry budget: a fifth of the requests and ten a second, never more. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/instant.h"
#include "core/retry_budget.h"
#include "core/rng.h"

#define S   FB_NS_PER_S
#define MS  FB_NS_PER_MS
#define NOW (50 * S)

static struct retry_budget budget(void)
{
    struct retry_budget b;

    fb_retry_budget_init(&b, NOW);
    return b;
}

/* Takes what is affordable now. Returns how many. */
static int take_all(struct retry_budget *b, int64_t now_ns)
{
    int taken = 0;

    while (fb_retry_budget_ready_at(b, now_ns) <= now_ns) {
        fb_retry_budget_take(b, now_ns);
        taken++;
    }
    return taken;
}

static void begins_with_a_second_of_free_retries(void **state)
{
    struct retry_budget b = budget();

    (void)state;
    assert_int_equal(take_all(&b, NOW), 10);
    assert_int_equal(fb_retry_budget_ready_at(&b, NOW), NOW + 100 * MS);
}

static void ten_a_second_are_free(void **state)
{
    struct retry_budget b = budget();
    int taken = 0;

    (void)state;
    take_all(&b, NOW);
    assert_int_equal(take_all(&b, NOW + 100 * MS - 1), 0);
    assert_int_equal(fb_retry_budget_ready_at(&b, NOW + 100 * MS - 1), NOW + 100 * MS);
    assert_int_equal(take_all(&b, NOW + 100 * MS), 1);
    for (int64_t ms = 101; ms <= 60000; ms++)
        taken += take_all(&b, NOW + ms * MS);
    assert_int_equal(taken, 599); /* a minute, less the one above */
}

static void free_ones_are_saved_for_a_second_only(void **state)
{
    struct retry_budget b = budget();

    (void)state;
    take_all(&b, NOW);
    assert_int_equal(take_all(&b, NOW + 3600 * S), 10);
    assert_int_equal(take_all(&b, FB_TIME_MAX - S), 10);
}

static void five_requests_pay_for_a_retry(void **state)
{
    struct retry_budget b = budget();

    (void)state;
    take_all(&b, NOW);
    for (int i = 0; i < 4; i++)
        fb_retry_budget_request(&b, NOW);
    assert_int_equal(take_all(&b, NOW), 0);
    fb_retry_budget_request(&b, NOW);
    assert_int_equal(take_all(&b, NOW), 1);
}

static void requests_save_up_a_hundred_at_most(void **state)
{
    struct retry_budget b = budget();

    (void)state;
    for (int i = 0; i < 100000; i++)
        fb_retry_budget_request(&b, NOW);
    assert_int_equal(take_all(&b, NOW + 3600 * S), 100);
}

static void a_clock_that_lags_gives_nothing(void **state)
{
    struct retry_budget b = budget();

    (void)state;
    take_all(&b, NOW + 10 * S);
    assert_int_equal(take_all(&b, NOW), 0);
    fb_retry_budget_request(&b, NOW);
    assert_int_equal(take_all(&b, NOW + 10 * S), 0);
}

/* The promise, over any time that begins with an empty account. */
static void retries_never_pass_their_share(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        struct rng rng = {seed};
        struct retry_budget b = budget();
        int64_t now_ns = NOW;
        int64_t requests = 0;
        int64_t retries = 0;

        print_message("seed %llu\n", (unsigned long long)seed);
        take_all(&b, NOW);
        for (int i = 0; i < 5000; i++) {
            now_ns += (int64_t)(fb_rng_next(&rng) % (uint64_t)(20 * MS));
            fb_retry_budget_request(&b, now_ns);
            requests++;
            if (fb_rng_next(&rng) % (1 + seed % 4) == 0)
                retries += take_all(&b, now_ns);
            /* retries <= requests / 5 + 10/s, in billionths */
            assert_true(retries * 1000000000 <= requests * 200000000 + 10 * (now_ns - NOW));
        }
        if (seed % 4 == 0) /* always asked: all that is allowed is used */
            assert_true((retries + 1) * 1000000000 > requests * 200000000 + 10 * (now_ns - NOW));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(begins_with_a_second_of_free_retries),
        cmocka_unit_test(ten_a_second_are_free),
        cmocka_unit_test(free_ones_are_saved_for_a_second_only),
        cmocka_unit_test(five_requests_pay_for_a_retry),
        cmocka_unit_test(requests_save_up_a_hundred_at_most),
        cmocka_unit_test(a_clock_that_lags_gives_nothing),
        cmocka_unit_test(retries_never_pass_their_share),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
