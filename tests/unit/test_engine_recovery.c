/* SPDX-License-Identifier: MIT */
/*
 * Engine on virtual time, when things go wrong: deadlines, retries, throttling, failover, hops,
 * requests that must not be sent twice, hosts that are down.
 */
#include "engine_rig.h"

#include "core/breaker.h"

/* A network that does what a list says, one after the other; the last one for ever. */
struct script {
    const struct plan *plan;
    size_t count, at;
};

static struct plan by_script(struct rig *r, const struct attempt_request *q)
{
    struct script *s = r->more;
    const struct plan *p = &s->plan[s->at];

    (void)q;
    if (s->at + 1 < s->count)
        s->at++;
    return *p;
}

/* Run one task against a script. */
static void play(struct rig *r, struct engine_options *o, const struct plan *plan, size_t count,
                 const struct engine_task *t)
{
    struct script s = {plan, count, 0};

    rig_open(r, o);
    r->plan = by_script;
    r->more = &s;
    rig_submit(r, t);
    rig_run(r);
    assert_int_equal(r->results, 1);
}

#define PLAY(r, o, t, ...)                                                \
    do {                                                                  \
        const struct plan plans_[] = {__VA_ARGS__};                       \
        play((r), (o), plans_, COUNT_OF(plans_), &(struct engine_task)t); \
    } while (0)

#define TASK(...)                               \
    {                                           \
        .url = "http://a.example/", __VA_ARGS__ \
    }

/* ------------------------------------------------------------------------------------ deadlines */

static void every_deadline_ends_it(void **state)
{
    static const struct {
        struct plan plan;
        enum failure failure;
        int64_t after_ns;
    } cases[] = {
        {{.connect_ns = 3600 * S}, FAIL_CONNECT_TIMEOUT, 10 * S},
        {{.connect_ns = S, .answer_ns = FB_NEVER}, FAIL_FIRST_BYTE_TIMEOUT, 31 * S},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct engine_options o = rig_options();
        struct rig r;

        o.attempts_max = 1;
        PLAY(&r, &o, TASK(.cost = 1), cases[i].plan);
        assert_int_equal(r.ends[ENGINE_FAILED], 1);
        assert_int_equal(r.last.failure, cases[i].failure);
        assert_int_equal(r.last.ended_ns - RIG_EPOCH, cases[i].after_ns);
        assert_int_equal(r.aborts, 1); /* really cancelled */
        assert_int_equal(rig_stats(&r).timeouts, 1);
        rig_fini(&r);
    }
}

/* A deadline that is nearer than the one before it counts as well. */
static void each_deadline_counts_from_its_own_beginning(void **state)
{
    struct engine_options o = rig_options();
    struct rig r;

    (void)state;
    o.attempts_max = 1;
    o.first_byte_ns = 2 * S;
    PLAY(&r, &o, TASK(.cost = 1), {.connect_ns = S, .answer_ns = FB_NEVER});
    assert_int_equal(r.last.failure, FAIL_FIRST_BYTE_TIMEOUT);
    assert_int_equal(r.last.ended_ns - RIG_EPOCH, 3 * S);
    rig_fini(&r);
}

/* Bytes keep it alive, but not beyond the total. */
static void a_drip_ends_with_the_total(void **state)
{
    struct engine_options o = rig_options();
    struct script s = {&(struct plan){.answer_ns = FB_NEVER}, 1, 0};
    struct rig r;

    (void)state;
    o.attempts_max = 1;
    rig_open(&r, &o);
    r.plan = by_script;
    r.more = &s;
    rig_get(&r, "http://a.example/");
    for (int i = 0; i < 200 && r.results == 0; i++) {
        rig_run_until(&r, r.now_ns + S);
        fb_engine_read_clock(r.engine);
        if (r.flight[0].attempt)
            fb_attempt_moves(r.flight[0].attempt, true);
    }
    assert_int_equal(r.last.failure, FAIL_TOTAL_TIMEOUT);
    assert_int_equal(r.last.ended_ns - RIG_EPOCH, 120 * S);
    assert_int_equal(r.last.first_byte_ns - RIG_EPOCH, S);
    rig_fini(&r);
}

