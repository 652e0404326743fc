/* SPDX-License-Identifier: MIT */
/*
 * eight.h - look at eight bytes at once.
 *
 * Most text is printable ASCII from end to end; what is not is for the caller to find, byte by
 * byte. Each answer is a word whose high bits mark bytes; only that it is zero or not is exact:
 * a mark may have strayed to the byte behind the one that earned it.
 */
#ifndef FLYBALL_UTIL_EIGHT_H
#define FLYBALL_UTIL_EIGHT_H

#include <stdint.h>
#include <string.h>

#define FB_EIGHT(byte) (UINT64_C(0x0101010101010101) * (byte))

static inline uint64_t fb_eight_load(const char *bytes)
{
    uint64_t v;

    memcpy(&v, bytes, sizeof(v));
    return v;
}

/* Bytes above ASCII. */
static inline uint64_t fb_eight_high(uint64_t v)
{
    return v & FB_EIGHT(0x80);
}

/* Bytes that are not printable ASCII: below a blank, DEL, above ASCII. */
static inline uint64_t fb_eight_odd(uint64_t v)
{
    return (v | (v + FB_EIGHT(1)) | (v - FB_EIGHT(' '))) & FB_EIGHT(0x80);
}

/* Bytes equal to `c`, which is ASCII, or above ASCII. */
static inline uint64_t fb_eight_is(uint64_t v, char c)
{
    return (v | ((v ^ FB_EIGHT((unsigned char)c)) - FB_EIGHT(1))) & FB_EIGHT(0x80);
}

#endif
