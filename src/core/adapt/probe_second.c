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
#define DOUBTED      0.93f /* times that: an uneven line refuses so much less, too */
#define UNEVEN       1.4f  /* times the mean deviation of latencies, in seconds: may be elsewhere */
#define UNEVEN_MOST  0.08f /* ... but no more than this */
#define ABOUT        2.0f  /* times what counts may differ by: they may be of the same number */
#define SWAYS        3.8f  /* standard deviations of what arrives in a second stay unused ... */
#define SWAYS_MOST   0.085f /* ... but no more than this */
#define ROUND_NEAR   0.93f  /* of a number that people use: it is meant */
#define MORE         0.01f  /* of the limit is left in addition, on an uneven line ... */
#define MORE_FROM    0.1f   /* ... and 2 x MARGIN where that much did not help ... */
#define MORE_MOST    0.12f  /* ... up to this */
#define MADE_UP      0.8f   /* of what is left, on an uneven line */
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
    p->slotted = p->own_all = false;
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

/*
 * At either end of a second some of an even pace come on the other side: with latencies that
 * deviate by s on average the variance is about the pace x s. So much of a number stays unused.
 */
static float kept_of(const struct probe *p, float number)
{
    float sway_s = (float)p->log.sway_ms / 1000.0f;
    float sways = SWAYS * __builtin_sqrtf(sway_s * p->unit / number);

    assert(number > 0.0f && !fb_probe_was_told(p));
    return number * (1.0f - fb_maxf(fb_minf(sways, SWAYS_MOST), 1.2f * p->unit / number));
}

/* Limits as people choose them. */
static const float ROUND[] = {
    15.0f, 20.0f, 25.0f, 30.0f, 40.0f, 50.0f, 60.0f, 75.0f, 100.0f, 120.0f, 150.0f, 200.0f, 250.0f,
};

/* What was counted over an uneven line is wrong by some. 0: no number that people use is near. */
static float near_round(const struct probe *p)
{
    float counted = fb_probe_second(p);

    assert(counted > 0.0f);
    for (size_t i = 0; fb_probe_is_uneven(p) && i < sizeof(ROUND) / sizeof(ROUND[0]); i++)
        if (counted > ROUND_NEAR * ROUND[i] && ROUND_NEAR * counted < ROUND[i])
            return ROUND[i];
    return 0.0f;
}

float fb_probe_number_of_second(const struct probe *p)
{
    float number = near_round(p);

    return number > 0.0f ? number : fb_probe_second(p);
}

/* What was counted itself cannot be more than the pace. */
static float meant(const struct probe *p)
{
    float number = near_round(p);

    return number > 0.0f ? number : fb_minf(fb_probe_second(p), p->rate);
}

/* Whatever is meant, the pace was refused. */
float fb_probe_limit_of_second(const struct probe *p)
{
    return fb_minf(meant(p), p->rate);
}

/* What is left of the number that is meant is less of a limit that is below it. */
float fb_probe_margin_of_second(const struct probe *p, float limit)
{
    assert(limit > 0.0f);

    return fb_maxf(MARGIN, 1.0f - kept_of(p, fb_maxf(meant(p), limit)) / limit);
}

bool fb_probe_may_leave_more(const struct probe *p)
{
    return p->margin < (fb_probe_is_uneven(p) ? MORE_MOST : 6.0f * MARGIN);
}

/* On an even line something stood still for a moment: that comes rarely. */
void fb_probe_leave_more(struct probe *p)
{
    assert(fb_probe_may_leave_more(p));

    if (!fb_probe_is_uneven(p))
        p->margin += MARGIN;
    else
        p->margin += p->margin < MORE_FROM ? MORE : 2.0f * MARGIN;
}

/* What leaves late is no loss where one more is left, or several that an uneven line needs. */
float fb_probe_credit_of_second(const struct probe *p)
{
    float left = fb_probe_is_uneven(p) ? MADE_UP * p->margin * p->limit : 0.0f;

    return fb_maxf(2.0f * p->unit, left);
}

void fb_probe_wait_second(struct probe *p)
{
    assert(fb_probe_by_second(p) && p->episode == EPISODE_NONE);

    if (fb_probe_is_uneven(p)) /* what is left is enough for that */
        return;
    p->block_ns = fb_after(p->refused_ns, FB_NS_PER_S + 20 * FB_NS_PER_MS);
}

/* Whether the last two counts differ by no more than so many times what an uneven line does. */
static bool agree(const struct probe *p, float times)
{
    int off = p->log.second - p->log.second_before;
    float share = 0.03f + uneven(p);

    return (float)(off < 0 ? -off : off) <= times * (0.6f + share * (float)p->log.second);
}

static bool is_counted(const struct probe *p, float times)
{
    return p->log.second >= SECOND_LEAST && p->log.second < SECOND_MOST && agree(p, times);
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

/*
 * What is in doubt has a pace of its own, by what was let through of that under way: that a bucket
 * refuses after as many in a second as at the end of the climb would be chance.
 */
static bool is_doubted(const struct probe *p)
{
    return p->phase == PROBE_DOUBT && p->lean < 0.0f && fb_probe_is_uneven(p);
}

bool fb_probe_is_second(const struct probe *p)
{
    assert(p->rate > 0.0f && p->unit >= 1.0f);

    if (fb_probe_was_told(p) || p->window_s > 0.0f || !fb_probe_climbing(p))
        return false;
    if (!is_counted(p, 1.0f))
        return false;
    if (is_doubted(p))
        return p->rate > DOUBTED * fb_probe_second(p);
    if (is_pace(p))
        return false;
    return p->rate > (FASTER - uneven(p)) * fb_probe_second(p);
}

/*
 * That it was refused does not tell a window from a bucket, but that this pace is not refused any
 * more does. So the two counts need not agree as well as where they are all that is known.
 */
float fb_probe_pace_of_second(const struct probe *p)
{
    assert(p->unit >= 1.0f);

    if (!fb_probe_is_uneven(p) || p->window_s > 0.0f || !is_counted(p, ABOUT))
        return 0.0f;
    return kept_of(p, fb_probe_number_of_second(p));
}

/* So many a second, and some of them are left: then one may be late without being lost. */
void fb_probe_settle_by_second(struct probe *p, float limit, const struct answer *a)
{
    assert(limit > 0.0f && p->window_s <= 0.0f);

    p->surprises = 0;
    p->cuts = 1;
    p->looked = true;
    p->burst = 0.0f;
    if (p->told_left == -1.0f) /* else what is told or kept lies there */
        p->too_fast = 0.0f;
    p->limit = limit;
    fb_probe_set_by_second(p, true);
    p->margin = fb_probe_margin_of_second(p, limit);
    p->changed_ns = a->now_ns;
    fb_probe_settle(p, limit, 200.0f, a);
}
