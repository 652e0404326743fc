/* SPDX-License-Identifier: MIT */
/*
 * alloc.h - the one allocator of the edges, which tests can make fail at the n-th call.
 */
#ifndef FLYBALL_UTIL_ALLOC_H
#define FLYBALL_UTIL_ALLOC_H

#include <stddef.h>

/* Zeroed memory, or NULL. Free with fb_free(). */
void *fb_alloc(size_t size) __attribute__((malloc, warn_unused_result));

/* The same, beginning with a line of the cache: 64-aligned. */
void *fb_alloc_lines(size_t size) __attribute__((malloc, warn_unused_result));

/*
 * Memory as it comes, or NULL: for large buffers of which little may be used, since what is never
 * touched costs nothing.
 */
void *fb_alloc_raw(size_t size) __attribute__((malloc, warn_unused_result));

/* NULL is allowed. */
void fb_free(void *memory);

/* For tests: the n-th allocation from now on fails, once; 0: none does. */
void fb_alloc_fail_at(size_t n);

#endif
