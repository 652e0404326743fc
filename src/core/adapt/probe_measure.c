/* SPDX-License-Identifier: MIT */
/*
 * probe_measure.c - a limit from what was accepted between two moments at which it was empty.
 *
 * Few requests measure badly: the estimate is drawn to the pace that was refused, as if that had
 * been seen for some requests.
 *
 * Invariant: it is neither above that pace nor below a twentieth of it.
 */
#include <assert.h>

#include "core/adapt/probe_parts.h"

/*
 * How many requests the present pace is worth against a measurement: many when it was kept for
 * long, few once refusals come in a row.
 */
static float weight_of(const struct probe *p)
{
    assert(p->rate > 0.0f);

    if (p->lean >= 0.0f || p->phase != PROBE_SETTLED)
        return WEIGHT;
    if (p->cuts == 0 || p->since_refusal >= FAR / 2)
        return 16.0f;
    if (p->noise_known)
        return p->cuts < 4 ? 16.0f : WEIGHT;
    return p->cuts == 1 ? 8.0f : WEIGHT;
}

float fb_probe_estimate(const struct probe *p, float accepted, float between_s)
{
    float weight = weight_of(p) * p->unit;
    float counted = (accepted + weight) / (between_s + weight / p->rate);

    assert(between_s > 0.0f && p->rate > 0.0f && p->unit >= 1.0f);
    /* What it cannot store is lost in the pause: hardly anything counted says little. */
    if (accepted < 4.0f * p->unit && p->failed_pings == 0)
        counted = fb_maxf(counted, 0.6f * p->rate);
    /* Much was granted and little counted: it idled in between, or the network stood still. */
    if (accepted < 8.0f * p->unit && p->since_refusal > NEAR)
        counted = fb_maxf(counted, 0.8f * p->rate);
    return fb_maxf(DROP * p->rate, fb_minf(counted, p->rate));
}
