/* SPDX-License-Identifier: MIT */
/*
 * probe_episode.c - a refusal, the pings after it, and outages.
 *
 * Invariant: during an episode at most one request is out besides those sent before it began, and
 * what comes back of those changes nothing.
 */
#include <assert.h>
#include <stddef.h>

#include <flyball/flyball.h>

#include "core/adapt/probe_parts.h"

#define LINE_MOST_S 0.18f /* latency: what takes longer is in service, not under way */
#define LINE_LEAST  6     /* in flight over an uneven line: of fewer none are too many by chance */

/* Windows as people choose them: a round number of seconds, minutes, hours. */
static const float WINDOWS_S[] = {
    1.0f,   2.0f,   5.0f,    10.0f,   15.0f,   20.0f,    30.0f,    60.0f,    120.0f,   300.0f,
    600.0f, 900.0f, 1800.0f, 3600.0f, 7200.0f, 10800.0f, 21600.0f, 43200.0f, 86400.0f,
};

float fb_probe_window_from(float s)
{
    size_t last = sizeof(WINDOWS_S) / sizeof(WINDOWS_S[0]) - 1;
    size_t i = 0;

    assert(s >= 0.0f);
    while (i < last && WINDOWS_S[i] < s)
        i++;
    return WINDOWS_S[i];
}

bool fb_probe_in_one_window(const struct probe *p)
{
    float quota = p->limit * p->window_s;

    assert(p->window_s > 0.0f);
    return p->accepted <= 1.02f * quota + 2.0f * p->unit;
}

/* ---- refused ---- */

/* Whether so many were under way, over an uneven line, that it may have been too many there. */
static bool is_on_line(const struct probe *p)
{
    assert(p->crowd_min >= 1);

    if (!fb_probe_is_uneven(p) || p->latency_s > LINE_MOST_S || fb_probe_by_second(p))
        return false;
    return p->crowd_min >= LINE_LEAST && p->crowd_min < NO_CROWD;
}

/*
 * One of many that were under way was refused, not for the first time, and the pace was kept until
 * then: it is not about the pace. Of what is under way over an uneven line now and then too many
 * are there at a time.
 */
bool fb_probe_crowds_line(const struct probe *p, int32_t grants, float estimate)
{
    bool settled = p->phase == PROBE_SETTLED && p->lean < 0.0f;

    assert(p->rate > 0.0f && estimate > 0.0f);
    if (!settled || p->surprises == 0 || !is_on_line(p))
        return false;
    if (grants < 2 * NEAR || p->also_refused > 0 || p->failed_pings > 0)
        return false;
    return p->also_accepted >= CROWD_PROOF && estimate > 0.9f * p->rate;
}

/* When does the window open again? */
static float until_open_s(struct probe *p, const struct answer *a)
{
    const struct fly_outcome *o = a->outcome;
    float since_open = fb_secs(a->now_ns - p->empty_ns);
    float quota = p->limit * p->window_s;

    assert(p->window_s > 0.0f);
    if (o->remaining != FLY_ABSENT && o->reset_ns > a->now_ns)
        return fb_secs(fb_min64(o->reset_ns - a->now_ns, FB_RESET_MAX));
    if (p->lean > 0.0f) /* an even pace exhausted it by so much too early */
        return p->window_s * fb_minf(p->lean / (1.0f + p->lean), 0.1f);
    if (p->opening_seen && since_open < 0.25f * p->window_s && p->accepted < 0.25f * quota)
        return p->window_s / 16.0f; /* far too early: an old burst still counts there */
    if (p->opening_seen && since_open < 1.1f * p->window_s && fb_probe_in_one_window(p)) {
        /* Exhausted in the window that was seen to open: it lasts at least until now. */
        p->window_s = fb_maxf(p->window_s, fb_probe_window_from(since_open));
        return p->window_s - since_open;
    }
    float windows = since_open / p->window_s;
    return p->window_s * (1.0f - (windows - (float)(int64_t)windows));
}

