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
