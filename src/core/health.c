/* SPDX-License-Identifier: MIT */
/*
 * health.c - four grades, and one function that moves between them.
 *
 * Invariant: a recovery is asked for only where nothing succeeds, and never while one is under way.
 */
#include "core/health.h"

#include <assert.h>

#include "core/instant.h"

#define DOUBLINGS_MAX 20 /* more than enough to reach any patience */

void fb_health_limits_init(struct health_limits *l)
{
    *l = (struct health_limits){
        .degraded_ns = 60 * FB_NS_PER_S,
        .failing_ns = 120 * FB_NS_PER_S,
        .stall_ns = 90 * FB_NS_PER_S,
        .recovery_ns = 120 * FB_NS_PER_S,
        .patience_ns = 1800 * FB_NS_PER_S,
        .well_ns = 600 * FB_NS_PER_S,
    };
}

void fb_health_init(struct health_state *h, int64_t now_ns)
{
    *h = (struct health_state){
        .grade = HEALTH_healthy,
        .since_ns = now_ns,
        .work_ns = FB_NEVER,
        .recovery_ns = FB_LONG_AGO,
    };
}

const char *fb_health_name(enum health grade)
{
#define X(name) #name,
    static const char *const names[] = {FB_HEALTHS(X)};
#undef X

    assert(grade < HEALTHS);
    return names[grade];
}

/* ---- what is so ---- */

static enum health grade_of_ages(const struct health_limits *l, const struct freshness_spread *live)
{
    assert(live->p50_ns <= live->p95_ns && live->p95_ns <= live->oldest_ns);
    assert(l->degraded_ns <= l->failing_ns);
    if (live->count == 0)
        return HEALTH_healthy;
    if (live->oldest_ns >= l->failing_ns)
        return HEALTH_failing;
    /* The median is never above the other. */
    return live->p95_ns >= l->degraded_ns ? HEALTH_degraded : HEALTH_healthy;
}

/* Work that has just begun has had no time to succeed. */
static void note_work(struct health_state *h, bool has_work, int64_t now_ns)
{
    if (!has_work)
        h->work_ns = FB_NEVER;
    else if (h->work_ns == FB_NEVER)
        h->work_ns = now_ns;
}

static bool is_stalled(const struct health_state *h, const struct health_limits *l,
                       const struct health_facts *f, int64_t now_ns)
{
    if (h->work_ns == FB_NEVER)
        return false;
    return now_ns - fb_max64(f->success_ns, h->work_ns) >= l->stall_ns;
}

/* ---- recoveries ---- */

int64_t fb_health_recovery_at(const struct health_state *h, const struct health_limits *l)
{
    int64_t span_ns = l->recovery_ns;

    assert(l->recovery_ns > 0 && h->recoveries >= 0);
    if (h->recoveries == 0)
        return FB_LONG_AGO;
    for (int i = 1; i < h->recoveries && i < DOUBLINGS_MAX && span_ns < l->patience_ns; i++)
        span_ns *= 2;
    assert(span_ns >= l->recovery_ns);
    return fb_after(h->recovery_ns, fb_max64(l->recovery_ns, fb_min64(span_ns, l->patience_ns)));
}

static bool is_under_way(const struct health_state *h, const struct health_limits *l,
                         int64_t now_ns)
{
    assert(h->grade != HEALTH_recovering || h->recoveries > 0);
    return h->grade == HEALTH_recovering && now_ns - h->recovery_ns < l->recovery_ns;
}

/* ---- the grade ---- */

static bool health_enter(struct health_state *h, enum health grade, int64_t now_ns)
{
    assert(grade < HEALTHS && now_ns >= h->since_ns);
    if (h->grade == grade)
        return false;
    h->grade = grade;
    h->since_ns = now_ns;
    return true;
}

static struct health_verdict on_stall(struct health_state *h, const struct health_limits *l,
                                      int64_t now_ns)
{
    if (is_under_way(h, l, now_ns))
        return (struct health_verdict){.changed = false};
    if (now_ns < fb_health_recovery_at(h, l))
        return (struct health_verdict){.changed = health_enter(h, HEALTH_failing, now_ns)};
    assert(h->recovery_ns <= now_ns && h->recoveries >= 0);
    h->recovery_ns = now_ns;
    h->recoveries++;
    return (struct health_verdict){
        .changed = health_enter(h, HEALTH_recovering, now_ns),
        .recover = true,
    };
}

struct health_verdict fb_health_judge(struct health_state *h, const struct health_limits *l,
                                      const struct health_facts *f, int64_t now_ns)
{
    enum health grade = grade_of_ages(l, &f->live);

    assert(now_ns >= h->since_ns);
    if (grade == HEALTH_healthy && f->is_overloaded)
        grade = HEALTH_degraded;
    note_work(h, f->has_work, now_ns);
    if (is_stalled(h, l, f, now_ns))
        return on_stall(h, l, now_ns);
    if (h->grade == HEALTH_healthy && now_ns - h->since_ns >= l->well_ns)
        h->recoveries = 0;
    /* Ages come down one by one: until they have, it is still recovering. */
    if (grade != HEALTH_healthy && is_under_way(h, l, now_ns))
        grade = HEALTH_recovering;
    return (struct health_verdict){.changed = health_enter(h, grade, now_ns)};
}
