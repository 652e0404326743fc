/* SPDX-License-Identifier: MIT */
/*
 * uses.c - which keys of an engine that others use, too, a batch has to do with.
 *
 * They are known from what came of its tasks, as hashes of their names in a table of fixed size.
 * Before the first result, and when there are more than fit, all keys count.
 */
#include <string.h>

#include "fetch/fetch_parts.h"
#include "util/hash.h"

static uint64_t hash_of(const char *provider, const char *pool)
{
    uint64_t hash = fb_hash_add(FB_HASH_INIT, provider, strlen(provider) + 1);

    return fb_hash_end(fb_hash_add(hash, pool, strlen(pool))) | 1; /* 0 is a free place */
}

/* Where it is, or the free place where it would be: at most half of the table is taken. */
static size_t place_of(const struct fetch_uses *u, uint64_t key)
{
    size_t at = (size_t)(key >> 1) % FETCH_KEYS;

    while (u->key[at] && u->key[at] != key)
        at = (at + 1) % FETCH_KEYS;
    return at;
}

void fb_uses_note(struct fetch_uses *u, const char *provider, const char *pool)
{
    uint64_t key = hash_of(provider, pool);
    size_t at = place_of(u, key);

    if (u->key[at] || u->is_full)
        return;
    u->is_full = u->count == FETCH_KEYS / 2;
    if (u->is_full)
        return;
    u->key[at] = key;
    u->count++;
}

bool fb_uses(const struct fetch_uses *u, const char *provider, const char *pool)
{
    return u->count == 0 || u->is_full || u->key[place_of(u, hash_of(provider, pool))];
}
