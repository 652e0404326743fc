/* SPDX-License-Identifier: MIT */
/* lock.c - the contended side of the lock: sleep on the futex until it is free. */
#include "ledger/lock.h"

#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/instant.h"

#define SPINS 100 /* a decision takes less time than going to sleep */

static void futex(_Atomic uint32_t *word, int operation, uint32_t value,
                  const struct timespec *timeout)
{
    (void)syscall(SYS_futex, word, operation, value, timeout, NULL, 0);
}

void fb_futex_wait(_Atomic uint32_t *word, uint32_t value, int64_t span_ns)
{
    struct timespec t = {.tv_sec = span_ns / FB_NS_PER_S, .tv_nsec = span_ns % FB_NS_PER_S};

    if (span_ns > 0)
        futex(word, FUTEX_WAIT, value, &t);
}

void fb_futex_wake(_Atomic uint32_t *word, int count)
{
    futex(word, FUTEX_WAKE, (uint32_t)count, NULL);
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
        futex(&l->state, FUTEX_WAIT_PRIVATE, LOCK_CONTENDED, NULL);
}

void fb_lock_wake(struct lock *l)
{
    futex(&l->state, FUTEX_WAKE_PRIVATE, 1, NULL);
}
