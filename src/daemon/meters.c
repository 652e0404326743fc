/* SPDX-License-Identifier: MIT */
/*
 * meters.c - one event, some counters.
 *
 * Invariant: index 0 of every table is "other", so that what is beyond a bound still counts.
 */
#include "daemon/meters.h"

#include <errno.h>
#include <string.h>

#include "core/instant.h"
#include "core/recovery.h"
#include "util/alloc.h"
#include "util/hash.h"
#include "util/text.h"

#define OTHER "other"
#define SLOTS (METER_SETS * 4)

const struct histogram_form fb_wait_form = {
    .bounds = 12,
    .bound = {0.001, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 3600},
};

const struct histogram_form fb_duration_form = {
    .bounds = 14,
    .bound = {0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10},
};

static void copy(char *to, size_t size, const char *from)
{
    struct text t;

    fb_text_init(&t, to, size);
    fb_text_add(&t, from);
}

/* ------------------------------------------------------------------------------- label sets */

/* The slot where the name is, or the free one where it would be. */
static size_t slot_of(const struct meters *m, const char *provider, const char *pool)
{
    uint64_t hash = fb_hash_add(FB_HASH_INIT, provider, strlen(provider) + 1);
    size_t at = (size_t)fb_hash_end(fb_hash_add(hash, pool, strlen(pool))) % SLOTS;

    for (; m->slot[at]; at = (at + 1) % SLOTS) {
        const struct meter_set *s = &m->set[m->slot[at] - 1];

        if (strcmp(s->provider, provider) == 0 && strcmp(s->pool, pool) == 0)
            break;
    }
    return at;
}

/* "host", "host:port", "[::1]:port". */
static void put_address(struct meter_set *s, const char *host)
{
    const char *colon = strrchr(host, ':');
    bool has_port = colon && colon[1] && colon[1 + strspn(colon + 1, "0123456789")] == '\0' &&
                    (colon[-1] == ']' || strchr(host, ':') == colon);
    char name[sizeof s->address];

    copy(name, sizeof name, host);
    if (has_port && (size_t)(colon - host) < sizeof name)
        name[colon - host] = '\0';
    copy(s->address, sizeof s->address, name);
    copy(s->port, sizeof s->port, has_port ? colon + 1 : "");
}

/* What does not fit into the fields of a set is cut there, and so it is when it is looked for. */
static size_t find_or_add(struct meters *m, const char *provider, const char *pool)
{
    size_t at = slot_of(m, provider, pool);

    if (m->slot[at])
        return m->slot[at] - 1U;
    if (m->sets >= m->sets_max)
        return 0;
    size_t i = m->sets++;
    copy(m->set[i].provider, sizeof m->set[i].provider, provider);
    copy(m->set[i].pool, sizeof m->set[i].pool, pool);
    m->set[i].durations = 1;
    if (strpbrk(provider, ".:")) /* as the engine calls what nobody has given a name */
        put_address(&m->set[i], provider);
    m->slot[at] = (uint16_t)(i + 1);
    return i;
}

int fb_meters_init(struct meters *m)
{
    *m = (struct meters){.sets_max = METER_SETS, .causes = 1, .recoveries = 1};
    m->set = fb_alloc(METER_SETS * sizeof *m->set);
    if (!m->set)
        return -ENOMEM;
    (void)pthread_mutex_init(&m->lock, NULL);
    (void)find_or_add(m, OTHER, OTHER);
    copy(m->cause[0], sizeof m->cause[0], OTHER);
    m->recovery[0] = (struct meter_recovery){.operation = OTHER, .error = OTHER, .strategy = OTHER};
    return 0;
}

void fb_meters_fini(struct meters *m)
{
    if (m->set)
        (void)pthread_mutex_destroy(&m->lock);
    fb_free(m->set);
    m->set = NULL;
}

static void cut(char *provider, char *pool, const char *full_provider, const char *full_pool)
{
    copy(provider, sizeof(((struct meter_set *)0)->provider), full_provider);
    copy(pool, sizeof(((struct meter_set *)0)->pool), full_pool);
}

void fb_meters_bound(struct meters *m, size_t sets_max)
{
    (void)pthread_mutex_lock(&m->lock);
    m->sets_max = sets_max < METER_SETS ? sets_max : METER_SETS;
    (void)pthread_mutex_unlock(&m->lock);
}

void fb_meters_reserve(struct meters *m, const char *provider, const char *pool, const char *host)
{
    struct meter_set name;

    cut(name.provider, name.pool, provider, pool);
    (void)pthread_mutex_lock(&m->lock);
    size_t set = find_or_add(m, name.provider, name.pool);
    if (host && set > 0)
        put_address(&m->set[set], host);
    (void)pthread_mutex_unlock(&m->lock);
}

size_t fb_meters_find(const struct meters *m, const char *provider, const char *pool)
{
    struct meter_set name;

    cut(name.provider, name.pool, provider, pool);
    size_t at = slot_of(m, name.provider, name.pool);
    return m->slot[at] ? m->slot[at] - 1U : 0;
}

/* ------------------------------------------------------------------------------ other tables */

static size_t cause_of(struct meters *m, const char *cause)
{
    for (size_t i = 1; i < m->causes; i++)
        if (strcmp(m->cause[i], cause) == 0)
            return i;
    if (m->causes == METER_CAUSES)
        return 0;
    copy(m->cause[m->causes], sizeof m->cause[0], cause);
    return m->causes++;
}

