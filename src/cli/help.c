/* SPDX-License-Identifier: MIT */
/* help.c - the text of `flyball help`, made from the tables. */
#include "cli/help.h"

#include <stdbool.h>
#include <string.h>

#include "cli/options.h"
#include "util/wrap.h"

#define LEFT_MAX 30 /* a name and its value that are longer get a line of their own */

/* ---- words into lines ---- */

static void add_blanks(struct buffer *b, size_t count)
{
    while (count-- > 0)
        fb_buffer_add_char(b, ' ');
}

/* The words of a text from `column` on; further lines begin at `indent`. */
static void wrap(struct buffer *b, const char *text, size_t column, size_t indent)
{
    fb_wrap(b, text, column, indent, HELP_WIDE);
    fb_buffer_add_char(b, '\n');
}

/* ---- one option ---- */

/* What the value is called: "FILE", or "auto|always|never". */
static void add_value(struct buffer *b, const struct option_row *row)
{
    if (row->value) {
        fb_buffer_add_text(b, row->value);
        return;
    }
    for (size_t i = 0; row->choices && row->choices[i]; i++) {
        if (i > 0)
            fb_buffer_add_char(b, '|');
        fb_buffer_add_text(b, row->choices[i]);
    }
}

/* "-o, --output DIR"; names line up whether they have a letter or not. */
static void add_left(struct buffer *b, const struct option_row *row, bool any_letter)
{
    if (fb_option_letter(row)) {
        fb_buffer_add(b, row->name, 2);
        fb_buffer_add_text(b, ", ");
    } else if (any_letter) {
        add_blanks(b, 4);
    }
    fb_buffer_add_text(b, fb_option_name(row));
    if (row->kind != KIND_FLAG) {
        fb_buffer_add_char(b, ' ');
        add_value(b, row);
    }
}

/* The sentence: what it is, the words that it takes, what holds if it is not said. */
static void add_sentence(struct buffer *b, const struct option_row *row, size_t column)
{
    struct buffer words = BUFFER_INIT;

    fb_buffer_add_text(&words, row->about);
    for (size_t i = 0; row->value && row->choices && row->choices[i]; i++) {
        fb_buffer_add_text(&words, i == 0 ? ": " : ", ");
        fb_buffer_add_text(&words, row->choices[i]);
    }
    if (row->standard) {
        fb_buffer_add_text(&words, " (");
        fb_buffer_add_text(&words, row->standard);
        fb_buffer_add_char(&words, ')');
    }
    if (fb_buffer_text(&words))
        wrap(b, words.bytes, column, column);
    fb_buffer_fini(&words);
}

/* Columns of the widest name and value that is not too long; whether any row has a letter. */
static size_t measure(const struct option_row *rows, bool *ret_any_letter)
{
    size_t widest = 0;

    *ret_any_letter = false;
    for (const struct option_row *r = rows; r->name; r++)
        *ret_any_letter |= fb_option_letter(r) != '\0';
    for (const struct option_row *r = rows; r->name; r++) {
        struct buffer left = BUFFER_INIT;

        if (r->name[0])
            add_left(&left, r, *ret_any_letter);
        if (left.size > widest && left.size <= LEFT_MAX)
            widest = left.size;
        fb_buffer_fini(&left);
    }
    return widest;
}

/* All options, a sentence each. */
static void add_sentences(struct buffer *b, const struct option_row *rows)
{
    bool any_letter;
    size_t column = 2 + measure(rows, &any_letter) + 2;

    for (; rows->name; rows++) {
        if (!rows->name[0])
            continue;
        if (rows->group) {
            fb_buffer_add_text(b, rows->group);
            fb_buffer_add_text(b, ":\n");
        }
        size_t start = b->size;
        add_blanks(b, 2);
        add_left(b, rows, any_letter);
        if (b->size - start + 2 > column) {
            fb_buffer_add_char(b, '\n');
            start = b->size;
        }
        add_blanks(b, column - (b->size - start));
        add_sentence(b, rows, column);
    }
}

/* All options by their names alone, a group to a line or two. */
static void add_names(struct buffer *b, const struct option_row *rows)
{
    struct buffer words = BUFFER_INIT;
    const char *group = NULL;

    for (; rows->name; rows++) {
        if (rows->group)
            group = rows->group;
        if (rows->name[0]) {
            fb_buffer_add_text(&words, words.size > 0 ? " " : "");
            if (fb_option_letter(rows))
                fb_buffer_add(&words, rows->name, 3);
            fb_buffer_add_text(&words, fb_option_name(rows));
        }
        if (!rows[1].name || (rows[1].group && words.size > 0)) {
            size_t size = group ? strlen(group) : 0;
            add_blanks(b, 2);
            fb_buffer_add_text(b, group ? group : "");
            add_blanks(b, size < 8 ? 8 - size : 1);
            if (fb_buffer_text(&words))
                wrap(b, words.bytes, 10, 10);
            fb_buffer_clear(&words);
        }
    }
    fb_buffer_fini(&words);
}

