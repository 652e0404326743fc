/* SPDX-License-Identifier: MIT */
/*
 * client.c - several who share one engine: told apart, counted, stopped one by one.
 *
 * The callbacks of the options belong to a client, too: the engine's own, which is always there.
 */
#include <assert.h>
#include <errno.h>

#include "engine/inside.h"
#include "ledger/inner.h"
#include "util/alloc.h"

#define SAY_AGAIN_NS FB_NS_PER_S /* others count it down, too, where they share the limiter */

int fb_engine_client_new(struct engine *e, const struct engine_caller *c,
                         struct engine_client **ret_client)
{
    struct engine_client *client = fb_alloc(sizeof(*client));

    if (!client)
        return -ENOMEM;
    client->engine = e;
    client->caller = *c;
    client->stop_ns = FB_NEVER;
    client->more = -1;
    client->next = e->own.next;
    e->own.next = client;
    *ret_client = client;
    return 0;
}

int64_t fb_engine_client_tasks(const struct engine_client *c)
{
    return c->tasks;
}

void fb_engine_client_expect(struct engine_client *c, int64_t more)
{
    c->more = more;
}

/* Each of it may be of any key. */
int64_t fb_engine_expected(const struct engine *e)
{
    int64_t sum = 0;

    for (const struct engine_client *c = e->own.next; c; c = c->next) {
        if (c == e->asker || c->is_stopping)
            continue;
        if (c->more < 0)
            return -1;
        sum += c->more;
    }
    return e->own.tasks > 0 || !e->own.next ? -1 : sum;
}

void fb_key_say_backlog(struct engine *e, struct key *k, int64_t cost)
{
    int64_t more = fb_engine_expected(e);
    int64_t units = more < 0 ? -1 : (more + k->q.count) * cost;

    /* It never was known, and nobody else says less. */
    if (units < 0 && k->said < 0 && !fb_limiter_is_shared(k->limiter))
        return;
    if (k->said_ns > 0 && units == k->said && e->now_ns - k->said_ns < SAY_AGAIN_NS)
        return;
    fly_limiter_backlog(k->limiter, e->now_ns, units);
    k->said = units;
    k->said_ns = e->now_ns;
}

struct engine_client_stats fb_engine_client_stats(const struct engine_client *c)
{
    return c ? c->stats : (struct engine_client_stats){0};
}

void fb_engine_client_free(struct engine_client *c)
{
    struct engine_client *before;

    if (!c)
        return;
    assert(c->tasks == 0);
    before = &c->engine->own;
    while (before->next != c)
        before = before->next;
    before->next = c->next;
    fb_free(c);
}

/* All levels of the queue, what is delayed included. */
static void refuse_queued(struct engine_client *c)
{
    for (int i = 0; i < FB_QUEUE_LEVELS; i++) {
        struct queue_task *newer;

        for (struct queue_task *t = c->engine->queue.level[i].first; t; t = newer) {
            newer = t->newer;
            if (fb_job_of(t)->client == c)
                fb_job_refuse(fb_job_of(t), FAIL_STOPPED, 0);
        }
    }
}

/* The total deadline of what is under way comes no later. */
static void bring_forward(struct engine_client *c)
{
    struct heap *h = &c->engine->deadlines;

    for (struct attempt *a = c->engine->flying; a; a = a->next) {
        if (a->job->client != c || a->total_ns <= c->stop_ns)
            continue;
        a->total_ns = c->stop_ns;
        if (a->node.order > c->stop_ns) {
            fb_heap_remove(h, &a->node);
            fb_heap_add(h, &a->node, c->stop_ns);
        }
    }
}

void fb_engine_client_stop(struct engine_client *c, int64_t deadline_ns)
{
    c->is_stopping = true;
    c->stop_ns = fb_min64(c->stop_ns, fb_max64(deadline_ns, c->engine->now_ns));
    refuse_queued(c);
    bring_forward(c);
    fb_engine_want_turn(c->engine);
}
