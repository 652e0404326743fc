/* SPDX-License-Identifier: MIT */
/* Engine on virtual time: order, keys, concurrency, patience, room, stopping. */
#include "engine_rig.h"

#include <errno.h>

static void one_task(void **state)
{
    struct engine_options o = rig_options();
    struct rig r;

    (void)state;
    rig_open(&r, &o);
    rig_get(&r, "http://a.example/1");
    assert_true(r.busy);
    assert_int_equal(r.results, 0); /* from a later turn only */
    rig_run(&r);
    assert_int_equal(r.ends[ENGINE_OK], 1);
    assert_int_equal(r.last.status, 200);
    assert_int_equal(r.last.attempts, 1);
    assert_int_equal(r.last.requests, 1);
    assert_int_equal(r.last.ended_ns - r.last.submitted_ns, 100 * MS);
    assert_int_equal(r.last.body_size, 4);
    assert_string_equal(r.last_id, "http://a.example/1");
    assert_string_equal(r.last_sentence, "");
    rig_fini(&r);
}

static void mistakes_are_refused_at_once(void **state)
{
    static const struct engine_header broken = {"X-A", "1\r\nX-B: 2"}, unnamed = {"X A", "1"};
    static const char *const odd[] = {"ftp://a.example/"};
    const struct engine_task bad[] = {
        {.url = NULL},
        {.url = "a.example/1"},
        {.url = "ftp://a.example/"},
        {.url = "http://"},
        {.url = "http:///x"},
        {.url = "http://a b/"},
        {.url = "http://a/\r\nX: 1"},
        {.url = "http://a:99999x/"},
        {.url = "http://a:123456/"},
        {.url = "http://a/", .method = "GET /"},
        {.url = "http://a/", .method = ""},
        {.url = "http://a/", .header = &broken, .header_count = 1},
        {.url = "http://a/", .header = &unnamed, .header_count = 1},
        {.url = "http://a/", .alternative = odd, .alternative_count = 1},
        {.url = "http://a/", .operation = "a-name-that-is-longer-than-names-may-be"},
    };
    struct engine_options o = rig_options();
    struct rig r;

    (void)state;
    rig_open(&r, &o);
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct fly_error err = {""};

        assert_int_equal(fb_engine_submit(r.engine, &bad[i], NULL, &err), -EINVAL);
        assert_true(err.text[0] != '\0');
    }
    rig_run(&r);
    rig_fini(&r);
}

static void wrong_options_are_named(void **state)
{
    struct engine_options o = rig_options();
    struct engine_ports ports = {.now = rig_now};
    struct engine *e = NULL;
    struct fly_error err;
    static const char *const rules[] = {"download/timeout=never", NULL};

    (void)state;
    o.concurrency = 0;
    assert_int_equal(fb_engine_new(&ports, &o, &e, &err), -EINVAL);
    assert_contains(err.text, "concurrency");
    o = rig_options();
    o.reserved = 40;
    assert_int_equal(fb_engine_new(&ports, &o, &e, &err), -EINVAL);
    assert_contains(err.text, "reserved");
    o = rig_options();
    o.limit = "rate=fast";
    assert_int_equal(fb_engine_new(&ports, &o, &e, &err), -EINVAL);
    assert_contains(err.text, "rate");
    o = rig_options();
    o.recovery = rules;
    assert_int_equal(fb_engine_new(&ports, &o, &e, &err), -EINVAL);
    assert_contains(err.text, "never");
}

/* 200 tasks of 4 hosts, at most 7 at a time, 3 of a host. */
static void concurrency_is_never_exceeded(void **state)
{
    struct engine_options o = rig_options();
    struct rig r;
    struct engine_stats s;

    (void)state;
    o.concurrency = 7;
    o.concurrency_provider = 3;
    rig_open(&r, &o);
    for (int i = 0; i < 200; i++) {
        char url[64];

        snprintf(url, sizeof(url), "http://h%d.example/%d", i % 4, i);
        rig_submit(&r, &(struct engine_task){.url = url, .pool = i % 8 < 4 ? "a" : "b"});
    }
    rig_run(&r);
    s = rig_stats(&r);
    assert_int_equal(r.ends[ENGINE_OK], 200);
    assert_int_equal(r.in_flight_most, 7);
    assert_int_equal(s.in_flight_most, 7);
    assert_int_equal(s.keys, 8);
    rig_fini(&r);
}

