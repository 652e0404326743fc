/* SPDX-License-Identifier: MIT */
/* body.c - open and closed: how the word and the books take turns in being the truth. */
#include "ledger/body.h"

#include "ledger/slot.h"

int64_t fb_word_of(const struct accountant *books)
{
    int64_t level = books->slot[FB_SLOT_bucket + FB_BUCKET_LEVEL];

    /* Of books that are not plain nobody vouches for the bucket: it may not be in force. */
    if (!books->plain || level >= FB_BUCKET_SMALL)
        return FB_WORD_NONE;
    return FB_WORD_CLOSED | level << FB_WORD_ID_BITS | (uint16_t)books->tickets.newest;
}

void fb_word_close(struct body *b, struct slot *slot)
{
    int64_t word = atomic_load_explicit(&b->open, memory_order_relaxed);

    if (!b->books.plain)
        return;
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

void fb_word_publish(struct body *b)
{
    int64_t word = fb_word_of(&b->books);

    if (!b->books.plain)
        return;
    if (word != FB_WORD_NONE && fb_accountant_is_plain(&b->books, b->books.now_ns))
        word &= ~FB_WORD_CLOSED;
    atomic_store_explicit(&b->open, word, memory_order_release);
}

/* ---- in and out ---- */

static struct body *enter_shared(struct share *g)
{
    struct body *b = fb_slot_enter(g);

    if (b && fb_owes(g))
        fb_owed_pay(g, b);
    return b;
}

struct body *fb_enter(struct fly_limiter *l)
{
    if (fb_is_shared(l))
        return enter_shared(fb_share_of(l));
    for (;;) {
        struct body *b = fb_body_of(l);
        fb_lock(&b->lock);
        if (b == fb_body_of(l)) {
            fb_word_close(b, NULL);
            return b;
        }
        fb_unlock(&b->lock); /* it has moved meanwhile */
    }
}

void fb_change(struct fly_limiter *l)
{
    if (fb_is_shared(l))
        fb_slot_change(fb_share_of(l)->slot);
}

void fb_leave(struct fly_limiter *l)
{
    struct body *b = fb_body_of(l);

    if (fb_is_shared(l)) {
        fb_slot_leave(fb_share_of(l));
        return;
    }
    fb_word_publish(b);
    fb_unlock(&b->lock);
}

/*
 * Whoever waits made `changed` odd before asking, that is before it had the lock: either it asked
 * after this change, or the odd number is seen here.
 */
void fb_leave_changed(struct fly_limiter *l)
{
    struct body *b = fb_body_of(l);
    bool awaited = atomic_load_explicit(&b->changed, memory_order_relaxed) % 2 == 1;

    if (awaited)
        atomic_fetch_add_explicit(&b->changed, 1, memory_order_release);
    fb_leave(l);
    if (awaited)
        fb_futex_wake(&b->changed, FB_EVERYBODY);
}

void fb_body_wake(struct body *b)
{
    if (atomic_load(&b->changed) % 2 == 1) {
        atomic_fetch_add(&b->changed, 1);
        fb_futex_wake(&b->changed, FB_EVERYBODY);
    }
}
