/* SPDX-License-Identifier: MIT */
/*
 * probe_reading.c - what an episode meant.
 *
 * The provider is known to be empty at a refusal. What it accepted since the refusal before,
 * divided by the time between, is its limit: for buckets because tokens are made at that rate, for
 * windows because N fit between two openings. The table `readings` holds the ways to read an
 * episode in that light; the first that fits is taken.
 *
 * Invariant: no reading raises the pace above the one that was refused, and none makes it zero.
 */
#include <assert.h>
#include <stddef.h>

#include <flyball/flyball.h>

#include "core/adapt/probe_parts.h"

#define SLOW 25.0f /* requests a second: from a wait to a refusal too few of them are counted */

/* An episode as a measurement. */
struct reading {
    const struct answer *a;
    float accepted;  /* units between the two moments at which it was empty */
    float rate;      /* the pace that was refused */
    float estimate;  /* the limit as measured, drawn to the pace while little was counted */
    float least;     /* what the limit is at least */
    float open_s;    /* from the moment it was empty, or opened, to the refusal */
    float blocked_s; /* from the refusal to the ping that went through */
    float shut_s;    /* from the refusal to the last ping that was refused */
    float cycle;     /* units a second from opening to opening: exact for any kind of window */
    float window_s;  /* the window, as the openings told say; 0: they were not told */
    float whole_s;   /* from one to the next: some of those windows */
    int32_t grants;  /* since the refusal before */
};

/*
 * How many requests the present pace is worth against a measurement: many when it was kept for
 * long, few once refusals come in a row.
 */
static float weight_of(const struct probe *p)
{
    assert(p->rate > 0.0f);

    if (p->lean >= 0.0f || p->phase != PROBE_SETTLED)
        return WEIGHT;
    if (p->cuts == 0 || p->since_refusal >= FAR / 2)
        return 16.0f;
    if (p->noise_known)
        return p->cuts < 4 ? 16.0f : WEIGHT;
    return p->cuts == 1 ? 8.0f : WEIGHT;
}

static float estimate_of(const struct probe *p, float accepted, float between_s)
{
    float weight = weight_of(p) * p->unit;
    float counted = (accepted + weight) / (between_s + weight / p->rate);

    assert(between_s > 0.0f && p->rate > 0.0f && p->unit >= 1.0f);
    /* What it cannot store is lost in the pause: hardly anything counted says little. */
    if (accepted < 4.0f * p->unit && p->failed_pings == 0)
        counted = fb_maxf(counted, 0.6f * p->rate);
    /* Much was granted and little counted: it idled in between, or the network stood still. */
    if (accepted < 8.0f * p->unit && p->since_refusal > NEAR)
        counted = fb_maxf(counted, 0.8f * p->rate);
    return fb_maxf(DROP * p->rate, fb_minf(counted, p->rate));
}

/*
 * From opening to opening. Refused pings may have kept it shut: what was blocked for longer than
 * it was open lasted a window.
 */
static float cycle_s(const struct probe *p, float open_s, float blocked_s)
{
    assert(p->window_s >= 0.0f);

    if (p->failed_pings > 0 && blocked_s > open_s && p->window_s > 0.0f)
        return fb_minf(open_s + blocked_s, fb_maxf(open_s, p->window_s));
    return open_s + blocked_s;
}

/* Nobody tells what is left, and it was told when it opens, twice, at an even pace. */
static bool tells_openings(const struct probe *p)
{
    return p->told_when && p->opening_seen && p->lean < 0.0f && p->told_reset_ns == FB_LONG_AGO;
}

/*
 * Openings are told in whole seconds, so that what is between two of them is known that well. A
 * window that was seen to close only once (the first row of `readings`) is a guess: at an even pace
 * it closes in the first window or the next, and people use round ones.
 */
static void note_whole_windows(const struct probe *p, struct reading *r)
{
    float from_s = 0.97f * (r->open_s + r->shut_s);
    float to_s = r->open_s + r->blocked_s + 1.1f;
    float window_s = p->reading == 0 ? fb_probe_window_from(from_s) : p->window_s;
    float count = (float)(int64_t)(0.5f * (from_s + to_s) / window_s + 0.5f);
    float whole_s = fb_maxf(count, 1.0f) * window_s;

    assert(window_s > 0.0f && from_s <= to_s);
    if (whole_s >= from_s && whole_s <= to_s) {
        r->window_s = window_s;
        r->whole_s = whole_s;
    }
}

