/* SPDX-License-Identifier: MIT */
/*
 * flyball.h - govern the requests that a program sends: as fast as the API allows, and no faster.
 *
 * A limiter is the accountant of one key (provider x pool x credential). Asked for a request of
 * some cost it answers "start at T"; told what came of the request, it learns. It never sleeps,
 * never reads a clock, never allocates after fly_limiter_new() and does no I/O.
 *
 *     struct fly_limiter *l = fly_limiter_new("", now(), 1, &err);
 *     for (;;) {
 *         struct fly_outcome o = FLY_OUTCOME_INIT;
 *         o.sent_ns = now();
 *         int64_t at = fly_limiter_take(l, o.sent_ns, 1, &o.ticket);
 *         if (at > o.sent_ns) { wait until `at`, or until any report; continue; }
 *         ... send the request, fill in the outcome ...
 *         fly_limiter_report(l, now(), &o);
 *     }
 *
 * Time is any non-decreasing int64_t count of nanoseconds, always the same clock for one limiter.
 * Any thread may call any function on the same limiter. A fork copies it, budget and all; parent
 * and child have one budget in a ledger (ledger.h).
 */
#ifndef FLYBALL_FLYBALL_H
#define FLYBALL_FLYBALL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FLY_VERSION_MAJOR 0
#define FLY_VERSION_MINOR 1
#define FLY_VERSION_PATCH 0

#if defined(__GNUC__)
#define FLY_API __attribute__((visibility("default")))
#else
#define FLY_API
#endif

#define FLY_NEVER     INT64_MAX /* take(): only a report can unblock */
#define FLY_ABSENT    INT64_MIN /* outcome field: not told by the response */
#define FLY_THROTTLED 1u        /* outcome flag: a refusal for rate, whatever the status */

struct fly_limiter; /* opaque: one key's accountant */

struct fly_error {
    char text[256]; /* one sentence, always terminated; may grow at its end */
};

/* What came of one request. */
struct fly_outcome {
    int64_t sent_ns;        /* when the request was granted, on the clock of now_ns */
    int64_t latency_ns;     /* from the grant to the answer */
    int64_t limit;          /* told by the response, or FLY_ABSENT */
    int64_t remaining;      /* told by the response, or FLY_ABSENT */
    int64_t reset_ns;       /* ABSOLUTE, on the same clock, or FLY_ABSENT */
    int64_t retry_after_ns; /* RELATIVE, or FLY_ABSENT; 0 is told and still backs off */
    uint64_t ticket;        /* what take() gave with the grant */
    int32_t status;         /* HTTP status; 0 = transport error, timeout, cancelled */
    uint32_t flags;         /* FLY_THROTTLED or 0 */
};

/* An outcome of which nothing is told yet: FLY_ABSENT is not zero. */
#define FLY_OUTCOME_INIT                                              \
    {                                                                 \
        0, 0, FLY_ABSENT, FLY_ABSENT, FLY_ABSENT, FLY_ABSENT, 0, 0, 0 \
    }

/*
 * A new limiter under the limits of `spec`, words in any order:
 *
 *     rate=10/s  burst=10  floor=0.1/s  ceiling=2/s  window=5000/1h (repeatable)  margin=10%
 *     concurrency=5  adapt=probe|aimd|step|off  pacing=even|demand  reserve=10%
 *
 * NULL or "" is an API about which nothing is known: adapt=probe and no other limit. With a rate
 * or a window given nothing adapts unless said, the burst is 10 and windows keep a margin of 10 %.
 * All randomness comes from `seed`: the same calls give the same answers. Give each limiter a
 * seed of its own: tickets are sealed with it, and a ticket of another limiter is then unknown.
 *
 * Returns NULL on a mistake or when memory is out; `err`, unless NULL, then says which word is
 * wrong and what was expected there.
 */
FLY_API struct fly_limiter *fly_limiter_new(const char *spec, int64_t now_ns, uint64_t seed,
                                            struct fly_error *err);

/* Frees a limiter that no thread uses any more. NULL is allowed. */
FLY_API void fly_limiter_free(struct fly_limiter *l);

/*
 * Try to start a request of `cost` now (0 counts as 1). A result <= now_ns is a grant: it is
 * counted, must start now, and *ret_ticket names it. A later result is a hint and changes nothing:
 * ask again then, or right after any report. FLY_NEVER: only a report can unblock.
 */
