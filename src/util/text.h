/* SPDX-License-Identifier: MIT */
/*
 * text.h - build a sentence in the caller's buffer, without stdio.
 *
 * A text is always terminated and silently stops growing when the buffer is full: what is written
 * here is read by people, and a cut sentence beats a crash.
 */
#ifndef FLYBALL_UTIL_TEXT_H
#define FLYBALL_UTIL_TEXT_H

#include <stddef.h>
#include <stdint.h>

struct text {
    char *at;    /* where the terminating NUL is */
    size_t left; /* bytes that still fit before it */
};

/* Begin an empty text in `buffer` of `size` >= 1 bytes. */
void fb_text_init(struct text *t, char *buffer, size_t size);

void fb_text_add(struct text *t, const char *s);
void fb_text_add_bytes(struct text *t, const char *s, size_t size);
void fb_text_add_int(struct text *t, int64_t value);

/* With so many digits after the point (0..9), rounded half up; "inf" beyond 9e18. */
void fb_text_add_fixed(struct text *t, double value, int digits);

/* About three significant digits: 0.0123, 1.25, 17.3, 650. */
void fb_text_add_number(struct text *t, double value);

/* A span for people, at most two units: "41 s", "1 h 40 min", "350 ms". Negative counts as 0. */
void fb_text_add_span(struct text *t, int64_t span_ns);

#endif
