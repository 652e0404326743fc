/* SPDX-License-Identifier: MIT */
/*
 * runs.h - what a running batch leaves for other processes to read, and what is left of it later.
 *
 * A file for each batch in the folder of the user, `NAME.run`: a head, and a struct view_batch as
 * it is in memory. The process that runs the batch writes it over a few times a second, without
 * ever waiting for a reader or for the disk, and holds a lock on it: so a reader knows whether it
 * still runs, however it ended. The last state stays. Readers take no lock; what they happen to
 * read half old and half new does not match its hash and is read again.
 *
 * It is for this host and this version of the program: any other file is passed over, and none is
 * ever needed to go on. No secrets: see view/view.h.
 */
#ifndef FLYBALL_STORE_RUNS_H
#define FLYBALL_STORE_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "view/batch.h"

#define RUNS_KEPT 64 /* of those that have ended, in a folder */
#define RUN_TAIL  ".run"

struct run; /* one that this process writes */

/*
 * Begin `folder`/`name`.run; old ones beyond RUNS_KEPT are removed. 0; -EALREADY when another
 * process writes it; or another negative errno.
 */
int fb_run_open(const char *folder, const char *name, struct run **ret_run)
    __attribute__((warn_unused_result));

/*
 * As it is now. False: it cannot be written; mostly there is a next time, and nobody minds. NULL is
 * allowed, and is not written.
 */
bool fb_run_write(struct run *r, const struct view_batch *b);

/* Remove its file: it did nothing. It is still to be closed. NULL is allowed. */
void fb_run_drop(struct run *r);

/* It does not run any more; what was written last stays. NULL is allowed. */
void fb_run_close(struct run *r);

struct runs {
    struct view_batch **batch; /* those that run first, then the latest */
    size_t count;
};

/* All of a folder that can be read. 0, also where there is no such folder; or negative errno. */
int fb_runs_read(const char *folder, struct runs *ret_runs) __attribute__((warn_unused_result));

/* Zeroes are allowed. */
void fb_runs_free(struct runs *r);

#endif
