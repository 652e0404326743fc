/* SPDX-License-Identifier: MIT */
/*
 * provider.c - judging a request: ban, chance, gates, in this order; then how long it takes.
 *
 * A gate is asked before any is taken from, so that a refusal leaves the others untouched.
 */
#include "sim/provider.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>

#include <flyball/flyball.h>

#include "core/instant.h"
#include "sim/draw.h"

static const double LOAD_TAU_S = 5.0; /* over which the strain on the server is felt */

int fb_provider_init(struct provider *p, uint64_t seed)
{
    p->rng = fb_draw_stream(seed, 3);
    p->banned_until_ns = 0;
    p->next_ban_ns = p->box.ban_ns;
    p->refused_row = 0;
    p->bans = 0;
    p->load = 0.0;
    p->load_ns = 0;
    p->lag_at = -1;
    for (int32_t i = 0; i < p->gate_count; i++) {
        if (p->gate[i].tide)
            p->gate[i].tide = &p->tide;
        if (fb_gate_init(&p->gate[i]) < 0)
            return -ENOMEM;
    }
    return 0;
}

void fb_provider_fini(struct provider *p)
{
    for (int32_t i = 0; i < p->gate_count; i++)
        fb_gate_fini(&p->gate[i]);
}

static bool concerns(const struct gate *g, const struct work *w)
{
    return g->pools >> w->pool & 1u;
}

/* The first gate without room for this request, or -1. */
static int32_t blocking_gate(struct provider *p, int64_t now_ns, const struct work *w)
{
    for (int32_t i = 0; i < p->gate_count; i++) {
        struct gate *g = &p->gate[i];

        if (concerns(g, w) && g->kind->room(g, now_ns) < (int64_t)w->cost)
            return i;
    }
    return -1;
}

static void tell_retry(const struct provider *p, int64_t now_ns, int64_t opens_ns,
                       struct verdict *v)
{
    v->refused = true;
    if (p->manners.retry_after && opens_ns != INT64_MAX)
        v->retry_after_ns = p->manners.retry_after(p, now_ns, opens_ns);
}

/* Enough refusals in a row: nobody gets in for a while. */
static void maybe_ban(struct provider *p, int64_t now_ns, int32_t gate)
{
    struct box *b = &p->box;

    if (b->row == 0 || (b->gates != 0 && !(b->gates >> gate & 1u)))
        return;
    if (++p->refused_row < b->row)
        return;
    p->refused_row = 0;
    p->bans++;
    p->banned_until_ns = now_ns + p->next_ban_ns;
    p->next_ban_ns = fb_min64(b->ban_max_ns, fb_span(fb_seconds(p->next_ban_ns) * b->growth));
}

static void refuse_banned(struct provider *p, int64_t now_ns, struct verdict *v)
{
    p->banned_until_ns += p->box.extend_ns;
    v->status = p->manners.status;
    tell_retry(p, now_ns, p->banned_until_ns, v);
}

static void refuse_at(struct provider *p, int64_t now_ns, const struct work *w, int32_t i,
                      struct verdict *v)
{
    struct gate *g = &p->gate[i];

    if (g->kind->refuse)
        g->kind->refuse(g, now_ns, w->cost);
    maybe_ban(p, now_ns, i);
    v->status = g->status ? g->status : p->manners.status;

    int64_t opens_ns = g->kind->opens_at(g, now_ns, w->cost);
    tell_retry(p, now_ns, fb_max64(opens_ns, p->banned_until_ns), v);
}

/* How much longer answers take because the server is busy; half the limit does not hurt yet. */
static double strain_s(struct provider *p, int64_t now_ns)
{
    double used = p->load / fb_provider_rate(p, now_ns) - 0.5;

    return used > 0.0 ? p->service.strain_s * fmin(4.0, 4.0 * used * used) : 0.0;
}

static void feel_load(struct provider *p, int64_t now_ns, uint32_t cost)
{
    double dt = fb_seconds(now_ns - p->load_ns);

    p->load = p->load * exp(-dt / LOAD_TAU_S) + cost / LOAD_TAU_S;
    p->load_ns = now_ns;
}

static int64_t service_ns(struct provider *p, int64_t now_ns)
{
    const struct service *s = &p->service;
    double took = 0.0;

    if (s->mean_s > 0.0)
        took = s->alpha > 0.0 ? fb_draw_pareto(&p->rng, s->alpha, s->mean_s)
                              : fb_draw_exp(&p->rng, s->mean_s);
    if (s->max_s > 0.0)
        took = fmin(took, s->max_s);
    if (s->strain_s > 0.0)
        took += strain_s(p, now_ns);
    return fb_span(took);
}

static void pass(struct provider *p, int64_t now_ns, const struct work *w, struct verdict *v)
{
    p->refused_row = 0;
    v->passed = true;
    v->service_ns = service_ns(p, now_ns);
    for (int32_t i = 0; i < p->gate_count; i++) {
        struct gate *g = &p->gate[i];

        if (concerns(g, w))
            v->service_ns += g->kind->take(g, now_ns, w->cost);
    }
}

/* True when chance alone answers. */
static bool out_of_the_blue(struct provider *p, struct verdict *v)
{
    if (p->chance_429 + p->chance_503 <= 0.0)
        return false;

    double u = fb_rng_unit(&p->rng);
    if (u >= p->chance_429 + p->chance_503)
        return false;
    v->refused = u < p->chance_429;
    v->status = v->refused ? 429 : 503;
    return true;
}

void fb_provider_admit(struct provider *p, int64_t now_ns, const struct work *w,
                       struct verdict *ret_verdict)
{
    struct verdict *v = ret_verdict;

    *v = (struct verdict){
        .limit = FLY_ABSENT,
        .remaining = FLY_ABSENT,
        .reset_ns = FLY_ABSENT,
        .retry_after_ns = FLY_ABSENT,
        .status = 200,
    };
    if (p->service.strain_s > 0.0)
        feel_load(p, now_ns, w->cost);
    if (now_ns < p->banned_until_ns) {
        refuse_banned(p, now_ns, v);
    } else if (!out_of_the_blue(p, v)) {
        int32_t gate = blocking_gate(p, now_ns, w);

        if (gate >= 0)
            refuse_at(p, now_ns, w, gate, v);
        else
            pass(p, now_ns, w, v);
    }
    if (v->status == 0)
        v->status = 429;
    if (p->manners.headers)
        p->manners.headers(p, now_ns, v);
}

void fb_provider_leave(struct provider *p, const struct work *w)
{
    for (int32_t i = 0; i < p->gate_count; i++) {
        struct gate *g = &p->gate[i];

        if (g->kind->leave && concerns(g, w))
            g->kind->leave(g);
    }
}

bool fb_provider_has_crowd(const struct provider *p)
{
    for (int32_t i = 0; i < p->gate_count; i++) {
        if (p->gate[i].kind->leave)
            return true;
    }
    return false;
}

double fb_provider_rate(const struct provider *p, int64_t now_ns)
{
    double least = INFINITY;

    for (int32_t i = 0; i < p->gate_count; i++) {
        const struct gate *g = &p->gate[i];
        double rate = fb_gate_rate(g, now_ns);

        if (g->kind == &fb_gate_crowd && p->service.mean_s > 0.0)
            rate = (double)g->limit / (p->service.mean_s + 0.036);
        if (rate > 0.0 && (g->pools & 1u))
            least = fmin(least, rate);
    }
    return least;
}
