/* SPDX-License-Identifier: MIT */
/* plan.c - what is so unless somebody says otherwise, and what cannot be so. */
#include <errno.h>
#include <string.h>

#include <flyball/flyball.h>

#include "core/instant.h"
#include "util/alloc.h"
#include "util/text.h"
#include "watch/inside.h"

#define S_NS FB_NS_PER_S
#define HOUR (3600 * S_NS)

void fb_watch_plan_init(struct watch_plan *p)
{
    *p = (struct watch_plan){
        .interval_ns = 5 * S_NS,
        .idle_ns = 30 * S_NS,
        .list_ns = 15 * S_NS,
        .ttl_ns =
            {[ITEM_live] = 15 * S_NS, [ITEM_imminent] = 90 * S_NS, [ITEM_completed] = 24 * HOUR},
        .static_ns = 18 * HOUR,
        .absent_ns = 60 * S_NS,
        .final_ns = 24 * HOUR,
        .history = 5,
        .concurrency = 40,
        .queue_max = 1000,
        .items_max = 200000,
        .attempts = 3,
        .pause_failures = 5,
        .pause_ns = 300 * S_NS,
        .down_failures = 5,
        .down_ns = 15 * S_NS,
        .odd_ns = 60 * S_NS,
        .recycle_ns = 6 * HOUR,
        .recycle_looks = 10000,
        .seed = 1,
    };
    fb_freshness_aims_init(&p->aims);
    fb_health_limits_init(&p->health);
    fb_reliability_limits_init(&p->reliability);
}

/* ---- what cannot be so ---- */

/* A number of the plan, and where it must lie. */
struct bound {
    const char *name;
    int64_t value;
    int64_t least;
    int64_t most;
};

static int complain(struct fly_error *err, const char *name, const char *what)
{
    struct text t;

    if (err) {
        fb_text_init(&t, err->text, sizeof(err->text));
        fb_text_add(&t, name);
        fb_text_add(&t, ": ");
        fb_text_add(&t, what);
    }
    return -EINVAL;
}

static int check_bounds(const struct bound *b, size_t count, struct fly_error *err)
{
    for (size_t i = 0; i < count; i++)
        if (b[i].value < b[i].least || b[i].value > b[i].most)
            return complain(err, b[i].name, "out of range");
    return 0;
}

static int check_domain(const struct watch_plan *p, size_t n, struct fly_error *err)
{
    const struct watch_domain_plan *d = &p->domain[n];

    if (!d->name || d->name[0] == '\0' || strlen(d->name) >= WATCH_ID_BYTES)
        return complain(err, "domain", "it needs a name of at most 255 bytes");
    if (!(d->weight > 0 && d->weight <= 1e6))
        return complain(err, d->name, "its weight must be above 0");
    if (d->concurrency < 1)
        return complain(err, d->name, "its concurrency must be at least 1");
    for (size_t i = 0; i < n; i++)
        if (strcmp(p->domain[i].name, d->name) == 0)
            return complain(err, d->name, "two domains have this name");
    return 0;
}

int fb_watch_plan_check(const struct watch_plan *p, struct fly_error *err)
{
    const int64_t most_ns = 400 * 24 * HOUR;
    const struct bound bounds[] = {
        {"interval", p->interval_ns, FB_NS_PER_MS, HOUR},
        {"idle", p->idle_ns, p->interval_ns, 24 * HOUR},
        {"list", p->list_ns, FB_NS_PER_MS, 24 * HOUR},
        {"aim of live items", p->aims.aim_ns[ITEM_live], FB_NS_PER_MS, most_ns},
        {"aim of imminent items", p->aims.aim_ns[ITEM_imminent], FB_NS_PER_MS, most_ns},
        {"aim of completed items", p->aims.aim_ns[ITEM_completed], FB_NS_PER_MS, most_ns},
        {"degraded", p->health.degraded_ns, 1, most_ns},
        {"failing", p->health.failing_ns, p->health.degraded_ns, most_ns},
        {"stalled", p->health.stall_ns, 1, most_ns},
        {"recovery", p->health.recovery_ns, 1, most_ns},
        {"latency", p->reliability.latency_ns, 1, most_ns},
        {"static", p->static_ns, 1, most_ns},
        {"absent", p->absent_ns, 0, most_ns},
        {"final", p->final_ns, 0, most_ns},
        {"history", p->history, 1, WATCH_HISTORY_MAX},
        {"concurrency", p->concurrency, 1, 100000},
        {"queue", p->queue_max, 1, 100000000},
        {"items", p->items_max, 1, 100000000},
        {"attempts", p->attempts, 1, 1000000},
        {"pause after failures", p->pause_failures, 0, 1000000},
        {"pause", p->pause_ns, 0, most_ns},
        {"down after failures", p->down_failures, 1, 1000000},
        {"down", p->down_ns, FB_NS_PER_MS, most_ns},
        {"odd", p->odd_ns, 0, most_ns},
        {"recycle", p->recycle_ns, 0, most_ns},
        {"domains", (int64_t)p->domain_count, 0, WATCH_DOMAINS_MAX},
    };
    int r = check_bounds(bounds, sizeof(bounds) / sizeof(bounds[0]), err);

    for (size_t i = 0; r == 0 && i < p->domain_count; i++)
        r = check_domain(p, i, err);
    return r;
}

/* ---- domains ---- */

struct domain *fb_watch_domain_new(const struct watch_domain_plan *p)
{
    struct domain *d = fb_alloc(sizeof(*d));
    size_t size = strlen(p->name) + 1;
    char *name = fb_alloc(size);

    if (!d || !name) {
        fb_free(d);
        fb_free(name);
        return NULL;
    }
    memcpy(name, p->name, size);
    d->plan = *p;
    d->plan.name = name;
    d->score = 1;
    d->rank = p->weight;
    d->ready_ns = d->trial_ns = FB_LONG_AGO;
    return d;
}

void fb_watch_domain_free(struct domain *d)
{
    if (!d)
        return;
    /* It was allocated by us above; only others must not write to it. */
    fb_free((void *)(uintptr_t)d->plan.name);
    fb_free(d);
}
