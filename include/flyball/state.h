/* SPDX-License-Identifier: MIT */
/*
 * state.h - what a limiter learned: as figures for people, and as bytes that outlast the process.
 *
 *     unsigned char bytes[FLY_STATE_BYTES];
 *     int size = fly_limiter_save(l, now(), bytes, sizeof(bytes));
 *     ... keep them, with the time of day; later, in a new process ...
 *     fly_limiter_load(l, now(), passed_ns, bytes, size, &err);
 */
#ifndef FLYBALL_STATE_H
#define FLYBALL_STATE_H

#include <stddef.h>
#include <stdint.h>

#include <flyball/flyball.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FLY_STATE_BYTES 2048 /* no saved state is longer */

/*
 * Write what must not be forgotten to `bytes`: what was learned, what a server asked to wait for,
 * and what was spent. Returns the number of bytes, or -ENOSPC when they are more than `size`.
 * Nothing changes; a state may be saved at any time.
 *
 * All functions here answer -EBUSY where another process keeps a shared limiter for too long.
 */
FLY_API int fly_limiter_save(struct fly_limiter *l, int64_t now_ns, void *bytes, size_t size);

/*
 * Go on from a saved state, right after fly_limiter_new() and under the same adapt= word; other
 * words may have changed and hold from now on. `passed_ns` is how long ago it was saved, by the
 * time of day; 0 when that is not known, which errs towards waiting.
 *
 * 0, or -EINVAL with a sentence in `err`, unless that is NULL: then the limiter is as it was. Any
 * bytes are either a state or refused, and none make a limiter faster than what was learned or
 * than its own bounds allow.
 */
FLY_API int fly_limiter_load(struct fly_limiter *l, int64_t now_ns, int64_t passed_ns,
                             const void *bytes, size_t size, struct fly_error *err);

/* What a limiter has learned by now. */
struct fly_learned {
    uint64_t size;       /* sizeof(struct fly_learned), set by the caller */
    double rate;         /* the effective limit, permits a second; 0: no rate bounds it */
    double reduction;    /* 0..1: the share of what was stated, or is allowed, that is not used */
    double confidence;   /* 0..1: n / (n + 50), n answers that agreed since the last change */
    int64_t recovery_ns; /* how long the provider takes to accept again after a refusal, about */
    int64_t changed_ns;  /* when the rate changed last, on the limiter's clock; or FLY_ABSENT */
    char by[16];         /* what learned it: "probe", "aimd", "step"; "off": nothing does */
};

/* -EINVAL when `size` is too small. */
FLY_API int fly_limiter_learned(struct fly_limiter *l, int64_t now_ns,
                                struct fly_learned *ret_learned);

#ifdef __cplusplus
}
#endif

#endif
