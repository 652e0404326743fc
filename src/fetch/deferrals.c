/* SPDX-License-Identifier: MIT */
/* deferrals.c - rows of journals, each with its texts in one piece of memory behind them. */
#include "fetch/deferrals.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fetch/paths.h"
#include "store/deferred.h"
#include "util/alloc.h"
#include "util/buffer.h"

#define FULL 1 /* as many as are wanted are there */

static bool grow(struct deferrals *l)
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
    struct deferrals *l = context;
    size_t size = strlen(d->id) + strlen(d->place) + strlen(d->reason) + strlen(d->list) +
                  strlen(d->output) + 5;

    if (l->most > 0 && l->count == l->most)
        return FULL;
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

int fb_deferrals_add(struct deferrals *l, const char *journal, struct fly_error *err)
{
    struct db *db = NULL;

    err->text[0] = '\0';
    int error = fb_db_open(journal, DB_READ_ONLY, &db, err);
    if (error == 0)
        error = fb_deferred_each(db, add_row, l);
    fb_db_close(db);
    if (error < 0 && !err->text[0])
        (void)snprintf(err->text, sizeof err->text, "%s: %s", journal, strerror(-error));
    return error < 0 ? error : 0;
}

static bool is_journal(const char *name)
{
    size_t size = strlen(name);
    size_t tail = strlen(JOURNAL_TAIL);

    return size > tail && strcmp(name + size - tail, JOURNAL_TAIL) == 0;
}

static int add_named(struct deferrals *l, const char *folder, const char *name,
                     void (*tell)(const char *text))
{
    struct buffer path = BUFFER_INIT;
    struct fly_error err = {"out of memory"};
    int error = -ENOMEM;

    fb_buffer_add_text(&path, folder);
    fb_buffer_add_char(&path, '/');
    fb_buffer_add_text(&path, name);
    if (fb_buffer_text(&path))
        error = fb_deferrals_add(l, path.bytes, &err);
    fb_buffer_fini(&path);
    if (error < 0 && tell)
        tell(err.text);
    return error;
}

int fb_deferrals_add_all(struct deferrals *l, const char *folder, void (*tell)(const char *text))
{
    DIR *dir = opendir(folder);
    struct fly_error err;
    int worst = dir || errno == ENOENT ? 0 : -errno;

    if (worst < 0 && tell) {
        (void)snprintf(err.text, sizeof err.text, "cannot read %s: %s", folder, strerror(-worst));
        tell(err.text);
    }
    for (const struct dirent *e; dir && (e = readdir(dir));) {
        int error = is_journal(e->d_name) ? add_named(l, folder, e->d_name, tell) : 0;

        worst = error < 0 ? error : worst;
    }
    if (dir)
        (void)closedir(dir);
    return worst;
}

void fb_deferrals_fini(struct deferrals *l)
{
    for (size_t i = 0; i < l->count; i++)
        fb_free(l->texts[i]);
    fb_free(l->texts);
    fb_free(l->row);
    *l = (struct deferrals){0};
}
