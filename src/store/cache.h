/* SPDX-License-Identifier: MIT */
/*
 * cache.h - validators and bodies of earlier answers, for conditional requests.
 *
 * A row is found by a hash of what was asked for (method, URL, and whatever else the caller puts
 * in), so its URL is not stored.
 * Bodies above CACHE_BODY_MAX are not kept; when all of them together
 * grow above CACHE_TOTAL_MAX, those unused for longest go.
 */
#ifndef FLYBALL_STORE_CACHE_H
#define FLYBALL_STORE_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/store.h"

#define CACHE_BODY_MAX  (8u << 20)
#define CACHE_TOTAL_MAX (INT64_C(256) << 20)

struct cached {
    uint64_t key[2];      /* a hash of 128 bits of the request */
    const char *etag;     /* "" when there is none */
    const char *modified; /* Last-Modified as it was sent, or "" */
    const char *type;     /* Content-Type, or "" */
    const char *next;     /* where its Link header leads, as fb_pages_strip leaves it, or "" */
    const void *body;
    size_t body_size;
    int64_t stored_s;
};

/*
 * Look a key up, through the worker, because bodies come from the disk. `found` is called on the
 * loop's thread with what is there, or with NULL; it is borrowed for the call. 0, -ENOMEM or
 * -EAGAIN.
 */
int fb_cache_find(struct store *s, struct store_file *file, const uint64_t key[2],
                  void (*found)(void *context, const struct cached *c), void *context)
    __attribute__((warn_unused_result));

/* Keep an answer: copies all. Larger than CACHE_BODY_MAX: -EFBIG. */
int fb_cache_put(struct store *s, struct store_file *file, const struct cached *c)
    __attribute__((warn_unused_result));

/* The same directly, on a database that no worker owns; `ret_cached` borrows till the next call. */
int fb_cache_read(struct db *db, const uint64_t key[2], struct cached *ret_cached)
    __attribute__((warn_unused_result)); /* 1 found, 0 not there or damaged, or negative errno */
int fb_cache_write(struct db *db, const struct cached *c) __attribute__((warn_unused_result));

#endif
