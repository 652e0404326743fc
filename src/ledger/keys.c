/* SPDX-License-Identifier: MIT */
/* keys.c - a key comes into being, gets books of its own, gives them up, and is forgotten. */
#include "ledger/table.h"

#include "core/accountant.h"
#include "core/brief.h"
#include "core/instant.h"
#include "util/alloc.h"

#define ROOM_TRIES 8 /* other shelves to look at when the table is full */

/* Chance and seals of a key are its own. */
static uint64_t seed_of(const struct fly_table *t, uint64_t hash)
{
    return hash ^ t->secret.word[0];
}

uint8_t fb_key_seal(const struct fly_table *t, const struct entry *e)
{
    return fb_ticket_key(seed_of(t, e->hash));
}

/* ---- books ---- */

struct books *fb_books_new(struct fly_table *t, uint64_t seed, int64_t now_ns)
{
    struct books *b = fb_alloc(t->books_bytes);

    if (b)
        fb_accountant_init(&b->a, &t->spec, b->memory, seed, now_ns);
    return b;
}

struct books *fb_key_unfold(struct fly_table *t, struct entry *e, int64_t now_ns)
{
    struct books *b = fb_entry_books(e);

    if (b)
        return b;
    b = fb_books_new(t, seed_of(t, e->hash), now_ns);
    if (!b)
        return NULL;
    fb_brief_unfold(&e->brief, &b->a, now_ns);
    fb_entry_set_books(e, b);
    atomic_fetch_add_explicit(&t->with_more, 1, memory_order_relaxed);
    return b;
}

static void drop_books(struct fly_table *t, struct books *b)
{
    fb_free(b);
    atomic_fetch_sub_explicit(&t->with_more, 1, memory_order_relaxed);
}

void fb_key_fold(struct fly_table *t, struct entry *e, int64_t now_ns)
{
    struct books *b = fb_entry_books(e);

    if (!b || !t->brief || b->a.settled != 0)
        return;
    int64_t latest_ns = fb_max64(now_ns, b->a.now_ns);
    if (!fb_accountant_is_plain(&b->a, latest_ns))
        return;
    e->brief = fb_brief_fold(&b->a, latest_ns);
    drop_books(t, b);
}

/* ---- asking ---- */

struct verdict fb_key_ask(const struct fly_table *t, const struct entry *e, int64_t cost,
                          int64_t now_ns)
{
    const struct books *b = e ? fb_entry_books(e) : t->pattern;

    if (b)
        return fb_accountant_ask(&b->a, cost, now_ns);
    return fb_brief_ask(&e->brief, &t->pattern->a, cost, now_ns);
}

/* ---- forgetting ---- */

void fb_key_forget(struct fly_table *t, struct shelf *s, struct entry *e)
{
    struct books *b = fb_entry_books(e);

    if (b)
        drop_books(t, b);
    fb_shelf_remove(s, e);
    atomic_fetch_sub_explicit(&t->keys, 1, memory_order_relaxed);
}

static bool is_rested(const struct entry *e, int64_t now_ns)
{
    const struct books *b = fb_entry_books(e);

    return b ? fb_accountant_is_rested(&b->a, now_ns) : fb_brief_is_rested(&e->brief, now_ns);
}

uint64_t fb_keys_sweep(struct fly_table *t, struct shelf *s, int64_t now_ns)
{
    uint64_t gone = 0;

    for (uint32_t i = 0; i < s->places;) {
        struct entry *e = &s->entry[i];
        if (e->hash == 0 || !is_rested(e, now_ns)) {
            i++;
            continue;
        }
        fb_key_forget(t, s, e); /* and look at what moved here */
        gone++;
    }
    s->sweep_ns = fb_after(now_ns, FB_SWEEP_EVERY_NS);
    atomic_fetch_add_explicit(&t->forgotten, gone, memory_order_relaxed);
    return gone;
}

static uint64_t sweep_if_due(struct fly_table *t, struct shelf *s, int64_t now_ns)
{
    return s->sweep_ns <= now_ns ? fb_keys_sweep(t, s, now_ns) : 0;
}

bool fb_keys_make_room(struct fly_table *t, int64_t now_ns)
{
    uint64_t gone = 0;

    for (int i = 0; i < ROOM_TRIES && gone == 0; i++) {
        uint32_t at = atomic_fetch_add_explicit(&t->hand, 1, memory_order_relaxed);
        struct shelf *s = &t->shelf[at % FB_SHELVES];
        fb_lock(&s->lock);
        gone = sweep_if_due(t, s, now_ns);
        fb_unlock(&s->lock);
    }
    return gone > 0;
}

/* ---- new keys ---- */

static bool count_key(struct fly_table *t)
{
    if (atomic_fetch_add_explicit(&t->keys, 1, memory_order_relaxed) < t->keys_max)
        return true;
    atomic_fetch_sub_explicit(&t->keys, 1, memory_order_relaxed);
    return false;
}

/* A place on the shelf: one that was forgotten, or more of them. */
static bool has_place(struct fly_table *t, struct shelf *s, int64_t now_ns)
{
    if (!fb_shelf_is_full(s))
        return true;
    /* A few are no gain: the next key would have to look through all of them again. */
    if (sweep_if_due(t, s, now_ns) > s->count / 2)
        return true;
    return fb_shelf_fit(s, s->count + 1) == 0;
}

struct entry *fb_key_add(struct fly_table *t, struct shelf *s, uint64_t hash, int64_t now_ns)
{
    struct books *b = NULL;

    if (!has_place(t, s, now_ns))
        return NULL;
    if (!count_key(t) && !(sweep_if_due(t, s, now_ns) > 0 && count_key(t)))
        return NULL;
    if (!t->brief) {
        b = fb_books_new(t, seed_of(t, hash), now_ns);
        if (!b) {
            atomic_fetch_sub_explicit(&t->keys, 1, memory_order_relaxed);
            return NULL;
        }
        atomic_fetch_add_explicit(&t->with_more, 1, memory_order_relaxed);
    }
    struct entry *e = fb_shelf_add(s, hash);
    if (b)
        fb_entry_set_books(e, b);
    else
        e->brief = fb_brief_new(now_ns);
    return e;
}
