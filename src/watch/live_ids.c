/* SPDX-License-Identifier: MIT */
/* live_ids.c - what sources call items: as a file, a rule or the list says, or the same. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <flyball/flyball.h>

#include "config/template.h"
#include "util/alloc.h"
#include "watch/live_parts.h"
#include "watch/show.h"

#define FILE_MAX (64u << 20)
#define BETWEEN  " \t,"

/* --------------------------------------------------------------------------------------- a file */

static int by_item(const void *a, const void *b)
{
    const struct id_pair *x = a, *y = b;

    return strcmp(x->item, y->item);
}

/* What stands earlier in the file comes first. */
static int by_item_and_line(const void *a, const void *b)
{
    const struct id_pair *x = a, *y = b;
    int order = by_item(a, b);

    return order != 0 ? order : (x->item > y->item) - (x->item < y->item);
}

/* The first line of an item counts; the others are there to be told. */
static void set_apart_twice(struct ids_file *f)
{
    struct id_pair *twice = fb_alloc((f->count + 1) * sizeof *twice);
    size_t kept = 0;

    for (size_t i = 0; twice && i < f->count; i++) {
        if (kept > 0 && by_item(&f->pair[kept - 1], &f->pair[i]) == 0)
            twice[f->twice_count++] = f->pair[i];
        else
            f->pair[kept++] = f->pair[i];
    }
    f->count = twice ? kept : f->count;
    f->twice = twice;
}

/* One line into its two ids; false: there are not two. */
static bool read_line(char *line, struct id_pair *to)
{
    line += strspn(line, BETWEEN);
    line[strcspn(line, "\r\n")] = '\0';
    char *end = line + strcspn(line, BETWEEN);
    char *id = end + strspn(end, BETWEEN);

    id[strcspn(id, BETWEEN)] = '\0';
    *end = '\0';
    *to = (struct id_pair){.item = line, .id = id};
    return fb_template_is_id(line) && fb_template_is_id(id);
}

/* Lines as pairs; returns how many are neither a pair nor a comment. */
static size_t read_lines(struct ids_file *f)
{
    size_t bad = 0;

    for (char *line = f->bytes, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        if (line[strspn(line, BETWEEN "\r")] == '\0' || line[0] == '#')
            continue;
        bool is_right = read_line(line, &f->pair[f->count]);
        f->count += is_right;
        bad += !is_right;
    }
    qsort(f->pair, f->count, sizeof *f->pair, by_item_and_line);
    set_apart_twice(f);
    return bad;
}

static int read_whole(const char *path, struct ids_file *f)
{
    FILE *file = fopen(path, "rb");
    long size = file && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    size_t lines = 1;
    int rc = !file ? -errno : size < 0 ? -EIO : (unsigned long)size > FILE_MAX ? -EFBIG : 0;

    f->bytes = rc == 0 ? fb_alloc((size_t)size + 1) : NULL;
    if (f->bytes) {
        rewind(file);
        if (fread(f->bytes, 1, (size_t)size, file) != (size_t)size)
            rc = -EIO;
        for (long i = 0; i < size; i++)
            lines += f->bytes[i] == '\n';
        f->pair = fb_alloc(lines * sizeof *f->pair);
    }
    if (rc == 0 && (!f->bytes || !f->pair))
        rc = -ENOMEM;
    if (file)
        (void)fclose(file);
    return rc;
}

void fb_ids_load(struct watch_live *l, const char *name, const char *path, struct ids_file *ret_ids)
{
    int rc = read_whole(path, ret_ids);

    if (rc < 0) {
        fb_ids_free(ret_ids);
        fb_watch_live_say(l, "%s: ids cannot be read from %.150s: %s", name, path, strerror(-rc));
        return;
    }
    size_t bad = read_lines(ret_ids);
    if (bad > 0)
        fb_watch_live_say(l, "%s: %zu lines of %.150s have no two ids", name, bad, path);
}

void fb_ids_free(struct ids_file *ids)
{
    fb_free(ids->bytes);
    fb_free(ids->pair);
    fb_free(ids->twice);
    *ids = (struct ids_file){.bytes = NULL};
}

const char *fb_ids_find(const struct ids_file *ids, const char *item)
{
    const struct id_pair wanted = {.item = item};
    const struct id_pair *found =
        ids->count > 0 ? bsearch(&wanted, ids->pair, ids->count, sizeof wanted, by_item) : NULL;

    return found ? found->id : NULL;
}

/* --------------------------------------------------------------------------------------- a list */

struct listing {
    struct watch_live *live;
    const struct source_said *said;
    struct buffer ids;      /* that rules make, each with its NUL */
    const char **source_id; /* of all rows */
    struct watch_entry *entry;
};

