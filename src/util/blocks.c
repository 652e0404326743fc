/* SPDX-License-Identifier: MIT */
/* blocks.c - a list of those that are free. */
#include "util/blocks.h"

#include <stdbool.h>

#include "util/alloc.h"

struct block {
    struct block *next;
};

static bool may_keep(const struct blocks *b)
{
#if defined(__SANITIZE_ADDRESS__)
    (void)b;
    return false;
#else
    return b->kept < FB_BLOCKS_KEPT;
#endif
}

void *fb_blocks_get(struct blocks *b, size_t size)
{
    struct block *first = b->first;

    if (size > b->bytes)
        return fb_alloc_raw(size);
    if (!first)
        return fb_alloc_raw(b->bytes);
    b->first = first->next;
    b->kept--;
    return first;
}

void fb_blocks_put(struct blocks *b, void *memory, size_t size)
{
    struct block *block = memory;

    if (!block || size > b->bytes || !may_keep(b)) {
        fb_free(memory);
        return;
    }
    block->next = b->first;
    b->first = block;
    b->kept++;
}

void fb_blocks_fini(struct blocks *b)
{
    for (struct block *next; b->first; b->first = next) {
        next = b->first->next;
        fb_free(b->first);
    }
    b->kept = 0;
}
