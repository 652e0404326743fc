/* SPDX-License-Identifier: MIT */
/*
 * learned.h - what was learned about limits, kept over restarts.
 *
 * A row per (provider, host, pool, credential): the limiter's own saved state as bytes, and beside
 * it what a person wants to see. The bytes carry a hash: a row that does not match it is dropped
 * when it is read, with a note, and the limit is learned anew. The last LEARNED_EVENTS_MAX events
 * stay. Credentials are hashes under a secret that is kept here, too: they mean the same key as
 * long as the file lasts, and nothing to anybody who has the rows alone.
 */
#ifndef FLYBALL_STORE_LEARNED_H
#define FLYBALL_STORE_LEARNED_H

#include <stddef.h>
#include <stdint.h>

#include <flyball/flyball.h>

#include "store/store.h"

#define LEARNED_EVENTS_MAX 1000

/* Which limit. All are text without secrets; "" is a name, too. */
struct learned_key {
    const char *provider;
    const char *host;
    const char *pool;
    const char *credential; /* a hash in hexadecimal; "" or, when it is written, NULL: none */
};

struct learned {
    struct learned_key key;
    const void *state; /* as the library saved it */
    size_t state_size;
    double rate;       /* permits a second; 0: not bounded by one */
    double reduction;  /* share of the stated limit that was cut: 0..1 */
    double confidence; /* 0..1 */
    double recovery_s; /* how long a refusal lasts, as far as known */
    int64_t changed_s; /* since 1970 */
    int64_t saved_s;   /* 0: not known */
};

struct learned_event {
    struct learned_key key;
    int64_t at_s;
    const char *kind; /* "throttled", "raised", ... */
    double before;
    double after;
    const char *why;
};

/* Directly on a database that no worker owns yet. 0 or negative errno. */
int fb_learned_write(struct db *db, const struct learned *l) __attribute__((warn_unused_result));
int fb_learned_note(struct db *db, const struct learned_event *e)
    __attribute__((warn_unused_result));

/* Forget; parts of the key that are NULL match everything. Returns how many, or negative errno. */
int fb_learned_forget(struct db *db, const struct learned_key *key)
    __attribute__((warn_unused_result));

/* Keep those that were saved last. Returns how many went, or negative errno. */
int fb_learned_trim(struct db *db, int64_t most) __attribute__((warn_unused_result));

/*
 * Call `each` for every sound row, until it returns non-zero. *ret_dropped counts the others. 0,
 * what `each` returned, or negative errno.
 */
int fb_learned_each(struct db *db, int (*each)(void *context, const struct learned *l),
                    void *context, int *ret_dropped) __attribute__((warn_unused_result));

/* The last events, the newest first. */
int fb_learned_events(struct db *db, int (*each)(void *context, const struct learned_event *e),
                      void *context) __attribute__((warn_unused_result));

#define SECRET_BYTES 16

/* The secret of that name. 0, -ENOENT when there is none, -EUCLEAN when it is damaged. */
int fb_secret_read(struct db *db, const char *name, unsigned char ret_secret[SECRET_BYTES])
    __attribute__((warn_unused_result));

/* Keep it from now on. */
int fb_secret_write(struct db *db, const char *name, const unsigned char secret[SECRET_BYTES])
    __attribute__((warn_unused_result));

/* The same through the worker: copies all it needs. 0, -ENOMEM or -EAGAIN. */
int fb_learned_put(struct store *s, struct store_file *file, const struct learned *l)
    __attribute__((warn_unused_result));
int fb_learned_put_event(struct store *s, struct store_file *file, const struct learned_event *e)
    __attribute__((warn_unused_result));

#endif
