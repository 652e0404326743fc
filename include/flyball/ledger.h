/* SPDX-License-Identifier: MIT */
/*
 * ledger.h - one budget for all processes of a host: limiters in a memory-mapped file, no server.
 *
 *     struct fly_ledger *ledger;
 *     struct fly_limiter *l;
 *     struct fly_key key = {"api.example.com", "core", authorization};
 *     if (fly_ledger_open(NULL, NULL, &ledger, &err) < 0 ||
 *         fly_ledger_limiter(ledger, &key, "rate=10/s", &l, &err) < 0)
 *         ... err.text says why ...
 *     at = fly_limiter_take(l, fly_now(), 1, &o.ticket);      and all other functions
 *
 * Processes come, go and are killed in any order. A process that dies at any instruction lets no
 * limit be passed and stops nobody; what it had in flight is ended for it, as a request without an
 * answer, when somebody waits for it. What is in the file lasts while the host is up. After a
 * restart of the host, and where a file is damaged, limits are taken to be used up.
 *
 * The time given to a limiter of a ledger is that of fly_now(), and of nothing else.
 */
#ifndef FLYBALL_LEDGER_H
#define FLYBALL_LEDGER_H

#include <stdint.h>

#include <flyball/flyball.h>
#include <flyball/table.h>

#ifdef __cplusplus
extern "C" {
#endif

struct fly_key;    /* table.h */
struct fly_ledger; /* opaque: the file, mapped into this process */

struct fly_ledger_options {
    uint64_t size;  /* sizeof(struct fly_ledger_options), set by the caller */
    uint64_t bytes; /* of a new file, 64 KiB to 1 GiB, all of it taken at once; 0: 8 MiB */
};

/*
 * Nanoseconds since the epoch: a monotonic clock that counts on in suspend and does not jump when
 * the time of day is set. All processes that opened a ledger first of all count alike.
 */
FLY_API int64_t fly_now(void);

/*
 * Open the ledger at `path`, or make it. NULL: at $FLYBALL_LEDGER, else
 * $XDG_RUNTIME_DIR/flyball/ledger, else flyball-<user id>/ledger in the folder for temporary
 * files; the folder of the last two is made where it is missing, for this user only.
 * "memory:" is a new one without a file, for this process and the children that it forks.
 *
 * The file belongs to this user and nobody else may write to it. What is not a ledger, is one of
 * a newer version or of another container is refused and left as it is; a damaged one is set
 * aside as <path>.damaged and replaced. 0, or a negative errno with a sentence in `err` (unless
 * NULL). A file must not be cut short while it is in use: processes that use it then end with
 * SIGBUS. When it is removed, those that have it open go on with it, and others make a new one.
 */
FLY_API int fly_ledger_open(const char *path, const struct fly_ledger_options *options,
                            struct fly_ledger **ret_ledger, struct fly_error *err)
#if defined(__GNUC__)
    __attribute__((warn_unused_result))
#endif
    ;

/* Close it after all its limiters were freed. NULL is allowed. */
FLY_API void fly_ledger_close(struct fly_ledger *ledger);

/*
 * The limiter of a key, the same one in every process; fly_limiter_free() gives up this process's
 * hold on it, and ends what it has in flight. The ledger keeps a hash of the key under a secret of
 * its own. With another spec than the key has, the key is reconfigured: the last one says.
 *
 * While another process that was stopped keeps the key, take() answers "a little later", and what
 * is reported is kept in the limiter and heard with the next call that can be.
 *
 * 0, or a negative errno with a sentence in `err`: -EINVAL for the spec, -ENOSPC when the file is
 * full (keys that nobody uses are given up first, when nothing is held or spent: at last those
 * that have learned something, and begin anew when they come again), -EUSERS when
 * 64 processes use the key, -EBUSY when a process that does not go on keeps the ledger.
 */
FLY_API int fly_ledger_limiter(struct fly_ledger *ledger, const struct fly_key *key,
                               const char *spec, struct fly_limiter **ret_limiter,
                               struct fly_error *err)
#if defined(__GNUC__)
    __attribute__((warn_unused_result))
#endif
    ;

#ifdef __cplusplus
}
#endif

#endif
