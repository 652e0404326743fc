/* SPDX-License-Identifier: MIT */
/*
 * judge.c - the end of an interval: how fresh everything is, what that is called, and what is done
 * about it.
 *
 * All items are walked over once. No age is changed here, nor by anything that follows from it.
 */
#include <assert.h>
#include <string.h>

#include "util/alloc.h"
#include "util/text.h"
#include "watch/inside.h"

#define CROWDED_LEAST 3 /* intervals with looks put off, in a row: it is no mere burst */

/* ---- domains ---- */

static void judge_domain(struct watch *w, struct domain *d)
{
    bool has_changed = fb_reliability_judge(&d->reliability, &w->plan.reliability, w->now_ns);
    struct reliability_figures f =
        fb_reliability_figures(&d->reliability, &w->plan.reliability, w->now_ns);
    char text[80];
    struct text t;

    d->score = f.score;
    d->rank = d->plan.weight * f.score;
    d->wins = 0;
    if (!has_changed)
        return;
    fb_text_init(&t, text, sizeof(text));
    fb_text_add(&t, "its reliability is ");
    fb_text_add_fixed(&t, f.score, 2);
    fb_watch_tell(w, (struct watch_event){
                         .kind = d->reliability.demoted ? WATCH_DEMOTED : WATCH_RESTORED,
                         .domain = d->plan.name,
                         .trigger = "reliability",
                         .text = text,
                     });
}

/* ---- items ---- */

/* Room for the ages of all items, so that an interval never fails halfway. */
static bool has_room(struct watch *w)
{
    if (w->ages_room >= w->count)
        return true;
    for (size_t s = 0; s < ITEM_STATES; s++) {
        int64_t *ages = fb_alloc(w->room * sizeof(int64_t));
        if (!ages)
            return false;
        fb_free(w->ages[s]);
        w->ages[s] = ages;
    }
    w->ages_room = w->room;
    return true;
}

/* What was kept of a completed item goes when its time is over. */
static void expire(struct watch *w, struct watch_item *i)
{
    if (i->state != ITEM_completed || i->is_over || w->now_ns - i->state_ns < w->plan.final_ns)
        return;
    i->is_over = true;
    i->is_dirty = true;
    fb_watch_trim(w, i, 0);
    for (size_t d = 0; d < w->plan.domain_count; d++)
        if (i->link[d]) {
            fb_watch_unsay(w, &i->link[d]->live);
            fb_watch_unsay(w, &i->link[d]->fixed);
        }
    fb_watch_replan(w, i);
}

static void count_wins(struct watch *w, const struct watch_item *i)
{
    const struct picture *p = i->latest;

    if (i->state != ITEM_live || !p)
        return;
    for (size_t n = 0; n < p->says.count; n++)
        w->domain[p->origin[n].domain]->wins++;
}

/* What is so, over all items. */
struct survey {
    size_t count[ITEM_STATES];
    int64_t paused, absent, unmapped, out;
    bool is_overdue; /* some live item is */
};

static void survey_item(struct watch *w, struct watch_item *i, struct survey *s)
{
    enum item_out out = fb_watch_out(w, i);
    int64_t age_ns = fb_freshness_age(&i->freshness, w->now_ns);

    s->paused += out == OUT_PAUSED;
    s->absent += out == OUT_ABSENT;
    s->unmapped += out == OUT_UNMAPPED;
    s->out += out != OUT_NOT;
    if (out != OUT_NOT)
        return;
    w->ages[i->state][s->count[i->state]++] = age_ns;
    if (i->state == ITEM_live && age_ns >= w->plan.aims.aim_ns[ITEM_live])
        s->is_overdue = true;
}

static struct survey survey(struct watch *w)
{
    struct survey s = {.count = {0}};

    for (size_t n = 0; n < w->count; n++) {
        struct watch_item *i = w->item[n];
        fb_watch_release(w, i, "cooldown");
        expire(w, i);
        count_wins(w, i);
        survey_item(w, i, &s);
        if (i->is_dirty)
            fb_watch_keep(w, i);
    }
    return s;
}

static void publish(struct watch *w, const struct survey *s)
{
    struct watch_figures *f = &w->figures;

    for (size_t n = 0; n < ITEM_STATES; n++)
        f->spread[n] = fb_freshness_spread(w->ages[n], s->count[n]);
    f->paused = s->paused;
    f->absent = s->absent;
    f->unmapped = s->unmapped;
    f->out = s->out;
    f->interval_ns = w->now_ns;
    f->intervals++;
    f->deferred_lately = w->deferred;
    w->crowded = w->deferred > 0 ? w->crowded + 1 : 0;
}

/* ---- the grade ---- */

static void add_age(struct text *t, const char *what, int64_t age_ns, int64_t limit_ns)
{
    fb_text_add(t, what);
    fb_text_add_span(t, age_ns);
    fb_text_add(t, " old, the limit is ");
    fb_text_add_span(t, limit_ns);
}

