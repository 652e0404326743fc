/* SPDX-License-Identifier: MIT */
/* deferred.c - `flyball deferred`: what was put off, from which batch, and until when. */
#include "store/deferred.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <time.h>

#include "cli/command.h"
#include "cli/options.h"
#include "fetch/paths.h"
#include "util/buffer.h"
#include "util/json.h"

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

struct listing {
    bool json;
    struct buffer out;
    int64_t count;
};

static void add_time(struct buffer *out, int64_t at_s)
{
    char text[32] = "not known";
    time_t at = (time_t)at_s;
    struct tm utc;

    if (at_s > 0 && gmtime_r(&at, &utc))
        (void)strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
    fb_buffer_add_text(out, text);
}

static void add_json(struct buffer *out, const struct deferred *d)
{
    fb_buffer_add_text(out, out->bytes[out->size - 1] == '[' ? "{" : ",{");
    fb_json_text(out, "id", d->id);
    fb_json_int(out, "item", (int64_t)d->item);
    fb_json_text(out, "place", d->place);
    fb_json_text(out, "reason", d->reason);
    fb_json_int(out, "not_before_s", d->not_before_s);
    fb_json_int(out, "made_s", d->made_s);
    fb_json_text(out, "list", d->list);
    fb_json_text(out, "output", d->output);
    fb_buffer_add_char(out, '}');
}

static int add_row(void *context, const struct deferred *d)
{
    struct listing *l = context;

    l->count++;
    if (l->json) {
        add_json(&l->out, d);
        return 0;
    }
    add_time(&l->out, d->not_before_s);
    fb_buffer_add_text(&l->out, "  ");
    fb_buffer_add_text(&l->out, d->id);
    fb_buffer_add_text(&l->out, "  ");
    fb_buffer_add_text(&l->out, d->place);
    fb_buffer_add_text(&l->out, "  ");
    fb_buffer_add_text(&l->out, d->reason);
    fb_buffer_add_text(&l->out, "  (");
    fb_buffer_add_text(&l->out, d->list);
    fb_buffer_add_text(&l->out, ")\n");
    return 0;
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
    struct listing l = {.json = line.json};
    if (l.json)
        fb_buffer_add_text(&l.out, "{\"schema\":\"flyball.deferred/1\",\"deferred\":[");
    int exit_code = list_all(&l, line.journal);
    if (l.json)
        fb_buffer_add_text(&l.out, "]}\n");
    else if (l.count == 0)
        fb_buffer_add_text(&l.out, "nothing is deferred\n");
    (void)fwrite(l.out.bytes, 1, l.out.size, stdout);
    fb_buffer_fini(&l.out);
    int written = fb_finish_output(stdout, "standard output");
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
