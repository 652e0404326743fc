/* SPDX-License-Identifier: MIT */
/* Moves of a limit that are told: large ones that last. */
#include "unit.h"

#include "daemon/moves.h"

/* So many seconds at this limit, from *second on; how often it is told. */
static int stay(struct move *m, double limit, int seconds, int64_t *second, double *ret_before)
{
    int told = 0;

    for (int i = 0; i < seconds; i++)
        told += fb_move(m, limit, (*second)++, ret_before);
    return told;
}

static void a_large_move_that_lasts_is_told_once(void **state)
{
    struct move m = {0};
    int64_t second = 1000;
    double before = -1.0;

    (void)state;
    assert_int_equal(stay(&m, 10.0, 10, &second, &before), 0);
    assert_int_equal(stay(&m, 10.0, 50, &second, &before), 1);
    assert_true(before == 0.0);
    assert_int_equal(stay(&m, 12.5, 60, &second, &before), 1);
    assert_true(before == 10.0);
    assert_int_equal(stay(&m, 9.0, 60, &second, &before), 1);
    assert_true(before == 12.5);
}

static void a_small_one_is_not(void **state)
{
    struct move m = {.told = 10.0};
    int64_t second = 1000;
    double before;

    (void)state;
    assert_int_equal(stay(&m, 11.9, 100, &second, &before), 0);
    assert_int_equal(stay(&m, 8.1, 100, &second, &before), 0);
    assert_int_equal(stay(&m, 0.0, 100, &second, &before), 0);
}

static void a_short_one_is_not(void **state)
{
    struct move m = {.told = 10.0};
    int64_t second = 1000;
    double before;

    (void)state;
    for (int i = 0; i < 20; i++) {
        assert_int_equal(stay(&m, 20.0, 9, &second, &before), 0);
        assert_int_equal(stay(&m, 10.0, 1, &second, &before), 0);
    }
    for (int i = 0; i < 20; i++) /* to and fro */
        assert_int_equal(stay(&m, i % 2 ? 20.0 : 5.0, 9, &second, &before), 0);
}

/* It climbs: told now and then, not every second. */
static void a_climb_is_told_in_steps(void **state)
{
    struct move m = {.told = 1.0};
    int64_t second = 1000;
    double before;
    int told = 0;

    (void)state;
    for (int i = 0; i < 60; i++)
        told += stay(&m, 1.0 + (double)i, 1, &second, &before);
    assert_in_range(told, 3, 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_large_move_that_lasts_is_told_once),
        cmocka_unit_test(a_small_one_is_not),
        cmocka_unit_test(a_short_one_is_not),
        cmocka_unit_test(a_climb_is_told_in_steps),
    };

    return cmocka_run_group_tests_name("moves", tests, NULL, NULL);
}
