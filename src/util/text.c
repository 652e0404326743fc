/* SPDX-License-Identifier: MIT */
/*
 * text.c - sentences without stdio.
 *
 * Invariant: *t->at is the terminating NUL and t->left bytes are free between it and the end.
 */
#include "util/text.h"

#include <assert.h>
#include <string.h>

#define NS_PER_MS  INT64_C(1000000)
#define NS_PER_S   INT64_C(1000000000)
#define NS_PER_MIN (60 * NS_PER_S)
#define NS_PER_H   (60 * NS_PER_MIN)
#define NS_PER_DAY (24 * NS_PER_H)

void fb_text_init(struct text *t, char *buffer, size_t size)
{
    assert(size >= 1);

    *buffer = '\0';
    *t = (struct text){.at = buffer, .left = size - 1};
}

void fb_text_add_bytes(struct text *t, const char *s, size_t size)
{
    if (size > t->left)
        size = t->left;
    memcpy(t->at, s, size);
    t->at += size;
    t->left -= size;
    *t->at = '\0';
}

void fb_text_add(struct text *t, const char *s)
{
    fb_text_add_bytes(t, s, strlen(s));
}

/* At least `width` digits, with zeros in front. */
static void add_digits(struct text *t, uint64_t value, int width)
{
    char digits[20];
    size_t at = sizeof(digits);

    assert(width >= 1 && width <= 20);
    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
        width--;
    } while (value > 0 || width > 0);
    fb_text_add_bytes(t, digits + at, sizeof(digits) - at);
}

void fb_text_add_int(struct text *t, int64_t value)
{
    uint64_t size = (uint64_t)value;

    if (value < 0) {
        fb_text_add(t, "-");
        size = 0 - size;
    }
    add_digits(t, size, 1);
}

void fb_text_add_fixed(struct text *t, double value, int digits)
{
    uint64_t scale = 1;

    assert(digits >= 0 && digits <= 9);
    for (int i = 0; i < digits; i++)
        scale *= 10;
    if (value < 0.0) {
        fb_text_add(t, "-");
        value = -value;
    }
    if (!(value < 9e18 / (double)scale)) {
        fb_text_add(t, "inf");
        return;
    }

    uint64_t scaled = (uint64_t)(value * (double)scale + 0.5);
    add_digits(t, scaled / scale, 1);
    if (digits > 0) {
        fb_text_add(t, ".");
        add_digits(t, scaled % scale, digits);
    }
}

void fb_text_add_number(struct text *t, double value)
{
    double size = value < 0.0 ? -value : value;
    int digits = 0;

    for (double edge = 100.0; size < edge && digits < 9 && size > 0.0; edge /= 10.0)
        digits++;
    fb_text_add_fixed(t, value, digits);
}

static void add_two_units(struct text *t, int64_t span, int64_t large, const char *large_name,
                          int64_t small, const char *small_name)
{
    fb_text_add_int(t, span / large);
    fb_text_add(t, large_name);
    if (span % large / small > 0) {
        fb_text_add(t, " ");
        fb_text_add_int(t, span % large / small);
        fb_text_add(t, small_name);
    }
}

void fb_text_add_span(struct text *t, int64_t span_ns)
{
    int64_t span = span_ns < 0 ? 0 : span_ns;

    if (span < NS_PER_S) {
        fb_text_add_int(t, (span + NS_PER_MS - 1) / NS_PER_MS);
        fb_text_add(t, " ms");
    } else if (span < 10 * NS_PER_S) {
        fb_text_add_fixed(t, (double)span / 1e9, 1);
        fb_text_add(t, " s");
    } else if (span < NS_PER_MIN) {
        fb_text_add_int(t, span / NS_PER_S);
        fb_text_add(t, " s");
    } else if (span < NS_PER_H) {
        add_two_units(t, span, NS_PER_MIN, " min", NS_PER_S, " s");
    } else if (span < NS_PER_DAY) {
        add_two_units(t, span, NS_PER_H, " h", NS_PER_MIN, " min");
    } else {
        add_two_units(t, span, NS_PER_DAY, " d", NS_PER_H, " h");
    }
}
