/* SPDX-License-Identifier: MIT */
/*
 * dialect.h - what the rules alone cannot read, as tables.
 *
 * Most providers need nothing here: names and values are read by rule. A header whose name says
 * too little is one row in FB_HEADERS (headers.c); one whose value needs code has a function in
 * dialects/ and is a row there, too. What a body tells, or what can be understood only when all
 * has been seen, is a file in dialects/ and one row in FB_DIALECTS. All of it is pure: it writes
 * into the reading what it has understood, and nothing when in doubt.
 */
#ifndef FLYBALL_SIGNAL_DIALECT_H
#define FLYBALL_SIGNAL_DIALECT_H

#include <stddef.h>

#include "signal/reading.h"
#include "signal/slice.h"

struct dialect {
    const char *name;

    /* The body, or what of it is kept; only for answers where it may matter. Or NULL. */
    void (*body)(struct reading *r, struct slice body);

    /* After everything: what was told is put together. Or NULL. */
    void (*finish)(struct reading *r);
};

#define FB_DIALECTS(X) \
    X(ietf)            \
    X(strava)          \
    X(graphql)         \
    X(openai)          \
    X(ncbi)

#define X(name) extern const struct dialect fb_dialect_##name;
FB_DIALECTS(X)
#undef X

/* Headers with values of their own kind; `name` is as it came. */
void fb_sentry_header(struct reading *r, struct slice name, struct slice value);
void fb_meta_header(struct reading *r, struct slice name, struct slice value);
void fb_binance_header(struct reading *r, struct slice name, struct slice value);

/* All of them, in that order; fb_dialect_count rows. */
extern const struct dialect *const fb_dialects[];
extern const size_t fb_dialect_count;

#endif
