/* SPDX-License-Identifier: MIT */
/*
 * status.c - /status: what `flyball status --json` says, and what only a daemon knows: usage,
 * failures, the queue, and the settings in force.
 *
 * At the public door nothing is said that is nobody's business: no version, no paths, no process,
 * no hashes of credentials, no names of items.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/instant.h"
#include "daemon/parts.h"
#include "util/alloc.h"
#include "util/json.h"
#include "view/words.h"
#include "watch/say.h"

#define KEYS_MAX 256

/* Everything that a status points to. */
struct status {
    struct view_status view;
    struct view_daemon daemon;
    struct view_batch *batch;
    const struct view_batch **order;
    struct view_key *key;
    char host[72];
};

static void hide(struct view_key *k)
{
    k->credential[0] = '\0';
    k->refused_item[0] = '\0';
}

/* Its keys are told once for all batches; of those that it has work for, the worst is its state. */
static void note_keys(const struct work *b, struct view_batch *v)
{
    const struct view_batch *own = b->fetch ? fb_fetch_view(b->fetch) : NULL;

    for (size_t i = 0; own && i < fb_view_batch_keys(own); i++)
        if (own->key[i].queued + own->key[i].in_flight > 0)
            fb_view_batch_note(v, &own->key[i], v->updated_ns);
}

void fb_work_view(const struct work *b, bool is_public, struct view_batch *v)
{
    const struct progress *p = &b->progress;
    struct buffer bound = BUFFER_INIT;

    *v = (struct view_batch){.pid = is_public ? 0 : getpid(),
                             .running = b->state == BATCH_RUNS,
                             .exit_code = b->code,
                             .began_ns = b->began_ns,
                             .ended_ns = b->ended_ns,
                             .updated_ns = b->ended_ns ? b->ended_ns : fb_daemon_now(b->daemon),
                             .total = p->total,
                             .total_grows = p->total_grows,
                             .done = p->done - p->failed - p->deferred - b->figures.skipped,
                             .failed = p->failed - b->figures.unknown,
                             .deferred = p->deferred,
                             .throttled = p->throttled,
                             .in_flight = p->in_flight,
                             .rate = p->rate,
                             .requests = b->figures.requests,
                             .retries = b->figures.retries,
                             .skipped = b->figures.skipped,
                             .unknown = b->figures.unknown,
                             .eta_ns = b->fetch ? b->figures.eta_ns : 0,
                             .latency_p50_ns = b->figures.p50_ns,
                             .latency_p95_ns = b->figures.p95_ns,
                             .latency_p99_ns = b->figures.p99_ns};
    note_keys(b, v);
    fb_view_put(v->name, sizeof v->name, b->name);
    fb_progress_bound(p, &bound);
    fb_view_put(v->bound, sizeof v->bound, fb_buffer_text(&bound) ? bound.bytes : "");
    fb_buffer_fini(&bound);
    if (is_public)
        return;
    fb_view_put(v->list, sizeof v->list, b->options.list ? b->options.list : "submitted");
    fb_view_put(v->output, sizeof v->output,
                b->options.output ? b->options.output
                                  : (b->options.folder ? b->options.folder : ""));
}

static size_t count_batches(const struct daemon *d)
{
    size_t count = 0;

    for (const struct work *b = d->batches; b; b = b->next)
        count++;
    return count;
}

static void put_batches(struct daemon *d, bool is_public, struct status *s)
{
    size_t count = count_batches(d);
    size_t at = 0;

    s->batch = fb_alloc((count + 1) * sizeof *s->batch);
    s->order = fb_alloc((count + 1) * sizeof *s->order);
    if (!s->batch || !s->order)
        return;
    for (int running = 1; running >= 0; running--) {
        for (struct work *b = d->batches; b; b = b->next) {
            if ((b->state == BATCH_RUNS) != running)
                continue;
            if (b->fetch)
                fb_fetch_progress(b->fetch, &b->progress);
            fb_work_view(b, is_public, &s->batch[at]);
            s->order[at] = &s->batch[at];
            at++;
        }
    }
    s->view.batch = s->order;
    s->view.batch_count = at;
}

