/* SPDX-License-Identifier: MIT */
/* exposition.c - families, samples, labels. */
#include "daemon/exposition.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const KINDS[] = {
    [METRIC_COUNTER] = "counter",
    [METRIC_GAUGE] = "gauge",
    [METRIC_HISTOGRAM] = "histogram",
};

/* ------------------------------------------------------------------------------- histograms */

static size_t bucket_of(const struct histogram_form *form, double value)
{
    size_t i = 0;

    while (i < form->bounds && value > form->bound[i])
        i++;
    return i;
}

void fb_histogram_add(struct histogram *h, const struct histogram_form *form, double value)
{
    h->count[bucket_of(form, value)]++;
    h->sum += value;
}

uint64_t fb_histogram_count(const struct histogram *h)
{
    uint64_t sum = 0;

    for (size_t i = 0; i <= HISTOGRAM_BOUNDS_MAX; i++)
        sum += h->count[i];
    return sum;
}

double fb_histogram_quantile(const struct histogram *h, const struct histogram_form *form,
                             double share)
{
    double wanted = share * (double)fb_histogram_count(h);
    double below = 0.0;
    double from = 0.0;

    for (size_t i = 0; i < form->bounds; i++) {
        double here = (double)h->count[i];

        if (here > 0.0 && below + here >= wanted)
            return from + (form->bound[i] - from) * (wanted - below) / here;
        below += here;
        from = form->bound[i];
    }
    return fb_histogram_count(h) > 0 ? from : 0.0;
}

/* ------------------------------------------------------------------------------------ text */

static void add_number(struct buffer *b, double value)
{
    char text[40];

    if (isinf(value))
        fb_buffer_add_text(b, value > 0 ? "+Inf" : "-Inf");
    else if (isnan(value))
        fb_buffer_add_text(b, "NaN");
    else if (value == floor(value) && fabs(value) < 1e15)
        fb_buffer_add_int(b, (int64_t)value);
    else if (snprintf(text, sizeof text, "%.9g", value) > 0)
        fb_buffer_add_text(b, text);
}

/* Both forms escape these three in values; in help only the first two. */
static void add_escaped(struct buffer *b, const char *text, bool is_value)
{
    for (; *text; text++) {
        if (*text == '\\')
            fb_buffer_add_text(b, "\\\\");
        else if (*text == '\n')
            fb_buffer_add_text(b, "\\n");
        else if (*text == '"' && is_value)
            fb_buffer_add_text(b, "\\\"");
        else
            fb_buffer_add_char(b, *text);
    }
}

static void add_head(struct exposition *x, const char *word, const char *rest)
{
    const struct metric_family *f = x->family;

    fb_buffer_add_text(x->out, word);
    fb_buffer_add_text(x->out, f->name);
    if (f->kind == METRIC_COUNTER && !x->openmetrics)
        fb_buffer_add_text(x->out, "_total");
    fb_buffer_add_char(x->out, ' ');
    add_escaped(x->out, rest, false);
    fb_buffer_add_char(x->out, '\n');
}

void fb_metric_begin(struct exposition *x, const struct metric_family *f)
{
    x->family = f;
    add_head(x, "# HELP ", f->help);
    add_head(x, "# TYPE ", KINDS[f->kind]);
    if (x->openmetrics && f->unit)
        add_head(x, "# UNIT ", f->unit);
}

static void add_labels(struct buffer *b, const struct metric_label *label, size_t labels,
                       const char *bound)
{
    size_t written = 0;

    for (size_t i = 0; i < labels; i++) {
        fb_buffer_add_char(b, written++ ? ',' : '{');
        fb_buffer_add_text(b, label[i].name);
        fb_buffer_add_text(b, "=\"");
        add_escaped(b, label[i].value, true);
        fb_buffer_add_char(b, '"');
    }
    if (bound) {
        fb_buffer_add_text(b, written++ ? ",le=\"" : "{le=\"");
        fb_buffer_add_text(b, bound);
        fb_buffer_add_char(b, '"');
    }
    if (written)
        fb_buffer_add_char(b, '}');
}

static void add_exemplar(struct buffer *out, const struct exemplar *e)
{
    fb_buffer_add_text(out, " # {trace_id=\"");
    fb_buffer_add_text(out, e->trace);
    fb_buffer_add_text(out, "\"} ");
    add_number(out, e->value);
    fb_buffer_add_char(out, ' ');
    add_number(out, e->at_s);
}

static void add_sample(struct exposition *x, const char *suffix, const struct metric_label *label,
                       size_t labels, const char *bound, double value, const struct exemplar *e)
{
    fb_buffer_add_text(x->out, x->family->name);
    fb_buffer_add_text(x->out, suffix);
    add_labels(x->out, label, labels, bound);
    fb_buffer_add_char(x->out, ' ');
    add_number(x->out, value);
    if (e && x->openmetrics)
        add_exemplar(x->out, e);
    fb_buffer_add_char(x->out, '\n');
}

void fb_metric_sample(struct exposition *x, const struct metric_label *label, size_t labels,
                      double value)
{
    assert(x->family && x->family->kind != METRIC_HISTOGRAM);
    add_sample(x, x->family->kind == METRIC_COUNTER ? "_total" : "", label, labels, NULL, value,
               NULL);
}

void fb_metric_histogram(struct exposition *x, const struct metric_label *label, size_t labels,
                         const struct histogram *h, const struct histogram_form *form)
{
    size_t of_exemplar = x->exemplar ? bucket_of(form, x->exemplar->value) : SIZE_MAX;
    uint64_t sum = 0;
    char bound[40];

    assert(x->family && x->family->kind == METRIC_HISTOGRAM);
    for (size_t i = 0; i < form->bounds; i++) {
        sum += h->count[i];
        /* OpenMetrics wants "1.0" where the older form takes "1" as well. */
        (void)snprintf(bound, sizeof bound,
                       form->bound[i] == floor(form->bound[i]) ? "%.1f" : "%.9g", form->bound[i]);
        add_sample(x, "_bucket", label, labels, bound, (double)sum,
                   i == of_exemplar ? x->exemplar : NULL);
    }
    sum += h->count[form->bounds];
    add_sample(x, "_bucket", label, labels, "+Inf", (double)sum,
               of_exemplar == form->bounds ? x->exemplar : NULL);
    add_sample(x, "_sum", label, labels, NULL, h->sum, NULL);
    add_sample(x, "_count", label, labels, NULL, (double)sum, NULL);
}

void fb_metric_end(struct exposition *x)
{
    if (x->openmetrics)
        fb_buffer_add_text(x->out, "# EOF\n");
}

const char *fb_metric_type(bool openmetrics)
{
    return openmetrics ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                       : "text/plain; version=0.0.4; charset=utf-8";
}
