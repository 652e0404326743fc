/* SPDX-License-Identifier: MIT */
/*
 * probe_parts.h - what the parts of the probe share: its constants, and who does what.
 *
 *   probe.c           events in, pace out
 *   probe_pace.c      what the constraints shall keep
 *   probe_search.c    settling below a limit, and looking for more
 *   probe_episode.c   a refusal, the pings after it, outages
 *   probe_reading.c   what an episode meant
 *   probe_windows.c   what it says about a window that was exhausted
 *   probe_between.c   which window lies between two openings
 *   probe_measure.c   what a count says about the limit
 *   probe_closed.c    the window that ended the first climb
 *   probe_second.c    a limit that is counted by the second
 *   probe_slots.c     what left within the last second, where a window slides
 *   probe_crowd.c     a bound on what is in flight
 *   probe_line.c      too many at a time, behind an uneven line
 *   probe_cycle.c     a bucket that tells to wait for a second
 *   probe_spacing.c   a limit that stores nothing
 *   probe_penalty.c   a bucket that shuts for some seconds when it refuses
 *   probe_soft.c      whether a bare 403 or 503 is a refusal
 *   probe_headers.c   what responses tell about the quota
 *   probe_explain.c   the belief as a sentence
 *   probe_state.c     the belief as what outlasts the process
 */
#ifndef FLYBALL_CORE_ADAPT_PROBE_PARTS_H
#define FLYBALL_CORE_ADAPT_PROBE_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/adapt/probe.h"
#include "core/constraint.h"
#include "core/field.h"
#include "core/instant.h"

#define NO_CROWD       UINT8_MAX /* more than a ticket can tell */
#define CUTS_MAX       7         /* as far as they are counted */
#define PINGS_MAX      15        /* likewise */
#define SOFT_ROW_MAX   6         /* from then on they come whatever the pace */
#define SOFT_NEVER     7         /* it refuses by 429: they never are refusals */
#define FAILED_ROW_MAX 31

/* The tunables. Each is a judgement, told on the design page of the probe. */
#define MARGIN        0.015f  /* cruise this far below the limit; 4 x as far after a surprise */
#define CUSHION       8.0f    /* requests' worth of pause after a refusal, a quarter if isolated */
#define FIRST_LEAN    0.02f   /* first step of a look upward; it doubles while nothing refuses */
#define STEP          40      /* successes a step ... */
#define STEP_FIRST    2       /* ... while no limit is known ... */
#define STEP_STORED   300     /* ... and while all of it may come from what is stored */
#define NEAR          25      /* refusals closer than this many requests are one event */
#define FAR           400     /* further apart: unrelated */
#define REFUSAL_WORTH 2400.0f /* in requests: how rarely to look upward ... */
#define WORTH_MOVING  400.0f  /* ... and once the limit was seen to move */
#define LOOK_LEAST    600.0f  /* requests between two looks, given the evidence to sit on */
#define PAUSE_LEAST_S 0.25f   /* who asked for nothing during so long may have ended */
#define LOOK_AGES     4.0f    /* times the age, for each that a look costs: so long it waits */
#define LOOK_SHARE    0.3f    /* of its age, where a look costs one of those under way */
#define WEIGHT        1.5f    /* requests' worth of the present pace in a measurement */
#define DROP          0.05f   /* no measurement lowers the limit further than to this share */
#define FEW           16.0f   /* requests: a limit measured from fewer is in doubt */
#define DOUBTS_MAX    3       /* and is doubted so often at most */
#define COUNTED       60.0f   /* requests: from as many it was counted, within some per cent */
#define PING_GROWTH   4.0f    /* of the pause between pings, 2 from 16 s on */
#define SHUT_LEAST_S  10.0f   /* what opens sooner is measured like a bucket */
#define CLOSED_ROW    4       /* refused beside the first, one in so many let through: it closed */
#define MANY_FIRST    50.0f   /* accepted before the first refusal: worth another ping */
#define SHARE_OPEN    0.5f    /* of what was under way was let through: that is not shut */
#define UNEVEN_MS     20      /* latencies deviate by so much: answers overtake each other */
#define EVEN_S        0.01f   /* they deviate by more: what leaves in a row arrives otherwise */
#define FIRST_WAIT_S  8.0f    /* after the third refusal in a row: a bucket has made something */
#define PATIENCE_S    60.05f /* after the third or fourth refusal in a row: most windows are open */
#define STORED_MOST   160.0f /* units that a pause made: more than most can store */
#define NOISE_LEAST   150.0f /* requests: refusals closer than this are more than noise */
#define NOISE_COST    0.0005f /* of the limit is given up for a refusal by chance */
#define UNREST_MAX    6.0f    /* evidence that a limit refuses, not noise */
#define UNREST_LOOK   3.0f    /* and while looking upward */
#define OUTAGE_ROW    5       /* failures in a row from which on one at a time is enough */
#define OUTAGE_MAX_S  60.0f   /* between two of them */
#define PLENTY        1e12f   /* left of a quota: nothing was told yet */
#define CROWD_PROOF   3.0f    /* refusals at >= k in flight that prove a bound ... */
#define CROWD_DOUBT   0.07f   /* ... less this for each accepted there: some are on the line */

