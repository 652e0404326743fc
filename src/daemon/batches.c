/* SPDX-License-Identifier: MIT */
/*
 * batches.c - lists that are worked through: those of the configuration, and those submitted.
 *
 * A batch that has ended stays in the list for people to see; of more than BATCHES_MAX the oldest
 * that has ended is forgotten.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <jansson.h>

#include "core/trace.h"
#include "daemon/parts.h"
#include "fetch/paths.h"
#include "util/alloc.h"

struct work *fb_work_find(const struct daemon *d, const char *name)
{
    for (struct work *b = d->batches; b; b = b->next)
        if (strcmp(b->name, name) == 0)
            return b;
    return NULL;
}

int64_t fb_batches_running(const struct daemon *d)
{
    int64_t count = 0;

    for (const struct work *b = d->batches; b; b = b->next)
        count += b->state == BATCH_RUNS;
    return count;
}

static void batch_free(struct work *b)
{
    fb_buffer_fini(&b->list);
    fb_buffer_fini(&b->output);
    fb_buffer_fini(&b->folder);
    fb_buffer_fini(&b->journal);
    fb_buffer_fini(&b->provider);
    fb_buffer_fini(&b->text);
    fb_free(b->urls);
    fb_free(b);
}

void fb_batches_free(struct daemon *d)
{
    while (d->batches) {
        struct work *b = d->batches;

        d->batches = b->next;
        batch_free(b);
    }
}

/* The list is newest first: the last one that has ended goes. */
static void forget_oldest(struct daemon *d)
{
    struct work **oldest = NULL;
    int count = 0;

    for (struct work **at = &d->batches; *at; at = &(*at)->next, count++)
        if ((*at)->state == BATCH_ENDED)
            oldest = at;
    if (count < BATCHES_MAX || !oldest)
        return;
    struct work *gone = *oldest;
    *oldest = gone->next;
    batch_free(gone);
}

/* ------------------------------------------------------------------------------------ running */

static void say(void *to, const char *sentence)
{
    struct work *b = to;

    (void)snprintf(b->said, sizeof b->said, "%s", sentence);
    fb_log(&b->daemon->log, LEVEL_info, "batch", "%s: %s", b->name, sentence);
}

static void tell(struct work *b, const char *kind, const char *text)
{
    struct view_audit_event e = {.kind = kind, .cause = b->name, .text = text};

    fb_daemon_audit(b->daemon, LEVEL_info, &e);
}

static void on_progress(void *to, const struct progress *p, bool is_over)
{
    struct work *b = to;

    b->progress = *p;
    if (b->guest && b->guest->batch->on_progress)
        b->guest->batch->on_progress(b->guest->batch->to, p, is_over);
    const struct view_batch *v = b->fetch ? fb_fetch_view(b->fetch) : NULL;
    if (v)
        b->figures = (struct work_figures){.requests = v->requests,
                                           .retries = v->retries,
                                           .skipped = v->skipped,
                                           .unknown = v->unknown,
                                           .eta_ns = v->eta_ns,
                                           .p50_ns = v->latency_p50_ns,
                                           .p95_ns = v->latency_p95_ns,
                                           .p99_ns = v->latency_p99_ns};
}

/* Who was told to end in the middle of it has not ended by itself. */
static void end_guest(struct work *b)
{
    struct daemon *d = b->daemon;

    d->code = d->terms > 0 ? FETCH_INTERRUPTED : b->code;
    if (!b->guest->on_end(b->guest->to, d->code) && d->terms == 0)
        fb_daemon_end(d, 0);
}

static void on_end(void *user, int code)
{
    struct work *b = user;
    char text[160];

    b->fetch = NULL;
    b->code = code;
    b->state = BATCH_ENDED;
    b->ended_ns = fb_daemon_now(b->daemon);
    b->progress.in_flight = 0;
    (void)snprintf(text, sizeof text, "%s ended with exit code %d: %lld of %lld, %lld failed",
                   b->name, code, (long long)b->progress.done, (long long)b->progress.total,
                   (long long)b->progress.failed);
    tell(b, "batch", text);
    if (b->guest)
        end_guest(b);
    fb_daemon_maybe_over(b->daemon);
}

static int begin(struct daemon *d, struct work *b, struct fly_error *err)
{
    char text[VIEW_NAME + 8];

    b->daemon = d;
    b->began_ns = fb_daemon_now(d);
    b->options.name = b->name;
    b->options.quiet = true;
    b->options.progress = SCREEN_none;
    b->options.say = say;
    b->options.on_progress = on_progress;
    b->options.to = b;
    b->options.config = d->config;
    b->options.store = d->store.size > 0 ? fb_buffer_text(&d->store) : NULL;
    b->options.engine.mode = (enum recovery_mode)d->config->mode;
    b->options.engine.hold_max_ns = d->config->timeouts.hold_ns;
    b->progress.total = -1;
    int code = fb_fetch_begin(d->home, &b->options, on_end, b, &b->fetch);
    if (code != FETCH_DONE) {
        (void)snprintf(err->text, sizeof err->text, "%s", b->said[0] ? b->said : "cannot begin");
        return code == FETCH_USAGE ? -EINVAL : -EIO;
    }
    forget_oldest(d);
    b->next = d->batches;
    d->batches = b;
    (void)snprintf(text, sizeof text, "%s began", b->name);
    tell(b, "batch", text);
    return 0;
}

