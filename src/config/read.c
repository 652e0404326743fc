/* SPDX-License-Identifier: MIT */
/*
 * read.c - the tree, walked by the table of keys.
 *
 * A value that is wrong is told and left out; reading goes on, so that all mistakes are told. What
 * nobody said becomes part of the tree, as said by default.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "config/check.h"
#include "config/reading.h"
#include "config/suggest.h"
#include "util/alloc.h"
#include "util/text.h"

#define KEYS_MAX     64 /* of one table */
#define PRESETS_MAX  128
#define EXPECTS_SIZE 512

static const char *const no_texts[] = {NULL};

/* -------------------------------------------------------------------------------- what is wrong */

/* `"fast"`, `a list`: what was found. */
static void describe(const struct yaml_node *n, char *to, size_t size)
{
    static const char *const kinds[] = {
        [YAML_TEXT] = "nothing", [YAML_LIST] = "a list", [YAML_MAP] = "keys and values"};

    if (n->kind == YAML_TEXT && n->text[0])
        (void)snprintf(to, size, "\"%.60s%s\"", n->text, strlen(n->text) > 60 ? "..." : "");
    else
        (void)snprintf(to, size, "%s", kinds[n->kind]);
}

/* A word that was probably meant, or NULL. */
static const char *meant(const struct config_key *k, const struct yaml_node *n)
{
    const char *presets[PRESETS_MAX + 1] = {NULL};

    if (n->kind != YAML_TEXT || !n->text[0])
        return NULL;
    if (k->words)
        return fb_suggest(n->text, k->words);
    if (k->is_right != fb_check_preset)
        return NULL;
    for (size_t i = 0; i < fb_preset_count && i < PRESETS_MAX; i++)
        presets[i] = fb_presets[i].name;
    return fb_suggest(n->text, presets);
}

static void tell_wrong(struct reading *r, const struct config_key *k, const struct yaml_node *n)
{
    char expects[EXPECTS_SIZE], found[80];
    const char *near = meant(k, n);
    struct text t;

    fb_text_init(&t, expects, sizeof expects);
    fb_config_key_expects(k, &t);
    describe(n, found, sizeof found);
    if (k->is_private && n->kind == YAML_TEXT && n->text[0])
        fb_reading_tell(r, n, ABOUT_PRIVATE, "%s: expected %s", k->name, expects);
    else
        fb_reading_tell(r, n, ABOUT_VALUE, "%s: expected %s, found %s%s%s%s", k->name, expects,
                        found, near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "");
}

static void tell_unknown(struct reading *r, const struct config_table *t, const struct yaml_node *n)
{
    const char *names[KEYS_MAX + 1] = {NULL};
    char all[EXPECTS_SIZE];
    struct text text;
    size_t count = 0;

    fb_text_init(&text, all, sizeof all);
    for (const struct config_key *k = t->keys; k->name; k++) {
        assert(count < KEYS_MAX);
        names[count++] = k->name;
        fb_text_add(&text, k == t->keys ? "" : ", ");
        fb_text_add(&text, k->name);
    }
    const char *near = fb_suggest(n->key, names);
    if (near)
        fb_reading_tell(r, n, ABOUT_KEY,
                        "unknown key '%s', expected one of %s (did you mean '%s'?)", n->key, all,
                        near);
    else
        fb_reading_tell(r, n, ABOUT_KEY, "unknown key '%s', expected one of %s", n->key, all);
}

/* Keys that are only commented out leave nothing behind: that is an empty map. */
static bool as_map(struct yaml_node *n)
{
    if (n->kind == YAML_TEXT && !n->text[0])
        fb_tree_set_kind(n, YAML_MAP, n->from);
    return n->kind == YAML_MAP;
}

static void *field_of(const struct config_key *k, void *into)
{
    return k->offset == CONFIG_NO_FIELD ? NULL : (char *)into + k->offset;
}

