/* SPDX-License-Identifier: MIT */
/* secret.c - draw a limit. */
#include "mock/secret.h"

#include <stdio.h>

#include "core/rng.h"

struct secret fb_secret_draw(uint64_t seed)
{
    struct rng rng = {seed};
    int64_t tenths = 100 + (int64_t)(fb_rng_unit(&rng) * 101.0);
    int64_t least = (11 * tenths + 199) / 200; /* what comes in in 0.55 s, rounded up */
    int64_t burst = 10 + (int64_t)(fb_rng_unit(&rng) * 21.0);
    struct secret s = {.rate = (double)tenths / 10.0, .burst = burst < least ? least : burst};

    /* The span is drawn as well, so that the number of requests does not give the rate away. */
    double span_s = 58.0 + fb_rng_unit(&rng) * 3.0;
    s.requests = s.burst + (int64_t)(span_s * s.rate);
    (void)snprintf(s.text, sizeof s.text, "rate=%lld.%lld/s burst=%lld", (long long)(tenths / 10),
                   (long long)(tenths % 10), (long long)s.burst);
    return s;
}

double fb_secret_needed_s(const struct secret *s, int64_t requests)
{
    return requests > s->burst ? (double)(requests - s->burst) / s->rate : 0.0;
}
