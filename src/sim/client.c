/* SPDX-License-Identifier: MIT */
/*
 * client.c - the client: one queue in front of one limiter, one timer, a number of workers.
 *
 * The limiter is asked whenever something may have changed (new work, a report) and at the time
 * that it hinted itself; never once per worker. What was refused goes back to the front.
 */
#include <errno.h>
#include <math.h>
#include <stddef.h>

#include "core/instant.h"
#include "sim/draw.h"
#include "sim/engine.h"

static bool demand_is_endless(const struct demand *d)
{
    return d->kind == DEMAND_ALWAYS || d->kind == DEMAND_MIXED;
}

/* Times in system are counted for work that was asked for, not for what is always there. */
static bool counts_stay(const struct demand *d, const struct work *w)
{
    return d->kind != DEMAND_ALWAYS && (d->kind != DEMAND_MIXED || w->rank == 0);
}

static struct governor *make_governor(struct run *r, struct client *c)
{
    struct governor_setting setting = {
        .setup = r->setup,
        .truth = &r->truth,
        .spec = r->options->spec,
        .seed = r->setup->seed + 1000 * c->index + c->life,
        .now_ns = FB_SIM_EPOCH_NS + r->now_ns,
    };

    return r->options->governor->new (&setting);
}

int fb_client_init(struct client *c, struct run *r, uint16_t index)
{
    const struct setup *s = r->setup;

    *c = (struct client){.index = index, .timer_ns = INT64_MAX, .mean_cost = 1.0};
    c->rng = fb_draw_stream(s->seed, 16 + index);
    c->governor = make_governor(r, c);
    if (!c->governor)
        return -EINVAL;
    if (s->demand.kind != DEMAND_ALWAYS)
        fb_run_at(r, 0, EVENT_DEMAND, index);
    for (int32_t i = 1; i <= s->restarts; i++)
        fb_run_at(r, s->duration_ns / (s->restarts + 1) * i, EVENT_RESTART, index);
    return 0;
}

void fb_client_fini(struct client *c)
{
    if (c->governor)
        c->governor->kind->free(c->governor);
    fb_fifo_fini(&c->queue[0]);
    fb_fifo_fini(&c->queue[1]);
}

static uint16_t draw_pool(struct client *c, const struct demand *d)
{
    double u = fb_rng_unit(&c->rng);
    uint16_t pool = 0;

    while (pool + 1 < FB_POOLS_MAX && d->pool_share[pool] > 0.0 && u >= d->pool_share[pool]) {
        u -= d->pool_share[pool];
        pool++;
    }
    return d->pool_share[pool] > 0.0 ? pool : 0;
}

static struct work draw_work(struct run *r, struct client *c, uint16_t rank)
{
    const struct demand *d = &r->setup->demand;
    struct work w = {.born_ns = r->now_ns, .cost = 1, .rank = rank};

    if (d->cost_max > 1)
        w.cost = (uint32_t)fb_draw_int(&c->rng, 1, d->cost_max);
    if (d->client_per_pool)
        w.pool = c->index;
    else if (d->pool_share[0] > 0.0)
        w.pool = draw_pool(c, d);
    return w;
}

static void enqueue(struct run *r, struct client *c, const struct work *w)
{
    if (fb_fifo_push(&c->queue[w->rank], w) < 0)
        r->error = -ENOMEM;
}

static void put_back(struct run *r, struct client *c, const struct work *w)
{
    if (fb_fifo_push_front(&c->queue[w->rank], w) < 0)
        r->error = -ENOMEM;
}

/* The queue whose turn it is, or NULL when there is nothing to do. */
static struct fifo *next_queue(struct run *r, struct client *c)
{
    if (c->queue[0].count > 0)
        return &c->queue[0];
    if (c->queue[1].count == 0 && demand_is_endless(&r->setup->demand)) {
        struct work w = draw_work(r, c, 1);

        enqueue(r, c, &w);
    }
    return c->queue[1].count > 0 ? &c->queue[1] : NULL;
}

