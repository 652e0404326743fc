/* SPDX-License-Identifier: MIT */
/*
 * probe_penalty.c - a bucket that shuts for some seconds whenever it refuses, and tells so.
 *
 * A window tells how long it takes until it opens, which is another time at each refusal. Who tells
 * the same wait twice does not count down to anything: the wait is a penalty, and what is behind it
 * is a bucket. It fills up in the wait, as far as it can store.
 *
 * All that was accepted since the refusal before was made since then, so the limit is at least that
 * much a second. How much more depends on what it stores, which shows when it is looked at.
 *
 * Invariant: no limit is above the pace that was refused.
 */
#include <assert.h>

#include "core/adapt/probe_parts.h"

#define WAIT_MOST_S 250.0f /* of a wait that is kept */
#define EXPLAINED   0.97f  /* of the pace was counted: it should not have been refused */

static uint8_t whole_seconds(int64_t span_ns)
{
    assert(span_ns >= 0);

    return (uint8_t)(fb_minf(fb_secs(span_ns), WAIT_MOST_S) + 0.5f);
}

/*
 * Whether no window would have told to wait for so long. In a look one is exhausted by no more too
 * early than the pace is above its own, and at an even pace it is not exhausted at its beginning.
 * If it closed only once its length is a guess; but it does not hold more than all that was
 * accepted until then.
 */
static bool is_no_window(const struct probe *p, float wait_s)
{
    float before = p->total - p->accepted; /* the first time */

    if (p->window_s <= 0.0f)
        return true;
    if (p->lean > 0.0f)
        return wait_s > 2.0f * p->window_s * p->lean / (1.0f + p->lean) + 2.0f;
    if (p->reading != 0)
        return wait_s > 0.7f * p->window_s;
    return before > 0.0f && p->accepted > 1.05f * before + 2.0f * p->unit;
}

bool fb_probe_told_same(const struct probe *p, int64_t wait_ns)
{
    assert(p->episode == EPISODE_NONE);

    if (wait_ns <= WAIT_BLUNT_NS || p->told_reset_ns != FB_LONG_AGO)
        return false;
    if (whole_seconds(wait_ns) != p->told_wait_s || p->told_wait_s >= WAIT_MOST_S)
        return false;
    return is_no_window(p, fb_secs(wait_ns));
}

uint8_t fb_probe_wait_told(const struct probe *p)
{
    return p->told_when ? whole_seconds(fb_max64(p->block_ns - p->refused_ns, 0)) : 0;
}

/* It was full when the first climb began: what that got beyond the limit had been stored. */
static float least_limit(struct probe *p, float accepted, float open_s)
{
    float wait_s = fb_secs(p->block_ns - p->refused_ns);
    float climb_s = fb_maxf(0.0f, fb_secs(p->empty_ns - p->total_ns) - wait_s);
    float limit = accepted / (open_s + wait_s);

    assert(wait_s > 0.0f);
    p->burst = fb_maxf(0.0f, p->total - p->accepted - limit * climb_s);
    return fb_maxf(fb_minf(limit, p->rate), DROP * p->limit);
}

void fb_probe_read_penalty(struct probe *p, float accepted, float open_s, const struct answer *a)
{
    float limit = least_limit(p, accepted, open_s);

    assert(fb_probe_was_penalty(p));
    if (p->lean > 0.0f) /* so much was kept for whole windows */
        limit = fb_maxf(limit, fb_maxf(p->limit, p->held));
    fb_probe_no_window(p);
    p->surprises = 0;
    p->cuts = 1;
    p->looked = true;
    fb_probe_settle(p, limit, accepted, a);
    p->look_ns = fb_after(a->now_ns, fb_span(LOOK_LEAST * p->unit / p->rate));
}

/*
 * Refused below the limit, though what it was seen to store explains no more than the pace: it
 * stores more. Between nothing and all that it makes in the wait, it is half-way.
 */
float fb_probe_mend_penalty(struct probe *p, float accepted, float estimate)
{
    float open_s = fb_maxf(fb_secs(p->refused_ns - p->step_ns), 0.001f);
    float wait_s = fb_secs(p->block_ns - p->refused_ns);

    assert(fb_probe_in_penalty(p) && p->rate > 0.0f);
    if (p->lean > 0.0f || p->window_s > 0.0f || estimate < EXPLAINED * p->rate)
        return estimate;
    estimate = fb_minf(accepted / __builtin_sqrtf(open_s * (open_s + wait_s)), p->rate);
    p->burst = fb_maxf(0.0f, accepted - estimate * open_s);
    return fb_maxf(estimate, DROP * p->rate);
}
