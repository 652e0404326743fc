/* SPDX-License-Identifier: MIT */
/*
 * bench.h - cases that are timed side by side, and what is printed of them.
 *
 * All cases run in one process, one after another in each of many rounds, so that whatever
 * disturbs the machine disturbs them alike. A figure is the median over the rounds; a ratio is
 * the median of the ratios within each round.
 */
#ifndef FLYBALL_BENCH_H
#define FLYBALL_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <flyball/flyball.h>

#define BENCH_ROUNDS 31

struct bench_case {
    const char *name;
    const char *spec; /* of the limiter it runs on; unused by the floors */

    /* Begin; false with a message on stderr when it cannot. NULL: nothing to prepare. */
    bool (*open)(struct bench_case *c);

    /* Do the thing so many times. */
    void (*run)(struct bench_case *c, int64_t times);

    struct fly_limiter *limiter;
    struct fly_table *table;
    struct fly_id id;        /* of the key asked for last */
    uint64_t ticket;         /* and its grant */
    int64_t now_ns;          /* the limiter's clock */
    int64_t step_ns;         /* how far that clock goes with each request */
    int64_t times;           /* per round, found by calibration */
    double ns[BENCH_ROUNDS]; /* per operation, by round */
    double median_ns;
    double best_ns;
};

/*
 * A figure to reach: the median ratio of two cases; or, where `base` is NULL, what `count` says
 * of one, or else its best time, since noise only ever adds to a time.
 */
struct bench_target {
    const char *what;
    const char *name;
    const char *base;
    double at_most;
    double value;
    double (*count)(const struct bench_case *c);
};

/* The real clock. */
int64_t bench_clock_ns(void);

/* The floors: what a decision costs at the very least, and what a plain bucket costs. */
void bench_floor_cas(struct bench_case *c, int64_t times);
void bench_floor_mutex(struct bench_case *c, int64_t times);

/* A million keys: the floor, and tables of ours. */
bool bench_keys_floor_open(struct bench_case *c);
void bench_keys_floor(struct bench_case *c, int64_t times);
bool bench_keys_open(struct bench_case *c);
void bench_keys_take(struct bench_case *c, int64_t times);
void bench_keys_take_report(struct bench_case *c, int64_t times);

/* One key for two threads with the clock inside: the floor, and ours. */
void bench_pair_floor(struct bench_case *c, int64_t times);
bool bench_pair_open(struct bench_case *c);
void bench_pair_take(struct bench_case *c, int64_t times);

/* One key of a ledger for eight processes, the clock inside; nanoseconds for all of them. */
bool bench_processes_open(struct bench_case *c);
void bench_processes_take(struct bench_case *c, int64_t times);

/* Bytes a key, all included. */
double bench_keys_bytes(const struct bench_case *c);

/* Responses and what they say; c->spec names which, or NULL: some typical ones in turn. */
bool bench_signal_open(struct bench_case *c);
void bench_signal(struct bench_case *c, int64_t times);

/* Machine instructions of one response; of one with twice the bytes over one, as a ratio. */
double bench_signal_instructions(const struct bench_case *c);
double bench_signal_growth(const struct bench_case *c);

/* Machine instructions that `run` takes, by stepping through them; negative: unknown here. */
double bench_instructions(void (*run)(void *of), void *of);

/* Fill in the median and the best of all rounds. */
void bench_summarise(struct bench_case *c);

/* The median over the rounds of a.ns / b.ns. */
double bench_ratio(const struct bench_case *a, const struct bench_case *b);

/* cases[0] is the floor to which all are compared. */
void bench_print_table(const struct bench_case *cases, size_t count,
                       const struct bench_target *targets, size_t target_count);
void bench_print_json(FILE *out, const struct bench_case *cases, size_t count,
                      const struct bench_target *targets, size_t target_count);

#endif
