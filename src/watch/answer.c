/* SPDX-License-Identifier: MIT */
/*
 * answer.c - what comes of looks, for the link, the item and the domain.
 *
 * Whose fault is a failure? The domain's, always, as far as it can be relied on. The item's only
 * where the domain answers for others: when a domain is down, none of its items is to blame, and
 * none is paused.
 */
#include <assert.h>
#include <string.h>

#include "core/backoff.h"
#include "watch/inside.h"

/* Never asked: that says nothing about anybody but ourselves. */
static bool is_ours(enum failure f)
{
    static const enum failure ours[] = {FAIL_OFFLINE, FAIL_LATE, FAIL_NO_ROOM, FAIL_STOPPED,
                                        FAIL_MEMORY};

    for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
        if (f == ours[i])
            return true;
    return false;
}

/* ---- domains ---- */

static void go_down(struct watch *w, struct domain *d)
{
    d->is_down = true;
    fb_watch_unqueue(w, d);
    fb_watch_tell(w, (struct watch_event){
                         .kind = WATCH_DOWN,
                         .domain = d->plan.name,
                         .trigger = "failures",
                         .outcome = fb_failure_name(d->failure),
                         .count = d->failures,
                     });
}

void fb_watch_domain_failed(struct watch *w, struct domain *d, enum failure failure)
{
    d->failure_ns = w->now_ns;
    d->failure = failure;
    d->failed[failure]++;
    if (is_ours(failure))
        return;
    d->failures++;
    fb_reliability_on_failure(&d->reliability, w->now_ns);
    if (d->failures < w->plan.down_failures)
        return;
    int64_t wait_ns = fb_backoff_ns(d->failures - w->plan.down_failures + 1, &w->rng);
    d->trial_ns = fb_after(w->now_ns, fb_min64(wait_ns, w->plan.down_ns));
    if (!d->is_down)
        go_down(w, d);
}

void fb_watch_domain_worked(struct watch *w, struct domain *d, int64_t latency_ns)
{
    d->success_ns = w->now_ns;
    d->failures = 0;
    d->latency_ns += latency_ns;
    if (!d->is_down)
        return;
    d->is_down = false;
    /* Where one is back, others may be. */
    fb_watch_try_all(w);
    fb_watch_tell(w, (struct watch_event){
                         .kind = WATCH_UP,
                         .domain = d->plan.name,
                         .trigger = "success",
                         .took_ns = w->now_ns - d->failure_ns,
                     });
}

void fb_watch_try_all(struct watch *w)
{
    for (size_t n = 0; n < w->plan.domain_count; n++) {
        w->domain[n]->trial_ns = w->now_ns;
        w->domain[n]->ready_ns = fb_min64(w->domain[n]->ready_ns, w->now_ns);
    }
}

/* ---- failures ---- */

static void hold(struct watch *w, struct link *l, enum link_hold why, int64_t span_ns)
{
    l->hold = (uint8_t)why;
    l->not_before_ns = fb_after(w->now_ns, span_ns);
}

/*
 * Attempts at one update grow apart. When they are used up the update is given up: the next one
 * comes no sooner than it would have come without a failure, a minute at the most.
 */
static int64_t until_next(struct watch *w, const struct link *l)
{
    int64_t wait_ns = fb_backoff_ns(l->failures, &w->rng);
    int64_t aim_ns = fb_min64(w->plan.aims.aim_ns[l->item->state], 60 * FB_NS_PER_S);

    return l->failures < w->plan.attempts ? wait_ns : fb_max64(wait_ns, aim_ns);
}

/* What pauses an item may come by chance within seconds: while it is young, one more is awaited. */
static bool is_by_chance(const struct watch *w, const struct watch_item *i)
{
    int64_t age_ns = fb_freshness_age(&i->freshness, w->now_ns);

    return i->pause.failures + 1 >= i->pause.failures_max &&
           age_ns < w->plan.health.degraded_ns / 2;
}

static void on_failure(struct watch *w, struct link *l, enum failure failure)
{
    struct watch_item *i = l->item;

    l->failure_ns = w->now_ns;
    l->failure = (uint8_t)failure;
    l->failures++;
    w->figures.given_up += l->failures == w->plan.attempts;
    hold(w, l, HOLD_BACKOFF, until_next(w, l));
    if (is_ours(failure) || failure == FAIL_THROTTLED || l->domain->is_down)
        return;
    if (is_by_chance(w, i))
        return;
    if (fb_pause_on_failure(&i->pause, w->now_ns))
        fb_watch_hold(w, i, i->pause.until_ns, "failures");
}

