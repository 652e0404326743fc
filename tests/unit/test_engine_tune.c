/* SPDX-License-Identifier: MIT */
/* Engine on virtual time: several who share it, and what may change while it runs. */
#include "engine_rig.h"

#include <errno.h>

#include <flyball/flyball.h>

#include "engine/control.h"

/* ------------------------------------------------------------------------------------- clients */

/* One of several, and what it was told. */
struct guest {
    struct engine_client *client;
    struct rig *rig;
    int64_t results, ends[ENGINE_ENDS], rooms, starts;
    int verdict;
};

static void guest_result(void *user, const struct engine_result *r)
{
    struct guest *g = user;

    assert_ptr_equal(r->user, g);
    g->results++;
    g->ends[r->end]++;
    g->rig->results++; /* rig_fini() counts them all */
}

static void guest_start(void *user, struct job *j, void *task_user, int32_t attempt)
{
    struct guest *g = user;

    assert_ptr_equal(task_user, g);
    assert_int_equal(attempt, 1);
    g->starts++;
    fb_engine_go(g->rig->engine, j, g->verdict);
}

static void guest_room(void *user)
{
    ((struct guest *)user)->rooms++;
}

static void guest_init(struct guest *g, struct rig *r)
{
    struct engine_caller c = {g, guest_result, guest_start, guest_room};

    *g = (struct guest){.rig = r};
    assert_int_equal(fb_engine_client_new(r->engine, &c, &g->client), 0);
}

static int guest_get(struct guest *g, const char *url, const char *method)
{
    const struct engine_task t = {
        .url = url, .method = method, .user = g, .client = g->client, .id = "x"};

    return fb_engine_submit(g->rig->engine, &t, NULL, NULL);
}

static void each_is_told_of_its_own(void **state)
{
    struct engine_options o = rig_options();
    struct guest a, b;
    struct rig r;

    (void)state;
    rig_open(&r, &o);
    guest_init(&a, &r);
    guest_init(&b, &r);
    for (int i = 0; i < 10; i++) {
        assert_int_equal(guest_get(&a, "http://a.example/", NULL), 0);
        assert_int_equal(guest_get(&b, "http://a.example/", i < 3 ? "POST" : NULL), 0);
    }
    rig_get(&r, "http://a.example/");
    assert_int_equal(fb_engine_client_tasks(a.client), 10);
    rig_run(&r);
    assert_int_equal(a.ends[ENGINE_OK], 10);
    assert_int_equal(b.ends[ENGINE_OK], 10);
    assert_int_equal(a.starts, 0);
    assert_int_equal(b.starts, 3);
    assert_int_equal(r.results, 21);
    assert_int_equal(fb_engine_client_tasks(b.client), 0);
    fb_engine_client_free(a.client);
    rig_fini(&r); /* and the other one with it */
}

static void several_keys_are_its_own(void **state)
{
    struct engine_options o = rig_options();
    struct guest a, b;
    struct rig r;

    (void)state;
    rig_open(&r, &o);
    guest_init(&a, &r);
    guest_init(&b, &r);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(guest_get(&a, "http://a.example/", NULL), 0);
        assert_int_equal(guest_get(&b, i ? "http://a.example/" : "http://b.example/", NULL), 0);
    }
    assert_false(fb_engine_client_stats(a.client).has_keys);
    assert_true(fb_engine_client_stats(b.client).has_keys);
    rig_run(&r);
    rig_fini(&r);
}

static void one_is_stopped_and_the_other_goes_on(void **state)
{
    struct engine_options o = rig_options();
    struct guest a, b;
    struct rig r;

    (void)state;
    o.concurrency = 4;
    rig_open(&r, &o);
    guest_init(&a, &r);
    guest_init(&b, &r);
    for (int i = 0; i < 8; i++)
        assert_int_equal(guest_get(i % 2 ? &a : &b, "http://a.example/", NULL), 0);
    rig_run_until(&r, r.now_ns + 10 * MS); /* two of each are under way */
    fb_engine_client_stop(a.client, r.now_ns + 500 * MS);
    assert_int_equal(guest_get(&a, "http://a.example/", NULL), -ESHUTDOWN);
    rig_run(&r);
    assert_int_equal(a.ends[ENGINE_OK], 2);
    assert_int_equal(a.ends[ENGINE_CANCELLED], 2);
    assert_int_equal(b.ends[ENGINE_OK], 4);
    rig_fini(&r);
}

static struct plan hangs(struct rig *r, const struct attempt_request *q)
{
    (void)r;
    return (struct plan){.answer_ns = strstr(q->url, "slow") ? FB_NEVER : 2 * S};
}

