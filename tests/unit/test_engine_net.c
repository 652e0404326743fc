/* SPDX-License-Identifier: MIT */
/*
 * Engine through libuv and libcurl against an origin on loopback: connections, broken answers,
 * deadlines that close sockets, re-sends, redirects, recycling, the watchdog.
 *
 * Real time passes here: nothing is asserted about how short it is.
 */
#include "origin.h"

#include <semaphore.h>
#include <uv.h>

#include "core/instant.h"
#include "engine/engine.h"

/* The first one is for every path that is not in the list. */
static const struct page pages[] = {
    {"/ok", OK_PAGE, THEN_KEEP, 0},
    {"/stale", OK_PAGE, THEN_STALE, 0},
    {"/hang", "", THEN_HANG, 0},
    {"/silent", OK_HEAD "Content-Length: 9\r\n\r\nabc", THEN_HANG, 0},
    {"/flood", OK_HEAD "X-Flood: y\r\n", THEN_FLOOD, 0},
    {"/wide", "HTTP/1.1 200 wide and ", THEN_FLOOD, 0},
    {"/close", "", THEN_CLOSE, 0},
    {"/reset", "", THEN_RESET, 0},
    {"/fold", OK_HEAD "X-Fold: a\r\n b\r\nContent-Length: 0\r\n\r\n", THEN_KEEP, 0},
    {"/hints", "HTTP/1.1 103 Early\r\nX-B: 1\r\n\r\n" OK_PAGE, THEN_KEEP, 0},
    {"/both", OK_HEAD "Content-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
     THEN_KEEP, 0},
    {"/nolength", OK_HEAD "\r\nuntil the end", THEN_CLOSE, 0},
    {"/two", OK_HEAD "Content-Length: 2\r\n\r\nhi" OK_HEAD "Content-Length: 6\r\n\r\nSTOLEN",
     THEN_KEEP, 0},
    {"/loop", "HTTP/1.1 302 F\r\nLocation: /loop\r\nContent-Length: 0\r\n\r\n", THEN_KEEP, 0},
    {"/hop", "HTTP/1.1 302 F\r\nLocation: /ok?2\r\nContent-Length: 0\r\n\r\n", THEN_KEEP, 0},
    {"/file", "HTTP/1.1 302 F\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n",
     THEN_KEEP, 0},
    {"/404", "HTTP/1.1 404 No\r\nContent-Length: 2\r\n\r\nno", THEN_KEEP, 0},
    /* What is broken. */
    {"/cut-head", OK_HEAD "Content-Le", THEN_CLOSE, 0},
    {"/cut-body", OK_HEAD "Content-Length: 9\r\n\r\nabc", THEN_CLOSE, 0},
    {"/cut-chunk", OK_HEAD "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", THEN_CLOSE, 0},
    {"/two-lengths", OK_HEAD "Content-Length: 5\r\nContent-Length: 50\r\n\r\nhello", THEN_CLOSE, 0},
    {"/list", OK_HEAD "Content-Length: 5, 50\r\n\r\nhello", THEN_CLOSE, 0},
    {"/minus", OK_HEAD "Content-Length: -5\r\n\r\nhello", THEN_CLOSE, 0},
    {"/codings",
     OK_HEAD "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n",
     THEN_CLOSE, 0},
    {"/bare-cr", OK_HEAD "X-S: a\rSet-Cookie: evil=1\r\nContent-Length: 0\r\n\r\n", THEN_CLOSE, 0},
    {"/bare-lf", "HTTP/1.1 200 OK\nContent-Length: 5\n\nhello", THEN_CLOSE, 0},
    {"/http09", "hello\n", THEN_CLOSE, 0},
    {"/bad-chunk", OK_HEAD "Transfer-Encoding: chunked\r\n\r\nZZ\r\nhello\r\n0\r\n\r\n", THEN_CLOSE,
     0},
    {"/bad-status", "HTTP/1.1 99999 Odd\r\nContent-Length: 0\r\n\r\n", THEN_CLOSE, 0},
    {"/nul", OK_HEAD "X-N: a\0b\r\nContent-Length: 0\r\n\r\n", THEN_CLOSE, 48},
};

