/* SPDX-License-Identifier: MIT */
/*
 * engine.c - what callers call: submit, go, cancel, stop, close; and the turn.
 *
 * Whatever happens, decisions are made in one place, fb_dispatch(), once per turn. A call from
 * outside changes the queue and asks for a turn; results are told from turns only.
 */
#include "engine/engine.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

#include "engine/inside.h"
#include "engine/options.h"
#include "util/alloc.h"
#include "util/text.h"

#define CONNECTIONS_MAX 1000 /* made since the last recycling, and some for each slot */

static const char *const end_names[ENGINE_ENDS] = {
#define X(id, name) [ENGINE_##id] = (name),
    FB_ENGINE_ENDS(X)
#undef X
};

const char *fb_engine_end_name(enum engine_end end)
{
    assert(end < ENGINE_ENDS);
    return end_names[end];
}

/* ------------------------------------------------------------------------------------ beginning */

/* The table of recovery as the options want it. */
int fb_engine_read_rules(const struct engine_options *o, struct recovery *ret_recovery,
                         struct fly_error *err)
{
    fb_recovery_init(ret_recovery);
    ret_recovery->mode = o->mode;
    ret_recovery->attempts_max = o->attempts_max;
    ret_recovery->bounds_all = o->attempts_bound_all;
    for (const char *const *text = o->recovery; text && *text; text++) {
        int rc = fb_recovery_add(ret_recovery, *text, err);

        if (rc < 0)
            return rc;
    }
    return 0;
}

/* A mistake in the text for all keys shows at once, not with the first of them. */
int fb_engine_check_limit(const char *limit, struct fly_error *err)
{
    struct fly_limiter *l = fly_limiter_new(limit, 0, 1, err);

    fly_limiter_free(l);
    return l ? 0 : -EINVAL;
}

/* A seed of the caller's makes a run repeatable, secrets included. */
static int draw_secrets(struct engine *e)
{
    static const unsigned char none[16];
    struct engine_options *o = &e->options;
    uint64_t seed = o->seed;
    unsigned char bytes[16];

    if (seed == 0 && getrandom(&seed, sizeof(seed), 0) != (ssize_t)sizeof(seed))
        return -EIO;
    e->rng.state = seed;
    e->keys.seed = fb_rng_next(&e->rng);
    e->providers.seed = fb_rng_next(&e->rng);
    memcpy(bytes, o->secret, sizeof(bytes));
    for (size_t i = 0; memcmp(o->secret, none, sizeof(none)) == 0 && i < sizeof(bytes); i++)
        bytes[i] = (unsigned char)(fb_rng_next(&e->rng) >> 32);
    e->secret = fb_siphash_secret(bytes);
    return 0;
}

/* Everything that can be wrong. */
static int prepare(struct engine *e, struct fly_error *err)
{
    const struct engine_options *o = &e->options;
    int rc = fb_engine_options_check(o, err);

    if (rc == 0)
        rc = fb_manners_renew(e, o, err);
    if (rc == 0)
        rc = draw_secrets(e);
    if (rc == 0)
        rc = fb_engine_check_limit(o->limit, err);
    if (rc == 0 && o->observer_count > 0 && o->events_max > 0)
        rc = fb_observe_new(o->observer, o->observer_count, o->events_max, e->ports.has_threads,
                            &e->observe);
    return rc;
}

int fb_engine_new(const struct engine_ports *ports, const struct engine_options *o,
                  struct engine **ret_engine, struct fly_error *err)
{
    struct engine *e = fb_alloc(sizeof(*e));
    int rc;

    err->text[0] = '\0';
    if (!e)
        return -ENOMEM;
    e->ports = *ports;
    e->options = *o;
    e->own = (struct engine_client){
        .engine = e,
        .caller = {o->user, o->on_result, o->on_start, o->on_room},
        .stop_ns = FB_NEVER,
    };
    e->jobs.bytes = FB_ENGINE_JOB_BYTES;
    e->stop_ns = FB_NEVER;
    e->wake_ns = FB_NEVER;
    rc = prepare(e, err);
    if (rc < 0) {
        fb_observe_free(e->observe);
        fb_free(e);
        return rc;
    }
    fb_queue_init(&e->queue, o->queue_max, o->ageing);
    fb_engine_read_clock(e);
    e->interactive_ns = e->now_ns - FB_ENGINE_RESERVE_NS - 1;
    e->recycled_ns = e->now_ns;
    *ret_engine = e;
    return 0;
}

/* ------------------------------------------------------------------------------------- the turn */

void fb_engine_read_clock(struct engine *e)
{
    e->now_ns = fb_max64(e->now_ns, e->ports.now(e->ports.self));
}

int64_t fb_engine_now(const struct engine *e)
{
    return e->ports.now(e->ports.self);
}

void fb_engine_want_turn(struct engine *e)
{
    if (!e->in_turn && e->wake_ns != 0) {
        e->wake_ns = 0;
        e->ports.wake_at(e->ports.self, 0);
    }
}

