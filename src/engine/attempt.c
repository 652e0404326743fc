/* SPDX-License-Identifier: MIT */
/*
 * attempt.c - one request on its way: sent, watched by its deadlines, reported once, gone.
 *
 * Invariant: an attempt holds one slot of the engine, the provider and the key, and one ticket of
 * each limiter, from fb_attempt_start() to land(); nothing else counts them.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "engine/inside.h"
#include "util/alloc.h"

/* ------------------------------------------------------------------------------------ deadlines */

/* Bytes move the deadline of a phase; the heap learns of that when the old one has come. */
static int64_t deadline_of(const struct attempt *a)
{
    const struct manners *m = fb_manners_of(a->key, a->engine);
    const int64_t span_ns[] = {
        [PHASE_CONNECT] = m->connect_ns,
        [PHASE_FIRST_BYTE] = m->first_byte_ns,
        [PHASE_BODY] = m->idle_ns,
    };

    return fb_min64(fb_after(a->moved_ns, span_ns[a->phase]), a->total_ns);
}

/* A later deadline is found when the earlier one comes; a nearer one has to be known at once. */
static void enter_phase(struct attempt *a, enum attempt_phase phase)
{
    struct heap *h = &a->engine->deadlines;
    int64_t at_ns;

    a->phase = phase;
    a->moved_ns = a->engine->now_ns;
    at_ns = deadline_of(a);
    if (fb_heap_has(&a->node) && at_ns < a->node.order) {
        fb_heap_remove(h, &a->node);
        fb_heap_add(h, &a->node, at_ns);
    }
}

static enum failure missed(const struct attempt *a, int64_t now_ns)
{
    static const enum failure by_phase[] = {
        [PHASE_CONNECT] = FAIL_CONNECT_TIMEOUT,
        [PHASE_FIRST_BYTE] = FAIL_FIRST_BYTE_TIMEOUT,
        [PHASE_BODY] = FAIL_IDLE_TIMEOUT,
    };

    return now_ns >= a->total_ns ? FAIL_TOTAL_TIMEOUT : by_phase[a->phase];
}

void fb_attempt_deadlines(struct engine *e)
{
    struct heap_node *n;

    while ((n = fb_heap_first(&e->deadlines)) && n->order <= e->now_ns) {
        struct attempt *a = FB_HEAP_OWNER(n, struct attempt, node);
        int64_t at_ns = deadline_of(a);

        if (at_ns > e->now_ns) {
            fb_heap_remove(&e->deadlines, n);
            fb_heap_add(&e->deadlines, n, at_ns);
        } else if (a->job->is_cancelled || e->now_ns >= a->job->client->stop_ns) {
            fb_attempt_cut(a, FAIL_STOPPED);
        } else {
            e->stats.timeouts++;
            fb_attempt_cut(a, missed(a, e->now_ns));
        }
    }
}

int64_t fb_attempt_next_deadline(const struct engine *e)
{
    const struct heap_node *n = fb_heap_first(&e->deadlines);

    return n ? n->order : FB_NEVER;
}

/* ---------------------------------------------------------------------------------------- start */

static struct attempt *attempt_new(struct engine *e)
{
    struct attempt *a = e->free_attempt;

    if (!a)
        return fb_alloc(sizeof(*a));
    e->free_attempt = a->next;
    *a = (struct attempt){0};
    return a;
}

static void list_add(struct attempt *a)
{
    a->next = a->engine->flying;
    if (a->next)
        a->next->prev = a;
    a->engine->flying = a;
}

static void list_remove(struct attempt *a)
{
    *(a->prev ? &a->prev->next : &a->engine->flying) = a->next;
    if (a->next)
        a->next->prev = a->prev;
    a->next = a->prev = NULL;
}

static void attempt_free(struct attempt *a)
{
    a->next = a->engine->free_attempt;
    a->engine->free_attempt = a;
}

static void take_slots(struct attempt *a)
{
    struct engine *e = a->engine;

    list_add(a);
    a->key->in_flight++;
    a->key->provider->in_flight++;
    e->stats.in_flight++;
    a->job->client->stats.in_flight++;
    e->stats.in_flight_most = fb_max64(e->stats.in_flight_most, e->stats.in_flight);
    assert(e->stats.in_flight + e->stats.asked <= e->options.concurrency);
}

/* The headers that go with this hop; the array is the caller's. */
static size_t pick_headers(const struct job *j, struct engine_header *to)
{
    size_t count = 0;

    for (size_t i = 0; i < j->header_count; i++)
        if (fb_route_sends_header(j, j->header[i].name))
            to[count++] = j->header[i];
    return count;
}

static int send_it(struct attempt *a)
{
    struct job *j = a->job;
    struct engine *e = a->engine;
    struct engine_header few[32];
    struct engine_header *header = few;
    struct attempt_request r = {
        .url = j->url,
        .method = j->method,
        .id = j->id,
        .folder = j->folder,
        .connect_ns = fb_manners_of(j->key, e)->connect_ns,
        .body = j->drops_body ? NULL : j->body,
        .body_size = j->drops_body ? 0 : j->body_size,
        .is_once = !fb_job_is_idempotent(j) && !(j->flags & ENGINE_RETRYABLE),
        .refuse_private = e->options.connect.refuse_private ||
                          (j->from_public && !e->options.connect.redirect_private),
    };
    int rc;

    if (j->header_count > sizeof(few) / sizeof(few[0]))
        header = fb_alloc(j->header_count * sizeof(*header));
    if (!header)
        return -ENOMEM;
    r.header = header;
    r.header_count = pick_headers(j, header);
    rc = e->ports.send(e->ports.self, a, &r, &a->transfer);
    if (header != few)
        fb_free(header);
    return rc;
}

