/* SPDX-License-Identifier: MIT */
/*
 * more_pools.c - budgets that a provider tells beside the key's own: tokens beside requests, a day
 * beside a minute, or a limit that it states in words.
 *
 * Each has a limiter of its own, which knows what was told and nothing else; a request takes from
 * all of them or from none. They are made when an answer first tells of them. A refusal is for the
 * key's own limiter to learn from: the others only hear how much is left.
 */
#include <assert.h>
#include <string.h>
#include <strings.h>

#include "engine/inside.h"
#include "util/alloc.h"
#include "util/text.h"

#define STATED    "(stated)"                /* the name of the limit in words */
#define TOLD_SPEC "adapt=off pacing=demand" /* as far as what is told allows, at full speed */

/* --------------------------------------------------------------------------------- all or none */

static size_t gather(const struct key *k, uint32_t cost, struct fly_limiter **limiter,
                     uint32_t *costs)
{
    limiter[0] = k->limiter;
    costs[0] = cost;
    for (int i = 0; i < k->more_count; i++) {
        limiter[1 + i] = k->more[i].limiter;
        costs[1 + i] = 1; /* what it costs elsewhere is in the next answer */
    }
    return (size_t)k->more_count + 1;
}

int64_t fb_pools_take(struct key *k, int64_t now_ns, uint32_t cost, struct tickets *ret_tickets)
{
    struct fly_limiter *limiter[1 + FB_ENGINE_POOLS];
    uint32_t costs[1 + FB_ENGINE_POOLS];

    ret_tickets->more = k->more_count;
    if (k->more_count == 0)
        return fly_limiter_take(k->limiter, now_ns, cost, &ret_tickets->at[0]);
    return fly_take_all(limiter, costs, gather(k, cost, limiter, costs), now_ns, ret_tickets->at);
}

void fb_pools_cancel(struct key *k, int64_t now_ns, const struct tickets *t)
{
    fly_limiter_cancel(k->limiter, now_ns, t->at[0]);
    for (int i = 0; i < t->more && i < k->more_count; i++)
        fly_limiter_cancel(k->more[i].limiter, now_ns, t->at[1 + i]);
}

void fb_pools_why(const struct key *k, int64_t now_ns, uint32_t cost, struct fly_why *ret_why)
{
    (void)fly_limiter_why(k->limiter, now_ns, cost, ret_why);
    for (int i = 0; i < k->more_count; i++) {
        struct fly_why other = {.size = sizeof(other)};

        if (fly_limiter_why(k->more[i].limiter, now_ns, 1, &other) == 0 &&
            other.until_ns > ret_why->until_ns)
            *ret_why = other;
    }
}

/* ------------------------------------------------------------------------------------ hearing */

static struct more_pool *find(const struct key *k, const char *name)
{
    for (int i = 0; i < k->more_count; i++)
        if (strcasecmp(k->more[i].name, name) == 0)
            return &k->more[i];
    return NULL;
}

/* NULL: there are too many, or memory is out; then it does not count. */
static struct more_pool *add(struct engine *e, struct key *k, const char *name, const char *spec)
{
    struct more_pool *p;
    struct text t;

    if (k->more_count == FB_ENGINE_POOLS)
        return NULL;
    if (!k->more)
        k->more = fb_alloc(FB_ENGINE_POOLS * sizeof(*k->more));
    if (!k->more)
        return NULL;
    p = &k->more[k->more_count];
    p->limiter = fly_limiter_new(spec, e->now_ns, fb_rng_next(&e->rng), NULL);
    if (!p->limiter)
        return NULL;
    fb_text_init(&t, p->name, sizeof(p->name));
    fb_text_add(&t, name);
    k->more_count++;
    return p;
}

/* The key's own: by the name that it had at first, by the key's, else the one nearest its end. */
size_t fb_pools_own(struct key *k, const struct fly_signal *s)
{
    size_t best = s->pool_count;
    double least = 0.0;

    for (size_t i = 0; i < s->pool_count; i++) {
        const struct fly_pool *p = &s->pool[i];
        const char *name = k->has_own ? k->own : k->pool;
        double left = p->remaining == FLY_ABSENT || p->limit <= 0
                          ? 2.0
                          : (double)p->remaining / (double)p->limit;

        if (strcasecmp(p->name, name) == 0)
            return i;
        if (!find(k, p->name) && (best == s->pool_count || left < least)) {
            best = i;
            least = left;
        }
    }
    return best;
}

