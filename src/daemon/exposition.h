/* SPDX-License-Identifier: MIT */
/*
 * exposition.h - metrics as text: Prometheus 0.0.4, or OpenMetrics 1.0 on request.
 *
 * A family is begun once and followed by its samples; the two forms differ in how counters are
 * named in the head of a family, in units, and in the last line. Values of labels are escaped, so
 * that none can forge a line. Pure.
 */
#ifndef FLYBALL_DAEMON_EXPOSITION_H
#define FLYBALL_DAEMON_EXPOSITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/trace.h"
#include "util/buffer.h"

enum metric_kind { METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM };

struct metric_family {
    const char *name; /* of a counter without "_total" */
    enum metric_kind kind;
    const char *unit; /* "seconds", with which the name then ends; or NULL */
    const char *help;
};

struct metric_label {
    const char *name;
    const char *value;
};

/* One observation and the trace that it is a part of. Told in the form of OpenMetrics only. */
struct exemplar {
    char trace[FB_TRACE_BYTES];
    double value;
    double at_s; /* since 1970 */
};

struct exposition {
    struct buffer *out;
    bool openmetrics;
    const struct metric_family *family; /* the one begun last */
    const struct exemplar *exemplar;    /* of the histogram written next; NULL: none */
};

/* Counts of observations up to each bound, the last one without a bound. */
#define HISTOGRAM_BOUNDS_MAX 16

struct histogram_form {
    size_t bounds;
    double bound[HISTOGRAM_BOUNDS_MAX];
};

struct histogram {
    uint64_t count[HISTOGRAM_BOUNDS_MAX + 1]; /* each by itself, not added up */
    double sum;
};

void fb_histogram_add(struct histogram *h, const struct histogram_form *form, double value);

/* How many were observed. */
uint64_t fb_histogram_count(const struct histogram *h);

/*
 * The value below which `share` of the observations lie, taken as spread evenly within a bucket;
 * the highest bound where it lies beyond it; 0 of none.
 */
double fb_histogram_quantile(const struct histogram *h, const struct histogram_form *form,
                             double share);

void fb_metric_begin(struct exposition *x, const struct metric_family *f);
void fb_metric_sample(struct exposition *x, const struct metric_label *label, size_t labels,
                      double value);
void fb_metric_histogram(struct exposition *x, const struct metric_label *label, size_t labels,
                         const struct histogram *h, const struct histogram_form *form);

/* Nothing follows. */
void fb_metric_end(struct exposition *x);

/* "text/plain; version=0.0.4; charset=utf-8", or that of OpenMetrics. */
const char *fb_metric_type(bool openmetrics);

#endif
