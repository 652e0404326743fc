/* SPDX-License-Identifier: MIT */
/*
 * plot.h - a picture of some runs of one setup: a self-contained SVG, readable on light and dark.
 *
 * A panel a run, all with the same axes: what was accepted a second, the true limit, and where and
 * how often it was refused.
 */
#ifndef FLYBALL_SIM_PLOT_H
#define FLYBALL_SIM_PLOT_H

#include <stdint.h>
#include <stdio.h>

#include "sim/score.h"
#include "sim/setup.h"
#include "sim/tally.h"

struct plot_panel {
    const char *name;
    const char *about;
    const struct tally *tally;
    const struct score *score;
};

struct plot {
    const char *scenario;
    const char *about;
    const struct setup *setup;
    uint64_t seed;
    const struct plot_panel *panel;
    int32_t panel_count;
};

/* Write the picture. Whether it could be written is for the caller to ask the stream. */
void fb_plot_write(FILE *out, const struct plot *p);

#endif
