/* SPDX-License-Identifier: MIT */
/* keys.c - what the table says, and a good word for what it does not. */
#include "config/keys.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "config/suggest.h"

static const struct key *find(const struct key *keys, const char *name)
{
    for (; keys->name; keys++) {
        if (strcmp(keys->name, name) == 0)
            return keys;
    }
    return NULL;
}

/* "title, hosts, limit": cut where there is no more room. */
static void list_names(const struct key *keys, char *text, size_t size)
{
    size_t length = 0;

    for (const struct key *k = keys; k->name && length < size; k++)
        length +=
            (size_t)snprintf(text + length, size - length, "%s%s", k == keys ? "" : ", ", k->name);
}

static void tell_unknown(const struct yaml_node *n, const struct key *keys, struct mistakes *m)
{
    const char *names[FB_KEYS_MAX + 1] = {NULL};
    char all[256] = "";

    for (size_t i = 0; keys[i].name; i++) {
        assert(i < FB_KEYS_MAX);
        names[i] = keys[i].name;
    }
    const char *near = fb_suggest(n->key, names);
    list_names(keys, all, sizeof all);
    if (near)
        fb_mistake(m, n->key_at, "unknown key '%s', expected one of %s (did you mean '%s'?)",
                   n->key, all, near);
    else
        fb_mistake(m, n->key_at, "unknown key '%s', expected one of %s", n->key, all);
}

static bool has(const struct yaml_node *map, const char *name)
{
    for (const struct yaml_node *n = map->child; n; n = n->next) {
        if (strcmp(n->key, name) == 0)
            return true;
    }
    return false;
}

void fb_keys_read(const struct yaml_node *map, const struct key *keys, struct mistakes *m,
                  void *into)
{
    if (map->kind != YAML_MAP) {
        fb_mistake(m, map->at, "expected keys and values, such as '%s: ...'", keys->name);
        return;
    }
    for (const struct yaml_node *n = map->child; n; n = n->next) {
        const struct key *k = find(keys, n->key);
        if (k)
            k->read(n, m, into);
        else
            tell_unknown(n, keys, m);
    }
    for (const struct key *k = keys; k->name; k++) {
        if (k->is_needed && !has(map, k->name))
            fb_mistake(m, map->at, "'%s' is missing", k->name);
    }
}

const char *fb_key_text(const struct yaml_node *value, struct mistakes *m, const char *expected)
{
    if (value->kind == YAML_TEXT && value->text[0])
        return value->text;
    fb_mistake(m, value->at, "expected %s", expected);
    return NULL;
}

bool fb_key_is_list(const struct yaml_node *value, struct mistakes *m, const char *expected)
{
    if (value->kind == YAML_LIST && value->child)
        return true;
    fb_mistake(m, value->at, "expected %s", expected);
    return false;
}