/* Why the grade is what it is. */
static void explain(struct watch *w)
{
    const struct freshness_spread *live = &w->figures.spread[ITEM_live];
    const struct health_limits *l = &w->plan.health;
    int64_t quiet_ns = w->now_ns - fb_max64(w->figures.success_ns, w->health.work_ns);
    struct text t;

    fb_text_init(&t, w->grade_text, sizeof(w->grade_text));
    if (w->health.work_ns != FB_NEVER && quiet_ns >= l->stall_ns) {
        w->grade_trigger = "stall";
        fb_text_add(&t, "nothing has succeeded for ");
        fb_text_add_span(&t, quiet_ns);
    } else if (live->count > 0 && live->oldest_ns >= l->failing_ns) {
        w->grade_trigger = "oldest";
        add_age(&t, "the oldest live item is ", live->oldest_ns, l->failing_ns);
    } else if (live->count > 0 && live->p50_ns >= l->degraded_ns) {
        w->grade_trigger = "median";
        add_age(&t, "half of the live items are ", live->p50_ns, l->degraded_ns);
    } else if (live->count > 0 && live->p95_ns >= l->degraded_ns) {
        w->grade_trigger = "p95";
        add_age(&t, "one in twenty live items is ", live->p95_ns, l->degraded_ns);
    } else if (w->crowded >= CROWDED_LEAST) {
        w->grade_trigger = "overload";
        fb_text_add(&t, "more looks are due than there is room for; ");
        fb_text_add_int(&t, w->deferred);
        fb_text_add(&t, " were put off");
    } else if (live->count > 0) {
        w->grade_trigger = "fresh";
        fb_text_add(&t, "nineteen in twenty live items are younger than ");
        fb_text_add_span(&t, live->p95_ns + 1);
    } else {
        w->grade_trigger = "idle";
        fb_text_add(&t, "nothing is live");
    }
}

static void tell_grade(struct watch *w, enum health was)
{
    char text[224];
    struct text t;

    fb_text_init(&t, text, sizeof(text));
    fb_text_add(&t, fb_health_name(was));
    fb_text_add(&t, " to ");
    fb_text_add(&t, fb_health_name(w->health.grade));
    fb_text_add(&t, ": ");
    fb_text_add(&t, w->grade_text);
    fb_watch_tell(w, (struct watch_event){
                         .kind = WATCH_GRADE,
                         .trigger = w->grade_trigger,
                         .outcome = fb_health_name(w->health.grade),
                         .text = text,
                     });
}

/* A recovery that was begun has come to its end: the grade says which. */
static void end_recovery(struct watch *w, bool has_helped, int64_t began_ns)
{
    if (!w->is_recovering)
        return;
    w->is_recovering = false;
    fb_watch_tell(
        w, (struct watch_event){
               .kind = has_helped ? WATCH_RECOVERED : WATCH_UNHELPED,
               .trigger = "stall",
               .outcome = fb_health_name(w->health.grade),
               .took_ns = w->now_ns - began_ns,
               .until_ns = has_helped ? 0 : fb_health_recovery_at(&w->health, &w->plan.health),
           });
}

static void recover(struct watch *w)
{
    w->is_recovering = true;
    w->figures.recoveries++;
    w->figures.recovery_ns = w->now_ns;
    fb_watch_tell(w, (struct watch_event){
                         .kind = WATCH_RECOVERY,
                         .trigger = "stall",
                         .outcome = "begun",
                         .text = w->grade_text,
                         .count = w->health.recoveries,
                     });
    fb_watch_renew(w, "recovery");
}

static void grade(struct watch *w, bool is_overdue)
{
    struct health_facts facts = {
        .live = w->figures.spread[ITEM_live],
        .success_ns = w->figures.success_ns ? w->figures.success_ns : FB_LONG_AGO,
        .has_work = is_overdue || w->in_flight > 0 || w->queued > 0,
        .is_overloaded = w->crowded >= CROWDED_LEAST,
    };
    enum health was = w->health.grade;
    int64_t began_ns = w->health.recovery_ns;
    struct health_verdict v = fb_health_judge(&w->health, &w->plan.health, &facts, w->now_ns);

    explain(w);
    if (v.recover)
        end_recovery(w, false, began_ns);
    if (v.changed)
        tell_grade(w, was);
    if (v.recover)
        recover(w);
    else if (w->health.grade != HEALTH_recovering)
        end_recovery(w, w->health.grade != HEALTH_failing, began_ns);
}

/* ---- beginning anew ---- */

void fb_watch_renew(struct watch *w, const char *trigger)
{
    w->figures.recycles++;
    w->figures.recycled_ns = w->recycled_ns = w->now_ns;
    w->recycle_looks = 0;
    fb_watch_tell(w, (struct watch_event){.kind = WATCH_RECYCLE, .trigger = trigger});
    fb_watch_try_all(w);
    w->list_due_ns = fb_min64(w->list_due_ns, w->now_ns);
    w->ports.recycle(w->ports.self);
}

static void renew_in_time(struct watch *w)
{
    const struct watch_plan *p = &w->plan;

    if (p->recycle_looks > 0 && w->recycle_looks >= p->recycle_looks)
        fb_watch_renew(w, "looks");
    else if (p->recycle_ns > 0 && w->now_ns - w->recycled_ns >= p->recycle_ns)
        fb_watch_renew(w, "uptime");
}

/* ---- all of it ---- */

static void set_next(struct watch *w)
{
    int64_t span_ns = fb_watch_is_idle(w) ? w->plan.idle_ns : w->plan.interval_ns;

    /* At a steady pace, unless the clock ran ahead. */
    w->due_ns = fb_after(w->due_ns, span_ns);
    if (w->due_ns <= w->now_ns)
        w->due_ns = fb_after(w->now_ns, span_ns);
}

void fb_watch_judge(struct watch *w)
{
    if (!has_room(w)) {
        w->due_ns = fb_after(w->now_ns, FB_NS_PER_S);
        return;
    }
    for (size_t n = 0; n < w->plan.domain_count; n++)
        judge_domain(w, w->domain[n]);
    struct survey s = survey(w);
    publish(w, &s);
    grade(w, s.is_overdue);
    renew_in_time(w);
    if (w->deferred > 0)
        fb_watch_tell(w, (struct watch_event){.kind = WATCH_DEFERRED, .count = w->deferred});
    w->deferred = 0;
    set_next(w);
    fb_watch_tell(w, (struct watch_event){.kind = WATCH_INTERVAL, .text = w->grade_text});
}
