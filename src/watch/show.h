/* SPDX-License-Identifier: MIT */
/*
 * show.h - everything that can be read of a watcher, for answers, metrics and pages.
 *
 * Nothing here changes what is decided. Texts and arrays are the watcher's: they hold until the
 * next call of a function of watch.h, or, where it says so, of the same function.
 *
 * Spreads in struct watch_figures are those of the latest interval, by which the grade is judged;
 * fb_watch_spreads() and ages of single items are of the instant at which they are asked for.
 */
#ifndef FLYBALL_WATCH_SHOW_H
#define FLYBALL_WATCH_SHOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/delta.h"
#include "core/freshness.h"
#include "core/health.h"
#include "core/recovery.h"
#include "core/reliability.h"
#include "watch/watch.h"

/* ---- all of it ---- */

struct watch_figures {
    int64_t now_ns;      /* the watcher's clock, at this call */
    int64_t began_ns;    /* it was opened */
    int64_t interval_ns; /* the end of the latest interval; 0: there was none */
    uint64_t intervals;

    enum health grade;
    int64_t grade_since_ns;
    const char *grade_text;                      /* why: "p95 of live items is 71 s, above 60 s" */
    struct freshness_spread spread[ITEM_STATES]; /* of items that are not out of account */

    int64_t items[ITEM_STATES];
    int64_t paused;     /* of them */
    int64_t absent;     /* of them: no domain knows them */
    int64_t unmapped;   /* of them: mapped to no domain that is enabled */
    int64_t out;        /* of them: not in the spread: paused, absent, unmapped or on trial */
    bool is_idle;       /* nothing is live */
    int64_t success_ns; /* the latest look that succeeded; 0: none */
    int64_t list_ns;    /* the latest list that came; 0: none */

    int32_t queued; /* looks that are due and wait */
    int32_t queued_by[ITEM_STATES];
    int32_t queued_most;
    int32_t in_flight;
    int32_t in_flight_most;            /* never above the cap */
    int64_t violations;                /* looks above a cap: 0 */
    int64_t deferred;                  /* looks that had no room, so far */
    int32_t deferred_lately;           /* in the latest interval */
    int64_t looks;                     /* begun */
    int64_t ended[LOOK_CANCELLED + 1]; /* of them, by enum look_end */
    int64_t retries;                   /* of them: after a failure of the same item there */
    int64_t given_up;                  /* updates whose attempts were used up */
    int64_t was_free;                  /* of them: cost no permit */
    int64_t changes;                   /* versions made */

    int64_t hits[ITEM_STATES];   /* fb_watch_read(): fresh enough */
    int64_t misses[ITEM_STATES]; /* stale, or nothing known yet */
    int64_t misses_unknown;      /* no such id */

    int64_t recoveries;
    int64_t recycles;
    int64_t recycled_ns;   /* the latest; 0: none */
    int64_t recovery_ns;   /* the latest recovery began; 0: none */
    int64_t warnings;      /* so far */
    int64_t memory_bytes;  /* of items, domains, answers and versions, without payload */
    int64_t payload_bytes; /* of texts: names and values of what is said and kept */
};

void fb_watch_figures(const struct watch *w, struct watch_figures *ret_figures);

/* The ages of now, by state: of all items that are not out of account. */
void fb_watch_spreads(const struct watch *w, struct freshness_spread ret_spread[ITEM_STATES]);

/* The plan in force; its domains are those of fb_watch_domain(). */
const struct watch_plan *fb_watch_plan(const struct watch *w);

/* ---- domains ---- */

struct watch_domain_view {
    const char *name;
    double weight;
    double rank; /* weight times reliability */
    struct reliability_figures reliability;
    bool is_enabled;
    bool is_demoted;
    bool is_down;
    int32_t concurrency;
    int32_t in_flight;
    int32_t queued;
    int64_t items;    /* mapped to it */
    int64_t unmapped; /* items that it does not have an id for */
    int64_t looks;
    int64_t ended[LOOK_CANCELLED + 1];
    int64_t failed[FAIL_KINDS]; /* by enum failure */
    int64_t retries;
    int64_t was_free;
    int64_t was_killed;   /* processes that read its answers, for time or output */
    int64_t odd;          /* answers that all others contradicted for longer than the plan allows */
    int64_t wins;         /* fields of pictures that are its own: at the latest interval */
    int64_t waits;        /* looks that had to wait for a permit */
    int64_t ready_ns;     /* no permit before; <= now: there is one */
    int64_t success_ns;   /* 0: none */
    int64_t failure_ns;   /* 0: none */
    enum failure failure; /* the latest */
    int32_t failures;     /* in a row */
    int64_t latency_ns;   /* summed over those that succeeded */
    int64_t warnings;
};