static float first_pause_s(struct probe *p, const struct answer *a)
{
    bool soon = p->since_refusal < NEAR;
    bool isolated = p->lean <= 0.0f && !soon;
    float pause_s = (isolated ? 0.25f : 1.0f) * CUSHION * p->unit / p->rate;

    assert(p->rate > 0.0f && p->echoes <= 3);
    if (fb_probe_may_stumble(p))
        return fb_minf(pause_s, 1.0f);
    if (p->echoes > 0)
        return fb_maxf(pause_s, p->window_s / 16.0f * (float)(1 << p->echoes));
    if (p->window_s > 0.0f && !(p->lean < 0.0f && soon))
        return fb_maxf(pause_s, until_open_s(p, a) + 0.05f);
    return pause_s;
}

static void begin_episode(struct probe *p, const struct answer *a)
{
    assert(p->episode == EPISODE_NONE);

    if (a->throttled)
        p->soft_row = SOFT_NEVER; /* it says so when it refuses */
    if (p->lean == FB_PAIR_LEAN)
        p->held = 0.0f; /* of a pair nothing lasted: there still is the evidence */
    fb_probe_note_crowd(p, (uint8_t)a->in_flight_then);
    fb_probe_count_second(p, a);
    p->pause_s = first_pause_s(p, a);
    p->refused_ns = a->now_ns;
    p->refused_id = p->latest_id;
    p->failed_pings = 0;
    p->also_refused = 0;
    p->also_accepted = 0;
    p->told_when = false;
    p->closed = false;
}

float fb_probe_share_let_through(const struct probe *p)
{
    float accepted = (float)p->also_accepted;

    assert(accepted >= 0.0f);
    return (accepted + 0.5f) / (accepted + (float)p->also_refused + 1.0f);
}

/*
 * Where many were accepted within seconds there is much to lose in a minute, and what such a climb
 * exhausted is a matter of seconds, too.
 */
static bool climbed_fast(const struct probe *p)
{
    assert(p->unit >= 1.0f);

    return p->total >= MANY_FIRST * p->unit && fb_secs(p->refused_ns - p->total_ns) < 30.0f;
}

/*
 * After so many refusals in a row most windows are waited for. Who climbed fast asks once more:
 * after the second ping, or, on an uneven line, for the first time.
 */
static float long_patience_s(const struct probe *p)
{
    assert(p->phase == PROBE_FIRST && !p->told_when);

    if (!climbed_fast(p))
        return PATIENCE_S;
    if (p->also_refused > 0 && !fb_probe_is_uneven(p))
        return PATIENCE_S;
    return p->failed_pings > 1 ? 0.0f : FIRST_WAIT_S;
}

/* A limit is known, it was told when it opens, or it counts by the second and opens within one. */
static bool need_not_wait(const struct probe *p)
{
    return p->phase != PROBE_FIRST || p->told_when || fb_probe_is_second(p);
}

/*
 * Five refusals in a row are a ban in some places. A bucket has made something after a few
 * seconds; what is shut then is a window, and the first of them is waited for. What lets through
 * half of what was under way is not shut.
 */
static float patience_s(const struct probe *p)
{
    int row = 1 + p->also_refused + p->failed_pings;

    assert(p->episode != EPISODE_NONE);
    if (need_not_wait(p) || row > 4) /* or it is too late */
        return 0.0f;
    if (p->failed_pings == 0 && fb_probe_share_let_through(p) >= SHARE_OPEN)
        return 0.0f;
    if (row == 4 || p->failed_pings > 1)
        return long_patience_s(p);
    return row == 3 || p->failed_pings > 0 ? FIRST_WAIT_S : 0.0f;
}

/*
 * No limit was known, and all that was under way is refused: a bucket would let some through. Where
 * answers take long those that were let through are still in service; on an uneven line they may be
 * late, and there to ask early is not worth what it costs.
 */
