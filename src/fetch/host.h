/* SPDX-License-Identifier: MIT */
/*
 * host.h - what all batches of a process share: an engine, the ledger in which other processes
 * find the same limits, and the memory of what was learned.
 *
 *     fb_host_open(loop, &options, &host, &err);
 *     fb_fetch_begin(host, &batch, ...);                   any number of them, at any time
 *     uv_run(loop, UV_RUN_DEFAULT);
 *     fb_host_close(host, NULL, NULL);                     and uv_run() again
 *
 * While the machine is up the ledger is the truth. The store is its copy, written every ten
 * seconds and at the end, and read for keys that the ledger does not know. A credential is known
 * by a hash under a secret that is the same for all who share the ledger, and outlasts it in the
 * store.
 */
#ifndef FLYBALL_FETCH_HOST_H
#define FLYBALL_FETCH_HOST_H

#include <uv.h>

#include "engine/control.h"
#include "engine/engine.h"
#include "ledger/inner.h"

struct config;
struct host;

/* The limit text that a configuration has for a key; of its provider, of a preset, of all. */
const char *fb_provider_configured(const struct config *c, const struct engine_key *k);

/* Whether a key is under a limit that another process has stated, not under `own`: which one. */
bool fb_host_other_limit(struct fly_limiter *l, const char *own, char ret_text[FB_SPEC_BYTES],
                         bool *ret_alone);

struct host_options {
    void *user; /* first argument of the callbacks */

    /* The limit of a new key, as text; NULL, or returning NULL: nothing is known. */
    const char *(*limit_of)(void *user, const struct engine_key *k);

    /* A sentence for people: something is not as it should be, and it goes on without. */
    void (*say)(void *user, const char *sentence);

    /* As of the engine, on the watchdog's own thread. */
    void (*on_stuck)(void *user, int64_t still_ns);

    /* What came of a task of nobody's: one that was submitted without a client. Or NULL. */
    void (*on_result)(void *user, const struct engine_result *r);

    const char *ledger; /* a path; NULL: where fly_ledger_open() looks; "none": no ledger */
    const char *folder; /* of the store; NULL: the usual one */
    bool no_store;      /* nothing is remembered */
    bool forgets;       /* nothing is sent: store and ledger are read, and stay as they are */

    /* Callbacks, clock, secret and limit are the host's: what is set there does not count. */
    struct engine_options engine;
};

/*
 * 0, or a negative errno with a sentence: -EINVAL for options of the engine. A ledger or a store
 * that cannot be used is no error but a sentence for `say`: limits are then this process's own,
 * and learned anew. May wait for the disk.
 */
int fb_host_open(uv_loop_t *loop, const struct host_options *o, struct host **ret_host,
                 struct fly_error *err) __attribute__((warn_unused_result));

struct engine *fb_host_engine(const struct host *h);
uv_loop_t *fb_host_loop(const struct host *h);

/* The path of the ledger in use, or NULL: there is none. */
const char *fb_host_ledger(const struct host *h);

/*
 * Write what was learned since the last time. Done every ten seconds and at the end; of a limit
 * that was not known before, within a second.
 */
void fb_host_save(struct host *h);

/* When the limit of a key was raised or lowered last; 0: never, as far as is remembered. */
int64_t fb_host_changed_ns(const struct host *h, const struct engine_key *k);

/* Forget what is remembered of a provider and a pool, NULL: all pools; what runs goes on. */
void fb_host_forget(struct host *h, const char *provider, const char *pool);

/*
 * Save, stop, and free everything; then `done`, unless NULL, is called from a later turn of the
 * loop. No batch may be left. NULL is allowed.
 */
void fb_host_close(struct host *h, void (*done)(void *arg), void *arg);

#endif
