/* SPDX-License-Identifier: MIT */
/*
 * governor.h - what is compared: anything that says when the next request may leave.
 *
 * The contract is that of the public limiter (flyball.h), so that the library is one row among
 * others. A governor sees what a real client sees; only the oracle looks at `truth`.
 *
 * To add one: write a `const struct governor_kind fb_governor_<name>` and add its row below.
 */
#ifndef FLYBALL_SIM_GOVERNOR_H
#define FLYBALL_SIM_GOVERNOR_H

#include <stdint.h>

#include <flyball/flyball.h>

#include "sim/setup.h"

/* The virtual clock starts at 0; governors see it start here, as a real clock would. */
#define FB_SIM_EPOCH_NS INT64_C(1700000000000000000)

/* What is under way, as only the simulator knows. */
struct truth {
    struct provider *provider;
    int64_t transit[FB_POOLS_MAX]; /* units sent that have not arrived yet */
    int64_t ghosts;                /* given up by clients, still worked on */
};

struct governor_setting {
    const struct setup *setup;
    struct truth *truth;
    const char *spec; /* for `probe`: the limit text; NULL: nothing is known */
    uint64_t seed;
    int64_t now_ns;
};

struct governor {
    const struct governor_kind *kind;
};

struct governor_kind {
    const char *name;
    const char *about; /* one line for --list */

    /* NULL when memory is out or the text of the limits is wrong. */
    struct governor *(*new)(const struct governor_setting *s);
    void (*free)(struct governor *g);

    int64_t (*take)(struct governor *g, int64_t now_ns, const struct work *w, uint32_t cost,
                    uint64_t *ret_ticket);
    void (*report)(struct governor *g, int64_t now_ns, const struct fly_outcome *o);
    void (*cancel)(struct governor *g, int64_t now_ns, uint64_t ticket);
    void (*settle)(struct governor *g, int64_t now_ns, uint64_t ticket, uint32_t cost);
    double (*rate)(struct governor *g); /* the pace kept now; 0: none */

    /* `to` is new and goes on with what `from` knows. NULL: nothing lasts. */
    void (*carry)(struct governor *from, struct governor *to, int64_t now_ns);

    /* One sentence on the pace, for traces. NULL: nothing to say. */
    void (*why)(struct governor *g, int64_t now_ns, char *ret_text, size_t size);
};

/* X(C name, name on the command line) */
#define FB_GOVERNORS(X)       \
    X(old, "old")             \
    X(aimd, "aimd")           \
    X(aimd_told, "aimd-told") \
    X(step, "step")           \
    X(even, "even")           \
    X(naive, "naive")         \
    X(probe, "probe")         \
    X(oracle, "oracle")

#define X(name, text) extern const struct governor_kind fb_governor_##name;
FB_GOVERNORS(X)
#undef X

/* NULL when there is no governor of that name. */
const struct governor_kind *fb_governor_find(const char *name);

/* The i-th row, NULL behind the last. */
const struct governor_kind *fb_governor_at(int i);

#endif
