/* SPDX-License-Identifier: MIT */
/*
 * test_probe.h - small providers on a virtual clock, and a client that asks the limiter for them.
 *
 * run_until() keeps an eye on what must hold in any world: a wait that was told is kept, an
 * episode has one request out besides stragglers, and the pace is finite and above zero.
 */
#ifndef FLYBALL_TESTS_TEST_PROBE_H
#define FLYBALL_TESTS_TEST_PROBE_H

#include "unit.h"

#include <math.h>
#include <stdbool.h>

#include "core/rng.h"

#define OUT_MAX 64
#define LOG_MAX 4096

enum kind { ANYTHING, BUCKET, WINDOW, SLIDING, SPACING, CROWD };

struct world {
    /* the provider */
    enum kind kind;
    double rate;           /* BUCKET: units a second; SPACING: one in 1/rate seconds */
    double burst;          /* BUCKET */
    int64_t count;         /* WINDOW, SLIDING: so many ... */
    int64_t length_ns;     /* ... in so long; CROWD: `count` in flight */
    int64_t phase_ns;      /* WINDOW */
    int32_t refuses_with;  /* 0: 429 */
    bool retry_after;      /* tells when it opens */
    double told_share;     /* headers tell this share of the truth; 0: no headers */
    int64_t clock_step_ns; /* what its clock is ahead, in headers */
    double noise;          /* share of requests that are refused for nothing */
    double stumbles;       /* share of requests that fail by a bare 503 */
    double missing;        /* share of requests that are served by 404 */
    int64_t dead_from_ns, dead_until_ns; /* an outage of 500s and timeouts */

    /* the client */
    int workers;
    int64_t latency_ns, jitter_ns;
    int64_t every_ns;      /* asks no more often than that */
    int64_t on_ns, off_ns; /* asks for so long, then does not for so long */
    int64_t cost_max;      /* requests of 1 .. cost_max units; 0: of 1 */
    bool settles;          /* the cost is known only afterwards */
    int cancels;           /* each so-manieth grant is cancelled; 0: none */
    uint64_t seed;

    /* what became of it */
    int64_t sent, accepted, refused, failed, units;
    int64_t out_most;

    /* inside */
    struct fly_limiter *l;
    struct rng rng;
    int64_t now_ns;
    double level;
    int64_t level_ns, window_no, used;
    int64_t log[LOG_MAX];
    int64_t log_at;
    int64_t ask_ns;     /* not before */
    int64_t wait_ns;    /* a refusal told to wait until then */
    int64_t episode_ns; /* the refusal that began one; -1: none */
    int64_t granted;
    struct out {
        struct fly_outcome o;
        int64_t due_ns, cost;
    } out[OUT_MAX];
    int out_count;
};

/* ---- the provider ---- */

static inline bool bucket_admits(struct world *w, int64_t cost)
{
    w->level += w->rate * (double)(w->now_ns - w->level_ns) / 1e9;
    w->level = w->level < w->burst ? w->level : w->burst;
    w->level_ns = w->now_ns;
    if (w->level < (double)cost)
        return false;
    w->level -= (double)cost;
    return true;
}

static inline void turn_window(struct world *w)
{
    int64_t no = (w->now_ns + w->phase_ns) / w->length_ns;

    if (no != w->window_no)
        w->used = 0;
    w->window_no = no;
}

static inline bool window_admits(struct world *w, int64_t cost)
{
    turn_window(w);
    if (w->used + cost > w->count)
        return false;
    w->used += cost;
    return true;
}

static inline bool sliding_admits(struct world *w)
{
    int64_t *oldest = &w->log[w->log_at % w->count];

    if (w->log_at >= w->count && w->now_ns - *oldest < w->length_ns)
        return false;
    *oldest = w->now_ns;
    w->log_at++;
    return true;
}

