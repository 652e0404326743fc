/* SPDX-License-Identifier: MIT */
/*
 * name.h - what the name of a header says: what its value is, of which pool, in which unit.
 *
 * By rule, so that a provider nobody has seen is understood: a name is words with dashes between
 * them, one of them ("ratelimit", or "rate" and "limit") makes it one about limits, one tells what
 * the value is, some tell a length of time, and the rest is the name of the pool.
 *
 *     X-RateLimit-Limit-Tokens-Minute     limit of "tokens-minute", a window of 60 s
 *     anthropic-ratelimit-requests-reset  reset of "requests", of the vendor "anthropic"
 *     x-remaining-today                   remaining of "day", a window of 24 h
 */
#ifndef FLYBALL_SIGNAL_NAME_H
#define FLYBALL_SIGNAL_NAME_H

#include <stdbool.h>
#include <stdint.h>

#include "signal/slice.h"

#define FB_NAME_MAX 80 /* bytes of a header's name; longer ones are nobody's */

enum role {
    ROLE_LIMIT,
    ROLE_REMAINING,
    ROLE_USED,
    ROLE_RESET,       /* a time or a span, in whatever form */
    ROLE_RESET_AFTER, /* a span for sure */
    ROLE_PERIOD,      /* the length of the window */
    ROLE_FILL,        /* permits that come back in a period */
    ROLE_POLICY,
    ROLE_TITLE, /* the name of the pool without one */
    ROLE_WAIT,  /* Retry-After */
    ROLE_CONCURRENCY,
    ROLE_NEAR,   /* whether a limit is near */
    ROLE_BARE,   /* "RateLimit" and nothing else */
    ROLE_PARAMS, /* no word tells: the value has to */
};

struct header_name {
    enum role role;
    bool ms;           /* the value is in milliseconds */
    bool calendar;     /* the window is a month */
    int64_t window_ns; /* or FLY_ABSENT */
    struct slice per;  /* "limit-per-second": the span, which is not in the pool's name; or empty */
    struct slice pool; /* into text */
    size_t vendor;     /* so many bytes of the pool's name are the vendor's, "-" included */
    char text[2 * FB_NAME_MAX + 2];
};

/* False: a header that has nothing to do with limits. *ret_name is not to be moved. */
bool fb_name_read(struct slice name, struct header_name *ret_name);

#endif
