/* SPDX-License-Identifier: MIT */
/*
 * watch.h - keep what is known about many items fresh, from several domains at once.
 *
 * An item is something that changes: a match, a price, a departure. Its id and its state (live,
 * imminent, completed) come from one authoritative list; what is known about it comes from domains,
 * which may each know it by an id of their own. The watcher decides at which item to look where and
 * when; makes one picture of what the domains say; numbers its versions; sees how fresh all of it
 * is, and does something when nothing comes any more.
 *
 *     struct watch_plan plan;
 *     fb_watch_plan_init(&plan);
 *     plan.domain = domains;  plan.domain_count = 3;  plan.has_list = true;
 *     fb_watch_open(&ports, &plan, &watch, &err);
 *     fb_watch_turn(watch);                       and whenever ports.wake_at() asked for it
 *       -> ports.look(LOOK_LIST)   ... fb_watch_listed(watch, look, entries, count)
 *       -> ports.look(LOOK_ITEM)   ... fb_watch_looked(watch, look, &answer)
 *       -> ports.tell(WATCH_CHANGED, id, seq, changes)
 *     fb_watch_close(watch);
 *
 * It has no clock, no sockets and no files: all of that is behind the ports, so that the same
 * decisions run in a daemon and on virtual time. It sets no rate either: whoever looks asks the
 * limiter, and says -EAGAIN with the time from which on there is a permit. One thread calls every
 * function here and in show.h, where all of it can be read.
 *
 * Never: a look above the cap of all or of its domain; a queue longer than its maximum; a recovery
 * or a reconfiguration that forgets when an item was fresh; a version number that is used twice.
 *
 * Which look is next. Live items come before imminent ones and these before completed ones,
 * always. Among equals the item whose age has passed longest what is aimed at; it is asked for at
 * the domain of the highest rank that has a permit and a free place, before that at one whose
 * latest answer about it cost nothing, unless that is demoted. Each domain that knows the
 * item is asked again after as many aims as there are such domains, half an aim early if need be,
 * so that the others can be compared with it. A look that failed waits for a backoff with jitter
 * at its domain, and the next domain takes over at once.
 */
#ifndef FLYBALL_WATCH_WATCH_H
#define FLYBALL_WATCH_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/delta.h"
#include "core/freshness.h"
#include "core/health.h"
#include "core/recovery.h"
#include "core/reliability.h"
#include "core/snapshot.h"

#define WATCH_DOMAINS_MAX   16  /* each says something live and something static: 32 sources */
#define WATCH_HISTORY_MAX   16  /* versions of an item that can be kept */
#define WATCH_AUDIT_MAX     200 /* entries in memory; all of them are told */
#define WATCH_WARNINGS_MAX  256 /* different ones in memory, each told once; the rest are counted */
#define WATCH_ID_BYTES      256 /* of an id, its NUL included; a longer one is not taken */
#define WATCH_FIELDS_MAX    256 /* of one answer; more is a malformed answer */
#define WATCH_PAYLOAD_BYTES (64 * 1024) /* of names and values of one answer */

struct fly_error;
struct watch;
struct watch_item;

/* ---- plan ---- */

/* One site that knows items. */
struct watch_domain_plan {
    const char *name;    /* unique; what logs, metrics and provenance call it */
    double weight;       /* precedence, > 0: 1 */
    int32_t concurrency; /* looks under way at once: 8 */
    bool enabled;        /* at first; a reconfiguration that names it sets it again */
    bool has_static;     /* there is something that hardly changes, asked for apart: LOOK_STATIC */
};

/* Everything that can be set. */
struct watch_plan {
    int64_t interval_ns; /* from one judgement, and one publication of figures, to the next: 5 s */
    int64_t idle_ns;     /* the same while nothing is live; looks wait for it, too: 30 s */
    int64_t list_ns;     /* from one look at the list to the next: 15 s */
    bool has_list;       /* else whoever knows calls fb_watch_listed() without a look */