static void report_one(struct engine *e, const struct attempt *a, struct fly_limiter *l,
                       uint64_t ticket, const struct fly_outcome *told)
{
    struct fly_outcome o = FLY_OUTCOME_INIT;

    if (told)
        o = *told;
    o.flags = 0;
    o.retry_after_ns = FLY_ABSENT;
    o.status = a->first_byte_ns ? 200 : 0;
    o.sent_ns = a->sent_ns;
    o.latency_ns = e->now_ns - a->sent_ns;
    o.ticket = ticket;
    fly_limiter_report(l, e->now_ns, &o);
}

/* One that was not there when the request left: it is as if it had been. */
static void introduce(struct engine *e, const struct attempt *a, const char *name,
                      const struct fly_outcome *told)
{
    struct more_pool *p = add(e, a->key, name, TOLD_SPEC);
    uint64_t ticket = 0;

    if (p && fly_limiter_take(p->limiter, e->now_ns, 1, &ticket) <= e->now_ns)
        report_one(e, a, p->limiter, ticket, told);
}

void fb_pools_report(const struct attempt *a, const struct fly_signal *s, size_t own)
{
    struct engine *e = a->engine;
    struct key *k = a->key;
    bool heard[FB_ENGINE_POOLS] = {false};

    for (size_t i = 0; s && i < s->pool_count; i++) {
        struct fly_outcome o = FLY_OUTCOME_INIT;
        struct more_pool *p = find(k, s->pool[i].name);
        ptrdiff_t at = p ? p - k->more : -1;

        if (i == own)
            continue;
        fly_signal_outcome(s, i, e->now_ns, &o);
        if (!p)
            introduce(e, a, s->pool[i].name, &o);
        else if (at < a->tickets.more && !heard[at]) {
            heard[at] = true;
            report_one(e, a, p->limiter, a->tickets.at[1 + at], &o);
        }
    }
    for (int i = 0; i < a->tickets.more && i < k->more_count; i++)
        if (!heard[i])
            report_one(e, a, k->more[i].limiter, a->tickets.at[1 + i], NULL);
}

/* ------------------------------------------------------------------------------ stated in words */

static void write_spec(const struct fly_signal *s, struct text *t)
{
    fb_text_add(t, "adapt=off");
    if (s->stated_limit != FLY_ABSENT && s->stated_limit > 0) {
        fb_text_add(t, " margin=0% window=");
        fb_text_add_int(t, s->stated_limit);
        fb_text_add(t, "/");
        fb_text_add_int(t, fb_max64(s->stated_window_ns / FB_NS_PER_MS, 1));
        fb_text_add(t, "ms");
    }
    if (s->concurrency != FLY_ABSENT && s->concurrency > 0) {
        fb_text_add(t, " concurrency=");
        fb_text_add_int(t, s->concurrency);
    }
}

/* Who says only that it was too much has counted what it was sent. */
static void charge(struct fly_limiter *l, int64_t now_ns, int64_t requests)
{
    struct fly_outcome o = FLY_OUTCOME_INIT;
    uint32_t cost = (uint32_t)fb_min64(requests, UINT32_MAX);

    if (cost == 0 || fly_limiter_take(l, now_ns, cost, &o.ticket) > now_ns)
        return;
    o.sent_ns = now_ns;
    o.status = 200;
    fly_limiter_report(l, now_ns, &o);
}

void fb_pools_state(struct engine *e, struct key *k, const struct fly_signal *s)
{
    bool is_rate = s->stated_limit != FLY_ABSENT && s->stated_limit > 0;
    struct more_pool *p = find(k, STATED);
    char spec[128];
    struct text t;

    if (!is_rate && (s->concurrency == FLY_ABSENT || s->concurrency <= 0))
        return;
    fb_text_init(&t, spec, sizeof(spec));
    write_spec(s, &t);
    if (p) {
        (void)fly_limiter_reconfigure(p->limiter, spec, e->now_ns, NULL);
        return;
    }
    p = add(e, k, STATED, spec);
    if (p && is_rate && s->retry_after_ns == FLY_ABSENT)
        charge(p->limiter, e->now_ns, fb_min64(k->requests, s->stated_limit));
}

void fb_pools_forget(struct key *k)
{
    for (int i = 0; i < k->more_count; i++)
        fly_limiter_free(k->more[i].limiter);
    fb_free(k->more);
    k->more = NULL;
    k->more_count = 0;
    k->has_own = false;
}
