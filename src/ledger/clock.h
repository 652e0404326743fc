/* SPDX-License-Identifier: MIT */
/*
 * clock.h - the one place that reads a clock: monotonic, running on in suspend, from the epoch.
 */
#ifndef FLYBALL_LEDGER_CLOCK_H
#define FLYBALL_LEDGER_CLOCK_H

#include <stdint.h>

/* Since the machine was started; never 0, never falling. */
int64_t fb_clock_boot_ns(void);

/* What the time of day is ahead of that just now. It jumps when somebody sets the time. */
int64_t fb_clock_anchor_ns(void);

/*
 * Let fly_now() count from this anchor, unless it has one: that is chosen once in a process.
 * Returns the anchor in use.
 */
int64_t fb_clock_adopt(int64_t anchor_ns);

#endif
