/* SPDX-License-Identifier: MIT */
/*
 * tide.h - how a provider's limit changes with time, as a factor and as its integral.
 *
 * A token bucket under a changing limit gains what the integral gained: exact whatever the shape,
 * without stepping through time. The zero tide is the constant factor 1.
 */
#ifndef FLYBALL_SIM_TIDE_H
#define FLYBALL_SIM_TIDE_H

#include <stdint.h>

#define FB_TIDE_STEPS_MAX 96

struct tide {
    int64_t from_ns[FB_TIDE_STEPS_MAX]; /* step i holds from here to the next; rising */
    double factor[FB_TIDE_STEPS_MAX];
    double sum_before[FB_TIDE_STEPS_MAX]; /* factor-seconds before the step */
    int32_t count;                        /* 0: no steps */
    double swing;                         /* 1 + swing * sin(2 pi (t + shift) / period) */
    double period_s;                      /* 0: no swing */
    double shift_s;
};

/* From `from_ns` on (not before the last step; the first step is at 0) the factor is this. */
void fb_tide_add(struct tide *t, int64_t from_ns, double factor);

double fb_tide_factor(const struct tide *t, int64_t now_ns);

/* The integral of the factor over [0, now], in seconds. */
double fb_tide_sum(const struct tide *t, int64_t now_ns);

#endif
