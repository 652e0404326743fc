/* SPDX-License-Identifier: MIT */
/*
 * tune.c - what may change while the engine runs: limits, providers that are switched off, options.
 *
 * A change wakes the keys that it is about; the next turn decides by what holds then.
 */
#include <errno.h>
#include <string.h>

#include "engine/inside.h"
#include "engine/options.h"

/* The keys of a provider and a pool, and what is done to each. */
struct change {
    struct engine *engine;
    const char *provider; /* NULL: all */
    const char *pool;     /* NULL: all */
    const char *spec;
    int (*apply)(struct fly_limiter *l, const char *spec, int64_t now_ns, struct fly_error *err);
    struct fly_error *err;
    int count;
    int error;
};

static bool is_meant(const struct change *c, const struct key *k)
{
    return (!c->provider || strcmp(k->name, c->provider) == 0) &&
           (!c->pool || strcmp(k->pool, c->pool) == 0);
}

static void change_one(void *arg, struct table_entry *entry)
{
    struct change *c = arg;
    struct key *k = FB_HEAP_OWNER(entry, struct key, entry);
    int rc;

    if (c->error < 0 || !is_meant(c, k))
        return;
    rc = c->apply(k->limiter, c->spec, c->engine->now_ns, c->err);
    if (rc < 0) {
        c->error = rc;
        return;
    }
    c->count++;
    if (c->apply == fly_limiter_reset)
        fb_pools_forget(k);
    fb_queue_wake(&c->engine->queue, &k->q);
    fb_key_note_rate(c->engine, k);
}

static int change_limits(struct engine *e, struct change *c)
{
    int rc = fb_engine_check_limit(c->spec, c->err);

    if (rc < 0)
        return rc;
    if (!e->in_turn)
        fb_engine_read_clock(e);
    c->engine = e;
    fb_table_each(&e->keys, change_one, c);
    fb_engine_want_turn(e);
    return c->error < 0 ? c->error : c->count;
}

int fb_engine_limit(struct engine *e, const char *provider, const char *pool, const char *spec,
                    struct fly_error *err)
{
    struct change c = {
        .provider = provider,
        .pool = pool,
        .spec = spec,
        .apply = fly_limiter_reconfigure,
        .err = err,
    };

    return change_limits(e, &c);
}

int fb_engine_relearn(struct engine *e, const char *provider, const char *pool, const char *spec,
                      struct fly_error *err)
{
    struct change c = {
        .provider = provider,
        .pool = pool,
        .spec = spec,
        .apply = fly_limiter_reset,
        .err = err,
    };

    return change_limits(e, &c);
}

/* ------------------------------------------------------------------------------- on and off */

static void wake_one(void *arg, struct table_entry *entry)
{
    const struct change *c = arg;
    struct key *k = FB_HEAP_OWNER(entry, struct key, entry);

    if (is_meant(c, k))
        fb_queue_wake(&c->engine->queue, &k->q);
}

int fb_engine_enable(struct engine *e, const char *provider, bool is_enabled)
{
    /* Whether there is a preset of it is looked up with its first task. */
    struct provider *p = fb_provider_get(e, provider, true);
    struct change c = {.engine = e, .provider = provider};

    if (!p)
        return -ENOMEM;
    p->is_disabled = !is_enabled;
    if (is_enabled)
        fb_table_each(&e->keys, wake_one, &c);
    fb_engine_want_turn(e);
    return 0;
}

bool fb_engine_is_enabled(const struct engine *e, const char *provider)
{
    const struct provider *p = fb_provider_find(e, provider);

    return !p || !p->is_disabled;
}

struct each_disabled {
    void (*each)(void *arg, const char *provider);
    void *arg;
};

static void tell_disabled(void *arg, struct table_entry *entry)
{
    const struct each_disabled *to = arg;
    const struct provider *p = FB_HEAP_OWNER(entry, struct provider, entry);

    if (p->is_disabled)
        to->each(to->arg, p->name);
}

void fb_engine_disabled(struct engine *e, void (*each)(void *arg, const char *provider), void *arg)
{
    struct each_disabled to = {each, arg};

    fb_table_each(&e->providers, tell_disabled, &to);
}

/* ------------------------------------------------------------------------------------- options */

/* All but what an engine is given once: callbacks, observers, clock, seeds, connections. */
static struct engine_options merge(const struct engine_options *old, const struct engine_options *o)
{
    struct engine_options new = *o;

    new.user = old->user;
    new.on_result = old->on_result;
    new.on_start = old->on_start;
    new.on_room = old->on_room;
    new.limiter_of = old->limiter_of;
    new.asks_quota = old->asks_quota;
    new.on_stuck = old->on_stuck;
    new.on_forget = old->on_forget;
    new.stuck_ns = old->stuck_ns;
    new.observer = old->observer;
    new.observer_count = old->observer_count;
    new.events_max = old->events_max;
    new.anchor_ns = old->anchor_ns;
    new.seed = old->seed;
    memcpy(new.secret, old->secret, sizeof(new.secret));
    new.connect = old->connect;
    return new;
}

static void tune_one(void *arg, struct table_entry *entry)
{
    const struct change *c = arg;
    struct key *k = FB_HEAP_OWNER(entry, struct key, entry);

    fb_key_set_breaker(k, &c->engine->options);
    fb_queue_wake(&c->engine->queue, &k->q);
}

int fb_engine_tune(struct engine *e, const struct engine_options *o, struct fly_error *err)
{
    struct engine_options new = merge(&e->options, o);
    struct change c = {.engine = e};
    int rc = fb_engine_options_check(&new, err);

    if (rc == 0)
        rc = fb_engine_check_limit(new.limit, err);
    if (rc == 0)
        rc = fb_manners_renew(e, &new, err);
    if (rc < 0)
        return rc;
    e->options = new;
    e->queue.max = new.queue_max;
    e->queue.ageing = new.ageing;
    fb_table_each(&e->keys, tune_one, &c);
    if (e->ports.tune)
        e->ports.tune(e->ports.self, &e->options);
    fb_engine_want_turn(e);
    return 0;
}
