/* SPDX-License-Identifier: MIT */
/*
 * verdict.h - from all that was told to what it means.
 */
#ifndef FLYBALL_SIGNAL_VERDICT_H
#define FLYBALL_SIGNAL_VERDICT_H

#include <flyball/flyball.h>

#include "signal/reading.h"

/* Put the pools in order: names, units, what is told twice. Once, before the verdict. */
void fb_pools_settle(struct reading *r);

/* Fill in everything but `size`. */
void fb_verdict(const struct reading *r, struct fly_signal *ret_signal);

#endif
