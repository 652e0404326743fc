/* SPDX-License-Identifier: MIT */
/*
 * snapshot.h - what is known about an item at one time: named values, in the order of their names.
 *
 * Names and values are terminated texts of the caller's, which a snapshot only points to. Two
 * values are the same when their texts are: whoever makes snapshots writes equal values alike.
 */
#ifndef FLYBALL_CORE_SNAPSHOT_H
#define FLYBALL_CORE_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>

struct snapshot_field {
    const char *name;
    const char *value;
};

struct snapshot {
    const struct snapshot_field *field; /* by name, no two alike; NULL where there are none */
    size_t count;
};

/* Whether it is in order: to be seen once, where a snapshot is made. */
bool fb_snapshot_is_ordered(const struct snapshot *s);

/* The value of a name, or NULL. */
const char *fb_snapshot_find(const struct snapshot *s, const char *name);

#endif
