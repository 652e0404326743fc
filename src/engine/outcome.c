/* SPDX-License-Identifier: MIT */
/*
 * outcome.c - what an answer, or the lack of one, means for the job.
 *
 * The limiter has been told already. Here it is decided whether the job is done, goes on elsewhere,
 * is tried again, put off, or given up: by the recovery table, and by whether it may be sent twice.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "core/backoff.h"
#include "engine/inside.h"
#include "util/text.h"

/* A task that the table defers without anybody saying until when. */
#define DEFER_NS (60 * FB_NS_PER_S)

static void tell(struct job *j, enum event_type kind, const struct attempt *a,
                 const struct attempt_end *end, enum failure f, int64_t until_ns, const char *what)
{
    struct event more = {.until_ns = until_ns, .status = end->status, .http = end->http};
    struct text t;

    if (!j->engine->observe)
        return;
    if (a)
        more.duration_ns = j->engine->now_ns - a->sent_ns;
    fb_text_init(&t, more.error, sizeof(more.error));
    fb_text_add(&t, f == FAIL_NONE ? "" : fb_failure_name(f));
    fb_text_init(&t, more.outcome, sizeof(more.outcome));
    fb_text_add(&t, what);
    fb_engine_tell(j->engine, kind, j, a ? a->key : j->key, &more);
}

/* ---------------------------------------------------------------------------- breaker and pause */

/* By a failure, or by a refusal where those count. */
static void note_open(struct engine *e, struct key *k, bool was_closed)
{
    if (!was_closed || k->breaker.state == BREAKER_CLOSED)
        return;
    if (k->down_since_ns == FB_NEVER)
        k->down_since_ns = e->now_ns;
    fb_engine_tell(
        e, FB_EVENT_BREAKER, NULL, k,
        &(struct event){.cause = "open", .until_ns = fb_breaker_ready_at(&k->breaker, e->now_ns)});
}

/*
 * For whoever asks why nothing leaves: what came, and how often in a row. "The network failed" says
 * less than the sentence of that failure; those of others have times in them, and are not alike.
 */
static void note_alike(struct key *k, enum failure f, const struct attempt_end *end)
{
    struct engine_failures now = {.count = 1, .status = end->status};
    struct text t;

    fb_text_init(&t, now.says, sizeof(now.says));
    fb_text_add(&t, f == FAIL_NETWORK && end->sentence ? end->sentence : fb_failure_says(f));
    if (k->failures.status == now.status &&
        (now.status > 0 || strcmp(k->failures.says, now.says) == 0))
        now.count = k->failures.count + 1;
    k->failures = now;
}

static void note_failure(struct engine *e, struct key *k, int64_t sent_ns)
{
    bool was_closed = k->breaker.state == BREAKER_CLOSED;

    k->failed_ns = e->now_ns;
    fb_breaker_on_failure(&k->breaker, sent_ns, e->now_ns);
    note_open(e, k, was_closed);
    if (fb_pause_on_failure(&k->pause, e->now_ns))
        fb_engine_tell(e, FB_EVENT_PAUSE, NULL, k,
                       &(struct event){.until_ns = fb_pause_ready_at(&k->pause)});
}

static void note_answer(struct engine *e, struct key *k, int64_t sent_ns, bool is_throttled)
{
    bool was_closed = k->breaker.state == BREAKER_CLOSED;

    if (is_throttled)
        fb_breaker_on_throttled(&k->breaker, sent_ns, e->now_ns);
    else
        fb_breaker_on_success(&k->breaker, sent_ns, e->now_ns);
    fb_pause_on_success(&k->pause);
    note_open(e, k, was_closed);
    if (k->breaker.state == BREAKER_CLOSED && k->down_since_ns != FB_NEVER) {
        k->down_since_ns = FB_NEVER;
        fb_engine_tell(e, FB_EVENT_BREAKER, NULL, k, &(struct event){.cause = "closed"});
    }
}

/* The one request that was to find out whether the host is still down. */
static bool is_trial(const struct attempt *a)
{
    return !fb_job_has_own_trials(a->job) && a->key->breaker.state == BREAKER_HALF_OPEN &&
           a->sent_ns >= a->key->breaker.since_ns;
}

