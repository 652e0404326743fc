/* SPDX-License-Identifier: MIT */
/*
 * known.h - what files know: the records of batches, and what was learned.
 *
 * For commands that answer questions without a daemon. Nothing is written and nobody is disturbed.
 */
#ifndef FLYBALL_CLI_KNOWN_H
#define FLYBALL_CLI_KNOWN_H

#include <flyball/flyball.h>

#include "store/learned.h"
#include "store/runs.h"
#include "util/buffer.h"
#include "view/learned.h"

struct known {
    struct buffer folder; /* of the user; empty: there is none */
    struct runs runs;
    struct view_key *key; /* every key that a record or the store knows, the latest of each */
    size_t key_count;
    size_t key_room;

    /* From the store. Texts are in `texts`. */
    struct view_learned_row *row;
    size_t row_count;
    struct view_learned_event *event;
    size_t event_count;
    char **texts;
    size_t text_count;
    int dropped; /* rows of the store that are damaged */

    struct ledger_sight *ledger; /* of all processes of the user; NULL: there is none */
};

/*
 * Read all there is, of one provider unless that is NULL. 0; or a negative errno and a sentence:
 * something is there that cannot be read.
 */
int fb_known_read(struct known *k, const char *provider, struct fly_error *err)
    __attribute__((warn_unused_result));
void fb_known_free(struct known *k);

/*
 * A key as the ledger has it, for a request that would start now: nothing is taken there. False: it
 * does not know the key.
 */
bool fb_known_shared(const struct known *k, const char *provider, const char *pool,
                     const char *credential, int64_t now_ns, struct view_key *ret_key);

/* Into keys: what they would wait for by the ledger, and by the store where that knows nothing. */
void fb_known_hear(const struct known *k, int64_t now_ns);
void fb_known_recall(const struct known *k, const struct learned *l, int64_t now_ns,
                     struct view_key *to);

/* Whether the only record is that of a demo, which keeps nothing of what it learned. */
bool fb_known_is_demo(const struct known *k);

/* The batch of this name, else the first whose name begins so. Or NULL. */
const struct view_batch *fb_known_batch(const struct known *k, const char *name);

/* Whether this is the end of the path of its list, output or journal. */
bool fb_known_has_path(const struct view_batch *b, const char *word);

/* The same, or the beginning of its name with or without "fetch-": as `flyball status` shows it. */
bool fb_known_is_meant(const struct view_batch *b, const char *word);

/* The batch that has seen the key so, or NULL. */
const struct view_batch *fb_known_batch_of(const struct known *k, const struct view_key *key);

/* This key, or NULL: nothing is known of it. */
struct view_key *fb_known_key(const struct known *k, const char *provider, const char *pool,
                              const char *credential);

/* The key of a provider and a pool; of several the one that waits, or the latest. Or NULL. */
const struct view_key *fb_known_find(const struct known *k, const char *provider, const char *pool,
                                     int64_t now_ns);

#endif
