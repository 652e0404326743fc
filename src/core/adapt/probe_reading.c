/* SPDX-License-Identifier: MIT */
/*
 * probe_reading.c - what an episode meant.
 *
 * The provider is known to be empty at a refusal. What it accepted since the refusal before,
 * divided by the time between, is its limit. The table `readings` holds the ways to read an episode
 * in that light; the first that fits is taken.
 *
 * Invariant: no reading raises the pace above the one that was refused, and none makes it zero.
 */
#include <assert.h>
#include <stddef.h>

#include <flyball/flyball.h>

#include "core/adapt/probe_parts.h"
#include "core/adapt/probe_reading.h"

#define LOOK_LONG 2400.0f /* requests: of a look among noise, after which one refusal ends it */
#define SLOW      25.0f   /* requests a second: from a wait to a refusal too few are counted */

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
        .estimate = fb_probe_estimate(p, accepted, between_s),
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

void fb_probe_note_stored(struct probe *p)
{
    float made = p->limit * fb_secs(p->refused_ns - p->total_ns);

    assert(p->limit > 0.0f && p->burst >= 0.0f && !p->opening_seen);
    if (!p->looked)
        p->burst = fb_maxf(p->burst, p->total - made);
}

void fb_probe_settle_few(struct probe *p, float limit, const struct reading *r)
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
    fb_probe_settle_few(p, r->estimate, r);
    fb_probe_note_stored(p);
}

/* ---- windows (probe_windows.c) and penalties (probe_penalty.c) ---- */

static bool was_penalty(const struct probe *p, const struct reading *r)
{
    (void)r;
    return fb_probe_was_penalty(p);
}

