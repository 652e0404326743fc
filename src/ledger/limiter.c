/* SPDX-License-Identifier: MIT */
/*
 * limiter.c - the public limiter: one accountant, shared by the threads of a process.
 *
 * A grant that a bucket alone decides is one compare-and-swap on the body's word (body.h);
 * everything else enters the body, asks or tells the accountant, and leaves.
 */
#include <assert.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <flyball/flyball.h>

#include "core/accountant.h"
#include "core/bucket.h"
#include "core/instant.h"
#include "core/spec.h"
#include "ledger/body.h"
#include "util/alloc.h"
#include "util/text.h"

#define ID_CHECK 4096 /* so many grants at most between two that enter */

static int64_t cost_of(uint32_t cost)
{
    return cost > 0 ? cost : 1;
}

/* ---- life ---- */

struct fly_limiter *fly_limiter_new(const char *spec, int64_t now_ns, uint64_t seed,
                                    struct fly_error *err)
{
    struct spec s;

    if (fb_spec_read(spec, &s, err) < 0)
        return NULL;
    struct fly_limiter *l = fb_alloc(sizeof(*l) + fb_accountant_bytes(&s));
    if (!l) {
        struct text t;
        if (err) {
            fb_text_init(&t, err->text, sizeof(err->text));
            fb_text_add(&t, "out of memory");
        }
        return NULL;
    }
    l->origin_ns = now_ns;
    fb_accountant_init(&l->near.books, &s, fb_body_memory(&l->near), seed, 0);
    atomic_init(&l->near.open, FB_WORD_NONE);
    fb_leave(fb_enter(l));
    return l;
}

void fly_limiter_free(struct fly_limiter *l)
{
    fb_free(l);
}

/* ---- decisions ---- */

/* The word after a grant of 1, or FB_WORD_NONE where that takes more than a look at the word. */
static inline int64_t spend(const struct body *b, int64_t word, int64_t now_ns)
{
    int64_t level =
        fb_bucket_spend(&b->books.slot[FB_SLOT_bucket], word >> FB_WORD_ID_BITS, 1, now_ns);
    int64_t id = (uint16_t)(word + 1);

    /* Negative ones are not small either. */
    if ((uint64_t)level >= (uint64_t)FB_BUCKET_SMALL || id % ID_CHECK == 0)
        return FB_WORD_NONE;
    return level << FB_WORD_ID_BITS | id;
}

/* Take 1 from the word. False: it takes more than that. */
static inline bool take_open(struct body *b, int64_t now_ns, uint64_t *ret_ticket)
{
    int64_t word = atomic_load_explicit(&b->open, memory_order_acquire);

    while (fb_word_is_open(word)) {
        int64_t spent = spend(b, word, now_ns);
        if (spent == FB_WORD_NONE)
            return false;
        if (atomic_compare_exchange_weak_explicit(&b->open, &word, spent, memory_order_acq_rel,
                                                  memory_order_acquire)) {
            struct ticket t = {.cost = 1, .id = (uint16_t)spent};
            *ret_ticket = fb_ticket_seal(t, b->books.key);
            return true;
        }
    }
    return false;
}

/* Apart, so that the fast path has no registers to save. */
static __attribute__((noinline)) int64_t take_locked(struct fly_limiter *l, int64_t now_ns,
                                                     uint32_t cost, uint64_t *ret_ticket)
{
    int64_t now = fb_inner(l, now_ns);
    struct body *b = fb_enter(l);
    struct verdict v = fb_accountant_ask(&b->books, cost_of(cost), now);

    if (v.at_ns <= now)
        *ret_ticket = fb_accountant_take(&b->books, cost_of(cost), now);
    fb_leave(b);
    return v.at_ns <= now ? now_ns : fb_outer(l, v.at_ns);
}

int64_t fly_limiter_take(struct fly_limiter *l, int64_t now_ns, uint32_t cost, uint64_t *ret_ticket)
{
    int64_t now;

    /* Other costs are written down in the books, for what is out is counted in units. */
    if (cost <= 1 && !__builtin_sub_overflow(now_ns, l->origin_ns, &now) &&
        take_open(&l->near, now, ret_ticket))
        return now_ns;
    return take_locked(l, now_ns, cost, ret_ticket);
}

/* ---- several at once ---- */

/* The limiter with the least address above `after`: everybody locks in this order. */
static struct fly_limiter *next_in_order(struct fly_limiter *const *l, size_t n, uintptr_t after)
{
    struct fly_limiter *next = NULL;

