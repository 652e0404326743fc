/* SPDX-License-Identifier: MIT */
/*
 * progress.h - how far a batch is, as people and programs read it.
 *
 * Facts in, text out: who collects them is pulse.c, who draws is screen.c. Pure.
 */
#ifndef FLYBALL_FETCH_PROGRESS_H
#define FLYBALL_FETCH_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fetch/eta.h"
#include "util/buffer.h"

#define FB_PROGRESS_NAME  48
#define FB_PROGRESS_BYTES 512 /* of a line, at least */

struct progress {
    char provider[FB_PROGRESS_NAME]; /* whose limit decides; "" while there is none */
    char pool[FB_PROGRESS_NAME];
    int64_t done; /* ended, in earlier runs as well */
    int64_t total;
    bool total_grows; /* the list has not been read to its end */
    int64_t failed;
    int64_t deferred;
    int64_t throttled;
    int64_t in_flight;
    double rate;             /* in the last seconds, a second */
    double limit;            /* believed or stated, a second; 0: none is known */
    bool limit_learned;      /* believed */
    bool learning;           /* nothing has refused yet */
    double confidence;       /* 0..1, of what was learned */
    struct eta_budget quota; /* of the pool; limit 0: nothing was told */
    struct eta eta;
    int64_t window_limit; /* stated, where that decides */
    int64_t window_ns;
    int64_t waits_ns;       /* everything waits, so long from now; 0: it does not */
    bool is_down;           /* ... because too much failed */
    int32_t failed_status;  /* with this answer; 0: without one */
    int64_t retry_after_ns; /* with the last refusal; 0: nothing was said */
    int64_t now_ns;         /* since 1970, on the clock on the wall */
    int64_t zone_s;         /* of the clock on the wall, east of Greenwich */
    int64_t spent_ns;       /* since the start */
};

/* The live line, at most `width` columns: what matters least is left out first. */
void fb_progress_line(const struct progress *p, size_t width, struct buffer *to);

/* "2026-11-15T14:32:07Z fetch done=12481 total=20000 ..." */
void fb_progress_plain(const struct progress *p, struct buffer *to);

/* {"type":"progress", ...} */
void fb_progress_json(const struct progress *p, struct buffer *to);

/* "core 5000/h", "~12/s", "hold", "answers": what decides; nothing where nothing does. */
void fb_progress_bound(const struct progress *p, struct buffer *to);

/* The same as a member "bound" of a JSON object, with whose limit it is. */
void fb_progress_bound_json(const struct progress *p, struct buffer *to);

/* "[====>     ]", so wide with its brackets. */
void fb_progress_bar(const struct progress *p, size_t width, struct buffer *to);

#endif