/* What passed the breaker closes none, but it was answered: others may find out at once. */
static void note_hope(struct engine *e, struct key *k)
{
    fb_breaker_try(&k->breaker, e->now_ns);
    fb_pause_end(&k->pause, e->now_ns);
    fb_queue_wake(&e->queue, &k->q);
}

/* Only what speaks against the host: a 404 or a refusal for rate is an answer like another. */
static void note(struct engine *e, const struct attempt *a, enum failure f,
                 const struct attempt_end *end)
{
    enum failure_family family = fb_failure_family(f);
    bool is_against = family == FAMILY_TIMEOUT || family == FAMILY_NETWORK || family == FAMILY_5XX;

    if (fb_job_has_own_trials(a->job)) {
        if (f == FAIL_NONE && a->key->breaker.state == BREAKER_OPEN)
            note_hope(e, a->key);
        return;
    }
    if (is_against || (f == FAIL_THROTTLED && a->key->breaker.counts_429))
        note_alike(a->key, f, end);
    if (is_against)
        note_failure(e, a->key, a->sent_ns);
    else if (f == FAIL_STOPPED || f == FAIL_MEMORY || f == FAIL_POLICY)
        fb_breaker_cancel(&a->key->breaker, a->sent_ns, e->now_ns);
    else
        note_answer(e, a->key, a->sent_ns, f == FAIL_THROTTLED);
    if (f == FAIL_NONE && a->key->breaker.state == BREAKER_CLOSED)
        a->key->failures = (struct engine_failures){.count = 0};
}

/* ------------------------------------------------------------------------------------- going on */

/* Behind the others of its level that go on: it is wanted from now on. */
static void queue_again(struct job *j, enum priority priority, bool to_front)
{
    j->q.priority = priority;
    j->q.to_front = to_front;
    j->wanted_ns = j->engine->now_ns;
    if (fb_job_is_stopping(j))
        fb_job_refuse(j, FAIL_STOPPED, 0);
    else
        fb_job_queue(j);
}

static void retry(struct job *j, enum failure f, const struct attempt_end *end)
{
    struct engine *e = j->engine;
    int64_t at_ns = fb_after(e->now_ns, fb_backoff_ns(j->tries, &e->rng));

    tell(j, FB_EVENT_RETRY, NULL, end, f, at_ns, "retry");
    if (at_ns > j->q.start_by_ns) {
        fb_job_defer(j, f, at_ns, end->sentence, end);
        return;
    }
    if (fb_job_is_stopping(j)) {
        fb_job_refuse(j, FAIL_STOPPED, 0);
        return;
    }
    j->is_retry = true;
    /* While the host is down, the next trial is for another: the fault may be this one's own. */
    j->q.to_front = j->key->breaker.state == BREAKER_CLOSED;
    fb_job_delay(j, at_ns);
}

static void escalate(struct job *j, enum failure f, const struct attempt_end *end)
{
    fb_job_end(j, ENGINE_FAILED, f, end->sentence, end);
}

static void failover(struct job *j, enum failure f, const struct attempt_end *end)
{
    if (fb_route_failover(j) < 0) {
        escalate(j, f, end);
        return;
    }
    tell(j, FB_EVENT_FAILOVER, NULL, end, f, INT64_MIN, "failover");
    j->is_retry = false;
    queue_again(j, j->q.priority, true);
}

/* What to do about the failure of the `attempt`-th attempt at this source. */
static enum strategy decide(const struct job *j, enum failure f, int32_t attempt)
{
    return fb_recovery_decide(&fb_manners_of(j->key, j->engine)->recovery, j->operation, f, attempt,
                              j->source < j->alternative_count);
}

static void apply(struct job *j, enum failure f, const struct attempt_end *end)
{
    struct engine *e = j->engine;

    switch (decide(j, f, j->tries)) {
    case STRATEGY_RETRY:
        retry(j, f, end);
        return;
    case STRATEGY_DEFER:
        fb_job_defer(j, f, fb_max64(fb_key_estimate(e, j->key), fb_after(e->now_ns, DEFER_NS)),
                     end->sentence, end);
        return;
    case STRATEGY_FAILOVER:
        failover(j, f, end);
        return;
    case STRATEGY_SKIP:
        fb_job_end(j, ENGINE_SKIPPED, f, end->sentence, end);
        return;
    case STRATEGY_ESCALATE:
    case STRATEGY_KINDS:
        break;
    }
    escalate(j, f, end);
}

