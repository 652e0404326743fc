/* SPDX-License-Identifier: MIT */
/*
 * metrics.h - `--metrics-csv`: a row a second, as text. Pure.
 *
 * The columns are a table, from which the first line and every row are made; flyball-fetch(1) says
 * what each of them is. What is not known is empty.
 */
#ifndef FLYBALL_FETCH_METRICS_H
#define FLYBALL_FETCH_METRICS_H

#include <stdint.h>

#include "util/buffer.h"

/* Columns of waits; all causes but the first five are the last. */
#define FB_METRICS_WAITS(X) X(bucket) X(window) X(quota) X(hold) X(concurrency) X(other)

enum metrics_wait {
#define X(name) METRICS_WAIT_##name,
    FB_METRICS_WAITS(X)
#undef X
        METRICS_WAITS
};

struct metrics_row {
    int64_t at_ns;      /* its end, since 1970 */
    int64_t elapsed_ns; /* since the start */
    int64_t done;       /* items that have ended, in earlier runs as well */
    double rate;        /* requests sent a second, in this row */
    double limit;       /* permits a second, stated or believed; 0: none */
    double tokens;      /* permits that may leave at once; < 0: no rate bounds that */
    int64_t sent;       /* requests, in this row; likewise: */
    int64_t throttled;
    int64_t in_flight; /* at its end */
    int64_t queued;
    int64_t wait_ns[METRICS_WAITS]; /* in which something was queued and could not leave */
    int64_t answers;
    int64_t p50_ns; /* of the answers of this row */
    int64_t p95_ns;
    int64_t p99_ns;
    const char *key; /* whose limit and tokens these are */
};

/* Which column a cause belongs to. */
enum metrics_wait fb_metrics_wait(const char *cause);

/* A text as a field: quoted where RFC 4180 wants it, and never a formula of a spreadsheet. */
void fb_metrics_text(const char *text, struct buffer *to);

/* The names of the columns, or a row, with the end of the line. */
void fb_metrics_head(struct buffer *to);
void fb_metrics_line(const struct metrics_row *r, struct buffer *to);

#endif
