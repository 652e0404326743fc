/* SPDX-License-Identifier: MIT */
/*
 * store.c - the queue in front of the worker, and the way back.
 *
 * Invariant: every job handed over is in exactly one place: in `queue`, in the worker's hands, or
 * in `back`; `out` counts all three.
 */
#include "store/store.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "store/worker.h"
#include "util/alloc.h"

#define JOBS_MAX 65536

void fb_jobs_add(struct jobs *list, struct store_job *job)
{
    job->next = NULL;
    *list->end = job;
    list->end = &job->next;
}

void fb_jobs_take(struct jobs *list, struct jobs *ret_all)
{
    ret_all->first = list->first;
    ret_all->end = list->first ? list->end : &ret_all->first;
    fb_jobs_init(list);
}

void fb_jobs_init(struct jobs *list)
{
    list->first = NULL;
    list->end = &list->first;
}

static void init_waits(struct store *s)
{
    pthread_condattr_t monotonic;

    (void)pthread_condattr_init(&monotonic);
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    (void)pthread_mutex_init(&s->lock, NULL);
    (void)pthread_cond_init(&s->work, &monotonic);
    (void)pthread_cond_init(&s->progress, &monotonic);
    (void)pthread_condattr_destroy(&monotonic);
}

int fb_store_open(const struct store_options *o, struct store **ret_store)
{
    struct store *s = fb_alloc(sizeof *s);

    if (!s)
        return -ENOMEM;
    s->options = *o;
    if (s->options.jobs_max == 0)
        s->options.jobs_max = JOBS_MAX;
    fb_jobs_init(&s->queue);
    fb_jobs_init(&s->back);
    init_waits(s);
    int error = pthread_create(&s->thread, NULL, fb_worker_run, s);
    if (error != 0) {
        fb_free(s);
        return -error;
    }
    *ret_store = s;
    return 0;
}

struct store_file *fb_store_adopt(struct store *s, struct db *db, const struct store_hooks *hooks)
{
    struct store_file *file = NULL;

    (void)pthread_mutex_lock(&s->lock);
    if (s->file_count < STORE_FILES_MAX) {
        file = &s->files[s->file_count];
        *file = (struct store_file){.db = db};
        if (hooks)
            file->hooks = *hooks;
        s->file_count++;
    }
    (void)pthread_mutex_unlock(&s->lock);
    return file;
}

int fb_store_put(struct store *s, struct store_job *job)
{
    int error = 0;

    assert(job->file && job->apply && job->done);
    (void)pthread_mutex_lock(&s->lock);
    if (s->out >= s->options.jobs_max) {
        error = -EAGAIN;
    } else {
        bool first = !s->queue.first;
        fb_jobs_add(&s->queue, job);
        job->file->asked = true;
        job->file->asked_sync |= job->sync;
        s->out++;
        s->urgent |= job->sync || job->urgent;
        if (first || s->urgent)
            (void)pthread_cond_signal(&s->work);
    }
    (void)pthread_mutex_unlock(&s->lock);
    return error;
}

/* Tell what has changed since the last turn. */
static void tell_trouble(struct store *s)
{
    char sentence[sizeof s->sentence];

    (void)pthread_mutex_lock(&s->lock);
    bool changed = s->trouble != s->trouble_told;
    int error = s->trouble;
    s->trouble_told = error;
    memcpy(sentence, s->sentence, sizeof sentence);
    (void)pthread_mutex_unlock(&s->lock);
    if (changed && s->options.trouble)
        s->options.trouble(s->options.context, error, sentence);
}

size_t fb_store_turn(struct store *s)
{
    struct jobs back;

    (void)pthread_mutex_lock(&s->lock);
    fb_jobs_take(&s->back, &back);
    s->woken = false;
    (void)pthread_mutex_unlock(&s->lock);

    tell_trouble(s);
    size_t count = 0;
    for (struct store_job *job = back.first, *next; job; job = next, count++) {
        next = job->next;
        job->done(job, job->error);
    }

    (void)pthread_mutex_lock(&s->lock);
    s->out -= count;
    size_t out = s->out;
    (void)pthread_mutex_unlock(&s->lock);
    return out;
}

void fb_store_give_up(struct store *s)
{
    (void)pthread_mutex_lock(&s->lock);
    s->give_up = true;
    (void)pthread_cond_signal(&s->work);
    (void)pthread_mutex_unlock(&s->lock);
}

/* Sleep until something came back or the deadline; false after the deadline. */
static bool wait_for_progress(struct store *s, const struct timespec *deadline)
{
    int error = 0;

    (void)pthread_mutex_lock(&s->lock);
    while (!s->back.first && s->trouble == s->trouble_told && !s->ended && error == 0)
        error = pthread_cond_timedwait(&s->progress, &s->lock, deadline);
    (void)pthread_mutex_unlock(&s->lock);
    return error == 0;
}

static void set_hurry(struct store *s, bool hurry)
{
    (void)pthread_mutex_lock(&s->lock);
    s->hurry = hurry;
    (void)pthread_cond_signal(&s->work);
    (void)pthread_mutex_unlock(&s->lock);
}

int fb_store_drain(struct store *s, int wait_ms)
{
    struct timespec deadline = fb_worker_in(wait_ms);
    int error = 0;

    set_hurry(s, true);
    while (fb_store_turn(s) > 0 && error == 0) {
        if (!wait_for_progress(s, &deadline))
            error = -ETIMEDOUT;
    }
    set_hurry(s, false);
    return error;
}

/* Ask the thread to end, and wait for that; false when it does not. */
static bool end_thread(struct store *s, int wait_ms)
{
    struct timespec deadline = fb_worker_in(wait_ms);
    int error = 0;

    (void)pthread_mutex_lock(&s->lock);
    s->stop = true;
    s->give_up = true;
    (void)pthread_cond_signal(&s->work);
    while (!s->ended && error == 0)
        error = pthread_cond_timedwait(&s->progress, &s->lock, &deadline);
    bool ended = s->ended;
    (void)pthread_mutex_unlock(&s->lock);
    if (ended)
        (void)pthread_join(s->thread, NULL);
    return ended;
}

int fb_store_close(struct store *s, int wait_ms)
{
    if (!s)
        return 0;
    int error = fb_store_drain(s, wait_ms);
    if (!end_thread(s, error < 0 ? 0 : wait_ms))
        return -ETIMEDOUT;
    (void)fb_store_turn(s);
    for (int i = 0; i < s->file_count; i++)
        fb_db_close(s->files[i].db);
    (void)pthread_cond_destroy(&s->work);
    (void)pthread_cond_destroy(&s->progress);
    (void)pthread_mutex_destroy(&s->lock);
    fb_free(s);
    return error;
}
