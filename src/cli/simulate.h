/* SPDX-License-Identifier: MIT */
/*
 * simulate.h - the parts of `flyball simulate`: what was asked for, and the ways to show it.
 */
#ifndef FLYBALL_CLI_SIMULATE_H
#define FLYBALL_CLI_SIMULATE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "sim/contest.h"

/* The command line as it was read. */
struct simulate {
    bool list;
    bool json;
    bool quiet;
    bool trace;
    const char *family;
    const char *scenarios;
    const char *workers;
    const char *controllers;
    const char *spec;
    const char *plot;
    int64_t seeds; /* 0: not said */
    int64_t seed;
    int64_t jobs; /* 0: not said */
    double hours;
};

/*
 * Turn the command line into cells, governors and seeds. 0; or -EINVAL after a sentence on stderr
 * that names the wrong word.
 */
int fb_simulate_choose(const struct simulate *o, struct contest *c)
    __attribute__((warn_unused_result));

/* For people: a row a cell and governor, then the means. `quiet`: the means alone. */
void fb_simulate_table(FILE *out, const struct contest *c, bool quiet);

/* The same facts as one JSON object, schema "flyball.simulate/1". */
void fb_simulate_json(FILE *out, const struct contest *c);

/* Names of scenarios and controllers. */
void fb_simulate_list(FILE *out);

/* The events of one run: the contest's first cell, governor and seed. 0 or negative errno. */
int fb_simulate_trace(FILE *out, const struct contest *c) __attribute__((warn_unused_result));

/*
 * The picture of all governors in the first cell and seed. 0, or negative errno; whether it could
 * be written is for the caller to ask the stream.
 */
int fb_simulate_plot(FILE *out, const struct contest *c) __attribute__((warn_unused_result));

#endif