/*
 * Servers tell whole seconds. A wait of one or two may be the tenth of a second that a bucket takes
 * for the next request, rounded up: it is obeyed, and says nothing about a window.
 */
#define WAIT_BLUNT_NS (2 * FB_NS_PER_S)

static inline float fb_secs(int64_t span_ns)
{
    return (float)fb_seconds(span_ns);
}

static inline float fb_maxf(float a, float b)
{
    return a > b ? a : b;
}

static inline float fb_minf(float a, float b)
{
    return a < b ? a : b;
}

/* ---- probe_pace.c ---- */

struct pace;

/* Read the pace off the belief; whether it changed. */
bool fb_probe_sync(const struct probe *p, struct pace *pace);

/* After idling, under a window: a whole quota at once, and the next one a window later. */
bool fb_probe_spends_quota(const struct probe *p);

/*
 * A grant of it: wherever the provider's own window begins, it never holds more than one of these
 * quotas. Whether the pace changed.
 */
bool fb_probe_spend_quota(struct probe *p, const struct ask *q);

/* ---- probe_search.c ---- */

/*
 * Believe a limit: settle a margin below it and plan the next look upward. `weight` is how many
 * units stand behind it: a belief from few does not hold for long.
 */
void fb_probe_settle(struct probe *p, float limit, float weight, const struct answer *a);

/* What was learned was not about the pace: look for a limit as at the beginning. */
void fb_probe_climb_again(struct probe *p);

/* A success outside of an episode: look upward when it is time. */
void fb_probe_advance(struct probe *p, const struct answer *a);

/* Nothing was asked for during a while: the provider has filled up, what was counted is void. */
void fb_probe_idled(struct probe *p, const struct ask *q, float idle_s);

/* The same for less than a second: nothing is void, but somebody else may have begun. */
void fb_probe_paused(struct probe *p, int64_t now_ns);

/* The same after a restart: nobody knows whether it has filled up. */
void fb_probe_count_anew(struct probe *p, int64_t now_ns);

/* ---- probe_episode.c ---- */

void fb_probe_refused(struct probe *p, const struct answer *a);

/* Neither accepted nor refused: many in a row are an outage, and wait like a refusal. */
void fb_probe_failed(struct probe *p, const struct answer *a);

/* The ping went through: the episode is over. */
void fb_probe_recovered(struct probe *p, const struct answer *a);

/*
 * Whether all that was accepted since it opened may have come from one quota: else another window
 * has begun meanwhile, and how long it was open says nothing about its length.
 */
bool fb_probe_in_one_window(const struct probe *p);

/*
 * Whether a bound on what is in flight refused, over an uneven line: after so many grants, when
 * `estimate` a second had been counted.
 */
bool fb_probe_crowds_line(const struct probe *p, int32_t grants, float estimate);

/* What of the pace a limit lets through, by what was under way when it was met: 0 to 1. */
float fb_probe_share_let_through(const struct probe *p);

/* The shortest window that people use of at least `s` seconds. */
float fb_probe_window_from(float s);

/* ---- probe_windows.c ---- */

/* What was taken for a window is none. */
void fb_probe_no_window(struct probe *p);

/* ---- probe_reading.c ---- */

/* Learn from an episode that ends with this accepted answer. */
void fb_probe_read(struct probe *p, const struct answer *a);

/* What the limit was learned from: the end of a sentence. */
const char *fb_probe_reading_says(const struct probe *p);

/* ---- probe_measure.c ---- */

/* The limit by what was accepted in so long: drawn to the pace while that is little. */
float fb_probe_estimate(const struct probe *p, float accepted, float between_s);

/* ---- probe_closed.c ---- */

