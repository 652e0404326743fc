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

bool fb_probe_is_soft_refusal(struct probe *p, const struct answer *a)
{
    bool again = p->soft_gap <= 3;
    bool looking = p->lean > 0.0f && p->phase == PROBE_SETTLED && !fb_probe_noisy(p);
    float proof = p->soft_proof + proof_of(p, again, looking);

    assert(!a->throttled);
    p->soft_proof = fb_maxf(0.0f, fb_minf(proof, PROOF_MOST));
    p->soft_mean += 0.1f * (fb_minf((float)p->soft_gap, GAP_MOST) - p->soft_mean);
    p->soft_gap = 0;
    if (again || a->outcome->retry_after_ns > 0 || p->soft_mean < often(p, a->outcome->status))
        return true;
    return p->soft_proof >= (looking ? 1.0f : 2.0f);
}
