/* SPDX-License-Identifier: MIT */
/* alloc.c - calloc and free behind one door. */
#include "util/alloc.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static _Atomic size_t calls_until_failure;

void fb_alloc_fail_at(size_t n)
{
    atomic_store(&calls_until_failure, n);
}

static int must_fail(void)
{
    size_t left = atomic_load_explicit(&calls_until_failure, memory_order_relaxed);

    while (left > 0)
        if (atomic_compare_exchange_weak(&calls_until_failure, &left, left - 1))
            return left == 1;
    return 0;
}

void *fb_alloc(size_t size)
{
    return must_fail() ? NULL : calloc(1, size);
}

void *fb_alloc_lines(size_t size)
{
    size_t whole = (size + 63) / 64 * 64;
    void *memory = whole >= size && !must_fail() ? aligned_alloc(64, whole) : NULL;

    return memory ? memset(memory, 0, whole) : NULL;
}

void *fb_alloc_raw(size_t size)
{
    return must_fail() ? NULL : malloc(size);
}

void fb_free(void *memory)
{
    free(memory);
}
