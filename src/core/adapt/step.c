/* SPDX-License-Identifier: MIT */
/*
 * step.c - cut what was stated in steps, remember how long the provider took to recover.
 *
 * The limit itself is never learned, only the part of it that is not used for now: what comes
 * back is at most what the user stated. Points are whole numbers, so nothing drifts.
 */
#include "core/adapt/step.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>

#include <flyball/flyball.h>

#include "core/constraint.h"
#include "core/controller.h"
#include "core/field.h"
#include "core/instant.h"
#include "core/spec.h"
#include "util/text.h"

#define CUT_FROM_ROW  3                 /* refusals in a row before the first cut */
#define REDUCTION_MAX 80                /* a fifth of what was stated always remains */
#define BACK          10                /* points given back ... */
#define BACK_EVERY    100               /* ... after so many successes in a row */
#define RECOVERY_NS   (2 * FB_NS_PER_S) /* while nothing was told */
#define BURST         10.0

static int32_t one_more(int32_t n)
{
    return n < INT32_MAX ? n + 1 : n;
}

/* ---- the rule ---- */

static int32_t cut_points(int32_t refused_row)
{
    assert(refused_row >= 1);
    if (refused_row < CUT_FROM_ROW)
        return 0;
    if (refused_row < 5)
        return 10;
    return refused_row < 10 ? 20 : 30;
}

static void change_reduction(struct step *s, int64_t points)
{
    uint8_t reduction = (uint8_t)fb_clamp64(s->reduction + points, 0, REDUCTION_MAX);

    assert(points >= -BACK && points <= 30);
    assert(reduction <= REDUCTION_MAX);
    if (reduction != s->reduction)
        s->agreeing = 0;
    s->reduction = reduction;
}

/* Rounded up to a millisecond, towards waiting. The count may wrap: then 50 are learned anew. */
static void remember_wait(struct step *s, int64_t wait_ns)
{
    int64_t ms = fb_min64(wait_ns / FB_NS_PER_MS + (wait_ns % FB_NS_PER_MS != 0), UINT32_MAX);

    assert(ms >= 1);
    s->wait_ms[s->wait_count % FB_STEP_WAITS] = (uint32_t)ms;
    s->wait_count++;
}

void fb_step_refused(struct step *s, int64_t retry_after_ns)
{
    assert(s->reduction >= 0 && s->reduction <= REDUCTION_MAX);
    s->refused_row = one_more(s->refused_row);
    s->success_row = 0;
    if (retry_after_ns > 0)
        remember_wait(s, retry_after_ns);
    change_reduction(s, cut_points(s->refused_row));
}

void fb_step_succeeded(struct step *s)
{
    assert(s->success_row >= 0 && s->success_row < BACK_EVERY);
    s->refused_row = 0;
    s->success_row++;
    s->agreeing = one_more(s->agreeing);
    if (s->success_row < BACK_EVERY)
        return;
    s->success_row = 0;
    change_reduction(s, -BACK);
}

int64_t fb_step_limit(const struct step *s, int64_t stated)
{
    assert(stated >= 0 && stated <= INT64_MAX / 100);
    assert(s->reduction >= 0 && s->reduction <= REDUCTION_MAX);
    return fb_max64(1, stated * (100 - s->reduction) / 100);
}

int64_t fb_step_recovery_ns(const struct step *s)
{
    uint32_t sorted[FB_STEP_WAITS];
    uint32_t count = s->wait_count < FB_STEP_WAITS ? s->wait_count : FB_STEP_WAITS;

    if (count == 0)
        return RECOVERY_NS;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = i;
        for (; at > 0 && sorted[at - 1] > s->wait_ms[i]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = s->wait_ms[i];
    }
    assert(sorted[0] <= sorted[count - 1]);
    return sorted[count / 2] * FB_NS_PER_MS;
}

double fb_step_confidence(const struct step *s)
{
    assert(s->agreeing >= 0);
    return fb_confidence(s->agreeing);
}

/* ---- the controller ---- */

static void set_pace(struct pace *p, const struct step *s)
{
    assert(s->rate >= 0.0 && s->reduction >= 0 && s->reduction <= REDUCTION_MAX);
    /* In this order: 100 - 20 of 100 is 0.8, while 1 - 0.2 is a little less. */
    p->limit_share = (float)((100.0 - s->reduction) / 100.0);
    assert(p->limit_share > 0.0f && p->limit_share <= 1.0f);
    p->rate = s->rate * (100.0 - s->reduction) / 100.0;
    if (p->rate < s->floor)
        p->rate = s->floor;
}

