/* SPDX-License-Identifier: MIT */
/* explain.c - the accountant's answer as a sentence for people. */
#include <assert.h>
#include <stddef.h>

#include "core/accountant.h"
#include "core/bucket.h"
#include "core/hold.h"
#include "core/instant.h"
#include "core/quota.h"
#include "core/window.h"
#include "util/text.h"

const char *fb_accountant_cause(const struct verdict *v)
{
    assert(!v->cause || v->cause->name);

    if (!v->cause)
        return "go";
    return v->at_ns == FB_NEVER && v->cause->never ? v->cause->never : v->cause->name;
}

enum pace_wait fb_accountant_pace_wait(const struct accountant *a, int64_t now_ns)
{
    const struct controller *c = fb_accountant_controller(a);
    const int64_t *slot = &a->slot[FB_SLOT_hold];
    int64_t asked_ns = fb_max64(slot[FB_HOLD_UNTIL], now_ns);

    assert(asked_ns >= now_ns);
    if (!c || !c->waits || slot[FB_HOLD_PACE_UNTIL] <= asked_ns)
        return PACE_FREE;
    return c->waits(&a->learned);
}

/* A hold is told by whoever asked for it: the server, or what learns. */
static const char *says(const struct accountant *a, const struct verdict *v, int64_t now_ns)
{
    static const char *const paced[] = {
        [PACE_REFUSED] = "a refusal told no time, and one request tries it then",
        [PACE_FAILED] = "too much fails, and one request tries it then",
        [PACE_ASKED] = "one request is out to see how the others may go on",
        [PACE_SPENT] = "what the learned limit allows until then is used up",
    };
    enum pace_wait wait = fb_accountant_pace_wait(a, now_ns);

    assert(v->cause && (unsigned)wait < sizeof(paced) / sizeof(paced[0]));
    if (v->cause == &fb_constraint_hold && wait != PACE_FREE)
        return paced[wait];
    return v->at_ns == FB_NEVER && v->cause->never_says ? v->cause->never_says : v->cause->says;
}

/* Of the row that waits; only what is in force has any. */
static void add_figures(struct text *t, const struct accountant *a, const struct verdict *v,
                        const struct ask *q)
{
    static const struct {
        const struct constraint *constraint;
        int slot;
    } rows[] = {
#define X(name, slots) {&fb_constraint_##name, FB_SLOT_##name},
        FB_CONSTRAINTS(X)
#undef X
    };

    for (unsigned i = 0; i < FB_CONSTRAINT_COUNT; i++)
        if (v->cause == rows[i].constraint && v->cause->figures && a->in_force >> i & 1)
            v->cause->figures(&a->slot[rows[i].slot], q, t);
}

static void add_reason(struct text *t, const struct accountant *a, const struct verdict *v,
                       const struct ask *q)
{
    assert(v->cause && v->cause->says);
    fb_text_add(t, ": ");
    fb_text_add(t, says(a, v, q->now_ns));
    if (v->at_ns < FB_NEVER)
        add_figures(t, a, v, q);
    fb_text_add(t, ".");
}

static void add_wait(struct text *t, const struct accountant *a, const struct verdict *v,
                     const struct ask *q)
{
    assert(!v->cause || v->at_ns > q->now_ns);

    if (!v->cause) {
        fb_text_add(t, "May start now.");
        return;
    }
    if (v->at_ns < FB_NEVER) {
        fb_text_add(t, "Next start in ");
        fb_text_add_span(t, v->at_ns - q->now_ns);
    } else {
        fb_text_add(t, v->cause->never_says ? "Can never start" : "Waits for an answer");
    }
    add_reason(t, a, v, q);
}

/* What is told to be left, unless somebody knows that it is more than will be asked for. */
static bool is_bound_by_quota(const struct accountant *a)
{
    const int64_t *quota = &a->slot[FB_SLOT_quota];

    assert(quota[FB_QUOTA_LIMIT] >= 0 && quota[FB_QUOTA_LIMIT] <= FB_QUOTA_MAX);
    if (!(a->in_force >> FB_CONSTRAINT_quota & 1) || quota[FB_QUOTA_LIMIT] == 0)
        return false;
    return fb_quota_backlog(quota) < 0 ||
           !fb_accountant_is_ample(a, quota[FB_QUOTA_LIMIT], quota[FB_QUOTA_LEFT]);
}

struct bound fb_accountant_amounts(const struct accountant *a, int64_t now_ns)
{
    struct bound b = {.rate = 0.0};

    if (a->in_force >> FB_CONSTRAINT_window & 1)
        fb_bound_tighten(&b, fb_window_rate(&a->slot[FB_SLOT_window]), BOUND_WINDOW);
    if (is_bound_by_quota(a))
        fb_bound_tighten(&b, fb_quota_rate(&a->slot[FB_SLOT_quota], a->units_out, now_ns),
                         BOUND_QUOTA);
    assert((b.by == BOUND_NOTHING) == (b.rate <= 0.0));
    return b;
}

static void add_stated(struct text *t, const struct accountant *a, int64_t now_ns)
{
    static const char *const words[] = {
        [BOUND_STATED] = "/s as stated.",
        [BOUND_WINDOW] = "/s by the window that is stated.",
        [BOUND_QUOTA] = "/s by the quota that is told.",
    };
    struct bound b = fb_accountant_amounts(a, now_ns);

    if (a->learner == 0)
        fb_bound_tighten(&b, fb_bucket_rate(&a->slot[FB_SLOT_bucket]), BOUND_STATED);
    if (b.by == BOUND_NOTHING) {
        fb_text_add(t, "No rate is stated.");
        return;
    }
    assert(b.rate > 0.0 && words[b.by]);
    fb_text_add_number(t, b.rate);
    fb_text_add(t, words[b.by]);
}

/* What nothing leaves at is no pace: who learns would tell of one that is not kept. */
static bool is_held(const struct verdict *v)
{
    return v->cause == &fb_constraint_hold && v->at_ns < FB_NEVER;
}

void fb_accountant_explain(const struct accountant *a, const struct verdict *v, int64_t cost,
                           int64_t now_ns, struct text *ret_text)
{
    const struct controller *c = fb_accountant_controller(a);
    const struct ask q = {
        .now_ns = now_ns, .cost = cost, .in_flight = a->in_flight, .units_out = a->units_out};

    assert(cost >= 1);
    assert(a->in_flight >= 0 && a->units_out >= 0);
    add_wait(ret_text, a, v, &q);
    if (is_held(v))
        return;
    fb_text_add(ret_text, " ");
    /* What a quota spreads is spread slower than who learns would go. */
    if (c && v->cause != &fb_constraint_quota)
        c->explain(&a->learned, &a->pace, now_ns, ret_text);
    else
        add_stated(ret_text, a, now_ns);
}
