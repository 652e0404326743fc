/* SPDX-License-Identifier: MIT */
/*
 * Eight processes go for one key at full speed, one is killed every 50 ms and another begins: the
 * limit is never passed. FLYBALL_SHARE_SECONDS says for how long; if it is set, nearly all of the
 * limit must be used as well (`make ledger-share`), which takes a machine with nothing else to do.
 *
 * A grant counts from somewhere between the clock that take() was given and the return from it: a
 * limit was passed if too many of these intervals lie within too short a time.
 */
#include "ledger_rig.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "core/instant.h"

enum { PROCESSES = 8, LOG_MAX = 1 << 20, RATE = 1000 };

struct grant {
    int64_t before_ns;
    int64_t after_ns; /* 0: killed before it could be sent */
};

struct scene {
    _Atomic int64_t count;
    struct grant grant[LOG_MAX];
};

struct case_of {
    const char *spec;
    int64_t burst; /* so many at once ... */
    bool windowed; /* ... in any second; else beside what the rate gives */
    bool reports;
};

static const struct case_of cases[] = {
    {"rate=1000/s burst=10", 10, false, false},
    {"rate=1000/s burst=10 pacing=demand", 10, false, true},
    {"window=1000/1s margin=0% adapt=probe rate=4000/s ceiling=4000/s pacing=demand", 1000, true,
     true},
};

static _Noreturn void work(const char *path, const struct case_of *c, struct scene *scene)
{
    struct fly_ledger *ledger = ledger_at(path);
    struct fly_limiter *l = limiter_of(ledger, "core", c->spec);

    for (;;) {
        uint64_t ticket;
        int64_t now_ns = fly_now();
        if (fly_limiter_take(l, now_ns, 1, &ticket) > now_ns)
            continue;
        int64_t index = atomic_fetch_add(&scene->count, 1);
        if (index >= LOG_MAX)
            _exit(9);
        scene->grant[index].before_ns = now_ns;
        scene->grant[index].after_ns = fly_now();
        if (c->reports) {
            struct fly_outcome o = outcome(ticket, 200, now_ns);
            o.limit = 100000000;
            o.remaining = 90000000;
            o.reset_ns = now_ns + 3600 * S;
            fly_limiter_report(l, fly_now(), &o);
        }
    }
}

static pid_t begin(const char *path, const struct case_of *c, struct scene *scene)
{
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0)
        work(path, c, scene);
    return child;
}

static void end(pid_t child)
{
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(status_of(child), -SIGKILL);
}

static int by_end(const void *a, const void *b)
{
    int64_t x = ((const struct grant *)a)->after_ns;
    int64_t y = ((const struct grant *)b)->after_ns;

    return (x > y) - (x < y);
}

/* The shortest time in which `count` grants may start. */
static int64_t least_ns(const struct case_of *c, int64_t count)
{
    if (c->windowed)
        return count > c->burst ? S : 0;
    return (count - c->burst) * (S / RATE);
}

static void never_too_many(const struct case_of *c, struct scene *scene, int64_t count)
{
    struct grant *g = scene->grant;

    qsort(g, (size_t)count, sizeof(*g), by_end);
    for (int64_t first = 0; first < count; first++) {
        int64_t begin_ns = INT64_MAX;
        for (int64_t last = first; last < count && last < first + 3 * RATE; last++) {
            begin_ns = fb_min64(begin_ns, g[last].before_ns);
            assert_at_least(g[last].after_ns - begin_ns, least_ns(c, last - first + 1));
        }
    }
}

/* Those that were granted within the span, whatever came before and after it. */
static double share_used(const struct scene *scene, int64_t count, int64_t begin_ns, int64_t end_ns)
{
    int64_t within = 0;

    for (int64_t i = 0; i < count; i++)
        within += scene->grant[i].before_ns >= begin_ns && scene->grant[i].after_ns <= end_ns;
    return (double)within / ((double)(end_ns - begin_ns) / 1e9 * RATE);
}

static void share(const struct case_of *c, int64_t seconds, bool all)
{
    struct place place = place_new();
    struct fly_ledger *ledger = ledger_at(place.path); /* whose clock all children inherit */
    struct scene *scene = shared_memory(sizeof(*scene));
    struct rng rng = {seed_of_run()};
    pid_t child[PROCESSES];

    for (int i = 0; i < PROCESSES; i++)
        child[i] = begin(place.path, c, scene);
    while (atomic_load(&scene->count) == 0)
        (void)usleep(1000);
    int64_t begin_ns = fly_now();
    while (fly_now() < begin_ns + seconds * S) {
        (void)usleep(50000);
        uint64_t i = fb_rng_next(&rng) % PROCESSES;
        end(child[i]);
        child[i] = begin(place.path, c, scene);
    }
    int64_t end_ns = fly_now();
    for (int i = 0; i < PROCESSES; i++)
        end(child[i]);
    int64_t count = 0;
    for (int64_t i = 0; i < atomic_load(&scene->count); i++)
        if (scene->grant[i].after_ns != 0)
            scene->grant[count++] = scene->grant[i];
    never_too_many(c, scene, count);
    double used = share_used(scene, count, begin_ns, end_ns);
    printf("%s%s: %.1f %% of the limit in %.2f s\n", c->spec, c->reports ? ", reported" : "",
           100 * used, (double)(end_ns - begin_ns) / 1e9);
    if (all)
        assert_true(used >= 0.97);
    assert_int_equal(munmap(scene, sizeof(*scene)), 0);
    fly_ledger_close(ledger);
    place_free(&place);
}

static void share_case(size_t i)
{
    const char *said = getenv("FLYBALL_SHARE_SECONDS");

    share(&cases[i], said ? strtoll(said, NULL, 10) : 1, said != NULL);
}

/* Each by itself: what one of them misses is no reason not to measure the others. */
static void a_bucket_holds_whoever_dies(void **state)
{
    (void)state;
    share_case(0);
}

static void a_bucket_and_a_quota_hold_whoever_dies(void **state)
{
    (void)state;
    share_case(1);
}

static void a_window_a_quota_and_what_learns_hold_whoever_dies(void **state)
{
    (void)state;
    share_case(2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bucket_holds_whoever_dies),
        cmocka_unit_test(a_bucket_and_a_quota_hold_whoever_dies),
        cmocka_unit_test(a_window_a_quota_and_what_learns_hold_whoever_dies),
    };

    return cmocka_run_group_tests_name("ledger, shared", tests, NULL, NULL);
}
