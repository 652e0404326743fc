/* SPDX-License-Identifier: MIT */
/*
 * million.c - a million tasks queued at once: what they cost in memory and in time.
 *
 * The engine itself, on virtual time: a network that answers each request 50 ms after it left. So
 * what is measured is queueing, deciding and ending, and nothing of the network. Every task must
 * end once, and none of the thousand keys may pass its limit.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <flyball/flyball.h>

#include "core/instant.h"
#include "engine/engine.h"
#include "engine/ports.h"

#define TASKS     1000000
#define KEYS      1000
#define SLOTS     400
#define ANSWER_NS (50 * FB_NS_PER_MS)
#define EPOCH     (INT64_C(1700000000) * FB_NS_PER_S)
#define BYTES_MAX 1024.0 /* of memory, for a task that waits */

/* Requests that are out, in the order in which they left: so are the answers. */
struct world {
    struct engine *engine;
    int64_t now_ns, wake_ns;
    struct flight {
        struct attempt *attempt;
        int64_t due_ns;
    } flight[SLOTS];
    int first, count;
    int64_t ended;
    unsigned char ends_of[TASKS];
};

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double resident_bytes(void)
{
    FILE *f = fopen("/proc/self/statm", "r");
    long pages = 0;

    if (!f || fscanf(f, "%*d %ld", &pages) != 1)
        pages = 0;
    if (f)
        (void)fclose(f);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

/* ---------------------------------------------------------------------------------------- ports */

static int64_t now(void *self)
{
    return ((struct world *)self)->now_ns;
}

static void wake_at(void *self, int64_t at_ns)
{
    ((struct world *)self)->wake_ns = at_ns;
}

static int send_it(void *self, struct attempt *a, const struct attempt_request *r, void **transfer)
{
    struct world *w = self;
    struct flight *f = &w->flight[(w->first + w->count++) % SLOTS];

    (void)r;
    *f = (struct flight){.attempt = a, .due_ns = w->now_ns + ANSWER_NS};
    *transfer = f;
    return fb_attempt_leaves(a) ? 0 : -1;
}

static void abort_it(void *self, void *transfer)
{
    (void)self;
    (void)transfer;
}

static void busy(void *self, bool has_work)
{
    (void)self;
    (void)has_work;
}

static void recycle(void *self)
{
    (void)self;
}

static int64_t connections(void *self)
{
    (void)self;
    return 1;
}

static void close_it(void *self, void (*done)(void *arg), void *arg)
{
    (void)self;
    if (done)
        done(arg);
}

/* ------------------------------------------------------------------------------------------ run */

static void on_result(void *user, const struct engine_result *r)
{
    struct world *w = user;

    w->ended += r->end == ENGINE_OK;
    w->ends_of[(uintptr_t)r->user]++;
}

static void answer(struct world *w)
{
    struct flight *f = &w->flight[w->first];
    struct attempt_end end = {.status = 200, .body = ""};

    w->first = (w->first + 1) % SLOTS;
    w->count--;
    fb_engine_read_clock(w->engine);
    fb_attempt_done(f->attempt, &end);
}

static bool submit(struct world *w)
{
    struct fly_error err;
    char url[64];

    for (uintptr_t i = 0; i < TASKS; i++) {
        struct engine_task t = {.url = url, .user = (void *)i};

        (void)snprintf(url, sizeof(url), "http://h%u.example/item/%u", (unsigned)(i % KEYS),
                       (unsigned)i);
        if (fb_engine_submit(w->engine, &t, NULL, &err) < 0)
            return false;
    }
    return true;
}

static void run(struct world *w)
{
    while (w->ended < TASKS && (w->count > 0 || w->wake_ns != FB_NEVER)) {
        int64_t due_ns = w->count > 0 ? w->flight[w->first].due_ns : FB_NEVER;

        w->now_ns = fb_max64(w->now_ns, fb_min64(due_ns, w->wake_ns));
        while (w->count > 0 && w->flight[w->first].due_ns <= w->now_ns)
            answer(w);
        fb_engine_tick(w->engine);
    }
}

static bool each_once(const struct world *w)
{
    for (int i = 0; i < TASKS; i++)
        if (w->ends_of[i] != 1)
            return false;
    return w->ended == TASKS;
}

static int open_engine(struct world *w)
{
    struct engine_ports ports = {
        .self = w,
        .now = now,
        .wake_at = wake_at,
        .send = send_it,
        .abort = abort_it,
        .busy = busy,
        .recycle = recycle,
        .connections = connections,
        .close = close_it,
    };
    struct engine_options o;
    struct fly_error err = {""};

    fb_engine_options_init(&o);
    o.user = w;
    o.on_result = on_result;
    o.limit = "rate=1000/s burst=10";
    o.concurrency = SLOTS;
    o.queue_max = TASKS;
    o.seed = 1;
    if (fb_engine_new(&ports, &o, &w->engine, &err) == 0)
        return 0;
    (void)fprintf(stderr, "%s\n", err.text);
    return -1;
}

int main(void)
{
    struct world *w = calloc(1, sizeof(*w));

    if (!w)
        return 1;
    w->now_ns = EPOCH;
    w->wake_ns = FB_NEVER;
    if (open_engine(w) < 0)
        return 1;
    double bytes = resident_bytes();
    double began = seconds();
    bool taken = submit(w);
    double queued = seconds();
    bytes = (resident_bytes() - bytes) / TASKS;
    run(w);
    double over = seconds();
    bool good = taken && each_once(w) && bytes <= BYTES_MAX;
    printf("%d tasks under %d keys: queued in %.2f s, %.0f bytes each (at most %.0f)\n", TASKS,
           KEYS, queued - began, bytes, BYTES_MAX);
    printf("started and ended in %.2f s, %.1f us each, %.0f s of virtual time: %s\n", over - queued,
           (over - queued) / TASKS * 1e6, (double)(w->now_ns - EPOCH) / 1e9,
           good ? "each once" : "MISSED");
    fb_engine_close(w->engine, NULL, NULL);
    free(w);
    return good ? 0 : 1;
}
