/* SPDX-License-Identifier: MIT */
/*
 * scan.c - one pass over JSON, keeping the keys of the way down to where it is.
 */
#include "signal/scan.h"

#include <assert.h>

void fb_scan_init(struct scan *j, struct slice text)
{
    j->rest = text;
    j->depth = 0;
    j->key[0] = (struct slice){NULL, 0};
}

static bool is_filler(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == ',' || c == ':';
}

static bool ends_word(char c)
{
    return is_filler(c) || c == '"' || c == '{' || c == '}' || c == '[' || c == ']';
}

static void skip_filler(struct scan *j)
{
    while (j->rest.length > 0 && is_filler(j->rest.at[0]))
        j->rest = fb_slice_after(j->rest, 1);
}

/* After the opening quote; an end of text ends the string as well. */
static struct slice take_string(struct scan *j)
{
    size_t end = 0;

    while (end < j->rest.length && j->rest.at[end] != '"')
        end += j->rest.at[end] == '\\' ? 2 : 1;
    struct slice text = fb_slice_head(j->rest, end);
    j->rest = fb_slice_after(j->rest, end + 1);
    return text;
}

static struct slice take_word(struct scan *j)
{
    size_t end = 0;

    while (end < j->rest.length && !ends_word(j->rest.at[end]))
        end++;
    struct slice text = fb_slice_head(j->rest, end);
    j->rest = fb_slice_after(j->rest, end);
    return text;
}

static bool is_key(const struct scan *j)
{
    struct slice rest = fb_slice_trim(fb_slice_head(j->rest, 16));

    return rest.length > 0 && rest.at[0] == ':';
}

/* Brackets change the depth. False: this cannot be followed further. */
static bool step(struct scan *j, char c)
{
    j->rest = fb_slice_after(j->rest, 1);
    if (c == '{' || c == '[') {
        j->depth++;
        if (j->depth <= FB_SCAN_DEPTH)
            j->key[j->depth] = (struct slice){NULL, 0};
        return j->depth <= FB_SCAN_DEPTH;
    }
    if (j->depth == 0)
        return false;
    j->depth--;
    return true;
}

static bool is_bracket(char c)
{
    return c == '{' || c == '}' || c == '[' || c == ']';
}

/* A string is a value unless a colon follows; then it is remembered as the key. */
static bool string_value(struct scan *j, struct scan_value *ret_value)
{
    j->rest = fb_slice_after(j->rest, 1);
    struct slice text = take_string(j);
    if (is_key(j)) {
        j->key[j->depth] = text;
        return false;
    }
    *ret_value = (struct scan_value){j->key[j->depth], text, true};
    return true;
}

bool fb_scan_next(struct scan *j, struct scan_value *ret_value)
{
    for (;;) {
        skip_filler(j);
        if (j->rest.length == 0 || j->depth > FB_SCAN_DEPTH)
            return false;
        char c = j->rest.at[0];
        if (c == '"') {
            if (string_value(j, ret_value))
                return true;
        } else if (is_bracket(c)) {
            if (!step(j, c))
                return false;
        } else {
            *ret_value = (struct scan_value){j->key[j->depth], take_word(j), false};
            return true;
        }
    }
}
