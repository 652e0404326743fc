/* SPDX-License-Identifier: MIT */
/*
 * look.h - how far a batch is and what each key of its engine does, at one instant.
 *
 * What the limiters keep and what was told is read from the engine's keys; what has not been read
 * from the list yet is taken to be like what has.
 */
#ifndef FLYBALL_FETCH_LOOK_H
#define FLYBALL_FETCH_LOOK_H

#include <stddef.h>
#include <stdint.h>

#include "fetch/eta.h"
#include "fetch/progress.h"
#include "view/key.h"

#define LOOK_KEYS 64 /* further ones are not looked at */

struct fetch;

struct look {
    struct fetch *fetch;
    int64_t now_ns;
    size_t count;
    size_t busy;                   /* the first so many have something to do */
    struct eta_key key[LOOK_KEYS]; /* of the busy ones */
    struct view_key shown[LOOK_KEYS];
};

/* Look, and say how far it is. */
void fb_look(struct fetch *f, struct look *ret_look, struct progress *ret_progress);

#endif