#define FIRST_BROKEN 17

struct rig {
    struct origin origin;
    uv_loop_t loop;
    struct engine *engine;
    int results;
    int ends[ENGINE_ENDS];
    struct engine_result last;
    char body[64], sentence[128], header[64];
    sem_t stuck;
};

static void on_result(void *user, const struct engine_result *result)
{
    struct rig *r = user;

    r->results++;
    r->ends[result->end]++;
    r->last = *result;
    snprintf(r->body, sizeof(r->body), "%.*s",
             (int)(result->body_size < 60 ? result->body_size : 60),
             result->body_size ? (const char *)result->body : "");
    snprintf(r->sentence, sizeof(r->sentence), "%s", result->sentence);
    r->header[0] = '\0';
    for (size_t i = 0; i < result->header_count; i++)
        if (strncmp(result->header[i].name, "X-", 2) == 0)
            snprintf(r->header, sizeof(r->header), "%s", result->header[i].value);
}

static struct engine_options options(void)
{
    struct engine_options o;

    fb_engine_options_init(&o);
    o.limit = "adapt=off";
    o.attempts_max = 1;
    return o;
}

static void open_rig(struct rig *r, struct engine_options *o)
{
    struct fly_error err = {""};

    memset(r, 0, sizeof(*r));
    origin_init(&r->origin, pages, COUNT_OF(pages));
    assert_int_equal(uv_loop_init(&r->loop), 0);
    o->user = r;
    if (!o->on_result)
        o->on_result = on_result;
    if (fb_engine_open(&r->loop, o, &r->engine, &err) < 0)
        fail_msg("%s", err.text);
}

static void submit(struct rig *r, const char *path, struct engine_task t)
{
    struct fly_error err = {""};
    char url[128];

    snprintf(url, sizeof(url), "http://127.0.0.1:%d%s", r->origin.port, path);
    t.url = url;
    if (fb_engine_submit(r->engine, &t, NULL, &err) < 0)
        fail_msg("%s: %s", url, err.text);
}

static void get(struct rig *r, const char *path)
{
    submit(r, path, (struct engine_task){0});
    uv_run(&r->loop, UV_RUN_DEFAULT);
}

static void close_rig(struct rig *r)
{
    fb_engine_close(r->engine, NULL, NULL);
    uv_run(&r->loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&r->loop), 0);
    origin_fini(&r->origin);
}

static struct engine_stats stats(const struct rig *r)
{
    struct engine_stats s;

    fb_engine_stats(r->engine, &s);
    return s;
}

/* -------------------------------------------------------------------------------------- answers */

static void a_connection_is_used_again(void **state)
{
    struct engine_options o = options();
    struct rig r;

    (void)state;
    o.concurrency = 1;
    open_rig(&r, &o);
    for (int i = 0; i < 30; i++)
        submit(&r, "/ok", (struct engine_task){.id = "x"});
    uv_run(&r.loop, UV_RUN_DEFAULT);
    assert_int_equal(r.ends[ENGINE_OK], 30);
    assert_int_equal(r.origin.connections, 1);
    assert_int_equal(r.origin.arrivals, 30);
    assert_string_equal(r.body, "ok\n");
    assert_string_equal(r.header, "b");
    assert_int_equal(r.last.status, 200);
    assert_true(r.last.first_byte_ns >= r.last.sent_ns && r.last.ended_ns >= r.last.first_byte_ns);
    close_rig(&r);
}

static void never_more_than_allowed_at_a_time(void **state)
{
    struct engine_options o = options();
    struct rig r;

    (void)state;
    o.concurrency = 5;
    open_rig(&r, &o);
    for (int i = 0; i < 300; i++)
        submit(&r, i % 3 ? "/ok" : "/nolength", (struct engine_task){0});
    uv_run(&r.loop, UV_RUN_DEFAULT);
    assert_int_equal(r.ends[ENGINE_OK], 300);
    assert_int_equal(stats(&r).in_flight_most, 5);
    assert_int_equal(r.origin.arrivals, stats(&r).requests);
    close_rig(&r);
}

