/* SPDX-License-Identifier: MIT */
/* watch.c - `flyball watch`: keep items fresh from several sites; and how that goes. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "cli/ask.h"
#include "cli/command.h"
#include "cli/options.h"
#include "daemon/daemon.h"

#define NAME "watch"

extern char **environ;

struct watch_line {
    struct option_words words;
    const char *file;
    struct option_words set;
    bool quiet;
    bool verbose;
    bool json;
};

#define OPTION_TARGET struct watch_line

static const struct option_row ROWS[] = {
    {"", OPTION_MANY(words, "ACTION"), .expects = "nothing, or status",
     .choices = (const char *const[]){"status", NULL}, .about = "status: how fresh things are"},
    {"-c,--config", OPTION_FILE(file, "FILE"),
     .about = "the configuration; not said: where it is looked for"},
    {"--set", OPTION_MANY(set, "KEY=VALUE"), .expects = "a key and a value such as mode=strict",
     .about = "a setting before all others, such as watch.interval=1s"},
    {"-q,--quiet", OPTION_FLAG(quiet), .about = "do not say where it listens"},
    {"-v,--verbose", OPTION_FLAG(verbose), .about = "of status: all warnings"},
    {"--json", OPTION_FLAG(json), .about = "of status: one JSON object"},
    {0},
};

static int serve(const struct watch_line *line)
{
    const char *flags[OPTION_WORDS_MAX + 1] = {0};

    for (size_t i = 0; i < line->set.count; i++)
        flags[i] = line->set.word[i];
    struct daemon_options o = {.file = line->file,
                               .environment = (const char *const *)environ,
                               .flags = flags,
                               .quiet = line->quiet,
                               .must_watch = true};
    return fb_daemon_run(&o);
}

static int watch_run(int argc, char **argv)
{
    struct watch_line line = {0};

    if (fb_options_read(&fb_command_watch, argc, argv, &line) < 0)
        return EXIT_USAGE;
    if (line.words.count == 0)
        return serve(&line);
    if (line.words.count == 1 && strcmp(line.words.word[0], "status") == 0)
        return fb_ask_only(NAME " status", NAME, NULL, line.json, line.verbose);
    fputs("flyball " NAME ": expected nothing, or 'status'\n", stderr);
    return EXIT_USAGE;
}

const struct command fb_command_watch = {
    .name = NAME,
    .about = "keep things fresh that change, from several sites at once",
    .usage = "[OPTION...] [status]",
    .intro = "Runs the daemon with the section `watch` of its configuration: a list says which "
             "items there are, sources know something about each. Every item is looked at as often "
             "as its state wants, where a limit allows it; what the sources say becomes one "
             "picture, with its age and with whose word it is. `status` says how that goes.",
    .notes = "See flyball items, flyball item ID, flyball source enable|disable NAME, flyball "
             "recycle; /items, /events and /metrics of the daemon.",
    .exits = "0 done or told to end, 1 cannot run, 2 usage or configuration, 3 no daemon answers",
    .examples = "flyball watch -c examples/matches/flyball.yaml\n"
                "flyball watch status\n"
                "curl -N http://127.0.0.1:8080/events\n",
    .options = ROWS,
    .run = watch_run,
};
