/* SPDX-License-Identifier: MIT */
/*
 * probe.c - events in, pace out.
 *
 * Grants and answers update the belief (probe_search.c, probe_episode.c, probe_headers.c); what
 * the constraints shall keep is read off it in probe_pace.c.
 */
#include "core/adapt/probe.h"

#include <assert.h>
#include <stddef.h>

#include <flyball/flyball.h>

#include "core/adapt/probe_parts.h"
#include "core/controller.h"
#include "core/spec.h"

static void probe_init(union controller_state *c, struct pace *pace, const struct spec *s,
                       int64_t now_ns)
{
    struct probe *p = &c->probe;
    float rate = s->rate.permits ? (float)fb_rate_per_second(&s->rate) : 1.0f;

    *p = (struct probe){
        .empty_ns = now_ns,
        .opened_ns = now_ns,
        .total_ns = now_ns,
        .ahead_ns = now_ns,
        .changed_ns = now_ns,
        .look_ns = now_ns,
        .step_ns = now_ns,
        .next_ns = now_ns,
        .told_until_ns = FB_LONG_AGO,
        .told_reset_ns = FB_LONG_AGO,
        .refused_ns = FB_LONG_AGO,
        .block_ns = FB_LONG_AGO,
        .limit = 0.5f * rate,
        .unit = 1.0f,
        .soft_mean = 200.0f,
        .share = 1.0f,
        .told_left = -1.0f,
        .rate = rate,
        .lean = 1.0f,
        .margin = MARGIN,
        .floor = (float)fb_rate_per_second(&s->floor),
        .ceiling = (float)fb_rate_per_second(&s->ceiling),
        .crowd_min = NO_CROWD,
        .soft_gap = 100,
        .phase = PROBE_FIRST,
    };
    assert(p->rate > 0.0f && p->limit > 0.0f);
    (void)fb_probe_sync(p, pace);
}

/* ---- grants ---- */

/* Ids come round: what was granted long ago counts as a straggler all the same. */
static void note_id(struct probe *p, uint16_t id)
{
    const uint16_t behind_max = 1 << 14;

    p->latest_id = id;
    if ((uint16_t)(id - p->refused_id) > behind_max)
        p->refused_id = (uint16_t)(id - behind_max);
    assert((uint16_t)(p->latest_id - p->refused_id) <= behind_max);
}

static void begin_ping(struct probe *p, int64_t now_ns)
{
    assert(p->episode == EPISODE_WAITING);

    p->episode = EPISODE_PINGED;
    p->pinged_ns = now_ns;
}

/* Whether nothing was asked for during a while, and so the pace may be another. */
static bool note_pause(struct probe *p, const struct ask *q, float idle_s)
{
    assert(p->rate > 0.0f);

    p->late += 0.05f * ((idle_s > 0.25f / p->rate ? 1.0f : 0.0f) - p->late);
    if (idle_s < p->window_s && fb_probe_spends_quota(p))
        return fb_probe_spend_quota(p, q);
    if (idle_s < PAUSE_LEAST_S || idle_s * p->rate < 4.0f * p->unit + (float)q->cost)
        return false;
    if (idle_s < 1.0f)
        fb_probe_paused(p, q->now_ns);
    else
        fb_probe_idled(p, q, idle_s);
    return p->phase != PROBE_FIRST || fb_probe_was_told(p); /* a first climb keeps its pace */
}

/* Whether a window that headers tell of changes the pace. */
static bool told_slot(struct probe *p, const struct ask *q)
{
    if (p->told_until_ns >= q->now_ns)
        return fb_probe_take_slot(p, q->now_ns, q->cost);
    bool is_over = p->told_until_ns != FB_LONG_AGO;
    p->told_until_ns = FB_LONG_AGO; /* that window */
    return is_over && fb_probe_forget_slots(p, q->now_ns);
}

