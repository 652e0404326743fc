/* SPDX-License-Identifier: MIT */
/*
 * release.c - how late permits are released: the engine beside a bare timerfd.
 *
 * A rate with a burst of 1 says when the next request may leave: one period after the last. How
 * much later it does is what is measured, at 10, 100 and 1000 a second; each time first with a
 * timerfd and a read, which is the floor, then with the engine. Its requests go to a port where
 * nobody listens: only when they leave matters. A permit that comes early is a mistake.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

#include <flyball/flyball.h>

#include "core/instant.h"
#include "engine/engine.h"

#define COUNT_MAX 3000
#define LATE_MOST 2.0 /* times the floor, of the median */

struct sample {
    int64_t ns[COUNT_MAX];
    int count;
};

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static double median_us(struct sample *s)
{
    qsort(s->ns, (size_t)s->count, sizeof(s->ns[0]), by_size);
    return (double)s->ns[s->count / 2] / 1e3;
}

static int64_t boot_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_BOOTTIME, &t);
    return t.tv_sec * FB_NS_PER_S + t.tv_nsec;
}

/* The floor: sleep until one period after the last, and look how late it is. */
static void measure_floor(int64_t period_ns, int count, struct sample *ret_late)
{
    int fd = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC);
    int64_t at_ns = boot_ns() + period_ns;

    ret_late->count = count;
    for (int i = 0; i < count; i++) {
        struct itimerspec t = {.it_value = {at_ns / FB_NS_PER_S, at_ns % FB_NS_PER_S}};
        uint64_t times;

        if (timerfd_settime(fd, TFD_TIMER_ABSTIME, &t, NULL) < 0 ||
            read(fd, &times, sizeof(times)) < 0)
            exit(1);
        ret_late->ns[i] = boot_ns() - at_ns;
        at_ns += ret_late->ns[i] + period_ns;
    }
    close(fd);
}

static void note_start(void *user, const struct engine_result *r)
{
    struct sample *s = user;

    s->ns[s->count++] = r->sent_ns;
}

static void run_engine(struct engine_options *o, int count)
{
    struct engine *e = NULL;
    struct fly_error err = {""};
    uv_loop_t loop;

    if (uv_loop_init(&loop) < 0 || fb_engine_open(&loop, o, &e, &err) < 0) {
        fprintf(stderr, "release: %s\n", err.text);
        exit(1);
    }
    for (int i = 0; i < count; i++)
        if (fb_engine_submit(e, &(struct engine_task){.url = "http://127.0.0.1:9/"}, NULL, &err))
            exit(1);
    uv_run(&loop, UV_RUN_DEFAULT);
    fb_engine_close(e, NULL, NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_loop_close(&loop);
}

/* Returns how many came early. */
static int measure_engine(int rate, int64_t period_ns, int count, struct sample *ret_late)
{
    static const char *const rules[] = {"*/*=skip", NULL};
    struct engine_options o;
    char limit[64];
    int early = 0;

    snprintf(limit, sizeof(limit), "rate=%d/s burst=1 adapt=off", rate);
    fb_engine_options_init(&o);
    o.user = ret_late;
    o.on_result = note_start;
    o.limit = limit;
    o.recovery = rules;
    o.breaker_failures = 0;
    o.pause_failures = 0;
    run_engine(&o, count);
    qsort(ret_late->ns, (size_t)ret_late->count, sizeof(ret_late->ns[0]), by_size);
    for (int i = 1; i < ret_late->count; i++) {
        ret_late->ns[i - 1] = ret_late->ns[i] - ret_late->ns[i - 1] - period_ns;
        early += ret_late->ns[i - 1] < 0;
    }
    ret_late->count--;
    return early;
}

int main(void)
{
    static const struct {
        int rate, count;
    } runs[] = {{10, 100}, {100, 500}, {1000, COUNT_MAX}};
    int early = 0;
    bool is_late = false;

    printf("%8s %14s %14s %8s %8s\n", "a second", "timerfd, us", "engine, us", "ratio", "early");
    for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
        static struct sample floor, engine;
        int64_t period_ns = FB_NS_PER_S / runs[i].rate;
        double floor_us, engine_us;
        int n;

        floor = engine = (struct sample){0};
        measure_floor(period_ns, runs[i].count, &floor);
        n = measure_engine(runs[i].rate, period_ns, runs[i].count, &engine);
        floor_us = median_us(&floor);
        engine_us = median_us(&engine);
        printf("%8d %14.1f %14.1f %8.2f %8d\n", runs[i].rate, floor_us, engine_us,
               engine_us / floor_us, n);
        early += n;
        is_late |= engine_us > LATE_MOST * floor_us;
    }
    printf("at most %.0f times as late as a timerfd, and never early: %s\n", LATE_MOST,
           early > 0 || is_late ? "MISSED" : "kept");
    return early > 0 || is_late;
}
