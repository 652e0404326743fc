/* SPDX-License-Identifier: MIT */
/*
 * ticket.c - a ring of bits over the ids of the latest grants.
 *
 * Invariant: a bit is set once its grant has ended, for as many ids up to the newest as the ring
 * has bits. Ids are dense: every id was a grant, so what leaves the ring unended is out.
 */
#include "core/ticket.h"

#include <assert.h>
#include <string.h>

size_t fb_tickets_bytes(int64_t grants)
{
    size_t ring = FB_TICKET_RING;

    while ((int64_t)ring < grants && ring < FB_TICKET_RING_MAX)
        ring *= 2;
    assert((ring & (ring - 1)) == 0 && ring <= FB_TICKET_RING_MAX);
    return ring > FB_TICKET_RING ? ring / 8 : 0;
}

void fb_tickets_init(struct tickets *t, void *memory, size_t bytes)
{
    uintptr_t off = bytes > 0 ? (uintptr_t)memory - (uintptr_t)t : 0;

    assert(off % 8 == 0 && off / 8 <= UINT16_MAX);
    *t = (struct tickets){
        .words = (uint16_t)(bytes > 0 ? bytes / 8 : FB_TICKET_RING / 64),
        .words_off = (uint16_t)(off / 8),
    };
    assert(t->words >= 1 && (t->words & (t->words - 1)) == 0);
    memset(fb_tickets_ring(t), 0xff, (size_t)t->words * 8);
}

/* More at once than the ring remembers: all in it become old, and the first of the new ones. */
static void add_many(struct tickets *t, uint64_t grants)
{
    assert(grants > 64u * t->words);
    for (uint64_t id = 0; id < t->words; id++) {
        fb_tickets_forget(t, 64 - (uint64_t)__builtin_popcountll(fb_tickets_ring(t)[id]));
        fb_tickets_ring(t)[id] = 0;
    }
    fb_tickets_forget(t, grants - 64u * t->words);
    t->newest += grants;
}

uint64_t fb_tickets_add(struct tickets *t, uint64_t grants)
{
    if (grants > 64u * t->words) {
        add_many(t, grants);
        return t->newest;
    }
    while (grants > 0) {
        uint64_t first = t->newest + 1;
        uint64_t count = grants < 64 - first % 64 ? grants : 64 - first % 64;
        uint64_t mask = UINT64_MAX >> (64 - count) << first % 64;
        uint64_t *word = fb_tickets_word(t, first);
        assert(count >= 1 && count <= grants);
        if (~*word & mask)
            fb_tickets_forget(t, (uint64_t)__builtin_popcountll(~*word & mask));
        *word &= ~mask;
        t->newest += count;
        grants -= count;
    }
    return t->newest;
}

enum ticket_end fb_tickets_find(const struct tickets *t, uint16_t low)
{
    uint64_t age = fb_tickets_age(t, low);
    uint64_t id = t->newest - age;

    if (age >= 64u * t->words)
        return t->old > 0 ? TICKET_OLD : TICKET_UNKNOWN;
    return *fb_tickets_word(t, id) & fb_tickets_mask(id) ? TICKET_UNKNOWN : TICKET_RECENT;
}

void fb_tickets_carry(struct tickets *t, const struct tickets *from)
{
    uint64_t kept = 64u * (t->words < from->words ? t->words : from->words);

    assert(t->newest == 0 && t->old == 0);
    assert(from->words > 0 && t->words > 0);
    t->newest = from->newest;
    t->old = from->old;
    assert(kept >= FB_TICKET_RING);
    for (uint64_t age = 0; age < 64u * from->words; age++) {
        uint64_t id = from->newest - age;
        if (*fb_tickets_word(from, id) & fb_tickets_mask(id))
            continue;
        if (age < kept)
            *fb_tickets_word(t, id) &= ~fb_tickets_mask(id);
        else
            fb_tickets_forget(t, 1);
    }
}

/* ---- in a few bytes ---- */

static uint16_t at_most_16(uint64_t n)
{
    return n < UINT16_MAX ? (uint16_t)n : UINT16_MAX;
}

/* Whether the grant so many before the newest has ended, as far as the ring knows. */
static bool has_ended(const struct tickets *t, uint64_t age)
{
    return *fb_tickets_word(t, t->newest - age) & fb_tickets_mask(t->newest - age);
}

struct tickets_brief fb_tickets_fold(const struct tickets *t)
{
    struct tickets_brief b = {.newest = (uint16_t)t->newest};
    uint64_t old = t->old;

    for (uint64_t age = 0; age < 64u * t->words; age++) {
        bool ended = has_ended(t, age);
        if (age < 64)
            b.ended |= (uint64_t)ended << age;
        else
            old += !ended;
    }
    assert(old >= t->old);
    b.old = at_most_16(old);
    return b;
}

void fb_tickets_unfold(struct tickets *t, struct tickets_brief brief)
{
    assert(t->newest == 0 && t->old == 0);

    /* Once around the ids: what is subtracted from it stays a number of a grant. */
    t->newest = UINT64_C(1) << 16 | brief.newest;
    assert((uint16_t)t->newest == brief.newest);
    t->old = brief.old;
    for (uint64_t age = 0; age < 64; age++)
        if (!(brief.ended >> age & 1))
            *fb_tickets_word(t, t->newest - age) &= ~fb_tickets_mask(t->newest - age);
}

uint16_t fb_tickets_brief_add(struct tickets_brief *b)
{
    uint64_t falls_out = ~b->ended >> 63;

    b->old = at_most_16(b->old + falls_out);
    b->ended <<= 1;
    return ++b->newest;
}

enum ticket_end fb_tickets_brief_end(struct tickets_brief *b, uint16_t id)
{
    uint16_t age = (uint16_t)(b->newest - id);

    if (age >= 64) {
        if (b->old == 0)
            return TICKET_UNKNOWN;
        b->old--;
        return TICKET_OLD;
    }
    if (b->ended >> age & 1)
        return TICKET_UNKNOWN;
    b->ended |= UINT64_C(1) << age;
    return TICKET_RECENT;
}
