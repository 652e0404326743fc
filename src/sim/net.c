/* SPDX-License-Identifier: MIT */
/* net.c - the delay of one message. */
#include "sim/net.h"

#include <math.h>

#include "core/instant.h"
#include "sim/draw.h"

static void draw_stall(struct net *n, int64_t now_ns)
{
    n->stall_from_ns = now_ns + fb_span(fb_draw_exp(&n->rng, n->stall_every_s));
    n->stall_until_ns = n->stall_from_ns + fb_span(n->stall_s);
}

void fb_net_init(struct net *n, uint64_t seed)
{
    n->rng = fb_draw_stream(seed, 2);
    if (n->stall_every_s > 0.0)
        draw_stall(n, 0);
}

int64_t fb_net_delay_ns(struct net *n, int64_t now_ns)
{
    int64_t delay = fb_span(n->base_s + fb_draw_exp(&n->rng, n->jitter_s));

    if (n->stall_every_s <= 0.0)
        return delay;
    if (now_ns >= n->stall_until_ns)
        draw_stall(n, now_ns);
    return now_ns < n->stall_from_ns ? delay : n->stall_until_ns - now_ns + delay;
}

/* The difference of two exponentials of mean m exceeds x with probability exp(-x / m) / 2. */
double fb_net_squeeze_s(const struct net *n)
{
    return n->jitter_s * log(1000.0 / 2.0);
}
