/* SPDX-License-Identifier: MIT */
/*
 * table.h - find a thing by its name: a hash table of entries that live in the things.
 *
 * A name is any bytes. The table grows by doubling and never shrinks.
 */
#ifndef FLYBALL_ENGINE_TABLE_H
#define FLYBALL_ENGINE_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct table_entry {
    struct table_entry *next;
    const void *name; /* the thing's own memory */
    size_t name_size;
    uint64_t hash;
};

struct table {
    struct table_entry **slot;
    size_t slots; /* a power of two, or 0 */
    size_t count;
    uint64_t seed; /* so that nobody outside can choose names that collide */
};

/* A zeroed table is empty. */
void fb_table_fini(struct table *t);

struct table_entry *fb_table_find(const struct table *t, const void *name, size_t name_size);

/* `e` has its name and is in no table; the name is new. 0 or -ENOMEM. */
int fb_table_add(struct table *t, struct table_entry *e) __attribute__((warn_unused_result));

/* Take out an entry that is in the table. */
void fb_table_remove(struct table *t, struct table_entry *e);

/* Every entry once; `each` may free it. */
void fb_table_each(struct table *t, void (*each)(void *arg, struct table_entry *e), void *arg);

#endif
