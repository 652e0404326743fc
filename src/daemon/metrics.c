/* SPDX-License-Identifier: MIT */
/*
 * metrics.c - a table of families, each with the function that writes its samples.
 */
#include "daemon/metrics.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <flyball/flyball.h>

#include "daemon/grade.h"
#include "daemon/process.h"

/* What a function that writes samples is given. */
struct scrape {
    struct exposition x;
    const struct metrics_facts *f;
    const struct meters *m;
    struct process_facts process;
};

struct family {
    struct metric_family head;
    void (*samples)(struct scrape *s);
};

static void sample_of(struct scrape *s, size_t set, const char *name, const char *value,
                      double number)
{
    const struct metric_label label[] = {
        {"provider", s->m->set[set].provider}, {"pool", s->m->set[set].pool}, {name, value}};

    fb_metric_sample(&s->x, label, name ? 3 : 2, number);
}

/* ------------------------------------------------------------------------------ counters */

static void requests(struct scrape *s)
{
    for (size_t i = 0; i < s->m->sets; i++) {
        const struct meter_set *m = &s->m->set[i];

        sample_of(s, i, "outcome", "ok",
                  (double)(m->answers - m->errors - m->throttled - m->client_errors));
        sample_of(s, i, "outcome", "client_error", (double)m->client_errors);
        sample_of(s, i, "outcome", "throttled", (double)m->throttled);
        sample_of(s, i, "outcome", "error", (double)m->errors);
    }
}

static void throttled(struct scrape *s)
{
    for (size_t i = 0; i < s->m->sets; i++)
        sample_of(s, i, NULL, NULL, (double)s->m->set[i].throttled);
}

static void retries(struct scrape *s)
{
    for (size_t i = 0; i < s->m->sets; i++)
        sample_of(s, i, NULL, NULL, (double)s->m->set[i].retries);
}

static void tasks(struct scrape *s)
{
    for (size_t i = 0; i < s->m->sets; i++)
        for (int e = 0; e < ENGINE_ENDS; e++)
            sample_of(s, i, "outcome", fb_engine_end_name((enum engine_end)e),
                      (double)s->m->set[i].tasks[e]);
}

static void waits(struct scrape *s)
{
    for (size_t i = 0; i < s->m->sets; i++) {
        for (size_t c = 0; c < s->m->causes; c++) {
            const struct metric_label label[] = {{"provider", s->m->set[i].provider},
                                                 {"pool", s->m->set[i].pool},
                                                 {"cause", s->m->cause[c]}};

            if (fb_histogram_count(&s->m->set[i].wait[c]) > 0)
                fb_metric_histogram(&s->x, label, 3, &s->m->set[i].wait[c], &fb_wait_form);
        }
    }
}

static void duration(struct scrape *s, const struct meter_set *set, size_t i)
{
    const struct meter_duration *d = &set->duration[i];
    char status[16] = "";
    char version[16] = "";

    if (d->status > 0)
        (void)snprintf(status, sizeof status, "%d", (int)d->status);
    if (d->http > 0) /* "1.1", but "2" */
        (void)snprintf(version, sizeof version, d->http < 20 ? "%d.%d" : "%d", (int)d->http / 10,
                       (int)d->http % 10);
    const struct metric_label label[] = {{"provider", set->provider},
                                         {"pool", set->pool},
                                         {"http_request_method", i > 0 ? d->method : "_OTHER"},
                                         {"http_response_status_code", status},
                                         {"error_type", i > 0 ? d->error : "_OTHER"},
                                         {"server_address", set->address},
                                         {"server_port", set->port},
                                         {"network_protocol_version", version}};
    s->x.exemplar = d->exemplar.trace[0] ? &d->exemplar : NULL;
    fb_metric_histogram(&s->x, label, sizeof label / sizeof label[0], &d->seconds,
                        &fb_duration_form);
    s->x.exemplar = NULL;
}

