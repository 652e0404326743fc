/* SPDX-License-Identifier: MIT */
/*
 * probe_headers.c - limit, remaining and reset, as far as they prove trustworthy.
 *
 * What is left until the reset, evenly spent, is a pace (`told`). It bounds the pace from above;
 * once the climb has reached it without a refusal it IS the pace, and replaces guessing. It is
 * checked once, by going a little faster than it allows: a second answer accepted at "0 left"
 * means that it is understated, and it is dropped. A refusal with room left means that there is
 * another limit, or that it is overstated: from then on it is a bound only.
 *
 * Others may use the same quota. What is ours of what was used is ours of what is left.
 *
 * The reset is on somebody else's clock. A window is seen to open when `remaining` rises; where
 * the reset told and the opening seen disagree, the opening counts.
 */
#include <assert.h>

#include <flyball/flyball.h>

#include "core/adapt/probe_parts.h"

#define DISTRUST_NS (86400 * FB_NS_PER_S)
#define ONE_QUOTA   1.1f   /* answers to the window before are counted in this one */
#define SLID_LEAST  0.999f /* of its pace a window that slides keeps, from one to the next */
#define OVERRUN     0.95f  /* and of that after a refusal */
#define EASED_LEAST 0.6f   /* and of that, while nothing is left */
#define EASED_LONG  0.1f   /* ... where it is longer than FB_SHORT_S */
#define EARLY_MOST  100    /* of more, one that is not used is less than 1 % */
#define FEW_USED    4      /* requests: used by us alone, as far as can be told */
#define SWAY        2.7f   /* times the mean deviation: as far apart as latencies get, about */

static void wait_for_reset(struct probe *p)
{
    assert(p->told_until_ns != FB_LONG_AGO);

    p->block_ns = fb_max64(p->block_ns, fb_after(p->told_until_ns, 5 * FB_NS_PER_MS));
}

/* So much of a short window stays unused. */
static float unused(const struct probe *p, float limit)
{
    assert(limit > 0.0f);

    return fb_maxf(p->unit, 0.02f * limit);
}

static float usable(const struct probe *p, float limit)
{
    return fb_maxf(limit - unused(p, limit), 0.5f * limit);
}

/* What counts is the arrival: with an uneven line the window seems that much longer. */
static float usable_evenly(const struct probe *p, float limit)
{
    float most_s = 0.25f * p->window_s;
    float sway_s = p->episode == EPISODE_NONE ? fb_minf(SWAY * p->sway_s, most_s) : most_s;

    assert(sway_s >= 0.0f && p->window_s > 0.0f);
    return usable(p, limit) * p->window_s / (p->window_s + sway_s);
}

/*
 * More was accepted than is used: what was used first counts no more, while in a window that
 * begins anew all of it would count until all of it comes back.
 */
static bool slides(const struct probe *p, float limit)
{
    float used = limit - p->told_left;

    assert(p->told_own >= 0.0f);
    return p->told_own > used + fb_maxf(4.0f * p->unit, 0.25f * limit);
}

bool fb_probe_slides(const struct probe *p)
{
    assert(p->share > 0.0f);
    return p->told_until_ns != FB_LONG_AGO && slides(p, p->limit * p->window_s / p->share);
}

/*
 * A bucket tells what it holds, and that it is full again within a second: its rate may be several
 * times that. Some is left of it all the time, at a pace that would have used up such a window.
 */
static bool is_store(const struct probe *p, float limit, float whole)
{
    return p->window_s <= 1.0f && slides(p, limit) && p->told_pace > 0.9f * whole &&
           p->told_low > 0.1f * limit;
}

/* Faster while more than half is left, else slower. */
static float pace_of_store(const struct probe *p, float limit, float whole, float pace)
{
    assert(p->told_pace > 0.0f && p->told_low < limit);

    if (p->told_low > 0.5f * limit)
        return fb_maxf(p->told_pace, fb_minf(1.1f * p->told_pace, 1.2f * pace));
    return fb_maxf(whole, 0.95f * p->told_pace);
}

