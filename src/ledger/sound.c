/* SPDX-License-Identifier: MIT */
/*
 * sound.c - whether a slot of a mapped file can be believed, whatever bytes it holds.
 *
 * A slot says under which spec it was made. Fresh books under that spec show what cannot have
 * changed since, and every other number is compared with its range. A damaged slot is made anew,
 * with nothing left of its limits.
 */
#include "ledger/ledger.h"

#include <string.h>

#include "core/spec.h"
#include "util/alloc.h"

/* Fresh books under this spec, or NULL. */
static struct accountant *fresh_books(const struct spec *s)
{
    struct accountant *fresh = fb_alloc(sizeof(*fresh) + fb_accountant_bytes(s));

    if (fresh)
        fb_accountant_init(fresh, s, fresh + 1, 0, 0);
    return fresh;
}

static bool has_form(const struct slot *slot, uint64_t bytes, struct spec *ret_spec)
{
    return memchr(slot->spec, '\0', sizeof(slot->spec)) != NULL &&
           fb_spec_read(slot->spec, ret_spec, NULL) == 0 && fb_slot_bytes(ret_spec) == bytes &&
           slot->undo_at + slot->undo_bytes <= bytes &&
           slot->undo_bytes == fb_accountant_undo_bytes(ret_spec) &&
           slot->undo_at == bytes - (slot->undo_bytes + 7) / 8 * 8 &&
           atomic_load(&slot->stage) <= STAGE_CHANGED && slot->record_changed <= FB_RECORDS &&
           slot->origin_ns > -FB_TIME_MAX && slot->origin_ns < FB_TIME_MAX &&
           atomic_load(&slot->body.lock.state) == LOCK_ELSEWHERE;
}

/* The word must not take the books where they cannot be. */
static bool word_is_sound(const struct body *b)
{
    int64_t word = atomic_load(&b->open);
    int64_t level = (word & ~FB_WORD_CLOSED) >> FB_WORD_ID_BITS;

    if (!b->books.plain || word == FB_WORD_NONE)
        return true;
    return word >= 0 && level >= b->books.slot[FB_SLOT_bucket + FB_BUCKET_LEVEL];
}

static bool books_are_sound(struct slot *slot, const struct accountant *fresh)
{
    /* Where a change was left in the middle, the copy is what counts. */
    if (atomic_load(&slot->stage) == STAGE_CHANGING)
        memcpy(&slot->body.books, (unsigned char *)slot + slot->undo_at, slot->undo_bytes);
    return fb_accountant_is_sound(&slot->body.books, fresh) &&
           (atomic_load(&slot->stage) == STAGE_CHANGED || word_is_sound(&slot->body));
}

bool fb_slot_is_sound(struct slot *slot, uint64_t bytes)
{
    struct spec s;

    if (!has_form(slot, bytes, &s))
        return false;
    struct accountant *fresh = fresh_books(&s);
    bool sound = fresh && books_are_sound(slot, fresh);
    fb_free(fresh);
    return sound;
}

void fb_slot_relearn(struct slot *slot)
{
    struct accountant *fresh = NULL;
    struct spec s;

    if (fb_spec_read(slot->spec, &s, NULL) == 0 && s.controller)
        fresh = fresh_books(&s);
    if (!fresh)
        return;
    fb_slot_change(slot);
    (void)fb_accountant_relearn(&slot->body.books, fresh);
    fb_free(fresh);
}
