/* SPDX-License-Identifier: MIT */
/*
 * quota.c - spend a budget that the server tells, evenly or on demand, and never more of it.
 *
 * Answers overtake each other, so within one window of the server only the least `remaining` told
 * is believed, and all that is out is taken off it once more: available is never overstated. An
 * answer that tells nothing has still spent its cost, which stays off until a request that left
 * later has told what is left.
 *
 * When the reset has passed, the next window is not known yet: one request goes and asks. Its
 * answer begins the new window, so a reset is no stampede. A few that tell nothing end it all.
 */
#include "core/quota.h"

#include <assert.h>
#include <stddef.h>

#include <flyball/flyball.h>

#include "core/constraint.h"
#include "core/controller.h"
#include "core/instant.h"
#include "core/jitter.h"
#include "core/spec.h"
#include "core/wide.h"
#include "util/text.h"

static_assert((int)FB_QUOTA_SLOTS == (int)FB_SLOTS_quota, "as its row says");

#define SAME_NS FB_NS_PER_S /* resets no further apart mean the same window */

/* After a reset one request asks what there is; a slow answer does not stop the rest for long. */
#define ASK_AGAIN_NS (10 * FB_NS_PER_S)

/* ---- the rule ---- */

/* In halves. More may be out than there ever was: then nothing is left. */
static int64_t multiplier(int64_t limit, int64_t remaining)
{
    int64_t left = fb_max64(remaining, 0);

    assert(limit >= 1 && limit <= FB_QUOTA_MAX && left <= limit);
    if (left * 2 > limit)
        return 2;
    if (left * 5 >= limit)
        return 3;
    return left * 20 >= limit ? 4 : 8;
}

enum quota_health fb_quota_health(int64_t limit, int64_t remaining)
{
    int64_t halves = multiplier(limit, remaining);

    if (remaining <= 0)
        return QUOTA_EXHAUSTED;
    assert(halves >= 2 && halves <= 8);
    if (halves == 2)
        return QUOTA_HEALTHY;
    return halves == 3 ? QUOTA_WARNING : QUOTA_CRITICAL;
}

#define PACK_BITS  22
#define PACK_LEAST ((INT64_C(1) << PACK_BITS) - 1)

static int64_t up_to_ms(int64_t span_ns)
{
    assert(span_ns >= 0);
    return (span_ns + FB_NS_PER_MS - 1) / FB_NS_PER_MS;
}

int64_t fb_spacing_pack(const struct spacing *s)
{
    int64_t least_ms = up_to_ms(s->least_ns), most_ms = up_to_ms(s->most_ns);

    assert(least_ms >= 1 && least_ms <= most_ms && most_ms <= PACK_LEAST);
    assert(s->ahead >= 1 && s->ahead < INT64_C(1) << (63 - 2 * PACK_BITS));
    return s->ahead << (2 * PACK_BITS) | most_ms << PACK_BITS | least_ms;
}

struct spacing fb_spacing_unpack(int64_t packed)
{
    assert(packed > 0);
    return (struct spacing){
        .least_ns = (packed & PACK_LEAST) * FB_NS_PER_MS,
        .most_ns = (packed >> PACK_BITS & PACK_LEAST) * FB_NS_PER_MS,
        .ahead = packed >> (2 * PACK_BITS),
    };
}

/* The delay of a request of any cost: the bounds are for requests, not for units. */
static int64_t delay_ns(const struct spacing *s, int64_t limit, int64_t remaining, int64_t reserve,
                        int64_t time_left_ns, int64_t cost)
{
    fb_wide spend = (fb_wide)fb_max64(1, remaining - reserve) * 2;

    assert(time_left_ns >= 0 && cost >= 1 && reserve >= 0);
    fb_wide span = (fb_wide)time_left_ns * cost * multiplier(limit, remaining);
    fb_wide delay = (span + spend - 1) / spend;
    assert(spend >= 2 && s->least_ns <= s->most_ns);
    if (delay > s->most_ns)
        return s->most_ns;
    return fb_max64((int64_t)delay, s->least_ns);
}

int64_t fb_quota_delay_ns(int64_t limit, int64_t remaining, int64_t reserve, int64_t time_left_ns)
{
    const struct spacing usual = FB_SPACING_DEFAULT;

    return delay_ns(&usual, limit, remaining, reserve, time_left_ns, 1);
}

/* ---- the backlog ---- */

#define ASKED_BITS   2
#define UNITS_BITS   40 /* one more than were said; 0: nobody knows */
#define SECONDS_BITS 21 /* one more than of the clock, which comes round; 0: nobody said it */
#define SAID_S       10 /* it counts for so long against those who say less */

