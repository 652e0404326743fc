/* SPDX-License-Identifier: MIT */
/*
 * signal.h - what a response says about limits: which pools there are, how much is left of them
 * and until when, whether it was a refusal, and from when another try makes sense.
 *
 * Read by rule from status, headers and the beginning and end of the body; no configuration is
 * needed. Nothing here reads a clock, allocates or does I/O, and the work is linear in what is
 * given. Values that are malformed, contradictory or absurd are ignored one by one; none of them
 * ever means "retry now".
 *
 * A response is given whole to fly_signal_read(), or in pieces as a transfer library hands them
 * out:
 *
 *     struct fly_signal_reader r;
 *     struct fly_signal s = {.size = sizeof(s)};
 *     struct fly_response about = {.size = sizeof(about), .now_ns = now(), .status = 429};
 *     fly_signal_begin(&r, &about);
 *     fly_signal_header(&r, "Retry-After", 11, "30", 2);      for each header
 *     fly_signal_body(&r, bytes, size);                       for each piece, if there is any
 *     fly_signal_end(&r, &s);
 *     for (size_t i = 0; i < fly_signal_outcomes(&s); i++)
 *         fly_signal_outcome(&s, i, now(), &outcome);         one for each pool's limiter
 *
 * This header is part of flyball.h, which is what programs include.
 */
#ifndef FLYBALL_SIGNAL_H
#define FLYBALL_SIGNAL_H

#include <stddef.h>
#include <stdint.h>

#include <flyball/flyball.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FLY_POOLS_MAX      16 /* further pools of one response are not kept */
#define FLY_POOL_NAME_SIZE 48 /* longer names are cut */

/* No stated wait counts beyond the first, no reset beyond the second. */
#define FLY_SIGNAL_WAIT_MAX_NS  (INT64_C(7) * 86400 * 1000000000)
#define FLY_SIGNAL_RESET_MAX_NS (INT64_C(32) * 86400 * 1000000000)

/* The least that a throttled answer holds, whatever it says. */
#define FLY_SIGNAL_HOLD_MIN_NS INT64_C(1000000000)

/* What a response means: fly_signal.flags. The first has the value of FLY_THROTTLED. */
#define FLY_SIGNAL_THROTTLED   1u   /* refused for rate, quota or concurrency */
#define FLY_SIGNAL_RETRYABLE   2u   /* may succeed later without anybody doing anything */
#define FLY_SIGNAL_BANNED      4u   /* shut out, not merely slowed down */
#define FLY_SIGNAL_QUOTA_GONE  8u   /* a long budget (a day, a month) is used up */
#define FLY_SIGNAL_OUTAGE      16u  /* the server is in trouble; not about our rate */
#define FLY_SIGNAL_CONCURRENCY 32u  /* refused for too many requests at once */
#define FLY_SIGNAL_NEAR        64u  /* not refused, but told to be near a limit */
#define FLY_SIGNAL_FOUND       128u /* the response says something about limits at all */

/* One budget. What the response does not tell is FLY_ABSENT. */
struct fly_pool {
    char name[FLY_POOL_NAME_SIZE]; /* as the provider spells it; "" where it has none */
    int64_t limit;
    int64_t remaining;
    int64_t used;
    int64_t refill_millionths; /* permits that come back in a second, in millionths */
    int64_t window_ns;         /* the limit is for so long a time */
    int64_t reset_ns;          /* RELATIVE: the budget is full again so long from now; 0: it is */
};

struct fly_signal {
    uint64_t size;            /* sizeof(struct fly_signal), set by the caller */
    int32_t status;           /* as given */
    uint32_t flags;           /* FLY_SIGNAL_... */
    int64_t retry_after_ns;   /* told wait, 0 included; or FLY_ABSENT */
    int64_t hold_ns;          /* send nothing for so long; never 0 for a throttled answer */
    int64_t concurrency;      /* told limit of requests at once, or FLY_ABSENT */
    int64_t stated_limit;     /* told in prose: so many requests ... */
    int64_t stated_window_ns; /* ... in so long a time; both or neither FLY_ABSENT */
    uint64_t pool_count;
    struct fly_pool pool[FLY_POOLS_MAX];
    char evidence[64]; /* the status, header or phrase that decided; for people */
};

/* What a bare number in a reset header of one host has turned out to be. Zeroed memory: nothing. */
#define FLY_RESET_UNKNOWN      0u
#define FLY_RESET_SECONDS      1u /* shrinks by one a second */
#define FLY_RESET_MILLISECONDS 2u /* shrinks by a thousand a second */
#define FLY_RESET_FIXED        3u /* stays as it is while time passes: the length of the window */

/* Kept by the caller for each host, and given with each of its responses. */
struct fly_reset_habit {
    int64_t seen_ns;    /* when the number below was told */
    int64_t millionths; /* the number, in millionths */
    uint32_t pool;      /* of which pool, as a hash of its name */
    uint32_t unit;      /* FLY_RESET_... */
    uint32_t guess;     /* what the last pair of responses spoke for ... */
    uint32_t votes;     /* ... and how many in a row did */
};

#define FLY_RESPONSE_QUOTA 1u /* the body is the answer of an endpoint that tells quotas */

/* What is known about a response before its headers. */
struct fly_response {
    uint64_t size;                 /* sizeof(struct fly_response) */
    int64_t now_ns;                /* nanoseconds since 1970, when it arrived */
    int32_t status;                /* HTTP status */
    uint32_t flags;                /* FLY_RESPONSE_... */
    const char *preset;            /* a provider's name, such as "github", or NULL */
    struct fly_reset_habit *habit; /* read and updated; or NULL */
};

struct fly_header {
    const char *name;
    size_t name_length;
    const char *value;
    size_t value_length;
};

/*
 * What the response says. -EINVAL where a `size` is too small, else 0. `header` and `body` are
 * borrowed for the call; any bytes are allowed in them.
 */
FLY_API int fly_signal_read(const struct fly_response *about, const struct fly_header *header,
                            size_t header_count, const char *body, size_t body_length,
                            struct fly_signal *ret_signal);

/* The same in pieces. The memory is the caller's and needs no end. */
struct fly_signal_reader {
    uint64_t opaque[1536];
};

/* -EINVAL where about->size is too small. `about->habit` must live until fly_signal_end(). */
FLY_API int fly_signal_begin(struct fly_signal_reader *r, const struct fly_response *about);
FLY_API void fly_signal_header(struct fly_signal_reader *r, const char *name, size_t name_length,
                               const char *value, size_t value_length);
FLY_API void fly_signal_body(struct fly_signal_reader *r, const char *bytes, size_t size);

/* Once for each begin. -EINVAL where ret_signal->size is too small. */
FLY_API int fly_signal_end(struct fly_signal_reader *r, struct fly_signal *ret_signal);

/* How many outcomes a signal makes: one for each pool, and one where there is none. */
FLY_API size_t fly_signal_outcomes(const struct fly_signal *s);

/*
 * Write what pool `i` was told into an outcome: limit, remaining, reset, retry-after, status and
 * flags. What left when, and with which ticket, stays as the caller has set it. `now_ns` is on the
 * clock of the limiter.
 */
FLY_API void fly_signal_outcome(const struct fly_signal *s, size_t i, int64_t now_ns,
                                struct fly_outcome *o);

/* One or two sentences for a person: what it means and why. Always terminated; size >= 1. */
FLY_API void fly_signal_explain(const struct fly_signal *s, char *ret_text, size_t size);

#ifdef __cplusplus
}
#endif

#endif
