/* SPDX-License-Identifier: MIT */
/*
 * step.h - cut a stated limit in steps while refusals come in a row, give it back slowly.
 *
 * From the 3rd refusal in a row on, each cuts 10 points of the stated limit (20 from the 5th in a
 * row, 30 from the 10th), at most 80 in total. A success ends the row; 100 successes in a row give
 * 10 points back. It also estimates how long the provider takes to recover.
 */
#ifndef FLYBALL_CORE_ADAPT_STEP_H
#define FLYBALL_CORE_ADAPT_STEP_H

#include <stdint.h>

#define FB_STEP_WAITS 50 /* Retry-After values remembered */

struct step {
    double rate;                     /* as stated; 0 when only windows are */
    double floor;                    /* the rate is not cut below this; 0: none */
    int64_t changed_ns;              /* when the reduction changed last */
    int32_t refused_row;             /* refusals in a row */
    int32_t agreeing;                /* requests since the last change, for the confidence */
    uint32_t wait_ms[FB_STEP_WAITS]; /* Retry-After told, a ring */
    uint32_t wait_count;             /* ever told */
    uint8_t reduction;               /* points of 100 cut from the stated limit, 0..80 */
    uint8_t success_row;             /* successes in a row, 0..99 */
};

/* The pure rule. `retry_after_ns` <= 0: none told (as the source has it, 0 teaches nothing). */
void fb_step_refused(struct step *s, int64_t retry_after_ns);
void fb_step_succeeded(struct step *s);

/* The stated limit after the cut: at least 1. */
int64_t fb_step_limit(const struct step *s, int64_t stated);

/* Median of the waits told (the upper of two middles), 2 s when none was. */
int64_t fb_step_recovery_ns(const struct step *s);

/* 0..1: n / (n + 50), n = requests since the last change. */
double fb_step_confidence(const struct step *s);

#endif
