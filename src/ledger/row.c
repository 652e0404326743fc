/* SPDX-License-Identifier: MIT */
/*
 * row.c - rows of waiting threads, in a table of lists by the address of the limiter.
 *
 * A waiter lies on its thread's stack and is in the list from joining to leaving; others touch it
 * only under the list's lock. In the child of a fork there are no other threads: the first call
 * there finds every list as another process left it, and empties it.
 */
#include "ledger/row.h"

#include "ledger/life.h"

#define LISTS 64

struct list {
    struct lock lock;
    _Atomic uint32_t count;
    struct waiter *first;
    struct waiter *last;
};

static struct list lists[LISTS];
static _Atomic uint64_t lists_of; /* which process */

static void empty_lists(void *self)
{
    (void)self;
    for (int i = 0; i < LISTS; i++)
        lists[i] = (struct list){.first = NULL};
}

static struct list *list_of(const struct fly_limiter *l)
{
    return &lists[(uintptr_t)l / 64 % LISTS];
}

static struct list *lock_list(const struct fly_limiter *l)
{
    struct list *list = list_of(l);

    fb_life_once(&lists_of, empty_lists, NULL);
    fb_lock(&list->lock);
    return list;
}

/* From this one on, the first of that row. */
static struct waiter *find(struct waiter *w, const struct fly_limiter *l)
{
    while (w && w->l != l)
        w = w->next;
    return w;
}

/* For those who may be asleep: another word, and a knock. */
static void set(struct waiter *w, uint32_t bit)
{
    atomic_fetch_or(&w->word, bit);
    fb_futex_wake(&w->word, 1);
}

int64_t fb_row_join(struct waiter *w)
{
    struct list *list = lock_list(w->l);
    int64_t before = 0;

    for (struct waiter *k = find(list->first, w->l); k; k = find(k->next, w->l))
        before += k->cost;
    w->next = NULL;
    w->previous = list->last;
    if (list->last)
        list->last->next = w;
    else
        list->first = w;
    list->last = w;
    atomic_fetch_add(&list->count, 1);
    if (before == 0)
        atomic_fetch_or(&w->word, WAITER_HEAD);
    fb_unlock(&list->lock);
    return before;
}

void fb_row_leave(struct waiter *w)
{
    struct list *list = lock_list(w->l);

    if (w->previous)
        w->previous->next = w->next;
    else
        list->first = w->next;
    if (w->next)
        w->next->previous = w->previous;
    else
        list->last = w->previous;
    atomic_fetch_sub(&list->count, 1);
    struct waiter *head = find(list->first, w->l);
    if (head && !(atomic_load(&head->word) & WAITER_HEAD))
        set(head, WAITER_HEAD);
    fb_unlock(&list->lock);
}

void fb_row_tell(struct waiter *head, int64_t at_ns)
{
    struct list *list = lock_list(head->l);

    for (struct waiter *w = find(head->next, head->l); w; w = find(w->next, head->l)) {
        if (w->deadline_ns < at_ns && !(atomic_load(&w->word) & WAITER_TOLD)) {
            w->at_ns = at_ns;
            set(w, WAITER_TOLD);
        }
    }
    fb_unlock(&list->lock);
}

bool fb_row_is_empty(const struct fly_limiter *l)
{
    return atomic_load(&lists_of) != fb_life_me() || atomic_load(&list_of(l)->count) == 0;
}

size_t fb_row_count(struct fly_limiter *l)
{
    struct list *list = lock_list(l);
    size_t count = 0;

    for (struct waiter *w = find(list->first, l); w; w = find(w->next, l))
        count++;
    fb_unlock(&list->lock);
    return count;
}
