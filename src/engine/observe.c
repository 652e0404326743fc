/* SPDX-License-Identifier: MIT */
/*
 * observe.c - a ring between the engine and those who watch it.
 *
 * The lock is held for the copy of one event, never while an observer runs.
 */
#include "engine/observe.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>

#include "util/alloc.h"

struct observe {
    pthread_mutex_t lock;
    pthread_cond_t filled;
    pthread_t thread;
    bool has_thread;
    bool ends;
    size_t first, count, room;
    uint32_t lost; /* since the last event that fitted */
    int64_t lost_in_all;
    size_t observers;
    struct observer *observer;
    struct event *ring;
};

static bool take_one(struct observe *o, struct event *ret_event)
{
    if (o->count == 0)
        return false;
    *ret_event = o->ring[o->first];
    o->first = (o->first + 1) % o->room;
    o->count--;
    return true;
}

static void pass_on(const struct observe *o, const struct event *e)
{
    for (size_t i = 0; i < o->observers; i++)
        o->observer[i].on_event(o->observer[i].self, e);
}

void fb_observe_flush(struct observe *o)
{
    struct event e;

    assert(!o->has_thread);
    while (take_one(o, &e))
        pass_on(o, &e);
}

static void *watch(void *arg)
{
    struct observe *o = arg;
    struct event e;

    pthread_mutex_lock(&o->lock);
    for (;;) {
        while (take_one(o, &e)) {
            pthread_mutex_unlock(&o->lock);
            pass_on(o, &e);
            pthread_mutex_lock(&o->lock);
        }
        if (o->ends)
            break;
        pthread_cond_wait(&o->filled, &o->lock);
    }
    pthread_mutex_unlock(&o->lock);
    return NULL;
}

static void memory_free(struct observe *o)
{
    fb_free(o->ring);
    fb_free(o->observer);
    fb_free(o);
}

int fb_observe_new(const struct observer *observer, size_t count, size_t events_max,
                   bool has_thread, struct observe **ret_observe)
{
    struct observe *o = fb_alloc(sizeof(*o));
    int rc = 0;

    assert(count > 0 && events_max > 0);
    if (!o)
        return -ENOMEM;
    o->room = events_max;
    o->observers = count;
    o->ring = fb_alloc(events_max * sizeof(*o->ring));
    o->observer = fb_alloc(count * sizeof(*o->observer));
    if (!o->ring || !o->observer) {
        memory_free(o);
        return -ENOMEM;
    }
    for (size_t i = 0; i < count; i++)
        o->observer[i] = observer[i];
    pthread_mutex_init(&o->lock, NULL);
    pthread_cond_init(&o->filled, NULL);
    if (has_thread)
        rc = pthread_create(&o->thread, NULL, watch, o);
    if (rc != 0) {
        memory_free(o);
        return -rc;
    }
    o->has_thread = has_thread;
    *ret_observe = o;
    return 0;
}

void fb_observe_free(struct observe *o)
{
    if (!o)
        return;
    if (o->has_thread) {
        pthread_mutex_lock(&o->lock);
        o->ends = true;
        pthread_cond_signal(&o->filled);
        pthread_mutex_unlock(&o->lock);
        pthread_join(o->thread, NULL);
    } else {
        fb_observe_flush(o);
    }
    pthread_cond_destroy(&o->filled);
    pthread_mutex_destroy(&o->lock);
    memory_free(o);
}

void fb_observe_add(struct observe *o, const struct event *e)
{
    pthread_mutex_lock(&o->lock);
    if (o->count == o->room) {
        o->lost++;
        o->lost_in_all++;
    } else {
        struct event *slot = &o->ring[(o->first + o->count) % o->room];

        *slot = *e;
        slot->lost = o->lost;
        o->lost = 0;
        o->count++;
        if (o->count == 1)
            pthread_cond_signal(&o->filled);
    }
    pthread_mutex_unlock(&o->lock);
}

int64_t fb_observe_lost(struct observe *o)
{
    int64_t lost;

    pthread_mutex_lock(&o->lock);
    lost = o->lost_in_all;
    pthread_mutex_unlock(&o->lock);
    return lost;
}