/*
 * What a whole window bears, by the least that was left of this one. It may have been blocked at
 * first, so that its rest was used faster than a whole one could be; and with the last answers
 * outstanding it seems that more was left. But what fits into one quota does not show that the
 * window is any shorter than was told, unless it slides and much was left all the time.
 */
static float pace_borne(const struct probe *p, float limit, float pace)
{
    float whole = usable_evenly(p, limit) / p->window_s;
    float bears = fb_minf(2.0f, usable(p, limit) / (limit - p->told_low));
    bool slid = slides(p, limit);
    bool shorter = p->spent > ONE_QUOTA * limit || (slid && p->told_low > 0.1f * limit);

    assert(p->told_low < limit);
    if (is_store(p, limit, whole))
        return pace_of_store(p, limit, whole, pace);
    pace *= bears >= 1.0f ? 1.02f * bears : bears;
    if (!shorter)
        pace = fb_minf(pace, whole);
    if (!slid)
        return pace;
    /* A stall, or what a bucket had stored, is no measure; no window shorter than 1 s is told. */
    float most = p->window_s > 1.0f ? fb_maxf(whole, 1.25f * p->told_pace) : whole;
    return fb_maxf(SLID_LEAST * fb_minf(p->told_pace, whole), fb_minf(pace, most));
}

float fb_probe_limit_shown(const struct probe *p)
{
    bool is_told = fb_probe_was_told(p) && p->told_until_ns != FB_LONG_AGO;

    if (fb_probe_kept_s(p) > 0.0f)
        return p->kept_limit;
    return is_told ? fb_maxf(p->limit, p->told_pace) : p->limit;
}

bool fb_probe_is_unmet(const struct probe *p)
{
    return p->phase == PROBE_FIRST && !fb_probe_was_told(p) && fb_probe_kept_s(p) <= 0.0f;
}

void fb_probe_window_over(struct probe *p, float limit, float span_s)
{
    assert(p->spent >= 0.0f && limit > 0.0f);

    if (!fb_probe_was_told(p)) {
        p->spent = 0.0f;
        return;
    }
    bool is_gauged = fb_probe_is_short(p) || slides(p, limit);
    if (is_gauged && p->told_low < limit && p->spent >= 4.0f * p->unit && p->late < 0.5f)
        p->told_pace = pace_borne(p, limit, p->spent / fb_maxf(span_s, 0.1f));
    p->told_low = PLENTY;
    p->spent = 0.0f;
}

/* With little left it is slower. Who else uses a longer window has something under way as well. */
static float eased(const struct probe *p, const struct answer *a, float spare)
{
    bool is_short = fb_probe_is_short(p);
    float left = p->told_left - (is_short ? 0.0f : p->unit * (float)a->in_flight);

    assert(spare > 0.0f);
    return fb_maxf(is_short ? EASED_LEAST : EASED_LONG, fb_minf(1.0f, 2.0f * left / spare));
}

/*
 * What slides gives back at the pace at which it was taken, so that an even pace always leaves the
 * same. With nothing left it need not wait for the reset, only for a little to be given back.
 */
static void slide_along(struct probe *p, const struct answer *a)
{
    float limit = (float)a->outcome->limit;
    float whole = usable_evenly(p, limit);

    assert(whole > 0.0f && whole < limit);
    if (p->told_pace <= 0.0f)
        p->told_pace = whole / p->window_s;
    p->told = p->told_pace * eased(p, a, limit - whole);
    p->told_until_ns = fb_after(a->now_ns, fb_span(p->window_s));
}

/*
 * The pace that was found, less when little is left, and none when nothing is. Of what is under
 * way about half was not counted yet when this was told.
 */
static void gauge(struct probe *p, const struct answer *a)
{
    float left = (float)a->outcome->remaining;
    float sure = fb_maxf(0.0f, left - 0.5f * p->unit * (float)a->in_flight);
    float eased = fb_minf(1.0f, sure / (2.0f * unused(p, (float)a->outcome->limit)));

    assert(left >= 0.0f && eased >= 0.0f);
    p->told_low = fb_minf(p->told_low, left);
    if (slides(p, (float)a->outcome->limit)) {
        slide_along(p, a);
        return;
    }
    p->told = fb_maxf(p->told, p->told_pace * eased);
}

