/* SPDX-License-Identifier: MIT */
/*
 * watchdog.h - a thread that notices when the loop stands still.
 *
 * The loop says when it begins to wait for events and when it goes on; a loop that waits is not
 * stuck, however long. One that has worked for longer than it may is told of once, until it waits
 * again.
 */
#ifndef FLYBALL_ENGINE_WATCHDOG_H
#define FLYBALL_ENGINE_WATCHDOG_H

#include <stdbool.h>
#include <stdint.h>

struct watchdog;

/* 0 or a negative errno. `on_stuck` is called on the watchdog's own thread. */
int fb_watchdog_new(int64_t stuck_ns, void (*on_stuck)(void *user, int64_t still_ns), void *user,
                    struct watchdog **ret_watchdog) __attribute__((warn_unused_result));

/* NULL is allowed. */
void fb_watchdog_free(struct watchdog *w);

/* The loop waits from here on, or works. */
void fb_watchdog_note(struct watchdog *w, bool waits);

#endif
