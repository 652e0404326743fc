/* SPDX-License-Identifier: MIT */
/* options.c - the reader of option tables. */
#include "cli/options.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "config/suggest.h"
#include "core/value.h"

#define ROWS_MAX 64

/* "--quiet" of "-q,--quiet". */
static const char *long_name(const struct option_row *row)
{
    const char *comma = strchr(row->name, ',');

    return comma ? comma + 1 : row->name;
}

static bool is_named(const char *name, size_t name_size, const char *word, size_t size)
{
    return name_size == size && memcmp(name, word, size) == 0;
}

/* The row whose name is the `size` bytes at `word`, or NULL. */
static const struct option_row *find_row(const struct option_row *rows, const char *word,
                                         size_t size)
{
    for (; rows->name; rows++) {
        const char *name = long_name(rows);
        if (is_named(name, strlen(name), word, size))
            return rows;
        if (name != rows->name && is_named(rows->name, strcspn(rows->name, ","), word, size))
            return rows;
    }
    return NULL;
}

static int unknown(const struct option_row *rows, const char *command, const char *word)
{
    const char *names[ROWS_MAX + 1] = {0};
    int count = 0;

    for (int i = 0; rows[i].name && count < ROWS_MAX; i++) {
        if (rows[i].name[0])
            names[count++] = long_name(&rows[i]);
    }

    const char *near = fb_suggest(word, names);
    if (near)
        fprintf(stderr, "flyball %s: unknown option '%s', did you mean '%s'?\n", command, word,
                near);
    else
        fprintf(stderr, "flyball %s: unknown option '%s'; see 'flyball help %s'\n", command, word,
                command);
    return -EINVAL;
}

/* A number written in full and within the row's range. */
static bool read_number(const struct option_row *row, const char *text, double *ret_value)
{
    char *end;
    double value = strtod(text, &end);

    if (end == text || *end || !isfinite(value) || value < row->low || value > row->high)
        return false;
    if (row->kind == OPTION_INT && value != floor(value))
        return false;
    *ret_value = value;
    return true;
}

/* A time; a bare number is in seconds. */
static bool read_span(const char *text, int64_t *ret_span_ns)
{
    char *end;
    double seconds = strtod(text, &end);

    if (end != text && !*end && seconds >= 0 && seconds <= 1e9) {
        *ret_span_ns = (int64_t)(seconds * 1e9);
        return true;
    }
    return fb_value_span(text, ret_span_ns) == VALUE_OK;
}

static bool add_word(struct option_words *words, const char *text)
{
    if (words->count == OPTION_WORDS_MAX)
        return false;
    words->word[words->count++] = text;
    return true;
}

static bool store(const struct option_row *row, const char *text, void *target)
{
    char *field = (char *)target + row->offset;
    double number = 0.0;

    switch (row->kind) {
    case OPTION_FLAG:
        *(bool *)(void *)field = true;
        return true;
    case OPTION_TEXT:
        *(const char **)(void *)field = text;
        return *text != '\0';
    case OPTION_INT:
        if (!read_number(row, text, &number))
            return false;
        *(int64_t *)(void *)field = (int64_t)number;
        return true;
    case OPTION_REAL:
        return read_number(row, text, (double *)(void *)field);
    case OPTION_SPAN:
        return read_span(text, (int64_t *)(void *)field);
    case OPTION_MANY:
        return add_word((struct option_words *)(void *)field, text);
    }
    return false;
}

/* A word that is no option. */
static int read_word(const struct option_row *rows, const char *command, const char *word,
                     void *target)
{
    const struct option_row *row = find_row(rows, "", 0);

    if (row && store(row, word, target))
        return 1;
    fprintf(stderr, "flyball %s: did not expect '%s'; see 'flyball help %s'\n", command, word,
            command);
    return -EINVAL;
}

/* Read the option at argv[0]; returns how many words it took, or -EINVAL. */
static int read_option(const struct option_row *rows, const char *command, char **argv, int left,
                       void *target)
{
    const char *word = argv[0];
    size_t size = strcspn(word, "=");
    const struct option_row *row = find_row(rows, word, size);
    const char *value = word[size] == '=' ? word + size + 1 : NULL;
    int used = 1;

    if (!row)
        return unknown(rows, command, word);

    const char *name = long_name(row);
    if (row->kind == OPTION_FLAG && value) {
        fprintf(stderr, "flyball %s: %s takes no value\n", command, name);
        return -EINVAL;
    }
    if (row->kind != OPTION_FLAG && !value) {
        value = left > 1 ? argv[1] : NULL;
        used = 2;
    }
    if (row->kind != OPTION_FLAG && !value) {
        fprintf(stderr, "flyball %s: %s needs %s\n", command, name, row->expects);
        return -EINVAL;
    }
    if (!store(row, value, target)) {
        fprintf(stderr, "flyball %s: %s: '%s' is not %s\n", command, name, value, row->expects);
        return -EINVAL;
    }
    return used;
}

int fb_options_read(const struct option_row *rows, const char *command, int argc, char **argv,
                    void *target)
{
    bool words_only = false;

    for (int i = 1; i < argc;) {
        bool is_option = argv[i][0] == '-' && argv[i][1] != '\0' && !words_only;
        int used = 1;

        if (is_option && strcmp(argv[i], "--") == 0)
            words_only = true;
        else if (is_option)
            used = read_option(rows, command, argv + i, argc - i, target);
        else
            used = read_word(rows, command, argv[i], target);
        if (used < 0)
            return used;
        i += used;
    }
    return 0;
}