    struct freshness_aims aims;            /* live 10 s, imminent 60 s, completed 1 h */
    struct health_limits health;           /* degraded 60 s, failing 120 s, stalled 90 s */
    struct reliability_limits reliability; /* demoted below 0.5 until 0.7 */

    int64_t
        ttl_ns[ITEM_STATES]; /* an answer from memory that is older is stale: 15 s, 90 s, 24 h */
    int64_t static_ns;       /* what hardly changes is asked for again: 18 h (12 h to 24 h) */
    int64_t absent_ns;       /* a domain that does not know an item is not asked: 60 s */
    int64_t final_ns;        /* the last version of a completed item is kept: 24 h */
    int32_t history;         /* versions of a live item that are kept: 5 */

    int32_t concurrency;    /* looks under way, of all domains together: 40 */
    int32_t queue_max;      /* looks that are due and wait: 1000 */
    int32_t items_max;      /* 200,000 */
    int32_t attempts;       /* at one update of an item from one domain: 3 */
    int32_t pause_failures; /* in a row, at domains that answer for others: 5; 0: never pause */
    int64_t pause_ns;       /* 300 s */
    int32_t down_failures;  /* in a row, of a domain: then one look at a time, seldom: 5 */
    int64_t down_ns;        /* from one such look to the next, at most: 15 s */
    int64_t odd_ns;         /* contradicted by all others for so long: its looks count as failed */
    int64_t recycle_ns;     /* begin anew after so long: 6 h; 0: never */
    int64_t recycle_looks;  /* or after so many that succeeded: 10,000; 0: never */
    uint64_t seed;          /* of jitter */

    const struct watch_domain_plan *domain; /* copied, as all of it is */
    size_t domain_count;
};

/* The figures above, without domains. */
void fb_watch_plan_init(struct watch_plan *p);

/* ---- looks ---- */

enum look_kind {
    LOOK_ITEM,   /* what changes, of one item at one domain */
    LOOK_STATIC, /* what hardly does */
    LOOK_LIST,   /* the authoritative list; belongs to no domain */
};

/* One look under way. It is the watcher's, from look() until it is answered. */
struct watch_look {
    enum look_kind kind;
    const char *id;        /* of the item, canonical; "" with LOOK_LIST */
    const char *domain_id; /* the same item as the domain knows it */
    const char *domain;    /* its name; "" with LOOK_LIST */
    uint32_t domain_index; /* as in the plan that is in force */
    enum item_state state; /* of the item: the priority of the request */
    int32_t attempt;       /* failures of this item there in a row, plus 1 */
    int64_t begun_ns;
    bool has_said;    /* the domain has said something that a conditional request can refer to */
    int64_t ready_ns; /* set by look() with -EAGAIN: from when on to ask again */
    void *user;       /* the ports' own */
};

enum look_end {
    LOOK_OK,       /* these are its fields */
    LOOK_SAME,     /* not modified: what it said last holds for now, too */
    LOOK_ABSENT,   /* the domain says that there is no such item */
    LOOK_FAILED,   /* see `failure` */
    LOOK_CANCELLED /* never asked, and nobody's fault: the plan has changed, or all of it ends */
};

/* What came of a look. Everything it points to is the caller's, for the call. */
struct watch_answer {
    enum look_end end;
    enum failure failure;  /* with LOOK_FAILED */
    struct snapshot says;  /* with LOOK_OK: in order (fb_snapshot_is_ordered), else it has failed */
    int64_t asked_ns;      /* when the request left, for which instant it holds; 0: begun_ns */
    int64_t latency_ns;    /* from there to the end of the answer */
    bool was_free;         /* it cost no permit: a 304 where these are free */
    bool was_killed;       /* what read the answer was, for its time or what it printed */
    const char *domain_id; /* which item the answer says it is about; NULL: it does not say */
};

/* An item of the list. */
struct watch_entry {
    const char *id; /* canonical */
    enum item_state state;
    const char *const *domain_id; /* one for each domain of the plan; NULL: not known there */
    const char *word; /* that the list has for its state, where nobody knows it: a warning */
};