static void a_provider_has_its_own_bound(void **state)
{
    struct engine_options o = rig_options();
    struct rig r;

    (void)state;
    o.concurrency_provider = 2;
    rig_open(&r, &o);
    for (int i = 0; i < 40; i++)
        rig_submit(&r, &(struct engine_task){
                           .url = "http://a.example/",
                           .pool = i % 2 ? "x" : "y",
                       });
    rig_run(&r);
    assert_int_equal(r.in_flight_most, 2);
    assert_int_equal(r.last.ended_ns - RIG_EPOCH, 20 * 100 * MS); /* and it is used */
    rig_fini(&r);
}

static void a_key_has_its_own_bound(void **state)
{
    struct engine_options o = rig_options();
    struct rig r;

    (void)state;
    o.concurrency_key = 3;
    rig_open(&r, &o);
    for (int i = 0; i < 30; i++)
        rig_get(&r, "http://a.example/");
    rig_run(&r);
    assert_int_equal(r.in_flight_most, 3);
    assert_int_equal(r.last.ended_ns - RIG_EPOCH, 10 * 100 * MS);
    rig_fini(&r);
}

/* One key is as good as stopped; the other does not notice. */
static void keys_do_not_block_each_other(void **state)
{
    struct engine_options o = rig_options();
    struct rig r;

    (void)state;
    o.limit = "rate=1/10s burst=1";
    o.concurrency = 2;
    o.hold_max_ns = 0;
    rig_open(&r, &o);
    for (int i = 0; i < 10; i++)
        rig_submit(&r, &(struct engine_task){
                           .url = "http://slow.example/", .id = "slow", .priority = PRIORITY_HIGH});
    for (int i = 0; i < 10; i++) {
        char url[64];

        snprintf(url, sizeof(url), "http://other%d.example/", i);
        rig_submit(&r, &(struct engine_task){.url = url, .priority = PRIORITY_BACKGROUND});
    }
    rig_run_until(&r, RIG_EPOCH + 5 * S);
    assert_int_equal(r.ends[ENGINE_OK], 11);
    rig_run(&r);
    assert_int_equal(r.ends[ENGINE_OK], 20);
    assert_at_least(r.now_ns - RIG_EPOCH, 90 * S);
    assert_string_equal(r.last_cause, "bucket");
    rig_fini(&r);
}

/* The pace of the limiter is kept and used. */
static void the_rate_is_kept(void **state)
{
    struct engine_options o = rig_options();
    struct rig r;

    (void)state;
    o.limit = "rate=10/s burst=10";
    rig_open(&r, &o);
    for (int i = 0; i < 1010; i++)
        rig_get(&r, "http://a.example/");
    rig_run(&r);
    assert_int_equal(r.ends[ENGINE_OK], 1010);
    assert_int_equal(r.last.ended_ns - RIG_EPOCH, 100 * S + 100 * MS);
    assert_int_equal(r.last.waited_ns, 100 * S);
    rig_fini(&r);
}

static void a_cost_counts(void **state)
{
    struct engine_options o = rig_options();
    struct rig r;

    (void)state;
    o.limit = "window=10/1m margin=0%";
    rig_open(&r, &o);
    rig_submit(&r, &(struct engine_task){.url = "http://a.example/", .cost = 10});
    rig_submit(&r, &(struct engine_task){.url = "http://a.example/", .cost = 10});
    rig_submit(&r, &(struct engine_task){.url = "http://a.example/", .cost = 11});
    rig_run(&r);
    assert_int_equal(r.ends[ENGINE_OK], 2);
    assert_int_equal(r.ends[ENGINE_FAILED], 1);
    assert_at_least(r.now_ns - RIG_EPOCH, 60 * S);
    rig_fini(&r);
}

/* ------------------------------------------------------------------------------------- patience */

static void refused_at_once_with_the_true_time(void **state)
{
    struct engine_options o = rig_options();
    struct rig r;

    (void)state;
    o.limit = "rate=1/10s burst=1";
    rig_open(&r, &o);
    rig_get(&r, "http://a.example/");
    rig_run_until(&r, RIG_EPOCH + S);
    rig_submit(&r, &(struct engine_task){.url = "http://a.example/", .patience_ns = 5 * S});
    rig_run_until(&r, RIG_EPOCH + S);
    assert_int_equal(r.ends[ENGINE_DEFERRED], 1);
    assert_int_equal(r.last.failure, FAIL_LATE);
    assert_int_equal(r.last.ready_at_ns, RIG_EPOCH + 10 * S);
    /* With enough of it, it is served at that time. */
    rig_submit(&r, &(struct engine_task){.url = "http://a.example/", .patience_ns = 9 * S});
    /* Behind it there is no room for the same patience. */
    rig_submit(&r, &(struct engine_task){.url = "http://a.example/", .patience_ns = 9 * S});
    rig_run_until(&r, RIG_EPOCH + S);
    assert_int_equal(r.ends[ENGINE_DEFERRED], 2);
    assert_int_equal(r.last.ready_at_ns, RIG_EPOCH + 20 * S);
    rig_run(&r);
    assert_int_equal(r.ends[ENGINE_OK], 2);
    rig_fini(&r);
}

