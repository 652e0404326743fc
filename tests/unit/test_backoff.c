/* SPDX-License-Identifier: MIT */
/* Backoff: the table, its cap, and jitter that only adds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/backoff.h"
#include "core/instant.h"
#include "core/rng.h"

#define S FB_NS_PER_S

static void doubles_up_to_a_minute(void **state)
{
    static const int64_t seconds[] = {2, 4, 8, 16, 32, 60, 60, 60};

    (void)state;
    for (size_t i = 0; i < sizeof(seconds) / sizeof(seconds[0]); i++)
        assert_int_equal(fb_backoff_base_ns((int64_t)i + 1), seconds[i] * S);
}

static void no_attempt_is_too_late(void **state)
{
    (void)state;
    assert_int_equal(fb_backoff_base_ns(63), 60 * S);
    assert_int_equal(fb_backoff_base_ns(64), 60 * S);
    assert_int_equal(fb_backoff_base_ns(INT64_MAX), 60 * S);
}

static void jitter_adds_up_to_a_quarter(void **state)
{
    (void)state;
    for (int64_t n = 1; n <= 8; n++) {
        struct rng rng = {42};
        int64_t base_ns = fb_backoff_base_ns(n);
        int64_t least = INT64_MAX;
        int64_t most = 0;

        for (int i = 0; i < 2000; i++) {
            int64_t wait_ns = fb_backoff_ns(n, &rng);
            assert_true(wait_ns >= base_ns && wait_ns <= base_ns + base_ns / 4);
            least = fb_min64(least, wait_ns);
            most = fb_max64(most, wait_ns);
        }
        assert_true(least < base_ns + base_ns / 100); /* all of it is used */
        assert_true(most > base_ns + base_ns / 4 - base_ns / 100);
    }
}

static void same_seed_same_waits(void **state)
{
    struct rng one = {7};
    struct rng other = {7};

    (void)state;
    for (int64_t n = 1; n <= 20; n++)
        assert_int_equal(fb_backoff_ns(n, &one), fb_backoff_ns(n, &other));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(doubles_up_to_a_minute),
        cmocka_unit_test(no_attempt_is_too_late),
        cmocka_unit_test(jitter_adds_up_to_a_quarter),
        cmocka_unit_test(same_seed_same_waits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
