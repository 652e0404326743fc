/* SPDX-License-Identifier: MIT */
/*
 * ring.c - a place says which event is in it, before and after it is read.
 *
 * Invariant: whoever sees the same number before and after copying has copied that event whole.
 * Words are atomic, so that a copy made while they change is a wrong event and not a fault.
 */
#include "ledger/ring.h"

#include <assert.h>
#include <string.h>

#include "util/alloc.h"

static_assert(sizeof(struct fly_event) % sizeof(uint64_t) == 0, "whole words");

struct ring *fb_ring_new(size_t events_max)
{
    uint32_t places = 1;

    assert(events_max >= 1 && events_max <= 1u << 20);
    while (places < events_max)
        places *= 2;
    struct ring *r = fb_alloc(sizeof(*r) + places * sizeof(r->place[0]));
    if (r)
        r->places = places;
    return r;
}

void fb_ring_write(struct ring *r, struct fly_event *e)
{
    uint64_t word[FB_EVENT_WORDS];

    fb_lock(&r->lock);
    e->number = atomic_load_explicit(&r->next, memory_order_relaxed) + 1;
    struct ring_place *p = &r->place[(e->number - 1) & (r->places - 1)];
    memcpy(word, e, sizeof(word));
    atomic_store_explicit(&p->number, 0, memory_order_relaxed);
    /* Released and acquired: whoever sees a new word no longer sees the old number. */
    for (size_t i = 0; i < FB_EVENT_WORDS; i++)
        atomic_store_explicit(&p->word[i], word[i], memory_order_release);
    atomic_store_explicit(&p->number, e->number, memory_order_release);
    atomic_store_explicit(&r->next, e->number, memory_order_release);
    fb_unlock(&r->lock);
}

/* False: it was overwritten. */
static bool copy(const struct ring_place *p, uint64_t number, struct fly_event *ret_event)
{
    uint64_t word[FB_EVENT_WORDS];

    if (atomic_load_explicit(&p->number, memory_order_acquire) != number)
        return false;
    for (size_t i = 0; i < FB_EVENT_WORDS; i++)
        word[i] = atomic_load_explicit(&p->word[i], memory_order_acquire);
    if (atomic_load_explicit(&p->number, memory_order_relaxed) != number)
        return false;
    memcpy(ret_event, word, sizeof(*ret_event));
    return true;
}

size_t fb_ring_read(const struct ring *r, uint64_t *cursor, struct fly_event *ret_events,
                    size_t most, uint64_t *missed)
{
    uint64_t next = atomic_load_explicit(&r->next, memory_order_acquire);
    size_t count = 0;

    if (*cursor > next)
        *cursor = next; /* of another ring: there is nothing new */
    if (next - *cursor > r->places) {
        *missed += next - *cursor - r->places;
        *cursor = next - r->places;
    }
    for (; *cursor < next && count < most; ++*cursor) {
        if (copy(&r->place[*cursor & (r->places - 1)], *cursor + 1, &ret_events[count]))
            count++;
        else
            ++*missed;
    }
    return count;
}
