/* SPDX-License-Identifier: MIT */
/*
 * html.c - answers that are HTML: values by XPath, which a child looks for (html_child.c).
 *
 * The child prints texts in the order in which they were asked for; here they get their names and
 * their types. Whatever became of it, all that it can do is print something else.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <flyball/flyball.h>

#include "watch/sources/source.h"

#define PLACE_SIZE 8 /* "/12" */

static void add(struct buffer *words, const char *word)
{
    fb_buffer_add(words, word ? word : "", strlen(word ? word : "") + 1);
}

static int words(const struct source_rule *r, struct buffer *ret_words, struct fly_error *err)
{
#ifdef HAVE_LIBXML2
    (void)err;
    add(ret_words, "html");
    add(ret_words, r->items ? "list" : "item");
    if (r->items) {
        add(ret_words, r->items->list ? r->items->list : "/*");
        add(ret_words, r->items->id);
        add(ret_words, r->items->state);
        for (size_t i = 0; i < r->source_count; i++)
            add(ret_words, r->id_path[i]);
        return 0;
    }
    add(ret_words, r->id);
    for (size_t i = 0; i < r->field_count; i++)
        add(ret_words, r->field[i].path);
    return 0;
#else
    (void)r;
    (void)ret_words;
    (void)add;
    (void)snprintf(err->text, sizeof err->text,
                   "HTML is not part of this build: it has no "
                   "libxml2");
    return -ENOTSUP;
#endif
}

/* The n-th of a list, as a pointer. */
static const char *place(char *to, size_t n)
{
    (void)snprintf(to, PLACE_SIZE, "/%zu", n);
    return to;
}

static int read_list(const struct source_rule *r, struct slice printed,
                     struct source_said *ret_said, struct fly_error *err)
{
    char places[CONFIG_SOURCES_MAX][PLACE_SIZE];
    const char *id_path[CONFIG_SOURCES_MAX] = {NULL};
    struct config_items items = *r->items;
    struct source_rule rule = *r;

    items.list = NULL;
    items.id = "/0";
    items.state = r->items->state ? "/1" : NULL;
    for (size_t i = 0; i < r->source_count && i < CONFIG_SOURCES_MAX; i++)
        id_path[i] = r->id_path[i] ? place(places[i], i + 2) : NULL;
    rule.items = &items;
    rule.id_path = id_path;
    return fb_source_read_json(&rule, printed, ret_said, err);
}

static int read(const struct source_rule *r, struct slice printed, struct source_said *ret_said,
                struct fly_error *err)
{
    char places[CONFIG_FIELDS_MAX][PLACE_SIZE];
    struct config_field field[CONFIG_FIELDS_MAX];
    struct source_rule rule = *r;

    if (r->items)
        return read_list(r, printed, ret_said, err);
    for (size_t i = 0; i < r->field_count && i < CONFIG_FIELDS_MAX; i++) {
        field[i] = r->field[i];
        field[i].path = place(places[i], i + 1);
    }
    rule.id = r->id ? "/0" : NULL;
    rule.field = field;
    return fb_source_read_json(&rule, printed, ret_said, err);
}

extern const struct source_kind fb_source_html;
const struct source_kind fb_source_html = {.name = "html", .read = read, .words = words};
