/* SPDX-License-Identifier: MIT */
/*
 * alerts.h - what is worth waking somebody: a limit nearly used up, a long wait, another grade.
 *
 * Judged once a second for every provider and pool. An alert is raised when it becomes true, or
 * worse, and not again for `every_ns` while it stays so; that it is over is not told. Pure.
 */
#ifndef FLYBALL_DAEMON_ALERTS_H
#define FLYBALL_DAEMON_ALERTS_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/meters.h"

enum alert_level { ALERT_NONE, ALERT_WARNING, ALERT_CRITICAL };

/* Name, what it is about. */
#define FB_ALERT_KINDS(X) X(utilization) X(wait) X(grade)

#define X(name) ALERT_##name,
enum alert_kind { FB_ALERT_KINDS(X) ALERT_KINDS };
#undef X

struct alert_rules {
    double warning, critical; /* share of a limit in use */
    double wait_s;            /* a longer wait is one; 0: none is */
    bool grade;
    int64_t every_ns;
};

struct alert_memory {
    enum alert_level level; /* as it was told last */
    int64_t told_ns;
};

struct alerts {
    struct alert_rules rules;
    struct alert_memory memory[ALERT_KINDS][METER_SETS];
    int64_t raised;
};

struct alert {
    enum alert_kind kind;
    enum alert_level level;
    double value;     /* the share, or the seconds */
    double threshold; /* that it passed */
};

/* What `used` (a share, or NaN) and `wait_s` of a set are worth. */
enum alert_level fb_alert_used(const struct alert_rules *r, double used);
enum alert_level fb_alert_wait(const struct alert_rules *r, double wait_s);

/* Whether this is to be told now; it is taken as told. */
bool fb_alert_is_due(struct alerts *a, enum alert_kind kind, size_t set, enum alert_level level,
                     int64_t now_ns);

const char *fb_alert_kind_name(enum alert_kind kind);
const char *fb_alert_level_name(enum alert_level level);

#endif