/* What rules make is put into one buffer first, and pointed to when it does not move any more. */
static const char *rule_id(struct listing *g, const struct asked *a, const char *item)
{
    struct template_words w = {.item = item};
    size_t at = g->ids.size;

    if (fb_template_id(a->source->id_rule, &w, &g->ids) < 0) {
        g->ids.size = at;
        return NULL;
    }
    fb_buffer_add_char(&g->ids, '\0');
    return (const char *)(uintptr_t)(at + 1); /* its place, until it is pointed to */
}

static const char *id_of(struct listing *g, const struct source_row *row, size_t source)
{
    const struct asked *a = &g->live->source[source];

    if (a->source->ids_file)
        return fb_ids_find(&a->ids, row->id);
    if (a->source->id_rule)
        return rule_id(g, a, row->id);
    return g->live->id_path[source] ? row->source_id[source] : row->id;
}

static void point_to_rules(struct listing *g)
{
    size_t sources = g->live->source_count;

    for (size_t i = 0; i < sources; i++) {
        bool is_rule = !g->live->source[i].source->ids_file && g->live->source[i].source->id_rule;

        for (size_t row = 0; is_rule && row < g->said->row_count; row++) {
            const char **id = &g->source_id[row * sources + i];

            *id = *id ? g->ids.bytes + ((uintptr_t)*id - 1) : NULL;
        }
    }
}

static int make_entries(struct listing *g)
{
    size_t sources = g->live->source_count, rows = g->said->row_count;

    g->source_id = fb_alloc((rows * sources + 1) * sizeof *g->source_id);
    g->entry = fb_alloc((rows + 1) * sizeof *g->entry);
    if (!g->source_id || !g->entry)
        return -ENOMEM;
    for (size_t i = 0; i < rows; i++) {
        const struct source_row *row = &g->said->row[i];

        g->entry[i] = (struct watch_entry){
            .id = row->id,
            .state = row->state,
            .domain_id = g->source_id + i * sources,
            .word = row->word,
        };
        for (size_t n = 0; n < sources; n++)
            g->source_id[i * sources + n] = id_of(g, row, n);
    }
    if (g->ids.failed)
        return -ENOMEM;
    point_to_rules(g);
    return 0;
}

static void say_what_is_odd(struct watch_live *l, const struct source_said *said)
{
    const char *word = NULL;
    size_t odd = 0;

    for (size_t i = 0; i < said->row_count; i++) {
        odd += said->row[i].word != NULL;
        word = word ? word : said->row[i].word;
    }
    if (said->rows_bad > 0)
        fb_watch_live_say(l, "%s: %zu rows have no id that can be used", CONFIG_ITEMS_NAME,
                          said->rows_bad);
    else if (odd > 0)
        fb_watch_live_say(l, "%s: %zu rows have a state that nobody knows, such as '%.40s'",
                          CONFIG_ITEMS_NAME, odd, word);
}

/* Each line of a file of ids that leads nowhere, once. */
static void warn_of_file(struct watch *w, uint32_t source, struct ids_file *f)
{
    for (size_t i = 0; i < f->count; i++) {
        if (f->pair[i].is_told || fb_watch_find(w, f->pair[i].item))
            continue;
        f->pair[i].is_told = true;
        fb_watch_unmapped(w, source, f->pair[i].id);
    }
    for (size_t i = 0; i < f->twice_count; i++)
        fb_watch_ambiguous(w, source, f->twice[i].item, f->twice[i].id);
    f->twice_count = 0;
}

static void warn_of_files(struct watch_live *l)
{
    for (size_t i = 0; i < l->source_count; i++)
        warn_of_file(l->watch, (uint32_t)i, &l->source[i].ids);
}

void fb_watch_live_listed(struct watch_live *l, struct watch_look *look,
                          const struct source_said *said)
{
    struct listing g = {.live = l, .said = said};
    struct watch_answer failed = {.end = LOOK_FAILED, .failure = FAIL_MEMORY};

    say_what_is_odd(l, said);
    fb_watch_refused(l->watch, (int64_t)said->rows_bad);
    if (make_entries(&g) < 0) {
        fb_tags_clear(l); /* the list is to come in full */
        fb_watch_looked(l->watch, look, &failed);
    } else if (fb_watch_listed(l->watch, look, g.entry, said->row_count) < 0) {
        fb_tags_clear(l);
        fb_watch_live_say(l, "%s: out of memory", CONFIG_ITEMS_NAME);
    } else {
        warn_of_files(l);
    }
    fb_buffer_fini(&g.ids);
    fb_free(g.source_id);
    fb_free(g.entry);
}
