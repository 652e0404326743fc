/* SPDX-License-Identifier: MIT */
/*
 * schedule.c - when each link is due, and the queues of those that are.
 *
 * The order of a link is an instant that moves with its item: one aim after the item was fresh, or
 * was last asked for anywhere; half an aim earlier where this domain is to be compared with the
 * others again. So under scarcity the item that is oldest goes first, at whichever domain can. It
 * is due at its order, or later where something holds it: a backoff, a pause, no room.
 *
 * Invariant: w->queued links are in queues, never more than plan.queue_max.
 */
#include <assert.h>

#include "core/jitter.h"
#include "watch/inside.h"

/* ---- when ---- */

/* For which instant something is known of the item, or is being asked for. */
static int64_t asked_ns(const struct watch_item *i)
{
    int64_t at_ns = i->freshness.fresh_ns;

    for (size_t d = 0; d < WATCH_DOMAINS_MAX && i->in_flight > 0; d++)
        if (i->link[d] && i->link[d]->place == ASKED)
            at_ns = fb_max64(at_ns, i->link[d]->asked_ns);
    return at_ns;
}

int64_t fb_watch_links(const struct watch_item *i)
{
    int64_t links = 0;

    for (size_t d = 0; d < WATCH_DOMAINS_MAX; d++)
        links += i->link[d] && i->link[d]->domain->plan.enabled && !i->link[d]->domain->is_down;
    return fb_max64(1, links);
}

static int64_t order_of(const struct watch *w, const struct link *l, enum watch_why *ret_why)
{
    int64_t aim_ns = w->plan.aims.aim_ns[l->item->state];
    int64_t from_ns = asked_ns(l->item);

    *ret_why = WATCH_WHY_DUE;
    if (from_ns == FB_LONG_AGO)
        return l->item->freshness.known_ns;
    int64_t said_ns = l->live ? l->live->asked_ns : FB_LONG_AGO;
    int64_t compare_ns = said_ns + fb_watch_links(l->item) * aim_ns;
    int64_t order_ns = fb_clamp64(compare_ns, from_ns + aim_ns / 2, from_ns + aim_ns);
    if (order_ns < from_ns + aim_ns)
        *ret_why = WATCH_WHY_COMPARE;
    return order_ns;
}

static const enum watch_why why_of_hold[] = {
    [HOLD_NONE] = WATCH_WHY_DUE,
    [HOLD_BACKOFF] = WATCH_WHY_BACKOFF,
    [HOLD_ABSENT] = WATCH_WHY_ABSENT,
    [HOLD_DEFERRED] = WATCH_WHY_DEFERRED,
};

int64_t fb_watch_due_at(const struct watch *w, const struct link *l, enum watch_why *ret_why)
{
    int64_t due_ns = order_of(w, l, ret_why);

    if (l->item->is_over) {
        *ret_why = WATCH_WHY_FINAL;
        return FB_NEVER;
    }
    if (l->not_before_ns > due_ns) {
        due_ns = l->not_before_ns;
        *ret_why = why_of_hold[l->hold];
    }
    if (l->item->is_paused && l->item->pause.until_ns > due_ns) {
        due_ns = l->item->pause.until_ns;
        *ret_why = WATCH_WHY_PAUSED;
    }
    return due_ns;
}

/* ---- places ---- */

static void leave_queue(struct watch *w, struct link *l)
{
    struct level *level = &w->level[l->level];

    fb_heap_remove(&l->domain->queue[l->level], &l->node);
    *(l->older ? &l->older->newer : &level->oldest) = l->newer;
    *(l->newer ? &l->newer->older : &level->newest) = l->older;
    l->newer = l->older = NULL;
    level->count--;
    l->domain->queued--;
    w->queued--;
}

void fb_watch_rest(struct watch *w, struct link *l)
{
    assert(l->place != ASKED);
    if (l->place == PLANNED)
        fb_heap_remove(&l->domain->planned, &l->node);
    else if (l->place == QUEUED)
        leave_queue(w, l);
    l->place = AT_REST;
}

static void plan(struct watch *w, struct link *l)
{
    enum watch_why why;
    int64_t due_ns = fb_watch_due_at(w, l, &why);

    fb_watch_rest(w, l);
    if (due_ns == FB_NEVER)
        return;
    fb_heap_add(&l->domain->planned, &l->node, due_ns);
    l->place = PLANNED;
}

