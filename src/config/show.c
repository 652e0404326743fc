/* SPDX-License-Identifier: MIT */
/* show.c - the tree, written in the order of the table of keys. */
#include "config/show.h"

#include <stdio.h>
#include <string.h>

#include <flyball/flyball.h>

#include "config/table.h"
#include "util/hash.h"
#include "util/json.h"

#define LETTERS   "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define FIRST     LETTERS "0123456789/._"
#define FOLLOWS   FIRST " %+=:@*-"
#define ORIGIN_AT 44 /* the column of comments, where values leave room for them */

void fb_config_origin(const struct config *c, const struct yaml_node *n, struct buffer *out)
{
    if (n->from) {
        fb_buffer_add_text(out, n->from);
        return;
    }
    fb_buffer_add_text(out, c->file ? c->file : "flyball.yaml");
    fb_buffer_add_char(out, ':');
    fb_buffer_add_int(out, n->at.line);
    fb_buffer_add_char(out, ':');
    fb_buffer_add_int(out, n->at.column);
}

void fb_config_describe_secret(const struct config_secret *s, struct buffer *out)
{
    struct buffer secret = BUFFER_INIT;
    struct fly_error err = {""};
    char text[32];

    if (fb_config_read_secret(s, &secret, &err) < 0) {
        fb_buffer_add_text(out, err.text);
    } else {
        uint64_t hash = fb_hash_end(fb_hash_add(FB_HASH_INIT, secret.bytes, secret.size));
        (void)snprintf(text, sizeof text, "set, hash %04x", (unsigned)(hash & 0xffff));
        fb_buffer_add_text(out, text);
    }
    fb_buffer_fini(&secret);
}

/* ------------------------------------------------------------------------------ parts of a URL */

#define CUT "..."

/*
 * What begins with '?' or '#': names of parameters, and values that are filled in later; of all
 * others no more than that they are there.
 */
static void add_query(const char *query, struct buffer *out)
{
    while (*query) {
        fb_buffer_add_char(out, *query++);
        size_t name = strcspn(query, "=&#");
        size_t whole = strcspn(query, "&#");
        size_t value = name < whole ? name + 1 : 0;
        bool is_open = value < whole && query[value] != '{';

        fb_buffer_add(out, query, is_open ? value : whole);
        fb_buffer_add_text(out, is_open ? CUT : "");
        query += whole;
    }
}

/* A value as it is shown, in `room`: of a URL that may hold a secret, without that. */
static const char *shown(const struct config_key *k, const char *text, struct buffer *room)
{
    const char *host = k && k->is_private ? strstr(text, "://") : NULL;

    if (!host)
        return text;
    size_t origin = (size_t)(host + 3 - text) + strcspn(host + 3, "/?#");
    size_t path = origin + strcspn(text + origin, "?#");
    fb_buffer_add(room, text, k->is_hidden ? origin : path);
    if (!k->is_hidden)
        add_query(text + path, room);
    else if (text[origin] && text[origin + 1])
        fb_buffer_add_text(room, "/" CUT);
    else
        fb_buffer_add_text(room, text + origin);
    const char *all = fb_buffer_text(room);
    return all ? all : CUT;
}

/* ----------------------------------------------------------------------------------------- YAML */

struct showing {
    const struct config *c;
    struct buffer *out;
    bool with_origins;
    size_t line; /* where the current one begins */
};

static bool is_plain(const char *text)
{
    size_t size = strlen(text);

    return size > 0 && strchr(FIRST, text[0]) && text[strspn(text, FOLLOWS)] == '\0' &&
           text[size - 1] != ' ' && text[size - 1] != ':' && !strstr(text, ": ");
}

static void add_text(struct buffer *out, const char *text)
{
    if (is_plain(text))
        fb_buffer_add_text(out, text);
    else
        fb_json_add_string(out, text, strlen(text));
}

