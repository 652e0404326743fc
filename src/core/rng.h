/* SPDX-License-Identifier: MIT */
/*
 * rng.h - the one source of chance: splitmix64, seeded by the caller, passed by pointer.
 *
 * Good enough to spread waits and to draw scenarios; never used for secrets.
 */
#ifndef FLYBALL_CORE_RNG_H
#define FLYBALL_CORE_RNG_H

#include <stdint.h>

struct rng {
    uint64_t state;
};

static inline uint64_t fb_rng_next(struct rng *r)
{
    uint64_t z = r->state += UINT64_C(0x9E3779B97F4A7C15);

    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

/* Uniform in [0, 1). */
static inline double fb_rng_unit(struct rng *r)
{
    return (double)(fb_rng_next(r) >> 11) * 0x1.0p-53;
}

#endif
