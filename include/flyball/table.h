/* SPDX-License-Identifier: MIT */
/*
 * table.h - limiters by key, for programs with many: a million keys under one spec.
 *
 * A key is a provider, a pool of its requests and a credential. The table keeps none of the three:
 * a key is known by its id, a hash under the table's secret, so that no credential lies in memory
 * and nobody outside can choose keys that get into each other's way.
 *
 *     struct fly_table *t = fly_table_new("rate=10/s burst=10", now(), NULL, &err);
 *     struct fly_key key = {"api.example.com", "core", authorization};
 *     struct fly_id id;
 *     fly_table_id(t, &key, &id);                     once per key, or each time
 *     at = fly_table_take(t, &id, now(), 1, &o.ticket);
 *     ... as with a limiter ...
 *     fly_table_report(t, &id, now(), &o);
 *
 * Keys come into being with their first grant. Where a bucket alone bounds them they cost 32 bytes
 * and a free place beside them; only while more is known of a key (a hold, a quota told, a window,
 * something learned) does it have books of its own. A key is forgotten when that cannot break a
 * limit: its bucket is full and its windows are empty, nothing is out, nothing is held; keys that
 * learn are kept. Any thread may call any function at any time.
 *
 * A table keeps the spec that it was made with. Another one for a million keys at once would be all
 * or nothing, with every key locked and twice the memory meanwhile. Make another table, and carry
 * over the keys that matter by fly_table_save() and fly_table_load(); a key whose limits change by
 * itself is a limiter (fly_limiter_reconfigure()).
 */
#ifndef FLYBALL_TABLE_H
#define FLYBALL_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include <flyball/flyball.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FLY_SECRET_BYTES 16

struct fly_table; /* opaque */

struct fly_table_options {
    uint64_t size;               /* sizeof(struct fly_table_options), set by the caller */
    uint64_t keys_max;           /* 0: 1,048,576 */
    const unsigned char *secret; /* FLY_SECRET_BYTES; NULL: drawn from the system */
};

/* NULL counts as "". The texts are borrowed for the call. */
struct fly_key {
    const char *provider;
    const char *pool;
    const char *credential;
};

/* What stands for a key: the same for the same key under the same secret. */
struct fly_id {
    uint64_t word[2];
};

/*
 * A new table, in which every key is under the limits of `spec` by itself. `options` may be NULL.
 * NULL on a mistake or when memory is out, with a sentence in `err` unless that is NULL.
 */
FLY_API struct fly_table *fly_table_new(const char *spec, int64_t now_ns,
                                        const struct fly_table_options *options,
                                        struct fly_error *err);

/* Frees a table that no thread uses any more. NULL is allowed. */
FLY_API void fly_table_free(struct fly_table *t);

/* The id of a key in this table. */
FLY_API void fly_table_id(const struct fly_table *t, const struct fly_key *key,
                          struct fly_id *ret_id);

/*
 * As fly_limiter_take(), for one key. When the table is full and no key can be forgotten, a new key
 * is not granted: the result is when to ask again. Keys that are in the table are never refused
 * for want of room.
 */
FLY_API int64_t fly_table_take(struct fly_table *t, const struct fly_id *id, int64_t now_ns,
                               uint32_t cost, uint64_t *ret_ticket);

/* As the functions of the limiter; a key that is not in the table knows no ticket. */
FLY_API void fly_table_cancel(struct fly_table *t, const struct fly_id *id, int64_t now_ns,
                              uint64_t ticket);
FLY_API void fly_table_settle(struct fly_table *t, const struct fly_id *id, int64_t now_ns,
                              uint64_t ticket, uint32_t cost);
FLY_API void fly_table_report(struct fly_table *t, const struct fly_id *id, int64_t now_ns,
                              const struct fly_outcome *o);
FLY_API int fly_table_why(struct fly_table *t, const struct fly_id *id, int64_t now_ns,
                          uint32_t cost, struct fly_why *ret_why);

/*
 * As fly_limiter_save() and fly_limiter_load() (state.h), for one key. A key that is not in the
 * table has nothing to save: 0 bytes. Loading makes the key; -ENOSPC when there is no room for it,
 * -ENOMEM.
 */
FLY_API int fly_table_save(struct fly_table *t, const struct fly_id *id, int64_t now_ns,
                           void *bytes, size_t size);
FLY_API int fly_table_load(struct fly_table *t, const struct fly_id *id, int64_t now_ns,
                           int64_t passed_ns, const void *bytes, size_t size,
                           struct fly_error *err);

/*
 * Forget every key that can be forgotten, and return how many that were. Room for new keys is
 * made as it is needed; this is for giving memory back to keys that are rarely used.
 */
FLY_API uint64_t fly_table_sweep(struct fly_table *t, int64_t now_ns);

/* Forget all of one key, whatever it had learned or spent, as if it had never been asked for. */
FLY_API void fly_table_reset(struct fly_table *t, const struct fly_id *id);

struct fly_table_usage {
    uint64_t size;      /* sizeof(struct fly_table_usage), set by the caller */
    uint64_t keys;      /* in the table */
    uint64_t keys_max;  /* and at most */
    uint64_t with_more; /* of them: those with books of their own */
    uint64_t bytes;     /* that the table takes, all included */
    uint64_t forgotten; /* keys, since the beginning */
    uint64_t refused;   /* takes of new keys for want of room */
};

/* What the table holds now; -EINVAL when `size` is too small. */
FLY_API int fly_table_usage(struct fly_table *t, struct fly_table_usage *ret_usage);

struct fly_usage; /* observe.h */

/*
 * As fly_limiter_usage() (observe.h), for one key; one that is not in the table uses nothing. Keys
 * are not observed. -EINVAL when `size` is too small, -ENOMEM.
 */
FLY_API int fly_table_key_usage(struct fly_table *t, const struct fly_id *id, int64_t now_ns,
                                struct fly_usage *ret_usage);

#ifdef __cplusplus
}
#endif

#endif
