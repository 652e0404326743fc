/* SPDX-License-Identifier: MIT */
/*
 * configure.c - another plan, in place; and what operators do.
 *
 * Domains are known by their names. Everything that can fail is done before anything changes.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "util/alloc.h"
#include "watch/inside.h"

#define GONE UINT32_MAX

/* ---- domains ---- */

/* The domains of another plan, and what becomes of those that are. */
struct move {
    struct domain *to[WATCH_DOMAINS_MAX];
    bool is_new[WATCH_DOMAINS_MAX];
    uint32_t index[WATCH_DOMAINS_MAX]; /* of an old one among them; GONE */
    bool is_plain;                     /* the same ones in the same order */
};

static struct domain *find(const struct watch *w, const char *name)
{
    int n = fb_watch_domain_find(w, name);

    return n < 0 ? NULL : w->domain[n];
}

static void drop_new(struct move *m, size_t count)
{
    for (size_t n = 0; n < count; n++)
        if (m->is_new[n])
            fb_watch_domain_free(m->to[n]);
}

static int plan_move(const struct watch *w, const struct watch_plan *p, struct move *m)
{
    *m = (struct move){.is_plain = p->domain_count == w->plan.domain_count};
    for (size_t n = 0; n < WATCH_DOMAINS_MAX; n++)
        m->index[n] = GONE;
    for (uint32_t n = 0; n < p->domain_count; n++) {
        m->to[n] = find(w, p->domain[n].name);
        m->is_new[n] = !m->to[n];
        if (m->is_new[n] && !(m->to[n] = fb_watch_domain_new(&p->domain[n]))) {
            drop_new(m, n);
            return -ENOMEM;
        }
        if (!m->is_new[n])
            m->index[m->to[n]->index] = n;
        m->is_plain &= !m->is_new[n] && m->to[n]->index == n;
    }
    return 0;
}

/* ---- items ---- */

static uint32_t move_bits(const struct move *m, uint32_t bits)
{
    uint32_t moved = 0;

    for (uint32_t n = 0; n < WATCH_DOMAINS_MAX; n++)
        if (bits >> n & 1 && m->index[n] != GONE)
            moved |= UINT32_C(1) << m->index[n];
    return moved;
}

/* Whose a field is, by the new numbers. False: it is a domain's that has gone. */
static bool move_origins(const struct move *m, struct watch_item *i)
{
    bool is_whole = true;

    for (size_t n = 0; i->latest && n < i->latest->says.count; n++) {
        struct origin *o = &i->latest->origin[n];
        is_whole &= m->index[o->domain] != GONE;
        o->domain = m->index[o->domain] == GONE ? 0 : m->index[o->domain];
        o->agree = move_bits(m, o->agree);
        o->disagree = move_bits(m, o->disagree);
    }
    return is_whole;
}

/* Its links to domains that go are cut, the others get their new numbers. */
static bool move_item(struct watch *w, const struct move *m, struct watch_item *i)
{
    struct link *link[WATCH_DOMAINS_MAX] = {NULL};

    for (size_t n = 0; n < WATCH_DOMAINS_MAX; n++) {
        if (i->link[n] && m->index[n] == GONE)
            fb_watch_part(w, i->link[n]);
        if (i->link[n])
            link[m->index[n]] = i->link[n];
    }
    memcpy(i->link, link, sizeof(link));
    i->unmapped = 0;
    i->is_dirty = true;
    return move_origins(m, i);
}

static void move_flights(struct watch *w, const struct move *m)
{
    for (struct flight *f = w->flight; f; f = f->next) {
        if (!f->domain)
            continue;
        uint32_t index = m->index[f->domain->index];
        if (index == GONE)
            f->domain = NULL;
        else
            f->look.domain_index = index;
    }
}

/* ---- in force ---- */

static void tell_enabled(struct watch *w, const struct domain *d, const char *trigger)
{
    fb_watch_tell(w, (struct watch_event){
                         .kind = d->plan.enabled ? WATCH_ENABLED : WATCH_DISABLED,
                         .domain = d->plan.name,
                         .trigger = trigger,
                     });
}

