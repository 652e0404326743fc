/* SPDX-License-Identifier: MIT */
/*
 * reset.h - what a bare number in a reset header is: seconds or milliseconds, from now or since
 * 1970.
 */
#ifndef FLYBALL_SIGNAL_RESET_H
#define FLYBALL_SIGNAL_RESET_H

#include <stdint.h>

#include "signal/reading.h"

/*
 * Settle the resets of all pools: each one's at_ns and number become after_ns, a span from now,
 * or FLY_ABSENT where no reading makes sense.
 */
void fb_resets_settle(struct reading *r);

#endif
