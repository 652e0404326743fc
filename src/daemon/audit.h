/* SPDX-License-Identifier: MIT */
/*
 * audit.h - the last AUDIT_MAX things that somebody may want to account for: what an operator did,
 * what was reloaded, recycled, raised as an alert, and how the grade changed.
 *
 * A ring in memory; each entry is news and a line of the log as well. Texts hold no secrets: who
 * adds them sees to that.
 */
#ifndef FLYBALL_DAEMON_AUDIT_H
#define FLYBALL_DAEMON_AUDIT_H

#include <stddef.h>
#include <stdint.h>

#include "util/buffer.h"
#include "view/audit.h"

#define AUDIT_MAX 200

struct audit_entry {
    int64_t at_ns; /* since 1970 */
    char kind[16];
    char cause[24];
    char provider[64];
    char pool[32];
    char text[256];
};

struct audit {
    uint64_t count; /* so far */
    struct audit_entry entry[AUDIT_MAX];
};

/* Copied; what is longer than its field is cut. Returns the entry as it is kept. */
const struct audit_entry *fb_audit_add(struct audit *a, int64_t at_ns,
                                       const struct view_audit_event *e);

/* The latest, the newest first, as a view; at most `most` of them into `event`. */
void fb_audit_view(const struct audit *a, struct view_audit_event *event, size_t most,
                   struct view_audit *ret_view);

/* One line of JSON, without its end. */
void fb_audit_json(const struct audit_entry *e, struct buffer *to);

#endif
