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

#define ROWS_MAX 64

/* The row whose name is the `size` bytes at `word`, or NULL. */
static const struct option_row *find_row(const struct option_row *rows, const char *word,
                                         size_t size)
{
    for (; rows->name; rows++) {
        if (strlen(rows->name) == size && memcmp(rows->name, word, size) == 0)
            return rows;
    }
    return NULL;
}

static int unknown(const struct option_row *rows, const char *command, const char *word)
{
    const char *names[ROWS_MAX + 1] = {0};

    for (int i = 0; rows[i].name && i < ROWS_MAX; i++)
        names[i] = rows[i].name;

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
    }
    return false;
}

/* Read the option at argv[i]; returns how many words it took, or -EINVAL. */
static int read_option(const struct option_row *rows, const char *command, char **argv, int left,
                       void *target)
{
    const char *word = argv[0];
    size_t size = strcspn(word, "=");
    const struct option_row *row = find_row(rows, word, size);
    const char *value = word[size] == '=' ? word + size + 1 : NULL;
    int used = 1;

    if (word[0] != '-') {
        fprintf(stderr, "flyball %s: did not expect '%s'; see 'flyball help %s'\n", command, word,
                command);
        return -EINVAL;
    }
    if (!row)
        return unknown(rows, command, word);
    if (row->kind == OPTION_FLAG && value) {
        fprintf(stderr, "flyball %s: %s takes no value\n", command, row->name);
        return -EINVAL;
    }
    if (row->kind != OPTION_FLAG && !value) {
        value = left > 1 ? argv[1] : NULL;
        used = 2;
    }
    if (row->kind != OPTION_FLAG && !value) {
        fprintf(stderr, "flyball %s: %s needs %s\n", command, row->name, row->expects);
        return -EINVAL;
    }
    if (!store(row, value, target)) {
        fprintf(stderr, "flyball %s: %s: '%s' is not %s\n", command, row->name, value,
                row->expects);
        return -EINVAL;
    }
    return used;
}

int fb_options_read(const struct option_row *rows, const char *command, int argc, char **argv,
                    void *target)
{
    for (int i = 1; i < argc;) {
        int used = read_option(rows, command, argv + i, argc - i, target);

        if (used < 0)
            return used;
        i += used;
    }
    return 0;
}