static void patience_ends_while_it_waits_for_a_slot(void **state)
{
    struct engine_options o = rig_options();
    struct rig r;

    (void)state;
    o.concurrency = 1;
    rig_open(&r, &o);
    rig_get(&r, "http://a.example/");
    rig_submit(&r, &(struct engine_task){.url = "http://a.example/", .patience_ns = 50 * MS});
    rig_run(&r);
    assert_int_equal(r.ends[ENGINE_DEFERRED], 1);
    assert_int_equal(r.ends[ENGINE_OK], 1);
    rig_fini(&r);
}

static void not_before_its_time(void **state)
{
    struct engine_options o = rig_options();
    struct rig r;

    (void)state;
    rig_open(&r, &o);
    rig_submit(
        &r, &(struct engine_task){.url = "http://a.example/", .not_before_ns = RIG_EPOCH + 60 * S});
    rig_run_until(&r, RIG_EPOCH + 60 * S - 1);
    assert_int_equal(r.sends, 0);
    rig_run(&r);
    assert_int_equal(r.last.sent_ns, RIG_EPOCH + 60 * S);
    assert_int_equal(r.last.waited_ns, 0);
    rig_fini(&r);
}

/* ----------------------------------------------------------------------------- priorities, room */

static void remember_order(struct rig *r, const struct engine_result *result)
{
    char *order = r->more;

    strncat(order, result->id, 2);
}

static void the_higher_priority_first(void **state)
{
    struct engine_options o = rig_options();
    struct rig r;
    char order[32] = "";
    static const struct {
        const char *id;
        enum priority p;
    } task[] = {
        {"b", PRIORITY_BACKGROUND}, {"n", PRIORITY_UNSET}, {"i", PRIORITY_IMMINENT},
        {"l", PRIORITY_LIVE},       {"h", PRIORITY_HIGH},  {"N", PRIORITY_NORMAL},
    };

    (void)state;
    o.concurrency = 1;
    rig_open(&r, &o);
    r.more = order;
    r.on_result = remember_order;
    for (size_t i = 0; i < COUNT_OF(task); i++)
        rig_submit(&r, &(struct engine_task){
                           .url = "http://a.example/", .id = task[i].id, .priority = task[i].p});
    rig_run(&r);
    assert_string_equal(order, "hlinNb");
    rig_fini(&r);
}

static void bulk_work_leaves_the_reserved_share(void **state)
{
    struct engine_options o = rig_options();
    struct rig r;

    (void)state;
    o.concurrency = 4;
    o.reserved = 2;
    rig_open(&r, &o);
    rig_submit(&r, &(struct engine_task){.url = "http://live.example/", .priority = PRIORITY_LIVE});
    rig_run(&r);
    for (int i = 0; i < 8; i++)
        rig_get(&r, "http://bulk.example/");
    rig_run_until(&r, r.now_ns);
    assert_int_equal(r.in_flight, 2);
    rig_submit(&r, &(struct engine_task){.url = "http://live.example/", .priority = PRIORITY_LIVE});
    rig_run_until(&r, r.now_ns);
    assert_int_equal(r.in_flight, 3);
    rig_run(&r);
    /* When nobody needs it any more, it opens. */
    rig_run_until(&r, r.now_ns + 11 * S);
    for (int i = 0; i < 8; i++)
        rig_get(&r, "http://bulk.example/");
    rig_run_until(&r, r.now_ns);
    assert_int_equal(r.in_flight, 4);
    rig_run(&r);
    rig_fini(&r);
}

static void offered(void *user)
{
    struct rig *r = user;

    r->more = r;
}