static void count_recovery(struct meters *m, const struct event *e, const char *strategy)
{
    size_t i = 1;

    while (i < m->recoveries && (strcmp(m->recovery[i].operation, e->operation) != 0 ||
                                 strcmp(m->recovery[i].error, e->error) != 0 ||
                                 strcmp(m->recovery[i].strategy, strategy) != 0))
        i++;
    if (i == METER_RECOVERIES)
        i = 0;
    else if (i == m->recoveries)
        m->recoveries++;
    struct meter_recovery *r = &m->recovery[i];
    if (i > 0 && r->count == 0) {
        copy(r->operation, sizeof r->operation, e->operation);
        copy(r->error, sizeof r->error, e->error);
        copy(r->strategy, sizeof r->strategy, strategy);
    }
    r->count++;
}

/* Those that the conventions know; others could be any number of words. */
static const char *method_of(const struct event *e)
{
    static const char *const KNOWN[] = {"GET",     "HEAD",    "POST",  "PUT",  "DELETE",
                                        "CONNECT", "OPTIONS", "TRACE", "PATCH"};

    for (size_t i = 0; i < sizeof KNOWN / sizeof KNOWN[0]; i++)
        if (strcmp(KNOWN[i], e->method) == 0)
            return KNOWN[i];
    return "_OTHER";
}

static struct meter_duration *duration_of(struct meter_set *s, const struct event *e)
{
    const char *method = method_of(e);

    for (size_t i = 1; i < s->durations; i++) {
        struct meter_duration *d = &s->duration[i];

        if (d->status == e->status && d->http == e->http && strcmp(d->error, e->error) == 0 &&
            strcmp(d->method, method) == 0)
            return d;
    }
    if (s->durations == METER_DURATIONS)
        return &s->duration[0];
    struct meter_duration *d = &s->duration[s->durations++];
    d->status = e->status;
    d->http = e->http;
    copy(d->error, sizeof d->error, e->error);
    copy(d->method, sizeof d->method, method);
    return d;
}

/* ----------------------------------------------------------------------------------- events */

static void on_request(struct meters *m, struct meter_set *s, const struct event *e)
{
    (void)m;
    (void)e;
    s->requests++;
}

/* A refusal for rate and a server that fails say nothing about the request. */
static void count_wrong(struct meter_set *s, const struct event *e)
{
    if (e->status < 400) {
        s->wrong_row = 0;
        return;
    }
    s->client_errors++;
    s->wrong_row++;
    s->wrong_ns = e->at_ns;
    s->wrong_status = e->status;
}

static void on_answer(struct meters *m, struct meter_set *s, const struct event *e)
{
    (void)m;
    s->answers++;
    if (strcmp(e->error, fb_failure_name(FAIL_THROTTLED)) == 0)
        s->throttled++;
    else if (e->status == 0 || e->status >= 500)
        s->errors++;
    else
        count_wrong(s, e);
    struct meter_duration *d = duration_of(s, e);
    double took_s = (double)e->duration_ns / (double)FB_NS_PER_S;

    fb_histogram_add(&d->seconds, &fb_duration_form, took_s);
    if (!e->trace[0])
        return;
    copy(d->exemplar.trace, sizeof d->exemplar.trace, e->trace);
    d->exemplar.value = took_s;
    d->exemplar.at_s = (double)(e->at_ns / FB_NS_PER_S);
}

static void on_retry(struct meters *m, struct meter_set *s, const struct event *e)
{
    s->retries++;
    count_recovery(m, e, "retry");
}

static void on_failover(struct meters *m, struct meter_set *s, const struct event *e)
{
    (void)s;
    count_recovery(m, e, "failover");
}

static void on_deferral(struct meters *m, struct meter_set *s, const struct event *e)
{
    (void)s;
    count_recovery(m, e, "defer");
}

static void on_outcome(struct meters *m, struct meter_set *s, const struct event *e)
{
    double waited_s = (double)e->waited_ns / (double)FB_NS_PER_S;

    for (int i = 0; i < ENGINE_ENDS; i++)
        s->tasks[i] += strcmp(fb_engine_end_name((enum engine_end)i), e->outcome) == 0;
    if (e->cause[0])
        fb_histogram_add(&s->wait[cause_of(m, e->cause)], &fb_wait_form, waited_s);
    s->waited_s += waited_s;
    if (strcmp(e->outcome, fb_engine_end_name(ENGINE_SKIPPED)) == 0)
        count_recovery(m, e, "skip");
    else if (strcmp(e->outcome, fb_engine_end_name(ENGINE_FAILED)) == 0)
        count_recovery(m, e, "fail");
}

static void (*const on_kind[FB_EVENT_KINDS])(struct meters *m, struct meter_set *s,
                                             const struct event *e) = {
    [FB_EVENT_REQUEST] = on_request,   [FB_EVENT_ANSWER] = on_answer,
    [FB_EVENT_RETRY] = on_retry,       [FB_EVENT_FAILOVER] = on_failover,
    [FB_EVENT_DEFERRAL] = on_deferral, [FB_EVENT_OUTCOME] = on_outcome,
};

void fb_meters_on_event(void *self, const struct event *e)
{
    struct meters *m = self;

    (void)pthread_mutex_lock(&m->lock);
    m->by_kind[e->kind]++;
    m->lost += e->lost;
    if (on_kind[e->kind])
        on_kind[e->kind](m, &m->set[find_or_add(m, e->provider, e->pool)], e);
    (void)pthread_mutex_unlock(&m->lock);
}
