/* SPDX-License-Identifier: MIT */
/* lock.c - the contended side of the lock: sleep on the futex until it is free. */
#include "ledger/lock.h"

#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SPINS 100 /* a decision takes less time than going to sleep */

static long futex(_Atomic uint32_t *word, int operation, uint32_t value)
{
    return syscall(SYS_futex, word, operation, value, NULL, NULL, 0);
}

void fb_futex_wake_all(_Atomic uint32_t *word)
{
    (void)futex(word, FUTEX_WAKE, INT32_MAX);
}

void fb_lock_wait(struct lock *l)
{
    for (int i = 0; i < SPINS; i++) {
        uint32_t expected = LOCK_FREE;
        if (atomic_load_explicit(&l->state, memory_order_relaxed) == LOCK_FREE &&
            atomic_compare_exchange_weak_explicit(&l->state, &expected, LOCK_HELD,
                                                  memory_order_acquire, memory_order_relaxed))
            return;
    }
    /* Whoever sleeps takes the lock as contended: it cannot know whether others sleep too. */
    while (atomic_exchange_explicit(&l->state, LOCK_CONTENDED, memory_order_acquire) != LOCK_FREE)
        (void)futex(&l->state, FUTEX_WAIT_PRIVATE, LOCK_CONTENDED);
}

void fb_lock_wake(struct lock *l)
{
    (void)futex(&l->state, FUTEX_WAKE_PRIVATE, 1);
}
