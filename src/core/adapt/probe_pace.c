/* SPDX-License-Identifier: MIT */
/*
 * probe_pace.c - what the constraints shall keep, read off the belief in one place.
 *
 * Mostly that is the pace itself. After idling the provider has filled up, and what it stores may
 * leave at once: from a bucket as much as it was seen to store, and carefully more until it
 * refuses; from a window a whole quota, and the next one a window later.
 */
#include <assert.h>

#include "core/adapt/probe_parts.h"
#include "core/controller.h"

#define SLOWEST     0.0001f /* units a second: whatever is believed, some leave */
#define QUOTA_SHARE 0.95f   /* of a quota is spent at once: it may be a little less */
#define QUOTAS_MAX  4       /* one after the other; then evenly again */
#define CATCH_UP    8.0f    /* requests: made up for at once where places are counted */
#define STORE_SHARE 0.25f   /* of what is told to be left makes up for what left late */

static float bounded(const struct probe *p, float rate)
{
    if (p->ceiling > 0.0f)
        rate = fb_minf(rate, p->ceiling);
    if (p->told_until_ns != FB_LONG_AGO)
        rate = fb_minf(rate, p->told);
    return fb_maxf(rate, fb_maxf(p->floor, SLOWEST));
}

/* ---- after idling ---- */

/* The provider has filled up, and nothing was refused since. */
static bool may_burst(const struct probe *p)
{
    return p->bursting && p->lean < 0.0f && p->episode == EPISODE_NONE &&
           p->told_until_ns == FB_LONG_AGO;
}

/* What is tried after idling. */
enum idle_use {
    USE_EVENLY,
    USE_STORE, /* not known yet: two at a time, as fast as they go, until it refuses */
    USE_QUOTA, /* a whole one at once */
};

static enum idle_use idle_use(const struct probe *p)
{
    if (!may_burst(p))
        return USE_EVENLY;
    if (p->window_s > 0.0f)
        return p->opening_seen ? USE_QUOTA : USE_EVENLY;
    bool known = p->burst_found || fb_probe_by_second(p);
    return !known && p->ahead >= 0.5f * p->burst ? USE_STORE : USE_EVENLY;
}

bool fb_probe_spends_quota(const struct probe *p)
{
    return idle_use(p) == USE_QUOTA;
}

bool fb_probe_spend_quota(struct probe *p, const struct ask *q)
{
    float quota = p->limit * p->window_s;

    assert(fb_probe_spends_quota(p) && p->quotas < QUOTAS_MAX);
    if (fb_secs(q->now_ns - p->opened_ns) >= p->window_s) {
        p->opened_ns = q->now_ns;
        p->spent = 0.0f;
        return true;
    }
    if (p->spent + (float)(q->units_out + q->cost) < QUOTA_SHARE * quota)
        return false;
    p->block_ns = fb_after(p->opened_ns, fb_span(p->window_s));
    p->bursting = ++p->quotas < QUOTAS_MAX;
    return true;
}

/* Whether it is open again is not known before more was accepted than was left. */
static int64_t quota_in_flight_max(const struct probe *p)
{
    float share = p->spent / (p->limit * p->window_s);

    assert(share >= 0.0f);
    if (p->quotas > 0 && share < 1.6f * (1.0f - QUOTA_SHARE))
        return 2;
    return share > 0.7f ? 4 : FB_NO_CAP; /* it may be less than was believed */
}

/* ---- the pace ---- */

/*
 * So much may leave at once: most of what the provider was seen to store. During an episode and
 * while looking upward nothing is saved up, for the provider is being measured.
 */
static float credit_max(const struct probe *p)
{
    assert(p->burst >= 0.0f);
    if (p->episode != EPISODE_NONE || p->phase == PROBE_TRIAL)
        return 1.0f;
    if (p->lean >= 0.0f)
        return fb_probe_cycle_credit(p);
    if (fb_probe_slides(p)) /* what leaves late is no loss where one more is left, or many */
        return fb_maxf(p->slotted ? CATCH_UP : 2.0f * p->unit, STORE_SHARE * p->told_left);
    if (p->window_s > 0.0f)
        return 1.0f;
    if (fb_probe_by_second(p)) /* likewise */
        return fb_probe_credit_of_second(p);
    return fb_maxf(1.0f, (p->burst_found ? 0.95f : 0.8f) * p->burst);
}

/*
 * What a stalled network holds back arrives at once: no more than four times what the pace needs,
 * as a power of two, so that it changes rarely. Where answers take long that says nothing.
 */
static int64_t under_way_max(const struct probe *p)
{
    float needed = 4.0f * p->rate * p->latency_s / p->unit;

    assert(needed >= 0.0f);
    if (needed >= 64.0f || p->latency_s <= 0.0f || p->latency_s > 1.0f)
        return FB_NO_CAP;
    return needed < 2.0f ? 2 : INT64_C(1) << (32 - __builtin_clz((unsigned)needed));
}

static int64_t in_flight_max(const struct probe *p, enum idle_use use)
{
    if (fb_probe_verifying(p) && p->told_left <= 32.0f * p->unit)
        return 1; /* one refusal is enough to see that "0 left" means it */
    if (use == USE_STORE)
        return 2;
    if (use == USE_QUOTA)
        return quota_in_flight_max(p);
    if (fb_probe_crowded(p))
        return p->crowd_min - 1;
    return p->phase == PROBE_FIRST || p->bursting ? FB_NO_CAP : under_way_max(p);
}

static float pace_now(const struct probe *p, enum idle_use use)
{
    if (use == USE_STORE)
        return fb_maxf(p->rate, fb_maxf(32.0f * p->unit, 8.0f * p->limit));
    assert(use != USE_QUOTA || p->window_s > 0.0f);
    if (use == USE_QUOTA)
        return p->limit * fb_maxf(1.0f, p->window_s); /* a whole quota in a second */
    return p->rate;
}

bool fb_probe_sync(const struct probe *p, struct pace *pace)
{
    enum idle_use use = idle_use(p);
    struct pace is = {
        .burst = credit_max(p),
        .rate = (double)bounded(p, pace_now(p, use)),
        .not_before_ns = p->episode == EPISODE_PINGED ? FB_NEVER : p->block_ns,
        .in_flight_max = in_flight_max(p, use),
        .limit_share = pace->limit_share,
    };

    assert(p->limit > 0.0f && p->rate > 0.0f);
    assert(is.burst >= 1.0f && is.in_flight_max >= 1);
    if (is.rate == pace->rate && is.burst == pace->burst &&
        is.not_before_ns == pace->not_before_ns && is.in_flight_max == pace->in_flight_max)
        return false;
    *pace = is;
    return true;
}
