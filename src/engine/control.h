/* SPDX-License-Identifier: MIT */
/*
 * control.h - an engine that several share, and what may change while it runs.
 *
 * For daemons: batches come and go, limits are changed in place, providers are switched off and
 * on. As everything of the engine these belong to the thread of its loop.
 */
#ifndef FLYBALL_ENGINE_CONTROL_H
#define FLYBALL_ENGINE_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include "engine/engine.h"

/* ---------------------------------------------------------------------------- several in one */

/* The callbacks of the options, for one of several who share an engine: a batch, a route. */
struct engine_caller {
    void *user;
    void (*on_result)(void *user, const struct engine_result *r);
    void (*on_start)(void *user, struct job *j, void *task_user, int32_t attempt);
    void (*on_room)(void *user);
};

/* At any time. The callbacks are copied. 0 or -ENOMEM. */
int fb_engine_client_new(struct engine *e, const struct engine_caller *c,
                         struct engine_client **ret_client) __attribute__((warn_unused_result));

/* As fb_engine_stop(), for the tasks of one client; the others go on. */
void fb_engine_client_stop(struct engine_client *c, int64_t deadline_ns);

/* How many of its tasks have not ended. */
int64_t fb_engine_client_tasks(const struct engine_client *c);

/*
 * So many more tasks are to come than were submitted, whatever their key; below 0, as at first:
 * that is not known. Where all who share the engine know it, limiters are told what is to come.
 */
void fb_engine_client_expect(struct engine_client *c, int64_t more);

/* Of all who share it; below 0: somebody does not know. */
int64_t fb_engine_expected(const struct engine *e);

/* What struct engine_stats counts of all, of its tasks alone. NULL: nothing. */
struct engine_client_stats {
    bool has_keys; /* its tasks were of several keys: one may wait while another need not */
    int64_t in_flight;
    int64_t requests, retries, throttled;
};

struct engine_client_stats fb_engine_client_stats(const struct engine_client *c);

/*
 * When none of its tasks is left; from its on_result, too. NULL is allowed. fb_engine_close() frees
 * those that are left.
 */
void fb_engine_client_free(struct engine_client *c);

/* ------------------------------------------------------------------------ while the engine runs */

/*
 * Other limits for the keys of a provider and a pool, NULL: all pools, in place: what was spent,
 * held and learned goes on (fly_limiter_reconfigure). Keys that are made later ask limiter_of.
 * Returns how many keys there were, or a negative errno with a sentence, and then some may have
 * changed.
 */
int fb_engine_limit(struct engine *e, const char *provider, const char *pool, const char *spec,
                    struct fly_error *err) __attribute__((warn_unused_result));

/* The same, but what was spent, held and learned is forgotten (fly_limiter_reset). */
int fb_engine_relearn(struct engine *e, const char *provider, const char *pool, const char *spec,
                      struct fly_error *err) __attribute__((warn_unused_result));

/*
 * A provider that is switched off is sent nothing new: what is under way ends, what is queued
 * waits, with the cause "disabled". It need not be known yet. 0 or -ENOMEM.
 */
int fb_engine_enable(struct engine *e, const char *provider, bool is_enabled)
    __attribute__((warn_unused_result));
bool fb_engine_is_enabled(const struct engine *e, const char *provider);

/* Call `each` for every provider that is switched off, whether anything was sent to it or not. */
void fb_engine_disabled(struct engine *e, void (*each)(void *arg, const char *provider), void *arg);

/*
 * The path at which a provider tells its quota for free, asked where the options say so; NULL: as
 * its preset says, if it has one. 0 or -ENOMEM.
 */
int fb_engine_set_quota(struct engine *e, const char *provider, const char *path)
    __attribute__((warn_unused_result));

/* Of one provider; 0, NULL: as the options say. */
struct engine_manners {
    int64_t connect_ns, first_byte_ns, idle_ns, total_ns;
    const char *const *recovery; /* rules that come before those of the options; ended by NULL */
};

/*
 * Deadlines and recovery for the tasks of a provider, by name; it need not be known yet. What is
 * under way keeps its total deadline. 0; -EINVAL with a sentence, -ENOMEM, and nothing changed.
 */
int fb_engine_set_manners(struct engine *e, const char *provider, const struct engine_manners *m,
                          struct fly_error *err) __attribute__((warn_unused_result));

/*
 * Other options from now on: the limit for new keys, recovery, mode, concurrency, queue, deadlines,
 * breaker, pause, and the bounds of answers. Callbacks, observers, clock, seeds and how connections
 * are made stay as they are, and what was said of single providers is to be said again. What is
 * under way keeps the deadlines that it has. 0, or -EINVAL with a sentence, and nothing changed.
 */
int fb_engine_tune(struct engine *e, const struct engine_options *o, struct fly_error *err)
    __attribute__((warn_unused_result));

#endif