static void methods_and_bodies(void **state)
{
    static const struct engine_header own = {"X-Own", "1"}, empty = {"X-Empty", ""};
    const struct engine_header both[] = {own, empty};
    struct engine_options o = options();
    struct rig r;

    (void)state;
    open_rig(&r, &o);
    submit(&r, "/ok",
           (struct engine_task){
               .method = "PUT", .body = "data", .body_size = 4, .header = both, .header_count = 2});
    uv_run(&r.loop, UV_RUN_DEFAULT);
    assert_int_equal(r.ends[ENGINE_OK], 1);
    assert_contains(r.origin.head, "PUT /ok HTTP/1.1\r\n");
    assert_contains(r.origin.head, "X-Own: 1\r\n");
    assert_contains(r.origin.head, "X-Empty:\r\n");
    assert_contains(r.origin.head, "User-Agent: flyball/");
    assert_null(strstr(r.origin.head, "Content-Type"));
    assert_string_equal(r.origin.body, "data");
    submit(&r, "/ok", (struct engine_task){.method = "HEAD"});
    uv_run(&r.loop, UV_RUN_DEFAULT);
    assert_int_equal(r.ends[ENGINE_OK], 2);
    assert_int_equal(r.last.body_size, 0);
    submit(&r, "/ok", (struct engine_task){.method = "DELETE"});
    uv_run(&r.loop, UV_RUN_DEFAULT);
    assert_contains(r.origin.head, "DELETE /ok HTTP/1.1\r\n");
    submit(&r, "/ok", (struct engine_task){.method = "POST"});
    uv_run(&r.loop, UV_RUN_DEFAULT);
    assert_contains(r.origin.head, "POST /ok HTTP/1.1\r\n");
    assert_contains(r.origin.head, "Content-Length: 0\r\n");
    get(&r, "/404");
    assert_int_equal(r.last.status, 404);
    assert_string_equal(r.body, "no");
    assert_contains(r.origin.head, "GET /404 HTTP/1.1\r\n");
    assert_null(strstr(r.origin.head, "Content-Length"));
    close_rig(&r);
}

static void odd_but_legal(void **state)
{
    struct engine_options o = options();
    struct rig r;

    (void)state;
    open_rig(&r, &o);
    get(&r, "/fold");
    assert_string_equal(r.header, "a   b");
    get(&r, "/hints");
    assert_int_equal(r.last.status, 200);
    assert_string_equal(r.header, "b");
    get(&r, "/nolength");
    assert_string_equal(r.body, "until the end");
    get(&r, "/both");
    assert_string_equal(r.body, "hi");
    assert_int_equal(r.ends[ENGINE_OK], 4);
    close_rig(&r);
}

/* Nothing that stands behind an answer is ever taken for the next one. */
static void nothing_is_smuggled(void **state)
{
    struct engine_options o = options();
    struct rig r;

    (void)state;
    o.concurrency = 1;
    open_rig(&r, &o);
    for (int i = 0; i < 10; i++) {
        get(&r, "/two");
        assert_string_equal(r.body, "hi");
        get(&r, "/both");
        assert_string_equal(r.body, "hi");
        get(&r, "/ok");
        assert_string_equal(r.body, "ok\n");
    }
    close_rig(&r);
}

static void broken_answers_are_refused(void **state)
{
    struct engine_options o = options();
    struct rig r;

    (void)state;
    open_rig(&r, &o);
    for (size_t i = FIRST_BROKEN; i < COUNT_OF(pages); i++) {
        get(&r, pages[i].path);
        if (r.last.failure != FAIL_PAYLOAD || r.last.status != 0 || r.last.body_size != 0)
            fail_msg("%s: %s, status %d", pages[i].path, fb_failure_name(r.last.failure),
                     r.last.status);
        assert_true(r.sentence[0] != '\0');
    }
    assert_int_equal(r.ends[ENGINE_FAILED], COUNT_OF(pages) - FIRST_BROKEN);
    close_rig(&r);
}

