/* SPDX-License-Identifier: MIT */
/* live.c - the ports of the watcher, and the whole from its beginning to its end. */
#include "watch/live.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <flyball/flyball.h>

#include "core/instant.h"
#include "engine/control.h"
#include "util/alloc.h"
#include "watch/live_parts.h"
#include "watch/sources/child.h"

#define FAR_MS     (INT64_C(3600) * 1000)
#define RECORDS_MS 5000 /* that writing the last of them may take */

void fb_watch_live_say(struct watch_live *l, const char *format, ...)
{
    char sentence[sizeof l->said];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    if (strcmp(sentence, l->said) == 0 || !l->o.say)
        return;
    memcpy(l->said, sentence, sizeof l->said);
    l->o.say(l->o.user, sentence);
}

/* ---------------------------------------------------------------------------------------- ports */

static int64_t now(void *self)
{
    const struct watch_live *l = self;

    return fb_engine_now(l->o.engine);
}

static void turn(uv_timer_t *timer)
{
    struct watch_live *l = timer->data;

    if (!l->is_closing)
        fb_watch_turn(l->watch);
}

static void wake_at(void *self, int64_t at_ns)
{
    struct watch_live *l = self;
    int64_t span_ns = at_ns - now(l);
    int64_t ms = span_ns <= 0 ? 0 : fb_min64(span_ns / FB_NS_PER_MS + 1, FAR_MS);

    if (!l->is_closing)
        (void)uv_timer_start(&l->timer, turn, (uint64_t)ms, 0);
}

static void tell(void *self, const struct watch_event *e)
{
    struct watch_live *l = self;

    if (e->kind == WATCH_REMOVED)
        fb_tags_forget(l, e->id);
    if (l->o.tell)
        l->o.tell(l->o.user, e);
}

static void recycle(void *self)
{
    struct watch_live *l = self;

    fb_engine_recycle(l->o.engine);
    /* What was broken may be tried: the limiter is asked again. */
    l->list.ready_ns = 0;
    for (size_t i = 0; i < l->source_count; i++)
        l->source[i].ready_ns = 0;
}

static void keep(void *self, const char *id, const void *record, size_t size)
{
    struct watch_live *l = self;

    if (l->records)
        fb_watch_records_keep(l->records, id, record, size);
}

/* ------------------------------------------------------------------------------------ beginning */

/* A file that cannot be used is a pity, and no reason not to watch. */
static void open_records(struct watch_live *l)
{
    struct fly_error err = {""};

    if (!l->o.records)
        return;
    if (fb_watch_records_open(l->o.records, &l->records, &err) < 0)
        l->records = NULL;
    if (err.text[0])
        fb_watch_live_say(l, "%s", err.text);
    if (l->records)
        l->figures.restored = fb_watch_records_load(l->records, l->watch);
}

static int open_parts(struct watch_live *l, struct fly_error *err)
{
    struct engine_caller caller = {.user = l, .on_result = fb_watch_live_on_result};
    struct watch_ports ports = {.self = l,
                                .now = now,
                                .wake_at = wake_at,
                                .look = fb_watch_live_look,
                                .tell = tell,
                                .recycle = recycle,
                                .keep = keep};
    struct watch_domain_plan domain[CONFIG_SOURCES_MAX];
    struct watch_plan plan;
    int rc = fb_engine_client_new(l->o.engine, &caller, &l->client);

    if (rc < 0)
        return rc;
    fb_watch_live_take_config(l, l->o.config);
    fb_watch_live_plan(l->o.config, &plan, domain);
    rc = fb_watch_open(&ports, &plan, &l->watch, err);
    if (rc < 0) {
        fb_watch_live_drop_config(l);
        fb_engine_client_free(l->client);
    }
    return rc;
}

int fb_watch_live_open(const struct watch_live_options *o, struct watch_live **ret_live,
                       struct fly_error *err)
{
    struct watch_live *l = fb_alloc(sizeof *l);
    int rc = l ? 0 : -ENOMEM;

    if (l) {
        l->o = *o;
        l->desk =
            (struct read_desk){.loop = o->loop, .program = o->program ? o->program : FB_CHILD_SELF};
        rc = open_parts(l, err);
    }
    if (rc == 0)
        open_records(l);
    if (rc < 0) {
        if (!err->text[0])
            (void)snprintf(err->text, sizeof err->text, "%s", strerror(-rc));
        fb_free(l);
        return rc;
    }
    (void)uv_timer_init(o->loop, &l->timer);
    l->timer.data = l;
    (void)uv_timer_start(&l->timer, turn, 0, 0);
    *ret_live = l;
    return 0;
}

struct watch *fb_watch_live_watch(const struct watch_live *l)
{
    return l->watch;
}

/* --------------------------------------------------------------------------------- another plan */

int fb_watch_live_configure(struct watch_live *l, const struct config *c, struct fly_error *err)
{
    struct watch_domain_plan domain[CONFIG_SOURCES_MAX];
    struct watch_plan plan;

    l->is_changing = true;
    fb_desk_cancel(&l->desk); /* what is being read points into the one before */
    l->is_changing = false;
    fb_watch_live_drop_config(l);
    fb_tags_clear(l); /* other fields may be wanted of the same answers */
    fb_watch_live_take_config(l, c);
    fb_watch_live_plan(c, &plan, domain);
    return fb_watch_configure(l->watch, &plan, err);
}

/* -------------------------------------------------------------------------------------- the end */

static void timer_closed(uv_handle_t *h)
{
    struct watch_live *l = h->data;

    l->is_timer_closed = true;
    fb_watch_live_maybe_over(l);
}

void fb_watch_live_maybe_over(struct watch_live *l)
{
    if (!l->is_closing || !l->is_timer_closed || l->asking)
        return;
    void (*done)(void *) = l->done;
    void *arg = l->arg;

    fb_engine_client_free(l->client);
    fb_watch_live_drop_config(l);
    fb_tags_clear(l);
    fb_free(l);
    if (done)
        done(arg);
}

void fb_watch_live_close(struct watch_live *l, void (*done)(void *arg), void *arg)
{
    if (!l)
        return;
    l->is_closing = true;
    l->done = done;
    l->arg = arg;
    for (struct asking *g = l->asking; g; g = g->next)
        g->look = NULL; /* it goes with the watcher */
    fb_watch_keep_all(l->watch);
    fb_watch_close(l->watch);
    l->watch = NULL;
    fb_watch_records_close(l->records, RECORDS_MS);
    l->records = NULL;
    fb_engine_client_stop(l->client, fb_engine_now(l->o.engine));
    fb_desk_cancel(&l->desk);
    uv_close((uv_handle_t *)&l->timer, timer_closed);
}

struct watch_live_figures fb_watch_live_figures(const struct watch_live *l)
{
    struct watch_live_figures f = l->figures;

    f.children = l->desk.begun;
    f.children_over = l->desk.killed;
    f.tags = (int64_t)l->tags.count;
    return f;
}