FLY_API int64_t fly_limiter_take(struct fly_limiter *l, int64_t now_ns, uint32_t cost,
                                 uint64_t *ret_ticket);

/*
 * Take from all `n` limiters or from none, and return the latest of their times. The limiters are
 * different ones; ret_tickets has room for n and is untouched unless all granted.
 */
FLY_API int64_t fly_take_all(struct fly_limiter *const *l, const uint32_t *cost, size_t n,
                             int64_t now_ns, uint64_t *ret_tickets);

/*
 * The grant was never sent: its permit goes back. Unknown or ended tickets change nothing. What is
 * older than the last 512 grants (or the burst, concurrency or window, where that is more) stays
 * spent; to a window above 10,000 all but a thousandth of its limit goes back.
 */
FLY_API void fly_limiter_cancel(struct fly_limiter *l, int64_t now_ns, uint64_t ticket);

/*
 * The true cost, where only the answer tells it; call it just before report(). Of several grants
 * settled before any of them is reported only the last is known to have cost that.
 */
FLY_API void fly_limiter_settle(struct fly_limiter *l, int64_t now_ns, uint64_t ticket,
                                uint32_t cost);

/*
 * What came of a grant. Exactly one report or cancel per grant, also after a timeout (status 0).
 * An unknown ticket, or a second report for one, changes nothing, as far back as cancel() knows
 * which grants are out; older ones are believed, once for each that may be out.
 */
FLY_API void fly_limiter_report(struct fly_limiter *l, int64_t now_ns, const struct fly_outcome *o);

/*
 * So many units are still to be taken, besides what is in flight; below 0: that is not known. What
 * a server tells to be left is then spread over the time to its reset only where they do not fit
 * into it, unless the limits say pacing=even. Each grant counts it down, and with more grants than
 * were said it is not known any more. Where processes share the limiter the largest number counts,
 * and a smaller one only when that was not said for 10 s: say it again every few seconds, and
 * whenever it changes.
 */
FLY_API void fly_limiter_backlog(struct fly_limiter *l, int64_t now_ns, int64_t units);

/*
 * Other limits for a limiter that is in use. What was spent, held, told and learned goes on, and so
 * does what is in flight; a window goes on where one of the same length is. What the new limits
 * cannot be told by what was before is taken to be used up. 0, or a negative errno with a sentence
 * in `err`, unless that is NULL, and nothing changed.
 */
FLY_API int fly_limiter_reconfigure(struct fly_limiter *l, const char *spec, int64_t now_ns,
                                    struct fly_error *err);

/*
 * Begin anew under the limits of `spec`: what was spent, held, told and learned is forgotten; what
 * is in flight stays so. A limiter that processes share begins anew for all of them. What the
 * provider has counted it does not forget: use this when it did. Otherwise as
 * fly_limiter_reconfigure().
 */
FLY_API int fly_limiter_reset(struct fly_limiter *l, const char *spec, int64_t now_ns,
                              struct fly_error *err);

/* Why a request cannot start now, or would start now. */
struct fly_why {
    uint64_t size;    /* sizeof(struct fly_why), set by the caller */
    int64_t until_ns; /* what take() would answer: <= now_ns, a later time, or FLY_NEVER */
    char cause[24];   /* "go", or the constraint that waits longest: "hold", "bucket", ... */
    char text[256];   /* one sentence for a person, with the pace kept and the reason for it */
};

/* Answer "until when, and because of what"; nothing changes. -EINVAL when `size` is too small. */
FLY_API int fly_limiter_why(struct fly_limiter *l, int64_t now_ns, uint32_t cost,
                            struct fly_why *ret_why);

/* The pace in permits per second that the limiter keeps now; 0 when no rate bounds it. */
FLY_API double fly_limiter_rate(struct fly_limiter *l);

/* Bytes of one limiter without windows, and without the record of a burst above 512. */
FLY_API uint64_t fly_limiter_state_size(void);

/* "0.1.0": the version of the library that is running. */
FLY_API const char *fly_version(void);

#ifdef __cplusplus
}
#endif

/* The other families, each a header that may be read by itself. */
#include <flyball/ledger.h>
#include <flyball/observe.h>
#include <flyball/preset.h>
#include <flyball/signal.h>
#include <flyball/state.h>
#include <flyball/table.h>
#include <flyball/wait.h>

#endif
