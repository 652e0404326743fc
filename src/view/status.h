/* SPDX-License-Identifier: MIT */
/*
 * status.h - `flyball status` and `flyball top`: batches, and the keys that they are under.
 *
 * A daemon fills in who it is and the keys of its engine; from files there are batches alone, each
 * with its own keys, and in JSON the keys of all of them once more, each as it was seen last.
 */
#ifndef FLYBALL_VIEW_STATUS_H
#define FLYBALL_VIEW_STATUS_H

#include "view/batch.h"

struct view_daemon {
    const char *version; /* NULL, as is `host`: not told */
    const char *host;
    const char *grade; /* "healthy", ...; NULL: not graded */
    const char *note;  /* what somebody should know, such as a configuration refused; or NULL */
    int64_t pid;       /* 0: not told */
    int64_t began_ns;
};

struct view_status {
    const struct view_daemon *daemon;      /* NULL: from files */
    const struct view_batch *const *batch; /* those that run first, then the newest */
    size_t batch_count;
    const struct view_key *key; /* of the daemon */
    size_t key_count;
};

/* One batch is shown with all there is to say, several as a table. */
void fb_view_status_text(const struct view_status *v, const struct view_style *style,
                         int64_t now_ns, struct buffer *to);
void fb_view_status_json(const struct view_status *v, int64_t now_ns, struct buffer *to);

/* A screenful: at most style->rows lines, none longer than style->width. */
void fb_view_top_text(const struct view_status *v, const struct view_style *style, int64_t now_ns,
                      struct buffer *to);
void fb_view_top_json(const struct view_status *v, int64_t now_ns, struct buffer *to);

#endif
