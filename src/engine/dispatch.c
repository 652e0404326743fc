/* SPDX-License-Identifier: MIT */
/*
 * dispatch.c - a turn of the engine: what is late ends, what may start starts, one timer is set.
 *
 * Invariant: a task leaves the queue only with a permit and a slot. A key that lacks either steps
 * aside, with the time or the event that brings it back, and the next one is looked at.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "engine/inside.h"
#include "util/text.h"

/* Nothing of ours is out, yet only a report can unblock: somebody else's. Look again soon. */
#define POLL_NS (20 * FB_NS_PER_MS)

/* So long before it may leave somebody is asked about it: to write it down takes a moment. */
#define ASK_AHEAD_NS (250 * FB_NS_PER_MS)

static int64_t used_slots(const struct engine *e)
{
    return e->stats.in_flight + e->stats.asked;
}

/* Whether bulk work may have a slot: not the reserved ones, unless nobody was there to use them. */
static bool bulk_may_start(const struct engine *e)
{
    return used_slots(e) < e->options.concurrency - e->options.reserved ||
           e->now_ns - e->interactive_ns > FB_ENGINE_RESERVE_NS;
}

/* ------------------------------------------------------------------------------- stepping aside */

static void set_cause(struct key *k, const char *cause)
{
    struct text t;

    fb_text_init(&t, k->cause, sizeof(k->cause));
    fb_text_add(&t, cause);
}

/* The slot of the provider that this key did not use is for the next that stands there. */
static void pass_slot(struct engine *e, struct provider *p)
{
    struct queue_task *t = fb_queue_first(&e->queue, &p->lane, true);

    if (t && p->in_flight < e->options.concurrency_provider)
        fb_queue_wake(&e->queue, t->key);
}

static void end_late_ones(struct engine *e, struct key *k, int64_t at_ns)
{
    struct queue_task *t;

    while ((t = fb_queue_late_in(&k->q, at_ns)))
        fb_job_defer(fb_job_of(t), FAIL_LATE, at_ns, NULL, NULL);
    (void)e;
}

static void step_aside(struct engine *e, struct key *k, int64_t at_ns, const char *cause)
{
    set_cause(k, cause);
    fb_queue_wait(&e->queue, &k->q, at_ns);
    pass_slot(e, k->provider);
    if (at_ns == FB_NEVER)
        return;
    if (!k->waits) {
        struct event more = {.until_ns = at_ns};

        memcpy(more.cause, k->cause, sizeof(more.cause));
        k->waits = true;
        fb_engine_tell(e, FB_EVENT_WAIT, NULL, k, &more);
    }
    end_late_ones(e, k, at_ns);
}

static bool is_too_long(const struct engine *e, int64_t at_ns)
{
    return e->options.hold_max_ns > 0 && at_ns - e->now_ns > e->options.hold_max_ns;
}

/*
 * Longer than anybody wants to wait: what is queued here is put off until then. The key itself does
 * not step aside, so that what is queued later is put off as well.
 */
static void park(struct key *k, int64_t at_ns, const char *sentence)
{
    enum failure f = k->down_since_ns == FB_NEVER ? FAIL_THROTTLED : FAIL_NETWORK;

    for (int i = 0; i < FB_QUEUE_LEVELS; i++)
        while (k->q.level[i].first)
            fb_job_defer(fb_job_of(k->q.level[i].first), f, at_ns, sentence, NULL);
}

/* --------------------------------------------------------------------------------------- asking */

/* What the key's own breaker and pause say; FB_NEVER while the trial is out. */
int64_t fb_key_broken_until(const struct engine *e, const struct key *k, const char **ret_cause)
{
    int64_t breaker_ns = fb_breaker_ready_at(&k->breaker, e->now_ns);
    int64_t pause_ns = fb_pause_ready_at(&k->pause);

    *ret_cause = pause_ns > breaker_ns ? "pause" : "breaker";
    return fb_max64(breaker_ns, pause_ns);
}

