/* SPDX-License-Identifier: MIT */
/*
 * json.c - answers that are JSON: values by pointers.
 *
 * Jansson reads the text, after a look over its bytes has seen that it is neither deep nor made of
 * so many values that reading it would cost far more than its size.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <flyball/flyball.h>
#include <jansson.h>

#include "config/check.h"
#include "config/template.h"
#include "watch/sources/source.h"
#include "watch/sources/values.h"

struct finding {
    const struct source_rule *rule;
    struct source_said *said;
    struct buffer text; /* one value at a time */
    bool is_out_of_memory;
};

/* ------------------------------------------------------------------------------------- the text */

/* Depth and number of values, without understanding more of it than quotes. */
static int look_over(struct slice body, struct fly_error *err)
{
    size_t depth = 0, values = 0;
    bool in_text = false;

    for (size_t i = 0; i < body.length; i++) {
        char c = body.at[i];

        if (in_text) {
            i += c == '\\';
            in_text = c != '"';
            continue;
        }
        in_text = c == '"';
        values += c == ',' || c == '[' || c == '{' || c == ':';
        depth += c == '[' || c == '{';
        depth -= depth > 0 && (c == ']' || c == '}');
        if (depth <= FB_SOURCE_DEPTH_MAX && values <= FB_SOURCE_VALUES_MAX)
            continue;
        (void)snprintf(err->text, sizeof err->text,
                       depth > FB_SOURCE_DEPTH_MAX ? "JSON more than %d deep"
                                                   : "JSON of more than %d values",
                       depth > FB_SOURCE_DEPTH_MAX ? FB_SOURCE_DEPTH_MAX : FB_SOURCE_VALUES_MAX);
        return -E2BIG;
    }
    return 0;
}

/* A number that does not fit an integer is read as a double, and all others with it. */
static json_t *load(struct slice body, struct fly_error *err)
{
    json_error_t where = {.line = 0};
    const char *bytes = body.at ? body.at : "";
    json_t *all = json_loadb(bytes, body.length, JSON_REJECT_DUPLICATES, &where);

    if (!all && json_error_code(&where) == json_error_numeric_overflow)
        all = json_loadb(bytes, body.length, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL,
                         &where);
    if (!all)
        (void)snprintf(err->text, sizeof err->text, "not JSON: %.120s (line %d, column %d)",
                       where.text, where.line, where.column);
    return all;
}

/* --------------------------------------------------------------------------------------- values */

/* The text of a value, which lasts as long as what was said; NULL after telling what is wrong. */
static const char *text_of(struct finding *f, const json_t *v, const char *name,
                           enum config_field_type type)
{
    fb_buffer_clear(&f->text);
    if (!v || json_is_null(v)) {
        fb_source_missing(f->said, name);
        return NULL;
    }
    if (!fb_source_value(v, type, &f->text)) {
        fb_source_wrong(f->said, name, fb_source_type_is_not(type));
        return NULL;
    }
    if (f->text.size > FB_SOURCE_VALUE_MAX) {
        fb_source_wrong(f->said, name, "is too long");
        return NULL;
    }
    const char *kept = f->text.failed ? NULL : fb_source_text(f->said, f->text.bytes, f->text.size);
    f->is_out_of_memory |= !kept;
    return kept;
}

static int by_name(const void *a, const void *b)
{
    const struct snapshot_field *x = a, *y = b;

    return strcmp(x->name, y->name);
}

static int read_fields(struct finding *f, json_t *all, struct snapshot_field *field)
{
    const struct source_rule *r = f->rule;
    size_t count = 0;

    for (size_t i = 0; i < r->field_count; i++) {
        const struct config_field *c = &r->field[i];
        const char *value =
            text_of(f, fb_source_find(all, c->path), c->name, (enum config_field_type)c->type);

        if (value)
            field[count++] = (struct snapshot_field){c->name, value};
    }
    return (int)count;
}

/* Everything plain at the top of an object. */
static int read_members(struct finding *f, json_t *all, struct snapshot_field *field)
{
    const char *name;
    json_t *v;
    int count = 0;

    json_object_foreach(all, name, v)
    {
        const char *value = NULL;

        if (json_is_null(v))
            continue;
        if (!fb_check_name(name) || count == CONFIG_FIELDS_MAX)
            fb_source_wrong(f->said, "a member", "is one too many or has no name for a field");
        else
            value = text_of(f, v, name, CONFIG_FIELD_ANY);
        if (value)
            field[count++] =
                (struct snapshot_field){fb_source_text(f->said, name, strlen(name)), value};
        f->is_out_of_memory |= value && !field[count - 1].name;
        if (f->is_out_of_memory)
            return 0;
    }
    return count;
}

