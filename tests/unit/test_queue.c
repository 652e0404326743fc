/* SPDX-License-Identifier: MIT */
/* Queue: priorities, ageing, keys that wait and do not block others, patience, room. */
#include "unit.h"

#include "core/instant.h"
#include "core/queue.h"
#include "core/rng.h"

#define NOW (100 * S)

static struct queue queue_of(int64_t max, int32_t ageing)
{
    struct queue q;

    fb_queue_init(&q, max, ageing);
    return q;
}

static void push(struct queue *q, struct queue_key *k, struct queue_task *t, enum priority p,
                 int64_t queued_ns)
{
    *t = (struct queue_task){
        .priority = p,
        .queued_ns = queued_ns,
        .start_by_ns = FB_NEVER,
    };
    fb_queue_push(q, k, t);
}

static struct queue_task *first(const struct queue *q)
{
    return fb_queue_first(q, &q->lane, true);
}

/* The first one starts; it is the one that should. */
static void starts(struct queue *q, const struct queue_task *t)
{
    struct queue_task *f = first(q);

    assert_ptr_equal(f, t);
    fb_queue_start(q, f);
}

static void empty(void **state)
{
    struct queue q = queue_of(10, 0);

    (void)state;
    assert_null(first(&q));
    assert_int_equal(fb_queue_next_at(&q), FB_NEVER);
    assert_null(fb_queue_late(&q, NOW));
    assert_null(fb_queue_victim(&q, PRIORITY_HIGH));
    fb_queue_advance(&q, NOW);
    assert_false(fb_queue_is_full(&q));
}

static void first_in_first_out(void **state)
{
    struct queue q = queue_of(10, 0);
    struct queue_key a = {0}, b = {0};
    struct queue_task t[4];

    (void)state;
    push(&q, &a, &t[0], PRIORITY_NORMAL, 1);
    push(&q, &b, &t[1], PRIORITY_NORMAL, 2);
    push(&q, &a, &t[2], PRIORITY_UNSET, 3);
    push(&q, &b, &t[3], PRIORITY_NORMAL, 4);
    for (int i = 0; i < 4; i++)
        starts(&q, &t[i]);
    assert_null(first(&q));
    assert_int_equal(q.count, 0);
}

static void the_higher_priority_first(void **state)
{
    struct queue q = queue_of(10, 0);
    struct queue_key a = {0}, b = {0};
    struct queue_task t[5];

    (void)state;
    push(&q, &a, &t[0], PRIORITY_BACKGROUND, 1);
    push(&q, &a, &t[1], PRIORITY_NORMAL, 2);
    push(&q, &b, &t[2], PRIORITY_IMMINENT, 3);
    push(&q, &a, &t[3], PRIORITY_LIVE, 4);
    push(&q, &b, &t[4], PRIORITY_HIGH, 5);
    for (int i = 4; i >= 0; i--)
        starts(&q, &t[i]);
}

static void put_back_to_the_front(void **state)
{
    struct queue q = queue_of(10, 0);
    struct queue_key a = {0};
    struct queue_task t[3];

    (void)state;
    for (int i = 0; i < 3; i++)
        push(&q, &a, &t[i], PRIORITY_NORMAL, i + 1);
    starts(&q, &t[0]);
    t[0].to_front = true;
    fb_queue_push(&q, &a, &t[0]);
    for (int i = 0; i < 3; i++)
        starts(&q, &t[i]);
}

/* A key without a permit steps aside; the other one goes on, and both keep their order. */
static void a_key_that_waits_blocks_nobody(void **state)
{
    struct queue q = queue_of(10, 0);
    struct queue_key a = {0}, b = {0};
    struct queue_task t[5];

    (void)state;
    push(&q, &a, &t[0], PRIORITY_HIGH, 1);
    push(&q, &a, &t[1], PRIORITY_NORMAL, 2);
    push(&q, &b, &t[2], PRIORITY_BACKGROUND, 3);
    fb_queue_wait(&q, &a, NOW);
    assert_int_equal(fb_queue_next_at(&q), NOW);
    push(&q, &a, &t[4], PRIORITY_LIVE, 4); /* while it waits */
    starts(&q, &t[2]);
    assert_null(first(&q));
    fb_queue_advance(&q, NOW - 1);
    assert_null(first(&q));
    fb_queue_advance(&q, NOW);
    assert_int_equal(fb_queue_next_at(&q), FB_NEVER);
    starts(&q, &t[0]);
    starts(&q, &t[4]);
    starts(&q, &t[1]);
}

