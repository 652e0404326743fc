/* SPDX-License-Identifier: MIT */
/*
 * reliability.c - a ring of the latest requests, and what it says.
 *
 * The figures are counted afresh from the ring each time: 64 are few, and nothing can drift.
 */
#include "core/reliability.h"

#include <assert.h>

#include "core/instant.h"

#define FAILED (-1)

void fb_reliability_limits_init(struct reliability_limits *l)
{
    *l = (struct reliability_limits){
        .window_ns = 600 * FB_NS_PER_S,
        .latency_ns = 2 * FB_NS_PER_S,
        .demote = 0.5,
        .restore = 0.7,
    };
}

void fb_reliability_init(struct reliability *r)
{
    *r = (struct reliability){.count = 0};
}

static void add(struct reliability *r, int64_t latency_ns, int64_t now_ns)
{
    assert(r->next < FB_RELIABILITY_LAST && r->count <= FB_RELIABILITY_LAST);
    r->last[r->next] = (struct reliability_sample){.at_ns = now_ns, .latency_ns = latency_ns};
    r->next = (r->next + 1) % FB_RELIABILITY_LAST;
    if (r->count < FB_RELIABILITY_LAST)
        r->count++;
}

void fb_reliability_on_success(struct reliability *r, int64_t latency_ns, int64_t now_ns)
{
    /* Sums of 64 stay in range. */
    add(r, fb_clamp64(latency_ns, 0, FB_TIME_MAX / FB_RELIABILITY_LAST), now_ns);
}

void fb_reliability_on_failure(struct reliability *r, int64_t now_ns)
{
    add(r, FAILED, now_ns);
}

/* 1 up to what is expected, then in proportion. */
static double promptness(int64_t latency_ns, int64_t expected_ns)
{
    assert(latency_ns >= 0 && expected_ns > 0);
    return latency_ns <= expected_ns ? 1.0 : (double)expected_ns / (double)latency_ns;
}

struct reliability_figures fb_reliability_figures(const struct reliability *r,
                                                  const struct reliability_limits *l,
                                                  int64_t now_ns)
{
    struct reliability_figures f = {.requests = 0};
    uint32_t failures = 0;
    int64_t sum_ns = 0;

    assert(l->latency_ns > 0 && l->window_ns >= 0);
    for (uint32_t i = 0; i < r->count; i++) {
        if (now_ns - r->last[i].at_ns > l->window_ns)
            continue;
        f.requests++;
        failures += r->last[i].latency_ns == FAILED;
        sum_ns += fb_max64(0, r->last[i].latency_ns);
    }
    assert(failures <= f.requests && f.requests <= FB_RELIABILITY_LAST);
    uint32_t successes = f.requests - failures;
    if (successes > 0)
        f.latency_ns = sum_ns / successes;
    if (f.requests > 0)
        f.failure_rate = (double)failures / f.requests;
    f.score = (double)(successes + FB_RELIABILITY_PRIOR) / (f.requests + FB_RELIABILITY_PRIOR) *
              promptness(f.latency_ns, l->latency_ns);
    assert(f.score >= 0.0 && f.score <= 1.0);
    return f;
}

bool fb_reliability_judge(struct reliability *r, const struct reliability_limits *l, int64_t now_ns)
{
    double score = fb_reliability_figures(r, l, now_ns).score;
    bool was = r->demoted;

    assert(l->demote <= l->restore);
    r->demoted = score < (was ? l->restore : l->demote);
    return r->demoted != was;
}