static bool is_down_for_long(const struct engine *e, const struct key *k)
{
    return e->options.outage_max_ns > 0 && k->down_since_ns != FB_NEVER &&
           e->now_ns - k->down_since_ns > e->options.outage_max_ns;
}

/* The first that passes a breaker, or NULL. */
static struct job *own_trial_of(const struct key *k)
{
    for (int i = 0; k->trials > 0 && i < FB_QUEUE_LEVELS; i++)
        for (struct queue_task *t = k->q.level[i].first; t; t = t->next)
            if (fb_job_has_own_trials(fb_job_of(t)))
                return fb_job_of(t);
    return NULL;
}

/* The job itself, another one of its key that goes before it while that is broken, or NULL. */
static struct job *passes_breaker(struct engine *e, struct key *k, struct job *j)
{
    const char *cause;
    int64_t at_ns = fb_key_broken_until(e, k, &cause);

    if (at_ns <= e->now_ns || fb_job_has_own_trials(j))
        return j;
    j = own_trial_of(k);
    if (j)
        return j;
    if (at_ns != FB_NEVER && is_down_for_long(e, k))
        park(k, at_ns, "the host has been failing for too long");
    else
        step_aside(e, k, at_ns, cause);
    return NULL;
}

static bool has_slot(struct engine *e, struct key *k)
{
    const struct engine_options *o = &e->options;

    if (k->provider->is_disabled) {
        step_aside(e, k, FB_NEVER, "disabled");
        return false;
    }
    if (fb_quota_awaited_until(k) > e->now_ns) {
        step_aside(e, k, fb_quota_awaited_until(k), "asking");
        return false;
    }
    if (o->concurrency_key > 0 && k->in_flight >= o->concurrency_key) {
        step_aside(e, k, FB_NEVER, "concurrency");
        return false;
    }
    if (o->concurrency_provider > 0 && k->provider->in_flight >= o->concurrency_provider) {
        set_cause(k, "concurrency");
        fb_queue_stand_in(&e->queue, &k->q, &k->provider->lane);
        return false;
    }
    return true;
}

/* Of why it waits what is still true when it is read: no "in 41 s", and no pace of the moment. */
static void cut_moment(char *text)
{
    const char *reason = strstr(text, ": ");

    if (strncmp(text, "Next start in ", 14) == 0 && reason)
        memmove(text, reason + 2, strlen(reason + 2) + 1);
    char *more = strstr(text, ", more in ");
    char *end = strstr(text, ". ");
    if (end)
        *end = '\0';
    if (more)
        *more = '\0';
    size_t size = strlen(text);
    if (size > 0 && text[size - 1] == '.')
        text[size - 1] = '\0';
}

/* Whether somebody has to write it down before it leaves. */
static bool must_ask(const struct job *j)
{
    return j->client->caller.on_start && !j->is_approved && !fb_job_is_idempotent(j);
}

/* The limiter said no. */
static void wait_for_limiter(struct engine *e, struct key *k, struct job *j, int64_t at_ns)
{
    struct fly_why why = {.size = sizeof(why), .cause = "limit"};
    bool asks_ahead = must_ask(j) && at_ns != FLY_NEVER; /* not of a time that is a guess */

    fb_pools_why(k, e->now_ns, j->cost, &why);
    if (strcmp(why.cause, "too-large") == 0) {
        fb_job_end(j, ENGINE_FAILED, FAIL_BAD_REQUEST, why.text, NULL);
        return;
    }
    if (at_ns != FLY_NEVER && is_too_long(e, at_ns)) {
        set_cause(k, why.cause);
        cut_moment(why.text);
        park(k, at_ns, why.text);
        return;
    }
    if (at_ns == FLY_NEVER && k->in_flight == 0)
        at_ns = fb_after(e->now_ns, POLL_NS);
    step_aside(e, k, at_ns == FLY_NEVER ? FB_NEVER : at_ns, why.cause);
    if (asks_ahead)
        fb_queue_wait(&e->queue, &k->q, fb_max64(at_ns - ASK_AHEAD_NS, e->now_ns + 1));
}

