/* SPDX-License-Identifier: MIT */
/*
 * brief.c - the bucket of a key, laid out when it is needed and put away again.
 *
 * There is no arithmetic of its own: the slots of a bucket whose clock begins now are made from
 * the pattern and what is missing from a full one, the constraint itself decides, and what is
 * missing afterwards is kept as an instant. Ticks are whole numbers, so nothing is lost in
 * putting away: full_ns and rest say when the bucket is full to the tick.
 */
#include "core/brief.h"

#include <assert.h>
#include <string.h>

#include <flyball/flyball.h>

#include "core/bucket.h"
#include "core/instant.h"
#include "core/wide.h"

#define OP(call) fb_constraint_bucket.call

static_assert(sizeof(struct brief) == 24, "as the header says");

bool fb_brief_fits(const struct accountant *pattern)
{
    assert(pattern->in_flight == 0);
    return fb_accountant_is_plain(pattern, pattern->now_ns);
}

struct brief fb_brief_new(int64_t now_ns)
{
    struct tickets_brief none = FB_TICKETS_BRIEF_NONE;

    return (struct brief){.full_ns = now_ns, .ended = none.ended};
}

/* ---- the bucket ---- */

/* A clock that lags behind finds more missing, up to what ticks can count: towards waiting. */
static int64_t missing(const struct brief *b, int64_t ticks, int64_t now_ns)
{
    fb_wide there = ((fb_wide)b->full_ns - now_ns) * ticks + b->rest;

    assert(ticks > 0 && b->rest < ticks);
    if (there <= 0)
        return 0;
    return there < FB_BUCKET_LEVEL_MAX ? (int64_t)there : FB_BUCKET_LEVEL_MAX;
}

static void lay_out(const struct brief *b, const struct accountant *pattern, int64_t now_ns,
                    int64_t *ret_slot)
{
    memcpy(ret_slot, &pattern->slot[FB_SLOT_bucket], FB_BUCKET_SLOTS * sizeof(*ret_slot));
    ret_slot[FB_BUCKET_BASE] = now_ns;
    ret_slot[FB_BUCKET_GIVEN_BACK] = 0;
    ret_slot[FB_BUCKET_LEVEL] = missing(b, ret_slot[FB_BUCKET_TICKS], now_ns);
    assert(ret_slot[FB_BUCKET_LEVEL] >= 0);
}

/* A debt of more than 73 years is one of 73. */
static void put_away(struct brief *b, const int64_t *slot)
{
    int64_t left = fb_max64(0, slot[FB_BUCKET_LEVEL] - slot[FB_BUCKET_GIVEN_BACK]);

    assert(slot[FB_BUCKET_TICKS] > 0 && slot[FB_BUCKET_BASE] <= FB_TIME_MAX);
    b->full_ns = slot[FB_BUCKET_BASE] + fb_min64(left / slot[FB_BUCKET_TICKS], FB_TIME_MAX);
    b->rest = (uint32_t)(left % slot[FB_BUCKET_TICKS]);
    assert(b->rest < slot[FB_BUCKET_TICKS]);
}

/* ---- decisions ---- */

struct verdict fb_brief_ask(const struct brief *b, const struct accountant *pattern, int64_t cost,
                            int64_t now_ns)
{
    int64_t slot[FB_BUCKET_SLOTS];
    struct ask q = {.now_ns = now_ns, .cost = cost};

    assert(cost >= 1);
    lay_out(b, pattern, now_ns, slot);
    int64_t at_ns = OP(ready_at)(slot, &q);
    return (struct verdict){
        .at_ns = at_ns,
        .cause = at_ns > now_ns ? &fb_constraint_bucket : NULL,
    };
}

static struct tickets_brief tickets_of(const struct brief *b)
{
    return (struct tickets_brief){.ended = b->ended, .newest = b->newest, .old = b->old};
}

static void keep_tickets(struct brief *b, const struct tickets_brief *t)
{
    b->ended = t->ended;
    b->newest = t->newest;
    b->old = t->old;
}