static bool probe_on_grant(union controller_state *c, struct pace *pace, const struct ask *q)
{
    struct probe *p = &c->probe;
    float idle_s = fb_secs(q->now_ns - fb_max64(p->next_ns, p->block_ns));

    assert(pace->rate > 0.0 && q->cost >= 1);
    bool is_other = told_slot(p, q);
    if (p->since_refusal < INT32_MAX)
        p->since_refusal++;
    note_id(p, (uint16_t)q->id);
    p->next_ns = fb_after(q->now_ns, fb_span((double)q->cost / pace->rate));
    if (p->episode == EPISODE_WAITING)
        begin_ping(p, q->now_ns);
    else if (!note_pause(p, q, idle_s) && !is_other)
        return false;
    return fb_probe_sync(p, pace);
}

static bool probe_on_cancel(union controller_state *c, struct pace *pace, const struct ask *q)
{
    struct probe *p = &c->probe;

    if (p->episode == EPISODE_PINGED && !fb_probe_is_straggler(p, (uint16_t)q->id))
        p->episode = EPISODE_WAITING; /* the ping never left */
    return fb_probe_sync(p, pace);
}

/* ---- answers ---- */

/* Where the true cost came with the answer, the pace has charged it by now. */
static void note_cost(struct probe *p, const struct answer *a)
{
    float cost = fb_maxf(1.0f, (float)a->cost);

    assert(a->granted >= 1 && a->cost >= 0);
    if (a->cost > a->granted)
        p->next_ns = fb_after(p->next_ns, fb_span((float)(a->cost - a->granted) / p->rate));
    if (!p->answered) { /* the first answer: begin at one request a second, whatever it costs */
        p->answered = true;
        p->unit = cost;
        p->limit *= cost;
        p->rate *= cost;
    }
    p->unit += 0.02f * (cost - p->unit);
    assert(p->unit > 0.0f && p->rate > 0.0f);
}

/* Windows open again and again, whether it is looked at or not. */
static void note_opening(struct probe *p, int64_t now_ns)
{
    float passed = p->window_s > 0.0f ? fb_secs(now_ns - p->opened_ns) / p->window_s : 0.0f;

    if (passed >= 1.0f && p->episode == EPISODE_NONE) {
        float told = p->limit * p->window_s / p->share;
        fb_probe_window_over(p, told, fb_secs(now_ns - p->opened_ns));
        p->opened_ns += fb_span(p->window_s * (float)(int64_t)passed);
    }
}

static void note_latency(struct probe *p, float latency_s)
{
    if (p->latency_s <= 0.0f)
        p->latency_s = latency_s;
    assert(latency_s > 0.0f && p->latency_s > 0.0f);
    float off_s = fb_minf(latency_s, 3.0f * p->latency_s) - p->latency_s;
    p->latency_s += 0.05f * off_s;
    if (p->episode == EPISODE_NONE)
        p->sway_s += 0.05f * ((off_s < 0.0f ? -off_s : off_s) - p->sway_s);
}

/* Where slots are kept neither is needed. */
static void count_ahead(struct probe *p, const struct answer *a)
{
    float made = p->limit * fb_secs(a->now_ns - p->ahead_ns);

    if (p->slotted)
        return;
    p->total += (float)a->cost;
    p->ahead = fb_maxf(0.0f, p->ahead - made) + (float)a->cost;
    p->ahead_ns = a->now_ns;
}

static void count_spent(struct probe *p, float cost)
{
    if (p->window_s > 0.0f)
        p->spent += cost;
    if (fb_probe_was_told(p))
        p->told_own += cost;
}

