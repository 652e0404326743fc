/* SPDX-License-Identifier: MIT */
/* watchdog.c - look four times as often as it is allowed to take. */
#include "engine/watchdog.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "core/instant.h"
#include "util/alloc.h"

struct watchdog {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t ends;
    bool is_ending;
    int64_t stuck_ns;
    void (*on_stuck)(void *user, int64_t still_ns);
    void *user;
    _Atomic int64_t since_ns; /* it works since then; 0: it waits */
};

static int64_t monotonic_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * FB_NS_PER_S + t.tv_nsec;
}

static struct timespec later(int64_t span_ns)
{
    int64_t at_ns = monotonic_ns() + span_ns;

    return (struct timespec){.tv_sec = at_ns / FB_NS_PER_S, .tv_nsec = at_ns % FB_NS_PER_S};
}

static void *watch(void *arg)
{
    struct watchdog *w = arg;
    int64_t told_ns = 0; /* the stretch of work that was told of */

    pthread_mutex_lock(&w->lock);
    while (!w->is_ending) {
        struct timespec at = later(fb_max64(w->stuck_ns / 4, FB_NS_PER_MS));
        int64_t since_ns = atomic_load(&w->since_ns);
        int64_t still_ns = since_ns ? monotonic_ns() - since_ns : 0;

        if (still_ns > w->stuck_ns && since_ns != told_ns) {
            told_ns = since_ns;
            pthread_mutex_unlock(&w->lock);
            w->on_stuck(w->user, still_ns);
            pthread_mutex_lock(&w->lock);
        }
        if (!w->is_ending)
            pthread_cond_timedwait(&w->ends, &w->lock, &at);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

int fb_watchdog_new(int64_t stuck_ns, void (*on_stuck)(void *user, int64_t still_ns), void *user,
                    struct watchdog **ret_watchdog)
{
    struct watchdog *w = fb_alloc(sizeof(*w));
    pthread_condattr_t clock;
    int rc;

    if (!w)
        return -ENOMEM;
    w->stuck_ns = stuck_ns;
    w->on_stuck = on_stuck;
    w->user = user;
    pthread_mutex_init(&w->lock, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&w->ends, &clock);
    pthread_condattr_destroy(&clock);
    rc = pthread_create(&w->thread, NULL, watch, w);
    if (rc != 0) {
        fb_free(w);
        return -rc;
    }
    *ret_watchdog = w;
    return 0;
}

void fb_watchdog_free(struct watchdog *w)
{
    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    w->is_ending = true;
    pthread_cond_signal(&w->ends);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    pthread_cond_destroy(&w->ends);
    pthread_mutex_destroy(&w->lock);
    fb_free(w);
}

void fb_watchdog_note(struct watchdog *w, bool waits)
{
    atomic_store(&w->since_ns, waits ? 0 : monotonic_ns());
}
