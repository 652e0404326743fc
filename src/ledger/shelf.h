/* SPDX-License-Identifier: MIT */
/*
 * shelf.h - one part of a table of keys: entries found by their hash, under one lock.
 *
 * Entries lie in an array without pointers between them; a key is looked for from the place that
 * its hash names on. Hashes are made under a secret, so that they are as good as drawn by chance
 * and the way to an entry is short whoever chose the keys.
 *
 * An entry holds brief books (core/brief.h), or the address of an accountant.
 */
#ifndef FLYBALL_LEDGER_SHELF_H
#define FLYBALL_LEDGER_SHELF_H

#include <stddef.h>
#include <stdint.h>

#include "core/brief.h"
#include "ledger/lock.h"

struct entry {
    uint64_t hash; /* 0: the place is free */
    struct brief brief;
};

struct shelf {
    struct lock lock;
    uint32_t count;
    uint32_t places;
    struct entry *entry;
    int64_t sweep_ns; /* before this nobody looks for what can be forgotten */
};

/* NULL when it is not there. */
struct entry *fb_shelf_find(const struct shelf *s, uint64_t hash);

/* Whether one more needs more places than there are. */
bool fb_shelf_is_full(const struct shelf *s);

/* As many places as so many entries need, and some to spare. -ENOMEM: nothing changed. */
int fb_shelf_fit(struct shelf *s, uint32_t count) __attribute__((warn_unused_result));

/* A place for a hash that is not there; the shelf is not full. The entry is otherwise zeroed. */
struct entry *fb_shelf_add(struct shelf *s, uint64_t hash);

/* Other entries may move: only the places before this one are as they were. */
void fb_shelf_remove(struct shelf *s, struct entry *e);

void fb_shelf_fini(struct shelf *s);

/* ---- what an entry holds ---- */

struct books; /* of the table */

/* NULL: its books are brief. */
struct books *fb_entry_books(const struct entry *e);
void fb_entry_set_books(struct entry *e, struct books *books);

#endif
