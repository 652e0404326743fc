/* SPDX-License-Identifier: MIT */
/*
 * live_ask.c - a look becomes a request.
 *
 * Where it cannot be expected to leave soon it is not handed over at all, and the source is left
 * alone until half of those that wait there have left. What is expected while requests are under
 * way is not sure: an answer may open what was shut, so it is asked again after each.
 */
#include <errno.h>
#include <string.h>

#include <flyball/flyball.h>

#include "config/template.h"
#include "core/instant.h"
#include "fetch/place.h"
#include "util/alloc.h"
#include "watch/live_parts.h"

#define SOON     FB_NS_PER_S
#define PATIENCE (15 * FB_NS_PER_S) /* where it looked as if it were soon */
#define AGAIN    (20 * FB_NS_PER_MS)

struct asked *fb_watch_live_asked(struct watch_live *l, const struct watch_look *look)
{
    if (look->kind == LOOK_LIST)
        return &l->list;
    for (size_t i = 0; i < l->source_count; i++) {
        if (strcmp(l->source[i].name, look->domain) == 0)
            return &l->source[i];
    }
    return NULL;
}

/* ---------------------------------------------------------------------------------- the request */

struct request {
    struct engine_task task;
    struct engine_header header[LIVE_HEADERS_MAX];
    struct buffer url;
};

static void add_header(struct request *r, const char *name, const char *value)
{
    for (size_t i = 0; i < r->task.header_count; i++) {
        if (strcasecmp(r->header[i].name, name) == 0)
            return; /* what is nearer to the source counts */
    }
    if (r->task.header_count < LIVE_HEADERS_MAX && value && value[0])
        r->header[r->task.header_count++] = (struct engine_header){name, value};
}

static void add_headers(struct request *r, struct asked *a, const struct tag *tag)
{
    const struct config_provider *p = a->configured;

    if (a->credential.size > 0 && fb_watch_live_is_home(p, r->task.url))
        add_header(r, a->credential_header, fb_buffer_text(&a->credential));
    if (tag && tag->etag[0])
        add_header(r, "If-None-Match", tag->etag);
    else if (tag)
        add_header(r, "If-Modified-Since", tag->modified);
    for (size_t i = 0; i < a->ask->header_count; i++)
        add_header(r, a->ask->header[i].name, a->ask->header[i].value);
    for (size_t i = 0; p && i < p->header_count; i++)
        add_header(r, p->header[i].name, p->header[i].value);
}

static const char *pool_of(const struct asked *a, const char *url)
{
    struct origin o;

    if (!a->configured)
        return NULL;
    fb_origin_of(url, &o);
    const char *path = url[o.path] == '/' ? url + o.path : "/";
    const struct config_pool *pool =
        fb_config_pool(a->configured, FB_SLICE("GET"), fb_slice_of(path));
    return pool ? pool->name : NULL;
}

static enum priority priority_of(const struct watch_look *look)
{
    static const enum priority OF[ITEM_STATES] = {[ITEM_live] = PRIORITY_LIVE,
                                                  [ITEM_imminent] = PRIORITY_IMMINENT,
                                                  [ITEM_completed] = PRIORITY_BACKGROUND};

    return look->kind == LOOK_LIST ? PRIORITY_LIVE : OF[look->state];
}

static int make_url(struct asked *a, const struct watch_look *look, struct buffer *out)
{
    struct template_words w = {.id = look->domain_id, .item = look->id};
    const char *text = look->kind == LOOK_STATIC ? a->source->fixed.url : a->ask->url;
    int rc = fb_template_url(text, &w, out);

    return rc == 0 && !fb_buffer_text(out) ? -ENOMEM : rc;
}

/* There is no permit: till when. Somebody may change that, so it is asked again in an interval. */
static int no_permit(struct watch_live *l, struct asked *a, struct watch_look *look,
                     int64_t late_ns)
{
    int64_t now_ns = fb_engine_now(l->o.engine);
    int64_t at_ns = fb_min64(late_ns - SOON / 2, now_ns + l->config->watch.interval_ns);

    if (a->under_way > 0)
        at_ns = fb_min64(at_ns, now_ns + AGAIN);
    a->ready_ns = fb_max64(at_ns, now_ns + FB_NS_PER_MS);
    look->ready_ns = a->ready_ns;
    l->figures.put_off++;
    return -EAGAIN;
}

