/* SPDX-License-Identifier: MIT */
/*
 * deferred.h - `flyball deferred`: what batches have put off, and until when.
 */
#ifndef FLYBALL_VIEW_DEFERRED_H
#define FLYBALL_VIEW_DEFERRED_H

#include "view/view.h"

/* Texts are borrowed. */
struct view_deferred_row {
    const char *id;
    const char *place; /* scheme, host and path */
    const char *reason;
    const char *list;
    const char *output;
    uint64_t item;
    int64_t not_before_s; /* since 1970; 0: no time is known */
    int64_t made_s;
};

struct view_deferred {
    const struct view_deferred_row *row;
    size_t row_count;
};

void fb_view_deferred_text(const struct view_deferred *v, const struct view_style *style,
                           int64_t now_ns, struct buffer *to);
void fb_view_deferred_json(const struct view_deferred *v, int64_t now_ns, struct buffer *to);

#endif