static inline bool spacing_admits(struct world *w)
{
    if (w->now_ns < w->level_ns)
        return false;
    w->level_ns = w->now_ns + (int64_t)(1e9 / w->rate);
    return true;
}

static inline bool admits(struct world *w, int64_t cost)
{
    switch (w->kind) {
    case BUCKET:
        return bucket_admits(w, cost);
    case WINDOW:
        return window_admits(w, cost);
    case SLIDING:
        return sliding_admits(w);
    case SPACING:
        return spacing_admits(w);
    case CROWD:
        return w->out_count < w->count;
    case ANYTHING:
    default:
        return true;
    }
}

/* When the window that is present ends. */
static inline int64_t reset_of(const struct world *w)
{
    return (w->window_no + 1) * w->length_ns - w->phase_ns;
}

/* As servers do: in whole seconds, a second at least. */
static inline void tell_wait(const struct world *w, struct fly_outcome *o)
{
    double wait_s = w->kind == BUCKET ? (1.0 - w->level) / w->rate : 0.0;

    if (w->kind != BUCKET)
        o->retry_after_ns = reset_of(w) - w->now_ns;
    else
        o->retry_after_ns = (int64_t)(wait_s < 1.0 ? 1.0 : ceil(wait_s)) * S;
}

static inline void tell(struct world *w, struct fly_outcome *o)
{
    turn_window(w);
    if (w->told_share > 0.0) {
        o->limit = (int64_t)(w->told_share * (double)w->count);
        o->remaining = o->limit > w->used ? o->limit - w->used : 0;
        o->reset_ns = reset_of(w) + w->clock_step_ns;
    }
}

static inline struct fly_outcome served(struct world *w, uint64_t ticket, int64_t cost)
{
    struct fly_outcome o = outcome(ticket, 200, w->now_ns);
    bool noise = fb_rng_unit(&w->rng) < w->noise;
    bool missing = fb_rng_unit(&w->rng) < w->missing;

    if (w->now_ns >= w->dead_from_ns && w->now_ns < w->dead_until_ns) {
        o.status = w->sent % 3 == 0 ? 0 : 500;
        return o;
    }
    if (w->stumbles > 0.0 && fb_rng_unit(&w->rng) < w->stumbles) {
        o.status = 503;
        return o;
    }
    if (noise || !admits(w, cost))
        o.status = w->refuses_with ? w->refuses_with : 429;
    else if (missing)
        o.status = 404;
    if (w->retry_after && o.status >= 400 && o.status != 404)
        tell_wait(w, &o);
    if (w->length_ns > 0)
        tell(w, &o);
    return o;
}

/* ---- the client ---- */

static inline void begin(struct world *w, const char *spec)
{
    w->rng.state = w->seed;
    w->level = w->burst;
    w->workers = w->workers ? w->workers : 1;
    w->latency_ns = w->latency_ns ? w->latency_ns : 30 * MS;
    w->episode_ns = -1;
    w->l = limiter(spec, 0);
}

static inline void end(struct world *w)
{
    fly_limiter_free(w->l);
}

/* Sent since the episode began, and without an answer. */
static inline int64_t pings_out(const struct world *w)
{
    int64_t n = 0;

    for (int i = 0; i < w->out_count; i++)
        n += w->out[i].o.sent_ns >= w->episode_ns;
    return n;
}

static inline void send(struct world *w, uint64_t ticket, int64_t cost)
{
    struct out *out = &w->out[w->out_count];
    int64_t jitter = w->jitter_ns ? (int64_t)(fb_rng_next(&w->rng) % (uint64_t)w->jitter_ns) : 0;

    assert_at_least(w->now_ns, w->wait_ns);
    if (w->cancels && ++w->granted % w->cancels == 0) {
        fly_limiter_cancel(w->l, w->now_ns, ticket);
        return;
    }
    *out = (struct out){.o = served(w, ticket, cost), .cost = cost};
    out->due_ns = w->now_ns + w->latency_ns + jitter;
    w->sent++;
    w->out_count++;
    w->out_most = w->out_most > w->out_count ? w->out_most : w->out_count;
    if (w->episode_ns >= 0)
        assert_at_most(pings_out(w), 1);
}

