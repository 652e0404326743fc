/* SPDX-License-Identifier: MIT */
/* simulate_plot.c - run every governor once and hand the courses to the plotter. */
#include <errno.h>

#include "cli/simulate.h"
#include "sim/plot.h"
#include "sim/run.h"
#include "util/alloc.h"

/* Everything that the picture refers to; the last tally is the oracle's. */
struct gallery {
    struct setup setup;
    struct tally tally[FB_GOVERNORS_MAX + 1];
    struct score score[FB_GOVERNORS_MAX];
    struct plot_panel panel[FB_GOVERNORS_MAX];
};

static int run_all(struct gallery *g, const struct contest *c)
{
    struct tally *oracle = &g->tally[c->governor_count];
    struct run_options o = {.governor = &fb_governor_oracle, .spec = c->spec};
    int error = fb_run(&g->setup, &o, oracle);

    for (int32_t i = 0; i < c->governor_count && error == 0; i++) {
        o.governor = c->governor[i];
        error = fb_run(&g->setup, &o, &g->tally[i]);
        if (error < 0)
            break;
        g->score[i] = fb_score_run(&g->setup, &g->tally[i], oracle);
        g->panel[i] = (struct plot_panel){
            .name = o.governor->name,
            .about = o.governor->about,
            .tally = &g->tally[i],
            .score = &g->score[i],
        };
    }
    return error;
}

int fb_simulate_plot(FILE *out, const struct contest *c)
{
    const struct contest_cell *cell = &c->cell[0];
    struct gallery *g = fb_alloc(sizeof *g);

    if (!g)
        return -ENOMEM;
    fb_scenario_draw(cell->scenario, c->seed, cell->workers, c->hours, &g->setup);

    int error = run_all(g, c);
    if (error == 0)
        fb_plot_write(out, &(struct plot){
                               .scenario = cell->scenario->name,
                               .about = cell->scenario->about,
                               .setup = &g->setup,
                               .seed = c->seed,
                               .panel = g->panel,
                               .panel_count = c->governor_count,
                           });
    fb_free(g);
    return error;
}
