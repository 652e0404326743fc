/* SPDX-License-Identifier: MIT */
/* body.c - open and closed: how the word and the books take turns in being the truth. */
#include "ledger/body.h"

int64_t fb_word_of(const struct accountant *books)
{
    int64_t level = books->slot[FB_SLOT_bucket + FB_BUCKET_LEVEL];

    if (level >= FB_BUCKET_SMALL)
        return FB_WORD_NONE;
    return FB_WORD_CLOSED | level << FB_WORD_ID_BITS | (uint16_t)books->tickets.newest;
}

/* Close the word, and write into the books what was taken from it. */
static void close_word(struct body *b)
{
    int64_t word = atomic_load_explicit(&b->open, memory_order_relaxed);

    if (fb_word_is_open(word))
        word = atomic_fetch_or_explicit(&b->open, FB_WORD_CLOSED, memory_order_acq_rel);
    if (word == FB_WORD_NONE)
        return;
    uint16_t grants = (uint16_t)((uint64_t)word - b->books.tickets.newest);
    if (grants > 0)
        fb_accountant_merge(&b->books, (word & ~FB_WORD_CLOSED) >> FB_WORD_ID_BITS, grants);
}

struct body *fb_enter(struct fly_limiter *l)
{
    struct body *b = fb_body_of(l);

    fb_lock(&b->lock);
    if (b->books.plain)
        close_word(b);
    return b;
}

/* The word to leave behind. */
static int64_t word_after(const struct accountant *books)
{
    int64_t word = fb_word_of(books);

    if (word != FB_WORD_NONE && fb_accountant_is_plain(books, books->now_ns))
        word &= ~FB_WORD_CLOSED;
    return word;
}

void fb_leave(struct body *b)
{
    if (b->books.plain)
        atomic_store_explicit(&b->open, word_after(&b->books), memory_order_release);
    fb_unlock(&b->lock);
}

/*
 * Whoever waits made `changed` odd before asking, that is before it had the lock: either it asked
 * after this change, or the odd number is seen here.
 */
void fb_leave_changed(struct body *b)
{
    bool awaited = atomic_load_explicit(&b->changed, memory_order_relaxed) % 2 == 1;

    if (awaited)
        atomic_fetch_add_explicit(&b->changed, 1, memory_order_release);
    fb_leave(b);
    if (awaited)
        fb_futex_wake_all(&b->changed);
}
