/* SPDX-License-Identifier: MIT */
/*
 * shelf.c - linear probing, at most three quarters full; removal moves later entries back.
 *
 * Invariant: between the place that a hash names and the place where its entry lies no place is
 * free. So there are no tombstones, and a shelf that lives long is as quick as a new one.
 */
#include "ledger/shelf.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "util/alloc.h"

#define PLACES_MIN 8
#define HAS_BOOKS  UINT32_MAX /* as the rest of a nanosecond: more ticks than one can have */

static_assert(sizeof(struct entry) == 32, "two in a line of the cache");

/* The hash as a share of the places, whatever their number. */
static uint32_t home_of(const struct shelf *s, uint64_t hash)
{
    return (uint32_t)((hash >> 32) * s->places >> 32);
}

static uint32_t next_of(const struct shelf *s, uint32_t place)
{
    return place + 1 < s->places ? place + 1 : 0;
}

/* How many places `to` is behind `from`, going around at the end. */
static uint32_t distance(const struct shelf *s, uint32_t from, uint32_t to)
{
    return to >= from ? to - from : to + s->places - from;
}

struct entry *fb_shelf_find(const struct shelf *s, uint64_t hash)
{
    assert(hash != 0);
    if (s->places == 0)
        return NULL;
    for (uint32_t at = home_of(s, hash); s->entry[at].hash != 0; at = next_of(s, at))
        if (s->entry[at].hash == hash)
            return &s->entry[at];
    return NULL;
}

static uint32_t room(uint32_t places)
{
    return places / 4 * 3;
}

/* A quarter more than are there, so that not every key makes the shelf wider. */
static uint32_t places_for(uint32_t count)
{
    uint32_t places = (count + count / 4) / 3 * 4 + PLACES_MIN;

    return places / PLACES_MIN * PLACES_MIN;
}

bool fb_shelf_is_full(const struct shelf *s)
{
    return s->count >= room(s->places);
}

struct entry *fb_shelf_add(struct shelf *s, uint64_t hash)
{
    assert(hash != 0 && !fb_shelf_is_full(s));
    uint32_t at = home_of(s, hash);
    while (s->entry[at].hash != 0)
        at = next_of(s, at);
    s->entry[at].hash = hash;
    s->count++;
    return &s->entry[at];
}

int fb_shelf_fit(struct shelf *s, uint32_t count)
{
    struct shelf wider = {.places = places_for(count)};

    assert(room(wider.places) >= count);
    if (wider.places == s->places)
        return 0;
    wider.entry = fb_alloc_lines(wider.places * sizeof(*wider.entry));
    if (!wider.entry)
        return -ENOMEM;
    for (uint32_t i = 0; i < s->places; i++)
        if (s->entry[i].hash != 0)
            *fb_shelf_add(&wider, s->entry[i].hash) = s->entry[i];
    assert(wider.count == s->count);
    fb_free(s->entry);
    s->entry = wider.entry;
    s->places = wider.places;
    return 0;
}

/* Whether an entry at `at` may move to the free place before it: its home is not in between. */
static bool may_move(const struct shelf *s, uint32_t at, uint32_t free_place)
{
    uint32_t home = home_of(s, s->entry[at].hash);

    return distance(s, home, at) >= distance(s, free_place, at);
}

void fb_shelf_remove(struct shelf *s, struct entry *e)
{
    uint32_t free_place = (uint32_t)(e - s->entry);

    assert(e->hash != 0 && s->count > 0);
    for (uint32_t at = next_of(s, free_place); s->entry[at].hash != 0; at = next_of(s, at))
        if (may_move(s, at, free_place)) {
            s->entry[free_place] = s->entry[at];
            free_place = at;
        }
    memset(&s->entry[free_place], 0, sizeof(s->entry[free_place]));
    s->count--;
}

void fb_shelf_fini(struct shelf *s)
{
    fb_free(s->entry);
    s->entry = NULL;
    s->places = s->count = 0;
}

struct books *fb_entry_books(const struct entry *e)
{
    return e->brief.rest == HAS_BOOKS ? (struct books *)(uintptr_t)e->brief.ended : NULL;
}

void fb_entry_set_books(struct entry *e, struct books *books)
{
    e->brief = (struct brief){.rest = HAS_BOOKS, .ended = (uintptr_t)books};
}