static_assert(FB_QUOTA_MAX < INT64_C(1) << UNITS_BITS, "and one more");

struct backlog {
    int64_t asked, units, seconds;
};

static struct backlog unpack(const int64_t *slot)
{
    uint64_t packed = (uint64_t)slot[FB_QUOTA_BACKLOG];

    return (struct backlog){
        .asked = (int64_t)(packed & ((1u << ASKED_BITS) - 1)),
        .units = (int64_t)(packed >> ASKED_BITS & ((UINT64_C(1) << UNITS_BITS) - 1)),
        .seconds = (int64_t)(packed >> (ASKED_BITS + UNITS_BITS) & ((1u << SECONDS_BITS) - 1)),
    };
}

static void pack(int64_t *slot, struct backlog b)
{
    assert(b.asked >= 0 && b.asked <= FB_QUOTA_ASKED_MAX && b.units >= 0 && b.seconds >= 0);
    slot[FB_QUOTA_BACKLOG] =
        b.seconds << (ASKED_BITS + UNITS_BITS) | b.units << ASKED_BITS | b.asked;
}

int64_t fb_quota_backlog(const int64_t *slot)
{
    return unpack(slot).units - 1;
}

void fb_quota_say_backlog(int64_t *slot, int64_t units, int64_t now_ns)
{
    const int64_t round = (1 << SECONDS_BITS) - 1;
    int64_t now_s = fb_max64(0, now_ns) / FB_NS_PER_S % round + 1;
    struct backlog b = unpack(slot);
    int64_t said = fb_max64(0, fb_min64(units, FB_QUOTA_MAX) + 1);
    bool is_old = b.seconds == 0 || (now_s - b.seconds + round) % round >= SAID_S;
    bool is_less = b.units == 0 ? said > 0 : said > 0 && said < b.units;

    if (is_less && !is_old)
        return;
    b.units = said;
    b.seconds = now_s;
    pack(slot, b);
    assert(fb_quota_backlog(slot) <= FB_QUOTA_MAX);
}

void fb_quota_count_down(int64_t *slot, int64_t units)
{
    struct backlog b = unpack(slot);

    assert(units >= 1);
    if (b.units == 0)
        return;
    b.units -= units;
    if (b.units <= 0)
        b.units = b.seconds = 0;
    pack(slot, b);
}

bool fb_quota_fits(const int64_t *slot, int64_t limit, int64_t remaining, int64_t units)
{
    int64_t most = fb_min64(limit, FB_QUOTA_MAX);
    int64_t reserve = (most * slot[FB_QUOTA_RESERVE] + FB_MILLION - 1) / FB_MILLION;

    assert(limit >= 1 && units >= 0);
    return fb_min64(remaining, most) - reserve >= units;
}

/* ---- asking and taking ---- */

static struct spacing spacing_of(const struct spec *s)
{
    struct spacing spacing = FB_SPACING_DEFAULT;

    if (s->interval_min_ns)
        spacing.least_ns = s->interval_min_ns;
    if (s->interval_max_ns)
        spacing.most_ns = s->interval_max_ns;
    if (s->ahead)
        spacing.ahead = s->ahead;
    return spacing;
}

static bool quota_init(int64_t *slot, const struct spec *s, void *memory, int64_t now_ns)
{
    bool even = s->pacing != PACING_DEMAND;
    struct spacing spacing = spacing_of(s);
    /* The prober reads what servers tell by itself, unless the user says how to spend it. */
    bool is_mine = s->controller != &fb_controller_probe || s->pacing != PACING_UNSAID;
    int64_t unsaid_ppm = even && is_mine ? FB_QUOTA_RESERVE_PPM : 0;

    (void)memory;
    (void)now_ns;
    slot[FB_QUOTA_NEXT] = FB_LONG_AGO;
    slot[FB_QUOTA_ASKED_AT] = FB_LONG_AGO;
    slot[FB_QUOTA_EVEN] = even ? fb_spacing_pack(&spacing) : 0;
    slot[FB_QUOTA_RESERVE] = s->reserve_ppm >= 0 ? s->reserve_ppm : unsaid_ppm;
    assert(slot[FB_QUOTA_RESERVE] <= FB_MILLION);
    return is_mine;
}

/* Rounded up, towards waiting. */
static int64_t reserve_of(const int64_t *slot)
{
    assert(slot[FB_QUOTA_LIMIT] >= 1 && slot[FB_QUOTA_LIMIT] <= FB_QUOTA_MAX);
    return (slot[FB_QUOTA_LIMIT] * slot[FB_QUOTA_RESERVE] + FB_MILLION - 1) / FB_MILLION;
}

