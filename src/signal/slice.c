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

bool fb_slice_equal(struct slice a, struct slice b)
{
    if (a.length != b.length)
        return false;
    for (size_t i = 0; i < a.length; i++) {
        if (fb_lower(a.at[i]) != fb_lower(b.at[i]))
            return false;
    }
    return true;
}

bool fb_slice_is(struct slice s, const char *text)
{
    return fb_slice_equal(s, fb_slice_of(text));
}

bool fb_slice_begins(struct slice s, const char *text)
{
    struct slice start = fb_slice_of(text);

    return s.length >= start.length && fb_slice_equal(fb_slice_head(s, start.length), start);
}

bool fb_slice_ends(struct slice s, const char *text)
{
    struct slice end = fb_slice_of(text);

    return s.length >= end.length && fb_slice_equal(fb_slice_after(s, s.length - end.length), end);
}

size_t fb_slice_find(struct slice s, char c)
{
    const char *at = s.length > 0 ? memchr(s.at, c, s.length) : NULL;

    return at ? (size_t)(at - s.at) : s.length;
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