/* What is known of the window that ended the first climb. */
struct closed {
    float window_s;
    float fitted; /* units that it let through */
};

/*
 * Guess it: `total` units were accepted at a rising pace, it closed, and it opened again `shut_s`
 * seconds later.
 */
struct closed fb_probe_guess_closed(const struct probe *p, float total, float shut_s);

/* Whether `accepted` since the last opening is as much as was accepted before. */
bool fb_probe_quota_again(const struct probe *p, float accepted);

/* Whether two counts are of the same number: by chance only a few would be. */
bool fb_probe_just_as_many(const struct probe *p, float accepted, float before);

/* Whether it is just as much: then each was one quota, however long it took. */
bool fb_probe_quota_same(const struct probe *p, float accepted);

/* Whether it closed again: after as many, or it is shut for longer than a bucket would be. */
bool fb_probe_closed_again(const struct probe *p, float accepted, float shut_s);

/* What fitted into the window that closed again: no more than in the one before. */
float fb_probe_fitted(const struct probe *p, float accepted);

/* For how long it was open at least: with more than that, another had begun meanwhile. */
float fb_probe_open_s(const struct probe *p, float accepted);

/* Whether a window ended the first climb: a bucket lets some of what is under way through. */
static inline bool fb_probe_closed(const struct probe *p)
{
    return p->closed && !p->told_when;
}

/* ---- probe_second.c ---- */

/* An answer that was accepted outside of an episode. */
void fb_probe_log(struct probe *p, const struct answer *a);

/* An episode is over: the log begins anew, with the answer that ended it. */
void fb_probe_log_anew(struct probe *p, const struct answer *a);

/* Refused: how many were accepted within the second before? Right before the episode begins. */
void fb_probe_count_second(struct probe *p, const struct answer *a);

/* One that was under way then is accepted. */
void fb_probe_also_accepted(struct probe *p);

/* Whether it was as many as at the refusal before, though the pace was higher. */
bool fb_probe_is_second(const struct probe *p);

/* What was counted at the last two refusals, on average; one request of it is left, or more. */
float fb_probe_second(const struct probe *p);

/* The limit that this means: on an uneven line the number that people use, if one is near. */
float fb_probe_limit_of_second(const struct probe *p);

/* How much of a limit by the second is left: one may be late, and lines are uneven. */
float fb_probe_margin_of_second(const struct probe *p, float limit);

/* What people would have chosen where this was counted, or that itself. */
float fb_probe_number_of_second(const struct probe *p);

/*
 * The pace of a limit by the second, where one was counted over an uneven line at about the pace
 * that was refused: a bucket may have done so, too. 0: none was.
 */
float fb_probe_pace_of_second(const struct probe *p);

/* Believe it. */
void fb_probe_settle_by_second(struct probe *p, float limit, const struct answer *a);

/* Refused below it: more of it is left from now on, as long as that is not too much already. */
bool fb_probe_may_leave_more(const struct probe *p);
void fb_probe_leave_more(struct probe *p);

/* So many may leave at once, of what is late. */
float fb_probe_credit_of_second(const struct probe *p);

/* On an even line: until all that was uneven is more than a second ago. */
void fb_probe_wait_second(struct probe *p);

/* It is not known any more how long ago it opened: what is counted from now on is not all of it. */
static inline void fb_probe_lose_opening(struct probe *p)
{
    if (p->window_s > 0.0f)
        p->fitted = fb_maxf(p->fitted, 0.0f);
}

/* Whether anybody has told what is left. */
static inline bool fb_probe_was_told(const struct probe *p)
{
    return p->told_left >= 0.0f;
}

/* In an episode, or right after it: whether latencies differed by so much that answers overtake. */
static inline bool fb_probe_is_uneven(const struct probe *p)
{
    return !fb_probe_was_told(p) && p->log.sway_ms >= UNEVEN_MS;
}

static inline bool fb_probe_by_second(const struct probe *p)
{
    return !fb_probe_was_told(p) && p->log.by_second;
}

static inline void fb_probe_set_by_second(struct probe *p, bool is)
{
    if (!fb_probe_was_told(p))
        p->log.by_second = is;
}

/* ---- probe_slots.c ---- */

/*
 * A request leaves while headers tell what is left: where that is a window of a second that slides
 * its place is counted, unless it costs several. Whether the pace is another: the next has to wait
 * until a place is given back, or none are counted any more.
 */
bool fb_probe_take_slot(struct probe *p, int64_t now_ns, int64_t cost);

