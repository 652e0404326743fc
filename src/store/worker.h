/* SPDX-License-Identifier: MIT */
/*
 * worker.h - what store.c and worker.c share: the queue between the loop and the worker's thread.
 */
#ifndef FLYBALL_STORE_WORKER_H
#define FLYBALL_STORE_WORKER_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "store/store.h"

/* First in, first out. */
struct jobs {
    struct store_job *first;
    struct store_job **end; /* where the next one is linked in */
};

struct store_file {
    struct db *db;
    struct store_hooks hooks;
    int broken;             /* negative errno: this file will never be written again */
    bool asked, asked_sync; /* there are jobs for it in the queue; one that is to be synced */
    bool has, has_sync;     /* the same of the jobs in the worker's hands */
    bool unsynced;          /* there are commits that a power cut could undo */
    struct timespec sync;   /* when the last one was made that it could not */
};

struct store {
    struct store_options options;
    pthread_t thread;
    pthread_mutex_t lock; /* for all below; never held while a disk is waited for */
    pthread_cond_t work;  /* for the worker */
    pthread_cond_t progress;
    struct jobs queue;
    struct jobs back;
    size_t out;
    bool urgent;  /* a job that is waits */
    bool hurry;   /* do not gather: somebody waits for the end */
    bool give_up; /* do not try again what cannot be written */
    bool stop;
    bool ended;
    bool woken;       /* wake() was called since the last turn */
    int trouble;      /* 0, or the negative errno for which writing fails */
    int trouble_told; /* what the loop knows of it */
    char sentence[512];
    struct store_file files[STORE_FILES_MAX]; /* the worker's, once adopted */
    int file_count;
};

void fb_jobs_init(struct jobs *list);
void fb_jobs_add(struct jobs *list, struct store_job *job);
void fb_jobs_take(struct jobs *list, struct jobs *ret_all);

/* The instant in so many milliseconds, on the monotonic clock. */
struct timespec fb_worker_in(int wait_ms);

/* The thread: `context` is the store. */
void *fb_worker_run(void *context);

#endif
