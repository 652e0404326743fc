/* SPDX-License-Identifier: MIT */
/*
 * window.h - at most N units in any interval of length W, for any number of windows at once.
 *
 * A window remembers when each of the last N units left. The next may leave once the unit N
 * places before it is W old: one look into a ring, however large N is. Limits above
 * FB_EXACT_MAX share one stamp among a grain of units, stamped with the last of them: the memory
 * is bounded and the error is less than one grain, towards waiting.
 *
 * The guard: what is sent evenly does not arrive evenly. Windows are widened by the spread of the
 * latencies seen (p99 - p1 of the last 256, at most a quarter of the window), so that the limit
 * holds where it is enforced.
 *
 * Units that come back: those of any grant that the ring still holds. Where stamps are shared it is
 * whole grains that go, no younger than the grant; what is less waits for more to come back.
 */
#ifndef FLYBALL_CORE_WINDOW_H
#define FLYBALL_CORE_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct spec;

/*
 * Bytes of zeroed memory, 8-aligned, that the windows of this spec need; 0 when it has none. The
 * memory and the slots of the constraint may be mapped anywhere, at an unchanged distance.
 */
size_t fb_window_bytes(const struct spec *s);

/*
 * Bytes of it before the stamps. When these are put back as they were before a call that was left
 * in the middle, no stamp is earlier than the truth.
 */
size_t fb_window_head_bytes(const struct spec *s);

/*
 * They were put back. Whose unit is whose is not certain any more: those that are in the windows
 * now leave them in their own time, and do not come back.
 */
void fb_window_mend(int64_t *slot);

/*
 * Windows that were just set up go on where others are, or from nothing known when `from` is NULL.
 * One of the same length has its history; another is filled with all that the shortest window
 * among the longer ones holds, or, if there is none and anything was `used`, to the brim.
 */
void fb_window_carry(int64_t *slot, const int64_t *from, bool used, int64_t now_ns);

/* Units in the fullest window. */
int64_t fb_window_used(const int64_t *slot, int64_t now_ns);

struct window_use {
    int64_t used;
    int64_t limit;  /* that may be used */
    int64_t stated; /* before the margin */
    int64_t length_ns;
    int64_t frees_ns; /* when the next unit leaves it; <= now: there is none in it */
};

/* The window of which the largest share is used; of several the one that frees its units last. */
struct window_use fb_window_fullest(const int64_t *slot, int64_t now_ns);

/* Units a second that the tightest of them allows in the long run; 0: there are none. */
double fb_window_rate(const int64_t *slot);

/* So many left at the latest `passed_ns` ago: they count from now on, where they still may. */
void fb_window_fill(int64_t *slot, int64_t units, int64_t now_ns, int64_t passed_ns);

/* A cost above the effective limit of a window: it can never leave. */
bool fb_window_too_large(const int64_t *slot, int64_t cost);

#endif
