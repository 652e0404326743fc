/* SPDX-License-Identifier: MIT */
/*
 * reconcile.h - one picture of an item from what several sources say, field by field.
 *
 * Each field is taken from the source of the highest rank that has it, and it is said which one
 * that was. The rank is the source's stated weight times its reliability; those that are demoted
 * come after all others. Sources of the same rank go by their weight, then by their number: the
 * same input gives the same picture, in whatever order the answers came.
 */
#ifndef FLYBALL_CORE_RECONCILE_H
#define FLYBALL_CORE_RECONCILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/snapshot.h"

#define FB_RECONCILE_SOURCES 32 /* of one item, at most */

struct reconcile_source {
    struct snapshot says; /* in order; count 0: nothing */
    double weight;        /* stated, > 0 */
    double reliability;   /* 0..1: the score of reliability.h */
    bool demoted;
};

struct reconciled {
    const char *name;
    const char *value;
    uint32_t source;   /* whose value it is */
    uint32_t agree;    /* sources that say the same, a bit each, this one among them */
    uint32_t disagree; /* and those that say otherwise */
};

/* Whether source `a` goes before source `b`. */
bool fb_reconcile_is_before(const struct reconcile_source *source, uint32_t a, uint32_t b);

/*
 * The picture, in the order of names; returns the number of its fields. ret_fields has room for as
 * many as all sources have together.
 */
size_t fb_reconcile(const struct reconcile_source *source, uint32_t count,
                    struct reconciled *ret_fields);

#endif