/* ---- one command ---- */

static void add_paragraph(struct buffer *b, const char *text)
{
    if (text)
        wrap(b, text, 0, 0);
}

/* Each line of `text`, indented. */
static void add_lines(struct buffer *b, const char *text)
{
    while (text && *text) {
        size_t size = strcspn(text, "\n");
        add_blanks(b, 2);
        fb_buffer_add(b, text, size);
        fb_buffer_add_char(b, '\n');
        text += size + (text[size] == '\n');
    }
}

static void add_head(struct buffer *b, const struct command *c, bool is_long)
{
    fb_buffer_add_text(b, "flyball ");
    fb_buffer_add_text(b, c->name);
    fb_buffer_add_text(b, " - ");
    fb_buffer_add_text(b, c->about);
    fb_buffer_add_text(b, is_long ? "\n\n  flyball " : "\n  flyball ");
    fb_buffer_add_text(b, c->name);
    fb_buffer_add_char(b, ' ');
    fb_buffer_add_text(b, c->usage);
    fb_buffer_add_text(b, "\n\n");
    add_paragraph(b, c->intro);
}

static void add_foot(struct buffer *b, const struct command *c, bool is_long)
{
    if (is_long) {
        add_paragraph(b, c->notes);
        fb_buffer_add_text(b, "Exit: ");
        wrap(b, c->exits, 6, 6);
    } else {
        fb_buffer_add_text(b, "A sentence for each, and more: flyball ");
        fb_buffer_add_text(b, c->name);
        fb_buffer_add_text(b, " --help\n");
    }
    fb_buffer_add_text(b, "\nExamples:\n");
    add_lines(b, c->examples);
}

static void add_command(struct buffer *b, const struct command *c, bool is_long)
{
    bool has_options = c->options && measure(c->options, &(bool){false}) > 0;

    add_head(b, c, is_long);
    if (is_long && c->intro)
        fb_buffer_add_char(b, '\n');
    if (has_options && is_long) {
        add_sentences(b, c->options);
        fb_buffer_add_char(b, '\n');
    } else if (has_options) {
        add_names(b, c->options);
    }
    add_foot(b, c, is_long);
}

static size_t lines_of(const struct buffer *b)
{
    size_t lines = 0;

    for (size_t i = 0; i < b->size; i++)
        lines += b->bytes[i] == '\n';
    return lines;
}

void fb_help_long(FILE *out, const struct command *c)
{
    struct buffer b = BUFFER_INIT;

    add_command(&b, c, true);
    (void)fwrite(b.bytes, 1, b.size, out);
    fb_buffer_fini(&b);
}

void fb_help_command(FILE *out, const struct command *c)
{
    struct buffer b = BUFFER_INIT;

    add_command(&b, c, true);
    if (lines_of(&b) > HELP_LINES) {
        fb_buffer_clear(&b);
        add_command(&b, c, false);
    }
    (void)fwrite(b.bytes, 1, b.size, out);
    fb_buffer_fini(&b);
}

/* ---- all commands ---- */

/* A screen has 24 lines: those who want these know where to look. */
static void print_minor(FILE *out)
{
    const char *before = "and ";

    fprintf(out, "  ");
    for (const struct command *const *c = fb_commands; *c; c++) {
        if (!(*c)->is_minor)
            continue;
        fprintf(out, "%s%s", before, (*c)->name);
        before = ", ";
    }
    fputc('\n', out);
}

void fb_help_overview(FILE *out)
{
    fputs("flyball - send requests as fast as the API allows, and no faster\n"
          "\n"
          "  flyball COMMAND [OPTION...]    flyball help [COMMAND]    flyball --version\n"
          "\n",
          out);
    for (const struct command *const *c = fb_commands; *c; c++) {
        if (!(*c)->is_minor)
            fprintf(out, "  %-11s %s\n", (*c)->name, (*c)->about);
    }
    print_minor(out);
    fputs("\n"
          "Examples:\n"
          "  flyball demo                        see it find a limit that nobody told\n"
          "  flyball fetch urls.txt              every request of a list, politely\n"
          "  flyball mock --limit window=50/1s   an API with this limit on this machine\n",
          out);
}
