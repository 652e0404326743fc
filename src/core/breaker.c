/* SPDX-License-Identifier: MIT */
/*
 * breaker.c - three states, and one function that moves between them.
 *
 * Invariant: only answers to requests that left in the present state count. While it is open none
 * leaves, so stragglers can neither open it longer nor close it; half open, only the trial counts.
 */
#include "core/breaker.h"

#include <assert.h>

#include "core/instant.h"

static void breaker_enter(struct breaker *b, enum breaker_state state, int64_t now_ns)
{
    assert(b->state != state);
    assert(now_ns >= b->since_ns);
    assert(state != BREAKER_HALF_OPEN || b->state == BREAKER_OPEN);
    b->state = state;
    b->since_ns = now_ns;
    b->failures = 0;
}

void fb_breaker_init(struct breaker *b)
{
    *b = (struct breaker){
        .since_ns = -FB_TIME_MAX,
        .open_ns = FB_BREAKER_OPEN_NS,
        .failures_max = FB_BREAKER_FAILURES,
        .state = BREAKER_CLOSED,
    };
}

int64_t fb_breaker_ready_at(const struct breaker *b, int64_t now_ns)
{
    assert(b->open_ns >= 0);
    if (b->state == BREAKER_CLOSED)
        return now_ns;
    return b->state == BREAKER_OPEN ? fb_after(b->since_ns, b->open_ns) : FB_NEVER;
}

void fb_breaker_take(struct breaker *b, int64_t now_ns)
{
    assert(fb_breaker_ready_at(b, now_ns) <= now_ns);
    if (b->state == BREAKER_OPEN)
        breaker_enter(b, BREAKER_HALF_OPEN, now_ns);
}

void fb_breaker_try(struct breaker *b, int64_t now_ns)
{
    if (b->state == BREAKER_OPEN && fb_breaker_ready_at(b, now_ns) > now_ns)
        b->since_ns = now_ns - b->open_ns;
    assert(b->state != BREAKER_OPEN || fb_breaker_ready_at(b, now_ns) <= now_ns);
}

static bool is_trial(const struct breaker *b, int64_t sent_ns)
{
    return b->state == BREAKER_HALF_OPEN && sent_ns >= b->since_ns;
}

void fb_breaker_cancel(struct breaker *b, int64_t sent_ns, int64_t now_ns)
{
    assert(now_ns >= b->since_ns);
    if (!is_trial(b, sent_ns))
        return;
    /* Open, and due for its trial already. */
    breaker_enter(b, BREAKER_OPEN, now_ns);
    b->since_ns = now_ns - b->open_ns;
}

void fb_breaker_on_success(struct breaker *b, int64_t sent_ns, int64_t now_ns)
{
    assert(b->state == BREAKER_CLOSED || b->failures == 0);
    if (is_trial(b, sent_ns))
        breaker_enter(b, BREAKER_CLOSED, now_ns);
    else if (b->state == BREAKER_CLOSED && sent_ns >= b->since_ns)
        b->failures = 0;
}

void fb_breaker_on_failure(struct breaker *b, int64_t sent_ns, int64_t now_ns)
{
    assert(b->failures < b->failures_max);
    if (is_trial(b, sent_ns)) {
        breaker_enter(b, BREAKER_OPEN, now_ns);
        return;
    }
    if (b->state != BREAKER_CLOSED || sent_ns < b->since_ns)
        return;
    b->failures++;
    if (b->failures >= b->failures_max)
        breaker_enter(b, BREAKER_OPEN, now_ns);
}

void fb_breaker_on_throttled(struct breaker *b, int64_t sent_ns, int64_t now_ns)
{
    if (b->counts_429)
        fb_breaker_on_failure(b, sent_ns, now_ns);
    else if (is_trial(b, sent_ns))
        breaker_enter(b, BREAKER_CLOSED, now_ns);
}
