/* SPDX-License-Identifier: MIT */
/* alerts.c - thresholds, and not too often. */
#include "daemon/alerts.h"

enum alert_level fb_alert_used(const struct alert_rules *r, double used)
{
    if (!(used >= r->warning)) /* NaN: not known */
        return ALERT_NONE;
    return used >= r->critical ? ALERT_CRITICAL : ALERT_WARNING;
}

enum alert_level fb_alert_wait(const struct alert_rules *r, double wait_s)
{
    return r->wait_s > 0.0 && wait_s > r->wait_s ? ALERT_WARNING : ALERT_NONE;
}

bool fb_alert_is_due(struct alerts *a, enum alert_kind kind, size_t set, enum alert_level level,
                     int64_t now_ns)
{
    struct alert_memory *m = &a->memory[kind][set];
    bool is_old = m->told_ns == 0 || now_ns - m->told_ns >= a->rules.every_ns;

    /* What comes and goes is told as seldom as what stays. */
    if (level == ALERT_NONE || (!is_old && level <= m->level))
        return false;
    m->level = level;
    m->told_ns = now_ns;
    a->raised++;
    return true;
}

bool fb_alert_grade_is_due(struct alerts *a, enum grade now, int64_t now_ns)
{
    bool is_old = a->grade_ns == 0 || now_ns - a->grade_ns >= a->rules.every_ns;

    if (!a->rules.grade || now == a->grade || (now < a->grade && !is_old))
        return false;
    a->grade = now;
    a->grade_ns = now_ns;
    a->raised++;
    return true;
}

enum alert_level fb_alert_grade(enum grade g)
{
    static const enum alert_level LEVELS[GRADES] = {
        [GRADE_healthy] = ALERT_INFO,
        [GRADE_recovering] = ALERT_INFO,
        [GRADE_degraded] = ALERT_WARNING,
        [GRADE_failing] = ALERT_CRITICAL,
    };

    return LEVELS[g];
}

const char *fb_alert_kind_name(enum alert_kind kind)
{
#define X(name) #name,
    static const char *const NAMES[] = {FB_ALERT_KINDS(X)};
#undef X

    return NAMES[kind];
}

const char *fb_alert_level_name(enum alert_level level)
{
    static const char *const NAMES[] = {"none", "info", "warning", "critical"};

    return NAMES[level];
}