static void note_busy(struct engine *e)
{
    bool busy = e->stats.submitted > e->stats.done;

    if (busy != e->is_busy) {
        e->is_busy = busy;
        e->ports.busy(e->ports.self, busy);
    }
}

/* libcurl keeps something of every host, and looks at all of it for each request. */
static bool has_many_hosts(const struct engine *e)
{
    int64_t made = e->ports.connections(e->ports.self, NULL) - e->recycled_connections;

    return made >= CONNECTIONS_MAX + 4 * (int64_t)e->options.concurrency;
}

static void begin_anew(struct engine *e)
{
    e->recycled_ns = e->now_ns;
    e->recycled_done = e->stats.done;
    e->recycled_connections = e->ports.connections(e->ports.self, NULL);
    e->stats.recycles++;
    e->ports.recycle(e->ports.self);
    fb_engine_tell(e, FB_EVENT_RECYCLE, NULL, NULL, NULL);
}

/* Because it is time, not because anything is better than before: breakers stay as they are. */
static void recycle_when_due(struct engine *e)
{
    if (e->now_ns - e->recycled_ns >= e->options.recycle_ns ||
        e->stats.done - e->recycled_done >= e->options.recycle_tasks || has_many_hosts(e))
        begin_anew(e);
}

static void cut_all(struct engine *e)
{
    struct heap_node *n;

    while ((n = fb_heap_first(&e->deadlines)))
        fb_attempt_cut(FB_HEAP_OWNER(n, struct attempt, node), FAIL_STOPPED);
}

void fb_engine_tick(struct engine *e)
{
    assert(!e->in_turn);
    e->in_turn = true;
    e->wake_ns = FB_NEVER;
    fb_engine_read_clock(e);
    fb_attempt_deadlines(e);
    if (e->now_ns >= e->stop_ns)
        cut_all(e);
    fb_dispatch(e);
    recycle_when_due(e);
    note_busy(e);
    e->in_turn = false;
}

/* ----------------------------------------------------------------------------------- submitting */

/* Full: the newest of the lowest priority makes room for what is above it. */
static int make_room(struct engine *e, struct engine_client *c, enum priority p)
{
    struct queue_task *victim;

    if (!fb_queue_is_full(&e->queue))
        return 0;
    victim = fb_queue_victim(&e->queue, p);
    if (!victim) {
        c->wants_room = true;
        e->stats.refused++;
        return -ENOBUFS;
    }
    e->stats.evicted++;
    fb_job_refuse(fb_job_of(victim), FAIL_NO_ROOM, fb_job_estimate(fb_job_of(victim)));
    return 0;
}

static void place(struct engine *e, struct job *j, int64_t not_before_ns)
{
    int64_t at_ns = e->now_ns;

    if (j->q.start_by_ns < FB_NEVER)
        at_ns = fb_max64(fb_job_estimate(j), not_before_ns);
    if (e->options.mode == MODE_OFFLINE)
        fb_job_refuse(j, FAIL_OFFLINE, 0);
    else if (at_ns > j->q.start_by_ns)
        fb_job_refuse(j, FAIL_LATE, at_ns);
    else if (not_before_ns > e->now_ns)
        fb_job_delay(j, not_before_ns);
    else
        fb_job_queue(j);
}

/* Whether it is not to be taken at all. */
static bool is_late(const struct job *j, const struct engine_task *t)
{
    if (!t->late_ns)
        return false;

    int64_t at_ns = fb_max64(fb_job_estimate(j), t->not_before_ns);

    if (at_ns <= *t->late_ns)
        return false;
    *t->late_ns = at_ns;
    return true;
}

/* 0, or why not: it is gone then. Only what is taken may push out another. */
static int admit(struct engine *e, struct job *j, const struct engine_task *t)
{
    int rc = is_late(j, t) ? -EAGAIN : make_room(e, j->client, j->q.priority);

    if (rc < 0)
        fb_job_drop(j);
    return rc;
}

int fb_engine_submit(struct engine *e, const struct engine_task *t, struct job **ret_job,
                     struct fly_error *err)
{
    struct engine_client *c = t->client ? t->client : &e->own;
    struct fly_error unheard;
    struct job *j = NULL;
    int rc;

    err = err ? err : &unheard;
    err->text[0] = '\0';
    if (e->is_stopping || c->is_stopping)
        return -ESHUTDOWN;
    if (!e->in_turn)
        fb_engine_read_clock(e);
    rc = fb_job_new(e, t, &j, err);
    if (rc == 0)
        rc = admit(e, j, t);
    if (rc < 0)
        return rc;
    e->stats.submitted++;
    c->tasks++;
    if (j->q.priority <= PRIORITY_IMMINENT)
        e->interactive_ns = e->now_ns;
    place(e, j, t->not_before_ns);
    fb_quota_begin(j);
    fb_engine_want_turn(e);
    note_busy(e);
    if (ret_job)
        *ret_job = j;
    return 0;
}