static struct reading measure(const struct probe *p, const struct answer *a)
{
    float accepted = p->accepted - (float)a->cost;
    float open_s = fb_secs(p->refused_ns - p->empty_ns);
    float blocked_s = fb_secs(p->pinged_ns - p->refused_ns);
    /* From empty to empty; what reopened late was empty until then. */
    float between_s = fb_maxf(0.001f, open_s + (p->failed_pings > 0 ? blocked_s : 0.0f));
    bool counts = accepted >= 30.0f * p->unit;

    return (struct reading){
        .a = a,
        .accepted = accepted,
        .rate = p->rate,
        .estimate = estimate_of(p, accepted, between_s),
        .least = counts ? fb_maxf(p->limit, fb_minf(accepted / between_s, p->rate)) : p->limit,
        .open_s = open_s,
        .blocked_s = blocked_s,
        .shut_s = fb_maxf(0.0f, blocked_s - p->pause_s),
        .cycle = accepted / fb_maxf(0.001f, cycle_s(p, open_s, blocked_s)),
        .grants = p->since_refusal - 1,
    };
}

/* Whether it came alone, and the very next request was accepted. */
static bool is_isolated(const struct probe *p, const struct reading *r)
{
    return r->grants >= NEAR && p->failed_pings == 0 && p->also_refused == 0;
}

/* What the first climb, or a burst after idling, got beyond the limit had been stored. */
static void note_stored(struct probe *p)
{
    float made = p->limit * fb_secs(p->refused_ns - p->total_ns);

    assert(p->limit > 0.0f && p->burst >= 0.0f && !p->opening_seen);
    if (!p->looked)
        p->burst = fb_maxf(p->burst, p->total - made);
}

/*
 * A few requests measure badly. Unless several refusals in a row agree that it is about the pace,
 * a limit from so few is in doubt, and soon tried again.
 */
static void settle_few(struct probe *p, float limit, const struct reading *r)
{
    assert(p->doubts <= DOUBTS_MAX);

    fb_probe_settle(p, limit, r->accepted, r->a);
    if (r->accepted < FEW * p->unit && p->cuts < 3 && p->doubts < DOUBTS_MAX) {
        float soon = p->unit * (float)(NEAR << p->doubts) / p->rate;
        p->phase = PROBE_DOUBT;
        p->look_ns = fb_after(r->a->now_ns, fb_span(soon));
    }
}

/* Refused again at once: that is about the pace. */
static void settle_again(struct probe *p, const struct reading *r)
{
    assert(r->estimate > 0.0f && r->estimate <= r->rate);

    if (r->estimate > 0.65f * r->rate && r->accepted >= 8.0f * p->unit && !fb_probe_says_429(p))
        fb_probe_one_less_in_row(p); /* what was counted says that it is about the pace */
    if (r->grants >= NEAR)
        p->cuts = 0;
    if (p->cuts < CUTS_MAX)
        p->cuts++;
    if (p->stood && r->estimate < 0.8f * p->limit_before)
        p->moves = true;
    settle_few(p, r->estimate, r);
    note_stored(p);
}

static void open_window(struct probe *p, const struct answer *a)
{
    assert(a->cost >= 0);

    p->opened_ns = p->pinged_ns;
    p->spent = (float)a->cost;
    p->echoes = 0;
}

/* ---- windows ---- */

/*
 * After the first opening it closed again: a bucket makes some meanwhile, and a window holds the
 * same again.
 */
static bool was_again(const struct probe *p, const struct reading *r)
{
    return !p->opening_seen && p->failed_pings > 0 &&
           fb_probe_closed_again(p, r->accepted, r->shut_s);
}

/* It was shut no longer than its window, or the openings that were told say how long that is. */
static bool is_known_window(const struct probe *p, const struct reading *r)
{
    return p->opening_seen && (r->shut_s <= p->window_s || r->window_s > 0.0f);
}

/*
 * It stayed shut for long, for the first time or for longer than its window: a quota window.
 * What opens sooner is measured like a bucket.
 */
