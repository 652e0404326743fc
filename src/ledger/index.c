/* SPDX-License-Identifier: MIT */
/*
 * index.c - which key has which part of the file, and where there is room for another.
 *
 * Entries hold all there is to know about the room: what no entry names is free. So nothing is to
 * be repaired when a process dies while it makes a key: its entry was not valid yet.
 */
#include "ledger/ledger.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"

static bool is_valid(const struct entry *e)
{
    return atomic_load_explicit(&e->state, memory_order_acquire) != ENTRY_FREE;
}

static uint64_t aligned(uint64_t at)
{
    return (at + FB_LEDGER_ALIGN - 1) / FB_LEDGER_ALIGN * FB_LEDGER_ALIGN;
}

static uint64_t arena_at(const struct head *head)
{
    uint64_t end = sizeof(*head) + (uint64_t)head->entries * sizeof(struct entry);

    return aligned(end);
}

/* The valid entry that lies on these bytes, or NULL. */
static const struct entry *on(const struct head *head, uint64_t at, uint64_t bytes,
                              const struct entry *but)
{
    for (const struct entry *e = head->entry; e < head->entry + head->entries; e++)
        if (e != but && is_valid(e) && e->at < at + bytes && at < e->at + e->bytes)
            return e;
    return NULL;
}

bool fb_index_is_sound(const struct head *head)
{
    for (const struct entry *e = head->entry; e < head->entry + head->entries; e++) {
        if (!is_valid(e))
            continue;
        if (atomic_load(&e->state) > ENTRY_NEXT || e->at % FB_LEDGER_ALIGN != 0 ||
            e->at < arena_at(head) || e->at > head->bytes || e->bytes > head->bytes - e->at ||
            e->bytes < sizeof(struct slot))
            return false;
    }
    /* In range all of them: sums do not overflow. */
    for (const struct entry *e = head->entry; e < head->entry + head->entries; e++)
        if (is_valid(e) && on(head, e->at, e->bytes, e))
            return false;
    return true;
}

struct entry *fb_index_at(struct head *head, uint64_t at)
{
    for (struct entry *e = head->entry; e < head->entry + head->entries; e++)
        if (is_valid(e) && e->at == at)
            return e;
    return NULL;
}

/* The entry whose key has moved there, or NULL. */
static struct entry *moved_to(struct head *head, uint64_t at)
{
    for (struct entry *e = head->entry; e < head->entry + head->entries; e++) {
        struct slot *slot = fb_ledger_at(head, e->at);
        if (is_valid(e) && atomic_load(&slot->moved) == at)
            return e;
    }
    return NULL;
}

void fb_index_settle(struct head *head)
{
    for (struct entry *next = head->entry; next < head->entry + head->entries; next++) {
        if (atomic_load(&next->state) != ENTRY_NEXT)
            continue;
        struct entry *from = moved_to(head, next->at);
        if (from)
            atomic_store(&from->state, ENTRY_LEFT);
        atomic_store(&next->state, from ? ENTRY_USED : ENTRY_FREE);
    }
}

struct entry *fb_index_find(struct head *head, struct siphash_wide id)
{
    for (struct entry *e = head->entry; e < head->entry + head->entries; e++)
        if (atomic_load(&e->state) == ENTRY_USED && e->id.word[0] == id.word[0] &&
            e->id.word[1] == id.word[1])
            return e;
    return NULL;
}

/* ---- room ---- */

struct span {
    uint64_t at;
    uint64_t end;
};

static int by_place(const void *a, const void *b)
{
    uint64_t left = ((const struct span *)a)->at;
    uint64_t right = ((const struct span *)b)->at;

    return left < right ? -1 : left > right;
}

static bool fits(const struct head *head, uint64_t at, uint64_t bytes)
{
    return bytes <= head->bytes && at <= head->bytes - bytes;
}

/* Behind the place that was given last, or where one was given up: a guess, and it is any bytes. */
static bool guess_is_good(const struct head *head, uint64_t bytes)
{
    return head->room_at % FB_LEDGER_ALIGN == 0 && head->room_at >= arena_at(head) &&
           fits(head, head->room_at, bytes) && !on(head, head->room_at, bytes, NULL);
}

/* The first place with so many bytes between what is used, which lies in order; 0: none. */
static uint64_t first_gap(const struct head *head, const struct span *used, size_t count,
                          uint64_t bytes)
{
    uint64_t at = arena_at(head);

    for (size_t i = 0; i < count && fits(head, at, bytes) && at + bytes > used[i].at; i++)
        at = aligned(used[i].end);
    return fits(head, at, bytes) ? at : 0;
}

static uint64_t find_gap(const struct head *head, uint64_t bytes)
{
    if (guess_is_good(head, bytes))
        return head->room_at;
    struct span *used = fb_alloc((head->entries + 1) * sizeof(*used));
    size_t count = 0;

    if (!used)
        return 0;
    for (const struct entry *e = head->entry; e < head->entry + head->entries; e++)
        if (is_valid(e))
            used[count++] = (struct span){e->at, e->at + e->bytes};
    qsort(used, count, sizeof(*used), by_place);
    uint64_t at = first_gap(head, used, count, bytes);
    fb_free(used);
    return at;
}

struct entry *fb_index_room(struct head *head, uint64_t bytes)
{
    struct entry *e = head->entry;

    while (e < head->entry + head->entries && is_valid(e))
        e++;
    uint64_t at = find_gap(head, bytes);
    if (e == head->entry + head->entries || at == 0)
        return NULL;
    e->at = at;
    e->bytes = bytes;
    head->room_at = aligned(at + bytes);
    memset(fb_ledger_at(head, at), 0, bytes);
    return e;
}