/* What a struct is when nothing is said, so that nobody stumbles over it. */
static void set_nothing(const struct config_table *t, void *into)
{
    const char *const *none = no_texts;

    for (const struct config_key *k = t->keys; into && k->name; k++) {
        if (k->type == CONFIG_TEXTS && k->offset != CONFIG_NO_FIELD)
            memcpy((char *)into + k->offset, &none, sizeof none);
        if (k->type == CONFIG_SECTION && k->offset != CONFIG_NO_FIELD)
            set_nothing(k->table, (char *)into + k->offset);
    }
}

/* ----------------------------------------------------------------------------------- each type */

static void read_scalar(struct reading *r, const struct config_key *k, struct yaml_node *n,
                        void *into)
{
    if (n->kind != YAML_TEXT || !fb_value_of_key(k, n->text, field_of(k, into)))
        tell_wrong(r, k, n);
}

/* One text is a list of one. */
static bool as_list(struct reading *r, struct yaml_node *n)
{
    struct yaml_node *only;

    if (n->kind != YAML_TEXT || !n->text[0])
        return n->kind == YAML_LIST;
    char *text = n->text;
    n->text = NULL;
    fb_tree_set_kind(n, YAML_LIST, n->from);
    only = fb_tree_add_text(n, "", n->from);
    r->is_out_of_memory |= !only || !fb_tree_set_text(only, text, strlen(text), n->from);
    fb_free(text);
    return only != NULL;
}

static void read_texts(struct reading *r, const struct config_key *k, struct yaml_node *n,
                       void *into)
{
    const char **field = field_of(k, into);
    size_t count = 0;

    if (!as_list(r, n)) {
        tell_wrong(r, k, n);
        return;
    }
    const char **texts = fb_reading_alloc(r, (fb_tree_count(n) + 1) * sizeof *texts);
    for (struct yaml_node *c = n->child; c && texts; c = c->next) {
        if (c->kind != YAML_TEXT || !c->text[0] || (k->is_right && !k->is_right(c->text)))
            tell_wrong(r, k, c);
        else
            texts[count++] = c->text;
    }
    if (field && texts)
        memcpy(field, &texts, sizeof texts);
}

static void check_pair(struct reading *r, const struct config_key *k, const struct yaml_node *n)
{
    if (!fb_check_header_name(n->key))
        fb_reading_tell(r, n, ABOUT_KEY, "'%s' is no name of a header", n->key);
    else if (fb_check_is_secret_header(n->key))
        fb_reading_tell(r, n, ABOUT_PRIVATE, "%s: a secret belongs into credentials, not here",
                        n->key);
    else if (n->kind != YAML_TEXT || !fb_check_header_value(n->text))
        fb_reading_tell(r, n, ABOUT_PRIVATE, "%s: expected a text without line breaks", n->key);
    (void)k;
}

static void read_pairs(struct reading *r, const struct config_key *k, struct yaml_node *n,
                       void *into)
{
    struct config_header **field = field_of(k, into);
    size_t *count = (size_t *)(void *)((char *)into + k->count_offset);

    if (!as_map(n)) {
        tell_wrong(r, k, n);
        return;
    }
    *field = fb_reading_alloc(r, fb_tree_count(n) * sizeof **field);
    for (struct yaml_node *c = n->child; c && *field; c = c->next) {
        check_pair(r, k, c);
        (*field)[(*count)++] = (struct config_header){c->key, c->text};
    }
}

static void read_limit(struct reading *r, const struct config_key *k, struct yaml_node *n,
                       void *into)
{
    const char **field = field_of(k, into);
    unsigned before = r->report->mistakes;

    if (!as_map(n)) {
        tell_wrong(r, k, n);
        return;
    }
    fb_read_table(r, k->table, n, NULL);
    if (n->child && r->report->mistakes == before)
        *field = fb_limit_text(r, n);
}

