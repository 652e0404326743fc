/* SPDX-License-Identifier: MIT */
/*
 * fetch_parts.h - the batch inside: what its files share.
 *
 * fetch.c sets it up and ends it, batch.c opens journal and output, feed.c turns lines into tasks,
 * end.c turns results into rows, report.c talks to people.
 */
#ifndef FLYBALL_FETCH_FETCH_PARTS_H
#define FLYBALL_FETCH_FETCH_PARTS_H

#include <uv.h>

#include "fetch/fetch.h"
#include "fetch/list.h"

/* An item under way: what its result is going to need. */
struct errand {
    struct fetch *fetch;
    uint64_t number;
    uint16_t check;
    bool is_started; /* the journal has it as started */
    uint32_t page;   /* 0: there are none */
    const char *id;
    const char *url; /* as the list has it */
};

struct fetch {
    const struct fetch_options *o;
    uv_loop_t loop;
    uv_async_t wake; /* the store has something for us */
    uv_idle_t feeder;
    uv_poll_t input; /* a list that comes through a pipe */
    uv_timer_t clock;
    uv_signal_t signals[3];
    int signal_count;
    bool has_input;
    bool input_waits;

    struct store *store;
    struct journal *journal;
    struct engine *engine;
    struct list *list;
    struct result_form form;
    struct journal_found found;
    char *journal_path; /* NULL: in memory */

    bool list_ended;
    bool stopping; /* nothing new is begun */
    bool is_over;  /* nothing is left to do */
    bool closing;
    int interrupts;
    int worst; /* exit code so far */
    bool is_pipe_gone;
    int64_t total;              /* items of the list, -1: not known */
    int64_t seen;               /* items read */
    int64_t room;               /* items that may be under way */
    int64_t out;                /* items under way: submitted, or being written */
    size_t bytes;               /* of results being written */
    int64_t count[ITEM_STATES]; /* that ended in this run */
    int64_t earlier;            /* finished in an earlier run */
    int64_t bad_lines;
    int64_t told_failures;
    int64_t began_ns;
};

/* --------------------------------------------------------------------------------- batch.c */

/* Open journal and output. 0 or a negative errno with a sentence. */
int fb_batch_open(struct fetch *f, struct fly_error *err) __attribute__((warn_unused_result));

/* ---------------------------------------------------------------------------------- feed.c */

/* Read and submit while there is room. */
void fb_feed(struct fetch *f);
void fb_feed_free_errand(struct errand *e);

/* ----------------------------------------------------------------------------------- end.c */

void fb_end_result(void *user, const struct engine_result *r);
void fb_end_start(void *user, struct job *j, void *task_user, int32_t attempt);

/* An item ends without a task: as these facts say. */
void fb_end_item(struct fetch *f, uint64_t number, uint16_t check, enum item_state state,
                 const struct result_facts *facts);

/* The exit code is that of the whole batch: what failed in an earlier run has still failed. */
void fb_end_found(struct fetch *f);

/* A code that may be worse than what there was. */
void fb_end_worse(struct fetch *f, int code);

/* ------------------------------------------------------------------------------- fetch.c */

/* Begin nothing new; what is under way has so many milliseconds. */
void fb_fetch_stop(struct fetch *f, int wait_ms);

/* Go on: feed, or end when nothing is left. */
void fb_fetch_go_on(struct fetch *f);

/* ------------------------------------------------------------------------------- report.c */

void fb_report_begin(const struct fetch *f);
void fb_report_progress(const struct fetch *f);
void fb_report_failure(struct fetch *f, const struct result_facts *facts, enum item_state state);
void fb_report_end(const struct fetch *f);

#endif
