/* SPDX-License-Identifier: MIT */
/* report.c - the page and the picture around the plots. */
#include "view/report.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "view/plot.h"
#include "view/report_parts.h"
#include "view/rows.h"
#include "view/words.h"

#define NS_PER_S   INT64_C(1000000000)
#define WIDE       920.0
#define NARROW     328.0
#define KEYS_SHOWN 6
#define TABLE_ROWS 60

static bool ends_with(const char *path, const char *tail)
{
    size_t size = strlen(path);

    return size > strlen(tail) && strcasecmp(path + size - strlen(tail), tail) == 0;
}

bool fb_view_report_is_svg(const char *path)
{
    return ends_with(path, ".svg");
}

bool fb_view_report_is_html(const char *path)
{
    return ends_with(path, ".html") || ends_with(path, ".htm");
}

/* ------------------------------------------------------------------------------------ in words */

static int64_t span_of(const struct view_batch *b)
{
    return b->ended_ns > b->began_ns ? b->ended_ns - b->began_ns : 0;
}

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash && slash[1] ? slash + 1 : path;
}

/* Which keys are drawn: those that sent something; returns how many. */
static size_t choose_keys(const struct view_report *r, size_t *ret_index)
{
    size_t count = 0;

    for (size_t i = 0; i < fb_view_batch_keys(r->batch) && i < VIEW_SERIES_KEYS; i++) {
        if (r->batch->key[i].requests > 0 && count < KEYS_SHOWN)
            ret_index[count++] = i;
    }
    return count;
}

static void add_sentence(const struct view_batch *b, struct buffer *to)
{
    fb_words_count(fb_view_batch_ended(b), to);
    if (b->total >= 0) {
        fb_buffer_add_text(to, " of ");
        fb_words_count(b->total, to);
    }
    fb_buffer_add_text(to, " items in ");
    fb_view_add_short(span_of(b), to);
    fb_buffer_add_text(to, ", ");
    fb_words_rate(b->rate, to);
    fb_buffer_add_text(to, "/s; ");
    fb_words_count(b->throttled, to);
    fb_buffer_add_text(to, " of ");
    fb_words_count(b->requests, to);
    fb_buffer_add_text(to, b->throttled == 1 ? " requests was refused" : " requests were refused");
}

/* ------------------------------------------------------------------------------------ the page */

static void add_head(const struct view_batch *b, struct buffer *to)
{
    fb_buffer_add_text(to, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                           "<meta name=\"viewport\" content=\"width=device-width, "
                           "initial-scale=1\">\n"
                           "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
                           "'none'; style-src '");
    fb_buffer_add_text(to, fb_report_style_hash);
    fb_buffer_add_text(to, "'; base-uri 'none'; form-action 'none'\">\n"
                           "<meta name=\"color-scheme\" content=\"light dark\">\n"
                           "<meta name=\"referrer\" content=\"no-referrer\">\n<title>flyball: ");
    fb_plot_escape(base_of(b->list), to);
    fb_buffer_add_text(to, "</title>\n<style>");
    fb_buffer_add_text(to, fb_report_style);
    fb_buffer_add_text(to, "</style>\n</head>\n<body>\n<main>\n<h1>");
    fb_plot_escape(base_of(b->list), to);
    fb_buffer_add_text(to, "</h1>\n<p>");
    add_sentence(b, to);
    fb_buffer_add_text(to, ".</p>\n");
}

static void add_row(struct buffer *to, const char *name, const char *value)
{
    fb_plot_add(to, "<tr><th scope=\"row\">%s</th><td>", name);
    fb_plot_escape(value, to);
    fb_buffer_add_text(to, "</td></tr>\n");
}

static void add_row_of(struct buffer *to, const char *name, struct buffer *value)
{
    add_row(to, name, fb_buffer_text(value) ? value->bytes : "");
    fb_buffer_fini(value);
}

static void add_items_row(const struct view_batch *b, struct buffer *to)
{
    struct buffer text = BUFFER_INIT;

    fb_plot_add(&text, "%lld ok, %lld failed, %lld deferred, %lld skipped, %lld unknown",
                (long long)b->done, (long long)b->failed, (long long)b->deferred,
                (long long)b->skipped, (long long)b->unknown);
    add_row_of(to, "Items", &text);
}

