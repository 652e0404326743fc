/* SPDX-License-Identifier: MIT */
/*
 * robust.h - a lock in shared memory whose owner may die at any instruction.
 *
 * The word names the owner (life.h). Whoever waits for long looks whether the owner lives, and
 * takes the lock over from a dead one. A live owner that does not go on (it was stopped) cannot be
 * robbed without harm, so waiting for it ends after a second.
 *
 * Any bytes are a lock: a word that names no living process is free to be taken over.
 */
#ifndef FLYBALL_LEDGER_ROBUST_H
#define FLYBALL_LEDGER_ROBUST_H

#include <stdatomic.h>
#include <stdint.h>

struct robust {
    _Atomic uint64_t owner; /* 0: free; FB_LIFE_SPARE is set while somebody may sleep */
};

int fb_robust_wait(struct robust *r, uint64_t me);
void fb_robust_wake(struct robust *r);

/* 0, or -EBUSY after a second. Whoever had it may have died with its work half done. */
static inline int fb_robust_lock(struct robust *r, uint64_t me)
{
    uint64_t expected = 0;

    if (atomic_compare_exchange_strong_explicit(&r->owner, &expected, me, memory_order_acquire,
                                                memory_order_relaxed))
        return 0;
    return fb_robust_wait(r, me);
}

static inline void fb_robust_unlock(struct robust *r, uint64_t me)
{
    if (atomic_exchange_explicit(&r->owner, 0, memory_order_release) != me)
        fb_robust_wake(r);
}

#endif
