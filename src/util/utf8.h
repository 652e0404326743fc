/* SPDX-License-Identifier: MIT */
/*
 * utf8.h - is this UTF-8? Byte by byte, or a whole text at once.
 *
 * Strict (RFC 3629): no overlong forms, no surrogates, nothing above U+10FFFF.
 */
#ifndef FLYBALL_UTIL_UTF8_H
#define FLYBALL_UTIL_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed before the first byte. The text may end where `left` is 0. */
struct utf8 {
    uint8_t left; /* bytes that the current character still needs */
    uint8_t low;  /* the next one is between these two */
    uint8_t high;
};

/* The next byte; false when it cannot be. */
bool fb_utf8_step(struct utf8 *u, uint8_t byte);

/* How many bytes at the beginning of `text` are whole characters: `size` when all are. */
size_t fb_utf8_prefix(const char *text, size_t size);

#endif