static void silence_in_the_middle_ends_it(void **state)
{
    struct engine_options o = rig_options();
    struct script s = {&(struct plan){.answer_ns = FB_NEVER}, 1, 0};
    struct rig r;

    (void)state;
    o.attempts_max = 1;
    rig_open(&r, &o);
    r.plan = by_script;
    r.more = &s;
    rig_get(&r, "http://a.example/");
    rig_run_until(&r, r.now_ns + 20 * S);
    fb_engine_read_clock(r.engine);
    fb_attempt_moves(r.flight[0].attempt, true);
    rig_run(&r);
    assert_int_equal(r.last.failure, FAIL_IDLE_TIMEOUT);
    assert_int_equal(r.last.ended_ns - RIG_EPOCH, 50 * S);
    rig_fini(&r);
}

/* -------------------------------------------------------------------------------------- retries */

static void a_failure_is_tried_again_after_a_backoff(void **state)
{
    struct engine_options o = rig_options();
    struct rig r;

    (void)state;
    PLAY(&r, &o, TASK(.cost = 1), {.failure = FAIL_RESET}, {.status = 502}, {.answer_ns = MS});
    assert_int_equal(r.ends[ENGINE_OK], 1);
    assert_int_equal(r.last.attempts, 3);
    assert_int_equal(r.sends, 3);
    assert_at_least(r.last.ended_ns - RIG_EPOCH, 6 * S); /* 2 s and 4 s */
    assert_at_most(r.last.ended_ns - RIG_EPOCH, 7600 * MS);
    assert_int_equal(r.last.waited_ns, 0); /* that was not for a permit */
    assert_int_equal(rig_stats(&r).retries, 2);
    rig_fini(&r);
}

static void and_only_so_often(void **state)
{
    struct engine_options o = rig_options();
    struct rig r;

    (void)state;
    PLAY(&r, &o, TASK(.cost = 1), {.failure = FAIL_RESET});
    assert_int_equal(r.ends[ENGINE_FAILED], 1);
    assert_int_equal(r.last.attempts, 3);
    assert_true(r.last.escalated);
    assert_string_equal(r.last_sentence, "as planned");
    rig_fini(&r);
}

static void attempts_of_an_earlier_run_count(void **state)
{
    struct engine_options o = rig_options();
    struct rig r;

    (void)state;
    PLAY(&r, &o, TASK(.attempts = 2), {.failure = FAIL_RESET});
    assert_int_equal(r.last.attempts, 3);
    assert_int_equal(r.sends, 1);
    rig_fini(&r);
}

static void the_table_decides(void **state)
{
    struct engine_options o = rig_options();
    struct rig r;
    static const char *const rules[] = {"mine/4xx/1=retry", NULL};

    (void)state;
    PLAY(&r, &o, TASK(.cost = 1), {.status = 404});
    assert_int_equal(r.ends[ENGINE_FAILED], 1);
    assert_int_equal(r.last.status, 404);
    rig_fini(&r);
    PLAY(&r, &o, TASK(.operation = "extract"), {.status = 500});
    assert_int_equal(r.ends[ENGINE_SKIPPED], 1);
    assert_int_equal(r.last.attempts, 2);
    rig_fini(&r);
    PLAY(&r, &o, TASK(.operation = "validate"), {.answer_ns = FB_NEVER});
    assert_int_equal(r.ends[ENGINE_DEFERRED], 1);
    assert_at_least(r.last.ready_at_ns, r.last.ended_ns + 60 * S);
    rig_fini(&r);
    o.recovery = rules;
    PLAY(&r, &o, TASK(.operation = "mine"), {.status = 404});
    assert_int_equal(r.last.attempts, 2);
    rig_fini(&r);
}

static void strict_mode_fails_what_it_would_defer(void **state)
{
    struct engine_options o = rig_options();
    struct rig r;

    (void)state;
    o.mode = MODE_STRICT;
    PLAY(&r, &o, TASK(.operation = "validate"), {.answer_ns = FB_NEVER});
    assert_int_equal(r.ends[ENGINE_FAILED], 1);
    assert_true(r.last.escalated);
    rig_fini(&r);
}

