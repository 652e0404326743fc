/* SPDX-License-Identifier: MIT */
/*
 * metrics_watch.c - how fresh watched items are, and how each source fares: a table of families.
 *
 * Sources have the label `domain`. Read from the watcher when they are asked for: nothing lags.
 */
#include <math.h>
#include <stddef.h>

#include "daemon/metrics.h"
#include "watch/say_parts.h"
#include "watch/show.h"

struct watch_scrape {
    struct exposition *x;
    const struct watch *w;
    struct watch_figures f;
    uint32_t domains;
    struct watch_domain_view domain[WATCH_DOMAINS_MAX];
};

struct watch_family {
    struct metric_family head;
    void (*samples)(struct watch_scrape *s);
};

static void sample(struct watch_scrape *s, const char *name, const char *value, double number)
{
    const struct metric_label label = {name, value};

    fb_metric_sample(s->x, &label, name ? 1 : 0, number);
}

static const char *state_name(int state)
{
    return fb_item_state_name((enum item_state)state);
}

/* ---- items ---- */

static void ages(struct watch_scrape *s)
{
    /* Not "quantile": that label is for summaries. */
    static const char *const PERCENTILES[] = {"50", "95", "100"};

    for (int state = 0; state < ITEM_STATES; state++) {
        const struct freshness_spread *f = &s->f.spread[state];
        const int64_t age_ns[] = {f->p50_ns, f->p95_ns, f->oldest_ns};

        for (int q = 0; q < 3; q++) {
            const struct metric_label label[] = {{"state", state_name(state)},
                                                 {"percentile", PERCENTILES[q]}};

            fb_metric_sample(s->x, label, 2, (double)age_ns[q] / 1e9);
        }
    }
}

static void grades(struct watch_scrape *s)
{
    for (int grade = 0; grade < HEALTHS; grade++)
        sample(s, "grade", fb_health_name((enum health)grade), s->f.grade == (enum health)grade);
}

#define BY_STATE(called, field)                                               \
    static void called(struct watch_scrape *s)                                \
    {                                                                         \
        for (int state = 0; state < ITEM_STATES; state++)                     \
            sample(s, "state", state_name(state), (double)s->f.field[state]); \
    }

BY_STATE(items, items)
BY_STATE(queued, queued_by)
BY_STATE(hits, hits)
BY_STATE(misses, misses)

#define FIGURE(called, value)                   \
    static void called(struct watch_scrape *s)  \
    {                                           \
        sample(s, NULL, NULL, (double)(value)); \
    }

FIGURE(paused, s->f.paused)
FIGURE(in_flight, s->f.in_flight)
FIGURE(in_flight_most, s->f.in_flight_most)
FIGURE(violations, s->f.violations)
FIGURE(deferred, s->f.deferred)
FIGURE(recoveries, s->f.recoveries)
FIGURE(recycles, s->f.recycles)
FIGURE(changes, s->f.changes)
FIGURE(intervals, s->f.intervals)
FIGURE(memory, s->f.memory_bytes + s->f.payload_bytes)

/* Of what nobody asked for there is none. */
static void hit_ratio(struct watch_scrape *s)
{
    for (int state = 0; state < ITEM_STATES; state++) {
        double ratio = fb_say_hit_rate_of(&s->f, (enum item_state)state);

        if (!isnan(ratio))
            sample(s, "state", state_name(state), ratio);
    }
}

static void warnings(struct watch_scrape *s)
{
    for (int kind = 0; kind < WATCH_WARNING_KINDS; kind++)
        sample(s, "kind", fb_watch_warning_name((enum watch_warning_kind)kind),
               (double)fb_watch_warned(s->w, (enum watch_warning_kind)kind));
}

/* ---- sources ---- */

#define BY_DOMAIN(called, value)                               \
    static void called(struct watch_scrape *s)                 \
    {                                                          \
        for (uint32_t i = 0; i < s->domains; i++) {            \
            const struct watch_domain_view *v = &s->domain[i]; \
                                                               \
            sample(s, "domain", v->name, (double)(value));     \
        }                                                      \
    }

BY_DOMAIN(enabled, v->is_enabled)
BY_DOMAIN(demoted, v->is_demoted)
BY_DOMAIN(down, v->is_down)
BY_DOMAIN(reliability, v->reliability.score)
BY_DOMAIN(precedence, v->rank)
BY_DOMAIN(failure_rate, v->reliability.failure_rate)
BY_DOMAIN(latency, (double)v->reliability.latency_ns / 1e9)
BY_DOMAIN(active, v->in_flight)
BY_DOMAIN(mapped, v->items)
BY_DOMAIN(unmapped, v->unmapped)
BY_DOMAIN(waits, v->waits)
BY_DOMAIN(retries, v->retries)
BY_DOMAIN(fields, v->wins)
BY_DOMAIN(free_looks, v->was_free)
BY_DOMAIN(killed, v->was_killed)

