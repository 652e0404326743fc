/* SPDX-License-Identifier: MIT */
/*
 * bare.c - the first byte tells the type; one reader for each.
 *
 * What a reader accepts, fb_bare_decode() can decode: nothing is checked twice. The RFC lets base64
 * come without padding or with stray bits in its last character, and so does this.
 */
#include "signal/bare.h"

#include <assert.h>
#include <string.h>

#include "signal/number.h"
#include "util/utf8.h"

#define INTEGER_DIGITS 15
#define WHOLE_DIGITS   12 /* of a decimal */
#define PART_DIGITS    3

static bool is_alpha(char c)
{
    return fb_lower(c) >= 'a' && fb_lower(c) <= 'z';
}

static bool is_token(char c)
{
    static const char others[] = "!#$%&'*+-.^_`|~:/";

    return is_alpha(c) || fb_is_digit(c) || memchr(others, c, sizeof(others) - 1) != NULL;
}

/* Printable ASCII and the blank. */
static bool is_visible(char c)
{
    return c >= ' ' && c <= '~';
}

/* "." and one to three digits, added to a number that becomes thousandths. */
static bool decimal_take(struct slice *s, size_t whole, int64_t *number)
{
    struct fraction part;

    if (whole > WHOLE_DIGITS || !fb_fraction_take(s, &part) || part.scale > 1000)
        return false;
    *number = *number * 1000 + part.digits * (1000 / part.scale);
    return true;
}

static bool number_take(struct slice *s, struct bare *b)
{
    bool negative = fb_slice_take(s, '-');
    size_t before = s->length;

    if (!fb_digits_take(s, &b->number) || before - s->length > INTEGER_DIGITS)
        return false;
    b->type = s->length > 0 && s->at[0] == '.' ? BARE_DECIMAL : BARE_INTEGER;
    if (b->type == BARE_DECIMAL && !decimal_take(s, before - s->length, &b->number))
        return false;
    if (negative)
        b->number = -b->number;
    return true;
}

static bool date_take(struct slice *s, struct bare *b)
{
    *s = fb_slice_after(*s, 1);
    if (!number_take(s, b) || b->type != BARE_INTEGER)
        return false;
    b->type = BARE_DATE;
    return true;
}

static bool boolean_take(struct slice *s, struct bare *b)
{
    if (s->length < 2 || (s->at[1] != '0' && s->at[1] != '1'))
        return false;
    b->type = BARE_BOOLEAN;
    b->number = s->at[1] - '0';
    *s = fb_slice_after(*s, 2);
    return true;
}

static bool token_take(struct slice *s, struct bare *b)
{
    size_t length = 1;

    while (length < s->length && is_token(s->at[length]))
        length++;
    b->type = BARE_TOKEN;
    b->text = fb_slice_head(*s, length);
    *s = fb_slice_after(*s, length);
    return true;
}

/* The text between the first `open` bytes of *s and its byte `end`, and *s after that. */
static void enclosed(struct slice *s, size_t open, size_t end, struct slice *ret_text)
{
    assert(open <= end && end < s->length);

    *ret_text = fb_slice_after(fb_slice_head(*s, end), open);
    *s = fb_slice_after(*s, end + 1);
}

static bool string_take(struct slice *s, struct bare *b)
{
    for (size_t at = 1; at < s->length; at++) {
        char c = s->at[at];
        if (c == '"') {
            b->type = BARE_STRING;
            enclosed(s, 1, at, &b->text);
            return true;
        }
        if (!is_visible(c))
            return false;
        if (c == '\\' && (++at == s->length || (s->at[at] != '"' && s->at[at] != '\\')))
            return false;
    }
    return false;
}

/* 0 to 63, or -1. */
static int base64_value(char c)
{
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = memchr(alphabet, c, sizeof(alphabet) - 1);

    return at ? (int)(at - alphabet) : -1;
}

static size_t base64_length(struct slice text)
{
    size_t length = 0;

    while (length < text.length && base64_value(text.at[length]) >= 0)
        length++;
    return length;
}

