/* SPDX-License-Identifier: MIT */
/*
 * A fork while other threads are in the middle of calls: the child goes on with ledger and shared
 * limiters as a process of its own, and nothing it finds half done stops it.
 */
#include "ledger_rig.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include <flyball/observe.h>
#include <flyball/wait.h>

enum { THREADS = 3, FORKS = 40 };

struct scene {
    struct fly_limiter *l[2]; /* a bucket alone, and more than that */
    _Atomic bool done;
};

static void use(struct fly_limiter *l)
{
    int64_t now_ns = fly_now();
    uint64_t ticket;

    if (fly_limiter_take(l, now_ns, 1, &ticket) <= now_ns)
        report(l, fly_now(), ticket, 200);
}

/* Observed, waiting in a row, and in the books: all that has a lock. */
static void *keep_busy(void *argument)
{
    struct scene *s = argument;
    struct fly_event e[8];
    uint64_t cursor = 0;
    uint64_t missed = 0;
    int64_t at_ns;
    uint64_t ticket;

    while (!atomic_load(&s->done)) {
        for (int i = 0; i < 2; i++) {
            use(s->l[i]);
            (void)fly_limiter_events(s->l[i], &cursor, e, 8, &missed);
        }
        if (fly_wait(s->l[1], 1, fly_now() + S, NULL, &at_ns, &ticket) == 0)
            fly_limiter_cancel(s->l[1], fly_now(), ticket);
    }
    return NULL;
}

/* All that the threads of its parent may have been doing. alarm() ends a child that hangs. */
static int go_on(struct scene *s)
{
    int64_t at_ns;
    uint64_t ticket;

    (void)alarm(120);
    for (int i = 0; i < 2; i++) {
        struct fly_metrics m = {.size = sizeof(m)};
        use(s->l[i]);
        if (fly_limiter_metrics(s->l[i], fly_now(), &m) != -ENOENT)
            return 1; /* what is observed there is its parent's */
        int rc = fly_wait(s->l[i], 1, fly_now() + 60 * S, NULL, &at_ns, &ticket);
        if (rc != 0)
            return 2;
        report(s->l[i], fly_now(), ticket, 200);
    }
    for (int i = 0; i < 2; i++)
        fly_limiter_free(s->l[i]);
    return 0;
}

static void a_fork_in_the_middle(void **state)
{
    struct place place = place_new();
    struct fly_ledger *ledger = ledger_at(place.path);
    struct scene s = {.l = {limiter_of(ledger, "a", "rate=1000000/s burst=1000"),
                            limiter_of(ledger, "b", "rate=100000/s concurrency=500")}};
    pthread_t thread[THREADS];

    (void)state;
    for (int i = 0; i < 2; i++)
        assert_int_equal(fly_limiter_observe(s.l[i], FLY_EVENTS_ALL, 64), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, keep_busy, &s), 0);
    for (int i = 0; i < FORKS; i++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0)
            _exit(go_on(&s));
        assert_int_equal(status_of(child), 0);
    }
    atomic_store(&s.done, true);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(thread[i], NULL), 0);
    /* Nothing of theirs is in flight, once somebody has looked who is gone. */
    for (int i = 0; i < 2; i++) {
        struct fly_usage u = {.size = sizeof(u)};
        (void)fb_slot_sweep(fb_share_of(s.l[i]), fb_inner(s.l[i], fly_now() + S));
        assert_int_equal(fly_limiter_usage(s.l[i], fly_now(), &u), 0);
        assert_int_equal(u.in_flight, 0);
        fly_limiter_free(s.l[i]);
    }
    fly_ledger_close(ledger);
    place_free(&place);
}

/* A limiter without a ledger is copied, budget and all. */
static void a_fork_copies_what_is_not_shared(void **state)
{
    struct fly_limiter *l = limiter("rate=1/1h burst=5", fly_now());

    (void)state;
    assert_int_equal(grants_now(l, 2), 2);
    pid_t child = fork();
    if (child == 0)
        _exit(grants_now(l, 9));
    assert_int_equal(status_of(child), 3);
    assert_int_equal(grants_now(l, 9), 3);
    fly_limiter_free(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fork_in_the_middle),
        cmocka_unit_test(a_fork_copies_what_is_not_shared),
    };

    return cmocka_run_group_tests_name("fork", tests, NULL, NULL);
}
