/* SPDX-License-Identifier: MIT */
/*
 * share.c - one key for several: two threads with the clock inside, and eight processes.
 *
 * The threads of a case begin together and each does all of its operations; the time of one is
 * what a thread waits for it. The processes live as long as the benchmark, do an equal share of
 * the operations each, and are told by pipes when to begin.
 */
#include "bench.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <flyball/flyball.h>

enum { PROCESSES = 8 };

/* ---- two threads ---- */

struct pair {
    struct bench_case *c;
    int64_t times;
    void (*work)(struct bench_case *c, int64_t times);
};

static void *second(void *argument)
{
    struct pair *p = argument;

    p->work(p->c, p->times);
    return NULL;
}

static void both(struct pair p)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, second, &p) != 0) {
        fprintf(stderr, "bench: %s: no second thread\n", p.c->name);
        exit(1);
    }
    p.work(p.c, p.times);
    (void)pthread_join(thread, NULL);
}

static void floor_work(struct bench_case *c, int64_t times)
{
    static _Atomic int64_t level;

    (void)c;
    for (int64_t i = 0; i < times; i++) {
        int64_t now_ns = bench_clock_ns();
        int64_t seen = atomic_load_explicit(&level, memory_order_relaxed);

        while (!atomic_compare_exchange_weak(&level, &seen, seen + (now_ns & 1) + 1))
            ;
    }
}

static void take_work(struct bench_case *c, int64_t times)
{
    uint64_t ticket;

    for (int64_t i = 0; i < times; i++) {
        int64_t now_ns = fly_now();

        if (fly_limiter_take(c->limiter, now_ns, 1, &ticket) > now_ns)
            abort();
    }
}

void bench_pair_floor(struct bench_case *c, int64_t times)
{
    both((struct pair){c, times, floor_work});
}

bool bench_pair_open(struct bench_case *c)
{
    c->limiter = fly_limiter_new(c->spec, fly_now(), 1, NULL);
    return c->limiter != NULL;
}

void bench_pair_take(struct bench_case *c, int64_t times)
{
    both((struct pair){c, times, take_work});
}

/* ---- eight processes ---- */

static struct {
    int begin[2]; /* a number of operations for each, by whoever reads it first */
    int end[2];
} pipes;

static bool open_key(struct bench_case *c, const char *path)
{
    struct fly_ledger *ledger = NULL;
    struct fly_key key = {"bench", "", ""};
    struct fly_error err = {{0}};

    if (fly_ledger_open(path, NULL, &ledger, &err) < 0 ||
        fly_ledger_limiter(ledger, &key, c->spec, &c->limiter, &err) < 0) {
        fprintf(stderr, "bench: %s: %s\n", c->name, err.text);
        return false;
    }
    return true;
}

static _Noreturn void serve(struct bench_case *c)
{
    int64_t times;

    (void)close(pipes.begin[1]);
    while (read(pipes.begin[0], &times, sizeof(times)) == sizeof(times)) {
        take_work(c, times);
        if (write(pipes.end[1], &times, sizeof(times)) != sizeof(times))
            break;
    }
    _exit(0);
}

bool bench_processes_open(struct bench_case *c)
{
    char path[64];

    (void)snprintf(path, sizeof(path), "/tmp/flyball-bench-%ld", (long)getpid());
    /* Without a name from here on: the children have it open. */
    if (pipe(pipes.begin) < 0 || pipe(pipes.end) < 0 || !open_key(c, path) || unlink(path) < 0)
        return false;
    for (int i = 0; i < PROCESSES; i++) {
        pid_t child = fork();
        if (child < 0)
            return false;
        if (child == 0)
            serve(c);
    }
    return true;
}

void bench_processes_take(struct bench_case *c, int64_t times)
{
    int64_t each = times / PROCESSES;

    for (int i = 0; i < PROCESSES; i++)
        if (write(pipes.begin[1], &each, sizeof(each)) != sizeof(each))
            abort();
    for (int i = 0; i < PROCESSES; i++)
        if (read(pipes.end[0], &each, sizeof(each)) != sizeof(each))
            abort();
    (void)c;
}
