/* SPDX-License-Identifier: MIT */
/* options.c - the reader of option tables. */
#include "cli/options.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "config/suggest.h"

#define ROWS_MAX    128
#define EXPECTS_MAX 256

/* The command line while it is read. */
struct reader {
    const struct command *command;
    void *target;
    char **argv; /* at the word that is read */
    int left;    /* words from there on */
};

const char *fb_option_name(const struct option_row *row)
{
    const char *comma = strchr(row->name, ',');

    return comma ? comma + 1 : row->name;
}

char fb_option_letter(const struct option_row *row)
{
    return strchr(row->name, ',') ? row->name[1] : '\0';
}

const struct option_row *fb_option_find(const struct option_row *rows, const char *word,
                                        size_t size)
{
    for (; rows && rows->name; rows++) {
        const char *name = fb_option_name(rows);
        if (strlen(name) == size && memcmp(name, word, size) == 0)
            return rows;
    }
    return NULL;
}

const struct option_row *fb_option_find_letter(const struct option_row *rows, char letter)
{
    for (; rows && rows->name; rows++) {
        if (letter && fb_option_letter(rows) == letter)
            return rows;
    }
    return NULL;
}

/* The end of a complaint: what was probably meant, or where to read on. */
static int suggest(const struct reader *r, const char *word, const char *const *names)
{
    const char *near = names ? fb_suggest(word, names) : NULL;

    if (near)
        fprintf(stderr, ", did you mean '%s'?\n", near);
    else
        fprintf(stderr, "; see 'flyball help %s'\n", r->command->name);
    return -EINVAL;
}

static int unknown(const struct reader *r, const char *word)
{
    const struct option_row *rows = r->command->options;
    const char *names[ROWS_MAX + 1] = {0};
    int count = 0;

    for (int i = 0; rows && rows[i].name && count < ROWS_MAX; i++) {
        if (rows[i].name[0])
            names[count++] = fb_option_name(&rows[i]);
    }
    fprintf(stderr, "flyball %s: unknown option '%s'", r->command->name, word);
    return suggest(r, word, names);
}

/* A value that the row does not take. */
static int refuse(const struct reader *r, const struct option_row *row, const char *value)
{
    char expects[EXPECTS_MAX];
    const char *near = row->choices ? fb_suggest(value, row->choices) : NULL;

    fb_option_expects(row, expects, sizeof expects);
    fprintf(stderr, "flyball %s: %s: '%s' is not %s", r->command->name, fb_option_name(row), value,
            expects);
    if (near)
        fprintf(stderr, ", did you mean '%s'?", near);
    fputc('\n', stderr);
    return -EINVAL;
}

/* A word that is no option. */
static int read_word(const struct reader *r)
{
    const struct option_row *row = fb_option_find(r->command->options, "", 0);
    const char *word = r->argv[0];

    if (row && fb_option_store(row, word, r->target))
        return 1;
    fprintf(stderr, "flyball %s: did not expect '%s'", r->command->name, word);
    return suggest(r, word, row ? row->choices : NULL);
}

/* Whether a word is an option, or a typing error of one, rather than a value. */
static bool is_like_option(const struct reader *r, const char *word)
{
    if (word[0] != '-' || !word[1])
        return false;
    return word[1] == '-' || fb_option_find_letter(r->command->options, word[1]);
}

/* Nothing but an option follows: who means that has to say so. */
static int refuse_option(const struct reader *r, const struct option_row *row, const char *word)
{
    bool is_path = row->kind == KIND_FILE || row->kind == KIND_FOLDER;
    bool is_text = is_path || row->kind == KIND_TEXT || row->kind == KIND_MANY;
    const char *name = fb_option_name(row);
    int size = (int)strcspn(word, "=:"); /* behind that may be something secret */
    char expects[EXPECTS_MAX];

    fb_option_expects(row, expects, sizeof expects);
    fprintf(stderr, "flyball %s: %s: expected %s, found '%.*s', which looks like an option",
            r->command->name, name, expects, size, word);
    if (is_text && !row->choices)
        fprintf(stderr, "; if it is meant, write %s=%.*s", name, size, word);
    if (is_path)
        fprintf(stderr, " or ./%.*s", size, word);
    fputc('\n', stderr);
    return -EINVAL;
}

/* `value`: what stands in the same word, or NULL. Returns how many words it took, or -EINVAL. */
static int read_value(const struct reader *r, const struct option_row *row, const char *value)
{
    char expects[EXPECTS_MAX];
    int used = value ? 1 : 2;

    if (!value && r->left < 2) {
        fb_option_expects(row, expects, sizeof expects);
        fprintf(stderr, "flyball %s: %s needs %s\n", r->command->name, fb_option_name(row),
                expects);
        return -EINVAL;
    }
    if (!value && is_like_option(r, r->argv[1]))
        return refuse_option(r, row, r->argv[1]);
    if (!value)
        value = r->argv[1];
    return fb_option_store(row, value, r->target) ? used : refuse(r, row, value);
}

/* "--name", "--name=value" */
static int read_long(const struct reader *r)
{
    const char *word = r->argv[0];
    size_t size = strcspn(word, "=");
    const struct option_row *row = fb_option_find(r->command->options, word, size);
    bool has_value = word[size] == '=';

    if (!row)
        return unknown(r, word);
    if (row->kind != KIND_FLAG)
        return read_value(r, row, has_value ? word + size + 1 : NULL);
    if (has_value) {
        fprintf(stderr, "flyball %s: %s takes no value\n", r->command->name, fb_option_name(row));
        return -EINVAL;
    }
    return fb_option_store(row, "", r->target) ? 1 : -EINVAL;
}

/* "-q", "-qk", "-o value", "-ovalue" */
static int read_letters(const struct reader *r)
{
    for (const char *at = r->argv[0] + 1; *at; at++) {
        const struct option_row *row = fb_option_find_letter(r->command->options, *at);

        if (!row)
            return unknown(r, r->argv[0]);
        if (row->kind != KIND_FLAG)
            return read_value(r, row, at[1] ? at + 1 + (at[1] == '=') : NULL);
        if (!fb_option_store(row, "", r->target))
            return -EINVAL;
    }
    return 1;
}

void fb_options_standard(const struct option_row *rows, void *target)
{
    for (; rows && rows->name; rows++) {
        if (!rows->standard)
            continue;
        bool is_understood = fb_option_store(rows, rows->standard, target);
        assert(is_understood);
        (void)is_understood;
    }
}

int fb_options_read(const struct command *command, int argc, char **argv, void *target)
{
    fb_options_standard(command->options, target);
    return fb_options_read_over(command, argc, argv, target);
}

int fb_options_read_over(const struct command *command, int argc, char **argv, void *target)
{
    struct reader r = {.command = command, .target = target};
    bool words_only = false;

    for (int i = 1, used; i < argc; i += used) {
        bool is_option = argv[i][0] == '-' && argv[i][1] != '\0' && !words_only;

        r.argv = argv + i;
        r.left = argc - i;
        used = 1;
        if (is_option && strcmp(argv[i], "--") == 0)
            words_only = true;
        else if (is_option)
            used = argv[i][1] == '-' ? read_long(&r) : read_letters(&r);
        else
            used = read_word(&r);
        if (used < 0)
            return used;
    }
    return 0;
}
