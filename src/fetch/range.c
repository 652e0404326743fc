/* SPDX-License-Identifier: MIT */
/* range.c - finding the ranges of a text, and counting through them. */
#include "fetch/range.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "util/text.h"

#define DIGITS_MOST 15 /* exact, and far above what anybody counts through */

/* A number at `at`; returns how many digits it has, 0: none, or too many. */
static size_t read_digits(const char *at, const char *end, int64_t *ret_value)
{
    size_t digits = 0;
    int64_t value = 0;

    while (at + digits < end && at[digits] >= '0' && at[digits] <= '9') {
        if (++digits > DIGITS_MOST)
            return 0;
        value = 10 * value + (at[digits - 1] - '0');
    }
    *ret_value = value;
    return digits;
}

/* A range that begins with the brace at `open`. */
static bool read_range(const char *text, size_t size, size_t open, struct range *ret_range)
{
    const char *end = text + size;
    const char *at = text + open + 1;
    struct range r = {.begin = open};
    size_t first = read_digits(at, end, &r.from);

    at += first;
    if (first == 0 || end - at < 3 || at[0] != '.' || at[1] != '.')
        return false;
    at += 2;
    size_t second = read_digits(at, end, &r.to);
    at += second;
    if (second == 0 || at >= end || *at != '}' || r.to < r.from)
        return false;
    r.width = text[open + 1] == '0' && first > 1 ? (int)first : 0;
    r.end = (size_t)(at - text) + 1;
    r.at = r.from;
    *ret_range = r;
    return true;
}

int fb_ranges_init(struct ranges *r, const char *text, size_t size)
{
    *r = (struct ranges){.total = 1};
    for (size_t at = 0; at < size;) {
        const char *open = memchr(text + at, '{', size - at);
        struct range found;

        if (!open)
            break;
        at = (size_t)(open - text);
        if (!read_range(text, size, at, &found)) {
            at++;
            continue;
        }
        uint64_t count = (uint64_t)(found.to - found.from) + 1;
        if (r->count == RANGES_MAX || count > RANGE_MOST / r->total)
            return -E2BIG;
        r->range[r->count++] = found;
        r->total *= count;
        at = found.end;
    }
    return 0;
}

static void add_number(struct buffer *out, const struct range *r)
{
    char digits[24];
    struct text t;

    fb_text_init(&t, digits, sizeof digits);
    fb_text_add_int(&t, r->at);
    for (int zeros = r->width - (int)strlen(digits); zeros > 0; zeros--)
        fb_buffer_add_char(out, '0');
    fb_buffer_add_text(out, digits);
}

void fb_ranges_text(const struct ranges *r, const char *text, size_t size, struct buffer *out)
{
    size_t at = 0;

    for (size_t i = 0; i < r->count; i++) {
        fb_buffer_add(out, text + at, r->range[i].begin - at);
        add_number(out, &r->range[i]);
        at = r->range[i].end;
    }
    fb_buffer_add(out, text + at, size - at);
}

bool fb_ranges_next(struct ranges *r)
{
    for (size_t i = r->count; i-- > 0;) {
        if (r->range[i].at < r->range[i].to) {
            r->range[i].at++;
            return true;
        }
        r->range[i].at = r->range[i].from;
    }
    return false;
}
