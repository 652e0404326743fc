/* SPDX-License-Identifier: MIT */
/*
 * worker.c - the thread that writes: gather, apply, commit, hand back.
 *
 * A commit that fails for want of space or of the lock is tried again with the same jobs, until it
 * succeeds or somebody gives up: a job is never dropped in silence.
 */
#include "store/worker.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define NS_PER_MS    1000000L
#define TRY_AGAIN_MS 250

struct timespec fb_worker_in(int wait_ms)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_sec += wait_ms / 1000;
    t.tv_nsec += wait_ms % 1000 * NS_PER_MS;
    if (t.tv_nsec >= 1000 * NS_PER_MS) {
        t.tv_sec++;
        t.tv_nsec -= 1000 * NS_PER_MS;
    }
    return t;
}

static bool is_over(const struct timespec *t)
{
    struct timespec now = fb_worker_in(0);

    return now.tv_sec > t->tv_sec || (now.tv_sec == t->tv_sec && now.tv_nsec >= t->tv_nsec);
}

static bool any_unsynced(const struct store *s)
{
    for (int i = 0; i < s->file_count; i++) {
        if (s->files[i].unsynced && !s->files[i].broken)
            return true;
    }
    return false;
}

/* All that wait, and which files they are for. Called with the lock. */
static void take(struct store *s, struct jobs *ret_jobs)
{
    fb_jobs_take(&s->queue, ret_jobs);
    s->urgent = false;
    for (int i = 0; i < s->file_count; i++) {
        struct store_file *f = &s->files[i];

        f->has = f->asked;
        f->has_sync = f->asked_sync;
        f->asked = f->asked_sync = false;
    }
}

/*
 * Wait for jobs, let more of them come in, and take them. Empty when it is time to end, or time to
 * put onto the disk what was committed.
 */
static void gather(struct store *s, struct jobs *ret_jobs)
{
    struct timespec sync_at = fb_worker_in(STORE_SYNC_MS);
    int error = 0;

    (void)pthread_mutex_lock(&s->lock);
    while (!s->queue.first && !s->stop && error == 0) {
        if (any_unsynced(s))
            error = pthread_cond_timedwait(&s->work, &s->lock, &sync_at);
        else
            (void)pthread_cond_wait(&s->work, &s->lock);
    }
    struct timespec until = fb_worker_in(STORE_GATHER_MS);
    for (error = 0; s->queue.first && !s->urgent && !s->hurry && !s->stop && error == 0;)
        error = pthread_cond_timedwait(&s->work, &s->lock, &until);
    take(s, ret_jobs);
    (void)pthread_mutex_unlock(&s->lock);
}

static void wake_loop(struct store *s)
{
    (void)pthread_mutex_lock(&s->lock);
    bool wake = !s->woken;
    s->woken = true;
    (void)pthread_cond_broadcast(&s->progress);
    (void)pthread_mutex_unlock(&s->lock);
    if (wake && s->options.wake)
        s->options.wake(s->options.context);
}

static void hand_back(struct store *s, struct jobs *jobs)
{
    if (!jobs->first)
        return;
    (void)pthread_mutex_lock(&s->lock);
    *s->back.end = jobs->first;
    s->back.end = jobs->end;
    (void)pthread_mutex_unlock(&s->lock);
    wake_loop(s);
}

/* Writing `f` fails with `error`, or goes on (0). */
static void set_trouble(struct store *s, const struct store_file *f, int error)
{
    const char *path = f->hooks.failing ? f->hooks.failing(f->hooks.context) : NULL;

    if (!path)
        path = f->db->path ? f->db->path : "a store in memory";

    (void)pthread_mutex_lock(&s->lock);
    bool changed = s->trouble != error;
    s->trouble = error;
    if (error < 0)
        (void)snprintf(s->sentence, sizeof s->sentence, "cannot write %s: %s", path,
                       strerror(-error));
    (void)pthread_mutex_unlock(&s->lock);
    if (changed)
        wake_loop(s);
}

static bool is_passing(int error)
{
    return error == -ENOSPC || error == -EDQUOT || error == -EBUSY || error == -EIO;
}

