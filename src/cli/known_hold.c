/* SPDX-License-Identifier: MIT */
/*
 * known_hold.c - what a request that starts now would wait for, whoever was told to wait.
 *
 * A record says what its own batch saw, and of one that runs that is what the ledger has, a quarter
 * of a second ago. A hold that another run was told is in the ledger, which
 * all processes of the user share, or, where that does not know the key, in the store: as a batch
 * finds it when it begins.
 */
#include <string.h>
#include <time.h>

#include "cli/known.h"
#include "engine/show.h"
#include "ledger/inner.h"

#include <flyball/ledger.h>
#include <flyball/state.h>

#define NS_PER_S INT64_C(1000000000)
#define YEAR_S   (365 * 24 * 3600)

/* As a limiter has it that nobody has in use. */
static void show(struct fly_limiter *l, const char *provider, const char *pool,
                 const char *credential, int64_t now_ns, struct view_key *ret_key)
{
    static const struct engine_told untold;
    static const int64_t none[FB_QUEUE_LEVELS];
    struct engine_key_state s = {.key = {provider, pool, credential},
                                 .queued_by = none,
                                 .limiter = l,
                                 .told = &untold,
                                 .is_enabled = true};

    fb_show_key(&s, now_ns, ret_key);
    ret_key->requests = ret_key->refused = -1;
}

/* A wait of a second and more that is longer than what the record knows of. */
static bool put_wait(const struct view_key *from, int64_t now_ns, struct view_key *to)
{
    static const uint32_t KINDS = VIEW_KEY_PACED | VIEW_KEY_SPENT;

    if (!fb_view_key_waits(from, now_ns) || from->ready_ns <= to->ready_ns + NS_PER_S)
        return false;
    to->ready_ns = from->ready_ns;
    memcpy(to->cause, from->cause, sizeof to->cause);
    memcpy(to->why, from->why, sizeof to->why);
    to->flags = (to->flags & ~KINDS) | (from->flags & KINDS);
    return true;
}

bool fb_known_shared(const struct known *k, const char *provider, const char *pool,
                     const char *credential, int64_t now_ns, struct view_key *ret_key)
{
    struct fly_key key = {provider, pool, credential};
    struct fly_limiter *l = NULL;

    if (!k->ledger || fb_sight_key(k->ledger, &key, now_ns, &l) < 0)
        return false;
    show(l, provider, pool, credential, now_ns, ret_key);
    ret_key->flags |= VIEW_KEY_SHARED;
    fly_limiter_free(l);
    return true;
}

/* A copy of a limiter begins with care: it would say more than the one that is in use. */
static bool is_in_use(const struct known *k, const struct view_key *key)
{
    const struct view_batch *b = fb_known_batch_of(k, key);

    return b && b->running;
}

void fb_known_hear(const struct known *k, int64_t now_ns)
{
    struct view_key now;

    for (size_t i = 0; i < k->key_count; i++) {
        struct view_key *key = &k->key[i];

        if (!is_in_use(k, key) &&
            fb_known_shared(k, key->provider, key->pool, key->credential, now_ns, &now) &&
            put_wait(&now, now_ns, key))
            key->flags |= VIEW_KEY_SHARED;
    }
}

/* A limiter that goes on from a saved state, whatever learned it. NULL: it is none. */
static struct fly_limiter *revive(const struct learned *l, int64_t now_ns)
{
    static const char *const SPECS[] = {"", "adapt=off", "adapt=aimd rate=1/s",
                                        "adapt=step rate=1/s"};
    int64_t passed_s = l->saved_s > 0 ? now_ns / NS_PER_S - l->saved_s : 0;

    passed_s = passed_s < 0 ? 0 : passed_s > YEAR_S ? YEAR_S : passed_s;
    for (size_t i = 0; i < sizeof SPECS / sizeof SPECS[0]; i++) {
        struct fly_limiter *found = fly_limiter_new(SPECS[i], now_ns, 1, NULL);

        if (found && fly_limiter_load(found, now_ns, passed_s * NS_PER_S, l->state, l->state_size,
                                      NULL) == 0)
            return found;
        fly_limiter_free(found);
    }
    return NULL;
}

void fb_known_recall(const struct known *k, const struct learned *l, int64_t now_ns,
                     struct view_key *to)
{
    const char *credential = l->key.credential ? l->key.credential : "";
    struct view_key now;

    if (is_in_use(k, to) ||
        fb_known_shared(k, l->key.provider, l->key.pool, credential, now_ns, &now))
        return; /* which is newer */
    struct fly_limiter *saved = revive(l, now_ns);
    if (!saved)
        return;
    show(saved, l->key.provider, l->key.pool, credential, now_ns, &now);
    if (put_wait(&now, now_ns, to))
        to->seen_ns = l->saved_s * NS_PER_S;
    fly_limiter_free(saved);
}