void fb_watch_replan(struct watch *w, struct watch_item *i)
{
    for (size_t d = 0; d < w->plan.domain_count; d++)
        if (i->link[d] && i->link[d]->place != ASKED)
            plan(w, i->link[d]);
}

/* ---- the queue ---- */

static void enter_queue(struct watch *w, struct link *l)
{
    struct level *level = &w->level[l->item->state];
    enum watch_why why;

    assert(w->queued < w->plan.queue_max);
    fb_watch_rest(w, l);
    l->level = l->item->state;
    fb_heap_add(&l->domain->queue[l->level], &l->node, order_of(w, l, &why));
    l->older = level->newest;
    *(level->newest ? &level->newest->newer : &level->oldest) = l;
    level->newest = l;
    level->count++;
    l->domain->queued++;
    w->queued++;
    l->place = QUEUED;
    if (w->queued > w->figures.queued_most)
        w->figures.queued_most = w->queued;
}

/* It comes again after half an aim, or up to a whole one: not all of them at once. */
static void defer(struct watch *w, struct link *l)
{
    int64_t half_ns = w->plan.aims.aim_ns[l->item->state] / 2;
    int64_t more_ns = fb_jitter(&w->rng, half_ns);

    l->not_before_ns = fb_after(w->now_ns, half_ns + more_ns);
    l->hold = HOLD_DEFERRED;
    w->figures.deferred++;
    w->deferred++;
    plan(w, l);
}

/* The newest of the least urgent that is less urgent than this state; or NULL. */
static struct link *victim(const struct watch *w, enum item_state state)
{
    for (size_t s = ITEM_STATES; s-- > state + 1u;)
        if (w->level[s].newest)
            return w->level[s].newest;
    return NULL;
}

static void queue(struct watch *w, struct link *l)
{
    if (w->queued >= w->plan.queue_max) {
        struct link *out = victim(w, l->item->state);
        defer(w, out ? out : l);
        if (!out)
            return;
    }
    enter_queue(w, l);
}

/* The next link of a domain that is due, or NULL. */
static struct link *first_due(const struct watch *w, const struct domain *d)
{
    struct heap_node *n = fb_heap_first(&d->planned);

    return n && n->order <= w->now_ns ? FB_HEAP_OWNER(n, struct link, node) : NULL;
}

static bool may_try(const struct watch *w, const struct domain *d)
{
    return d->in_flight == 0 && d->queued == 0 && w->now_ns >= d->trial_ns;
}

void fb_watch_advance(struct watch *w)
{
    struct link *l;

    for (size_t n = 0; n < w->plan.domain_count; n++) {
        struct domain *d = w->domain[n];
        if (!d->plan.enabled || (d->is_down && !may_try(w, d)))
            continue;
        /* A domain that is down gets one, as a trial. */
        while ((l = first_due(w, d))) {
            queue(w, l);
            if (d->is_down)
                break;
        }
    }
}

void fb_watch_unqueue(struct watch *w, struct domain *d)
{
    for (size_t s = 0; s < ITEM_STATES; s++)
        while (d->queue[s].root)
            plan(w, FB_HEAP_OWNER(fb_heap_first(&d->queue[s]), struct link, node));
}

/* ---- what comes next ---- */

static int64_t next_of(const struct watch *w, const struct domain *d)
{
    const struct heap_node *n = fb_heap_first(&d->planned);
    int64_t at_ns = n ? n->order : FB_NEVER;

    if (!d->plan.enabled)
        return FB_NEVER;
    if (d->is_down)
        at_ns = d->in_flight > 0 || d->queued > 0 ? FB_NEVER : fb_max64(at_ns, d->trial_ns);
    /* While nothing is live, looks wait for the end of an interval. */
    if (fb_watch_is_idle(w))
        at_ns = fb_max64(at_ns, w->due_ns);
    if (d->queued > 0 && fb_watch_has_place(w, d))
        at_ns = fb_min64(at_ns, d->ready_ns);
    return at_ns;
}

int64_t fb_watch_next_at(const struct watch *w)
{
    int64_t at_ns = w->due_ns;

    /* Without a place, the end of a look is what comes next. */
    if (w->plan.has_list && !w->list_in_flight && w->in_flight < w->plan.concurrency)
        at_ns = fb_min64(at_ns, w->list_due_ns);
    for (size_t n = 0; n < w->plan.domain_count; n++)
        at_ns = fb_min64(at_ns, next_of(w, w->domain[n]));
    return at_ns;
}
