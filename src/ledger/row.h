/* SPDX-License-Identifier: MIT */
/*
 * row.h - the threads of this process that wait for limiters, each limiter's in a row of its own.
 *
 * Rows are not part of the limiter, which therefore costs nothing more: they are found by its
 * address. The first of a row is its head; only the head asks the limiter.
 */
#ifndef FLYBALL_LEDGER_ROW_H
#define FLYBALL_LEDGER_ROW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <flyball/wait.h>

#include "ledger/lock.h"

/* Bits of a waiter's word; 0: in the row. */
enum {
    WAITER_HEAD = 1,    /* it is its turn to ask */
    WAITER_TOLD = 2,    /* it cannot start before its deadline: at_ns says when */
    WAITER_STOPPED = 4, /* its stop was called */
};

struct waiter {
    struct waiter *next; /* in the row, and of others with the same place to look */
    struct waiter *previous;
    struct waiter *next_of_stop;
    struct waiter *previous_of_stop;
    struct fly_limiter *l;
    int64_t deadline_ns;
    int64_t at_ns;
    uint32_t cost;
    _Atomic uint32_t word; /* what it sleeps on until it is the head */
};

/* Stand at the end of the row of w->l. Returns the costs of those before, 0: it is the head. */
int64_t fb_row_join(struct waiter *w);

/* Leave it, wherever one stands; the next in the row is told when it is the head. */
void fb_row_leave(struct waiter *w);

/* The head has learned that nobody in its row starts before `at_ns`. */
void fb_row_tell(struct waiter *head, int64_t at_ns);

/* True only if nobody does; a look without a lock. */
bool fb_row_is_empty(const struct fly_limiter *l);

/* How many stand in the row of this limiter. */
size_t fb_row_count(struct fly_limiter *l);

#endif
