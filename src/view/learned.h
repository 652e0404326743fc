/* SPDX-License-Identifier: MIT */
/*
 * learned.h - `flyball learned`: what was found out about limits that nobody stated.
 */
#ifndef FLYBALL_VIEW_LEARNED_H
#define FLYBALL_VIEW_LEARNED_H

#include "view/key.h"

/* Texts are borrowed. */
struct view_learned_row {
    const char *provider;
    const char *host;
    const char *pool;
    const char *credential; /* a keyed hash; "": none */
    const char *by;         /* "probe", "aimd", "step"; "": not known */
    double rate;            /* effective limit, permits a second; 0: no rate bounds it */
    double reduction;       /* 0..1 of what was stated that is not used */
    double confidence;      /* 0..1 */
    int64_t recovery_ns;    /* how long a refusal lasts, about; 0: not known */
    int64_t changed_ns;     /* an instant; 0: not known */
    int64_t saved_ns;
};

struct view_learned_event {
    const char *provider;
    const char *pool;
    const char *kind; /* "raised", "lowered", "throttled", ... */
    const char *why;
    double before; /* permits a second; 0: none */
    double after;
    int64_t at_ns;
};

struct view_learned {
    const struct view_learned_row *row;
    size_t row_count;
    const struct view_learned_event *event; /* the newest first */
    size_t event_count;
    bool after_demo; /* only a demo has run, which keeps nothing */
};

/* With style->verbose the events, too; in JSON they always are. */
void fb_view_learned_text(const struct view_learned *v, const struct view_style *style,
                          int64_t now_ns, struct buffer *to);
void fb_view_learned_json(const struct view_learned *v, int64_t now_ns, struct buffer *to);

#endif
