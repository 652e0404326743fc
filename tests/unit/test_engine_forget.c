/* SPDX-License-Identifier: MIT */
/* Engine on virtual time: keys that are not needed go, and no limit is broken by that. */
#include "engine_rig.h"

#include <flyball/flyball.h>

#include "engine/control.h"

/* One request to each of so many hosts, one after the other. */
static void visit(struct rig *r, int first, int count)
{
    char url[64];

    for (int i = first; i < first + count; i++) {
        snprintf(url, sizeof(url), "http://h%d.example/", i);
        rig_get(r, url);
        if (i % 32 == 31)
            rig_run_until(r, r->now_ns + S);
    }
    rig_run_until(r, r->now_ns + S);
}

static void many_hosts_stay_few_keys(void **state)
{
    struct engine_options o = rig_options();
    struct rig r;

    (void)state;
    o.limit = "rate=10/s burst=10";
    o.keys_kept = 100;
    rig_open(&r, &o);
    visit(&r, 0, 20000);
    assert_int_equal(r.ends[ENGINE_OK], 20000);
    assert_true(rig_stats(&r).keys <= 300);
    assert_int_equal(rig_stats(&r).keys + rig_stats(&r).keys_forgotten, 20000);
    rig_run(&r);
    rig_fini(&r);
}

static void up_to_the_bound_nothing_goes(void **state)
{
    struct engine_options o = rig_options();
    struct rig r;

    (void)state;
    o.keys_kept = 200;
    rig_open(&r, &o);
    visit(&r, 0, 200);
    assert_int_equal(rig_stats(&r).keys, 200);
    assert_int_equal(rig_stats(&r).keys_forgotten, 0);
    rig_run(&r);
    rig_fini(&r);
}

/* ------------------------------------------------------------------------------ what must stay */

static struct plan odd_answers(struct rig *r, const struct attempt_request *q)
{
    struct plan p = {.answer_ns = 10 * MS};

    (void)r;
    if (strstr(q->url, "held.")) {
        p.status = 429;
        p.header[0] = (struct engine_header){"Retry-After", "600"};
    } else if (strstr(q->url, "down.")) {
        p.failure = FAIL_REFUSED;
    } else if (strstr(q->url, "slow.")) {
        p.answer_ns = 25 * S;
    } else if (strstr(q->url, "quota.")) {
        p.header[0] = (struct engine_header){"X-RateLimit-Limit", "10"};
        p.header[1] = (struct engine_header){"X-RateLimit-Remaining", "0"};
        p.header[2] = (struct engine_header){"X-RateLimit-Reset", "3000"};
    }
    return p;
}

struct seen {
    bool held, down, slow, quota, spent;
    int64_t plain;
};

static void see(void *arg, const struct engine_key_state *s)
{
    struct seen *seen = arg;

    seen->held |= strcmp(s->key.provider, "held.example") == 0;
    seen->down |= strcmp(s->key.provider, "down.example") == 0;
    seen->slow |= strcmp(s->key.provider, "slow.example") == 0;
    seen->quota |= strcmp(s->key.provider, "quota.example") == 0;
    seen->spent |= strcmp(s->key.provider, "spent.example") == 0;
    seen->plain += s->key.provider[0] == 'h' && s->key.provider[1] != 'e';
}

static void what_matters_is_not_forgotten(void **state)
{
    struct engine_options o = rig_options();
    struct seen seen = {0};
    struct rig r;

    (void)state;
    o.limit = "window=5/30s";
    o.keys_kept = 0;
    o.attempts_max = 1;
    rig_open(&r, &o);
    r.plan = odd_answers;
    rig_get(&r, "http://held.example/");
    rig_get(&r, "http://slow.example/");
    rig_get(&r, "http://quota.example/");
    rig_get(&r, "http://down.example/");
    rig_get(&r, "http://spent.example/");
    rig_run_until(&r, r.now_ns + S);
    visit(&r, 0, 400); /* takes some fifteen seconds */
    fb_engine_keys(r.engine, see, &seen);
    assert_true(seen.held); /* asked to wait */
    assert_true(seen.slow); /* under way */
    assert_true(seen.quota);
    assert_true(seen.down);  /* a failure is counted */
    assert_true(seen.spent); /* the window is not empty */
    assert_true(seen.plain > 0);
    rig_run_until(&r, r.now_ns + 100 * S);
    visit(&r, 1000, 1000);
    seen = (struct seen){0};
    fb_engine_keys(r.engine, see, &seen);
    assert_true(seen.held && seen.quota && seen.down);
    assert_false(seen.slow || seen.spent); /* nothing is left of them */
    rig_run_until(&r, r.now_ns + 700 * S);
    visit(&r, 3000, 1000);
    seen = (struct seen){0};
    fb_engine_keys(r.engine, see, &seen);
    assert_true(seen.quota);
    assert_false(seen.down); /* that it failed is too long ago */
    rig_run(&r);
    rig_fini(&r);
}

