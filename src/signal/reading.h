/* SPDX-License-Identifier: MIT */
/*
 * reading.h - a response while it is being read: what its headers told so far, undecided.
 *
 * Headers come in any order, so numbers whose meaning depends on others (a reset on the Date, a
 * list of policies on the limit in force) are kept as told and settled when all has been seen.
 * Everything has a fixed size; what does not fit is not kept.
 */
#ifndef FLYBALL_SIGNAL_READING_H
#define FLYBALL_SIGNAL_READING_H

#include <stdbool.h>
#include <stdint.h>

#include <flyball/flyball.h>

#include "signal/preset.h"
#include "signal/slice.h"

#define FB_S         INT64_C(1000000000)
#define FB_MS        INT64_C(1000000)
#define FB_US        INT64_C(1000)
#define FB_DAY_NS    (86400 * FB_S)
#define FB_HOUR_NS   (3600 * FB_S)
#define FB_MILLIONTH INT64_C(1000000)

/* A number of seconds below this is a span, and never an instant: that would be in 1973. */
#define FB_SPAN_END_S INT64_C(100000000)

/* The year 2116: nobody's now is later, and sums with it do not overflow. */
#define FB_EPOCH_MAX_NS (INT64_MAX / 2)

/* Of a body only its beginning and its end are looked at. */
#define FB_BODY_HEAD 4096
#define FB_BODY_TAIL 2048

/* How a pool came to be known; decides what becomes of it in the end. */
enum {
    POOL_PAIR = 1,    /* told as two numbers with a comma */
    POOL_POLICY = 2,  /* a policy without a name */
    POOL_LONG = 4,    /* its window is a month, which has no fixed length */
    POOL_MS = 8,      /* its bare reset is in milliseconds */
    POOL_CLOSED = 16, /* nothing is left, as the meaning of the header */
};

struct pool {
    char name[FLY_POOL_NAME_SIZE]; /* not terminated */
    uint8_t length;
    uint8_t vendor; /* so many bytes of the name are the vendor's, "-" included */
    uint8_t flags;
    int64_t limit;
    int64_t decimal; /* a limit with a point, in millionths: a count or a rate */
    int64_t remaining;
    int64_t used;
    int64_t refill; /* millionths a second */
    int64_t fill;   /* millionths a window */
    int64_t window_ns;
    int64_t number;   /* bare reset, in millionths of it knows what */
    int64_t after_ns; /* reset, surely from now */
    int64_t at_ns;    /* reset, surely since 1970 */
};

/* What phrases in the body and codes in headers mean. */
enum {
    MEANS_THROTTLED = 1,
    MEANS_LIMIT = 2,    /* speaks of a limit on requests ... */
    MEANS_EXCEEDED = 4, /* ... and of going beyond one: together a refusal */
    MEANS_BANNED = 8,
    MEANS_BANNED_UNLESS_TOLD = 16, /* a ban where no wait is told */
    MEANS_FOR_GOOD = 32,           /* time alone does not lift it */
    MEANS_QUOTA = 64,              /* a long one */
    MEANS_CONCURRENCY = 128,
    MEANS_NEAR = 256,
};

struct reading {
    int64_t now_ns;
    int64_t date_ns; /* the server's own idea of now, or FLY_ABSENT */
    int32_t status;
    uint32_t flags; /* FLY_RESPONSE_... */
    const struct preset *preset;
    struct fly_reset_habit *habit;

    int64_t wait_ns;    /* longest wait told as a span */
    int64_t wait_at_ns; /* latest end of a wait told as an instant */
    bool wait_in_header;
    int64_t concurrency;
    int64_t stated_limit;
    int64_t stated_window_ns;
    uint32_t means;
    const char *phrase; /* which of the table's phrases said so */

    char title[FLY_POOL_NAME_SIZE]; /* what the response calls its unnamed pool */
    uint8_t title_length;
    uint64_t pool_count;
    struct pool pool[FLY_POOLS_MAX];

    size_t body_length; /* of all of it */
    size_t tail_length;
    char head[FB_BODY_HEAD];
    char tail[FB_BODY_TAIL]; /* what came last after the head */
};

/* The pool of that name, new if need be; NULL when there are too many. */
struct pool *fb_pool_get(struct reading *r, struct slice name, size_t vendor);
struct pool *fb_pool_find(struct reading *r, struct slice name);

/* Take a pool out; those behind it move up. */
void fb_pool_drop(struct reading *r, struct pool *p);

/* Two statements about one thing: the smaller, the larger; FLY_ABSENT says nothing. */
void fb_told_least(int64_t *told, int64_t value);
void fb_told_most(int64_t *told, int64_t value);

/* The length of a pool's window; one of nothing, or longer than a reset may be, is not believed. */
void fb_told_window(struct pool *p, int64_t window_ns);

/* A wait from now on, in ns; a wait that ends at an instant since 1970. */
void fb_told_wait(struct reading *r, int64_t span_ns);
void fb_told_wait_until(struct reading *r, int64_t epoch_ns);

/* Permits in millionths that come back within a window, as millionths a second: at least 1. */
int64_t fb_per_second(int64_t millionths, int64_t window_ns);

/* The time the server's instants are read against: its own Date, else the caller's now. */
int64_t fb_reading_now(const struct reading *r);

#endif
