/* SPDX-License-Identifier: MIT */
/*
 * jitter.h - chance added to a wait, so that many who were told the same time do not come at once.
 *
 * Jitter is never negative: what a server or a rule asked for is the least that is waited.
 */
#ifndef FLYBALL_CORE_JITTER_H
#define FLYBALL_CORE_JITTER_H

#include <assert.h>
#include <stdint.h>

#include "core/instant.h"
#include "core/rng.h"
#include "core/wide.h"

/* Uniform in [0, most_ns]. */
static inline int64_t fb_jitter(struct rng *r, int64_t most_ns)
{
    assert(most_ns >= 0);
    return (int64_t)(((fb_uwide)fb_rng_next(r) * ((uint64_t)most_ns + 1)) >> 64);
}

/* For a wait that was told: at most 1 % of it, and at most a second. */
static inline int64_t fb_jitter_of_wait(struct rng *r, int64_t wait_ns)
{
    assert(wait_ns >= 0);
    return fb_jitter(r, fb_min64(wait_ns / 100, FB_NS_PER_S));
}

#endif
