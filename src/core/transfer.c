/* SPDX-License-Identifier: MIT */
/*
 * transfer.c - the same key under another spec: what was spent, held, told and learned goes on.
 *
 * What the new limits cannot be told by the old books is taken to be used up, so that the change
 * itself never lets anything leave earlier than both limits would.
 */
#include "core/accountant.h"

#include <assert.h>
#include <string.h>

#include "core/bucket.h"
#include "core/hold.h"
#include "core/instant.h"
#include "core/quota.h"
#include "core/window.h"

static bool both_have(const struct accountant *a, const struct accountant *b, int constraint)
{
    assert(constraint >= 0 && constraint < FB_CONSTRAINT_COUNT);
    return (a->in_force & b->in_force) >> constraint & 1;
}

static void carry_told(struct accountant *to, const struct accountant *from)
{
    int64_t *hold = &to->slot[FB_SLOT_hold];
    int64_t *quota = &to->slot[FB_SLOT_quota];
    int64_t even = quota[FB_QUOTA_EVEN];
    int64_t reserve = quota[FB_QUOTA_RESERVE];

    assert(hold[FB_HOLD_RAMP] == 0); /* fresh */
    hold[FB_HOLD_UNTIL] = from->slot[FB_SLOT_hold + FB_HOLD_UNTIL];
    hold[FB_HOLD_RAMP] = from->slot[FB_SLOT_hold + FB_HOLD_RAMP];
    if (!both_have(to, from, FB_CONSTRAINT_quota))
        return;
    memcpy(quota, &from->slot[FB_SLOT_quota], FB_QUOTA_SLOTS * sizeof(int64_t));
    quota[FB_QUOTA_EVEN] = even;
    quota[FB_QUOTA_RESERVE] = reserve;
}

/* The permits that are there stay there, as far as the new burst holds them. */
static void carry_bucket(struct accountant *to, const struct accountant *from)
{
    int64_t *slot = &to->slot[FB_SLOT_bucket];
    const int64_t *was = &from->slot[FB_SLOT_bucket];

    if (was[FB_BUCKET_TICKS] == 0 || slot[FB_BUCKET_TICKS] == 0) {
        if (from->tickets.newest > 0)
            fb_constraint_bucket.exhaust(slot, to->now_ns);
        return;
    }
    int64_t there = was[FB_BUCKET_BURST] / was[FB_BUCKET_PERMIT] - fb_bucket_owed(was, to->now_ns);
    assert(was[FB_BUCKET_PERMIT] >= 1 && slot[FB_BUCKET_PERMIT] >= 1);
    int64_t room = slot[FB_BUCKET_BURST] / slot[FB_BUCKET_PERMIT];
    assert(room >= 0);
    if (there < room)
        fb_bucket_owe(slot, room - there, to->now_ns, 0);
}

/* What is out stays out, and those who have a ticket can end it. */
static void carry_grants(struct accountant *to, const struct accountant *from)
{
    assert(to->now_ns >= from->now_ns && to->tickets.newest == 0);
    assert(from->in_flight >= 0 && from->units_out >= 0);
    to->rng = from->rng;
    to->key = from->key;
    to->watched = from->watched;
    to->in_flight = from->in_flight;
    to->units_out = from->units_out;
    to->settled = from->settled;
    to->settled_cost = from->settled_cost;
    fb_tickets_carry(&to->tickets, &from->tickets);
    assert(to->tickets.newest == from->tickets.newest && to->tickets.old >= from->tickets.old);
}

void fb_accountant_begin_anew(struct accountant *to, const struct accountant *from)
{
    carry_grants(to, from);
    fb_accountant_skip_id(to);
}

void fb_accountant_transfer(struct accountant *to, const struct accountant *from)
{
    struct accountant fresh = *to;

    assert(to != from);

    carry_grants(to, from);
    if (to->learner == from->learner) {
        to->learned = from->learned;
        (void)fb_accountant_relearn(to, &fresh);
    }
    carry_told(to, from);
    carry_bucket(to, from);
    if (to->in_force >> FB_CONSTRAINT_window & 1)
        fb_window_carry(&to->slot[FB_SLOT_window],
                        both_have(to, from, FB_CONSTRAINT_window) ? &from->slot[FB_SLOT_window]
                                                                  : NULL,
                        from->tickets.newest > 0, to->now_ns);
    assert(to->in_flight == from->in_flight && to->units_out == from->units_out);
    fb_accountant_skip_id(to);
}