static void put_daemon(struct daemon *d, bool is_public, struct status *s)
{
    s->daemon = (struct view_daemon){.grade = fb_grade_name(d->grader.grade),
                                     .note = d->refused[0] ? d->refused : NULL,
                                     .began_ns = d->began_ns};
    s->view.daemon = &s->daemon;
    if (is_public) {
        if (d->refused[0])
            s->daemon.note = "the configuration that was read last is not in force";
        return;
    }
    (void)gethostname(s->host, sizeof s->host - 1);
    s->daemon.version = fly_version();
    s->daemon.host = s->host;
    s->daemon.pid = getpid();
}

static void fill(struct daemon *d, bool is_public, struct status *s)
{
    put_daemon(d, is_public, s);
    put_batches(d, is_public, s);
    s->key = fb_alloc(KEYS_MAX * sizeof *s->key);
    if (s->key)
        s->view.key_count =
            fb_status_all_off(d, s->key, fb_status_keys(d, s->key, KEYS_MAX), KEYS_MAX);
    for (size_t i = 0; is_public && i < s->view.key_count; i++)
        hide(&s->key[i]);
    s->view.key = s->key;
}

static void fini(struct status *s)
{
    fb_free(s->batch);
    fb_free(s->order);
    fb_free(s->key);
}

/* ----------------------------------------------------------------------------- only a daemon */

/* The usage of every limit, and over all of them; names after the table that they come from. */
struct usage_walk {
    struct buffer *out;
    struct daemon *daemon;
    int64_t now_ns;
    struct fly_limiter *limiter[KEYS_MAX];
    char name[KEYS_MAX][VIEW_NAME];
    size_t count;
};

static void add_usage(void *arg, const struct engine_key_state *s)
{
    struct usage_walk *w = arg;
    struct fly_usage u = {.size = sizeof u};

    if (w->count == KEYS_MAX || fly_limiter_usage(s->limiter, w->now_ns, &u) < 0)
        return;
    (void)snprintf(w->name[w->count], VIEW_NAME, "%.40s/%.20s", s->key.provider, s->key.pool);
    fb_buffer_add_text(w->out, w->count > 0 ? ",{" : "{");
    fb_json_text(w->out, "source", w->name[w->count]);
    fb_json_int(w->out, "current_requests", u.used);
    fb_json_int(w->out, "effective_limit", u.limit);
    fb_json_int(w->out, "requests_remaining", u.remaining);
    fb_json_real(w->out, "utilization_percent", u.utilization * 100.0, 1);
    fb_json_bool(w->out, "is_rate_limited", u.limited != 0);
    if (u.next_ns == FLY_NEVER)
        fb_json_text(w->out, "next_available_seconds", NULL);
    else
        fb_json_real(w->out, "next_available_seconds",
                     u.next_ns > w->now_ns ? (double)(u.next_ns - w->now_ns) / 1e9 : 0.0, 3);
    fb_json_real(w->out, "window_duration", (double)u.window_ns / 1e9, 3);
    fb_buffer_add_char(w->out, '}');
    w->limiter[w->count++] = s->limiter;
}

static void add_overall(struct usage_walk *w)
{
    struct fly_overall o = {.size = sizeof o};

    if (fly_overall_usage(w->limiter, w->count, w->now_ns, &o) < 0)
        return;
    fb_json_name(w->out, "overall");
    fb_buffer_add_char(w->out, '{');
    fb_json_int(w->out, "configured_limit", o.stated);
    fb_json_int(w->out, "effective_limit", o.limit);
    fb_json_real(w->out, "safety_margin_percent", o.margin * 100.0, 1);
    fb_json_real(w->out, "window_duration_seconds", (double)o.window_ns / 1e9, 3);
    fb_json_int(w->out, "total_active_sources", (int64_t)o.active);
    fb_json_int(w->out, "total_current_requests", o.used);
    fb_json_int(w->out, "observer_count", 3);
    fb_json_text(w->out, "most_active_source", o.active > 0 ? w->name[o.most_active] : NULL);
    fb_json_int(w->out, "max_source_requests", o.used_most);
    fb_json_real(w->out, "max_source_utilization_percent", o.utilization_most * 100.0, 1);
    fb_buffer_add_char(w->out, '}');
}

