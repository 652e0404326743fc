/* SPDX-License-Identifier: MIT */
/* main.c - find the subcommand and hand over. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <flyball/flyball.h>

#include "cli/command.h"
#include "config/suggest.h"

#define X(name) &fb_command_##name,
static const struct command *const COMMANDS[] = {FB_COMMANDS(X)};
#undef X
enum { COMMAND_COUNT = sizeof COMMANDS / sizeof COMMANDS[0] };

static const struct command *find_command(const char *name)
{
    for (int i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(COMMANDS[i]->name, name) == 0)
            return COMMANDS[i];
    }
    return NULL;
}

static void help(FILE *out)
{
    fputs("flyball - send requests as fast as the API allows, and no faster\n"
          "\n"
          "  flyball COMMAND [OPTION...]\n"
          "\n",
          out);
    for (int i = 0; i < COMMAND_COUNT; i++)
        fprintf(out, "  %-10s %s\n", COMMANDS[i]->name, COMMANDS[i]->about);
    fputs("  help       this text, or the manual of one command: flyball help COMMAND\n"
          "\n"
          "  --version  the version of this program\n"
          "\n"
          "Examples:\n"
          "  flyball demo                         see it find a limit that nobody told\n"
          "  flyball fetch urls.txt               every request of a list, politely\n"
          "  flyball simulate                     compare ways to keep to an unknown limit\n"
          "  flyball simulate --plot limits.svg   the same as a picture\n"
          "  flyball mock --limit window=50/1s    an API with this limit on this machine\n"
          "  flyball help simulate                all that it can do\n",
          out);
}

static int unknown_command(const char *word)
{
    const char *names[COMMAND_COUNT + 2] = {0};

    for (int i = 0; i < COMMAND_COUNT; i++)
        names[i] = COMMANDS[i]->name;
    names[COMMAND_COUNT] = "help";

    const char *near = fb_suggest(word, names);
    fprintf(stderr, "flyball: there is no command '%s'", word);
    if (near)
        fprintf(stderr, ", did you mean '%s'?\n", near);
    else
        fputs("; 'flyball help' lists them\n", stderr);
    return EXIT_USAGE;
}

static int run_help(int argc, char **argv)
{
    const struct command *c = argc > 0 ? find_command(argv[0]) : NULL;

    if (argc > 0 && !c)
        return unknown_command(argv[0]);
    if (c)
        c->help(stdout);
    else
        help(stdout);
    return fb_finish_output(stdout, "standard output");
}

static int print_version(void)
{
    printf("flyball %s\n", fly_version());
    return fb_finish_output(stdout, "standard output");
}

static bool is_one_of(const char *word, const char *a, const char *b)
{
    return strcmp(word, a) == 0 || strcmp(word, b) == 0;
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return run_help(0, NULL);
    if (is_one_of(argv[1], "--version", "-V"))
        return print_version();
    if (is_one_of(argv[1], "--help", "-h"))
        return run_help(0, NULL);
    if (strcmp(argv[1], "help") == 0)
        return run_help(argc - 2, argv + 2);

    const struct command *c = find_command(argv[1]);
    if (!c)
        return unknown_command(argv[1]);
    for (int i = 2; i < argc; i++) {
        if (is_one_of(argv[i], "--help", "-h"))
            return run_help(1, argv + 1);
    }
    return c->run(argc - 1, argv + 1);
}
