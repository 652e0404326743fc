/* SPDX-License-Identifier: MIT */
/*
 * body.h - what a limiter is made of: a handle of this process, and a body that others may share.
 *
 * The handle knows where the body lies and how the caller's clock relates to it. The body is a
 * plain value without pointers: it lies right behind its handle, elsewhere on the heap when it had
 * to grow, or in a mapped file (slot.h).
 *
 * While a bucket alone decides, the body is OPEN: `open` holds the bucket's level and the number
 * of the latest grant in one word, and a grant is one compare-and-swap on it. Whatever needs more
 * (a report, a hold in force, a window, a controller) takes the lock and CLOSES the word by a bit
 * in it, so that the fast path of others falls through to the lock too. Level and number stay
 * readable: until the books have caught up with them they are the truth.
 *
 * Invariant: the books are read and written only with the lock held; what the fast path reads of
 * them (the bucket's slots) does not change while the word is open.
 */
#ifndef FLYBALL_LEDGER_BODY_H
#define FLYBALL_LEDGER_BODY_H

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <flyball/flyball.h>

#include "core/accountant.h"
#include "core/bucket.h"
#include "core/instant.h"
#include "ledger/lock.h"
#include "ledger/origin.h"

#define FB_WORD_CLOSED  (INT64_C(1) << 62) /* this bit: only with the lock */
#define FB_WORD_NONE    (-1)               /* closed, and the level does not fit into a word */
#define FB_WORD_ID_BITS 16                 /* the level is above them */

struct slot;

struct body {
    _Atomic int64_t open; /* the word: the bucket's level and the latest id */
    struct lock lock;
    _Atomic uint32_t changed; /* counts what may help those who wait; odd while somebody does */
    struct accountant books;  /* their memory is right behind the body */
};

/*
 * The fast lane: the bucket of `near` on the caller's clock and in units of the word, so that a
 * grant is a multiplication, some sums and the compare-and-swap. It lies where a limiter that is
 * not plain has what it learned: only who saw a word that is not FB_WORD_NONE looks at it. Like the
 * bucket's slots it is read after the word, and says, while that is open, what they say.
 */
enum {
    FB_LANE_ZERO_NS,    /* the caller's time at which the bucket's clock was 0 */
    FB_LANE_REACH_NS,   /* for so long from there on no number can be too large */
    FB_LANE_GIVEN_BACK, /* in ticks; all of these are above the bits of the id */
    FB_LANE_TICKS,      /* in a nanosecond; from here on nothing changes: `near` has one spec */
    FB_LANE_PERMIT,     /* in ticks */
    FB_LANE_BURST,      /* in ticks */
    FB_LANE_SEAL,       /* what of a ticket is not in the id */
    FB_LANE_SLOTS
};

static_assert((int)FB_LANE_SLOTS == (int)FB_SPARE_COUNT, "as there is room");

struct fly_limiter {
    _Atomic(struct body *) away; /* NULL: the body is `near` */
    int64_t origin_ns;           /* the books keep time from here on, so that any clock will do */
    struct body near;
};

/* A number of the lane that another thread may change just now, and one that nobody does. */
static inline uint64_t fb_lane_get(const struct fly_limiter *l, int index)
{
    return __atomic_load_n(&l->near.books.spare[index], __ATOMIC_ACQUIRE);
}

static inline uint64_t fb_lane_const(const struct fly_limiter *l, int index)
{
    return l->near.books.spare[index];
}

/* The fb_accountant_bytes() of the spec. */
static inline void *fb_body_memory(struct body *b)
{
    return b + 1;
}

static inline struct body *fb_body_of(struct fly_limiter *l)
{
    struct body *away = atomic_load_explicit(&l->away, memory_order_acquire);

    return away ? away : &l->near;
}

/* Whether anything may be taken from this word without the lock. */
static inline bool fb_word_is_open(int64_t word)
{
    return (uint64_t)word < (uint64_t)FB_WORD_CLOSED;
}

/* The word that says what the books say, closed. */
int64_t fb_word_of(const struct accountant *books);

/* Whether the body lies in a mapped file: the handle is then part of a struct share (slot.h). */
static inline bool fb_is_shared(const struct fly_limiter *l)
{
    return atomic_load_explicit(&l->near.lock.state, memory_order_relaxed) == LOCK_ELSEWHERE;
}

/* Wake the heads of the rows that wait for this body, in whatever process they are. */
void fb_body_wake(struct body *b);

/* The next two, where the books are plain. */
void fb_word_close_plain(struct body *b, struct slot *slot);
void fb_word_publish_plain(struct body *b);

/*
 * What entering and leaving do to the word: close it and write into the books what was
 * taken from it (`slot` is NULL where there is none); make the word say what the books say. Of
 * books that are not plain the word never opens.
 */
static inline void fb_word_close(struct body *b, struct slot *slot)
{
    if (b->books.plain)
        fb_word_close_plain(b, slot);
}

static inline void fb_word_publish(struct body *b)
{
    if (b->books.plain)
        fb_word_publish_plain(b);
}

/* ---- in and out ---- */

/* Of a shared limiter; and of one whose body has moved while it was waited for. */
struct body *fb_enter_shared(struct fly_limiter *l);
struct body *fb_enter_moved(struct fly_limiter *l, struct body *b);
void fb_change_shared(struct fly_limiter *l);
void fb_leave_shared(struct fly_limiter *l);

/* Lock the body of a limiter that is not shared, and let its books catch up; `away` as seen. */
static inline struct body *fb_enter_there(struct fly_limiter *l, struct body *away)
{
    struct body *b = away ? away : &l->near;

    fb_lock(&b->lock);
    if (atomic_load_explicit(&l->away, memory_order_acquire) != away)
        return fb_enter_moved(l, b);
    fb_word_close(b, NULL);
    return b;
}