uint64_t fb_brief_take(struct brief *b, const struct accountant *pattern, int64_t cost,
                       int64_t now_ns, uint8_t key)
{
    int64_t slot[FB_BUCKET_SLOTS];
    struct ask q = {.now_ns = now_ns, .cost = cost};
    struct tickets_brief t = tickets_of(b);

    assert(cost >= 1 && cost <= UINT32_MAX);
    lay_out(b, pattern, now_ns, slot);
    OP(take)(slot, &q);
    put_away(b, slot);

    struct ticket ticket = {.cost = (uint32_t)cost, .id = fb_tickets_brief_add(&t)};
    keep_tickets(b, &t);
    return fb_ticket_seal(ticket, key);
}

static enum ticket_end end(struct brief *b, uint64_t word, uint8_t key, struct ticket *ret_ticket)
{
    struct tickets_brief t = tickets_of(b);

    if (!fb_ticket_open(word, key, ret_ticket))
        return TICKET_UNKNOWN;
    enum ticket_end how = fb_tickets_brief_end(&t, ret_ticket->id);
    keep_tickets(b, &t);
    return how;
}

void fb_brief_cancel(struct brief *b, const struct accountant *pattern, uint64_t ticket,
                     int64_t now_ns, uint8_t key)
{
    int64_t slot[FB_BUCKET_SLOTS];
    struct ticket t;

    /* Whether an old one really was out is not known: its permit stays spent. */
    if (end(b, ticket, key, &t) != TICKET_RECENT)
        return;
    assert(t.cost >= 1);
    struct ask q = {.now_ns = now_ns, .cost = t.cost};
    lay_out(b, pattern, now_ns, slot);
    OP(refund)(slot, &q);
    put_away(b, slot);
}

bool fb_brief_is_told(const struct fly_outcome *o)
{
    return o->status == 429 || (o->flags & FLY_THROTTLED) || o->limit != FLY_ABSENT ||
           o->remaining != FLY_ABSENT || o->reset_ns != FLY_ABSENT ||
           o->retry_after_ns != FLY_ABSENT;
}

void fb_brief_report(struct brief *b, uint64_t ticket, uint8_t key)
{
    struct ticket t;

    (void)end(b, ticket, key, &t);
}

/* As if the bucket had been emptied so that the first permit is there at that time. */
void fb_brief_hold(struct brief *b, const struct accountant *pattern, int64_t until_ns)
{
    const int64_t *bucket = &pattern->slot[FB_SLOT_bucket];
    int64_t refill_ns = fb_min64(bucket[FB_BUCKET_BURST] / bucket[FB_BUCKET_TICKS], FB_TIME_MAX);

    assert(until_ns <= FB_TIME_MAX);
    assert(refill_ns >= 0);
    if (b->full_ns >= until_ns + refill_ns)
        return;
    b->full_ns = until_ns + refill_ns;
    b->rest = 0;
}

void fb_brief_charge(struct brief *b, const struct accountant *pattern, int64_t units,
                     int64_t now_ns)
{
    int64_t slot[FB_BUCKET_SLOTS];
    struct ask q = {.now_ns = now_ns, .cost = -units};

    assert(units >= 0);
    lay_out(b, pattern, now_ns, slot);
    OP(refund)(slot, &q);
    put_away(b, slot);
}

bool fb_brief_is_rested(const struct brief *b, int64_t now_ns)
{
    struct tickets_brief t = tickets_of(b);

    return b->full_ns + (b->rest > 0) <= now_ns && fb_tickets_brief_out(&t) == 0;
}

/* ---- to an accountant and back ---- */

void fb_brief_unfold(const struct brief *b, struct accountant *a, int64_t now_ns)
{
    struct tickets_brief t = tickets_of(b);

    assert(a->plain && a->in_flight == 0);
    lay_out(b, a, now_ns, fb_accountant_bucket(a));
    fb_tickets_unfold(&a->tickets, t);
    /* What each cost is not known here; it was at least one. */
    a->in_flight = fb_tickets_brief_out(&t);
    assert(a->in_flight >= 0);
    a->units_out = a->in_flight;
    a->now_ns = fb_max64(a->now_ns, now_ns);
}

struct brief fb_brief_fold(const struct accountant *a, int64_t now_ns)
{
    struct brief b;
    struct tickets_brief t = fb_tickets_fold(&a->tickets);

    assert(fb_accountant_is_plain(a, now_ns) && a->settled == 0);
    (void)now_ns;
    put_away(&b, &a->slot[FB_SLOT_bucket]);
    keep_tickets(&b, &t);
    return b;
}