static void read_penalty(struct probe *p, const struct reading *r)
{
    fb_probe_read_penalty(p, r->accepted, r->open_s, r->a);
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
    if (!fb_probe_crowded(p)) { /* on the line some are late: the pace stays bounded as well */
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

static void read_second(struct probe *p, const struct reading *r)
{
    fb_probe_settle_by_second(p, fb_probe_limit_of_second(p), r->a);
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
 * What was refused was a guess, over an uneven line: by the share that was let through, or that it
 * counts by the second. It did not fall, and now it was counted.
 */
static bool was_guess(const struct probe *p, const struct reading *r)
{
    assert(p->unit >= 1.0f);

    return fb_probe_is_uneven(p) && r->accepted >= COUNTED * p->unit &&
           (p->evidence < 30.0f || fb_probe_by_second(p));
}

static float margin_after(const struct probe *p, const struct reading *r)
{
    if (fell_little(p, r))
        return MARGIN;
    return was_guess(p, r) ? 2.0f * MARGIN : 4.0f * MARGIN;
}

/* What an isolated surprise means, by those before it. */
enum surprise {
    SURPRISE_FELL,    /* the first: the limit fell, as far as is known */
    SURPRISE_KEPT,    /* the next, long after: nothing is learned from it yet */
    SURPRISE_COUNTED, /* soon after the first, or after one that was kept: counted exactly */
    SURPRISE_CHANCE,  /* contradicts that */
};

/*
 * A limit that fell refuses soon again, however little it is passed by; what comes now and then,
 * far between, does so at any pace. Whoever tells when to come again does not refuse by chance.
 */
static enum surprise kind_of(const struct probe *p, const struct reading *r)
{
    bool rare = r->grants >= FAR;

    assert(r->grants >= NEAR);
    if (p->surprises == 0 || (rare && p->told_when))
        return SURPRISE_FELL;
    if (rare)
        return p->forgiven ? SURPRISE_CHANCE : SURPRISE_KEPT;
    if (p->told_when || p->forgiven || (p->surprises == 1 && !p->noise_known))
        return SURPRISE_COUNTED;
    return SURPRISE_CHANCE;
}

static void believe_noise(struct probe *p, const struct reading *r)
{
    float most = 2.5f * (float)FAR; /* requests, as far as gaps are told apart */

    assert(p->limit_before >= 0.0f);
    p->surprises = 3;
    p->noise_known = true;
    p->moves = false;
    p->stood = false;
    p->margin = 2.0f * MARGIN;
    p->noise_gap = r->grants >= FAR ? fb_minf((float)r->grants, most) : (float)FAR / 2.0f;
    p->unrest = 0.0f;
    fb_probe_settle(p, p->limit_before, r->accepted, r->a);
}

static void read_fallen(struct probe *p, const struct reading *r, enum surprise kind)
{
    assert(kind == SURPRISE_FELL || kind == SURPRISE_COUNTED);

    p->margin = margin_after(p, r);
    if (kind == SURPRISE_FELL) {
        p->limit_before = r->estimate;
        p->stood = p->evidence >= 30.0f;
    }
    p->surprises = kind == SURPRISE_FELL ? 1 : 2;
    fb_probe_settle(p, r->estimate, r->accepted, r->a);
}

static void read_isolated(struct probe *p, const struct reading *r)
{
    enum surprise kind = kind_of(p, r);

    assert(r->grants >= NEAR);
    p->cuts = 1;
    p->forgiven = kind == SURPRISE_KEPT;
    if (kind == SURPRISE_KEPT) {
        fb_probe_settle(p, p->limit, 200.0f, r->a);
        return;
    }
    if (kind == SURPRISE_CHANCE)
        believe_noise(p, r);
    else
        read_fallen(p, r, kind);
    fb_probe_note_stored(p);
}

/*
 * Slowing down should have ended it. If it does not, even after an exact count, it is not about the
 * pace: the place is noisy, and the limit is what the first of the series measured.
 */
static void read_surprise(struct probe *p, const struct reading *r)
{
    assert(p->lean < 0.0f);

    if (r->grants >= NEAR) {
        read_isolated(p, r);
        return;
    }
    p->margin = margin_after(p, r);
    p->surprises = 0;
    settle_again(p, r);
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
    fb_probe_note_stored(p);
}

/* Whether it was told to wait for a second or two, and enough are counted from one to the next. */
static bool is_cycle(const struct probe *p, const struct reading *r)
{
    bool counted = r->estimate >= SLOW * p->unit || fb_probe_pace_of_second(p) > 0.0f;

    if (p->phase != PROBE_FIRST || !p->told_when || (p->surprises > 0 && !counted))
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
    fb_probe_note_stored(p);
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
    if (!fb_probe_in_penalty(p) || p->held <= p->limit)
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

/*
 * In a noisy place one is chance. A limit that is passed by so much refuses soon again; and who has
 * fewer workers than the pace needs does not pass it by so much, so that no look goes on for ever.
 */
static bool was_expected(const struct probe *p, const struct reading *r)
{
    float soon = 3.0f * (1.0f + p->lean) / p->lean; /* requests */
    float looked_s = fb_secs(p->refused_ns - p->look_ns);

    assert(p->lean > 0.0f);
    if (!fb_probe_noisy(p) || p->unrest >= UNREST_LOOK)
        return true;
    return p->forgiven && ((float)r->grants < soon || looked_s * p->limit > LOOK_LONG * p->unit);
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
    p->forgiven = true;
}

static const struct {
    bool (*fits)(const struct probe *p, const struct reading *r);
    void (*learn)(struct probe *p, const struct reading *r);
    const char *says;
} readings[] = {
    {fb_probe_was_shut, fb_probe_read_shut,
     "counted in a quota window that was seen to close and open"},
    {was_penalty, read_penalty, "counted between two refusals that shut it for as long"},
    {was_crowd, read_crowd, "refused only when many were in flight, so that is bounded instead"},
    {fb_probe_in_window, fb_probe_read_in_window,
     "counted from one opening of its window to the next"},
    {was_second, read_second, "counted in a second, as often as it was refused"},
    {was_uneven, read_uneven, "kept, because what was even may arrive unevenly"},
    {fb_probe_was_spaced, fb_probe_read_spaced,
     "between a pace that lasts and one that is refused at once"},
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
    if (fb_probe_in_penalty(p))
        r.estimate = fb_probe_mend_penalty(p, r.accepted, r.estimate);
    fb_probe_note_gap(p, (float)r.grants);
    fb_probe_note_line(p);
    fb_probe_note_spacing(p, &r);
    while (!readings[i].fits(p, &r))
        i++;
    assert(i < sizeof(readings) / sizeof(readings[0]));
    p->reading = i;
    readings[i].learn(p, &r);
    assert(p->limit > 0.0f);
}
