/* SPDX-License-Identifier: MIT */
/* status.c - `flyball status`: batches that run or have ended, one in full or all as a table. */
#include "view/status.h"

#include <stdio.h>
#include <string.h>

#include "cli/answer.h"
#include "cli/ask.h"
#include "cli/beside.h"
#include "cli/command.h"
#include "cli/known.h"
#include "cli/options.h"
#include "fetch/paths.h"
#include "util/alloc.h"

#define NAME  "status"
#define SHOWN 10 /* in a table, of those that have ended */

struct status_line {
    struct option_words words;
    bool json;
};

#define OPTION_TARGET struct status_line

static const struct option_row ROWS[] = {
    {"", OPTION_MANY(words, "[BATCH]"), .expects = "the name of a batch"},
    {"--json", OPTION_FLAG(json), .about = "one JSON object, with all batches that are known"},
    {0},
};

/* A whole name is meant before any that only begins with it. */
static bool is_chosen(const struct known *k, const struct view_batch *b, const char *word)
{
    const struct view_batch *named = word ? fb_known_batch(k, word) : NULL;

    if (named && strcmp(named->name, word) == 0)
        return b == named;
    return !word || fb_known_is_meant(b, word);
}

static int show(const struct status_line *line, const struct known *k)
{
    const char *word = line->words.count > 0 ? line->words.word[0] : NULL;
    const struct view_batch **chosen = fb_alloc((k->runs.count + 1) * sizeof *chosen);
    struct view_status v = {.batch = chosen};
    int64_t now_ns = fb_answer_now();
    struct buffer b = BUFFER_INIT;
    struct view_style style;

    if (!chosen)
        return fb_answer_fail(NAME, "out of memory");
    for (size_t i = 0; i < k->runs.count; i++) {
        const struct view_batch *here = k->runs.batch[i];
        bool fits = line->json || here->running || v.batch_count < SHOWN;

        if (fits && is_chosen(k, here, word) && !(word && v.batch_count == 1))
            chosen[v.batch_count++] = here;
    }
    fb_answer_style(&style);
    if (line->json)
        fb_view_status_json(&v, now_ns, &b);
    else if (v.batch_count > 0 || !word)
        fb_view_status_text(&v, &style, now_ns, &b);
    bool is_unknown = word && v.batch_count == 0;
    int asked = is_unknown && strlen(word) < VIEW_NAME
                    ? fb_ask_about(NAME, "batch", word, line->json, false)
                    : -1;
    if (asked >= 0) {
        fb_buffer_fini(&b);
        fb_free(chosen);
        return asked;
    }
    int exit_code = fb_answer_print(&b);
    fb_free(chosen);
    if (exit_code != EXIT_DONE || !is_unknown)
        return exit_code;
    fprintf(stderr, "flyball " NAME ": no batch is known by '%s'; 'flyball status' lists them\n",
            word);
    return EXIT_UNKNOWN;
}

/* As the daemon has it, and what else runs. The exit code, or -1: there is none. */
static int ask(bool json)
{
    struct buffer b = BUFFER_INIT, folder = BUFFER_INIT;
    struct fly_error err = {""};
    struct view_style style;

    fb_answer_style(&style);
    int64_t pid = fb_ask_view_into(NAME, NULL, json, &style, &b);
    if (pid > 0 && fb_state_folder(&folder, &err) == 0 && fb_buffer_text(&folder))
        fb_beside_add(folder.bytes, pid, json, &style, &b);
    fb_buffer_fini(&folder);
    if (pid > 0)
        return fb_answer_print(&b);
    fb_buffer_fini(&b);
    return -1;
}

static int status_run(int argc, char **argv)
{
    struct status_line line = {0};
    struct fly_error err = {""};
    struct known k;

    if (fb_options_read(&fb_command_status, argc, argv, &line) < 0)
        return EXIT_USAGE;
    if (line.words.count > 1) {
        fprintf(stderr, "flyball " NAME ": one batch at a time\n");
        return EXIT_USAGE;
    }
    int exit_code = line.words.count > 0 ? -1 : ask(line.json);
    if (exit_code >= 0)
        return exit_code;
    exit_code =
        fb_known_read(&k, NULL, &err) < 0 ? fb_answer_fail(NAME, err.text) : show(&line, &k);
    if (exit_code == EXIT_DONE && k.runs.count == 0 && line.words.count == 0)
        exit_code = fb_ask_say_nothing(NAME);
    fb_known_free(&k);
    return exit_code;
}

const struct command fb_command_status = {
    .name = NAME,
    .about = "how far batches are, and what they wait for",
    .usage = "[OPTION...] [BATCH]",
    .intro = "BATCH: the beginning of its name, or its list, output or journal. Not said: all that "
             "run, and those that ended last.",
    .options = ROWS,
    .exits = "0 done, 1 something cannot be read, 2 usage, 3 there is no such batch",
    .examples = "flyball status\n"
                "flyball status urls.txt\n"
                "flyball status fetch-01234567 --json\n",
    .run = status_run,
};
