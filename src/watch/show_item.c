/* SPDX-License-Identifier: MIT */
/* show_item.c - one item: the next look at it and why, what is known of it, and since when. */
#include <assert.h>
#include <string.h>

#include "watch/inside.h"
#include "watch/show.h"

/* ---- finding ---- */

size_t fb_watch_count(const struct watch *w)
{
    return w->count;
}

const struct watch_item *fb_watch_item_at(const struct watch *w, size_t n)
{
    return n < w->count ? w->item[n] : NULL;
}

const struct watch_item *fb_watch_find(const struct watch *w, const char *id)
{
    return fb_watch_get(w, id);
}

const struct watch_item *fb_watch_find_mapped(const struct watch *w, uint32_t domain,
                                              const char *domain_id)
{
    if (domain >= w->plan.domain_count)
        return NULL;
    const struct link *l = fb_watch_mapped(w, w->domain[domain], domain_id);
    return l ? l->item : NULL;
}

static bool is_stale(const struct watch *w, const struct watch_item *i)
{
    int64_t age_ns = fb_freshness_age(&i->freshness, fb_watch_time(w));

    return i->freshness.fresh_ns == FB_LONG_AGO || age_ns > w->plan.ttl_ns[i->state];
}

const struct watch_item *fb_watch_read(struct watch *w, const char *id)
{
    const struct watch_item *i = fb_watch_get(w, id);

    if (!i)
        w->figures.misses_unknown++;
    else if (is_stale(w, i))
        w->figures.misses[i->state]++;
    else
        w->figures.hits[i->state]++;
    return i;
}

/* ---- what comes next ---- */

/* An instant that may be FB_LONG_AGO, as readers know it. */
static int64_t shown(int64_t at_ns)
{
    return at_ns == FB_LONG_AGO ? 0 : at_ns;
}

static int64_t next_look(const struct watch *w, const struct link *l, enum watch_why *ret_why)
{
    const struct domain *d = l->domain;
    int64_t due_ns = fb_watch_due_at(w, l, ret_why);
    int64_t now_ns = fb_watch_time(w);

    if (l->place == ASKED) {
        *ret_why = WATCH_WHY_ASKED;
        return l->asked_ns;
    }
    if (!d->plan.enabled) {
        *ret_why = WATCH_WHY_DISABLED;
        return FB_NEVER;
    }
    if (d->is_down && d->trial_ns > due_ns) {
        *ret_why = WATCH_WHY_DOWN;
        return d->trial_ns;
    }
    if (l->place == QUEUED && d->ready_ns > now_ns) {
        *ret_why = WATCH_WHY_PERMIT;
        return d->ready_ns;
    }
    if (l->place == QUEUED || due_ns <= now_ns)
        *ret_why = WATCH_WHY_QUEUED;
    return due_ns;
}

static void show_next(const struct watch *w, const struct watch_item *i, struct watch_item_view *v)
{
    enum watch_why why;

    v->next_ns = FB_NEVER;
    v->next_domain = -1;
    v->why = i->is_over ? WATCH_WHY_FINAL : WATCH_WHY_UNMAPPED;
    for (size_t d = 0; d < w->plan.domain_count; d++) {
        if (!i->link[d])
            continue;
        int64_t at_ns = next_look(w, i->link[d], &why);
        if (at_ns >= v->next_ns)
            continue;
        v->next_ns = at_ns;
        v->next_domain = (int)d;
        v->why = why;
    }
}

/* ---- one item ---- */

void fb_watch_item(const struct watch *w, const struct watch_item *i,
                   struct watch_item_view *ret_view)
{
    *ret_view = (struct watch_item_view){
        .id = i->id,
        .state = i->state,
        .state_ns = i->state_ns,
        .seq = i->latest ? i->latest->seq : 0,
        .known_ns = i->freshness.known_ns,
        .fresh_ns = shown(i->freshness.fresh_ns),
        .age_ns = fb_freshness_age(&i->freshness, fb_watch_time(w)),
        .is_stale = is_stale(w, i),
        .is_out = fb_watch_out(w, i) != OUT_NOT,
        .paused_ns = i->is_paused ? i->pause.until_ns : 0,
        .failures = i->pause.failures,
        .in_flight = i->in_flight,
        .fields = i->latest ? i->latest->says.count : 0,
        .kept = (size_t)i->kept,
    };
    for (size_t d = 0; d < w->plan.domain_count; d++)
        ret_view->links += i->link[d] != NULL;
    show_next(w, i, ret_view);
}

