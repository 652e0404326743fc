/* SPDX-License-Identifier: MIT */
/*
 * log.h - events as lines of a structured log: JSON or logfmt, one line each.
 *
 * Fields that have nothing to say are left out. Times are of the wall clock, UTC, in ISO 8601.
 */
#ifndef FLYBALL_ENGINE_OBSERVERS_LOG_H
#define FLYBALL_ENGINE_OBSERVERS_LOG_H

#include <stdint.h>

#include "core/event.h"

struct buffer;

enum log_form { LOG_JSON, LOG_LOGFMT };

/* A sink; the memory is the caller's and outlives the engine. */
struct log_sink {
    enum log_form form;
    int fd;             /* lines are written here, each with one write() */
    int64_t anchor_ns;  /* added to an event's time gives the time since the epoch */
    int64_t lines_lost; /* that could not be written */
};

/* As an observer: .on_event = fb_log_on_event, .self = the sink. */
void fb_log_on_event(void *self, const struct event *e);

/* One line with its end, appended: the time, the level unless it is NULL, the event, its fields. */
void fb_log_line(struct buffer *to, enum log_form form, int64_t anchor_ns, const char *level,
                 const struct event *e);

/* The beginning of one: the time (since 1970), the level unless it is NULL, the event. */
void fb_log_begin(struct buffer *to, enum log_form form, int64_t at_ns, const char *level,
                  const char *event);

/* One more field, and its end. */
void fb_log_field(struct buffer *to, enum log_form form, const char *name, const char *value);
void fb_log_end(struct buffer *to, enum log_form form);

#endif