/* A step of their clock looks like a window of odd length. */
static bool is_round(float length_s)
{
    float round_s = fb_probe_window_from(0.98f * length_s);

    assert(length_s >= 0.0f);
    return length_s > 0.98f * round_s && length_s < 1.02f * round_s;
}

/* What is left of a window says how long it is, at least; resets are told in whole seconds. */
static float window_told(const struct answer *a)
{
    float left_s = fb_secs(a->outcome->reset_ns - a->now_ns);

    assert(left_s > 0.0f);
    return fb_probe_window_from(fb_maxf(0.0f, left_s - 1.0f));
}

/* Most of what was used, at once: what slides never does, though its resets move on as well. */
static bool came_back(const struct probe *p, const struct fly_outcome *o)
{
    float used = (float)o->limit - p->told_left;

    assert(o->limit > 0 && o->remaining >= 0);
    return (float)o->remaining - p->told_left > fb_maxf(p->unit, 0.5f * used);
}

/* The reset moved on by a part of the window: no other one has begun. */
static bool crept(const struct probe *p, const struct fly_outcome *o)
{
    float moved_s = fb_secs(o->reset_ns - p->told_reset_ns);

    assert(p->told_reset_ns != FB_LONG_AGO && p->window_s > 0.0f);
    return moved_s > 0.0f && moved_s < 0.5f * p->window_s;
}

static bool has_opened(const struct probe *p, const struct fly_outcome *o)
{
    if (fb_probe_is_short(p) || crept(p, o))
        return came_back(p, o);
    return (float)o->remaining > p->told_left;
}

/* The reset has passed, and a window that does not slide would have opened. */
static bool has_slid(const struct probe *p, const struct answer *a)
{
    assert(a->outcome->reset_ns > a->now_ns);

    return !fb_probe_is_short(p) && crept(p, a->outcome) && a->now_ns > p->told_reset_ns;
}

/* Another window began: the reset moved on, or what is left rose and their clock went back. */
static bool is_new_window(const struct probe *p, const struct fly_outcome *o)
{
    float rise = fb_maxf(2.0f, 0.1f * (float)o->limit);

    assert(o->limit > 0 && o->remaining >= 0);
    if (o->reset_ns > p->told_reset_ns + FB_NS_PER_S || (fb_probe_is_short(p) && came_back(p, o)))
        return true;
    return o->reset_ns < p->told_reset_ns - FB_NS_PER_S &&
           (float)o->remaining > p->told_left + rise;
}

/*
 * Told as a span, a reset is as late as its answer: short windows last whole seconds, and one of
 * nine or eleven was rather meant to last ten.
 */
static float length_told(const struct probe *p, const struct fly_outcome *o)
{
    float length_s = fb_secs(o->reset_ns - p->told_reset_ns);

    if (!fb_probe_is_short(p) || length_s <= 0.0f || length_s >= 2.0f * FB_SHORT_S)
        return length_s;
    float whole_s = (float)(int32_t)(length_s + 0.5f);
    float meant_s = fb_probe_window_from(0.88f * whole_s);
    assert(whole_s >= 0.0f && meant_s >= 1.0f);
    return meant_s <= FB_SHORT_S && meant_s < 1.12f * whole_s ? meant_s : whole_s;
}

/*
 * From reset to reset. No window is shorter than what is left of it: that server began anew. Nor
 * has it opened if more was accepted since the last time than was used: it slides, after a stall.
 */
static bool is_length(const struct probe *p, const struct answer *a, float length_s)
{
    float least_s = fb_probe_is_short(p) ? p->window_s : 1.0f;
    float left_s = fb_secs(a->outcome->reset_ns - a->now_ns);
    float used = (float)a->outcome->limit - p->told_left;
    float told_s = fb_secs(a->outcome->reset_ns - p->told_reset_ns); /* not rounded */

    assert(p->told_reset_ns != FB_LONG_AGO);
    if (told_s <= FB_SHORT_S + 0.5f && p->told_own > used + 4.0f * p->unit)
        return false;
    return !slides(p, (float)a->outcome->limit) && length_s >= fb_maxf(least_s, 0.9f * left_s) &&
           (p->verified == UNVERIFIED || is_round(length_s));
}

