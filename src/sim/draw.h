/* SPDX-License-Identifier: MIT */
/*
 * draw.h - the distributions that scenarios, networks and servers are drawn from.
 *
 * All of them spend a fixed number of steps of the generator, so that adding a draw at the end of
 * a scenario never changes what was drawn before it.
 */
#ifndef FLYBALL_SIM_DRAW_H
#define FLYBALL_SIM_DRAW_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/rng.h"

/* Uniform in [low, high). */
static inline double fb_draw_between(struct rng *r, double low, double high)
{
    return low + (high - low) * fb_rng_unit(r);
}

/* Log-uniform in [low, high): every octave is as likely as the next. Both > 0. */
static inline double fb_draw_log(struct rng *r, double low, double high)
{
    return low * exp(log(high / low) * fb_rng_unit(r));
}

/* Uniform among the integers low..high. */
static inline int64_t fb_draw_int(struct rng *r, int64_t low, int64_t high)
{
    return low + (int64_t)(fb_rng_unit(r) * (double)(high - low + 1));
}

static inline bool fb_draw_chance(struct rng *r, double probability)
{
    return fb_rng_unit(r) < probability;
}

/* Exponential with this mean. */
static inline double fb_draw_exp(struct rng *r, double mean)
{
    return -mean * log(1.0 - fb_rng_unit(r));
}

/* Pareto with this mean; the tail is heavier the nearer `alpha` is to 1. */
static inline double fb_draw_pareto(struct rng *r, double alpha, double mean)
{
    return mean * (alpha - 1.0) / alpha * pow(1.0 - fb_rng_unit(r), -1.0 / alpha);
}

/* A generator of its own for one purpose, so that purposes do not disturb each other. */
static inline struct rng fb_draw_stream(uint64_t seed, uint64_t purpose)
{
    struct rng r = {.state = seed ^ (purpose * UINT64_C(0xD1342543DE82EF95))};

    fb_rng_next(&r);
    return (struct rng){.state = fb_rng_next(&r)};
}

#endif
