/* SPDX-License-Identifier: MIT */
/* describe.c - walks over the table of keys that write it down. */
#include "config/describe.h"

#include <stdio.h>
#include <string.h>

#include "config/table.h"
#include "signal/preset.h"
#include "util/buffer.h"
#include "util/json.h"
#include "util/text.h"

#define EXPECTS_SIZE 256
#define PATH_WIDTH   36

/* ------------------------------------------------------------------------------------- the walk */

struct walking {
    void (*each)(void *to, const struct config_row *row);
    void *to;
    struct buffer path;
};

static void walk(struct walking *w, const struct config_table *t)
{
    size_t above = w->path.size;

    for (const struct config_key *k = t->keys; k->name; k++) {
        if (above > 0)
            fb_buffer_add_char(&w->path, '.');
        fb_buffer_add_text(&w->path, k->name);
        const char *path = fb_buffer_text(&w->path);
        if (path)
            w->each(w->to, &(struct config_row){.path = path, .table = t, .key = k});
        if (k->type == CONFIG_MAP)
            fb_buffer_add_text(&w->path, ".*");
        if (k->table)
            walk(w, k->table);
        w->path.size = above;
    }
}

void fb_config_each_key(void (*each)(void *to, const struct config_row *row), void *to)
{
    struct walking w = {.each = each, .to = to};

    walk(&w, &fb_config_keys);
    fb_buffer_fini(&w.path);
}

/* ------------------------------------------------------------------------------------- the list */

static void expects(const struct config_key *k, char *to)
{
    struct text t;

    fb_text_init(&t, to, EXPECTS_SIZE);
    fb_config_key_expects(k, &t);
}

static void list_key(void *to, const struct config_row *row)
{
    char line[1024], what[EXPECTS_SIZE];
    const struct config_key *k = row->key;

    if (k->type == CONFIG_SECTION)
        return;
    expects(k, what);
    (void)snprintf(line, sizeof line, "%-*s  %s\n%*s  %s%s%s\n", PATH_WIDTH, row->path, k->help,
                   PATH_WIDTH, "", what, k->standard ? "; default " : "",
                   k->standard ? k->standard : "");
    fb_buffer_add_text(to, line);
}

void fb_config_list_keys(struct buffer *out)
{
    fb_config_each_key(list_key, out);
}

static const char *type_name(enum config_type type)
{
    static const char *const names[] = {
        [CONFIG_TEXT] = "text",     [CONFIG_BOOL] = "boolean", [CONFIG_INT] = "number",
        [CONFIG_SPAN] = "time",     [CONFIG_SHARE] = "share",  [CONFIG_SIZE] = "size",
        [CONFIG_RATE] = "rate",     [CONFIG_WORD] = "word",    [CONFIG_TEXTS] = "list",
        [CONFIG_PAIRS] = "headers", [CONFIG_LIMIT] = "limit",  [CONFIG_SECTION] = "section",
        [CONFIG_MAP] = "map",
    };

    return names[type];
}

static void list_key_json(void *to, const struct config_row *row)
{
    struct buffer *out = to;
    const struct config_key *k = row->key;
    char what[EXPECTS_SIZE];

    expects(k, what);
    fb_buffer_add_text(out, out->bytes[out->size - 1] == '[' ? "{" : ",{");
    fb_json_text(out, "path", row->path);
    fb_json_text(out, "section", row->table->title);
    fb_json_text(out, "help", row->table->help);
    fb_json_text(out, "type", type_name(k->type));
    fb_json_text(out, "expects", what);
    fb_json_text(out, "default", k->standard);
    fb_json_text(out, "about", k->help);
    fb_json_bool(out, "needed", k->is_needed);
    fb_json_bool(out, "restart", k->is_fixed);
    fb_buffer_add_char(out, '}');
}

static void list_preset_json(struct buffer *out, const struct preset *p)
{
    fb_buffer_add_text(out, out->bytes[out->size - 1] == '[' ? "{" : ",{");
    fb_json_text(out, "name", p->name);
    fb_json_text(out, "title", p->title);
    fb_json_text(out, "documentation", p->documentation);
    fb_json_text(out, "limit", p->limit);
    fb_json_text(out, "quota", p->quota_path);
    fb_json_name(out, "hosts");
    fb_buffer_add_char(out, '[');
    for (const char *const *h = p->hosts; *h; h++) {
        fb_buffer_add_text(out, h == p->hosts ? "" : ",");
        fb_json_add_string(out, *h, strlen(*h));
    }
    fb_buffer_add_char(out, ']');
    fb_json_int(out, "pools", (int64_t)p->pool_count);
    fb_buffer_add_char(out, '}');
}

void fb_config_list_keys_json(struct buffer *out)
{
    fb_buffer_add_text(out, "{\"schema\":\"flyball.config-keys/1\",\"keys\":[");
    fb_config_each_key(list_key_json, out);
    fb_buffer_add_text(out, "],\"presets\":[");
    for (size_t i = 0; i < fb_preset_count; i++)
        list_preset_json(out, &fb_presets[i]);
    fb_buffer_add_text(out, "]}\n");
}
