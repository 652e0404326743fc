/* SPDX-License-Identifier: MIT */
/*
 * simulate_json.c - results for programs: schema "flyball.simulate/1", fields are only ever added.
 *
 * All names are our own words without quotes or control characters, so nothing needs escaping.
 */
#include <inttypes.h>

#include "cli/simulate.h"

static void write_result(FILE *out, const char *controller, const struct cell_score *s)
{
    fprintf(out, "{\"controller\":\"%s\",\"score\":%.4f,\"score_min\":%.4f,", controller, s->score,
            s->score_min);
    fprintf(out, "\"goodput\":%.6f,\"goodput_min\":%.6f,", s->goodput, s->goodput_min);
    fprintf(out, "\"refused_per_1000\":%.6f,\"refused_per_run\":%.3f,\"refused_max\":%" PRId64 ",",
            s->per_1000, s->refused, s->refused_max);
    fprintf(out, "\"seconds_to_90\":%.3f,\"bans\":%" PRId64 ",\"requests\":%" PRId64 ",",
            s->to_90_s, s->bans, s->sent);
    fprintf(out, "\"jain\":%.6f,\"stay_p95_s\":%.6f,", s->jain, s->stay_p95_s);
    fprintf(out, "\"worst_seed\":%" PRIu64 ",\"stuck_runs\":%d}", s->worst_seed, s->stuck);
}

static void write_cell(FILE *out, const struct contest *c, int32_t cell)
{
    const struct contest_cell *k = &c->cell[cell];

    fprintf(out, "    {\"family\":\"%s\",\"scenario\":\"%s\",\"workers\":%d,\"results\":[\n",
            k->family->name, k->scenario->name, k->workers);
    for (int32_t g = 0; g < c->governor_count; g++) {
        fputs("      ", out);
        write_result(out, c->governor[g]->name, fb_contest_get(c, cell, g));
        fputs(g + 1 < c->governor_count ? ",\n" : "\n", out);
    }
    fprintf(out, "    ]}%s\n", cell + 1 < c->cell_count ? "," : "");
}

/* A family without a cell has no mean: null. */
static void write_mean(FILE *out, const char *name, double mean)
{
    if (mean < 0.0)
        fprintf(out, ",\"%s\":null", name);
    else
        fprintf(out, ",\"%s\":%.4f", name, mean);
}

static void write_means(FILE *out, const struct contest *c)
{
    for (int32_t g = 0; g < c->governor_count; g++) {
        fprintf(out, "    {\"controller\":\"%s\"", c->governor[g]->name);
        write_mean(out, "first", fb_contest_mean(c, g, &fb_scenarios_first));
        write_mean(out, "second", fb_contest_mean(c, g, &fb_scenarios_second));
        write_mean(out, "all", fb_contest_mean(c, g, NULL));
        fprintf(out, "}%s\n", g + 1 < c->governor_count ? "," : "");
    }
}

void fb_simulate_json(FILE *out, const struct contest *c)
{
    fprintf(out,
            "{\n  \"schema\":\"flyball.simulate/1\",\n  \"seed\":%" PRIu64 ",\n  \"seeds\":%d,\n"
            "  \"cells\":[\n",
            c->seed, c->seeds);
    for (int32_t i = 0; i < c->cell_count; i++)
        write_cell(out, c, i);
    fputs("  ],\n  \"means\":[\n", out);
    write_means(out, c);
    fputs("  ]\n}\n", out);
}
