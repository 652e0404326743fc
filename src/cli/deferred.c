/* SPDX-License-Identifier: MIT */
/* deferred.c - `flyball deferred`: what was put off, from which batch, and until when. */
#include "fetch/deferrals.h"

#include <errno.h>

#include "cli/answer.h"
#include "cli/command.h"
#include "cli/options.h"
#include "fetch/paths.h"

#define NAME "deferred"

struct deferred_line {
    const char *journal;
    bool json;
};

#define OPTION_TARGET struct deferred_line

static const struct option_row ROWS[] = {
    {"--journal", OPTION_FILE(journal, "FILE"),
     .about = "of this journal; not said: of all in $XDG_STATE_HOME/flyball"},
    {"--json", OPTION_FLAG(json), .about = "one JSON object"},
    {0},
};

static void tell(const char *text)
{
    fprintf(stderr, "flyball " NAME ": %s\n", text);
}

static int list_all(struct deferrals *l, const char *journal)
{
    struct buffer folder = BUFFER_INIT;
    struct fly_error err = {""};
    int error = journal ? fb_deferrals_add(l, journal, &err) : fb_state_folder(&folder, &err);

    if (error < 0 || journal) {
        if (error < 0)
            tell(err.text);
        return error < 0 ? EXIT_FAILED : EXIT_DONE;
    }
    error = fb_buffer_text(&folder) ? fb_deferrals_add_all(l, folder.bytes, tell) : -ENOMEM;
    fb_buffer_fini(&folder);
    return error < 0 ? EXIT_FAILED : EXIT_DONE;
}

static int deferred_run(int argc, char **argv)
{
    struct deferred_line line = {0};

    if (fb_options_read(&fb_command_deferred, argc, argv, &line) < 0)
        return EXIT_USAGE;
    struct deferrals l = {0};
    int exit_code = list_all(&l, line.journal);
    struct view_deferred v = {.row = l.row, .row_count = l.count};
    struct buffer b = BUFFER_INIT;
    struct view_style style;

    fb_answer_style(&style);
    if (line.json)
        fb_view_deferred_json(&v, fb_answer_now(), &b);
    else if (exit_code == EXIT_DONE || l.count > 0) /* what could not be read is not nothing */
        fb_view_deferred_text(&v, &style, fb_answer_now(), &b);
    fb_deferrals_fini(&l);
    int written = fb_answer_print(&b);
    return exit_code != EXIT_DONE ? exit_code : written;
}

const struct command fb_command_deferred = {
    .name = NAME,
    .about = "list what batches have put off",
    .usage = "[OPTION...]",
    .options = ROWS,
    .notes = "They are run by the same 'flyball fetch' command again, with --deferred.",
    .exits = "0 done, 1 a journal cannot be read, 2 usage",
    .examples = "flyball deferred\n"
                "flyball deferred --json\n"
                "flyball deferred --journal batch.journal\n",
    .run = deferred_run,
};
