/* SPDX-License-Identifier: MIT */
/*
 * list.c - the authoritative list: which items there are, in which state, and what domains call
 * them.
 *
 * One list that lacks an item may be a mistake; two in a row are believed, and it is completed. An
 * item that is over goes when the list no longer has it.
 */
#include <errno.h>
#include <string.h>

#include "watch/inside.h"

#define LACKS_MAX 2

/* ---- ids of domains ---- */

static bool is_id(const char *id)
{
    return id && id[0] != '\0' && strlen(id) < WATCH_ID_BYTES;
}

/* Once for each item and domain. */
static void lacks_id(struct watch *w, struct watch_item *i, struct domain *d)
{
    uint16_t bit = (uint16_t)(1u << d->index);

    if (i->link[d->index])
        fb_watch_part(w, i->link[d->index]);
    if (i->unmapped & bit || !d->plan.enabled || i->state == ITEM_completed)
        return;
    i->unmapped |= bit;
    fb_watch_warn(w, WATCH_WARN_UNMAPPED, d, i->id, NULL);
}

/* What the domain calls it is new, another, or gone. 0 or -ENOMEM. */
static int map(struct watch *w, struct watch_item *i, struct domain *d, const char *domain_id)
{
    struct link *l = i->link[d->index];

    if (!is_id(domain_id)) {
        lacks_id(w, i, d);
        return 0;
    }
    i->unmapped &= (uint16_t) ~(1u << d->index);
    if (l && strcmp(l->domain_id, domain_id) == 0)
        return 0;
    if (l) {
        fb_watch_warn(w, WATCH_WARN_CHANGED, d, i->id, domain_id);
        fb_watch_part(w, l);
    }
    if (fb_watch_mapped(w, d, domain_id)) {
        /* Whose it is cannot be known: the first keeps it. */
        fb_watch_warn(w, WATCH_WARN_TWICE, d, i->id, domain_id);
        return 0;
    }
    return fb_watch_join(w, i, d, domain_id);
}

static int map_all(struct watch *w, struct watch_item *i, const struct watch_entry *e)
{
    size_t before = w->by_domain.count;

    for (size_t n = 0; n < w->plan.domain_count; n++) {
        int r = map(w, i, w->domain[n], e->domain_id ? e->domain_id[n] : NULL);
        if (r < 0)
            return r;
    }
    if (w->by_domain.count != before)
        i->is_dirty = true;
    return 0;
}

/* ---- items ---- */

static struct watch_item *add(struct watch *w, const struct watch_entry *e)
{
    struct watch_item *i = fb_watch_add(w, e->id, e->state);

    if (!i)
        return NULL;
    i->is_dirty = true;
    if (e->state == ITEM_live)
        w->due_ns = fb_min64(w->due_ns, fb_after(w->now_ns, w->plan.interval_ns));
    fb_watch_tell(w, (struct watch_event){
                         .kind = WATCH_ADDED,
                         .id = i->id,
                         .text = fb_item_state_name(e->state),
                     });
    return i;
}

static bool can_take(const struct watch *w, const struct watch_entry *e)
{
    if (!is_id(e->id) || e->state >= ITEM_STATES)
        return false;
    return fb_watch_get(w, e->id) || w->count < (size_t)w->plan.items_max;
}

static int take(struct watch *w, const struct watch_entry *e)
{
    if (!can_take(w, e)) {
        fb_watch_warn(w, WATCH_WARN_REFUSED, NULL, e->id, NULL);
        return 0;
    }
    struct watch_item *i = fb_watch_get(w, e->id);
    if (i && i->list == w->list) {
        /* Twice in one list: the first holds. */
        fb_watch_warn(w, WATCH_WARN_REFUSED, NULL, e->id, NULL);
        return 0;
    }
    if (!i && !(i = add(w, e)))
        return -ENOMEM;
    if (e->word)
        fb_watch_warn(w, WATCH_WARN_STATE, NULL, e->id, e->word);
    i->list = w->list;
    i->lacks = 0;
    fb_watch_enter(w, i, e->state);
    int r = map_all(w, i, e);
    fb_watch_replan(w, i);
    return r;
}

static void lack(struct watch *w, struct watch_item *i)
{
    if (i->lacks < LACKS_MAX)
        i->lacks++;
    if (i->lacks < LACKS_MAX || i->state == ITEM_completed)
        return;
    fb_watch_warn(w, WATCH_WARN_LOST, NULL, i->id, NULL);
    fb_watch_enter(w, i, ITEM_completed);
}

/* Those that the latest list does not have. */
static void sweep(struct watch *w)
{
    for (size_t n = w->count; n-- > 0;) {
        struct watch_item *i = w->item[n];
        if (i->list == w->list)
            continue;
        lack(w, i);
        if (i->is_over && i->lacks >= LACKS_MAX) {
            if (w->ports.keep)
                w->ports.keep(w->ports.self, i->id, NULL, 0);
            fb_watch_tell(w, (struct watch_event){.kind = WATCH_REMOVED, .id = i->id});
            fb_watch_remove(w, i);
        }
    }
}

/* ---- the list ---- */

static void list_came(struct watch *w)
{
    int64_t span_ns =
        fb_watch_is_idle(w) ? fb_max64(w->plan.list_ns, w->plan.idle_ns) : w->plan.list_ns;

    fb_watch_warn_of_rest(w);
    w->list_failures = 0;
    w->figures.list_ns = w->now_ns;
    w->list_due_ns = fb_after(w->now_ns, span_ns);
    if (!w->list_is_down)
        return;
    w->list_is_down = false;
    fb_watch_tell(w, (struct watch_event){.kind = WATCH_LIST_BACK, .trigger = "success"});
}

void fb_watch_list_same(struct watch *w)
{
    list_came(w);
    sweep(w);
}

static void land_list(struct watch *w, struct watch_look *l)
{
    if (!l)
        return;
    w->figures.ended[LOOK_OK]++;
    fb_watch_land(w, FB_HEAP_OWNER(l, struct flight, look));
}

int fb_watch_listed(struct watch *w, struct watch_look *l, const struct watch_entry *entry,
                    size_t count)
{
    int r = 0;

    fb_watch_read_clock(w);
    land_list(w, l);
    w->list++;
    for (size_t n = 0; n < count && r == 0; n++)
        r = take(w, &entry[n]);
    if (r == 0)
        sweep(w);
    list_came(w);
    fb_watch_turn(w);
    return r;
}

void fb_watch_unmapped(struct watch *w, uint32_t domain_index, const char *domain_id)
{
    if (domain_index >= w->plan.domain_count || !domain_id)
        return;
    fb_watch_read_clock(w);
    if (!fb_watch_mapped(w, w->domain[domain_index], domain_id))
        fb_watch_warn(w, WATCH_WARN_UNKNOWN, w->domain[domain_index], NULL, domain_id);
}

void fb_watch_ambiguous(struct watch *w, uint32_t domain_index, const char *id,
                        const char *domain_id)
{
    if (domain_index >= w->plan.domain_count)
        return;
    fb_watch_read_clock(w);
    fb_watch_warn(w, WATCH_WARN_AMBIGUOUS, w->domain[domain_index], id, domain_id);
}

void fb_watch_refused(struct watch *w, int64_t count)
{
    if (count <= 0)
        return;
    fb_watch_read_clock(w);
    fb_watch_warn(w, WATCH_WARN_REFUSED, NULL, NULL, NULL);
    w->warned[WATCH_WARN_REFUSED] += count - 1;
    w->figures.warnings += count - 1;
}
