/* SPDX-License-Identifier: MIT */
/* Tasks whose callers know more: when to leave a host alone, and what costs nothing. */
#include "engine_rig.h"

static struct plan down_for_a_while(struct rig *r, const struct attempt_request *q)
{
    bool is_down = r->now_ns < RIG_EPOCH + *(int64_t *)r->more;

    if (is_down && strstr(q->url, "//down."))
        return (struct plan){.failure = FAIL_REFUSED};
    return (struct plan){.answer_ns = MS};
}

/* A task of one who has rules of its own for hosts that fail. */
static void submit_trial(struct rig *r, const char *url)
{
    (void)rig_submit(r, &(struct engine_task){.url = url,
                                              .id = "trial",
                                              .operation = "look",
                                              .patience_ns = 15 * S,
                                              .flags = ENGINE_OWN_TRIALS});
}

static void own_trials_pass_breaker_and_pause(void **state)
{
    struct engine_options o = rig_options();
    int64_t down_ns = 400 * S;
    struct rig r;

    (void)state;
    o.attempts_max = 100;
    rig_open(&r, &o);
    r.plan = down_for_a_while;
    r.more = &down_ns;
    for (int i = 0; i < 50; i++)
        rig_get(&r, "http://down.example/");
    rig_run_until(&r, RIG_EPOCH + 70 * S); /* broken, and paused */
    for (int i = 0; i < 20; i++) {
        int64_t sends = r.sends, results = r.results;

        submit_trial(&r, "http://down.example/");
        rig_run_until(&r, r.now_ns + 10 * MS);
        assert_int_equal(r.sends, sends + 1);
        assert_int_equal(r.results, results + 1); /* it failed, at once */
        assert_int_equal(r.last.failure, FAIL_REFUSED);
    }
    /* What is answered is reason to hope: the others find out at once. */
    rig_run_until(&r, RIG_EPOCH + 401 * S);
    int64_t ok = r.ends[ENGINE_OK];
    submit_trial(&r, "http://down.example/");
    rig_run_until(&r, RIG_EPOCH + 403 * S);
    assert_int_equal(ok, 0);
    assert_at_least(r.ends[ENGINE_OK], 40); /* the rest is still backing off */
    rig_run(&r);
    assert_int_equal(r.ends[ENGINE_OK], 51);
    rig_fini(&r);
}

static struct plan not_modified(struct rig *r, const struct attempt_request *q)
{
    (void)r;
    return (struct plan){.answer_ns = MS, .status = strstr(q->url, "/new") ? 200 : 304};
}

/* A 304 that costs nothing gives its permit back, where that was said; other answers do not. */
static void what_is_not_modified_may_be_free(void **state)
{
    static const struct {
        const char *url;
        uint32_t flags;
        int64_t sends; /* within a second, of fifty */
    } cases[] = {
        {"http://a.example/same", ENGINE_UNMODIFIED_FREE, 50},
        {"http://a.example/same", 0, 10},
        {"http://a.example/new", ENGINE_UNMODIFIED_FREE, 10},
    };

    (void)state;
    for (size_t n = 0; n < COUNT_OF(cases); n++) {
        struct engine_options o = rig_options();
        struct rig r;

        o.limit = "adapt=off window=10/1h margin=0% rate=10/1h burst=10";
        o.hold_max_ns = 0;
        rig_open(&r, &o);
        r.plan = not_modified;
        for (int i = 0; i < 50; i++)
            (void)rig_submit(&r, &(struct engine_task){
                                     .url = cases[n].url, .id = "it", .flags = cases[n].flags});
        rig_run_until(&r, RIG_EPOCH + S);
        assert_int_equal(r.sends, cases[n].sends);
        rig_run(&r);
        rig_fini(&r);
    }
}

/* Their failures keep nobody else, and they pass no limit. */
static void own_trials_harm_nobody(void **state)
{
    struct engine_options o = rig_options();
    int64_t down_ns = 100 * S;
    struct rig r;

    (void)state;
    o.limit = "adapt=off window=30/10s margin=0%";
    rig_open(&r, &o);
    r.plan = down_for_a_while;
    r.more = &down_ns;
    for (int i = 0; i < 30; i++)
        submit_trial(&r, "http://down.example/");
    rig_run_until(&r, RIG_EPOCH + S);
    assert_int_equal(r.sends, 30);
    submit_trial(&r, "http://down.example/");
    rig_run_until(&r, RIG_EPOCH + 2 * S);
    assert_int_equal(r.sends, 30);
    rig_run_until(&r, RIG_EPOCH + 101 * S);
    assert_int_equal(r.sends, 31);
    rig_get(&r, "http://down.example/");
    rig_run_until(&r, RIG_EPOCH + 102 * S);
    assert_int_equal(r.ends[ENGINE_OK], 1);
    rig_fini(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_trials_pass_breaker_and_pause),
        cmocka_unit_test(own_trials_harm_nobody),
        cmocka_unit_test(what_is_not_modified_may_be_free),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
