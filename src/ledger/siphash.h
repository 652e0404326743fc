/* SPDX-License-Identifier: MIT */
/*
 * siphash.h - SipHash-2-4 (Aumasson and Bernstein, 2012): a short hash under a secret.
 *
 * Whoever does not know the secret can neither choose texts that collide nor learn a text from
 * its hash better than by knowing the secret too: tables keyed by it cannot be attacked from
 * outside, and a credential can be told apart from others without being kept.
 */
#ifndef FLYBALL_LEDGER_SIPHASH_H
#define FLYBALL_LEDGER_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

#define FB_SIPHASH_SECRET_BYTES 16

struct siphash_secret {
    uint64_t word[2]; /* the 16 bytes, read as two little-endian numbers */
};

struct siphash_wide {
    uint64_t word[2]; /* the 16 bytes of the result, likewise */
};

struct siphash_secret fb_siphash_secret(const unsigned char bytes[FB_SIPHASH_SECRET_BYTES]);

/* The published functions of 64 and of 128 bits over `size` bytes. */
uint64_t fb_siphash(const struct siphash_secret *s, const void *bytes, size_t size);
struct siphash_wide fb_siphash_wide(const struct siphash_secret *s, const void *bytes, size_t size);

/*
 * The 128 bits of several texts as one key: each is preceded by its length and filled up with
 * zeroes to a multiple of eight, so that no two lists of texts are the same message.
 */
struct siphash_wide fb_siphash_list(const struct siphash_secret *s, const char *const *text,
                                    size_t count);

#endif
