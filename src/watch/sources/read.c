/* SPDX-License-Identifier: MIT */
/* read.c - at once where it can be, else in turn. */
#include "watch/sources/read.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <flyball/flyball.h>

#include "util/alloc.h"
#include "watch/sources/child.h"

#define OUTPUT_LEAST 65536

struct read_job {
    struct read_job *next, *previous;
    struct read_desk *desk;
    const struct source_rule *rule;
    const struct source_kind *kind;
    struct buffer words, environment, body;
    struct child *child; /* NULL: it waits */
    read_done *done;
    void *user;
    bool is_cancelled;
};

static void job_free(struct read_job *j)
{
    fb_buffer_fini(&j->words);
    fb_buffer_fini(&j->environment);
    fb_buffer_fini(&j->body);
    fb_free(j);
}

static void finish(struct read_job *j, int error, struct slice text, const char *sentence)
{
    struct source_said said = {.memory = NULL};
    struct fly_error err = {""};

    (void)snprintf(err.text, sizeof err.text, "%s", sentence);
    if (error == 0)
        error = j->kind->read(j->rule, text, &said, &err);
    j->done(j->user, error, &said, err.text);
    job_free(j);
}

/* -------------------------------------------------------------------------------------- in turn */

static void begin_next(struct read_desk *d);

static void unlink_running(struct read_job *j)
{
    struct read_desk *d = j->desk;

    if (j->previous)
        j->previous->next = j->next;
    else
        d->running = j->next;
    if (j->next)
        j->next->previous = j->previous;
    d->children--;
}

static void child_over(void *user, const struct child_end *end)
{
    struct read_job *j = user;
    struct read_desk *d = j->desk;

    unlink_running(j);
    d->killed += end->error == -ETIMEDOUT || end->error == -E2BIG;
    begin_next(d);
    finish(j, end->error, end->output, end->sentence); /* with the last one the desk may go */
}

static int begin_child(struct read_job *j, struct fly_error *err)
{
    const struct config_ask *a = j->rule->ask;
    struct read_desk *d = j->desk;
    struct child_order o = {
        .program = d->program,
        .words = {j->words.bytes, j->words.size},
        .environment = {j->environment.bytes, j->environment.size},
        .input = {j->body.bytes, j->body.size},
        .timeout_ns = a->timeout_ns,
        .memory_bytes = a->memory_bytes,
        .output_max = (size_t)(a->body_bytes_max > OUTPUT_LEAST ? a->body_bytes_max : OUTPUT_LEAST),
    };
    int rc = fb_child_begin(d->loop, &o, child_over, j, &j->child, err);

    fb_buffer_fini(&j->body);
    if (rc < 0)
        return rc;
    d->begun++;
    d->children++;
    j->previous = NULL;
    j->next = d->running;
    if (d->running)
        d->running->previous = j;
    d->running = j;
    return 0;
}

static void begin_next(struct read_desk *d)
{
    while (d->first && d->children < FB_DESK_CHILDREN) {
        struct read_job *j = d->first;
        struct fly_error err = {""};

        d->first = j->next;
        if (!d->first)
            d->last = NULL;
        int rc = j->is_cancelled ? -ECANCELED : begin_child(j, &err);
        if (rc < 0)
            finish(j, rc, (struct slice){NULL, 0}, err.text);
    }
}

void fb_desk_cancel(struct read_desk *d)
{
    for (struct read_job *j = d->first; j; j = j->next)
        j->is_cancelled = true;
    for (struct read_job *j = d->running, *next; j; j = next) {
        next = j->next;
        fb_child_cancel(j->child);
    }
    begin_next(d);
}

/* ------------------------------------------------------------------------------------ beginning */

static void add_variable(struct buffer *b, const char *name, const char *value)
{
    fb_buffer_add_text(b, name);
    fb_buffer_add_text(b, value ? value : "");
    fb_buffer_add_char(b, '\0');
}

static void describe(struct read_job *j, const struct read_page *p)
{
    char status[16];

    (void)snprintf(status, sizeof status, "%d", (int)p->status);
    add_variable(&j->environment, "FLYBALL_SOURCE=", j->rule->name);
    add_variable(&j->environment, "FLYBALL_ITEM=", p->item);
    add_variable(&j->environment, "FLYBALL_ID=", p->id);
    add_variable(&j->environment, "FLYBALL_URL=", p->url);
    add_variable(&j->environment, "FLYBALL_TYPE=", p->type);
    add_variable(&j->environment, "FLYBALL_STATUS=", status);
}

static void wait_in_turn(struct read_desk *d, struct read_job *j)
{
    if (d->last)
        d->last->next = j;
    else
        d->first = j;
    d->last = j;
    begin_next(d);
}

int fb_read(struct read_desk *d, const struct source_rule *r, const struct read_page *p,
            read_done *done, void *user, struct fly_error *err)
{
    struct read_job *j = fb_alloc(sizeof *j);

    if (!j)
        return -ENOMEM;
    *j = (struct read_job){.desk = d, .rule = r, .done = done, .user = user};
    j->kind = fb_source_kind(r->ask->kind);
    if (!j->kind->words) {
        finish(j, 0, p->body, "");
        return 0;
    }
    int rc = j->kind->words(r, &j->words, err);
    describe(j, p);
    fb_buffer_add(&j->body, p->body.at, p->body.length);
    if (rc == 0 && (j->words.failed || j->environment.failed || j->body.failed))
        rc = -ENOMEM;
    if (rc < 0) {
        job_free(j);
        return rc;
    }
    wait_in_turn(d, j);
    return 0;
}