/* What is set of a domain, without its name, which it has. */
static void set_domain(struct watch *w, struct domain *d, const struct watch_domain_plan *p)
{
    const char *name = d->plan.name;
    bool was_enabled = d->plan.enabled;

    d->plan = *p;
    d->plan.name = name;
    d->rank = p->weight * d->score;
    w->domain_plan[d->index] = d->plan;
    if (was_enabled != p->enabled)
        tell_enabled(w, d, "plan");
}

/* Links, looks and domains under their new numbers. */
static void move_all(struct watch *w, const struct move *m, size_t count)
{
    struct domain *old[WATCH_DOMAINS_MAX];

    memcpy(old, w->domain, sizeof(old));
    move_flights(w, m);
    for (size_t n = 0; n < w->count; n++)
        w->item[n]->is_torn = !move_item(w, m, w->item[n]);
    for (size_t n = 0; n < w->plan.domain_count; n++)
        if (m->index[n] == GONE)
            fb_watch_domain_free(old[n]);
    memset(w->domain, 0, sizeof(w->domain));
    for (uint32_t n = 0; n < count; n++) {
        w->domain[n] = m->to[n];
        w->domain[n]->index = n;
    }
}

/* Ages, failures and versions stay; when the next look is due is seen anew. */
static void settle_items(struct watch *w)
{
    for (size_t n = 0; n < w->count; n++) {
        struct watch_item *i = w->item[n];
        i->pause.failures_max = w->plan.pause_failures;
        i->pause.span_ns = w->plan.pause_ns;
        if (i->is_torn)
            fb_watch_reconcile(w, i);
        i->is_torn = false;
        fb_watch_trim(w, i, i->state == ITEM_live ? w->plan.history : 1);
        fb_watch_replan(w, i);
    }
}

static void put_in_force(struct watch *w, const struct watch_plan *p, const struct move *m)
{
    if (!m->is_plain)
        move_all(w, m, p->domain_count);
    w->plan = *p;
    w->plan.domain = w->domain_plan;
    for (size_t n = 0; n < p->domain_count; n++)
        set_domain(w, w->domain[n], &p->domain[n]);
    settle_items(w);
    /* New limits show in figures that are published now, and the list may know more. */
    w->due_ns = w->now_ns;
    w->list_due_ns = w->now_ns;
    fb_watch_tell(w, (struct watch_event){.kind = WATCH_CONFIGURED, .trigger = "plan"});
}

int fb_watch_configure(struct watch *w, const struct watch_plan *plan, struct fly_error *err)
{
    struct move m;
    int r = fb_watch_plan_check(plan, err);

    if (r < 0)
        return r;
    r = plan_move(w, plan, &m);
    if (r < 0)
        return r;
    fb_watch_read_clock(w);
    put_in_force(w, plan, &m);
    fb_watch_turn(w);
    return 0;
}

/* ---- operators ---- */

int fb_watch_enable(struct watch *w, const char *domain, bool enabled)
{
    struct domain *d = find(w, domain);

    if (!d)
        return -ENOENT;
    if (d->plan.enabled == enabled)
        return 0;
    fb_watch_read_clock(w);
    d->plan.enabled = w->domain_plan[d->index].enabled = enabled;
    if (!enabled)
        fb_watch_unqueue(w, d);
    tell_enabled(w, d, "operator");
    fb_watch_turn(w);
    return 0;
}

int fb_watch_pause(struct watch *w, const char *id, int64_t span_ns)
{
    struct watch_item *i = fb_watch_get(w, id);

    if (!i)
        return -ENOENT;
    fb_watch_read_clock(w);
    fb_watch_hold(w, i, fb_after(w->now_ns, span_ns > 0 ? span_ns : w->plan.pause_ns), "operator");
    fb_watch_turn(w);
    return 0;
}

int fb_watch_resume(struct watch *w, const char *id)
{
    struct watch_item *i = fb_watch_get(w, id);

    if (!i)
        return -ENOENT;
    fb_watch_read_clock(w);
    i->pause.until_ns = fb_min64(i->pause.until_ns, w->now_ns);
    fb_watch_release(w, i, "operator");
    fb_watch_replan(w, i);
    fb_watch_turn(w);
    return 0;
}

void fb_watch_recycle(struct watch *w)
{
    fb_watch_read_clock(w);
    fb_watch_renew(w, "operator");
    fb_watch_turn(w);
}
