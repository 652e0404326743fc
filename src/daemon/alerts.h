/* SPDX-License-Identifier: MIT */
/*
 * alerts.h - what is worth waking somebody: a limit nearly used up, a long wait, another grade.
 *
 * Judged once a second for every provider and pool. An alert is raised when it becomes true, or
 * worse, and not again for `every_ns` while it stays so; that it is over is not told. A grade is
 * told at once when it is worse than the one told last, and when it is better after `every_ns`:
 * what goes up and down is told seldom, and what is well again is told in the end. Pure.
 */
#ifndef FLYBALL_DAEMON_ALERTS_H
#define FLYBALL_DAEMON_ALERTS_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/grade.h"
#include "daemon/meters.h"

enum alert_level { ALERT_NONE, ALERT_INFO, ALERT_WARNING, ALERT_CRITICAL };

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
    enum grade grade; /* as it was told last */
    int64_t grade_ns; /* and when */
    int64_t raised;
};

/* What `used` (a share, or NaN) and `wait_s` of a set are worth. */
enum alert_level fb_alert_used(const struct alert_rules *r, double used);
enum alert_level fb_alert_wait(const struct alert_rules *r, double wait_s);

/* Whether this is to be told now; it is taken as told. */
bool fb_alert_is_due(struct alerts *a, enum alert_kind kind, size_t set, enum alert_level level,
                     int64_t now_ns);

/* The same for the grade of all; and how grave it is. */
bool fb_alert_grade_is_due(struct alerts *a, enum grade now, int64_t now_ns);
enum alert_level fb_alert_grade(enum grade g);

const char *fb_alert_kind_name(enum alert_kind kind);
const char *fb_alert_level_name(enum alert_level level);

#endif
