/* SPDX-License-Identifier: MIT */
/*
 * scenario.h - the kinds of provider and client that governors are tried on.
 *
 * A scenario is a row: a name and a function that draws a setup from a seed. Limits, windows,
 * bursts and phases are drawn at random so that nothing can be tuned to a number. The first
 * family is a client that always has more to do; the second is everything else; three more, not
 * part of any score, have restarts that lose nothing, what real servers showed, and round numbers.
 *
 * To add one: write its draw function in scenario_first.c or scenario_second.c and add its row.
 */
#ifndef FLYBALL_SIM_SCENARIO_H
#define FLYBALL_SIM_SCENARIO_H

#include <stdint.h>

#include "core/rng.h"
#include "sim/setup.h"

struct scenario {
    const char *name;
    const char *about; /* one line for --list */
    void (*draw)(struct setup *s, struct rng *r);
};

struct scenario_family {
    const char *name; /* "first", "second" */
    const struct scenario *scenarios;
    int32_t count;
    bool one_worker_too; /* by default tried with 1 worker and with 40, not with 40 alone */
};

extern const struct scenario_family fb_scenarios_first;
extern const struct scenario_family fb_scenarios_second;
extern const struct scenario_family fb_scenarios_restored; /* restarts that lose nothing */
extern const struct scenario_family fb_scenarios_real;     /* what real servers showed */
extern const struct scenario_family fb_scenarios_show;     /* round numbers, for a first look */

/* The i-th family, NULL behind the last. */
const struct scenario_family *fb_scenario_family_at(int i);

/* NULL when there is none of that name; otherwise *ret_family is where it belongs. */
const struct scenario *fb_scenario_find(const char *name,
                                        const struct scenario_family **ret_family);

/*
 * Draw the setup of `seed`, the same for every governor and every number of workers. `hours` > 0
 * overrides how long it lasts.
 */
void fb_scenario_draw(const struct scenario *c, uint64_t seed, int32_t workers, double hours,
                      struct setup *ret_setup);

/* Helpers for draw functions. */

/*
 * Decide how long the run lasts, for a limit of `rate`: 1 to 8 hours, long enough for some
 * thousand requests and `least_s`, short enough for about a million requests.
 */
void fb_setup_duration(struct setup *s, struct rng *r, double rate, double least_s);

/* Add a gate of each kind; the rest of its fields may be changed through the result. */
struct gate *fb_setup_bucket(struct setup *s, double rate, double burst);
struct gate *fb_setup_window(struct setup *s, const struct gate_kind *kind, double rate,
                             double window_s);
struct gate *fb_setup_crowd(struct setup *s, int64_t limit);

/* A burst of 2..500 that jitter alone does not use up (a burst of 1 is strict spacing). */
double fb_draw_burst(struct rng *r, double rate);

/* A round window in [low_s, high_s] that holds at least 10 requests; the phase is drawn too. */
double fb_draw_window(struct rng *r, double rate, double low_s, double high_s);
void fb_draw_phase(struct rng *r, struct gate *g);

#endif
