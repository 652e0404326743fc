/* SPDX-License-Identifier: MIT */
/*
 * log.h - what the mock saw: a line for each arrival and each end, and the counts.
 *
 * Lines are separated by tabs; times are nanoseconds, of the monotonic and of the wall clock:
 *
 *     A mono wall seq connection key method target id verdict status inflight
 *     E mono seq outcome
 *
 * The verdict is A (accepted), R (refused for rate) or F (failed on purpose); the outcome is sent,
 * aborted (the client left before its answer) or cut (by the mock). The id is what the request
 * carried as X-Request-Id, or "-". Inflight counts this one.
 */
#ifndef FLYBALL_MOCK_LOG_H
#define FLYBALL_MOCK_LOG_H

#include <stdint.h>
#include <stdio.h>

#include "signal/slice.h"
#include "util/buffer.h"

#define FB_MOCK_LOG_MAX 1048576 /* bytes of it that are kept in memory */

struct mock_stats {
    int64_t arrivals;
    int64_t accepted;
    int64_t refused;
    int64_t failed;
    int64_t aborted;
    int64_t inflight;
    int64_t peak_inflight;
    int64_t first_ns; /* arrivals, monotonic */
    int64_t last_ns;
};

struct mock_arrival {
    int64_t mono_ns;
    int64_t wall_ns;
    uint64_t connection;
    struct slice method;
    struct slice target;
    struct slice id; /* empty: none */
    char verdict;
    int status; /* 0: no answer */
};

struct mock_log {
    struct mock_stats stats;
    struct buffer recent; /* whole lines, the latest */
    FILE *file;           /* or NULL */
    int error;            /* errno of the first write that failed; 0: none */
};

/* Also append to the file at `path`; NULL: keep it in memory alone. 0 or negative errno. */
int fb_mock_log_open(struct mock_log *l, const char *path) __attribute__((warn_unused_result));

/* 0, or negative errno of the first write that failed. */
int fb_mock_log_close(struct mock_log *l) __attribute__((warn_unused_result));

/* Bring the file up to date. */
void fb_mock_log_flush(struct mock_log *l);

/* Returns its number, from 1 on. */
int64_t fb_mock_log_arrival(struct mock_log *l, const struct mock_arrival *a);

void fb_mock_log_end(struct mock_log *l, int64_t mono_ns, int64_t seq, const char *outcome);

/* The counts as JSON members, without the braces around them. */
void fb_mock_stats_json(const struct mock_stats *s, struct buffer *to);

#endif