/* What was found with another length may be too fast for this one. */
static void set_length(struct probe *p, float limit, float length_s)
{
    bool is_other = length_s > p->window_s;

    assert(limit > 0.0f && length_s > 0.0f);
    p->window_s = length_s;
    if (is_other && fb_probe_is_short(p))
        p->told_pace = fb_minf(p->told_pace, usable_evenly(p, limit) / length_s);
}

/*
 * The first that was told of was nearly over, and taken for a short one: the next lasts far longer,
 * at once. (Where it is told when a bucket is full again that time moves by little and little.)
 */
static bool is_longer(const struct probe *p, const struct answer *a, float length_s)
{
    float left_s = fb_secs(a->outcome->reset_ns - a->now_ns);

    assert(left_s > 0.0f && p->window_s > 0.0f);
    return fb_probe_is_short(p) && length_s > 2.0f * p->window_s + 1.0f &&
           left_s > p->window_s + 1.0f && length_s < left_s + 2.0f;
}

/* What is used of it from now on is counted, if nothing was; a ping lies there instead. */
static void note_unused(struct probe *p, const struct fly_outcome *o)
{
    assert(o->limit > 0 && o->remaining >= 0);

    if (p->episode == EPISODE_NONE)
        p->own_all = o->limit - o->remaining <= FEW_USED;
}

/* Nothing is known of it but how long it lasts. */
static void first_told(struct probe *p, const struct fly_outcome *o, int64_t now_ns, float length_s)
{
    assert(length_s > 0.0f && o->remaining >= 0);
    if (p->window_s <= 0.0f) /* a pace lay there, or what was told before */
        p->spent = 0.0f;
    p->window_s = fb_maxf(p->window_s, length_s);
    assert(p->window_s >= 1.0f);
    p->told_own = 0.0f;
    p->told_pace = 0.0f;
    note_unused(p, o);
    if (!fb_probe_is_short(p) || o->limit - o->remaining > FEW_USED)
        return;
    p->opened_ns = now_ns; /* at the latest: nothing was used before */
    p->spent = 0.0f;
    p->told_low = PLENTY;
}

static void new_window(struct probe *p, const struct answer *a)
{
    const struct fly_outcome *o = a->outcome;
    float length_s = length_told(p, o);

    assert(o->reset_ns > a->now_ns);
    if (p->told_reset_ns == FB_LONG_AGO || p->window_s <= 0.0f) {
        first_told(p, o, a->now_ns, window_told(a));
    } else if (is_longer(p, a, length_s)) {
        first_told(p, o, a->now_ns, length_s);
    } else if (has_opened(p, o)) {
        if (is_length(p, a, length_s))
            set_length(p, (float)o->limit, length_s);
        if ((p->verified == UNVERIFIED && !fb_probe_is_short(p)) || p->verified == SECOND_ZERO)
            p->verified = VERIFYING; /* the last of a window has nothing left, and is accepted */
        fb_probe_window_over(p, (float)o->limit, fb_secs(a->now_ns - p->opened_ns));
        p->opened_ns = a->now_ns;
        p->told_own = 0.0f;
        note_unused(p, o);
    } else if (has_slid(p, a)) {
        p->told_own = 2.0f * (float)o->limit;
    }
    p->told_reset_ns = o->reset_ns;
}

/* Whether own_all is known: neither may a ping lie there, nor answers overtake each other. */
static bool is_counted(const struct probe *p)
{
    bool is_even = p->episode == EPISODE_NONE && p->sway_s <= 0.5f * EVEN_S;

    return is_even && p->own_all && p->window_s < FB_SHORT_S;
}

/*
 * All that was accepted since it was first told of still counts, though by its length another has
 * begun since then: it is longer. A second may have been taken off its first reset for nothing.
 */
