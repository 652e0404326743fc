/* SPDX-License-Identifier: MIT */
/*
 * slice.h - a borrowed piece of text: a header's value, a word in it, a part of a body.
 *
 * A slice is not terminated and may hold any byte, NUL included. It never owns what it points to.
 * Where there is no text at all, `at` is NULL and the length 0.
 */
#ifndef FLYBALL_SIGNAL_SLICE_H
#define FLYBALL_SIGNAL_SLICE_H

#include <stdbool.h>
#include <stddef.h>

struct slice {
    const char *at;
    size_t length;
};

/* A constant as a slice, its length known to the compiler. */
#define FB_SLICE(literal) ((struct slice){(literal), sizeof(literal) - 1})

/* The same to initialise a table with. */
#define FB_TEXT(literal)               \
    {                                  \
        (literal), sizeof(literal) - 1 \
    }

/* The whole of a terminated text. */
struct slice fb_slice_of(const char *text);

/* Without blanks (space, tab, CR, LF) at both ends. */
struct slice fb_slice_trim(struct slice s);

/* The first `length` bytes, or all there are. */
static inline struct slice fb_slice_head(struct slice s, size_t length)
{
    return (struct slice){s.at, length < s.length ? length : s.length};
}

/* What is left after the first `length` bytes: nothing when there are no more. */
static inline struct slice fb_slice_after(struct slice s, size_t length)
{
    size_t cut = length < s.length ? length : s.length;

    return (struct slice){cut > 0 ? s.at + cut : s.at, s.length - cut};
}

/* Take `c` off the front of *s, if it is there. */
static inline bool fb_slice_take(struct slice *s, char c)
{
    if (s->length == 0 || s->at[0] != c)
        return false;
    *s = fb_slice_after(*s, 1);
    return true;
}

/* ASCII only, whatever the locale. */
static inline char fb_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

static inline bool fb_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The same bytes but for the case of ASCII letters: both of this length. */
bool fb_slice_equal_bytes(const char *a, const char *b, size_t length);

/* Equal but for the case of ASCII letters. */
static inline bool fb_slice_equal(struct slice a, struct slice b)
{
    return a.length == b.length && fb_slice_equal_bytes(a.at, b.at, a.length);
}

/* The same against a terminated text, as a beginning, as an end. */
bool fb_slice_is(struct slice s, const char *text);
bool fb_slice_begins(struct slice s, const char *text);
bool fb_slice_ends(struct slice s, const char *text);

/* Where `c` is first, or s.length. */
size_t fb_slice_find(struct slice s, char c);

/* Where `text` (four bytes or more) first begins, case included, or s.length. */
size_t fb_slice_search(struct slice s, const char *text);

/*
 * The next part of a list separated by `by`, trimmed: taken off *s. False when nothing is left;
 * "a,,b" has three parts, the second empty. Quotes mean nothing here.
 */
bool fb_slice_next(struct slice *s, char by, struct slice *ret_part);

#endif
