/* SPDX-License-Identifier: MIT */
/*
 * httpdate.c - three patterns, and one walk along them.
 */
#include "signal/httpdate.h"

#include <assert.h>
#include <string.h>

#include "signal/civil.h"
#include "signal/number.h"

/* Letters after a % as strftime() has them; everything else stands for itself. */
static const char *const patterns[] = {
    "%a, %d %b %Y %H:%M:%S GMT",
    "%A, %d-%b-%y %H:%M:%S GMT",
    "%a %b %e %H:%M:%S %Y",
};

static const char *const weekdays[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                       "Thursday", "Friday", "Saturday"};

static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

/* The years of two digits wait for `now`. */
#define SHORT_YEAR (-100)

static bool begins(struct slice s, const char *name, size_t length)
{
    return s.length >= length && memcmp(s.at, name, length) == 0;
}

static bool weekday_take(struct slice *s, bool in_full)
{
    for (size_t i = 0; i < sizeof(weekdays) / sizeof(weekdays[0]); i++) {
        size_t length = in_full ? strlen(weekdays[i]) : 3;
        if (begins(*s, weekdays[i], length)) {
            *s = fb_slice_after(*s, length);
            return true;
        }
    }
    return false;
}

static bool month_take(struct slice *s, int64_t *ret_month)
{
    for (size_t i = 0; i < sizeof(months) / sizeof(months[0]); i++) {
        if (begins(*s, months[i], 3)) {
            *s = fb_slice_after(*s, 3);
            *ret_month = (int64_t)i + 1;
            return true;
        }
    }
    return false;
}

static bool short_year_take(struct slice *s, int64_t *ret_year)
{
    if (!fb_digits_exactly(s, 2, ret_year))
        return false;
    *ret_year += SHORT_YEAR;
    return true;
}

static bool clock_take(struct slice *s, char letter, struct civil *c)
{
    int64_t *part = letter == 'H' ? &c->hour : letter == 'M' ? &c->minute : &c->second;

    assert(letter == 'H' || letter == 'M' || letter == 'S');
    return fb_digits_exactly(s, 2, part);
}

static bool field_take(struct slice *s, char letter, struct civil *c)
{
    switch (letter) {
    case 'a':
    case 'A':
        return weekday_take(s, letter == 'A');
    case 'b':
        return month_take(s, &c->month);
    case 'd':
        return fb_digits_exactly(s, 2, &c->day);
    case 'e': /* " 6" or "16" */
        return fb_digits_exactly(s, fb_slice_take(s, ' ') ? 1 : 2, &c->day);
    case 'Y':
        return fb_digits_exactly(s, 4, &c->year);
    case 'y':
        return short_year_take(s, &c->year);
    default:
        return clock_take(s, letter, c);
    }
}

static bool pattern_read(struct slice s, const char *pattern, struct civil *c)
{
    for (; *pattern; pattern++) {
        if (*pattern == '%') {
            if (!field_take(&s, *++pattern, c))
                return false;
        } else if (!fb_slice_take(&s, *pattern)) {
            return false;
        }
    }
    return s.length == 0;
}

/* Comparable within one year. */
static int64_t within_year(const struct civil *c)
{
    return (((c->month * 100 + c->day) * 100 + c->hour) * 100 + c->minute) * 100 + c->second;
}

/* The latest year with these two digits that is not more than 50 years ahead. */
static int64_t full_year(const struct civil *c, int64_t now_ns)
{
    struct civil now = fb_civil_of(now_ns);
    int64_t last = now.year + 50;
    int64_t year = last - (last - c->year) % 100;

    return year == last && within_year(c) > within_year(&now) ? year - 100 : year;
}

bool fb_httpdate_read(struct slice s, int64_t now_ns, int64_t *ret_epoch_ns)
{
    for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
        struct civil c = {0};
        if (pattern_read(s, patterns[i], &c)) {
            if (c.year < 0)
                c.year = full_year(&c, now_ns);
            return fb_civil_epoch(&c, ret_epoch_ns);
        }
    }
    return false;
}