static void a_full_queue_takes_only_what_is_higher(void **state)
{
    struct engine_options o = rig_options();
    struct engine_task low = {.url = "http://a.example/", .id = "low"};
    struct engine_task high = {.url = "http://a.example/", .priority = PRIORITY_LIVE};
    struct rig r;

    (void)state;
    o.queue_max = 4;
    o.concurrency = 1;
    o.on_room = offered;
    rig_open(&r, &o);
    for (int i = 0; i < 4; i++)
        rig_submit(&r, &low);
    assert_int_equal(fb_engine_submit(r.engine, &low, NULL, NULL), -ENOBUFS);
    assert_int_equal(rig_stats(&r).refused, 1);
    rig_submit(&r, &high);
    rig_run_until(&r, r.now_ns);
    assert_int_equal(r.ends[ENGINE_DEFERRED], 1);
    assert_int_equal(r.last.failure, FAIL_NO_ROOM);
    assert_string_equal(r.last_id, "low");
    assert_int_equal(rig_stats(&r).evicted, 1);
    assert_null(r.more);
    rig_run(&r);
    assert_non_null(r.more);
    assert_int_equal(r.ends[ENGINE_OK], 4);
    rig_fini(&r);
}

static void what_comes_too_late_pushes_nothing_out(void **state)
{
    struct engine_options o = rig_options();
    struct engine_task low = {.url = "http://a.example/", .id = "low"};
    struct engine_task high = {.url = "http://a.example/", .priority = PRIORITY_LIVE};
    struct rig r;
    int64_t late_ns;

    (void)state;
    o.queue_max = 1;
    rig_open(&r, &o);
    rig_submit(&r, &low);
    late_ns = r.now_ns;
    high.late_ns = &late_ns;
    high.not_before_ns = r.now_ns + S;
    assert_int_equal(fb_engine_submit(r.engine, &high, NULL, NULL), -EAGAIN);
    assert_true(late_ns >= high.not_before_ns);
    assert_int_equal(rig_stats(&r).evicted, 0);
    /* Nor is there a mistake for which another would have to go. */
    high.url = "no URL";
    assert_int_equal(fb_engine_submit(r.engine, &high, NULL, NULL), -EINVAL);
    assert_int_equal(rig_stats(&r).evicted, 0);
    rig_run(&r);
    assert_int_equal(r.ends[ENGINE_OK], 1);
    rig_fini(&r);
}

static void or_drops_it(void **state)
{
    struct engine_options o = rig_options();
    struct rig r;

    (void)state;
    o.queue_max = 1;
    o.when_full = ENGINE_FULL_DROP;
    rig_open(&r, &o);
    rig_get(&r, "http://a.example/");
    rig_submit(&r, &(struct engine_task){.url = "http://a.example/", .priority = PRIORITY_HIGH});
    rig_run(&r);
    assert_int_equal(r.ends[ENGINE_FAILED], 1);
    assert_int_equal(r.ends[ENGINE_OK], 1);
    rig_fini(&r);
}

static void a_hundred_thousand_tasks(void **state)
{
    struct engine_options o = rig_options();
    struct rig r;

    (void)state;
    rig_open(&r, &o);
    for (int i = 0; i < 100000; i++) {
        char url[64];

        snprintf(url, sizeof(url), "http://h%d.example/%d", i % 100, i);
        rig_get(&r, url);
    }
    assert_int_equal(rig_stats(&r).queued, 100000);
    rig_run(&r);
    assert_int_equal(r.ends[ENGINE_OK], 100000);
    assert_int_equal(r.in_flight_most, 40);
    assert_int_equal(r.recycles, 10);
    rig_fini(&r);
}

/* ---------------------------------------------------------------------------- stopping, offline */

static struct plan never_answers(struct rig *r, const struct attempt_request *q)
{
    (void)r;
    (void)q;
    return (struct plan){.connect_ns = MS, .answer_ns = FB_NEVER};
}

static void stop_gives_what_is_under_way_its_time(void **state)
{
    struct engine_options o = rig_options();
    struct rig r;

    (void)state;
    o.concurrency = 2;
    rig_open(&r, &o);
    for (int i = 0; i < 10; i++)
        rig_get(&r, "http://a.example/");
    rig_run_until(&r, r.now_ns + 50 * MS);
    fb_engine_stop(r.engine, r.now_ns + S);
    assert_int_equal(
        fb_engine_submit(r.engine, &(struct engine_task){.url = "http://a/"}, NULL, NULL),
        -ESHUTDOWN);
    rig_run_until(&r, r.now_ns);
    assert_int_equal(r.ends[ENGINE_CANCELLED], 8);
    rig_run(&r);
    assert_int_equal(r.ends[ENGINE_OK], 2);
    rig_fini(&r);
}