/* The first that was asked about and may start now, where it has its permit; or NULL. */
static struct job *approved_of(const struct engine *e, const struct key *k)
{
    int levels = bulk_may_start(e) ? FB_QUEUE_LEVELS : FB_QUEUE_INTERACTIVE;

    for (int i = 0; k->promised > k->asked && i < levels; i++) {
        struct queue_task *t = k->q.level[i].first;

        if (t && fb_job_of(t)->is_approved)
            return fb_job_of(t);
    }
    return NULL;
}

/*
 * Whether there is a slot beside those that will be for what is asked about now. What was answered
 * has gone before, or cannot use one: who waits here is woken by an answer or a landing.
 */
static bool has_slot_to_ask(struct engine *e, struct key *k)
{
    const struct engine_options *o = &e->options;
    struct provider *p = k->provider;

    if (o->concurrency_key > 0 && k->in_flight + k->asked >= o->concurrency_key) {
        step_aside(e, k, FB_NEVER, "concurrency");
        return false;
    }
    if (o->concurrency_provider > 0 && p->in_flight + p->asked >= o->concurrency_provider) {
        set_cause(k, "concurrency");
        fb_queue_stand_in(&e->queue, &k->q, &p->lane);
        return false;
    }
    return true;
}

/*
 * What is asked about counts as started, and after a crash nobody knows whether it left: so only
 * what leaves in a moment, behind all that was promised before. What does not show in the times of
 * a limiter (how many may be under way, a debt) is found by asking about few at first.
 */
static void ask_first(struct engine *e, struct key *k, struct job *j)
{
    struct fly_why why = {.size = sizeof(why)};
    int64_t units = fb_min64(k->promised_units + j->cost, UINT32_MAX);

    if (!has_slot_to_ask(e, k))
        return;
    fb_pools_why(k, e->now_ns, j->cost, &why);
    if (why.until_ns > fb_after(e->now_ns, ASK_AHEAD_NS)) {
        wait_for_limiter(e, k, j, why.until_ns);
        return;
    }
    if (k->asked > 0)
        fb_pools_why(k, e->now_ns, (uint32_t)units, &why);
    if (k->asked > 0 &&
        (k->promised >= k->promised_most || why.until_ns > fb_after(e->now_ns, ASK_AHEAD_NS)))
        step_aside(e, k, FB_NEVER, "starting"); /* until the next answer of who writes down */
    else
        fb_job_ask(j);
}

/* How well what was promised is kept decides how much is. */
static void note_promise(struct engine *e, struct key *k, const struct job *j, int64_t at_ns)
{
    if (!j->is_approved)
        return;
    if (at_ns > fb_after(e->now_ns, ASK_AHEAD_NS))
        k->promised_most = 1;
    else if (at_ns <= e->now_ns && k->promised_most < e->options.concurrency)
        k->promised_most++;
}

static void leave_queue(struct engine *e, struct job *j)
{
    struct key *k = j->key;

    if (k->waits) {
        k->waits = false;
        fb_engine_tell(e, FB_EVENT_RESET, NULL, k, NULL);
    }
    if (j->is_retry)
        fb_retry_budget_take(&k->provider->budget, e->now_ns);
    else
        fb_retry_budget_request(&k->provider->budget, e->now_ns);
    if (e->now_ns > j->wanted_ns)
        memcpy(j->cause, k->cause, sizeof(j->cause));
    else
        j->cause[0] = '\0';
    j->waited_ns += e->now_ns - j->wanted_ns;
    fb_queue_start(&e->queue, &j->q);
}

