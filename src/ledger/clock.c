/* SPDX-License-Identifier: MIT */
/*
 * clock.c - CLOCK_BOOTTIME, anchored to the epoch once.
 *
 * A clock that is set back must not send a windowful twice, and one that is set forward must not
 * let a hold end early: so the time of day is looked at once, and then only counted on.
 */
#include "ledger/clock.h"

#include <stdatomic.h>
#include <time.h>

#include <flyball/flyball.h>

#include "core/instant.h"

static int64_t read_clock(clockid_t id)
{
    struct timespec t = {0};

    (void)clock_gettime(id, &t);
    return (int64_t)t.tv_sec * FB_NS_PER_S + t.tv_nsec;
}

int64_t fb_clock_boot_ns(void)
{
    return read_clock(CLOCK_BOOTTIME);
}

int64_t fb_clock_anchor_ns(void)
{
    return read_clock(CLOCK_REALTIME) - fb_clock_boot_ns();
}

static _Atomic int64_t anchor; /* 0: not chosen yet */

int64_t fb_clock_adopt(int64_t anchor_ns)
{
    int64_t chosen = 0;

    if (atomic_compare_exchange_strong(&anchor, &chosen, anchor_ns))
        return anchor_ns;
    return chosen;
}

int64_t fly_now(void)
{
    int64_t chosen = atomic_load_explicit(&anchor, memory_order_relaxed);

    if (chosen == 0)
        chosen = fb_clock_adopt(fb_clock_anchor_ns());
    return chosen + fb_clock_boot_ns();
}
