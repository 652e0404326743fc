/* SPDX-License-Identifier: MIT */
/* feed.c - from the list into the engine, as far as there is room. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fetch/fetch_parts.h"
#include "fetch/place.h"
#include "util/alloc.h"

#define LINES_PER_TURN 1024 /* so that answers are not kept waiting */
#define HEADERS_MAX    128

static struct errand *new_errand(struct fetch *f, const struct item *i, uint16_t check)
{
    size_t id_size = strlen(i->id) + 1;
    size_t url_size = strlen(i->url) + 1;
    struct errand *e = fb_alloc(sizeof *e + id_size + url_size);

    if (!e)
        return NULL;
    char *bytes = (char *)(e + 1);
    e->fetch = f;
    e->number = i->number;
    e->check = check;
    e->id = memcpy(bytes, i->id, id_size);
    e->url = memcpy(bytes + id_size, i->url, url_size);
    return e;
}

void fb_feed_free_errand(struct errand *e)
{
    fb_free(e);
}

static bool is_named(const struct engine_header *header, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcasecmp(header[i].name, name) == 0)
            return true;
    }
    return false;
}

/* The item's own headers, and those of all requests that it does not have itself. */
static size_t merge_headers(const struct fetch *f, const struct item *i, struct engine_header *to)
{
    size_t count = 0;

    for (size_t h = 0; h < i->header_count; h++)
        to[count++] = i->header[h];
    for (size_t h = 0; h < f->o->header_count && count < HEADERS_MAX - 1; h++) {
        if (!is_named(i->header, i->header_count, f->o->header[h].name))
            to[count++] = f->o->header[h];
    }
    if (f->o->request_id && !is_named(to, count, "X-Request-Id"))
        to[count++] = (struct engine_header){.name = "X-Request-Id", .value = i->id};
    return count;
}

/* It cannot be sent as it stands: it has failed, and the rest goes on. */
static void refuse(struct fetch *f, const struct item *i, uint16_t check, const char *sentence)
{
    struct result_facts facts = {.id = i->id,
                                 .url = i->url,
                                 .method = i->method,
                                 .failure = fb_failure_name(FAIL_BAD_REQUEST),
                                 .sentence = sentence};

    fb_end_item(f, i->number, check, ITEM_failed, &facts);
}

static void submit(struct fetch *f, const struct item *i, uint16_t check)
{
    struct engine_header header[HEADERS_MAX];
    struct errand *e = new_errand(f, i, check);
    struct fly_error err = {""};
    struct engine_task t = {
        .url = i->url,
        .method = i->method,
        .header = header,
        .header_count = merge_headers(f, i, header),
        .body = i->body,
        .body_size = i->body_size,
        .id = i->id,
        .provider = f->o->provider,
        .pool = i->pool,
        .operation = i->operation,
        .alternative = i->alternative,
        .alternative_count = i->alternative_count,
        .priority = i->priority,
        .cost = i->cost,
        .flags = i->retryable ? ENGINE_RETRYABLE : 0,
        .user = e,
    };
    int error = e ? fb_engine_submit(f->engine, &t, NULL, &err) : -ENOMEM;

    if (error == 0) {
        f->out++;
        return;
    }
    fb_feed_free_errand(e);
    if (error == -EINVAL) {
        refuse(f, i, check, err.text);
        return;
    }
    if (error != -ESHUTDOWN) {
        fprintf(stderr, "flyball fetch: %s\n", strerror(-error));
        fb_end_worse(f, FETCH_BROKEN);
        fb_fetch_stop(f, 0);
    }
}

/* It was sent by a run that ended before it was answered. */
static void lose(struct fetch *f, const struct item *i, uint16_t check)
{
    struct result_facts facts = {
        .id = i->id,
        .url = i->url,
        .method = i->method,
        .failure = "interrupted",
        .sentence = "sent by a run that ended before the answer came; not sent again",
        .attempts = 1};

    fb_end_item(f, i->number, check, ITEM_unknown, &facts);
}

static void list_changed(struct fetch *f, const struct item *i)
{
    fprintf(stderr,
            "flyball fetch: %s:%llu: not the request that the journal has there; the list was "
            "changed. --fresh starts over.\n",
            f->o->list ? f->o->list : "command line", (unsigned long long)i->line);
    fb_end_worse(f, FETCH_USAGE);
    fb_fetch_stop(f, FETCH_DRAIN_MS);
}

static void take_item(struct fetch *f, const struct item *i)
{
    uint16_t check = fb_journal_check(fb_item_hash(i));
    bool same = true;
    enum item_state state = fb_journal_state(f->journal, i->number, check, &same);

    f->seen++;
    if (!same) {
        list_changed(f, i);
        return;
    }
    if (state == ITEM_pending)
        submit(f, i, check);
    else if (state == ITEM_started)
        lose(f, i, check);
    else
        f->earlier++;
}

static void bad_line(struct fetch *f, const struct fly_error *err)
{
    fprintf(stderr, "%s\n", err->text);
    f->bad_lines++;
    fb_end_worse(f, f->o->keep_going ? FETCH_FAILED : FETCH_USAGE);
    if (!f->o->keep_going) {
        fputs("flyball fetch: stopped there; --keep-going goes on with the other lines\n", stderr);
        fb_fetch_stop(f, FETCH_DRAIN_MS);
    }
}

/* Several keys, and what is under way all waits: then look further down the list. */
static void widen(struct fetch *f)
{
    struct engine_stats s;

    if (f->out < f->room || f->room >= FETCH_ITEMS_MAX)
        return;
    fb_engine_stats(f->engine, &s);
    if (s.keys > 1 && s.in_flight < f->o->engine.concurrency / 2)
        f->room *= 2;
}

static bool has_room(struct fetch *f)
{
    widen(f);
    return !f->list_ended && !f->stopping && f->out < f->room && f->bytes < FETCH_BYTES_MAX;
}

static void wait_for_input(struct fetch *f);

static void input_ready(uv_poll_t *p, int status, int events)
{
    struct fetch *f = p->data;

    (void)status;
    (void)events;
    (void)uv_poll_stop(p);
    f->input_waits = false;
    fb_fetch_go_on(f);
}

static void wait_for_input(struct fetch *f)
{
    f->input_waits = true;
    if (uv_poll_start(&f->input, UV_READABLE | UV_DISCONNECT, input_ready) < 0)
        f->list_ended = true;
}

/* One line or more of the list. */
static void feed_one(struct fetch *f)
{
    struct fly_error err = {""};
    struct item item;
    int found = fb_list_next(f->list, &item, &err);

    if (found > 0) {
        take_item(f, &item);
    } else if (found == 0) {
        f->list_ended = true;
    } else if (found == -EINVAL) {
        bad_line(f, &err);
    } else if (found == -EAGAIN) {
        wait_for_input(f);
    } else {
        fprintf(stderr, "flyball fetch: cannot read %s: %s\n", f->o->list ? f->o->list : "list",
                strerror(-found));
        fb_end_worse(f, FETCH_USAGE);
        f->list_ended = true;
    }
}

void fb_feed(struct fetch *f)
{
    for (int i = 0; i < LINES_PER_TURN && has_room(f) && !f->input_waits; i++)
        feed_one(f);
}