static void durations(struct scrape *s)
{
    for (size_t i = 0; i < s->m->sets; i++)
        for (size_t d = 0; d < s->m->set[i].durations; d++)
            if (fb_histogram_count(&s->m->set[i].duration[d].seconds) > 0)
                duration(s, &s->m->set[i], d);
}

static bool is_failure(const struct meter_recovery *r)
{
    return strcmp(r->strategy, "fail") == 0;
}

static void recoveries(struct scrape *s)
{
    for (size_t i = 0; i < s->m->recoveries; i++) {
        const struct meter_recovery *r = &s->m->recovery[i];
        const struct metric_label label[] = {
            {"operation", r->operation}, {"error_type", r->error}, {"strategy", r->strategy}};

        if (!is_failure(r) && r->count > 0)
            fb_metric_sample(&s->x, label, 3, (double)r->count);
    }
}

static void recoveries_failed(struct scrape *s)
{
    for (size_t i = 0; i < s->m->recoveries; i++) {
        const struct meter_recovery *r = &s->m->recovery[i];
        const struct metric_label label[] = {{"operation", r->operation}, {"error_type", r->error}};

        if (is_failure(r))
            fb_metric_sample(&s->x, label, 2, (double)r->count);
    }
}

static void events(struct scrape *s)
{
    for (int i = 0; i < FB_EVENT_KINDS; i++) {
        const struct metric_label label = {"kind", fb_event_name((enum event_type)i)};

        fb_metric_sample(&s->x, &label, 1, (double)s->m->by_kind[i]);
    }
}

/* -------------------------------------------------------------------------------- gauges */

/* A function for each member of struct gauge; what is not a number is left out. */
#define GAUGE(name, expression)                            \
    static void name(struct scrape *s)                     \
    {                                                      \
        for (size_t i = 0; i < s->f->gauges->sets; i++) {  \
            const struct gauge *g = &s->f->gauges->set[i]; \
            double value = (double)(expression);           \
                                                           \
            if (!isnan(value))                             \
                sample_of(s, i, NULL, NULL, value);        \
        }                                                  \
    }

GAUGE(rate_limit, g->limit > 0.0 ? g->limit : NAN)
GAUGE(rate_sent, g->sent)
GAUGE(quota_limit, g->quota_limit > 0.0 ? g->quota_limit : NAN)
GAUGE(quota_left, g->quota_limit > 0.0 ? g->quota_left : NAN)
GAUGE(quota_reset, g->quota_limit > 0.0 ? g->quota_reset_s : NAN)
GAUGE(in_flight, g->in_flight)
GAUGE(breaker_open, g->broken > 0)
GAUGE(confidence, g->confidence)
GAUGE(used, g->used)
GAUGE(next_start, g->wait_s)
GAUGE(keys, g->keys)
GAUGE(disabled, g->is_disabled)
GAUGE(queued, g->queued)

static void queue_length(struct scrape *s)
{
    static const char *const NAMES[] = {"high", "live", "imminent", "normal", "background"};

    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        const struct metric_label label = {"priority", NAMES[i]};

        fb_metric_sample(&s->x, &label, 1, (double)s->f->gauges->stats.queued_by[i]);
    }
}

static void health(struct scrape *s)
{
    for (int g = 0; g < GRADES; g++) {
        const char *name = fb_grade_name((enum grade)g);
        const struct metric_label label = {"grade", name};

        fb_metric_sample(&s->x, &label, 1, strcmp(name, s->f->grade) == 0);
    }
}

/* With HTTP/2 several requests share one. */
static int64_t idle_connections(const struct engine_stats *s)
{
    return s->connections_open > s->in_flight ? s->connections_open - s->in_flight : 0;
}

/* Requests that needed no connection of their own. */
static int64_t reused_connections(const struct engine_stats *s)
{
    return s->requests > s->connections ? s->requests - s->connections : 0;
}

/* One number without labels. */
#define ONE(name, expression)                                   \
    static void name(struct scrape *s)                          \
    {                                                           \
        fb_metric_sample(&s->x, NULL, 0, (double)(expression)); \
    }

