/* SPDX-License-Identifier: MIT */
/* act.c - `flyball reload`, `recycle`, `provider` and `source`: what the daemon is told to do. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "cli/ask.h"
#include "cli/command.h"
#include "cli/options.h"

#define SOCKET_ABOUT "the control socket; not said: where a daemon puts it"
#define EXITS        "0 done, 1 it failed, 2 usage or configuration, 3 no daemon answers"

struct act_line {
    const char *socket;
    struct option_words words;
    bool json;
};

#define OPTION_TARGET struct act_line

static const struct option_row ACT_ROWS[] = {
    {"--socket", OPTION_FILE(socket, "PATH"), .about = SOCKET_ABOUT},
    {"--json", OPTION_FLAG(json), .about = "one JSON object, of a refusal too"},
    {0},
};

static int run_plain(const struct command *c, int argc, char **argv, const char *target)
{
    struct act_line line = {0};

    if (fb_options_read(c, argc, argv, &line) < 0)
        return EXIT_USAGE;
    return fb_ask_act(c->name, line.socket, target, line.json);
}

static int reload_run(int argc, char **argv)
{
    return run_plain(&fb_command_reload, argc, argv, "/admin/reload");
}

static int recycle_run(int argc, char **argv)
{
    return run_plain(&fb_command_recycle, argc, argv, "/admin/recycle");
}

const struct command fb_command_reload = {
    .name = "reload",
    .about = "bring the daemon's changed configuration into force",
    .usage = "[OPTION...]",
    .intro = "Nothing that was spent, held or learned is lost. A file with a mistake changes "
             "nothing, and what is wrong is said.",
    .is_minor = true,
    .options = ACT_ROWS,
    .exits = EXITS,
    .examples = "flyball reload\nflyball reload --socket /run/flyball/control.sock\n",
    .run = reload_run,
};

const struct command fb_command_recycle = {
    .name = "recycle",
    .about = "let the daemon begin anew with connections and name lookups",
    .usage = "[OPTION...]",
    .intro = "What is under way ends on the old connections; no task is lost.",
    .is_minor = true,
    .options = ACT_ROWS,
    .exits = EXITS,
    .examples = "flyball recycle\n",
    .run = recycle_run,
};

/* -------------------------------------------------------------------------------- providers */

static const struct option_row PROVIDER_ROWS[] = {
    {"", OPTION_MANY(words, "ACTION"), .expects = "enable or disable, and a provider",
     .choices = (const char *const[]){"enable", "disable", NULL}, .is_open = true,
     .has_providers = true, .about = "enable or disable, and the provider's name"},
    {"--socket", OPTION_FILE(socket, "PATH"), .about = SOCKET_ABOUT},
    {"--json", OPTION_FLAG(json), .about = "one JSON object, of a refusal too"},
    {0},
};

/* "/admin/WHAT/enable?WHAT=NAME", for a command of that name. */
static int switch_run(const struct command *c, int argc, char **argv)
{
    struct act_line line = {0};
    struct buffer target = BUFFER_INIT;

    if (fb_options_read(c, argc, argv, &line) < 0)
        return EXIT_USAGE;
    const char *action = line.words.count > 0 ? line.words.word[0] : "";
    if (line.words.count != 2 ||
        (strcmp(action, "enable") != 0 && strcmp(action, "disable") != 0)) {
        fprintf(stderr, "flyball %s: expected 'enable NAME' or 'disable NAME'\n", c->name);
        return EXIT_USAGE;
    }
    const char *const parts[] = {"/admin/", c->name, "/", action, "?", c->name, "="};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        fb_buffer_add_text(&target, parts[i]);
    fb_ask_escape(&target, line.words.word[1]);
    const char *text = fb_buffer_text(&target);
    int code = text ? fb_ask_act(c->name, line.socket, text, line.json) : EXIT_FAILED;
    fb_buffer_fini(&target);
    return code;
}

static int provider_run(int argc, char **argv)
{
    return switch_run(&fb_command_provider, argc, argv);
}

static int source_run(int argc, char **argv)
{
    return switch_run(&fb_command_source, argc, argv);
}

static const struct option_row SOURCE_ROWS[] = {
    {"", OPTION_MANY(words, "ACTION"), .expects = "enable or disable, and a source",
     .choices = (const char *const[]){"enable", "disable", NULL}, .is_open = true,
     .about = "enable or disable, and the source's name"},
    {"--socket", OPTION_FILE(socket, "PATH"), .about = SOCKET_ABOUT},
    {"--json", OPTION_FLAG(json), .about = "one JSON object, of a refusal too"},
    {0},
};

const struct command fb_command_source = {
    .name = "source",
    .about = "switch a source of watched items off and on, in the daemon",
    .usage = "[OPTION...] enable|disable NAME",
    .intro = "A source that is off is not asked: what is under way there ends, the others take "
             "over. It lasts until the daemon ends or its configuration is read again.",
    .is_minor = true,
    .options = SOURCE_ROWS,
    .exits = EXITS,
    .examples = "flyball source disable score\nflyball source enable score\n",
    .run = source_run,
};

const struct command fb_command_provider = {
    .name = "provider",
    .about = "switch a provider off and on, in the daemon",
    .usage = "[OPTION...] enable|disable NAME",
    .intro = "A provider that is off is sent nothing new: what is under way ends, what is queued "
             "waits. It lasts until the daemon ends or the configuration says otherwise.",
    .is_minor = true,
    .options = PROVIDER_ROWS,
    .exits = EXITS,
    .examples = "flyball provider disable github\nflyball provider enable github\n",
    .run = provider_run,
};
