/* SPDX-License-Identifier: MIT */
/*
 * reconfigure.c - another spec for a limiter that is in use.
 *
 * The new books are made beside the old ones and take over what they know. A limiter of this
 * process then has its body in a block of its own, where later changes are made in place as long
 * as they fit. Blocks that are too small are kept until the limiter is freed: a thread may still
 * be looking at them. A shared limiter moves to another slot (ledger.c).
 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "core/spec.h"
#include "ledger/body.h"
#include "ledger/ledger.h"
#include "util/alloc.h"

struct block {
    struct block *older;
    size_t bytes; /* of the books and their memory */
    struct body body;
};

static struct block *block_of(struct body *b)
{
    return (struct block *)((unsigned char *)b - offsetof(struct block, body));
}

static size_t bytes_for(const struct spec *s)
{
    return sizeof(struct accountant) + fb_accountant_bytes(s);
}

/* The books of a body that is entered, under another spec. */
static void take_over(struct block *fresh, const struct change *c, struct body *old, int64_t now_ns)
{
    struct accountant *books = &fresh->body.books;

    fb_accountant_init(books, c->spec, fb_body_memory(&fresh->body), 0,
                       fb_max64(now_ns, old->books.now_ns));
    c->carry(books, &old->books);
    atomic_store(&fresh->body.open, FB_WORD_NONE);
}

/* All but the bucket's slots, which others may be reading just now. */
static void copy_books(struct accountant *to, const struct accountant *from, size_t bytes)
{
    size_t begin = offsetof(struct accountant, slot) + FB_SLOT_bucket * sizeof(int64_t);
    size_t end = begin + FB_SLOTS_bucket * sizeof(int64_t);

    memcpy(to, from, begin);
    for (int i = FB_SLOT_bucket; i <= FB_SLOT_LAST_bucket; i++)
        __atomic_store_n(&to->slot[i], from->slot[i], __ATOMIC_RELAXED);
    memcpy((unsigned char *)to + end, (const unsigned char *)from + end, bytes - end);
}

/* Leave a body that has been left for good, waking whoever waits at it. */
static void abandon(struct body *old)
{
    atomic_store(&old->open, FB_WORD_NONE);
    fb_unlock(&old->lock);
    atomic_fetch_add(&old->changed, 2);
    fb_futex_wake(&old->changed, FB_EVERYBODY);
}

static void put_in_place(struct fly_limiter *l, struct block *fresh)
{
    struct body *old = fb_body_of(l);
    struct block *block = old == &l->near ? NULL : block_of(old);

    if (block && fresh->bytes <= block->bytes) {
        copy_books(&old->books, &fresh->body.books, fresh->bytes);
        atomic_store(&old->open, FB_WORD_NONE);
        fb_leave_changed(l);
        fb_free(fresh);
        return;
    }
    fresh->older = block;
    fb_word_publish(&fresh->body);
    atomic_store_explicit(&l->away, &fresh->body, memory_order_release);
    abandon(old);
}

void fb_blocks_free(struct fly_limiter *l)
{
    struct body *away = atomic_load(&l->away);
    struct block *block = away ? block_of(away) : NULL;

    while (block) {
        struct block *older = block->older;
        fb_free(block);
        block = older;
    }
}

/* A limiter of this process goes on under the new spec. */
static int replace(struct fly_limiter *l, const struct change *c, int64_t now_ns,
                   struct fly_error *err)
{
    struct block *fresh = fb_alloc(sizeof(*fresh) + fb_accountant_bytes(c->spec));

    if (!fresh)
        return fb_ledger_fail(err, ENOMEM, "limiter", "out of memory");
    fresh->bytes = bytes_for(c->spec);
    struct body *old = fb_enter(l);
    assert(old);
    take_over(fresh, c, old, fb_inner(l, now_ns));
    put_in_place(l, fresh);
    return 0;
}

static int change(struct fly_limiter *l, struct change *c, int64_t now_ns, struct fly_error *err)
{
    struct spec s;

    int rc = fb_spec_read(c->text, &s, err);
    if (rc < 0)
        return rc;
    c->spec = &s;
    if (!c->text)
        c->text = "";
    if (fb_is_shared(l))
        return fb_ledger_reconfigure(fb_share_of(l), c, now_ns, err);
    return replace(l, c, now_ns, err);
}

int fly_limiter_reconfigure(struct fly_limiter *l, const char *spec, int64_t now_ns,
                            struct fly_error *err)
{
    struct change c = {.text = spec, .carry = fb_accountant_transfer};

    return change(l, &c, now_ns, err);
}

int fly_limiter_reset(struct fly_limiter *l, const char *spec, int64_t now_ns,
                      struct fly_error *err)
{
    struct change c = {.text = spec, .carry = fb_accountant_begin_anew};

    return change(l, &c, now_ns, err);
}
