/* SPDX-License-Identifier: MIT */
/*
 * probe_line.c - too many at a time at a provider that is behind an uneven line.
 *
 * Most of what is in flight is on the line, and by chance too many of it are there at a time: one
 * is refused now and then, at any pace, and what was under way with it is let through. A limit on
 * requests refuses some of that as well: of a climb that is 15 % too fast, one in seven. So what
 * was under way at refusals is weighed, unless those of a look just above a limit that is known:
 * each that is let through speaks for it, each that is refused much more against it.
 *
 * Invariant: the evidence is used only as long as nobody tells what is left; its place is taken by
 * that then.
 */
#include <assert.h>

#include "core/adapt/probe_parts.h"

#define LINE_MOST_S    0.18f /* latency: what takes longer is in service, not under way */
#define LINE_LEAST     6     /* under way: of fewer none are too many by chance */
#define REFUSED_WEIGHS 11.0f /* times as much as one that was let through */
#define LINE_PROOF     18.0f /* let through, and none refused */
#define NEAR_LIMIT     0.25f /* above it: refused one at a time anyway, as a raise on trial is */
#define CAP_LEAST      3     /* in flight, at the least */
#define LINE_HINT      6.0f  /* let through beside the only one that was refused */
#define HINT_SHARE     0.67f /* of what the pace has under way, where there is no more proof */
#define WIDER          0.03f /* margin in addition, for what begins anew: to at least ... */
#define WIDER_FROM     0.1f  /* ... this ... */
#define WIDER_MOST     0.12f /* ... and at most this */

static int under_way(const struct probe *p)
{
    return 1 + p->also_accepted + p->also_refused;
}

static bool is_line(const struct probe *p)
{
    if (!fb_probe_is_uneven(p) || p->latency_s > LINE_MOST_S || fb_probe_by_second(p))
        return false;
    return p->window_s <= 0.0f && p->failed_pings == 0 && under_way(p) >= LINE_LEAST;
}

void fb_probe_note_line(struct probe *p)
{
    bool near = (p->lean > 0.0f && p->lean < NEAR_LIMIT) || p->phase == PROBE_TRIAL;

    if (near || !is_line(p))
        return;
    assert(p->line >= 0.0f);
    float proof = p->line + (float)p->also_accepted - REFUSED_WEIGHS * (float)p->also_refused;
    p->line = fb_maxf(0.0f, fb_minf(proof, LINE_PROOF));
}

bool fb_probe_on_line(const struct probe *p)
{
    return is_line(p) && p->line >= LINE_PROOF;
}

/*
 * A third of what was under way: more is on the line than there, and what is learned shall hold in
 * the next run, too. Without that proof a half. What was sent before does not wear it off.
 */
void fb_probe_bound_line(struct probe *p)
{
    int third = under_way(p) / 3;
    int cap = fb_probe_on_line(p) ? (third > CAP_LEAST ? third : CAP_LEAST) : p->crowd_min / 2;

    assert(cap >= CAP_LEAST && cap < NO_CROWD);
    p->crowd_min = (uint8_t)(cap + 1);
    p->crowd = CROWD_GUESS;
    p->surprises = 0;
}

static void widen_margin(struct probe *p)
{
    float wider = fb_minf(fb_maxf(p->margin + WIDER, WIDER_FROM), WIDER_MOST);

    assert(wider > 0.0f && wider < 1.0f);
    p->margin = fb_maxf(p->margin, wider);
    p->lean = -p->margin;
    p->rate = fb_minf(p->rate, p->limit * (1.0f + p->lean));
}

/* What was seen says that it may be too many at a time, and no more than that. */
static void bound_at_hint(struct probe *p)
{
    float cap = fb_maxf(HINT_SHARE * p->rate * p->latency_s / p->unit, CAP_LEAST);

    assert(p->line >= LINE_HINT);
    if (fb_probe_crowded(p) || cap >= NO_CROWD - 1)
        return;
    p->crowd_min = (uint8_t)(cap + 1.0f);
    p->crowd = CROWD_GUESS;
}

void fb_probe_begin_on_line(struct probe *p)
{
    assert(p->lean < 0.0f && p->latency_s >= 0.0f);

    if (fb_probe_was_told(p) || 1000.0f * p->sway_s < UNEVEN_MS)
        return;
    widen_margin(p);
    if (p->line >= LINE_HINT)
        bound_at_hint(p);
}
