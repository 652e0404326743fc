/* SPDX-License-Identifier: MIT */
/* The lock of a ledger: one at a time, sleepers are woken, the dead are robbed. */
#include "ledger_rig.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

#include "ledger/life.h"

enum { THREADS = 4, ROUNDS = 20000 };

struct scene {
    struct robust lock;
    long count; /* changed with the lock only */
    _Atomic int failed;
};

static void *count_up(void *argument)
{
    struct scene *s = argument;
    uint64_t me = fb_life_me();

    for (int i = 0; i < ROUNDS; i++) {
        /* On a busy machine somebody may have to wait for more than a second. */
        while (fb_robust_lock(&s->lock, me) < 0)
            atomic_fetch_add(&s->failed, 1);
        s->count++;
        fb_robust_unlock(&s->lock, me);
    }
    return NULL;
}

static void one_at_a_time(void **state)
{
    struct scene s = {.count = 0};
    pthread_t thread[THREADS];

    (void)state;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, count_up, &s), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(thread[i], NULL), 0);
    assert_int_equal(s.count, THREADS * ROUNDS);
    assert_int_equal(atomic_load(&s.lock.owner), 0);
}

static void *lock_once(void *argument)
{
    struct scene *s = argument;
    uint64_t me = fb_life_me();

    while (fb_robust_lock(&s->lock, me) < 0)
        atomic_fetch_add(&s->failed, 1);
    s->count++;
    fb_robust_unlock(&s->lock, me);
    return NULL;
}

static void who_sleeps_gets_it_after_all(void **state)
{
    struct scene s = {.count = 0};
    uint64_t me = fb_life_me();
    pthread_t thread;

    (void)state;
    assert_int_equal(fb_robust_lock(&s.lock, me), 0);
    assert_int_equal(pthread_create(&thread, NULL, lock_once, &s), 0);
    while (!(atomic_load(&s.lock.owner) & FB_LIFE_SPARE)) /* it is about to sleep */
        ;
    assert_int_equal(s.count, 0);
    fb_robust_unlock(&s.lock, me);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(s.count, 1);
    assert_int_equal(atomic_load(&s.lock.owner), 0);
}

static void the_dead_are_robbed(void **state)
{
    struct scene *s = shared_memory(sizeof(*s));
    pid_t child = fork();

    (void)state;
    if (child == 0)
        _exit(fb_robust_lock(&s->lock, fb_life_me()));
    assert_int_equal(status_of(child), 0);
    assert_true(atomic_load(&s->lock.owner) != 0);
    assert_int_equal(fb_robust_lock(&s->lock, fb_life_me()), 0);
    assert_int_equal(atomic_load(&s->lock.owner), fb_life_me() | FB_LIFE_SPARE);
    fb_robust_unlock(&s->lock, fb_life_me());
    assert_int_equal(munmap(s, sizeof(*s)), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_dead_are_robbed),
        cmocka_unit_test(one_at_a_time),
        cmocka_unit_test(who_sleeps_gets_it_after_all),
    };

    return cmocka_run_group_tests_name("robust", tests, NULL, NULL);
}
