/* SPDX-License-Identifier: MIT */
/* host_parts.h - the host inside: host.c makes limiters, memory.c keeps them, restate.c shares. */
#ifndef FLYBALL_FETCH_HOST_PARTS_H
#define FLYBALL_FETCH_HOST_PARTS_H

#include "core/rng.h"
#include "engine/table.h"
#include "fetch/host.h"
#include "ledger/siphash.h"
#include "store/store.h"

struct host {
    struct host_options o;
    uv_loop_t *loop;
    uv_async_t wake; /* the store has something for us */
    uv_timer_t clock;
    uint32_t ticks; /* of it */
    int handles_open;
    struct engine *engine;
    struct fly_ledger *ledger;  /* NULL: limits are this process's own */
    struct ledger_sight *sight; /* instead, of who only asks; NULL: there is none */
    char *ledger_path;
    int64_t full_until_ns; /* it had no room: not asked again before */
    struct store *store;
    struct store_file *file; /* NULL: nothing is remembered */
    struct table rows;       /* what is remembered, by key */
    struct rng rng;
    unsigned char secret[FB_SIPHASH_SECRET_BYTES];
    bool is_closing;
    bool told_ledger;      /* that a key found no place in it */
    bool has_other_limit;  /* another process states the limit of a key that is in use ... */
    bool told_other_limit; /* ... and that was said */
    void (*done)(void *arg);
    void *done_arg;
};

/* host.c */
void fb_host_say(struct host *h, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* memory.c: open the store, and read it and the secret, or draw one. */
void fb_memory_open(struct host *h);
/* The secret in use is this one. */
void fb_memory_keep_secret(struct host *h);
/* Give a new limiter what is remembered of its key. */
void fb_memory_recall(struct host *h, const struct engine_key *k, struct fly_limiter *l,
                      int64_t now_ns);
/* Save one key; true: it is remembered. */
bool fb_memory_save_key(struct host *h, const struct engine_key_state *s);

/* The same, where the limit of the key is known and was never saved. */
void fb_memory_save_first(struct host *h, const struct engine_key_state *s);
void fb_memory_fini(struct host *h);

/* restate.c: see whose limits the keys in use are under, and state those of this process again. */
void fb_host_restate(struct host *h);

#endif
