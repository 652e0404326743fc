/* SPDX-License-Identifier: MIT */
/*
 * Processes that are killed at any instruction: no limit is passed, nobody is stopped, and what
 * they had in flight comes back. FLYBALL_KILLS says how many; `make ledger-torture` does 10,000.
 *
 * Time is a number in shared memory, so that limits are checked to the nanosecond. A grant counts
 * from the moment at which take() has returned: before that nothing can have been sent.
 */
#include "ledger_rig.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/ptrace.h>

#include "core/instant.h"

enum { LOG_MAX = 1 << 20, OUT_MAX = 6, STEPS_MAX = 6000 };

struct scene {
    _Atomic int64_t now_ns;
    _Atomic int64_t logged;
    int64_t sent_ns[LOG_MAX]; /* of every unit that was granted; 0: given back */
};

struct case_of {
    const char *spec;
    int64_t step_ns;   /* the clock moves by up to so much with every call */
    int64_t units;     /* at most so many units ... */
    int64_t length_ns; /* ... in any interval of this length */
    int64_t in_flight; /* at most so many grants at once; 0: any number */
    bool told;         /* answers tell of a quota */
    uint32_t cost_max;
    const char *other; /* the same limits in other words, to change to; or NULL */
};

struct player {
    const struct case_of *c;
    struct scene *scene;
    struct fly_limiter *l;
    struct rng rng;
    uint64_t ticket[OUT_MAX];
    int64_t first[OUT_MAX]; /* where its units are in the log */
    uint32_t cost[OUT_MAX];
    int out_count;
};

static uint64_t draw(struct player *p, uint64_t below)
{
    return fb_rng_next(&p->rng) % below;
}

static int64_t later(struct player *p)
{
    int64_t step_ns = 1 + (int64_t)draw(p, (uint64_t)p->c->step_ns);

    return atomic_fetch_add(&p->scene->now_ns, step_ns) + step_ns;
}

static bool ask(struct player *p, uint32_t cost)
{
    int64_t now_ns = later(p);
    uint64_t ticket = 0;

    if (fly_limiter_take(p->l, now_ns, cost, &ticket) > now_ns)
        return false;
    int64_t first = atomic_fetch_add(&p->scene->logged, cost);
    if (first + cost > LOG_MAX)
        _exit(9);
    for (int64_t i = first; i < first + cost; i++)
        p->scene->sent_ns[i] = now_ns;
    p->ticket[p->out_count] = ticket;
    p->first[p->out_count] = first;
    p->cost[p->out_count++] = cost;
    return true;
}

static void end(struct player *p)
{
    int i = (int)draw(p, (uint64_t)p->out_count);
    int64_t now_ns = later(p);
    struct fly_outcome o = outcome(p->ticket[i], draw(p, 40) ? 200 : 0, now_ns - MS);

    if (draw(p, 3) == 0) {
        for (uint32_t k = 0; k < p->cost[i]; k++)
            p->scene->sent_ns[p->first[i] + k] = 0;
        fly_limiter_cancel(p->l, now_ns, p->ticket[i]);
    } else {
        o.latency_ns = MS;
        if (p->c->told) {
            o.limit = 1000000;
            o.remaining = 900000;
            o.reset_ns = now_ns + 3600 * S;
        }
        fly_limiter_report(p->l, now_ns, &o);
    }
    p->out_count--;
    p->ticket[i] = p->ticket[p->out_count];
    p->first[i] = p->first[p->out_count];
    p->cost[i] = p->cost[p->out_count];
}

static void play(struct player *p)
{
    if (p->c->other && draw(p, 12) == 0)
        (void)fly_limiter_reconfigure(p->l, draw(p, 2) ? p->c->spec : p->c->other, later(p), NULL);
    if (p->out_count < OUT_MAX)
        (void)ask(p, 1 + (uint32_t)draw(p, p->c->cost_max));
    if (p->out_count > 0 && (p->out_count == OUT_MAX || draw(p, 2)))
        end(p);
}

/* ---- killing ---- */

static _Noreturn void be_killed(struct player *p)
{
    (void)ptrace(PTRACE_TRACEME, 0, NULL, NULL);
    (void)raise(SIGSTOP);
    for (;;)
        play(p);
}

/* Let it run for so many instructions. */
static void single_step(pid_t child, uint64_t steps)
{
    int status;

    for (uint64_t i = 0; i < steps; i++) {
        if (ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) < 0)
            return;
        assert_int_equal(waitpid(child, &status, 0), child);
        if (!WIFSTOPPED(status))
            fail_msg("the player ended by itself: %x", (unsigned)status);
    }
}

