/* SPDX-License-Identifier: MIT */
/*
 * engine_rig.h - the real engine on virtual time, against a network of a few lines.
 *
 * The network asks `plan` for each request what is to become of it: when it leaves, when the
 * answer comes, and what it says. Nothing here reads a clock or sleeps.
 */
#ifndef FLYBALL_TESTS_ENGINE_RIG_H
#define FLYBALL_TESTS_ENGINE_RIG_H

#include "unit.h"

#include <stdbool.h>

#include "core/instant.h"
#include "engine/engine.h"
#include "engine/ports.h"

#define RIG_FLIGHTS 64
#define RIG_EPOCH   (INT64_C(1700000000) * S)

/* What becomes of a request. */
struct plan {
    int64_t connect_ns; /* then it leaves; 0: at once */
    int64_t answer_ns;  /* then the answer is there; FB_NEVER: it never is */
    enum failure failure;
    int32_t status; /* 0: 200 */
    struct engine_header header[8];
    const char *body; /* NULL: "body" */
    bool from_public;
    bool resends; /* the network sends it twice, on its own account */
};

struct flight {
    struct attempt *attempt;
    struct plan plan;
    int64_t began_ns, leaves_ns, ends_ns;
    bool has_left;
};

struct rig {
    struct engine *engine;
    int64_t now_ns, wake_ns;
    struct flight flight[RIG_FLIGHTS];
    struct plan (*plan)(struct rig *r, const struct attempt_request *q);
    int64_t longest_ns; /* from the beginning of a request to its end, however it ended */
    int64_t sends, aborts, recycles, in_flight, in_flight_most;
    bool busy;
    bool always_connects; /* else one connection serves all */
    /* Of the last request, and of the last result. */
    char sent_url[128], sent_method[16], sent_authorization[64];
    size_t sent_body, sent_headers;
    bool sent_refuse_private;
    int64_t results;
    int64_t ends[ENGINE_ENDS];
    struct engine_result last;
    char last_id[32], last_cause[32], last_sentence[128], last_url[128];
    void (*on_result)(struct rig *r, const struct engine_result *result);
    void *more; /* the test's own */
};

static inline int64_t rig_now(void *self)
{
    return ((struct rig *)self)->now_ns;
}

static inline void rig_wake_at(void *self, int64_t at_ns)
{
    ((struct rig *)self)->wake_ns = at_ns;
}

static inline void rig_copy(char *to, size_t size, const char *from)
{
    snprintf(to, size, "%s", from);
}

static inline void rig_note(struct rig *r, const struct attempt_request *q)
{
    rig_copy(r->sent_url, sizeof(r->sent_url), q->url);
    rig_copy(r->sent_method, sizeof(r->sent_method), q->method);
    r->sent_authorization[0] = '\0';
    r->sent_body = q->body_size;
    r->sent_headers = q->header_count;
    r->sent_refuse_private = q->refuse_private;
    for (size_t i = 0; i < q->header_count; i++)
        if (strcmp(q->header[i].name, "Authorization") == 0)
            rig_copy(r->sent_authorization, sizeof(r->sent_authorization), q->header[i].value);
    r->sends++;
    r->in_flight++;
    if (r->in_flight > r->in_flight_most)
        r->in_flight_most = r->in_flight;
}

static inline int rig_send(void *self, struct attempt *a, const struct attempt_request *q,
                           void **ret_transfer)
{
    struct rig *r = self;
    struct flight *f = r->flight;

    while (f->attempt)
        f++;
    assert_true(f < r->flight + RIG_FLIGHTS);
    rig_note(r, q);
    *f = (struct flight){.attempt = a, .plan = r->plan(r, q), .began_ns = r->now_ns};
    f->leaves_ns = r->now_ns + f->plan.connect_ns;
    f->ends_ns = fb_after(f->leaves_ns, f->plan.answer_ns);
    *ret_transfer = f;
    return 0;
}

static inline void rig_land(struct rig *r, struct flight *f)
{
    f->attempt = NULL;
    r->longest_ns = fb_max64(r->longest_ns, r->now_ns - f->began_ns);
    r->in_flight--;
}

static inline void rig_abort(void *self, void *transfer)
{
    struct rig *r = self;

    rig_land(r, transfer);
    r->aborts++;
}

static inline void rig_busy(void *self, bool has_work)
{
    ((struct rig *)self)->busy = has_work;
}

static inline void rig_recycle(void *self)
{
    ((struct rig *)self)->recycles++;
}

static inline int64_t rig_connections(void *self, int64_t *ret_open)
{
    const struct rig *r = self;

    if (ret_open)
        *ret_open = 1;
    return r->always_connects ? r->sends : 1;
}

static inline void rig_close(void *self, void (*done)(void *arg), void *arg)
{
    (void)self;
    if (done)
        done(arg);
}

