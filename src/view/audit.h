/* SPDX-License-Identifier: MIT */
/*
 * audit.h - `flyball audit`: what happened, the newest first.
 */
#ifndef FLYBALL_VIEW_AUDIT_H
#define FLYBALL_VIEW_AUDIT_H

#include "view/view.h"

/* Texts are borrowed; "" or NULL where there is nothing to say. */
struct view_audit_event {
    int64_t at_ns;
    const char *provider;
    const char *pool;
    const char *kind;    /* "hold", "rate", "breaker", "recycle", "reload", ... */
    const char *cause;   /* what made it happen: "retry-after", "operator", "stall", ... */
    const char *item;    /* that it is about */
    const char *outcome; /* "done", "begun", a grade, the name of a failure */
    int64_t until_ns;    /* it holds till then; 0: that is not the question */
    int64_t took_ns;     /* it went on for so long; 0: likewise */
    const char *text;    /* one line for people */
};

struct view_audit {
    const struct view_audit_event *event;
    size_t event_count;
    uint64_t lost; /* older ones that are not kept */
};

void fb_view_audit_text(const struct view_audit *v, const struct view_style *style, int64_t now_ns,
                        struct buffer *to);
void fb_view_audit_json(const struct view_audit *v, int64_t now_ns, struct buffer *to);

#endif
