/* SPDX-License-Identifier: MIT */
/*
 * civil.h - calendar dates and the epoch, in the Gregorian calendar, without a time zone database.
 */
#ifndef FLYBALL_SIGNAL_CIVIL_H
#define FLYBALL_SIGNAL_CIVIL_H

#include <stdbool.h>
#include <stdint.h>

struct civil {
    int64_t year;
    int64_t month; /* 1..12 */
    int64_t day;   /* 1..31 */
    int64_t hour;
    int64_t minute;
    int64_t second; /* 60 only where a leap second can be */
    int64_t part_ns;
    int64_t offset_s; /* east of Greenwich */
};

/*
 * Nanoseconds since 1970 in *ret_epoch_ns. False when there is no such date or time (29 February
 * 2023, 24:00, second 60 other than 23:59:60 in UTC), when the year is not 0 to 9999, or when the
 * instant does not fit, which is before 1677 or after 2262. part_ns and offset_s are the caller's
 * to check: at most a second, less than a day.
 */
bool fb_civil_epoch(const struct civil *c, int64_t *ret_epoch_ns);

/* The date and time of an instant, in UTC, to the second below. */
struct civil fb_civil_of(int64_t epoch_ns);

#endif
