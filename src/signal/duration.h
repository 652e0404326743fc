/* SPDX-License-Identifier: MIT */
/*
 * duration.h - spans of time as Go prints them, and as intervals are named.
 */
#ifndef FLYBALL_SIGNAL_DURATION_H
#define FLYBALL_SIGNAL_DURATION_H

#include <stdbool.h>
#include <stdint.h>

#include "signal/slice.h"

/*
 * "6m0s", "20m52.666s", "120ms", "0s", "1h", "1d": numbers with units from the largest to the
 * smallest (d h m s ms us ns, micro sign allowed), each at most once, a fraction only in the last.
 * What is finer than a nanosecond is rounded up. Anything else is refused: a number without a
 * unit, a sign, blanks, capitals, or a span that does not fit.
 */
bool fb_duration_read(struct slice s, int64_t *ret_ns);

#endif
