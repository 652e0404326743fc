/* SPDX-License-Identifier: MIT */
/*
 * robust.c - the contended side: spin, sleep, look whether the owner lives, give up.
 *
 * The futex is the half of the word with the owner's number and the bit of the sleepers. Sleeps
 * are short, because a wake-up is lost with an owner that dies between unlocking and waking.
 */
#include "ledger/robust.h"

#include <errno.h>

#include "core/instant.h"
#include "ledger/clock.h"
#include "ledger/life.h"
#include "ledger/lock.h"

#define SPINS        200
#define SLEEP_MIN_NS (FB_NS_PER_MS / 4)
#define SLEEP_MAX_NS (2 * FB_NS_PER_MS)
#define GIVE_UP_NS   FB_NS_PER_S

static int replace(struct robust *r, uint64_t seen, uint64_t next)
{
    return atomic_compare_exchange_strong_explicit(&r->owner, &seen, next, memory_order_acquire,
                                                   memory_order_relaxed);
}

static int spin(struct robust *r, uint64_t me)
{
    for (int i = 0; i < SPINS; i++) {
        if (atomic_load_explicit(&r->owner, memory_order_relaxed) == 0 && replace(r, 0, me))
            return 0;
        fb_pause();
    }
    return -EBUSY;
}

static _Atomic uint32_t *futex_of(struct robust *r)
{
    return (_Atomic uint32_t *)&r->owner + (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

/* Sleep until the word is not `seen` any more, and say so in it first. */
static void sleep_on(struct robust *r, uint64_t seen, int64_t span_ns)
{
    if (!(seen & FB_LIFE_SPARE) && !replace(r, seen, seen | FB_LIFE_SPARE))
        return;
    fb_futex_wait(futex_of(r), (uint32_t)(seen | FB_LIFE_SPARE), span_ns);
}

static int is_dead(uint64_t owner, uint64_t me)
{
    uint64_t who = owner & ~FB_LIFE_SPARE;

    return who != me && fb_life_is_over(who);
}

int fb_robust_wait(struct robust *r, uint64_t me)
{
    /* Whoever has slept takes the lock as contended: it cannot know whether others sleep too. */
    uint64_t contended = me | FB_LIFE_SPARE;
    int64_t span_ns = SLEEP_MIN_NS;

    if (spin(r, me) == 0)
        return 0;
    int64_t until_ns = fb_clock_boot_ns() + GIVE_UP_NS;
    do {
        uint64_t seen = atomic_load_explicit(&r->owner, memory_order_relaxed);
        if (seen != 0)
            sleep_on(r, seen, span_ns);
        uint64_t now = atomic_load_explicit(&r->owner, memory_order_relaxed);
        if (now == 0 && replace(r, 0, contended))
            return 0;
        /* The same owner as before, for a whole sleep: does it live? */
        if (now != 0 && ((now ^ seen) & ~FB_LIFE_SPARE) == 0 && is_dead(now, me) &&
            replace(r, now, contended))
            return 0;
        span_ns = fb_min64(2 * span_ns, SLEEP_MAX_NS);
    } while (fb_clock_boot_ns() < until_ns);
    return -EBUSY;
}

void fb_robust_wake(struct robust *r)
{
    fb_futex_wake(futex_of(r), 1);
}
