/* SPDX-License-Identifier: MIT */
/* body.c - open and closed: how the word and the books take turns in being the truth. */
#include "ledger/body.h"

#include <assert.h>

#include "ledger/slot.h"

int64_t fb_word_of(const struct accountant *books)
{
    int64_t level = books->slot[FB_SLOT_bucket + FB_BUCKET_LEVEL];

    /* Of books that are not plain nobody vouches for the bucket: it may not be in force. */
    if (!books->plain || level >= FB_BUCKET_SMALL)
        return FB_WORD_NONE;
    return FB_WORD_CLOSED | level << FB_WORD_ID_BITS | (uint16_t)books->tickets.newest;
}

void fb_word_close_plain(struct body *b, struct slot *slot)
{
    int64_t word = atomic_load_explicit(&b->open, memory_order_relaxed);

    if (fb_word_is_open(word))
        word = atomic_fetch_or_explicit(&b->open, FB_WORD_CLOSED, memory_order_acq_rel);
    if (word == FB_WORD_NONE)
        return;
    uint16_t grants = (uint16_t)((uint64_t)word - b->books.tickets.newest);
    if (grants > 0) {
        if (slot)
            fb_slot_change(slot);
        fb_accountant_merge(&b->books, (word & ~FB_WORD_CLOSED) >> FB_WORD_ID_BITS, grants);
    }
}

void fb_word_publish_plain(struct body *b)
{
    int64_t word = fb_word_of(&b->books);

    if (word != FB_WORD_NONE && fb_accountant_is_plain(&b->books, b->books.now_ns))
        word &= ~FB_WORD_CLOSED;
    atomic_store_explicit(&b->open, word, memory_order_release);
}

/* ---- the fast lane ---- */

#define HALF_SMALL (FB_BUCKET_SMALL / 2) /* for the clock, and for what is added to it */

static void set(struct fly_limiter *l, int index, uint64_t value)
{
    __atomic_store_n(&l->near.books.spare[index], value, __ATOMIC_RELEASE);
}

/* In units of the word; what is too large for it is more than anything in it. */
static uint64_t in_word(int64_t ticks)
{
    return ticks < FB_BUCKET_SMALL ? (uint64_t)ticks << FB_WORD_ID_BITS : UINT64_MAX;
}

void fb_lane_set(struct fly_limiter *l)
{
    const int64_t *bucket = fb_accountant_bucket(&l->near.books);
    int64_t added = bucket[FB_BUCKET_GIVEN_BACK] + bucket[FB_BUCKET_PERMIT];
    int64_t reach_ns = added <= HALF_SMALL ? HALF_SMALL / bucket[FB_BUCKET_TICKS] : 0;
    int64_t zero_ns = l->origin_ns + bucket[FB_BUCKET_BASE]; /* an instant that a caller told */
    int64_t end_ns;

    /* Where the caller's clock ends before that it could come round. */
    if (__builtin_add_overflow(zero_ns, reach_ns, &end_ns))
        reach_ns = 0;
    set(l, FB_LANE_ZERO_NS, (uint64_t)zero_ns);
    /* It is read after what is given back, which so is never too much for a reach that is seen. */
    set(l, FB_LANE_REACH_NS, (uint64_t)reach_ns);
    set(l, FB_LANE_GIVEN_BACK, in_word(bucket[FB_BUCKET_GIVEN_BACK]));
}

void fb_lane_init(struct fly_limiter *l)
{
    const int64_t *bucket = fb_accountant_bucket(&l->near.books);

    assert(l->near.books.plain && bucket[FB_BUCKET_TICKS] >= 1);
    set(l, FB_LANE_TICKS, in_word(bucket[FB_BUCKET_TICKS]));
    set(l, FB_LANE_PERMIT, in_word(bucket[FB_BUCKET_PERMIT]));
    set(l, FB_LANE_BURST, in_word(bucket[FB_BUCKET_BURST]));
    set(l, FB_LANE_SEAL, fb_ticket_seal_one(0, l->near.books.key));
    fb_lane_set(l);
}

/* ---- in and out ---- */

struct body *fb_enter_shared(struct fly_limiter *l)
{
    struct share *g = fb_share_of(l);
    struct body *b = fb_slot_enter(g);

    if (b && fb_owes(g))
        fb_owed_pay(g, b);
    return b;
}

struct body *fb_enter_moved(struct fly_limiter *l, struct body *b)
{
    fb_unlock(&b->lock);
    return fb_enter(l);
}

void fb_change_shared(struct fly_limiter *l)
{
    fb_slot_change(fb_share_of(l)->slot);
}

void fb_leave_shared(struct fly_limiter *l)
{
    fb_slot_leave(fb_share_of(l));
}

void fb_body_wake(struct body *b)
{
    if (atomic_load(&b->changed) % 2 == 1) {
        atomic_fetch_add(&b->changed, 1);
        fb_futex_wake(&b->changed, FB_EVERYBODY);
    }
}
