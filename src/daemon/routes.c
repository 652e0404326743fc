/* SPDX-License-Identifier: MIT */
/*
 * routes.c - what may be asked, and at which door.
 *
 * A new page is a row here and a function; files of a dashboard are a table of their own, added to
 * fb_routes_public.
 */
#include <stdlib.h>
#include <string.h>

#include "daemon/parts.h"
#include "util/json.h"

/* ---------------------------------------------------------------------------------- small ones */

/* Well as long as it can answer; 503 once it ends. */
static void answer_healthz(struct call *c)
{
    const struct daemon *d = fb_daemon_of(c);
    struct buffer b = BUFFER_INIT;

    fb_buffer_add_char(&b, '{');
    fb_json_text(&b, "schema", "flyball.health/1");
    fb_json_bool(&b, "ok", d->terms == 0);
    fb_json_text(&b, "grade", fb_grade_name(d->grader.grade));
    fb_json_bool(&b, "draining", d->terms > 0);
    fb_buffer_add_text(&b, "}\n");
    fb_call_send_json(c, d->terms > 0 ? 503 : 200, &b);
}

static void answer_events(struct call *c)
{
    struct daemon *d = fb_daemon_of(c);
    bool is_public = c->router == &d->door[DOOR_PUBLIC].router;

    fb_sse_answer(&d->sse, c, is_public ? SSE_STATUS_PUBLIC : SSE_STATUS);
}

/* The words of a query for the past. */
struct history_words {
    char step[16];
    char samples[16];
    char provider[64];
    char pool[64];
    char figure[32];
    char watch[16];
};

/* False: one of them is longer than any that there is, or `watch` is neither 0 nor 1. */
static bool read_words(const struct call *c, struct history_words *w)
{
    bool is_right = fb_call_option(c, "step", w->step, sizeof w->step) &&
                    fb_call_option(c, "samples", w->samples, sizeof w->samples) &&
                    fb_call_option(c, "provider", w->provider, sizeof w->provider) &&
                    fb_call_option(c, "pool", w->pool, sizeof w->pool) &&
                    fb_call_option(c, "figure", w->figure, sizeof w->figure) &&
                    fb_call_option(c, "watch", w->watch, sizeof w->watch);

    return is_right && (strcmp(w->watch, "0") == 0 || strcmp(w->watch, "1") == 0);
}

static int add_history(struct daemon *d, const struct history_words *w, struct buffer *b)
{
    struct history_part part = {.step_s = (int)strtol(w->step, NULL, 10),
                                .most = (size_t)strtoul(w->samples, NULL, 10),
                                .provider = w->provider,
                                .pool = w->pool,
                                .only = w->figure,
                                .watched = w->watch[0] == '1'};

    (void)pthread_mutex_lock(&d->meters.lock);
    int rc = fb_history_json(&d->history, &d->meters, &part, b);
    (void)pthread_mutex_unlock(&d->meters.lock);
    return rc;
}

static void answer_history(struct call *c)
{
    struct history_words w = {.step = "1", .samples = "1440", .watch = "0"};
    struct buffer b = BUFFER_INIT;

    if (read_words(c, &w) && add_history(fb_daemon_of(c), &w, &b) == 0) {
        fb_call_send_json(c, 200, &b);
        return;
    }
    fb_buffer_fini(&b);
    fb_call_refuse(c, 400,
                   "step is 1, 10 or 60 seconds, figure one of the answer's, watch 0 or 1, and no "
                   "word is longer than what it names");
}

/* ------------------------------------------------------------------------------------- metrics */

static void add_servers(const struct daemon *d, struct metrics_facts *f)
{
    for (int i = 0; i < DOORS; i++) {
        if (!d->door[i].server)
            continue;
        struct server_stats s = fb_server_stats(d->door[i].server);
        f->connections += (int64_t)s.accepted;
        f->bad_requests += (int64_t)s.bad;
    }
}

static void answer_metrics(struct call *c)
{
    struct daemon *d = fb_daemon_of(c);
    struct slice accept = fb_guard_field(c->x->request, "Accept");
    bool openmetrics = fb_slice_search(accept, "application/openmetrics-text") < accept.length;
    struct buffer b = BUFFER_INIT;
    struct metrics_facts f = {
        .gauges = &d->gauges,
        .meters = &d->meters,
        .grade = fb_grade_name(d->grader.grade),
        .began_s = d->began_ns / INT64_C(1000000000),
        .batches = fb_batches_running(d),
        .event_clients = d->sse.count,
        .reloads = d->reloads,
        .reloads_failed = d->reloads_failed,
        .news_skipped = (int64_t)d->news.skipped,
        .log_lines_lost = d->log.lines_lost,
        .alerts = d->alerts.raised,
        .concurrency = d->config->concurrency.total,
        .watch = d->watcher,
    };

    add_servers(d, &f);
    fb_metrics_write(&f, openmetrics, &b);
    if (b.failed)
        fb_call_refuse(c, 503, "out of memory");
    else
        fb_call_send(c, 200, fb_metric_type(openmetrics), (struct slice){b.bytes, b.size});
    fb_buffer_fini(&b);
}

/* -------------------------------------------------------------------------------------- tables */

static const struct route READING[] = {
    {"GET", "/status", false, fb_status_answer},
    {"GET", "/healthz", false, answer_healthz},
    {"GET", "/events", false, answer_events},
    {"GET", "/history", false, answer_history},
    {"GET", "/items", false, fb_items_answer},
    {"GET", "/items/", false, fb_item_answer},
    {0},
};

/* For those who run it: with more than everybody may know, and laid out for terminals. */
static const struct route INSIDE[] = {
    {"GET", "/metrics", false, answer_metrics},
    {"GET", "/view/status", false, fb_status_view_answer},
    {"GET", "/view/top", false, fb_top_view_answer},
    {"GET", "/view/limits", false, fb_limits_answer},
    {"GET", "/view/learned", false, fb_learned_answer},
    {"GET", "/view/why", false, fb_why_answer},
    {"GET", "/view/audit", false, fb_audit_answer},
    {"GET", "/view/watch", false, fb_watch_view_answer},
    {"GET", "/view/items", false, fb_items_view_answer},
    {"GET", "/view/item", false, fb_item_view_answer},
    {"GET", "/view/alerts", false, fb_alerts_answer},
    {"GET", "/view/config", false, fb_config_answer},
    {"GET", "/view/deferred", false, fb_deferred_answer},
    {0},
};

/* The dashboard; it needs READING, and shows what INSIDE has where that is there. */
static const struct route PAGE[] = {
    {"GET", "/", false, fb_page_answer},
    {"GET", "/app.js", false, fb_asset_answer},
    {"GET", "/app.css", false, fb_asset_answer},
    {0},
};

const struct route *const fb_routes_public[] = {READING, PAGE, NULL};
const struct route *const fb_routes_internal[] = {READING, PAGE, INSIDE, fb_admin_routes, NULL};
