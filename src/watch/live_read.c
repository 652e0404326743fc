/* SPDX-License-Identifier: MIT */
/* live_read.c - what came back: an answer to read, nothing new, no such item, or a failure. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include <flyball/flyball.h>

#include "core/instant.h"
#include "watch/live_parts.h"

/* The look is answered, and this asking is over. */
static void answer(struct asking *g, struct watch_answer a)
{
    struct watch_live *l = g->live;
    struct watch_look *look = g->look;

    if (g->is_beginning) {
        g->early = a.failure == FAIL_MEMORY ? -ENOMEM : -EIO;
        return;
    }
    a.asked_ns = g->asked_ns;
    a.latency_ns = g->latency_ns;
    fb_watch_live_asking_free(g);
    if (look)
        fb_watch_looked(l->watch, look, &a);
}

static void fail(struct asking *g, enum failure failure)
{
    answer(g, (struct watch_answer){.end = LOOK_FAILED, .failure = failure});
}

/* -------------------------------------------------------------------------------------- reading */

static enum failure failure_of(int error)
{
    switch (error) {
    case -ENOMEM:
        return FAIL_MEMORY;
    case -ETIMEDOUT:
        return FAIL_WATCHDOG;
    case -E2BIG:
        return FAIL_TOO_LARGE;
    default:
        return FAIL_PAYLOAD;
    }
}

/* The list has come: it is not an answer like others. */
static void end_list(struct asking *g, const struct source_said *said)
{
    struct watch_live *l = g->live;
    struct watch_look *look = g->look;

    fb_tag_put(l, look, g->tag, g->modified);
    fb_watch_live_asking_free(g);
    fb_watch_live_listed(l, look, said);
}

static void end_item(struct asking *g, const struct source_said *said)
{
    if (said->wrong > 0 || said->missing > 0)
        fb_watch_live_say(g->live, "%s: %s: %s", g->look->domain, g->look->id, said->first);
    fb_tag_put(g->live, g->look, g->tag, g->modified);
    answer(g, (struct watch_answer){.end = LOOK_OK, .says = said->says, .domain_id = said->id});
}

static void was_read(void *user, int error, struct source_said *said, const char *sentence)
{
    struct asking *g = user;

    if (!g->look) {
        fb_watch_live_asking_free(g);
    } else if (error == -ECANCELED) {
        answer(g, (struct watch_answer){.end = LOOK_CANCELLED});
    } else if (error < 0) {
        fb_watch_live_say(g->live, "%s%s%s: %s",
                          g->look->kind == LOOK_LIST ? CONFIG_ITEMS_NAME : g->look->domain,
                          g->look->id[0] ? ": " : "", g->look->id, sentence);
        answer(g, (struct watch_answer){.end = LOOK_FAILED,
                                        .failure = failure_of(error),
                                        .was_killed = error == -ETIMEDOUT || error == -E2BIG});
    } else if (g->look->kind == LOOK_LIST) {
        end_list(g, said);
    } else {
        end_item(g, said);
    }
    fb_source_said_fini(said);
}

void fb_watch_live_read(struct asking *g, const struct read_page *page)
{
    struct watch_live *l = g->live;
    const struct asked *a = fb_watch_live_asked(l, g->look);
    struct read_page p = *page;
    struct fly_error err = {""};

    if (!a) { /* it has just gone */
        answer(g, (struct watch_answer){.end = LOOK_CANCELLED});
        return;
    }
    p.url = g->url.size > 0 ? fb_buffer_text(&g->url) : NULL;
    p.item = g->look->id;
    p.id = g->look->domain_id;
    int rc = fb_read(&l->desk, g->look->kind == LOOK_STATIC ? &a->fixed : &a->rule, &p, was_read, g,
                     &err);
    if (rc < 0) {
        fb_watch_live_say(l, "%s: %s", a->name, err.text);
        fail(g, failure_of(rc));
    }
}

/* -------------------------------------------------------------------------------------- results */

static const char *header(const struct engine_result *r, const char *name)
{
    for (size_t i = 0; i < r->header_count; i++) {
        if (strcasecmp(r->header[i].name, name) == 0)
            return r->header[i].value;
    }
    return "";
}

/* A validator that does not fit is none. */
static void keep(char *to, size_t size, const char *value)
{
    if (strlen(value) < size)
        (void)snprintf(to, size, "%s", value);
}

static void take_body(struct asking *g, const struct engine_result *r)
{
    const struct asked *a = fb_watch_live_asked(g->live, g->look);
    struct read_page p = {
        .body = {r->body, r->body_size}, .type = header(r, "Content-Type"), .status = r->status};

    if (a && (int64_t)r->body_size > a->ask->body_bytes_max) {
        fb_watch_live_say(g->live, "%s: an answer of %zu bytes is too large", a->name,
                          r->body_size);
        fail(g, FAIL_TOO_LARGE);
        return;
    }
    keep(g->tag, sizeof g->tag, header(r, "ETag"));
    keep(g->modified, sizeof g->modified, header(r, "Last-Modified"));
    fb_watch_live_read(g, &p);
}

/* It could not leave, or not soon: the source has no permit till then. */
static void taken_back(struct asking *g, const struct engine_result *r)
{
    struct watch_live *l = g->live;
    struct asked *a = fb_watch_live_asked(l, g->look);
    int64_t now_ns = fb_engine_now(l->o.engine);

    /* Whatever it is, it is looked at again in an interval: somebody may have changed it. */
    if (a)
        a->ready_ns = fb_max64(fb_min64(r->ready_at_ns, now_ns + l->config->watch.interval_ns),
                               now_ns + FB_NS_PER_MS);
    l->figures.taken_back++;
    answer(g, (struct watch_answer){.end = LOOK_CANCELLED});
}

static void take_answer(struct asking *g, const struct engine_result *r)
{
    bool is_ok = r->status >= 200 && r->status < 300;

    if (r->status == 304 && g->is_conditional) {
        const struct asked *a = fb_watch_live_asked(g->live, g->look);

        g->live->figures.unmodified++;
        answer(g, (struct watch_answer){.end = LOOK_SAME,
                                        .was_free = a && fb_watch_live_is_same_free(a)});
    } else if (is_ok) {
        take_body(g, r);
    } else {
        fail(g, FAIL_PAYLOAD);
    }
}

void fb_watch_live_on_result(void *user, const struct engine_result *r)
{
    struct asking *g = r->user;
    struct asked *a = g->look ? fb_watch_live_asked(g->live, g->look) : NULL;
    bool is_absent = r->status == 404 || r->status == 410;

    (void)user;
    if (a && a->under_way > 0)
        a->under_way--;
    if (a)
        a->ready_ns = 0; /* the limiter may know more now */
    g->job = NULL;
    g->asked_ns = r->sent_ns;
    g->latency_ns = r->sent_ns > 0 ? r->ended_ns - r->sent_ns : 0;
    if (!g->look)
        fb_watch_live_asking_free(g);
    else if (r->end == ENGINE_OK)
        take_answer(g, r);
    else if (r->end == ENGINE_CANCELLED)
        answer(g, (struct watch_answer){.end = LOOK_CANCELLED});
    else if (r->failure == FAIL_LATE || r->failure == FAIL_NO_ROOM)
        taken_back(g, r);
    else if (is_absent && g->look->kind != LOOK_LIST)
        answer(g, (struct watch_answer){.end = LOOK_ABSENT});
    else
        fail(g, r->failure);
}
