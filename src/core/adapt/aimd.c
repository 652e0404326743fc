/* SPDX-License-Identifier: MIT */
/*
 * aimd.c - a fifth less at each refusal, a hundredth more after a hundred successes in a row.
 *
 * Only an accepted answer is a success. An error, a timeout or a 4xx says nothing about the rate:
 * it neither lengthens nor ends a run of successes.
 */
#include "core/adapt/aimd.h"

#include <assert.h>

#include "core/constraint.h"
#include "core/controller.h"
#include "core/field.h"
#include "core/instant.h"
#include "core/spec.h"
#include "util/text.h"

#define CUT     0.80
#define RAISE   1.01
#define RUN     100 /* successes in a row for one raise */
#define HOLD_NS (60 * FB_NS_PER_S)

static double at_most(double x, double bound)
{
    return x < bound ? x : bound;
}

static double at_least(double x, double bound)
{
    return x > bound ? x : bound;
}

void fb_aimd_refused(struct aimd *a)
{
    assert(a->floor > 0.0 && a->floor <= a->ceiling);
    a->rate = at_least(a->rate * CUT, a->floor);
    assert(a->rate >= a->floor && a->rate <= a->ceiling);
    a->successes = 0;
}

void fb_aimd_succeeded(struct aimd *a)
{
    assert(a->successes >= 0 && a->successes < RUN);
    a->successes++;
    if (a->successes < RUN)
        return;
    a->rate = at_most(a->rate * RAISE, a->ceiling);
    a->successes = 0;
    assert(a->rate >= a->floor);
}

/* Bounds that were not stated give way to figures that were. */
static struct aimd begin(const struct spec *s)
{
    double rate = fb_rate_per_second(&s->rate);
    double floor = fb_rate_per_second(&s->floor);
    double ceiling = fb_rate_per_second(&s->ceiling);

    if (ceiling <= 0.0)
        ceiling = at_least(at_least(FB_AIMD_CEILING, rate), floor);
    if (floor <= 0.0)
        floor = at_most(FB_AIMD_FLOOR, rate > 0.0 ? rate : ceiling);
    assert(floor > 0.0 && floor <= ceiling);
    if (rate <= 0.0)
        rate = FB_AIMD_RATE;
    return (struct aimd){
        .rate = at_most(at_least(rate, floor), ceiling),
        .floor = floor,
        .ceiling = ceiling,
        .changed_ns = FB_LONG_AGO,
    };
}

static void aimd_init(union controller_state *c, struct pace *p, const struct spec *s,
                      int64_t now_ns)
{
    (void)now_ns;
    c->aimd = begin(s);
    assert(c->aimd.floor > 0.0 && c->aimd.floor <= c->aimd.rate);
    assert(c->aimd.rate <= c->aimd.ceiling);
    *p = (struct pace){
        .rate = c->aimd.rate,
        .burst = s->burst > 0 ? (float)s->burst : (float)FB_AIMD_BURST,
        .not_before_ns = FB_LONG_AGO,
        .in_flight_max = FB_NO_CAP,
        .limit_share = 1.0f,
    };
}

static bool aimd_on_outcome(union controller_state *c, struct pace *p, const struct answer *a)
{
    assert(!(a->throttled && a->accepted));
    if (a->throttled)
        fb_aimd_refused(&c->aimd);
    else if (a->accepted)
        fb_aimd_succeeded(&c->aimd);

    assert(p->rate > 0.0 && c->aimd.rate > 0.0);
    bool changed = p->rate < c->aimd.rate || p->rate > c->aimd.rate;
    p->rate = c->aimd.rate;
    c->aimd.agreed += a->accepted;
    if (changed) {
        c->aimd.agreed = 0;
        c->aimd.changed_ns = a->now_ns;
    }
    return changed;
}

/* ---- what lasts ---- */

static const struct field fields[] = {
    FB_FIELD(struct aimd, rate, FIELD_DOUBLE, 1e-12, (double)FB_RATE_MAX),
    FB_FIELD(struct aimd, successes, FIELD_INT64, 0, RUN - 1),
    FB_FIELD(struct aimd, agreed, FIELD_INT64, 0, 1e15),
    FB_FIELD(struct aimd, changed_ns, FIELD_INSTANT, 0, 4e9),
};

/* The bounds are those of now, whatever they were when it was learned. */
static void aimd_resume(union controller_state *c, struct pace *p, int64_t now_ns)
{
    (void)now_ns;
    c->aimd.rate = at_most(at_least(c->aimd.rate, c->aimd.floor), c->aimd.ceiling);
    assert(c->aimd.rate >= c->aimd.floor && c->aimd.rate <= c->aimd.ceiling);
    p->rate = c->aimd.rate;
}

static void aimd_learned(const union controller_state *c, const struct pace *p,
                         struct learned *ret_learned)
{
    assert(c->aimd.ceiling > 0.0);
    ret_learned->reduction = 1.0 - p->rate / c->aimd.ceiling;
    ret_learned->confidence = fb_confidence(c->aimd.agreed);
    ret_learned->recovery_ns = HOLD_NS;
    ret_learned->changed_ns = c->aimd.changed_ns;
}

static int64_t aimd_default_hold(const union controller_state *c)
{
    (void)c;
    return HOLD_NS;
}

static void aimd_explain(const union controller_state *c, const struct pace *p, int64_t now_ns,
                         struct text *ret_text)
{
    (void)now_ns;
    assert(p->rate > 0.0 && c->aimd.successes >= 0 && c->aimd.successes < RUN);
    fb_text_add_number(ret_text, p->rate);
    fb_text_add(ret_text, "/s by aimd: -20 % at each refusal, +1 % after 100 successes in a row (");
    fb_text_add_int(ret_text, c->aimd.successes);
    fb_text_add(ret_text, " so far).");
}

const struct controller fb_controller_aimd = {
    .name = "aimd",
    .init = aimd_init,
    .on_outcome = aimd_on_outcome,
    .default_hold = aimd_default_hold,
    .fields = fields,
    .field_count = sizeof(fields) / sizeof(fields[0]),
    .resume = aimd_resume,
    .learned = aimd_learned,
    .explain = aimd_explain,
};