static void note_closed(struct probe *p)
{
    bool all = p->also_refused >= CLOSED_ROW * p->also_accepted;

    assert(p->also_refused > 0);
    if (p->phase != PROBE_FIRST || p->told_when || fb_probe_is_uneven(p) || !fb_probe_is_quick(p))
        return;
    if (p->also_refused >= CLOSED_ROW && all)
        p->closed = true;
}

/*
 * What it makes, as far as can be told by now. In a climb out of doubt the limit is a half of what
 * it was: it is as little known as in the first one. What slides gives back what it was given.
 */
static float made(const struct probe *p)
{
    assert(p->rate > 0.0f && p->limit > 0.0f);

    if (fb_probe_is_second(p))
        return fb_probe_second(p);
    if (p->phase == PROBE_FIRST || (p->phase == PROBE_DOUBT && p->lean > 0.0f))
        return p->rate * fb_probe_share_let_through(p);
    return p->limit;
}

/*
 * Refused like the one that began the episode: that was no chance. Before anything is accepted
 * again the provider must have made something, at its limit and not at the pace. A window that
 * closed makes nothing, and with so many refused it is too late for patience.
 */
static void also_refused(struct probe *p)
{
    float limit = made(p);

    assert(p->episode == EPISODE_WAITING && limit > 0.0f);
    if (p->also_refused < UINT8_MAX)
        p->also_refused++;
    note_closed(p);
    float pause_s = fb_maxf(CUSHION * p->unit / fb_maxf(limit, 0.1f), patience_s(p));
    if (p->failed_pings > 0 || p->told_when || p->window_s > 0.0f)
        return;
    if (p->closed)
        pause_s = fb_maxf(2.0f * p->latency_s, 0.05f);
    else if (p->pause_s >= pause_s)
        return;
    p->pause_s = pause_s;
    p->block_ns = fb_after(p->refused_ns, fb_span(pause_s));
}

/* When a window opens tells its length, so it is asked from milliseconds after it closed on. */
static float closed_pause_s(const struct probe *p, bool slowly, int64_t now_ns)
{
    float since_s = fb_secs(now_ns - p->refused_ns);

    assert(since_s >= 0.0f);
    return fb_minf((slowly ? 1.0f : PING_GROWTH - 1.0f) * since_s, 3600.0f);
}

/*
 * It closed a second time. The next opening is a round time after the first, and none of these is
 * left out: the shortest that is long enough is believed.
 */
static void wait_for_second(struct probe *p, int64_t now_ns)
{
    float shut_s = fb_secs(now_ns - p->refused_ns);

    assert(p->pause_s > 0.0f && !p->opening_seen);
    if (!fb_probe_closed_again(p, p->accepted, shut_s))
        return;
    float since_s = fb_probe_open_s(p, p->accepted) + shut_s;
    float round_s = fb_probe_window_from(since_s) + 0.05f;
    p->pause_s = fb_minf(fb_maxf(round_s - since_s, 0.5f), 3.0f * p->pause_s);
}

/* Once an opening was seen the next one is a round time after it. */
static void wait_for_round(struct probe *p, int64_t now_ns)
{
    float since_s = fb_secs(now_ns - p->empty_ns);
    float round_s = fb_probe_window_from(since_s + 0.05f * p->pause_s) + 0.05f;

    assert(p->pause_s > 0.0f);
    p->pause_s = fb_minf(fb_maxf(round_s - since_s, 0.5f), 2.0f * p->pause_s);
}

/*
 * Ping again when a window that people use would be open. Before an opening was seen only growing
 * pauses help.
 */
