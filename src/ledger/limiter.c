/* SPDX-License-Identifier: MIT */
/*
 * limiter.c - the public limiter: one accountant, shared by threads, or by processes.
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
#include "ledger/ledger.h"
#include "ledger/slot.h"
#include "ledger/watch.h"
#include "util/alloc.h"
#include "util/text.h"

/* What is told where the books cannot be looked at. */
static const struct constraint busy = {
    .name = "ledger-busy",
    .says = "another process keeps the ledger and does not go on",
};
static const struct constraint lost = {
    .name = "ledger-lost",
    .says = "the file of the ledger was emptied while it was in use; open it anew",
};

static const struct constraint *absence(struct fly_limiter *l)
{
    return atomic_load(&fb_share_of(l)->lost) ? &lost : &busy;
}

#define BUSY_NS (10 * FB_NS_PER_MS)  /* then ask again */
#define LOOK_NS (100 * FB_NS_PER_MS) /* likewise, where an answer may be lost with its process */

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
    if (l->near.books.plain)
        fb_lane_init(l);
    (void)fb_enter(l);
    fb_leave(l);
    return l;
}

void fly_limiter_free(struct fly_limiter *l)
{
    if (!l)
        return;
    if (fb_is_watched(l, fb_body_of(l)))
        fb_watch_drop(l);
    if (fb_is_shared(l))
        fb_ledger_part(fb_share_of(l));
    else
        fb_blocks_free(l);
    fb_free(l);
}

/* ---- decisions ---- */

static uint64_t grant(struct fly_limiter *l, struct body *b, uint32_t cost, int64_t now_ns)
{
    fb_change(l);
    uint64_t ticket = fb_accountant_take(&b->books, cost_of(cost), now_ns);
    if (fb_is_shared(l))
        fb_slot_granted(fb_share_of(l), ticket);
    return ticket;
}

/* Tell whoever observes it what was decided. Apart, so that nothing else needs `v` in memory. */
static __attribute__((noinline)) void tell(const struct fly_limiter *l, int64_t now_ns,
                                           uint32_t cost, struct verdict v)
{
    if (v.at_ns <= now_ns)
        fb_watch_granted(l, fb_outer(l, now_ns), (uint32_t)cost_of(cost));
    else
        fb_watch_limited(l, fb_outer(l, now_ns), (uint32_t)cost_of(cost), fb_outer(l, v.at_ns),
                         fb_accountant_cause(&v));
}

/*
 * What the books say; without a body, that they cannot be looked at. The answer that is waited for
 * may be lost with the process that had the grant: then look again.
 */
static inline struct verdict ask_books(struct fly_limiter *l, const struct body *b, uint32_t cost,
                                       int64_t now_ns)
{
    if (!b)
        return (struct verdict){.at_ns = now_ns + BUSY_NS, .cause = absence(l)};
    struct verdict v = fb_accountant_ask(&b->books, cost_of(cost), now_ns);

    if (v.at_ns == FB_NEVER && !v.cause->never_says && fb_is_shared(l))
        v.at_ns = fb_after(now_ns, LOOK_NS);
    return v;
}

/* Ask, and take if all agree. */
static struct verdict try_locked(struct fly_limiter *l, int64_t now_ns, uint32_t cost,
                                 uint64_t *ret_ticket)
{
    struct body *b = fb_enter(l);
    struct verdict v = ask_books(l, b, cost, now_ns);

    if (!b)
        return v;
    if (v.at_ns <= now_ns)
        *ret_ticket = grant(l, b, cost, now_ns);
    bool watched = fb_is_watched(l, b);
    fb_leave(l);
    if (watched)
        tell(l, now_ns, cost, v);
    return v;
}

/* The same where the books are this process's own: they always can be looked at. */
static inline struct verdict try_own(struct fly_limiter *l, struct body *away, int64_t now_ns,
                                     uint32_t cost, uint64_t *ret_ticket)
{
    struct body *b = fb_enter_there(l, away);
    struct verdict v = fb_accountant_try(&b->books, cost_of(cost), now_ns, ret_ticket);
    bool watched = b->books.watched;

    fb_leave_own(l, b);
    if (watched)
        tell(l, now_ns, cost, v);
    return v;
}

