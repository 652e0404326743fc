/* SPDX-License-Identifier: MIT */
/*
 * report_page.c - the dashboard's page with the figures of a run frozen in.
 *
 * The page takes from here what it would ask a daemon for: the status, and the history of every
 * key. Who reads a report need not know where its journal is, or how the command was called.
 */
#include <math.h>
#include <string.h>

#include "util/alloc.h"
#include "util/json.h"
#include "view/page.h"
#include "view/plot.h"
#include "view/report.h"
#include "view/report_parts.h"
#include "view/status.h"
#include "view/words.h"

#define NS_PER_S INT64_C(1000000000)
#define BARS_MAX 24 /* of a histogram */

struct frozen {
    const struct view_report *report;
    struct view_batch *batch; /* as others may see it */
};

/* ------------------------------------------------------------------------------------- figures */

static struct view_batch *copy_for_others(const struct view_batch *b)
{
    struct view_batch *copy = fb_alloc(sizeof *copy);
    double span_s = (double)(b->ended_ns - b->began_ns) / 1e9;

    if (!copy)
        return NULL;
    *copy = *b;
    copy->journal[0] = '\0';
    copy->command[0] = '\0';
    copy->pid = 0;
    for (size_t i = 0; i < fb_view_batch_keys(copy); i++) {
        struct view_key *k = &copy->key[i];

        if (k->queued + k->in_flight == 0)
            k->ready_ns = 0; /* nothing waited any more */
        k->rate = span_s > 0.0 && k->requests > 0 ? (double)k->requests / span_s : 0.0;
    }
    return copy;
}

static void add_status(const struct frozen *f, struct buffer *json)
{
    const struct view_batch *one = f->batch;
    struct view_status s = {.batch = &one,
                            .batch_count = 1,
                            .key = f->batch->key,
                            .key_count = fb_view_batch_keys(f->batch)};

    fb_json_name(json, "status");
    fb_view_status_json(&s, f->batch->ended_ns, json);
}

/* The least and the most bucket that has something; false: none has. */
static bool find_ends(const struct spans *s, int *ret_first, int *ret_last)
{
    *ret_first = FB_SPANS_BUCKETS;
    *ret_last = -1;
    for (int i = 0; i < FB_SPANS_BUCKETS; i++) {
        if (s->bucket[i] == 0)
            continue;
        *ret_first = i < *ret_first ? i : *ret_first;
        *ret_last = i;
    }
    return *ret_last >= 0;
}

/* So many buckets in one bar that there are at most BARS_MAX. */
static void add_bars(const struct spans *s, struct buffer *json)
{
    int first;
    int last;

    if (!find_ends(s, &first, &last))
        return;
    int wide = (last - first) / BARS_MAX + 1;
    for (int from = first; from <= last; from += wide) {
        int end = from + wide < FB_SPANS_BUCKETS ? from + wide : FB_SPANS_BUCKETS;
        int64_t count = 0;

        for (int i = from; i < end; i++)
            count += s->bucket[i];
        fb_buffer_add_text(json, from > first ? ",{" : "{");
        fb_words_json_latency(json, "le", fb_spans_begin(end));
        fb_json_int(json, "count", count);
        fb_buffer_add_char(json, '}');
    }
}

static void add_latency(const struct spans *s, struct buffer *json)
{
    fb_json_name(json, "latency");
    fb_buffer_add_char(json, '{');
    fb_json_int(json, "count", s->count);
    fb_words_json_latency(json, "p50_s", fb_spans_share(s, 0.50));
    fb_words_json_latency(json, "p95_s", fb_spans_share(s, 0.95));
    fb_words_json_latency(json, "p99_s", fb_spans_share(s, 0.99));
    fb_json_name(json, "buckets");
    fb_buffer_add_char(json, '[');
    add_bars(s, json);
    fb_buffer_add_text(json, "]}");
}

/* ------------------------------------------------------------------------------------- history */

/* A figure of a row, by its column. */
static double time_of(const struct view_row *r, size_t key)
{
    (void)key;
    return (double)(r->began_ns + r->span_ns) / 1e9;
}

static double span_of(const struct view_row *r, size_t key)
{
    (void)key;
    return (double)r->span_ns / 1e9;
}

static double sent_of(const struct view_row *r, size_t key)
{
    return (double)r->key[key].sent;
}

static double refused_of(const struct view_row *r, size_t key)
{
    return (double)r->key[key].refused;
}

static double limit_of(const struct view_row *r, size_t key)
{
    return r->key[key].limit > 0.0f ? (double)r->key[key].limit : (double)NAN;
}

static void add_column(const struct view_series *s, const char *name, size_t key,
                       double (*value)(const struct view_row *, size_t), struct buffer *json)
{
    fb_json_name(json, name);
    fb_buffer_add_char(json, '[');
    for (size_t i = 0; i < s->count; i++) {
        fb_buffer_add_text(json, i > 0 ? "," : "");
        fb_json_add_real(json, value(&s->row[i], key), 3);
    }
    fb_buffer_add_char(json, ']');
}

