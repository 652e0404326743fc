/* SPDX-License-Identifier: MIT */
/*
 * constraint.h - the contract every limit fulfils, and the table of them.
 *
 * A constraint answers one question, "from when may this request leave?", and records one fact,
 * "it left". It never sleeps, allocates, logs or reads a clock. Asking and taking are apart: the
 * accountant asks all, starts at the latest answer, then takes from all; there is nothing to roll
 * back. All of a constraint's state is a few int64_t slots, which each .c names by an enum.
 *
 * To add one: write core/<name>.c with a `const struct constraint fb_constraint_<name>` and add
 * its row, with the number of slots it needs, below.
 */
#ifndef FLYBALL_CORE_CONSTRAINT_H
#define FLYBALL_CORE_CONSTRAINT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/value.h"

struct fly_outcome;
struct pace;
struct rng;
struct spec;
struct text;

/* X(name, slots): asked in this order; of equal answers the first is named as the cause. */
#define FB_CONSTRAINTS(X) \
    X(window, 1)          \
    X(hold, 3)            \
    X(concurrency, 2)     \
    X(quota, 13)          \
    X(bucket, 6)

#define X(name, slots) FB_CONSTRAINT_##name,
enum { FB_CONSTRAINTS(X) FB_CONSTRAINT_COUNT };
#undef X

#define X(name, slots) FB_SLOTS_##name = (slots),
enum { FB_CONSTRAINTS(X) };
#undef X

/* A request that wants to leave, left, or comes back unused. */
struct ask {
    int64_t now_ns;
    int64_t cost;      /* >= 1 */
    int64_t in_flight; /* grants without report or cancel, this one not among them */
    int64_t units_out; /* the sum of their costs */
    uint64_t id;       /* of the grant: rises by at least 1 from grant to grant */
    int64_t to_come;   /* with it and after it, as far as anybody knows; 0: nobody does */
};

/* An answer that arrived. */
struct answer {
    const struct fly_outcome *outcome;
    int64_t now_ns;
    uint16_t id;             /* low bits of the grant's id */
    int64_t cost;            /* true cost, settled or as granted */
    int64_t granted;         /* the cost it was granted with */
    int64_t in_flight;       /* without this one */
    int64_t units_out;       /* the sum of their costs */
    int64_t in_flight_then;  /* in flight when this one was granted, itself included; at most 127 */
    int64_t default_hold_ns; /* how long to hold when a refusal tells no time; 0: the pace says */
    bool ample;              /* all that is to come fits into what it tells to be left */
    bool throttled;          /* 429, or the reader of the response says so */
    bool accepted;           /* 2xx or 3xx and not throttled */
};

struct constraint {
    const char *name;       /* as `why` says it */
    const char *never;      /* what it is called when it answers FB_NEVER; NULL: its name */
    const char *says;       /* what it waits for, for the sentence: "the server asked to wait" */
    const char *never_says; /* why, where FB_NEVER is final; NULL: an answer may help */
    const char *word;       /* its own word in a spec, or NULL; the value goes to spec.own */
    const char *expects;    /* what that word's value looks like, for the error message */

    /* Reads the value of the own word, > 0: fb_value_count, fb_value_span or the like. */
    enum value_error (*read)(const char *text, int64_t *ret_value);

    /*
     * Set up the slots (all zero before). False: this spec gives the constraint nothing to do,
     * now or later, and it is not asked. `memory` is what fb_window_bytes() asked for, or NULL.
     */
    bool (*init)(int64_t *slot, const struct spec *s, void *memory, int64_t now_ns);

    /* Earliest instant at which the request may leave: <= now for "now"; or FB_NEVER. */
    int64_t (*ready_at)(const int64_t *slot, const struct ask *q);

    /* The request leaves now. The accountant has seen every ready_at() agree. NULL: no record. */
    void (*take)(int64_t *slot, const struct ask *q);

    /*
     * q->cost units of a grant come back unused; if < 0, so many more were used. q->id has the
     * low 16 bits of the grant's id. NULL: nothing to give back.
     */
    void (*refund)(int64_t *slot, const struct ask *q);

    /* An answer arrived. NULL: answers say nothing to this constraint. */
    void (*report)(int64_t *slot, const struct answer *a, struct rng *rng);

    /* The figures behind a wait that ends by itself, right after `says`. NULL: there are none. */
    void (*figures)(const int64_t *slot, const struct ask *q, struct text *ret_text);

    /* The controller wants another pace. NULL: not this constraint's business. */
    void (*repace)(int64_t *slot, const struct pace *p, int64_t now_ns);

    /*
     * True while it neither delays anything nor waits for an answer, so that a bucket alone
     * decides. NULL: never.
     */
    bool (*idle)(const int64_t *slot, int64_t now_ns);

    /* Take it that all it allows was used just now. NULL: there is nothing to use up. */
    void (*exhaust)(int64_t *slot, int64_t now_ns);

    /*
     * Whether the slots, and the memory behind them, can have come from those of a fresh
     * constraint under the same spec, whatever happened since. What they say may be any bytes;
     * what passes can be asked and taken from without harm.
     */
    bool (*sound)(const int64_t *slot, const int64_t *fresh);

    /*
     * True when nothing is remembered that a fresh constraint would not know as well, so that
     * forgetting it breaks no limit. Every constraint says it.
     */
    bool (*rested)(const int64_t *slot, int64_t now_ns);
};

#define X(name, slots) extern const struct constraint fb_constraint_##name;
FB_CONSTRAINTS(X)
#undef X

#endif
