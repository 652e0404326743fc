/* SPDX-License-Identifier: MIT */
/*
 * list.h - values that tell several things: policies, pairs, counts with names, keys with values.
 */
#ifndef FLYBALL_SIGNAL_LIST_H
#define FLYBALL_SIGNAL_LIST_H

#include <stdbool.h>

#include "signal/name.h"
#include "signal/reading.h"
#include "signal/slice.h"

/* Members of a list that are looked at; a longer one is nobody's, and ignored. */
#define FB_LIST_MAX 32

/* A limit, remaining or used with commas or semicolons in it. */
void fb_list_tell(struct reading *r, struct header_name *n, struct slice value);

/* "limit=100, remaining=50, reset=5", "api-usage=18/5000; ...". False: it is no such thing. */
bool fb_pairs_tell(struct reading *r, struct header_name *n, struct slice value);

/* Structured fields: "default";q=100;w=60 and "default";r=50;t=30, or 100;w=60 without a name. */
void fb_policies_tell(struct reading *r, struct slice value);

/* The same where the first member is not a policy but the count itself: 10, 10;w=1, 50;w=60. */
void fb_active_tell(struct reading *r, struct pool *p, enum role role, struct slice value);

/* One count of a pool: the least limit and remaining told, the most used. */
void fb_count_tell(struct pool *p, enum role role, int64_t count);

#endif
