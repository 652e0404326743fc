/* SPDX-License-Identifier: MIT */
/*
 * eta.h - how long the rest of a batch takes, computed from the budget that is left.
 *
 * A mean since the start says nothing about an hour in which only so much may leave: what counts is
 * the pace that a limiter keeps, what is left of its window or of the quota that the server told,
 * when there is more, and how much is queued. What was measured in the last seconds is used only
 * where no limit decides. Pure: numbers in, numbers out.
 */
#ifndef FLYBALL_FETCH_ETA_H
#define FLYBALL_FETCH_ETA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FB_ETA_UNKNOWN INT64_MAX

/* How a quota is spent. */
enum eta_spending {
    ETA_SPREAD, /* over its window, by what was learned */
    ETA_EVEN,   /* pacing=even: the slower the less is left (core/quota.h) */
    ETA_AT_ONCE /* on demand: as fast as else is allowed */
};

/* A limit of so many in so long, of which so many are left now. 0 as limit: there is none. */
struct eta_budget {
    int64_t limit;
    int64_t left;
    int64_t kept; /* of a quota: in reserve */
    int64_t window_ns;
    int64_t more_ns; /* from now until there are more */
    enum eta_spending spending;
    bool is_spread; /* pacing=even was asked for: whether all fits or not */
};

/* A key as it is now. */
struct eta_key {
    int64_t todo;    /* requests that have not left yet */
    int64_t wait_ns; /* before the next one may: a hold, a pause */
    double rate;     /* that its limiter keeps; 0: none */
    double measured; /* what ended in the last seconds in which it did not wait; 0: nothing yet */
    bool learning;   /* no limit was met yet: the pace still rises */
    bool climbs;     /* the same, with a quota that is told: until the pace is that of it */
    bool is_free;    /* all fits into its quota, and no other limit was met: as answers come */
    struct eta_budget window; /* sliding, stated */
    struct eta_budget quota;  /* told by the server */
};

/* What decides. */
enum eta_bound {
    ETA_BOUND_NOTHING, /* nothing is left to do, or nothing is known */
    ETA_BOUND_RATE,
    ETA_BOUND_WINDOW,
    ETA_BOUND_QUOTA,
    ETA_BOUND_HOLD,   /* what is left fits once the wait is over */
    ETA_BOUND_ANSWERS /* no limit: as fast as answers come */
};

struct eta {
    int64_t span_ns; /* FB_ETA_UNKNOWN: nothing to compute it from, or still learning */
    enum eta_bound bound;
    size_t key; /* which one decides */
};

/* Of one key. `is_full`: no more can be under way at a time. */
struct eta fb_eta_of_key(const struct eta_key *k, bool is_full);

/* Of all of them: the last to end. */
struct eta fb_eta(const struct eta_key *k, size_t count, bool is_full);

#endif
