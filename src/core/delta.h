/* SPDX-License-Identifier: MIT */
/*
 * delta.h - what has changed between two snapshots of an item, so that whoever has the one can make
 * the other of it.
 *
 * Snapshots of an item are numbered from 1 on, without gaps, and the latest of them are kept. A
 * consumer says which one it has and is told what it needs: nothing, the changes since, or all of
 * the latest, when what it has is no longer kept or was never given out.
 */
#ifndef FLYBALL_CORE_DELTA_H
#define FLYBALL_CORE_DELTA_H

#include <stddef.h>
#include <stdint.h>

#include "core/snapshot.h"

struct delta_change {
    const char *name;
    const char *value; /* NULL: it is gone */
};

/*
 * The changes from one snapshot to another, in the order of names; returns how many. ret_changes
 * has room for as many as both have fields together.
 */
size_t fb_delta(const struct snapshot *from, const struct snapshot *to,
                struct delta_change *ret_changes);

/*
 * What a snapshot becomes by changes, which are in the order of names; returns its number of
 * fields. ret_fields has room for those of the snapshot and the changes together.
 */
size_t fb_delta_apply(const struct snapshot *from, const struct delta_change *change, size_t count,
                      struct snapshot_field *ret_fields);

enum delta_need {
    DELTA_NOTHING,
    DELTA_CHANGES, /* from what it has to the latest */
    DELTA_WHOLE,
};

/* What whoever has number `since` needs, where `latest` and the `kept` before it are there. */
enum delta_need fb_delta_need(uint64_t since, uint64_t latest, uint64_t kept);

#endif
