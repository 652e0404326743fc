/* SPDX-License-Identifier: MIT */
/*
 * concurrency.c - at most so many requests in flight: the user's bound, and the controller's cap.
 *
 * It counts nothing itself: the accountant says how many are out. Waiting does not help against a
 * full house, only an answer does, so it says "now" or "never".
 */
#include <assert.h>
#include <stddef.h>

#include "core/constraint.h"
#include "core/controller.h"
#include "core/instant.h"
#include "core/spec.h"

enum {
    BOUND, /* as stated; FB_NO_CAP when none is */
    CAP    /* of the pace */
};

static bool concurrency_init(int64_t *slot, const struct spec *s, void *memory, int64_t now_ns)
{
    int64_t stated = s->own[FB_CONSTRAINT_concurrency];

    (void)memory;
    (void)now_ns;
    assert(stated >= 0);
    slot[BOUND] = stated > 0 ? stated : FB_NO_CAP;
    slot[CAP] = FB_NO_CAP;
    return stated > 0 || s->controller != NULL;
}

static int64_t concurrency_ready_at(const int64_t *slot, const struct ask *q)
{
    assert(q->in_flight >= 0 && slot[BOUND] >= 1);
    return q->in_flight < fb_min64(slot[BOUND], slot[CAP]) ? q->now_ns : FB_NEVER;
}

static void concurrency_repace(int64_t *slot, const struct pace *p, int64_t now_ns)
{
    (void)now_ns;
    assert(p->in_flight_max >= 0 && p->in_flight_max <= FB_NO_CAP);
    slot[CAP] = p->in_flight_max;
}

static bool concurrency_idle(const int64_t *slot, int64_t now_ns)
{
    (void)now_ns;
    assert(slot[BOUND] >= 1 && slot[CAP] >= 0);
    return fb_min64(slot[BOUND], slot[CAP]) == FB_NO_CAP;
}

/* It counts nothing itself. */
static bool concurrency_rested(const int64_t *slot, int64_t now_ns)
{
    (void)slot;
    (void)now_ns;
    return true;
}

static bool concurrency_sound(const int64_t *slot, const int64_t *fresh)
{
    return slot[BOUND] == fresh[BOUND] && slot[CAP] >= 0;
}

const struct constraint fb_constraint_concurrency = {
    .name = "concurrency",
    .says = "as many requests as allowed are in flight",
    .word = "concurrency",
    .expects = "a whole number such as 5",
    .read = fb_value_count,
    .init = concurrency_init,
    .ready_at = concurrency_ready_at,
    .repace = concurrency_repace,
    .idle = concurrency_idle,
    .sound = concurrency_sound,
    .rested = concurrency_rested,
};