static void add_usages(struct daemon *d, struct buffer *out)
{
    struct usage_walk *w = fb_alloc(sizeof *w);

    if (!w)
        return;
    w->out = out;
    w->daemon = d;
    w->now_ns = fb_engine_now(d->engine);
    fb_json_name(out, "usage");
    fb_buffer_add_char(out, '{');
    fb_json_name(out, "sources");
    fb_buffer_add_char(out, '[');
    fb_engine_keys(d->engine, add_usage, w);
    fb_buffer_add_char(out, ']');
    add_overall(w);
    fb_buffer_add_char(out, '}');
    fb_free(w);
}

static void add_queue(const struct engine_stats *s, struct buffer *out)
{
    static const char *const NAMES[FB_QUEUE_LEVELS] = {"high", "live", "imminent", "normal",
                                                       "background"};

    fb_json_name(out, "queue");
    fb_buffer_add_char(out, '{');
    fb_json_int(out, "length", s->queued);
    for (int i = 0; i < FB_QUEUE_LEVELS; i++)
        fb_json_int(out, NAMES[i], s->queued_by[i]);
    fb_json_int(out, "active_tasks", s->in_flight);
    fb_json_int(out, "active_tasks_peak", s->in_flight_most);
    fb_json_int(out, "evicted", s->evicted);
    fb_json_int(out, "refused", s->refused);
    fb_buffer_add_char(out, '}');
}

static void add_span(struct buffer *out, const char *name, int64_t span_ns)
{
    fb_json_real(out, name, (double)span_ns / 1e9, 3);
}

/* What somebody who looks at a status wants to know of the settings in force. */
static void add_settings(const struct config *c, struct buffer *out)
{
    fb_json_name(out, "config");
    fb_buffer_add_char(out, '{');
    fb_json_int(out, "concurrency_total", c->concurrency.total);
    fb_json_int(out, "concurrency_provider", c->concurrency.provider);
    fb_json_int(out, "concurrency_key", c->concurrency.key);
    fb_json_int(out, "queue_max", c->queue.max);
    add_span(out, "timeout_connect_s", c->timeouts.connect_ns);
    add_span(out, "timeout_idle_s", c->timeouts.idle_ns);
    add_span(out, "timeout_total_s", c->timeouts.total_ns);
    fb_json_int(out, "breaker_failures", c->breaker.failures);
    add_span(out, "breaker_s", c->breaker.time_ns);
    fb_json_int(out, "pause_failures", c->pause.failures);
    add_span(out, "pause_s", c->pause.time_ns);
    fb_json_int(out, "recycle_tasks", c->recycle.tasks);
    add_span(out, "recycle_s", c->recycle.time_ns);
    fb_json_int(out, "health_silence_s", GRADE_SILENCE_S);
    fb_json_int(out, "health_well_s", GRADE_WELL_S);
    fb_json_real(out, "alert_warning_ratio", (double)c->alerts.warning_ppm / 1e6, 3);
    fb_json_real(out, "alert_critical_ratio", (double)c->alerts.critical_ppm / 1e6, 3);
    add_span(out, "alert_wait_s", c->alerts.wait_ns);
    fb_json_int(out, "audit_max", c->log.audit);
    fb_json_int(out, "providers", (int64_t)c->provider_count);
    fb_buffer_add_char(out, '}');
}

static void add_reload(const struct daemon *d, struct buffer *out)
{
    int64_t now_ns = fb_daemon_now(d);

    fb_json_name(out, "reload");
    fb_buffer_add_char(out, '{');
    fb_words_json_instant(out, "loaded", d->loaded_ns, now_ns);
    fb_json_int(out, "count", d->reloads);
    fb_json_int(out, "failed", d->reloads_failed);
    fb_json_bool(out, "in_force", d->refused[0] == '\0');
    fb_buffer_add_char(out, '}');
}

static void add_watch(struct daemon *d, bool items, struct buffer *out)
{
    if (!d->watcher)
        return;
    fb_json_name(out, "watch");
    fb_buffer_add_char(out, '{');
    fb_say_status_members(d->watcher, fb_daemon_now(d), items, out);
    fb_buffer_add_char(out, '}');
}