/* An outage must not be answered with a multiple of the load. */
static void retries_are_bounded_by_the_budget(void **state)
{
    struct engine_options o = rig_options();
    struct script s = {&(struct plan){.failure = FAIL_PAYLOAD}, 1, 0};
    struct rig r;
    struct engine_stats st;

    (void)state;
    rig_open(&r, &o);
    r.plan = by_script;
    r.more = &s;
    for (int i = 0; i < 3000; i++)
        rig_get(&r, "http://a.example/");
    rig_run_until(&r, r.now_ns + 10 * S);
    st = rig_stats(&r);
    assert_int_equal(st.requests - st.retries, 3000);
    assert_at_most(st.retries, 3000 / 5 + 10 * 11);
    rig_run(&r);
    assert_int_equal(r.ends[ENGINE_FAILED], 3000);
    rig_fini(&r);
}

/* ------------------------------------------------------------------------------------ throttled */

static void a_refusal_holds_the_key_and_is_no_attempt(void **state)
{
    struct engine_options o = rig_options();
    struct rig r;

    (void)state;
    PLAY(&r, &o, TASK(.cost = 1), {.status = 429, .header = {{"Retry-After", "30"}}},
         {.answer_ns = MS});
    assert_int_equal(r.ends[ENGINE_OK], 1);
    assert_int_equal(r.last.attempts, 1);
    assert_int_equal(r.last.throttled, 1);
    assert_int_equal(r.last.requests, 2);
    assert_at_least(r.last.ended_ns - RIG_EPOCH, 30 * S);
    assert_string_equal(r.last_cause, "hold");
    rig_fini(&r);
}

/* The one refused goes before those that wait, and all of them wait. */
static void the_refused_one_goes_first(void **state)
{
    struct engine_options o = rig_options();
    const struct plan plans[] = {{.status = 429, .header = {{"Retry-After", "30"}}},
                                 {.answer_ns = 5 * S}};
    struct script s = {plans, 2, 0};
    struct rig r;

    (void)state;
    o.concurrency = 1;
    rig_open(&r, &o);
    r.plan = by_script;
    r.more = &s;
    rig_submit(&r, &(struct engine_task){.url = "http://a.example/1",
                                         .id = "refused",
                                         .priority = PRIORITY_BACKGROUND});
    rig_run_until(&r, r.now_ns);
    rig_submit(&r, &(struct engine_task){
                       .url = "http://a.example/2", .id = "live", .priority = PRIORITY_LIVE});
    rig_run_until(&r, RIG_EPOCH + 29 * S);
    assert_int_equal(r.sends, 1);
    rig_run_until(&r, RIG_EPOCH + 31 * S);
    assert_string_equal(r.sent_url, "http://a.example/1");
    rig_run(&r);
    assert_int_equal(r.ends[ENGINE_OK], 2);
    rig_fini(&r);
}

static void a_hold_beyond_the_bound_parks(void **state)
{
    struct engine_options o = rig_options();
    struct rig r;

    (void)state;
    PLAY(&r, &o, TASK(.cost = 1), {.status = 429, .header = {{"Retry-After", "7200"}}});
    assert_int_equal(r.ends[ENGINE_DEFERRED], 1);
    assert_int_equal(r.last.failure, FAIL_THROTTLED);
    assert_at_least(r.last.ready_at_ns, RIG_EPOCH + 7200 * S);
    assert_int_equal(r.sends, 1);
    /* And so is what comes later, at once. */
    rig_get(&r, "http://a.example/later");
    rig_run_until(&r, r.now_ns);
    assert_int_equal(r.ends[ENGINE_DEFERRED], 2);
    assert_at_least(r.last.ready_at_ns, RIG_EPOCH + 7200 * S);
    assert_int_equal(r.sends, 1);
    rig_fini(&r);
    o.hold_max_ns = 0; /* wait as long as it takes */
    PLAY(&r, &o, TASK(.cost = 1), {.status = 429, .header = {{"Retry-After", "7200"}}},
         {.answer_ns = MS});
    assert_int_equal(r.ends[ENGINE_OK], 1);
    assert_at_least(r.last.ended_ns, RIG_EPOCH + 7200 * S);
    rig_fini(&r);
}

