/* SPDX-License-Identifier: MIT */
/*
 * aimd.h - slow down a lot when refused, speed up a little after a long run of successes.
 *
 * A refusal multiplies the rate by 0.80; every 100 successes in a row multiply it by 1.01; it
 * stays within [floor, ceiling]. Defaults: start 0.5/s, burst 10, floor 0.1/s, ceiling 2/s.
 */
#ifndef FLYBALL_CORE_ADAPT_AIMD_H
#define FLYBALL_CORE_ADAPT_AIMD_H

#include <stdint.h>

#define FB_AIMD_RATE    0.5
#define FB_AIMD_BURST   10
#define FB_AIMD_FLOOR   0.1
#define FB_AIMD_CEILING 2.0

struct aimd {
    double rate; /* permits a second */
    double floor;
    double ceiling;
    int64_t successes;  /* in a row, since the last change of either kind */
    int64_t agreed;     /* successes since the rate changed ... */
    int64_t changed_ns; /* ... which was then */
};

/* The pure rule: the state after one refusal, and after one success. */
void fb_aimd_refused(struct aimd *a);
void fb_aimd_succeeded(struct aimd *a);

#endif