/* Characters of base64, then nothing or the right number of '='. */
static bool is_base64(struct slice text)
{
    size_t length = base64_length(text);
    size_t padding = text.length - length;

    for (size_t at = length; at < text.length; at++) {
        if (text.at[at] != '=')
            return false;
    }
    return length % 4 != 1 && (padding == 0 || padding == (4 - length % 4) % 4);
}

static bool bytes_take(struct slice *s, struct bare *b)
{
    size_t end = 1 + fb_slice_find(fb_slice_after(*s, 1), ':');

    if (end >= s->length)
        return false;
    b->type = BARE_BYTES;
    enclosed(s, 1, end, &b->text);
    return is_base64(b->text);
}

/* 0 to 15, or -1: small letters only. */
static int hex_value(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = memchr(digits, c, sizeof(digits) - 1);

    return at ? (int)(at - digits) : -1;
}

/* The byte that "c3" stands for at the beginning of `s`, or -1. */
static int hex_byte(struct slice s)
{
    int high = s.length >= 2 ? hex_value(s.at[0]) : -1;
    int low = s.length >= 2 ? hex_value(s.at[1]) : -1;

    return high >= 0 && low >= 0 ? high * 16 + low : -1;
}

static bool display_take(struct slice *s, struct bare *b)
{
    struct utf8 u = {0};

    if (s->length < 2 || s->at[1] != '"')
        return false;
    for (size_t at = 2; at < s->length; at++) {
        int c = s->at[at];
        if (c == '"') {
            b->type = BARE_DISPLAY;
            enclosed(s, 2, at, &b->text);
            return u.left == 0;
        }
        if (!is_visible(s->at[at]))
            return false;
        if (c == '%') {
            c = hex_byte(fb_slice_after(*s, at + 1));
            at += 2;
        }
        if (c < 0 || !fb_utf8_step(&u, (uint8_t)c))
            return false;
    }
    return false;
}

bool fb_bare_take(struct slice *s, struct bare *ret_bare)
{
    static const struct {
        char first;
        bool (*take)(struct slice *s, struct bare *b);
    } readers[] = {
        {'"', string_take}, {':', bytes_take},   {'?', boolean_take}, {'@', date_take},
        {'*', token_take},  {'%', display_take}, {'-', number_take},
    };

    if (s->length == 0)
        return false;
    *ret_bare = (struct bare){.text = {NULL, 0}};
    if (is_alpha(s->at[0]))
        return token_take(s, ret_bare);
    if (fb_is_digit(s->at[0]))
        return number_take(s, ret_bare);
    for (size_t i = 0; i < sizeof(readers) / sizeof(readers[0]); i++) {
        if (readers[i].first == s->at[0])
            return readers[i].take(s, ret_bare);
    }
    return false;
}

/* ------------------------------------------------------------------------------------ decoding */

struct sink {
    char *bytes;
    size_t size;
    size_t length; /* of what was put, whether it fitted or not */
};

static void put(struct sink *k, int c)
{
    if (k->length < k->size)
        k->bytes[k->length] = (char)c;
    k->length++;
}

static void decode_bytes(struct slice text, struct sink *k)
{
    size_t length = base64_length(text);
    unsigned bits = 0, held = 0;

    for (size_t at = 0; at < length; at++) {
        held = (held << 6 | (unsigned)base64_value(text.at[at])) & 0xFFFF;
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            put(k, (int)(held >> bits & 0xFF));
        }
    }
}

/* Of a string `\` says that the next byte is meant; of a display `%`, that two digits follow. */
static void decode_text(const struct bare *b, struct sink *k)
{
    for (size_t at = 0; at < b->text.length; at++) {
        char c = b->text.at[at];
        if (b->type == BARE_DISPLAY && c == '%') {
            put(k, hex_byte(fb_slice_after(b->text, at + 1)));
            at += 2;
        } else if (b->type == BARE_STRING && c == '\\') {
            put(k, b->text.at[++at]);
        } else {
            put(k, c);
        }
    }
}

size_t fb_bare_decode(const struct bare *b, char *ret_bytes, size_t size)
{
    struct sink k = {.bytes = ret_bytes, .size = size};

    if (b->type == BARE_BYTES)
        decode_bytes(b->text, &k);
    else
        decode_text(b, &k);
    assert(k.length <= b->text.length);
    return k.length;
}
