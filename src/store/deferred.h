/* SPDX-License-Identifier: MIT */
/*
 * deferred.h - what was put off, in a journal, for people to see.
 *
 * The rows are written by the journal in the transaction that marks the item as deferred, and go
 * when it is finished otherwise. They hold no secret: an id, where to (without query and user), why
 * and until when.
 */
#ifndef FLYBALL_STORE_DEFERRED_H
#define FLYBALL_STORE_DEFERRED_H

#include <stdint.h>

#include <flyball/flyball.h>

#include "store/db.h"

struct deferred {
    const char *list; /* the batch it belongs to */
    const char *output;
    uint64_t item;
    const char *id;
    const char *place;
    const char *reason;
    int64_t not_before_s; /* 0: not known */
    int64_t made_s;
};

/* Call `each` for every row, the soonest first, until it returns non-zero. 0, that, or negative
 * errno. */
int fb_deferred_each(struct db *db, int (*each)(void *context, const struct deferred *d),
                     void *context) __attribute__((warn_unused_result));

#endif
