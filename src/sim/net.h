/* SPDX-License-Identifier: MIT */
/*
 * net.h - one way through the network: a base, an exponential jitter, and now and then a stall
 * after which everything that was under way arrives at once.
 */
#ifndef FLYBALL_SIM_NET_H
#define FLYBALL_SIM_NET_H

#include <stdint.h>

#include "core/rng.h"

struct net {
    double base_s;
    double jitter_s;      /* mean of the exponential part */
    double stall_every_s; /* mean time between stalls; 0: none */
    double stall_s;       /* how long one lasts */
    int64_t stall_from_ns;
    int64_t stall_until_ns;
    struct rng rng;
};

/* Complete a network whose description is filled in. */
void fb_net_init(struct net *n, uint64_t seed);

/* How long a message that leaves now is under way; calls come in order of time. */
int64_t fb_net_delay_ns(struct net *n, int64_t now_ns);

/* By how much two departures may come nearer, but for 1 pair in 1000. */
double fb_net_squeeze_s(const struct net *n);

#endif
