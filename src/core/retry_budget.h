/* SPDX-License-Identifier: MIT */
/*
 * retry_budget.h - how many retries are affordable: a fifth of the requests, and 10 a second.
 *
 * Retries are good against single failures and a catastrophe against an outage, where they
 * multiply the load. Every first attempt pays a fifth of a retry into the account; 10 a second
 * come for free, so that few requests can be retried at all. A retry takes one out. Over any time
 * T that begins with an empty account: retries <= 0.2 x requests + 10 x T.
 */
#ifndef FLYBALL_CORE_RETRY_BUDGET_H
#define FLYBALL_CORE_RETRY_BUDGET_H

#include <stdint.h>

#define FB_RETRY_PER_S     10  /* for free; never more than a second's worth is saved up */
#define FB_RETRY_SAVED_MAX 100 /* the most that requests can save up for a bad time */

struct retry_budget {
    int64_t balance; /* in 10^-9 retries */
    int64_t now_ns;  /* up to when the free ones are in the balance */
};

/* Begins with the free retries of one second. */
void fb_retry_budget_init(struct retry_budget *b, int64_t now_ns);

/* A first attempt was sent. */
void fb_retry_budget_request(struct retry_budget *b, int64_t now_ns);

/* From when a retry is affordable: <= now for "now". The wait is at most a tenth of a second. */
int64_t fb_retry_budget_ready_at(const struct retry_budget *b, int64_t now_ns);

/* A retry is sent: fb_retry_budget_ready_at() has just said that it may. */
void fb_retry_budget_take(struct retry_budget *b, int64_t now_ns);

#endif