static void read_section(struct reading *r, const struct config_key *k, struct yaml_node *n,
                         void *into)
{
    if (as_map(n))
        fb_read_table(r, k->table, n, field_of(k, into));
    else
        tell_wrong(r, k, n);
}

static void read_map(struct reading *r, const struct config_key *k, struct yaml_node *n, void *into)
{
    void *entries = NULL;
    size_t size = k->table->size, count = 0;

    if (!as_map(n)) {
        tell_wrong(r, k, n);
        return;
    }
    entries = fb_reading_alloc(r, fb_tree_count(n) * size);
    for (struct yaml_node *c = n->child; c && entries; c = c->next, count++) {
        char *entry = (char *)entries + count * size;
        const char *name = c->key;

        memcpy(entry, &name, sizeof name);
        set_nothing(k->table, entry);
        if (!fb_check_name(name))
            fb_reading_tell(r, c, ABOUT_KEY,
                            "'%.60s' is no name, expected letters, digits, -, _ "
                            "and .",
                            name);
        if (as_map(c))
            fb_read_table(r, k->table, c, entry);
        else
            fb_reading_tell(r, c, ABOUT_VALUE, "%s: expected keys and values, such as '%s: ...'",
                            name, k->table->keys->name);
    }
    memcpy((char *)into + k->offset, &entries, sizeof entries);
    memcpy((char *)into + k->count_offset, &count, sizeof count);
}

static void read_key(struct reading *r, const struct config_key *k, struct yaml_node *n, void *into)
{
    static void (*const readers[CONFIG_TYPES])(struct reading *, const struct config_key *,
                                               struct yaml_node *, void *) = {
        [CONFIG_TEXTS] = read_texts,     [CONFIG_PAIRS] = read_pairs, [CONFIG_LIMIT] = read_limit,
        [CONFIG_SECTION] = read_section, [CONFIG_MAP] = read_map,
    };

    (readers[k->type] ? readers[k->type] : read_scalar)(r, k, n, into);
}

/* ------------------------------------------------------------------------------------ one table */

/* What was not said: a default, or a section all of whose keys have them. */
static struct yaml_node *add_standard(struct reading *r, const struct config_key *k,
                                      struct yaml_node *map)
{
    struct yaml_node *n;

    if (!k->standard && k->type != CONFIG_SECTION)
        return NULL;
    n = fb_tree_put(map, k->name, fb_from_default);
    if (n && k->type == CONFIG_SECTION)
        fb_tree_set_kind(n, YAML_MAP, fb_from_default);
    if (!n ||
        (k->standard && !fb_tree_set_text(n, k->standard, strlen(k->standard), fb_from_default)))
        r->is_out_of_memory = true;
    return n;
}

const struct config_key *fb_config_key_find(const struct config_table *t, const char *name)
{
    for (const struct config_key *k = t->keys; k->name; k++) {
        if (strcmp(k->name, name) == 0)
            return k;
    }
    return NULL;
}

void fb_read_table(struct reading *r, const struct config_table *t, struct yaml_node *map,
                   void *into)
{
    set_nothing(t, into);
    for (const struct yaml_node *n = map->child; n; n = n->next) {
        if (!fb_config_key_find(t, n->key))
            tell_unknown(r, t, n);
    }
    for (const struct config_key *k = t->keys; k->name; k++) {
        struct yaml_node *n = fb_tree_find(map, k->name);

        if (!n && k->is_needed)
            fb_reading_tell(r, map, ABOUT_KEY, "%s: is missing, expected %s", k->name, k->expects);
        if (!n)
            n = add_standard(r, k, map);
        if (!n || r->is_out_of_memory)
            continue;
        fb_tree_take(n); /* so that equal configurations have equal trees */
        fb_tree_append(map, n);
        read_key(r, k, n, into);
        if (n->kind == YAML_MAP && !n->child && k->type != CONFIG_SECTION) {
            fb_tree_take(n); /* nothing is said there */
            fb_yaml_free(n);
        }
    }
}