static void begin_line(struct showing *s, int depth, const char *key)
{
    s->line = s->out->size;
    for (int i = 0; i < 2 * depth; i++)
        fb_buffer_add_char(s->out, ' ');
    add_text(s->out, key);
    fb_buffer_add_char(s->out, ':');
}

static void end_line(struct showing *s, const struct yaml_node *n,
                     const struct config_secret *secret, bool is_cut)
{
    if (is_cut && !s->with_origins)
        fb_buffer_add_text(s->out, " # cut: it may hold a secret");
    if (s->with_origins) {
        do
            fb_buffer_add_char(s->out, ' ');
        while (s->out->size - s->line < ORIGIN_AT && !s->out->failed);
        fb_buffer_add_text(s->out, "# ");
        fb_config_origin(s->c, n, s->out);
    }
    if (s->with_origins && secret) {
        fb_buffer_add_text(s->out, "; ");
        fb_config_describe_secret(secret, s->out);
    }
    if (s->with_origins && is_cut)
        fb_buffer_add_text(s->out, "; cut: it may hold a secret");
    fb_buffer_add_char(s->out, '\n');
}

static void add_list(struct buffer *out, const struct yaml_node *list)
{
    fb_buffer_add_char(out, '[');
    for (const struct yaml_node *n = list->child; n; n = n->next) {
        fb_buffer_add_text(out, n == list->child ? "" : ", ");
        add_text(out, n->text);
    }
    fb_buffer_add_char(out, ']');
}

/* The keys by which a secret is found, and where that is. */
static bool names_secret(const struct config_key *k, const struct yaml_node *n,
                         struct config_secret *ret_secret)
{
    const char *name = strrchr(k->name, '_') ? strrchr(k->name, '_') + 1 : k->name;

    *ret_secret = (struct config_secret){0};
    if (!k->is_private || n->kind != YAML_TEXT)
        return false;
    if (strcmp(name, "env") == 0)
        ret_secret->env = n->text;
    else if (strcmp(name, "file") == 0)
        ret_secret->file = n->text;
    return ret_secret->env || ret_secret->file;
}

static void show_value(struct showing *s, int depth, const struct config_key *k,
                       const struct yaml_node *n)
{
    struct config_secret secret;
    struct buffer room = BUFFER_INIT;
    const char *text = n->kind == YAML_LIST ? NULL : shown(k, n->text, &room);

    begin_line(s, depth, n->key);
    fb_buffer_add_char(s->out, ' ');
    if (text)
        add_text(s->out, text);
    else
        add_list(s->out, n);
    end_line(s, n, k && names_secret(k, n, &secret) ? &secret : NULL,
             text && strcmp(text, n->text) != 0);
    fb_buffer_fini(&room);
}

static void show_table(struct showing *s, int depth, const struct config_table *t,
                       const struct yaml_node *map);

/* A map of entries, or of texts. */
static void show_entries(struct showing *s, int depth, const struct config_table *t,
                         const struct yaml_node *map)
{
    for (const struct yaml_node *n = map->child; n; n = n->next) {
        if (!t) {
            show_value(s, depth, NULL, n);
            continue;
        }
        begin_line(s, depth, n->key);
        fb_buffer_add_char(s->out, '\n');
        show_table(s, depth + 1, t, n);
    }
}

static void show_table(struct showing *s, int depth, const struct config_table *t,
                       const struct yaml_node *map)
{
    for (const struct config_key *k = t->keys; k->name; k++) {
        const struct yaml_node *n = fb_tree_find(map, k->name);

        if (!n || (n->kind == YAML_MAP && !n->child))
            continue;
        if (n->kind != YAML_MAP) {
            show_value(s, depth, k, n);
            continue;
        }
        begin_line(s, depth, k->name);
        fb_buffer_add_char(s->out, '\n');
        if (k->type == CONFIG_MAP || k->type == CONFIG_PAIRS)
            show_entries(s, depth + 1, k->table, n);
        else
            show_table(s, depth + 1, k->table, n);
    }
}

