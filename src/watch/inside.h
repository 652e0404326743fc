/* SPDX-License-Identifier: MIT */
/*
 * inside.h - the parts of a watcher. For src/watch alone; others read show.h.
 *
 * An item and a domain that knows it are joined by a link. Each link is in one place at any time:
 *
 *   AT_REST   nowhere: its domain is not one that can be asked, or its item is over
 *   PLANNED   in its domain's plan, by the instant from which on a look is due
 *   QUEUED    due; in its domain's queue for the state of its item, by how long it has been so
 *   ASKED     a look is under way
 *
 * schedule.c alone moves links between the first three, begin.c and answer.c into the fourth and
 * out of it.
 */
#ifndef FLYBALL_WATCH_INSIDE_H
#define FLYBALL_WATCH_INSIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/heap.h"
#include "core/instant.h"
#include "core/pause.h"
#include "core/reconcile.h"
#include "core/rng.h"
#include "util/buffer.h"
#include "watch/show.h"
#include "watch/watch.h"

#define WATCH_SOURCES (2 * WATCH_DOMAINS_MAX)            /* of a picture */
#define WATCH_SAID    (WATCH_SOURCES * WATCH_FIELDS_MAX) /* fields of them all, at most */

_Static_assert(WATCH_SOURCES <= FB_RECONCILE_SOURCES, "live and static parts of every domain");

/* ---- what was said ---- */

/* An answer, with its texts behind it in the same piece of memory. */
struct said {
    int64_t asked_ns;
    uint32_t bytes, text_bytes; /* of all of it, and of the texts in it */
    struct snapshot says;
    struct snapshot_field field[];
};

/* Whose a field of a picture is; see struct watch_field. */
struct origin {
    uint32_t domain;
    uint32_t agree;
    uint32_t disagree;
};

/* A version of an item, in the same way. */
struct picture {
    struct picture *older;
    uint64_t seq;
    int64_t at_ns;
    uint32_t bytes, text_bytes;
    struct snapshot says;
    struct origin *origin; /* one for each field */
    struct snapshot_field field[];
};

/* ---- items and domains ---- */

enum link_place { AT_REST, PLANNED, QUEUED, ASKED };

/* Why a link is not due before not_before_ns. */
enum link_hold { HOLD_NONE, HOLD_BACKOFF, HOLD_ABSENT, HOLD_DEFERRED };

/* Why the age of an item is nobody's. */
enum item_out { OUT_NOT, OUT_PAUSED, OUT_TRIAL, OUT_ABSENT, OUT_UNMAPPED, OUT_OVER };

struct flight;

struct link {
    struct watch_item *item;
    struct domain *domain;
    struct link *chain; /* in the table of ids of domains */
    struct flight *flight;
    struct link *newer, *older; /* QUEUED: of its level */
    struct heap_node node;      /* PLANNED, QUEUED */
    struct said *live, *fixed;  /* what it said of what changes, and of what hardly does */
    int64_t not_before_ns;
    int64_t asked_ns; /* the latest look that was begun; FB_LONG_AGO */
    int64_t failure_ns;
    int64_t odd_since_ns; /* FB_NEVER: nobody contradicts it */
    uint64_t odd_field;   /* a hash of the name of the field in which */
    uint8_t odd_looks;    /* at which that was so */
    int32_t failures;     /* in a row */
    uint8_t failure;      /* the latest */
    uint8_t hold;         /* enum link_hold */
    uint8_t place;        /* enum link_place */
    uint8_t level;        /* QUEUED: the state for which it is queued */
    bool was_free;        /* its latest answer cost no permit: the next may cost none either */
    bool was_refused;     /* its latest answer is not what is known: "not modified" means nothing */
    char domain_id[];
};

struct watch_item {
    struct watch_item *chain; /* in the table of ids */
    size_t place;             /* in the array of all */
    struct freshness freshness;
    struct pause pause;
    struct picture *latest;
    uint64_t seq;
    int64_t state_ns;
    int32_t kept;
    int32_t in_flight;
    uint32_t list;     /* the number of the latest list that has it */
    uint16_t unmapped; /* a bit for each domain that has no id for it, and that was warned of */
    uint8_t lacks;     /* lists in a row that do not */
    uint8_t state;     /* enum item_state */
    bool is_paused;    /* told so; the pause itself may be over */
    bool on_trial;     /* after a pause, until a look succeeds */
    bool is_over;      /* its final version has gone, too */
    bool is_dirty;     /* keep() was not told yet */
    bool is_torn;      /* part of its picture is a domain's that has gone: make it anew */
    struct link *link[WATCH_DOMAINS_MAX]; /* by the number of the domain; NULL: not known there */
    char id[];
};

