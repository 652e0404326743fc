/* SPDX-License-Identifier: MIT */
/*
 * limiter.c - the public limiter: one accountant, shared by the threads of a process.
 *
 * While a bucket alone decides, the limiter is OPEN: `open` holds the bucket's level and the
 * number of the latest grant in one word, and a grant is one compare-and-swap on it. Whatever
 * needs more (a report, a hold in force, a window, a controller) takes the lock and CLOSES the
 * limiter first by swapping the word out, so that the fast path of other threads falls through
 * to the lock too. The number also sees to it that no word comes back while a thread looks away.
 *
 * Invariant: the accountant's books are read and written only with the lock held; what the fast
 * path reads of them (the bucket's slots) does not change while the limiter is open.
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
#include "ledger/lock.h"
#include "util/alloc.h"
#include "util/text.h"

#define CLOSED   (-1) /* no word: words are >= 0 */
#define ID_BITS  16   /* of a word; the level is above them */
#define ID_CHECK 4096 /* so many grants at most between two that enter */

struct fly_limiter {
    _Atomic int64_t open; /* the bucket's level and the latest id; or CLOSED */
    struct lock lock;
    int64_t origin_ns; /* the books keep time from here on, so that any clock will do */
    struct accountant books;
    _Alignas(8) unsigned char memory[]; /* fb_accountant_bytes() of the spec */
};

/* An instant of the caller's clock in the books; more than 73 years off it is all the same. */
static int64_t inner(const struct fly_limiter *l, int64_t at_ns)
{
    int64_t since_ns;

    if (__builtin_sub_overflow(at_ns, l->origin_ns, &since_ns))
        since_ns = at_ns < l->origin_ns ? -FB_TIME_MAX : FB_TIME_MAX;
    return fb_clamp64(since_ns, -FB_TIME_MAX, FB_TIME_MAX);
}

/* And back. */
static int64_t outer(const struct fly_limiter *l, int64_t since_ns)
{
    int64_t at_ns;

    if (since_ns == FB_NEVER || __builtin_add_overflow(since_ns, l->origin_ns, &at_ns))
        return FLY_NEVER;
    return at_ns;
}

static int64_t cost_of(uint32_t cost)
{
    return cost > 0 ? cost : 1;
}

/* ---- open and closed ---- */

static void enter(struct fly_limiter *l)
{
    fb_lock(&l->lock);
    int64_t word = CLOSED;
    if (l->books.plain)
        word = atomic_exchange_explicit(&l->open, CLOSED, memory_order_acq_rel);
    if (word != CLOSED) {
        uint16_t grants = (uint16_t)((uint64_t)word - l->books.tickets.newest);
        fb_accountant_merge(&l->books, word >> ID_BITS, grants);
    }
}

static void leave(struct fly_limiter *l)
{
    const int64_t *bucket = fb_accountant_bucket(&l->books);

    if (l->books.plain && bucket[FB_BUCKET_LEVEL] < FB_BUCKET_SMALL &&
        fb_accountant_is_plain(&l->books, l->books.now_ns)) {
        int64_t id = (uint16_t)l->books.tickets.newest;
        int64_t word = bucket[FB_BUCKET_LEVEL] << ID_BITS | id;
        atomic_store_explicit(&l->open, word, memory_order_release);
    }
    fb_unlock(&l->lock);
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
    fb_accountant_init(&l->books, &s, l->memory, seed, 0);
    atomic_init(&l->open, CLOSED);
    fb_lock(&l->lock);
    leave(l);
    return l;
}

void fly_limiter_free(struct fly_limiter *l)
{
    fb_free(l);
}

/* ---- decisions ---- */

static int64_t take_locked(struct fly_limiter *l, int64_t now_ns, uint32_t cost,
                           uint64_t *ret_ticket)
{
    enter(l);
    struct verdict v = fb_accountant_ask(&l->books, cost_of(cost), now_ns);
    if (v.at_ns <= now_ns)
        *ret_ticket = fb_accountant_take(&l->books, cost_of(cost), now_ns);
    leave(l);
    return v.at_ns;
}

/* The word after a grant of 1, or CLOSED where that takes more than a look at the word. */
static int64_t spend(const struct fly_limiter *l, int64_t word, int64_t now_ns)
{
    int64_t level = fb_bucket_spend(&l->books.slot[FB_SLOT_bucket], word >> ID_BITS, 1, now_ns);
    int64_t id = (uint16_t)(word + 1);

    return level < 0 || id % ID_CHECK == 0 ? CLOSED : level << ID_BITS | id;
}

