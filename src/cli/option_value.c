/* SPDX-License-Identifier: MIT */
/* option_value.c - what one value of an option may be, and where it goes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/options.h"
#include "core/value.h"
#include "util/text.h"

#define ENDLESS 1e9 /* an upper end that nobody reaches is not worth a word */

/* A number written in full and within the row's range. */
static bool read_number(const struct option_row *row, const char *text, double *ret_value)
{
    char *end;
    double value = strtod(text, &end);

    if (end == text || *end || !isfinite(value) || value < row->low || value > row->high)
        return false;
    if (row->kind == KIND_INT && value != floor(value))
        return false;
    *ret_value = value;
    return true;
}

/* A time; a bare number is in seconds. */
static bool read_span(const struct option_row *row, const char *text, int64_t *ret_span_ns)
{
    char *end;
    double seconds = strtod(text, &end);

    if (end != text && !*end && seconds >= row->low && seconds <= 1e9) {
        *ret_span_ns = (int64_t)(seconds * 1e9);
        return true;
    }
    return fb_value_span(text, ret_span_ns) == VALUE_OK;
}

/* "64M": k, M and G are powers of 1024. */
static bool read_bytes(const char *text, int64_t *ret_bytes)
{
    static const char UNITS[] = "kMG";
    char *end;
    double value = strtod(text, &end);
    const char *unit = *end ? strchr(UNITS, *end) : NULL;

    if (end == text || (*end && (!unit || end[1])))
        return false;
    if (unit)
        value *= (double)(INT64_C(1) << (10 * (unit - UNITS + 1)));
    if (!(value >= 1 && value <= 1e15))
        return false;
    *ret_bytes = (int64_t)value;
    return true;
}

static bool add_word(struct option_words *words, const char *text)
{
    if (words->count == OPTION_WORDS_MAX)
        return false;
    words->word[words->count++] = text;
    return true;
}

static bool is_choice(const struct option_row *row, const char *text)
{
    for (const char *const *c = row->choices; c && *c; c++) {
        if (strcmp(*c, text) == 0)
            return true;
    }
    return !row->choices || row->is_open;
}

static bool store_number(const struct option_row *row, const char *text, int64_t *field)
{
    double number = 0.0;

    if (!read_number(row, text, &number))
        return false;
    *field = (int64_t)number;
    return true;
}

bool fb_option_store(const struct option_row *row, const char *text, void *target)
{
    void *field = (char *)target + row->offset;

    switch (row->kind) {
    case KIND_FLAG:
        *(bool *)field = true;
        return true;
    case KIND_TEXT:
    case KIND_FILE:
    case KIND_FOLDER:
        *(const char **)field = text;
        return *text != '\0' && is_choice(row, text);
    case KIND_INT:
        return store_number(row, text, field);
    case KIND_REAL:
        return read_number(row, text, field);
    case KIND_SPAN:
        return read_span(row, text, field);
    case KIND_BYTES:
        return read_bytes(text, field);
    case KIND_MANY:
        if (((struct option_words *)field)->count == 0 && !is_choice(row, text))
            return false;
        return add_word(field, text);
    }
    return false;
}

/* "a, b or c" */
static void add_choices(struct text *t, const char *const *choices)
{
    for (size_t i = 0; choices[i]; i++) {
        if (i > 0)
            fb_text_add(t, choices[i + 1] ? ", " : " or ");
        fb_text_add(t, choices[i]);
    }
}

static void add_range(const struct option_row *row, char *ret_text, size_t size)
{
    const char *what = row->kind == KIND_INT ? "a whole number" : "a number";

    if (row->high >= ENDLESS)
        (void)snprintf(ret_text, size, "%s from %g on", what, row->low);
    else
        (void)snprintf(ret_text, size, "%s from %g to %g", what, row->low, row->high);
}

void fb_option_expects(const struct option_row *row, char *ret_text, size_t size)
{
    static const char *const USUAL[] = {
        [KIND_FLAG] = "",
        [KIND_TEXT] = "a text",
        [KIND_FILE] = "the name of a file",
        [KIND_FOLDER] = "the name of a folder",
        [KIND_SPAN] = "a time such as 10s",
        [KIND_BYTES] = "a number of bytes such as 64M",
        [KIND_MANY] = "a word",
    };
    struct text t;

    fb_text_init(&t, ret_text, size);
    if (row->expects)
        fb_text_add(&t, row->expects);
    else if (row->choices)
        add_choices(&t, row->choices);
    else if (row->kind == KIND_INT || row->kind == KIND_REAL)
        add_range(row, ret_text, size);
    else
        fb_text_add(&t, USUAL[row->kind]);
}