static void run_for_a_moment(pid_t child, uint64_t loops)
{
    assert_int_equal(ptrace(PTRACE_CONT, child, NULL, NULL), 0);
    for (volatile uint64_t i = 0; i < loops; i++)
        ;
}

static void kill_one(struct player *p, uint64_t round)
{
    struct player child_is = *p;
    int status;

    child_is.rng.state += round;
    child_is.out_count = 0;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        be_killed(&child_is);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSTOPPED(status));
    /* Now and then it runs at full speed before: deep into what it does. */
    if (round % 8 != 0)
        run_for_a_moment(child, draw(p, 1000000));
    else
        single_step(child, draw(p, STEPS_MAX));
    assert_int_equal(kill(child, SIGKILL), 0);
    while (waitpid(child, &status, 0) == child && WIFSTOPPED(status))
        ;
}

/* ---- judging ---- */

static int compare(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static void no_limit_was_passed(const struct case_of *c, struct scene *scene)
{
    int64_t count = 0;

    for (int64_t i = 0; i < atomic_load(&scene->logged); i++)
        if (scene->sent_ns[i] != 0)
            scene->sent_ns[count++] = scene->sent_ns[i];
    qsort(scene->sent_ns, (size_t)count, sizeof(int64_t), compare);
    for (int64_t i = c->units; i < count; i++)
        assert_at_least(scene->sent_ns[i] - scene->sent_ns[i - c->units], c->length_ns);
    printf("%s: %lld units\n", c->spec, (long long)count);
}

/* What the dead had in flight comes back: the living get all places and give them back again. */
static void all_places_come_back(struct player *p)
{
    int wanted = p->c->in_flight > 0 ? (int)p->c->in_flight : 1;

    for (int tries = 0; p->out_count < wanted; tries++) {
        if (tries > 20000)
            fail_msg("%s: only %d of %d places came back", p->c->spec, p->out_count, wanted);
        (void)atomic_fetch_add(&p->scene->now_ns, 20 * MS);
        (void)ask(p, 1);
    }
    while (p->out_count > 0)
        end(p);
}

static void survives(const struct case_of *c, uint64_t kills, uint64_t seed)
{
    struct place place = place_new();
    struct fly_ledger *ledger = ledger_at(place.path);
    struct player p = {.c = c, .scene = shared_memory(sizeof(*p.scene)), .rng = {seed}};

    p.l = limiter_of(ledger, "core", c->spec);
    atomic_store(&p.scene->now_ns, fly_now());
    for (uint64_t round = 0; round < kills; round++) {
        kill_one(&p, round);
        for (int i = 0; i < 3; i++)
            play(&p);
        if (round % 16 == 15) {
            while (p.out_count > 0)
                end(&p);
            all_places_come_back(&p);
        }
    }
    no_limit_was_passed(c, p.scene);
    fly_limiter_free(p.l);
    fly_ledger_close(ledger);
    assert_int_equal(munmap(p.scene, sizeof(*p.scene)), 0);
    place_free(&place);
}

static const struct case_of cases[] = {
    /* burst + one: between the first and the last of so many lie so many periods. */
    {"rate=1000/s burst=10", MS, 11, MS, 0, false, 1, NULL},
    {"rate=1000/s burst=10", MS, 13, MS, 0, false, 3, NULL},
    {"window=20/1s margin=0%", 50 * MS, 20, S, 0, false, 2, NULL},
    {"window=20/1s margin=0% concurrency=4", 50 * MS, 20, S, 4, false, 1, NULL},
    {"window=30/1s margin=0% adapt=probe pacing=even", 50 * MS, 30, S, 0, true, 1, NULL},
    {"window=20000/10s rate=1000/s burst=10", MS, 11, MS, 0, false, 1, NULL},
    {"window=20/1s margin=0%", 50 * MS, 20, S, 0, false, 1, "margin=0% window=20/1s"},
    {"rate=1000/s burst=10", MS, 11, MS, 0, false, 1, "burst=10 rate=1000/s"},
};

static void nothing_is_passed_or_lost(void **state)
{
    const char *said = getenv("FLYBALL_KILLS");
    uint64_t kills = said ? strtoull(said, NULL, 0) : 240;
    uint64_t seed = seed_of_run();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        survives(&cases[i], kills / COUNT_OF(cases), seed + i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_passed_or_lost),
    };

    return cmocka_run_group_tests_name("ledger, killed", tests, NULL, NULL);
}