int64_t fly_limiter_take(struct fly_limiter *l, int64_t now_ns, uint32_t cost, uint64_t *ret_ticket)
{
    int64_t now = inner(l, now_ns);
    int64_t word = atomic_load_explicit(&l->open, memory_order_acquire);

    /* Other costs are written down in the books, for what is out is counted in units. */
    while (word != CLOSED && cost <= 1) {
        int64_t spent = spend(l, word, now);
        if (spent == CLOSED)
            break;
        if (atomic_compare_exchange_weak_explicit(&l->open, &word, spent, memory_order_acq_rel,
                                                  memory_order_acquire)) {
            struct ticket t = {.cost = 1, .id = (uint16_t)spent};
            *ret_ticket = fb_ticket_seal(t, l->books.key);
            return now_ns;
        }
    }
    int64_t at_ns = take_locked(l, now, cost, ret_ticket);
    return at_ns <= now ? now_ns : outer(l, at_ns);
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
        enter(k);
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
        int64_t now = inner(l[i], now_ns);
        int64_t at_ns = fb_accountant_ask(&l[i]->books, cost_of(cost[i]), now).at_ns;
        if (at_ns > now) {
            latest = fb_max64(latest, outer(l[i], at_ns));
            ready = false;
        }
    }
    for (size_t i = 0; i < n; i++) {
        if (ready)
            ret_tickets[i] =
                fb_accountant_take(&l[i]->books, cost_of(cost[i]), inner(l[i], now_ns));
        leave(l[i]);
    }
    return latest;
}

/* ---- what came of it ---- */

void fly_limiter_cancel(struct fly_limiter *l, int64_t now_ns, uint64_t ticket)
{
    enter(l);
    fb_accountant_cancel(&l->books, ticket, inner(l, now_ns));
    leave(l);
}

void fly_limiter_settle(struct fly_limiter *l, int64_t now_ns, uint64_t ticket, uint32_t cost)
{
    enter(l);
    fb_accountant_settle(&l->books, ticket, cost, inner(l, now_ns));
    leave(l);
}

/* What a response says is input: absurd values become absent ones, one by one. */
static struct fly_outcome cleaned(const struct fly_limiter *l, const struct fly_outcome *o,
                                  int64_t now_ns)
{
    struct fly_outcome c = *o;

    c.sent_ns = fb_min64(inner(l, c.sent_ns), now_ns);
    c.latency_ns = fb_clamp64(c.latency_ns, 0, FB_TIME_MAX);
    if (c.limit <= 0)
        c.limit = FLY_ABSENT;
    if (c.remaining < 0)
        c.remaining = FLY_ABSENT;
    if (c.retry_after_ns < 0)
        c.retry_after_ns = FLY_ABSENT;
    int64_t reset_ns = inner(l, c.reset_ns);
    c.reset_ns = reset_ns > -FB_TIME_MAX && reset_ns < FB_TIME_MAX ? reset_ns : FLY_ABSENT;
    return c;
}

void fly_limiter_report(struct fly_limiter *l, int64_t now_ns, const struct fly_outcome *o)
{
    int64_t now = inner(l, now_ns);
    struct fly_outcome c = cleaned(l, o, now);

    enter(l);
    fb_accountant_report(&l->books, &c, now);
    leave(l);
}

/* ---- seeing ---- */

int fly_limiter_why(struct fly_limiter *l, int64_t now_ns, uint32_t cost, struct fly_why *ret_why)
{
    int64_t now = inner(l, now_ns);
    struct text t;

    if (ret_why->size < sizeof(*ret_why))
        return -EINVAL;
    enter(l);
    struct verdict v = fb_accountant_ask(&l->books, cost_of(cost), now);
    ret_why->until_ns = v.at_ns <= now ? now_ns : outer(l, v.at_ns);
    fb_text_init(&t, ret_why->cause, sizeof(ret_why->cause));
    fb_text_add(&t, fb_accountant_cause(&v));
    fb_text_init(&t, ret_why->text, sizeof(ret_why->text));
    fb_accountant_explain(&l->books, &v, now, &t);
    leave(l);
    return 0;
}

double fly_limiter_rate(struct fly_limiter *l)
{
    enter(l);
    double rate = fb_bucket_rate(fb_accountant_bucket(&l->books));
    leave(l);
    return rate;
}

uint64_t fly_limiter_state_size(void)
{
    return sizeof(struct fly_limiter);
}