void fb_config_show(const struct config *c, bool with_origins, struct buffer *out)
{
    struct showing s = {.c = c, .out = out, .with_origins = with_origins};

    show_table(&s, 0, &fb_config_keys, c->tree);
}

/* ----------------------------------------------------------------------------------------- JSON */

static bool is_true(const char *text)
{
    return strcmp(text, "true") == 0 || strcmp(text, "yes") == 0 || strcmp(text, "on") == 0;
}

/* Without the zeroes before it, which JSON does not allow. */
static void add_number(struct buffer *out, const char *text)
{
    size_t zeroes = strspn(text, "0");

    fb_buffer_add_text(out, text[zeroes] ? text + zeroes : "0");
}

static void add_json_text(struct buffer *out, const struct config_key *k, const char *text)
{
    enum config_json kind = k ? fb_config_type_json(k->type) : JSON_STRING;
    struct buffer room = BUFFER_INIT;

    text = shown(k, text, &room);
    if (kind == JSON_BOOLEAN)
        fb_buffer_add_text(out, is_true(text) ? "true" : "false");
    else if (kind == JSON_NUMBER)
        add_number(out, text);
    else
        fb_json_add_string(out, text, strlen(text));
    fb_buffer_fini(&room);
}

static void add_json_list(struct buffer *out, const struct yaml_node *list)
{
    fb_buffer_add_char(out, '[');
    for (const struct yaml_node *n = list->child; n; n = n->next) {
        if (n != list->child)
            fb_buffer_add_char(out, ',');
        fb_json_add_string(out, n->text, strlen(n->text));
    }
    fb_buffer_add_char(out, ']');
}

/* A name as a member's, with the comma that it needs. */
static void add_json_name(struct buffer *out, const char *name)
{
    if (out->size > 0 && out->bytes[out->size - 1] != '{')
        fb_buffer_add_char(out, ',');
    fb_json_add_string(out, name, strlen(name));
    fb_buffer_add_char(out, ':');
}

static void add_json_map(struct buffer *out, const struct config_table *t, bool has_entries,
                         const struct yaml_node *map)
{
    fb_buffer_add_char(out, '{');
    for (const struct yaml_node *n = map->child; n; n = n->next) {
        const struct config_key *k = t && !has_entries ? fb_config_key_find(t, n->key) : NULL;

        add_json_name(out, n->key);
        if (n->kind == YAML_MAP)
            add_json_map(out, has_entries ? t : k->table, k && k->type == CONFIG_MAP, n);
        else if (n->kind == YAML_LIST)
            add_json_list(out, n);
        else
            add_json_text(out, k, n->text);
    }
    fb_buffer_add_char(out, '}');
}

static void add_origins(const struct config *c, struct buffer *out, struct buffer *path,
                        const struct yaml_node *map)
{
    size_t above = path->size;

    for (const struct yaml_node *n = map->child; n; n = n->next) {
        struct buffer origin = BUFFER_INIT;

        if (above > 0)
            fb_buffer_add_char(path, '.');
        fb_buffer_add_text(path, n->key);
        if (n->kind == YAML_MAP) {
            add_origins(c, out, path, n);
        } else if (fb_buffer_text(path)) {
            fb_config_origin(c, n, &origin);
            add_json_name(out, fb_buffer_text(path));
            fb_json_add_string(out, origin.bytes, origin.size);
        }
        fb_buffer_fini(&origin);
        path->size = above;
    }
}

void fb_config_show_json(const struct config *c, struct buffer *out)
{
    struct buffer path = BUFFER_INIT;

    fb_buffer_add_text(out, "{\"schema\":\"flyball.config/1\"");
    fb_json_text(out, "file", c->file);
    fb_json_name(out, "config");
    add_json_map(out, &fb_config_keys, false, c->tree);
    fb_json_name(out, "origins");
    fb_buffer_add_char(out, '{');
    add_origins(c, out, &path, c->tree);
    fb_buffer_add_text(out, "}}\n");
    fb_buffer_fini(&path);
}