static void a_stuck_key_is_woken_by_hand(void **state)
{
    struct queue q = queue_of(10, 0);
    struct queue_key a = {0};
    struct queue_task t[3];

    (void)state;
    push(&q, &a, &t[0], PRIORITY_NORMAL, 1);
    fb_queue_wait(&q, &a, FB_NEVER);
    push(&q, &a, &t[1], PRIORITY_NORMAL, 2);
    assert_int_equal(fb_queue_next_at(&q), FB_NEVER);
    fb_queue_advance(&q, FB_TIME_MAX);
    assert_null(first(&q));
    fb_queue_wake(&q, &a);
    fb_queue_wake(&q, &a); /* already awake */
    starts(&q, &t[0]);
    starts(&q, &t[1]);
}

/* An empty key waits as well: what comes later waits with it, and nothing rings before. */
static void an_empty_key_may_wait(void **state)
{
    struct queue q = queue_of(10, 0);
    struct queue_key a = {0};
    struct queue_task t;

    (void)state;
    push(&q, &a, &t, PRIORITY_NORMAL, 1);
    fb_queue_wait(&q, &a, NOW);
    fb_queue_remove(&q, &t);
    assert_int_equal(fb_queue_next_at(&q), FB_NEVER);
    fb_queue_wait(&q, &a, NOW + 1);
    assert_int_equal(fb_queue_next_at(&q), FB_NEVER);
    push(&q, &a, &t, PRIORITY_NORMAL, 2);
    assert_int_equal(fb_queue_next_at(&q), NOW + 1);
    fb_queue_advance(&q, NOW + 1);
    starts(&q, &t);
}

/* Keys that share a slot stand in a lane of their own, the best of them first. */
static void a_lane_of_its_own(void **state)
{
    struct queue q = queue_of(10, 0);
    struct queue_lane lane = {0};
    struct queue_key a = {0}, b = {0};
    struct queue_task t[3];

    (void)state;
    push(&q, &a, &t[0], PRIORITY_NORMAL, 1);
    push(&q, &b, &t[1], PRIORITY_NORMAL, 2);
    fb_queue_stand_in(&q, &a, &lane);
    fb_queue_stand_in(&q, &b, &lane);
    assert_null(first(&q));
    push(&q, &b, &t[2], PRIORITY_LIVE, 3);
    assert_ptr_equal(fb_queue_first(&q, &lane, true), &t[2]);
    fb_queue_wake(&q, &b);
    assert_ptr_equal(fb_queue_first(&q, &lane, true), &t[0]);
    starts(&q, &t[2]);
    starts(&q, &t[1]);
    fb_queue_wake(&q, &a);
    starts(&q, &t[0]);
    assert_null(fb_queue_first(&q, &lane, true));
}

static void only_interactive_work(void **state)
{
    struct queue q = queue_of(10, 0);
    struct queue_key a = {0};
    struct queue_task t[2];

    (void)state;
    push(&q, &a, &t[0], PRIORITY_NORMAL, 1);
    assert_null(fb_queue_first(&q, &q.lane, false));
    push(&q, &a, &t[1], PRIORITY_IMMINENT, 2);
    assert_ptr_equal(fb_queue_first(&q, &q.lane, false), &t[1]);
}

/* Every 17th start is for the level that was passed over 16 times. */
static void nothing_starves(void **state)
{
    struct queue q = queue_of(1000, FB_QUEUE_AGEING);
    struct queue_key a = {0}, b = {0};
    static struct queue_task t[200], low;
    int passed = 0;

    (void)state;
    push(&q, &b, &low, PRIORITY_BACKGROUND, 1);
    for (int i = 0; i < 200; i++)
        push(&q, &a, &t[i], PRIORITY_HIGH, i + 2);
    while (first(&q) != &low) {
        starts(&q, &t[passed]);
        passed++;
    }
    assert_int_equal(passed, FB_QUEUE_AGEING);
    fb_queue_start(&q, &low);
    starts(&q, &t[passed]);
}

static void unless_it_is_strict(void **state)
{
    struct queue q = queue_of(1000, 0);
    struct queue_key a = {0};
    static struct queue_task t[200], low;

    (void)state;
    push(&q, &a, &low, PRIORITY_BACKGROUND, 1);
    for (int i = 0; i < 200; i++)
        push(&q, &a, &t[i], PRIORITY_HIGH, i + 2);
    for (int i = 0; i < 200; i++)
        starts(&q, &t[i]);
    starts(&q, &low);
}