static inline void rig_result(void *user, const struct engine_result *result)
{
    struct rig *r = user;

    r->results++;
    r->ends[result->end]++;
    r->last = *result;
    rig_copy(r->last_id, sizeof(r->last_id), result->id);
    rig_copy(r->last_cause, sizeof(r->last_cause), result->cause);
    rig_copy(r->last_sentence, sizeof(r->last_sentence), result->sentence);
    rig_copy(r->last_url, sizeof(r->last_url), result->url);
    if (r->on_result)
        r->on_result(r, result);
}

static inline struct plan rig_ok(struct rig *r, const struct attempt_request *q)
{
    (void)r;
    (void)q;
    return (struct plan){.answer_ns = 100 * MS};
}

/* Options to start from: no limit at all, so that only what a test sets matters. */
static inline struct engine_options rig_options(void)
{
    struct engine_options o;

    fb_engine_options_init(&o);
    o.limit = "adapt=off";
    o.seed = 1;
    return o;
}

static inline void rig_open(struct rig *r, struct engine_options *o)
{
    static const struct engine_ports ports = {
        .now = rig_now,
        .wake_at = rig_wake_at,
        .send = rig_send,
        .abort = rig_abort,
        .busy = rig_busy,
        .recycle = rig_recycle,
        .connections = rig_connections,
        .close = rig_close,
    };
    struct engine_ports mine = ports;
    struct fly_error err = {""};

    *r = (struct rig){.now_ns = RIG_EPOCH, .wake_ns = FB_NEVER, .plan = rig_ok};
    mine.self = r;
    o->user = r;
    if (!o->on_result)
        o->on_result = rig_result;
    if (fb_engine_new(&mine, o, &r->engine, &err) < 0)
        fail_msg("%s", err.text);
}

static inline void rig_end(struct rig *r, struct flight *f)
{
    struct attempt_end end = {
        .failure = f->plan.failure,
        .sentence = f->plan.failure ? "as planned" : NULL,
        .status = f->plan.failure  ? 0
                  : f->plan.status ? f->plan.status
                                   : 200,
        .header = f->plan.header,
        .body = f->plan.body ? f->plan.body : "body",
        .body_size = f->plan.body ? strlen(f->plan.body) : 4,
        .from_public = f->plan.from_public,
    };
    struct attempt *a = f->attempt;

    while (end.header_count < COUNT_OF(f->plan.header) && f->plan.header[end.header_count].name)
        end.header_count++;
    rig_land(r, f);
    fb_engine_read_clock(r->engine);
    fb_attempt_moves(a, true);
    fb_attempt_done(a, &end);
    fb_engine_tick(r->engine);
}

/* One thing of a flight happens. */
static inline void rig_fly(struct rig *r, struct flight *f)
{
    if (f->has_left) {
        rig_end(r, f);
        return;
    }
    f->has_left = true;
    fb_engine_read_clock(r->engine);
    if (!fb_attempt_leaves(f->attempt) || (f->plan.resends && !fb_attempt_leaves(f->attempt))) {
        f->plan = (struct plan){.failure = FAIL_RESET};
        f->ends_ns = r->now_ns;
    }
    fb_engine_tick(r->engine);
}

static inline int64_t rig_due(const struct flight *f)
{
    return !f->attempt ? FB_NEVER : f->has_left ? f->ends_ns : f->leaves_ns;
}

/* Let virtual time pass until `until_ns`, or until nothing happens any more. */
static inline void rig_run_until(struct rig *r, int64_t until_ns)
{
    for (;;) {
        struct flight *first = &r->flight[0];
        int64_t at_ns;

        for (struct flight *f = r->flight; f < r->flight + RIG_FLIGHTS; f++)
            if (rig_due(f) < rig_due(first))
                first = f;
        at_ns = fb_min64(rig_due(first), r->wake_ns);
        if (at_ns > until_ns || at_ns == FB_NEVER)
            break;
        r->now_ns = fb_max64(r->now_ns, at_ns);
        if (rig_due(first) <= r->wake_ns) {
            rig_fly(r, first);
        } else {
            r->wake_ns = FB_NEVER;
            fb_engine_tick(r->engine);
        }
    }
    if (until_ns != FB_NEVER)
        r->now_ns = fb_max64(r->now_ns, until_ns);
}

static inline void rig_run(struct rig *r)
{
    rig_run_until(r, FB_NEVER);
    assert_false(r->busy);
}

static inline void rig_fini(struct rig *r)
{
    struct engine_stats s;

    fb_engine_stats(r->engine, &s);
    assert_int_equal(s.in_flight, 0);
    assert_int_equal(s.done, s.submitted);
    assert_int_equal(s.done, r->results);
    fb_engine_close(r->engine, NULL, NULL);
}

static inline struct job *rig_submit(struct rig *r, const struct engine_task *t)
{
    struct fly_error err = {""};
    struct job *j = NULL;

    if (fb_engine_submit(r->engine, t, &j, &err) < 0)
        fail_msg("submit: %s", err.text);
    return j;
}

static inline struct job *rig_get(struct rig *r, const char *url)
{
    return rig_submit(r, &(struct engine_task){.url = url, .id = url});
}

static inline struct engine_stats rig_stats(const struct rig *r)
{
    struct engine_stats s;

    fb_engine_stats(r->engine, &s);
    return s;
}

#endif
