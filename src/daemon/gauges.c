/* SPDX-License-Identifier: MIT */
/* gauges.c - one walk over the keys, one look at the meters. */
#include "daemon/gauges.h"

#include <math.h>
#include <string.h>

#include <flyball/flyball.h>
#include <flyball/state.h>

#include "core/instant.h"
#include "engine/control.h"
#include "engine/show.h"
#include "ledger/watch.h"

struct walk {
    struct gauges *g;
    const struct meters *meters;
    int64_t now_ns;
};

static void read_told(struct gauge *to, const struct engine_told *t, int64_t now_ns)
{
    double reset_s = (double)t->reset_ns / (double)FB_NS_PER_S;

    if (t->limit <= 0 || t->reset_ns <= now_ns)
        return;
    to->quota_limit += (double)t->limit;
    to->quota_left += (double)t->remaining;
    if (to->quota_reset_s == 0.0 || reset_s < to->quota_reset_s)
        to->quota_reset_s = reset_s;
    to->used = fmax(to->used, 1.0 - (double)t->remaining / (double)t->limit);
}

static void read_limiter(struct gauge *to, const struct engine_key_state *s, int64_t now_ns)
{
    struct fly_limiter *l = s->limiter;
    struct view_key v;
    struct fly_learned known = {.size = sizeof known};

    to->limit += fly_limiter_rate(l);
    fb_show_limits(s, now_ns, &v);
    to->bound += v.bound.rate;
    if ((v.flags & (VIEW_KEY_LEARNED | VIEW_KEY_LEARNING)) == VIEW_KEY_LEARNED)
        to->learned += v.limit;
    if (fly_limiter_learned(l, now_ns, &known) == 0 && strcmp(known.by, "off") != 0)
        to->confidence = fmin(to->confidence, known.confidence);
    /* A bucket is meant to be used up; a window that is nearly full is worth a word. */
    to->used = fmax(to->used, fb_window_utilization(l, now_ns));
}

static void read_wait(struct gauge *to, const struct engine_key_state *s, int64_t now_ns)
{
    double wait_s = (double)(s->ready_at_ns - now_ns) / (double)FB_NS_PER_S;

    if (s->queued == 0 || s->ready_at_ns <= now_ns || s->ready_at_ns == FLY_NEVER ||
        wait_s <= to->wait_s)
        return;
    to->wait_s = wait_s;
    (void)memset(to->cause, 0, sizeof to->cause);
    memcpy(to->cause, s->cause, strnlen(s->cause, sizeof to->cause - 1));
}

static void look(void *arg, const struct engine_key_state *s)
{
    struct walk *w = arg;
    size_t set = fb_meters_find(w->meters, s->key.provider, s->key.pool);
    struct gauge *to = &w->g->set[set];

    to->keys++;
    to->queued += s->queued;
    to->in_flight += s->in_flight;
    to->broken += s->is_broken;
    if (set == 0)
        return;
    read_limiter(to, s, w->now_ns);
    read_told(to, s->told, w->now_ns);
    read_wait(to, s, w->now_ns);
}

/* ------------------------------------------------------------------------------- the second */

static struct meter_sums sums_of(const struct meter_set *s)
{
    struct meter_sums sums = {
        .requests = (double)s->requests,
        .done = (double)s->tasks[ENGINE_OK],
        .failed = (double)(s->tasks[ENGINE_FAILED] + s->tasks[ENGINE_UNKNOWN]),
        .throttled = (double)s->throttled,
        .waited_s = s->waited_s,
        .answers = (double)s->answers,
        .errors = (double)s->errors,
    };

    for (size_t i = 0; i < METER_DURATIONS; i++)
        sums.latency_s += s->duration[i].seconds.sum;
    return sums;
}

static void put_figures(struct gauge *g, const struct meter_sums *now,
                        const struct meter_sums *before, struct figures *f)
{
    g->sent = now->requests - before->requests;
    f->value[FIGURE_sent] = (float)g->sent;
    f->value[FIGURE_done] = (float)(now->done - before->done);
    f->value[FIGURE_failed] = (float)(now->failed - before->failed);
    f->value[FIGURE_throttled] = (float)(now->throttled - before->throttled);
    f->value[FIGURE_waited_s] = (float)(now->waited_s - before->waited_s);
    f->value[FIGURE_latency_s] = (float)(now->latency_s - before->latency_s);
    f->value[FIGURE_answers] = (float)(now->answers - before->answers);
    f->value[FIGURE_errors] = (float)(now->errors - before->errors);
    f->value[FIGURE_limit] = g->bound > 0.0 ? (float)g->bound : NAN;
    f->value[FIGURE_confidence] = (float)g->confidence;
    f->value[FIGURE_left] = g->quota_limit > 0.0 ? (float)g->quota_left : NAN;
    f->value[FIGURE_queued] = (float)g->queued;
    f->value[FIGURE_in_flight] = (float)g->in_flight;
}

/* Requests that are all wrong: a few may be, and what is over needs nobody. */
static void read_wrong(struct gauge *to, const struct meter_set *s, int64_t now_ns)
{
    if (s->wrong_row < GAUGE_WRONG_ROW || now_ns - s->wrong_ns > GAUGE_WRONG_NS)
        return;
    to->wrong_row = (int64_t)s->wrong_row;
    to->wrong_status = s->wrong_status;
}

void fb_gauges_read(struct gauges *g, struct engine *engine, struct meters *m, int64_t now_ns,
                    struct figures figures[METER_SETS])
{
    struct walk w = {.g = g, .meters = m, .now_ns = now_ns};

    memset(g->set, 0, sizeof g->set);
    for (size_t i = 0; i < METER_SETS; i++) {
        g->set[i].confidence = NAN;
        g->set[i].used = NAN;
    }
    fb_engine_stats(engine, &g->stats);
    (void)pthread_mutex_lock(&m->lock);
    g->sets = m->sets;
    fb_engine_keys(engine, look, &w);
    for (size_t i = 0; i < g->sets; i++) {
        struct meter_sums now = sums_of(&m->set[i]);

        g->set[i].is_disabled = !fb_engine_is_enabled(engine, m->set[i].provider);
        read_wrong(&g->set[i], &m->set[i], now_ns);
        put_figures(&g->set[i], &now, &g->before[i], &figures[i]);
        g->before[i] = now;
    }
    (void)pthread_mutex_unlock(&m->lock);
}