static void ping_refused(struct probe *p, int64_t now_ns)
{
    bool slowly = p->pause_s >= 16.0f || fb_probe_may_stumble(p);
    float grown = (slowly ? 2.0f : PING_GROWTH) * p->pause_s;

    assert(p->pause_s > 0.0f && now_ns >= p->refused_ns);
    if (p->window_s > 0.0f && p->failed_pings == 0)
        grown = p->window_s / 16.0f; /* it was expected to be open: it will be soon */
    if (p->failed_pings < PINGS_MAX)
        p->failed_pings++;
    if (fb_probe_closed(p)) {
        p->pause_s = closed_pause_s(p, slowly, now_ns);
        return;
    }
    grown = fb_maxf(grown, patience_s(p) - fb_secs(now_ns - p->refused_ns));
    /* What never refused by 429 may be an outage. */
    p->pause_s = fb_minf(fb_maxf(grown, 1.0f), fb_probe_says_429(p) ? 3600.0f : OUTAGE_MAX_S);
    if (p->opening_seen)
        wait_for_round(p, now_ns);
    else
        wait_for_second(p, now_ns);
}

/* It says when it opens: as if pinged in vain, unless that is a second rounded up, or a penalty. */
static void told_to_wait(struct probe *p, const struct answer *a, bool same)
{
    int64_t wait_ns = a->outcome->retry_after_ns;

    assert(wait_ns >= FB_NS_PER_S);
    if (wait_ns > WAIT_BLUNT_NS && !same && p->failed_pings < 2)
        p->failed_pings = 2;
    p->told_when = true;
    p->closed = same;
    p->pause_s = 1.1f;
    p->block_ns = fb_after(a->now_ns, fb_min64(wait_ns, FB_WAIT_MAX));
}

void fb_probe_refused(struct probe *p, const struct answer *a)
{
    bool same = p->episode == EPISODE_NONE && fb_probe_told_same(p, a->outcome->retry_after_ns);

    if (fb_probe_is_straggler(p, a->id)) {
        if (p->episode == EPISODE_WAITING && !p->outage)
            also_refused(p);
        return;
    }
    if (p->episode == EPISODE_NONE)
        begin_episode(p, a);
    else
        ping_refused(p, a->now_ns);
    p->episode = EPISODE_WAITING;
    p->block_ns = fb_after(a->now_ns, fb_span(p->pause_s));
    if (a->outcome->retry_after_ns >= FB_NS_PER_S)
        told_to_wait(p, a, same);
}

/* ---- failed ---- */

/* A ping that failed is sent again; in an outage, or after some of them, ever more rarely. */
static void ping_failed(struct probe *p, int64_t now_ns)
{
    assert(p->pause_s > 0.0f);

    if (p->failed_row < FAILED_ROW_MAX)
        p->failed_row++;
    if (p->outage || (p->failed_row > 2 && p->pause_s < OUTAGE_MAX_S))
        p->pause_s = fb_minf(2.0f * p->pause_s, OUTAGE_MAX_S);
    p->episode = EPISODE_WAITING;
    p->block_ns = fb_after(now_ns, fb_span(p->pause_s));
}

/* So many in a row are no chance, where a share of them fails anyway. */
static uint8_t outage_row(const struct probe *p)
{
    float others = p->soft_mean - 1.0f; /* between two of them */

    assert(others >= 0.0f || !fb_probe_stumbles(p));
    if (!fb_probe_stumbles(p))
        return OUTAGE_ROW;
    return (uint8_t)fb_minf((float)OUTAGE_ROW + 9.0f / fb_maxf(others, 0.1f), FAILED_ROW_MAX);
}

void fb_probe_failed(struct probe *p, const struct answer *a)
{
    if (fb_probe_is_straggler(p, a->id))
        return;
    if (p->episode != EPISODE_NONE) {
        ping_failed(p, a->now_ns);
    } else if (++p->failed_row >= outage_row(p)) {
        p->failed_row = 0;
        p->outage = true;
        p->refused_ns = a->now_ns;
        p->refused_id = p->latest_id;
        p->failed_pings = 0;
        p->pause_s = 0.5f;
        ping_failed(p, a->now_ns);
    }
}

/* ---- recovered ---- */

