/* SPDX-License-Identifier: MIT */
/*
 * log.h - the daemon's log: a line an event, as JSON or logfmt, on standard error or in a file.
 *
 * Lines are written whole, with one write() each, by any thread. A file that was moved away is
 * opened anew by fb_log_reopen(): the new one takes the place of the old under the same
 * descriptor, so nobody who writes has to stop for it.
 *
 * Events of the engine that are news are of level info (failures: warning), all others, and rates,
 * are debug.
 */
#ifndef FLYBALL_DAEMON_LOG_H
#define FLYBALL_DAEMON_LOG_H

#include <stdbool.h>
#include <stdint.h>

#include <flyball/flyball.h>

#include "core/event.h"
#include "engine/observers/log.h"

/* From the most important on. */
#define FB_LOG_LEVELS(X) X(error) X(warning) X(info) X(debug)

#define X(name) LEVEL_##name,
enum log_level { FB_LOG_LEVELS(X) LOG_LEVELS };
#undef X

struct log {
    enum log_form form;
    enum log_level level;            /* nothing below it is written */
    int64_t (*now)(const void *arg); /* since 1970: the clock that events have, too */
    const void *arg;
    int fd;
    bool is_file;
    _Atomic int64_t lines_lost; /* that could not be written, or only in part */
};

/* `path` NULL: standard error. 0 or a negative errno with a sentence. */
int fb_log_open(struct log *l, const char *path, struct fly_error *err)
    __attribute__((warn_unused_result));
int fb_log_reopen(struct log *l, const char *path, struct fly_error *err)
    __attribute__((warn_unused_result));
void fb_log_close(struct log *l);

/* One line: time, level, event, text; from any thread, if its clock may be. */
void fb_log(struct log *l, enum log_level level, const char *event, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The same with members of its own before the text; one without a value is left out. */
struct log_field {
    const char *name, *value;
};

void fb_log_with(struct log *l, enum log_level level, const char *event,
                 const struct log_field *field, size_t count, const char *text);

/* As an observer: .on_event = fb_log_event, .self = the log. */
void fb_log_event(void *self, const struct event *e);

#endif
