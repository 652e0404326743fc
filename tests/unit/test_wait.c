/* SPDX-License-Identifier: MIT */
/*
 * Blocking waits: order, deadlines, stopping, and refusals that reach those who wait already.
 * Meant for the thread sanitizer too. Nothing here depends on how fast the machine is.
 */
#include "ledger_rig.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "ledger/row.h"

enum { MANY = 100 };

struct scene {
    struct fly_limiter *l;
    struct fly_stop *stop;
    _Atomic int order; /* of those that were granted */
    bool reports;      /* each grant at once */
};

struct sleeper {
    struct scene *scene;
    pthread_t thread;
    int64_t deadline_ns;
    int64_t at_ns;
    int order;
    int rc;
};

static void *sleep_there(void *argument)
{
    struct sleeper *s = argument;
    uint64_t ticket = 0;

    s->rc = fly_wait(s->scene->l, 1, s->deadline_ns, s->scene->stop, &s->at_ns, &ticket);
    if (s->rc == 0) {
        s->order = atomic_fetch_add(&s->scene->order, 1);
        if (s->scene->reports)
            report(s->scene->l, fly_now(), ticket, 200);
    }
    return NULL;
}

/* Start them one after the other, each when the one before stands in the row. */
static void line_up(struct scene *scene, struct sleeper *s, size_t count, int64_t deadline_ns)
{
    for (size_t i = 0; i < count; i++) {
        s[i] = (struct sleeper){.scene = scene, .deadline_ns = deadline_ns, .order = -1};
        assert_int_equal(pthread_create(&s[i].thread, NULL, sleep_there, &s[i]), 0);
        while (fb_row_count(scene->l) <= i)
            ;
    }
}

static void join_all(struct sleeper *s, size_t count)
{
    for (size_t i = 0; i < count; i++)
        assert_int_equal(pthread_join(s[i].thread, NULL), 0);
}

static uint64_t take_now(struct fly_limiter *l)
{
    uint64_t ticket = 0;
    int64_t now_ns = fly_now();

    assert_at_most(fly_limiter_take(l, now_ns, 1, &ticket), now_ns);
    return ticket;
}

static void refuse_for(struct fly_limiter *l, uint64_t ticket, int64_t wait_ns)
{
    int64_t now_ns = fly_now();
    struct fly_outcome o = outcome(ticket, 429, now_ns);

    o.retry_after_ns = wait_ns;
    fly_limiter_report(l, now_ns, &o);
}

static int64_t until_of(struct fly_limiter *l)
{
    struct fly_why why = {.size = sizeof(why)};

    assert_int_equal(fly_limiter_why(l, fly_now(), 1, &why), 0);
    return why.until_ns;
}

/* ---- alone ---- */

static void what_may_start_starts(void **state)
{
    struct fly_limiter *l = limiter("rate=1/s burst=2", fly_now());
    int64_t before_ns = fly_now();
    int64_t at_ns = 0;
    uint64_t ticket = 0;

    (void)state;
    assert_int_equal(fly_wait(l, 1, before_ns + S, NULL, &at_ns, &ticket), 0);
    assert_at_least(at_ns, before_ns);
    assert_at_most(at_ns, fly_now());
    assert_true(ticket != 0);
    /* No deadline is too near for what need not wait. */
    assert_int_equal(fly_wait(l, 0, 0, NULL, &at_ns, &ticket), 0);
    fly_limiter_free(l);
}

static void a_deadline_that_cannot_be_kept_is_refused_at_once(void **state)
{
    struct fly_limiter *l = limiter("rate=1/1h burst=1", fly_now());
    int64_t at_ns = 0;
    uint64_t ticket = 0;

    (void)state;
    (void)take_now(l);
    assert_int_equal(fly_wait(l, 1, fly_now() + 60 * S, NULL, &at_ns, &ticket), -ETIMEDOUT);
    assert_int_equal(at_ns, until_of(l));
    assert_int_equal(ticket, 0);
    fly_limiter_free(l);
}