void fb_engine_go(struct engine *e, struct job *j, int verdict)
{
    assert(j->state == JOB_ASKED);
    j->is_approved = true;
    j->q.to_front = true;
    if (verdict != 0 || fb_job_is_stopping(j))
        fb_job_refuse(j, FAIL_STOPPED, 0);
    else
        fb_job_queue(j);
    fb_engine_want_turn(e);
}

void fb_engine_cancel(struct engine *e, struct job *j)
{
    j->is_cancelled = true;
    switch ((enum job_state)j->state) {
    case JOB_FLYING:
        /* Its deadline has come: the next turn cuts it off. */
        fb_heap_remove(&e->deadlines, &j->attempt->node);
        j->attempt->total_ns = e->now_ns;
        fb_heap_add(&e->deadlines, &j->attempt->node, e->now_ns);
        break;
    case JOB_QUEUED:
    case JOB_ASKED:
    case JOB_ENDING:
        fb_job_refuse(j, FAIL_STOPPED, 0);
        break;
    }
    fb_engine_want_turn(e);
}

/* ------------------------------------------------------------------------------------- stopping */

static void refuse_queued(struct engine *e)
{
    for (int i = 0; i < FB_QUEUE_LEVELS; i++)
        while (e->queue.level[i].first) {
            struct queue_task *t = e->queue.level[i].first;

            fb_job_refuse(fb_job_of(t), FAIL_STOPPED, 0);
        }
}

void fb_engine_stop(struct engine *e, int64_t deadline_ns)
{
    e->is_stopping = true;
    e->stop_ns = fb_min64(e->stop_ns, deadline_ns);
    refuse_queued(e);
    fb_engine_want_turn(e);
}

void fb_engine_pause(struct engine *e)
{
    e->is_paused = true;
}

void fb_engine_resume(struct engine *e)
{
    e->is_paused = false;
    fb_engine_want_turn(e);
}

void fb_engine_recycle(struct engine *e)
{
    if (!e->in_turn)
        fb_engine_read_clock(e);
    begin_anew(e);
    fb_keys_try(e);
    fb_engine_want_turn(e);
}

void fb_engine_close(struct engine *e, void (*done)(void *arg), void *arg)
{
    struct engine_ports ports;

    if (!e)
        return;
    assert(!e->in_turn);
    fb_engine_stop(e, FB_LONG_AGO);
    while (e->asked.first)
        fb_job_refuse(fb_job_of(e->asked.first), FAIL_STOPPED, 0);
    fb_engine_tick(e);
    assert(e->stats.done == e->stats.submitted);
    fb_observe_free(e->observe);
    fb_keys_fini(e);
    while (e->own.next)
        fb_engine_client_free(e->own.next);
    while (e->free_attempt) {
        struct attempt *a = e->free_attempt;

        e->free_attempt = a->next;
        fb_free(a);
    }
    fb_blocks_fini(&e->jobs);
    ports = e->ports;
    fb_free(e);
    ports.close(ports.self, done, arg);
}

/* -------------------------------------------------------------------------------------- looking */

void fb_engine_stats(const struct engine *e, struct engine_stats *ret_stats)
{
    *ret_stats = e->stats;
    ret_stats->queued = e->queue.count;
    memcpy(ret_stats->queued_by, e->queue.in_level, sizeof ret_stats->queued_by);
    ret_stats->keys = (int64_t)e->keys.count;
    ret_stats->connections = e->ports.connections(e->ports.self, &ret_stats->connections_open);
    ret_stats->events_lost = e->observe ? fb_observe_lost(e->observe) : 0;
}

static void copy_text(char *to, size_t size, const char *from)
{
    struct text t;

    fb_text_init(&t, to, size);
    fb_text_add(&t, from);
}

/* A header of the request tells of which trace it is a part. */
static void put_trace(const struct job *j, char *ret_id)
{
    for (uint32_t i = 0; i < j->header_count; i++)
        if (strcasecmp(j->header[i].name, FB_TRACE_HEADER) == 0)
            (void)fb_trace_id(j->header[i].value, ret_id);
}

void fb_engine_tell(struct engine *e, enum event_type kind, const struct job *j,
                    const struct key *k, const struct event *more)
{
    struct event event = {.until_ns = INT64_MIN};

    if (!e->observe)
        return;
    if (more)
        event = *more;
    event.kind = kind;
    event.at_ns = e->now_ns;
    if (j) {
        event.attempt = j->attempts;
        event.waited_ns = j->waited_ns;
        copy_text(event.item, sizeof(event.item), j->id);
        copy_text(event.method, sizeof(event.method), j->method);
        copy_text(event.operation, sizeof(event.operation), j->operation);
        if (!event.cause[0])
            copy_text(event.cause, sizeof(event.cause), j->cause);
        put_trace(j, event.trace);
    }
    if (k) {
        copy_text(event.provider, sizeof(event.provider), k->name);
        copy_text(event.pool, sizeof(event.pool), k->pool);
    }
    fb_observe_add(e->observe, &event);
}
