/* SPDX-License-Identifier: MIT */
/*
 * setup.h - everything about one run but the governor: provider, network, client, how long.
 *
 * A scenario draws a setup from a seed; the run copies it and never changes it.
 */
#ifndef FLYBALL_SIM_SETUP_H
#define FLYBALL_SIM_SETUP_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/net.h"
#include "sim/provider.h"

#define FB_CLIENTS_MAX 8
#define FB_POOLS_MAX   4

enum demand_kind {
    DEMAND_ALWAYS,  /* there is always more to do: judged by what was accepted */
    DEMAND_POISSON, /* arrivals at `rate`: judged by the p95 of the time in system */
    DEMAND_CLUMPS,  /* `clump` at once, then a pause: judged by the mean time in system */
    DEMAND_BATCH,   /* `clump` at the start and no more: judged by the time of the last */
    DEMAND_MIXED    /* always more to do, and arrivals at `rate` that go first */
};

struct demand {
    enum demand_kind kind;
    double rate;                     /* arrivals a second */
    double clump;                    /* mean size */
    double pause_s;                  /* between clumps, mean */
    uint32_t cost_max;               /* costs are drawn from 1..cost_max; 0 counts as 1 */
    bool cost_later;                 /* the client learns the cost from the answer */
    bool client_per_pool;            /* client i works on pool i; otherwise one client on all */
    double pool_share[FB_POOLS_MAX]; /* of the requests; all 0: everything is pool 0 */
};

struct setup {
    struct provider provider; /* described, not initialised */
    struct net net;           /* likewise */
    struct demand demand;
    int64_t duration_ns;
    int32_t clients;     /* processes that do not know of each other */
    int32_t workers;     /* requests that each may have in flight */
    int32_t restarts;    /* the limiter forgets everything so many times */
    bool restored;       /* but for what it saved */
    double timeout_s;    /* the client gives up; 0: never */
    double cancel_share; /* of the grants are given back at once */
    double told_rate;    /* what a person who read the documentation would configure */
    uint64_t seed;
};

#endif