static void a_deadline_passes(void **state)
{
    struct fly_limiter *l = limiter("concurrency=1 adapt=off", fly_now());
    int64_t at_ns = 0;
    uint64_t ticket = 0;

    (void)state;
    (void)take_now(l);
    int64_t deadline_ns = fly_now() + 20 * MS;
    assert_int_equal(fly_wait(l, 1, deadline_ns, NULL, &at_ns, &ticket), -ETIMEDOUT);
    assert_at_least(fly_now(), deadline_ns);
    assert_true(at_ns == FLY_NEVER);
    fly_limiter_free(l);
}

/* Nobody says when the one before will be through, and then it is too late. */
static void a_deadline_passes_in_the_row(void **state)
{
    struct scene scene = {.l = limiter("concurrency=1 adapt=off", fly_now())};
    struct sleeper first;
    int64_t at_ns = 0;
    uint64_t ticket = 0;

    (void)state;
    scene.reports = true;
    uint64_t out = take_now(scene.l);
    line_up(&scene, &first, 1, FLY_NEVER);
    int64_t deadline_ns = fly_now() + 20 * MS;
    assert_int_equal(fly_wait(scene.l, 1, deadline_ns, NULL, &at_ns, &ticket), -ETIMEDOUT);
    assert_at_least(fly_now(), deadline_ns);
    report(scene.l, fly_now(), out, 200);
    join_all(&first, 1);
    assert_int_equal(first.rc, 0);
    fly_limiter_free(scene.l);
}

static void *want_five(void *argument)
{
    struct sleeper *s = argument;
    uint64_t ticket = 0;

    s->rc = fly_wait(s->scene->l, 5, FLY_NEVER, s->scene->stop, &s->at_ns, &ticket);
    return NULL;
}

/* There is enough for one, but somebody who needs more came before. */
static void nobody_overtakes(void **state)
{
    struct scene scene = {.l = limiter("rate=1/1h burst=5", fly_now()), .stop = fly_stop_new()};
    struct sleeper first = {.scene = &scene};
    int64_t at_ns = 0;
    uint64_t ticket = 0;

    (void)state;
    (void)take_now(scene.l);
    assert_int_equal(pthread_create(&first.thread, NULL, want_five, &first), 0);
    while (fb_row_count(scene.l) == 0)
        ;
    assert_int_equal(fly_wait(scene.l, 1, fly_now() + 60 * S, NULL, &at_ns, &ticket), -ETIMEDOUT);
    assert_at_least(at_ns, fly_now() + 4 * 3600 * S);
    (void)take_now(scene.l); /* it was there */
    fly_stop_now(scene.stop);
    join_all(&first, 1);
    assert_int_equal(first.rc, -ECANCELED);
    fly_stop_free(scene.stop);
    fly_limiter_free(scene.l);
}

/* Behind others under a window alone there is no pace to reckon with. */
static void a_row_without_a_pace(void **state)
{
    struct scene scene = {.l = limiter("window=1/1h margin=0%", fly_now()), .stop = fly_stop_new()};
    struct sleeper first;
    int64_t at_ns = 0;
    uint64_t ticket = 0;

    (void)state;
    (void)take_now(scene.l);
    line_up(&scene, &first, 1, FLY_NEVER);
    assert_int_equal(fly_wait(scene.l, 1, fly_now() + 60 * S, NULL, &at_ns, &ticket), -ETIMEDOUT);
    assert_int_equal(at_ns, until_of(scene.l));
    fly_stop_now(scene.stop);
    join_all(&first, 1);
    fly_stop_free(scene.stop);
    fly_limiter_free(scene.l);
}

enum { LIMITERS = 65 }; /* more than there are lists */

static unsigned list_of(const struct fly_limiter *l)
{
    return (unsigned)((uintptr_t)l / 64 % 64);
}

