/* SPDX-License-Identifier: MIT */
/* live_plan.c - a configuration as a plan for the watcher, and as those who are asked. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <flyball/flyball.h>

#include "fetch/place.h"
#include "watch/live_parts.h"

_Static_assert(CONFIG_SOURCES_MAX <= WATCH_DOMAINS_MAX, "each source is a domain");

/* ----------------------------------------------------------------------------------------- plan */

static void set_times(const struct config_watch *w, struct watch_plan *p)
{
    const struct config_health *h = &w->health;

    p->interval_ns = w->interval_ns;
    p->idle_ns = w->idle_ns > w->interval_ns ? w->idle_ns : w->interval_ns;
    p->list_ns = w->items.every_ns;
    p->aims.aim_ns[ITEM_live] = w->aims.live_ns;
    p->aims.aim_ns[ITEM_imminent] = w->aims.imminent_ns;
    p->aims.aim_ns[ITEM_completed] = w->aims.completed_ns;
    p->health = (struct health_limits){h->degraded_ns, h->failing_ns,  h->stall_ns,
                                       h->recovery_ns, h->patience_ns, h->well_ns};
    p->ttl_ns[ITEM_live] = w->cache.live_ns;
    p->ttl_ns[ITEM_imminent] = w->cache.imminent_ns;
    p->ttl_ns[ITEM_completed] = w->cache.completed_ns;
    p->static_ns = w->cache.static_ns;
    p->absent_ns = w->cache.missing_ns;
    p->final_ns = w->cache.final_ns;
    p->pause_ns = w->pause.time_ns;
}

void fb_watch_live_plan(const struct config *c, struct watch_plan *ret_plan,
                        struct watch_domain_plan *domain)
{
    const struct config_watch *w = &c->watch;

    fb_watch_plan_init(ret_plan);
    set_times(w, ret_plan);
    ret_plan->has_list = true;
    ret_plan->history = (int32_t)w->cache.snapshots;
    ret_plan->reliability =
        (struct reliability_limits){.window_ns = w->reliability.window_ns,
                                    .latency_ns = w->reliability.latency_ns,
                                    .demote = (double)w->reliability.demote_ppm / 1e6,
                                    .restore = (double)w->reliability.restore_ppm / 1e6};
    ret_plan->concurrency = (int32_t)w->concurrency;
    ret_plan->queue_max = (int32_t)w->queue_max;
    ret_plan->items_max = (int32_t)w->items_max;
    ret_plan->attempts = (int32_t)w->attempts;
    ret_plan->pause_failures = (int32_t)w->pause.failures;
    ret_plan->recycle_ns = c->recycle.time_ns;
    ret_plan->recycle_looks = c->recycle.tasks;
    for (size_t i = 0; i < w->source_count; i++)
        domain[i] = (struct watch_domain_plan){.name = w->source[i].name,
                                               .weight = (double)w->source[i].weight,
                                               .concurrency = (int32_t)w->source[i].concurrency,
                                               .enabled = w->source[i].enabled,
                                               .has_static = w->source[i].fixed.url != NULL};
    ret_plan->domain = domain;
    ret_plan->domain_count = w->source_count;
}

/* -------------------------------------------------------------------------------- who is asked */

/* Host without its port. */
static struct slice host_of(const char *url)
{
    struct origin o;

    fb_origin_of(url, &o);
    const char *host = url + o.host, *colon = memchr(host, ':', o.host_size);
    return (struct slice){host, colon ? (size_t)(colon - host) : o.host_size};
}

bool fb_watch_live_is_home(const struct config_provider *p, const char *url)
{
    for (const char *const *h = p->hosts; *h; h++) {
        if (fb_preset_host_fits(*h, host_of(url)))
            return true;
    }
    return false;
}

static void read_credential(struct watch_live *l, struct asked *a)
{
    const struct config_provider *p = a->configured;
    struct fly_error err = {""};
    int rc = -ENOENT;

    for (size_t i = 0; i < p->credential_count && rc < 0; i++) {
        const struct config_credential *c = &p->credential[i];

        fb_buffer_clear(&a->credential);
        if (c->scheme) {
            fb_buffer_add_text(&a->credential, c->scheme);
            fb_buffer_add_char(&a->credential, ' ');
        }
        rc = fb_config_read_secret(&c->secret, &a->credential, &err);
        a->credential_header = c->header;
    }
    if (rc < 0)
        fb_buffer_clear(&a->credential);
    if (rc < 0 && p->credential_count > 0)
        fb_watch_live_say(l, "%s: %s", a->name, err.text);
}

/* A preset speaks of requests with a credential; who says so in the configuration knows it. */
bool fb_watch_live_is_same_free(const struct asked *a)
{
    const struct config_provider *p = a->configured;

    if (a->source && a->source->unmodified_free)
        return true;
    if (!p || !p->unmodified_free)
        return false;
    return !p->preset || !p->preset->unmodified_free || a->credential.size > 0;
}

/* Providers mean their quota, of which the headers tell; their other limits count every request. */
bool fb_watch_live_is_given_back(const struct asked *a)
{
    return a->source && a->source->unmodified_free && a->ask->limit;
}

static void find_provider(struct watch_live *l, struct asked *a)
{
    const struct config_ask *ask = a->ask;

    if (ask->limit) {
        a->provider = a->name;
        return;
    }
    if (ask->provider)
        a->configured = fb_config_provider(l->config, ask->provider);
    else if (ask->url)
        a->configured = fb_config_for_host(l->config, host_of(ask->url));
    a->provider = a->configured ? a->configured->name : ask->provider;
    if (a->configured)
        read_credential(l, a);
}

static void take_source(struct watch_live *l, const struct config_source *s, struct asked *a)
{
    *a = (struct asked){.name = s->name, .ask = &s->ask, .source = s};
    a->rule = (struct source_rule){.name = s->name,
                                   .ask = &s->ask,
                                   .field = s->field,
                                   .field_count = s->field_count,
                                   .id = s->id};
    a->fixed = (struct source_rule){.name = s->name,
                                    .ask = &s->ask,
                                    .field = s->fixed.field,
                                    .field_count = s->fixed.field_count};
    find_provider(l, a);
    if (s->ids_file)
        fb_ids_load(l, s->name, s->ids_file, &a->ids);
}

void fb_watch_live_take_config(struct watch_live *l, const struct config *c)
{
    const struct config_watch *w = &c->watch;

    l->config = c;
    l->source_count = w->source_count;
    for (size_t i = 0; i < w->source_count; i++) {
        take_source(l, &w->source[i], &l->source[i]);
        l->id_path[i] = fb_config_ids_path(w, w->source[i].name);
    }
    l->list = (struct asked){.name = CONFIG_ITEMS_NAME, .ask = &w->items.ask};
    l->list.rule = (struct source_rule){.name = CONFIG_ITEMS_NAME,
                                        .ask = &w->items.ask,
                                        .items = &w->items,
                                        .id_path = l->id_path,
                                        .source_count = w->source_count};
    find_provider(l, &l->list);
}

static void drop(struct asked *a)
{
    if (a->credential.size > 0)
        explicit_bzero(a->credential.bytes, a->credential.size);
    fb_buffer_fini(&a->credential);
    fb_ids_free(&a->ids);
}

void fb_watch_live_drop_config(struct watch_live *l)
{
    for (size_t i = 0; i < l->source_count; i++)
        drop(&l->source[i]);
    drop(&l->list);
    l->source_count = 0;
}