/* What waits anyway was not passed over. */
static void ageing_counts_what_could_have_started(void **state)
{
    struct queue q = queue_of(1000, 4);
    struct queue_key a = {0}, b = {0};
    static struct queue_task t[20], low;

    (void)state;
    push(&q, &b, &low, PRIORITY_BACKGROUND, 1);
    fb_queue_wait(&q, &b, NOW);
    for (int i = 0; i < 20; i++)
        push(&q, &a, &t[i], PRIORITY_NORMAL, i + 2);
    for (int i = 0; i < 10; i++)
        starts(&q, &t[i]);
    fb_queue_advance(&q, NOW);
    for (int i = 10; i < 14; i++)
        starts(&q, &t[i]);
    starts(&q, &low);
}

static void delayed_tasks_come_when_due(void **state)
{
    struct queue q = queue_of(10, 0);
    struct queue_key a = {0};
    struct queue_task t[2] = {{.start_by_ns = FB_NEVER}, {.start_by_ns = FB_NEVER}};

    (void)state;
    fb_queue_delay(&q, &a, &t[0], NOW);
    fb_queue_delay(&q, &a, &t[1], NOW + 1);
    assert_int_equal(q.count, 2);
    assert_int_equal(fb_queue_next_at(&q), NOW);
    fb_queue_advance(&q, NOW);
    starts(&q, &t[0]);
    fb_queue_remove(&q, &t[1]);
    assert_int_equal(q.count, 0);
    fb_queue_advance(&q, NOW + 1);
    assert_null(first(&q));
}

static void patience_ends(void **state)
{
    struct queue q = queue_of(10, 0);
    struct queue_key a = {0}, b = {0};
    struct queue_task t[4];

    (void)state;
    for (int i = 0; i < 4; i++) {
        t[i] = (struct queue_task){.start_by_ns = NOW + (4 - i) * S, .queued_ns = i + 1};
        fb_queue_push(&q, i < 3 ? &a : &b, &t[i]);
    }
    assert_int_equal(fb_queue_next_at(&q), NOW + S + 1);
    assert_null(fb_queue_late(&q, NOW + S));
    assert_ptr_equal(fb_queue_late(&q, NOW + S + 1), &t[3]);
    fb_queue_remove(&q, &t[3]);
    assert_null(fb_queue_late(&q, NOW + S + 1));
    /* A key that cannot start before then says so at once. */
    assert_ptr_equal(fb_queue_late_in(&a, NOW + 3 * S), &t[2]);
    fb_queue_remove(&q, &t[2]);
    assert_null(fb_queue_late_in(&a, NOW + 3 * S));
    assert_int_equal(fb_queue_next_at(&q), NOW + 3 * S + 1);
    starts(&q, &t[0]);
    assert_int_equal(fb_queue_next_at(&q), NOW + 3 * S + 1);
    starts(&q, &t[1]);
    assert_int_equal(fb_queue_next_at(&q), FB_NEVER);
    assert_null(fb_queue_late_in(&a, FB_NEVER));
}

static void the_lowest_makes_room(void **state)
{
    struct queue q = queue_of(3, 0);
    struct queue_key a = {0}, b = {0};
    struct queue_task t[3];

    (void)state;
    push(&q, &a, &t[0], PRIORITY_NORMAL, 1);
    push(&q, &b, &t[1], PRIORITY_BACKGROUND, 2);
    push(&q, &a, &t[2], PRIORITY_BACKGROUND, 3);
    assert_true(fb_queue_is_full(&q));
    assert_ptr_equal(fb_queue_victim(&q, PRIORITY_LIVE), &t[2]);
    assert_ptr_equal(fb_queue_victim(&q, PRIORITY_NORMAL), &t[2]);
    assert_null(fb_queue_victim(&q, PRIORITY_BACKGROUND));
    fb_queue_remove(&q, &t[2]);
    fb_queue_remove(&q, &t[1]);
    assert_null(fb_queue_victim(&q, PRIORITY_NORMAL));
    assert_ptr_equal(fb_queue_victim(&q, PRIORITY_UNSET), NULL);
    assert_ptr_equal(fb_queue_victim(&q, PRIORITY_HIGH), &t[0]);
}

static void names(void **state)
{
    (void)state;
    assert_int_equal(fb_priority_find("live"), PRIORITY_LIVE);
    assert_int_equal(fb_priority_find("completed"), PRIORITY_BACKGROUND);
    assert_int_equal(fb_priority_find("urgent"), PRIORITY_UNSET);
    assert_string_equal(fb_priority_name(PRIORITY_UNSET), "normal");
    assert_string_equal(fb_priority_name(PRIORITY_HIGH), "high");
}

/* ----------------------------------------------------------------------- against a simple model */

enum { KEYS = 8, TASKS = 64 };

struct world {
    struct queue q;
    struct queue_key key[KEYS];
    struct queue_task task[TASKS];
    int64_t now_ns;
};

static bool key_may_start(const struct world *w, const struct queue_key *k)
{
    return k->lane == &w->q.lane || (!k->lane && k->wait_ns == 0);
}

