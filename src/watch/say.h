/* SPDX-License-Identifier: MIT */
/*
 * say.h - what a watcher knows, laid out for people and as JSON.
 *
 * Functions of what show.h has and of the time alone: no clock, no files, no terminal. Values of
 * fields are texts in JSON, too, whatever a source wrote them as: equal values are equal texts.
 * Instants are `..."at":"2026-...Z","at_in_s":-3.2`, as everywhere (view/view.h).
 */
#ifndef FLYBALL_WATCH_SAY_H
#define FLYBALL_WATCH_SAY_H

#include "view/view.h"
#include "watch/show.h"

/* Which items. */
struct say_which {
    enum item_state state; /* ITEM_STATES: all of them */
    bool stale;            /* those alone that are older than they may be */
    bool bare;             /* without their fields */
    size_t skip;
    size_t most;
};

#define SAY_ITEMS_MAX    20000 /* in one answer */
#define SAY_STATUS_ITEMS 500   /* live ones in a status */
#define SAY_WARNINGS     50    /* in a status */

/*
 * The members of a status, without braces: grade, freshness, queue, sources, warnings, settings.
 * With `items`, the live ones as well, each with its age and whose its fields are.
 */
void fb_say_status_members(const struct watch *w, int64_t now_ns, bool items, struct buffer *to);

/* flyball.watch/1, flyball.items/1, flyball.item/1, flyball.delta/1, flyball.history/1. */
void fb_say_status_json(const struct watch *w, int64_t now_ns, struct buffer *to);
/* `event` is the id after which what follows is news; or NULL. */
void fb_say_items_json(const struct watch *w, const struct say_which *which, const char *event,
                       int64_t now_ns, struct buffer *to);
void fb_say_item_json(const struct watch *w, const struct watch_item *i, const char *event,
                      int64_t now_ns, struct buffer *to);
void fb_say_delta_json(struct watch *w, const struct watch_item *i, uint64_t since, int64_t now_ns,
                       struct buffer *to);
void fb_say_history_json(const struct watch *w, const struct watch_item *i, int64_t now_ns,
                         struct buffer *to);

/*
 * An event as one line of JSON, without its end. A change that is longer than `most` bytes is told
 * without what changed, and with `"whole":true`: the item has to be asked for.
 */
void fb_say_event_json(const struct watch *w, const struct watch_event *e, size_t most,
                       struct buffer *to);

/* The same for people. */
void fb_say_status_text(const struct watch *w, const struct view_style *style, int64_t now_ns,
                        struct buffer *to);
void fb_say_items_text(const struct watch *w, const struct say_which *which,
                       const struct view_style *style, int64_t now_ns, struct buffer *to);
void fb_say_item_text(const struct watch *w, const struct watch_item *i,
                      const struct view_style *style, int64_t now_ns, struct buffer *to);

#endif
