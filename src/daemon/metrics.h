/* SPDX-License-Identifier: MIT */
/*
 * metrics.h - everything that is counted and measured, for Prometheus.
 *
 * Names, units and labels follow its conventions; the duration of requests that of OpenTelemetry.
 * The number of series is bounded by METER_SETS and the bounds of meters.h, whatever is requested.
 */
#ifndef FLYBALL_DAEMON_METRICS_H
#define FLYBALL_DAEMON_METRICS_H

#include "daemon/exposition.h"
#include "daemon/gauges.h"
#include "daemon/meters.h"

struct watch;

struct metrics_facts {
    const struct gauges *gauges;
    struct meters *meters; /* locked while they are written out */
    const char *grade;
    int64_t began_s;
    int64_t batches;       /* that run */
    int64_t event_clients; /* of /events */
    int64_t reloads, reloads_failed;
    int64_t news_skipped;
    int64_t log_lines_lost;
    int64_t alerts;
    const struct watch *watch; /* of items; NULL: nothing is watched */
    int64_t connections;       /* to the listeners */
    int64_t bad_requests;
    int64_t concurrency; /* requests that may be under way at once */
};

/* Families about watched items; the series are bounded by the number of sources. */
void fb_metrics_watch(const struct watch *w, struct exposition *x);

void fb_metrics_write(const struct metrics_facts *f, bool openmetrics, struct buffer *out);

#endif