static inline bool demands(const struct world *w)
{
    return w->out_count < w->workers && w->now_ns >= w->ask_ns &&
           (w->on_ns == 0 || w->now_ns % (w->on_ns + w->off_ns) < w->on_ns);
}

/* Ask for as many as it gives; when to ask again. */
static inline int64_t ask(struct world *w)
{
    while (demands(w)) {
        uint64_t ticket = 0;
        int64_t cost =
            w->cost_max ? 1 + (int64_t)(fb_rng_next(&w->rng) % (uint64_t)w->cost_max) : 1;
        int64_t asked = w->settles ? 1 : cost;
        int64_t at_ns = fly_limiter_take(w->l, w->now_ns, (uint32_t)asked, &ticket);

        if (at_ns > w->now_ns)
            return at_ns;
        w->ask_ns = w->now_ns + w->every_ns;
        send(w, ticket, cost);
    }
    if (w->out_count == w->workers)
        return INT64_MAX;
    return w->now_ns < w->ask_ns ? w->ask_ns : w->now_ns + 100 * MS;
}

static inline void note(struct world *w, const struct out *out)
{
    const struct fly_outcome *o = &out->o;
    bool refused = o->status == 429 || o->status == 403 || o->status == 503;

    w->accepted += o->status == 200 || o->status == 404;
    w->units += o->status == 200 ? out->cost : 0;
    w->refused += refused;
    w->failed += o->status == 500 || o->status == 0;
    if (o->status == 429 && w->episode_ns < 0)
        w->episode_ns = w->now_ns;
    else if (o->status < 429 && o->status != 0 && o->sent_ns >= w->episode_ns)
        w->episode_ns = -1;
    if (o->status == 429 && o->retry_after_ns > 0 && w->wait_ns < w->now_ns + o->retry_after_ns)
        w->wait_ns = w->now_ns + o->retry_after_ns;
}

static inline void answer_next(struct world *w, int i)
{
    struct out out = w->out[i];

    w->out[i] = w->out[--w->out_count];
    out.o.latency_ns = w->now_ns - out.o.sent_ns;
    note(w, &out);
    if (w->settles)
        fly_limiter_settle(w->l, w->now_ns, out.o.ticket, (uint32_t)out.cost);
    fly_limiter_report(w->l, w->now_ns, &out.o);
    double rate = fly_limiter_rate(w->l);
    assert_true(isfinite(rate) && rate > 0.0);
}

static inline int earliest(const struct world *w)
{
    int first = 0;

    for (int i = 1; i < w->out_count; i++)
        if (w->out[i].due_ns < w->out[first].due_ns)
            first = i;
    return first;
}

static inline void run_until(struct world *w, int64_t end_ns)
{
    while (w->now_ns < end_ns) {
        int64_t next_ns = ask(w);
        int i = earliest(w);

        if (w->out_count > 0 && w->out[i].due_ns <= next_ns) {
            w->now_ns = w->out[i].due_ns;
            answer_next(w, i);
        } else {
            assert_true(next_ns > w->now_ns && next_ns < INT64_MAX);
            w->now_ns = next_ns;
        }
    }
}

/* What is accepted a second from now until `end_ns`. */
static inline double accepted_rate(struct world *w, int64_t end_ns)
{
    int64_t accepted = w->accepted;
    int64_t from_ns = w->now_ns;

    run_until(w, end_ns);
    return (double)(w->accepted - accepted) * 1e9 / (double)(w->now_ns - from_ns);
}

static inline struct fly_why why(struct world *w)
{
    struct fly_why y = {.size = sizeof(y)};

    assert_int_equal(fly_limiter_why(w->l, w->now_ns, 1, &y), 0);
    return y;
}

#endif