static void lost_connections(void **state)
{
    struct engine_options o = options();
    struct rig r;

    (void)state;
    open_rig(&r, &o);
    get(&r, "/close");
    assert_int_equal(r.last.failure, FAIL_RESET);
    get(&r, "/reset");
    assert_int_equal(r.last.failure, FAIL_RESET);
    submit(&r, "/reset", (struct engine_task){.method = "POST"});
    uv_run(&r.loop, UV_RUN_DEFAULT);
    assert_int_equal(r.ends[ENGINE_UNKNOWN], 1);
    close_rig(&r);
}

static void nobody_is_there(void **state)
{
    struct engine_options o = options();
    struct engine_task t = {
        .url = "http://"
               "a-label-of-more-than-63-characters-is-no-name-and-nobody-is-asked-for-it.invalid/"};
    struct rig r;
    char url[64];

    (void)state;
    open_rig(&r, &o);
    assert_int_equal(fb_engine_submit(r.engine, &t, NULL, NULL), 0);
    uv_run(&r.loop, UV_RUN_DEFAULT);
    assert_int_equal(r.last.failure, FAIL_DNS);
    assert_false(r.last.was_sent);
    /* A port that was free a moment ago. */
    close_rig(&r);
    snprintf(url, sizeof(url), "http://127.0.0.1:%d/", r.origin.port);
    t.url = url;
    open_rig(&r, &o);
    assert_int_equal(fb_engine_submit(r.engine, &t, NULL, NULL), 0);
    uv_run(&r.loop, UV_RUN_DEFAULT);
    assert_int_equal(r.last.failure, FAIL_REFUSED);
    close_rig(&r);
}

/* ------------------------------------------------------------------------------------ deadlines */

/* The origin waits for the end of its connections: if one stayed open, close_rig() would hang. */
static void deadlines_close_the_socket(void **state)
{
    struct engine_options o = options();
    struct rig r;

    (void)state;
    o.first_byte_ns = o.idle_ns = 200 * MS;
    open_rig(&r, &o);
    get(&r, "/hang");
    assert_int_equal(r.last.failure, FAIL_FIRST_BYTE_TIMEOUT);
    assert_at_least(r.last.ended_ns - r.last.sent_ns, 200 * MS);
    get(&r, "/silent");
    assert_int_equal(r.last.failure, FAIL_IDLE_TIMEOUT);
    while (atomic_load(&r.origin.open) > 0)
        usleep(1000); /* at once, not when the engine ends */
    close_rig(&r);
}

static void too_much_is_cut_off(void **state)
{
    struct engine_options o = options();
    struct rig r;

    (void)state;
    o.body_bytes_max = 2;
    open_rig(&r, &o);
    get(&r, "/ok");
    assert_int_equal(r.last.failure, FAIL_TOO_LARGE);
    get(&r, "/flood"); /* a head without end */
    assert_int_equal(r.last.failure, FAIL_PAYLOAD);
    get(&r, "/wide"); /* a line of it without end, which libcurl calls a lack of memory */
    assert_int_equal(r.last.failure, FAIL_PAYLOAD);
    close_rig(&r);
}

static void closed_in_the_middle(void **state)
{
    struct engine_options o = options();
    struct rig r;

    (void)state;
    o.concurrency = 4;
    open_rig(&r, &o);
    for (int i = 0; i < 20; i++)
        submit(&r, i % 2 ? "/hang" : "/silent", (struct engine_task){0});
    while (atomic_load(&r.origin.arrivals) < 4)
        uv_run(&r.loop, UV_RUN_NOWAIT);
    close_rig(&r);
    assert_int_equal(r.results, 20);
    assert_int_equal(r.ends[ENGINE_CANCELLED], 20);
}

/* ------------------------------------------------------------------------ arrivals are paid for */

