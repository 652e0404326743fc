/* SPDX-License-Identifier: MIT */
/*
 * limits.h - `flyball limits`: what is left of each budget, and until when.
 *
 * The words for how a told quota stands are those that pacing uses: more than 50 % left is healthy,
 * from 20 % warning, above nothing critical, nothing exhausted.
 */
#ifndef FLYBALL_VIEW_LIMITS_H
#define FLYBALL_VIEW_LIMITS_H

#include "view/key.h"

struct view_limits {
    const struct view_key *key; /* in the order in which they are shown */
    size_t key_count;
    bool after_demo; /* only a demo has run, which keeps nothing of what it learned */
    size_t hidden;   /* left out, for which --all would be needed */
};

/* In the order of how much is left: the first is the worst. */
enum view_health { VIEW_EXHAUSTED, VIEW_CRITICAL, VIEW_WARNING, VIEW_HEALTHY };

enum view_health fb_view_health(const struct view_key *k, int64_t now_ns);

void fb_view_limits_text(const struct view_limits *v, const struct view_style *style,
                         int64_t now_ns, struct buffer *to);
void fb_view_limits_json(const struct view_limits *v, int64_t now_ns, struct buffer *to);

#endif
