/* SPDX-License-Identifier: MIT */
/*
 * begin.c - looks leave: the most urgent first, where there is a place and a permit.
 *
 * Invariant: no look begins above the cap of all or of its domain. That is counted as well, apart
 * from the test that prevents it.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "util/alloc.h"
#include "watch/inside.h"

/* ---- flights ---- */

static char *lay(char **to, const char *text)
{
    size_t size = strlen(text) + 1;
    char *at = *to;

    memcpy(at, text, size);
    *to += size;
    return at;
}

static struct flight *flight_new(struct watch *w, enum look_kind kind, struct link *l)
{
    const char *id = l ? l->item->id : "";
    const char *domain_id = l ? l->domain_id : "";
    const char *domain = l ? l->domain->plan.name : "";
    struct flight *f = fb_alloc(sizeof(*f) + strlen(id) + strlen(domain_id) + strlen(domain) + 3);

    if (!f)
        return NULL;
    char *text = f->text;
    f->link = l;
    f->domain = l ? l->domain : NULL;
    f->look = (struct watch_look){
        .kind = kind,
        .domain_index = l ? l->domain->index : 0,
        .state = l ? l->item->state : ITEM_live,
        .attempt = 1 + (l ? l->failures : w->list_failures),
        .begun_ns = w->now_ns,
    };
    f->look.id = lay(&text, id);
    f->look.domain_id = lay(&text, domain_id);
    f->look.domain = lay(&text, domain);
    f->next = w->flight;
    if (f->next)
        f->next->prev = f;
    w->flight = f;
    return f;
}

static void flight_free(struct watch *w, struct flight *f)
{
    *(f->prev ? &f->prev->next : &w->flight) = f->next;
    if (f->next)
        f->next->prev = f->prev;
    fb_free(f);
}

static void count_up(struct watch *w, struct domain *d)
{
    w->in_flight++;
    w->figures.looks++;
    if (w->in_flight > w->figures.in_flight_most)
        w->figures.in_flight_most = w->in_flight;
    if (d) {
        d->in_flight++;
        d->looks++;
    }
    w->figures.violations += w->in_flight > w->plan.concurrency;
    w->figures.violations += d && d->in_flight > d->plan.concurrency;
}

void fb_watch_land(struct watch *w, struct flight *f)
{
    struct link *l = f->link;

    assert(w->in_flight > 0);
    w->in_flight--;
    if (f->domain)
        f->domain->in_flight--;
    if (l) {
        l->flight = NULL;
        l->place = AT_REST;
        l->item->in_flight--;
    }
    if (f->look.kind == LOOK_LIST)
        w->list_in_flight = false;
    flight_free(w, f);
}

/* ---- one look ---- */

/* What hardly changes is asked for when that does not hurt. */
static bool wants_static(const struct watch *w, const struct link *l)
{
    int64_t age_ns = fb_freshness_age(&l->item->freshness, w->now_ns);

    if (!l->domain->plan.has_static || !l->live || l->failures > 0)
        return false;
    if (l->fixed && w->now_ns - l->fixed->asked_ns < w->plan.static_ns)
        return false;
    return age_ns < 2 * w->plan.aims.aim_ns[l->item->state];
}

static void take_off(struct watch *w, struct flight *f)
{
    struct link *l = f->link;

    fb_watch_rest(w, l);
    l->place = ASKED;
    l->flight = f;
    l->asked_ns = w->now_ns;
    l->item->in_flight++;
    count_up(w, l->domain);
    l->domain->retries += l->failures > 0;
    w->figures.retries += l->failures > 0;
    fb_watch_release(w, l->item, "cooldown");
    fb_watch_replan(w, l->item);
}

/* It could not even begin: the answer comes from here. */
static void fail_at_once(struct watch *w, struct flight *f, int error)
{
    struct watch_answer a = {
        .end = LOOK_FAILED,
        .failure = error == -ENOMEM ? FAIL_MEMORY : FAIL_BAD_REQUEST,
    };

    take_off(w, f);
    fb_watch_end(w, f, &a);
}

