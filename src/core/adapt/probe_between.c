/* SPDX-License-Identifier: MIT */
/*
 * probe_between.c - which window lies between two openings.
 *
 * From one opening that was seen to the next there are whole windows, and none of those that did
 * not close held more than the one that did. With a pace that hardly changed that leaves little
 * choice: where it stays shut for long, all that was accepted came in one window. Each opening is
 * known to the pause between two pings.
 *
 * Invariant: no window is explained that is shorter than it was seen to be shut.
 */
#include <assert.h>

#include "core/adapt/probe_parts.h"
#include "core/adapt/probe_reading.h"

#define OFF       0.01f /* of the time between two openings: clocks, and what was on its way */
#define OFF_S     0.1f  /* and so many seconds */
#define SAME      1.02f /* times as much in one window as in another is as much */
#define TWO_STEPS 1.33f /* a look grows by so much, at the least, in two steps */
#define SETTLED_S 5.0f  /* the pace was lower before a look began */

float fb_probe_late_s(const struct probe *p)
{
    bool is_first = p->opening_seen && p->empty_ns <= p->opened_ns;

    return is_first ? fb_maxf(0.0f, -p->fitted) : 0.0f;
}

float fb_probe_openings(const struct probe *p, const struct reading *r, float window_s)
{
    float least_s = (1.0f - OFF) * (r->open_s + r->shut_s);
    float most_s = (1.0f + OFF) * (r->open_s + fb_probe_late_s(p) + r->blocked_s) + OFF_S;
    float count = (float)(int64_t)(least_s / window_s) + 1.0f;

    assert(window_s > 0.0f && r->shut_s <= r->blocked_s);
    return window_s >= r->shut_s && count * window_s <= most_s ? count : 0.0f;
}

/* What was accepted in the last of so many windows, if the first opened so much earlier. */
static float in_last(const struct reading *r, float window_s, float count, float late_s)
{
    float last_s = fb_maxf(0.0f, r->open_s + late_s - (count - 1.0f) * window_s);

    assert(count >= 1.0f && r->rate > 0.0f);
    return fb_minf(r->accepted, r->rate * last_s);
}

/* Steps of a look last for a window: the pace of two steps ago was kept for the one before. */
static bool was_more_before(const struct probe *p, float count, float last)
{
    float kept = p->limit * (1.0f + p->lean / TWO_STEPS);
    float before_s = (count - 1.0f) * p->window_s - fb_probe_late_s(p);

    assert(count > 1.0f);
    return p->lean > 0.0f && before_s >= p->window_s + SETTLED_S && kept * p->window_s > last;
}

bool fb_probe_explains(const struct probe *p, const struct reading *r, float window_s)
{
    float count = fb_probe_openings(p, r, window_s);

    assert(r->accepted >= 0.0f);
    if (count <= 1.0f)
        return count > 0.0f;
    float last = SAME * in_last(r, window_s, count, fb_probe_late_s(p)) + p->unit;
    if (window_s == p->window_s && was_more_before(p, count, last))
        return false;
    return r->accepted - last <= (count - 1.0f) * last;
}

float fb_probe_explaining(const struct probe *p, const struct reading *r, float from_s)
{
    float longer_s = fb_probe_window_from(from_s);
    float window_s = 0.0f;

    assert(from_s >= 0.0f);
    while (longer_s > window_s) {
        window_s = longer_s;
        if (fb_probe_explains(p, r, window_s))
            return window_s;
        longer_s = fb_probe_window_from(1.01f * window_s);
    }
    return 0.0f;
}

float fb_probe_quota_between(const struct probe *p, const struct reading *r, float window_s)
{
    float count = fb_probe_openings(p, r, window_s);

    assert(count >= 1.0f);
    if (count <= 1.0f)
        return r->accepted;
    return fb_maxf(in_last(r, window_s, count, 0.0f), r->accepted / count);
}
