/* SPDX-License-Identifier: MIT */
/* table.c - chains, on average one entry long. */
#include "engine/table.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "util/alloc.h"
#include "util/hash.h"

enum { FIRST_SLOTS = 64 };

void fb_table_fini(struct table *t)
{
    fb_free(t->slot);
    *t = (struct table){0};
}

static uint64_t hash_of(const struct table *t, const void *name, size_t name_size)
{
    uint64_t hash = fb_hash_add_int(FB_HASH_INIT, t->seed);

    return fb_hash_end(fb_hash_add(hash, name, name_size));
}

struct table_entry *fb_table_find(const struct table *t, const void *name, size_t name_size)
{
    if (t->slots == 0)
        return NULL;

    uint64_t hash = hash_of(t, name, name_size);
    struct table_entry *e = t->slot[hash & (t->slots - 1)];

    while (e &&
           (e->hash != hash || e->name_size != name_size || memcmp(e->name, name, name_size) != 0))
        e = e->next;
    return e;
}

static void put(struct table *t, struct table_entry *e)
{
    struct table_entry **slot = &t->slot[e->hash & (t->slots - 1)];

    e->next = *slot;
    *slot = e;
}

static int grow(struct table *t)
{
    struct table old = *t;
    size_t slots = old.slots ? 2 * old.slots : FIRST_SLOTS;
    struct table_entry **slot = fb_alloc(slots * sizeof(*slot));

    if (!slot)
        return -ENOMEM;
    t->slot = slot;
    t->slots = slots;
    for (size_t i = 0; i < old.slots; i++) {
        struct table_entry *next;

        for (struct table_entry *e = old.slot[i]; e; e = next) {
            next = e->next;
            put(t, e);
        }
    }
    fb_free(old.slot);
    return 0;
}

int fb_table_add(struct table *t, struct table_entry *e)
{
    assert(!fb_table_find(t, e->name, e->name_size));
    if (t->count >= t->slots) {
        int rc = grow(t);

        if (rc < 0)
            return rc;
    }
    e->hash = hash_of(t, e->name, e->name_size);
    put(t, e);
    t->count++;
    return 0;
}

void fb_table_remove(struct table *t, struct table_entry *e)
{
    struct table_entry **at = &t->slot[e->hash & (t->slots - 1)];

    while (*at != e)
        at = &(*at)->next;
    *at = e->next;
    e->next = NULL;
    t->count--;
}

void fb_table_each(struct table *t, void (*each)(void *arg, struct table_entry *e), void *arg)
{
    for (size_t i = 0; i < t->slots; i++) {
        struct table_entry *next;

        for (struct table_entry *e = t->slot[i]; e; e = next) {
            next = e->next;
            each(arg, e);
        }
    }
}
