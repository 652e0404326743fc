/* SPDX-License-Identifier: MIT */
/* main.c - find the subcommand and hand over. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/help.h"
#include "cli/version.h"
#include "config/suggest.h"
#include "watch/sources/child.h"
#include "watch/sources/child_main.h"

#define X(name) &fb_command_##name,
const struct command *const fb_commands[] = {FB_COMMANDS(X) NULL};
#undef X
enum { COMMAND_COUNT = sizeof fb_commands / sizeof fb_commands[0] - 1 };

const struct command *fb_command_find(const char *name)
{
    for (int i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(fb_commands[i]->name, name) == 0)
            return fb_commands[i];
    }
    return NULL;
}

static int unknown_command(const char *word)
{
    const char *names[COMMAND_COUNT + 2] = {0};

    for (int i = 0; i < COMMAND_COUNT; i++)
        names[i] = fb_commands[i]->name;
    names[COMMAND_COUNT] = "help";

    const char *near = fb_suggest(word, names);
    fprintf(stderr, "flyball: there is no command '%s'", word);
    if (near)
        fprintf(stderr, ", did you mean '%s'?\n", near);
    else
        fputs("; 'flyball help' lists them\n", stderr);
    return EXIT_USAGE;
}

static bool is_one_of(const char *word, const char *a, const char *b)
{
    return strcmp(word, a) == 0 || strcmp(word, b) == 0;
}

/* "--json" anywhere behind; no other word may be there. */
static int read_json(int argc, char **argv, const char *what, bool *ret_json)
{
    for (int i = 0; i < argc; i++) {
        if (strcmp(argv[i], "--json") != 0) {
            fprintf(stderr, "flyball %s: did not expect '%s'\n", what, argv[i]);
            return -1;
        }
        *ret_json = true;
    }
    return 0;
}

/* `flyball help [COMMAND] [--json]`: the words behind "help". */
static int run_help(int argc, char **argv)
{
    bool has_name = argc > 0 && argv[0][0] != '-';
    const struct command *c = has_name ? fb_command_find(argv[0]) : NULL;
    bool json = false;

    if (has_name && !c && strcmp(argv[0], "help") != 0)
        return unknown_command(argv[0]);
    if (read_json(argc - has_name, argv + has_name, "help", &json) < 0)
        return EXIT_USAGE;
    if (json)
        fb_help_json(stdout, c);
    else if (c)
        fb_help_command(stdout, c);
    else
        fb_help_overview(stdout);
    return fb_finish_output(stdout, "standard output");
}

static int run_version(int argc, char **argv)
{
    bool json = false;

    if (read_json(argc, argv, "--version", &json) < 0)
        return EXIT_USAGE;
    fb_version_print(stdout, json);
    return fb_finish_output(stdout, "standard output");
}

static int run_command(const struct command *c, int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (!is_one_of(argv[i], "--help", "-h"))
            continue;
        if (argv[i][1] == 'h')
            fb_help_command(stdout, c);
        else
            fb_help_long(stdout, c);
        return fb_finish_output(stdout, "standard output");
    }
    return c->run(argc, argv);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return run_help(0, NULL);
    if (strcmp(argv[1], FB_CHILD_WORD) == 0)
        return fb_child_main(argc - 2, argv + 2);
    if (is_one_of(argv[1], "--version", "-V"))
        return run_version(argc - 2, argv + 2);
    if (is_one_of(argv[1], "--help", "-h") || strcmp(argv[1], "help") == 0)
        return run_help(argc - 2, argv + 2);

    const struct command *c = fb_command_find(argv[1]);
    return c ? run_command(c, argc - 1, argv + 1) : unknown_command(argv[1]);
}
