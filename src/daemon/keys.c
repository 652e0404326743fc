/* SPDX-License-Identifier: MIT */
/* keys.c - the keys of the engine as views: those with something to do first. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/parts.h"
#include "engine/control.h"
#include "engine/show.h"

struct walk {
    struct daemon *daemon;
    int64_t now_ns;
    struct view_key *key;
    size_t count, most;
};

#define HOUR_RING 1 /* of ten seconds, */
#define HOUR      360

/* Of the last second and the last hour; "other" is no key of its own. */
static void put_figures(const struct daemon *d, struct view_key *k)
{
    size_t set = fb_meters_find(&d->meters, k->provider, k->pool);

    if (set == 0)
        return;
    const struct figures *latest = &d->history.pending[set][HOUR_RING];
    double refused = fb_history_sum(&d->history, set, HOUR_RING, FIGURE_throttled, HOUR);
    float more = latest->value[FIGURE_throttled];

    k->rate = d->gauges.set[set].sent;
    k->refused_hour = (int64_t)(refused + (isnan(more) ? 0.0 : (double)more) + 0.5);
}

/* It may start, and what it sends is all wrong. */
static void put_wrong(const struct daemon *d, int64_t now_ns, struct view_key *k)
{
    const struct gauge *g = &d->gauges.set[fb_meters_find(&d->meters, k->provider, k->pool)];

    if (g == &d->gauges.set[0] || g->wrong_row == 0)
        return;
    k->flags |= VIEW_KEY_WRONG;
    if (fb_view_key_is_wrong(k, now_ns))
        (void)snprintf(k->why, sizeof k->why,
                       "the last %lld answers were all 4xx, the latest %d: the requests are wrong, "
                       "not the pace",
                       (long long)g->wrong_row, (int)g->wrong_status);
}

static void put_limit_text(const struct daemon *d, struct view_key *k)
{
    const struct config_provider *p = fb_config_provider(d->config, k->provider);
    const char *limit = p ? p->limit : NULL;

    for (size_t i = 0; p && i < p->pool_count; i++)
        if (strcmp(p->pool[i].name, k->pool) == 0)
            limit = fb_config_limit(p, &p->pool[i]);
    if (!limit || !limit[0])
        return;
    fb_view_put(k->spec, sizeof k->spec, limit);
    fb_view_put(k->said_by, sizeof k->said_by, "configuration");
}

static void fill(const struct walk *w, const struct engine_key_state *s, struct view_key *k)
{
    fb_show_key(s, w->now_ns, k);
    put_figures(w->daemon, k);
    put_wrong(w->daemon, w->now_ns, k);
    put_limit_text(w->daemon, k);
}

static int64_t weight(int64_t queued, int64_t in_flight)
{
    return queued + in_flight;
}

static int by_work(const void *a, const void *b)
{
    const struct view_key *x = a;
    const struct view_key *y = b;
    int64_t more = weight(y->queued, y->in_flight) - weight(x->queued, x->in_flight);

    if (more != 0)
        return more > 0 ? 1 : -1;
    int order = strcmp(x->provider, y->provider);
    order = order != 0 ? order : strcmp(x->pool, y->pool);
    return order != 0 ? order : strcmp(x->credential, y->credential);
}

/* Beyond the bound, a key with more to do takes the place of the last one that has less. */
static void look(void *arg, const struct engine_key_state *s)
{
    struct walk *w = arg;
    size_t at = w->count;

    if (w->count == w->most) {
        if (weight(s->queued, s->in_flight) == 0)
            return;
        while (at > 0 && weight(w->key[at - 1].queued, w->key[at - 1].in_flight) > 0)
            at--;
        if (at-- == 0)
            return;
    } else {
        w->count++;
    }
    fill(w, s, &w->key[at]);
}

void fb_status_off(const struct daemon *d, const char *provider, struct view_key *k)
{
    memset(k, 0, sizeof *k);
    fb_view_put(k->provider, sizeof k->provider, provider);
    fb_view_put(k->pool, sizeof k->pool, "default");
    fb_view_put(k->cause, sizeof k->cause, "disabled");
    k->flags = VIEW_KEY_DISABLED;
    k->seen_ns = fb_daemon_now(d);
    k->ready_ns = VIEW_NEVER;
    k->permits = -1.0;
    put_limit_text(d, k);
}

static void add_off(void *arg, const char *provider)
{
    struct walk *w = arg;

    for (size_t i = 0; i < w->count; i++)
        if (strcmp(w->key[i].provider, provider) == 0)
            return;
    if (w->count < w->most)
        fb_status_off(w->daemon, provider, &w->key[w->count++]);
}

size_t fb_status_all_off(struct daemon *d, struct view_key *keys, size_t count, size_t most)
{
    struct walk w = {.daemon = d, .key = keys, .count = count, .most = most};

    fb_engine_disabled(d->engine, add_off, &w);
    return w.count;
}

size_t fb_status_keys(struct daemon *d, struct view_key *keys, size_t most)
{
    struct walk w = {.daemon = d, .now_ns = fb_engine_now(d->engine), .key = keys, .most = most};

    (void)pthread_mutex_lock(&d->meters.lock);
    fb_engine_keys(d->engine, look, &w);
    (void)pthread_mutex_unlock(&d->meters.lock);
    qsort(keys, w.count, sizeof *keys, by_work);
    return w.count;
}