static bool was_shut(const struct probe *p, const struct reading *r)
{
    float least_s = p->told_when ? 1.2f * fb_secs(WAIT_BLUNT_NS) : SHUT_LEAST_S;

    if (fb_probe_closed(p) || was_again(p, r))
        return true;
    if (is_known_window(p, r))
        return false;
    if (r->blocked_s <= fb_maxf(least_s, 4.0f * p->unit / r->rate))
        return false;
    return p->failed_pings > 1 ||
           (p->phase == PROBE_FIRST && r->shut_s > 5.0f && r->blocked_s >= PATIENCE_S);
}

/* A refusal never raises the limit above the pace that was refused. */
static float not_above(const struct probe *p, float limit, const struct reading *r)
{
    return fb_maxf(DROP * p->limit, fb_minf(limit, fb_maxf(p->limit, r->rate)));
}

/* All since the start fitted into it. */
static float limit_since_start(struct probe *p, const struct reading *r)
{
    float total_s = fb_secs(p->refused_ns - p->total_ns);
    float limit = (p->total - (float)r->a->cost) / fb_maxf(p->window_s, total_s);

    assert(p->window_s > 0.0f);
    /* Several windows have passed and the pace rose all the time: it lies in between. */
    if (total_s > p->window_s && r->rate > limit)
        limit = fb_minf(__builtin_sqrtf(limit * r->rate), limit * total_s / p->window_s);
    return limit;
}

/*
 * The window that ended the first climb. Its length is a guess: it is soon looked at. What opens
 * within seconds is paced like a bucket that stores nothing.
 */
static void read_closed(struct probe *p, const struct reading *r)
{
    float shut_s = 0.5f * (r->shut_s + r->blocked_s);
    struct closed c = fb_probe_guess_closed(p, p->total - (float)r->a->cost, shut_s);
    bool is_long = c.window_s >= SHUT_LEAST_S;

    assert(c.window_s > 0.0f && c.fitted >= 0.0f);
    p->surprises = 0;
    p->cuts = 1;
    fb_probe_settle(p, not_above(p, c.fitted / c.window_s, r), is_long ? FEW * p->unit : 200.0f,
                    r->a);
    p->looked = true;
    if (!is_long)
        return;
    p->window_s = c.window_s;
    open_window(p, r->a);
    p->opening_seen = true;
    p->total_ns = p->opened_ns;
    p->total = p->spent;
}

/* It is known exactly what fits into a window: nobody need look soon. */
static void settle_exactly(struct probe *p, float limit, const struct reading *r)
{
    fb_probe_settle(p, not_above(p, limit, r), 200.0f, r->a);
    float many_s = REFUSAL_WORTH * p->unit / p->rate;
    p->look_ns = fb_max64(p->look_ns, fb_after(r->a->now_ns, fb_span(many_s)));
}

/*
 * The shortest window that is long enough for both, from when it was open at the latest: if it is
 * longer the next refusal tells, and what fits in is known.
 */
static void read_again(struct probe *p, const struct reading *r)
{
    float open_s = fb_probe_open_s(p, r->accepted);
    float fitted = fb_probe_fitted(p, r->accepted);

    assert(fitted > 0.0f && open_s >= 0.0f);
    p->window_s = fb_probe_window_from(0.995f * (open_s + r->shut_s));
    p->cuts = 1;
    settle_exactly(p, fitted / p->window_s, r);
    open_window(p, r->a);
    p->opening_seen = true;
    p->total_ns = p->opened_ns;
    p->total = fitted + p->spent; /* so many fit: to compare with */
}

static void read_shut(struct probe *p, const struct reading *r)
{
    if (fb_probe_closed(p)) {
        read_closed(p, r);
        return;
    }
    if (was_again(p, r)) {
        read_again(p, r);
        return;
    }
    bool short_first = !p->opening_seen && r->shut_s < 30.0f;
    /* A minute was waited for: if it is a part of that the count is right all the same. */
    bool guessed = short_first && r->blocked_s >= 60.0f;

    assert(r->blocked_s > 0.0f && r->shut_s <= r->blocked_s);
    /* It is at least as long as it was seen to be shut, and people use round windows. */
    p->window_s = fb_probe_window_from(guessed ? 60.0f : r->shut_s);
    float limit = not_above(p, limit_since_start(p, r), r);
    fb_probe_settle(p, limit, guessed ? 0.0f : r->accepted, r->a);
    open_window(p, r->a);
    p->opening_seen = true;
    if (!short_first) {
        p->total_ns = p->opened_ns;
        p->total = p->spent;
    }
}

