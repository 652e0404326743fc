/* SPDX-License-Identifier: MIT */
/* simulate.c - `flyball simulate`: governors against model providers on a virtual clock. */
#include "cli/simulate.h"

#include <errno.h>
#include <string.h>

#include "cli/command.h"
#include "cli/options.h"
#include "util/alloc.h"

#define NAME "simulate"

#define OPTION_TARGET struct simulate
#define NAMES         "a name or names, as --list has them"

static const struct option_row ROWS[] = {
    {"--list", OPTION_FLAG(list), .about = "the scenarios and the controllers"},
    {"--scenario", OPTION_TEXT(scenarios, "A[,B...]"), .expects = NAMES,
     .about = "run these scenarios"},
    {"--family", OPTION_WORD(family, "first", "second", "all"),
     .about = "run whole families of scenarios"},
    {"--controllers", OPTION_TEXT(controllers, "A[,B...]"), .expects = NAMES,
     .about = "let these controllers compete"},
    {"--workers", OPTION_TEXT(workers, "N|both"), .expects = "a number from 1 to 1000, or both",
     .about = "so many requests at a time; both: a run with 1 and one with 40"},
    {"--seeds", OPTION_INT(seeds, "N", 1, 10000), .standard = "1",
     .about = "repeat with so many seeds"},
    {"--seed", OPTION_INT(seed, "N", 0, 9e15), .standard = "1", .about = "the first of the seeds"},
    {"--hours", OPTION_REAL(hours, "H", 0.01, 1000),
     .about = "virtual hours of a run, instead of what the scenario draws"},
    {"--spec", OPTION_TEXT(spec, "TEXT"), .expects = "a limit text such as 'rate=10/s adapt=probe'",
     .about = "limit text for the controller probe"},
    {"--plot", OPTION_FILE(plot, "FILE"),
     .about = "draw pace, true limit and refusals over time, as SVG"},
    {"--trace", OPTION_FLAG(trace), .about = "print what happens in the first run"},
    {"--json", OPTION_FLAG(json), .about = "one JSON object instead of a table"},
    {"--quiet", OPTION_FLAG(quiet), .about = "the means alone"},
    {"--jobs", OPTION_INT(jobs, "N", 1, 64),
     .about = "threads; not said: one per processor; the result is the same"},
    {0},
};

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
    struct simulate o = {0};
    struct contest *c = fb_alloc(sizeof *c);
    int exit_code = EXIT_USAGE;

    if (!c)
        return complain(-ENOMEM);
    if (fb_options_read(&fb_command_simulate, argc, argv, &o) == 0) {
        if (o.list) {
            fb_simulate_list(stdout);
            exit_code = fb_finish_output(stdout, "standard output");
        } else if (fb_simulate_choose(&o, c) == 0) {
            exit_code = show(&o, c);
        }
    }
    fb_contest_fini(c);
    fb_free(c);
    return exit_code;
}

const struct command fb_command_simulate = {
    .name = NAME,
    .about = "try governors on model APIs, on a virtual clock",
    .usage = "[OPTION...]",
    .is_minor = true,
    .options = ROWS,
    .exits = "0 done, 1 could not write, 2 usage; same seed, same bytes",
    .examples = "flyball simulate\n"
                "flyball simulate --family first --seeds 12 --controllers old,probe,oracle\n"
                "flyball simulate --plot limits.svg\n",
    .run = simulate_run,
};
