/* SPDX-License-Identifier: MIT */
/*
 * governor_older.c - what people use until they use something better.
 *
 * old:   a token bucket at the documented limit with a delay on top that grows by 1.8 with every
 *        refusal and shrinks by 0.98 with every success: the two never agree, it oscillates.
 * even:  spreads what the headers say is left over the time until the reset, 10 % kept back.
 * naive: no limiter at all; every worker backs off 1, 2, 4 ... s after its own refusals.
 */
#include <math.h>
#include <stdlib.h>

#include "core/instant.h"
#include "sim/draw.h"
#include "sim/governor.h"

static void older_free(struct governor *g)
{
    free(g);
}

static void older_settle(struct governor *g, int64_t now_ns, uint64_t ticket, uint32_t cost)
{
    (void)g;
    (void)now_ns;
    (void)ticket;
    (void)cost;
}

static bool is_refusal(const struct fly_outcome *o)
{
    return o->status == 429 || o->status == 503 || o->status == 403;
}

/* old */

#define OLD_BURST     10.0
#define OLD_DELAY_MIN 0.1
#define OLD_DELAY_MAX 60.0

struct old {
    struct governor base;
    struct rng rng;
    double fill_rate;
    double tokens;
    double delay_s;
    int64_t filled_ns;
    int64_t next_ns;
};

static struct governor *old_new(const struct governor_setting *s)
{
    struct old *o = calloc(1, sizeof *o);

    if (!o)
        return NULL;
    o->base.kind = &fb_governor_old;
    o->rng = fb_draw_stream(s->seed, 6);
    o->fill_rate = s->setup->told_rate;
    o->tokens = OLD_BURST;
    o->delay_s = OLD_DELAY_MIN;
    o->filled_ns = s->now_ns;
    return &o->base;
}

static int64_t old_take(struct governor *g, int64_t now_ns, const struct work *w, uint32_t cost,
                        uint64_t *ret_ticket)
{
    struct old *o = (struct old *)g;

    (void)w;
    if (now_ns < o->next_ns)
        return o->next_ns;
    o->tokens = fmin(OLD_BURST, o->tokens + fb_seconds(now_ns - o->filled_ns) * o->fill_rate);
    o->filled_ns = now_ns;

    double missing = fmin(cost, OLD_BURST) - o->tokens;
    if (missing > 0.0)
        return now_ns + fb_span(missing / o->fill_rate) + 1;
    o->tokens -= cost;
    o->next_ns = now_ns + fb_span(o->delay_s * fb_draw_between(&o->rng, 0.8, 1.2));
    *ret_ticket = 1;
    return now_ns;
}

static void old_report(struct governor *g, int64_t now_ns, const struct fly_outcome *o)
{
    struct old *self = (struct old *)g;

    if (o->status == 200) {
        self->delay_s = fmax(self->delay_s * 0.98, OLD_DELAY_MIN);
    } else if (is_refusal(o)) {
        self->delay_s = fmin(self->delay_s * 1.8, OLD_DELAY_MAX);
        self->next_ns = fb_max64(self->next_ns, now_ns + fb_span(self->delay_s));
    }
}

static void old_cancel(struct governor *g, int64_t now_ns, uint64_t ticket)
{
    (void)now_ns;
    (void)ticket;
    ((struct old *)g)->tokens += 1.0;
}

static double old_rate(struct governor *g)
{
    const struct old *o = (const struct old *)g;

    return fmin(o->fill_rate, 1.0 / o->delay_s);
}

const struct governor_kind fb_governor_old = {
    .name = "old",
    .about = "told the limit; a delay on top of it grows x 1.8 and shrinks x 0.98",
    .new = old_new,
    .free = older_free,
    .take = old_take,
    .report = old_report,
    .cancel = old_cancel,
    .settle = older_settle,
    .rate = old_rate,
};

/* even */

struct even {
    struct governor base;
    double delay_s;
    int64_t next_ns;
    int32_t refused_row;
};

static struct governor *even_new(const struct governor_setting *s)
{
    struct even *e = calloc(1, sizeof *e);

    (void)s;
    if (!e)
        return NULL;
    e->base.kind = &fb_governor_even;
    e->delay_s = 0.05;
    return &e->base;
}

static int64_t even_take(struct governor *g, int64_t now_ns, const struct work *w, uint32_t cost,
                         uint64_t *ret_ticket)
{
    struct even *e = (struct even *)g;

    (void)w;
    (void)cost;
    if (now_ns < e->next_ns)
        return e->next_ns;
    e->next_ns = now_ns + fb_span(e->delay_s);
    *ret_ticket = 1;
    return now_ns;
}

