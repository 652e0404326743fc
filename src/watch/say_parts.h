/* SPDX-License-Identifier: MIT */
/* say_parts.h - what the files of say.h share. */
#ifndef FLYBALL_WATCH_SAY_PARTS_H
#define FLYBALL_WATCH_SAY_PARTS_H

#include "watch/say.h"

/* Members of every object that is about one item: id, state, seq, age and so on. */
void fb_say_age_members(const struct watch_item_view *v, int64_t now_ns, struct buffer *to);

/* "provenance": field by field the source that it is from. */
void fb_say_provenance(const struct watch *w, const struct watch_item *i, size_t count,
                       struct buffer *to);

bool fb_say_is_wanted(const struct say_which *which, const struct watch_item_view *v);

/* "freshness": how the ages are spread, state by state. */
void fb_say_spreads(const struct watch_figures *f, struct buffer *to);

/* Of what consumers asked for, the share that was fresh enough; NAN where nobody asked. */
double fb_say_hit_rate(const struct watch_figures *f);
double fb_say_hit_rate_of(const struct watch_figures *f, enum item_state state);

/* How a source fares, in one word and one state. */
enum view_state fb_say_source_state(const struct watch_domain_view *v, const char **ret_word);

#endif
