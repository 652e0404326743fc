/* SPDX-License-Identifier: MIT */
/*
 * probe_windows.c - what an episode says about a window that was exhausted.
 *
 * N requests fit between two openings. How long a window is shows in how long it stays shut, and
 * people use round ones; where it is told when it opens, two openings are whole windows apart.
 *
 * Invariant: no window is believed to be shorter than it was seen to be shut.
 */
#include <assert.h>

#include "core/adapt/probe_parts.h"
#include "core/adapt/probe_reading.h"

#define HOUR_S    3600.0f
#define MADE_LATE 20.0f /* requests that a bucket would have made until a ping that is refused */

static void open_window(struct probe *p, const struct answer *a)
{
    assert(a->cost >= 0);

    p->opened_ns = p->pinged_ns;
    p->spent = p->window_s > 0.0f ? (float)a->cost : 0.0f;
    p->echoes = 0;
}

/* Nothing was counted from an opening yet, and that is known to so many seconds. */
static void first_opening(struct probe *p, const struct reading *r)
{
    assert(r->blocked_s >= r->shut_s);

    p->opening_seen = true;
    p->fitted = r->shut_s - r->blocked_s;
    p->stood = false; /* that was about what lies in the same place */
}

void fb_probe_no_window(struct probe *p)
{
    bool is_kept = p->told_left < -1.0f;

    assert(p->window_s >= 0.0f);
    if (p->window_s <= 0.0f && is_kept) /* its limit lies where `spent` does, and stays */
        return;
    if (is_kept) /* what was spent lay there instead */
        p->told_left = -1.0f;
    p->window_s = 0.0f;
    p->opening_seen = false;
    p->limit_before = p->limit; /* `fitted` was there */
    p->too_fast = 0.0f;
}

/*
 * After the first opening it closed again: a bucket makes some meanwhile, and a window holds the
 * same again.
 */
static bool was_again(const struct probe *p, const struct reading *r)
{
    return !p->opening_seen && p->failed_pings > 0 &&
           fb_probe_closed_again(p, r->accepted, r->shut_s);
}

/* All that was under way was refused, and not because the line is uneven or answers are slow. */
static bool refused_all(const struct probe *p)
{
    bool all = p->also_refused >= CLOSED_ROW && p->also_refused >= CLOSED_ROW * p->also_accepted;

    assert(p->latency_s >= 0.0f);
    return all && !p->told_when && !fb_probe_is_uneven(p) && fb_probe_is_quick(p);
}

/*
 * No bucket refuses all that is under way, and is still empty when it must have made some: a window
 * that closed for the first time after it was taken for a bucket.
 */
static bool closed_late(const struct probe *p, const struct reading *r)
{
    bool counts = r->accepted >= 30.0f * p->unit && r->shut_s <= r->open_s;

    assert(p->limit > 0.0f);
    if (p->window_s > 0.0f || p->phase == PROBE_FIRST || p->failed_pings == 0)
        return false;
    if (!counts || !refused_all(p) || r->shut_s * p->limit < MADE_LATE * p->unit)
        return false;
    return fb_probe_explaining(p, r, r->shut_s) > 0.0f;
}

/* It was shut no longer than its window, or the openings that were told say how long that is. */
static bool is_known_window(const struct probe *p, const struct reading *r)
{
    return p->opening_seen && (r->shut_s <= p->window_s || r->window_s > 0.0f);
}

bool fb_probe_was_shut(const struct probe *p, const struct reading *r)
{
    float least_s = p->told_when ? 1.2f * fb_secs(WAIT_BLUNT_NS) : SHUT_LEAST_S;

    if (fb_probe_closed(p) || was_again(p, r) || closed_late(p, r))
        return true;
    if (is_known_window(p, r))
        return false;
    if (r->blocked_s <= fb_maxf(least_s, 4.0f * p->unit / r->rate))
        return false;
    return p->failed_pings > 1 ||
           (p->phase == PROBE_FIRST && r->shut_s > 5.0f && r->blocked_s >= PATIENCE_S);
}

/* A refusal never raises the limit above the pace that was refused. */
static float not_above(const struct probe *p, float limit, const struct reading *r)
{
    return fb_maxf(DROP * p->limit, fb_minf(limit, fb_maxf(p->limit, r->rate)));
}

/* All since the start fitted into it. */
static float limit_since_start(struct probe *p, const struct reading *r)
{
    float total_s = fb_secs(p->refused_ns - p->total_ns);
    float limit = (p->total - (float)r->a->cost) / fb_maxf(p->window_s, total_s);

    assert(p->window_s > 0.0f);
    /* Several windows have passed and the pace rose all the time: it lies in between. */
    if (total_s > p->window_s && r->rate > limit)
        limit = fb_minf(__builtin_sqrtf(limit * r->rate), limit * total_s / p->window_s);
    return limit;
}

/*
 * Accepted from when it opened until it closed. Just as many as the time before are one quota: it
 * did not open in between, and its window is as long as it was open and shut.
 */
