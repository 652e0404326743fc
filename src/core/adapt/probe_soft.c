/* SPDX-License-Identifier: MIT */
/*
 * probe_soft.c - is a bare 403 or 503 a refusal, or a mishap?
 *
 * The number of the status does not tell, repetition does. What comes twice at once, what comes
 * while more is asked for than usual, and what comes as regularly as a limit that is overrun by a
 * little proves that this provider refuses so. What stands alone wears the proof off.
 */
#include <assert.h>

#include <flyball/flyball.h>

#include "core/adapt/probe_parts.h"

#define GAP_MOST   200.0f /* answers; further apart they have nothing to do with each other */
#define PROOF_MOST 4.0f
#define ALMOST_ALL 1.25f /* answers from one to the next: that is no share any more */

static bool comes_regularly(const struct probe *p)
{
    float off = (float)p->soft_gap - p->soft_mean;

    assert(p->soft_mean >= 0.0f);
    if (off < 0.0f)
        off = -off;
    return (float)p->soft_gap < GAP_MOST && off < 0.25f * p->soft_mean;
}

/* How much this one proves. In a noisy place looks upward last too long to tell. */
static float proof_of(const struct probe *p, bool again, bool looking)
{
    assert(p->soft_proof >= 0.0f);

    if (again)
        return 1.0f;
    if (looking)
        return 0.4f;
    return comes_regularly(p) ? 0.3f : -0.2f;
}

/* Answers between them, on average, below which they are refusals. Servers stumble by 503. */
static float often(const struct probe *p, int32_t status)
{
    assert(status == 403 || status == 503);

    if (status == 403)
        return 150.0f;
    return p->noise_known ? 0.0f : 60.0f;
}

/*
 * The search begins anew, no slower than the first one did. What was taken for a window was the
 * pauses between them.
 */
static void forget_them(struct probe *p)
{
    p->soft_mean = 3.0f; /* about; it will show */
    p->rate = fb_maxf(p->rate, p->unit);
    p->surprises = 0;
    p->cuts = 0;
    p->doubts = 0;
    if (p->told_reset_ns == FB_LONG_AGO) {
        fb_probe_no_window(p);
        p->echoes = 0; /* else nothing would be measured anew */
    }
    fb_probe_climb_again(p);
}

/*
 * Slowing down ends refusals. Where they went on through many cuts, one soon after the other, a
 * share of all requests fails here whatever the pace: that is no limit, until it is almost all. By
 * chance some are further apart: one of those outweighs one of the others, not all of them.
 */
static bool comes_anyway(struct probe *p, const struct answer *a)
{
    bool begins = p->episode == EPISODE_NONE && !fb_probe_is_straggler(p, a->id);

    assert(p->soft_row < SOFT_ROW_MAX);
    if (begins && p->since_refusal < NEAR / 2)
        p->soft_row++;
    else if (begins)
        fb_probe_one_less_in_row(p);
    if (fb_probe_stumbles(p))
        forget_them(p);
    return fb_probe_stumbles(p);
}

/* How far apart they come; a share that became all, or none, is no share. */
static void note_gap(struct probe *p)
{
    float pull = fb_probe_stumbles(p) ? 0.03f : 0.1f;

    assert(p->soft_mean >= 0.0f);
    p->soft_mean += pull * (fb_minf((float)p->soft_gap, GAP_MOST) - p->soft_mean);
    p->soft_gap = 0;
    if (p->soft_row == SOFT_ROW_MAX &&
        (p->soft_mean < ALMOST_ALL || p->soft_mean > GAP_MOST / 2.0f))
        p->soft_row = 0;
}

/* Whether repetition says that it is a refusal. */
static bool is_believed(struct probe *p, const struct answer *a)
{
    bool again = p->soft_gap <= 3;
    bool looking = p->lean > 0.0f && p->phase == PROBE_SETTLED && !fb_probe_noisy(p);
    float proof = p->soft_proof + proof_of(p, again, looking);

    p->soft_proof = fb_maxf(0.0f, fb_minf(proof, PROOF_MOST));
    note_gap(p);
    return again || p->soft_mean < often(p, a->outcome->status) ||
           p->soft_proof >= (looking ? 1.0f : 2.0f);
}

bool fb_probe_is_soft_refusal(struct probe *p, const struct answer *a)
{
    bool believed = is_believed(p, a);

    assert(!a->throttled);
    if (a->outcome->retry_after_ns > 0)
        return true;
    return believed && !fb_probe_stumbles(p) && !comes_anyway(p, a);
}

/* ---- noise ---- */

/*
 * Noise comes at random, so short gaps happen; a limit that is overrun refuses again and again.
 * How much likelier is this gap if refusals now come five times as often as usual?
 */
void fb_probe_note_gap(struct probe *p, float gap)
{
    float usual = fb_maxf(p->noise_gap, NOISE_LEAST);
    float evidence = 1.6f * (float)(1 + p->failed_pings) - 4.0f * gap / usual;

    assert(gap >= 0.0f && p->unrest >= 0.0f);
    p->unrest = fb_maxf(0.0f, p->unrest + evidence);
    if (p->lean < 0.0f)
        p->noise_gap += 0.1f * (fb_minf(gap, 2.5f * (float)FAR) - p->noise_gap);
}