/* ---- events ---- */

/* Kind, name, whether it goes to the audit. */
#define FB_WATCH_EVENTS(X)                                                                       \
    X(CHANGED, "changed", 0)         /* an item has a new version: id, seq, change */            \
    X(ADDED, "added", 0)             /* the list has a new item */                               \
    X(STATE, "state", 0)             /* an item went to another state: text */                   \
    X(REMOVED, "removed", 0)         /* its time is over: nothing is kept of it */               \
    X(LOOKED, "looked", 0)           /* a look is over: id, domain, attempt, outcome, took_ns */ \
    X(INTERVAL, "interval", 0)       /* an interval is over: the figures are new */              \
    X(DEFERRED, "deferred", 0)       /* so many looks (count) had no room in this interval */    \
    X(WARNING, "warning", 0)         /* of ids: text */                                          \
    X(PAUSED, "paused", 1)           /* an item, until until_ns */                               \
    X(RESUMED, "resumed", 1)         /* an item may be looked at again */                        \
    X(GRADE, "grade", 1)             /* from one to another: text says why */                    \
    X(RECOVERY, "recovery", 1)       /* begun */                                                 \
    X(RECOVERED, "recovered", 1)     /* it has helped, after took_ns */                          \
    X(UNHELPED, "unhelped", 1)       /* it has not: the next one not before until_ns */          \
    X(RECYCLE, "recycle", 1)         /* asked for, or after uptime or looks */                   \
    X(DOWN, "down", 1)               /* a domain answers nothing any more */                     \
    X(UP, "up", 1)                   /* it does again */                                         \
    X(DEMOTED, "demoted", 1)         /* a domain is behind all others */                         \
    X(RESTORED, "restored", 1)       /* and no longer */                                         \
    X(ENABLED, "enabled", 1)         /* a domain */                                              \
    X(DISABLED, "disabled", 1)       /* a domain */                                              \
    X(CONFIGURED, "configured", 1)   /* another plan is in force */                              \
    X(LIST_FAILED, "list-failed", 1) /* the list could not be had; once, until it can */         \
    X(LIST_BACK, "list-back", 1)     /* it can be had again */                                   \
    X(CLOCK, "clock", 1)             /* it went back; time went on here: took_ns */

enum watch_event_kind {
#define X(name, text, audit) WATCH_##name,
    FB_WATCH_EVENTS(X)
#undef X
        WATCH_EVENT_KINDS
};

/* What happened. Everything it points to ends with the call. */
struct watch_event {
    enum watch_event_kind kind;
    int64_t at_ns;
    const char *id;      /* of an item, or "" */
    const char *domain;  /* or "" */
    const char *trigger; /* what made it happen: "stall", "operator", "uptime", ...; or "" */
    const char *outcome; /* "ok", "same", "absent", a failure; of the audit "done", a grade, ... */
    const char *text;    /* for a person; never NULL */
    uint64_t seq;        /* of the item's version */
    int32_t attempt;
    int64_t count;
    int64_t until_ns; /* 0: none */
    int64_t took_ns;
    const struct delta_change *change; /* WATCH_CHANGED: from version seq - 1 to this one */
    size_t change_count;
};

/* "changed" */
const char *fb_watch_event_name(enum watch_event_kind kind);

/* Whether it is kept in the ring of show.h. */
bool fb_watch_event_is_audit(enum watch_event_kind kind);

/* ---- ports ---- */

struct watch_ports {
    void *self;

    /* Nanoseconds since 1970, on a clock that does not fall; where it does, nothing is lost. */
    int64_t (*now)(void *self);

    /* Call fb_watch_turn() at this instant; each call replaces the one before. */
    void (*wake_at)(void *self, int64_t at_ns);

    /*
     * Begin to look: ask the domain once (the watcher makes further attempts itself, elsewhere if
     * it can). 0: fb_watch_looked() follows exactly once, or fb_watch_listed() for a list that
     * came; not before this call has returned. -EAGAIN: no permit, l->ready_ns says from when on,
     * nothing follows, and the domain is left alone till then. Anything else counts as a failure,
     * and nothing follows.
     */
    int (*look)(void *self, struct watch_look *l);

