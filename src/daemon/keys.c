/* SPDX-License-Identifier: MIT */
/* keys.c - the keys of the engine as views: those with something to do first. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <flyball/flyball.h>
#include <flyball/state.h>

#include "daemon/parts.h"

struct walk {
    struct daemon *daemon;
    int64_t now_ns;
    struct view_key *key;
    size_t count, most;
};

static void put_limiter(struct view_key *k, struct fly_limiter *l, int64_t now_ns)
{
    struct fly_learned known = {.size = sizeof known};
    struct fly_usage usage = {.size = sizeof usage};
    struct fly_why why = {.size = sizeof why};

    k->limit = fly_limiter_rate(l);
    if (fly_limiter_learned(l, now_ns, &known) == 0 && strcmp(known.by, "off") != 0) {
        k->flags |= VIEW_KEY_LEARNED;
        k->confidence = known.confidence;
    }
    if (fly_limiter_usage(l, now_ns, &usage) == 0 && usage.limit > 0 && k->limit == 0.0) {
        k->window_limit = usage.limit;
        k->window_left = usage.remaining;
        k->window_ns = usage.window_ns;
    }
    if (fly_limiter_why(l, now_ns, 1, &why) == 0)
        fb_view_put(k->why, sizeof k->why, why.text);
}

static void put_told(struct view_key *k, const struct engine_told *t)
{
    k->quota_limit = t->limit;
    k->quota_left = t->remaining;
    k->quota_window_ns = t->window_ns;
    k->quota_reset_ns = t->reset_ns;
    k->refused_ns = t->refused_ns;
    k->retry_after_ns = t->retry_after_ns;
    k->refused_status = t->status;
    fb_view_put(k->refused_item, sizeof k->refused_item, t->item);
}

/* What was counted; "other" is no key of its own. */
static void put_counts(const struct daemon *d, struct view_key *k)
{
    size_t set = fb_meters_find(&d->meters, k->provider, k->pool);

    k->requests = k->refused = -1;
    if (set == 0)
        return;
    k->requests = (int64_t)d->meters.set[set].requests;
    k->refused = (int64_t)d->meters.set[set].throttled;
    k->rate = d->gauges.set[set].sent;
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
    *k = (struct view_key){.seen_ns = w->now_ns,
                           .queued = s->queued,
                           .in_flight = s->in_flight,
                           .ready_ns = s->ready_at_ns};
    fb_view_put(k->provider, sizeof k->provider, s->key.provider);
    fb_view_put(k->pool, sizeof k->pool, s->key.pool);
    fb_view_put(k->credential, sizeof k->credential, s->key.credential);
    fb_view_put(k->cause, sizeof k->cause, s->cause);
    k->flags |= s->is_enabled ? 0 : VIEW_KEY_DISABLED;
    k->flags |= strcmp(s->cause, "breaker") == 0 ? VIEW_KEY_BROKEN : 0;
    put_limiter(k, s->limiter, w->now_ns);
    put_told(k, s->told);
    put_counts(w->daemon, k);
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
    return order != 0 ? order : strcmp(x->pool, y->pool);
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

size_t fb_status_keys(struct daemon *d, struct view_key *keys, size_t most)
{
    struct walk w = {.daemon = d, .now_ns = fb_engine_now(d->engine), .key = keys, .most = most};

    (void)pthread_mutex_lock(&d->meters.lock);
    fb_engine_keys(d->engine, look, &w);
    (void)pthread_mutex_unlock(&d->meters.lock);
    qsort(keys, w.count, sizeof *keys, by_work);
    return w.count;
}