static void its_deadline_cuts_off_its_own_only(void **state)
{
    struct engine_options o = rig_options();
    struct guest a, b;
    struct rig r;
    int64_t began_ns;

    (void)state;
    rig_open(&r, &o);
    r.plan = hangs;
    guest_init(&a, &r);
    guest_init(&b, &r);
    began_ns = r.now_ns;
    assert_int_equal(guest_get(&a, "http://a.example/slow", NULL), 0);
    assert_int_equal(guest_get(&b, "http://a.example/", NULL), 0);
    assert_int_equal(guest_get(&a, "http://a.example/slow", "POST"), 0);
    rig_run_until(&r, began_ns + 10 * MS);
    fb_engine_client_stop(a.client, began_ns + S);
    rig_run_until(&r, began_ns + S);
    assert_int_equal(a.ends[ENGINE_CANCELLED], 1);
    assert_int_equal(a.ends[ENGINE_UNKNOWN], 1); /* it may have worked */
    assert_int_equal(r.aborts, 2);
    rig_run(&r);
    assert_int_equal(b.ends[ENGINE_OK], 1);
    rig_fini(&r);
}

static struct plan fails(struct rig *r, const struct attempt_request *q)
{
    (void)r;
    (void)q;
    return (struct plan){.answer_ns = 100 * MS, .status = 500};
}

static void what_is_stopped_is_not_tried_again(void **state)
{
    struct engine_options o = rig_options();
    struct guest a;
    struct rig r;

    (void)state;
    rig_open(&r, &o);
    r.plan = fails;
    guest_init(&a, &r);
    assert_int_equal(guest_get(&a, "http://a.example/", NULL), 0);
    rig_run_until(&r, r.now_ns + 10 * MS);
    fb_engine_client_stop(a.client, r.now_ns + 60 * S);
    rig_run(&r);
    assert_int_equal(r.sends, 1);
    assert_int_equal(a.ends[ENGINE_CANCELLED], 1);
    rig_fini(&r);
}

static void all_who_wanted_room_are_told(void **state)
{
    struct engine_options o = rig_options();
    struct guest a, b;
    struct rig r;

    (void)state;
    o.queue_max = 4;
    o.concurrency = 1;
    rig_open(&r, &o);
    guest_init(&a, &r);
    guest_init(&b, &r);
    for (int i = 0; i < 4; i++)
        assert_int_equal(guest_get(&a, "http://a.example/", NULL), 0);
    assert_int_equal(guest_get(&a, "http://a.example/", NULL), -ENOBUFS);
    assert_int_equal(guest_get(&b, "http://a.example/", NULL), -ENOBUFS);
    rig_run(&r);
    assert_int_equal(a.rooms, 1);
    assert_int_equal(b.rooms, 1);
    rig_fini(&r);
}

/* -------------------------------------------------------------------------------------- limits */

static void a_limit_changes_in_place(void **state)
{
    struct engine_options o = rig_options();
    struct fly_error err = {""};
    struct rig r;
    int64_t began_ns;

    (void)state;
    o.limit = "rate=1/s burst=1";
    rig_open(&r, &o);
    began_ns = r.now_ns;
    for (int i = 0; i < 22; i++)
        rig_submit(&r, &(struct engine_task){.url = "http://a.example/", .pool = "core"});
    rig_submit(&r, &(struct engine_task){.url = "http://b.example/", .pool = "core"});
    rig_run_until(&r, began_ns + 500 * MS);
    assert_int_equal(r.sends, 2);
    assert_int_equal(fb_engine_limit(r.engine, "a.example", "other", "rate=9/s", &err), 0);
    assert_int_equal(fb_engine_limit(r.engine, "a.example", "core", "rate=x", &err), -EINVAL);
    assert_contains(err.text, "rate");
    assert_int_equal(fb_engine_limit(r.engine, "a.example", "core", "rate=10/s burst=1", &err), 1);
    rig_run(&r);
    assert_int_equal(r.ends[ENGINE_OK], 23);
    /* The bucket is not filled by the change: 21 more at ten a second. */
    assert_in_range(r.last.ended_ns - began_ns, 2 * S, 3500 * MS);
    rig_fini(&r);
}

static struct plan refuses_first(struct rig *r, const struct attempt_request *q)
{
    struct plan p = {.answer_ns = 10 * MS};

    (void)q;
    if (r->sends == 1) {
        p.status = 429;
        p.header[0] = (struct engine_header){"Retry-After", "3000"};
    }
    return p;
}