static void hidden_resends_are_paid(void **state)
{
    struct engine_options o = options();
    struct rig r;

    (void)state;
    o.concurrency = 1;
    o.limit = "rate=1000/s burst=1000";
    open_rig(&r, &o);
    /* libcurl gives up after five of them in the life of an easy handle. */
    for (int i = 0; i < 4; i++) {
        get(&r, "/stale");
        get(&r, "/ok"); /* on the same connection, which is reset: libcurl sends it again */
    }
    assert_int_equal(r.ends[ENGINE_OK], 8);
    assert_int_equal(r.origin.arrivals, 12);
    assert_int_equal(r.origin.arrivals, stats(&r).requests);
    assert_int_equal(stats(&r).resends_paid, 4);
    close_rig(&r);
}

static void or_refused(void **state)
{
    struct engine_options o = options();
    struct rig r;

    (void)state;
    o.concurrency = 1;
    o.limit = "rate=1/1h burst=2";
    open_rig(&r, &o);
    get(&r, "/stale");
    get(&r, "/ok");
    assert_int_equal(r.ends[ENGINE_OK], 1);
    assert_int_equal(r.last.failure, FAIL_RESET);
    assert_int_equal(r.origin.arrivals, 2);
    assert_int_equal(stats(&r).requests, 2);
    assert_int_equal(stats(&r).resends_refused, 1);
    close_rig(&r);
}

static const struct engine_task post = {.method = "POST", .body = "x", .body_size = 1};

static void what_is_not_idempotent_uses_connections_again(void **state)
{
    struct engine_options o = options();
    struct rig r;

    (void)state;
    o.concurrency = 1;
    open_rig(&r, &o);
    for (int i = 0; i < 30; i++)
        submit(&r, "/ok", post);
    uv_run(&r.loop, UV_RUN_DEFAULT);
    assert_int_equal(r.ends[ENGINE_OK], 30);
    assert_int_equal(r.origin.posts, 30);
    assert_int_equal(r.origin.connections, 1);
    close_rig(&r);
}

/* The connection is lost under it: libcurl would send it again, and is not allowed to. */
static void and_arrives_once(void **state)
{
    struct engine_options o = options();
    struct engine_task again = post;
    struct rig r;

    (void)state;
    o.concurrency = 1;
    open_rig(&r, &o);
    for (int i = 0; i < 4; i++) {
        get(&r, "/stale");
        submit(&r, "/ok", post);
        uv_run(&r.loop, UV_RUN_DEFAULT);
    }
    assert_int_equal(r.ends[ENGINE_OK], 4);
    assert_int_equal(r.ends[ENGINE_UNKNOWN], 4);
    assert_int_equal(r.origin.posts, 4);
    assert_int_equal(stats(&r).resends_refused, 4);
    assert_int_equal(r.origin.arrivals, stats(&r).requests);
    /* Whoever says that it may be sent twice pays twice. */
    again.flags = ENGINE_RETRYABLE;
    get(&r, "/stale");
    submit(&r, "/ok", again);
    uv_run(&r.loop, UV_RUN_DEFAULT);
    assert_int_equal(r.ends[ENGINE_OK], 6);
    assert_int_equal(stats(&r).resends_paid, 1);
    assert_int_equal(r.origin.arrivals, stats(&r).requests);
    close_rig(&r);
}

/* The pace is kept where it counts: never early. */
static void permits_are_never_early(void **state)
{
    struct engine_options o = options();
    struct rig r;
    int64_t begin_ns;

    (void)state;
    o.limit = "rate=100/s burst=1";
    open_rig(&r, &o);
    begin_ns = fb_engine_now(r.engine);
    for (int i = 0; i < 31; i++)
        submit(&r, "/ok", (struct engine_task){0});
    uv_run(&r.loop, UV_RUN_DEFAULT);
    assert_int_equal(r.ends[ENGINE_OK], 31);
    assert_at_least(fb_engine_now(r.engine) - begin_ns, 300 * MS);
    close_rig(&r);
}

/* ------------------------------------------------------------------------------ where it may go */

