/* SPDX-License-Identifier: MIT */
/*
 * spec.h - what a limit text says, as one plain value.
 *
 * The text is the same everywhere (library, --limit, YAML): words in any order, separated by
 * blanks. The table of words in spec.c is its single source of truth; a constraint may bring one
 * word of its own (constraint.h), whose value lands in `own`.
 */
#ifndef FLYBALL_CORE_SPEC_H
#define FLYBALL_CORE_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <flyball/flyball.h>

#include "core/constraint.h"
#include "core/controller.h"
#include "core/value.h"

#define FB_WINDOWS_MAX 16
#define FB_RATE_MAX    INT64_C(1000000000)                  /* permits a second */
#define FB_PERIOD_MAX  (INT64_C(366) * 86400 * FB_NS_PER_S) /* of a rate or a window */
#define FB_COUNT_MAX   INT64_C(1000000000)                  /* burst, concurrency, window limit */
#define FB_EXACT_MAX   INT64_C(10000)                       /* windows up to here are exact */
#define FB_MILLION     INT64_C(1000000)                     /* shares are parts per million */

#define FB_INTERVAL_MAX (3600 * FB_NS_PER_S)
#define FB_AHEAD_MAX    INT64_C(100000)

#define FB_BURST_DEFAULT 10 /* of a rate that does not adapt */

/* An exact rate: `permits` in every `period_ns`. permits == 0: not given. */
struct rate {
    int64_t permits;
    int64_t period_ns;
};

struct spec_window {
    int64_t limit;     /* as stated */
    int64_t effective; /* after the margin: what may be used, >= 1 */
    int64_t length_ns;
};

enum pacing { PACING_UNSAID, PACING_EVEN, PACING_DEMAND };

struct spec {
    struct rate rate;
    struct rate floor;
    struct rate ceiling;
    int64_t burst; /* 0: not given */
    struct spec_window window[FB_WINDOWS_MAX];
    int64_t window_count;
    int64_t margin_ppm;      /* of windows stated by the user */
    int64_t reserve_ppm;     /* of a quota; -1: not given */
    int64_t interval_min_ns; /* of requests that a quota spaces evenly; 0: not given */
    int64_t interval_max_ns; /* the same */
    int64_t ahead;           /* so many of them may run ahead; 0: not given */
    enum pacing pacing;
    const struct controller *controller; /* NULL: adapt=off */
    int64_t own[FB_CONSTRAINT_COUNT];    /* the value of a constraint's own word; 0: not given */
};

/*
 * Read `text` (NULL counts as ""). 0 with *ret_spec complete, defaults filled in; or -EINVAL with
 * *ret_spec untouched and a sentence in `err` that names the word and what was expected.
 */
int fb_spec_read(const char *text, struct spec *ret_spec, struct fly_error *err)
    __attribute__((warn_unused_result));

/*
 * A word that one face adds on top of the table: `read` puts its value into the caller's `into`.
 * Like the others it may be said once, unless it is repeatable.
 */
struct spec_word {
    const char *name;
    const char *expects; /* what its value looks like, for the error message */
    enum value_error (*read)(const char *value, void *into);
    bool repeatable;
};

#define FB_MORE_WORDS_MAX 16

/* The same with `count` more words. When it fails, *into may hold what was read until then. */
int fb_spec_read_with(const char *text, const struct spec_word *more, size_t count, void *into,
                      struct spec *ret_spec, struct fly_error *err)
    __attribute__((warn_unused_result));

/* A rate as permits per second; 0 when it is not given. */
static inline double fb_rate_per_second(const struct rate *r)
{
    return r->permits ? (double)r->permits * 1e9 / (double)r->period_ns : 0.0;
}

#endif
