/* SPDX-License-Identifier: MIT */
/*
 * What others do at the worst instant, made to happen: functions that are called in between are
 * this test's, and do what another thread or process could have done.
 */
#include "faults.h"
#include "ledger_rig.h"

#include <stdatomic.h>

#include "ledger/clock.h"
#include "ledger/life.h"
#include "ledger/watch.h"

/* ---- in between ---- */

static void (*in_between)(void); /* once, at the next call of `where` */
static const char *where;

static void interfere(const char *call)
{
    void (*now)(void) = in_between;

    if (!now || strcmp(call, where) != 0)
        return;
    in_between = NULL;
    now();
}

void __real_fb_futex_wait(_Atomic uint32_t *word, uint32_t value, int64_t span_ns);
bool __real_fb_life_is_over(uint64_t who);
int64_t __real_fly_now(void);

void __wrap_fb_futex_wait(_Atomic uint32_t *word, uint32_t value, int64_t span_ns);
bool __wrap_fb_life_is_over(uint64_t who);
int64_t __wrap_fb_clock_boot_ns(void);
int64_t __wrap_fly_now(void);

static int waits; /* how often somebody was about to sleep */

void __wrap_fb_futex_wait(_Atomic uint32_t *word, uint32_t value, int64_t span_ns)
{
    waits++;
    interfere("wait");
    __real_fb_futex_wait(word, value, span_ns);
}

bool __wrap_fb_life_is_over(uint64_t who)
{
    bool over = __real_fb_life_is_over(who);

    interfere("life");
    return over;
}

/* For whoever waits for a lock time stands still: a busy machine must not make it give up. */
int64_t __wrap_fb_clock_boot_ns(void)
{
    interfere("clock");
    return S;
}

int64_t __wrap_fly_now(void)
{
    interfere("now");
    return __real_fly_now();
}

/* ---- the lock ---- */

static struct robust lock;

/* No process has this number and began at that time. */
static uint64_t dead(uint64_t start)
{
    return start << (FB_LIFE_PID_BITS + 1) | (uint64_t)getpid();
}

static void set_free(void)
{
    atomic_store(&lock.owner, 0);
}

static void change_hands(void)
{
    atomic_store(&lock.owner, dead(2) | FB_LIFE_SPARE);
}

static void locks_after(uint64_t owner, const char *call, void (*then)(void))
{
    atomic_store(&lock.owner, owner);
    where = call;
    in_between = then;
    waits = 0;
    assert_int_equal(fb_robust_lock(&lock, fb_life_me()), 0);
    assert_null(in_between);
    assert_int_equal(atomic_load(&lock.owner) & ~FB_LIFE_SPARE, fb_life_me());
    fb_robust_unlock(&lock, fb_life_me());
    assert_int_equal(atomic_load(&lock.owner), 0);
}

static void a_lock_whose_owner_changes(void **state)
{
    (void)state;
    /* Free when it was about to be slept on: nobody sleeps. */
    locks_after(dead(1), "clock", set_free);
    assert_int_equal(waits, 0);
    locks_after(dead(1), "wait", set_free);
    /* Another owner after a sleep is given its time; both are dead here. */
    locks_after(dead(1), "wait", change_hands);
    assert_at_least(waits, 2);
    /* Somebody else has robbed the dead: it is not robbed twice. */
    locks_after(dead(1), "life", change_hands);
    assert_at_least(waits, 2);
    locks_after(dead(1), "life", set_free);
    locks_after(dead(1) | FB_LIFE_SPARE, "wait", set_free);
}

/* ---- waiting ---- */

static struct fly_stop *stop;

static void stop_now(void)
{
    fly_stop_now(stop);
}

/* Stopped between looking and joining the row. */
static void a_stop_that_just_comes(void **state)
{
    struct fly_limiter *l = limiter("rate=1/1h burst=1", fly_now());
    int64_t at_ns = 0;
    uint64_t ticket = 0;

    (void)state;
    stop = fly_stop_new();
    assert_non_null(stop);
    assert_int_equal(grants_now(l, 1), 1);
    where = "now";
    in_between = stop_now;
    assert_int_equal(fly_wait(l, 1, FLY_NEVER, stop, &at_ns, &ticket), -ECANCELED);
    fly_stop_free(stop);
    fly_limiter_free(l);
}

static struct fly_limiter *waited_for;

static void allow_less(void)
{
    int64_t now_ns = __real_fly_now();

    assert_int_equal(fly_limiter_reconfigure(waited_for, "window=2/1h margin=0%", now_ns, NULL), 0);
}

/* What was waited for cannot be had any more under the new limits. */
static void limits_that_shrink_while_one_waits(void **state)
{
    int64_t at_ns = 0;
    uint64_t ticket = 0;

    (void)state;
    waited_for = limiter("window=4/1h margin=0%", fly_now());
    assert_int_equal(grants_now(waited_for, 2), 2);
    where = "wait";
    in_between = allow_less;
    assert_int_equal(fly_wait(waited_for, 3, FLY_NEVER, NULL, &at_ns, &ticket), -E2BIG);
    assert_null(in_between);
    fly_limiter_free(waited_for);
}

/* A sleep of no time is none. */
static void no_time_is_no_sleep(void **state)
{
    _Atomic uint32_t word = 7;

    (void)state;
    fb_futex_wait(&word, 7, 0);
    fb_futex_wait(&word, 7, -5);
}

/* ---- observers ---- */

/* They may be gone when a decision is told. */
static void nobody_is_there_to_be_told(void **state)
{
    struct fly_limiter *l = limiter("rate=1/s", 0);
    struct fly_outcome o = outcome(1, 200, 0);

    (void)state;
    fb_watch_granted(l, 0, 1);
    fb_watch_limited(l, 0, 1, 1, "bucket");
    fb_watch_reported(l, 0, &o, 1.0, 2.0);
    fly_limiter_free(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lock_whose_owner_changes),
        cmocka_unit_test(a_stop_that_just_comes),
        cmocka_unit_test(limits_that_shrink_while_one_waits),
        cmocka_unit_test(no_time_is_no_sleep),
        cmocka_unit_test(nobody_is_there_to_be_told),
    };

    return cmocka_run_group_tests_name("ledger, races", tests, NULL, NULL);
}
