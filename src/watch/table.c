/* SPDX-License-Identifier: MIT */
/*
 * table.c - items by their ids, and links by what domains call them.
 *
 * Both are tables of chains that double when they are full. Finding is O(1) whatever there is.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "util/alloc.h"
#include "util/hash.h"
#include "watch/inside.h"

#define SLOTS_MIN 64

static uint64_t hash_of(uint64_t seed, const char *text)
{
    uint64_t h = fb_hash_add_int(FB_HASH_INIT, seed);

    return fb_hash_end(fb_hash_add(h, text, strlen(text)));
}

static uint64_t hash_of_link(const struct link *l)
{
    return hash_of((uint64_t)(uintptr_t)l->domain, l->domain_id);
}

void fb_watch_table_fini(struct watch_table *t)
{
    fb_free(t->slot);
    *t = (struct watch_table){0};
}

/* Twice as many slots, as yet empty; 0 or -ENOMEM. The caller has the old ones. */
static int grow(struct watch_table *t, void ***ret_old, size_t *ret_slots)
{
    size_t slots = t->slots ? 2 * t->slots : SLOTS_MIN;
    void **slot = fb_alloc(slots * sizeof(void *));

    if (!slot)
        return -ENOMEM;
    *ret_old = t->slot;
    *ret_slots = t->slots;
    t->slot = slot;
    t->slots = slots;
    return 0;
}

/* ---- items ---- */

static void put_item(struct watch_table *t, struct watch_item *i)
{
    void **slot = &t->slot[hash_of(0, i->id) & (t->slots - 1)];

    i->chain = *slot;
    *slot = i;
}

static int room_for_item(struct watch_table *t)
{
    void **old;
    size_t slots;

    if (t->count < t->slots)
        return 0;
    if (grow(t, &old, &slots) < 0)
        return t->slots ? 0 : -ENOMEM; /* longer chains will do */
    for (size_t n = 0; n < slots; n++)
        for (struct watch_item *i = old[n], *next; i; i = next) {
            next = i->chain;
            put_item(t, i);
        }
    fb_free(old);
    return 0;
}

struct watch_item *fb_watch_get(const struct watch *w, const char *id)
{
    const struct watch_table *t = &w->by_id;

    if (t->slots == 0)
        return NULL;
    struct watch_item *i = t->slot[hash_of(0, id) & (t->slots - 1)];
    while (i && strcmp(i->id, id) != 0)
        i = i->chain;
    return i;
}

/* One more place in the array of all. */
static int room_in_array(struct watch *w)
{
    size_t room = w->room ? 2 * w->room : SLOTS_MIN;

    if (w->count < w->room)
        return 0;
    struct watch_item **item = fb_alloc(room * sizeof(struct watch_item *));
    if (!item)
        return -ENOMEM;
    if (w->count > 0)
        memcpy(item, w->item, w->count * sizeof(struct watch_item *));
    fb_free(w->item);
    w->item = item;
    w->room = room;
    return 0;
}

struct watch_item *fb_watch_add(struct watch *w, const char *id, enum item_state state)
{
    size_t size = strlen(id) + 1;

    assert(size <= WATCH_ID_BYTES && !fb_watch_get(w, id));
    if (room_in_array(w) < 0 || room_for_item(&w->by_id) < 0)
        return NULL;
    struct watch_item *i = fb_alloc(sizeof(*i) + size);
    if (!i)
        return NULL;
    memcpy(i->id, id, size);
    i->freshness = fb_freshness_new(w->now_ns);
    fb_pause_init(&i->pause, w->plan.pause_failures, w->plan.pause_ns);
    i->state = (uint8_t)state;
    i->state_ns = w->now_ns;
    i->list = w->list;
    i->place = w->count;
    w->item[w->count++] = i;
    put_item(&w->by_id, i);
    w->by_id.count++;
    w->figures.items[state]++;
    w->figures.memory_bytes += (int64_t)(sizeof(*i) + size + 2 * sizeof(void *));
    return i;
}

