/* SPDX-License-Identifier: MIT */
/*
 * watch.c - a watcher begins, takes its turns, and ends.
 *
 * A turn: judge if an interval is over, let what is due into the queues, begin what may begin, and
 * say when the next turn is.
 */
#include "watch/watch.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "util/alloc.h"
#include "watch/inside.h"

/* ---- clock ---- */

int64_t fb_watch_time(const struct watch *w)
{
    return fb_max64(w->now_ns, w->ports.now(w->ports.self) + w->shift_ns);
}

void fb_watch_read_clock(struct watch *w)
{
    int64_t now_ns = w->ports.now(w->ports.self) + w->shift_ns;
    int64_t back_ns = w->now_ns - now_ns;

    if (back_ns <= 0) {
        w->now_ns = now_ns;
        return;
    }
    /* Time goes on from where it was: no age jumps, nothing waits for the clock to come back. */
    w->shift_ns += back_ns;
    if (back_ns >= FB_NS_PER_S)
        fb_watch_tell(
            w, (struct watch_event){.kind = WATCH_CLOCK, .trigger = "step", .took_ns = back_ns});
}

/* ---- begin and end ---- */

static int get_room(struct watch *w)
{
    w->reconciled = fb_alloc_raw(WATCH_SAID * sizeof(w->reconciled[0]));
    w->change = fb_alloc_raw(2 * WATCH_SAID * sizeof(w->change[0]));
    w->audit = fb_alloc_raw(WATCH_AUDIT_MAX * sizeof(w->audit[0]));
    w->warning = fb_alloc_raw(WATCH_WARNINGS_MAX * sizeof(w->warning[0]));
    w->domain_plan = fb_alloc(WATCH_DOMAINS_MAX * sizeof(w->domain_plan[0]));
    return w->reconciled && w->change && w->audit && w->warning && w->domain_plan ? 0 : -ENOMEM;
}

static int get_domains(struct watch *w, const struct watch_plan *plan)
{
    for (uint32_t n = 0; n < plan->domain_count; n++) {
        struct domain *d = fb_watch_domain_new(&plan->domain[n]);
        if (!d)
            return -ENOMEM;
        d->index = n;
        w->domain[n] = d;
        w->domain_plan[n] = d->plan;
    }
    w->plan = *plan;
    w->plan.domain = w->domain_plan;
    return 0;
}

static void set_clock(struct watch *w)
{
    w->now_ns = w->ports.now(w->ports.self);
    w->due_ns = fb_after(w->now_ns, w->plan.interval_ns);
    w->list_due_ns = w->now_ns;
    w->recycled_ns = w->now_ns;
    w->figures.began_ns = w->now_ns;
    w->rng.state = w->plan.seed;
    fb_health_init(&w->health, w->now_ns);
}

int fb_watch_open(const struct watch_ports *ports, const struct watch_plan *plan,
                  struct watch **ret_watch, struct fly_error *err)
{
    int r = fb_watch_plan_check(plan, err);

    if (r < 0)
        return r;
    struct watch *w = fb_alloc(sizeof(*w));
    if (!w)
        return -ENOMEM;
    w->ports = *ports;
    if (get_room(w) < 0 || get_domains(w, plan) < 0) {
        fb_watch_close(w);
        return -ENOMEM;
    }
    set_clock(w);
    *ret_watch = w;
    return 0;
}

void fb_watch_close(struct watch *w)
{
    if (!w)
        return;
    while (w->flight)
        fb_watch_land(w, w->flight);
    while (w->count > 0)
        fb_watch_remove(w, w->item[w->count - 1]);
    for (size_t n = 0; n < WATCH_DOMAINS_MAX; n++)
        fb_watch_domain_free(w->domain[n]);
    for (size_t s = 0; s < ITEM_STATES; s++)
        fb_free(w->ages[s]);
    fb_watch_table_fini(&w->by_id);
    fb_watch_table_fini(&w->by_domain);
    fb_buffer_fini(&w->record);
    fb_free(w->item);
    fb_free(w->domain_plan);
    fb_free(w->warning);
    fb_free(w->audit);
    fb_free(w->change);
    fb_free(w->reconciled);
    fb_free(w);
}

/* ---- turns ---- */

void fb_watch_turn(struct watch *w)
{
    assert(!w->is_telling);
    fb_watch_read_clock(w);
    if (w->now_ns >= w->due_ns)
        fb_watch_judge(w);
    fb_watch_advance(w);
    fb_watch_begin(w);
    w->ports.wake_at(w->ports.self, fb_watch_next_at(w) - w->shift_ns);
}
