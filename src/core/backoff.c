/* SPDX-License-Identifier: MIT */
/*
 * backoff.c - min(2^n, 60) seconds, with jitter on top.
 *
 * The power is not computed once it would be cut anyway, so no n is too large.
 */
#include "core/backoff.h"

#include <assert.h>

#include "core/instant.h"
#include "core/jitter.h"

#define CAP_S     60
#define CAPPED_AT 6 /* 2^6 is above the cap */

int64_t fb_backoff_base_ns(int64_t n)
{
    assert(n >= 1);
    return (n < CAPPED_AT ? INT64_C(1) << n : CAP_S) * FB_NS_PER_S;
}

int64_t fb_backoff_ns(int64_t n, struct rng *rng)
{
    int64_t base_ns = fb_backoff_base_ns(n);

    assert(base_ns > 0 && base_ns <= CAP_S * FB_NS_PER_S);
    return base_ns + fb_jitter(rng, base_ns / 4);
}
