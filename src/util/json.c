/* SPDX-License-Identifier: MIT */
/* json.c - the writer: plain runs of bytes are copied whole, the rest is escaped. */
#include "util/json.h"

#include <string.h>

#include "util/text.h"

/* The length of the UTF-8 sequence that begins here, or 0 when there is none. */
static size_t sequence(const unsigned char *at, size_t left)
{
    static const struct {
        unsigned char first, last, low, high; /* first byte; range of the second */
        size_t size;
    } FORMS[] = {
        {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3}, {0xe1, 0xec, 0x80, 0xbf, 3},
        {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3}, {0xf0, 0xf0, 0x90, 0xbf, 4},
        {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
    };

    if (at[0] < 0x80)
        return 1;
    for (size_t f = 0; f < sizeof FORMS / sizeof FORMS[0]; f++) {
        if (at[0] < FORMS[f].first || at[0] > FORMS[f].last)
            continue;
        if (left < FORMS[f].size || at[1] < FORMS[f].low || at[1] > FORMS[f].high)
            return 0;
        for (size_t i = 2; i < FORMS[f].size; i++) {
            if ((at[i] & 0xc0) != 0x80)
                return 0;
        }
        return FORMS[f].size;
    }
    return 0;
}

bool fb_is_utf8(const char *bytes, size_t size)
{
    const unsigned char *at = (const unsigned char *)bytes;

    for (size_t i = 0; i < size;) {
        size_t step = at[i] < 0x80 ? 1 : sequence(at + i, size - i);
        if (step == 0)
            return false;
        i += step;
    }
    return true;
}

static bool is_plain(unsigned char c)
{
    return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
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

void fb_json_add_string(struct buffer *b, const char *bytes, size_t size)
{
    const unsigned char *at = (const unsigned char *)bytes;

    fb_buffer_add_char(b, '"');
    for (size_t i = 0; i < size;) {
        size_t run = 0;
        while (i + run < size && is_plain(at[i + run]))
            run++;
        fb_buffer_add(b, bytes + i, run);
        i += run;
        if (i == size)
            break;

        size_t step = sequence(at + i, size - i);
        if (step == 0)
            fb_buffer_add(b, "\xef\xbf\xbd", 3);
        else if (step > 1)
            fb_buffer_add(b, bytes + i, step);
        else
            add_escape(b, at[i]);
        i += step ? step : 1;
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

    if (last != '{' && last != '[')
        fb_buffer_add_char(b, ',');
    fb_buffer_add_char(b, '"');
    fb_buffer_add_text(b, name);
    fb_buffer_add(b, "\":", 2);
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

void fb_json_real(struct buffer *b, const char *name, double value, int digits)
{
    char number[48];
    struct text t;

    fb_json_name(b, name);
    if (!(value - value == 0.0)) {
        fb_buffer_add_text(b, "null");
        return;
    }
    fb_text_init(&t, number, sizeof number);
    fb_text_add_fixed(&t, value, digits);
    fb_buffer_add_text(b, number);
}

void fb_json_bytes(struct buffer *b, const char *name, const char *bytes, size_t size)
{
    if (fb_is_utf8(bytes, size)) {
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
