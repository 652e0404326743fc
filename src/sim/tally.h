/* SPDX-License-Identifier: MIT */
/*
 * tally.h - what came of a run: counts, a course over time, and times in system.
 */
#ifndef FLYBALL_SIM_TALLY_H
#define FLYBALL_SIM_TALLY_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/setup.h"

#define FB_TALLY_BINS  360
#define FB_TALLY_STAYS 960 /* classes of times in system, 32 an octave from 1 ms on */

struct tally {
    int64_t duration_ns;
    int64_t sent;
    int64_t accepted;
    int64_t units; /* accepted, weighted by cost */
    int64_t refused;
    int64_t failed; /* neither accepted nor refused: 5xx for other reasons, given up */
    int64_t cancelled;
    int32_t bans;
    bool stuck; /* the governor asked to be woken without end */
    int64_t client_units[FB_CLIENTS_MAX];
    uint32_t bin_sent[FB_TALLY_BINS];
    uint32_t bin_units[FB_TALLY_BINS]; /* accepted */
    uint32_t bin_refused[FB_TALLY_BINS];

    int64_t stay_count; /* demand that was served, or still waits at the end */
    double stay_sum_s;
    int64_t last_done_ns; /* the last acceptance */
    uint32_t stay[FB_TALLY_STAYS];
};

void fb_tally_init(struct tally *t, int64_t duration_ns);
void fb_tally_sent(struct tally *t, int64_t now_ns);
void fb_tally_accepted(struct tally *t, int64_t now_ns, uint32_t cost, int32_t client);
void fb_tally_refused(struct tally *t, int64_t now_ns);

/* Work that was asked for at `born_ns` is done, or is still waiting when the run ends. */
void fb_tally_stay(struct tally *t, int64_t born_ns, int64_t now_ns);

/* Mean time in system, and the time that this share of the work did not exceed. */
double fb_tally_stay_mean_s(const struct tally *t);
double fb_tally_stay_quantile_s(const struct tally *t, double share);

/* Jain's index of fairness of `clients`: 1 when all got the same. */
double fb_tally_jain(const struct tally *t, int32_t clients);

/* When this run first kept 90 % of the reference's pace for a while; the duration if never. */
double fb_tally_to_90_s(const struct tally *t, const struct tally *reference);

#endif
