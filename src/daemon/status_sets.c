/* SPDX-License-Identifier: MIT */
/* status_sets.c - how each provider and pool fared since the start: failures, waits, latencies. */
#include "daemon/parts.h"
#include "util/json.h"

static double ratio(double part, double whole)
{
    return whole > 0.0 ? part / whole : 0.0;
}

/* Seconds that tasks waited, by cause; with causes that never were left out. */
static void add_waits(const struct meters *m, const struct meter_set *s, struct buffer *out)
{
    bool is_first = true;

    fb_json_name(out, "waits");
    fb_buffer_add_char(out, '[');
    for (size_t i = 0; i < m->causes; i++) {
        if (s->wait[i].sum <= 0.0)
            continue;
        fb_buffer_add_text(out, is_first ? "{" : ",{");
        is_first = false;
        fb_json_text(out, "cause", m->cause[i]);
        fb_json_int(out, "count", (int64_t)fb_histogram_count(&s->wait[i]));
        fb_json_real(out, "seconds", s->wait[i].sum, 3);
        fb_buffer_add_char(out, '}');
    }
    fb_buffer_add_char(out, ']');
}

/* Waits of every cause together. */
static void add_wait_shares(const struct meters *m, const struct meter_set *s, struct buffer *out)
{
    struct histogram all = {0};

    for (size_t c = 0; c < m->causes; c++)
        for (size_t i = 0; i <= fb_wait_form.bounds; i++)
            all.count[i] += s->wait[c].count[i];
    fb_json_name(out, "waited");
    fb_buffer_add_char(out, '{');
    fb_json_int(out, "count", (int64_t)fb_histogram_count(&all));
    if (fb_histogram_count(&all) > 0) {
        fb_json_real(out, "p50_s", fb_histogram_quantile(&all, &fb_wait_form, 0.50), 3);
        fb_json_real(out, "p95_s", fb_histogram_quantile(&all, &fb_wait_form, 0.95), 3);
    }
    fb_buffer_add_char(out, '}');
}

/* Answers of every kind together. */
static struct histogram latencies(const struct meter_set *s)
{
    struct histogram all = {0};

    for (size_t d = 0; d < s->durations; d++) {
        all.sum += s->duration[d].seconds.sum;
        for (size_t i = 0; i <= fb_duration_form.bounds; i++)
            all.count[i] += s->duration[d].seconds.count[i];
    }
    return all;
}

static void add_buckets(const struct histogram *h, struct buffer *out)
{
    fb_json_name(out, "buckets");
    fb_buffer_add_char(out, '[');
    for (size_t i = 0; i <= fb_duration_form.bounds; i++) {
        fb_buffer_add_text(out, i > 0 ? ",{" : "{");
        if (i < fb_duration_form.bounds)
            fb_json_real(out, "le", fb_duration_form.bound[i], 3);
        else
            fb_json_text(out, "le", NULL);
        fb_json_int(out, "count", (int64_t)h->count[i]);
        fb_buffer_add_char(out, '}');
    }
    fb_buffer_add_char(out, ']');
}

static void add_latency(const struct meter_set *s, struct buffer *out)
{
    struct histogram h = latencies(s);
    int64_t count = (int64_t)fb_histogram_count(&h);

    fb_json_name(out, "latency");
    fb_buffer_add_char(out, '{');
    fb_json_int(out, "count", count);
    if (count > 0) {
        fb_json_real(out, "p50_s", fb_histogram_quantile(&h, &fb_duration_form, 0.50), 4);
        fb_json_real(out, "p95_s", fb_histogram_quantile(&h, &fb_duration_form, 0.95), 4);
        fb_json_real(out, "p99_s", fb_histogram_quantile(&h, &fb_duration_form, 0.99), 4);
        add_buckets(&h, out);
    }
    fb_buffer_add_char(out, '}');
}

static void add_set(const struct meters *m, const struct meter_set *s, struct buffer *out)
{
    fb_buffer_add_char(out, '{');
    fb_json_text(out, "provider", s->provider);
    fb_json_text(out, "pool", s->pool);
    fb_json_int(out, "answers", (int64_t)s->answers);
    fb_json_int(out, "errors", (int64_t)s->errors);
    fb_json_int(out, "throttled", (int64_t)s->throttled);
    fb_json_real(out, "failure_ratio", ratio((double)s->errors, (double)s->answers), 4);
    fb_json_real(out, "throttled_ratio", ratio((double)s->throttled, (double)s->answers), 4);
    fb_json_int(out, "deferred", (int64_t)s->tasks[ENGINE_DEFERRED]);
    add_waits(m, s, out);
    add_wait_shares(m, s, out);
    add_latency(s, out);
    fb_buffer_add_char(out, '}');
}

void fb_status_sets(struct meters *m, struct buffer *out)
{
    bool is_first = true;

    fb_json_name(out, "failures");
    fb_buffer_add_char(out, '[');
    (void)pthread_mutex_lock(&m->lock);
    for (size_t i = 0; i < m->sets; i++) {
        if (m->set[i].answers == 0)
            continue;
        fb_buffer_add_text(out, is_first ? "" : ",");
        is_first = false;
        add_set(m, &m->set[i], out);
    }
    (void)pthread_mutex_unlock(&m->lock);
    fb_buffer_add_char(out, ']');
}
