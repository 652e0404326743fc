/* SPDX-License-Identifier: MIT */
/*
 * keys.h - a map of a configuration file, read by a table of its keys.
 *
 * A key that the table does not have is a mistake with a suggestion; a key that has to be there
 * and is not, is one too. The readers tell what is wrong with their own value and go on, so that
 * a file's mistakes are all told at once.
 */
#ifndef FLYBALL_CONFIG_KEYS_H
#define FLYBALL_CONFIG_KEYS_H

#include <stdbool.h>

#include "config/mistakes.h"
#include "config/yaml.h"

#define FB_KEYS_MAX 32 /* in one table */

struct key {
    const char *name; /* NULL ends the table */
    bool is_needed;
    void (*read)(const struct yaml_node *value, struct mistakes *m, void *into);
};

/* Read every key of `map` into `into`. What is not a map is a mistake. */
void fb_keys_read(const struct yaml_node *map, const struct key *keys, struct mistakes *m,
                  void *into);

/* The text of a value, or NULL after telling that `expected` was expected; never "". */
const char *fb_key_text(const struct yaml_node *value, struct mistakes *m, const char *expected);

/* Is the value a list with something in it? If not, that is told. */
bool fb_key_is_list(const struct yaml_node *value, struct mistakes *m, const char *expected);

#endif