ONE(events_lost, s->m->lost)
ONE(news_skipped, s->f->news_skipped)
ONE(connections_opened, s->f->gauges->stats.connections)
ONE(connections_open, s->f->gauges->stats.connections_open)
ONE(connections_idle, idle_connections(&s->f->gauges->stats))
ONE(connections_reused, reused_connections(&s->f->gauges->stats))
ONE(connections_saturated, s->f->gauges->stats.in_flight >= s->f->concurrency)
ONE(resends_refused, s->f->gauges->stats.resends_refused)
ONE(redirects, s->f->gauges->stats.redirects)
ONE(failovers, s->f->gauges->stats.failovers)
ONE(evicted, s->f->gauges->stats.evicted)
ONE(recycles, s->f->gauges->stats.recycles)
ONE(body_bytes, s->f->gauges->stats.body_bytes)
ONE(in_flight_most, s->f->gauges->stats.in_flight_most)
ONE(batches, s->f->batches)
ONE(event_clients, s->f->event_clients)
ONE(reloads, s->f->reloads)
ONE(reloads_failed, s->f->reloads_failed)
ONE(alerts, s->f->alerts)
ONE(log_lines_lost, s->f->log_lines_lost)
ONE(http_connections, s->f->connections)
ONE(http_bad, s->f->bad_requests)
ONE(began, s->f->began_s)
ONE(process_cpu, s->process.cpu_s)
ONE(process_rss, s->process.resident_bytes)
ONE(process_fds, s->process.fds)
ONE(process_max_fds, s->process.fds_max)
ONE(process_start, s->process.began_s)

static void build_info(struct scrape *s)
{
    const struct metric_label label = {"version", fly_version()};

    fb_metric_sample(&s->x, &label, 1, 1);
}

#define C METRIC_COUNTER
#define G METRIC_GAUGE
#define H METRIC_HISTOGRAM

