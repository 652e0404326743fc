/* SPDX-License-Identifier: MIT */
/* configure.c - one assignment for each setting. */
#include "engine/configure.h"

#include "engine/control.h"

static void set_deadlines(const struct config *c, struct engine_options *o)
{
    o->connect_ns = c->timeouts.connect_ns;
    o->first_byte_ns = c->timeouts.first_byte_ns;
    o->idle_ns = c->timeouts.idle_ns;
    o->total_ns = c->timeouts.total_ns;
    o->hold_max_ns = c->timeouts.hold_ns;
    o->outage_max_ns = c->timeouts.outage_ns;
    o->stuck_ns = c->timeouts.stuck_ns;
}

static void set_bounds(const struct config *c, struct engine_options *o)
{
    o->concurrency = (int32_t)c->concurrency.total;
    o->concurrency_provider = (int32_t)c->concurrency.provider;
    o->concurrency_key = (int32_t)c->concurrency.key;
    o->reserved = (int32_t)c->concurrency.reserved;
    o->queue_max = c->queue.max;
    o->when_full = (enum engine_full)c->queue.when_full;
    o->ageing = (int32_t)c->queue.ageing;
    o->body_bytes_max = c->answers.body_bytes_max;
    o->head_bytes_max = c->answers.head_bytes_max;
    o->headers_max = (int32_t)c->answers.headers_max;
    o->inflate_max = (int32_t)c->answers.inflate_max;
    o->redirects_max = (int32_t)c->redirects;
    o->recycle_ns = c->recycle.time_ns;
    o->recycle_tasks = c->recycle.tasks;
}

static void set_recovery(const struct config *c, struct engine_options *o)
{
    o->recovery = c->recovery;
    o->mode = (enum recovery_mode)c->mode;
    o->attempts_max = (int32_t)c->retries + 1;
    o->attempts_bound_all = fb_config_is_said(c, "retries");
    o->breaker_failures = (int32_t)c->breaker.failures;
    o->breaker_ns = c->breaker.time_ns;
    o->breaker_counts_429 = c->breaker.counts_429;
    o->pause_failures = (int32_t)c->pause.failures;
    o->pause_ns = c->pause.time_ns;
}

void fb_engine_configure(const struct config *c, struct engine_options *o)
{
    const struct config_connect *n = &c->connect;

    o->limit = c->limit;
    set_deadlines(c, o);
    set_bounds(c, o);
    set_recovery(c, o);
    o->connect = (struct engine_connect){
        .user_agent = n->user_agent,
        .proxy = n->proxy,
        .no_proxy = n->no_proxy,
        .ca_file = n->ca_file,
        .ca_path = n->ca_path,
        .client_cert = n->client_cert,
        .client_key = n->client_key,
        .interface = n->interface,
        .resolve = n->resolve,
        .insecure = n->insecure,
        .http1_only = n->http1_only,
        .decompress = n->decompress,
        .refuse_private = n->refuse_private,
        .redirect_private = n->redirect_private,
    };
}

static bool has_manners(const struct config_provider *p)
{
    const struct config_deadlines *t = &p->timeouts;

    return t->connect_ns || t->first_byte_ns || t->idle_ns || t->total_ns || p->recovery[0];
}

int fb_engine_configure_providers(struct engine *e, const struct config *c, struct fly_error *err)
{
    for (size_t i = 0; i < c->provider_count; i++) {
        const struct config_provider *p = &c->provider[i];
        struct engine_manners m = {
            .connect_ns = p->timeouts.connect_ns,
            .first_byte_ns = p->timeouts.first_byte_ns,
            .idle_ns = p->timeouts.idle_ns,
            .total_ns = p->timeouts.total_ns,
            .recovery = p->recovery,
        };
        int rc = has_manners(p) ? fb_engine_set_manners(e, p->name, &m, err) : 0;

        /* None, too: an earlier configuration may have named one. */
        if (rc == 0)
            rc = fb_engine_set_quota(e, p->name, p->quota_path);
        if (rc < 0)
            return rc;
    }
    return 0;
}
