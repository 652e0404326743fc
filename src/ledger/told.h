/* SPDX-License-Identifier: MIT */
/*
 * told.h - what came of grants: told to the books at once, or owed to them.
 *
 * Where another process keeps the body of a shared limiter for too long, what was told is kept in
 * the handle and written into the books by the next call that gets in; until then the handle
 * grants nothing. So a refusal is never lost, and none of this process's requests leaves as if it
 * had not been told.
 *
 * There is room for FB_OWED_MAX. Beyond these a refusal takes the place of an answer that is none,
 * and what then has no place is as a request without an answer: it counts as out until the handle
 * is freed or the process ends, which errs towards waiting.
 */
#ifndef FLYBALL_LEDGER_TOLD_H
#define FLYBALL_LEDGER_TOLD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <flyball/flyball.h>

#include "ledger/lock.h"

#define FB_OWED_MAX 64

enum told_kind { TOLD_REPORT, TOLD_CANCEL, TOLD_SETTLE };

struct told {
    enum told_kind kind;
    uint32_t cost;  /* TOLD_SETTLE */
    int64_t now_ns; /* on the caller's clock */
    uint64_t ticket;
    const struct fly_outcome *outcome; /* TOLD_REPORT */
};

struct owed_told {
    struct told told;
    struct fly_outcome outcome; /* a copy of what was told */
};

struct owed {
    _Atomic uint64_t of; /* the process; the child of a fork owes nothing */
    struct lock lock;
    _Atomic uint32_t count;
    struct owed_told told[FB_OWED_MAX];
};

struct body;
struct share;

/* Whether there is anything; a look without a lock. */
bool fb_owes(const struct share *g);

/* Write all of it into the books of a body that is entered. */
void fb_owed_pay(struct share *g, struct body *b);

#endif