static int submit(struct watch_live *l, struct asked *a, struct asking *g, const struct tag *tag)
{
    int64_t late_ns = fb_engine_now(l->o.engine) + SOON;
    /* The watcher itself leaves a source alone that fails, and knows when to try it. */
    struct request r = {
        .task = {.client = l->client, .user = g, .operation = "look", .flags = ENGINE_OWN_TRIALS}};
    struct fly_error err = {""};
    int rc = make_url(a, g->look, &r.url);

    if (rc == 0) {
        r.task.url = fb_buffer_text(&r.url);
        r.task.id = g->look->kind == LOOK_LIST ? a->name : g->look->id;
        r.task.header = r.header;
        r.task.provider = a->provider;
        r.task.preset = a->configured && a->configured->preset ? a->configured->preset->name : NULL;
        r.task.pool = pool_of(a, r.task.url);
        r.task.priority = priority_of(g->look);
        r.task.patience_ns = PATIENCE;
        r.task.late_ns = &late_ns;
        r.task.flags |= fb_watch_live_is_given_back(a) ? ENGINE_UNMODIFIED_FREE : 0;
        add_headers(&r, a, tag);
        fb_place_add(&g->url, r.task.url);
        rc = fb_engine_submit(l->o.engine, &r.task, &g->job, &err);
    }
    fb_buffer_fini(&r.url);
    if (rc == -EAGAIN)
        return no_permit(l, a, g->look, late_ns);
    if (rc < 0 && err.text[0])
        fb_watch_live_say(l, "%s: %s", a->name, err.text);
    return rc;
}

/* ------------------------------------------------------------------------------------- the look */

static struct asking *asking_new(struct watch_live *l, struct watch_look *look)
{
    struct asking *g = fb_alloc(sizeof *g);

    if (!g)
        return NULL;
    g->live = l;
    g->look = look;
    g->next = l->asking;
    if (l->asking)
        l->asking->previous = g;
    l->asking = g;
    look->user = g;
    return g;
}

void fb_watch_live_asking_free(struct asking *g)
{
    struct watch_live *l = g->live;

    if (g->previous)
        g->previous->next = g->next;
    else
        l->asking = g->next;
    if (g->next)
        g->next->previous = g->previous;
    fb_buffer_fini(&g->url);
    fb_free(g);
    fb_watch_live_maybe_over(l);
}

/* A program that finds out by itself what there is. */
static int run_alone(struct asking *g)
{
    struct read_page nothing = {.body = {"", 0}};

    g->asked_ns = fb_engine_now(g->live->o.engine);
    g->is_beginning = true;
    fb_watch_live_read(g, &nothing);
    g->is_beginning = false;
    int rc = g->early;
    if (rc < 0)
        fb_watch_live_asking_free(g);
    return rc;
}

int fb_watch_live_look(void *self, struct watch_look *look)
{
    struct watch_live *l = self;
    struct asked *a = fb_watch_live_asked(l, look);
    const struct tag *tag = look->has_said ? fb_tag_find(l, look) : NULL;

    if (!a || l->is_closing)
        return -EINVAL;
    if (l->is_changing || a->ready_ns > fb_engine_now(l->o.engine)) {
        look->ready_ns = l->is_changing ? 0 : a->ready_ns;
        return -EAGAIN;
    }
    struct asking *g = asking_new(l, look);
    if (!g)
        return -ENOMEM;
    if (!a->ask->url)
        return run_alone(g);
    g->is_conditional = tag != NULL;
    int rc = submit(l, a, g, tag);
    if (rc == 0) {
        l->figures.requests++;
        a->under_way++;
        return 0;
    }
    fb_watch_live_asking_free(g);
    if (rc == -ENOBUFS || rc == -ESHUTDOWN)
        rc = no_permit(l, a, look, fb_engine_now(l->o.engine) + SOON);
    return rc;
}