static void stop_cuts_off_what_takes_longer(void **state)
{
    struct engine_options o = rig_options();
    struct rig r;

    (void)state;
    rig_open(&r, &o);
    r.plan = never_answers;
    rig_get(&r, "http://a.example/");
    rig_submit(&r, &(struct engine_task){.url = "http://a.example/", .method = "POST"});
    rig_run_until(&r, r.now_ns + S);
    fb_engine_stop(r.engine, r.now_ns + S);
    rig_run(&r);
    assert_int_equal(r.last.ended_ns - RIG_EPOCH, 2 * S);
    assert_int_equal(r.ends[ENGINE_CANCELLED], 1);
    assert_int_equal(r.ends[ENGINE_UNKNOWN], 1); /* it may have worked */
    assert_int_equal(r.aborts, 2);
    rig_fini(&r);
}

static void one_task_is_cancelled(void **state)
{
    struct engine_options o = rig_options();
    struct rig r;
    struct job *flying, *queued;

    (void)state;
    o.concurrency = 1;
    rig_open(&r, &o);
    r.plan = never_answers;
    flying = rig_get(&r, "http://a.example/");
    queued = rig_get(&r, "http://a.example/");
    rig_run_until(&r, r.now_ns + S);
    fb_engine_cancel(r.engine, queued);
    fb_engine_cancel(r.engine, flying);
    rig_run(&r);
    assert_int_equal(r.ends[ENGINE_CANCELLED], 2);
    assert_int_equal(r.aborts, 1);
    assert_int_equal(rig_stats(&r).timeouts, 0);
    rig_fini(&r);
}

static void a_pause_lets_nothing_leave(void **state)
{
    struct engine_options o = rig_options();
    struct rig r;

    (void)state;
    rig_open(&r, &o);
    fb_engine_pause(r.engine);
    rig_get(&r, "http://a.example/");
    rig_run_until(&r, r.now_ns + 60 * S);
    assert_int_equal(r.sends, 0);
    fb_engine_resume(r.engine);
    rig_run(&r);
    assert_int_equal(r.ends[ENGINE_OK], 1);
    rig_fini(&r);
}

static void offline_sends_nothing(void **state)
{
    struct engine_options o = rig_options();
    struct rig r;

    (void)state;
    o.mode = MODE_OFFLINE;
    rig_open(&r, &o);
    rig_get(&r, "http://a.example/");
    rig_run(&r);
    assert_int_equal(r.sends, 0);
    assert_int_equal(r.last.failure, FAIL_OFFLINE);
    rig_fini(&r);
}

static void closing_ends_everything(void **state)
{
    struct engine_options o = rig_options();
    struct rig r;

    (void)state;
    o.concurrency = 3;
    rig_open(&r, &o);
    r.plan = never_answers;
    for (int i = 0; i < 10; i++)
        rig_get(&r, "http://a.example/");
    rig_run_until(&r, r.now_ns + S);
    fb_engine_close(r.engine, NULL, NULL);
    assert_int_equal(r.results, 10);
    assert_int_equal(r.ends[ENGINE_CANCELLED], 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_task),
        cmocka_unit_test(mistakes_are_refused_at_once),
        cmocka_unit_test(wrong_options_are_named),
        cmocka_unit_test(concurrency_is_never_exceeded),
        cmocka_unit_test(a_provider_has_its_own_bound),
        cmocka_unit_test(a_key_has_its_own_bound),
        cmocka_unit_test(keys_do_not_block_each_other),
        cmocka_unit_test(the_rate_is_kept),
        cmocka_unit_test(a_cost_counts),
        cmocka_unit_test(refused_at_once_with_the_true_time),
        cmocka_unit_test(patience_ends_while_it_waits_for_a_slot),
        cmocka_unit_test(not_before_its_time),
        cmocka_unit_test(the_higher_priority_first),
        cmocka_unit_test(bulk_work_leaves_the_reserved_share),
        cmocka_unit_test(a_full_queue_takes_only_what_is_higher),
        cmocka_unit_test(what_comes_too_late_pushes_nothing_out),
        cmocka_unit_test(or_drops_it),
        cmocka_unit_test(a_hundred_thousand_tasks),
        cmocka_unit_test(stop_gives_what_is_under_way_its_time),
        cmocka_unit_test(stop_cuts_off_what_takes_longer),
        cmocka_unit_test(one_task_is_cancelled),
        cmocka_unit_test(a_pause_lets_nothing_leave),
        cmocka_unit_test(offline_sends_nothing),
        cmocka_unit_test(closing_ends_everything),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
