/* SPDX-License-Identifier: MIT */
/*
 * reliability.h - how far a source can be relied on, by what came of its latest requests.
 *
 * The score is between 0 and 1: the share of requests that succeeded, times how near the mean
 * latency is to what is expected. Only the last 64 requests count, and none that is older than the
 * window. What is not known speaks for the source: it begins with a few successes of its own, which
 * every real request outweighs a little more.
 *
 * A source whose score falls below one bound is demoted until it has risen above another, higher
 * one, so that it does not change its rank with every answer.
 */
#ifndef FLYBALL_CORE_RELIABILITY_H
#define FLYBALL_CORE_RELIABILITY_H

#include <stdbool.h>
#include <stdint.h>

#define FB_RELIABILITY_LAST  64 /* requests that count */
#define FB_RELIABILITY_PRIOR 4  /* successes that a new source has to its credit */

struct reliability_limits {
    int64_t window_ns;  /* older requests do not count: 600 s */
    int64_t latency_ns; /* that is expected: 2 s; a mean of twice as much halves the score */
    double demote;      /* below this score: 0.5 */
    double restore;     /* and until it is at least this: 0.7 */
};

struct reliability_sample {
    int64_t at_ns;
    int64_t latency_ns; /* < 0: it failed */
};

struct reliability {
    struct reliability_sample last[FB_RELIABILITY_LAST];
    uint32_t next; /* in the ring */
    uint32_t count;
    bool demoted;
};

/* What it comes to. */
struct reliability_figures {
    double score;
    double failure_rate; /* of the requests in the window; 0 where there are none */
    int64_t latency_ns;  /* the mean of those that succeeded; 0 where none did */
    uint32_t requests;   /* in the window */
};

/* The figures above. */
void fb_reliability_limits_init(struct reliability_limits *l);

/* A source of which nothing is known. Zeroes are one, too. */
void fb_reliability_init(struct reliability *r);

/* What came of a request. */
void fb_reliability_on_success(struct reliability *r, int64_t latency_ns, int64_t now_ns);
void fb_reliability_on_failure(struct reliability *r, int64_t now_ns);

struct reliability_figures fb_reliability_figures(const struct reliability *r,
                                                  const struct reliability_limits *l,
                                                  int64_t now_ns);

/* Demote it, or take it back, as its score says now. Returns whether that changed. */
bool fb_reliability_judge(struct reliability *r, const struct reliability_limits *l,
                          int64_t now_ns);

#endif