/* A process that is gone may have had what is waited for. */
static struct verdict try_shared(struct fly_limiter *l, int64_t now_ns, uint32_t cost,
                                 uint64_t *ret_ticket)
{
    struct verdict v = try_locked(l, now_ns, cost, ret_ticket);

    if (v.at_ns > now_ns && v.cause != absence(l) && fb_slot_sweep(fb_share_of(l), now_ns))
        v = try_locked(l, now_ns, cost, ret_ticket);
    return v;
}

/* While a bucket alone decides, it also says when; nobody needs the lock to hear that. */
static bool hear_open(struct body *b, int64_t now_ns, struct verdict *ret_verdict)
{
    int64_t word = atomic_load_explicit(&b->open, memory_order_acquire);

    if (!fb_word_is_open(word))
        return false;
    int64_t wait_ns =
        fb_bucket_wait_ns(&b->books.slot[FB_SLOT_bucket], word >> FB_WORD_ID_BITS, now_ns);
    if (wait_ns == 0 || atomic_load_explicit(&b->open, memory_order_acquire) != word)
        return false;
    *ret_verdict = (struct verdict){
        .at_ns = fb_after(now_ns, wait_ns),
        .cause = &fb_constraint_bucket,
    };
    return true;
}

/* As fb_limiter_try(), where the books of a file decide. Apart, like try_open(). */
static __attribute__((noinline)) struct verdict try_file(struct fly_limiter *l, int64_t now_ns,
                                                         uint32_t cost, uint64_t *ret_ticket)
{
    struct verdict v;

    /* Each decision is told, or there is something to be heard first. */
    if (fb_owes(fb_share_of(l)) || fb_is_watched(l, fb_body_of(l)))
        return try_shared(l, now_ns, cost, ret_ticket);
    if (cost <= 1 && fb_slot_word_take(fb_share_of(l), now_ns, ret_ticket))
        return (struct verdict){.at_ns = now_ns};
    if (cost <= 1 && hear_open(fb_body_of(l), now_ns, &v))
        return v;
    return try_shared(l, now_ns, cost, ret_ticket);
}

/* As fb_limiter_try(), where a bucket alone decides. Apart, so that others save no registers. */
static __attribute__((noinline)) struct verdict try_open(struct fly_limiter *l, int64_t now_ns,
                                                         uint64_t *ret_ticket)
{
    struct body *b = fb_body_of(l);
    struct verdict v;

    if (fb_word_take(b, now_ns, ret_ticket))
        return (struct verdict){.at_ns = now_ns};
    return hear_open(b, now_ns, &v) ? v : try_locked(l, now_ns, 1, ret_ticket);
}

static inline struct verdict try_any(struct fly_limiter *l, int64_t now_ns, uint32_t cost,
                                     uint64_t *ret_ticket)
{
    if (fb_is_shared(l))
        return try_file(l, now_ns, cost, ret_ticket);
    struct body *away = atomic_load_explicit(&l->away, memory_order_acquire);
    struct body *b = away ? away : &l->near;
    int64_t word = atomic_load_explicit(&b->open, memory_order_relaxed);
    /* Other costs are written down in the books, for what is out is counted in units. */
    if (cost <= 1 && fb_word_is_open(word))
        return try_open(l, now_ns, ret_ticket);
    return try_own(l, away, now_ns, cost, ret_ticket);
}

struct verdict fb_limiter_try(struct fly_limiter *l, int64_t now_ns, uint32_t cost,
                              uint64_t *ret_ticket)
{
    return try_any(l, now_ns, cost, ret_ticket);
}

struct verdict fb_limiter_ask(struct fly_limiter *l, int64_t now_ns, uint32_t cost)
{
    struct body *b = fb_enter(l);
    struct verdict v = ask_books(l, b, cost, now_ns);

    if (b)
        fb_leave(l);
    return v;
}

/* Apart, so that the fast path has no registers to save. */
static __attribute__((noinline)) int64_t take_slowly(struct fly_limiter *l, int64_t now_ns,
                                                     uint32_t cost, uint64_t *ret_ticket)
{
    int64_t now = fb_inner(l, now_ns);
    struct verdict v = try_any(l, now, cost, ret_ticket);

    return v.at_ns <= now ? now_ns : fb_outer(l, v.at_ns);
}

