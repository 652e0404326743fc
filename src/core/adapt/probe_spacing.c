/* SPDX-License-Identifier: MIT */
/*
 * probe_spacing.c - a limit that stores nothing: a request has to follow the one before by so long.
 *
 * Such a provider refuses the first request that comes too soon, whatever went before, and lets
 * every one through that does not. So no count is needed: a pace that lasted and one that was
 * refused at once have the limit between them, and halving what lies between finds it. Anything
 * that stores lets some through first; refused at once twice, that would be chance.
 *
 * On the way a gap shrinks by some: the more of it is left, the more rarely it is too short. What
 * lasted for a while bears that in part; for good a few times the deviation of latencies is left.
 *
 * Invariant: no limit is believed above a pace that was refused.
 */
#include <assert.h>

#include "core/adapt/probe_parts.h"
#include "core/adapt/probe_reading.h"

#define FEW_BETWEEN    0.03f /* of the limit: the two paces are as near as need be ... */
#define SWAYS_NEAR     1.5f  /* ... or as the deviation of latencies allows, in so many of them */
#define SWAYS_LEFT     3.4f  /* of a gap, so many are left for good ... */
#define MOST_LEFT      0.3f  /* ... but no more of the limit than this */
#define SWAYS_SURE     8.0f  /* by more than that no gap shrinks */
#define TESTED         8     /* requests: a pace lasts, where gaps hardly shrink ... */
#define TESTED_SWAY    40    /* ... and where they do */
#define FILLED_UP      40    /* requests without a refusal: what stores some has some by then */
#define CLOSE          0.8f  /* of the gap that was refused: a pair is no further apart */
#define FAR_ABOVE      2.0f  /* the limit: what was refused there hardly says where it is */
#define LATENCY_MOST_S 0.5f  /* of longer ones a part is in service */
#define HALF           0.5f  /* of a pace that was refused, where no slower one is known */

/* Nothing else explains how it refuses, nor lies where `too_fast` is. */
static bool may_be_spaced(const struct probe *p)
{
    bool told = p->told_left != -1.0f; /* or kept what was */

    return p->window_s <= 0.0f && !told && !fb_probe_by_second(p);
}

bool fb_probe_spaced(const struct probe *p)
{
    return p->burst_found && p->burst <= 0.0f && may_be_spaced(p) && p->too_fast > 0.0f;
}

/* By how much latencies deviated before the last refusal; told in whole milliseconds. */
static float sway_s(const struct probe *p)
{
    return ((float)p->log.sway_ms + 0.5f) / 1000.0f;
}

static float gap_s(const struct probe *p, float pace)
{
    assert(pace > 0.0f);

    return p->unit / pace;
}

/* Whether a gap at this pace cannot be too short by chance where the other one lasts. */
static bool is_sure(const struct probe *p, float pace, float lasting)
{
    return gap_s(p, lasting) - gap_s(p, pace) > SWAYS_SURE * sway_s(p);
}

/* ---- is it one? ---- */

/* What was let through at the pace that was refused, but for the ping and what was under way. */
static int let_through(const struct probe *p)
{
    return p->step_count - 1 - p->also_accepted;
}

/* Refused at once: a hint. The first gap of a step is in part of the step before. */
static bool is_at_once(const struct probe *p, const struct reading *r)
{
    bool alone = p->failed_pings == 0 && p->also_refused == 0 && p->crowd_min <= 2;
    bool first = p->lean > 0.0f && r->grants > 1;

    return alone && !p->told_when && !p->noise_known && let_through(p) <= (first ? 1 : 0);
}

static void forget(struct probe *p)
{
    assert(fb_probe_spaced(p));

    p->burst_found = false;
    p->too_fast = 0.0f;
}

static void note_hint(struct probe *p, const struct reading *r)
{
    if (is_at_once(p, r))
        p->too_fast = p->too_fast > 0.0f ? fb_minf(p->too_fast, r->rate) : r->rate;
    else if (let_through(p) >= TESTED)
        p->too_fast = 0.0f;
}

/* A step of a look may go higher, but none of them is of just this height. */
static bool is_pair_lean(const struct probe *p)
{
    return p->lean == FB_PAIR_LEAN;
}

/* The pair was refused, where all that is stored was there. Else it was the smallest of looks. */
static void note_pair(struct probe *p)
{
    if (let_through(p) > 0 || p->failed_pings > 0 || p->told_when) {
        p->too_fast = 0.0f;
        p->lean = FIRST_LEAN;
        return;
    }
    p->burst_found = true;
    p->burst = 0.0f;
}

static bool is_pair(const struct probe *p)
{
    return is_pair_lean(p) && p->phase == PROBE_SETTLED && p->too_fast > 0.0f;
}

void fb_probe_note_spacing(struct probe *p, const struct reading *r)
{
    if (!may_be_spaced(p))
        return;
    if (!fb_probe_spaced(p) && is_pair(p))
        note_pair(p);
    else if (!fb_probe_spaced(p))
        note_hint(p, r);
    else if (!fb_probe_was_spaced(p, r))
        forget(p);
}