static void count_start(struct engine *e, struct job *j)
{
    j->state = JOB_FLYING;
    j->attempts++;
    j->tries++;
    j->requests++;
    j->sent_ns = e->now_ns;
    j->first_byte_ns = 0;
    j->is_approved = false;
    fb_job_promise(j, false);
    e->stats.requests++;
    j->key->requests++;
    j->key->left_ns = e->now_ns;
    j->client->stats.requests++;
    e->stats.retries += j->is_retry;
    j->client->stats.retries += j->is_retry;
    if (!fb_job_has_own_trials(j))
        fb_breaker_take(&j->key->breaker, e->now_ns);
}

/* It could not even begin: the permit goes back. */
static void give_up(struct attempt *a, int rc)
{
    struct engine *e = a->engine;
    struct job *j = a->job;
    struct key *k = a->key;

    fb_pools_cancel(k, e->now_ns, &a->tickets);
    if (!fb_job_has_own_trials(j))
        fb_breaker_cancel(&k->breaker, a->sent_ns, e->now_ns);
    e->stats.requests--;
    j->client->stats.requests--;
    k->requests--;
    j->requests--;
    list_remove(a);
    k->in_flight--;
    k->provider->in_flight--;
    e->stats.in_flight--;
    j->client->stats.in_flight--;
    attempt_free(a);
    j->attempt = NULL;
    fb_queue_wake(&e->queue, &k->q);
    fb_job_end(j, ENGINE_FAILED, rc == -ENOMEM ? FAIL_MEMORY : FAIL_BAD_REQUEST, NULL, NULL);
}

void fb_attempt_start(struct job *j, const struct tickets *t)
{
    struct engine *e = j->engine;
    struct attempt *a = attempt_new(e);
    int rc;

    if (!a) {
        fb_pools_cancel(j->key, e->now_ns, t);
        fb_job_end(j, ENGINE_FAILED, FAIL_MEMORY, NULL, NULL);
        return;
    }
    a->engine = e;
    a->job = j;
    a->key = j->key;
    a->tickets = *t;
    a->sent_ns = a->moved_ns = e->now_ns;
    a->total_ns = fb_after(e->now_ns, fb_manners_of(j->key, e)->total_ns);
    j->attempt = a;
    take_slots(a);
    count_start(e, j);
    rc = send_it(a);
    if (rc < 0) {
        give_up(a, rc);
        return;
    }
    fb_heap_add(&e->deadlines, &a->node, deadline_of(a));
    fb_engine_tell(e, FB_EVENT_REQUEST, j, a->key, NULL);
}

/* ----------------------------------------------------------------------------------- on its way */

/* Reported as lost: nobody answers what was sent before. This one takes a permit of its own. */
static bool pay_again(struct attempt *a)
{
    struct engine *e = a->engine;
    struct attempt_end lost = {.failure = FAIL_RESET};
    struct tickets tickets;

    fb_engine_read_clock(e);
    if (!fb_job_is_idempotent(a->job) && !(a->job->flags & ENGINE_RETRYABLE))
        return false;
    if (fb_pools_take(a->key, e->now_ns, a->job->cost, &tickets) > e->now_ns)
        return false;
    (void)fb_answer_report(a, &lost);
    a->tickets = tickets;
    a->sent_ns = e->now_ns;
    a->job->requests++;
    a->key->requests++;
    a->key->left_ns = e->now_ns;
    a->job->client->stats.requests++;
    e->stats.requests++;
    e->stats.resends_paid++;
    return true;
}

bool fb_attempt_leaves(struct attempt *a)
{
    if (a->has_left && !pay_again(a)) {
        a->engine->stats.resends_refused++;
        return false;
    }
    a->has_left = true;
    a->job->was_sent = true;
    enter_phase(a, PHASE_FIRST_BYTE);
    return true;
}

void fb_attempt_moves(struct attempt *a, bool is_answer)
{
    a->moved_ns = a->engine->now_ns;
    if (is_answer && a->phase != PHASE_BODY) {
        enter_phase(a, PHASE_BODY);
        a->first_byte_ns = a->moved_ns;
    }
}

/* ----------------------------------------------------------------------------------------- over */

/* Slots come back; whoever waited for one may look again. */
static void land(struct attempt *a)
{
    struct engine *e = a->engine;
    struct provider *p = a->key->provider;
    struct queue_task *t;

    if (fb_heap_has(&a->node))
        fb_heap_remove(&e->deadlines, &a->node);
    list_remove(a);
    a->job->attempt = NULL;
    a->job->first_byte_ns = a->first_byte_ns;
    a->key->in_flight--;
    p->in_flight--;
    e->stats.in_flight--;
    a->job->client->stats.in_flight--;
    fb_queue_wake(&e->queue, &a->key->q);
    t = fb_queue_first(&e->queue, &p->lane, true);
    if (t)
        fb_queue_wake(&e->queue, t->key);
}

void fb_attempt_done(struct attempt *a, const struct attempt_end *end)
{
    struct job *j = a->job;
    bool is_throttled = fb_answer_report(a, end);
    struct attempt gone;

    land(a);
    gone = *a;
    attempt_free(a);
    fb_outcome(j, &gone, end, is_throttled);
}

void fb_attempt_cut(struct attempt *a, enum failure f)
{
    struct attempt_end end = {.failure = f, .sentence = fb_failure_says(f)};

    a->engine->ports.abort(a->engine->ports.self, a->transfer);
    fb_attempt_done(a, &end);
}