static int64_t available(const int64_t *slot, int64_t units_out)
{
    assert(units_out >= 0 && slot[FB_QUOTA_UNTOLD] >= 0);
    return slot[FB_QUOTA_LEFT] - slot[FB_QUOTA_UNTOLD] - units_out;
}

static int64_t spacing_ns(const int64_t *slot, int64_t units_out, int64_t cost, int64_t now_ns)
{
    const struct spacing bounds = fb_spacing_unpack(slot[FB_QUOTA_EVEN]);

    assert(now_ns < slot[FB_QUOTA_OPENS]);
    return delay_ns(&bounds, slot[FB_QUOTA_LIMIT], available(slot, units_out), reserve_of(slot),
                    slot[FB_QUOTA_OPENS] - now_ns, cost);
}

static bool is_known(const int64_t *slot, int64_t now_ns)
{
    return slot[FB_QUOTA_LIMIT] > 0 && now_ns < slot[FB_QUOTA_OPENS];
}

/* All that is to come fits into what is left: it need not be spread. */
static bool is_ample(const int64_t *slot, const struct ask *q)
{
    return q->to_come > 0 &&
           fb_quota_fits(slot, slot[FB_QUOTA_LIMIT], available(slot, q->units_out),
                         fb_max64(q->to_come, q->cost));
}

static int64_t quota_ready_at(const int64_t *slot, const struct ask *q)
{
    assert(q->cost >= 1 && q->in_flight >= 0);
    if (slot[FB_QUOTA_LIMIT] == 0)
        return q->now_ns;
    if (!is_known(slot, q->now_ns))
        return q->in_flight == 0 ? q->now_ns : fb_after(slot[FB_QUOTA_ASKED_AT], ASK_AGAIN_NS);

    int64_t kept = slot[FB_QUOTA_EVEN] ? 0 : reserve_of(slot);
    if (available(slot, q->units_out) - kept < q->cost)
        return slot[FB_QUOTA_OPENS];
    if (!slot[FB_QUOTA_EVEN] || is_ample(slot, q))
        return q->now_ns;
    /* The next window owes nothing to the spacing in this one. */
    return fb_min64(slot[FB_QUOTA_NEXT] - slot[FB_QUOTA_AHEAD], slot[FB_QUOTA_OPENS]);
}

static void quota_take(int64_t *slot, const struct ask *q)
{
    assert(quota_ready_at(slot, q) <= q->now_ns);
    if (!is_known(slot, q->now_ns))
        slot[FB_QUOTA_ASKED_AT] = q->now_ns;
    if (!slot[FB_QUOTA_EVEN] || !is_known(slot, q->now_ns) || is_ample(slot, q))
        return;
    int64_t apart_ns = spacing_ns(slot, q->units_out, q->cost, q->now_ns);
    slot[FB_QUOTA_NEXT] = fb_max64(slot[FB_QUOTA_NEXT], q->now_ns) + apart_ns;
    assert(apart_ns > 0 && slot[FB_QUOTA_NEXT] > q->now_ns);
    slot[FB_QUOTA_AHEAD] = (fb_spacing_unpack(slot[FB_QUOTA_EVEN]).ahead - 1) * apart_ns;
}

/*
 * The units themselves return by no longer being out; here their place in the row does. Where
 * nothing is spread they took none.
 */
static void quota_refund(int64_t *slot, const struct ask *q)
{
    if (q->cost == 0 || !slot[FB_QUOTA_EVEN] || !is_known(slot, q->now_ns) || is_ample(slot, q))
        return;
    if (q->cost > 0)
        slot[FB_QUOTA_NEXT] -= spacing_ns(slot, q->units_out, q->cost, q->now_ns);
    else
        slot[FB_QUOTA_NEXT] += spacing_ns(slot, q->units_out, -q->cost, q->now_ns);
}

/* ---- what answers tell ---- */

static bool tells(const struct fly_outcome *o, int64_t now_ns)
{
    return o->limit > 0 && o->remaining >= 0 && o->reset_ns > now_ns;
}

static void set_asked(int64_t *slot, int64_t asked)
{
    struct backlog b = unpack(slot);

    b.asked = asked;
    pack(slot, b);
}