/* Rows of two limiters may be kept in one list. */
static void rows_are_kept_apart(void **state)
{
    struct fly_limiter *l[LIMITERS];
    struct fly_limiter *twin = NULL;
    struct scene scene = {.stop = fly_stop_new()};
    struct sleeper first;
    int64_t at_ns = 0;
    uint64_t ticket = 0;

    (void)state;
    for (int i = 0; i < LIMITERS; i++) {
        l[i] = limiter("rate=1/1h burst=1", fly_now());
        for (int k = 0; k < i && !twin; k++)
            if (list_of(l[k]) == list_of(l[i])) {
                scene.l = l[k];
                twin = l[i];
            }
    }
    assert_non_null(twin);
    (void)take_now(scene.l);
    line_up(&scene, &first, 1, FLY_NEVER);
    assert_int_equal(fb_row_count(twin), 0);
    assert_int_equal(fly_wait(twin, 1, FLY_NEVER, scene.stop, &at_ns, &ticket), 0);
    fly_stop_now(scene.stop);
    join_all(&first, 1);
    fly_stop_free(scene.stop);
    for (int i = 0; i < LIMITERS; i++)
        fly_limiter_free(l[i]);
}

static void what_can_never_start_is_said_to_be_too_large(void **state)
{
    struct fly_limiter *l = limiter("window=10/1s", fly_now());
    int64_t at_ns = 0;
    uint64_t ticket = 0;

    (void)state;
    assert_int_equal(fly_wait(l, 100, FLY_NEVER, NULL, &at_ns, &ticket), -E2BIG);
    assert_int_equal(ticket, 0);
    fly_limiter_free(l);
}

static void it_waits_for_its_time(void **state)
{
    struct fly_limiter *l = limiter("rate=100/s burst=1", fly_now());
    int64_t at_ns = 0;
    int64_t last_ns = 0;
    uint64_t ticket = 0;

    (void)state;
    for (int i = 0; i < 5; i++) {
        assert_int_equal(fly_wait(l, 1, FLY_NEVER, NULL, &at_ns, &ticket), 0);
        if (i > 0)
            assert_at_least(at_ns - last_ns, 10 * MS);
        last_ns = at_ns;
    }
    fly_limiter_free(l);
}

/* ---- many ---- */

static void order_is_kept(void **state)
{
    struct scene scene = {.l = limiter("concurrency=1 adapt=off", fly_now()), .reports = true};
    struct sleeper s[MANY];

    (void)state;
    uint64_t ticket = take_now(scene.l);
    line_up(&scene, s, MANY, FLY_NEVER);
    report(scene.l, fly_now(), ticket, 200);
    join_all(s, MANY);
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(s[i].rc, 0);
        assert_int_equal(s[i].order, i);
    }
    assert_int_equal(fb_row_count(scene.l), 0);
    fly_limiter_free(scene.l);
}

static void a_refusal_holds_those_who_wait(void **state)
{
    struct scene scene = {.l = limiter("concurrency=1 adapt=off", fly_now()), .reports = true};
    struct sleeper s[MANY];

    (void)state;
    uint64_t ticket = take_now(scene.l);
    line_up(&scene, s, MANY, FLY_NEVER);
    refuse_for(scene.l, ticket, 300 * MS);
    int64_t until_ns = until_of(scene.l);
    join_all(s, MANY);
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(s[i].rc, 0);
        assert_at_least(s[i].at_ns, until_ns);
        assert_int_equal(s[i].order, i);
    }
    fly_limiter_free(scene.l);
}

static void all_stop_at_once(void **state)
{
    struct scene scene = {.l = limiter("concurrency=1 adapt=off", fly_now()),
                          .stop = fly_stop_new()};
    struct sleeper s[MANY];
    int64_t at_ns = 0;
    uint64_t ticket = 0;

    (void)state;
    (void)take_now(scene.l);
    line_up(&scene, s, MANY, FLY_NEVER);
    fly_stop_now(scene.stop);
    join_all(s, MANY);
    for (int i = 0; i < MANY; i++)
        assert_int_equal(s[i].rc, -ECANCELED);
    assert_int_equal(fb_row_count(scene.l), 0);
    /* And whoever comes later. */
    assert_int_equal(fly_wait(scene.l, 1, FLY_NEVER, scene.stop, &at_ns, &ticket), -ECANCELED);
    fly_stop_free(scene.stop);
    fly_limiter_free(scene.l);
}