static inline struct body *fb_enter_own(struct fly_limiter *l)
{
    return fb_enter_there(l, atomic_load_explicit(&l->away, memory_order_acquire));
}

/*
 * Lock the limiter's body and let its books catch up. Whoever enters leaves. NULL: a live process
 * keeps the body of a shared limiter for too long.
 */
static inline struct body *fb_enter(struct fly_limiter *l)
{
    return fb_is_shared(l) ? fb_enter_shared(l) : fb_enter_own(l);
}

/* The books are about to change. Until fb_leave() a shared limiter can undo that. */
static inline void fb_change(struct fly_limiter *l)
{
    if (fb_is_shared(l))
        fb_change_shared(l);
}

/* Make the lane of a new limiter; let it say what the bucket says by now. */
void fb_lane_init(struct fly_limiter *l);
void fb_lane_set(struct fly_limiter *l);

/* Whether it does so still: the clock was not shifted, and nothing given back. */
static inline bool fb_lane_is_right(const struct fly_limiter *l)
{
    const int64_t *bucket = &l->near.books.slot[FB_SLOT_bucket];
    uint64_t zero_ns = (uint64_t)(l->origin_ns + bucket[FB_BUCKET_BASE]);
    uint64_t given_back = fb_lane_get(l, FB_LANE_GIVEN_BACK) >> FB_WORD_ID_BITS;

    return fb_lane_get(l, FB_LANE_ZERO_NS) == zero_ns &&
           given_back == (uint64_t)bucket[FB_BUCKET_GIVEN_BACK];
}

/* Open the word again if a bucket alone decides, and unlock. */
static inline void fb_leave_own(struct fly_limiter *l, struct body *b)
{
    if (b->books.plain) {
        if (b == &l->near && !fb_lane_is_right(l))
            fb_lane_set(l);
        fb_word_publish_plain(b);
    }
    fb_unlock(&b->lock);
}

static inline void fb_leave(struct fly_limiter *l)
{
    if (fb_is_shared(l))
        fb_leave_shared(l);
    else
        fb_leave_own(l, fb_body_of(l));
}

/*
 * After a change that may help those who wait: say so before leaving, and wake them afterwards if
 * somebody does. Whoever waits made `changed` odd before asking, that is before it had the lock:
 * either it asked after this change, or the odd number is seen here.
 */
static inline bool fb_is_awaited(struct body *b)
{
    if (atomic_load_explicit(&b->changed, memory_order_relaxed) % 2 == 0)
        return false;
    atomic_fetch_add_explicit(&b->changed, 1, memory_order_release);
    return true;
}

/* As fb_leave(), after such a change. */
static inline void fb_leave_changed(struct fly_limiter *l)
{
    struct body *b = fb_body_of(l);
    bool awaited = fb_is_awaited(b);

    fb_leave(l);
    if (awaited)
        fb_futex_wake(&b->changed, FB_EVERYBODY);
}

static inline void fb_leave_own_changed(struct fly_limiter *l, struct body *b)
{
    bool awaited = fb_is_awaited(b);

    fb_leave_own(l, b);
    if (awaited)
        fb_futex_wake(&b->changed, FB_EVERYBODY);
}

/* Free what a reconfigured limiter has beside itself. */
void fb_blocks_free(struct fly_limiter *l);

/* Ask, and take if all agree; or only ask. The clock is the books'. */
struct verdict fb_limiter_try(struct fly_limiter *l, int64_t now_ns, uint32_t cost,
                              uint64_t *ret_ticket);
struct verdict fb_limiter_ask(struct fly_limiter *l, int64_t now_ns, uint32_t cost);

#define FB_ID_CHECK 4096 /* so many grants at most between two that enter */

/* The word after a grant of 1, or FB_WORD_NONE where that takes more than a look at the word. */
static inline int64_t fb_word_spend(const struct body *b, int64_t word, int64_t now_ns)
{
    const int64_t *bucket = &b->books.slot[FB_SLOT_bucket];
    int64_t level = fb_bucket_spend(bucket, (uint64_t)word >> FB_WORD_ID_BITS, 1, now_ns);
    int64_t id = (uint16_t)(word + 1);

    if (level < 0 || id % FB_ID_CHECK == 0)
        return FB_WORD_NONE;
    return level << FB_WORD_ID_BITS | id;
}

/* Try once to take 1 from the word as it was seen. False: *word is as it is now. */
static inline bool fb_word_try(struct body *b, int64_t *word, int64_t now_ns, uint64_t *ret_ticket)
{
    int64_t spent = fb_word_spend(b, *word, now_ns);

    if (spent < 0) {
        *word = FB_WORD_NONE;
        return false;
    }
    if (!atomic_compare_exchange_weak_explicit(&b->open, word, spent, memory_order_acq_rel,
                                               memory_order_acquire))
        return false;
    *ret_ticket = fb_ticket_seal_one((uint16_t)spent, b->books.key);
    return true;
}

/* Take 1 from the word. False: it takes more than that. */
static inline bool fb_word_take(struct body *b, int64_t now_ns, uint64_t *ret_ticket)
{
    int64_t word = atomic_load_explicit(&b->open, memory_order_acquire);

    while (fb_word_is_open(word))
        if (fb_word_try(b, &word, now_ns, ret_ticket))
            return true;
    return false;
}

/* An instant of the caller's clock in the books, and back. */
static inline int64_t fb_inner(const struct fly_limiter *l, int64_t at_ns)
{
    return fb_from_clock(l->origin_ns, at_ns);
}

static inline int64_t fb_outer(const struct fly_limiter *l, int64_t since_ns)
{
    return fb_to_clock(l->origin_ns, since_ns);
}

#endif
