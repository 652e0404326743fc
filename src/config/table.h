/* SPDX-License-Identifier: MIT */
/*
 * table.h - the one table of keys: what a configuration file may say.
 *
 * A table is one map of the file: its keys, each with its type, its default, what is allowed and a
 * sentence about it. A key may itself be a table (a section), a map of named entries that have one,
 * and so on; the root is fb_config_keys. Loading, checking, defaults, `config show`, the manual
 * flyball.yaml(5), the JSON Schema and completion are all made from it: to add a key is to add a
 * field to the struct in config/config.h and a row here.
 */
#ifndef FLYBALL_CONFIG_TABLE_H
#define FLYBALL_CONFIG_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Name; what its value looks like; what it is in JSON. The field is: of TEXT, RATE and
 * LIMIT a const char *; of TEXTS a const char *const *, ended by NULL; of BOOL a bool;
 * of PAIRS, MAP a pointer to the structs; of SECTION the struct itself; of all others an int64_t.
 */
#define FB_CONFIG_TYPES(X)                                                     \
    X(TEXT, "a text", STRING)                                                  \
    X(BOOL, "true or false", BOOLEAN)                                          \
    X(INT, "a whole number", NUMBER)                                           \
    X(SPAN, "a time such as 10s", STRING)                                      \
    X(SHARE, "a share below 100 % such as 10%", STRING)                        \
    X(SIZE, "a size such as 64MiB", STRING)                                    \
    X(RATE, "a rate such as 10/s", STRING)                                     \
    X(WORD, "one of these words", STRING)                                      \
    X(TEXTS, "a list of texts", LIST)                                          \
    X(PAIRS, "names and texts, such as 'Accept: text/html'", MAP)              \
    X(LIMIT, "a limit text such as window=5000/1h, or its words as keys", MAP) \
    X(SECTION, "keys and values", MAP)                                         \
    X(MAP, "names with keys and values below them", MAP)

enum config_type {
#define X(name, expects, json) CONFIG_##name,
    FB_CONFIG_TYPES(X)
#undef X
        CONFIG_TYPES
};

enum config_json { JSON_STRING, JSON_NUMBER, JSON_BOOLEAN, JSON_LIST, JSON_MAP };

struct config_table;

struct config_key {
    const char *name; /* NULL ends the table */
    enum config_type type;
    size_t offset;                    /* of the field; CONFIG_NO_FIELD: none */
    size_t count_offset;              /* of PAIRS and MAP: of the number of structs, a size_t */
    const char *standard;             /* the default, as it would be written; NULL: there is none */
    const char *help;                 /* a sentence */
    int64_t least, most;              /* of INT, SPAN and SIZE */
    const char *const *words;         /* of WORD, ended by NULL: its index is the value */
    const struct config_table *table; /* of SECTION, MAP and LIMIT */
    bool (*is_right)(const char *text); /* a further check, of each text */
    const char *expects;                /* what it checks: "a host such as api.example.com" */
    bool is_needed;
    bool is_ordered; /* of MAP: it matters which entry comes first */
    bool is_fixed;   /* it, and what is below it, takes effect at the next start */
    bool is_private; /* what was written instead of what is expected may be a secret: not shown */
    bool is_hidden;  /* a URL whose path is a secret as well */
};

#define CONFIG_NO_FIELD SIZE_MAX

struct config_table {
    const char *title; /* of its part of the manual */
    const char *entry; /* what an entry of a MAP is called: "PROVIDER" */
    const char *brief; /* the key that a text in the place of an entry stands for, or NULL */
    const char *help;
    size_t size; /* of its struct, which begins with its name where it is of a MAP */
    const struct config_key *keys;
};

extern const struct config_table fb_config_keys;

const struct config_key *fb_config_key_find(const struct config_table *t, const char *name);

/* "a whole number from 1 to 10000": what is expected of a key. Appended to `text`. */
struct text;
void fb_config_key_expects(const struct config_key *k, struct text *text);

/* What the type is in JSON. */
enum config_json fb_config_type_json(enum config_type type);

/* A key where it stands: "providers.*.pools.*.path". */
struct config_row {
    const char *path;
    const struct config_table *table;
    const struct config_key *key;
};

/* Every key from the root on, sections and maps before what is below them. */
void fb_config_each_key(void (*each)(void *to, const struct config_row *row), void *to);

#endif
