/* SPDX-License-Identifier: MIT */
/*
 * command.h - the subcommands of `flyball`: one file and one row each.
 *
 * Exit codes: 0 done, 1 something failed (a write, memory), 2 usage; those that send requests also
 * 3 some failed, 4 some deferred, 5 refused by policy, 130 interrupted: the worst one wins, in the
 * order 130, 1, 2, 5, 3, 4, 0.
 *
 * To add one: write cli/<name>.c with a `const struct command fb_command_<name>` and add its row.
 */
#ifndef FLYBALL_CLI_COMMAND_H
#define FLYBALL_CLI_COMMAND_H

#include <stdio.h>

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

struct command {
    const char *name;
    const char *about; /* one line for `flyball help` */

    /* The manual: at most 24 lines, with examples. */
    void (*help)(FILE *out);

    /* argv[0] is the subcommand's name. Returns the exit code. */
    int (*run)(int argc, char **argv);
};

#define FB_COMMANDS(X) \
    X(demo)            \
    X(fetch)           \
    X(deferred)        \
    X(mock)            \
    X(signals)         \
    X(simulate)

#define X(name) extern const struct command fb_command_##name;
FB_COMMANDS(X)
#undef X

/* End a stream of results: flush, and complain once if anything could not be written. */
int fb_finish_output(FILE *out, const char *path);

#endif