/* Cost was spent; how much is left was not told. */
static void spend_untold(int64_t *slot, const struct answer *a)
{
    int64_t sent_ns = a->outcome->sent_ns;

    assert(a->cost >= 0);
    if (is_known(slot, a->now_ns)) {
        slot[FB_QUOTA_UNTOLD] += a->cost;
        slot[FB_QUOTA_SILENT_AT] = fb_max64(slot[FB_QUOTA_SILENT_AT], sent_ns);
    } else if (a->accepted && sent_ns >= slot[FB_QUOTA_OPENS]) {
        set_asked(slot, fb_min64(unpack(slot).asked + 1, FB_QUOTA_ASKED_MAX));
        if (unpack(slot).asked >= FB_QUOTA_ASKED_MAX)
            slot[FB_QUOTA_LIMIT] = 0; /* the window is over, and the server tells of no other */
    }
}

static void begin(int64_t *slot, const struct answer *a, int64_t reset_ns, struct rng *rng)
{
    slot[FB_QUOTA_LIMIT] = fb_min64(a->outcome->limit, FB_QUOTA_MAX);
    slot[FB_QUOTA_LEFT] = fb_min64(a->outcome->remaining, slot[FB_QUOTA_LIMIT]);
    slot[FB_QUOTA_UNTOLD] = 0;
    slot[FB_QUOTA_SILENT_AT] = FB_LONG_AGO;
    slot[FB_QUOTA_ANCHOR] = reset_ns;
    slot[FB_QUOTA_OPENS] = reset_ns + fb_jitter_of_wait(rng, reset_ns - a->now_ns);
    slot[FB_QUOTA_SINCE] = a->now_ns;
    set_asked(slot, 0);
    slot[FB_QUOTA_ASKED_AT] = FB_LONG_AGO;
    assert(slot[FB_QUOTA_LEFT] >= 0 && slot[FB_QUOTA_OPENS] > a->now_ns);
    if (!slot[FB_QUOTA_EVEN])
        return;
    /* What was run ahead before is carried over, but as far as the new spacing only. */
    slot[FB_QUOTA_AHEAD] = (fb_spacing_unpack(slot[FB_QUOTA_EVEN]).ahead - 1) *
                           spacing_ns(slot, a->units_out, 1, a->now_ns);
    slot[FB_QUOTA_NEXT] = fb_min64(slot[FB_QUOTA_NEXT], a->now_ns + slot[FB_QUOTA_AHEAD]);
}

static void go_on(int64_t *slot, const struct answer *a, int64_t reset_ns)
{
    slot[FB_QUOTA_LIMIT] = fb_min64(a->outcome->limit, FB_QUOTA_MAX);
    slot[FB_QUOTA_LEFT] =
        fb_min64(slot[FB_QUOTA_LEFT], fb_min64(a->outcome->remaining, slot[FB_QUOTA_LIMIT]));
    slot[FB_QUOTA_OPENS] = fb_max64(slot[FB_QUOTA_OPENS], reset_ns);
    assert(slot[FB_QUOTA_LEFT] <= slot[FB_QUOTA_LIMIT] && slot[FB_QUOTA_OPENS] >= reset_ns);
    /* It left after all the silent ones, so what it tells includes them. */
    if (a->outcome->sent_ns > slot[FB_QUOTA_SILENT_AT])
        slot[FB_QUOTA_UNTOLD] = 0;
}

static void quota_report(int64_t *slot, const struct answer *a, struct rng *rng)
{
    if (!tells(a->outcome, a->now_ns)) {
        spend_untold(slot, a);
        return;
    }
    int64_t reset_ns = fb_min64(a->outcome->reset_ns, a->now_ns + FB_RESET_MAX);
    int64_t later_ns = reset_ns - slot[FB_QUOTA_ANCHOR];

    if (slot[FB_QUOTA_LIMIT] == 0 || later_ns > SAME_NS)
        begin(slot, a, reset_ns, rng);
    else if (later_ns >= -SAME_NS)
        go_on(slot, a, reset_ns);
    else if (a->outcome->sent_ns >= slot[FB_QUOTA_SINCE])
        begin(slot, a, reset_ns, rng); /* the server has corrected itself */
    /* Else it left in an older window and tells of that. */
}

/* ---- saying ---- */

double fb_quota_rate(const int64_t *slot, int64_t units_out, int64_t now_ns)
{
    if (!is_known(slot, now_ns))
        return 0.0;
    if (slot[FB_QUOTA_EVEN])
        return 1e9 / (double)spacing_ns(slot, units_out, 1, now_ns);
    int64_t spend = fb_max64(1, available(slot, units_out) - reserve_of(slot));
    assert(spend >= 1 && slot[FB_QUOTA_OPENS] > now_ns);
    return (double)spend * 1e9 / (double)(slot[FB_QUOTA_OPENS] - now_ns);
}