static void step_init(union controller_state *c, struct pace *p, const struct spec *s,
                      int64_t now_ns)
{
    (void)now_ns;
    c->step = (struct step){
        .rate = fb_rate_per_second(&s->rate),
        .floor = fb_rate_per_second(&s->floor),
        .changed_ns = FB_LONG_AGO,
    };
    *p = (struct pace){
        .burst = s->burst > 0 ? (float)s->burst : (float)BURST,
        .not_before_ns = FB_LONG_AGO,
        .in_flight_max = FB_NO_CAP,
    };
    set_pace(p, &c->step);
}

static bool step_on_outcome(union controller_state *c, struct pace *p, const struct answer *a)
{
    int32_t before = c->step.reduction;

    assert(!(a->throttled && a->accepted));
    if (a->throttled)
        fb_step_refused(&c->step, a->outcome->retry_after_ns);
    else if (a->accepted)
        fb_step_succeeded(&c->step);
    set_pace(p, &c->step);
    if (c->step.reduction != before)
        c->step.changed_ns = a->now_ns;
    return c->step.reduction != before;
}

/* ---- what lasts ---- */

static const struct field fields[] = {
    FB_FIELD(struct step, reduction, FIELD_UINT8, 0, REDUCTION_MAX),
    FB_FIELD(struct step, refused_row, FIELD_INT32, 0, INT32_MAX),
    FB_FIELD(struct step, success_row, FIELD_UINT8, 0, BACK_EVERY - 1),
    FB_FIELD(struct step, changed_ns, FIELD_INSTANT, 0, 4e9),
    FB_FIELD(struct step, agreeing, FIELD_INT32, 0, INT32_MAX),
    {"wait_ms", FIELD_UINT32, offsetof(struct step, wait_ms), FB_STEP_WAITS, 0, UINT32_MAX},
    FB_FIELD(struct step, wait_count, FIELD_UINT32, 0, UINT32_MAX),
};

static void step_resume(union controller_state *c, struct pace *p, int64_t now_ns)
{
    (void)now_ns;
    set_pace(p, &c->step);
}

static void step_learned(const union controller_state *c, const struct pace *p,
                         struct learned *ret_learned)
{
    (void)p;
    ret_learned->reduction = (double)c->step.reduction / 100.0;
    assert(ret_learned->reduction >= 0.0 && ret_learned->reduction < 1.0);
    ret_learned->confidence = fb_step_confidence(&c->step);
    ret_learned->recovery_ns = fb_step_recovery_ns(&c->step);
    ret_learned->changed_ns = c->step.changed_ns;
}

static int64_t step_default_hold(const union controller_state *c)
{
    return fb_step_recovery_ns(&c->step);
}

static void step_explain(const union controller_state *c, const struct pace *p, int64_t now_ns,
                         struct text *ret_text)
{
    const struct step *s = &c->step;

    (void)now_ns;
    assert(s->reduction <= REDUCTION_MAX && s->success_row < BACK_EVERY);
    if (p->rate > 0.0) {
        fb_text_add_number(ret_text, p->rate);
        fb_text_add(ret_text, "/s by step: ");
    } else {
        fb_text_add_int(ret_text, 100 - s->reduction);
        fb_text_add(ret_text, " % of the stated windows by step: ");
    }
    fb_text_add_int(ret_text, s->reduction);
    fb_text_add(ret_text, " points of 100 cut, 10 come back after 100 successes in a row (");
    fb_text_add_int(ret_text, s->success_row);
    fb_text_add(ret_text, " so far); confidence ");
    fb_text_add_fixed(ret_text, fb_step_confidence(s), 2);
    fb_text_add(ret_text, ".");
}

const struct controller fb_controller_step = {
    .name = "step",
    .init = step_init,
    .on_outcome = step_on_outcome,
    .default_hold = step_default_hold,
    .fields = fields,
    .field_count = sizeof(fields) / sizeof(fields[0]),
    .resume = step_resume,
    .learned = step_learned,
    .explain = step_explain,
};
