/* SPDX-License-Identifier: MIT */
/*
 * command.h - the subcommands of `flyball`: one file and one row each.
 *
 * Exit codes: 0 done, 1 something failed (a write, memory), 2 usage; those that send requests also
 * 3 some failed, 4 some deferred, 5 refused by policy, 130 interrupted: the worst one wins, in the
 * order 130, 1, 2, 5, 3, 4, 0.
 *
 * To add one: write cli/<name>.c with a `const struct command fb_command_<name>` and add its row;
 * CONTRIBUTING.md has an example. Help, completion and the options of its manual page follow.
 */
#ifndef FLYBALL_CLI_COMMAND_H
#define FLYBALL_CLI_COMMAND_H

#include <stdbool.h>
#include <stdio.h>

struct option_row;

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

struct command {
    const char *name;
    const char *about;    /* one line for `flyball help` */
    const char *usage;    /* what stands behind its name: "[OPTION...] LIST | URL..." */
    const char *intro;    /* what it does, for its help: a paragraph, or NULL */
    const char *notes;    /* what else its help says below the options, or NULL */
    const char *exits;    /* "0 done, 1 cannot write, 2 usage" */
    const char *examples; /* a line each */

    bool is_minor; /* the overview names it, and has no line about it */

    const struct option_row *options; /* a row without a name ends them; NULL: it has none */

    /* argv[0] is the subcommand's name. Returns the exit code. */
    int (*run)(int argc, char **argv);
};

/* In the order of `flyball help`: what people do first, then answers, then what is for trying. */
#define FB_COMMANDS(X) \
    X(demo)            \
    X(fetch)           \
    X(serve)           \
    X(watch)           \
    X(status)          \
    X(top)             \
    X(limits)          \
    X(learned)         \
    X(why)             \
    X(items)           \
    X(item)            \
    X(reload)          \
    X(recycle)         \
    X(provider)        \
    X(source)          \
    X(audit)           \
    X(deferred)        \
    X(config)          \
    X(signals)         \
    X(mock)            \
    X(simulate)        \
    X(completion)

#define X(name) extern const struct command fb_command_##name;
FB_COMMANDS(X)
#undef X

/* The commands in their order; NULL behind the last. */
extern const struct command *const fb_commands[];

/* Or NULL. */
const struct command *fb_command_find(const char *name);

/* End a stream of results: flush, and complain once if anything could not be written. */
int fb_finish_output(FILE *out, const char *path);

#endif
