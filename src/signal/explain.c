/* SPDX-License-Identifier: MIT */
/*
 * explain.c - a signal in a sentence or two, for people.
 */
#include <stdbool.h>

#include <flyball/flyball.h>

#include "util/text.h"

static void add_verdict(struct text *t, const struct fly_signal *s)
{
    uint32_t f = s->flags;

    if (f & FLY_SIGNAL_BANNED)
        fb_text_add(t, "Shut out");
    else if (f & FLY_SIGNAL_QUOTA_GONE)
        fb_text_add(t, "Refused: a long budget is used up");
    else if (f & FLY_SIGNAL_CONCURRENCY)
        fb_text_add(t, "Refused: too many requests at once");
    else if (f & FLY_SIGNAL_THROTTLED)
        fb_text_add(t, "Refused for rate");
    else if (f & FLY_SIGNAL_OUTAGE)
        fb_text_add(t, "The server is in trouble; not a matter of rate");
    else if (s->status >= 400)
        fb_text_add(t, "Failed, but not for rate");
    else
        fb_text_add(t, "Not refused");
}

static void add_reason(struct text *t, const struct fly_signal *s)
{
    fb_text_add(t, " (status ");
    fb_text_add_int(t, s->status);
    if (s->evidence[0]) {
        fb_text_add(t, ", \"");
        fb_text_add(t, s->evidence);
        fb_text_add(t, "\"");
    }
    fb_text_add(t, ").");
}

/* A pool of which nothing is left is full again when the hold is over. */
static bool is_until_reset(const struct fly_signal *s)
{
    for (size_t i = 0; i < s->pool_count; i++) {
        if (s->pool[i].remaining == 0 && s->pool[i].reset_ns == s->hold_ns)
            return true;
    }
    return false;
}

static void add_advice(struct text *t, const struct fly_signal *s)
{
    bool throttled = s->flags & FLY_SIGNAL_THROTTLED;

    if (throttled && !(s->flags & FLY_SIGNAL_RETRYABLE)) {
        fb_text_add(t, " Waiting alone does not lift it.");
    } else if (s->hold_ns > 0) {
        fb_text_add(t, " Send nothing for ");
        fb_text_add_span(t, s->hold_ns);
        if (is_until_reset(s))
            fb_text_add(t, ", until the reset");
        else if (s->retry_after_ns == FLY_ABSENT || s->retry_after_ns < s->hold_ns)
            fb_text_add(t, " at least; the response states no wait that long");
        fb_text_add(t, ".");
    } else if (s->flags & FLY_SIGNAL_RETRYABLE) {
        fb_text_add(t, " Another try may succeed; no wait is stated.");
    } else if (s->flags & FLY_SIGNAL_NEAR) {
        fb_text_add(t, " A limit is near.");
    }
}

void fly_signal_explain(const struct fly_signal *s, char *ret_text, size_t size)
{
    struct text t;

    fb_text_init(&t, ret_text, size);
    add_verdict(&t, s);
    add_reason(&t, s);
    add_advice(&t, s);
}