/* Take 1 from the word as it was seen, on top of `level`: the word's own, or the clock. */
static inline bool take_by_lane(struct fly_limiter *l, uint64_t word, uint64_t level,
                                uint64_t *ret_ticket)
{
    int64_t seen = (int64_t)word;
    uint16_t id = (uint16_t)(word + 1);

    if (id % FB_ID_CHECK == 0 ||
        !atomic_compare_exchange_weak_explicit(
            &l->near.open, &seen, (int64_t)(level + fb_lane_const(l, FB_LANE_PERMIT) + id),
            memory_order_acq_rel, memory_order_relaxed))
        return false;
    *ret_ticket = fb_lane_const(l, FB_LANE_SEAL) ^ fb_ticket_of_id(id);
    return true;
}

/*
 * Where the word is above the clock: within the burst, or closed, which it is with a permit on top
 * as well. Apart for the same reason.
 */
static __attribute__((noinline)) int64_t take_ahead(struct fly_limiter *l, int64_t now_ns,
                                                    uint64_t *ret_ticket, uint64_t word,
                                                    uint64_t clock)
{
    uint64_t level = word >> FB_WORD_ID_BITS << FB_WORD_ID_BITS;
    uint64_t after = level + fb_lane_const(l, FB_LANE_PERMIT);

    if (after < (uint64_t)FB_WORD_CLOSED && after - clock <= fb_lane_const(l, FB_LANE_BURST) &&
        take_by_lane(l, word, level, ret_ticket))
        return now_ns;
    return take_slowly(l, now_ns, 1, ret_ticket);
}

int64_t fly_limiter_take(struct fly_limiter *l, int64_t now_ns, uint32_t cost, uint64_t *ret_ticket)
{
    int64_t word = atomic_load_explicit(&l->near.open, memory_order_acquire);

    if (__builtin_expect(cost > 1 || word == FB_WORD_NONE, 0))
        return take_slowly(l, now_ns, cost, ret_ticket);
    uint64_t since_ns = (uint64_t)now_ns - fb_lane_get(l, FB_LANE_ZERO_NS);
    uint64_t clock =
        since_ns * fb_lane_const(l, FB_LANE_TICKS) + fb_lane_get(l, FB_LANE_GIVEN_BACK);
    if (__builtin_expect(since_ns >= fb_lane_get(l, FB_LANE_REACH_NS), 0))
        return take_slowly(l, now_ns, 1, ret_ticket); /* 0 is 1 too: one register less to keep */
    if (__builtin_expect((uint64_t)word > clock, 0))
        return take_ahead(l, now_ns, ret_ticket, (uint64_t)word, clock);
    if (!take_by_lane(l, (uint64_t)word, clock, ret_ticket))
        return take_slowly(l, now_ns, 1, ret_ticket);
    return now_ns;
}

/* ---- several at once ---- */

/* Everybody locks in one order: shared limiters first, in that of the file, then by address. */
static bool is_before(const struct fly_limiter *a, const struct fly_limiter *b)
{
    bool shared = fb_is_shared(a);

    if (shared != fb_is_shared(b))
        return shared;
    if (shared)
        return fb_ledger_is_before((const struct share *)a, (const struct share *)b);
    return (uintptr_t)a < (uintptr_t)b;
}

/* The first of them after `last`; of all when that is NULL. */
static struct fly_limiter *next_in_order(struct fly_limiter *const *l, size_t n,
                                         const struct fly_limiter *last)
{
    struct fly_limiter *next = NULL;

    for (size_t i = 0; i < n; i++)
        if ((!last || is_before(last, l[i])) && (!next || is_before(l[i], next)))
            next = l[i];
    return next;
}

/* All of them, or none: false. */
static bool enter_all(struct fly_limiter *const *l, size_t n)
{
    struct fly_limiter *last = NULL;

    for (size_t entered = 0; entered < n; entered++) {
        struct fly_limiter *next = next_in_order(l, n, last);
        assert(next); /* different limiters, as the contract says */
        if (!fb_enter(next)) {
            for (struct fly_limiter *k = next_in_order(l, n, NULL); k != next;
                 k = next_in_order(l, n, k))
                fb_leave(k);
            return false;
        }
        last = next;
    }
    return true;
}