/* ---- successes ---- */

/* Every look that told something: the item is as fresh as the request. */
static void refresh(struct watch *w, struct link *l, int64_t asked_ns)
{
    struct watch_item *i = l->item;

    fb_freshness_on_snapshot(&i->freshness, asked_ns);
    fb_pause_on_success(&i->pause);
    i->on_trial = false;
    i->is_dirty = true;
    w->figures.success_ns = w->now_ns;
}

/* Put what was said in its place. FAIL_NONE, or why it cannot be. */
static enum failure take_fields(struct watch *w, struct link *l, enum look_kind kind,
                                const struct watch_answer *a, int64_t asked_ns)
{
    struct said **place = kind == LOOK_STATIC ? &l->fixed : &l->live;
    bool is_bad;
    struct said *s = fb_watch_copy(w, &a->says, asked_ns, &is_bad);

    if (!s)
        return is_bad ? FAIL_PAYLOAD : FAIL_MEMORY;
    fb_watch_unsay(w, place);
    *place = s;
    return FAIL_NONE;
}

/* Not modified: it holds for now as well. Without anything to refer to that is no answer. */
static enum failure take_same(struct link *l, enum look_kind kind, int64_t asked_ns)
{
    struct said *s = kind == LOOK_STATIC ? l->fixed : l->live;

    if (!s)
        return FAIL_PAYLOAD;
    s->asked_ns = fb_max64(s->asked_ns, asked_ns);
    return FAIL_NONE;
}

static void on_success(struct watch *w, struct link *l, const struct flight *f,
                       const struct watch_answer *a)
{
    struct domain *d = l->domain;

    l->failures = 0;
    l->hold = HOLD_NONE;
    l->not_before_ns = FB_LONG_AGO;
    if (f->look.kind == LOOK_ITEM && fb_watch_is_odd(w, l)) {
        d->odd++;
        fb_reliability_on_failure(&d->reliability, w->now_ns);
    } else {
        fb_reliability_on_success(&d->reliability, a->latency_ns, w->now_ns);
    }
    fb_watch_domain_worked(w, d, a->latency_ns);
    w->recycle_looks++;
}

/* ---- the end of a look ---- */

/* An answer about another item is no answer. */
static bool is_about(struct watch *w, const struct link *l, const struct watch_answer *a)
{
    if (!a->domain_id || strcmp(a->domain_id, l->domain_id) == 0)
        return true;
    fb_watch_warn(w, WATCH_WARN_MISMATCH, l->domain, l->item->id, a->domain_id);
    return false;
}

static enum failure take(struct watch *w, struct flight *f, const struct watch_answer *a,
                         int64_t asked_ns)
{
    struct link *l = f->link;

    if (a->end == LOOK_FAILED)
        return a->failure == FAIL_NONE ? FAIL_NETWORK : a->failure;
    if (a->end == LOOK_SAME)
        return is_about(w, l, a) ? take_same(l, f->look.kind, asked_ns) : FAIL_PAYLOAD;
    enum failure failure =
        is_about(w, l, a) ? take_fields(w, l, f->look.kind, a, asked_ns) : FAIL_PAYLOAD;
    l->was_refused = failure != FAIL_NONE;
    return failure;
}

static int64_t asked_at(const struct watch *w, const struct flight *f, const struct watch_answer *a)
{
    int64_t at_ns = a->asked_ns == 0 ? f->look.begun_ns : fb_after(a->asked_ns, w->shift_ns);

    return fb_clamp64(at_ns, f->look.begun_ns, w->now_ns);
}

/* The domain does not know it: that is an answer, and worth as much as any for a while. */
static void on_absence(struct watch *w, struct link *l, const struct watch_answer *a)
{
    l->failures = 0;
    hold(w, l, HOLD_ABSENT, w->plan.absent_ns);
    fb_watch_unsay(w, &l->live);
    fb_reliability_on_success(&l->domain->reliability, a->latency_ns, w->now_ns);
    fb_watch_domain_worked(w, l->domain, a->latency_ns);
    l->item->is_dirty = true;
}