/* They are kept no longer: what was in their place is counted from now on. Whether they were. */
bool fb_probe_forget_slots(struct probe *p, int64_t now_ns);

/* ---- probe_crowd.c ---- */

#define CROWD_GUESS 100.0f /* more evidence than refusals can be: the bound was guessed, too low */

/* Refused with so many in flight: perhaps that is bounded. */
void fb_probe_note_crowd(struct probe *p, uint8_t in_flight);

/* An answer that was accepted: whether a bound that is believed is one. */
void fb_probe_widen(struct probe *p, const struct answer *a);

/* ---- probe_line.c ---- */

/* An episode is over: what was let through and what was refused of that under way. */
void fb_probe_note_line(struct probe *p);

/* Whether it was too many at a time, by all that was seen so far. */
bool fb_probe_on_line(const struct probe *p);

/* Bound what is in flight there. */
void fb_probe_bound_line(struct probe *p);

/*
 * Another process begins with what was learned: what hardly refused over an uneven line may refuse
 * it. It begins further below, and with fewer in flight where those may have been too many.
 */
void fb_probe_begin_on_line(struct probe *p);

/* ---- probe_cycle.c ---- */

/*
 * Refused in the first climb, and told to wait: the limit, or 0 where it is not known yet and the
 * pace went down instead. `rate` is the pace that was refused.
 */
float fb_probe_read_cycle(struct probe *p, float rate, float ping_cost);

/* Whether the pace went down because a cycle was too short to measure. */
static inline bool fb_probe_in_cycle(const struct probe *p)
{
    return p->phase == PROBE_FIRST && p->told_when && p->cycle_s > 0.0f;
}

/* And was not refused for long: the limit, or 0 where it was not for long enough yet. */
float fb_probe_cycle_held(struct probe *p, int64_t now_ns);

/* Whether it was held as a limit by the second would be. */
bool fb_probe_cycle_by_second(const struct probe *p);

/* So many may leave at once while it goes up, of what is late: none but in a cycle. */
float fb_probe_cycle_credit(const struct probe *p);

/* ---- probe_penalty.c ---- */

/* Refused outside of an episode: whether it is to wait for as long as the last time. */
bool fb_probe_told_same(const struct probe *p, int64_t wait_ns);

/* The wait that was told in this episode, to compare the next with. */
uint8_t fb_probe_wait_told(const struct probe *p);

/* Learn the limit, and what it stores, when such a wait is told for the second time. */
void fb_probe_read_penalty(struct probe *p, float accepted, float open_s, const struct answer *a);

/* The limit as measured, where it was refused below the one that is known. */
float fb_probe_mend_penalty(struct probe *p, float accepted, float estimate);

/* Whether this wait was a penalty: it fills up meanwhile, as far as it can store. */
static inline bool fb_probe_in_penalty(const struct probe *p)
{
    return p->told_when && p->closed;
}

/* And was taken for a window until now. */
static inline bool fb_probe_was_penalty(const struct probe *p)
{
    return fb_probe_in_penalty(p) && p->window_s > 0.0f;
}

/* ---- probe_spacing.c ---- */

/* Whether it was refused at once, twice: it stores nothing, and no count tells more. */
bool fb_probe_spaced(const struct probe *p);

/*
 * It was once: whether to try, when what stores some has some, if of two that leave close together
 * the second is refused, as soon as nothing else is under way; and whether that is being tried.
 */
bool fb_probe_may_pair(const struct probe *p);
bool fb_probe_pairs(const struct probe *p);

#define FB_PAIR_LEAN 3.0f /* above the limit: no even pace, nor the height of any other step */

/* A step of a look there: how far above the limit the first one goes, and how many it takes. */
float fb_probe_lean_of_spacing(const struct probe *p);
int32_t fb_probe_tests_of_spacing(const struct probe *p);

/* Whether a step there tries a pace between the one that lasts and the one that was refused ... */
bool fb_probe_halves_spacing(const struct probe *p);

/* ... which was not refused: it lasts. */
void fb_probe_keep_spacing(struct probe *p, const struct answer *a);

/* ---- probe_soft.c ---- */

/* Whether a bare 403 or 503 is a refusal here. */
bool fb_probe_is_soft_refusal(struct probe *p, const struct answer *a);

/* Refused after `gap` grants: how much does that speak against noise? */
void fb_probe_note_gap(struct probe *p, float gap);

/* Several came in a row, one soon after the other: perhaps it is not about the pace. */
static inline bool fb_probe_may_stumble(const struct probe *p)
{
    return p->soft_row >= 2 && p->soft_row < SOFT_ROW_MAX;
}