/* The view's object, and more members in it. */
static void write_all(struct daemon *d, const struct status *s, unsigned parts, struct buffer *out)
{
    fb_view_status_json(&s->view, fb_daemon_now(d), out);
    while (!out->failed && out->size > 0 &&
           (out->bytes[out->size - 1] == '\n' || out->bytes[out->size - 1] == '}')) {
        bool is_end = out->bytes[out->size - 1] == '}';

        out->size--;
        if (is_end)
            break;
    }
    fb_json_bool(out, "paused", d->is_paused);
    fb_json_bool(out, "draining", d->terms > 0);
    fb_json_int(out, "sequence", (int64_t)d->news.last);
    add_queue(&d->gauges.stats, out);
    if (parts & STATUS_SETS)
        fb_status_sets(&d->meters, out);
    if (parts & STATUS_USAGE)
        add_usages(d, out);
    add_reload(d, out);
    add_settings(d->config, out);
    add_watch(d, (parts & STATUS_ITEMS) != 0, out);
    fb_buffer_add_text(out, "}\n");
}

void fb_status_write(struct daemon *d, bool is_public, unsigned parts, struct buffer *out)
{
    struct status s = {0};

    fb_engine_stats(d->engine, &d->gauges.stats);
    fill(d, is_public, &s);
    write_all(d, &s, parts, out);
    fini(&s);
}

static void answer_with(struct call *c, bool is_public)
{
    struct buffer b = BUFFER_INIT;

    fb_status_write(fb_daemon_of(c), is_public, STATUS_WHOLE, &b);
    fb_call_send_json(c, 200, &b);
}

void fb_status_answer(struct call *c)
{
    answer_with(c, c->router == &fb_daemon_of(c)->door[DOOR_PUBLIC].router);
}

/* One batch alone, by its name. False: there is no such. */
static bool keep_one(struct status *s, const char *name)
{
    for (size_t i = 0; i < s->view.batch_count; i++) {
        if (strcmp(s->order[i]->name, name) != 0)
            continue;
        s->order[0] = s->order[i];
        s->view.batch_count = 1;
        s->view.key_count = 0;
        return true;
    }
    return false;
}

void fb_status_view_answer(struct call *c)
{
    struct daemon *d = fb_daemon_of(c);
    struct status s = {0};
    struct view_style style;
    struct buffer b = BUFFER_INIT;
    char name[VIEW_NAME];
    bool is_json = fb_call_style(c, &style);
    bool is_one = fb_call_query(c, "batch", name, sizeof name);

    if (is_json && !is_one) {
        answer_with(c, false);
        return;
    }
    fill(d, false, &s);
    bool is_there = !is_one || keep_one(&s, name);
    if (is_json)
        fb_view_status_json(&s.view, fb_daemon_now(d), &b);
    else
        fb_view_status_text(&s.view, &style, fb_daemon_now(d), &b);
    fini(&s);
    if (is_there && is_json)
        fb_call_send_json(c, 200, &b);
    else if (is_there)
        fb_call_send_text(c, &b);
    else
        fb_call_refuse(c, 404, "there is no such batch");
    if (!is_there)
        fb_buffer_fini(&b);
}

void fb_top_view_answer(struct call *c)
{
    struct daemon *d = fb_daemon_of(c);
    struct status s = {0};
    struct view_style style;
    struct buffer b = BUFFER_INIT;
    bool is_json = fb_call_style(c, &style);

    fill(d, false, &s);
    if (is_json)
        fb_view_top_json(&s.view, fb_daemon_now(d), &b);
    else
        fb_view_top_text(&s.view, &style, fb_daemon_now(d), &b);
    fini(&s);
    if (is_json)
        fb_call_send_json(c, 200, &b);
    else
        fb_call_send_text(c, &b);
}

void fb_status_tick(struct daemon *d, struct buffer *out)
{
    fb_buffer_add_char(out, '{');
    fb_json_int(out, "time_s", fb_daemon_now(d) / FB_NS_PER_S);
    fb_json_text(out, "grade", fb_grade_name(d->grader.grade));
    fb_json_int(out, "queued", d->gauges.stats.queued);
    fb_json_int(out, "in_flight", d->gauges.stats.in_flight);
    fb_json_int(out, "requests", d->gauges.stats.requests);
    fb_json_int(out, "throttled", d->gauges.stats.throttled);
    fb_json_int(out, "sequence", (int64_t)d->news.last);
    fb_buffer_add_char(out, '}');
}
