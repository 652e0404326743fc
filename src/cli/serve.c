/* SPDX-License-Identifier: MIT */
/* serve.c - `flyball serve`: the daemon. */
#include <stddef.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/options.h"
#include "daemon/daemon.h"

#define NAME "serve"

extern char **environ;

struct serve_line {
    const char *file;
    struct option_words set;
    bool quiet;
};

#define OPTION_TARGET struct serve_line

static const struct option_row ROWS[] = {
    {"-c,--config", OPTION_FILE(file, "FILE"),
     .about = "the configuration; not said: where it is looked for, or none at all"},
    {"--set", OPTION_MANY(set, "KEY=VALUE"), .expects = "a key and a value such as mode=strict",
     .about = "a setting before all others, such as listeners.public.listen=off"},
    {"-q,--quiet", OPTION_FLAG(quiet), .about = "do not say where it listens"},
    {0},
};

static int serve_run(int argc, char **argv)
{
    struct serve_line line = {0};
    const char *flags[OPTION_WORDS_MAX + 1] = {0};

    if (fb_options_read(&fb_command_serve, argc, argv, &line) < 0)
        return EXIT_USAGE;
    for (size_t i = 0; i < line.set.count; i++)
        flags[i] = line.set.word[i];
    struct daemon_options o = {.file = line.file,
                               .environment = (const char *const *)environ,
                               .flags = flags,
                               .quiet = line.quiet};
    return fb_daemon_run(&o);
}

const struct command fb_command_serve = {
    .name = NAME,
    .about = "the daemon: batches that come and go, and all of it in the open",
    .usage = "[OPTION...]",
    .intro =
        "Runs the batches of its configuration and those that are submitted, and answers "
        "questions about them: a dashboard at /, /status, /events and /history for everybody on "
        "this machine, /metrics and actions for those who run it, a control socket for the "
        "commands.",
    .notes = "SIGHUP reads the configuration anew, SIGUSR1 opens the log anew, SIGTERM ends it.",
    .exits = "0 told to end, 1 cannot listen or run, 2 usage or configuration",
    .examples = "flyball serve\n"
                "flyball serve --config /etc/flyball/flyball.yaml\n"
                "curl http://127.0.0.1:8080/status\n",
    .options = ROWS,
    .run = serve_run,
};