static void a_hold_beyond_the_patience_parks(void **state)
{
    struct engine_options o = rig_options();
    struct rig r;

    (void)state;
    PLAY(&r, &o, TASK(.patience_ns = 10 * S), {.status = 429, .header = {{"Retry-After", "60"}}});
    assert_int_equal(r.ends[ENGINE_DEFERRED], 1);
    assert_at_least(r.last.ready_at_ns, RIG_EPOCH + 60 * S);
    assert_at_most(r.last.ended_ns, RIG_EPOCH + S);
    rig_fini(&r);
}

static void for_ever_refused_is_put_off(void **state)
{
    struct engine_options o = rig_options();
    struct rig r;

    (void)state;
    o.hold_max_ns = 0;
    PLAY(&r, &o, TASK(.cost = 1), {.status = 429, .header = {{"Retry-After", "1"}}});
    assert_int_equal(r.ends[ENGINE_DEFERRED], 1);
    assert_int_equal(r.last.throttled, 100);
    rig_fini(&r);
}

/* ------------------------------------------------------------------ what must not be sent twice */

static void what_is_not_idempotent_is_sent_once(void **state)
{
    struct engine_options o = rig_options();
    struct rig r;

    (void)state;
    PLAY(&r, &o, TASK(.method = "POST"), {.failure = FAIL_RESET});
    assert_int_equal(r.ends[ENGINE_UNKNOWN], 1);
    assert_int_equal(r.sends, 1);
    rig_fini(&r);
    PLAY(&r, &o, TASK(.method = "POST"), {.status = 500}); /* answered: it failed */
    assert_int_equal(r.ends[ENGINE_FAILED], 1);
    assert_int_equal(r.sends, 1);
    rig_fini(&r);
    PLAY(&r, &o, TASK(.method = "POST", .flags = ENGINE_RETRYABLE), {.status = 500},
         {.answer_ns = MS});
    assert_int_equal(r.ends[ENGINE_OK], 1);
    rig_fini(&r);
    /* It never left: that is safe to repeat. */
    PLAY(&r, &o, TASK(.method = "POST"), {.connect_ns = 3600 * S}, {.answer_ns = MS});
    assert_int_equal(r.ends[ENGINE_OK], 1);
    rig_fini(&r);
    /* Refused for rate: it was not done. */
    PLAY(&r, &o, TASK(.method = "POST"), {.status = 429, .header = {{"Retry-After", "2"}}},
         {.answer_ns = MS});
    assert_int_equal(r.ends[ENGINE_OK], 1);
    rig_fini(&r);
}

/* A re-send of the network's own making pays, or does not happen. */
static void hidden_resends_are_paid_or_refused(void **state)
{
    struct engine_options o = rig_options();
    struct rig r;

    (void)state;
    o.limit = "rate=1/1h burst=2";
    PLAY(&r, &o, TASK(.cost = 1), {.answer_ns = MS, .resends = true});
    assert_int_equal(r.ends[ENGINE_OK], 1);
    assert_int_equal(r.last.requests, 2);
    assert_int_equal(rig_stats(&r).resends_paid, 1);
    rig_fini(&r);

    o.limit = "rate=1/1h burst=1"; /* no second permit */
    o.attempts_max = 1;
    PLAY(&r, &o, TASK(.cost = 1), {.answer_ns = MS, .resends = true});
    assert_int_equal(r.ends[ENGINE_FAILED], 1);
    assert_int_equal(rig_stats(&r).resends_refused, 1);
    rig_fini(&r);

    o.limit = "adapt=off";
    PLAY(&r, &o, TASK(.method = "POST"), {.answer_ns = MS, .resends = true});
    assert_int_equal(r.ends[ENGINE_UNKNOWN], 1);
    assert_int_equal(rig_stats(&r).resends_refused, 1);
    rig_fini(&r);
}

struct asked {
    struct job *job[8];
    int count;
};

static struct asked asked;

static void remember_job(void *user, struct job *j, void *task_user, int32_t attempt)
{
    (void)user;
    (void)task_user;
    assert_int_equal(attempt, 1);
    asked.job[asked.count++] = j;
}