static void take_item(struct watch_table *t, struct watch_item *i)
{
    struct watch_item **at = (struct watch_item **)&t->slot[hash_of(0, i->id) & (t->slots - 1)];

    while (*at != i)
        at = &(*at)->chain;
    *at = i->chain;
    t->count--;
}

void fb_watch_remove(struct watch *w, struct watch_item *i)
{
    for (size_t d = 0; d < WATCH_DOMAINS_MAX; d++)
        if (i->link[d])
            fb_watch_part(w, i->link[d]);
    fb_watch_trim(w, i, 0);
    take_item(&w->by_id, i);
    w->item[i->place] = w->item[--w->count];
    w->item[i->place]->place = i->place;
    w->figures.items[i->state]--;
    w->figures.memory_bytes -= (int64_t)(sizeof(*i) + strlen(i->id) + 1 + 2 * sizeof(void *));
    fb_free(i);
}

/* ---- links ---- */

static void put_link(struct watch_table *t, struct link *l)
{
    void **slot = &t->slot[hash_of_link(l) & (t->slots - 1)];

    l->chain = *slot;
    *slot = l;
}

static int room_for_link(struct watch_table *t)
{
    void **old;
    size_t slots;

    if (t->count < t->slots)
        return 0;
    if (grow(t, &old, &slots) < 0)
        return t->slots ? 0 : -ENOMEM;
    for (size_t n = 0; n < slots; n++)
        for (struct link *l = old[n], *next; l; l = next) {
            next = l->chain;
            put_link(t, l);
        }
    fb_free(old);
    return 0;
}

struct link *fb_watch_mapped(const struct watch *w, const struct domain *d, const char *domain_id)
{
    const struct watch_table *t = &w->by_domain;

    if (t->slots == 0)
        return NULL;
    uint64_t hash = hash_of((uint64_t)(uintptr_t)d, domain_id);
    struct link *l = t->slot[hash & (t->slots - 1)];
    while (l && (l->domain != d || strcmp(l->domain_id, domain_id) != 0))
        l = l->chain;
    return l;
}

int fb_watch_join(struct watch *w, struct watch_item *i, struct domain *d, const char *domain_id)
{
    size_t size = strlen(domain_id) + 1;

    assert(size <= WATCH_ID_BYTES && !i->link[d->index]);
    if (room_for_link(&w->by_domain) < 0)
        return -ENOMEM;
    struct link *l = fb_alloc(sizeof(*l) + size);
    if (!l)
        return -ENOMEM;
    memcpy(l->domain_id, domain_id, size);
    l->item = i;
    l->domain = d;
    l->asked_ns = l->not_before_ns = FB_LONG_AGO;
    l->odd_since_ns = FB_NEVER;
    i->link[d->index] = l;
    put_link(&w->by_domain, l);
    w->by_domain.count++;
    d->items++;
    w->figures.memory_bytes += (int64_t)(sizeof(*l) + size + 2 * sizeof(void *));
    return 0;
}

static void take_link(struct watch_table *t, struct link *l)
{
    struct link **at = (struct link **)&t->slot[hash_of_link(l) & (t->slots - 1)];

    while (*at != l)
        at = &(*at)->chain;
    *at = l->chain;
    t->count--;
}

void fb_watch_part(struct watch *w, struct link *l)
{
    if (l->flight) {
        l->flight->link = NULL;
        l->item->in_flight--;
    } else {
        fb_watch_rest(w, l);
    }
    fb_watch_unsay(w, &l->live);
    fb_watch_unsay(w, &l->fixed);
    take_link(&w->by_domain, l);
    l->domain->items--;
    l->item->link[l->domain->index] = NULL;
    w->figures.memory_bytes -=
        (int64_t)(sizeof(*l) + strlen(l->domain_id) + 1 + 2 * sizeof(void *));
    fb_free(l);
}