static double even_factor(double share_left)
{
    return share_left > 0.5 ? 1.0 : share_left > 0.2 ? 1.5 : share_left > 0.05 ? 2.0 : 4.0;
}

static void even_report(struct governor *g, int64_t now_ns, const struct fly_outcome *o)
{
    struct even *e = (struct even *)g;
    bool told = o->limit > 0 && o->remaining >= 0 && o->reset_ns > now_ns;

    if (told) {
        double left_s = fb_seconds(o->reset_ns - now_ns);
        double usable = fmax(1.0, (double)o->remaining - 0.1 * (double)o->limit);
        double factor = even_factor((double)o->remaining / (double)o->limit);

        e->delay_s = fmin(60.0, fmax(0.05, left_s / usable * factor));
    }
    if (!is_refusal(o)) {
        e->refused_row = 0;
        return;
    }

    double wait_s = fmin(60.0, exp2(e->refused_row++));
    if (o->retry_after_ns > 0)
        wait_s = fb_seconds(o->retry_after_ns);
    else if (told)
        wait_s = fmax(5.0, fb_seconds(o->reset_ns - now_ns) + 5.0);
    e->next_ns = fb_max64(e->next_ns, now_ns + fb_span(wait_s));
}

static void even_cancel(struct governor *g, int64_t now_ns, uint64_t ticket)
{
    (void)ticket;
    ((struct even *)g)->next_ns = now_ns;
}

static double even_rate(struct governor *g)
{
    return 1.0 / ((struct even *)g)->delay_s;
}

const struct governor_kind fb_governor_even = {
    .name = "even",
    .about = "spreads what headers say is left; 20/s without headers",
    .new = even_new,
    .free = older_free,
    .take = even_take,
    .report = even_report,
    .cancel = even_cancel,
    .settle = older_settle,
    .rate = even_rate,
};

/* naive: ticket i + 1 is worker i. */

#define NAIVE_WORKERS 40

struct naive {
    struct governor base;
    struct rng rng;
    int32_t workers;
    int32_t refused_row[NAIVE_WORKERS];
    int64_t ready_ns[NAIVE_WORKERS]; /* FLY_NEVER while its request is out */
};

static struct governor *naive_new(const struct governor_setting *s)
{
    struct naive *n = calloc(1, sizeof *n);

    if (!n)
        return NULL;
    n->base.kind = &fb_governor_naive;
    n->rng = fb_draw_stream(s->seed, 7);
    n->workers = s->setup->workers < NAIVE_WORKERS ? s->setup->workers : NAIVE_WORKERS;
    return &n->base;
}

static int64_t naive_take(struct governor *g, int64_t now_ns, const struct work *w, uint32_t cost,
                          uint64_t *ret_ticket)
{
    struct naive *n = (struct naive *)g;
    int64_t at_ns = FLY_NEVER;

    (void)w;
    (void)cost;
    for (int32_t i = 0; i < n->workers; i++) {
        if (n->ready_ns[i] <= now_ns) {
            n->ready_ns[i] = FLY_NEVER;
            *ret_ticket = (uint64_t)i + 1;
            return now_ns;
        }
        at_ns = fb_min64(at_ns, n->ready_ns[i]);
    }
    return at_ns;
}

static void naive_report(struct governor *g, int64_t now_ns, const struct fly_outcome *o)
{
    struct naive *n = (struct naive *)g;
    int32_t i = (int32_t)o->ticket - 1;

    if (!is_refusal(o)) {
        n->refused_row[i] = 0;
        n->ready_ns[i] = now_ns;
        return;
    }

    double wait_s = fmin(64.0, exp2(n->refused_row[i]++)) * fb_draw_between(&n->rng, 0.5, 1.5);
    if (o->retry_after_ns > 0)
        wait_s = fb_seconds(o->retry_after_ns);
    n->ready_ns[i] = now_ns + fb_span(wait_s);
}

static void naive_cancel(struct governor *g, int64_t now_ns, uint64_t ticket)
{
    ((struct naive *)g)->ready_ns[ticket - 1] = now_ns;
}

static double naive_rate(struct governor *g)
{
    (void)g;
    return 0.0;
}

const struct governor_kind fb_governor_naive = {
    .name = "naive",
    .about = "no limiter: each worker backs off 1, 2, 4 ... 64 s after refusals",
    .new = naive_new,
    .free = older_free,
    .take = naive_take,
    .report = naive_report,
    .cancel = naive_cancel,
    .settle = older_settle,
    .rate = naive_rate,
};
