/* SPDX-License-Identifier: MIT */
/* report.c - medians, the table for people and the JSON for scripts. */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

#include <flyball/flyball.h>

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(const double *value, double *ret_least)
{
    double sorted[BENCH_ROUNDS];

    memcpy(sorted, value, sizeof sorted);
    qsort(sorted, BENCH_ROUNDS, sizeof sorted[0], by_size);
    *ret_least = sorted[0];
    return sorted[BENCH_ROUNDS / 2];
}

void bench_summarise(struct bench_case *c)
{
    c->median_ns = median(c->ns, &c->best_ns);
}

double bench_ratio(const struct bench_case *a, const struct bench_case *b)
{
    double ratio[BENCH_ROUNDS];
    double least;

    for (int i = 0; i < BENCH_ROUNDS; i++)
        ratio[i] = a->ns[i] / b->ns[i];
    return median(ratio, &least);
}

static const char *verdict(const struct bench_target *t)
{
    return t->value <= t->at_most ? "reached" : "MISSED";
}

void bench_print_table(const struct bench_case *cases, size_t count,
                       const struct bench_target *targets, size_t target_count)
{
    printf("%-44s %9s %9s %9s\n", "one operation, one thread", "median ns", "best ns", "x CAS");
    for (size_t i = 0; i < count; i++)
        printf("%-44s %9.1f %9.1f %9.2f\n", cases[i].name, cases[i].median_ns, cases[i].best_ns,
               bench_ratio(&cases[i], &cases[0]));
    printf("\n%-44s %9s %9s\n", "figure", "value", "at most");
    for (size_t i = 0; i < target_count; i++)
        printf("%-44s %9.2f %9.2f  %s\n", targets[i].what, targets[i].value, targets[i].at_most,
               verdict(&targets[i]));
}

void bench_print_json(FILE *out, const struct bench_case *cases, size_t count,
                      const struct bench_target *targets, size_t target_count)
{
    fprintf(out, "{\"schema\":\"flyball.bench/1\",\"version\":\"%s\",\"rounds\":%d,", fly_version(),
            BENCH_ROUNDS);
    fprintf(out, "\"results\":[\n");
    for (size_t i = 0; i < count; i++)
        fprintf(out, "  {\"name\":\"%s\",\"ns\":%.2f,\"best_ns\":%.2f,\"ratio\":%.3f}%s\n",
                cases[i].name, cases[i].median_ns, cases[i].best_ns,
                bench_ratio(&cases[i], &cases[0]), i + 1 < count ? "," : "");
    fprintf(out, "],\"targets\":[\n");
    for (size_t i = 0; i < target_count; i++)
        fprintf(out, "  {\"name\":\"%s\",\"value\":%.3f,\"at_most\":%.3f,\"pass\":%s}%s\n",
                targets[i].what, targets[i].value, targets[i].at_most,
                targets[i].value <= targets[i].at_most ? "true" : "false",
                i + 1 < target_count ? "," : "");
    fprintf(out, "]}\n");
}
