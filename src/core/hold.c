/* SPDX-License-Identifier: MIT */
/*
 * hold.c - "not before": what a server asked for holds the whole key, which then comes back gently.
 *
 * Two instants, apart because they have different owners. The server's is never shortened: only
 * a later one replaces it. The pace's belongs to the controller, which may take it back.
 *
 * When the server's has passed a ramp opens: one request in flight, and one more for every answer
 * accepted since, so that the number doubles with each round trip and a reset is no stampede.
 * At FB_HOLD_RAMP_DONE in flight it is over.
 */
#include "core/hold.h"

#include <assert.h>

#include <flyball/flyball.h>

#include "core/constraint.h"
#include "core/controller.h"
#include "core/instant.h"
#include "core/jitter.h"

#define RAMP_REST_NS (600 * FB_NS_PER_S) /* a ramp that was not used for so long is over */

static_assert((int)FB_HOLD_SLOTS == (int)FB_SLOTS_hold, "as its row says");

static bool hold_init(int64_t *slot, const struct spec *s, void *memory, int64_t now_ns)
{
    (void)s;
    (void)memory;
    (void)now_ns;
    slot[FB_HOLD_UNTIL] = FB_LONG_AGO;
    slot[FB_HOLD_PACE_UNTIL] = FB_LONG_AGO;
    slot[FB_HOLD_RAMP] = 0;
    return true;
}

static int64_t hold_ready_at(const int64_t *slot, const struct ask *q)
{
    int64_t until_ns = fb_max64(slot[FB_HOLD_UNTIL], slot[FB_HOLD_PACE_UNTIL]);

    assert(slot[FB_HOLD_RAMP] >= 0 && slot[FB_HOLD_RAMP] < FB_HOLD_RAMP_DONE);
    assert(q->in_flight >= 0);
    if (until_ns > q->now_ns)
        return until_ns;
    if (slot[FB_HOLD_RAMP] > 0 && q->in_flight >= slot[FB_HOLD_RAMP])
        return FB_NEVER;
    return q->now_ns;
}

/* What the answer asks for: the longest of what it tells, 0 when it tells nothing. */
static int64_t told_ns(const struct answer *a)
{
    const struct fly_outcome *o = a->outcome;
    int64_t wait_ns = fb_clamp64(o->retry_after_ns, 0, FB_WAIT_MAX);

    /* What is used up comes back at the reset; only "some is left" contradicts that. */
    if (a->throttled && o->remaining <= 0) {
        int64_t left_ns = fb_clamp64(o->reset_ns, a->now_ns, FB_TIME_MAX) - a->now_ns;
        wait_ns = fb_max64(wait_ns, fb_min64(left_ns, FB_RESET_MAX));
    }
    assert(wait_ns >= 0 && wait_ns <= FB_RESET_MAX);
    return wait_ns;
}

static void hold_for(int64_t *slot, int64_t wait_ns, int64_t now_ns, struct rng *rng)
{
    int64_t until_ns = fb_after(now_ns, wait_ns + fb_jitter_of_wait(rng, wait_ns));

    assert(wait_ns > 0 && until_ns > now_ns);
    slot[FB_HOLD_UNTIL] = fb_max64(slot[FB_HOLD_UNTIL], until_ns);
    slot[FB_HOLD_RAMP] = 1;
}

static void ramp_up(int64_t *slot, const struct answer *a)
{
    assert(a->accepted);
    /* What left before the hold says nothing about how it is after it. */
    if (slot[FB_HOLD_RAMP] == 0 || a->outcome->sent_ns < slot[FB_HOLD_UNTIL])
        return;
    slot[FB_HOLD_RAMP] = slot[FB_HOLD_RAMP] + 1 < FB_HOLD_RAMP_DONE ? slot[FB_HOLD_RAMP] + 1 : 0;
    assert(slot[FB_HOLD_RAMP] >= 0 && slot[FB_HOLD_RAMP] < FB_HOLD_RAMP_DONE);
}

static void hold_report(int64_t *slot, const struct answer *a, struct rng *rng)
{
    assert(!(a->accepted && a->throttled));
    if (a->accepted) {
        ramp_up(slot, a);
        return;
    }
    /* A wait told with an error other than a refusal counts as well: 503 with Retry-After. */
    if (!a->throttled && a->outcome->status < 400)
        return;

    int64_t wait_ns = told_ns(a);
    if (wait_ns == 0 && a->throttled)
        wait_ns = fb_clamp64(a->default_hold_ns, 0, FB_WAIT_MAX);
    if (wait_ns > 0)
        hold_for(slot, wait_ns, a->now_ns, rng);
}

static void hold_repace(int64_t *slot, const struct pace *p, int64_t now_ns)
{
    (void)now_ns;
    assert(p->not_before_ns >= FB_LONG_AGO);
    slot[FB_HOLD_PACE_UNTIL] = p->not_before_ns;
}

static bool hold_idle(const int64_t *slot, int64_t now_ns)
{
    assert(slot[FB_HOLD_RAMP] >= 0 && slot[FB_HOLD_RAMP] < FB_HOLD_RAMP_DONE);
    return fb_max64(slot[FB_HOLD_UNTIL], slot[FB_HOLD_PACE_UNTIL]) <= now_ns &&
           slot[FB_HOLD_RAMP] == 0;
}

/* Nobody asked for so long that there is no stampede left to prevent. */
static bool hold_rested(const int64_t *slot, int64_t now_ns)
{
    return hold_idle(slot, now_ns) || fb_after(slot[FB_HOLD_UNTIL], RAMP_REST_NS) <= now_ns;
}

static bool hold_sound(const int64_t *slot, const int64_t *fresh)
{
    const struct range ranges[] = {
        {slot[FB_HOLD_UNTIL], FB_LONG_AGO, FB_NEVER},
        {slot[FB_HOLD_PACE_UNTIL], FB_LONG_AGO, FB_NEVER},
        {slot[FB_HOLD_RAMP], 0, FB_HOLD_RAMP_DONE - 1},
    };

    (void)fresh;
    return FB_ALL_IN_RANGE(ranges);
}

const struct constraint fb_constraint_hold = {
    .name = "hold",
    .never = "ramp",
    .says = "a refusal holds the key, which comes back gently",
    .init = hold_init,
    .ready_at = hold_ready_at,
    .report = hold_report,
    .repace = hold_repace,
    .idle = hold_idle,
    .sound = hold_sound,
    .rested = hold_rested,
};