static void what_was_held_is_forgotten_on_demand(void **state)
{
    struct engine_options o = rig_options();
    struct fly_error err = {""};
    struct rig r;
    int64_t began_ns;

    (void)state;
    rig_open(&r, &o);
    r.plan = refuses_first;
    began_ns = r.now_ns;
    rig_get(&r, "http://a.example/");
    rig_run_until(&r, began_ns + S);
    assert_int_equal(fb_engine_limit(r.engine, "a.example", NULL, "adapt=off", &err), 1);
    rig_run_until(&r, began_ns + 2 * S);
    assert_int_equal(r.sends, 1); /* other limits do not end a hold */
    assert_int_equal(fb_engine_relearn(r.engine, "a.example", NULL, "adapt=off", &err), 1);
    rig_run(&r);
    assert_int_equal(r.ends[ENGINE_OK], 1);
    assert_true(r.last.ended_ns < began_ns + 10 * S);
    rig_fini(&r);
}

/* ---------------------------------------------------------------------------------- on and off */

static void see_cause(void *arg, const struct engine_key_state *s)
{
    if (!s->is_enabled)
        rig_copy(arg, 32, s->cause);
}

static void a_provider_is_switched_off_and_on(void **state)
{
    struct engine_options o = rig_options();
    char cause[32] = "";
    struct rig r;

    (void)state;
    o.concurrency = 1;
    rig_open(&r, &o);
    assert_true(fb_engine_is_enabled(r.engine, "a.example"));
    for (int i = 0; i < 3; i++)
        rig_get(&r, "http://a.example/");
    rig_run_until(&r, r.now_ns + 10 * MS); /* one is under way */
    assert_int_equal(fb_engine_enable(r.engine, "a.example", false), 0);
    assert_int_equal(fb_engine_enable(r.engine, "c.example", false), 0); /* not seen yet */
    rig_get(&r, "http://b.example/");
    rig_get(&r, "http://c.example/");
    rig_run_until(&r, r.now_ns + 60 * S);
    assert_int_equal(r.ends[ENGINE_OK], 2); /* that one, and the other host's */
    fb_engine_keys(r.engine, see_cause, cause);
    assert_string_equal(cause, "disabled");
    assert_int_equal(fb_engine_enable(r.engine, "a.example", true), 0);
    rig_run_until(&r, r.now_ns + 60 * S);
    assert_int_equal(r.ends[ENGINE_OK], 4);
    assert_false(fb_engine_is_enabled(r.engine, "c.example"));
    assert_int_equal(fb_engine_enable(r.engine, "c.example", true), 0);
    rig_run(&r);
    assert_int_equal(r.ends[ENGINE_OK], 5);
    rig_fini(&r);
}

static void what_waits_for_it_may_lose_patience(void **state)
{
    struct engine_options o = rig_options();
    struct rig r;

    (void)state;
    rig_open(&r, &o);
    assert_int_equal(fb_engine_enable(r.engine, "a.example", false), 0);
    rig_submit(&r, &(struct engine_task){.url = "http://a.example/", .patience_ns = 5 * S});
    rig_run(&r);
    assert_int_equal(r.ends[ENGINE_DEFERRED], 1);
    assert_int_equal(r.last.failure, FAIL_LATE);
    rig_fini(&r);
}

/* ------------------------------------------------------------------------------------- options */

static void options_change_while_it_runs(void **state)
{
    static const char *const rules[] = {"download/5xx=skip", NULL};
    struct engine_options o = rig_options();
    struct fly_error err = {""};
    struct rig r;

    (void)state;
    o.concurrency = 8;
    rig_open(&r, &o);
    for (int i = 0; i < 40; i++)
        rig_get(&r, "http://a.example/");
    rig_run_until(&r, r.now_ns + 10 * MS);
    assert_int_equal(r.in_flight, 8);
    o.concurrency = 2; /* below what is under way */
    assert_int_equal(fb_engine_tune(r.engine, &o, &err), 0);
    rig_run_until(&r, r.now_ns + 110 * MS);
    assert_int_equal(r.in_flight, 2);
    o.concurrency = 20;
    o.recovery = rules;
    assert_int_equal(fb_engine_tune(r.engine, &o, &err), 0);
    rig_run(&r);
    assert_int_equal(r.ends[ENGINE_OK], 40);
    assert_int_equal(r.in_flight_most, 20);
    r.plan = fails;
    rig_get(&r, "http://a.example/");
    rig_run(&r);
    assert_int_equal(r.ends[ENGINE_SKIPPED], 1);
    rig_fini(&r);
}

