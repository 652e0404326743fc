/* SPDX-License-Identifier: MIT */
/*
 * answer.c - what an answer says about limits, for the limiter of its key.
 *
 * A thin reader of the commonest forms: 429, 503 with Retry-After, Retry-After in seconds, and the
 * three x-ratelimit headers with a reset in seconds.
 */
#include <string.h>
#include <strings.h>

#include "engine/inside.h"

/* A plain number of up to 10 digits, or FLY_ABSENT. */
static int64_t number_of(const struct attempt_end *end, const char *name)
{
    for (size_t i = 0; i < end->header_count; i++) {
        const char *v = end->header[i].value;
        size_t digits = strspn(v, "0123456789");
        int64_t n = 0;

        if (strcasecmp(end->header[i].name, name) != 0)
            continue;
        if (digits == 0 || digits > 10 || v[digits])
            return FLY_ABSENT;
        for (size_t d = 0; d < digits; d++)
            n = 10 * n + (v[d] - '0');
        return n;
    }
    return FLY_ABSENT;
}

void fb_answer_read(const struct attempt_end *end, int64_t now_ns, struct fly_outcome *o)
{
    int64_t wait_s = number_of(end, "Retry-After");
    int64_t reset_s = number_of(end, "x-ratelimit-reset");

    if (end->failure != FAIL_NONE)
        return;
    o->status = end->status;
    o->limit = number_of(end, "x-ratelimit-limit");
    o->remaining = number_of(end, "x-ratelimit-remaining");
    if (wait_s != FLY_ABSENT)
        o->retry_after_ns = fb_min64(wait_s * FB_NS_PER_S, FB_WAIT_MAX);
    if (reset_s != FLY_ABSENT && reset_s < INT64_C(1000000000))
        o->reset_ns = fb_after(now_ns, fb_min64(reset_s * FB_NS_PER_S, FB_RESET_MAX));
    else if (reset_s != FLY_ABSENT)
        o->reset_ns = reset_s * FB_NS_PER_S;
    if (end->status == 429 || (end->status == 503 && wait_s != FLY_ABSENT))
        o->flags |= FLY_THROTTLED;
}
