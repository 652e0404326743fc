/* SPDX-License-Identifier: MIT */
/* Engine on virtual time: ageing, pauses of a failing host, recycling by time, trials after 429. */
#include "engine_rig.h"

#include <errno.h>

/* -------------------------------------------------------------------------------------- ageing */

/* How many live ones left before the background one did. */
struct order {
    int64_t live_before;
    bool is_over;
};

static struct plan note_order(struct rig *r, const struct attempt_request *q)
{
    struct order *o = r->more;

    if (strstr(q->url, "/background"))
        o->is_over = true;
    else if (!o->is_over)
        o->live_before++;
    return (struct plan){.answer_ns = 10 * MS};
}

static int64_t passed_over(int32_t ageing)
{
    struct engine_options o = rig_options();
    struct order order = {0};
    struct rig r;

    o.concurrency = 1;
    o.ageing = ageing;
    rig_open(&r, &o);
    r.more = &order;
    r.plan = note_order;
    rig_submit(&r, &(struct engine_task){.url = "http://a.example/background",
                                         .priority = PRIORITY_BACKGROUND});
    for (int i = 0; i < 200; i++)
        rig_submit(
            &r, &(struct engine_task){.url = "http://b.example/live", .priority = PRIORITY_LIVE});
    rig_run(&r);
    assert_int_equal(r.ends[ENGINE_OK], 201);
    rig_fini(&r);
    return order.live_before;
}

static void nothing_starves_unless_asked_to(void **state)
{
    (void)state;
    assert_int_equal(passed_over(16), 16);
    assert_int_equal(passed_over(50), 50);
    assert_int_equal(passed_over(0), 200); /* priorities are absolute */
}

/* -------------------------------------------------------------------------- a host that fails */

struct sends {
    int64_t bad, good;
    int64_t bad_ns[64];
    bool is_mended;
};

static struct plan one_fails(struct rig *r, const struct attempt_request *q)
{
    struct sends *s = r->more;

    if (strstr(q->url, "good.")) {
        s->good++;
        return (struct plan){.answer_ns = 10 * MS};
    }
    if (s->bad < 64)
        s->bad_ns[s->bad] = r->now_ns;
    s->bad++;
    return (struct plan){.answer_ns = 10 * MS, .status = s->is_mended ? 200 : 500};
}

static void a_failing_host_pauses_and_others_go_on(void **state)
{
    static const char *const once[] = {"download/5xx=escalate", NULL};
    struct engine_options o = rig_options();
    struct sends s = {0};
    struct rig r;

    (void)state;
    o.recovery = once;
    o.breaker_failures = 0; /* so that only the pause can do it */
    o.pause_failures = 10;
    o.pause_ns = 300 * S;
    o.concurrency_key = 1;
    rig_open(&r, &o);
    r.more = &s;
    r.plan = one_fails;
    for (int i = 0; i < 30; i++)
        rig_get(&r, "http://bad.example/");
    rig_run_until(&r, r.now_ns + 100 * S);
    assert_int_equal(s.bad, 10);
    for (int i = 0; i < 50; i++)
        rig_get(&r, "http://good.example/");
    rig_run_until(&r, r.now_ns + 100 * S);
    assert_int_equal(s.good, 50);
    assert_int_equal(s.bad, 10);
    s.is_mended = true;
    rig_run(&r); /* it goes on by itself */
    assert_int_equal(s.bad, 30);
    assert_true(s.bad_ns[10] - s.bad_ns[9] >= 300 * S);
    assert_int_equal(r.ends[ENGINE_OK], 50 + 20);
    rig_fini(&r);
}

/* ------------------------------------------------------------------------------ refusals count */

static struct plan refuses(struct rig *r, const struct attempt_request *q)
{
    (void)r;
    (void)q;
    return (struct plan){.answer_ns = 10 * MS, .status = 429, .header = {{"Retry-After", "1"}}};
}

/* Whether the key's breaker has opened after so many refusals. */
static void see_broken(void *arg, const struct engine_key_state *s)
{
    *(bool *)arg |= s->is_broken;
}

static bool breaks(bool counts_429)
{
    struct engine_options o = rig_options();
    bool is_broken = false;
    struct rig r;

    o.breaker_counts_429 = counts_429;
    rig_open(&r, &o);
    r.plan = refuses;
    rig_get(&r, "http://a.example/");
    rig_run_until(&r, r.now_ns + 30 * S);
    fb_engine_keys(r.engine, see_broken, &is_broken);
    fb_engine_stop(r.engine, r.now_ns);
    rig_run(&r);
    rig_fini(&r);
    return is_broken;
}

static void refusals_break_nothing_unless_said(void **state)
{
    (void)state;
    assert_false(breaks(false));
    assert_true(breaks(true));
}

/* ----------------------------------------------------------------------------------- recycling */