static void arm(struct run *r, struct client *c, int64_t at_ns)
{
    if (at_ns == FLY_NEVER || at_ns - FB_SIM_EPOCH_NS >= c->timer_ns)
        return;
    c->timer_ns = at_ns - FB_SIM_EPOCH_NS;
    fb_run_at(r, c->timer_ns, EVENT_TIMER, c->index);
}

static void look(struct run *r, struct client *c, struct sight s)
{
    if (!r->options->watch)
        return;
    s.now_ns = r->now_ns;
    s.client = c->index;
    s.in_flight = c->in_flight;
    s.governor = c->governor;
    r->options->watch(r->options->context, &s);
}

/* What the client believes the work costs when it asks. */
static uint32_t asked_cost(const struct run *r, const struct client *c, const struct work *w)
{
    return r->setup->demand.cost_later ? (uint32_t)lround(c->mean_cost) : w->cost;
}

static void granted(struct run *r, struct client *c, struct fifo *q, uint64_t ticket)
{
    struct work w = *fb_fifo_get(q, 0);

    fb_fifo_pop(q);
    if (r->setup->cancel_share > 0.0 && fb_draw_chance(&c->rng, r->setup->cancel_share)) {
        r->tally->cancelled++;
        c->governor->kind->cancel(c->governor, FB_SIM_EPOCH_NS + r->now_ns, ticket);
        return;
    }
    look(r, c, (struct sight){.kind = SIGHT_SENT});
    c->in_flight++;
    fb_tally_sent(r->tally, r->now_ns);
    fb_run_send(r, c, &w, ticket);
}

void fb_client_try(struct run *r, struct client *c)
{
    const struct governor_kind *kind = c->governor->kind;

    while (c->in_flight < r->setup->workers && !r->error) {
        struct fifo *q = next_queue(r, c);
        if (!q)
            return;

        const struct work *w = fb_fifo_get(q, 0);
        int64_t now_ns = FB_SIM_EPOCH_NS + r->now_ns;
        uint64_t ticket = 0;
        int64_t at_ns = kind->take(c->governor, now_ns, w, asked_cost(r, c, w), &ticket);

        if (at_ns > now_ns) {
            arm(r, c, at_ns);
            return;
        }
        granted(r, c, q, ticket);
    }
}

static struct fly_outcome outcome_of(const struct run *r, const struct flight *f)
{
    return (struct fly_outcome){
        .sent_ns = FB_SIM_EPOCH_NS + f->sent_ns,
        .latency_ns = r->now_ns - f->sent_ns,
        .limit = FLY_ABSENT,
        .remaining = FLY_ABSENT,
        .reset_ns = FLY_ABSENT,
        .retry_after_ns = FLY_ABSENT,
        .ticket = f->ticket,
    };
}

static void count_answer(struct run *r, struct client *c, const struct flight *f)
{
    if (f->verdict.refused) {
        fb_tally_refused(r->tally, r->now_ns);
    } else if (f->verdict.status == 200) {
        fb_tally_accepted(r->tally, r->now_ns, f->work.cost, c->index);
        if (counts_stay(&r->setup->demand, &f->work))
            fb_tally_stay(r->tally, f->work.born_ns, r->now_ns);
    } else {
        r->tally->failed++;
    }
    if (f->verdict.status != 200)
        put_back(r, c, &f->work);
}

/* Only the answer told what it cost. */
static void settle(struct run *r, struct client *c, const struct flight *f)
{
    c->mean_cost += 0.05 * ((double)f->work.cost - c->mean_cost);
    c->governor->kind->settle(c->governor, FB_SIM_EPOCH_NS + r->now_ns, f->ticket, f->work.cost);
}

