/* SPDX-License-Identifier: MIT */
/*
 * value.h - strict readers for the values in a limit text.
 *
 * Each reads the whole of `text` or refuses it; nothing is rounded, guessed or skipped.
 */
#ifndef FLYBALL_CORE_VALUE_H
#define FLYBALL_CORE_VALUE_H

#include <stdint.h>

struct rate;

enum value_error {
    VALUE_OK,
    VALUE_MALFORMED,
    VALUE_NOT_POSITIVE, /* zero or negative */
    VALUE_NEGATIVE,     /* where zero would be right */
    VALUE_TOO_LARGE,    /* or too fine to be kept exactly */
    VALUE_TOO_MANY,     /* right, but there is no room for another */
};

/* "10/s", "0.1/s", "5000/1h", "100/10s": permits and a period, kept as an exact fraction. */
enum value_error fb_value_rate(const char *text, struct rate *ret_rate);

/* "500ms", "1.5s", "10m", "1h", "1d", and "s" for one second. */
enum value_error fb_value_span(const char *text, int64_t *ret_span_ns);

/* A whole number from 1 on. */
enum value_error fb_value_count(const char *text, int64_t *ret_count);

/* "10%", "2.5%": 0 to below 100, as parts per million. */
enum value_error fb_value_share(const char *text, int64_t *ret_ppm);

#endif
