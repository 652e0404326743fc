/* SPDX-License-Identifier: MIT */
/*
 * probe_crowd.c - a bound on how many may be in flight.
 *
 * Such a bound refuses only from some number on, so the least number that was refused is kept, with
 * the evidence that it is no chance. A bound that is believed is looked at as a limit is: an
 * eighth more, and one, where nothing was refused for long, the rarer the more evidence there is.
 * One that was guessed behind an uneven line is low, and is looked at often until one refuses.
 *
 * Invariant: with evidence enough no more than crowd_min - 1 are in flight.
 */
#include <assert.h>

#include "core/adapt/probe_parts.h"
#include "core/ticket.h"

#define WIDER_SHARE  8    /* of what may be in flight is added at a time */
#define LET_THROUGH  0.5f /* less evidence, where that was let through */
#define COUNTED_MOST 8.0f /* evidence from refusals: a guess has more */
#define CROWD_LEAST  3    /* with two it is the pace */
#define SOON         100  /* requests: what is refused later is not about the last look */
#define LOOK_GUESSED 2400 /* requests between two looks at a guess ... */
#define LOOK_COUNTED 4800 /* ... and at what was counted, doubled for each more evidence */

static bool is_guess(const struct probe *p)
{
    return p->crowd > COUNTED_MOST;
}

static uint8_t added(const struct probe *p)
{
    assert(p->crowd_min >= 1);

    return (uint8_t)(1 + (p->crowd_min - 1) / WIDER_SHARE);
}

static uint8_t least(const struct probe *p, uint8_t in_flight)
{
    return in_flight < p->crowd_min ? in_flight : p->crowd_min;
}

/* Refused right after a look: that took too many. A guess has been low until then. */
static void note_look(struct probe *p, uint8_t in_flight)
{
    float before = is_guess(p) ? CROWD_PROOF : p->crowd;

    assert(fb_probe_crowded(p));
    p->crowd_min = least(p, in_flight);
    p->crowd = fb_minf(before + 1.0f, COUNTED_MOST);
}

/*
 * Refused about where it was let through until now: one fewer, for what is on the line differs. But
 * not for chance, or a bound that is none would get ever lower.
 */
static void note_known(struct probe *p, uint8_t in_flight)
{
    assert(fb_probe_crowded(p));

    if (is_guess(p) || p->since_refusal < SOON)
        note_look(p, in_flight);
    else if (p->crowd_min > CROWD_LEAST && !p->noise_known)
        p->crowd_min--;
}

void fb_probe_note_crowd(struct probe *p, uint8_t in_flight)
{
    bool known = fb_probe_crowded(p) && in_flight + added(p) >= p->crowd_min;

    assert(in_flight < NO_CROWD);
    if (known) {
        note_known(p, in_flight);
        return;
    }
    if (p->noise_known && p->since_refusal >= NEAR)
        return; /* chance, as those before */
    if (in_flight < p->crowd_min) {
        p->crowd = in_flight == p->crowd_min - 1 ? p->crowd : 0.0f;
        p->crowd_min = in_flight;
    }
    p->crowd += 1.0f;
}

static int32_t requests_to_look(const struct probe *p)
{
    return is_guess(p) ? LOOK_GUESSED : LOOK_COUNTED << (int)(p->crowd - CROWD_PROOF);
}

/* Whether as many were in flight as may be: a ticket does not tell more than some. */
static bool is_met(const struct probe *p, const struct answer *a)
{
    int64_t most = p->crowd_min - 1;

    assert(most >= 0);
    return a->in_flight_then >= fb_min64(most, FB_TICKET_IN_FLIGHT);
}

void fb_probe_widen(struct probe *p, const struct answer *a)
{
    assert(p->episode == EPISODE_NONE);

    if (!fb_probe_crowded(p) || p->crowd_min >= NO_CROWD - 1)
        return;
    if (!is_met(p, a) || p->since_refusal < requests_to_look(p))
        return;
    int wider = p->crowd_min + added(p);
    p->crowd_min = (uint8_t)(wider < NO_CROWD - 1 ? wider : NO_CROWD - 1);
    if (!is_guess(p))
        p->crowd = fb_maxf(CROWD_PROOF, p->crowd - LET_THROUGH);
    p->since_refusal = NEAR; /* what is refused now is about that, and not the next of a row */
}
