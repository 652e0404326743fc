/* SPDX-License-Identifier: MIT */
/* json.c - the writer: plain runs of bytes are copied whole, the rest is escaped. */
#include "util/json.h"

#include <string.h>

#include "util/eight.h"
#include "util/text.h"
#include "util/utf8.h"

static bool is_plain(unsigned char c)
{
    return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

/* How many bytes at the beginning can be copied as they are. */
static size_t plain_run(const char *bytes, size_t size)
{
    size_t at = 0;

    for (; at + 8 <= size; at += 8) {
        uint64_t eight = fb_eight_load(bytes + at);

        if (fb_eight_odd(eight) | fb_eight_is(eight, '"') | fb_eight_is(eight, '\\'))
            break;
    }
    while (at < size && is_plain((unsigned char)bytes[at]))
        at++;
    return at;
}

static void add_escape(struct buffer *b, unsigned char c)
{
    static const char HEX[] = "0123456789abcdef";
    static const char SHORT[][2] = {
        {'\n', 'n'}, {'\r', 'r'}, {'\t', 't'}, {'"', '"'}, {'\\', '\\'}};

    for (size_t i = 0; i < sizeof SHORT / sizeof SHORT[0]; i++) {
        if (c == (unsigned char)SHORT[i][0]) {
            fb_buffer_add(b, (char[]){'\\', SHORT[i][1]}, 2);
            return;
        }
    }
    fb_buffer_add(b, (char[]){'\\', 'u', '0', '0', HEX[c >> 4], HEX[c & 15]}, 6);
}

/* Bytes above ASCII: as they are as far as they are UTF-8, else one U+FFFD. */
static size_t add_high(struct buffer *b, const char *bytes, size_t left)
{
    size_t high = 0;

    while (high < left && (unsigned char)bytes[high] >= 0x80)
        high++;
    size_t good = fb_utf8_prefix(bytes, high);
    if (good == 0)
        fb_buffer_add(b, "\xef\xbf\xbd", 3);
    else
        fb_buffer_add(b, bytes, good);
    return good ? good : 1;
}

/* Nearly all strings are plain from end to end: quotes and bytes at once. */
static void add_plain(struct buffer *b, const char *bytes, size_t size)
{
    char *to = size < SIZE_MAX - 2 ? fb_buffer_reserve(b, size + 2) : NULL;

    if (!to) {
        b->failed = true;
        return;
    }
    to[0] = '"';
    memcpy(to + 1, bytes, size);
    to[size + 1] = '"';
    b->size += size + 2;
}

void fb_json_add_string(struct buffer *b, const char *bytes, size_t size)
{
    if (size > 0 && plain_run(bytes, size) == size) {
        add_plain(b, bytes, size);
        return;
    }
    fb_buffer_add_char(b, '"');
    for (size_t i = 0; i < size;) {
        size_t run = plain_run(bytes + i, size - i);

        fb_buffer_add(b, bytes + i, run);
        i += run;
        if (i == size)
            break;
        if ((unsigned char)bytes[i] >= 0x80)
            i += add_high(b, bytes + i, size - i);
        else
            add_escape(b, (unsigned char)bytes[i++]);
    }
    fb_buffer_add_char(b, '"');
}

void fb_json_add_base64(struct buffer *b, const char *bytes, size_t size)
{
    static const char DIGITS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *at = (const unsigned char *)bytes;
    size_t need = (size + 2) / 3 * 4;
    char *to = fb_buffer_reserve(b, need);

    if (!to)
        return;
    for (size_t i = 0; i < size; i += 3) {
        size_t have = size - i < 3 ? size - i : 3;
        unsigned bits = (unsigned)at[i] << 16;

        bits |= have > 1 ? (unsigned)at[i + 1] << 8 : 0;
        bits |= have > 2 ? (unsigned)at[i + 2] : 0;
        *to++ = DIGITS[bits >> 18];
        *to++ = DIGITS[(bits >> 12) & 63];
        *to++ = have > 1 ? DIGITS[(bits >> 6) & 63] : '=';
        *to++ = have > 2 ? DIGITS[bits & 63] : '=';
    }
    b->size += need;
}

void fb_json_name(struct buffer *b, const char *name)
{
    char last = b->size > 0 ? b->bytes[b->size - 1] : '{';
    size_t size = strlen(name);
    char *to = fb_buffer_reserve(b, size + 4);
    char *begin = to;

    if (!to)
        return;
    if (last != '{' && last != '[')
        *to++ = ',';
    *to++ = '"';
    memcpy(to, name, size);
    to += size;
    *to++ = '"';
    *to++ = ':';
    b->size += (size_t)(to - begin);
}

void fb_json_text(struct buffer *b, const char *name, const char *text)
{
    fb_json_name(b, name);
    if (text)
        fb_json_add_string(b, text, strlen(text));
    else
        fb_buffer_add_text(b, "null");
}

void fb_json_int(struct buffer *b, const char *name, int64_t value)
{
    fb_json_name(b, name);
    fb_buffer_add_int(b, value);
}

void fb_json_bool(struct buffer *b, const char *name, bool value)
{
    fb_json_name(b, name);
    fb_buffer_add_text(b, value ? "true" : "false");
}

void fb_json_add_real(struct buffer *b, double value, int digits)
{
    char number[48];
    struct text t;

    if (!(value - value == 0.0)) {
        fb_buffer_add_text(b, "null");
        return;
    }
    fb_text_init(&t, number, sizeof number);
    fb_text_add_fixed(&t, value, digits);
    fb_buffer_add_text(b, number);
}

void fb_json_real(struct buffer *b, const char *name, double value, int digits)
{
    fb_json_name(b, name);
    fb_json_add_real(b, value, digits);
}

void fb_json_bytes(struct buffer *b, const char *name, const char *bytes, size_t size)
{
    if (size > 0 && plain_run(bytes, size) == size) {
        fb_json_name(b, name);
        add_plain(b, bytes, size);
        return;
    }
    if (fb_utf8_prefix(bytes, size) == size) {
        fb_json_name(b, name);
        fb_json_add_string(b, bytes, size);
        return;
    }
    char last = b->size > 0 ? b->bytes[b->size - 1] : '{';
    if (last != '{')
        fb_buffer_add_char(b, ',');
    fb_buffer_add_char(b, '"');
    fb_buffer_add_text(b, name);
    fb_buffer_add_text(b, "_base64\":\"");
    fb_json_add_base64(b, bytes, size);
    fb_buffer_add_char(b, '"');
}
