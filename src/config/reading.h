/* SPDX-License-Identifier: MIT */
/*
 * reading.h - a configuration while it is read: what its files share.
 *
 * config.c makes the tree out of all sources and the struct out of the tree; environment.c puts
 * variables and flags into the tree, limit.c turns limit texts into their words and back,
 * unfold.c does so wherever a short form may stand, provider.c adds presets, read.c walks the tree
 * by the table of keys, value.c reads one value, whole.c and watch.c look at it as a whole.
 */
#ifndef FLYBALL_CONFIG_READING_H
#define FLYBALL_CONFIG_READING_H

#include <stdbool.h>
#include <stddef.h>

#include "config/config.h"
#include "config/table.h"
#include "config/tree.h"

/* Pieces that live as long as the configuration. */
struct config_memory {
    struct config_memory *next;
};

struct reading {
    const char *file; /* as the user named it */
    struct config_report *report;
    struct yaml_node *root;
    struct config *config;
    struct config_memory *memory;
    bool is_out_of_memory;
};

/* Zeroed; NULL, and is_out_of_memory is set, when there is none. */
void *fb_reading_alloc(struct reading *r, size_t size);
const char *fb_reading_piece(struct reading *r, const char *bytes, size_t size);
const char *fb_reading_text(struct reading *r, const char *first, const char *second);

/* What a sentence is about: a value, or the key of one. */
enum about { ABOUT_VALUE, ABOUT_KEY, ABOUT_PRIVATE, WARN_VALUE, WARN_KEY };

/* A mistake or a warning; the place of the node is said before the sentence. */
void fb_reading_tell(struct reading *r, const struct yaml_node *n, enum about about,
                     const char *format, ...) __attribute__((format(printf, 4, 5)));

/* ---------------------------------------------------------------------------------- value.c */

/* Read the text of a value into its field (NULL: only look at it). False: it is not right. */
bool fb_value_of_key(const struct config_key *k, const char *text, void *field);

/* ----------------------------------------------------------------------------------- read.c */

/* Read a map into its struct by a table; defaults become part of the tree. */
void fb_read_table(struct reading *r, const struct config_table *t, struct yaml_node *map,
                   void *into);

/* --------------------------------------------------------------------------------- unfold.c */

/* Short forms below a map as what they stand for. */
void fb_unfold(struct reading *r, const struct config_table *t, struct yaml_node *map);

/* ---------------------------------------------------------------------------------- limit.c */

/* `limit` of a map as words, whether it was a text or a map; `rate` beside it as one of them. */
void fb_limit_unfold(struct reading *r, struct yaml_node *owner);

/* A limit text into words of a map, where it does not have them yet. */
void fb_limit_add_words(struct reading *r, struct yaml_node *map, const char *text, struct place at,
                        const char *from);

/* The limit text of words that are right by themselves; "" of NULL. */
const char *fb_limit_text(struct reading *r, const struct yaml_node *map);

/* ---------------------------------------------------------------------------- environment.c */

void fb_environment_add(struct reading *r, const char *const *environment);
void fb_flags_add(struct reading *r, const char *const *flags);

/* ------------------------------------------------------------------------------- provider.c */

/* Before the tree is read: presets of providers. */
void fb_providers_add_presets(struct reading *r);

/* --------------------------------------------------------------------------------- whole.c */

/* After it was read: what has to be right together, and what deserves a warning. */
void fb_config_check(struct reading *r);

/* The node at a path below the root, ended by NULL; the nearest above it where there is none. */
const struct yaml_node *fb_reading_node(const struct reading *r, const char *const *path);

#define NODE(r, ...) fb_reading_node(r, (const char *const[]){__VA_ARGS__, NULL})

/* A provider of the file, or one that is known: else that is told. */
void fb_check_provider_of(struct reading *r, const struct yaml_node *n, const char *provider);

/* ---------------------------------------------------------------------------------- watch.c */

void fb_watch_check(struct reading *r);

#endif