static bool in_window(const struct probe *p, const struct reading *r)
{
    (void)r;
    return p->window_s > 0.0f;
}

/* Whether the count from opening to opening is a whole one. */
static bool cycle_counts(const struct probe *p, const struct reading *r)
{
    assert(p->window_s > 0.0f && p->limit > 0.0f);

    return r->cycle > 0.7f * p->limit || r->open_s >= 0.5f * p->window_s ||
           r->open_s + r->blocked_s >= 0.9f * p->window_s;
}

/* A pace that held for whole windows was far too fast: they are longer than was believed. */
static bool is_too_short(const struct probe *p, const struct reading *r)
{
    return r->cycle < 0.5f * p->limit && p->window_s < 60.0f && p->told_reset_ns == FB_LONG_AGO;
}

/*
 * One quota was counted in a window that was seen to open: as many as in the one before, or it
 * opened when it was expected to. The window is the shortest that may be, so a refusal would tell.
 */
static bool is_one_quota(const struct probe *p, const struct reading *r)
{
    if (!p->opening_seen || r->accepted < 30.0f * p->unit)
        return false;
    if (fb_probe_quota_again(p, r->accepted))
        return true;
    return p->failed_pings == 0 && fb_probe_in_one_window(p) && !is_too_short(p, r);
}

static void read_exhausted(struct probe *p, const struct reading *r)
{
    float seen = fb_probe_window_from(0.97f * ((p->opening_seen ? r->open_s : 0.0f) + r->shut_s));
    bool one = is_one_quota(p, r);

    assert(p->lean <= 0.0f);
    if (seen > p->window_s && r->open_s < 1.2f * p->window_s && fb_probe_in_one_window(p))
        p->window_s = seen;
    else if (!one && is_too_short(p, r))
        p->window_s = fb_probe_window_from(2.0f * p->window_s);
    float quota = r->accepted / fb_maxf(p->window_s, r->open_s);
    if (one)
        settle_exactly(p, quota, r);
    else /* one that was spent at once counts exactly, too */
        settle_few(p, not_above(p, p->quotas > 0 ? quota : r->cycle, r), r);
}

static void read_in_window(struct probe *p, const struct reading *r)
{
    assert(p->window_s > 0.0f);

    if (p->lean > 0.0f) { /* refused while looking: what held for a whole window is the limit */
        float counted = fb_maxf(r->cycle, (p->spent - (float)r->a->cost) / p->window_s);
        float least = fb_maxf(fb_maxf(p->limit, p->held), fb_minf(counted, r->rate));
        fb_probe_settle(p, least, 200.0f, r->a);
    } else if (r->window_s > 0.0f) {
        p->window_s = r->window_s;
        settle_exactly(p, r->accepted / r->whole_s, r);
    } else if (cycle_counts(p, r)) {
        read_exhausted(p, r);
    } else if (p->echoes < 3) {
        p->echoes++; /* an old burst still counts there: sit it out, and go on counting */
        return;
    } else { /* it opens for a few only: that is no window */
        p->window_s = 0.0f;
        p->opening_seen = false;
        settle_few(p, not_above(p, r->cycle, r), r);
        note_stored(p);
    }
    open_window(p, r->a);
}

/* ---- not about the pace ---- */

static bool was_crowd(const struct probe *p, const struct reading *r)
{
    return fb_probe_crowded(p) || fb_probe_on_line(p) ||
           fb_probe_crowds_line(p, r->grants, r->estimate);
}

/* Keep the cap, and look for the pace again. */
static void read_crowd(struct probe *p, const struct reading *r)
{
    if (fb_probe_on_line(p) ||
        !fb_probe_crowded(p)) { /* on the line some are late: the pace stays bounded as well */
        fb_probe_bound_line(p);
        fb_probe_settle(p, r->estimate, r->accepted, r->a);
        return;
    }
    assert(p->crowd_min >= 3);
    fb_probe_climb_again(p);
}

static bool in_noise(const struct probe *p, const struct reading *r)
{
    (void)r;
    return p->lean < 0.0f && fb_probe_noisy(p);
}

static void read_noise(struct probe *p, const struct reading *r)
{
    assert(fb_probe_noisy(p));

    if (p->unrest >= UNREST_MAX) { /* more than the usual */
        p->surprises = 0;
        p->cuts = 0;
        fb_probe_settle(p, r->estimate, fb_minf(r->accepted, 4.0f * p->unit),
                        r->a); /* soon again */
    } else {
        p->limit *= 1.0f - NOISE_COST;
        p->rate *= 1.0f - NOISE_COST;
    }
}