static void redirects(void **state)
{
    static const struct engine_header secret = {"Authorization", "Bearer 1"};
    struct engine_options o = options();
    struct rig r;

    (void)state;
    open_rig(&r, &o);
    submit(&r, "/hop", (struct engine_task){.header = &secret, .header_count = 1});
    uv_run(&r.loop, UV_RUN_DEFAULT);
    assert_int_equal(r.ends[ENGINE_OK], 1);
    assert_contains(r.origin.head, "GET /ok?2 HTTP/1.1\r\n");
    assert_contains(r.origin.head, "Bearer 1");
    assert_int_equal(r.last.redirects, 1);
    get(&r, "/loop");
    assert_int_equal(r.last.failure, FAIL_REDIRECTS);
    get(&r, "/file");
    assert_int_equal(r.last.failure, FAIL_POLICY);
    assert_int_equal(r.origin.arrivals, stats(&r).requests);
    close_rig(&r);
}

static void private_addresses_can_be_refused(void **state)
{
    struct engine_options o = options();
    struct rig r;

    (void)state;
    o.connect.refuse_private = true;
    open_rig(&r, &o);
    get(&r, "/ok");
    assert_int_equal(r.last.failure, FAIL_POLICY);
    assert_false(r.last.was_sent);
    assert_int_equal(r.origin.connections, 0);
    close_rig(&r);
}

/* ---------------------------------------------------------------------- recycling, the watchdog */

static void recycling_loses_nothing(void **state)
{
    struct engine_options o = options();
    struct rig r;

    (void)state;
    o.concurrency = 3;
    o.recycle_tasks = 20;
    open_rig(&r, &o);
    for (int i = 0; i < 200; i++)
        submit(&r, "/ok", (struct engine_task){0});
    uv_run(&r.loop, UV_RUN_DEFAULT);
    assert_int_equal(r.ends[ENGINE_OK], 200);
    assert_true(stats(&r).recycles >= 9);
    assert_true(r.origin.connections >= 9);
    assert_int_equal(r.origin.arrivals, 200);
    close_rig(&r);
}

static void stand_still(void *user, const struct engine_result *result)
{
    struct rig *r = user;

    on_result(user, result);
    sem_wait(&r->stuck);
}

static void noticed(void *user, int64_t still_ns)
{
    struct rig *r = user;

    assert_at_least(still_ns, 50 * MS);
    sem_post(&r->stuck);
}

static void a_loop_that_stands_still_is_noticed(void **state)
{
    struct engine_options o = options();
    struct rig r;

    (void)state;
    o.on_result = stand_still;
    o.on_stuck = noticed;
    o.stuck_ns = 50 * MS;
    open_rig(&r, &o);
    assert_int_equal(sem_init(&r.stuck, 0, 0), 0);
    get(&r, "/ok");
    assert_int_equal(r.ends[ENGINE_OK], 1);
    close_rig(&r);
    sem_destroy(&r.stuck);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_connection_is_used_again),
        cmocka_unit_test(never_more_than_allowed_at_a_time),
        cmocka_unit_test(methods_and_bodies),
        cmocka_unit_test(odd_but_legal),
        cmocka_unit_test(nothing_is_smuggled),
        cmocka_unit_test(broken_answers_are_refused),
        cmocka_unit_test(lost_connections),
        cmocka_unit_test(nobody_is_there),
        cmocka_unit_test(deadlines_close_the_socket),
        cmocka_unit_test(too_much_is_cut_off),
        cmocka_unit_test(closed_in_the_middle),
        cmocka_unit_test(hidden_resends_are_paid),
        cmocka_unit_test(or_refused),
        cmocka_unit_test(what_is_not_idempotent_uses_connections_again),
        cmocka_unit_test(and_arrives_once),
        cmocka_unit_test(permits_are_never_early),
        cmocka_unit_test(redirects),
        cmocka_unit_test(private_addresses_can_be_refused),
        cmocka_unit_test(recycling_loses_nothing),
        cmocka_unit_test(a_loop_that_stands_still_is_noticed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
