/* SPDX-License-Identifier: MIT */
/*
 * table.h - inside a table of keys: which shelf they lie on, and what becomes of them there.
 *
 * The id of a key is 128 bits: one half says which shelf, the other is kept as its hash. Two keys
 * with the same of both would share a budget, which breaks no limit; among a million keys the
 * chance of it is one in ten billion.
 *
 * A key has brief books while a bucket alone decides, and an accountant while there is more to
 * know. It goes from one to the other within a call, so whoever asks sees no difference.
 *
 * Invariant: an entry and its books are touched only under the lock of their shelf; one shelf is
 * locked at a time. Functions that take an entry or a shelf are called with it locked.
 */
#ifndef FLYBALL_LEDGER_TABLE_H
#define FLYBALL_LEDGER_TABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <flyball/observe.h>
#include <flyball/table.h>

#include "core/accountant.h"
#include "core/instant.h"
#include "core/spec.h"
#include "ledger/shelf.h"
#include "ledger/siphash.h"

#define FB_SHELVES        256                  /* a power of two */
#define FB_SWEEP_EVERY_NS (100 * FB_NS_PER_MS) /* a shelf is looked through so often at most */

struct books {
    struct accountant a;
    _Alignas(8) unsigned char memory[]; /* fb_accountant_bytes() of the spec */
};

struct fly_table {
    struct spec spec;
    struct siphash_secret secret;
    int64_t origin_ns;
    uint64_t keys_max;
    size_t books_bytes;
    struct books *pattern; /* of a key that was never used */
    bool brief;            /* keys may be */
    _Atomic uint64_t keys;
    _Atomic uint64_t with_more;
    _Atomic uint64_t forgotten;
    _Atomic uint64_t refused;
    _Atomic uint32_t hand; /* the shelf to look through next */
    struct shelf shelf[FB_SHELVES];
};

static inline struct shelf *fb_shelf_of(struct fly_table *t, const struct fly_id *id)
{
    return &t->shelf[id->word[1] % FB_SHELVES];
}

static inline uint64_t fb_key_hash(const struct fly_id *id)
{
    return id->word[0] ? id->word[0] : 1;
}

/* Fresh books under the table's spec; NULL when memory is out. */
struct books *fb_books_new(struct fly_table *t, uint64_t seed, int64_t now_ns);

/* How much of its limit is used (usage.c): size and observed are zero, next_ns on its own clock. */
struct fly_usage fb_usage_of(const struct accountant *a, int64_t now_ns);

/* What seals the tickets of a key. */
uint8_t fb_key_seal(const struct fly_table *t, const struct entry *e);

/* The entry gets books of its own, and goes on in them. NULL: no memory, nothing changed. */
struct books *fb_key_unfold(struct fly_table *t, struct entry *e, int64_t now_ns);

/* Brief again, if nothing stands against it. */
void fb_key_fold(struct fly_table *t, struct entry *e, int64_t now_ns);

/* A place for a new key. NULL: there is no room for it. */
struct entry *fb_key_add(struct fly_table *t, struct shelf *s, uint64_t hash, int64_t now_ns);

void fb_key_forget(struct fly_table *t, struct shelf *s, struct entry *e);

/* Forget what can be. Returns how many. */
uint64_t fb_keys_sweep(struct fly_table *t, struct shelf *s, int64_t now_ns);

/* Look at some shelves until one of them can do without a key; none is locked. */
bool fb_keys_make_room(struct fly_table *t, int64_t now_ns);

/* When a request of `cost` >= 1 may leave; `e` is NULL for a key that is not there. */
struct verdict fb_key_ask(const struct fly_table *t, const struct entry *e, int64_t cost,
                          int64_t now_ns);

#endif