/* As a daemon's /history, but that rows differ in length: so each has its own end and span. */
static void add_history(const struct frozen *f, struct buffer *json)
{
    const struct view_series *s = f->report->series;

    fb_json_name(json, "history");
    fb_buffer_add_char(json, '{');
    fb_json_text(json, "schema", "flyball.history/1");
    add_column(s, "ends_s", 0, time_of, json);
    add_column(s, "spans_s", 0, span_of, json);
    fb_json_name(json, "series");
    fb_buffer_add_char(json, '[');
    for (size_t i = 0; i < fb_view_batch_keys(f->batch) && i < VIEW_SERIES_KEYS; i++) {
        fb_buffer_add_text(json, i > 0 ? ",{" : "{");
        fb_json_text(json, "provider", f->batch->key[i].provider);
        fb_json_text(json, "pool", f->batch->key[i].pool);
        add_column(s, "sent", i, sent_of, json);
        add_column(s, "limit", i, limit_of, json);
        add_column(s, "throttled", i, refused_of, json);
        fb_buffer_add_char(json, '}');
    }
    fb_buffer_add_text(json, "]}");
}

/* -------------------------------------------------------------------------------------- places */

static void put_policy(const void *arg, struct buffer *to)
{
    const struct asset *script = fb_asset_find("/app.js", strlen("/app.js"));
    const struct asset *style = fb_asset_find("/app.css", strlen("/app.css"));

    (void)arg;
    fb_plot_add(to,
                "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                "script-src '%s'; style-src '%s'; img-src data:; base-uri 'none'; "
                "form-action 'none'\">\n<meta name=\"referrer\" content=\"no-referrer\">",
                script->hash, style->hash);
}

/* As a module: it waits for the page like one that stands beside it. */
static void put_head(const void *arg, struct buffer *to)
{
    const struct asset *script = fb_asset_find("/app.js", strlen("/app.js"));
    const struct asset *style = fb_asset_find("/app.css", strlen("/app.css"));

    (void)arg;
    fb_buffer_add_text(to, "<style>");
    fb_buffer_add(to, (const char *)style->plain.at, style->plain.size);
    fb_buffer_add_text(to, "</style>\n<script type=\"module\">");
    fb_buffer_add(to, (const char *)script->plain.at, script->plain.size);
    fb_buffer_add_text(to, "</script>");
}

static void put_title(const void *arg, struct buffer *to)
{
    const struct frozen *f = arg;

    fb_buffer_add_text(to, ": ");
    fb_plot_escape(fb_report_title(f->batch), to);
}

static void put_who(const void *arg, struct buffer *to)
{
    const struct frozen *f = arg;

    fb_buffer_add_text(to, "report of ");
    fb_plot_escape(fb_report_title(f->batch), to);
}

static void put_now(const void *arg, struct buffer *to)
{
    const struct frozen *f = arg;

    fb_words_instant(f->batch->ended_ns / NS_PER_S, to);
}

static void put_summary(const void *arg, struct buffer *to)
{
    const struct frozen *f = arg;

    fb_report_sentence(f->batch, to);
}

static void cell_sent(const struct view_key *k, int64_t now_ns, struct buffer *to)
{
    (void)now_ns;
    fb_words_count(k->requests > 0 ? k->requests : 0, to);
}

static const struct page_column COLUMNS[] = {
    {"provider/pool", "", fb_page_name},       {"sent", "number", cell_sent},
    {"429s", "number", fb_page_refused},       {"mean rate / limit", "", fb_page_rate},
    {"left at the end", "", fb_view_key_left}, {"waited for at the end", "why", fb_page_why},
};

static void put_table(const void *arg, struct buffer *to)
{
    const struct frozen *f = arg;
    struct page_table t = {.column = COLUMNS,
                           .columns = sizeof COLUMNS / sizeof COLUMNS[0],
                           .key = f->batch->key,
                           .keys = fb_view_batch_keys(f->batch),
                           .now_ns = f->batch->ended_ns};

    fb_page_table(&t, to);
}

static void put_noscript(const void *arg, struct buffer *to)
{
    (void)arg;
    fb_buffer_add_text(to, "Scripts are off: plots need them.");
}

static void put_boot(const void *arg, struct buffer *to)
{
    const struct frozen *f = arg;
    struct buffer json = BUFFER_INIT;

    fb_buffer_add_char(&json, '{');
    fb_json_bool(&json, "frozen", true);
    add_status(f, &json);
    add_latency(f->report->answers, &json);
    add_history(f, &json);
    fb_buffer_add_char(&json, '}');
    fb_page_data(&json, to);
    fb_buffer_fini(&json);
}

void fb_view_report_html(const struct view_report *r, struct buffer *to)
{
    static const struct page_place PLACES[] = {
        {"policy", put_policy}, {"head", put_head}, {"title", put_title},
        {"who", put_who},       {"now", put_now},   {"summary", put_summary},
        {"table", put_table},   {"boot", put_boot}, {"noscript", put_noscript},
    };
    struct frozen f = {.report = r, .batch = copy_for_others(r->batch)};

    if (f.batch)
        fb_page_fill(PLACES, sizeof PLACES / sizeof PLACES[0], &f, to);
    else
        to->failed = true;
    fb_free(f.batch);
}