/* The same limit is kept whether keys are forgotten all the time or never. */
static int64_t last_of_many(int64_t keys_kept)
{
    struct engine_options o = rig_options();
    struct rig r;
    int64_t ended_ns;

    o.limit = "window=5/20s rate=2/s burst=3";
    o.keys_kept = keys_kept;
    rig_open(&r, &o);
    for (int round = 0; round < 12; round++) {
        visit(&r, 0, 6);
        visit(&r, 1000 + 10 * round, 10); /* for each of these some are looked at */
    }
    rig_run(&r);
    assert_int_equal(r.ends[ENGINE_OK], 12 * 16);
    ended_ns = r.last.ended_ns;
    rig_fini(&r);
    return ended_ns;
}

static void forgetting_changes_no_answer(void **state)
{
    (void)state;
    assert_int_equal(last_of_many(0), last_of_many(1000));
}

/* ---------------------------------------------------------------------------- what was learned */

static int64_t offered;
static bool keeps;

static bool on_forget(void *user, const struct engine_key_state *s)
{
    (void)user;
    assert_int_equal(s->in_flight, 0);
    assert_int_equal(s->queued, 0);
    offered++;
    return keeps;
}

static void what_was_learned_goes_to_who_keeps_it(void **state)
{
    struct engine_options o = rig_options();
    struct rig r;

    (void)state;
    o.limit = "";
    o.keys_kept = 10;
    rig_open(&r, &o);
    visit(&r, 0, 500);
    rig_run_until(&r, r.now_ns + 60 * S);
    visit(&r, 1000, 10);
    assert_int_equal(rig_stats(&r).keys_forgotten, 0); /* nobody would */
    rig_run(&r);
    rig_fini(&r);

    o = rig_options();
    o.limit = "";
    o.keys_kept = 10;
    o.on_forget = on_forget;
    for (keeps = false;; keeps = true) {
        offered = 0;
        rig_open(&r, &o);
        visit(&r, 0, 500);
        rig_run_until(&r, r.now_ns + 60 * S);
        visit(&r, 1000, 400);
        assert_true(offered > 0);
        assert_int_equal(rig_stats(&r).keys_forgotten, keeps ? offered : 0);
        rig_run(&r);
        rig_fini(&r);
        if (keeps)
            break;
    }
}

static void what_is_switched_off_stays_off(void **state)
{
    struct engine_options o = rig_options();
    struct rig r;

    (void)state;
    o.keys_kept = 0;
    rig_open(&r, &o);
    visit(&r, 0, 1);
    assert_int_equal(fb_engine_enable(r.engine, "h0.example", false), 0);
    visit(&r, 100, 100);
    assert_true(rig_stats(&r).keys < 50);
    assert_false(fb_engine_is_enabled(r.engine, "h0.example"));
    rig_get(&r, "http://h0.example/");
    rig_run_until(&r, r.now_ns + 60 * S);
    assert_int_equal(r.results, 101);
    assert_int_equal(fb_engine_enable(r.engine, "h0.example", true), 0);
    rig_run(&r);
    assert_int_equal(r.results, 102);
    rig_fini(&r);
}

/* A redirect and a failover leave the key behind that they came from. */
static struct plan redirects(struct rig *r, const struct attempt_request *q)
{
    struct plan p = {.answer_ns = 10 * MS};

    (void)r;
    if (strstr(q->url, "/from")) {
        p.status = 302;
        p.header[0] = (struct engine_header){"Location", "http://to.example/"};
    }
    return p;
}

static void a_key_left_behind_may_go(void **state)
{
    struct engine_options o = rig_options();
    char url[64];
    struct rig r;

    (void)state;
    o.keys_kept = 0;
    rig_open(&r, &o);
    r.plan = redirects;
    for (int i = 0; i < 200; i++) {
        snprintf(url, sizeof(url), "http://h%d.example/from", i);
        rig_get(&r, url);
        rig_run_until(&r, r.now_ns + S);
    }
    assert_int_equal(r.ends[ENGINE_OK], 200);
    assert_true(rig_stats(&r).keys < 20);
    rig_run(&r);
    rig_fini(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_hosts_stay_few_keys),
        cmocka_unit_test(up_to_the_bound_nothing_goes),
        cmocka_unit_test(what_matters_is_not_forgotten),
        cmocka_unit_test(forgetting_changes_no_answer),
        cmocka_unit_test(what_was_learned_goes_to_who_keeps_it),
        cmocka_unit_test(what_is_switched_off_stays_off),
        cmocka_unit_test(a_key_left_behind_may_go),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
