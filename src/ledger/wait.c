/* SPDX-License-Identifier: MIT */
/*
 * wait.c - blocking on top of asking: the head of a row asks and sleeps until the hint, or until
 * something has changed; all others sleep until it is their turn.
 *
 * The head sleeps on the body's `changed`, which it makes odd before it asks: whoever changes the
 * limiter after that sees it and wakes it. The others sleep on a word of their own.
 */
#include <flyball/wait.h>

#include <errno.h>

#include "core/instant.h"
#include "ledger/body.h"
#include "ledger/clock.h"
#include "ledger/row.h"
#include "util/alloc.h"

#define SLEEP_MAX_NS (10 * FB_NS_PER_S) /* the kernel's clock stands still in suspend */

/* ---- stopping ---- */

struct fly_stop {
    struct lock lock;
    _Atomic uint32_t called;
    struct waiter *first;
};

struct fly_stop *fly_stop_new(void)
{
    return fb_alloc(sizeof(struct fly_stop));
}

void fly_stop_free(struct fly_stop *stop)
{
    fb_free(stop);
}

void fly_stop_now(struct fly_stop *stop)
{
    fb_lock(&stop->lock);
    atomic_store(&stop->called, 1);
    for (struct waiter *w = stop->first; w; w = w->next_of_stop) {
        atomic_fetch_or(&w->word, WAITER_STOPPED);
        fb_futex_wake(&w->word, 1);
        fb_body_wake(fb_body_of(w->l));
    }
    fb_unlock(&stop->lock);
}

static void stop_join(struct fly_stop *stop, struct waiter *w)
{
    fb_lock(&stop->lock);
    w->next_of_stop = stop->first;
    if (stop->first)
        stop->first->previous_of_stop = w;
    stop->first = w;
    if (atomic_load(&stop->called))
        atomic_fetch_or(&w->word, WAITER_STOPPED);
    fb_unlock(&stop->lock);
}

static void stop_leave(struct fly_stop *stop, struct waiter *w)
{
    fb_lock(&stop->lock);
    if (w->previous_of_stop)
        w->previous_of_stop->next_of_stop = w->next_of_stop;
    else
        stop->first = w->next_of_stop;
    if (w->next_of_stop)
        w->next_of_stop->previous_of_stop = w->previous_of_stop;
    fb_unlock(&stop->lock);
}

/* ---- asking ---- */

enum asked { GRANTED, TOO_LARGE, NOT_YET };

/* What an answer means. *ret_at_ns is when it was granted, or until when to wait. */
static enum asked understand(const struct waiter *w, const struct verdict *v, int64_t now_ns,
                             int64_t *ret_at_ns)
{
    *ret_at_ns = v->cause ? fb_outer(w->l, v->at_ns) : now_ns;
    if (!v->cause)
        return GRANTED;
    return v->at_ns == FB_NEVER && v->cause->never_says ? TOO_LARGE : NOT_YET;
}

static enum asked ask(const struct waiter *w, int64_t now_ns, int64_t *ret_at_ns,
                      uint64_t *ret_ticket)
{
    struct verdict v = fb_limiter_try(w->l, fb_inner(w->l, now_ns), w->cost, ret_ticket);

    return understand(w, &v, now_ns, ret_at_ns);
}

/* When those before in the row are through, at the pace that is kept; FLY_NEVER is no pace. */
static int64_t behind(struct fly_limiter *l, int64_t at_ns, int64_t units)
{
    double rate = fly_limiter_rate(l);

    if (at_ns == FLY_NEVER || rate <= 0.0)
        return at_ns;
    int64_t span_ns = fb_span((double)units / rate);
    return at_ns < FLY_NEVER - span_ns ? at_ns + span_ns : FLY_NEVER;
}

static void sleep_until(_Atomic uint32_t *word, uint32_t value, int64_t until_ns, int64_t now_ns)
{
    int64_t span_ns = SLEEP_MAX_NS;

    if (until_ns - now_ns < span_ns)
        span_ns = until_ns - now_ns;
    fb_futex_wait(word, value, span_ns);
}

