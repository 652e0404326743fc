/* SPDX-License-Identifier: MIT */
/*
 * lock.h - a mutex in four bytes: one compare-and-swap to lock, one exchange to unlock.
 *
 * It is held for a decision, never while anybody sleeps. Waiters sleep in the kernel.
 */
#ifndef FLYBALL_LEDGER_LOCK_H
#define FLYBALL_LEDGER_LOCK_H

#include <stdatomic.h>
#include <stdint.h>

enum { LOCK_FREE, LOCK_HELD, LOCK_CONTENDED, LOCK_ELSEWHERE /* this one is not used */ };

struct lock {
    _Atomic uint32_t state; /* zero is a free lock */
};

void fb_lock_wait(struct lock *l);
void fb_lock_wake(struct lock *l);

/* Sleep while the word is `value`, for at most so long; it may lie in shared memory. */
void fb_futex_wait(_Atomic uint32_t *word, uint32_t value, int64_t span_ns);

/* Wake so many, in any process, who sleep on the word. */
void fb_futex_wake(_Atomic uint32_t *word, int count);

#define FB_EVERYBODY INT32_MAX

/* Tell the processor that this is a loop that waits for another one. */
static inline void fb_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

static inline void fb_lock(struct lock *l)
{
    uint32_t expected = LOCK_FREE;

    if (!atomic_compare_exchange_strong_explicit(&l->state, &expected, LOCK_HELD,
                                                 memory_order_acquire, memory_order_relaxed))
        fb_lock_wait(l);
}

static inline void fb_unlock(struct lock *l)
{
    if (atomic_exchange_explicit(&l->state, LOCK_FREE, memory_order_release) == LOCK_CONTENDED)
        fb_lock_wake(l);
}

#endif
