/* SPDX-License-Identifier: MIT */
/*
 * head.c - one line at a time, by the letter of RFC 9110 and 9112.
 *
 * Where the RFCs allow a recipient to repair, this refuses: whatever two readers could understand
 * differently is what attacks on framing are made of.
 */
#include "http1/head.h"

#include <assert.h>
#include <string.h>

#define LENGTH_DIGITS_MAX 18 /* what surely fits an int64_t */

enum http_fault fb_http_byte(unsigned char c)
{
    if (c == '\0')
        return HTTP_NUL;
    if ((c < ' ' && c != '\t') || c == 0x7f)
        return HTTP_CONTROL;
    return HTTP_FINE;
}

/* Letters, digits and !#$%&'*+-.^_`|~ (RFC 9110, 5.6.2): bit c % 32 of word c / 32. */
static const uint32_t TOKEN[4] = {0x00000000, 0x03ff6cfa, 0xc7fffffe, 0x57ffffff};

static bool is_token_char(char c)
{
    unsigned char at = (unsigned char)c;

    /* Nearly all of them. */
    if ((unsigned char)((at | 0x20) - 'a') < 26 || c == '-')
        return true;
    return at < 128 && (TOKEN[at / 32] >> at % 32 & 1) != 0;
}

bool fb_http_is_token(struct slice s)
{
    for (size_t i = 0; i < s.length; i++)
        if (!is_token_char(s.at[i]))
            return false;
    return s.length > 0;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

enum http_fault fb_http_field(struct slice line, struct http_field *ret_field)
{
    size_t colon = fb_slice_find(line, ':');

    if (line.length > 0 && is_blank(line.at[0]))
        return HTTP_FOLD;
    if (colon == line.length)
        return HTTP_NO_COLON;
    if (colon == 0)
        return HTTP_NAME_EMPTY;
    if (is_blank(line.at[colon - 1]))
        return HTTP_NAME_BLANK;
    struct slice name = fb_slice_head(line, colon);
    if (!fb_http_is_token(name))
        return HTTP_NAME;
    *ret_field = (struct http_field){name, fb_slice_trim(fb_slice_after(line, colon + 1))};
    return HTTP_FINE;
}

struct slice fb_http_find(const struct http_field *fields, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (fb_slice_is(fields[i].name, name))
            return fields[i].value;
    return (struct slice){NULL, 0};
}

/* ---- what the fields say about the body ---- */

static enum http_fault add_length(struct http_framing *f, struct slice value)
{
    int64_t length = 0;

    if (f->has_length)
        return HTTP_LENGTH_TWICE;
    if (value.length == 0 || value.length > LENGTH_DIGITS_MAX)
        return HTTP_LENGTH;
    for (size_t i = 0; i < value.length; i++) {
        if (!fb_is_digit(value.at[i]))
            return HTTP_LENGTH;
        length = length * 10 + (value.at[i] - '0');
    }
    f->has_length = true;
    f->length = length;
    return HTTP_FINE;
}

/* Several lines are one list. Nothing may follow chunked, not even chunked. */
static enum http_fault add_codings(struct http_framing *f, struct slice value)
{
    struct slice coding;

    f->has_coding = true;
    while (fb_slice_next(&value, ',', &coding)) {
        if (!fb_http_is_token(coding))
            return HTTP_CODING;
        if (f->chunked)
            return HTTP_CODING_LAST;
        if (fb_slice_is(coding, "chunked"))
            f->chunked = true;
        else
            f->coding_unknown = true;
    }
    return HTTP_FINE;
}

static enum http_fault add_connection(struct http_framing *f, struct slice value)
{
    struct slice option;

    while (fb_slice_next(&value, ',', &option)) {
        f->close |= fb_slice_is(option, "close");
        f->keep_alive |= fb_slice_is(option, "keep-alive");
    }
    return HTTP_FINE;
}

static const struct {
    struct slice name;
    enum http_fault (*add)(struct http_framing *f, struct slice value);
} framing[] = {
    {FB_TEXT("content-length"), add_length},
    {FB_TEXT("transfer-encoding"), add_codings},
    {FB_TEXT("connection"), add_connection},
};

enum http_fault fb_http_framing_add(struct http_framing *f, const struct http_field *field)
{
    assert(field->name.length > 0 && field->value.at);
    for (size_t i = 0; i < sizeof(framing) / sizeof(framing[0]); i++)
        if (fb_slice_equal(field->name, framing[i].name))
            return framing[i].add(f, field->value);
    return HTTP_FINE;
}

bool fb_http_is_head_only(struct slice name)
{
    static const struct slice names[] = {FB_TEXT("content-length"),
                                         FB_TEXT("transfer-encoding"),
                                         FB_TEXT("connection"),
                                         FB_TEXT("host"),
                                         FB_TEXT("expect"),
                                         FB_TEXT("trailer"),
                                         FB_TEXT("te"),
                                         FB_TEXT("authorization"),
                                         FB_TEXT("cookie")};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (fb_slice_equal(name, names[i]))
            return true;
    return false;
}