/*
 * The latest of what all say, of which no one changes anything. Whether all agree is told apart:
 * at the end of the clock's range "never" is not later than now.
 */
static int64_t ask_all(struct fly_limiter *const *l, const uint32_t *cost, size_t n, int64_t now_ns,
                       bool *ret_agreed)
{
    int64_t latest = now_ns;
    bool agreed = true;

    for (size_t i = 0; i < n; i++) {
        int64_t now = fb_inner(l[i], now_ns);
        struct verdict v = ask_books(l[i], fb_body_of(l[i]), cost[i], now);
        if (v.at_ns > now) {
            agreed = false;
            latest = fb_max64(latest, fb_outer(l[i], v.at_ns));
        }
    }
    *ret_agreed = agreed;
    return latest;
}

static int64_t take_all(struct fly_limiter *const *l, const uint32_t *cost, size_t n,
                        int64_t now_ns, uint64_t *ret_tickets)
{
    if (!enter_all(l, n))
        return now_ns < FLY_NEVER - BUSY_NS ? now_ns + BUSY_NS : FLY_NEVER;
    bool agreed = false;
    int64_t at_ns = ask_all(l, cost, n, now_ns, &agreed);
    for (size_t i = 0; i < n; i++) {
        if (agreed)
            ret_tickets[i] = grant(l[i], fb_body_of(l[i]), cost[i], fb_inner(l[i], now_ns));
        bool watched = fb_is_watched(l[i], fb_body_of(l[i]));
        fb_leave(l[i]);
        if (watched && agreed)
            fb_watch_granted(l[i], now_ns, (uint32_t)cost_of(cost[i]));
    }
    return at_ns;
}

static bool sweep_all(struct fly_limiter *const *l, size_t n, int64_t now_ns)
{
    bool changed = false;

    for (size_t i = 0; i < n; i++)
        if (fb_is_shared(l[i]))
            changed |= fb_slot_sweep(fb_share_of(l[i]), fb_inner(l[i], now_ns));
    return changed;
}

int64_t fly_take_all(struct fly_limiter *const *l, const uint32_t *cost, size_t n, int64_t now_ns,
                     uint64_t *ret_tickets)
{
    int64_t at_ns = take_all(l, cost, n, now_ns, ret_tickets);

    if (at_ns > now_ns && sweep_all(l, n, now_ns))
        at_ns = take_all(l, cost, n, now_ns, ret_tickets);
    return at_ns;
}

/* ---- seeing ---- */

static void explain(const struct body *b, const struct verdict *v, uint32_t cost, int64_t now_ns,
                    struct text *t)
{
    if (b)
        fb_accountant_explain(&b->books, v, cost_of(cost), now_ns, t);
    else
        fb_text_add(t, v->cause->says);
}

int fly_limiter_why(struct fly_limiter *l, int64_t now_ns, uint32_t cost, struct fly_why *ret_why)
{
    int64_t now = fb_inner(l, now_ns);
    struct text t;

    if (ret_why->size < sizeof(*ret_why))
        return -EINVAL;
    struct body *b = fb_enter(l);
    struct verdict v = ask_books(l, b, cost, now);
    ret_why->until_ns = v.at_ns <= now ? now_ns : fb_outer(l, v.at_ns);
    fb_text_init(&t, ret_why->cause, sizeof(ret_why->cause));
    fb_text_add(&t, fb_accountant_cause(&v));
    fb_text_init(&t, ret_why->text, sizeof(ret_why->text));
    explain(b, &v, cost, now, &t);
    if (b)
        fb_leave(l);
    return 0;
}

double fly_limiter_rate(struct fly_limiter *l)
{
    struct body *b = fb_enter(l);

    if (!b)
        return 0.0;
    double rate = fb_bucket_rate(fb_accountant_bucket(&b->books));
    fb_leave(l);
    return rate;
}

uint64_t fly_limiter_state_size(void)
{
    return sizeof(struct fly_limiter);
}