/* Returns how it ended, which may be worse than the answer claims. */
static enum look_end end_link(struct watch *w, struct flight *f, const struct watch_answer *a,
                              enum failure *ret_failure)
{
    struct link *l = f->link;
    int64_t asked_ns = asked_at(w, f, a);

    if (a->end == LOOK_CANCELLED)
        return LOOK_CANCELLED;
    if (a->end == LOOK_ABSENT) {
        on_absence(w, l, a);
        return LOOK_ABSENT;
    }
    l->was_free = a->was_free;
    *ret_failure = take(w, f, a, asked_ns);
    if (*ret_failure != FAIL_NONE) {
        fb_watch_domain_failed(w, l->domain, *ret_failure);
        on_failure(w, l, *ret_failure);
        return LOOK_FAILED;
    }
    if (f->look.kind == LOOK_ITEM)
        refresh(w, l, asked_ns);
    on_success(w, l, f, a);
    return a->end;
}

static const char *outcome_of(enum look_end end, enum failure failure)
{
    static const char *const names[] = {
        [LOOK_OK] = "ok",
        [LOOK_SAME] = "same",
        [LOOK_ABSENT] = "absent",
        [LOOK_CANCELLED] = "cancelled",
    };

    return end == LOOK_FAILED ? fb_failure_name(failure) : names[end];
}

static void count_end(struct watch *w, struct domain *d, const struct watch_answer *a,
                      enum look_end end)
{
    w->figures.ended[end]++;
    w->figures.was_free += a->was_free;
    if (d) {
        d->ended[end]++;
        d->was_free += a->was_free;
        d->was_killed += a->was_killed;
    }
}

static void tell_end(struct watch *w, const struct flight *f, enum look_end end,
                     enum failure failure)
{
    fb_watch_tell(w, (struct watch_event){
                         .kind = WATCH_LOOKED,
                         .id = f->look.id,
                         .domain = f->look.domain,
                         .outcome = outcome_of(end, failure),
                         .attempt = f->look.attempt,
                         .seq = f->link ? f->link->item->seq : 0,
                         .took_ns = w->now_ns - f->look.begun_ns,
                     });
}

/* ---- the list ---- */

static void on_list_failed(struct watch *w, enum failure failure)
{
    w->list_failures++;
    w->list_due_ns =
        fb_after(w->now_ns, fb_min64(fb_backoff_ns(w->list_failures, &w->rng), w->plan.list_ns));
    if (w->list_is_down || w->list_failures < w->plan.down_failures)
        return;
    w->list_is_down = true;
    fb_watch_tell(w, (struct watch_event){
                         .kind = WATCH_LIST_FAILED,
                         .trigger = "failures",
                         .outcome = fb_failure_name(failure),
                         .count = w->list_failures,
                     });
}

static enum look_end end_list(struct watch *w, const struct watch_answer *a)
{
    if (a->end == LOOK_SAME && w->list > 0) {
        fb_watch_list_same(w);
    } else if (a->end != LOOK_CANCELLED) {
        on_list_failed(w, a->failure);
        return LOOK_FAILED;
    }
    return a->end;
}

/* ---- all of them ---- */

void fb_watch_end(struct watch *w, struct flight *f, const struct watch_answer *a)
{
    enum failure failure = a->failure;
    enum look_end end = a->end;
    struct watch_item *i = f->link ? f->link->item : NULL;

    if (f->domain)
        f->domain->ready_ns =
            fb_min64(f->domain->ready_ns, w->now_ns); /* a limiter may know more */
    if (f->look.kind == LOOK_LIST)
        end = end_list(w, a);
    else if (f->link)
        end = end_link(w, f, a, &failure);
    count_end(w, f->domain, a, end);
    tell_end(w, f, end, failure);
    fb_watch_land(w, f);
    if (!i)
        return;
    if (end == LOOK_OK || end == LOOK_SAME || end == LOOK_ABSENT)
        fb_watch_reconcile(w, i);
    fb_watch_replan(w, i);
}

void fb_watch_looked(struct watch *w, struct watch_look *l, const struct watch_answer *a)
{
    struct flight *f = FB_HEAP_OWNER(l, struct flight, look);

    assert(!w->is_telling);
    fb_watch_read_clock(w);
    fb_watch_end(w, f, a);
    fb_watch_turn(w);
}
