/* SPDX-License-Identifier: MIT */
/*
 * state.c - what becomes of an item: its state, its pauses, its end.
 *
 * An item that comes back from a pause is on trial: until a look succeeds its age, which has grown
 * all the while, is not held against the rest.
 */
#include <assert.h>

#include "util/text.h"
#include "watch/inside.h"

bool fb_watch_is_idle(const struct watch *w)
{
    return w->figures.items[ITEM_live] == 0;
}

/* What was put off, or not there yet, may be otherwise in another state. */
static void let_go(struct watch_item *i)
{
    for (size_t d = 0; d < WATCH_DOMAINS_MAX; d++) {
        struct link *l = i->link[d];
        if (l && (l->hold == HOLD_DEFERRED || l->hold == HOLD_ABSENT)) {
            l->hold = HOLD_NONE;
            l->not_before_ns = FB_LONG_AGO;
        }
    }
}

void fb_watch_enter(struct watch *w, struct watch_item *i, enum item_state state)
{
    enum item_state was = i->state;
    char text[48];
    struct text t;

    if (state == was)
        return;
    fb_text_init(&t, text, sizeof(text));
    fb_text_add(&t, fb_item_state_name(was));
    fb_text_add(&t, " to ");
    fb_text_add(&t, fb_item_state_name(state));
    w->figures.items[was]--;
    w->figures.items[state]++;
    i->state = (uint8_t)state;
    i->state_ns = w->now_ns;
    i->is_dirty = true;
    if (state != ITEM_completed)
        i->is_over = false;
    if (was == ITEM_live)
        fb_watch_trim(w, i, 1);
    let_go(i);
    fb_watch_replan(w, i);
    /* From idleness the next judgement comes after a common interval. */
    if (state == ITEM_live)
        w->due_ns = fb_min64(w->due_ns, fb_after(w->now_ns, w->plan.interval_ns));
    fb_watch_tell(
        w, (struct watch_event){.kind = WATCH_STATE, .id = i->id, .text = text, .seq = i->seq});
}

/* ---- pauses ---- */

void fb_watch_hold(struct watch *w, struct watch_item *i, int64_t until_ns, const char *trigger)
{
    i->pause.until_ns = until_ns;
    i->is_paused = true;
    i->is_dirty = true;
    fb_watch_replan(w, i);
    fb_watch_tell(w, (struct watch_event){
                         .kind = WATCH_PAUSED,
                         .id = i->id,
                         .trigger = trigger,
                         .until_ns = until_ns,
                     });
}

void fb_watch_release(struct watch *w, struct watch_item *i, const char *trigger)
{
    if (!i->is_paused || w->now_ns < i->pause.until_ns)
        return;
    i->is_paused = false;
    i->on_trial = true;
    i->is_dirty = true;
    fb_watch_tell(w, (struct watch_event){.kind = WATCH_RESUMED, .id = i->id, .trigger = trigger});
}

/* ---- whose age counts ---- */

enum item_out fb_watch_out(const struct watch *w, const struct watch_item *i)
{
    int enabled = 0;
    int absent = 0;

    if (i->is_over)
        return OUT_OVER;
    if (i->is_paused)
        return OUT_PAUSED;
    if (i->on_trial)
        return OUT_TRIAL;
    for (size_t d = 0; d < w->plan.domain_count; d++) {
        const struct link *l = i->link[d];
        if (!l || !l->domain->plan.enabled)
            continue;
        enabled++;
        absent += l->hold == HOLD_ABSENT;
    }
    if (enabled == 0)
        return OUT_UNMAPPED;
    return absent == enabled ? OUT_ABSENT : OUT_NOT;
}
