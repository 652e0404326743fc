/* SPDX-License-Identifier: MIT */
/*
 * blocks.h - memory for things that come and go by the thousand: what was given back is used again.
 *
 * What needs more than a block has gets memory of its own. Of the blocks that are given back at
 * most FB_BLOCKS_KEPT stay. Under a sanitizer none does, so that it sees every use after the end.
 */
#ifndef FLYBALL_UTIL_BLOCKS_H
#define FLYBALL_UTIL_BLOCKS_H

#include <stddef.h>

#define FB_BLOCKS_KEPT 4096

/* Zeroes but for `bytes`: nothing is kept yet. For one thread. */
struct blocks {
    size_t bytes; /* of a block */
    size_t kept;
    struct block *first;
};

/* `size` bytes as they come, or NULL. */
void *fb_blocks_get(struct blocks *b, size_t size) __attribute__((warn_unused_result));

/* Give back what fb_blocks_get() gave for this size. NULL is allowed. */
void fb_blocks_put(struct blocks *b, void *memory, size_t size);

/* Free what is kept; all must have been given back. */
void fb_blocks_fini(struct blocks *b);

#endif