/* The same answer, by looking at everything. */
static const struct queue_task *expected(const struct world *w)
{
    const struct queue_task *best = NULL;

    for (int i = 0; i < TASKS; i++) {
        const struct queue_task *t = &w->task[i];

        if (!t->key || t->is_delayed || !key_may_start(w, t->key))
            continue;
        if (!best || t->priority < best->priority ||
            (t->priority == best->priority && t->queued_ns < best->queued_ns))
            best = t;
    }
    return best;
}

static void change(struct world *w, struct rng *rng)
{
    struct queue_task *t = &w->task[fb_rng_next(rng) % TASKS];
    struct queue_key *k = &w->key[fb_rng_next(rng) % KEYS];
    uint64_t what = fb_rng_next(rng) % 8;

    if (t->key && what < 3) {
        fb_queue_remove(&w->q, t);
    } else if (!t->key) {
        *t = (struct queue_task){
            .priority = (enum priority)(1 + fb_rng_next(rng) % FB_QUEUE_LEVELS),
            .queued_ns = w->now_ns,
            .start_by_ns = what < 4 ? w->now_ns + 500 : FB_NEVER,
        };
        w->now_ns += 2;
        if (what == 7) {
            t->queued_ns += 31; /* no other is queued at an odd time */
            fb_queue_delay(&w->q, k, t, t->queued_ns);
        } else {
            fb_queue_push(&w->q, k, t);
        }
    } else if (what < 5) {
        fb_queue_wait(&w->q, k, what == 3 ? FB_NEVER : w->now_ns + 20);
    } else {
        fb_queue_wake(&w->q, k);
    }
}

static void agrees_with_a_simple_model(void **state)
{
    uint64_t seed = seed_of_run();
    struct rng rng = {seed};
    static struct world w;

    (void)state;
    w = (struct world){.now_ns = 2};
    fb_queue_init(&w.q, TASKS, 0);
    for (int step = 0; step < 200000; step++) {
        struct queue_task *late;

        change(&w, &rng);
        fb_queue_advance(&w.q, w.now_ns);
        while ((late = fb_queue_late(&w.q, w.now_ns)))
            fb_queue_remove(&w.q, late);
        assert_ptr_equal(first(&w.q), expected(&w));
        if (first(&w.q) && step % 2)
            fb_queue_start(&w.q, first(&w.q));
    }
}

/* A million tasks under a thousand keys: all of them start, each once. */
static void a_million_tasks(void **state)
{
    size_t count = 1000000;
    struct queue_task *t = calloc(count, sizeof(*t));
    struct queue_key *k = calloc(1000, sizeof(*k));
    struct queue q = queue_of((int64_t)count, FB_QUEUE_AGEING);
    struct rng rng = {5};
    size_t started = 0;

    (void)state;
    assert_true(t && k);
    for (size_t i = 0; i < count; i++) {
        enum priority p = (enum priority)(1 + fb_rng_next(&rng) % FB_QUEUE_LEVELS);

        push(&q, &k[fb_rng_next(&rng) % 1000], &t[i], p, (int64_t)i + 1);
    }
    assert_true(fb_queue_is_full(&q));
    for (int64_t now_ns = (int64_t)count + 1; q.count > 0; now_ns++) {
        struct queue_task *f = first(&q);

        fb_queue_advance(&q, now_ns);
        if (!f)
            continue;
        if (fb_rng_next(&rng) % 4 == 0) {
            fb_queue_wait(&q, f->key, now_ns + 100);
        } else {
            fb_queue_start(&q, f);
            started++;
        }
    }
    assert_int_equal(started, count);
    free(t);
    free(k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty),
        cmocka_unit_test(first_in_first_out),
        cmocka_unit_test(the_higher_priority_first),
        cmocka_unit_test(put_back_to_the_front),
        cmocka_unit_test(a_key_that_waits_blocks_nobody),
        cmocka_unit_test(a_stuck_key_is_woken_by_hand),
        cmocka_unit_test(an_empty_key_may_wait),
        cmocka_unit_test(a_lane_of_its_own),
        cmocka_unit_test(only_interactive_work),
        cmocka_unit_test(nothing_starves),
        cmocka_unit_test(unless_it_is_strict),
        cmocka_unit_test(ageing_counts_what_could_have_started),
        cmocka_unit_test(delayed_tasks_come_when_due),
        cmocka_unit_test(patience_ends),
        cmocka_unit_test(the_lowest_makes_room),
        cmocka_unit_test(names),
        cmocka_unit_test(agrees_with_a_simple_model),
        cmocka_unit_test(a_million_tasks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
