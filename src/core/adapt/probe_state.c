/* SPDX-License-Identifier: MIT */
/*
 * probe_state.c - the belief lasts, the measurement under way does not.
 *
 * What was counted between two empty moments is void when nobody counted for a while, and answers
 * to what was out are lost. So the belief is read, and measuring begins afresh as it does after
 * idling: just under the limit, with the next look upward some hundred requests away. An episode
 * is not resumed, but its pause is: nothing leaves before it is over.
 */
#include <assert.h>

#include "core/adapt/probe_parts.h"
#include "core/controller.h"
#include "core/field.h"

#define LIMIT_MAX      1e9
#define MANY           1e12
#define AGE_MOST_S     4e9    /* more than a hundred years */
#define SOON_S         -3.2e6 /* what is to come is at most 37 days away */
#define WINDOW_LEAST_S 0.001f /* no shorter one is ever believed: it is damage */
#define BOUNDS         5      /* the last state of trust in headers */
#define SWAY_MOST_S    0.127f /* more is the pause of an episode that was not over */

static_assert(sizeof(struct probe) == 248, "another member: does it last? Then it needs a row");

#define REAL(member, least, most)  FB_FIELD(struct probe, member, FIELD_FLOAT, least, most)
#define COUNT(member, least, most) FB_FIELD(struct probe, member, FIELD_UINT8, least, most)
#define FLAG(member)               FB_FIELD(struct probe, member, FIELD_BOOL, 0, 1)
#define SINCE(member)              FB_FIELD(struct probe, member, FIELD_INSTANT, 0, AGE_MOST_S)
#define ABOUT(member)              FB_FIELD(struct probe, member, FIELD_INSTANT, SOON_S, AGE_MOST_S)

const struct field fb_probe_fields[FB_PROBE_FIELDS] = {
    REAL(limit, 1e-6, LIMIT_MAX),
    REAL(burst, 0, MANY),
    REAL(window_s, 0, 86400),
    REAL(limit_before, -86400, MANY),
    REAL(unit, 1, MANY),
    REAL(noise_gap, 0, MANY),
    REAL(soft_mean, 0, 200),
    REAL(soft_proof, 0, 4),
    REAL(crowd, 0, MANY),
    REAL(rate, 1e-9, LIMIT_MAX),
    REAL(lean, -0.5, LIMIT_MAX),
    REAL(margin, 0.001, 0.5),
    REAL(evidence, 0, MANY),
    REAL(share, 0.01, 1),
    REAL(told, 0, MANY),
    REAL(told_left, -1 - 86400, MANY),
    REAL(kept_limit, 0, MANY),
    REAL(latency_s, 0, MANY),
    REAL(sway_s, 0, MANY),
    SINCE(opened_ns),
    SINCE(changed_ns),
    FB_FIELD(struct probe, look_ns, FIELD_INSTANT, -AGE_MOST_S, AGE_MOST_S),
    ABOUT(block_ns),
    ABOUT(told_until_ns),
    ABOUT(told_reset_ns),
    FB_FIELD(struct probe, since_refusal, FIELD_INT32, 0, INT32_MAX),
    COUNT(crowd_min, 1, NO_CROWD),
    COUNT(phase, PROBE_FIRST, PROBE_DOUBT),
    COUNT(reading, 0, 14),
    COUNT(surprises, 0, UINT8_MAX),
    COUNT(doubts, 0, DOUBTS_MAX),
    COUNT(verified, 0, BOUNDS),
    COUNT(told_wait_s, 0, UINT8_MAX),
    FLAG(burst_found),
    FLAG(noise_known),
    FLAG(moves),
};

/* A climb that was refused and slowed down is not gone on with: what was kept is the limit. */
static void settle_climb(struct probe *p)
{
    p->phase = PROBE_SETTLED;
    p->limit = p->rate;
    p->lean = -p->margin;
    p->evidence = 100.0f;
    p->surprises = 0;
}

/* A look upward is not gone on with: back to where it began. Whether there was one. */
static bool stop_looking(struct probe *p)
{
    bool looked = p->lean > 0.0f;

    if (p->phase == PROBE_FIRST && p->surprises > 0) {
        settle_climb(p); /* which says what it rests on */
        return true;
    }
    if (p->phase == PROBE_FIRST) {
        p->lean = 1.0f;
        return false;
    }
    if (looked)
        p->evidence = 200.0f; /* it was about what held meanwhile */
    if (p->phase == PROBE_DOUBT && p->lean > 0.0f)
        p->limit *= 2.0f; /* it was halved for the climb */
    p->lean = -p->margin;
    return looked;
}