static void add_summary(const struct view_batch *b, struct buffer *to)
{
    struct buffer text = BUFFER_INIT;

    fb_buffer_add_text(to, "<h2>Summary</h2>\n<table>\n");
    add_row(to, "List", b->list);
    add_row(to, "Output", b->output[0] ? b->output : "standard output");
    fb_words_instant(b->began_ns / NS_PER_S, &text);
    fb_buffer_add_text(&text, " to ");
    fb_words_instant(b->ended_ns / NS_PER_S, &text);
    add_row_of(to, "Time", &text);
    add_items_row(b, to);
    fb_plot_add(&text, "%lld sent, %lld retries, %lld refused for rate (%.1f per 1000)",
                (long long)b->requests, (long long)b->retries, (long long)b->throttled,
                b->requests > 0 ? 1000.0 * (double)b->throttled / (double)b->requests : 0.0);
    add_row_of(to, "Requests", &text);
    fb_view_add_short(b->latency_p50_ns, &text);
    fb_buffer_add_text(&text, " (p50), ");
    fb_view_add_short(b->latency_p95_ns, &text);
    fb_buffer_add_text(&text, " (p95), ");
    fb_view_add_short(b->latency_p99_ns, &text);
    fb_buffer_add_text(&text, " (p99)");
    add_row_of(to, "Answers after", &text);
    fb_buffer_add_int(&text, b->exit_code);
    add_row_of(to, "Exit status", &text);
    fb_buffer_add_text(to, "</table>\n");
}

static void add_key_row(const struct view_key *k, struct buffer *to)
{
    struct buffer text = BUFFER_INIT;

    fb_buffer_add_text(to, "<tr><th scope=\"row\">");
    fb_view_key_name(k, &text);
    fb_plot_escape(fb_buffer_text(&text) ? text.bytes : "", to);
    fb_plot_add(to, "</th><td>%lld</td><td>%lld</td><td>", (long long)k->requests,
                (long long)k->refused);
    fb_buffer_clear(&text);
    fb_view_key_limit(k, &text);
    if (k->flags & VIEW_KEY_LEARNED && k->limit > 0.0)
        fb_plot_add(&text, " (learned, %.0f %%)", k->confidence * 100.0);
    else if (k->spec[0])
        fb_buffer_add_text(&text, " (stated)");
    fb_plot_escape(fb_buffer_text(&text) ? text.bytes : "", to);
    fb_buffer_fini(&text);
    fb_buffer_add_text(to, "</td></tr>\n");
}

