/* SPDX-License-Identifier: MIT */
/*
 * Many threads on one limiter and one clock: no limit is passed, no permit is lost or doubled.
 * Meant for the thread sanitizer too.
 */
#include "unit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "core/rng.h"

enum { THREADS = 8, ROUNDS = 15000, OUT_MAX = 16 };

struct shared {
    struct fly_limiter *l;
    _Atomic int64_t now_ns;
    int64_t step_ns; /* that a round moves the clock on by, at most */
    _Atomic int64_t in_flight;
    int64_t in_flight_max;
    _Atomic int64_t in_flight_seen;
    bool cancels; /* give grants back, else report them */
    bool costs;   /* of 1 to 3, else 1 */
};

struct worker {
    struct shared *s;
    struct rng rng;
    uint64_t out[OUT_MAX];
    int out_count;
    int64_t granted; /* permits that were not given back */
    int64_t hints;
    bool broken;
};

static void end_one(struct worker *w, uint32_t cost)
{
    struct shared *s = w->s;
    uint64_t ticket = w->out[--w->out_count];

    atomic_fetch_sub(&s->in_flight, 1);
    if (s->cancels && fb_rng_next(&w->rng) % 2) {
        fly_limiter_cancel(s->l, atomic_load(&s->now_ns), ticket);
        w->granted -= cost;
    } else {
        report(s->l, atomic_load(&s->now_ns), ticket, 200);
    }
    /* A second end changes nothing. */
    if (fb_rng_next(&w->rng) % 4 == 0)
        fly_limiter_cancel(s->l, atomic_load(&s->now_ns), ticket);
}

static void try_one(struct worker *w, uint32_t cost)
{
    struct shared *s = w->s;
    uint64_t ticket = 0;
    int64_t now_ns = atomic_load(&s->now_ns);
    int64_t at_ns = fly_limiter_take(s->l, now_ns, cost, &ticket);

    w->broken |= (at_ns <= now_ns) != (ticket != 0);
    if (at_ns > now_ns) {
        w->hints++;
        return;
    }
    /* Counted after the grant and before its end: never more than is really out. */
    int64_t out = atomic_fetch_add(&s->in_flight, 1) + 1;
    int64_t seen = atomic_load(&s->in_flight_seen);
    while (out > seen && !atomic_compare_exchange_weak(&s->in_flight_seen, &seen, out))
        ;
    w->granted += cost;
    w->out[w->out_count++] = ticket;
}

static void *work(void *argument)
{
    struct worker *w = argument;
    struct shared *s = w->s;
    uint32_t cost = s->costs ? 1 + (uint32_t)(fb_rng_next(&w->rng) % 3) : 1;

    for (int i = 0; i < ROUNDS; i++) {
        atomic_fetch_add(&s->now_ns, (int64_t)(fb_rng_next(&w->rng) % (uint64_t)s->step_ns));
        if (w->out_count < OUT_MAX)
            try_one(w, cost);
        if (w->out_count == OUT_MAX || (w->out_count > 0 && fb_rng_next(&w->rng) % 2))
            end_one(w, cost);
        if (i % 1024 == 0) {
            struct fly_why why = {.size = sizeof(why)};
            (void)fly_limiter_why(s->l, atomic_load(&s->now_ns), 1, &why);
            (void)fly_limiter_rate(s->l);
        }
    }
    while (w->out_count > 0)
        end_one(w, cost);
    return NULL;
}