static float window_or_none(float window_s)
{
    assert(window_s >= 0.0f);

    return window_s < WINDOW_LEAST_S ? 0.0f : window_s;
}

/*
 * This process may be done before a look is worth its refusals, so that the first is put off. Once
 * the limit has held for that long it is not, or whoever is done soon each time would never look.
 * What was counted of a window from few is not left alone either: it stores nothing.
 */
static void begin_anew(struct probe *p, int64_t now_ns, bool looked)
{
    int64_t look_ns = p->look_ns;
    bool held = (float)p->since_refusal >= REFUSAL_WORTH;
    bool in_time = p->window_s > 0.0f && (held || p->evidence < COUNTED);

    assert(p->window_s >= 0.0f);
    p->put_off = held;
    if (fb_probe_crowded(p))
        p->since_refusal = 0; /* nor is a bound looked at soon */
    fb_probe_count_anew(p, now_ns);
    if (in_time && !looked) /* as it was planned; one that was under way comes later */
        p->look_ns = fb_max64(look_ns, fb_after(now_ns, fb_span(2.0f * p->window_s)));
}

/* How uneven it was then. */
static void note_line(struct probe *p)
{
    assert(p->sway_s >= 0.0f);

    if (p->sway_s > SWAY_MOST_S) { /* nor was the wait known where this lies in an episode */
        p->sway_s = 0.0f;
        p->told_wait_s = 0;
    }
    if (fb_probe_spaced(p)) /* what is left of its gaps is by that */
        p->log.sway_ms = (unsigned)(1000.0f * p->sway_s) & 127u;
    if (p->phase != PROBE_FIRST)
        fb_probe_begin_on_line(p);
}

/* What is kept of headers is a limit and a window; what was spent of one is counted anew. */
static void forget_half(struct probe *p)
{
    if (fb_probe_kept_s(p) >= WINDOW_LEAST_S && p->kept_limit > 0.0f)
        return;
    if (!fb_probe_spaced(p))
        p->spent = 0.0f;
    p->told_left = p->told_left < -1.0f ? -1.0f : p->told_left;
}

void fb_probe_resume(struct probe *p, int64_t now_ns)
{
    assert(p->limit > 0.0f && p->margin > 0.0f && p->episode == EPISODE_NONE);

    p->window_s = window_or_none(p->window_s);
    p->limit_before = fb_maxf(p->limit_before, 0.0f); /* when that opened is not known any more */
    bool looked = stop_looking(p);
    if (p->ceiling > 0.0f)
        p->limit = fb_minf(p->limit, p->ceiling);
    p->rate = fb_minf(p->rate, p->limit * (1.0f + p->lean));
    p->answered = p->phase != PROBE_FIRST;
    p->opening_seen = p->window_s > 0.0f && p->opened_ns != FB_LONG_AGO;
    if (p->window_s <= 0.0f)
        p->verified = 0;
    if (p->told <= 0.0f)
        p->told_until_ns = FB_LONG_AGO;
    /* For how long it was away is known to the second: what is told of that window is no older. */
    p->told_reset_ns = fb_max64(FB_LONG_AGO, p->told_reset_ns - FB_NS_PER_S);
    forget_half(p);
    note_line(p);
    p->next_ns = now_ns;
    assert(p->rate > 0.0f && p->rate <= (float)LIMIT_MAX && p->lean <= 1.0f);
    begin_anew(p, now_ns, looked);
}

void fb_probe_learned(const union controller_state *c, const struct pace *pace,
                      struct learned *ret_learned)
{
    const struct probe *p = &c->probe;
    float pause_s = p->window_s > 0.0f ? p->window_s : CUSHION * p->unit / p->rate;

    assert(p->rate > 0.0f);
    ret_learned->reduction = p->ceiling > 0.0f ? 1.0 - pace->rate / (double)p->ceiling : 0.0;
    ret_learned->recovery_ns = fb_span((double)pause_s);
    if (p->phase == PROBE_FIRST && fb_probe_kept_s(p) <= 0.0f)
        return;
    ret_learned->confidence = fb_confidence(p->since_refusal);
    ret_learned->changed_ns = p->changed_ns;
}
