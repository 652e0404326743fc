/* SPDX-License-Identifier: MIT */
/*
 * queue.c - lists for what is first in first out, heaps for everything else.
 *
 * Invariants: a key that has tasks stands in exactly one place: a lane, the heap of those that wait
 * for a time, or nowhere, when only a report can wake it. In a lane it has one node per level of
 * which it has tasks, ordered by the first of them.
 */
#include "core/queue.h"

#include <assert.h>
#include <string.h>

#include "core/instant.h"

static const char *const names[] = {"", "high", "live", "imminent", "normal", "background"};

static int level_of(enum priority p)
{
    assert((int)p >= PRIORITY_UNSET && p <= PRIORITY_BACKGROUND);
    return (p == PRIORITY_UNSET ? PRIORITY_NORMAL : (int)p) - 1;
}

void fb_queue_init(struct queue *q, int64_t max, int32_t ageing)
{
    assert(max >= 1);
    assert(ageing >= 0);
    *q = (struct queue){.max = max, .ageing = ageing};
}

/* ---------------------------------------------------------------------------------------- lists */

static void key_list_add(struct queue_list *l, struct queue_task *t)
{
    assert(!l->last == !l->first && (!l->last || !l->last->next));
    t->prev = t->to_front ? NULL : l->last;
    t->next = t->to_front ? l->first : NULL;
    *(t->prev ? &t->prev->next : &l->first) = t;
    *(t->next ? &t->next->prev : &l->last) = t;
}

static void key_list_remove(struct queue_list *l, struct queue_task *t)
{
    assert(t->prev ? t->prev->next == t : l->first == t);
    assert(t->next ? t->next->prev == t : l->last == t);
    *(t->prev ? &t->prev->next : &l->first) = t->next;
    *(t->next ? &t->next->prev : &l->last) = t->prev;
    t->next = t->prev = NULL;
}

static void level_list_add(struct queue_list *l, struct queue_task *t)
{
    assert(!l->last == !l->first && (!l->last || !l->last->newer));
    t->older = l->last;
    t->newer = NULL;
    *(l->last ? &l->last->newer : &l->first) = t;
    l->last = t;
}

static void level_list_remove(struct queue_list *l, struct queue_task *t)
{
    assert(t->older ? t->older->newer == t : l->first == t);
    assert(t->newer ? t->newer->older == t : l->last == t);
    *(t->older ? &t->older->newer : &l->first) = t->newer;
    *(t->newer ? &t->newer->older : &l->last) = t->older;
    t->newer = t->older = NULL;
}

/* --------------------------------------------------------------------------- where a key stands */

/* The first task of one level of a key in a lane may have changed. */
static void stand_anew(struct queue_key *k, int level)
{
    const struct queue_task *t = k->level[level].first;
    struct heap_node *n = &k->ready[level];

    assert(k->lane && level >= 0 && level < FB_QUEUE_LEVELS);
    if (fb_heap_has(n)) {
        if (t && t->queued_ns == n->order)
            return;
        fb_heap_remove(&k->lane->ready[level], n);
    }
    if (t)
        fb_heap_add(&k->lane->ready[level], n, t->queued_ns);
}

static void leave_lane(struct queue_key *k)
{
    assert(k->lane);
    for (int i = 0; i < FB_QUEUE_LEVELS; i++)
        if (fb_heap_has(&k->ready[i]))
            fb_heap_remove(&k->lane->ready[i], &k->ready[i]);
}

static void stand_nowhere(struct queue *q, struct queue_key *k)
{
    if (k->lane)
        leave_lane(k);
    if (fb_heap_has(&k->wait))
        fb_heap_remove(&q->waiting, &k->wait);
    k->lane = NULL;
}

void fb_queue_wait(struct queue *q, struct queue_key *k, int64_t at_ns)
{
    assert(at_ns > 0);
    stand_nowhere(q, k);
    k->wait_ns = at_ns;
    if (at_ns < FB_NEVER && k->count > 0)
        fb_heap_add(&q->waiting, &k->wait, at_ns);
}