/* ------------------------------------------------------------------------------------ throttled */

/* Not an attempt: whoever refuses for rate has done nothing. The key waits, the job goes first. */
static void throttled(struct job *j, const struct attempt_end *end)
{
    struct engine *e = j->engine;
    enum strategy s;

    j->attempts--;
    j->tries--;
    j->throttled++;
    e->stats.throttled++;
    j->client->stats.throttled++;
    s = decide(j, FAIL_THROTTLED, j->tries + 1);
    if (s == STRATEGY_FAILOVER && j->source < j->alternative_count) {
        failover(j, FAIL_THROTTLED, end);
        return;
    }
    if (s == STRATEGY_SKIP || s == STRATEGY_ESCALATE) {
        fb_job_end(j, s == STRATEGY_SKIP ? ENGINE_SKIPPED : ENGINE_FAILED, FAIL_THROTTLED, NULL,
                   end);
        return;
    }
    if (s == STRATEGY_DEFER ||
        (j->throttled >= FB_ENGINE_THROTTLED_MAX && !e->options.retry_throttled_forever)) {
        fb_job_defer(j, FAIL_THROTTLED, fb_key_estimate(e, j->key), NULL, end);
        return;
    }
    j->is_retry = false;
    queue_again(j, PRIORITY_HIGH, false);
}

/* ----------------------------------------------------------------------------------- the answer */

static void redirect(struct job *j, const struct attempt_end *end)
{
    const char *sentence = NULL;
    int rc = fb_route_redirect(j, end, &sentence);

    if (rc < 0) {
        fb_job_end(j, ENGINE_FAILED, rc == -EPROTONOSUPPORT ? FAIL_POLICY : FAIL_REDIRECTS,
                   sentence, end);
        return;
    }
    tell(j, FB_EVENT_REDIRECT, NULL, end, FAIL_NONE, INT64_MIN, "redirect");
    /* The hops of one chain are one attempt. */
    j->attempts--;
    j->tries--;
    j->is_retry = false;
    queue_again(j, j->q.priority, true);
}

/* It left, nobody answered, and it must not be sent twice. */
static bool is_unknown(const struct job *j, const struct attempt *a, const struct attempt_end *end)
{
    bool was_answered = end->failure == FAIL_NONE || end->failure == FAIL_TOO_LARGE;

    return a->has_left && !was_answered && !fb_job_is_idempotent(j) &&
           !(j->flags & ENGINE_RETRYABLE);
}

static void failed(struct job *j, const struct attempt *a, enum failure f,
                   const struct attempt_end *end)
{
    bool may_repeat = fb_job_is_idempotent(j) || (j->flags & ENGINE_RETRYABLE) || !a->has_left;

    if (is_unknown(j, a, end))
        fb_job_end(j, ENGINE_UNKNOWN, f, end->sentence, end);
    else if (f == FAIL_STOPPED)
        fb_job_end(j, ENGINE_CANCELLED, f, NULL, NULL);
    else if (!may_repeat)
        escalate(j, f, end);
    else
        apply(j, f, end);
}

void fb_outcome(struct job *j, const struct attempt *a, const struct attempt_end *end,
                bool is_throttled)
{
    struct engine *e = j->engine;
    enum failure f = end->failure   ? end->failure
                     : is_throttled ? FAIL_THROTTLED
                                    : fb_failure_of_status(end->status);

    /* That the host is still down is not the job's fault: it may try as often as before, unless
     * somebody said how often. */
    if (is_trial(a) && j->tries > 1 && !fb_manners_of(j->key, e)->recovery.bounds_all)
        j->tries--;
    note(e, a, f, end);
    fb_key_note_rate(e, a->key);
    tell(j, FB_EVENT_ANSWER, a, end, f, INT64_MIN, "");
    if (j->is_cancelled && f != FAIL_NONE)
        failed(j, a, end->failure ? FAIL_STOPPED : f, end);
    else if (f == FAIL_THROTTLED)
        throttled(j, end);
    else if (f != FAIL_NONE)
        failed(j, a, f, end);
    else if (fb_route_is_redirect(j, end))
        redirect(j, end);
    else
        fb_job_end(j, ENGINE_OK, FAIL_NONE, NULL, end);
}