/* Returns what all threads were granted, less what they gave back. */
static int64_t run(struct shared *s, uint64_t seed)
{
    struct worker w[THREADS];
    pthread_t threads[THREADS];
    int64_t granted = 0;

    for (int i = 0; i < THREADS; i++) {
        w[i] = (struct worker){.s = s, .rng = {seed + (uint64_t)i}};
        assert_int_equal(pthread_create(&threads[i], NULL, work, &w[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_false(w[i].broken);
        granted += w[i].granted;
    }
    assert_int_equal(atomic_load(&s->in_flight), 0);
    if (s->in_flight_max > 0)
        assert_at_most(atomic_load(&s->in_flight_seen), s->in_flight_max);
    return granted;
}

static void a_bucket_is_neither_passed_nor_wasted(void **state)
{
    struct shared s = {.l = limiter("rate=1000000/s burst=100", 0), .step_ns = 600};
    int64_t granted = run(&s, seed_of_run());
    int64_t allowed = 100 + atomic_load(&s.now_ns) / 1000;

    (void)state;
    assert_at_most(granted, allowed);
    /* The threads ask more often than the rate allows: nearly all of it is used. */
    assert_at_least(granted, allowed / 2);
    fly_limiter_free(s.l);
}

/* A rate whose clock is shifted again and again while the threads run. */
static void a_bucket_of_fine_ticks(void **state)
{
    struct shared s = {.l = limiter("rate=999999937/s burst=1000", 0), .step_ns = 2000000};
    int64_t granted = run(&s, seed_of_run());
    int64_t elapsed_ns = atomic_load(&s.now_ns);

    (void)state;
    assert_at_most(granted, 1000 + elapsed_ns);
    assert_at_least(granted, THREADS * ROUNDS / 2);
    fly_limiter_free(s.l);
}

static void a_bucket_with_cancels(void **state)
{
    struct shared s = {.l = limiter("rate=100000/s burst=50", 0), .step_ns = 600, .cancels = true};
    int64_t granted = run(&s, seed_of_run());

    (void)state;
    assert_at_most(granted, 50 + atomic_load(&s.now_ns) / 10000);
    assert_at_least(granted, atomic_load(&s.now_ns) / 20000);
    fly_limiter_free(s.l);
}

static void a_bucket_with_costs_and_cancels(void **state)
{
    struct shared s = {
        .l = limiter("rate=100000/s burst=50", 0), .step_ns = 600, .cancels = true, .costs = true};
    int64_t granted = run(&s, seed_of_run());

    (void)state;
    assert_at_most(granted, 50 + atomic_load(&s.now_ns) / 10000);
    fly_limiter_free(s.l);
}

static void a_compound_limiter(void **state)
{
    struct shared s = {.l = limiter("rate=100000/s burst=50 concurrency=7 window=50000/1s", 0),
                       .step_ns = 600,
                       .in_flight_max = 7,
                       .cancels = true};
    int64_t granted = run(&s, seed_of_run());

    (void)state;
    assert_at_most(granted, 50 + atomic_load(&s.now_ns) / 10000);
    fly_limiter_free(s.l);
}

static void each_learning_limiter(void **state)
{
    static const char *const specs[] = {"", "adapt=aimd rate=1000/s ceiling=2000/s",
                                        "adapt=step rate=1000/s", "pacing=even"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(specs); i++) {
        struct shared s = {.l = limiter(specs[i], 0), .step_ns = MS, .cancels = true};
        assert_true(run(&s, seed_of_run()) > 0);
        fly_limiter_free(s.l);
    }
}

/* Refusals close the fast path under the feet of those who use it. */
static void *refuse_now_and_then(void *argument)
{
    struct shared *s = argument;

    for (int i = 0; i < 50; i++) {
        uint64_t ticket = 0;
        int64_t now_ns = atomic_fetch_add(&s->now_ns, 10 * MS);
        if (fly_limiter_take(s->l, now_ns, 1, &ticket) > now_ns)
            continue;
        struct fly_outcome o = outcome(ticket, 429, now_ns);
        o.retry_after_ns = 5 * MS;
        fly_limiter_report(s->l, now_ns, &o);
    }
    return NULL;
}

static void a_bucket_that_is_refused_now_and_then(void **state)
{
    struct shared s = {.l = limiter("rate=100000/s burst=50", 0), .step_ns = 2000};
    pthread_t refuser;

    (void)state;
    assert_int_equal(pthread_create(&refuser, NULL, refuse_now_and_then, &s), 0);
    int64_t granted = run(&s, seed_of_run());
    assert_int_equal(pthread_join(refuser, NULL), 0);
    assert_true(granted > 0);
    assert_at_most(granted, 50 + atomic_load(&s.now_ns) / 10000);
    fly_limiter_free(s.l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bucket_is_neither_passed_nor_wasted),
        cmocka_unit_test(a_bucket_of_fine_ticks),
        cmocka_unit_test(a_bucket_with_cancels),
        cmocka_unit_test(a_bucket_with_costs_and_cancels),
        cmocka_unit_test(a_compound_limiter),
        cmocka_unit_test(each_learning_limiter),
        cmocka_unit_test(a_bucket_that_is_refused_now_and_then),
    };

    return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