void fb_queue_stand_in(struct queue *q, struct queue_key *k, struct queue_lane *lane)
{
    assert(lane);
    stand_nowhere(q, k);
    assert(!k->lane && !fb_heap_has(&k->wait));
    k->wait_ns = 0;
    k->lane = lane;
    for (int i = 0; i < FB_QUEUE_LEVELS; i++)
        stand_anew(k, i);
}

void fb_queue_forget(struct queue *q, struct queue_key *k)
{
    assert(k->count == 0 && !fb_heap_has(&k->patience));
    stand_nowhere(q, k);
}

void fb_queue_wake(struct queue *q, struct queue_key *k)
{
    if (k->lane != &q->lane)
        fb_queue_stand_in(q, k, &q->lane);
}

/* ------------------------------------------------------------------------------------- patience */

static void patience_anew(struct queue *q, struct queue_key *k)
{
    const struct heap_node *first = fb_heap_first(&k->by_patience);

    if (fb_heap_has(&k->patience)) {
        if (first && first->order == k->patience.order)
            return;
        fb_heap_remove(&q->patience, &k->patience);
    }
    if (first)
        fb_heap_add(&q->patience, &k->patience, first->order);
}

static struct queue_task *most_impatient(const struct queue_key *k, int64_t before_ns)
{
    struct heap_node *n = fb_heap_first(&k->by_patience);

    return n && n->order < before_ns ? FB_HEAP_OWNER(n, struct queue_task, node) : NULL;
}

struct queue_task *fb_queue_late(const struct queue *q, int64_t now_ns)
{
    struct heap_node *n = fb_heap_first(&q->patience);

    return n ? most_impatient(FB_HEAP_OWNER(n, struct queue_key, patience), now_ns) : NULL;
}

struct queue_task *fb_queue_late_in(const struct queue_key *k, int64_t not_before_ns)
{
    return most_impatient(k, not_before_ns);
}

/* ----------------------------------------------------------------------------------- in and out */

/* Into its key; it is counted already. */
static void enlist(struct queue *q, struct queue_key *k, struct queue_task *t)
{
    int level = level_of(t->priority);

    assert(t->key == k && !fb_heap_has(&t->node));
    t->is_delayed = false;
    key_list_add(&k->level[level], t);
    if (t->start_by_ns < FB_NEVER) {
        fb_heap_add(&k->by_patience, &t->node, t->start_by_ns);
        patience_anew(q, k);
    }
    k->count++;
    k->in_level[level]++;
    if (k->lane)
        stand_anew(k, level);
    else if (k->wait_ns == 0)
        fb_queue_stand_in(q, k, &q->lane); /* its very first task */
    else if (k->wait_ns < FB_NEVER && !fb_heap_has(&k->wait))
        fb_heap_add(&q->waiting, &k->wait, k->wait_ns);
}

static void count_in(struct queue *q, struct queue_key *k, struct queue_task *t)
{
    assert(!t->key);
    assert(!fb_queue_is_full(q));
    t->key = k;
    q->count++;
    q->in_level[level_of(t->priority)]++;
    level_list_add(&q->level[level_of(t->priority)], t);
}

void fb_queue_push(struct queue *q, struct queue_key *k, struct queue_task *t)
{
    count_in(q, k, t);
    enlist(q, k, t);
}

void fb_queue_delay(struct queue *q, struct queue_key *k, struct queue_task *t, int64_t at_ns)
{
    count_in(q, k, t);
    t->is_delayed = true;
    fb_heap_add(&q->delayed, &t->node, at_ns);
}

/* Out of its key. */
static void delist(struct queue *q, struct queue_task *t)
{
    struct queue_key *k = t->key;
    int level = level_of(t->priority);

    assert(k->count > 0);
    key_list_remove(&k->level[level], t);
    if (fb_heap_has(&t->node)) {
        fb_heap_remove(&k->by_patience, &t->node);
        patience_anew(q, k);
    }
    assert(k->in_level[level] > 0 && k->in_level[level] <= k->count);
    k->count--;
    k->in_level[level]--;
    if (k->lane)
        stand_anew(k, level);
    if (k->count == 0 && fb_heap_has(&k->wait))
        fb_heap_remove(&q->waiting, &k->wait);
}

