/* SPDX-License-Identifier: MIT */
/*
 * hash.h - 64 bits of any bytes: for names of files, checks of records, places in tables.
 *
 * Good against accidents, not against somebody who looks for two texts with one hash: what guards
 * a secret needs a keyed one.
 */
#ifndef FLYBALL_UTIL_HASH_H
#define FLYBALL_UTIL_HASH_H

#include <stddef.h>
#include <stdint.h>

#define FB_HASH_INIT UINT64_C(0xcbf29ce484222325)

/* Go on from `hash` (FB_HASH_INIT at first) over `size` bytes. */
uint64_t fb_hash_add(uint64_t hash, const void *bytes, size_t size);

/* The same over a number, whatever the byte order of the machine. */
uint64_t fb_hash_add_int(uint64_t hash, uint64_t value);

/* The end: every bit of the result depends on every bit that went in. */
uint64_t fb_hash_end(uint64_t hash);

#endif
