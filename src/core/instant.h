/* SPDX-License-Identifier: MIT */
/*
 * instant.h - arithmetic on points in time.
 *
 * An instant is int64_t nanoseconds, counted from the limiter's first one on: the public functions
 * convert from the caller's clock and keep it within +-FB_TIME_MAX (73 years), so that the
 * difference of two never overflows. Sums saturate at FB_NEVER, which no amount of waiting reaches.
 */
#ifndef FLYBALL_CORE_INSTANT_H
#define FLYBALL_CORE_INSTANT_H

#include <stdbool.h>
#include <stdint.h>

#define FB_TIME_MAX  (INT64_MAX / 4)
#define FB_NEVER     INT64_MAX
#define FB_LONG_AGO  (-FB_TIME_MAX) /* before anything that counts */
#define FB_NS_PER_S  INT64_C(1000000000)
#define FB_NS_PER_MS INT64_C(1000000)

/* What servers may say and be believed: more is no wait but a mistake; a monthly quota is real. */
#define FB_WAIT_MAX  (INT64_C(7) * 86400 * FB_NS_PER_S)
#define FB_RESET_MAX (INT64_C(32) * 86400 * FB_NS_PER_S)

static inline int64_t fb_min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t fb_max64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static inline int64_t fb_clamp64(int64_t x, int64_t low, int64_t high)
{
    return x < low ? low : x > high ? high : x;
}

/* A number that may be anything, and where it must lie. */
struct range {
    int64_t value;
    int64_t least;
    int64_t most;
};

/* A range for what must be an instant, or a number that may not be negative. */
#define FB_AN_INSTANT(x) ((struct range){(x), -FB_TIME_MAX, FB_TIME_MAX})
#define FB_A_NUMBER(x)   ((struct range){(x), 0, FB_TIME_MAX})

static inline bool fb_in_range(const struct range *r, int count)
{
    for (int i = 0; i < count; i++)
        if (r[i].value < r[i].least || r[i].value > r[i].most)
            return false;
    return true;
}

#define FB_ALL_IN_RANGE(ranges) fb_in_range((ranges), (int)(sizeof(ranges) / sizeof((ranges)[0])))

/* `at` plus a span of >= 0 ns; FB_NEVER where the sum leaves the range of instants. */
static inline int64_t fb_after(int64_t at, int64_t span_ns)
{
    if (at >= FB_TIME_MAX || span_ns >= FB_TIME_MAX - at)
        return FB_NEVER;
    return at + span_ns;
}

/* Seconds as a span, rounded down; absurd values end at FB_TIME_MAX. */
static inline int64_t fb_span(double seconds)
{
    if (!(seconds > 0.0))
        return 0;
    return seconds < (double)FB_TIME_MAX / 1e9 ? (int64_t)(seconds * 1e9) : FB_TIME_MAX;
}

static inline double fb_seconds(int64_t span_ns)
{
    return (double)span_ns / 1e9;
}

#endif
