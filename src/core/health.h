/* SPDX-License-Identifier: MIT */
/*
 * health.h - one word for how fresh things are, and when something must be done about it.
 *
 * Judged once an interval from the ages of the live items and from when the last update succeeded:
 *
 *   degraded    half of the ages, or one in twenty, are 60 s or more; or there is more work than
 *               there is room for
 *   failing     any age is 120 s or more, or nothing succeeded for 90 s though there was work
 *   recovering  something is done about the latter; until it is well, for at most 120 s
 *
 * When nothing succeeds any more a recovery is asked for, once. The next one waits twice as long as
 * the one before, up to half an hour, until all was healthy for ten minutes: what recovering does
 * not help is not recovered again and again. An item that is paused is nobody's age: one that keeps
 * failing does not make the rest look ill.
 */
#ifndef FLYBALL_CORE_HEALTH_H
#define FLYBALL_CORE_HEALTH_H

#include <stdbool.h>
#include <stdint.h>

#include "core/freshness.h"

/* Best first. */
#define FB_HEALTHS(X) X(healthy) X(recovering) X(degraded) X(failing)

#define X(name) HEALTH_##name,
enum health { FB_HEALTHS(X) HEALTHS };
#undef X

struct health_limits {
    int64_t degraded_ns;
    int64_t failing_ns;
    int64_t stall_ns;    /* without a success, while there is work */
    int64_t recovery_ns; /* that a recovery may take, and before the second one */
    int64_t patience_ns; /* before any other, at most */
    int64_t well_ns;     /* healthy for so long: recoveries are counted from 0 again */
};

/* What is so at the end of an interval. */
struct health_facts {
    struct freshness_spread live; /* ages of live items that are not paused */
    int64_t success_ns;           /* of the latest update, or FB_LONG_AGO */
    bool has_work;                /* anything is due or under way */
    bool is_overloaded;           /* part of it is put off again and again, for want of room */
};

struct health_state {
    enum health grade;
    int64_t since_ns;    /* of this grade */
    int64_t work_ns;     /* since when there is work; FB_NEVER: there is none */
    int64_t recovery_ns; /* when the latest recovery began */
    int32_t recoveries;  /* since all was well */
};

struct health_verdict {
    bool changed; /* the grade did */
    bool recover; /* begin a recovery now */
};

/* The figures above. */
void fb_health_limits_init(struct health_limits *l);

/* Healthy, with nothing to do. */
void fb_health_init(struct health_state *h, int64_t now_ns);

/* An interval has passed. */
struct health_verdict fb_health_judge(struct health_state *h, const struct health_limits *l,
                                      const struct health_facts *f, int64_t now_ns);

/* From when on a recovery may begin, if one is needed. */
int64_t fb_health_recovery_at(const struct health_state *h, const struct health_limits *l);

/* "healthy" */
const char *fb_health_name(enum health grade);

#endif