    /* Something happened. Functions of show.h may be called, those that change anything may not. */
    void (*tell)(void *self, const struct watch_event *e);

    /* New connections and name lookups: part of a recovery, or because time is up. */
    void (*recycle)(void *self);

    /*
     * What must survive kill -9 of an item; size 0: it is gone. Called at the end of an interval
     * for items that were looked at in it. NULL: nothing has to last. See fb_watch_restore().
     */
    void (*keep)(void *self, const char *id, const void *record, size_t size);
};

/* ---- the watch ---- */

/* Copies both. 0, -ENOMEM, or -EINVAL with a sentence about the plan. Nothing happens yet. */
int fb_watch_open(const struct watch_ports *ports, const struct watch_plan *plan,
                  struct watch **ret_watch, struct fly_error *err)
    __attribute__((warn_unused_result));

/* Looks under way need no answer any more; their struct watch_look is gone. NULL is allowed. */
void fb_watch_close(struct watch *w);

/* The time that was asked for has come, or it is not known whether: decide what is to be done. */
void fb_watch_turn(struct watch *w);

/* What came of a look. The look is gone. */
void fb_watch_looked(struct watch *w, struct watch_look *l, const struct watch_answer *a);

/*
 * The whole list. `l` is the look that it answers, or NULL. Items that two lists in a row lack are
 * completed. 0, or -ENOMEM: what was read until then holds. Entries that cannot be taken (no id,
 * one too long, no room) are warnings.
 */
int fb_watch_listed(struct watch *w, struct watch_look *l, const struct watch_entry *entry,
                    size_t count) __attribute__((warn_unused_result));

/* A domain speaks of an id that no item is mapped to: a warning. */
void fb_watch_unmapped(struct watch *w, uint32_t domain_index, const char *domain_id);

/* An item has two ids at a domain, of which this one does not count: a warning. */
void fb_watch_ambiguous(struct watch *w, uint32_t domain_index, const char *id,
                        const char *domain_id);

/* So many entries of the list that is about to be given had no id: a warning, counted as many. */
void fb_watch_refused(struct watch *w, int64_t count);

/*
 * Put another plan in force; it holds from the next turn on, which follows at once. Domains are
 * known by their names: what is known of one that stays is kept, with one that goes goes what it
 * said. What its ids are in a new domain the next list says. 0, -ENOMEM, or -EINVAL with a
 * sentence: then the old plan holds.
 */
int fb_watch_configure(struct watch *w, const struct watch_plan *plan, struct fly_error *err)
    __attribute__((warn_unused_result));

/* ---- by an operator ---- */

/* 0, or -ENOENT: no such domain. What is under way there goes on. */
int fb_watch_enable(struct watch *w, const char *domain, bool enabled)
    __attribute__((warn_unused_result));

/* Pause an item for `span_ns` (0: as the plan says), or resume it. 0, or -ENOENT. */
int fb_watch_pause(struct watch *w, const char *id, int64_t span_ns)
    __attribute__((warn_unused_result));
int fb_watch_resume(struct watch *w, const char *id) __attribute__((warn_unused_result));

/* Begin anew with connections; every domain that is down is tried at once. No age is touched. */
void fb_watch_recycle(struct watch *w);

/* ---- restart ---- */

/*
 * Take up what keep() was given, before the first turn: id, state, ids of domains, age, version and
 * what each domain said. Domains that are not in the plan are left out. 0; -EINVAL: the record is
 * damaged, or of another version, and nothing is taken; -EEXIST; -ENOSPC; -ENOMEM.
 */
int fb_watch_restore(struct watch *w, const void *record, size_t size)
    __attribute__((warn_unused_result));

/* Give keep() everything that it was not given yet: at an orderly end. */
void fb_watch_keep_all(struct watch *w);

#endif
