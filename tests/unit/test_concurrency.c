/* SPDX-License-Identifier: MIT */
/* Concurrency: the user's bound and the controller's cap, never one more in flight. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/constraint.h"
#include "core/controller.h"
#include "core/instant.h"
#include "core/rng.h"
#include "core/spec.h"

#define NOW (3 * FB_NS_PER_S)

static bool set_up(int64_t slot[2], int64_t stated, const struct controller *controller)
{
    struct spec s = {.own[FB_CONSTRAINT_concurrency] = stated, .controller = controller};

    slot[0] = slot[1] = 0;
    return fb_constraint_concurrency.init(slot, &s, NULL, NOW);
}

static int64_t ready_at(const int64_t *slot, int64_t in_flight)
{
    return fb_constraint_concurrency.ready_at(
        slot, &(struct ask){.now_ns = NOW, .cost = 1, .in_flight = in_flight});
}

static void repace(int64_t *slot, int64_t in_flight_max)
{
    fb_constraint_concurrency.repace(slot, &(struct pace){.in_flight_max = in_flight_max}, NOW);
}

static void is_in_force_with_a_bound_or_a_controller(void **state)
{
    int64_t slot[2];

    (void)state;
    assert_false(set_up(slot, 0, NULL));
    assert_true(set_up(slot, 5, NULL));
    assert_true(set_up(slot, 0, &fb_controller_aimd));
    assert_string_equal(fb_constraint_concurrency.word, "concurrency");
    assert_true(fb_constraint_concurrency.read == fb_value_count);
}

static void holds_the_stated_bound(void **state)
{
    int64_t slot[2];

    (void)state;
    set_up(slot, 5, NULL);
    assert_int_equal(ready_at(slot, 0), NOW);
    assert_int_equal(ready_at(slot, 4), NOW);
    assert_int_equal(ready_at(slot, 5), FB_NEVER);
    assert_int_equal(ready_at(slot, 6), FB_NEVER);
}

static void holds_the_cap_of_the_pace(void **state)
{
    int64_t slot[2];

    (void)state;
    set_up(slot, 0, &fb_controller_aimd);
    assert_int_equal(ready_at(slot, 1000000), NOW);
    repace(slot, 3);
    assert_int_equal(ready_at(slot, 2), NOW);
    assert_int_equal(ready_at(slot, 3), FB_NEVER);
    repace(slot, 0);
    assert_int_equal(ready_at(slot, 0), FB_NEVER);
    repace(slot, FB_NO_CAP);
    assert_int_equal(ready_at(slot, 1000000), NOW);
}

static void of_bound_and_cap_the_lower_counts(void **state)
{
    int64_t slot[2];

    (void)state;
    set_up(slot, 5, &fb_controller_aimd);
    repace(slot, 8);
    assert_int_equal(ready_at(slot, 5), FB_NEVER);
    repace(slot, 2);
    assert_int_equal(ready_at(slot, 2), FB_NEVER);
    assert_int_equal(ready_at(slot, 1), NOW);
}

static void is_idle_only_without_bound_and_cap(void **state)
{
    int64_t slot[2];

    (void)state;
    set_up(slot, 0, &fb_controller_aimd);
    assert_true(fb_constraint_concurrency.idle(slot, NOW));
    repace(slot, 8);
    assert_false(fb_constraint_concurrency.idle(slot, NOW));
    repace(slot, FB_NO_CAP);
    assert_true(fb_constraint_concurrency.idle(slot, NOW));
    set_up(slot, 5, NULL);
    assert_false(fb_constraint_concurrency.idle(slot, NOW));
}

/* Grants and answers in any order: never more in flight than allowed. */
static void no_sequence_passes_the_bound(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        struct rng rng = {seed};
        int64_t bound = 1 + (int64_t)(fb_rng_next(&rng) % 40);
        int64_t in_flight = 0;
        int64_t slot[2];

        print_message("seed %llu\n", (unsigned long long)seed);
        set_up(slot, bound, NULL);
        for (int i = 0; i < 1000; i++) {
            if (fb_rng_next(&rng) % 3 == 0)
                in_flight = fb_max64(0, in_flight - 1);
            else if (ready_at(slot, in_flight) <= NOW)
                in_flight++;
            assert_true(in_flight <= bound);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_in_force_with_a_bound_or_a_controller),
        cmocka_unit_test(holds_the_stated_bound),
        cmocka_unit_test(holds_the_cap_of_the_pace),
        cmocka_unit_test(of_bound_and_cap_the_lower_counts),
        cmocka_unit_test(is_idle_only_without_bound_and_cap),
        cmocka_unit_test(no_sequence_passes_the_bound),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
