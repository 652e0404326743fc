/* SPDX-License-Identifier: MIT */
/*
 * body.h - what a limiter is made of: a handle of this process, and a body that others may share.
 *
 * The handle knows where the body lies and how the caller's clock relates to it. The body is a
 * plain value without pointers: it lies right behind its handle, or, when it had to grow, elsewhere
 * on the heap.
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

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <flyball/flyball.h>

#include "core/accountant.h"
#include "core/bucket.h"
#include "core/instant.h"
#include "ledger/lock.h"

#define FB_WORD_CLOSED  (INT64_C(1) << 62) /* this bit: only with the lock */
#define FB_WORD_NONE    (-1)               /* closed, and the level does not fit into a word */
#define FB_WORD_ID_BITS 16                 /* the level is above them */

struct body {
    _Atomic int64_t open; /* the word: the bucket's level and the latest id */
    struct lock lock;
    _Atomic uint32_t changed; /* counts what may help those who wait; odd while somebody does */
    struct accountant books;  /* their memory is right behind the body */
};

struct fly_limiter {
    _Atomic(struct body *) away; /* NULL: the body is `near` */
    int64_t origin_ns;           /* the books keep time from here on, so that any clock will do */
    struct body near;
};

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

/* Lock the limiter's body and let its books catch up. Whoever enters leaves. */
struct body *fb_enter(struct fly_limiter *l);

/* Open the word again if a bucket alone decides, and unlock. */
void fb_leave(struct body *b);

/* As fb_leave(), after a change that may help those who wait: they are woken. */
void fb_leave_changed(struct body *b);

/* An instant of the caller's clock in the books; more than 73 years off it is all the same. */
static inline int64_t fb_inner(const struct fly_limiter *l, int64_t at_ns)
{
    int64_t since_ns;

    if (__builtin_sub_overflow(at_ns, l->origin_ns, &since_ns))
        since_ns = at_ns < l->origin_ns ? -FB_TIME_MAX : FB_TIME_MAX;
    return fb_clamp64(since_ns, -FB_TIME_MAX, FB_TIME_MAX);
}

/* And back. */
static inline int64_t fb_outer(const struct fly_limiter *l, int64_t since_ns)
{
    int64_t at_ns;

    if (since_ns == FB_NEVER || __builtin_add_overflow(since_ns, l->origin_ns, &at_ns))
        return FLY_NEVER;
    return at_ns;
}

#endif