static void add_keys(const struct view_batch *b, struct buffer *to)
{
    fb_buffer_add_text(to, "<h2>Keys</h2>\n<table class=\"num\">\n<thead><tr><th "
                           "scope=\"col\">key</th><th scope=\"col\">sent</th><th "
                           "scope=\"col\">refused</th><th scope=\"col\">limit at the "
                           "end</th></tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < fb_view_batch_keys(b); i++)
        add_key_row(&b->key[i], to);
    fb_buffer_add_text(to, "</tbody>\n</table>\n");
    if (b->key_count > (int64_t)fb_view_batch_keys(b))
        fb_plot_add(to, "<p>%lld more keys are not shown.</p>\n",
                    (long long)(b->key_count - (int64_t)fb_view_batch_keys(b)));
}

/* At most TABLE_ROWS rows: several of the series make one. */
static void add_numbers(const struct view_series *s, size_t key, struct buffer *to)
{
    size_t group = (s->count + TABLE_ROWS - 1) / TABLE_ROWS;

    fb_buffer_add_text(to, "<details><summary>the numbers</summary>\n<table class=\"num\">\n"
                           "<thead><tr><th scope=\"col\">after</th><th scope=\"col\">sent/s</th>"
                           "<th scope=\"col\">limit/s</th><th scope=\"col\">refused</th></tr>"
                           "</thead>\n<tbody>\n");
    for (size_t i = 0; group > 0 && i < s->count; i += group) {
        int64_t sent = 0;
        int64_t refused = 0;
        int64_t span_ns = 0;
        double limit = 0.0;
        struct buffer after = BUFFER_INIT;

        for (size_t k = i; k < i + group && k < s->count; k++) {
            sent += s->row[k].key[key].sent;
            refused += s->row[k].key[key].refused;
            span_ns += s->row[k].span_ns;
            limit = (double)s->row[k].key[key].limit;
        }
        fb_words_span(s->row[i].began_ns + span_ns - s->row[0].began_ns, &after);
        fb_plot_add(to, "<tr><td>%s</td><td>%.2f</td><td>",
                    fb_buffer_text(&after) ? after.bytes : "",
                    span_ns > 0 ? (double)sent / (double)span_ns * 1e9 : 0.0);
        fb_plot_add(to, limit > 0.0 ? "%.2f" : "-", limit);
        fb_plot_add(to, "</td><td>%lld</td></tr>\n", (long long)refused);
        fb_buffer_fini(&after);
    }
    fb_buffer_add_text(to, "</tbody>\n</table>\n</details>\n");
}

static void add_rates(const struct view_report *r, struct buffer *to)
{
    size_t index[KEYS_SHOWN];
    size_t count = choose_keys(r, index);

    fb_buffer_add_text(to, "<h2>Rate against limit</h2>\n");
    for (size_t i = 0; i < count; i++) {
        const struct view_key *k = &r->batch->key[index[i]];
        struct buffer name = BUFFER_INIT;

        fb_view_key_name(k, &name);
        fb_buffer_add_text(to, "<figure>\n<figcaption>");
        fb_plot_escape(fb_buffer_text(&name) ? name.bytes : "", to);
        fb_buffer_add_text(to, "</figcaption>\n");
        fb_buffer_fini(&name);
        fb_plot_rate(r->series, k, index[i], &(struct plot_place){"wide", 0, WIDE}, to);
        fb_plot_rate(r->series, k, index[i], &(struct plot_place){"narrow", 0, NARROW}, to);
        add_numbers(r->series, index[i], to);
        fb_buffer_add_text(to, "</figure>\n");
    }
    if (count == 0)
        fb_buffer_add_text(to, "<p>No request was sent.</p>\n");
}

void fb_view_report_html(const struct view_report *r, struct buffer *to)
{
    add_head(r->batch, to);
    add_rates(r, to);
    fb_buffer_add_text(to, "<h2>Waits by cause</h2>\n<p class=\"note\">For how long something was "
                           "queued and could not leave.</p>\n<figure>\n");
    fb_plot_waits(r->batch, &(struct plot_place){"wide", 0, WIDE}, to);
    fb_plot_waits(r->batch, &(struct plot_place){"narrow", 0, NARROW}, to);
    fb_buffer_add_text(to, "</figure>\n<h2>Time to answer</h2>\n<figure>\n");
    fb_plot_answers(r->answers, &(struct plot_place){"wide", 0, WIDE}, to);
    fb_plot_answers(r->answers, &(struct plot_place){"narrow", 0, NARROW}, to);
    fb_buffer_add_text(to, "</figure>\n");
    add_summary(r->batch, to);
    add_keys(r->batch, to);
    fb_buffer_add_text(to, "</main>\n</body>\n</html>\n");
}

/* --------------------------------------------------------------------------------- the picture */

static double add_caption(double y, const char *text, const char *css_class, struct buffer *to)
{
    fb_plot_add(to, "<text class=\"%s\" x=\"0\" y=\"%.0f\">", css_class, y);
    fb_plot_escape(text, to);
    fb_buffer_add_text(to, "</text>\n");
    return y + 12;
}

static double add_pictures(const struct view_report *r, double y, struct buffer *to)
{
    size_t index[KEYS_SHOWN];
    size_t count = choose_keys(r, index);

    for (size_t i = 0; i < count; i++) {
        const struct view_key *k = &r->batch->key[index[i]];
        struct buffer name = BUFFER_INIT;

        fb_view_key_name(k, &name);
        y = add_caption(y, fb_buffer_text(&name) ? name.bytes : "", "h2", to);
        fb_buffer_fini(&name);
        y += 24 + fb_plot_rate(r->series, k, index[i], &(struct plot_place){"", y, WIDE}, to);
    }
    y = add_caption(y, "Waits by cause", "h2", to);
    y += 24 + fb_plot_waits(r->batch, &(struct plot_place){"", y, WIDE}, to);
    y = add_caption(y, "Time to answer", "h2", to);
    return y + fb_plot_answers(r->answers, &(struct plot_place){"", y, WIDE}, to);
}

void fb_view_report_svg(const struct view_report *r, struct buffer *to)
{
    struct buffer inside = BUFFER_INIT;
    struct buffer sentence = BUFFER_INIT;
    double y = add_caption(34, base_of(r->batch->list), "h1", &inside);

    add_sentence(r->batch, &sentence);
    y = add_caption(y + 12, fb_buffer_text(&sentence) ? sentence.bytes : "", "text", &inside);
    y = add_pictures(r, y + 24, &inside);
    fb_plot_add(
        to,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
        "viewBox=\"-20 0 %.0f %.0f\" role=\"img\" aria-label=\"A run of flyball\">\n<style>",
        WIDE + 40, y + 12, WIDE + 40, y + 12);
    fb_buffer_add_text(to, fb_report_style);
    fb_plot_add(to, "</style>\n<rect class=\"page\" x=\"-20\" width=\"%.0f\" height=\"%.0f\"/>\n",
                WIDE + 40, y + 12);
    if (inside.failed || sentence.failed)
        to->failed = true;
    fb_buffer_add(to, inside.bytes, inside.size);
    fb_buffer_add_text(to, "</svg>\n");
    fb_buffer_fini(&inside);
    fb_buffer_fini(&sentence);
}