/* No permit before; asked again once an interval in any case, since limits change. */
static int64_t ready_at(const struct watch *w, const struct flight *f)
{
    int64_t at_ns = fb_after(f->look.ready_ns, w->shift_ns);

    return fb_clamp64(at_ns, w->now_ns + 1, fb_after(w->now_ns, w->plan.interval_ns));
}

static void begin_look(struct watch *w, struct link *l)
{
    enum look_kind kind = wants_static(w, l) ? LOOK_STATIC : LOOK_ITEM;
    struct flight *f = flight_new(w, kind, l);

    if (!f) {
        /* Another turn, another chance. */
        l->domain->ready_ns = w->now_ns + FB_NS_PER_S;
        return;
    }
    f->look.has_said =
        !l->was_refused && (kind == LOOK_STATIC ? l->fixed != NULL : l->live != NULL);
    f->look.ready_ns = w->now_ns + FB_NS_PER_S;
    int r = w->ports.look(w->ports.self, &f->look);
    if (r == -EAGAIN) {
        l->domain->waits += l->domain->ready_ns <= w->now_ns;
        l->domain->ready_ns = ready_at(w, f);
        flight_free(w, f);
    } else if (r < 0) {
        fail_at_once(w, f, r);
    } else {
        take_off(w, f);
    }
}

/* ---- which ---- */

bool fb_watch_has_place(const struct watch *w, const struct domain *d)
{
    int32_t most = d->is_down ? 1 : d->plan.concurrency;

    return d->plan.enabled && d->in_flight < most && w->in_flight < w->plan.concurrency;
}

static bool can_begin(const struct watch *w, const struct domain *d)
{
    return d->ready_ns <= w->now_ns && fb_watch_has_place(w, d);
}

/* A look that will probably cost nothing, at a domain that can be relied on. */
static bool is_free(const struct link *l)
{
    return l->was_free && !l->domain->reliability.demoted;
}

/* Whether the first of `a` goes before the first of `b` in this state. */
static bool is_before(const struct domain *a, const struct domain *b, size_t state)
{
    const struct link *x = FB_HEAP_OWNER(fb_heap_first(&a->queue[state]), struct link, node);
    const struct link *y = FB_HEAP_OWNER(fb_heap_first(&b->queue[state]), struct link, node);

    if (x->node.order != y->node.order)
        return x->node.order < y->node.order;
    /* What others would charge for is left to those items for which nobody is free. */
    if (is_free(x) != is_free(y))
        return is_free(x);
    return a->rank > b->rank;
}

static struct link *choose(const struct watch *w)
{
    for (size_t s = 0; s < ITEM_STATES; s++) {
        struct domain *best = NULL;
        for (size_t n = 0; n < w->plan.domain_count; n++) {
            struct domain *d = w->domain[n];
            if (d->queue[s].root && can_begin(w, d) && (!best || is_before(d, best, s)))
                best = d;
        }
        if (best)
            return FB_HEAP_OWNER(fb_heap_first(&best->queue[s]), struct link, node);
    }
    return NULL;
}

/* ---- the list ---- */

static void begin_list(struct watch *w)
{
    struct flight *f = flight_new(w, LOOK_LIST, NULL);
    struct watch_answer a = {.end = LOOK_FAILED, .failure = FAIL_BAD_REQUEST};

    if (!f) {
        w->list_due_ns = w->now_ns + FB_NS_PER_S;
        return;
    }
    f->look.has_said = w->list > 0;
    f->look.ready_ns = w->now_ns + FB_NS_PER_S;
    int r = w->ports.look(w->ports.self, &f->look);
    if (r == -EAGAIN) {
        w->list_due_ns = ready_at(w, f);
        flight_free(w, f);
        return;
    }
    w->list_in_flight = true;
    count_up(w, NULL);
    if (r < 0)
        fb_watch_end(w, f, &a);
}

void fb_watch_begin(struct watch *w)
{
    struct link *l;

    /* The list comes first: without it nothing else is known. */
    if (w->plan.has_list && !w->list_in_flight && w->now_ns >= w->list_due_ns &&
        w->in_flight < w->plan.concurrency)
        begin_list(w);
    while ((l = choose(w)))
        begin_look(w, l);
}
