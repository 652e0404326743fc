/* SPDX-License-Identifier: MIT */
/*
 * probe_second.c - a limit that is counted by the second, in a window that slides.
 *
 * Such a provider refuses whenever it let as many through within the last second as it allows: at
 * every refusal that number is the same, whatever the pace and the pauses were. A bucket makes up
 * for a pause, this one does not, so that what was accepted from one refusal to the next is too
 * little. What was accepted lately is kept in a ring of counts, by when it was sent.
 */
#include <assert.h>

#include <flyball/flyball.h>

#include "core/adapt/probe_parts.h"

#define LOG_SHIFT    26    /* 2^26 ns, 67 ms, have a count of their own */
#define SECOND_LEAST 12.0f /* units: fewer are the same by chance */
#define FASTER       1.02f /* times what was counted: a bucket takes the pace itself */
#define UNEVEN       1.4f  /* times the mean deviation of latencies, in seconds: stays unused ... */
#define UNEVEN_MOST  0.08f /* ... but no more than this */
#define LATE_MOST    (60 * FB_NS_PER_S)   /* later is long ago */
#define APART_NS     (700 * FB_NS_PER_MS) /* of refusals that have little in common */

static int64_t sent_ns(const struct answer *a)
{
    return a->now_ns - fb_clamp64(a->outcome->latency_ns, 0, LATE_MOST);
}

/* They come round after nine years, and are a second wrong then. */
static uint32_t bin_of(int64_t at_ns)
{
    return (uint32_t)((uint64_t)at_ns >> LOG_SHIFT);
}

/* So many bins before the latest one; what is too long ago, or to come, counts nothing. */
static float count_of(const struct probe *p, uint32_t bin)
{
    return p->log_bin - bin < PROBE_LOG ? (float)p->log[bin % PROBE_LOG] : 0.0f;
}

void fb_probe_log(struct probe *p, const struct answer *a)
{
    uint32_t bin = bin_of(sent_ns(a));
    uint32_t ahead = bin - p->log_bin;

    assert(a->cost >= 0);
    if (ahead <= UINT32_MAX / 2) {
        for (uint32_t i = 1; i <= ahead && i <= PROBE_LOG; i++)
            p->log[(p->log_bin + i) % PROBE_LOG] = 0;
        p->log_bin = bin;
    } else if (p->log_bin - bin >= PROBE_LOG) {
        return;
    }
    int64_t sum = p->log[bin % PROBE_LOG] + a->cost;
    p->log[bin % PROBE_LOG] = (uint16_t)fb_min64(sum, UINT16_MAX);
}

void fb_probe_begin_second(struct probe *p, const struct answer *a)
{
    int64_t at_ns = sent_ns(a);

    if (at_ns - p->second_ns > APART_NS)
        p->second_before = p->second;
    p->second_ns = at_ns;
    p->second = 0.0f;
}

void fb_probe_count_second(struct probe *p)
{
    int64_t from_ns = p->second_ns - FB_NS_PER_S;
    int64_t whole_ns = INT64_C(1) << LOG_SHIFT;
    float rest = (float)(whole_ns - (from_ns & (whole_ns - 1))) / (float)whole_ns;
    uint32_t bin = bin_of(from_ns);
    float sum = rest * count_of(p, bin);

    assert(rest > 0.0f && rest <= 1.0f);
    while (bin != bin_of(p->second_ns))
        sum += count_of(p, ++bin);
    p->second = sum;
}

/* What of a second came in another one, at the most that is believed. */
static float uneven(const struct probe *p)
{
    return fb_minf(UNEVEN * p->sway_s, UNEVEN_MOST);
}

static bool agrees(const struct probe *p, float a, float b)
{
    float off = a > b ? a - b : b - a;

    assert(p->unit >= 1.0f);
    return off <= 0.5f * p->unit + (0.03f + uneven(p)) * fb_maxf(a, b);
}

float fb_probe_margin_of_second(const struct probe *p, float limit)
{
    assert(limit > 0.0f);
    return fb_maxf(MARGIN, fb_maxf(uneven(p), 1.2f * p->unit / limit));
}

void fb_probe_wait_second(struct probe *p)
{
    assert(p->by_second && p->episode == EPISODE_NONE);

    p->block_ns = fb_after(p->second_ns, FB_NS_PER_S + 20 * FB_NS_PER_MS);
}

bool fb_probe_is_second(const struct probe *p)
{
    assert(p->second >= 0.0f && p->rate > 0.0f);

    if (p->window_s > 0.0f || p->second < SECOND_LEAST * p->unit || !fb_probe_climbing(p))
        return false;
    return p->rate > (FASTER - uneven(p)) * p->second && agrees(p, p->second, p->second_before);
}
