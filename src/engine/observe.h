/* SPDX-License-Identifier: MIT */
/*
 * observe.h - pass events on to observers without ever waiting for one of them.
 *
 * Events go into a ring of fixed size; a thread takes them out and calls the observers. When they
 * are too slow the ring is full: what comes then is dropped and counted, and the next event that
 * fits says how many were lost. On virtual time there is no thread: events are passed on when
 * fb_observe_flush() is called.
 */
#ifndef FLYBALL_ENGINE_OBSERVE_H
#define FLYBALL_ENGINE_OBSERVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/event.h"

struct observe;

/* 0 or a negative errno. The observers are copied. */
int fb_observe_new(const struct observer *observer, size_t count, size_t events_max,
                   bool has_thread, struct observe **ret_observe)
    __attribute__((warn_unused_result));

/* Passes on what is in the ring, then ends. NULL is allowed. */
void fb_observe_free(struct observe *o);

/* Copy an event into the ring, or drop it. Never blocks for longer than a copy takes. */
void fb_observe_add(struct observe *o, const struct event *e);

/* Without a thread: call the observers now. */
void fb_observe_flush(struct observe *o);

/* How many were dropped so far. */
int64_t fb_observe_lost(struct observe *o);

#endif
