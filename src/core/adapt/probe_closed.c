/* SPDX-License-Identifier: MIT */
/*
 * probe_closed.c - the window that ended the first climb.
 *
 * The first climb rises in proportion to what was accepted so far, so the share of it that came in
 * the last x seconds is 1 - e^(-x / (all / pace)). The window that closed was open for x = length -
 * shut. The window before it did not refuse: it held no more than this one did. Of the windows that
 * people use the first that is long enough for both is taken.
 *
 * Where it closes a second time after as many it is that window once more; some of the first may
 * have come in the window before, so it may be a little less. After another number it is one as
 * well, if it stays shut for longer than a bucket would that makes what was counted.
 *
 * Invariant: what fitted is no more than all that was accepted.
 */
#include <assert.h>

#include "core/adapt/probe_parts.h"

#define SOME 12.0f  /* requests: fewer are the same by chance */
#define MANY 30.0f  /* requests: fewer measure badly */
#define SAME 0.002f /* of a quota: by so much it may differ, for what was under way */
#define MADE 2.5f   /* requests that a bucket would have made until a ping that is refused */

/* e^-v, from its series: good to a hundredth, and the same with every compiler. */
static float fading(float v)
{
    assert(v >= 0.0f);

    return 1.0f / (1.0f + v * (1.0f + v * (0.5f + v / 6.0f)));
}

/* The pace that was really kept: there may be fewer workers than it needs. */
static float pace_kept(const struct probe *p)
{
    float some = 8.0f * p->unit; /* a step that has just begun says little */
    float step_s = fb_secs(p->refused_ns - p->step_ns);

    assert(p->rate > 0.0f && step_s >= 0.0f);
    return fb_minf(p->rate, (p->unit * (float)p->step_count + some) / (step_s + some / p->rate));
}

/* Whether the window before, at the slower pace of then, held no more than this one. */
static bool fitted_before(float window_s, float open_s, float growth_s)
{
    return fading(open_s / growth_s) * (2.0f - fading(window_s / growth_s)) <= 1.0f;
}

struct closed fb_probe_guess_closed(const struct probe *p, float total, float shut_s)
{
    float all = fb_maxf(total, p->unit);
    float growth_s = all / pace_kept(p);
    float window_s = fb_probe_window_from(shut_s);
    float longer_s = fb_probe_window_from(1.01f * window_s);
    float open_s = fb_maxf(0.0f, window_s - shut_s);

    assert(growth_s > 0.0f && shut_s >= 0.0f);
    while (!fitted_before(window_s, open_s, growth_s) && longer_s > window_s) {
        window_s = longer_s;
        longer_s = fb_probe_window_from(1.01f * window_s);
        open_s = window_s - shut_s;
    }
    if (open_s >= fb_secs(p->refused_ns - p->total_ns))
        return (struct closed){window_s, all};
    return (struct closed){window_s, all * (1.0f - fading(open_s / growth_s))};
}

/* What was accepted until it closed the time before; 0: it did never, or once more since then. */
static float before_it_opened(const struct probe *p)
{
    assert(p->total >= 0.0f && p->accepted >= 0.0f);

    if (p->empty_ns > p->opened_ns || p->opened_ns > p->refused_ns)
        return 0.0f;
    return p->total - p->accepted;
}

bool fb_probe_quota_again(const struct probe *p, float accepted)
{
    float before = before_it_opened(p);

    assert(accepted >= 0.0f);
    if (before < SOME * p->unit)
        return false;
    return accepted > 0.85f * before - p->unit && accepted < 1.02f * before + p->unit;
}

bool fb_probe_just_as_many(const struct probe *p, float accepted, float before)
{
    float off = accepted - before;

    assert(accepted >= 0.0f && p->unit >= 1.0f);
    return accepted >= MANY * p->unit && (off < 0.0f ? -off : off) <= SAME * accepted + p->unit;
}

bool fb_probe_quota_same(const struct probe *p, float accepted)
{
    return fb_probe_just_as_many(p, accepted, before_it_opened(p));
}

/* A bucket that was empty when it refused makes what was counted, and would let some through. */
bool fb_probe_closed_again(const struct probe *p, float accepted, float shut_s)
{
    float count_s = fb_maxf(0.001f, fb_secs(p->refused_ns - p->empty_ns));

    assert(shut_s >= 0.0f);
    if (fb_probe_quota_again(p, accepted))
        return true;
    if (p->phase != PROBE_DOUBT || before_it_opened(p) < SOME * p->unit)
        return false;
    if (accepted < MANY * p->unit)
        return false;
    return accepted / count_s * shut_s >= MADE * p->unit;
}

float fb_probe_fitted(const struct probe *p, float accepted)
{
    assert(accepted >= 0.0f);

    return fb_minf(accepted, before_it_opened(p));
}

float fb_probe_open_s(const struct probe *p, float accepted)
{
    float open_s = fb_maxf(0.0f, fb_secs(p->refused_ns - p->opened_ns));
    float fitted = fb_probe_fitted(p, accepted);

    assert(p->rate > 0.0f);
    return accepted > 1.02f * fitted + p->unit ? fb_minf(open_s, fitted / p->rate) : open_s;
}