static void asked_before_it_is_sent(void **state)
{
    struct engine_options o = rig_options();
    struct rig r;

    (void)state;
    asked = (struct asked){0};
    o.concurrency = 2;
    o.on_start = remember_job;
    rig_open(&r, &o);
    for (int i = 0; i < 4; i++)
        rig_submit(&r, &(struct engine_task)TASK(.method = "POST"));
    rig_get(&r, "http://a.example/get");
    rig_run_until(&r, r.now_ns + S);
    assert_int_equal(asked.count, 1); /* whether more could leave shows when it does */
    assert_int_equal(r.sends, 0);
    fb_engine_go(r.engine, asked.job[0], 0);
    rig_run_until(&r, r.now_ns);
    assert_int_equal(r.sends, 1);
    assert_int_equal(asked.count, 2); /* not more than could leave */
    fb_engine_go(r.engine, asked.job[1], -1);
    rig_run_until(&r, r.now_ns + S);
    assert_int_equal(r.ends[ENGINE_CANCELLED], 1);
    while (r.results < 5) {
        for (int i = 2; i < asked.count; i++)
            fb_engine_go(r.engine, asked.job[i], 0);
        asked.count = 2;
        rig_run_until(&r, r.now_ns + S);
    }
    assert_int_equal(r.ends[ENGINE_OK], 4);
    rig_fini(&r);
}

/* -------------------------------------------------------------------------------- other sources */

static struct plan by_host(struct rig *r, const struct attempt_request *q)
{
    (void)r;
    if (strstr(q->url, "//bad."))
        return (struct plan){.status = 404};
    if (strstr(q->url, "//busy."))
        return (struct plan){.status = 429, .header = {{"Retry-After", "600"}}};
    return (struct plan){.answer_ns = MS};
}

static void fails_over_in_order(void **state)
{
    static const char *const others[] = {"http://bad.example/", "http://good.example/",
                                         "http://never.example/"};
    static const struct engine_header secret = {"Authorization", "Bearer 1"};
    struct engine_options o = rig_options();
    struct rig r;

    (void)state;
    rig_open(&r, &o);
    r.plan = by_host;
    rig_submit(&r, &(struct engine_task){.url = "http://bad.example/x",
                                         .alternative = others,
                                         .alternative_count = 3,
                                         .header = &secret,
                                         .header_count = 1});
    rig_run(&r);
    assert_int_equal(r.ends[ENGINE_OK], 1);
    assert_string_equal(r.last_url, "http://good.example/");
    assert_int_equal(r.last.source, 2);
    assert_string_equal(r.sent_authorization, ""); /* it is not for them */
    assert_int_equal(rig_stats(&r).failovers, 2);
    rig_fini(&r);
}

static void without_another_source_it_fails(void **state)
{
    static const char *const others[] = {"http://busy.example/"};
    struct engine_options o = rig_options();
    struct rig r;

    (void)state;
    rig_open(&r, &o);
    r.plan = by_host;
    rig_submit(&r, &(struct engine_task){.url = "http://busy.example/",
                                         .operation = "resolve",
                                         .alternative = others,
                                         .alternative_count = 1});
    rig_run_until(&r, r.now_ns + 10 * S);
    assert_int_equal(r.sends, 1); /* the same key: it waits for the hold */
    rig_run_until(&r, r.now_ns + 700 * S);
    assert_int_equal(r.sends, 2);
    fb_engine_close(r.engine, NULL, NULL);
}

/* ------------------------------------------------------------------------------------ redirects */

static struct plan redirects(struct rig *r, const struct attempt_request *q)
{
    const char *path = strstr(q->url, "example") + 7;

    (void)r;
    if (strncmp(path, "/to-other", 9) == 0)
        return (struct plan){.status = 302, .header = {{"Location", "http://other.example/end"}}};
    if (strncmp(path, "/loop", 5) == 0)
        return (struct plan){.status = 301, .header = {{"Location", "/loop"}}};
    if (strncmp(path, "/see", 4) == 0)
        return (struct plan){.status = 303, .header = {{"Location", "end#part"}}};
    if (strncmp(path, "/keep", 5) == 0)
        return (struct plan){.status = 307, .header = {{"Location", "/end"}}};
    if (strncmp(path, "/file", 5) == 0)
        return (struct plan){.status = 302, .header = {{"Location", "file:///etc/passwd"}}};
    if (strncmp(path, "/nowhere", 8) == 0)
        return (struct plan){.status = 302};
    return (struct plan){.answer_ns = MS};
}

