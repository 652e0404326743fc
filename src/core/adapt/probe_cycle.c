/* SPDX-License-Identifier: MIT */
/*
 * probe_cycle.c - the limit of a bucket that tells to wait for a second whenever it refuses.
 *
 * In that second it stores an amount that nobody knows: all that it makes, or less. What it accepts
 * from the wait to the next refusal is that amount and what it makes meanwhile. Two such cycles, at
 * different paces, have the amount in common: what the longer one got more was made in the time by
 * which it was longer. So the pace that was refused is lowered until a cycle is longer, or is none.
 * A cycle that lasts says the same before it ends: at least so much is made. When that is nearly
 * the pace, the pace is the limit, until it is looked at.
 *
 * A window that slides and is counted by the second refuses in the same way over an uneven line: a
 * second after the wait, at a pace that is about what it allows. So the first pace that is tried
 * below is the one that such a window bears. Where that lasts it is taken for one.
 *
 * Invariant: no pace is above the one that was refused.
 */
#include <assert.h>

#include "core/adapt/probe_parts.h"

#define SLOWER        0.88f /* times the pace that was refused: the next cycle is longer ... */
#define SLOWER_LEAST  0.98f /* ... and always some slower */
#define LONGER_S      0.4f  /* by so much at least, and ... */
#define MORE          40.0f /* ... so many requests more, or they do not differ enough */
#define UNEVEN        1.5f  /* times what comes at the wrong time: so much more of it */
#define LONG_ENOUGH   8.0f  /* times the wait: what was stored in it hardly counts */
#define NEARLY        0.8f  /* of the pace was let through in a second ... */
#define NEARLY_UNEVEN 0.65f /* ... where climbs are less steep, and more is under way */
#define SURE          0.97f /* of a pace is made: it was not refused for long enough */
#define SAME          0.01f /* of a pace: it is the same */
#define HELD_MOST_S   60.0f /* ... whoever does not use it */
#define CATCH_UP      4.0f  /* requests that are late are made up for, once it is held */

/* It was full when the step began. */
struct cycle {
    float accepted;
    float lasted_s;
};

static struct cycle cycle_of(const struct probe *p, float ping_cost)
{
    float accepted = p->unit * (float)p->step_count - ping_cost;

    assert(p->refused_ns >= p->step_ns);
    return (struct cycle){
        .accepted = fb_maxf(accepted, p->unit),
        .lasted_s = fb_maxf(fb_secs(p->refused_ns - p->step_ns), 0.001f),
    };
}

/*
 * The climb was refused: half the pace was kept before. Where it rose by less, what was let through
 * in the last second was nearly the pace itself.
 */
static float pace_before(const struct probe *p, float rate)
{
    float second = fb_probe_was_told(p) ? 0.0f : p->unit * (float)p->log.second;
    float nearly = fb_probe_is_uneven(p) ? NEARLY_UNEVEN : NEARLY;

    return second > nearly * rate ? fb_minf(second, rate) : 0.5f * rate;
}

/* Whether it was so much longer than the one before that the two tell the limit. */
static bool tells(const struct probe *p, const struct cycle *c, float rate)
{
    float sway_s = fb_probe_was_told(p) ? 0.0f : (float)p->log.sway_ms / 1000.0f;
    float more_least = MORE * (p->unit + UNEVEN * rate * sway_s);

    return p->cycle_s > 0.0f && c->lasted_s - p->cycle_s >= LONGER_S &&
           c->accepted - p->cycle >= more_least;
}

static void slow_down(struct probe *p, float rate)
{
    float share = rate / p->rate;

    assert(share > 0.0f && share <= 1.0f);
    p->limit *= share;
    p->rate *= share;
    p->surprises = 1;
}

/* As if half of the wait had been stored. */
static float about(const struct cycle *c, float wait_s)
{
    assert(c->lasted_s > 0.0f && wait_s >= 0.0f);

    return c->accepted / (c->lasted_s + 0.5f * wait_s);
}

/*
 * After the first cycle it may be a window that slides as well: what that would bear is tried, and
 * tells the two apart. A bucket refuses it soon, and then goes down the faster.
 */
static float next_least(const struct probe *p, float rate)
{
    float second = p->cycle_s > 0.0f ? 0.0f : fb_probe_pace_of_second(p);

    assert(rate > 0.0f && second >= 0.0f);
    return second > 0.0f ? second : SLOWER * rate;
}

float fb_probe_read_cycle(struct probe *p, float rate, float ping_cost)
{
    struct cycle c = cycle_of(p, ping_cost);
    float wait_s = fb_secs(p->block_ns - p->refused_ns);

    assert(p->phase == PROBE_FIRST && p->told_when && rate > 0.0f);
    if (p->surprises == 0) { /* the climb was refused: there was no wait before it */
        slow_down(p, pace_before(p, rate));
        return 0.0f;
    }
    if (tells(p, &c, rate)) {
        float limit = fb_minf((c.accepted - p->cycle) / (c.lasted_s - p->cycle_s), rate);
        p->burst = fb_maxf(0.0f, c.accepted - limit * c.lasted_s);
        return limit;
    }
    if (c.lasted_s >= LONG_ENOUGH * wait_s)
        return fb_minf(about(&c, wait_s), rate);
    float next = fb_maxf(next_least(p, rate), about(&c, wait_s));
    p->cycle = c.accepted;
    p->cycle_s = c.lasted_s;
    slow_down(p, fb_minf(next, SLOWER_LEAST * rate));
    return 0.0f;
}

bool fb_probe_is_near(const struct probe *p)
{
    return fb_probe_in_cycle(p);
}

/* What was let through in the time by which this cycle is longer: at least that is made. */
static bool is_held(const struct probe *p, float lasted_s)
{
    float more = p->unit * (float)p->step_count - p->cycle;
    float longer_s = lasted_s - p->cycle_s;

    assert(lasted_s >= 0.0f && p->rate > 0.0f);
    return (longer_s > 0.0f && more >= SURE * p->rate * longer_s) || lasted_s >= HELD_MOST_S;
}

float fb_probe_cycle_held(struct probe *p, int64_t now_ns)
{
    float between = fb_probe_is_uneven(p) ? 0.5f * (1.0f + SURE) : 1.0f;
    float limit = between * p->rate;

    assert(fb_probe_in_cycle(p) && now_ns >= p->step_ns);
    if (!is_held(p, fb_secs(now_ns - p->step_ns)))
        return 0.0f;
    p->burst = fb_maxf(0.0f, p->cycle - limit * p->cycle_s);
    p->surprises = 0;
    p->looked = true;
    return limit;
}

/*
 * Whether what is held is the pace that a window would bear that slides, and lets as many through
 * in a second as were counted: then that is the limit, as it was for the refusals.
 */
bool fb_probe_cycle_by_second(const struct probe *p)
{
    float pace = fb_probe_pace_of_second(p);

    assert(p->rate > 0.0f && pace >= 0.0f);
    return p->rate > (1.0f - SAME) * pace && p->rate < (1.0f + SAME) * pace;
}

float fb_probe_cycle_credit(const struct probe *p)
{
    assert(p->step_count >= 0);

    if (!fb_probe_in_cycle(p))
        return 1.0f;
    return fb_probe_is_uneven(p) || p->step_count >= STEP_STORED ? CATCH_UP : 1.0f;
}