/* ---- by the second ---- */

static bool was_second(const struct probe *p, const struct reading *r)
{
    (void)r;
    return fb_probe_is_second(p);
}

/* Refused below it, once: what was on its way at an uneven pace came together. */
static bool was_uneven(const struct probe *p, const struct reading *r)
{
    return fb_probe_by_second(p) && p->lean < 0.0f && fb_probe_may_leave_more(p) &&
           r->grants >= NEAR && p->failed_pings == 0;
}

static void read_uneven(struct probe *p, const struct reading *r)
{
    fb_probe_leave_more(p);
    fb_probe_settle(p, p->limit, 200.0f, r->a);
}

/* So many a second, and one of them is left: then one may be late without being lost. */
static void read_second(struct probe *p, const struct reading *r)
{
    float limit = fb_probe_limit_of_second(p);

    assert(limit > 0.0f && p->window_s <= 0.0f);
    p->surprises = 0;
    p->cuts = 1;
    p->looked = true;
    p->burst = 0.0f;
    p->limit = limit;
    fb_probe_set_by_second(p, true);
    p->margin = fb_probe_margin_of_second(p, limit);
    p->changed_ns = r->a->now_ns;
    fb_probe_settle(p, limit, 200.0f, r->a);
}

/* ---- while cruising ---- */

static bool lost_trial(const struct probe *p, const struct reading *r)
{
    (void)r;
    return p->lean < 0.0f && p->phase == PROBE_TRIAL;
}

static void read_lost_trial(struct probe *p, const struct reading *r)
{
    int64_t changed_ns = p->changed_ns;

    assert(p->limit_before >= 0.0f);
    if (r->estimate > 1.15f * p->limit_before) { /* partly right */
        p->burst *= 0.5f;
        fb_probe_settle(p, r->estimate, r->accepted, r->a);
    } else { /* it was the burst: nothing has changed */
        fb_probe_settle(p, p->limit_before, 200.0f, r->a);
        p->changed_ns = changed_ns;
    }
}

static bool was_saved_up(const struct probe *p, const struct reading *r)
{
    (void)r;
    return p->lean < 0.0f && p->bursting && p->ahead > 4.0f * p->unit;
}

/*
 * It was full when this began: what it accepted since is what it stores and what it made. Where
 * one of them is known that tells the other.
 */
static void read_saved_up(struct probe *p, const struct reading *r)
{
    float since_s = fb_maxf(0.001f, fb_secs(p->refused_ns - p->total_ns));
    float accepted = p->total - (float)r->a->cost;
    float limit = p->limit;

    assert(p->bursting && p->ahead > 0.0f);
    if (p->burst_found && limit * since_s > p->burst)
        limit = fb_maxf(0.5f * limit, fb_minf((accepted - p->burst) / since_s, limit));
    else if (p->evidence < 30.0f)
        p->burst = accepted;
    else
        p->burst = fb_maxf(0.0f, fb_minf(p->ahead, accepted - limit * since_s));
    p->burst_found = true;
    fb_probe_settle(p, limit, 200.0f, r->a);
}

static bool was_surprise(const struct probe *p, const struct reading *r)
{
    (void)r;
    return p->lean < 0.0f;
}

/*
 * Who tells when to come again does not refuse by chance, and what was counted is nearly the pace:
 * nothing has moved, it is being found.
 */
static bool fell_little(const struct probe *p, const struct reading *r)
{
    float least = r->accepted >= 150.0f * p->unit ? 0.85f : 0.9f; /* of the pace */

    return p->told_when && r->accepted >= 30.0f * p->unit && r->estimate > least * r->rate;
}

/*
 * Slowing down should have ended it. If it does not, even after an exact count, it is not about the
 * pace: the place is noisy, and the limit is what the first of the series measured.
 */