static int read_item(struct finding *f, json_t *all, struct fly_error *err)
{
    const struct source_rule *r = f->rule;
    struct snapshot_field *field = fb_source_alloc(f->said, CONFIG_FIELDS_MAX * sizeof *field);

    if (!field)
        return -ENOMEM;
    if (r->id)
        f->said->id = text_of(f, fb_source_find(all, r->id), "its id", CONFIG_FIELD_ANY);
    int count = r->field_count > 0 ? read_fields(f, all, field) : read_members(f, all, field);
    if (f->is_out_of_memory)
        return -ENOMEM;
    if (count == 0) {
        (void)snprintf(err->text, sizeof err->text, "none of its fields is there%s%s",
                       f->said->first[0] ? ": " : "", f->said->first);
        return -EBADMSG;
    }
    qsort(field, (size_t)count, sizeof *field, by_name);
    f->said->says = (struct snapshot){field, (size_t)count};
    return 0;
}

/* ----------------------------------------------------------------------------------------- rows */

static const char *id_at(struct finding *f, json_t *row, const char *path)
{
    json_t *v = fb_source_find(row, path);

    if (!json_is_string(v) && !json_is_integer(v))
        return NULL;
    const char *id = text_of(f, v, "an id", CONFIG_FIELD_ANY);
    return id && fb_template_is_id(id) ? id : NULL;
}

static void read_state(struct finding *f, json_t *row, struct source_row *to)
{
    const struct config_items *items = f->rule->items;
    json_t *v = items->state ? fb_source_find(row, items->state) : NULL;

    to->state = items->state ? ITEM_imminent : ITEM_live;
    if (!items->state)
        return;
    const char *word = text_of(f, v, "a state", CONFIG_FIELD_ANY);
    if (!word || !fb_source_state(items, word, &to->state))
        to->word = word ? word : "";
}

static void read_row(struct finding *f, json_t *row, struct source_row *to)
{
    const struct source_rule *r = f->rule;
    const char **ids = NULL;

    to->id = id_at(f, row, r->items->id);
    if (!to->id)
        return;
    read_state(f, row, to);
    ids = fb_source_alloc(f->said, (r->source_count + 1) * sizeof *ids);
    for (size_t i = 0; ids && i < r->source_count; i++)
        ids[i] = r->id_path[i] ? id_at(f, row, r->id_path[i]) : NULL;
    f->is_out_of_memory |= !ids;
    to->source_id = ids;
}

static int read_rows(struct finding *f, json_t *all, struct fly_error *err)
{
    const char *path = f->rule->items->list;
    json_t *list = fb_source_find(all, path ? path : "");
    size_t count = json_array_size(list);

    if (!json_is_array(list)) {
        (void)snprintf(err->text, sizeof err->text, "there is no list at \"%.100s\"",
                       path ? path : "");
        return -EBADMSG;
    }
    struct source_row *row = fb_source_alloc(f->said, (count + 1) * sizeof *row);
    for (size_t i = 0; row && i < count && !f->is_out_of_memory; i++) {
        struct source_row *to = &row[f->said->row_count];

        read_row(f, json_array_get(list, i), to);
        f->said->row_count += to->id != NULL;
        f->said->rows_bad += to->id == NULL;
    }
    f->said->row = row;
    if (!row || f->is_out_of_memory)
        return -ENOMEM;
    if (f->said->row_count == 0 && count > 0) {
        (void)snprintf(err->text, sizeof err->text, "none of its %zu rows has an id at \"%.100s\"",
                       count, f->rule->items->id);
        return -EBADMSG;
    }
    return 0;
}

int fb_source_read_json(const struct source_rule *r, struct slice body,
                        struct source_said *ret_said, struct fly_error *err)
{
    struct source_said said = {.memory = NULL};
    struct finding f = {.rule = r, .said = &said};
    int rc = look_over(body, err);
    json_t *all = rc == 0 ? load(body, err) : NULL;

    if (rc == 0)
        rc = !all ? -EBADMSG : r->items ? read_rows(&f, all, err) : read_item(&f, all, err);
    json_decref(all);
    fb_buffer_fini(&f.text);
    if (rc < 0)
        fb_source_said_fini(&said);
    else
        *ret_said = said;
    if (rc == -ENOMEM)
        (void)snprintf(err->text, sizeof err->text, "out of memory");
    return rc;
}

extern const struct source_kind fb_source_json;
const struct source_kind fb_source_json = {.name = "json", .read = fb_source_read_json};
