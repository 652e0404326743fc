/* SPDX-License-Identifier: MIT */
/*
 * probe_cycle.c - the limit of a bucket that tells to wait for a second whenever it refuses.
 *
 * In that second it stores an amount that nobody knows: all that it makes, or less. What it accepts
 * from the wait to the next refusal is that amount and what it makes meanwhile. Two such cycles, at
 * different paces, have the amount in common: what the longer one got more was made in the time by
 * which it was longer. So the pace that was refused is lowered until a cycle is longer, or is none:
 * then what was kept is the limit, until it is looked at.
 *
 * Invariant: no limit is above the pace that was refused.
 */
#include <assert.h>

#include "core/adapt/probe_parts.h"

#define SLOWER      0.88f /* times the pace that was refused: the next cycle is longer */
#define LONGER_S    0.4f  /* by so much at least, and ... */
#define MORE        40.0f /* ... so many requests more, or they do not differ enough */
#define UNEVEN      0.5f  /* times what comes at the wrong time: so much more of it */
#define LONG_ENOUGH 8.0f  /* times the wait: what was stored in it hardly counts */
#define NEARLY      0.8f  /* of the pace was let through in a second */

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

    return second > NEARLY * rate ? fb_minf(second, rate) : 0.5f * rate;
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
        return fb_minf(c.accepted / (c.lasted_s + 0.5f * wait_s), rate);
    p->cycle = c.accepted;
    p->cycle_s = c.lasted_s;
    slow_down(p, SLOWER * rate);
    return 0.0f;
}

float fb_probe_cycle_held(struct probe *p)
{
    float limit = p->rate;

    assert(fb_probe_in_cycle(p));
    p->burst = fb_maxf(0.0f, p->cycle - limit * p->cycle_s);
    p->surprises = 0;
    p->looked = true;
    return limit;
}
