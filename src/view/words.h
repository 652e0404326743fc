/* SPDX-License-Identifier: MIT */
/*
 * words.h - the words that answers and progress are made of: counts, rates, spans, instants.
 *
 * Pure: they append to a buffer.
 */
#ifndef FLYBALL_VIEW_WORDS_H
#define FLYBALL_VIEW_WORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "util/buffer.h"

/* A span in at most two units: "< 1 s", "40 s", "12m 30s", "1h 40m", "3d 4h", "> 1 y". */
void fb_words_span(int64_t span_ns, struct buffer *to);

/* 1234567 as "1,234,567". */
void fb_words_count(int64_t n, struct buffer *to);

/* About three digits: "0.50", "1.25", "11.8", "650"; of slow ones two: "0.0028", 10 an hour. */
void fb_words_rate(double rate, struct buffer *to);

/* How many of them stand behind the point. */
int fb_words_rate_digits(double rate);

/* "5000/h", "10/s", "100/30 s": a window has a name of its own, or a length. */
void fb_words_window(int64_t limit, int64_t window_ns, struct buffer *to);

/* "2026-11-15T14:32:07Z" */
void fb_words_instant(int64_t at_s, struct buffer *to);

/* "14:32:07" and "14:32" on the clock whose zone was added to at_s. */
void fb_words_clock(int64_t at_s, struct buffer *to);
void fb_words_minute(int64_t at_s, struct buffer *to);

/*
 * The whole second of an instant, as all that is printed has it: of an end, before which nothing
 * happens, the one at which it is over; of what has happened the one in which it did.
 */
int64_t fb_words_second(int64_t at_ns, bool is_end);

/*
 * "14:32:48" on the clock of that zone; a day or more from now with the date before it. What is
 * ahead is an end; fb_words_end() is for one that may be past.
 */
void fb_words_moment(int64_t at_ns, int64_t now_ns, int64_t zone_s, struct buffer *to);
void fb_words_end(int64_t at_ns, int64_t now_ns, int64_t zone_s, struct buffer *to);

/* "in 41 s (14:32:48)", or "41 s ago (14:31:26)"; a day or more away with the date. */
void fb_words_when(int64_t at_ns, int64_t now_ns, int64_t zone_s, struct buffer *to);

/* "41 s ago (14:31:26)" of an end: the same second as was said while it was ahead. */
void fb_words_when_over(int64_t at_ns, int64_t now_ns, int64_t zone_s, struct buffer *to);

/* Columns that `size` bytes of UTF-8 take: characters, each one column wide. */
size_t fb_words_columns(const char *text, size_t size);

/*
 * Members of JSON: `"name":"2026-...Z","name_in_s":41.2`, nothing for 0; a span in seconds. An
 * end is rounded as above.
 */
void fb_words_json_end(struct buffer *to, const char *name, int64_t at_ns, int64_t now_ns);
void fb_words_json_instant(struct buffer *to, const char *name, int64_t at_ns, int64_t now_ns);
void fb_words_json_span(struct buffer *to, const char *name, int64_t span_ns);

/* A short one in seconds, to the microsecond. */
void fb_words_json_latency(struct buffer *to, const char *name, int64_t span_ns);

#endif
