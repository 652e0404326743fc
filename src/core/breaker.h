/* SPDX-License-Identifier: MIT */
/*
 * breaker.h - stop sending to what is broken, and find out with one request whether it still is.
 *
 * Closed: all may leave. After 5 failures in a row it opens: nothing leaves for 60 s. Then it is
 * half open: one trial leaves, and its answer closes the breaker or opens it again.
 *
 * It counts failures, not refusals: whoever answers 429 works. Whether those count is a setting.
 * It sleeps nowhere and reads no clock: like a constraint it says from when.
 */
#ifndef FLYBALL_CORE_BREAKER_H
#define FLYBALL_CORE_BREAKER_H

#include <stdbool.h>
#include <stdint.h>

#define FB_BREAKER_FAILURES 5
#define FB_BREAKER_OPEN_NS  INT64_C(60000000000)

enum breaker_state {
    BREAKER_CLOSED,
    BREAKER_OPEN,
    BREAKER_HALF_OPEN, /* the trial is out */
};

struct breaker {
    int64_t since_ns;     /* of this state; answers to what left earlier are old news */
    int64_t open_ns;      /* how long it stays open */
    int32_t failures;     /* in a row, while closed */
    int32_t failures_max; /* as many open it */
    enum breaker_state state;
    bool counts_429;
};

/* Closed, with the defaults above. The settings may be changed right after. */
void fb_breaker_init(struct breaker *b);

/* From when a request may leave: <= now for "now"; FB_NEVER while the trial is out. */
int64_t fb_breaker_ready_at(const struct breaker *b, int64_t now_ns);

/* A request leaves now: fb_breaker_ready_at() has just said so. */
void fb_breaker_take(struct breaker *b, int64_t now_ns);

/* There is reason to hope: where it is open, one trial may leave at once. */
void fb_breaker_try(struct breaker *b, int64_t now_ns);

/* A request that left at `sent_ns` comes back unsent: its place as trial is free again. */
void fb_breaker_cancel(struct breaker *b, int64_t sent_ns, int64_t now_ns);

/* What came of a request that left at `sent_ns`. */
void fb_breaker_on_success(struct breaker *b, int64_t sent_ns, int64_t now_ns);
void fb_breaker_on_failure(struct breaker *b, int64_t sent_ns, int64_t now_ns);

/* Refused for rate: a failure where 429 counts; otherwise a trial that was answered has passed. */
void fb_breaker_on_throttled(struct breaker *b, int64_t sent_ns, int64_t now_ns);

#endif
