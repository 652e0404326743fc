/* SPDX-License-Identifier: MIT */
/*
 * score.h - how good a run was, measured against the oracle's run of the same setup.
 *
 *     score = 100 * min(1, goodput) * 10 / (10 + x)
 *
 * goodput: what was accepted / what the oracle got accepted. Where demand comes and goes, the
 * oracle's time in system / this one's: the mean for clumps, the 95th percentile for a steady
 * stream, the makespan for a batch. x: refusals per 1000 requests beyond the oracle's own.
 */
#ifndef FLYBALL_SIM_SCORE_H
#define FLYBALL_SIM_SCORE_H

#include <stdint.h>

#include "sim/tally.h"

/* One run against its reference. */
struct score {
    double score;    /* 0..100 */
    double goodput;  /* not capped at 1 */
    double per_1000; /* refusals per 1000 requests */
    double to_90_s;  /* seconds until 90 % of the oracle's pace */
    double jain;     /* fairness among several clients */
    double stay_p95_s;
    double merit; /* what goodput is a ratio of: the more the better */
    int64_t sent;
    int64_t refused;
    int32_t bans;
    bool stuck;
};

/* The formula alone. */
double fb_score(double goodput, double refused_per_1000_beyond_oracle);

/* Judge a run by the oracle's. */
struct score fb_score_run(const struct setup *s, const struct tally *t, const struct tally *oracle);

/* Runs of one cell (scenario x workers) and one governor, over the seeds. */
struct cell_score {
    int32_t runs;
    double score; /* means ... */
    double goodput;
    double per_1000;
    double refused; /* ... per run */
    double to_90_s;
    double jain;
    double stay_p95_s;
    double score_min;
    double goodput_min;
    int64_t refused_max;
    int64_t bans; /* in all runs */
    int64_t sent;
    uint64_t worst_seed; /* of the lowest score */
    int32_t stuck;       /* runs that got nowhere */
};

/* A zeroed cell is empty; add the runs, then finish turns sums into means. */
void fb_cell_add(struct cell_score *c, const struct score *s, uint64_t seed);
void fb_cell_finish(struct cell_score *c);

#endif