static void add_amount(struct text *t, int64_t amount, const char *what)
{
    assert(amount >= 0);
    fb_text_add_int(t, amount);
    fb_text_add(t, what);
}

/* "1212 over 13 min 56 s x 1.5 = one each 1.03 s": the rule, with its figures. */
static void add_spacing(const int64_t *slot, int64_t left, const struct ask *q, struct text *t)
{
    int64_t apart_ns = spacing_ns(slot, q->units_out, q->cost, q->now_ns);

    add_amount(t, fb_max64(1, left - reserve_of(slot)), " over ");
    fb_text_add_span(t, slot[FB_QUOTA_OPENS] - q->now_ns);
    assert(apart_ns > 0 && slot[FB_QUOTA_OPENS] > q->now_ns);
    if (multiplier(slot[FB_QUOTA_LIMIT], left) > 2) {
        fb_text_add(t, " x ");
        fb_text_add_fixed(t, (double)multiplier(slot[FB_QUOTA_LIMIT], left) / 2.0, 1);
    }
    fb_text_add(t, " = one each ");
    fb_text_add_number(t, (double)apart_ns / 1e9);
    fb_text_add(t, " s");
}

static void quota_figures(const int64_t *slot, const struct ask *q, struct text *ret_text)
{
    if (!is_known(slot, q->now_ns)) {
        fb_text_add(ret_text, " is over, and one request asks for the next");
        return;
    }
    int64_t left = available(slot, q->units_out);
    int64_t kept = slot[FB_QUOTA_EVEN] ? 0 : reserve_of(slot);
    bool is_spread = left - kept >= q->cost;

    fb_text_add(ret_text, is_spread ? " is spread evenly: " : " is used up: ");
    add_amount(ret_text, fb_max64(0, left), " left");
    if (reserve_of(slot) > 0) {
        fb_text_add(ret_text, ", ");
        add_amount(ret_text, reserve_of(slot), " kept in reserve");
    }
    fb_text_add(ret_text, ", ");
    if (is_spread) {
        add_spacing(slot, left, q, ret_text);
        return;
    }
    fb_text_add(ret_text, "more in ");
    fb_text_add_span(ret_text, slot[FB_QUOTA_OPENS] - q->now_ns);
}

static bool quota_idle(const int64_t *slot, int64_t now_ns)
{
    (void)now_ns;
    return slot[FB_QUOTA_LIMIT] == 0;
}

/* What was told is over: the next answer tells as much to a fresh one. */
static bool quota_rested(const int64_t *slot, int64_t now_ns)
{
    return slot[FB_QUOTA_LIMIT] == 0 || slot[FB_QUOTA_OPENS] <= now_ns;
}

static bool quota_sound(const int64_t *slot, const int64_t *fresh)
{
    const struct range ranges[] = {
        {slot[FB_QUOTA_LIMIT], 0, FB_QUOTA_MAX},
        {slot[FB_QUOTA_LEFT], 0, slot[FB_QUOTA_LIMIT]},
        {slot[FB_QUOTA_RESERVE], fresh[FB_QUOTA_RESERVE], fresh[FB_QUOTA_RESERVE]},
        {slot[FB_QUOTA_EVEN], fresh[FB_QUOTA_EVEN], fresh[FB_QUOTA_EVEN]},
        FB_A_NUMBER(slot[FB_QUOTA_UNTOLD]),
        FB_A_NUMBER(slot[FB_QUOTA_AHEAD]),
        FB_AN_INSTANT(slot[FB_QUOTA_SILENT_AT]),
        FB_AN_INSTANT(slot[FB_QUOTA_ANCHOR]),
        FB_AN_INSTANT(slot[FB_QUOTA_OPENS]),
        FB_AN_INSTANT(slot[FB_QUOTA_SINCE]),
        FB_AN_INSTANT(slot[FB_QUOTA_ASKED_AT]),
        FB_AN_INSTANT(slot[FB_QUOTA_NEXT]),
    };

    return FB_ALL_IN_RANGE(ranges);
}

const struct constraint fb_constraint_quota = {
    .name = "quota",
    .says = "the quota told by the server",
    .init = quota_init,
    .ready_at = quota_ready_at,
    .take = quota_take,
    .refund = quota_refund,
    .report = quota_report,
    .figures = quota_figures,
    .idle = quota_idle,
    .sound = quota_sound,
    .rested = quota_rested,
};
