/* SPDX-License-Identifier: MIT */
/* simulate.c - `flyball simulate`: governors against model providers on a virtual clock. */
#include "cli/simulate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/options.h"

#define NAME "simulate"

#define ROW(name, kind, field, low, high, expects)                       \
    {                                                                    \
        name, kind, offsetof(struct simulate, field), low, high, expects \
    }

static const struct option_row ROWS[] = {
    ROW("--list", OPTION_FLAG, list, 0, 0, ""),
    ROW("--family", OPTION_TEXT, family, 0, 0, "first, second or all"),
    ROW("--scenario", OPTION_TEXT, scenarios, 0, 0, "a name or names, as --list has them"),
    ROW("--workers", OPTION_TEXT, workers, 0, 0, "a number from 1 to 1000, or both"),
    ROW("--controllers", OPTION_TEXT, controllers, 0, 0, "a name or names, as --list has them"),
    ROW("--seeds", OPTION_INT, seeds, 1, 10000, "a whole number from 1 to 10000"),
    ROW("--seed", OPTION_INT, seed, 0, 9e15, "a whole number from 0 on"),
    ROW("--jobs", OPTION_INT, jobs, 1, 64, "a whole number from 1 to 64"),
    ROW("--hours", OPTION_REAL, hours, 0.01, 1000, "a number of hours from 0.01 to 1000"),
    ROW("--spec", OPTION_TEXT, spec, 0, 0, "a limit text such as 'rate=10/s adapt=probe'"),
    ROW("--plot", OPTION_TEXT, plot, 0, 0, "the name of a file"),
    ROW("--trace", OPTION_FLAG, trace, 0, 0, ""),
    ROW("--json", OPTION_FLAG, json, 0, 0, ""),
    ROW("--quiet", OPTION_FLAG, quiet, 0, 0, ""),
    {0},
};

static void simulate_help(FILE *out)
{
    fputs("flyball simulate - try governors on model APIs, on a virtual clock\n"
          "\n"
          "  flyball simulate [OPTION...]\n"
          "\n"
          "  --list               the scenarios and the controllers\n"
          "  --scenario A[,B...]  these; --family first|second|all: whole families\n"
          "  --controllers A[,B]  these controllers\n"
          "  --workers N|both     requests at a time; both: 1 and 40\n"
          "  --seeds N            so many seeds; --seed N: the first of them (1)\n"
          "  --hours H            virtual hours of a run, instead of what the scenario says\n"
          "  --spec TEXT          limit text for the controller 'probe'\n"
          "  --plot FILE          draw pace, true limit and refusals over time, as SVG\n"
          "  --trace              print what happens in the first run\n"
          "  --json               one JSON object; --quiet: the means alone\n"
          "  --jobs N             threads (one per processor); the result is the same\n"
          "\n"
          "Same seed, same bytes. Exit: 0 done, 1 could not write, 2 usage.\n"
          "\n"
          "Examples:\n"
          "  flyball simulate\n"
          "  flyball simulate --family first --seeds 12 --controllers old,probe,oracle\n"
          "  flyball simulate --plot limits.svg\n",
          out);
}

static int complain(int error)
{
    fprintf(stderr, "flyball " NAME ": %s\n",
            error == -ENOMEM ? "out of memory" : "a controller could not be made");
    return EXIT_FAILED;
}

static int cannot_write(const char *path)
{
    fprintf(stderr, "flyball " NAME ": cannot write %s: %s\n", path, strerror(errno));
    return EXIT_FAILED;
}

static int plot_to(const char *path, const struct contest *c)
{
    FILE *out = fopen(path, "w");
    if (!out)
        return cannot_write(path);

    int error = fb_simulate_plot(out, c);
    int exit_code = error < 0 ? complain(error) : fb_finish_output(out, path);
    if (fclose(out) != 0 && exit_code == EXIT_DONE)
        return cannot_write(path);
    return exit_code;
}

static int show(const struct simulate *o, struct contest *c)
{
    int error = o->trace ? fb_simulate_trace(stdout, c) : fb_contest_run(c);

    if (error < 0)
        return complain(error);
    if (o->json && !o->trace)
        fb_simulate_json(stdout, c);
    else if (!o->trace)
        fb_simulate_table(stdout, c, o->quiet);

    int exit_code = fb_finish_output(stdout, "standard output");
    if (exit_code == EXIT_DONE && o->plot)
        exit_code = plot_to(o->plot, c);
    return exit_code;
}

static int simulate_run(int argc, char **argv)
{
    struct simulate o = {.seed = 1};
    struct contest *c = calloc(1, sizeof *c);
    int exit_code = EXIT_USAGE;

    if (!c)
        return complain(-ENOMEM);
    if (fb_options_read(ROWS, NAME, argc, argv, &o) == 0) {
        if (o.list) {
            fb_simulate_list(stdout);
            exit_code = fb_finish_output(stdout, "standard output");
        } else if (fb_simulate_choose(&o, c) == 0) {
            exit_code = show(&o, c);
        }
    }
    fb_contest_fini(c);
    free(c);
    return exit_code;
}

const struct command fb_command_simulate = {
    .name = NAME,
    .about = "try governors on model APIs, on a virtual clock",
    .help = simulate_help,
    .run = simulate_run,
};
