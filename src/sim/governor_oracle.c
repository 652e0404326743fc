/* SPDX-License-Identifier: MIT */
/*
 * governor_oracle.c - the reference: it knows the limits.
 *
 * Where there is always more to do it paces evenly at 99.5 % of the true limit, a little slower
 * where the jitter of the network would squeeze requests together, and keeps below a cap of
 * requests at a time. It does not know the phase of a window. Where demand comes and goes it also
 * reads the provider's books and sends as soon as there is room: nobody can be faster.
 */
#include <math.h>
#include <stdlib.h>

#include "core/instant.h"
#include "sim/governor.h"

static const double SHARE_USED = 0.995;

struct oracle {
    struct governor base;
    const struct setup *setup;
    struct truth *truth;
    int64_t next_ns[FB_GATES_MAX]; /* by gate: when the even pace allows the next */
    int64_t in_flight;
};

static struct governor *oracle_new(const struct governor_setting *s)
{
    struct oracle *o = calloc(1, sizeof *o);

    if (!o)
        return NULL;
    o->base.kind = &fb_governor_oracle;
    o->setup = s->setup;
    o->truth = s->truth;
    return &o->base;
}

static void oracle_free(struct governor *g)
{
    free(g);
}

static bool concerns(const struct oracle *o, const struct gate *g, const struct work *w)
{
    /* Clients with a pool each keep to it: what all of them share is wide enough for the sum. */
    if (o->setup->demand.client_per_pool)
        return g->pools == 1u << w->pool;
    return g->pools >> w->pool & 1u;
}

/* How many clients draw on a gate. */
static int32_t share_of(const struct oracle *o)
{
    return o->setup->demand.client_per_pool ? 1 : o->setup->clients;
}

static double spacing_s(const struct oracle *o, const struct gate *g, int64_t now_ns)
{
    int32_t share = share_of(o);
    double squeeze_s = fb_net_squeeze_s(&o->setup->net);
    double even = share / (SHARE_USED * fb_gate_rate(g, now_ns));

    return fmax(even, g->kind->spacing(g, now_ns, squeeze_s, share));
}

/* Requests at a time: a cap, or what a bucket can swallow when a stall lets them arrive at once. */
static bool crowded(const struct oracle *o, const struct gate *g)
{
    int64_t cap = INT64_MAX;

    if (g->kind == &fb_gate_crowd)
        cap = fb_max64(1, g->limit / share_of(o)) - o->truth->ghosts;
    else if (o->setup->net.stall_every_s > 0.0 && g->burst > 0.0)
        cap = fb_max64(1, (int64_t)g->burst - 1);
    return o->in_flight >= cap;
}

/* Evenly, below every limit. `ready` of a gate is when its pace allows the next. */
static int64_t paced_take(struct oracle *o, int64_t now_ns, const struct work *w)
{
    struct provider *p = o->truth->provider;
    int64_t at_ns = now_ns;

    for (int32_t i = 0; i < p->gate_count; i++) {
        if (!concerns(o, &p->gate[i], w))
            continue;
        if (crowded(o, &p->gate[i]))
            return FLY_NEVER;
        at_ns = fb_max64(at_ns, o->next_ns[i]);
    }
    if (at_ns > now_ns)
        return at_ns;
    for (int32_t i = 0; i < p->gate_count; i++) {
        const struct gate *g = &p->gate[i];

        if (!concerns(o, g, w) || g->kind == &fb_gate_crowd)
            continue;

        int64_t step = fb_span(spacing_s(o, g, now_ns) * w->cost);
        int64_t late = g->burst >= 2.0 ? step : 0; /* a bucket forgives being a little late */
        o->next_ns[i] = fb_max64(o->next_ns[i], now_ns - late) + step;
    }
    return now_ns;
}

static int64_t transit_to(const struct oracle *o, const struct gate *g)
{
    int64_t units = 0;

    for (uint32_t i = 0; i < FB_POOLS_MAX; i++)
        units += g->pools >> i & 1u ? o->truth->transit[i] : 0;
    return units;
}

/* As soon as the books have room for this and for all that is on its way. */
static int64_t booked_take(struct oracle *o, int64_t now_ns, const struct work *w)
{
    struct provider *p = o->truth->provider;
    int64_t at_ns = now_ns;

    for (int32_t i = 0; i < p->gate_count; i++) {
        struct gate *g = &p->gate[i];
        int64_t needed = (int64_t)w->cost + transit_to(o, g);

        if (!concerns(o, g, w))
            continue;
        if (crowded(o, g))
            return FLY_NEVER;
        if (g->kind->room(g, now_ns) < needed)
            at_ns = fb_max64(at_ns, fb_max64(g->kind->opens_at(g, now_ns, needed), now_ns + 1));
    }
    return at_ns;
}

static int64_t oracle_take(struct governor *g, int64_t now_ns, const struct work *w, uint32_t cost,
                           uint64_t *ret_ticket)
{
    struct oracle *o = (struct oracle *)g;
    enum demand_kind demand = o->setup->demand.kind;
    bool endless = demand == DEMAND_ALWAYS || demand == DEMAND_MIXED;
    int64_t own_ns = now_ns - FB_SIM_EPOCH_NS; /* the truth keeps the simulator's clock */
    int64_t at_ns = endless ? paced_take(o, own_ns, w) : booked_take(o, own_ns, w);

    (void)cost;
    if (at_ns > own_ns)
        return fb_after(at_ns, FB_SIM_EPOCH_NS);
    o->in_flight++;
    *ret_ticket = 1;
    return now_ns;
}

static void oracle_report(struct governor *g, int64_t now_ns, const struct fly_outcome *o)
{
    (void)now_ns;
    (void)o;
    ((struct oracle *)g)->in_flight--;
}

static void oracle_cancel(struct governor *g, int64_t now_ns, uint64_t ticket)
{
    struct oracle *o = (struct oracle *)g;

    (void)ticket;
    o->in_flight--;
    for (int i = 0; i < FB_GATES_MAX; i++)
        o->next_ns[i] = fb_min64(o->next_ns[i], now_ns - FB_SIM_EPOCH_NS);
}

static void oracle_settle(struct governor *g, int64_t now_ns, uint64_t ticket, uint32_t cost)
{
    (void)g;
    (void)now_ns;
    (void)ticket;
    (void)cost;
}

static double oracle_rate(struct governor *g)
{
    struct oracle *o = (struct oracle *)g;

    return fb_provider_rate(o->truth->provider, 0);
}

const struct governor_kind fb_governor_oracle = {
    .name = "oracle",
    .about = "knows the true limit: the reference",
    .new = oracle_new,
    .free = oracle_free,
    .take = oracle_take,
    .report = oracle_report,
    .cancel = oracle_cancel,
    .settle = oracle_settle,
    .rate = oracle_rate,
};