struct domain {
    struct watch_domain_plan plan; /* plan.name is the domain's own */
    uint32_t index;
    struct heap planned;            /* links, by when they are due */
    struct heap queue[ITEM_STATES]; /* links that are, by order */
    struct reliability reliability;
    double score; /* at the latest interval */
    double rank;
    bool is_down;
    int32_t failures; /* in a row */
    int32_t in_flight;
    int32_t queued;
    int64_t ready_ns; /* no permit before */
    int64_t trial_ns; /* down: no look before */
    int64_t success_ns, failure_ns;
    enum failure failure;
    int64_t looks, retries, was_free, was_killed, odd, wins, waits, latency_ns, warnings;
    int64_t items; /* links */
    int64_t ended[LOOK_CANCELLED + 1];
    int64_t failed[FAIL_KINDS];
};

/* A look under way, with its texts behind it. */
struct flight {
    struct watch_look look;
    struct flight *next, *prev;
    struct link *link;     /* NULL: the item or the domain has gone meanwhile; a list */
    struct domain *domain; /* NULL: the same */
    char text[];
};

/* Links that are queued for one state, from the oldest on. */
struct level {
    struct link *oldest, *newest;
    int32_t count;
};

/* A table of chains, which grows. */
struct watch_table {
    void **slot;
    size_t slots; /* a power of two, or 0 */
    size_t count;
};

struct watch {
    struct watch_ports ports;
    struct watch_plan plan; /* plan.domain is NULL: domains are below */
    struct domain *domain[WATCH_DOMAINS_MAX];
    struct watch_domain_plan *domain_plan; /* what plan.domain shows to others */

    int64_t now_ns;
    int64_t shift_ns; /* added to the ports' clock: it once went back by so much */
    struct rng rng;

    struct watch_item **item; /* all of them */
    size_t count, room;
    struct watch_table by_id;     /* items */
    struct watch_table by_domain; /* links */

    struct level level[ITEM_STATES];
    int32_t queued;
    struct flight *flight; /* all looks under way */
    int32_t in_flight;

    uint32_t list; /* lists that came */
    bool list_in_flight;
    bool list_is_down;
    int32_t list_failures;
    int64_t list_due_ns;

    int64_t due_ns; /* the end of the interval */
    int64_t recycled_ns;
    int64_t recycle_looks; /* succeeded since */
    struct health_state health;
    bool is_recovering; /* a recovery was begun, and its end was not told */
    bool is_telling;    /* inside ports.tell() */
    char grade_text[160];
    const char *grade_trigger; /* the same in a word */

    struct watch_figures figures; /* what is counted, and what the latest interval showed */
    int32_t deferred;             /* in this interval */
    int32_t crowded;              /* intervals in a row in which some were */

    struct watch_audit_entry *audit;
    uint64_t audits;
    struct watch_warning *warning;
    size_t warnings;               /* kept */
    int64_t untold, untold_before; /* for which there was no room: since the last list, before it */
    int64_t warned[WATCH_WARNING_KINDS];

    /* Room to work in. */
    int64_t *ages[ITEM_STATES];
    size_t ages_room;
    struct reconcile_source source[WATCH_SOURCES];
    struct reconciled *reconciled; /* WATCH_SAID */
    struct delta_change *change;   /* 2 * WATCH_SAID */
    struct buffer record;
};

/* ---- clock: watch.c ---- */

/* Read it: w->now_ns does not fall. */
void fb_watch_read_clock(struct watch *w);

/* What it shows at this instant, without reading it for all. */
int64_t fb_watch_time(const struct watch *w);

/* ---- table.c ---- */

struct watch_item *fb_watch_get(const struct watch *w, const char *id);
struct link *fb_watch_mapped(const struct watch *w, const struct domain *d, const char *domain_id);

/* An item without links, or NULL: no memory. */
struct watch_item *fb_watch_add(struct watch *w, const char *id, enum item_state state);
void fb_watch_remove(struct watch *w, struct watch_item *i);

/* Join or part an item and a domain. 0 or -ENOMEM. */
int fb_watch_join(struct watch *w, struct watch_item *i, struct domain *d, const char *domain_id)
    __attribute__((warn_unused_result));
void fb_watch_part(struct watch *w, struct link *l);

void fb_watch_table_fini(struct watch_table *t);

/* ---- said.c ---- */

/* A copy, or NULL: no memory, or not in order, or too large (then *ret_bad is set). */
struct said *fb_watch_copy(struct watch *w, const struct snapshot *s, int64_t asked_ns,
                           bool *ret_bad);