static const struct family FAMILIES[] = {
    {{"flyball_requests", C, NULL,
      "Requests by outcome: ok (below 400), client_error (4xx), throttled, error (5xx, no "
      "answer)."},
     requests},
    {{"flyball_throttled", C, NULL, "Answers that were refusals for rate."}, throttled},
    {{"flyball_retries", C, NULL, "Requests made again."}, retries},
    {{"flyball_tasks", C, NULL, "Tasks that ended, by outcome."}, tasks},
    {{"flyball_wait_seconds", H, "seconds", "How long tasks waited to start, by cause."}, waits},
    {{"http_client_request_duration_seconds", H, "seconds",
      "Duration of requests, from the permit to the end of the answer."},
     durations},
    {{"flyball_recovery_applied", C, NULL, "What was done about failures."}, recoveries},
    {{"flyball_recovery_failed", C, NULL, "Tasks that failed in spite of it."}, recoveries_failed},
    {{"flyball_rate_limit", G, NULL, "Permits a second, stated or learned."}, rate_limit},
    {{"flyball_rate_sent", G, NULL, "Requests sent in the last second."}, rate_sent},
    {{"flyball_quota_limit", G, NULL, "Quota as the server tells it."}, quota_limit},
    {{"flyball_quota_remaining", G, NULL, "What is left of that."}, quota_left},
    {{"flyball_quota_reset_timestamp_seconds", G, "seconds", "When it begins anew."}, quota_reset},
    {{"flyball_limit_used_ratio", G, NULL, "The share of a quota or window in use."}, used},
    {{"flyball_limit_confidence_ratio", G, NULL, "Confidence in what was learned."}, confidence},
    {{"flyball_next_start_seconds", G, "seconds", "Until something queued may start."}, next_start},
    {{"flyball_in_flight", G, NULL, "Requests under way."}, in_flight},
    {{"flyball_queued", G, NULL, "Tasks that wait, by provider."}, queued},
    {{"flyball_queue_length", G, NULL, "Tasks that wait, by priority."}, queue_length},
    {{"flyball_breaker_open", G, NULL, "1 while nothing but trials leaves."}, breaker_open},
    {{"flyball_provider_disabled", G, NULL, "1 while it is switched off."}, disabled},
    {{"flyball_keys", G, NULL, "Limits that are kept apart."}, keys},
    {{"flyball_health", G, NULL, "1 for the grade that holds."}, health},
    {{"flyball_batches", G, NULL, "Batches that run."}, batches},
    {{"flyball_in_flight_peak", G, NULL, "The most requests ever under way."}, in_flight_most},
    {{"flyball_connections_opened", C, NULL, "Connections to providers."}, connections_opened},
    {{"flyball_connections_reused", C, NULL, "Requests on one that was open."}, connections_reused},
    {{"flyball_connections_open", G, NULL, "Connections that are open."}, connections_open},
    {{"flyball_connections_idle", G, NULL, "Those without a request."}, connections_idle},
    {{"flyball_connections_saturated", G, NULL, "1 while no more requests may be under way."},
     connections_saturated},
    {{"flyball_resends_refused", C, NULL, "Re-sends without a permit."}, resends_refused},
    {{"flyball_redirects", C, NULL, "Redirects followed."}, redirects},
    {{"flyball_failovers", C, NULL, "Tasks that went on elsewhere."}, failovers},
    {{"flyball_queue_evicted", C, NULL, "Tasks put off since the queue was full."}, evicted},
    {{"flyball_recycles", C, NULL, "Times that connections began anew."}, recycles},
    {{"flyball_answer_bytes", C, "bytes", "Bodies of answers, decompressed."}, body_bytes},
    {{"flyball_events", C, NULL, "Events of the engine, by kind."}, events},
    {{"flyball_events_lost", C, NULL, "Events that observers were too slow for."}, events_lost},
    {{"flyball_log_lines_lost", C, NULL, "Lines that the log could not take."}, log_lines_lost},
    {{"flyball_news_skipped", C, NULL, "Events left out of /events."}, news_skipped},
    {{"flyball_event_clients", G, NULL, "Clients of /events."}, event_clients},
    {{"flyball_reloads", C, NULL, "Times that the configuration was read anew."}, reloads},
    {{"flyball_reloads_failed", C, NULL, "Times that it was refused."}, reloads_failed},
    {{"flyball_alerts", C, NULL, "Alerts raised."}, alerts},
    {{"flyball_http_connections", C, NULL, "Connections to the listeners."}, http_connections},
    {{"flyball_http_bad_requests", C, NULL, "Requests refused as malformed or slow."}, http_bad},
    {{"flyball_start_time_seconds", G, "seconds", "When it began, since 1970."}, began},
    {{"flyball_build_info", G, NULL, "Which version runs."}, build_info},
    {{"process_cpu_seconds", C, "seconds", "Processor time used."}, process_cpu},
    {{"process_resident_memory_bytes", G, "bytes", "Memory in use."}, process_rss},
    {{"process_open_fds", G, NULL, "Descriptors in use."}, process_fds},
    {{"process_max_fds", G, NULL, "Descriptors that may be."}, process_max_fds},
    {{"process_start_time_seconds", G, "seconds", "When it began."}, process_start},
};

void fb_metrics_write(const struct metrics_facts *f, bool openmetrics, struct buffer *out)
{
    struct scrape s = {.x = {.out = out, .openmetrics = openmetrics}, .f = f, .m = f->meters};

    fb_process_read(&s.process);
    (void)pthread_mutex_lock(&f->meters->lock);
    for (size_t i = 0; i < sizeof FAMILIES / sizeof FAMILIES[0]; i++) {
        fb_metric_begin(&s.x, &FAMILIES[i].head);
        FAMILIES[i].samples(&s);
    }
    (void)pthread_mutex_unlock(&f->meters->lock);
    if (f->watch)
        fb_metrics_watch(f->watch, &s.x);
    fb_metric_end(&s.x);
}
