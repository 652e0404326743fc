/* SPDX-License-Identifier: MIT */
/*
 * observers.h - the table of observers: one file and one row each.
 *
 * An observer is a function that is told events (core/event.h) on a thread of its own.
 */
#ifndef FLYBALL_ENGINE_OBSERVERS_OBSERVERS_H
#define FLYBALL_ENGINE_OBSERVERS_OBSERVERS_H

#include <stddef.h>

#include "core/event.h"
#include "engine/observers/log.h"

/* Name, its function. */
#define FB_OBSERVERS(X) X("log", fb_log_on_event)

/* The function of the observer of this name, or NULL. */
void (*fb_observer_find(const char *name))(void *self, const struct event *e);

#endif