static void one_stop_of_two(void **state)
{
    struct fly_limiter *l = limiter("concurrency=1 adapt=off", fly_now());
    struct scene stopped = {.l = l, .stop = fly_stop_new(), .reports = true};
    struct scene others = {.l = l, .reports = true};
    struct sleeper s[3];

    (void)state;
    uint64_t ticket = take_now(l);
    for (int i = 0; i < 3; i++) {
        s[i] = (struct sleeper){.scene = i == 1 ? &others : &stopped, .deadline_ns = FLY_NEVER};
        assert_int_equal(pthread_create(&s[i].thread, NULL, sleep_there, &s[i]), 0);
        while (fb_row_count(l) <= (size_t)i)
            ;
    }
    fly_stop_now(stopped.stop);
    assert_int_equal(pthread_join(s[0].thread, NULL), 0);
    assert_int_equal(pthread_join(s[2].thread, NULL), 0);
    /* The one between them is the head now, and still waits. */
    assert_int_equal(fb_row_count(l), 1);
    report(l, fly_now(), ticket, 200);
    assert_int_equal(pthread_join(s[1].thread, NULL), 0);
    assert_int_equal(s[0].rc, -ECANCELED);
    assert_int_equal(s[1].rc, 0);
    assert_int_equal(s[2].rc, -ECANCELED);
    fly_stop_free(stopped.stop);
    fly_limiter_free(l);
}

/* Nobody sleeps in vain: a hold past their deadlines ends the waits of all, wherever they stand. */
static void a_hold_past_the_deadline_ends_the_wait(void **state)
{
    struct scene scene = {.l = limiter("concurrency=1 adapt=off", fly_now())};
    struct sleeper s[5];

    (void)state;
    uint64_t ticket = take_now(scene.l);
    line_up(&scene, s, COUNT_OF(s), fly_now() + 600 * S);
    refuse_for(scene.l, ticket, 3600 * S);
    join_all(s, COUNT_OF(s));
    for (size_t i = 0; i < COUNT_OF(s); i++) {
        assert_int_equal(s[i].rc, -ETIMEDOUT);
        assert_int_equal(s[i].at_ns, until_of(scene.l));
    }
    fly_limiter_free(scene.l);
}

/* Only the head asks; those behind it whose deadline is nearer hear of it. */
static void the_head_tells_those_behind(void **state)
{
    struct scene scene = {.l = limiter("concurrency=1 adapt=off", fly_now()),
                          .stop = fly_stop_new()};
    uint64_t ticket = take_now(scene.l);
    struct sleeper head;
    struct sleeper behind = {.scene = &scene, .deadline_ns = fly_now() + 600 * S, .order = -1};

    (void)state;
    line_up(&scene, &head, 1, FLY_NEVER);
    assert_int_equal(pthread_create(&behind.thread, NULL, sleep_there, &behind), 0);
    while (fb_row_count(scene.l) < 2)
        ;
    refuse_for(scene.l, ticket, 3600 * S);
    join_all(&behind, 1);
    assert_int_equal(behind.rc, -ETIMEDOUT);
    assert_at_least(behind.at_ns, behind.deadline_ns + 1);
    assert_true(behind.at_ns < FLY_NEVER);
    fly_stop_now(scene.stop);
    join_all(&head, 1);
    assert_int_equal(head.rc, -ECANCELED);
    fly_stop_free(scene.stop);
    fly_limiter_free(scene.l);
}

/* Whoever comes to a long row is told at once that it is too long. */
static void a_long_row_is_part_of_the_time(void **state)
{
    struct scene scene = {.l = limiter("rate=1/1m burst=1", fly_now()), .stop = fly_stop_new()};
    struct sleeper s[3];
    int64_t at_ns = 0;
    uint64_t ticket = 0;

    (void)state;
    (void)take_now(scene.l);
    line_up(&scene, s, COUNT_OF(s), FLY_NEVER);
    int64_t first_ns = until_of(scene.l);
    int rc = fly_wait(scene.l, 1, first_ns + 170 * S, NULL, &at_ns, &ticket);
    assert_int_equal(rc, -ETIMEDOUT);
    assert_at_least(at_ns, first_ns + 180 * S - MS);
    assert_at_most(at_ns, first_ns + 180 * S + MS);
    fly_stop_now(scene.stop);
    join_all(s, COUNT_OF(s));
    fly_stop_free(scene.stop);
    fly_limiter_free(scene.l);
}

