/* SPDX-License-Identifier: MIT */
/*
 * show.h - a key of the engine as answers show it.
 */
#ifndef FLYBALL_ENGINE_SHOW_H
#define FLYBALL_ENGINE_SHOW_H

#include <stdint.h>

#include <flyball/state.h>

#include "engine/engine.h"
#include "view/key.h"

/*
 * All that the engine and the key's limiter know, for fb_engine_keys(). The rate that was measured,
 * the text of the limit and who stated it are the caller's to add.
 */
void fb_show_key(const struct engine_key_state *s, int64_t now_ns, struct view_key *ret_key);

/*
 * How long the window is that a server tells of, as far as that can be seen: a second at least. 0:
 * that cannot be seen yet, for it may be the rest of a longer one.
 */
int64_t fb_show_told_window(const struct engine_told *t);

/*
 * What was learned, with the limit that answers show as its rate: not the pace of the moment. 0:
 * none is known yet, and likewise for how long a refusal lasts. -EINVAL as fly_limiter_learned().
 */
int fb_show_learned(const struct engine_key_state *s, int64_t now_ns,
                    struct fly_learned *ret_learned) __attribute__((warn_unused_result));

/* Of all that only its limits: what is stated, learned, told and left, and which of it binds. */
void fb_show_limits(const struct engine_key_state *s, int64_t now_ns, struct view_key *ret_key);

#endif
