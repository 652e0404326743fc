/* SPDX-License-Identifier: MIT */
/*
 * tree.h - the tree of a configuration: that of its file (config/yaml.h), to which the environment,
 * flags, presets and defaults are added.
 *
 * A node knows where it was said: `from` is NULL for the file, where `at` is its place; else it is
 * one of the words below, or "environment NAME", "flag --set" or "preset NAME".
 */
#ifndef FLYBALL_CONFIG_TREE_H
#define FLYBALL_CONFIG_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include "config/yaml.h"

extern const char fb_from_default[]; /* "default" */

/* The value of a key, or NULL. What is no map has none. */
struct yaml_node *fb_tree_find(const struct yaml_node *map, const char *key);

/* The first child of what is a map, or NULL. */
struct yaml_node *fb_tree_first(const struct yaml_node *map);

/* An empty map without a key; or NULL, when memory is out, as from all of these. */
struct yaml_node *fb_tree_new_map(const char *from);

/* The value of a key of a map, found or added: then it is an empty text. */
struct yaml_node *fb_tree_put(struct yaml_node *map, const char *key, const char *from);

/* Make it a text, whatever it was. */
bool fb_tree_set_text(struct yaml_node *n, const char *text, size_t size, const char *from);

/* Make it an empty list or map, unless it is one. */
void fb_tree_set_kind(struct yaml_node *n, enum yaml_kind kind, const char *from);

/* One more text at the end of a list. */
struct yaml_node *fb_tree_add_text(struct yaml_node *list, const char *text, const char *from);

/* Take a node out of its map or list, and put one at the end of it. */
void fb_tree_take(struct yaml_node *n);
void fb_tree_append(struct yaml_node *parent, struct yaml_node *n);

/* Take what is in `source` for what is in `n`, which keeps its key; `source` is freed. */
void fb_tree_replace(struct yaml_node *n, struct yaml_node *source);

/* How many there are in a list or map. */
size_t fb_tree_count(const struct yaml_node *n);

/* Whether both say the same in the same order, wherever they say it. */
bool fb_tree_is_same(const struct yaml_node *a, const struct yaml_node *b);

#endif