static bool still_counts(const struct probe *p, const struct answer *a)
{
    float used = (float)a->outcome->limit - p->told_left;
    float few = (float)FEW_USED * p->unit;
    bool is_over =
        p->told_own > p->spent + few && fb_secs(a->now_ns - p->opened_ns) > 0.1f * p->window_s;

    return is_counted(p) && is_over && used > p->told_own && used <= p->told_own + few;
}

/* So it is not over. */
static void lengthen(struct probe *p, const struct fly_outcome *o)
{
    assert(p->own_all && p->window_s > 0.0f);

    p->own_all = false;
    p->opened_ns -= fb_span(p->window_s);
    p->spent = p->told_own;
    set_length(p, (float)o->limit, p->window_s + 1.0f);
}

/* All that is used of a short window was counted here, from the opening on that was seen. */
static bool is_ours(const struct probe *p, float limit)
{
    float most = fb_minf(p->told_own, p->spent) + 4.0f * p->unit;

    return fb_probe_is_short(p) && most > limit - p->told_left && most > p->told_own;
}

/* Seconds until the window ends, by its own reset or by the opening that was seen. */
static float seconds_left(const struct probe *p, const struct answer *a)
{
    float told = fb_secs(a->outcome->reset_ns - a->now_ns);
    float seen = p->window_s - fb_secs(a->now_ns - p->opened_ns);
    float off = told > seen ? told - seen : seen - told;

    assert(p->window_s > 0.0f);
    if (is_ours(p, (float)a->outcome->limit))
        return fb_minf(told, fb_maxf(seen, 0.1f * p->window_s));
    if (p->verified == UNVERIFIED || off <= 0.1f * p->window_s)
        return told;
    return fb_maxf(seen, 0.01f * p->window_s);
}

/* More is left than a few that are under way; or at least enough for this one. */
static bool has_room(const struct probe *p, const struct answer *a)
{
    float left = (float)a->outcome->remaining;
    float cost = fb_maxf(p->unit, (float)a->granted);

    assert(a->outcome->limit > 0 && left >= 0.0f);
    return left > 0.02f * (float)a->outcome->limit && (left > 2.0f || left >= cost);
}

static void refused_with(struct probe *p, const struct answer *a)
{
    if (p->episode == EPISODE_NONE && slides(p, (float)a->outcome->limit))
        p->told_pace *= OVERRUN;
    if (has_room(p, a))
        p->verified = BOUND_ONLY;
    else if (fb_probe_verifying(p))
        p->verified = HONEST;
}

/* The second answer that was accepted with nothing left: there is more than is told. */
static bool is_understated(struct probe *p, const struct fly_outcome *o)
{
    return o->remaining == 0 && fb_probe_verifying(p) && ++p->verified == HONEST;
}

/* What is told is the limit, and what is left until the reset is the pace. */
static void follow(struct probe *p, const struct answer *a)
{
    const struct fly_outcome *o = a->outcome;

    assert(p->told > 0.0f && p->window_s > 0.0f);
    fb_probe_settle(p, p->share * (float)o->limit / p->window_s, 0.0f, a);
    if (is_understated(p, o)) {
        p->verified = DROPPED;
        p->told_reset_ns = fb_after(a->now_ns, DISTRUST_NS);
        p->told_until_ns = FB_LONG_AGO;
        p->phase = PROBE_TRIAL;
        return;
    }
    if (fb_probe_verifying(p))
        p->told = fb_maxf(p->told, 1.06f * p->limit);
    p->look_ns = p->told_until_ns;
    p->rate = fb_minf(p->told, 3.0f * p->limit);
}

/* Of a window that was seen from its opening on, how much of what was used is ours? */
static void note_share(struct probe *p, const struct fly_outcome *o)
{
    float used = (float)(o->limit - o->remaining);
    float others = used - p->told_own;
    bool alone = others < fb_maxf(4.0f * p->unit, 0.1f * used);

    assert(p->share > 0.0f && p->share <= 1.0f);
    if (p->verified == UNVERIFIED || used < 16.0f * p->unit)
        return;
    p->share += 0.02f * ((alone ? 1.0f : p->told_own / used) - p->share);
    p->share = fb_maxf(p->share, 0.01f);
}