/*
 * The second of them waits for the answer to the first, and then for what is left of its gap, at
 * the pace of the pair. If that is no closer than what was refused it proves nothing, but where
 * that was far above the limit it is tried all the same.
 */
static bool is_close(const struct probe *p)
{
    float answered_s = p->latency_s * FB_PAIR_LEAN / (1.0f + FB_PAIR_LEAN);
    float apart_s = answered_s + gap_s(p, p->limit * (1.0f + FB_PAIR_LEAN));

    assert(p->too_fast > 0.0f);
    return apart_s < CLOSE * gap_s(p, fb_minf(p->too_fast, FAR_ABOVE * p->limit));
}

/* Whether a refusal of it would prove anything: it is not noisy, and gaps arrive as they leave. */
static bool is_quiet(const struct probe *p)
{
    if (fb_probe_noisy(p) || p->noise_known)
        return false;
    return !fb_probe_is_uneven(p) && p->latency_s <= LATENCY_MOST_S;
}

bool fb_probe_may_pair(const struct probe *p)
{
    if (p->too_fast <= 0.0f || p->phase != PROBE_SETTLED || p->lean >= 0.0f)
        return false;
    if (!may_be_spaced(p) || fb_probe_spaced(p) || !is_quiet(p))
        return false;
    return p->step_count >= FILLED_UP && is_close(p);
}

bool fb_probe_pairs(const struct probe *p)
{
    return is_pair(p) && may_be_spaced(p) && !fb_probe_spaced(p);
}

/* ---- which one? ---- */

/* Whether it is worth trying a pace between the two. */
static bool is_open(const struct probe *p)
{
    float near = SWAYS_NEAR * sway_s(p) * p->limit / p->unit;

    return p->too_fast > p->limit * (1.0f + fb_maxf(FEW_BETWEEN, near));
}

float fb_probe_lean_of_spacing(const struct probe *p)
{
    assert(fb_probe_spaced(p));

    if (is_open(p))
        return __builtin_sqrtf(p->too_fast / p->limit) - 1.0f;
    return fb_maxf(FIRST_LEAN, sway_s(p) * p->limit / p->unit);
}

int32_t fb_probe_tests_of_spacing(const struct probe *p)
{
    return is_sure(p, p->rate, p->limit) ? TESTED : TESTED_SWAY;
}

static void settle(struct probe *p, float limit, const struct answer *a)
{
    float left_s = SWAYS_LEFT * sway_s(p);
    int tests = fb_probe_tests_of_spacing(p);

    p->margin = fb_maxf(MARGIN, fb_minf(left_s / (left_s + gap_s(p, limit)), MOST_LEFT));
    p->surprises = 0;
    p->cuts = 1;
    p->looked = true;
    fb_probe_settle(p, limit, 200.0f, a);
    if (is_open(p)) /* soon */
        p->look_ns = fb_after(a->now_ns, fb_span((float)tests * gap_s(p, p->rate)));
}

bool fb_probe_halves_spacing(const struct probe *p)
{
    return fb_probe_spaced(p) && p->phase != PROBE_FIRST && p->lean > 0.0f && is_open(p);
}

void fb_probe_keep_spacing(struct probe *p, const struct answer *a)
{
    assert(fb_probe_halves_spacing(p));

    settle(p, p->rate, a);
}

/* ---- as a reading ---- */

/* A pace that was kept is refused once: a gap was too short, unless too much of it was left. */
static bool shrank(const struct probe *p, const struct reading *r)
{
    return r->grants >= NEAR && !is_sure(p, p->limit, r->rate);
}

/* The pace that lasted before the one that was refused. */
static float lasted(const struct probe *p)
{
    bool steps = p->lean > 0.0f && !is_pair_lean(p) && p->phase != PROBE_FIRST;

    return steps ? fb_maxf(p->limit, p->held) : p->limit;
}

bool fb_probe_was_spaced(const struct probe *p, const struct reading *r)
{
    if (!fb_probe_spaced(p) || p->failed_pings > 0)
        return false;
    return p->lean > 0.0f || let_through(p) <= 0 || shrank(p, r);
}

void fb_probe_read_spaced(struct probe *p, const struct reading *r)
{
    float limit = lasted(p);

    assert(p->too_fast > 0.0f);
    if (p->lean > 0.0f) {
        p->too_fast = is_pair_lean(p) ? fb_minf(p->too_fast, r->rate) : r->rate;
    } else if (let_through(p) <= 0 && r->grants < NEAR) {
        p->too_fast = r->rate;
        limit = HALF * r->rate;
    } else {
        limit = p->unit / (gap_s(p, p->limit) + sway_s(p));
        p->too_fast = fb_maxf(p->too_fast, limit);
    }
    settle(p, fb_minf(limit, r->rate), r->a);
}
