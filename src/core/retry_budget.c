/* SPDX-License-Identifier: MIT */
/*
 * retry_budget.c - an account of retries in whole billionths: 10 a second is 10 a nanosecond.
 *
 * All figures are integers and divide evenly, so nothing is rounded but the wait, which is
 * rounded up. Invariant: 0 <= balance <= SAVED_MAX.
 */
#include "core/retry_budget.h"

#include <assert.h>

#include "core/instant.h"

#define RETRY       INT64_C(1000000000) /* one retry, in units of the balance */
#define PER_REQUEST (RETRY / 5)
#define PER_NS      (FB_RETRY_PER_S * RETRY / FB_NS_PER_S)
#define FREE_MAX    (FB_RETRY_PER_S * RETRY)
#define SAVED_MAX   (FB_RETRY_SAVED_MAX * RETRY)

void fb_retry_budget_init(struct retry_budget *b, int64_t now_ns)
{
    *b = (struct retry_budget){.balance = FREE_MAX, .now_ns = now_ns};
}

/* The balance at `now_ns`, with what has come for free since. */
static int64_t balance_at(const struct retry_budget *b, int64_t now_ns)
{
    /* After a second everything is in that can be; capped before it is multiplied. */
    int64_t passed_ns = fb_clamp64(now_ns - b->now_ns, 0, FB_NS_PER_S);

    assert(b->balance >= 0 && b->balance <= SAVED_MAX);
    if (b->balance >= FREE_MAX)
        return b->balance;
    return fb_min64(b->balance + passed_ns * PER_NS, FREE_MAX);
}

static void move_on(struct retry_budget *b, int64_t now_ns)
{
    b->balance = balance_at(b, now_ns);
    b->now_ns = fb_max64(b->now_ns, now_ns);
    assert(b->balance >= 0 && b->now_ns >= now_ns);
}

void fb_retry_budget_request(struct retry_budget *b, int64_t now_ns)
{
    move_on(b, now_ns);
    b->balance = fb_min64(b->balance + PER_REQUEST, SAVED_MAX);
    assert(b->balance >= PER_REQUEST);
}

int64_t fb_retry_budget_ready_at(const struct retry_budget *b, int64_t now_ns)
{
    int64_t missing = RETRY - balance_at(b, now_ns);

    assert(missing <= RETRY);
    return missing <= 0 ? now_ns : fb_after(now_ns, (missing + PER_NS - 1) / PER_NS);
}

void fb_retry_budget_take(struct retry_budget *b, int64_t now_ns)
{
    assert(fb_retry_budget_ready_at(b, now_ns) <= now_ns);
    move_on(b, now_ns);
    b->balance -= RETRY;
    assert(b->balance >= 0);
}