static void count(struct probe *p, const struct answer *a)
{
    float cost = (float)a->cost;

    assert(p->limit > 0.0f && p->crowd >= 0.0f);
    p->accepted += cost;
    count_spent(p, cost);
    p->step_count++;
    if (a->outcome->latency_ns > 0)
        note_latency(p, fb_secs(a->outcome->latency_ns));
    if (p->episode == EPISODE_NONE) {
        count_ahead(p, a);
        fb_probe_log(p, a);
    } else {
        p->total += cost;
    }
    if (p->window_s <= 0.0f && p->step_count > 16 && p->ahead < 2.0f * p->unit)
        p->bursting = false; /* the application, or two at a time, is the limit */
    if (a->in_flight_then >= p->crowd_min && !fb_probe_crowded(p))
        p->crowd -= CROWD_DOUBT;
    if (p->crowd < 0.0f) {
        p->crowd_min = NO_CROWD;
        p->crowd = 0.0f;
    }
}

static void on_success(struct probe *p, const struct answer *a)
{
    p->failed_row = 0;
    note_cost(p, a);
    count(p, a);
    if (p->episode == EPISODE_NONE)
        fb_probe_advance(p, a);
    else if (!fb_probe_is_straggler(p, a->id))
        fb_probe_recovered(p, a);
    else
        fb_probe_also_accepted(p);
}

/* The server did what it was asked, or said that the request was wrong: the rate was right. */
static bool was_served(const struct answer *a)
{
    int32_t status = a->outcome->status;

    return a->accepted || (!a->throttled && status >= 400 && status < 500 && status != 403 &&
                           status != 408 && status != 425);
}

static bool was_told(const struct answer *a)
{
    const struct fly_outcome *o = a->outcome;

    return o->limit != FLY_ABSENT && o->remaining != FLY_ABSENT && o->reset_ns > a->now_ns &&
           o->reset_ns - a->now_ns <= FB_RESET_MAX;
}

static void hear(struct probe *p, const struct answer *a, bool refused)
{
    if (a->ample)
        fb_probe_need_not_be_told(p, a->now_ns);
    else
        fb_probe_told(p, a, refused);
}

/* As long as all goes well and it is told what is left. */
static void keep_slots(struct probe *p, const struct answer *a, bool served)
{
    if (!served || p->told_until_ns < a->now_ns)
        (void)fb_probe_forget_slots(p, a->now_ns);
}

static bool probe_on_outcome(union controller_state *c, struct pace *pace, const struct answer *a)
{
    struct probe *p = &c->probe;
    int32_t status = a->outcome->status;

    if (p->soft_gap < UINT8_MAX)
        p->soft_gap++;
    note_opening(p, a->now_ns);
    assert(!(a->throttled && a->accepted));
    bool refused =
        a->throttled || ((status == 403 || status == 503) && fb_probe_is_soft_refusal(p, a));
    bool served = was_served(a);
    keep_slots(p, a, served);
    if (was_told(a))
        hear(p, a, refused);
    if (served)
        on_success(p, a);
    else if (refused)
        fb_probe_refused(p, a);
    else
        fb_probe_failed(p, a);
    return fb_probe_sync(p, pace);
}

/* The pauses of an episode say it. */
static int64_t probe_default_hold(const union controller_state *c)
{
    (void)c;
    return 0;
}

static enum pace_wait probe_waits(const union controller_state *c)
{
    if (c->probe.episode == EPISODE_NONE)
        return PACE_SPENT;
    if (c->probe.episode == EPISODE_PINGED)
        return PACE_ASKED;
    return c->probe.outage ? PACE_FAILED : PACE_REFUSED;
}

static void probe_resume(union controller_state *c, struct pace *pace, int64_t now_ns)
{
    fb_probe_resume(&c->probe, now_ns);
    (void)fb_probe_sync(&c->probe, pace);
}

const struct controller fb_controller_probe = {
    .name = "probe",
    .init = probe_init,
    .on_grant = probe_on_grant,
    .on_cancel = probe_on_cancel,
    .on_outcome = probe_on_outcome,
    .default_hold = probe_default_hold,
    .waits = probe_waits,
    .fields = fb_probe_fields,
    .field_count = FB_PROBE_FIELDS,
    .resume = probe_resume,
    .learned = fb_probe_learned,
    .explain = fb_probe_explain,
};
