/* SPDX-License-Identifier: MIT */
/*
 * tell.h - what the value of a header tells, once its name has said what it is.
 */
#ifndef FLYBALL_SIGNAL_TELL_H
#define FLYBALL_SIGNAL_TELL_H

#include <stdbool.h>
#include <stdint.h>

#include "signal/name.h"
#include "signal/reading.h"
#include "signal/slice.h"

/* Write what `value` tells into the reading; what cannot be read is ignored. *n is used up. */
void fb_tell(struct reading *r, struct header_name *n, struct slice value);

/* A reset of `p` in any form: number, duration, date. False: none of them. */
bool fb_tell_reset(const struct reading *r, struct pool *p, struct slice value);

/* A wait in any form, in units of `unit_ns` where it is a bare number. */
void fb_tell_wait(struct reading *r, struct slice value, int64_t unit_ns);

/* "18/5000": used and limit. */
bool fb_read_fraction(struct slice value, int64_t *ret_first, int64_t *ret_second);

/* "988", "988.0": whole units, a part of one left out. */
bool fb_read_count(struct slice value, int64_t *ret_count);

#endif