/* One of them did seem to be about the pace. */
static inline void fb_probe_one_less_in_row(struct probe *p)
{
    if (p->soft_row > 0)
        p->soft_row--;
}

static inline bool fb_probe_says_429(const struct probe *p)
{
    return p->soft_row == SOFT_NEVER;
}

/* Whether those come now whatever the pace: then they say nothing about it. */
static inline bool fb_probe_stumbles(const struct probe *p)
{
    return p->soft_row >= SOFT_ROW_MAX;
}

/* ---- probe_headers.c ---- */

void fb_probe_told(struct probe *p, const struct answer *a, bool refused);

/*
 * All that is to come fits into what is told to be left, so that it is no pace: go on as if nobody
 * told anything. What was believed for that reason alone is no limit.
 */
void fb_probe_need_not_be_told(struct probe *p, int64_t now_ns);

/* A window of `limit` units is over, which was looked at for `span_s` seconds: the next begins. */
void fb_probe_window_over(struct probe *p, float limit, float span_s);

/* Whether headers tell of a short window that slides, or of a bucket. */
bool fb_probe_slides(const struct probe *p);

#define FB_SHORT_S 10.0f /* of a window whose resets say little */

/*
 * Resets come in whole seconds, and those of a sliding window or a bucket move on with every
 * answer: for a short window they say little. What is left at the least says how much faster it
 * could go.
 */
static inline bool fb_probe_is_short(const struct probe *p)
{
    return p->window_s <= FB_SHORT_S;
}

/* Whether headers tell of more than is used: no need to find out slowly. */
static inline bool fb_probe_has_room(const struct probe *p)
{
    return p->told_until_ns != FB_LONG_AGO && p->told > p->rate;
}

/* How far they were checked (`verified`). */
enum { UNVERIFIED, VERIFYING, SECOND_ZERO, HONEST, BOUND_ONLY, DROPPED };

/* Nobody looked for a while: from one reset to the next it may be several short windows. */
static inline void fb_probe_told_paused(struct probe *p)
{
    if (fb_probe_is_short(p) && p->verified != DROPPED)
        p->told_reset_ns = FB_LONG_AGO;
}

/* Whether headers are being checked by going a little faster than they allow. */
static inline bool fb_probe_verifying(const struct probe *p)
{
    return p->verified == VERIFYING || p->verified == SECOND_ZERO;
}

/* ---- probe_state.c ---- */

union controller_state;
struct learned;

#define FB_PROBE_FIELDS 36

extern const struct field fb_probe_fields[FB_PROBE_FIELDS];

/* Go on with a belief that was read: measure afresh, and look upward again in due time. */
void fb_probe_resume(struct probe *p, int64_t now_ns);

void fb_probe_learned(const union controller_state *c, const struct pace *pace,
                      struct learned *ret_learned);

/* ---- probe_explain.c ---- */

struct text;

void fb_probe_explain(const union controller_state *c, const struct pace *pace, int64_t now_ns,
                      struct text *t);

/* Refused only when at least this many were in flight: a bound on concurrency is proven. */
static inline bool fb_probe_crowded(const struct probe *p)
{
    return p->crowd >= CROWD_PROOF && p->crowd_min >= 3;
}

static inline bool fb_probe_noisy(const struct probe *p)
{
    return p->surprises >= 3;
}

/* Nothing was seen yet that moves the limit, or hides it. */
static inline bool fb_probe_steady(const struct probe *p)
{
    return !p->moves && !p->noise_known;
}

/*
 * Whether it was granted before the last episode began: then it says nothing new. During an
 * episode only the ping, which is the latest grant, is no straggler.
 */
static inline bool fb_probe_is_straggler(const struct probe *p, uint16_t id)
{
    if (p->episode != EPISODE_NONE)
        return p->episode == EPISODE_WAITING || id != p->latest_id;
    return p->refused_ns != FB_LONG_AGO && (int16_t)(uint16_t)(id - p->refused_id) <= 0;
}

/* Whether what is out is under way. Where answers take long it is in service. */
static inline bool fb_probe_is_quick(const struct probe *p)
{
    return p->latency_s <= 0.1f;
}

/* No limit is known, or the one that is known is in doubt. */
static inline bool fb_probe_climbing(const struct probe *p)
{
    return p->phase == PROBE_FIRST || p->phase == PROBE_DOUBT;
}

#endif
