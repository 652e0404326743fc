/* SPDX-License-Identifier: MIT */
/* tree.c - nodes found, added and moved. */
#include "config/tree.h"

#include <assert.h>
#include <string.h>

#include "util/alloc.h"

const char fb_from_default[] = "default";

static char *copy_text(const char *text, size_t size)
{
    char *copy = fb_alloc(size + 1);

    if (copy && size > 0)
        memcpy(copy, text, size);
    return copy;
}

struct yaml_node *fb_tree_find(const struct yaml_node *map, const char *key)
{
    if (!map || map->kind != YAML_MAP)
        return NULL;
    for (struct yaml_node *n = map->child; n; n = n->next) {
        if (strcmp(n->key, key) == 0)
            return n;
    }
    return NULL;
}

struct yaml_node *fb_tree_first(const struct yaml_node *map)
{
    return map && map->kind == YAML_MAP ? map->child : NULL;
}

struct yaml_node *fb_tree_new_map(const char *from)
{
    struct yaml_node *n = fb_alloc(sizeof *n);

    if (n) {
        n->kind = YAML_MAP;
        n->from = from;
    }
    return n;
}

void fb_tree_append(struct yaml_node *parent, struct yaml_node *n)
{
    assert(parent->kind != YAML_TEXT && !n->next);
    n->parent = parent;
    if (parent->last)
        parent->last->next = n;
    else
        parent->child = n;
    parent->last = n;
}

void fb_tree_take(struct yaml_node *n)
{
    struct yaml_node *parent = n->parent, *before = NULL;

    for (struct yaml_node *c = parent->child; c != n; c = c->next)
        before = c;
    if (before)
        before->next = n->next;
    else
        parent->child = n->next;
    if (parent->last == n)
        parent->last = before;
    n->next = NULL;
    n->parent = NULL;
}

struct yaml_node *fb_tree_put(struct yaml_node *map, const char *key, const char *from)
{
    assert(map->kind == YAML_MAP);

    struct yaml_node *known = fb_tree_find(map, key);
    if (known)
        return known;
    struct yaml_node *n = fb_tree_new_map(from);
    char *name = copy_text(key, strlen(key));
    char *text = copy_text("", 0);
    if (!n || !name || !text) {
        fb_free(text);
        fb_free(name);
        fb_free(n);
        return NULL;
    }
    n->kind = YAML_TEXT;
    n->key = name;
    n->text = text;
    fb_tree_append(map, n);
    return n;
}

/* Everything below it goes. */
static void empty(struct yaml_node *n)
{
    for (struct yaml_node *c = n->child, *next; c; c = next) {
        next = c->next;
        c->next = NULL;
        c->parent = NULL;
        fb_yaml_free(c);
    }
    n->child = n->last = NULL;
    fb_free(n->text);
    n->text = NULL;
}

bool fb_tree_set_text(struct yaml_node *n, const char *text, size_t size, const char *from)
{
    char *copy = copy_text(text, size);

    if (!copy)
        return false;
    empty(n);
    n->kind = YAML_TEXT;
    n->text = copy;
    n->from = from;
    return true;
}

void fb_tree_set_kind(struct yaml_node *n, enum yaml_kind kind, const char *from)
{
    assert(kind != YAML_TEXT);
    if (n->kind == kind)
        return;
    empty(n);
    n->kind = kind;
    n->from = from;
}

struct yaml_node *fb_tree_add_text(struct yaml_node *list, const char *text, const char *from)
{
    struct yaml_node *n = fb_alloc(sizeof *n);

    assert(list->kind == YAML_LIST);
    if (!n || !fb_tree_set_text(n, text, strlen(text), from)) {
        fb_free(n);
        return NULL;
    }
    n->at = list->at;
    fb_tree_append(list, n);
    return n;
}

void fb_tree_replace(struct yaml_node *n, struct yaml_node *source)
{
    empty(n);
    n->kind = source->kind;
    n->from = source->from;
    n->at = source->at;
    n->text = source->text;
    n->child = source->child;
    n->last = source->last;
    for (struct yaml_node *c = n->child; c; c = c->next)
        c->parent = n;
    source->text = NULL;
    source->child = source->last = NULL;
    fb_yaml_free(source);
}

size_t fb_tree_count(const struct yaml_node *n)
{
    size_t count = 0;

    for (const struct yaml_node *c = n->child; c; c = c->next)
        count++;
    return count;
}

static bool has_same_key(const struct yaml_node *a, const struct yaml_node *b)
{
    return a->key && b->key ? strcmp(a->key, b->key) == 0 : a->key == b->key;
}

/* As deep as a file may be: FB_YAML_DEPTH_MAX. */
bool fb_tree_is_same(const struct yaml_node *a, const struct yaml_node *b)
{
    const struct yaml_node *x = a->child, *y = b->child;

    if (a->kind != b->kind || !has_same_key(a, b))
        return false;
    if (a->kind == YAML_TEXT)
        return strcmp(a->text, b->text) == 0;
    while (x && y && fb_tree_is_same(x, y)) {
        x = x->next;
        y = y->next;
    }
    return !x && !y;
}
