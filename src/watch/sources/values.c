/* SPDX-License-Identifier: MIT */
/* values.c - each type in its one way of writing. */
#include "watch/sources/values.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define DIGITS      "0123456789"
#define BLANKS      " \t\r\n"
#define INTEGER_MAX 18 /* digits */
#define NAME_MAX_   256

/* -------------------------------------------------------------------------------------- numbers */

/* The one way to write a double: whole ones without a point, others as short as they can be. */
static void add_double(struct buffer *out, double value)
{
    char text[40];

    if (value > -1e15 && value < 1e15 && value == (double)(int64_t)value) {
        fb_buffer_add_int(out, (int64_t)value);
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        (void)snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    fb_buffer_add_text(out, text);
}

/* A number with nothing but blanks around it: sign, digits, point, exponent. */
static bool read_number(const char *text, double *ret_value)
{
    text += strspn(text, BLANKS);
    const char *at = text + (*text == '-' || *text == '+');
    size_t whole = strspn(at, DIGITS), part = 0;

    at += whole;
    if (*at == '.') {
        part = strspn(at + 1, DIGITS);
        at += 1 + part;
    }
    if (whole + part == 0)
        return false;
    if (*at == 'e' || *at == 'E') {
        size_t sign = at[1] == '-' || at[1] == '+';
        size_t power = strspn(at + 1 + sign, DIGITS);

        if (power == 0)
            return false;
        at += 1 + sign + power;
    }
    if (at[strspn(at, BLANKS)])
        return false;
    *ret_value = strtod(text, NULL);
    return *ret_value - *ret_value == 0.0;
}

/* Digits that fit, whatever is left of a double when it is read as one. */
static bool read_integer(const char *text, int64_t *ret_value)
{
    int64_t value = 0;

    text += strspn(text, BLANKS);
    bool is_negative = *text == '-';
    text += *text == '-' || *text == '+';
    text += strspn(text, "0") - (strspn(text, "0") > 0 && strspn(text, DIGITS) > 0);
    size_t size = strspn(text, DIGITS);
    if (size == 0 || size > INTEGER_MAX || text[size + strspn(text + size, BLANKS)])
        return false;
    for (size_t i = 0; i < size; i++)
        value = value * 10 + (text[i] - '0');
    *ret_value = is_negative ? -value : value;
    return true;
}

/* --------------------------------------------------------------------------------- each of them */

static bool add_any(const json_t *v, struct buffer *out)
{
    if (json_is_string(v))
        fb_buffer_add(out, json_string_value(v), json_string_length(v));
    else if (json_is_integer(v))
        fb_buffer_add_int(out, json_integer_value(v));
    else if (json_is_real(v))
        add_double(out, json_real_value(v));
    else if (json_is_boolean(v))
        fb_buffer_add_text(out, json_is_true(v) ? "true" : "false");
    else
        return false;
    return true;
}

static bool add_integer(const json_t *v, struct buffer *out)
{
    int64_t value = json_integer_value(v);
    double real = json_real_value(v);

    if (json_is_real(v) && real > -1e15 && real < 1e15 && real == (double)(int64_t)real)
        value = (int64_t)real;
    else if (!json_is_integer(v) &&
             !(json_is_string(v) && read_integer(json_string_value(v), &value)))
        return false;
    fb_buffer_add_int(out, value);
    return true;
}

static bool add_number(const json_t *v, struct buffer *out)
{
    double value = json_number_value(v);

    if (json_is_integer(v) || (json_is_string(v) && add_integer(v, out)))
        return json_is_string(v) || add_any(v, out);
    if (!json_is_real(v) && !(json_is_string(v) && read_number(json_string_value(v), &value)))
        return false;
    add_double(out, value);
    return true;
}

static bool add_boolean(const json_t *v, struct buffer *out)
{
    static const char *const words[] = {"false", "true", "no", "yes", "0", "1", "off", "on"};
    int value = json_is_boolean(v) ? json_is_true(v)
                : json_is_integer(v) && (json_integer_value(v) | 1) == 1
                    ? (int)json_integer_value(v)
                    : -1;

    for (size_t i = 0; json_is_string(v) && i < sizeof words / sizeof words[0]; i++) {
        if (strcasecmp(json_string_value(v), words[i]) == 0)
            value = i % 2;
    }
    if (value >= 0)
        fb_buffer_add_text(out, value ? "true" : "false");
    return value >= 0;
}

static bool add_json(const json_t *v, struct buffer *out)
{
    char *text = json_dumps(v, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);

    if (!text)
        return false;
    fb_buffer_add_text(out, text);
    free(text); /* Jansson's own */
    return true;
}

static const struct {
    bool (*add)(const json_t *v, struct buffer *out);
    const char *is_not;
} types[] = {
    [CONFIG_FIELD_ANY] = {add_any, "is no plain value"},
    [CONFIG_FIELD_TEXT] = {add_any, "is no text"},
    [CONFIG_FIELD_INTEGER] = {add_integer, "is no integer"},
    [CONFIG_FIELD_NUMBER] = {add_number, "is no number"},
    [CONFIG_FIELD_BOOLEAN] = {add_boolean, "is no boolean"},
    [CONFIG_FIELD_JSON] = {add_json, "is no value"},
};

bool fb_source_value(const json_t *v, enum config_field_type type, struct buffer *out)
{
    assert((size_t)type < sizeof types / sizeof types[0]);
    return !json_is_null(v) && types[type].add(v, out);
}

const char *fb_source_type_is_not(enum config_field_type type)
{
    assert((size_t)type < sizeof types / sizeof types[0]);
    return types[type].is_not;
}

/* ------------------------------------------------------------------------------------- pointers */

/* One segment without its escapes: "~1" is "/", "~0" is "~". Returns its length as written. */
static size_t read_segment(const char *pointer, char *to, size_t size)
{
    size_t used = 0, at = 0;

    for (; pointer[at] && pointer[at] != '/'; at++) {
        char c = pointer[at];

        if (c == '~' && pointer[at + 1])
            c = pointer[++at] == '1' ? '/' : '~';
        if (used < size - 1)
            to[used++] = c;
    }
    to[used] = '\0';
    return at;
}

static json_t *into(json_t *v, const char *segment)
{
    int64_t index;

    if (json_is_object(v))
        return json_object_get(v, segment);
    if (!json_is_array(v) || segment[strspn(segment, DIGITS)] || !read_integer(segment, &index))
        return NULL;
    return json_array_get(v, (size_t)index);
}

json_t *fb_source_find(json_t *v, const char *pointer)
{
    char segment[NAME_MAX_];

    while (v && *pointer == '/') {
        pointer += 1 + read_segment(pointer + 1, segment, sizeof segment);
        v = into(v, segment);
    }
    return v;
}