static void read_surprise(struct probe *p, const struct reading *r)
{
    float limit = r->estimate;

    assert(p->lean < 0.0f);
    p->margin = fell_little(p, r) ? MARGIN : 4.0f * MARGIN;
    if (r->grants < NEAR) {
        p->surprises = 0;
        settle_again(p, r);
        return;
    }
    p->cuts = 1;
    if (p->surprises == 0 || r->grants >= FAR) {
        p->surprises = 1;
        p->limit_before = limit;
        p->stood = p->evidence >= 30.0f;
    } else if (p->told_when || (p->surprises == 1 && !p->noise_known)) {
        /* It fell while the first was counted: now it is counted exactly. And who tells when to
         * come again does not refuse by chance. */
        p->surprises = 2;
    } else {
        p->surprises = 3;
        p->noise_known = true;
        p->moves = false;
        p->stood = false;
        p->margin = 2.0f * MARGIN;
        p->noise_gap = FAR / 2.0f;
        p->unrest = 0.0f;
        limit = p->limit_before;
    }
    fb_probe_settle(p, limit, r->accepted, r->a);
    note_stored(p);
}

/* ---- while going up ---- */

static bool was_climb(const struct probe *p, const struct reading *r)
{
    (void)r;
    return fb_probe_climbing(p);
}

/* Of what was under way some was let through: that share of the pace, until it is measured. */
static void settle_at_share(struct probe *p, const struct reading *r)
{
    float limit = r->rate * fb_probe_share_let_through(p);

    assert(p->also_refused > 0 && limit < r->rate);
    p->cuts = 1;
    fb_probe_settle(p, fb_maxf(r->estimate, limit), 0.0f, r->a);
    if (p->doubts < DOUBTS_MAX)
        p->phase = PROBE_DOUBT;
    note_stored(p);
}

/* Whether it was told to wait for a second or two, and enough are counted from one to the next. */
static bool is_cycle(const struct probe *p, const struct reading *r)
{
    bool slow = p->surprises > 0 && r->estimate < SLOW * p->unit;

    if (p->phase != PROBE_FIRST || !p->told_when || slow)
        return false;
    return p->failed_pings == 0 && r->grants >= NEAR;
}

static void read_cycle(struct probe *p, const struct reading *r)
{
    float limit = fb_probe_read_cycle(p, r->rate, (float)r->a->cost);

    assert(limit <= r->rate);
    if (limit <= 0.0f)
        return;
    p->surprises = 0;
    p->cuts = 1;
    p->looked = true; /* what it stores is known */
    fb_probe_settle(p, limit, 200.0f, r->a);
}

/*
 * It was shut for long, after many: a bucket that stores a lot, or a window, and then what was
 * counted since the start says little. A pace in between soon meets it again.
 */
static void settle_between(struct probe *p, const struct reading *r)
{
    assert(p->phase == PROBE_FIRST && p->total > 0.0f);

    p->cuts = 1;
    fb_probe_settle(p, __builtin_sqrtf(r->estimate * r->rate), 0.0f, r->a);
    p->look_ns = fb_after(r->a->now_ns, fb_span(1.1f * p->total / p->rate));
    p->phase = PROBE_DOUBT;
    p->opened_ns = p->pinged_ns;
    note_stored(p);
}

/*
 * Whether it stayed shut when it was asked again, and nobody told until when. That most of what was
 * under way is refused says as much.
 */
static bool stayed_shut(const struct probe *p, const struct reading *r)
{
    if (p->told_when || r->accepted < MANY_FIRST * p->unit)
        return false;
    if (p->failed_pings > 0)
        return true;
    return p->also_refused > 0 && fb_probe_share_let_through(p) < SHARE_OPEN;
}

/*
 * The first limit met: one refusal may be chance. Stay at this pace, another soon measures it. It
 * is none where it was told when to come again.
 */
static void read_climb(struct probe *p, const struct reading *r)
{
    assert(fb_probe_climbing(p) && p->lean >= 0.0f);

    if (is_cycle(p, r)) {
        read_cycle(p, r);
        return;
    }
    if (is_isolated(p, r) && p->surprises == 0) {
        p->surprises = 1;
        p->limit_before = r->rate;
        return;
    }
    p->surprises = 0;
    if (p->phase == PROBE_FIRST && stayed_shut(p, r))
        settle_between(p, r);
    else if (p->phase == PROBE_FIRST && p->also_refused > 0)
        settle_at_share(p, r);
    else
        settle_again(p, r);
}

static bool beyond_burst(const struct probe *p, const struct reading *r)
{
    (void)r;
    return p->ahead > 1.2f * p->burst + 4.0f * p->unit && p->lean > 2.0f * FIRST_LEAN;
}

