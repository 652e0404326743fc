/* SPDX-License-Identifier: MIT */
/*
 * number.h - strict decimal numbers, as servers write them.
 *
 * The two that end in _read take the whole slice or refuse it: ASCII digits only, no sign, no
 * exponent, no blanks, no hexadecimal, nothing after the number. A number too large for its result
 * is refused, never cut. Leading zeros mean nothing, as in HTTP.
 *
 * The others read the beginning of *s and take it off; when they fail, *s is anywhere.
 */
#ifndef FLYBALL_SIGNAL_NUMBER_H
#define FLYBALL_SIGNAL_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "signal/slice.h"

/* "5000". */
bool fb_number_read(struct slice s, int64_t *ret_value);

/*
 * "988.0", "0.0083", "50": in millionths. What is finer is rounded up, so that a wait never gets
 * shorter and a rate above zero never becomes zero.
 */
bool fb_decimal_read(struct slice s, int64_t *ret_millionths);

/* All the digits there are, at least one. */
bool fb_digits_take(struct slice *s, int64_t *ret_value);

/* So many digits (at most 18); what follows them is not looked at. */
bool fb_digits_exactly(struct slice *s, size_t count, int64_t *ret_value);

/* What stands after a point: digits / scale, below 1. */
struct fraction {
    int64_t digits;
    int64_t scale; /* a power of ten */
};

/* ".25". No point at all is 0; a point needs 1 to 18 digits after it. */
bool fb_fraction_take(struct slice *s, struct fraction *ret_fraction);

/* That part of `unit` (> 0), rounded up. */
int64_t fb_fraction_of(const struct fraction *f, int64_t unit);

#endif
