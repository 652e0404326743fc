/* SPDX-License-Identifier: MIT */
/*
 * told.c - cancel, settle and report; and what is done where the books cannot be reached.
 *
 * What is `inline` here, and given by value, is so for speed: each caller knows the kind of what
 * it tells.
 */
#include "ledger/told.h"

#include "core/accountant.h"
#include "core/bucket.h"
#include "ledger/body.h"
#include "ledger/life.h"
#include "ledger/slot.h"
#include "ledger/watch.h"

/* ---- into the books ---- */

static inline void write_down(struct fly_limiter *l, struct accountant *books, struct told t)
{
    int64_t now_ns = fb_inner(l, t.now_ns);
    struct fly_outcome c;

    switch (t.kind) {
    case TOLD_CANCEL:
        fb_accountant_cancel(books, t.ticket, now_ns);
        return;
    case TOLD_SETTLE:
        fb_accountant_settle(books, t.ticket, t.cost, now_ns);
        return;
    case TOLD_REPORT:
        c = fb_outcome_from_clock(l->origin_ns, t.outcome, now_ns);
        fb_accountant_report(books, &c, now_ns);
        return;
    }
}

/* What whoever observes the limiter is to hear of it. */
struct heard {
    bool known; /* the ticket was, and it is observed */
    double before;
    double after;
};

static struct heard hear(struct fly_limiter *l, struct body *b, struct told t)
{
    struct heard h = {.known = t.kind == TOLD_REPORT && fb_is_watched(l, b)};
    const int64_t *bucket = fb_accountant_bucket(&b->books);
    int64_t in_flight = b->books.in_flight;

    h.before = h.known ? fb_bucket_rate(bucket) : 0.0;
    fb_change(l);
    write_down(l, &b->books, t);
    bool ended = b->books.in_flight < in_flight;
    if (ended && fb_is_shared(l))
        fb_slot_ended(fb_share_of(l), t.ticket);
    h.known &= ended;
    h.after = h.known ? fb_bucket_rate(bucket) : 0.0;
    return h;
}

/* ---- owed ---- */

static bool is_refusal(const struct owed_told *t)
{
    const struct fly_outcome *o = &t->outcome;

    return t->told.kind == TOLD_REPORT &&
           (o->status == 429 || o->status == 503 || o->flags & FLY_THROTTLED ||
            o->retry_after_ns != FLY_ABSENT);
}

static void forget(void *self)
{
    struct owed *o = self;

    atomic_store(&o->lock.state, LOCK_FREE);
    atomic_store(&o->count, 0);
}

static struct owed *lock_owed(struct share *g)
{
    fb_life_once(&g->owed.of, forget, &g->owed);
    fb_lock(&g->owed.lock);
    return &g->owed;
}

bool fb_owes(const struct share *g)
{
    return atomic_load_explicit(&g->owed.count, memory_order_relaxed) > 0;
}

/* In the order in which they were told: of what has no place the oldest goes first. */
static void owe(struct share *g, struct told t)
{
    struct owed_told copy = {.told = t};
    struct owed *o = lock_owed(g);
    uint32_t count = atomic_load(&o->count);
    uint32_t i = 0;

    if (t.kind == TOLD_REPORT)
        copy.outcome = *t.outcome;
    if (count == FB_OWED_MAX && is_refusal(&copy)) {
        while (i < count && is_refusal(&o->told[i]))
            i++;
        if (i < count)
            count--;
        for (; i < count; i++)
            o->told[i] = o->told[i + 1];
    }
    if (count < FB_OWED_MAX)
        o->told[count++] = copy;
    atomic_store(&o->count, count);
    fb_unlock(&o->lock);
}

void fb_owed_pay(struct share *g, struct body *b)
{
    struct slot *slot = atomic_load(&g->slot);
    struct owed *o = lock_owed(g);
    uint32_t count = atomic_load(&o->count);

    for (uint32_t i = 0; i < count; i++) {
        struct told *t = &o->told[i].told;
        t->outcome = &o->told[i].outcome;
        struct heard h = hear(&g->handle, b, *t);
        fb_slot_settle(slot); /* one by one: each is made whole or not at all */
        if (h.known)
            fb_watch_reported(&g->handle, t->now_ns, t->outcome, h.before, h.after);
    }
    atomic_store(&o->count, 0);
    fb_unlock(&o->lock);
    fb_body_wake(b);
}

/* ---- telling ---- */

static void tell_entered(struct fly_limiter *l, struct body *b, struct told t)
{
    struct heard h = hear(l, b, t);

    fb_leave_changed(l);
    if (h.known)
        fb_watch_reported(l, t.now_ns, t.outcome, h.before, h.after);
}

static void tell_shared(struct fly_limiter *l, struct told t)
{
    struct body *b = fb_enter_shared(l);

    if (b)
        tell_entered(l, b, t);
    else
        owe(fb_share_of(l), t);
}

/* Where nobody observes, nobody need know what was heard. */
static inline __attribute__((always_inline)) void tell(struct fly_limiter *l, struct told t)
{
    if (fb_is_shared(l)) {
        tell_shared(l, t);
        return;
    }
    struct body *b = fb_enter_own(l);
    if (b->books.watched) {
        tell_entered(l, b, t);
        return;
    }
    write_down(l, &b->books, t);
    fb_leave_own_changed(l, b);
}

void fly_limiter_cancel(struct fly_limiter *l, int64_t now_ns, uint64_t ticket)
{
    tell(l, (struct told){
                .kind = TOLD_CANCEL,
                .now_ns = now_ns,
                .ticket = ticket,
            });
}

void fly_limiter_settle(struct fly_limiter *l, int64_t now_ns, uint64_t ticket, uint32_t cost)
{
    tell(l, (struct told){
                .kind = TOLD_SETTLE,
                .now_ns = now_ns,
                .ticket = ticket,
                .cost = cost,
            });
}

void fly_limiter_report(struct fly_limiter *l, int64_t now_ns, const struct fly_outcome *o)
{
    tell(l, (struct told){
                .kind = TOLD_REPORT,
                .now_ns = now_ns,
                .ticket = o->ticket,
                .outcome = o,
            });
}

void fly_limiter_backlog(struct fly_limiter *l, int64_t now_ns, int64_t units)
{
    struct body *b = fb_enter(l);

    if (!b) /* until it is said again more is believed to come, or nothing is known */
        return;
    fb_change(l);
    fb_accountant_backlog(&b->books, units, fb_inner(l, now_ns));
    fb_leave_changed(l);
}