static const struct link *link_at(const struct watch *w, const struct watch_item *i, size_t n)
{
    size_t d = 0;

    while (!i->link[d] || n-- > 0) {
        d++;
        assert(d < w->plan.domain_count);
    }
    return i->link[d];
}

void fb_watch_link(const struct watch *w, const struct watch_item *i, size_t n,
                   struct watch_link_view *ret_view)
{
    const struct link *l = link_at(w, i, n);

    *ret_view = (struct watch_link_view){
        .domain = l->domain->index,
        .domain_id = l->domain_id,
        .fresh_ns = l->live ? l->live->asked_ns : 0,
        .static_ns = l->fixed ? l->fixed->asked_ns : 0,
        .failure_ns = l->failure_ns,
        .failure = l->failure,
        .failures = l->failures,
        .absent_ns = l->hold == HOLD_ABSENT ? l->not_before_ns : 0,
        .in_flight = l->place == ASKED,
        .is_stale = fb_watch_is_old(w, l),
        .odd_ns = l->odd_since_ns == FB_NEVER ? 0 : l->odd_since_ns,
    };
    ret_view->next_ns = next_look(w, l, &ret_view->why);
}

void fb_watch_field(const struct watch *w, const struct watch_item *i, size_t n,
                    struct watch_field *ret_field)
{
    const struct picture *p = i->latest;

    assert(p && n < p->says.count);
    const struct origin *o = &p->origin[n];
    *ret_field = (struct watch_field){
        .name = p->field[n].name,
        .value = p->field[n].value,
        .domain = o->domain,
        .agree = o->agree,
        .disagree = o->disagree,
    };
    const struct link *l = o->domain < w->plan.domain_count ? i->link[o->domain] : NULL;
    if (l && l->live && fb_snapshot_find(&l->live->says, ret_field->name))
        ret_field->fresh_ns = l->live->asked_ns;
    else if (l && l->fixed)
        ret_field->fresh_ns = l->fixed->asked_ns;
}

const char *fb_watch_says(const struct watch *w, const struct watch_item *i, uint32_t domain,
                          const char *name)
{
    const struct link *l = domain < w->plan.domain_count ? i->link[domain] : NULL;
    const char *value = l && l->live ? fb_snapshot_find(&l->live->says, name) : NULL;

    if (!value && l && l->fixed)
        value = fb_snapshot_find(&l->fixed->says, name);
    return value;
}

/* ---- versions ---- */

void fb_watch_version(const struct watch *w, const struct watch_item *i, size_t n,
                      struct watch_version *ret_version)
{
    const struct picture *p = i->latest;

    (void)w;
    while (p && n-- > 0)
        p = p->older;
    assert(p);
    *ret_version = (struct watch_version){.seq = p->seq, .at_ns = p->at_ns, .says = p->says};
}

static const struct picture *version_of(const struct watch_item *i, uint64_t seq)
{
    const struct picture *p = i->latest;

    while (p && p->seq != seq)
        p = p->older;
    return p;
}

void fb_watch_delta(struct watch *w, const struct watch_item *i, uint64_t since,
                    struct watch_delta *ret_delta)
{
    const struct picture *latest = i->latest;
    struct snapshot from = {.count = 0};
    uint64_t seq = latest ? latest->seq : 0;

    *ret_delta = (struct watch_delta){.need = DELTA_NOTHING, .from = since, .to = seq};
    if (!latest || since == seq)
        return;
    ret_delta->need = fb_delta_need(since, seq, (uint64_t)i->kept - 1);
    const struct picture *had = version_of(i, since);
    if (!had)
        ret_delta->need = DELTA_WHOLE;
    if (ret_delta->need == DELTA_CHANGES && had)
        from = had->says;
    ret_delta->change = w->change;
    ret_delta->count = fb_delta(&from, &latest->says, w->change);
}
