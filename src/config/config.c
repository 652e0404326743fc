/* SPDX-License-Identifier: MIT */
/*
 * config.c - from the sources to the struct: one tree, to which each source adds what those above
 * it have not said, and one walk over it.
 */
#include "config/config.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "config/reading.h"
#include "util/alloc.h"

#define SENTENCE_MAX 768

/* -------------------------------------------------------------------------------- memory, tales */

void *fb_reading_alloc(struct reading *r, size_t size)
{
    struct config_memory *m = fb_alloc(sizeof *m + size);

    if (!m) {
        r->is_out_of_memory = true;
        return NULL;
    }
    m->next = r->memory;
    r->memory = m;
    return m + 1;
}

const char *fb_reading_piece(struct reading *r, const char *bytes, size_t size)
{
    char *copy = fb_reading_alloc(r, size + 1);

    if (copy && size > 0)
        memcpy(copy, bytes, size);
    return copy;
}

const char *fb_reading_text(struct reading *r, const char *first, const char *second)
{
    size_t size = strlen(first);
    char *copy = fb_reading_alloc(r, size + strlen(second) + 1);

    if (copy) {
        memcpy(copy, first, size);
        memcpy(copy + size, second, strlen(second));
    }
    return copy;
}

/* What a terminal would obey is not passed on. */
static void make_harmless(char *text)
{
    for (; *text; text++) {
        if ((unsigned char)*text < ' ' || *text == '\177')
            *text = '?';
    }
}

void fb_reading_tell(struct reading *r, const struct yaml_node *n, enum about about,
                     const char *format, ...)
{
    char what[SENTENCE_MAX], sentence[SENTENCE_MAX + 512];
    bool is_of_key = about == ABOUT_KEY || about == WARN_KEY;
    bool is_warning = about == WARN_VALUE || about == WARN_KEY;
    struct place at = is_of_key && n->key_at.line > 0 ? n->key_at : n->at;
    const char *grade = is_warning ? "warning: " : "";
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    if (n->from)
        at = (struct place){0, 0};
    if (at.line > 0)
        (void)snprintf(sentence, sizeof sentence, "%.400s:%d:%d: %s%s", r->file, at.line, at.column,
                       grade, what);
    else
        (void)snprintf(sentence, sizeof sentence, "%.400s: %s%s", n->from ? n->from : r->file,
                       grade, what);
    make_harmless(sentence);
    fb_config_report_add(r->report, &(struct remark){.at = at,
                                                     .is_warning = is_warning,
                                                     .is_private = about == ABOUT_PRIVATE,
                                                     .sentence = sentence});
}

/* ------------------------------------------------------------------------------------- the file */

struct telling {
    struct reading *r;
    struct mistakes m;
};

static void tell_yaml(void *user, const char *sentence)
{
    struct telling *t = user;
    char copy[SENTENCE_MAX];

    (void)snprintf(copy, sizeof copy, "%s", sentence);
    fb_config_report_add(t->r->report, &(struct remark){.at = t->m.last, .sentence = copy});
}

static void read_bytes(struct reading *r, struct telling *t)
{
    struct buffer *source = &r->report->source;
    FILE *file = fopen(r->file, "rb");
    char *room = file ? fb_buffer_reserve(source, FB_YAML_SIZE_MAX + 1) : NULL;

    if (!file && errno == ENOENT) {
        fb_mistake(&t->m, (struct place){0, 0}, "there is no such file");
    } else if (!file) {
        fb_mistake(&t->m, (struct place){0, 0}, "cannot be read: %s", strerror(errno));
    } else if (!room) {
        r->is_out_of_memory = true;
    } else {
        errno = 0;
        source->size += fread(room, 1, FB_YAML_SIZE_MAX + 1, file);
        if (ferror(file))
            fb_mistake(&t->m, (struct place){0, 0}, "cannot be read: %s", strerror(errno));
    }
    if (file)
        (void)fclose(file);
}

/* Nothing but blank lines and comments: then everything is as by default. */
static bool is_empty(const struct buffer *source)
{
    bool in_comment = false;

    for (size_t i = 0; i < source->size; i++) {
        char c = source->bytes[i];

        in_comment = c != '\n' && (in_comment || c == '#');
        if (!in_comment && !strchr(" \t\r\n", c))
            return false;
    }
    return true;
}

/* The tree of the file, as far as there is one. */
static void read_file(struct reading *r, const struct config_sources *from)
{
    struct buffer *source = &r->report->source;
    struct telling t = {.r = r};

    t.m = (struct mistakes){.file = r->file, .tell = tell_yaml, .user = &t};
    if (from->bytes)
        fb_buffer_add(source, from->bytes, from->size);
    else if (from->file)
        read_bytes(r, &t);
    r->is_out_of_memory |= source->failed;
    if (r->report->mistakes == 0 && !r->is_out_of_memory && !is_empty(source) &&
        fb_yaml_read_on(source->bytes, source->size, &t.m, &r->root) == -ENOMEM)
        r->is_out_of_memory = true;
    if (r->root && r->root->kind != YAML_MAP)
        fb_reading_tell(r, r->root, ABOUT_VALUE, "expected keys and values, such as '%s: ...'",
                        fb_config_keys.keys->name);
    if (!r->root && r->report->mistakes == 0 && !r->is_out_of_memory) {
        r->root = fb_tree_new_map(fb_from_default);
        r->is_out_of_memory |= !r->root;
    }
}

/* -------------------------------------------------------------------------------- the whole way */

static void read_all(struct reading *r, const struct config_sources *from)
{
    read_file(r, from);
    if (!r->root || r->root->kind != YAML_MAP || r->is_out_of_memory)
        return;
    fb_unfold(r, &fb_config_keys, r->root);
    fb_environment_add(r, from->environment);
    fb_flags_add(r, from->flags);
    fb_unfold(r, &fb_config_keys, r->root); /* what was said there as a whole */
    if (!r->is_out_of_memory)
        fb_providers_add_presets(r);
    if (!r->is_out_of_memory)
        fb_read_table(r, &fb_config_keys, r->root, r->config);
    if (!r->is_out_of_memory)
        fb_config_check(r);
}

static void free_memory(struct config_memory *m)
{
    for (struct config_memory *next; m; m = next) {
        next = m->next;
        fb_free(m);
    }
}

int fb_config_load(const struct config_sources *from, struct config_report *report,
                   struct config **ret_config)
{
    struct reading r = {.report = report};
    int error = 0;

    r.file = from->file ? from->file : "flyball.yaml";
    r.config = fb_reading_alloc(&r, sizeof *r.config);
    if (r.config)
        read_all(&r, from);
    if (r.is_out_of_memory)
        error = -ENOMEM;
    else if (report->mistakes > 0)
        error = -EINVAL;
    if (error < 0) {
        fb_yaml_free(r.root);
        free_memory(r.memory);
        return error;
    }
    r.config->file = from->file ? fb_reading_piece(&r, from->file, strlen(from->file)) : NULL;
    r.config->tree = r.root;
    r.config->memory = r.memory;
    *ret_config = r.config;
    return 0;
}

void fb_config_free(struct config *c)
{
    if (!c)
        return;
    fb_yaml_free(c->tree);
    free_memory(c->memory); /* of which it is itself a part */
}
