/* SPDX-License-Identifier: MIT */
/*
 * slice.c - borrowed text: trimmed, compared, taken apart; each in one pass.
 */
#include "signal/slice.h"

#include <assert.h>
#include <string.h>

struct slice fb_slice_of(const char *text)
{
    return (struct slice){text, strlen(text)};
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

struct slice fb_slice_trim(struct slice s)
{
    while (s.length > 0 && is_blank(s.at[0]))
        s = fb_slice_after(s, 1);
    while (s.length > 0 && is_blank(s.at[s.length - 1]))
        s.length--;
    return s;
}

bool fb_slice_equal_bytes(const char *a, const char *b, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (fb_lower(a[i]) != fb_lower(b[i]))
            return false;
    }
    return true;
}

bool fb_slice_begins(struct slice s, const char *text)
{
    size_t i = 0;

    while (i < s.length && text[i] && fb_lower(s.at[i]) == fb_lower(text[i]))
        i++;
    return !text[i];
}

bool fb_slice_is(struct slice s, const char *text)
{
    /* The first byte settles most; then the length does. */
    return fb_slice_begins(s, text) && strlen(text) == s.length;
}

bool fb_slice_ends(struct slice s, const char *text)
{
    size_t length = strlen(text);

    return s.length >= length && fb_slice_is(fb_slice_after(s, s.length - length), text);
}

size_t fb_slice_find(struct slice s, char c)
{
    const char *at = s.length > 0 ? memchr(s.at, c, s.length) : NULL;

    return at ? (size_t)(at - s.at) : s.length;
}

/* No way out before the end, so that the compiler can look at many places at once. */
static bool has_four(struct slice s, const char *text)
{
    unsigned found = 0;

    for (size_t i = 0; i + 3 < s.length; i++)
        found |= (unsigned)(s.at[i] == text[0]) & (unsigned)(s.at[i + 1] == text[1]) &
                 (unsigned)(s.at[i + 2] == text[2]) & (unsigned)(s.at[i + 3] == text[3]);
    return found != 0;
}

size_t fb_slice_search(struct slice s, const char *text)
{
    size_t length = strlen(text);

    assert(length >= 4);
    if (!has_four(s, text))
        return s.length;
    for (size_t at = 0; at + length <= s.length; at++) {
        if (!memcmp(s.at + at, text, length))
            return at;
    }
    return s.length;
}

bool fb_slice_next(struct slice *s, char by, struct slice *ret_part)
{
    if (!s->at)
        return false;

    size_t length = fb_slice_find(*s, by);
    assert(length <= s->length);
    *ret_part = fb_slice_trim(fb_slice_head(*s, length));
    /* A separator at the very end is followed by one more part, which is empty. */
    if (length == s->length)
        *s = (struct slice){NULL, 0};
    else
        *s = fb_slice_after(*s, length + 1);
    return true;
}