static bool note_fitted(struct probe *p, const struct reading *r)
{
    bool whole = p->opening_seen && p->empty_ns <= p->opened_ns; /* nobody paused meanwhile */
    bool same = whole && fb_probe_just_as_many(p, r->accepted, p->fitted);

    p->fitted = whole ? r->accepted : 0.0f;
    p->stood = false; /* that was about what lies in the same place */
    return same;
}

/*
 * The window that ended the first climb. Its length is a guess: it is soon looked at. What opens
 * within seconds is paced like a bucket that stores nothing.
 */
static void read_closed(struct probe *p, const struct reading *r)
{
    bool hour = r->shut_s <= HOUR_S && r->blocked_s >= HOUR_S; /* far more common than others */
    float hour_s = fb_maxf(r->shut_s, 0.501f * HOUR_S);
    float shut_s = hour ? hour_s : 0.5f * (r->shut_s + r->blocked_s);
    struct closed c = fb_probe_guess_closed(p, p->total - (float)r->a->cost, shut_s);
    bool is_long = c.window_s >= SHUT_LEAST_S;

    assert(c.window_s > 0.0f && c.fitted >= 0.0f);
    p->surprises = 0;
    p->cuts = 1;
    fb_probe_settle(p, not_above(p, c.fitted / c.window_s, r), is_long ? FEW * p->unit : 200.0f,
                    r->a);
    p->looked = true;
    if (!is_long)
        return;
    p->window_s = c.window_s;
    open_window(p, r->a);
    first_opening(p, r);
    p->total_ns = p->opened_ns;
    p->total = p->spent;
}

/* It is known exactly what fits into a window: nobody need look soon. */
static void settle_exactly(struct probe *p, float limit, const struct reading *r)
{
    fb_probe_settle(p, not_above(p, limit, r), 200.0f, r->a);
    float many_s = REFUSAL_WORTH * p->unit / p->rate;
    p->look_ns = fb_max64(p->look_ns, fb_after(r->a->now_ns, fb_span(many_s)));
}

/*
 * The shortest window that is long enough for both, from when it was open at the latest: if it is
 * longer the next refusal tells, and what fits in is known.
 */
static void read_again(struct probe *p, const struct reading *r)
{
    float open_s = fb_probe_open_s(p, r->accepted);
    float fitted = fb_probe_fitted(p, r->accepted);

    assert(fitted > 0.0f && open_s >= 0.0f);
    p->window_s = fb_probe_window_from(0.995f * (open_s + r->shut_s));
    p->cuts = 1;
    settle_exactly(p, fitted / p->window_s, r);
    open_window(p, r->a);
    first_opening(p, r);
    p->total_ns = p->opened_ns;
    p->total = fitted + p->spent; /* so many fit: to compare with */
}

/* It is at least as long as it was seen to be shut, and people use round windows. Its limit. */
static float read_length(struct probe *p, const struct reading *r, float shut_s)
{
    bool same = note_fitted(p, r);
    float whole_s = same ? 0.97f * (r->open_s + r->shut_s) : 0.0f;

    p->window_s = fb_probe_window_from(fb_maxf(shut_s, whole_s));
    return same ? r->accepted / p->window_s : limit_since_start(p, r);
}

/* What lies between two openings is known. What fits in was counted, if it was one window. */
static void believe(struct probe *p, const struct reading *r, float window_s)
{
    bool one = fb_probe_openings(p, r, window_s) <= 1.0f;
    float quota = fb_probe_quota_between(p, r, window_s);

    assert(window_s > 0.0f);
    p->window_s = window_s;
    settle_exactly(p, quota / window_s, r);
    open_window(p, r->a);
    first_opening(p, r);
    if (one)
        p->fitted = r->accepted;
    p->surprises = 0;
    p->total_ns = p->opened_ns;
    p->total = p->spent;
}

/*
 * The length of the window that ended the first climb was a guess. Where that does not explain what
 * was seen since, it is the next one that does.
 */
static bool mend(struct probe *p, const struct reading *r)
{
    bool told = r->window_s > 0.0f || p->told_reset_ns != FB_LONG_AGO;

    if (fb_probe_late_s(p) <= 0.0f || told)
        return false;
    if (r->accepted < 30.0f * p->unit || r->shut_s > r->open_s)
        return false;
    if (fb_probe_explains(p, r, p->window_s))
        return false;
    float window_s = fb_probe_explaining(p, r, 1.01f * p->window_s);
    if (window_s > 0.0f)
        believe(p, r, window_s);
    return window_s > 0.0f;
}

static void read_late(struct probe *p, const struct reading *r)
{
    believe(p, r, fb_probe_explaining(p, r, r->shut_s));
    p->cuts = 1;
    p->looked = true;
}

/* Whether when it closed and opened tells which window it is. */
static bool read_openings(struct probe *p, const struct reading *r)
{
    if (fb_probe_closed(p))
        read_closed(p, r);
    else if (mend(p, r))
        return true;
    else if (closed_late(p, r))
        read_late(p, r);
    else if (was_again(p, r))
        read_again(p, r);
    else
        return false;
    return true;
}

