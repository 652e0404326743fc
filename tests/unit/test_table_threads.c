/* SPDX-License-Identifier: MIT */
/* Threads on the keys of one table, with sweeps between: no key gets more than its share. */
#include "unit.h"

#include <pthread.h>
#include <stdatomic.h>

#include "core/rng.h"

enum { THREADS = 4, KEYS = 40, ROUNDS = 20000 };

struct shared {
    struct fly_table *t;
    struct fly_id id[KEYS];
    _Atomic int64_t now_ns;
    _Atomic int64_t granted[KEYS];
};

struct worker {
    struct shared *s;
    struct rng rng;
};

static void one_round(struct worker *w)
{
    struct shared *s = w->s;
    size_t key = fb_rng_next(&w->rng) % KEYS;
    int64_t now_ns = atomic_fetch_add(&s->now_ns, 20000);
    struct fly_outcome o = outcome(0, 200, now_ns);

    if (fly_table_take(s->t, &s->id[key], now_ns, 1, &o.ticket) > now_ns)
        return;
    uint64_t chance = fb_rng_next(&w->rng) % 16;
    if (chance == 0) {
        fly_table_cancel(s->t, &s->id[key], now_ns, o.ticket);
        return;
    }
    atomic_fetch_add(&s->granted[key], 1);
    if (chance == 1) {
        o.status = 429;
        o.retry_after_ns = MS;
    }
    fly_table_report(s->t, &s->id[key], now_ns, &o);
}

static void *work(void *argument)
{
    struct worker *w = argument;
    struct fly_table_usage u = {.size = sizeof(u)};

    for (int i = 0; i < ROUNDS; i++) {
        one_round(w);
        if (i % 512 == 0) {
            (void)fly_table_sweep(w->s->t, atomic_load(&w->s->now_ns));
            (void)fly_table_usage(w->s->t, &u);
        }
    }
    return NULL;
}

static void no_key_gets_more_than_its_share(void **state)
{
    struct shared s = {.t = fly_table_new("rate=500/s burst=5", 0, NULL, NULL)};
    struct worker w[THREADS];
    pthread_t thread[THREADS];
    uint64_t seed = seed_of_run();

    (void)state;
    for (int i = 0; i < KEYS; i++) {
        char name[32];
        struct fly_key key = {name, "core", ""};
        (void)snprintf(name, sizeof(name), "host-%d", i);
        fly_table_id(s.t, &key, &s.id[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        w[i] = (struct worker){&s, {seed + (uint64_t)i}};
        assert_int_equal(pthread_create(&thread[i], NULL, work, &w[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(thread[i], NULL), 0);

    int64_t allowed = 5 + atomic_load(&s.now_ns) / (2 * MS);
    for (int i = 0; i < KEYS; i++) {
        assert_at_most(atomic_load(&s.granted[i]), allowed);
        assert_at_least(atomic_load(&s.granted[i]), 10);
    }
    fly_table_free(s.t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_key_gets_more_than_its_share),
    };

    return cmocka_run_group_tests_name("table threads", tests, NULL, NULL);
}