void fb_queue_remove(struct queue *q, struct queue_task *t)
{
    assert(t->key);
    assert(q->count > 0);
    if (t->is_delayed)
        fb_heap_remove(&q->delayed, &t->node);
    else
        delist(q, t);
    level_list_remove(&q->level[level_of(t->priority)], t);
    t->key = NULL;
    q->count--;
    q->in_level[level_of(t->priority)]--;
    assert(q->in_level[level_of(t->priority)] >= 0);
}

struct queue_task *fb_queue_victim(const struct queue *q, enum priority priority)
{
    for (int i = FB_QUEUE_LEVELS - 1; i > level_of(priority); i--)
        if (q->level[i].last)
            return q->level[i].last;
    return NULL;
}

/* -------------------------------------------------------------------------------- who goes next */

/* The level whose turn it is: the one passed over for too long, else the highest; -1: none. */
static int level_next(const struct queue *q, const struct queue_lane *lane, int levels)
{
    int next = -1;

    for (int i = levels - 1; i >= 0; i--) {
        if (!fb_heap_first(&lane->ready[i]))
            continue;
        if (q->ageing > 0 && q->passed[i] >= q->ageing)
            return i;
        next = i;
    }
    return next;
}

struct queue_task *fb_queue_first(const struct queue *q, const struct queue_lane *lane, bool bulk)
{
    int i = level_next(q, lane, bulk ? FB_QUEUE_LEVELS : FB_QUEUE_INTERACTIVE);

    if (i < 0)
        return NULL;

    /* A key's nodes stand side by side: from the i-th back to the first, and so to the key. */
    struct heap_node *n = fb_heap_first(&lane->ready[i]) - i;

    return FB_HEAP_OWNER(n, struct queue_key, ready)->level[i].first;
}

void fb_queue_start(struct queue *q, struct queue_task *t)
{
    const struct queue_lane *lane = t->key->lane;
    int level = level_of(t->priority);

    assert(lane);
    q->passed[level] = 0;
    fb_queue_remove(q, t);
    for (int i = level + 1; i < FB_QUEUE_LEVELS; i++)
        if (fb_heap_first(&lane->ready[i]) && q->passed[i] < q->ageing)
            q->passed[i]++;
}

/* ---------------------------------------------------------------------------------- time passes */

void fb_queue_advance(struct queue *q, int64_t now_ns)
{
    struct heap_node *n;

    while ((n = fb_heap_first(&q->waiting)) && n->order <= now_ns)
        fb_queue_wake(q, FB_HEAP_OWNER(n, struct queue_key, wait));
    while ((n = fb_heap_first(&q->delayed)) && n->order <= now_ns) {
        struct queue_task *t = FB_HEAP_OWNER(n, struct queue_task, node);

        fb_heap_remove(&q->delayed, n);
        enlist(q, t->key, t);
    }
}

static int64_t order_of_first(const struct heap *h)
{
    const struct heap_node *n = fb_heap_first(h);

    return n ? n->order : FB_NEVER;
}

int64_t fb_queue_next_at(const struct queue *q)
{
    int64_t at_ns = fb_min64(order_of_first(&q->waiting), order_of_first(&q->delayed));

    /* At its last instant a task may still start; it is late from the next one on. */
    return fb_min64(at_ns, fb_after(order_of_first(&q->patience), 1));
}

/* ---------------------------------------------------------------------------------------- names */

enum priority fb_priority_find(const char *name)
{
    assert(name);
    for (int i = PRIORITY_HIGH; i <= PRIORITY_BACKGROUND; i++)
        if (strcmp(name, names[i]) == 0)
            return (enum priority)i;
    return strcmp(name, "completed") == 0 ? PRIORITY_BACKGROUND : PRIORITY_UNSET;
}

const char *fb_priority_name(enum priority p)
{
    return names[level_of(p) + 1];
}
