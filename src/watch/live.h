/* SPDX-License-Identifier: MIT */
/*
 * live.h - a watcher in the real world: its looks are requests of an engine, and what comes back is
 * read by the sources of a configuration.
 *
 *     struct watch_live_options o = {.loop = loop, .engine = engine, .config = config, ...};
 *     fb_watch_live_open(&o, &live, &err);
 *     fb_watch_live_configure(live, another, &err);   at any time, in place
 *     fb_watch_live_close(live, done, arg);            and the loop turns until `done` is called
 *
 * A look becomes the URL of its source, sent under the limits of that source's provider, or its
 * own. A request that cannot leave soon is not queued: what is most urgent is decided when there is
 * a permit, not before. What a source has told of an item is asked for
 * conditionally. Retries are the watcher's affair, so a look is one request and its redirects.
 *
 * For one thread: that of the loop.
 */
#ifndef FLYBALL_WATCH_LIVE_H
#define FLYBALL_WATCH_LIVE_H

#include <stdint.h>

#include <uv.h>

#include "config/config.h"
#include "watch/watch.h"

struct engine;
struct fly_error;
struct watch_live;

struct watch_live_options {
    uv_loop_t *loop;
    struct engine *engine;
    const struct config *config; /* lasts until another one is in force */
    const char *records;         /* the file of what must last; NULL: nothing does */
    const char *program;         /* that children are begun as; NULL: this one */
    void *user;                  /* first argument of the callbacks */
    void (*tell)(void *user, const struct watch_event *e);
    void (*say)(void *user, const char *sentence); /* something is not as it should be */
};

/* 0, and the first looks follow in later turns of the loop; or a negative errno with a sentence. */
int fb_watch_live_open(const struct watch_live_options *o, struct watch_live **ret_live,
                       struct fly_error *err) __attribute__((warn_unused_result));

/* What is watched; it is the live one's. */
struct watch *fb_watch_live_watch(const struct watch_live *l);

/*
 * Another configuration is in force, the one before is about to go. Items, ages and versions stay.
 * Answers that are being read are read again. 0, or a negative errno with a sentence: then what is
 * watched is as before, but the configuration is the other one all the same.
 */
int fb_watch_live_configure(struct watch_live *l, const struct config *c, struct fly_error *err)
    __attribute__((warn_unused_result));

/*
 * End: nothing is asked any more, what is under way is cut off, what must last is written. `done`,
 * unless NULL, is called from a later turn of the loop, and all of it is gone. The engine must last
 * until then. NULL is allowed.
 */
void fb_watch_live_close(struct watch_live *l, void (*done)(void *arg), void *arg);

/* Figures of its own. */
struct watch_live_figures {
    int64_t requests;      /* handed to the engine */
    int64_t put_off;       /* looks for which there was no permit */
    int64_t taken_back;    /* requests that could not leave soon after all */
    int64_t unmodified;    /* answers 304 */
    int64_t children;      /* processes that read answers */
    int64_t children_over; /* of those: killed for time or output */
    int64_t restored;      /* items that were known from before */
    int64_t tags;          /* that are remembered for conditional requests */
};

struct watch_live_figures fb_watch_live_figures(const struct watch_live *l);

#endif
