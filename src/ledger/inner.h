/* SPDX-License-Identifier: MIT */
/*
 * inner.h - what those who keep many limiters ask of one, beyond the public functions.
 */
#ifndef FLYBALL_LEDGER_INNER_H
#define FLYBALL_LEDGER_INNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <flyball/flyball.h>

#include "ledger/siphash.h"

/*
 * As fly_limiter_load(), unless something was taken from the limiter before, by whoever shares it:
 * then what it knows is newer, and it is -EALREADY.
 */
int fb_limiter_load_first(struct fly_limiter *l, int64_t now_ns, int64_t passed_ns,
                          const void *bytes, size_t size) __attribute__((warn_unused_result));

/*
 * Whether a new limiter would answer as this one does, but for what was learned: nothing is out,
 * held or spent. Of a limiter that lies in a file nothing is lost with the handle: always true.
 */
bool fb_limiter_is_rested(struct fly_limiter *l, int64_t now_ns);

/* Whether it lies in a ledger, where others find what it knows. */
bool fb_limiter_is_shared(const struct fly_limiter *l);

struct fly_key;

/*
 * A ledger, for who only asks: it is read, and stays as it is, whatever is wrong with it; nobody
 * who decides waits for that.
 */
struct ledger_sight;

/*
 * `path`: NULL is where fly_ledger_open() looks. 0; -ENOENT: there is none for this host; -EUCLEAN:
 * damaged; or another negative errno.
 */
int fb_sight_open(const char *path, struct ledger_sight **ret_sight, struct fly_error *err)
    __attribute__((warn_unused_result));
void fb_sight_close(struct ledger_sight *s);

void fb_sight_secret(const struct ledger_sight *s,
                     unsigned char ret_secret[FB_SIPHASH_SECRET_BYTES]);

/*
 * A limiter of this process's own that goes on from where a key of the ledger is, under the same
 * limit. 0; -ENOENT: the ledger did not know the key when it was opened; or another negative errno.
 */
int fb_sight_key(const struct ledger_sight *s, const struct fly_key *key, int64_t now_ns,
                 struct fly_limiter **ret_limiter) __attribute__((warn_unused_result));

#define FB_SPEC_BYTES 512 /* of a limit text in a ledger, its end included */

/*
 * The limit text that a limiter of a ledger is under: the last process that took the key has said
 * it. `ret_alone`: no other living process has the key. False: it lies in no ledger, or another
 * process keeps it.
 */
bool fb_limiter_spec(struct fly_limiter *l, char ret_text[FB_SPEC_BYTES], bool *ret_alone);

/*
 * The secret of a ledger, the same for all who share it. `wanted`, unless NULL, becomes the secret
 * while there is no key in the file. 0, or -EBUSY when another process keeps the ledger.
 */
int fb_ledger_secret(struct fly_ledger *ledger, const unsigned char *wanted,
                     unsigned char ret_secret[FB_SIPHASH_SECRET_BYTES])
    __attribute__((warn_unused_result));

#endif
