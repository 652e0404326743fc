/* SPDX-License-Identifier: MIT */
/*
 * forget.c - keys that are not needed any more, so that a long run with many hosts stays small.
 *
 * A key may go when nobody could tell a new one from it: no task is under it, nothing is out, held
 * or spent, no quota runs, and it has not failed lately. What it has learned goes only to
 * somebody who keeps it (on_forget). Each new key looks at a few old ones: a flood of keys pays
 * for itself, and no turn is long.
 */
#include <assert.h>
#include <string.h>

#include "engine/inside.h"
#include "ledger/inner.h"
#include "util/alloc.h"

#define LOOKS       4 /* so that what is dead goes faster than what is new comes */
#define FAILURES_NS (600 * FB_NS_PER_S)

/* ------------------------------------------------------------------------------------- the list */

void fb_key_enlist(struct engine *e, struct key *k)
{
    k->older = e->newest;
    k->newer = NULL;
    *(e->newest ? &e->newest->newer : &e->oldest) = k;
    e->newest = k;
}

static void delist(struct engine *e, struct key *k)
{
    *(k->older ? &k->older->newer : &e->oldest) = k->newer;
    *(k->newer ? &k->newer->older : &e->newest) = k->older;
}

void fb_job_set_key(struct job *j, struct key *k)
{
    if (j->key) {
        fb_job_promise(j, false);
        j->key->jobs--;
        j->key->trials -= fb_job_has_own_trials(j);
    }
    j->key = k;
    if (!k)
        return;
    k->jobs++;
    k->trials += fb_job_has_own_trials(j);
    j->client->stats.has_keys |= j->client->last_key && j->client->last_key != k;
    j->client->last_key = k;
}

/* ------------------------------------------------------------------------------------ the rule */

/* A host that failed is remembered for as long as that could still matter. */
static bool is_healthy(const struct engine *e, const struct key *k)
{
    bool has_failed =
        k->breaker.state != BREAKER_CLOSED || k->breaker.failures > 0 || k->pause.failures > 0;

    return !has_failed || e->now_ns - k->failed_ns > FAILURES_NS;
}

static bool is_quiet(const struct engine *e, const struct key *k)
{
    const char *cause;

    return k->jobs == 0 && k->in_flight == 0 && is_healthy(e, k) &&
           fb_key_broken_until(e, k, &cause) <= e->now_ns && k->told.reset_ns <= e->now_ns;
}

static bool is_rested(const struct engine *e, const struct key *k)
{
    for (int i = 0; i < k->more_count; i++)
        if (!fb_limiter_is_rested(k->more[i].limiter, e->now_ns))
            return false;
    return fb_limiter_is_rested(k->limiter, e->now_ns);
}

/* What was learned would be lost, unless somebody keeps it. */
static bool is_kept(struct engine *e, const struct key *k)
{
    struct fly_learned known = {.size = sizeof(known)};
    struct engine_key_state s;

    if (e->options.on_forget) {
        fb_key_describe(e, k, &s);
        return e->options.on_forget(e->options.user, &s);
    }
    return fly_limiter_learned(k->limiter, e->now_ns, &known) == 0 && strcmp(known.by, "off") == 0;
}

/* Its provider goes with the last key, unless something was said of it. */
static void leave_provider(struct engine *e, struct provider *p)
{
    assert(p->keys > 0);
    if (--p->keys > 0 || p->is_disabled || p->manners || p->quota_path)
        return;
    fb_table_remove(&e->providers, &p->entry);
    fb_quota_forget(p);
    fb_free(p);
}

static void forget(struct engine *e, struct key *k)
{
    assert(k->q.count == 0 && k->in_flight == 0);
    fb_queue_forget(&e->queue, &k->q);
    delist(e, k);
    fb_table_remove(&e->keys, &k->entry);
    leave_provider(e, k->provider);
    fb_key_free(k);
    e->stats.keys_forgotten++;
}

void fb_keys_forget_some(struct engine *e)
{
    for (int i = 0; i < LOOKS && e->oldest; i++) {
        struct key *k = e->oldest;

        if ((int64_t)e->keys.count <= e->options.keys_kept)
            return;
        if (is_quiet(e, k) && is_rested(e, k) && is_kept(e, k)) {
            forget(e, k);
        } else {
            delist(e, k);
            fb_key_enlist(e, k);
        }
    }
}
