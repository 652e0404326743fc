/* SPDX-License-Identifier: MIT */
/*
 * records.h - what a watcher knows, in a file: it survives kill -9, and the next start goes on from
 * there.
 *
 *     fb_watch_records_open(path, &records, &err);
 *     ports.keep = fb_watch_records_keep, with the records as its first argument
 *     fb_watch_open(&ports, &plan, &watch, &err);
 *     fb_watch_records_load(records, watch, &err);          before the first turn
 *     ...
 *     fb_watch_keep_all(watch);
 *     fb_watch_records_close(records, 5000);
 *
 * The watcher gives its records at the end of an interval, so what is lost with the process is one
 * interval, and what the worker had not committed yet: a record is a row, written by a thread of
 * its own, and the loop waits for no disk. A file that cannot be used is set aside, and the watcher
 * begins with nothing. For one thread.
 */
#ifndef FLYBALL_WATCH_RECORDS_H
#define FLYBALL_WATCH_RECORDS_H

#include <stddef.h>
#include <stdint.h>

struct fly_error;
struct watch;
struct watch_records;

/* 0, with a sentence in `err` where it had to begin anew; or a negative errno with one. */
int fb_watch_records_open(const char *path, struct watch_records **ret_records,
                          struct fly_error *err) __attribute__((warn_unused_result));

/* Give all that is there to the watcher; damaged rows are left out. How many items it has taken. */
int64_t fb_watch_records_load(struct watch_records *r, struct watch *w);

/* As ports.keep: copied and handed over. What has no room in the queue is counted as lost. */
void fb_watch_records_keep(void *records, const char *id, const void *record, size_t size);

struct watch_records_figures {
    int64_t handed_over, written, failed, lost;
};

struct watch_records_figures fb_watch_records_figures(const struct watch_records *r);

/* Write what is left, for at most so long, and close. NULL is allowed. */
void fb_watch_records_close(struct watch_records *r, int wait_ms);

#endif