static void try_job(struct engine *e, struct job *j)
{
    struct key *k = j->key;
    struct job *first = must_ask(j) ? approved_of(e, k) : NULL;
    struct tickets tickets;
    int64_t at_ns;

    if (!has_slot(e, k) || !(j = passes_breaker(e, k, first ? first : j)))
        return;
    at_ns = j->is_retry ? fb_retry_budget_ready_at(&k->provider->budget, e->now_ns) : e->now_ns;
    if (at_ns > e->now_ns) {
        int64_t wanted_ns = j->wanted_ns;

        fb_job_delay(j, at_ns);
        j->wanted_ns = wanted_ns;
        return;
    }
    if (must_ask(j)) {
        ask_first(e, k, j);
        return;
    }
    fb_key_say_backlog(e, k, j->cost);
    at_ns = fb_pools_take(k, e->now_ns, j->cost, &tickets);
    note_promise(e, k, j, at_ns);
    if (at_ns > e->now_ns) {
        wait_for_limiter(e, k, j, at_ns);
        return;
    }
    k->said = k->said < 0 ? -1 : fb_max64(0, k->said - j->cost);
    leave_queue(e, j);
    fb_attempt_start(j, &tickets);
}

/* --------------------------------------------------------------------------------------- a turn */

static void end_refused(struct engine *e)
{
    while (e->ending.first) {
        struct job *j = fb_job_of(e->ending.first);

        if (j->failure == FAIL_LATE ||
            (j->failure == FAIL_NO_ROOM && e->options.when_full == ENGINE_FULL_DEFER))
            fb_job_defer(j, (enum failure)j->failure, j->ready_at_ns, NULL, NULL);
        else if (j->failure == FAIL_STOPPED)
            fb_job_end(j, ENGINE_CANCELLED, FAIL_STOPPED, NULL, NULL);
        else
            fb_job_end(j, ENGINE_FAILED, (enum failure)j->failure, NULL, NULL);
    }
}

static void end_impatient(struct engine *e)
{
    struct queue_task *t;

    while ((t = fb_queue_late(&e->queue, e->now_ns))) {
        struct job *j = fb_job_of(t);

        fb_job_defer(j, FAIL_LATE, fb_job_estimate(j), NULL, NULL);
    }
}

static void start_what_may(struct engine *e)
{
    struct queue_task *t;

    while (!e->is_paused && !e->is_stopping && used_slots(e) < e->options.concurrency &&
           (t = fb_queue_first(&e->queue, &e->queue.lane, bulk_may_start(e))))
        try_job(e, fb_job_of(t));
}

static struct engine_client *wants_room(struct engine *e)
{
    struct engine_client *c = &e->own;

    while (c && (!c->wants_room || c->is_stopping))
        c = c->next;
    return c;
}

static void offer_room(struct engine *e)
{
    struct engine_client *c;

    /* Whoever fills the queue again lets the others wait for the next time. */
    while (!e->is_stopping && e->queue.count <= e->options.queue_max / 2 && (c = wants_room(e))) {
        c->wants_room = false;
        if (c->caller.on_room)
            c->caller.on_room(c->caller.user);
    }
}

static void set_timer(struct engine *e)
{
    int64_t at_ns = fb_min64(fb_queue_next_at(&e->queue), fb_attempt_next_deadline(e));

    if (e->stats.in_flight > 0)
        at_ns = fb_min64(at_ns, e->stop_ns);
    if (e->ending.first)
        at_ns = e->now_ns;
    if (e->options.reserved > 0 && !bulk_may_start(e))
        at_ns = fb_min64(at_ns, fb_after(e->interactive_ns, FB_ENGINE_RESERVE_NS + 1));
    if (at_ns != e->wake_ns) {
        e->wake_ns = at_ns;
        e->ports.wake_at(e->ports.self, at_ns);
    }
}

void fb_dispatch(struct engine *e)
{
    fb_queue_advance(&e->queue, e->now_ns);
    end_refused(e);
    end_impatient(e);
    start_what_may(e);
    offer_room(e);
    set_timer(e);
}
