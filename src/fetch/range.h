/* SPDX-License-Identifier: MIT */
/*
 * range.h - {1..200} in a URL: every number of the range, in order; several ranges vary like the
 * digits of a number, the last one fastest. {001..200} keeps its zeros. Braces that hold anything
 * else are part of the URL.
 */
#ifndef FLYBALL_FETCH_RANGE_H
#define FLYBALL_FETCH_RANGE_H

#include <stddef.h>
#include <stdint.h>

#include "util/buffer.h"

#define RANGES_MAX 4
#define RANGE_MOST UINT64_C(1000000000000) /* texts that one line can stand for */

struct range {
    size_t begin, end; /* of the braces in the text */
    int64_t from, to, at;
    int width; /* digits, with zeros before; 0: as it comes */
};

struct ranges {
    struct range range[RANGES_MAX];
    size_t count; /* 0: the text stands for itself */
    uint64_t total;
};

/* Find the ranges of a text. 0, or -E2BIG: more than RANGES_MAX, or more texts than RANGE_MOST. */
int fb_ranges_init(struct ranges *r, const char *text, size_t size)
    __attribute__((warn_unused_result));

/* Append the text as it stands now. */
void fb_ranges_text(const struct ranges *r, const char *text, size_t size, struct buffer *out);

/* Go on to the next one; false behind the last. */
bool fb_ranges_next(struct ranges *r);

#endif