/* ---- other processes ---- */

/* The report of another process wakes whoever waits here. */
static void a_report_elsewhere_wakes(void **state)
{
    struct place place = place_new();
    struct fly_ledger *ledger = ledger_at(place.path);
    struct fly_limiter *l = limiter_of(ledger, "core", "concurrency=1 adapt=off");
    _Atomic int *stage = shared_memory(sizeof(*stage));
    int64_t at_ns = 0;
    uint64_t ticket = 0;

    (void)state;
    pid_t child = fork();
    if (child == 0) {
        int64_t now_ns = fly_now();
        if (fly_limiter_take(l, now_ns, 1, &ticket) > now_ns)
            _exit(1);
        atomic_store(stage, 1);
        while (atomic_load(stage) == 1)
            ;
        report(l, fly_now(), ticket, 200);
        _exit(0);
    }
    while (atomic_load(stage) == 0)
        ;
    assert_at_least(until_of(l), fly_now());
    atomic_store(stage, 2);
    assert_int_equal(fly_wait(l, 1, FLY_NEVER, NULL, &at_ns, &ticket), 0);
    assert_int_equal(status_of(child), 0);
    report(l, fly_now(), ticket, 200);
    fly_limiter_free(l);
    fly_ledger_close(ledger);
    place_free(&place);
}

/* In the child of a fork nobody stands in the row, whoever stood there before. */
static void a_fork_finds_the_row_empty(void **state)
{
    struct scene scene = {.l = limiter("concurrency=1 adapt=off", fly_now()),
                          .stop = fly_stop_new()};
    struct sleeper s[3];

    (void)state;
    uint64_t ticket = take_now(scene.l);
    line_up(&scene, s, COUNT_OF(s), FLY_NEVER);
    pid_t child = fork();
    if (child == 0) {
        int64_t at_ns;
        report(scene.l, fly_now(), ticket, 200);
        _exit(fb_row_count(scene.l) != 0 ||
              fly_wait(scene.l, 1, FLY_NEVER, NULL, &at_ns, &ticket) != 0);
    }
    assert_int_equal(status_of(child), 0);
    assert_int_equal(fb_row_count(scene.l), COUNT_OF(s));
    fly_stop_now(scene.stop);
    join_all(s, COUNT_OF(s));
    fly_stop_free(scene.stop);
    fly_limiter_free(scene.l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_may_start_starts),
        cmocka_unit_test(a_deadline_that_cannot_be_kept_is_refused_at_once),
        cmocka_unit_test(a_deadline_passes),
        cmocka_unit_test(a_deadline_passes_in_the_row),
        cmocka_unit_test(nobody_overtakes),
        cmocka_unit_test(a_row_without_a_pace),
        cmocka_unit_test(rows_are_kept_apart),
        cmocka_unit_test(what_can_never_start_is_said_to_be_too_large),
        cmocka_unit_test(it_waits_for_its_time),
        cmocka_unit_test(order_is_kept),
        cmocka_unit_test(a_refusal_holds_those_who_wait),
        cmocka_unit_test(all_stop_at_once),
        cmocka_unit_test(one_stop_of_two),
        cmocka_unit_test(a_hold_past_the_deadline_ends_the_wait),
        cmocka_unit_test(a_long_row_is_part_of_the_time),
        cmocka_unit_test(a_report_elsewhere_wakes),
        cmocka_unit_test(a_fork_finds_the_row_empty),
        cmocka_unit_test(the_head_tells_those_behind),
    };

    return cmocka_run_group_tests_name("wait", tests, NULL, NULL);
}