static void follow(struct rig *r, const struct engine_task *t)
{
    struct engine_options o = rig_options();

    rig_open(r, &o);
    r->plan = redirects;
    rig_submit(r, t);
    rig_run(r);
}

static void credentials_stay_with_their_origin(void **state)
{
    static const struct engine_header h[] = {{"cookie", "1"},  {"X-API-Key", "1"},
                                             {"api-key", "1"}, {"x-auth-token", "1"},
                                             {"Accept", "*"},  {"Proxy-Authorization", "1"}};
    struct rig r;

    (void)state;
    follow(&r, &(struct engine_task){
                   .url = "http://a.example/to-other", .header = h, .header_count = 6});
    assert_string_equal(r.last_url, "http://other.example/end");
    assert_int_equal(r.sent_headers, 1); /* Accept */
    rig_fini(&r);
}

static void each_hop_is_followed_by_us(void **state)
{
    static const struct engine_header secret = {"Authorization", "Bearer 1"};
    struct rig r;

    (void)state;
    follow(&r, &(struct engine_task){
                   .url = "http://a.example/to-other", .header = &secret, .header_count = 1});
    assert_int_equal(r.ends[ENGINE_OK], 1);
    assert_string_equal(r.last_url, "http://other.example/end");
    assert_string_equal(r.sent_authorization, "");
    assert_int_equal(r.last.requests, 2);
    assert_int_equal(r.last.redirects, 1);
    assert_int_equal(r.last.attempts, 1);
    assert_int_equal(rig_stats(&r).keys, 2); /* each pays at its own host */
    rig_fini(&r);
    follow(&r, &(struct engine_task){.url = "http://a.example/see",
                                     .method = "POST",
                                     .body = "x",
                                     .body_size = 1,
                                     .header = &secret,
                                     .header_count = 1});
    assert_string_equal(r.last_url, "http://a.example/end");
    assert_string_equal(r.sent_method, "GET");
    assert_int_equal(r.sent_body, 0);
    assert_string_equal(r.sent_authorization, "Bearer 1");
    rig_fini(&r);
    follow(&r, &(struct engine_task){
                   .url = "http://a.example/keep", .method = "PUT", .body = "x", .body_size = 1});
    assert_string_equal(r.sent_method, "PUT");
    assert_int_equal(r.sent_body, 1);
    rig_fini(&r);
}

static struct plan from_outside(struct rig *r, const struct attempt_request *q)
{
    struct plan p = redirects(r, q);

    p.from_public = true;
    return p;
}

/* A server out there does not get to choose an address in here. */
static void from_a_public_address_to_public_ones_only(void **state)
{
    struct engine_options o = rig_options();
    struct rig r;

    (void)state;
    for (int allowed = 0; allowed <= 1; allowed++) {
        o.connect.redirect_private = allowed;
        rig_open(&r, &o);
        r.plan = from_outside;
        rig_get(&r, "http://a.example/end");
        rig_run(&r);
        assert_false(r.sent_refuse_private);
        rig_get(&r, "http://a.example/to-other");
        rig_run(&r);
        assert_string_equal(r.sent_url, "http://other.example/end");
        assert_int_equal(r.sent_refuse_private, !allowed);
        rig_fini(&r);
    }
}

static void not_everywhere_and_not_for_ever(void **state)
{
    struct rig r;

    (void)state;
    follow(&r, &(struct engine_task){.url = "http://a.example/loop"});
    assert_int_equal(r.last.failure, FAIL_REDIRECTS);
    assert_int_equal(r.last.requests, 11);
    rig_fini(&r);
    follow(&r, &(struct engine_task){.url = "http://a.example/file"});
    assert_int_equal(r.last.failure, FAIL_POLICY);
    rig_fini(&r);
    follow(&r, &(struct engine_task){.url = "http://a.example/nowhere"});
    assert_int_equal(r.ends[ENGINE_OK], 1);
    rig_fini(&r);
    follow(&r, &(struct engine_task){.url = "http://a.example/loop", .flags = ENGINE_NO_REDIRECT});
    assert_int_equal(r.ends[ENGINE_OK], 1);
    assert_int_equal(r.last.status, 301);
    rig_fini(&r);
}