/* The head's turn: ask, and sleep if need be. -EAGAIN: once more. */
static int head_turn(struct waiter *w, int64_t *ret_at_ns, uint64_t *ret_ticket)
{
    struct body *b = fb_body_of(w->l);
    uint32_t seen = atomic_fetch_or(&b->changed, 1) | 1;

    if (atomic_load(&w->word) & WAITER_STOPPED)
        return -ECANCELED;
    int64_t now_ns = fly_now();
    enum asked asked = ask(w, now_ns, ret_at_ns, ret_ticket);
    if (asked != NOT_YET)
        return asked == GRANTED ? 0 : -E2BIG;
    int64_t at_ns = *ret_at_ns;
    if (now_ns >= w->deadline_ns || (at_ns != FLY_NEVER && at_ns > w->deadline_ns))
        return -ETIMEDOUT;
    if (at_ns != FLY_NEVER && at_ns > w->at_ns) {
        w->at_ns = at_ns;
        fb_row_tell(w, at_ns);
    }
    sleep_until(&b->changed, seen, fb_min64(at_ns, w->deadline_ns), now_ns);
    return -EAGAIN;
}

/* In the row: sleep until it is our turn, or it never can be. -EAGAIN: look again. */
static int row_turn(struct waiter *w, int64_t *ret_at_ns)
{
    uint32_t word = atomic_load(&w->word);
    int64_t now_ns = fly_now();

    if (word & WAITER_STOPPED)
        return -ECANCELED;
    if (word & WAITER_TOLD)
        *ret_at_ns = w->at_ns;
    if (word & WAITER_TOLD || now_ns >= w->deadline_ns)
        return -ETIMEDOUT;
    sleep_until(&w->word, word, w->deadline_ns, now_ns);
    return -EAGAIN;
}

static int wait_in_row(struct waiter *w, int64_t *ret_at_ns, uint64_t *ret_ticket)
{
    int rc = -EAGAIN;

    while (rc == -EAGAIN) {
        if (atomic_load(&w->word) & WAITER_HEAD)
            rc = head_turn(w, ret_at_ns, ret_ticket);
        else
            rc = row_turn(w, ret_at_ns);
    }
    return rc;
}

/* Refuse at once where the row is too long already; else wait. */
static int join_and_wait(struct waiter *w, int64_t *ret_at_ns, uint64_t *ret_ticket)
{
    int64_t before = fb_row_join(w);
    int64_t at_ns = *ret_at_ns;
    int rc = 0;

    if (before > 0) {
        at_ns = behind(w->l, at_ns, before);
        *ret_at_ns = at_ns;
        if (at_ns != FLY_NEVER && at_ns > w->deadline_ns)
            rc = -ETIMEDOUT;
    }
    if (rc == 0)
        rc = wait_in_row(w, ret_at_ns, ret_ticket);
    fb_row_leave(w);
    return rc;
}

/* Before standing in a row: the first one tries, others only ask. */
static enum asked look(const struct waiter *w, int64_t *ret_at_ns, uint64_t *ret_ticket)
{
    int64_t now_ns = fly_now();

    if (fb_row_is_empty(w->l))
        return ask(w, now_ns, ret_at_ns, ret_ticket);
    struct verdict v = fb_limiter_ask(w->l, fb_inner(w->l, now_ns), w->cost);
    enum asked asked = understand(w, &v, now_ns, ret_at_ns);
    return asked == GRANTED ? NOT_YET : asked;
}

int fly_wait(struct fly_limiter *l, uint32_t cost, int64_t deadline_ns, struct fly_stop *stop,
             int64_t *ret_at_ns, uint64_t *ret_ticket)
{
    struct waiter w = {.l = l, .cost = cost > 0 ? cost : 1, .deadline_ns = deadline_ns};

    if (stop && atomic_load(&stop->called))
        return -ECANCELED;
    enum asked asked = look(&w, ret_at_ns, ret_ticket);
    if (asked != NOT_YET)
        return asked == GRANTED ? 0 : -E2BIG;
    if (stop)
        stop_join(stop, &w);
    int rc = join_and_wait(&w, ret_at_ns, ret_ticket);
    if (stop)
        stop_leave(stop, &w);
    return rc;
}