static void wrong_options_change_nothing(void **state)
{
    static const char *const rules[] = {"download/5xx=perhaps", NULL};
    struct engine_options o = rig_options();
    struct fly_error err = {""};
    struct rig r;

    (void)state;
    o.concurrency = 3;
    rig_open(&r, &o);
    o.concurrency = 5;
    o.recovery = rules;
    assert_int_equal(fb_engine_tune(r.engine, &o, &err), -EINVAL);
    o.recovery = NULL;
    o.limit = "rate=fast";
    assert_int_equal(fb_engine_tune(r.engine, &o, &err), -EINVAL);
    o.limit = NULL;
    o.idle_ns = 0;
    assert_int_equal(fb_engine_tune(r.engine, &o, &err), -EINVAL);
    assert_contains(err.text, "idle_ns");
    for (int i = 0; i < 9; i++)
        rig_get(&r, "http://a.example/");
    rig_run(&r);
    assert_int_equal(r.in_flight_most, 3);
    rig_fini(&r);
}

static void a_breaker_takes_other_settings(void **state)
{
    struct engine_options o = rig_options();
    struct fly_error err = {""};
    struct rig r;

    (void)state;
    o.pause_failures = 0;
    rig_open(&r, &o);
    r.plan = fails;
    rig_get(&r, "http://a.example/"); /* the key is made with the usual five */
    rig_run_until(&r, r.now_ns + 200 * MS);
    o.breaker_failures = 2;
    o.breaker_ns = 1000 * S;
    assert_int_equal(fb_engine_tune(r.engine, &o, &err), 0);
    rig_run_until(&r, r.now_ns + 900 * S);
    assert_int_equal(r.sends, 2);
    rig_run(&r);
    rig_fini(&r);
}

/* ----------------------------------------------------------------------- manners of one of them */

static struct plan mute(struct rig *r, const struct attempt_request *q)
{
    (void)r;
    (void)q;
    return (struct plan){.answer_ns = FB_NEVER};
}

/* How long a request that is never answered took, and how it ended. */
static int64_t wait_for(struct rig *r, const char *provider, enum engine_end end)
{
    int64_t began_ns = r->now_ns;
    int64_t before = r->ends[end];

    rig_submit(r, &(struct engine_task){.url = "http://a.example/", .provider = provider});
    rig_run(r);
    assert_int_equal(r->ends[end], before + 1);
    return r->now_ns - began_ns;
}

static void a_provider_has_deadlines_and_rules_of_its_own(void **state)
{
    static const char *const all[] = {"download/timeout=skip", NULL};
    static const char *const own[] = {"download/timeout=defer", NULL};
    static const char *const wrong[] = {"download/timeout=perhaps", NULL};
    struct engine_manners m = {.first_byte_ns = 7 * S, .recovery = own};
    struct engine_options o = rig_options();
    struct fly_error err = {""};
    struct rig r;

    (void)state;
    o.recovery = all;
    o.breaker_failures = o.pause_failures = 0;
    rig_open(&r, &o);
    r.plan = mute;
    assert_int_equal(fb_engine_set_manners(r.engine, "slow", &m, &err), 0);
    assert_in_range(wait_for(&r, "slow", ENGINE_DEFERRED), 7 * S, 8 * S);
    assert_in_range(wait_for(&r, "other", ENGINE_SKIPPED), 30 * S, 31 * S);
    m.total_ns = 3 * S;
    assert_int_equal(fb_engine_set_manners(r.engine, "slow", &m, &err), 0);
    assert_in_range(wait_for(&r, "slow", ENGINE_DEFERRED), 3 * S, 4 * S);
    m.recovery = wrong;
    m.total_ns = 1 * S;
    assert_int_equal(fb_engine_set_manners(r.engine, "slow", &m, &err), -EINVAL);
    assert_in_range(wait_for(&r, "slow", ENGINE_DEFERRED), 3 * S, 4 * S);
    /* Other options are those of all, until somebody says it again. */
    assert_int_equal(fb_engine_tune(r.engine, &o, &err), 0);
    assert_in_range(wait_for(&r, "slow", ENGINE_SKIPPED), 30 * S, 31 * S);
    rig_fini(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_is_told_of_its_own),
        cmocka_unit_test(several_keys_are_its_own),
        cmocka_unit_test(one_is_stopped_and_the_other_goes_on),
        cmocka_unit_test(its_deadline_cuts_off_its_own_only),
        cmocka_unit_test(what_is_stopped_is_not_tried_again),
        cmocka_unit_test(all_who_wanted_room_are_told),
        cmocka_unit_test(a_limit_changes_in_place),
        cmocka_unit_test(what_was_held_is_forgotten_on_demand),
        cmocka_unit_test(a_provider_is_switched_off_and_on),
        cmocka_unit_test(what_waits_for_it_may_lose_patience),
        cmocka_unit_test(options_change_while_it_runs),
        cmocka_unit_test(wrong_options_change_nothing),
        cmocka_unit_test(a_breaker_takes_other_settings),
        cmocka_unit_test(a_provider_has_deadlines_and_rules_of_its_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
