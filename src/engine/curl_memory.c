/* SPDX-License-Identifier: MIT */
/*
 * curl_memory.c - lists of free blocks, one for each size that is a multiple of STEP.
 *
 * Invariant: each block of list k has room for k * STEP - OVERHEAD bytes. How large one is, malloc
 * knows, so that blocks need no head of their own and whoever gets one may be anybody.
 */
#include "engine/curl_memory.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define STEP      64
#define OVERHEAD  8   /* what malloc adds: a block of k * STEP - OVERHEAD wastes nothing */
#define LISTS     272 /* libcurl's buffer of a transfer has 16 KB */
#define SHRINK_TO 4   /* less than this part of its room: then a block is made smaller */

struct scrap {
    struct scrap *next;
};

struct kept {
    int users;
    size_t bytes;
    struct scrap *first[LISTS];
};

static _Thread_local struct kept *mine;

static size_t list_for(size_t size)
{
    return size > LISTS * STEP ? LISTS : (size + OVERHEAD + STEP - 1) / STEP;
}

static size_t list_of(void *memory)
{
    return (malloc_usable_size(memory) + OVERHEAD) / STEP;
}

static void release(struct kept *k)
{
    for (size_t i = 0; i < LISTS; i++)
        for (struct scrap *next; k->first[i]; k->first[i] = next) {
            next = k->first[i]->next;
            free(k->first[i]);
        }
    free(k);
}

void fb_curl_memory_begin(void)
{
#if !defined(__SANITIZE_ADDRESS__)
    if (!mine)
        mine = calloc(1, sizeof(*mine));
#endif
    if (mine)
        mine->users++;
}

void fb_curl_memory_end(void)
{
    if (!mine || --mine->users > 0)
        return;
    release(mine);
    mine = NULL;
}

void *fb_curl_get(size_t size)
{
    size_t list = list_for(size);
    struct scrap *s;

    if (!mine || list >= LISTS)
        return malloc(size);
    s = mine->first[list];
    if (!s)
        return malloc(list * STEP - OVERHEAD);
    mine->first[list] = s->next;
    mine->bytes -= list * STEP;
    return s;
}

void fb_curl_put(void *memory)
{
    struct scrap *s = memory;
    size_t list;

    if (!s)
        return;
    list = mine ? list_of(s) : 0;
    if (list == 0 || list >= LISTS || mine->bytes + list * STEP > CURL_MEMORY_KEPT) {
        free(memory);
        return;
    }
    s->next = mine->first[list];
    mine->first[list] = s;
    mine->bytes += list * STEP;
}

void *fb_curl_resize(void *memory, size_t size)
{
    size_t room = memory ? malloc_usable_size(memory) : 0;
    void *more;

    if (room >= size && memory && (room < STEP * SHRINK_TO || room / SHRINK_TO < size))
        return memory;
    if (!memory)
        return fb_curl_get(size);
    if (room < size && list_for(size) < LISTS) {
        more = fb_curl_get(size);
        if (more) {
            memcpy(more, memory, room);
            fb_curl_put(memory);
        }
        return more;
    }
    return realloc(memory, size ? size : 1);
}

char *fb_curl_text(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = fb_curl_get(size);

    return copy ? memcpy(copy, text, size) : NULL;
}

void *fb_curl_zeroes(size_t count, size_t size)
{
    size_t all = count * size;
    void *memory;

    if (size > 0 && count > SIZE_MAX / size)
        return NULL;
    /* What comes fresh from the system is zero already: malloc's own calloc knows. */
    if (!mine || list_for(all) >= LISTS)
        return calloc(count, size);
    memory = fb_curl_get(all);
    return memory ? memset(memory, 0, all) : NULL;
}
