/* SPDX-License-Identifier: MIT */
/*
 * store.h - what must last: the one thread that owns the databases and the output.
 *
 * The loop never waits for a disk. It hands over a job, which the worker applies inside a
 * transaction together with whatever else came in within STORE_GATHER_MS; after the commit the job
 * comes back through fb_store_turn(), on the loop's thread, with 0 or an error. Jobs of one
 * database are applied in the order in which they were handed over.
 *
 * When is it durable? A job that came back with 0 survives kill -9. One with `sync` set survives a
 * power cut as well, and so does everything handed over before it; without such a job there is a
 * commit of that kind every STORE_SYNC_MS and at the end.
 *
 * What cannot be written now (a full disk, a database locked by somebody else) stays in the queue
 * and is tried again; `trouble` is told once when that begins. fb_store_give_up() ends it.
 */
#ifndef FLYBALL_STORE_STORE_H
#define FLYBALL_STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <flyball/flyball.h>

#include "store/db.h"

#define STORE_GATHER_MS 25   /* from a job to its commit; with the commit itself below 50 */
#define STORE_SYNC_MS   1000 /* between commits that are on the disk */
#define STORE_FILES_MAX 8

struct store;
struct store_job;
struct store_file;

/* What a database does around the jobs of a commit, on the worker's thread. NULL: nothing. */
struct store_hooks {
    /* A commit begins: forget what an attempt that failed has left. */
    void (*begin)(void *context);
    /* All jobs are applied: write what they added up to. 0 or negative errno: roll back. */
    int (*before_commit)(struct db *db, void *context, bool sync);
    /* It is committed. */
    void (*committed)(void *context);
    /* The path that could not be written, or NULL: then it is the database. */
    const char *(*failing)(void *context);
    void *context;
};

struct store_job {
    struct store_job *next;  /* the store's */
    struct store_file *file; /* where it goes */
    bool urgent;             /* do not gather: somebody waits for it */
    bool sync;               /* urgent, and onto the disk */
    int error;

    /*
     * On the worker's thread, inside a transaction; once more for each attempt, so it must not
     * change the job. 0; or a negative errno: -ENOSPC, -EBUSY and -EIO roll back and are tried
     * again, all others are the job's own failure and harm no other job.
     */
    int (*apply)(struct store_job *job, struct db *db);
    /* On the loop's thread, in fb_store_turn(): the job is the caller's again. */
    void (*done)(struct store_job *job, int error);
};

struct store_options {
    /* There is something for fb_store_turn(). Called from the worker's thread, and not again
     * before the next turn. */
    void (*wake)(void *context);
    /* On the loop's thread, in fb_store_turn(): writing has begun to fail, or (error 0) goes on. */
    void (*trouble)(void *context, int error, const char *sentence);
    void *context;
    size_t jobs_max; /* handed over and not yet back; 0: 65536 */
};

/* Start the thread. 0, -ENOMEM or -EAGAIN. */
int fb_store_open(const struct store_options *o, struct store **ret_store)
    __attribute__((warn_unused_result));

/*
 * Give `db` to the worker, which closes it in the end. `hooks` is copied; NULL: none. From now on
 * nobody else touches it. NULL when there are STORE_FILES_MAX already; then it is still the
 * caller's.
 */
struct store_file *fb_store_adopt(struct store *s, struct db *db, const struct store_hooks *hooks);

/*
 * Hand over a job with file, apply and done set. 0, or -EAGAIN when jobs_max are out: take results
 * with fb_store_turn() first, or start less.
 */
int fb_store_put(struct store *s, struct store_job *job) __attribute__((warn_unused_result));

/* Deliver what came back: calls `done` and `trouble`. Returns how many jobs are still out. */
size_t fb_store_turn(struct store *s);

/* What cannot be written now will not be: such jobs come back with their error. */
void fb_store_give_up(struct store *s);

/*
 * Wait until every job is committed or given up, for at most `wait_ms`, and deliver them. 0 or
 * -ETIMEDOUT.
 */
int fb_store_drain(struct store *s, int wait_ms) __attribute__((warn_unused_result));

/*
 * Drain for at most `wait_ms`, end the thread, close the databases. -ETIMEDOUT when the thread
 * hangs in a write that does not end (a pipe that nobody reads): then nothing is freed, and the
 * process should end. NULL is allowed.
 */
int fb_store_close(struct store *s, int wait_ms);

#endif
