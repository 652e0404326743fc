/* SPDX-License-Identifier: MIT */
/*
 * floor.c - what a decision costs at the very least.
 *
 * One compare-and-swap is the least that threads sharing a number can pay; a token bucket under a
 * mutex is what most programs write first.
 */
#include "bench.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

void bench_floor_cas(struct bench_case *c, int64_t times)
{
    static _Atomic int64_t level;

    (void)c;
    for (int64_t i = 0; i < times; i++) {
        int64_t seen = atomic_load_explicit(&level, memory_order_relaxed);

        while (!atomic_compare_exchange_weak(&level, &seen, seen + 1))
            ;
    }
}

struct mutex_bucket {
    pthread_mutex_t lock;
    double tokens;
    double burst;
    double per_ns;
    int64_t last_ns;
};

static bool mutex_bucket_take(struct mutex_bucket *b, int64_t now_ns)
{
    bool granted = false;

    pthread_mutex_lock(&b->lock);
    b->tokens += (double)(now_ns - b->last_ns) * b->per_ns;
    b->last_ns = now_ns;
    if (b->tokens > b->burst)
        b->tokens = b->burst;
    if (b->tokens >= 1.0) {
        b->tokens -= 1.0;
        granted = true;
    }
    pthread_mutex_unlock(&b->lock);
    return granted;
}

void bench_floor_mutex(struct bench_case *c, int64_t times)
{
    static struct mutex_bucket bucket = {
        .lock = PTHREAD_MUTEX_INITIALIZER, .burst = 1e9, .per_ns = 1.0};

    for (int64_t i = 0; i < times; i++) {
        c->now_ns += c->step_ns;
        if (!mutex_bucket_take(&bucket, c->now_ns))
            abort();
    }
}
