/* SPDX-License-Identifier: MIT */
/*
 * wait.h - a take() that blocks: for threads that would only sleep until they may start.
 *
 *     switch (fly_wait(l, 1, fly_now() + patience, stop, &o.sent_ns, &o.ticket)) {
 *     case 0:          send the request, fly_limiter_report() what came of it
 *     case -ETIMEDOUT: it could not start before o.sent_ns, or when an answer comes (FLY_NEVER)
 *     case -ECANCELED: fly_stop_now(stop) was called
 *     case -E2BIG:     it costs more than a window allows
 *     }
 *
 * Threads of a process start in the order in which they came; only the first in the row asks, and
 * no lock is held while anybody sleeps. Reports, also those of other processes that share the
 * limiter, wake it: a refusal holds those who wait already. Processes are served in no order.
 *
 * The limiter is on the clock of fly_now(), as those of a ledger are. Nothing is allocated.
 */
#ifndef FLYBALL_WAIT_H
#define FLYBALL_WAIT_H

#include <stdint.h>

#include <flyball/flyball.h>

#ifdef __cplusplus
extern "C" {
#endif

struct fly_stop; /* opaque: ends any number of waits, on any limiters, at once */

/* NULL when memory is out. */
FLY_API struct fly_stop *fly_stop_new(void);

/* From now on every wait with it, present or future, ends with -ECANCELED. */
FLY_API void fly_stop_now(struct fly_stop *stop);

/* Frees one that no thread waits with. NULL is allowed. */
FLY_API void fly_stop_free(struct fly_stop *stop);

/*
 * Wait until a request of `cost` may start, and take it; *ret_at_ns is then the present instant
 * and *ret_ticket names the grant. `stop` may be NULL.
 *
 * A wait that cannot end by `deadline_ns` (FLY_NEVER: there is none) is refused as soon as that is
 * known, mostly at once: -ETIMEDOUT, and *ret_at_ns is when it could start as far as is known now.
 * Nothing was taken then, nor with -ECANCELED and -E2BIG.
 */
FLY_API int fly_wait(struct fly_limiter *l, uint32_t cost, int64_t deadline_ns,
                     struct fly_stop *stop, int64_t *ret_at_ns, uint64_t *ret_ticket);

#ifdef __cplusplus
}
#endif

#endif