static bool is_shared(const struct probe *p)
{
    assert(p->share > 0.0f && p->share <= 1.0f);

    return p->share < 0.9f;
}

/*
 * What of the rest is ours. The others have some under way that is not counted yet; and who has
 * little takes a little more than its share, so that shares become equal.
 */
static float own_part(const struct probe *p, const struct fly_outcome *o)
{
    float fair = __builtin_sqrtf(p->share * __builtin_sqrtf(p->share));
    float reserve = is_shared(p) ? 2.0f * p->unit / p->share : 0.0f;

    assert(p->share > 0.0f && fair >= p->share);
    return fair * ((float)o->remaining - reserve);
}

/* Still looking for what is told; but who saw it slide has seen it count. */
static bool climbs(const struct probe *p, float limit)
{
    assert(limit > 0.0f && p->told > 0.0f);

    return p->phase == PROBE_FIRST && p->rate < p->told && !slides(p, limit);
}

/*
 * A second of it may be told for what is a moment: no more than is left a second, or twice that up
 * to what a whole window bears.
 */
static float most_of_short(const struct probe *p, const struct answer *a, float left)
{
    float limit = (float)a->outcome->limit;
    float most = fb_minf(2.0f * left, usable(p, limit) / p->window_s);

    assert(limit > 0.0f && p->window_s > 0.0f);
    return fb_maxf(fb_maxf(left, p->unit), most);
}

/*
 * Nothing is left until the reset, or nothing that is ours. It is waited for unless that is being
 * checked; what slides gives some back before.
 */
static bool is_spent(const struct probe *p, const struct fly_outcome *o, float left)
{
    bool is_told = p->told_until_ns != FB_LONG_AGO && !fb_probe_verifying(p);

    assert(o->limit > 0 && o->remaining >= 0);
    if (is_shared(p) && left < p->unit && p->verified == HONEST)
        return true;
    return o->remaining == 0 && is_told && !slides(p, (float)o->limit);
}

/* Given up as no window; or what is told proved true, and a refusal was taken for a shorter one. */
static bool is_told_anew(const struct probe *p, const struct answer *a)
{
    float left_s = fb_secs(a->outcome->reset_ns - a->now_ns);

    if (p->window_s <= 0.0f)
        return true;
    return p->verified == HONEST && p->since_refusal <= FEW_USED && left_s > p->window_s + 1.0f;
}

/* Of few, nothing is under way when the next one leaves, and each costs one. */
static bool is_alone(const struct probe *p, const struct answer *a, float left, float left_s)
{
    bool is_few = a->outcome->limit <= EARLY_MOST && a->in_flight == 0 && p->unit <= 1.0f;

    if (is_shared(p) || fb_probe_is_short(p) || !is_few)
        return false;
    return left >= 1.0f && p->latency_s * left < 0.1f * left_s;
}

/*
 * What is to leave until the reset, evenly: the last one half a step before it, where each is
 * answered before the next. Spread until the reset it would be the first of the next window, and
 * N - 1 of N were used.
 */
static float to_leave(const struct probe *p, const struct answer *a, float left_s)
{
    float left = own_part(p, a->outcome) - p->unit * (float)a->in_flight;

    assert(left_s > 0.0f && p->latency_s >= 0.0f);
    return is_alone(p, a, left, left_s) ? left + 0.5f : left;
}

static void accepted_with(struct probe *p, const struct answer *a)
{
    if (is_told_anew(p, a))
        p->window_s = window_told(a);
    if (still_counts(p, a))
        lengthen(p, a->outcome);
    float left_s = seconds_left(p, a);
    note_share(p, a->outcome);
    float left = to_leave(p, a, left_s);

    assert(left_s > 0.0f);
    p->told = fb_maxf(left, p->unit) / left_s;
    p->told_until_ns = fb_after(a->now_ns, fb_span(left_s));
    if (fb_probe_is_short(p) || slides(p, (float)a->outcome->limit)) {
        p->told = fb_minf(p->told, most_of_short(p, a, left));
        gauge(p, a);
    }
    if (p->verified != BOUND_ONLY && !climbs(p, (float)a->outcome->limit))
        follow(p, a);
    if (is_spent(p, a->outcome, left))
        wait_for_reset(p);
}