static void connections_begin_anew_after_a_time(void **state)
{
    struct engine_options o = rig_options();
    struct rig r;

    (void)state;
    o.recycle_ns = 3600 * S;
    rig_open(&r, &o);
    for (int hour = 0; hour < 10; hour++) {
        rig_get(&r, "http://a.example/");
        rig_run_until(&r, r.now_ns + 1801 * S);
        rig_get(&r, "http://a.example/");
        rig_run_until(&r, r.now_ns + 1801 * S);
    }
    assert_in_range(r.recycles, 8, 10);
    assert_int_equal(r.ends[ENGINE_OK], 20);
    rig_run(&r);
    rig_fini(&r);
}

/* What libcurl keeps of every host it has been to would be looked at for each request. */
static void many_hosts_are_not_remembered(void **state)
{
    struct engine_options o = rig_options();
    struct rig r;

    (void)state;
    o.concurrency = 10;
    for (int reuses = 0; reuses <= 1; reuses++) {
        rig_open(&r, &o);
        r.always_connects = reuses == 0;
        for (int i = 0; i < 5300; i++)
            rig_get(&r, "http://a.example/");
        rig_run(&r);
        assert_int_equal(r.ends[ENGINE_OK], 5300);
        assert_int_equal(r.recycles, reuses ? 0 : 5);
        rig_fini(&r);
    }
}

static struct plan slow(struct rig *r, const struct attempt_request *q)
{
    (void)r;
    (void)q;
    return (struct plan){.answer_ns = 5 * S};
}

static void nothing_is_lost_by_it(void **state)
{
    struct engine_options o = rig_options();
    struct rig r;

    (void)state;
    o.concurrency = 4;
    rig_open(&r, &o);
    r.plan = slow;
    for (int i = 0; i < 40; i++)
        rig_get(&r, "http://a.example/");
    for (int i = 0; i < 20; i++) {
        rig_run_until(&r, r.now_ns + S);
        fb_engine_recycle(r.engine); /* in the middle of everything */
    }
    rig_run(&r);
    assert_int_equal(r.ends[ENGINE_OK], 40);
    assert_int_equal(r.sends, 40);
    assert_int_equal(r.recycles, 20);
    rig_fini(&r);
}

/* ---------------------------------------------------------------------------- pause and resume */

static void while_paused_what_is_under_way_ends(void **state)
{
    struct engine_options o = rig_options();
    struct rig r;

    (void)state;
    o.concurrency = 2;
    rig_open(&r, &o);
    r.plan = slow;
    for (int i = 0; i < 6; i++)
        rig_get(&r, "http://a.example/");
    rig_run_until(&r, r.now_ns + S);
    fb_engine_pause(r.engine);
    rig_submit(&r, &(struct engine_task){.url = "http://a.example/", .patience_ns = 30 * S});
    rig_run_until(&r, r.now_ns + 60 * S);
    assert_int_equal(r.ends[ENGINE_OK], 2);
    assert_int_equal(r.ends[ENGINE_DEFERRED], 1); /* patience goes on */
    fb_engine_resume(r.engine);
    rig_run(&r);
    assert_int_equal(r.ends[ENGINE_OK], 6);
    rig_fini(&r);
}

/* ------------------------------------------------------------------------------- what is broken */

static struct plan refused_for_a_while(struct rig *r, const struct attempt_request *q)
{
    (void)q;
    if (r->now_ns < RIG_EPOCH + *(int64_t *)r->more)
        return (struct plan){.failure = FAIL_REFUSED};
    return (struct plan){.answer_ns = MS};
}

/* With a breaker that stays open for long, in a pause that is longer still. */
static void a_recycle_tries_what_is_broken_once(void **state)
{
    struct engine_options o = rig_options();
    int64_t down_ns = 30 * S;
    struct rig r;

    (void)state;
    o.attempts_max = 100;
    o.breaker_ns = 600 * S;
    o.pause_failures = 5;
    o.pause_ns = 800 * S;
    rig_open(&r, &o);
    r.plan = refused_for_a_while;
    r.more = &down_ns;
    for (int i = 0; i < 20; i++)
        rig_get(&r, "http://a.example/");
    rig_run_until(&r, RIG_EPOCH + 20 * S);
    int64_t sends = r.sends;
    fb_engine_recycle(r.engine);
    fb_engine_recycle(r.engine);
    rig_run_until(&r, RIG_EPOCH + 25 * S);
    assert_int_equal(r.sends, sends + 1); /* it is down still */
    rig_run_until(&r, RIG_EPOCH + 40 * S);
    assert_int_equal(r.sends, sends + 1);
    fb_engine_recycle(r.engine);
    rig_run_until(&r, RIG_EPOCH + 60 * S);
    assert_int_equal(r.ends[ENGINE_OK], 20);
    rig_fini(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_starves_unless_asked_to),
        cmocka_unit_test(a_failing_host_pauses_and_others_go_on),
        cmocka_unit_test(refusals_break_nothing_unless_said),
        cmocka_unit_test(connections_begin_anew_after_a_time),
        cmocka_unit_test(many_hosts_are_not_remembered),
        cmocka_unit_test(nothing_is_lost_by_it),
        cmocka_unit_test(while_paused_what_is_under_way_ends),
        cmocka_unit_test(a_recycle_tries_what_is_broken_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