void fb_client_answer(struct run *r, struct flight *f)
{
    struct client *c = &r->client[f->client];
    const struct verdict *v = &f->verdict;

    if (f->life != c->life)
        return; /* asked by a process that is gone */
    c->in_flight--;
    count_answer(r, c, f);
    if (r->setup->demand.cost_later && v->status == 200)
        settle(r, c, f);

    struct fly_outcome o = outcome_of(r, f);
    o.status = v->status;
    o.limit = v->limit;
    o.remaining = v->remaining;
    o.reset_ns = v->reset_ns == FLY_ABSENT ? FLY_ABSENT : FB_SIM_EPOCH_NS + v->reset_ns;
    o.retry_after_ns = v->retry_after_ns;
    c->governor->kind->report(c->governor, FB_SIM_EPOCH_NS + r->now_ns, &o);
    look(r, c,
         (struct sight){.kind = SIGHT_ANSWER,
                        .status = v->status,
                        .refused = v->refused,
                        .latency_ns = o.latency_ns});
    fb_client_try(r, c);
}

void fb_client_give_up(struct run *r, struct flight *f)
{
    struct client *c = &r->client[f->client];

    if (f->life != c->life)
        return;
    c->in_flight--;
    r->tally->failed++;
    put_back(r, c, &f->work);

    struct fly_outcome o = outcome_of(r, f);
    c->governor->kind->report(c->governor, FB_SIM_EPOCH_NS + r->now_ns, &o);
    look(r, c, (struct sight){.kind = SIGHT_GAVE_UP, .latency_ns = o.latency_ns});
    fb_client_try(r, c);
}

void fb_client_timer(struct run *r, struct client *c)
{
    if (r->now_ns != c->timer_ns)
        return; /* an earlier hint took its place */
    c->timer_ns = INT64_MAX;
    r->idle_wakes++;
    fb_client_try(r, c);
}

/* New work, and when to come again. Demand ends with the run, so nothing is left out. */
void fb_client_demand(struct run *r, struct client *c)
{
    const struct demand *d = &r->setup->demand;
    bool clumps = d->kind == DEMAND_CLUMPS || d->kind == DEMAND_BATCH;
    double size =
        d->kind == DEMAND_CLUMPS ? d->clump * fb_draw_between(&c->rng, 0.5, 1.5) : d->clump;
    int64_t count = clumps ? fb_max64(1, (int64_t)size) : 1;

    for (int64_t i = 0; i < count; i++) {
        struct work w = draw_work(r, c, 0);

        enqueue(r, c, &w);
    }
    if (d->kind == DEMAND_CLUMPS)
        fb_run_at(r, r->now_ns + fb_span(d->pause_s * fb_draw_between(&c->rng, 0.5, 1.5)),
                  EVENT_DEMAND, c->index);
    else if (d->kind != DEMAND_BATCH)
        fb_run_at(r, r->now_ns + fb_span(fb_draw_exp(&c->rng, 1.0 / d->rate)) + 1, EVENT_DEMAND,
                  c->index);
    fb_client_try(r, c);
}

void fb_client_restart(struct run *r, struct client *c)
{
    struct governor *before = c->governor;

    c->life++;
    c->in_flight = 0;
    c->timer_ns = INT64_MAX;
    c->governor = make_governor(r, c);
    if (c->governor && r->setup->restored && before->kind->carry)
        before->kind->carry(before, c->governor, FB_SIM_EPOCH_NS + r->now_ns);
    before->kind->free(before);
    if (!c->governor) {
        r->error = -EINVAL;
        return;
    }
    look(r, c, (struct sight){.kind = SIGHT_RESTART});
    fb_client_try(r, c);
}

void fb_client_finish(struct run *r, struct client *c)
{
    const struct fifo *q = &c->queue[0];

    for (size_t i = 0; i < q->count; i++) {
        if (counts_stay(&r->setup->demand, fb_fifo_get(q, i)))
            fb_tally_stay(r->tally, fb_fifo_get(q, i)->born_ns, r->now_ns);
    }
}
