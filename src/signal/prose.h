/* SPDX-License-Identifier: MIT */
/*
 * prose.h - numbers in sentences: "try again in 9.8s", "no more than 350 requests per hour".
 */
#ifndef FLYBALL_SIGNAL_PROSE_H
#define FLYBALL_SIGNAL_PROSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "signal/reading.h"
#include "signal/slice.h"

#define FB_TOKENS_MAX 256 /* words of a text that are looked at */

/* The words of a text: letters, digits and what may stand inside of a number or a date. */
struct tokens {
    struct slice at[FB_TOKENS_MAX];
    size_t count;
};

void fb_tokens_read(struct tokens *t, struct slice text);

/* Is word `i` this one, whatever its case? False beyond the end. */
bool fb_token_is(const struct tokens *t, size_t i, const char *word);

/* Word `i` as a unit of time: "seconds", "min", "HOUR". */
bool fb_token_unit(const struct tokens *t, size_t i, int64_t *ret_ns);

/* Waits, limits and concurrency that the text states. */
void fb_prose_read(struct reading *r, const struct tokens *t);

#endif