/* Apply the file's jobs. 0, or what keeps the whole commit from happening. */
static int apply_all(struct store_file *f, const struct jobs *jobs)
{
    for (struct store_job *job = f->has ? jobs->first : NULL; job; job = job->next) {
        if (job->file != f)
            continue;
        job->error = job->apply(job, f->db);
        if (job->error == -EUCLEAN || is_passing(job->error))
            return job->error;
    }
    return 0;
}

/* One attempt. */
static int attempt(struct store_file *f, const struct jobs *jobs, bool sync)
{
    int error = fb_db_begin(f->db, sync);

    if (error < 0)
        return error;
    if (f->hooks.begin)
        f->hooks.begin(f->hooks.context);
    error = apply_all(f, jobs);
    if (error == 0 && f->hooks.before_commit)
        error = f->hooks.before_commit(f->db, f->hooks.context, sync);
    if (error == 0)
        error = fb_db_commit(f->db);
    if (error < 0)
        fb_db_rollback(f->db);
    return error;
}

/* A pause before the next try; false when nobody wants one. */
static bool pause_before_retry(struct store *s)
{
    struct timespec until = fb_worker_in(TRY_AGAIN_MS);
    int error = 0;

    (void)pthread_mutex_lock(&s->lock);
    while (!s->give_up && error == 0)
        error = pthread_cond_timedwait(&s->work, &s->lock, &until);
    bool go_on = !s->give_up;
    (void)pthread_mutex_unlock(&s->lock);
    return go_on;
}

static void fail_all(struct store_file *f, const struct jobs *jobs, int error)
{
    for (struct store_job *job = jobs->first; job; job = job->next) {
        if (job->file == f)
            job->error = error;
    }
}

/* Try until it is committed, given up, or hopeless. */
static int persist(struct store *s, struct store_file *f, const struct jobs *jobs, bool sync)
{
    for (;;) {
        int error = attempt(f, jobs, sync);

        if (error == -ENOSPC && fb_db_give_up_reserve(f->db))
            error = attempt(f, jobs, sync);
        if (error == 0) {
            set_trouble(s, f, 0);
            return 0;
        }
        set_trouble(s, f, error);
        if (!is_passing(error)) {
            f->broken = error;
            return error;
        }
        if (!pause_before_retry(s))
            return error;
    }
}

static void commit_file(struct store *s, struct store_file *f, const struct jobs *jobs)
{
    bool sync = f->has_sync || (f->unsynced && is_over(&f->sync));

    if (!f->has && !sync)
        return;
    int error = f->broken ? f->broken : persist(s, f, jobs, sync);
    if (error < 0) {
        fail_all(f, jobs, error);
        return;
    }
    if (f->hooks.committed)
        f->hooks.committed(f->hooks.context);
    if (!f->has)
        fb_db_sync(f->db);
    if (sync || !f->unsynced)
        f->sync = fb_worker_in(STORE_SYNC_MS);
    f->unsynced = !sync;
}

/* At the end all that was committed is put onto the disk. */
static void sync_all(struct store *s)
{
    struct jobs none;

    fb_jobs_init(&none);
    for (int i = 0; i < s->file_count; i++) {
        s->files[i].sync = fb_worker_in(0);
        s->files[i].has = s->files[i].has_sync = false;
        commit_file(s, &s->files[i], &none);
    }
}

void *fb_worker_run(void *context)
{
    struct store *s = context;

    for (;;) {
        struct jobs jobs;

        gather(s, &jobs);
        (void)pthread_mutex_lock(&s->lock);
        bool stop = s->stop && !jobs.first && !s->queue.first;
        int count = s->file_count;
        (void)pthread_mutex_unlock(&s->lock);
        for (int i = 0; i < count; i++)
            commit_file(s, &s->files[i], &jobs);
        hand_back(s, &jobs);
        if (stop)
            break;
    }
    sync_all(s);
    (void)pthread_mutex_lock(&s->lock);
    s->ended = true;
    (void)pthread_cond_broadcast(&s->progress);
    (void)pthread_mutex_unlock(&s->lock);
    return NULL;
}
