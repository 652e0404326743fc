/* SPDX-License-Identifier: MIT */
/*
 * contest.h - many runs: every cell x every seed x every governor, each judged by the oracle.
 *
 * A cell is a scenario with a number of workers. Runs are spread over threads; the result does
 * not depend on how many.
 */
#ifndef FLYBALL_SIM_CONTEST_H
#define FLYBALL_SIM_CONTEST_H

#include <stdint.h>

#include "sim/governor.h"
#include "sim/scenario.h"
#include "sim/score.h"

#define FB_CELLS_MAX     256
#define FB_GOVERNORS_MAX 16

struct contest_cell {
    const struct scenario_family *family;
    const struct scenario *scenario;
    int32_t workers;
};

struct contest {
    struct contest_cell cell[FB_CELLS_MAX];
    int32_t cell_count;
    const struct governor_kind *governor[FB_GOVERNORS_MAX];
    int32_t governor_count;
    uint64_t seed;    /* the first ... */
    int32_t seeds;    /* ... of so many */
    int32_t jobs;     /* threads */
    double hours;     /* 0: as drawn */
    const char *spec; /* for `probe` */

    /* Results: one for every cell and governor, made by run. */
    struct cell_score *result; /* [cell * governor_count + governor] */
};

/* Run it all. 0, -ENOMEM, or -EINVAL when a governor could not be made. fini in any case. */
int fb_contest_run(struct contest *c) __attribute__((warn_unused_result));
void fb_contest_fini(struct contest *c);

const struct cell_score *fb_contest_get(const struct contest *c, int32_t cell, int32_t governor);

/* The mean score of a governor over the cells of one family (NULL: of all); < 0: no such cell. */
double fb_contest_mean(const struct contest *c, int32_t governor,
                       const struct scenario_family *family);

#endif