void fb_batches_configure(struct daemon *d, const struct config *c)
{
    for (struct work *b = d->batches; b; b = b->next) {
        b->options.config = c;
        if (b->fetch)
            fb_fetch_renew(b->fetch);
    }
}

void fb_batches_stop(struct daemon *d, int wait_ms)
{
    for (struct work *b = d->batches; b; b = b->next)
        if (b->fetch)
            fb_fetch_cut_off(b->fetch, wait_ms);
}

/* ----------------------------------------------------------------------------------- options */

static const char *keep(struct buffer *b, const char *text)
{
    if (!text)
        return NULL;
    fb_buffer_add_text(b, text);
    return fb_buffer_text(b);
}

/* A batch needs an output of its own: below the folder of what must last. */
static int choose_output(struct daemon *d, struct work *b, struct fly_error *err)
{
    if (b->options.output || b->options.folder)
        return 0;
    int rc = fb_state_folder_named(d->store.size > 0 ? fb_buffer_text(&d->store) : NULL, &b->output,
                                   err);
    const char *folder = rc == 0 ? fb_buffer_text(&b->output) : NULL;
    if (!folder)
        return rc < 0 ? rc : -ENOMEM;
    rc = fb_state_folder_make(folder, err);
    fb_buffer_add_char(&b->output, '/');
    fb_buffer_add_text(&b->output, b->name);
    fb_buffer_add_text(&b->output, ".jsonl");
    b->options.output = fb_buffer_text(&b->output);
    return rc == 0 && !b->options.output ? -ENOMEM : rc;
}

/* Letters that are safe in the name of a file and in a URL. */
static bool is_name(const char *name)
{
    return name[0] && name[0] != '.' && strlen(name) < VIEW_NAME &&
           strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") ==
               strlen(name);
}

static struct work *batch_new(const char *name)
{
    struct work *b = fb_alloc(sizeof *b);

    if (!b)
        return NULL;
    fb_fetch_options_init(&b->options);
    fb_view_put(b->name, sizeof b->name, name);
    return b;
}

/* ------------------------------------------------------------------------- of the configuration */

static int begin_configured(struct daemon *d, const struct config_batch *c, struct fly_error *err)
{
    struct work *b = batch_new(c->name);

    if (!b)
        return -ENOMEM;
    b->is_configured = true;
    b->options.list = keep(&b->list, c->list);
    b->options.output = keep(&b->output, c->output);
    b->options.folder = keep(&b->folder, c->folder);
    b->options.journal = keep(&b->journal, c->journal);
    b->options.provider = keep(&b->provider, c->provider);
    b->options.request_id = c->request_id;
    b->options.no_bodies = !c->bodies;
    b->options.conditional = c->conditional;
    b->options.robots = c->robots;
    b->options.paginate = c->paginate;
    int rc = choose_output(d, b, err);
    if (rc == 0)
        rc = begin(d, b, err);
    if (rc < 0)
        batch_free(b);
    return rc;
}

void fb_batches_begin(struct daemon *d)
{
    for (size_t i = 0; i < d->config->batch_count; i++) {
        const struct config_batch *c = &d->config->batch[i];
        struct fly_error err = {""};

        if (!c->enabled || fb_work_find(d, c->name))
            continue;
        if (begin_configured(d, c, &err) < 0)
            fb_log(&d->log, LEVEL_error, "batch", "%s: %s", c->name, err.text);
    }
}

int fb_batches_guest(struct daemon *d, const struct daemon_guest *g, struct fly_error *err)
{
    struct work *b = batch_new(g->name);

    if (!b)
        return -ENOMEM;
    b->options = *g->batch;
    b->guest = g;
    int rc = choose_output(d, b, err);
    if (rc == 0)
        rc = begin(d, b, err);
    if (rc < 0)
        batch_free(b);
    return rc;
}

/* ------------------------------------------------------------------------------------ submitted */

static int complain(struct fly_error *err, const char *what)
{
    (void)snprintf(err->text, sizeof err->text, "%s", what);
    return -EINVAL;
}

/* A text of the object into a buffer that the options point to. */
static const char *text_of(const json_t *o, const char *name, struct buffer *b)
{
    return keep(b, json_string_value(json_object_get(o, name)));
}

