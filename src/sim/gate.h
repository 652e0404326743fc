/* SPDX-License-Identifier: MIT */
/*
 * gate.h - the limits that providers enforce, each as a small model that knows the truth.
 *
 * A gate answers "how much would fit right now?" and records "so much went through" or "so much
 * was refused". A provider asks all of its gates and takes from all or from none. Nothing here is
 * shared with the library's own constraints: what judges must not be what is judged.
 *
 * To add one: write the functions and their `const struct gate_kind`, declared below.
 */
#ifndef FLYBALL_SIM_GATE_H
#define FLYBALL_SIM_GATE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/tide.h"

#define FB_ROOM_MAX INT64_C(1000000000)

struct gate {
    const struct gate_kind *kind;

    /* What it enforces. Every kind reads only the fields that its comment below names. */
    double rate;   /* units a second */
    double burst;  /* units that may come at once */
    int64_t limit; /* units a window, or requests at a time */
    int64_t window_ns;
    int64_t phase_ns;        /* an opening of the window, 0 <= phase < window */
    int64_t reborn_ns;       /* fixed: a new window opens then, and the phase follows; 0: never */
    const struct tide *tide; /* how `rate` changes, or NULL */
    uint32_t pools;          /* bit i: requests of pool i pass here */
    int64_t grain;           /* units that may come in one piece; 0 counts as 1 */
    int32_t status;          /* of its refusals; 0: the provider's usual one */

    /* Where it stands. */
    double level;        /* bucket: units left */
    double sum_then;     /* bucket: integral of the tide when `level` was right */
    int64_t used;        /* in this window, or in the building */
    int64_t used_before; /* in the window before */
    int64_t opened_ns;   /* this window */
    int64_t *stamp;      /* log: when each unit passed; a ring of `limit` */
    int64_t head;        /* log: the oldest stamp */
};

struct gate_kind {
    const char *name;

    /* Units that would pass if they came at `now_ns`; time only moves forward. */
    int64_t (*room)(struct gate *g, int64_t now_ns);

    /* `cost` <= room units pass. Returns how long the provider keeps them waiting. */
    int64_t (*take)(struct gate *g, int64_t now_ns, int64_t cost);

    /* `cost` units were refused here. NULL: being refused costs nothing. */
    void (*refuse)(struct gate *g, int64_t now_ns, int64_t cost);

    /* A request that passed has been answered. NULL: does not matter. */
    void (*leave)(struct gate *g);

    /* When `cost` would fit if nothing else came; INT64_MAX when only leaving helps. */
    int64_t (*opens_at)(struct gate *g, int64_t now_ns, int64_t cost);

    /*
     * The least even spacing, in seconds a unit, that one of `share` equal clients can keep
     * without being refused although arrivals may be `squeeze_s` nearer than departures. This is
     * what knowing the limit, and not the phase, is worth. 0: no spacing is needed.
     */
    double (*spacing)(const struct gate *g, int64_t now_ns, double squeeze_s, int32_t share);
};

/* rate, burst, tide: tokens drip into a bucket; burst 1 is strict spacing. */
extern const struct gate_kind fb_gate_bucket;
/* rate, burst: a queue of `burst` places in front of a server that answers at `rate`. */
extern const struct gate_kind fb_gate_queue;
/* limit, window, phase: a counter that starts afresh at every opening. */
extern const struct gate_kind fb_gate_fixed;
/* The same, but refusals count too, and what is above the limit is owed to the next window. */
extern const struct gate_kind fb_gate_debt;
/* limit, window: opens with the first request; a refusal starts the shut window afresh. */
extern const struct gate_kind fb_gate_extend;
/* limit, window: never more than `limit` in any interval of this length. */
extern const struct gate_kind fb_gate_log;
/* The same, but refused requests are logged like the others. */
extern const struct gate_kind fb_gate_log_all;
/* limit, window, phase: two counters, the older weighted by its overlap. */
extern const struct gate_kind fb_gate_approx;
/* limit: so many requests at a time. */
extern const struct gate_kind fb_gate_crowd;

/* Complete a gate whose enforced fields are set, full and at time 0. 0 or -ENOMEM. */
int fb_gate_init(struct gate *g) __attribute__((warn_unused_result));
void fb_gate_fini(struct gate *g);

/* The long-run limit in units a second at `now_ns`; 0 for a gate that is none. */
double fb_gate_rate(const struct gate *g, int64_t now_ns);

#endif
