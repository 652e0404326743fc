/* SPDX-License-Identifier: MIT */
/*
 * audit.h - the last things that somebody may want to account for: what an operator did, what was
 * reloaded, recycled, raised as an alert, and how grades changed.
 *
 * A ring in memory, of AUDIT_MAX entries unless the configuration says otherwise (log.audit); each
 * entry is news and a line of the log as well. Texts hold no secrets: who adds them sees to that.
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
    char outcome[24];
    char provider[64];
    char pool[64];
    char item[64];
    int64_t until_ns, took_ns; /* 0: none */
    char text[256];
};

struct audit {
    uint64_t count; /* so far */
    uint64_t gone;  /* of them: not kept any more */
    size_t room;
    struct audit_entry *entry; /* the n-th of all is at n % room */
};

/* Room for so many, at least one; the latest stay. 0 or -ENOMEM, with the room that it had. */
int fb_audit_resize(struct audit *a, size_t room);
void fb_audit_fini(struct audit *a);

/* Copied; what is longer than its field is cut. Returns the entry as it is kept; there is room. */
const struct audit_entry *fb_audit_add(struct audit *a, int64_t at_ns,
                                       const struct view_audit_event *e);

/* All that are kept, the newest first, as a view of events, which are the caller's to fb_free(). */
int fb_audit_view(const struct audit *a, struct view_audit_event **ret_events,
                  struct view_audit *ret_view);

/* One line of JSON, without its end. */
void fb_audit_json(const struct audit_entry *e, struct buffer *to);

#endif