/* By number, from 0 to plan->domain_count - 1. */
void fb_watch_domain(const struct watch *w, uint32_t index, struct watch_domain_view *ret_view);

/* The number of a name, or -1. */
int fb_watch_domain_find(const struct watch *w, const char *name);

/* ---- items ---- */

/* Why an item is looked at next when it is. */
#define FB_WATCH_WHYS(X)                                                           \
    X(DUE, "due", "its age will be what is aimed at")                              \
    X(COMPARE, "compare", "the source has not been compared with others for long") \
    X(QUEUED, "queued", "it is due and waits for its turn")                        \
    X(PERMIT, "permit", "it is due; the source has no permit before")              \
    X(ASKED, "asked", "a look is under way")                                       \
    X(BACKOFF, "backoff", "the last look failed")                                  \
    X(ABSENT, "absent", "no source knows it; one is asked again")                  \
    X(DEFERRED, "deferred", "there was no room in the queue")                      \
    X(DOWN, "down", "no source that knows it answers")                             \
    X(PAUSED, "paused", "it is paused till then")                                  \
    X(UNMAPPED, "unmapped", "no source that is enabled knows it")                  \
    X(DISABLED, "disabled", "the source is disabled")                              \
    X(FINAL, "final", "it is over; its last version is kept")

enum watch_why {
#define X(name, text, says) WATCH_WHY_##name,
    FB_WATCH_WHYS(X)
#undef X
        WATCH_WHYS
};

/* "due"; "its age will be what is aimed at" */
const char *fb_watch_why_name(enum watch_why why);
const char *fb_watch_why_says(enum watch_why why);

struct watch_item_view {
    const char *id;
    enum item_state state;
    int64_t state_ns; /* since when */
    uint64_t seq;     /* of the latest version; 0: none yet */
    int64_t known_ns;
    int64_t fresh_ns; /* 0: never */
    int64_t age_ns;   /* at the watcher's clock */
    bool is_stale;    /* older than its TTL, or never fresh */
    bool is_out;      /* its age is nobody's: paused, absent, unmapped, or on trial after a pause */
    int64_t next_ns;  /* the next look is due; FB_NEVER: none is */
    int next_domain;  /* there, as far as is known now; -1 */
    enum watch_why why;
    int64_t paused_ns; /* until then; 0: it is not */
    int32_t failures;  /* in a row */
    int32_t in_flight;
    size_t links;  /* domains that have an id for it */
    size_t fields; /* of the latest version */
    size_t kept;   /* versions */
};

/* One domain's part of an item. */
struct watch_link_view {
    uint32_t domain;
    const char *domain_id;
    int64_t fresh_ns;     /* for which instant holds what it said; 0: it said nothing */
    int64_t static_ns;    /* the same for what hardly changes */
    int64_t failure_ns;   /* 0: none */
    enum failure failure; /* the latest; FAIL_NONE */
    int32_t failures;     /* in a row */
    int64_t absent_ns;    /* it does not know the item, and is not asked before; 0: it does */
    int64_t next_ns;
    enum watch_why why;
    bool in_flight;
    bool is_stale;  /* what it said is so old that it comes behind the others */
    int64_t odd_ns; /* all others contradict it since then; 0: they do not */
};

/* A field of the latest version. A bit for each domain, by its number. */
struct watch_field {
    const char *name;
    const char *value;
    uint32_t domain;   /* whose value it is */
    uint32_t agree;    /* say the same, this one among them */
    uint32_t disagree; /* say otherwise: fb_watch_says() */
    int64_t fresh_ns;  /* when that domain was asked */
};

/* A version that is kept. */
struct watch_version {
    uint64_t seq;
    int64_t at_ns; /* it was made */
    struct snapshot says;
};

