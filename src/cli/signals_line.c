/* SPDX-License-Identifier: MIT */
/*
 * signals_line.c - a response as a line of JSON: {"id","status","headers":[["name","value"],...],
 * "body","observed_at","encoding"}.
 */
#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "cli/signals.h"
#include "signal/rfc3339.h"
#include "util/alloc.h"
#include "util/json.h"

/* ---- text as bytes ---- */

/* Code points up to U+00FF as single bytes, in place; what is above stays as it is. */
static size_t to_latin1(char *text, size_t size)
{
    size_t n = 0;

    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)text[i];
        if ((c == 0xC2 || c == 0xC3) && i + 1 < size) {
            i++;
            text[n++] = (char)((c << 6) | ((unsigned char)text[i] & 0x3F));
        } else {
            text[n++] = text[i];
        }
    }
    return n;
}

/* A copy of a JSON string as bytes of the wire; NULL: not a string, or memory is out. */
static char *bytes_of(const json_t *string, bool latin1, size_t *ret_size)
{
    if (!json_is_string(string))
        return NULL;
    size_t size = json_string_length(string);
    char *copy = fb_alloc(size + 1);
    if (!copy)
        return NULL;
    memcpy(copy, json_string_value(string), size + 1);
    *ret_size = latin1 ? to_latin1(copy, size) : size;
    return copy;
}

/* ---- the parts of a line ---- */

static void feed_header(struct fly_signal_reader *r, const json_t *pair, bool latin1)
{
    size_t name_length = 0, value_length = 0;
    char *name = bytes_of(json_array_get(pair, 0), latin1, &name_length);
    char *value = bytes_of(json_array_get(pair, 1), latin1, &value_length);

    if (name && value)
        fly_signal_header(r, name, name_length, value, value_length);
    fb_free(name);
    fb_free(value);
}

static void feed(struct fly_signal_reader *r, const json_t *line)
{
    const json_t *encoding = json_object_get(line, "encoding");
    bool latin1 = json_is_string(encoding) && !strcmp(json_string_value(encoding), "latin-1");
    const json_t *headers = json_object_get(line, "headers");
    size_t size = 0;

    for (size_t i = 0; i < json_array_size(headers); i++)
        feed_header(r, json_array_get(headers, i), latin1);
    char *body = bytes_of(json_object_get(line, "body"), latin1, &size);
    if (body)
        fly_signal_body(r, body, size);
    fb_free(body);
}

static void read_instant(const json_t *line, int64_t *now_ns)
{
    const json_t *at = json_object_get(line, "observed_at");
    int64_t told_ns;

    if (json_is_string(at) &&
        fb_rfc3339_read((struct slice){json_string_value(at), json_string_length(at)}, &told_ns))
        *now_ns = told_ns;
}

/* ---- the answer ---- */

static void add_id(struct buffer *b, const json_t *id)
{
    fb_json_name(b, "id");
    if (json_is_string(id))
        fb_json_add_string(b, json_string_value(id), json_string_length(id));
    else if (json_is_integer(id))
        fb_buffer_add_int(b, json_integer_value(id));
    else
        fb_buffer_add_text(b, "null");
}

static void refuse(struct buffer *b, const json_t *id, const char *why)
{
    add_id(b, id);
    fb_json_text(b, "error", why);
}

static void answer(struct fly_response about, const json_t *line, struct buffer *b)
{
    struct fly_signal s = {.size = sizeof(s)};
    struct fly_signal_reader r;
    const json_t *status = json_object_get(line, "status");
    json_int_t code = json_integer_value(status);

    if (!json_is_integer(status) || code < 0 || code > 999) {
        refuse(b, json_object_get(line, "id"), "expected an object with a status from 0 to 999");
        return;
    }
    about.status = (int32_t)code;
    read_instant(line, &about.now_ns);
    if (fly_signal_begin(&r, &about) < 0)
        return;
    feed(&r, line);
    if (fly_signal_end(&r, &s) < 0)
        return;
    add_id(b, json_object_get(line, "id"));
    fb_signals_members(b, &s);
}

void fb_signals_line(struct fly_response *about, const char *line, size_t size, struct buffer *b)
{
    json_error_t error;
    json_t *root = json_loadb(line, size, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);

    fb_buffer_add_char(b, '{');
    if (root)
        answer(*about, root, b);
    else
        refuse(b, NULL, error.text);
    fb_buffer_add_text(b, "}\n");
    json_decref(root);
}
