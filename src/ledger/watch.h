/* SPDX-License-Identifier: MIT */
/*
 * watch.h - what is kept about limiters that are observed: a ring of events, and sums.
 *
 * It lies apart from the limiter, which carries no more than one bit for it (`watched` in its
 * books): a limiter that nobody observes pays nothing. What is told here has been decided, and the
 * limiter's lock is free again.
 */
#ifndef FLYBALL_LEDGER_WATCH_H
#define FLYBALL_LEDGER_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include <flyball/flyball.h>

/* A grant, or the wait until `until_ns` because of `cause`. The clock is the caller's. */
void fb_watch_granted(const struct fly_limiter *l, int64_t now_ns, uint32_t cost);
void fb_watch_limited(const struct fly_limiter *l, int64_t now_ns, uint32_t cost, int64_t until_ns,
                      const char *cause);

/* What came of a grant, and the rate before and after it was heard. */
void fb_watch_reported(const struct fly_limiter *l, int64_t now_ns, const struct fly_outcome *o,
                       double before, double after);

/* Permits that are in the bucket now; 0 where there is none, or a debt. */
double fb_permits_available(struct fly_limiter *l, int64_t now_ns);

/* The share of its fullest window that is used, 0..1; NaN: it has none, or nobody can tell. */
double fb_window_utilization(struct fly_limiter *l, int64_t now_ns);

/* The limiter is gone. */
void fb_watch_drop(const struct fly_limiter *l);

#endif