/* -------------------------------------------------------------------------- hosts that are down */

static struct plan down_for_a_while(struct rig *r, const struct attempt_request *q)
{
    bool is_down = r->now_ns < RIG_EPOCH + *(int64_t *)r->more;

    if (is_down && strstr(q->url, "//down."))
        return (struct plan){.failure = FAIL_REFUSED};
    return (struct plan){.answer_ns = MS};
}

static void a_host_that_is_down_is_left_alone(void **state)
{
    struct engine_options o = rig_options();
    int64_t down_ns = 200 * S;
    struct rig r;

    (void)state;
    o.attempts_max = 100;
    rig_open(&r, &o);
    r.plan = down_for_a_while;
    r.more = &down_ns;
    for (int i = 0; i < 50; i++)
        rig_get(&r, "http://down.example/");
    rig_run_until(&r, RIG_EPOCH + 50 * S);
    assert_at_most(r.sends, 45); /* 40 were out when it showed */
    rig_get(&r, "http://up.example/");
    rig_run_until(&r, RIG_EPOCH + 51 * S);
    assert_int_equal(r.ends[ENGINE_OK], 1);
    rig_run(&r);
    assert_int_equal(r.ends[ENGINE_OK], 51);
    assert_at_most(r.sends, 51 + 45 + 20);
    rig_fini(&r);
}

static void what_stays_down_is_put_off(void **state)
{
    struct engine_options o = rig_options();
    int64_t down_ns = 86400 * S;
    struct rig r;

    (void)state;
    o.attempts_max = 100;
    rig_open(&r, &o);
    r.plan = down_for_a_while;
    r.more = &down_ns;
    for (int i = 0; i < 50; i++)
        rig_get(&r, "http://down.example/");
    rig_run(&r);
    assert_int_equal(r.ends[ENGINE_DEFERRED], 50);
    assert_at_least(r.last.ended_ns - RIG_EPOCH, 900 * S);
    assert_at_most(r.last.ended_ns - RIG_EPOCH, 2000 * S);
    rig_fini(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_deadline_ends_it),
        cmocka_unit_test(each_deadline_counts_from_its_own_beginning),
        cmocka_unit_test(a_drip_ends_with_the_total),
        cmocka_unit_test(silence_in_the_middle_ends_it),
        cmocka_unit_test(a_failure_is_tried_again_after_a_backoff),
        cmocka_unit_test(and_only_so_often),
        cmocka_unit_test(attempts_of_an_earlier_run_count),
        cmocka_unit_test(the_table_decides),
        cmocka_unit_test(strict_mode_fails_what_it_would_defer),
        cmocka_unit_test(retries_are_bounded_by_the_budget),
        cmocka_unit_test(a_refusal_holds_the_key_and_is_no_attempt),
        cmocka_unit_test(the_refused_one_goes_first),
        cmocka_unit_test(a_hold_beyond_the_bound_parks),
        cmocka_unit_test(a_hold_beyond_the_patience_parks),
        cmocka_unit_test(for_ever_refused_is_put_off),
        cmocka_unit_test(what_is_not_idempotent_is_sent_once),
        cmocka_unit_test(hidden_resends_are_paid_or_refused),
        cmocka_unit_test(asked_before_it_is_sent),
        cmocka_unit_test(fails_over_in_order),
        cmocka_unit_test(without_another_source_it_fails),
        cmocka_unit_test(credentials_stay_with_their_origin),
        cmocka_unit_test(each_hop_is_followed_by_us),
        cmocka_unit_test(from_a_public_address_to_public_ones_only),
        cmocka_unit_test(not_everywhere_and_not_for_ever),
        cmocka_unit_test(a_host_that_is_down_is_left_alone),
        cmocka_unit_test(what_stays_down_is_put_off),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