static bool flag_of(const json_t *o, const char *name)
{
    return json_is_true(json_object_get(o, name));
}

/* URLs one after another in one buffer, which does not move any more when it is pointed into. */
static int read_urls(struct work *b, const json_t *urls, struct fly_error *err)
{
    size_t count = json_array_size(urls);
    size_t at = 0;

    for (size_t i = 0; i < count; i++) {
        const char *url = json_string_value(json_array_get(urls, i));

        if (!url)
            return complain(err, "urls: expected an array of texts");
        fb_buffer_add(&b->text, url, strlen(url) + 1);
    }
    b->urls = fb_alloc((count + 1) * sizeof *b->urls);
    if (!b->urls || b->text.failed)
        return complain(err, "out of memory");
    for (size_t i = 0; i < count; i++) {
        b->urls[i] = b->text.bytes + at;
        at += strlen(b->urls[i]) + 1;
    }
    b->options.urls = b->urls;
    b->options.url_count = count;
    return 0;
}

static int read_options(struct work *b, const json_t *o, struct fly_error *err)
{
    const json_t *urls = json_object_get(o, "urls");

    b->options.list = text_of(o, "list", &b->list);
    b->options.output = text_of(o, "output", &b->output);
    b->options.folder = text_of(o, "folder", &b->folder);
    b->options.journal = text_of(o, "journal", &b->journal);
    b->options.provider = text_of(o, "provider", &b->provider);
    b->options.request_id = flag_of(o, "request_id");
    b->options.no_bodies = flag_of(o, "no_bodies");
    b->options.conditional = flag_of(o, "conditional");
    b->options.robots = flag_of(o, "robots");
    b->options.paginate = flag_of(o, "paginate");
    b->options.fresh = flag_of(o, "fresh");
    b->options.retry_failed = flag_of(o, "retry_failed");
    b->options.deferred = flag_of(o, "deferred");
    b->options.keep_going = flag_of(o, "keep_going");
    b->options.is_submitted = true;
    if (!b->options.list == !json_array_size(urls))
        return complain(err, "expected either a list or urls");
    if ((b->options.list && b->options.list[0] != '/') ||
        (b->options.output && b->options.output[0] != '/') ||
        (b->options.folder && b->options.folder[0] != '/'))
        return complain(err, "paths must begin with '/': the daemon is in another folder");
    return b->options.list ? 0 : read_urls(b, urls, err);
}

/* Unless it is nonsense, which is not passed on. */
static void set_trace(struct work *b, struct slice trace)
{
    char id[FB_TRACE_BYTES];

    if (trace.length == 0 || trace.length >= sizeof b->trace_value)
        return;
    memcpy(b->trace_value, trace.at, trace.length);
    if (!fb_trace_id(b->trace_value, id))
        return;
    b->trace = (struct engine_header){.name = FB_TRACE_HEADER, .value = b->trace_value};
    b->options.header = &b->trace;
    b->options.header_count = 1;
}

static int make(struct daemon *d, const json_t *o, struct slice trace, struct work **ret_batch,
                struct fly_error *err)
{
    const char *given = json_string_value(json_object_get(o, "name"));
    char name[VIEW_NAME];

    (void)snprintf(name, sizeof name, "batch-%lld-%lld",
                   (long long)(d->began_ns / INT64_C(1000000000)), (long long)++d->batch_number);
    if (!json_is_object(o) || (given && !is_name(given)))
        return complain(err, given ? "name: expected letters, digits, '.', '_' and '-'"
                                   : "expected an object");
    struct work *there = fb_work_find(d, given ? given : name);
    if (there && there->fetch)
        return complain(err, "a batch of this name runs already");
    struct work *b = batch_new(given ? given : name);
    if (!b)
        return -ENOMEM;
    set_trace(b, trace);
    int rc = read_options(b, o, err);
    if (rc == 0)
        rc = choose_output(d, b, err);
    if (rc == 0)
        rc = begin(d, b, err);
    if (rc < 0)
        batch_free(b);
    else
        *ret_batch = b;
    return rc;
}

int fb_work_submit(struct daemon *d, struct slice json, struct slice trace, struct work **ret_batch,
                   struct fly_error *err)
{
    json_error_t wrong;
    json_t *o = json_loadb(json.at ? json.at : "", json.length, JSON_REJECT_DUPLICATES, &wrong);

    if (d->terms > 0) {
        json_decref(o);
        (void)complain(err, "the daemon is about to end");
        return -ESHUTDOWN;
    }
    if (!o) {
        (void)snprintf(err->text, sizeof err->text, "%d:%d: %.150s", wrong.line, wrong.column,
                       wrong.text);
        return -EINVAL;
    }
    int rc = make(d, o, trace, ret_batch, err);
    json_decref(o);
    return rc;
}
