/* SPDX-License-Identifier: MIT */
/* Dates and the epoch, against the C library's calendar. */
#include "unit.h"

#include "core/rng.h"
#include "signal/civil.h"

#define FIRST_S (INT64_MIN / S) /* 1677 */
#define LAST_S  (INT64_MAX / S) /* 2262 */

static bool epoch(int64_t year, int64_t month, int64_t day, int64_t *ret_ns)
{
    struct civil c = {.year = year, .month = month, .day = day};

    return fb_civil_epoch(&c, ret_ns);
}

static void every_day_from_first_to_last(void **state)
{
    (void)state;
    for (int64_t day = FIRST_S / 86400 + 1; day <= LAST_S / 86400; day++) {
        time_t s = (time_t)(day * 86400);
        struct tm tm;
        int64_t ns = 0;

        assert_non_null(gmtime_r(&s, &tm));
        assert_true(epoch(tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, &ns));
        assert_int_equal(ns, day * 86400 * S);
        struct civil c = fb_civil_of(ns);
        assert_int_equal(c.year, tm.tm_year + 1900);
        assert_int_equal(c.month, tm.tm_mon + 1);
        assert_int_equal(c.day, tm.tm_mday);
    }
}

static void any_instant_there_and_back(void **state)
{
    struct rng r = {seed_of_run()};

    (void)state;
    for (int i = 0; i < 200000; i++) {
        int64_t ns = (int64_t)fb_rng_next(&r), back = 0;
        struct civil c = fb_civil_of(ns);
        int64_t part = ns % S < 0 ? ns % S + S : ns % S;

        c.part_ns = part;
        assert_true(fb_civil_epoch(&c, &back));
        assert_int_equal(back, ns);
    }
    /* The very first instants lie in a second whose beginning does not fit. */
    assert_int_equal(fb_civil_of(INT64_MIN).year, 1677);
    assert_int_equal(fb_civil_of(INT64_MIN).second, 43);
    assert_int_equal(fb_civil_of(-1).second, 59);
    assert_int_equal(fb_civil_of(-1).year, 1969);
}

static void no_such_date(void **state)
{
    static const int64_t rows[][3] = {
        {2023, 2, 29}, {1900, 2, 29}, {2100, 2, 29}, {2024, 2, 30}, {2023, 4, 31}, {2023, 1, 32},
        {2023, 0, 1},  {2023, 13, 1}, {2023, 1, 0},  {2023, -1, 1}, {2023, 1, -1}, {-1, 1, 1},
        {10000, 1, 1}, {9999, 1, 1},  {0, 1, 1},     {1677, 1, 1},  {2263, 1, 1},
    };
    int64_t ns = 42;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        assert_false(epoch(rows[i][0], rows[i][1], rows[i][2], &ns));
    assert_int_equal(ns, 42);
    assert_true(epoch(2000, 2, 29, &ns));
    assert_true(epoch(2024, 2, 29, &ns));
    assert_true(epoch(1678, 1, 1, &ns));
    assert_true(epoch(2262, 4, 11, &ns));
}

/* The C library carries a day that a month does not have into the next one. */
static void months_end_where_they_end(void **state)
{
    (void)state;
    for (int year = 1896; year <= 2104; year++) {
        for (int month = 1; month <= 12; month++) {
            for (int day = 28; day <= 32; day++) {
                struct tm tm = {.tm_year = year - 1900, .tm_mon = month - 1, .tm_mday = day};
                int64_t ns = 0, want = (int64_t)timegm(&tm) * S;
                assert_int_equal(epoch(year, month, day, &ns), tm.tm_mday == day);
                assert_true(tm.tm_mday != day || ns == want);
            }
        }
    }
}

static bool at(int64_t hour, int64_t minute, int64_t second, int64_t offset_s)
{
    struct civil c = {
        .year = 2016,
        .month = 12,
        .day = 31,
        .hour = hour,
        .minute = minute,
        .second = second,
        .offset_s = offset_s,
    };
    int64_t ns;

    return fb_civil_epoch(&c, &ns);
}

static void no_such_time(void **state)
{
    (void)state;
    assert_true(at(0, 0, 0, 0));
    assert_true(at(23, 59, 59, 0));
    assert_false(at(24, 0, 0, 0));
    assert_false(at(-1, 0, 0, 0));
    assert_false(at(0, 60, 0, 0));
    assert_false(at(0, -1, 0, 0));
    assert_false(at(0, 0, 61, 0));
    assert_false(at(0, 0, -1, 0));
}

static void a_leap_second_ends_a_day_in_utc(void **state)
{
    struct civil c = {.year = 2016, .month = 12, .day = 31, .hour = 23, .minute = 59, .second = 60};
    int64_t leap = 0, next = 1;

    (void)state;
    assert_true(fb_civil_epoch(&c, &leap));
    assert_true(epoch(2017, 1, 1, &next));
    assert_int_equal(leap, next);
    assert_true(at(15, 59, 60, -8 * 3600));
    assert_false(at(15, 59, 60, 0));
    assert_false(at(23, 59, 60, 3600));
    assert_false(at(23, 58, 60, 0));
}

static void the_part_of_a_second_may_not_fit(void **state)
{
    struct civil c = fb_civil_of(INT64_MAX);
    int64_t ns = 42;

    (void)state;
    c.part_ns = INT64_MAX % S + 1;
    assert_false(fb_civil_epoch(&c, &ns));
    assert_int_equal(ns, 42);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_day_from_first_to_last),
        cmocka_unit_test(any_instant_there_and_back),
        cmocka_unit_test(no_such_date),
        cmocka_unit_test(months_end_where_they_end),
        cmocka_unit_test(no_such_time),
        cmocka_unit_test(a_leap_second_ends_a_day_in_utc),
        cmocka_unit_test(the_part_of_a_second_may_not_fit),
    };

    return cmocka_run_group_tests_name("civil", tests, NULL, NULL);
}