size_t fb_watch_count(const struct watch *w);

/* By number, from 0 to fb_watch_count() - 1; numbers change when items come and go. */
const struct watch_item *fb_watch_item_at(const struct watch *w, size_t n);

/* NULL: none. */
const struct watch_item *fb_watch_find(const struct watch *w, const char *id);

/* The item that a domain knows by this id, or NULL. */
const struct watch_item *fb_watch_find_mapped(const struct watch *w, uint32_t domain,
                                              const char *domain_id);

/*
 * What a consumer gets who asks for an item: found as by fb_watch_find(), and counted as a hit or a
 * miss. O(1), and never waits for a look.
 */
const struct watch_item *fb_watch_read(struct watch *w, const char *id);

void fb_watch_item(const struct watch *w, const struct watch_item *i,
                   struct watch_item_view *ret_view);

/* The n-th domain that has an id for it, n < links. */
void fb_watch_link(const struct watch *w, const struct watch_item *i, size_t n,
                   struct watch_link_view *ret_view);

/* The n-th field of the latest version, n < fields; in the order of names. */
void fb_watch_field(const struct watch *w, const struct watch_item *i, size_t n,
                    struct watch_field *ret_field);

/* What a domain says in a field, or NULL. */
const char *fb_watch_says(const struct watch *w, const struct watch_item *i, uint32_t domain,
                          const char *name);

/* The n-th version, the latest first, n < kept. */
void fb_watch_version(const struct watch *w, const struct watch_item *i, size_t n,
                      struct watch_version *ret_version);

/* What a consumer needs who has version `since` (0: nothing) to have the latest. */
struct watch_delta {
    enum delta_need need;
    uint64_t from, to;
    const struct delta_change *change; /* DELTA_CHANGES, and all of it as changes: DELTA_WHOLE */
    size_t count;
};

/* The changes hold until the next call. */
void fb_watch_delta(struct watch *w, const struct watch_item *i, uint64_t since,
                    struct watch_delta *ret_delta);

/* ---- audit and warnings ---- */

struct watch_audit_entry {
    int64_t at_ns;
    enum watch_event_kind kind;
    char trigger[24];
    char outcome[24];
    char domain[64];
    char id[64]; /* of an item; cut where longer */
    char text[160];
};

/* How many there were so far; the latest WATCH_AUDIT_MAX are kept. */
uint64_t fb_watch_audits(const struct watch *w);

/* The n-th, the newest first; NULL: not kept (any more). */
const struct watch_audit_entry *fb_watch_audit(const struct watch *w, size_t n);

/* Of ids. */
#define FB_WATCH_WARNINGS(X)                                                              \
    X(UNMAPPED, "unmapped")   /* an item has no id at a domain that is enabled */         \
    X(UNKNOWN, "unknown")     /* a domain has an id that no item is mapped to */          \
    X(TWICE, "twice")         /* two items have the same id at a domain */                \
    X(CHANGED, "changed")     /* an item has another id at a domain than before */        \
    X(MISMATCH, "mismatch")   /* an answer is about another item than was asked for */    \
    X(REFUSED, "refused")     /* an entry of the list that could not be taken */          \
    X(LOST, "lost")           /* the list no longer has an item that was not completed */ \
    X(STATE, "state")         /* the list has a word for its state that nobody knows */   \
    X(AMBIGUOUS, "ambiguous") /* a file of ids has two lines for an item */

enum watch_warning_kind {
#define X(name, text) WATCH_WARN_##name,
    FB_WATCH_WARNINGS(X)
#undef X
        WATCH_WARNING_KINDS
};

const char *fb_watch_warning_name(enum watch_warning_kind kind);

/* The same one is counted, not repeated. */
struct watch_warning {
    enum watch_warning_kind kind;
    int domain; /* -1: none */
    int64_t first_ns, last_ns;
    int64_t count;
    char id[64];        /* canonical, or ""; cut where longer */
    char domain_id[64]; /* or "" */
    char text[160];
};

/* The n-th, in no certain order; NULL: there are no more. */
const struct watch_warning *fb_watch_warning(const struct watch *w, size_t n);

/* So far, by kind. */
int64_t fb_watch_warned(const struct watch *w, enum watch_warning_kind kind);

#endif
