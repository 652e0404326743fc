/* SPDX-License-Identifier: MIT */
/* deferred.c - `flyball deferred`: what was put off, from which batch, and until when. */
#include "store/deferred.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>

#include "cli/answer.h"
#include "cli/command.h"
#include "cli/options.h"
#include "fetch/paths.h"
#include "util/alloc.h"
#include "view/deferred.h"

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

/* Rows, each with its texts in one piece of memory behind them. */
struct listing {
    struct view_deferred_row *row;
    char **texts;
    size_t count;
    size_t room;
};

static bool grow(struct listing *l)
{
    size_t room = l->room ? 2 * l->room : 256;
    struct view_deferred_row *row = fb_alloc(room * sizeof *row);
    char **texts = fb_alloc(room * sizeof *texts);

    if (!row || !texts) {
        fb_free(row);
        fb_free(texts);
        return false;
    }
    if (l->count > 0) {
        memcpy(row, l->row, l->count * sizeof *row);
        memcpy(texts, l->texts, l->count * sizeof *texts);
    }
    fb_free(l->row);
    fb_free(l->texts);
    l->row = row;
    l->texts = texts;
    l->room = room;
    return true;
}

static const char *copy(char **at, const char *text)
{
    size_t size = strlen(text) + 1;
    char *to = memcpy(*at, text, size);

    *at += size;
    return to;
}

static int add_row(void *context, const struct deferred *d)
{
    struct listing *l = context;
    size_t size = strlen(d->id) + strlen(d->place) + strlen(d->reason) + strlen(d->list) +
                  strlen(d->output) + 5;
    char *at = l->count < l->room || grow(l) ? fb_alloc(size) : NULL;

    if (!at)
        return -ENOMEM;
    l->texts[l->count] = at;
    l->row[l->count++] = (struct view_deferred_row){
        .id = copy(&at, d->id),
        .place = copy(&at, d->place),
        .reason = copy(&at, d->reason),
        .list = copy(&at, d->list),
        .output = copy(&at, d->output),
        .item = d->item,
        .not_before_s = d->not_before_s,
        .made_s = d->made_s,
    };
    return 0;
}

static void listing_free(struct listing *l)
{
    for (size_t i = 0; i < l->count; i++)
        fb_free(l->texts[i]);
    fb_free(l->texts);
    fb_free(l->row);
}

static int list_one(struct listing *l, const char *path)
{
    struct fly_error err = {""};
    struct db *db = NULL;
    int error = fb_db_open(path, DB_READ_ONLY, &db, &err);

    if (error == 0)
        error = fb_deferred_each(db, add_row, l);
    fb_db_close(db);
    if (error == 0)
        return EXIT_DONE;
    fprintf(stderr, "flyball " NAME ": %s\n", err.text[0] ? err.text : strerror(-error));
    return EXIT_FAILED;
}

static bool is_journal(const char *name)
{
    size_t size = strlen(name);
    size_t tail = strlen(JOURNAL_TAIL);

    return size > tail && strcmp(name + size - tail, JOURNAL_TAIL) == 0;
}

static int list_folder(struct listing *l, const char *folder)
{
    DIR *dir = opendir(folder);
    int exit_code = EXIT_DONE;

    if (!dir && errno == ENOENT)
        return EXIT_DONE; /* no batch has been run yet */
    if (!dir) {
        fprintf(stderr, "flyball " NAME ": cannot read %s: %s\n", folder, strerror(errno));
        return EXIT_FAILED;
    }
    for (const struct dirent *e; (e = readdir(dir));) {
        struct buffer path = BUFFER_INIT;

        if (!is_journal(e->d_name))
            continue;
        fb_buffer_add_text(&path, folder);
        fb_buffer_add_char(&path, '/');
        fb_buffer_add_text(&path, e->d_name);
        if (fb_buffer_text(&path) && list_one(l, path.bytes) != EXIT_DONE)
            exit_code = EXIT_FAILED;
        fb_buffer_fini(&path);
    }
    (void)closedir(dir);
    return exit_code;
}

static int list_all(struct listing *l, const char *journal)
{
    struct buffer folder = BUFFER_INIT;
    struct fly_error err = {""};

    if (journal)
        return list_one(l, journal);
    if (fb_state_folder(&folder, &err) < 0 || !fb_buffer_text(&folder)) {
        fprintf(stderr, "flyball " NAME ": %s\n", err.text);
        return EXIT_FAILED;
    }
    int exit_code = list_folder(l, folder.bytes);
    fb_buffer_fini(&folder);
    return exit_code;
}

static int deferred_run(int argc, char **argv)
{
    struct deferred_line line = {0};

    if (fb_options_read(&fb_command_deferred, argc, argv, &line) < 0)
        return EXIT_USAGE;
    struct listing l = {.count = 0};
    int exit_code = list_all(&l, line.journal);
    struct view_deferred v = {.row = l.row, .row_count = l.count};
    struct buffer b = BUFFER_INIT;
    struct view_style style;

    fb_answer_style(&style);
    if (line.json)
        fb_view_deferred_json(&v, fb_answer_now(), &b);
    else
        fb_view_deferred_text(&v, &style, fb_answer_now(), &b);
    listing_free(&l);
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