/* A raise, or a larger burst: believe some of it, and let the next refusal decide. */
static void read_beyond_burst(struct probe *p, const struct reading *r)
{
    float raised = p->limit * __builtin_sqrtf(1.0f + p->lean);
    int64_t changed_ns = p->changed_ns;

    assert(p->lean > 0.0f);
    p->unrest = 0.0f;
    p->burst = fb_maxf(p->burst, p->ahead);
    p->limit_before = p->limit;
    if (!fb_probe_noisy(p))
        p->surprises = 0;
    if (p->held > p->limit) { /* and so much lasted */
        fb_probe_settle(p, fb_maxf(r->least, p->held), 100.0f, r->a);
        return;
    }
    fb_probe_settle(p, fb_maxf(r->least, raised), 0.0f, r->a);
    p->changed_ns = changed_ns; /* not before the trial is won */
    p->phase = PROBE_TRIAL;
}

static bool was_expected(const struct probe *p, const struct reading *r)
{
    (void)r;
    return !fb_probe_noisy(p) || p->unrest >= UNREST_LOOK || p->forgiven;
}

/* Refused where it was to be expected: the limit stands, what it stores is known better. */
static void read_expected(struct probe *p, const struct reading *r)
{
    float this_step = p->unit * (float)p->step_count * p->lean / (1.0f + p->lean);
    float beyond = p->ahead - p->burst - this_step;
    float limit = r->least;

    assert(p->lean >= 0.0f && p->burst >= 0.0f);
    if (beyond > 0.0f && r->grants >= STEP) {
        float looked_s = fb_maxf(0.001f, fb_secs(p->refused_ns - p->look_ns));
        float crept = fb_minf(beyond / looked_s, 0.5f * p->lean * p->limit);
        limit = fb_maxf(limit, p->limit + crept);
    }
    p->unrest = 0.0f;
    p->burst += (p->ahead > p->burst ? 0.5f : 0.1f) * (p->ahead - p->burst);
    if (!fb_probe_noisy(p))
        p->surprises = 0;
    fb_probe_settle(p, limit, 200.0f, r->a);
}

static bool was_chance(const struct probe *p, const struct reading *r)
{
    (void)p;
    (void)r;
    return true;
}

/* A noisy place, looking upward, and an isolated refusal: it proves nothing. */
static void read_chance(struct probe *p, const struct reading *r)
{
    (void)r;
    assert(!p->forgiven);
    p->forgiven = true;
}

static const struct {
    bool (*fits)(const struct probe *p, const struct reading *r);
    void (*learn)(struct probe *p, const struct reading *r);
    const char *says;
} readings[] = {
    {was_shut, read_shut, "counted in a quota window that was seen to close and open"},
    {was_crowd, read_crowd, "refused only when many were in flight, so that is bounded instead"},
    {in_window, read_in_window, "counted from one opening of its window to the next"},
    {was_second, read_second, "counted in a second, as often as it was refused"},
    {was_uneven, read_uneven, "kept, because what was even may arrive unevenly"},
    {lost_trial, read_lost_trial, "measured after a higher pace was refused"},
    {in_noise, read_noise, "kept, because it refuses now and then whatever the pace"},
    {was_saved_up, read_saved_up, "kept, because only what left at once after idling was refused"},
    {was_surprise, read_surprise, "counted between two refusals"},
    {was_climb, read_climb, "counted between the refusals that ended the climb"},
    {beyond_burst, read_beyond_burst, "on trial: more was accepted than it can have stored"},
    {was_expected, read_expected, "confirmed by a look upward that was refused"},
    {was_chance, read_chance, "kept, because one refusal in a noisy place proves nothing"},
};

const char *fb_probe_reading_says(const struct probe *p)
{
    assert(p->reading < sizeof(readings) / sizeof(readings[0]));

    return readings[p->reading].says;
}

void fb_probe_read(struct probe *p, const struct answer *a)
{
    struct reading r = measure(p, a);
    uint8_t i = 0;

    if (tells_openings(p))
        note_whole_windows(p, &r);
    fb_probe_note_gap(p, (float)r.grants);
    fb_probe_note_line(p);
    while (!readings[i].fits(p, &r))
        i++;
    assert(i < sizeof(readings) / sizeof(readings[0]));
    p->reading = i;
    readings[i].learn(p, &r);
    assert(p->limit > 0.0f);
}