void fb_watch_unsay(struct watch *w, struct said **s);

/* A version made of what was reconciled; NULL: no memory. */
struct picture *fb_watch_paint(struct watch *w, const struct reconciled *r, size_t count);
void fb_watch_unpaint(struct watch *w, struct picture *p);

/* Leave at most `keep` versions of an item. */
void fb_watch_trim(struct watch *w, struct watch_item *i, int32_t keep);

/* ---- picture.c ---- */

/* Make the picture anew; a change is a version, and told. */
void fb_watch_reconcile(struct watch *w, struct watch_item *i);

/* Whether what a link says is so old that it comes behind what others say. */
bool fb_watch_is_old(const struct watch *w, const struct link *l);

/* Whether all others have contradicted this link for longer than the plan allows. */
bool fb_watch_is_odd(struct watch *w, struct link *l);

/* ---- schedule.c ---- */

/* Domains that know an item and answer, at least 1. */
int64_t fb_watch_links(const struct watch_item *i);

/* From when on a look is due, and why then. */
int64_t fb_watch_due_at(const struct watch *w, const struct link *l, enum watch_why *ret_why);

/* Put the links of an item where they belong now. */
void fb_watch_replan(struct watch *w, struct watch_item *i);

/* Take a link out of wherever it is; it is at rest then. */
void fb_watch_rest(struct watch *w, struct link *l);

/* What is due goes into the queues, as far as there is room. */
void fb_watch_advance(struct watch *w);

/* What is queued at a domain goes back to its plan. */
void fb_watch_unqueue(struct watch *w, struct domain *d);

/* The next instant at which anything is to be done. */
int64_t fb_watch_next_at(const struct watch *w);

/* ---- begin.c, answer.c ---- */

/* Whether one more look may be under way there. */
bool fb_watch_has_place(const struct watch *w, const struct domain *d);

/* Begin all looks that may begin now. */
void fb_watch_begin(struct watch *w);

/* An answer without a request: it could not even begin. */
void fb_watch_end(struct watch *w, struct flight *f, const struct watch_answer *a);

/* A domain answers nothing any more, or it does again. */
void fb_watch_domain_failed(struct watch *w, struct domain *d, enum failure failure);
void fb_watch_domain_worked(struct watch *w, struct domain *d, int64_t latency_ns);

/* Domains that are down are tried at once. */
void fb_watch_try_all(struct watch *w);

/* The look is over, or nobody waits for it any more. */
void fb_watch_land(struct watch *w, struct flight *f);

/* ---- list.c ---- */

/* The list is as it was: what it lacks, it lacks once more. */
void fb_watch_list_same(struct watch *w);

/* ---- state.c ---- */

/* Nothing is live. */
bool fb_watch_is_idle(const struct watch *w);

/* The one way in which an item changes its state. */
void fb_watch_enter(struct watch *w, struct watch_item *i, enum item_state state);

/* Paused until then, told with the cause; and its end. */
void fb_watch_hold(struct watch *w, struct watch_item *i, int64_t until_ns, const char *trigger);
void fb_watch_release(struct watch *w, struct watch_item *i, const char *trigger);

/* Whether its age is nobody's. */
enum item_out fb_watch_out(const struct watch *w, const struct watch_item *i);

/* ---- judge.c ---- */

/* An interval is over. */
void fb_watch_judge(struct watch *w);

/* Begin anew, for this cause. */
void fb_watch_renew(struct watch *w, const char *trigger);

/* ---- tell.c ---- */

/* Complete an event (its kind and what belongs to it are set), keep it, and tell it. */
void fb_watch_tell(struct watch *w, struct watch_event e);

/* In place of ports.tell. */
void fb_watch_tell_nobody(void *self, const struct watch_event *e);

/* `domain` and `domain_id` may be NULL. */
void fb_watch_warn(struct watch *w, enum watch_warning_kind kind, struct domain *d, const char *id,
                   const char *domain_id);

/* A list has come: how many were beyond those that are kept, unless it is as many as before. */
void fb_watch_warn_of_rest(struct watch *w);

/* ---- keep.c ---- */

/* What keep() is to be told of an item, now. */
void fb_watch_keep(struct watch *w, struct watch_item *i);

/* ---- plan.c ---- */

/* 0, or -EINVAL with a sentence. */
int fb_watch_plan_check(const struct watch_plan *p, struct fly_error *err)
    __attribute__((warn_unused_result));

/* A domain as planned, or NULL. */
struct domain *fb_watch_domain_new(const struct watch_domain_plan *p);
void fb_watch_domain_free(struct domain *d);

#endif