/* A new step begins, and nothing is blocked any more. */
static void go_on(struct probe *p, int64_t now_ns)
{
    p->step_ns = now_ns;
    p->step_count = 0;
    p->block_ns = FB_LONG_AGO;
    p->next_ns = fb_max64(p->next_ns, now_ns); /* who waited did not idle */
}

/*
 * The next request follows the ping at the pace of now, not of then. Where a window has opened or
 * slides, or it was told when to come again, there is room.
 */
static void follow_ping(struct probe *p)
{
    assert(p->rate > 0.0f && p->pinged_ns >= p->refused_ns);

    if (p->window_s <= 0.0f && !p->told_when && !fb_probe_by_second(p))
        p->block_ns = fb_after(p->pinged_ns, fb_span(p->unit / fb_maxf(p->rate, p->floor)));
}

/*
 * When the provider was empty. A wait that was told is longer than a bucket needs, and may be more
 * than it can store: a half of it counts, until it is known better.
 */
static int64_t was_empty_ns(const struct probe *p)
{
    assert(p->pinged_ns >= p->refused_ns);

    if (p->window_s > 0.0f)
        return p->pinged_ns;
    if (fb_probe_in_penalty(p))
        return p->refused_ns;
    if (p->told_when)
        return p->pinged_ns - (p->block_ns - p->refused_ns) / 2;
    /* More than most can store was made meanwhile. */
    if (p->pause_s >= PATIENCE_S || p->pause_s * p->limit > STORED_MOST * p->unit)
        return p->pinged_ns - fb_span(fb_minf(p->pause_s, CUSHION * p->unit / p->limit));
    return p->block_ns - fb_span(p->pause_s);
}

/* A new measurement begins: the provider is empty, and what it cannot store does not count. */
static void measure_anew(struct probe *p, const struct answer *a)
{
    assert(p->limit > 0.0f && p->burst >= 0.0f);

    p->empty_ns = was_empty_ns(p);
    if (p->burst > 0.0f || fb_probe_in_penalty(p)) {
        int64_t stored_ns = fb_span((p->burst + p->unit) / p->limit);
        p->empty_ns = fb_max64(p->empty_ns, p->pinged_ns - stored_ns);
    }
    p->accepted = (float)a->cost;
}

static void restart(struct probe *p, const struct answer *a)
{
    bool in_unrest = fb_probe_noisy(p) && p->lean < 0.0f && p->unrest > 0.0f;
    bool chance = p->lean > 0.0f && p->forgiven; /* it was not empty */

    assert(p->episode == EPISODE_NONE);
    if (p->echoes == 0 && !in_unrest && !chance) /* else it is not over yet: go on counting */
        measure_anew(p, a);
    p->bursting = false;
    if (!chance) {
        p->ahead = p->burst;
        p->ahead_ns = fb_probe_in_penalty(p) ? p->refused_ns : a->now_ns;
    }
    p->since_refusal = 0;
    go_on(p, a->now_ns);
    follow_ping(p);
}

void fb_probe_recovered(struct probe *p, const struct answer *a)
{
    bool outage_only = p->outage && p->failed_pings == 0;
    uint8_t wait_s = outage_only ? 0 : fb_probe_wait_told(p);

    assert(p->episode != EPISODE_NONE);
    p->episode = EPISODE_NONE;
    p->outage = false;
    if (outage_only) { /* nothing was refused, nothing is learned: go on, and count anew */
        p->empty_ns = a->now_ns - fb_span(p->burst / p->limit);
        p->accepted = 0.0f;
        fb_probe_lose_opening(p);
        go_on(p, a->now_ns);
    } else {
        bool known = fb_probe_by_second(p);
        fb_probe_read(p, a);
        restart(p, a);
        if (fb_probe_by_second(p) && !known)
            fb_probe_wait_second(p);
    }
    fb_probe_log_anew(p, a);
    p->told_wait_s = wait_s;
}
