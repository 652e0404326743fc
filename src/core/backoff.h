/* SPDX-License-Identifier: MIT */
/*
 * backoff.h - how long a request that failed waits before its next attempt.
 *
 * Apart from the rate: a refusal waits for what the server or the controller says, never for this.
 * It is for what else may be tried again: timeouts, broken connections, 5xx.
 */
#ifndef FLYBALL_CORE_BACKOFF_H
#define FLYBALL_CORE_BACKOFF_H

#include <stdint.h>

struct rng;

/* After the n-th failure, n >= 1: 2, 4, 8, 16, 32, then 60 s for ever. */
int64_t fb_backoff_base_ns(int64_t n);

/*
 * The same with jitter, so that what failed together does not come back together: uniform in
 * [base, 1.25 base]. It is never shorter than the base.
 */
int64_t fb_backoff_ns(int64_t n, struct rng *rng);

#endif