    for (size_t i = 0; i < n; i++)
        if ((uintptr_t)l[i] > after && (!next || (uintptr_t)l[i] < (uintptr_t)next))
            next = l[i];
    return next;
}

static size_t enter_all(struct fly_limiter *const *l, size_t n)
{
    size_t entered = 0;

    for (struct fly_limiter *k = next_in_order(l, n, 0); k; k = next_in_order(l, n, (uintptr_t)k)) {
        (void)fb_enter(k);
        entered++;
    }
    return entered;
}

int64_t fly_take_all(struct fly_limiter *const *l, const uint32_t *cost, size_t n, int64_t now_ns,
                     uint64_t *ret_tickets)
{
    int64_t latest = now_ns;
    bool ready = true;
    size_t entered = enter_all(l, n);

    assert(entered == n); /* different limiters, as the contract says */
    (void)entered;
    for (size_t i = 0; i < n; i++) {
        int64_t now = fb_inner(l[i], now_ns);
        struct accountant *books = &fb_body_of(l[i])->books;
        int64_t at_ns = fb_accountant_ask(books, cost_of(cost[i]), now).at_ns;
        if (at_ns > now) {
            latest = fb_max64(latest, fb_outer(l[i], at_ns));
            ready = false;
        }
    }
    for (size_t i = 0; i < n; i++) {
        struct body *b = fb_body_of(l[i]);
        if (ready)
            ret_tickets[i] =
                fb_accountant_take(&b->books, cost_of(cost[i]), fb_inner(l[i], now_ns));
        fb_leave(b);
    }
    return latest;
}

/* ---- what came of it ---- */

void fly_limiter_cancel(struct fly_limiter *l, int64_t now_ns, uint64_t ticket)
{
    struct body *b = fb_enter(l);

    fb_accountant_cancel(&b->books, ticket, fb_inner(l, now_ns));
    fb_leave_changed(b);
}

void fly_limiter_settle(struct fly_limiter *l, int64_t now_ns, uint64_t ticket, uint32_t cost)
{
    struct body *b = fb_enter(l);

    fb_accountant_settle(&b->books, ticket, cost, fb_inner(l, now_ns));
    fb_leave_changed(b);
}

/* What a response says is input: absurd values become absent ones, one by one. */
static struct fly_outcome cleaned(const struct fly_limiter *l, const struct fly_outcome *o,
                                  int64_t now_ns)
{
    struct fly_outcome c = *o;

    c.sent_ns = fb_min64(fb_inner(l, c.sent_ns), now_ns);
    c.latency_ns = fb_clamp64(c.latency_ns, 0, FB_TIME_MAX);
    if (c.limit <= 0)
        c.limit = FLY_ABSENT;
    if (c.remaining < 0)
        c.remaining = FLY_ABSENT;
    if (c.retry_after_ns < 0)
        c.retry_after_ns = FLY_ABSENT;
    int64_t reset_ns = fb_inner(l, c.reset_ns);
    c.reset_ns = reset_ns > -FB_TIME_MAX && reset_ns < FB_TIME_MAX ? reset_ns : FLY_ABSENT;
    return c;
}

void fly_limiter_report(struct fly_limiter *l, int64_t now_ns, const struct fly_outcome *o)
{
    int64_t now = fb_inner(l, now_ns);
    struct fly_outcome c = cleaned(l, o, now);

    struct body *b = fb_enter(l);
    fb_accountant_report(&b->books, &c, now);
    fb_leave_changed(b);
}

/* ---- seeing ---- */

int fly_limiter_why(struct fly_limiter *l, int64_t now_ns, uint32_t cost, struct fly_why *ret_why)
{
    int64_t now = fb_inner(l, now_ns);
    struct text t;

    if (ret_why->size < sizeof(*ret_why))
        return -EINVAL;
    struct body *b = fb_enter(l);
    struct verdict v = fb_accountant_ask(&b->books, cost_of(cost), now);
    ret_why->until_ns = v.at_ns <= now ? now_ns : fb_outer(l, v.at_ns);
    fb_text_init(&t, ret_why->cause, sizeof(ret_why->cause));
    fb_text_add(&t, fb_accountant_cause(&v));
    fb_text_init(&t, ret_why->text, sizeof(ret_why->text));
    fb_accountant_explain(&b->books, &v, now, &t);
    fb_leave(b);
    return 0;
}

double fly_limiter_rate(struct fly_limiter *l)
{
    struct body *b = fb_enter(l);
    double rate = fb_bucket_rate(fb_accountant_bucket(&b->books));

    fb_leave(b);
    return rate;
}

uint64_t fly_limiter_state_size(void)
{
    return sizeof(struct fly_limiter);
}
