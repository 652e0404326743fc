/* SPDX-License-Identifier: MIT */
/*
 * probe_second.c - a limit that is counted by the second, in a window that slides.
 *
 * Such a provider refuses whenever it let as many through within the last second as it allows: at
 * every refusal that number is the same, whatever the pace and the pauses were. A bucket makes up
 * for a pause, this one does not, so that what was accepted from one refusal to the next is too
 * little. What was accepted lately is kept in a ring of counts, by when it was sent; it takes the
 * place of what is told, for who is told what is left need not count.
 *
 * Invariant: outside of episodes the ring ends with log_bin. Counts are bytes: above 250 a second
 * nothing is concluded.
 */
#include <assert.h>
#include <string.h>

#include <flyball/flyball.h>

#include "core/adapt/probe_parts.h"

#define LOG_SHIFT    27    /* 2^27 ns, 134 ms, have a count of their own */
#define SECOND_LEAST 12    /* requests: fewer are the same by chance */
#define SECOND_MOST  250   /* more are not counted */
#define FASTER       1.02f /* times what was counted: a bucket takes the pace itself */
#define OUTLASTED_S  1.15f /* a pace that was kept for longer ... */
#define OUTPACED     1.1f  /* ... and was less than this: it was counted itself */
#define UNEVEN       1.4f  /* times the mean deviation of latencies, in seconds: stays unused ... */
#define UNEVEN_MOST  0.08f /* ... but no more than this */
#define LATE_MOST    (60 * FB_NS_PER_S) /* later is long ago */

static int64_t sent_ns(const struct answer *a)
{
    return a->now_ns - fb_clamp64(a->outcome->latency_ns, 0, LATE_MOST);
}

/* They come round after two hours, and may be a second wrong then. */
static uint16_t bin_of(int64_t at_ns)
{
    return (uint16_t)((uint64_t)at_ns >> LOG_SHIFT);
}

/* What is too long ago, or to come, counts nothing. */
static float count_of(const struct probe *p, uint16_t bin)
{
    return (uint16_t)(p->log_bin - bin) < PROBE_LOG ? (float)p->log.count[bin % PROBE_LOG] : 0.0f;
}

static void move_on(struct probe *p, uint16_t bin)
{
    uint16_t steps = (uint16_t)(bin - p->log_bin);

    assert(steps > 0 && !fb_probe_was_told(p));
    if (steps >= PROBE_LOG)
        memset(p->log.count, 0, sizeof(p->log.count));
    else
        for (uint16_t i = 1; i <= steps; i++)
            p->log.count[(uint16_t)(p->log_bin + i) % PROBE_LOG] = 0;
    p->log_bin = bin;
}

void fb_probe_log(struct probe *p, const struct answer *a)
{
    uint16_t bin = bin_of(sent_ns(a));
    uint16_t behind = (uint16_t)(p->log_bin - bin);

    assert(p->episode == EPISODE_NONE);
    if (fb_probe_was_told(p) || (behind >= PROBE_LOG && behind <= INT16_MAX))
        return;
    if (behind > INT16_MAX)
        move_on(p, bin);
    uint8_t *count = &p->log.count[bin % PROBE_LOG];
    *count = *count < SECOND_MOST ? *count + 1 : SECOND_MOST;
}

void fb_probe_log_anew(struct probe *p, const struct answer *a)
{
    bool told = fb_probe_was_told(p);

    p->sway_s = told ? 0.0f : (float)p->log.sway_ms / 1000.0f; /* the pause is over */
    p->log_bin = (uint16_t)(bin_of(sent_ns(a)) - PROBE_LOG);
    p->slotted = false;
    fb_probe_log(p, a);
}

static uint8_t accepted_before(const struct probe *p, int64_t till_ns)
{
    int64_t from_ns = till_ns - FB_NS_PER_S;
    int64_t whole_ns = INT64_C(1) << LOG_SHIFT;
    float rest = (float)(whole_ns - (from_ns & (whole_ns - 1))) / (float)whole_ns;
    uint16_t bin = bin_of(from_ns);
    float sum = rest * count_of(p, bin);

    assert(rest > 0.0f && rest <= 1.0f);
    while (bin != bin_of(till_ns))
        sum += count_of(p, ++bin);
    return (uint8_t)fb_minf(sum + 0.5f, SECOND_MOST);
}

/* What was refused within a second of the other has a part of that second in common with it. */
void fb_probe_count_second(struct probe *p, const struct answer *a)
{
    int64_t till_ns = sent_ns(a);

    assert(p->episode == EPISODE_NONE);
    if (fb_probe_was_told(p))
        return;
    p->log.sway_ms = (unsigned)fb_minf(1000.0f * p->sway_s, 127.0f) & 127u;
    if (p->refused_ns != FB_LONG_AGO && till_ns - p->refused_ns < FB_NS_PER_S)
        return;
    p->log.second_before = p->log.second;
    p->log.second = accepted_before(p, till_ns);
}

/* Of what was under way with the one that was refused about half was before it. */
void fb_probe_also_accepted(struct probe *p)
{
    assert(p->episode != EPISODE_NONE);

    if (p->also_accepted == UINT8_MAX)
        return;
    if (++p->also_accepted % 2 == 0 && !fb_probe_was_told(p) && p->log.second < SECOND_MOST)
        p->log.second++;
}

/* What of a second came in another one, at the most that is believed. */
static float uneven(const struct probe *p)
{
    return fb_minf(UNEVEN * (float)p->log.sway_ms / 1000.0f, UNEVEN_MOST);
}

float fb_probe_second(const struct probe *p)
{
    return 0.5f * p->unit * (float)(p->log.second + p->log.second_before);
}

float fb_probe_margin_of_second(const struct probe *p, float limit)
{
    assert(limit > 0.0f && !fb_probe_was_told(p));

    return fb_maxf(MARGIN, fb_maxf(uneven(p), 1.2f * p->unit / limit));
}

void fb_probe_wait_second(struct probe *p)
{
    assert(fb_probe_by_second(p) && p->episode == EPISODE_NONE);

    p->block_ns = fb_after(p->refused_ns, FB_NS_PER_S + 20 * FB_NS_PER_MS);
}

static bool agree(const struct probe *p)
{
    int off = p->log.second - p->log.second_before;

    return (float)(off < 0 ? -off : off) <= 0.6f + (0.03f + uneven(p)) * (float)p->log.second;
}

/*
 * A window that slides refuses a higher pace within its second. After more than that what was
 * accepted in a second is the pace itself, which is the same as often as it is kept.
 */
static bool is_pace(const struct probe *p)
{
    float lasted_s = fb_secs(p->refused_ns - p->step_ns);

    return lasted_s > OUTLASTED_S && p->rate < OUTPACED * fb_probe_second(p);
}

bool fb_probe_is_second(const struct probe *p)
{
    assert(p->rate > 0.0f && p->unit >= 1.0f);

    if (fb_probe_was_told(p) || p->window_s > 0.0f || !fb_probe_climbing(p))
        return false;
    if (p->log.second < SECOND_LEAST || p->log.second >= SECOND_MOST || !agree(p))
        return false;
    if (is_pace(p))
        return false;
    return p->rate > (FASTER - uneven(p)) * fb_probe_second(p);
}