static void looks(struct watch_scrape *s)
{
    static const char *const ENDS[] = {
        [LOOK_OK] = "ok", [LOOK_SAME] = "same", [LOOK_ABSENT] = "absent", [LOOK_FAILED] = "failed"};

    for (uint32_t i = 0; i < s->domains; i++) {
        for (int end = LOOK_OK; end <= LOOK_FAILED; end++) {
            const struct metric_label label[] = {{"domain", s->domain[i].name},
                                                 {"outcome", ENDS[end]}};

            fb_metric_sample(s->x, label, 2, (double)s->domain[i].ended[end]);
        }
    }
}

#define C METRIC_COUNTER
#define G METRIC_GAUGE

static const struct watch_family FAMILIES[] = {
    {{"flyball_freshness_age_seconds", G, "seconds", "Ages of items, by percentile."}, ages},
    {{"flyball_watch_health", G, NULL, "1 for the grade that holds."}, grades},
    {{"flyball_watch_items", G, NULL, "Items, by state."}, items},
    {{"flyball_watch_paused", G, NULL, "Items that are left alone for a time."}, paused},
    {{"flyball_watch_queue_length", G, NULL, "Looks that are due and wait."}, queued},
    {{"flyball_watch_in_flight", G, NULL, "Looks under way."}, in_flight},
    {{"flyball_watch_in_flight_peak", G, NULL, "The most of them ever."}, in_flight_most},
    {{"flyball_watch_cap_violations", C, NULL, "Looks above a cap."}, violations},
    {{"flyball_watch_deferred", C, NULL, "Looks that had no room in the queue."}, deferred},
    {{"flyball_watch_cache_hits", C, NULL, "Requests for items that were fresh enough."}, hits},
    {{"flyball_watch_cache_misses", C, NULL, "Requests for items that were not."}, misses},
    {{"flyball_watch_cache_hit_ratio", G, NULL, "The share of the former, of what was asked for."},
     hit_ratio},
    {{"flyball_watch_changes", C, NULL, "Versions made."}, changes},
    {{"flyball_watch_intervals", C, NULL, "Times that freshness was judged."}, intervals},
    {{"flyball_watch_recoveries", C, NULL, "Recoveries begun."}, recoveries},
    {{"flyball_watch_recycles", C, NULL, "Times that all began anew."}, recycles},
    {{"flyball_watch_warnings", C, NULL, "Warnings about ids, by kind."}, warnings},
    {{"flyball_watch_memory_bytes", G, "bytes", "Memory of items and what they say."}, memory},
    {{"flyball_source_looks", C, NULL, "Looks that ended, by outcome."}, looks},
    {{"flyball_source_enabled", G, NULL, "1 while it is asked."}, enabled},
    {{"flyball_source_demoted", G, NULL, "1 while it comes behind the others."}, demoted},
    {{"flyball_source_down", G, NULL, "1 while it answers nothing."}, down},
    {{"flyball_source_reliability_ratio", G, NULL, "How far it can be relied on."}, reliability},
    {{"flyball_source_precedence", G, NULL, "Its weight times that."}, precedence},
    {{"flyball_source_failure_ratio", G, NULL, "Of its latest looks."}, failure_rate},
    {{"flyball_source_latency_seconds", G, "seconds", "The mean of its latest looks."}, latency},
    {{"flyball_source_in_flight", G, NULL, "Looks under way there."}, active},
    {{"flyball_source_items", G, NULL, "Items that it has an id for."}, mapped},
    {{"flyball_source_unmapped", G, NULL, "Items that it has none for."}, unmapped},
    {{"flyball_source_waits", C, NULL, "Looks that had to wait for a permit."}, waits},
    {{"flyball_source_retries", C, NULL, "Looks after a failure of the same item."}, retries},
    {{"flyball_source_free", C, NULL, "Looks that cost no permit."}, free_looks},
    {{"flyball_source_children_killed", C, NULL,
      "Processes that read its answers, for time or size."},
     killed},
    {{"flyball_source_fields", G, NULL, "Fields of items that are its own."}, fields},
};

void fb_metrics_watch(const struct watch *w, struct exposition *x)
{
    struct watch_scrape s = {.x = x, .w = w};

    fb_watch_figures(w, &s.f);
    s.domains = (uint32_t)fb_watch_plan(w)->domain_count;
    for (uint32_t i = 0; i < s.domains; i++)
        fb_watch_domain(w, i, &s.domain[i]);
    for (size_t i = 0; i < sizeof FAMILIES / sizeof FAMILIES[0]; i++) {
        fb_metric_begin(x, &FAMILIES[i].head);
        FAMILIES[i].samples(&s);
    }
}
