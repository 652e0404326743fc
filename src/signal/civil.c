/* SPDX-License-Identifier: MIT */
/*
 * civil.c - days are counted in years that begin in March, so that the leap day is the last one.
 *
 * The calendar repeats after 400 years of 146097 days. In a year from March on, month m (0..11)
 * begins (153 m + 2) / 5 days in: 31, 30, 31, 30, 31 days, over and over.
 */
#include "signal/civil.h"

#include <assert.h>

#include "core/instant.h"

#define DAY_S     INT64_C(86400)
#define ERA_DAYS  INT64_C(146097)
#define ERA_YEARS 400
#define ERA_START INT64_C(719468) /* days from 1 March of year 0 to 1 January 1970 */

static int64_t days_before(int64_t year, int64_t month, int64_t day)
{
    int64_t from_march = month > 2 ? month - 3 : month + 9;
    /* One era later, so that January of year 0 needs no division of a negative number. */
    int64_t y = year + ERA_YEARS - (month > 2 ? 0 : 1);
    int64_t days = y * 365 + y / 4 - y / 100 + y / 400;

    return days + (153 * from_march + 2) / 5 + day - 1 - ERA_DAYS - ERA_START;
}

static bool is_leap(int64_t year)
{
    return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

static bool is_date(const struct civil *c)
{
    static const int64_t days[13] = {0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

    if (c->year < 0 || c->year > 9999 || c->month < 1 || c->month > 12)
        return false;
    return c->day >= 1 && c->day <= days[c->month] + (c->month == 2 && is_leap(c->year) ? 1 : 0);
}

static bool is_time(const struct civil *c)
{
    return c->hour >= 0 && c->hour <= 23 && c->minute >= 0 && c->minute <= 59 && c->second >= 0 &&
           c->second <= 60;
}

bool fb_civil_epoch(const struct civil *c, int64_t *ret_epoch_ns)
{
    int64_t ns;

    assert(c->part_ns >= 0 && c->part_ns <= FB_NS_PER_S);
    assert(c->offset_s > -DAY_S && c->offset_s < DAY_S);
    if (!is_date(c) || !is_time(c))
        return false;

    int64_t s = days_before(c->year, c->month, c->day) * DAY_S;
    s += c->hour * 3600 + c->minute * 60 + c->second - c->offset_s;
    /* A leap second ends a day in UTC; it is counted as the first second of the next. */
    if (c->second == 60 && s % DAY_S != 0)
        return false;
    if (__builtin_mul_overflow(s, FB_NS_PER_S, &ns) || __builtin_add_overflow(ns, c->part_ns, &ns))
        return false;
    *ret_epoch_ns = ns;
    return true;
}

struct civil fb_civil_of(int64_t epoch_ns)
{
    /* Whole eras are added first: every division below is of something that is not negative. */
    int64_t s = epoch_ns / FB_NS_PER_S - (epoch_ns % FB_NS_PER_S < 0 ? 1 : 0);
    int64_t days = s / DAY_S - (s % DAY_S < 0 ? 1 : 0);
    int64_t second = s - days * DAY_S;
    int64_t n = days + ERA_START;
    int64_t in_era = n % ERA_DAYS;
    int64_t y = (in_era - in_era / 1460 + in_era / 36524 - in_era / 146096) / 365;
    int64_t in_year = in_era - (365 * y + y / 4 - y / 100);
    int64_t m = (5 * in_year + 2) / 153;

    assert(n >= 0); /* an int64_t of nanoseconds begins in 1677 */
    return (struct civil){
        .year = y + n / ERA_DAYS * ERA_YEARS + (m >= 10 ? 1 : 0),
        .month = m < 10 ? m + 3 : m - 9,
        .day = in_year - (153 * m + 2) / 5 + 1,
        .hour = second / 3600,
        .minute = second / 60 % 60,
        .second = second % 60,
    };
}
