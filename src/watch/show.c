/* SPDX-License-Identifier: MIT */
/* show.c - figures of all of it, and of domains. */
#include "watch/show.h"

#include <assert.h>
#include <string.h>

#include "util/alloc.h"
#include "watch/inside.h"

const struct watch_plan *fb_watch_plan(const struct watch *w)
{
    return &w->plan;
}

void fb_watch_figures(const struct watch *w, struct watch_figures *ret_figures)
{
    struct watch_figures *f = ret_figures;

    *f = w->figures;
    f->now_ns = fb_watch_time(w);
    f->grade = w->health.grade;
    f->grade_since_ns = w->health.since_ns;
    f->grade_text = w->grade_text;
    f->is_idle = fb_watch_is_idle(w);
    f->queued = w->queued;
    for (size_t s = 0; s < ITEM_STATES; s++)
        f->queued_by[s] = w->level[s].count;
    f->in_flight = w->in_flight;
    f->memory_bytes += (int64_t)(w->plan.domain_count * sizeof(struct domain));
}

/* The ages of one state, into room for all items. How many. */
static size_t ages_of(const struct watch *w, enum item_state state, int64_t *ages_ns)
{
    int64_t now_ns = fb_watch_time(w);
    size_t count = 0;

    for (size_t n = 0; n < w->count; n++) {
        const struct watch_item *i = w->item[n];

        if (i->state == state && fb_watch_out(w, i) == OUT_NOT)
            ages_ns[count++] = fb_freshness_age(&i->freshness, now_ns);
    }
    return count;
}

void fb_watch_spreads(const struct watch *w, struct freshness_spread ret_spread[ITEM_STATES])
{
    int64_t *ages_ns = fb_alloc_raw((w->count + 1) * sizeof(*ages_ns));

    /* Without memory those of the latest interval have to do. */
    for (size_t s = 0; s < ITEM_STATES; s++)
        ret_spread[s] = ages_ns
                            ? fb_freshness_spread(ages_ns, ages_of(w, (enum item_state)s, ages_ns))
                            : w->figures.spread[s];
    fb_free(ages_ns);
}

int fb_watch_domain_find(const struct watch *w, const char *name)
{
    for (size_t n = 0; n < w->plan.domain_count; n++)
        if (strcmp(w->domain[n]->plan.name, name) == 0)
            return (int)n;
    return -1;
}

static void show_counts(const struct domain *d, struct watch_domain_view *v)
{
    v->looks = d->looks;
    v->retries = d->retries;
    v->was_free = d->was_free;
    v->was_killed = d->was_killed;
    v->odd = d->odd;
    v->wins = d->wins;
    v->waits = d->waits;
    v->latency_ns = d->latency_ns;
    v->warnings = d->warnings;
    memcpy(v->ended, d->ended, sizeof(v->ended));
    memcpy(v->failed, d->failed, sizeof(v->failed));
}

void fb_watch_domain(const struct watch *w, uint32_t index, struct watch_domain_view *ret_view)
{
    assert(index < w->plan.domain_count);
    const struct domain *d = w->domain[index];

    *ret_view = (struct watch_domain_view){
        .name = d->plan.name,
        .weight = d->plan.weight,
        .reliability =
            fb_reliability_figures(&d->reliability, &w->plan.reliability, fb_watch_time(w)),
        .is_enabled = d->plan.enabled,
        .is_demoted = d->reliability.demoted,
        .is_down = d->is_down,
        .concurrency = d->plan.concurrency,
        .in_flight = d->in_flight,
        .queued = d->queued,
        .items = d->items,
        .unmapped = (int64_t)w->count - d->items,
        .ready_ns = fb_max64(0, d->is_down ? fb_max64(d->ready_ns, d->trial_ns) : d->ready_ns),
        .success_ns = d->success_ns,
        .failure_ns = d->failure_ns,
        .failure = d->failure,
        .failures = d->failures,
    };
    ret_view->rank = d->plan.weight * ret_view->reliability.score;
    show_counts(d, ret_view);
}
