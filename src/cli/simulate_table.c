/* SPDX-License-Identifier: MIT */
/* simulate_table.c - results for people. */
#include <inttypes.h>

#include "cli/simulate.h"

/* Of one seed there is no least, no most and no worst: its rows fit into 80 columns. */
static void print_head(FILE *out, bool one_seed)
{
    fprintf(out, "%-14s %3s %-9s %6s %8s %8s %9s %8s %5s", "scenario", "wk", "by", "score",
            "goodput", "refused", "per 1000", "90 % at", "bans");
    if (!one_seed)
        fprintf(out, "   worst: %6s %8s %8s  %s", "score", "goodput", "refused", "worst seed");
    fputc('\n', out);
}

static void print_row(FILE *out, const struct contest *c, int32_t cell, int32_t governor)
{
    const struct contest_cell *k = &c->cell[cell];
    const struct cell_score *s = fb_contest_get(c, cell, governor);

    fprintf(out, "%-14s %3d %-9s %6.1f %8.3f %8.0f %9.2f %6.0f s %5" PRId64, k->scenario->name,
            k->workers, c->governor[governor]->name, s->score, s->goodput, s->refused, s->per_1000,
            s->to_90_s, s->bans);
    if (c->seeds > 1)
        fprintf(out, "   worst: %6.1f %8.3f %8" PRId64 "  %" PRIu64, s->score_min, s->goodput_min,
                s->refused_max, s->worst_seed);
    if (s->stay_p95_s > 0.0)
        fprintf(out, "  p95 in system %.2f s", s->stay_p95_s);
    if (s->jain < 0.9999)
        fprintf(out, "  Jain %.3f", s->jain);
    fputs(s->stuck ? "  STUCK\n" : "\n", out);
}

static void print_mean(FILE *out, double mean)
{
    if (mean < 0.0)
        fprintf(out, " %7s", "-");
    else
        fprintf(out, " %7.2f", mean);
}

static void print_means(FILE *out, const struct contest *c)
{
    fprintf(out, "%-10s %7s %7s %7s   mean score of %d cell%s, %d seed%s from %" PRIu64 "\n", "by",
            "first", "second", "all", c->cell_count, c->cell_count == 1 ? "" : "s", c->seeds,
            c->seeds == 1 ? "" : "s", c->seed);
    for (int32_t g = 0; g < c->governor_count; g++) {
        fprintf(out, "%-10s", c->governor[g]->name);
        print_mean(out, fb_contest_mean(c, g, &fb_scenarios_first));
        print_mean(out, fb_contest_mean(c, g, &fb_scenarios_second));
        print_mean(out, fb_contest_mean(c, g, NULL));
        fputc('\n', out);
    }
}

void fb_simulate_table(FILE *out, const struct contest *c, bool quiet)
{
    if (!quiet) {
        print_head(out, c->seeds == 1);
        for (int32_t cell = 0; cell < c->cell_count; cell++) {
            for (int32_t g = 0; g < c->governor_count; g++)
                print_row(out, c, cell, g);
            if (c->governor_count > 1)
                fputc('\n', out);
        }
        if (c->governor_count == 1)
            fputc('\n', out);
    }
    print_means(out, c);
    if (!quiet)
        fputs("\nwk: workers; 90 % at: when 90 % of the oracle's pace was reached.\n"
              "score = 100 x goodput (at most 1) x 10 / (10 + refusals per 1000 beyond the\n"
              "oracle's own)\n",
              out);
}

static void list_family(FILE *out, const struct scenario_family *f)
{
    fprintf(out, "scenarios, family '%s' (%s):\n", f->name,
            f->one_worker_too ? "1 and 40 workers" : "40 workers");
    for (int32_t i = 0; i < f->count; i++)
        fprintf(out, "  %-15s %s\n", f->scenarios[i].name, f->scenarios[i].about);
    fputc('\n', out);
}

void fb_simulate_list(FILE *out)
{
    for (int i = 0; fb_scenario_family_at(i); i++)
        list_family(out, fb_scenario_family_at(i));
    fputs("controllers:\n", out);
    for (int i = 0; fb_governor_at(i); i++)
        fprintf(out, "  %-15s %s\n", fb_governor_at(i)->name, fb_governor_at(i)->about);
}