void fb_probe_read_shut(struct probe *p, const struct reading *r)
{
    if (read_openings(p, r))
        return;
    bool short_first = !p->opening_seen && r->shut_s < 30.0f;
    /* A minute was waited for: if it is a part of that the count is right all the same. */
    bool guessed = short_first && r->blocked_s >= 60.0f;

    assert(r->blocked_s > 0.0f && r->shut_s <= r->blocked_s);
    float limit = read_length(p, r, guessed ? 60.0f : r->shut_s);
    fb_probe_settle(p, not_above(p, limit, r), guessed ? 0.0f : r->accepted, r->a);
    open_window(p, r->a);
    p->opening_seen = true;
    if (!short_first) {
        p->total_ns = p->opened_ns;
        p->total = p->spent;
    }
}

bool fb_probe_in_window(const struct probe *p, const struct reading *r)
{
    (void)r;
    return p->window_s > 0.0f;
}

/* Whether the count from opening to opening is a whole one. */
static bool cycle_counts(const struct probe *p, const struct reading *r)
{
    assert(p->window_s > 0.0f && p->limit > 0.0f);

    return r->cycle > 0.7f * p->limit || r->open_s >= 0.5f * p->window_s ||
           r->open_s + r->blocked_s >= 0.9f * p->window_s;
}

/* A pace that held for whole windows was far too fast: they are longer than was believed. */
static bool is_too_short(const struct probe *p, const struct reading *r)
{
    return r->cycle < 0.5f * p->limit && p->window_s < 60.0f && p->told_reset_ns == FB_LONG_AGO;
}

/*
 * One quota was counted in a window that was seen to open: as many as in the one before, or it
 * opened when it was expected to. The window is the shortest that may be, so a refusal would tell.
 */
static bool is_one_quota(const struct probe *p, const struct reading *r)
{
    if (!p->opening_seen || r->accepted < 30.0f * p->unit)
        return false;
    if (fb_probe_quota_again(p, r->accepted))
        return true;
    return p->failed_pings == 0 && fb_probe_in_one_window(p) && !is_too_short(p, r);
}

/* Whether all of it was accepted in the window that was seen to open: it is as long as that. */
static bool is_in_one(const struct probe *p, const struct reading *r)
{
    if (r->open_s < 1.2f * p->window_s && fb_probe_in_one_window(p))
        return true;
    return p->opening_seen && fb_probe_quota_same(p, r->accepted);
}

static void read_exhausted(struct probe *p, const struct reading *r)
{
    float seen = fb_probe_window_from(0.97f * ((p->opening_seen ? r->open_s : 0.0f) + r->shut_s));
    bool same = note_fitted(p, r);
    bool one = same || is_one_quota(p, r);

    assert(p->lean <= 0.0f);
    if (seen > p->window_s && (same || is_in_one(p, r)))
        p->window_s = seen;
    else if (!one && is_too_short(p, r))
        p->window_s = fb_probe_window_from(2.0f * p->window_s);
    float quota = r->accepted / fb_maxf(p->window_s, r->open_s);
    if (one)
        settle_exactly(p, quota, r);
    else /* one that was spent at once counts exactly, too */
        fb_probe_settle_few(p, not_above(p, p->quotas > 0 ? quota : r->cycle, r), r);
}

/*
 * Refused while looking: what a whole window held is the limit, or what was counted in this one.
 * All of it, if it is the first that was seen to open.
 */
static void read_looked(struct probe *p, const struct reading *r)
{
    bool late = fb_probe_late_s(p) > 0.0f && p->held <= p->limit;
    bool all = late && fb_probe_openings(p, r, p->window_s) == 1.0f;
    float counted = fb_maxf(r->cycle, (p->spent - (float)r->a->cost) / p->window_s);
    float least = fb_maxf(fb_maxf(p->limit, p->held), fb_minf(counted, r->rate));

    assert(p->lean > 0.0f && p->window_s > 0.0f);
    p->fitted = fb_maxf(p->fitted, 0.0f);
    if (all)
        settle_exactly(p, r->accepted / p->window_s, r);
    else
        fb_probe_settle(p, least, 200.0f, r->a);
}

void fb_probe_read_in_window(struct probe *p, const struct reading *r)
{
    assert(p->window_s > 0.0f);

    if (mend(p, r))
        return;
    if (p->lean > 0.0f) {
        read_looked(p, r);
    } else if (r->window_s > 0.0f) {
        p->window_s = r->window_s;
        settle_exactly(p, r->accepted / r->whole_s, r);
    } else if (cycle_counts(p, r)) {
        read_exhausted(p, r);
    } else if (p->echoes < 3) {
        p->echoes++; /* an old burst still counts there: sit it out, and go on counting */
        return;
    } else { /* it opens for a few only: that is no window */
        fb_probe_no_window(p);
        fb_probe_settle_few(p, not_above(p, r->cycle, r), r);
        fb_probe_note_stored(p);
    }
    open_window(p, r->a);
}
