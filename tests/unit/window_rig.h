/* SPDX-License-Identifier: MIT */
/* Windows alone, called as the accountant calls them. */
#ifndef FLYBALL_TESTS_WINDOW_RIG_H
#define FLYBALL_TESTS_WINDOW_RIG_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/constraint.h"
#include "core/controller.h"
#include "core/instant.h"
#include "core/rng.h"
#include "core/spec.h"
#include "core/window.h"

#define S  FB_NS_PER_S
#define MS FB_NS_PER_MS

/* A slot with its memory behind it, in one block as in a limiter. */
struct rig {
    int64_t *slot;
    size_t bytes;
    uint64_t id;
};

static inline struct rig rig_of(const struct spec *s)
{
    struct rig r = {.bytes = sizeof(int64_t) + fb_window_bytes(s), .id = 1000};

    r.slot = calloc(1, r.bytes);
    assert_non_null(r.slot);
    assert_true(fb_constraint_window.init(r.slot, s, r.slot + 1, 0));
    return r;
}

static inline struct rig rig_one(int64_t limit, int64_t length_ns)
{
    struct spec s = {.window[0] = {limit, limit, length_ns}, .window_count = 1};

    return rig_of(&s);
}

static inline int64_t ready_at(const struct rig *r, int64_t cost, int64_t now_ns)
{
    return fb_constraint_window.ready_at(r->slot, &(struct ask){.now_ns = now_ns, .cost = cost});
}

/* Returns the id of the grant. */
static inline uint64_t take(struct rig *r, int64_t cost, int64_t now_ns)
{
    struct ask q = {.now_ns = now_ns, .cost = cost, .id = ++r->id};

    assert_int_equal(ready_at(r, cost, now_ns), now_ns);
    fb_constraint_window.take(r->slot, &q);
    return q.id;
}

static inline void refund(struct rig *r, uint64_t id, int64_t cost, int64_t now_ns)
{
    fb_constraint_window.refund(r->slot, &(struct ask){.now_ns = now_ns, .cost = cost, .id = id});
}

static inline void report(struct rig *r, int32_t status, int64_t latency_ns)
{
    struct fly_outcome o = {.status = status, .latency_ns = latency_ns};

    fb_constraint_window.report(r->slot, &(struct answer){.outcome = &o}, NULL);
}

static inline void repace(struct rig *r, double share)
{
    fb_constraint_window.repace(r->slot, &(struct pace){.limit_share = (float)share}, 0);
}

#endif