/* They were found to be wrong, and are for a day. */
static bool are_dropped(struct probe *p, int64_t now_ns)
{
    if (p->verified != DROPPED || now_ns < p->told_reset_ns)
        return p->verified == DROPPED;
    p->verified = UNVERIFIED;
    p->told_reset_ns = FB_LONG_AGO;
    return false;
}

float fb_probe_kept_s(const struct probe *p)
{
    bool is_kept = p->told_left < -1.0f && p->phase == PROBE_FIRST && p->window_s <= 0.0f;

    return is_kept ? -1.0f - p->told_left : 0.0f;
}

/* It sets no pace any more. */
static void keep(struct probe *p)
{
    assert(p->limit > 0.0f && p->told_left == -1.0f);

    if (p->phase != PROBE_FIRST && p->window_s > 0.0f) {
        p->told_left = -1.0f - p->window_s;
        p->kept_limit = p->limit;
    } else {
        p->too_fast = 0.0f;
    }
    if (p->window_s > 0.0f)
        p->limit_before = p->limit; /* `fitted` was there */
    p->window_s = 0.0f;
    p->opening_seen = false;
}

/* It does again, unless a limit was met meanwhile. */
static void recall(struct probe *p)
{
    float window_s = fb_probe_kept_s(p);

    if (window_s <= 0.0f)
        return;
    assert(p->kept_limit > 0.0f && p->margin > 0.0f);
    p->phase = PROBE_SETTLED;
    p->limit = p->kept_limit;
    p->lean = -p->margin;
    p->rate = p->limit * (1.0f - p->margin);
    p->window_s = window_s;
    p->spent = 0.0f;
}

void fb_probe_need_not_be_told(struct probe *p, int64_t now_ns)
{
    bool is_met = p->verified == BOUND_ONLY; /* it was refused with room left: by another limit */

    if (!fb_probe_was_told(p) || p->verified == DROPPED || p->episode != EPISODE_NONE)
        return;
    (void)fb_probe_forget_slots(p, now_ns);
    p->told_until_ns = FB_LONG_AGO;
    p->told_reset_ns = FB_LONG_AGO;
    p->told_left = -1.0f;
    p->told = 0.0f;
    p->log = (struct probe_log){.by_second = false};
    if (is_met)
        return;
    keep(p);
    p->verified = UNVERIFIED;
    p->block_ns = FB_LONG_AGO;
    if (p->phase != PROBE_FIRST)
        fb_probe_climb_again(p);
}

/* Of a window that does not slide less and less is left: another answer overtook this one. */
static bool is_overtaken(const struct probe *p, const struct answer *a)
{
    float rise = (float)a->outcome->remaining - p->told_left;
    float later = p->unit * (float)(uint16_t)(p->latest_id - a->id); /* left after it */

    assert(later >= 0.0f);
    if (fb_probe_is_short(p) || slides(p, (float)a->outcome->limit))
        return false;
    return rise > 0.0f && rise <= later;
}

void fb_probe_told(struct probe *p, const struct answer *a, bool refused)
{
    const struct fly_outcome *o = a->outcome;

    if (are_dropped(p, a->now_ns))
        return;
    if (!fb_probe_was_told(p)) { /* where the log was */
        p->told_own = 0.0f;
        p->told_low = PLENTY;
        p->told_pace = 0.0f;
        recall(p);
    }
    if (is_new_window(p, o))
        new_window(p, a);
    else if (o->reset_ns < p->told_reset_ns - FB_NS_PER_S / 2 && !refused)
        return; /* of the window before, or their clock went back */
    else if (is_overtaken(p, a) && !refused)
        return;
    p->told_left = (float)o->remaining;
    if (refused)
        refused_with(p, a);
    else if (a->accepted)
        accepted_with(p, a);
}
