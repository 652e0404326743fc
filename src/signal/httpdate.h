/* SPDX-License-Identifier: MIT */
/*
 * httpdate.h - the three forms of a date in HTTP (RFC 9110, section 5.6.7).
 */
#ifndef FLYBALL_SIGNAL_HTTPDATE_H
#define FLYBALL_SIGNAL_HTTPDATE_H

#include <stdbool.h>
#include <stdint.h>

#include "signal/slice.h"

/*
 * "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT" or "Sun Nov  6 08:49:37 1994"
 * as nanoseconds since 1970. Exactly these, case included; the weekday has to be one, but need not
 * be the right one: real servers get it wrong. A year of two digits is the latest that is not more
 * than 50 years after `now_ns`, the caller's time since 1970. What does not fit into the result
 * (before 1677, after 2262) is refused.
 */
bool fb_httpdate_read(struct slice s, int64_t now_ns, int64_t *ret_epoch_ns);

#endif
