/* SPDX-License-Identifier: MIT */
/* Engine on virtual time: the path at which a provider tells its quota for free. */
#include "engine_rig.h"

#include <errno.h>

#include <flyball/flyball.h>

#include "config/check.h"
#include "config/config.h"
#include "engine/configure.h"
#include "engine/control.h"

#define SENT 32

/* What was sent when, and what the path answers. */
struct origin {
    char url[SENT][64];
    char authorization[SENT][64];
    int64_t at_ns[SENT];
    struct plan quota;
};

static struct plan answer(struct rig *r, const struct attempt_request *q)
{
    struct origin *o = r->more;
    size_t at = (size_t)r->sends - 1;

    rig_copy(o->url[at], sizeof o->url[at], q->url);
    rig_copy(o->authorization[at], sizeof o->authorization[at], r->sent_authorization);
    o->at_ns[at] = r->now_ns - RIG_EPOCH;
    return strstr(q->url, "/rate_limit") || strstr(q->url, "/left")
               ? o->quota
               : (struct plan){.answer_ns = 100 * MS};
}

static void begin(struct rig *r, struct origin *o, const char *limit)
{
    struct engine_options options = rig_options();

    options.limit = limit;
    options.asks_quota = true;
    rig_open(r, &options);
    r->more = o;
    r->plan = answer;
}

static void end(struct rig *r)
{
    struct engine_stats s = rig_stats(r);

    assert_int_equal(s.done, s.submitted);
    fb_engine_close(r->engine, NULL, NULL);
}

static void get_as(struct rig *r, const char *url, const char *token)
{
    const struct engine_header header[] = {{"Authorization", token}, {"If-None-Match", "x"}};

    rig_submit(r, &(struct engine_task){
                      .url = url, .id = url, .header = header, .header_count = token ? 2 : 0});
}

/* RIG_EPOCH is 1700000000; the server's clock is an hour ahead. */
#define DATE "Tue, 14 Nov 2023 23:13:20 GMT"
#define BODY                                                                          \
    "{\"resources\":{\"core\":{\"limit\":5000,\"remaining\":0,\"reset\":1700003700}," \
    "\"search\":{\"limit\":30,\"remaining\":12,\"reset\":1700003660},"                \
    "\"graphql\":{\"limit\":5000,\"remaining\":6000,\"reset\":1700003700}},"          \
    "\"rate\":{\"limit\":5000,\"remaining\":0,\"reset\":1700003700}}"

static const struct plan TOLD = {.answer_ns = 200 * MS, .header = {{"Date", DATE}}, .body = BODY};

static void see(void *arg, const struct engine_key_state *s)
{
    if (strcmp(s->key.pool, "core") == 0)
        *(struct engine_told *)arg = *s->told;
}

/* It is asked first, as whoever asks, and what it tells holds: by pool, and by its own clock. */
static void asked_before_anything_leaves(void **state)
{
    struct origin o = {.quota = TOLD};
    struct engine_told told = {0};
    struct rig r;

    (void)state;
    begin(&r, &o, "adapt=off pacing=demand reserve=0%");
    get_as(&r, "https://api.github.com/repos/a/b", "token a");
    get_as(&r, "https://api.github.com/search/issues?q=x", "token a");
    rig_run_until(&r, RIG_EPOCH + 50 * S);
    assert_int_equal(r.sends, 2);
    assert_string_equal(o.url[0], "https://api.github.com/rate_limit");
    assert_string_equal(o.authorization[0], "token a");
    assert_string_equal(o.url[1], "https://api.github.com/search/issues?q=x");
    assert_int_equal(o.at_ns[1], 200 * MS);
    fb_engine_keys(r.engine, see, &told);
    assert_int_equal(told.limit, 5000);
    assert_int_equal(told.remaining, 0);
    /* Its date is in whole seconds, and this answer came a moment later. */
    assert_int_equal(told.reset_ns, RIG_EPOCH + 100 * S + 200 * MS);
    assert_int_equal(told.told_ns, RIG_EPOCH + 200 * MS);
    assert_string_equal(told.header, "/rate_limit");
    rig_run(&r);
    assert_int_equal(r.sends, 3); /* core, after its reset */
    assert_in_range(o.at_ns[2], 100 * S, 130 * S);
    assert_int_equal(r.results, 2); /* who asks for the quota is not told of it */
    end(&r);
}

/* Once for each credential, and for keys that come later what is known is enough. */
static void asked_once_for_each_credential(void **state)
{
    struct origin o = {.quota = TOLD};
    int64_t asked = 0;
    struct rig r;

    (void)state;
    begin(&r, &o, "adapt=off pacing=demand reserve=0%");
    for (int i = 0; i < 3; i++) {
        get_as(&r, "https://api.github.com/search/issues?q=x", i == 2 ? "token b" : "token a");
        rig_run_until(&r, r.now_ns + 2 * S);
    }
    get_as(&r, "https://api.github.com/repos/a/b", "token a");
    rig_run_until(&r, r.now_ns + 20 * S);
    for (int i = 0; i < r.sends; i++)
        asked += strstr(o.url[i], "/rate_limit") != NULL;
    assert_int_equal(asked, 2);
    assert_int_equal(r.sends, 5); /* core waits, though it came later */
    rig_run(&r);
    assert_int_equal(r.sends, 6);
    end(&r);
}

/* Of more credentials than anybody has, no more is kept than there is room for. */
static void many_credentials(void **state)
{
    struct origin o = {.quota = TOLD};
    struct rig r;

    (void)state;
    begin(&r, &o, "adapt=off pacing=demand reserve=0%");
    for (int i = 0; i < 200; i++) {
        char token[32];

        (void)snprintf(token, sizeof token, "token %d", i);
        get_as(&r, "https://api.github.com/search/issues?q=x", token);
        r.sends = 0;
        rig_run_until(&r, r.now_ns + S);
        assert_int_equal(r.sends, 2);
    }
    rig_run(&r);
    assert_int_equal(r.results, 200);
    end(&r);
}

/* What was told takes nothing from a window. */
static void to_be_told_costs_nothing(void **state)
{
    struct origin o = {.quota = TOLD};
    struct rig r;

    (void)state;
    begin(&r, &o, "window=2/1h margin=0% adapt=off pacing=demand reserve=0%");
    for (int i = 0; i < 2; i++)
        get_as(&r, "https://api.github.com/search/issues?q=x", NULL);
    rig_run_until(&r, r.now_ns + S);
    assert_int_equal(r.sends, 3);
    rig_run(&r);
    end(&r);
}

/* Whatever it answers or does not, the work begins: at once, or after ten seconds. */
static void work_does_not_depend_on_it(void **state)
{
    static const struct {
        struct plan quota;
        int64_t began_ns;
    } cases[] = {
        {{.answer_ns = MS, .status = 404}, MS},
        {{.answer_ns = MS, .status = 302, .header = {{"Location", "/elsewhere"}}}, MS},
        {{.answer_ns = MS, .body = "{"}, MS},
        {{.answer_ns = MS, .body = "[1]"}, MS},
        {{.answer_ns = MS, .body = "{\"resources\":{\"core\":{\"limit\":1,\"remaining\":0}}}"}, MS},
        {{.answer_ns = MS,
          .body = "{\"core\":{\"limit\":1,\"remaining\":0,\"reset\":9999999999999}}"},
         MS},
        {{.answer_ns = MS, .body = "{\"core\":{\"limit\":1,\"remaining\":0,\"reset\":1}}"}, MS},
        {{.answer_ns = FB_NEVER}, 10 * S},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct origin o = {.quota = cases[i].quota};
        struct rig r;

        begin(&r, &o, "adapt=off");
        get_as(&r, "https://api.github.com/repos/a/b", NULL);
        rig_run(&r);
        assert_string_equal(o.url[1], "https://api.github.com/repos/a/b");
        assert_int_equal(o.at_ns[1], cases[i].began_ns);
        assert_int_equal(r.ends[ENGINE_OK], 1);
        end(&r);
    }
}

/* Who did not wait for it any longer has spent what it does not know of. */
static void what_comes_too_late_is_not_believed(void **state)
{
    struct origin o = {.quota = TOLD};
    struct engine_told told = {0};
    struct rig r;

    (void)state;
    o.quota.answer_ns = 12 * S;
    begin(&r, &o, "adapt=off pacing=demand reserve=0%");
    get_as(&r, "https://api.github.com/repos/a/b", NULL);
    rig_run_until(&r, RIG_EPOCH + 20 * S);
    assert_int_equal(o.at_ns[1], 10 * S);
    get_as(&r, "https://api.github.com/repos/a/b", NULL);
    rig_run(&r);
    assert_int_equal(r.sends, 3);
    assert_int_equal(o.at_ns[2], 20 * S); /* though there were none left, 20 s ago */
    fb_engine_keys(r.engine, see, &told);
    assert_int_equal(told.told_ns, 0);
    end(&r);
}

static struct plan redirects(struct rig *r, const struct attempt_request *q)
{
    struct plan p = answer(r, q);

    if (strstr(q->url, "elsewhere"))
        return (struct plan){.answer_ns = 50 * MS,
                             .status = 302,
                             .header = {{"Location", "https://api.github.com/repos/a/b"}}};
    if (strstr(q->url, "/repos/"))
        return (struct plan){.answer_ns = 100 * MS,
                             .header = {{"X-RateLimit-Limit", "5000"},
                                        {"X-RateLimit-Remaining", "4321"},
                                        {"X-RateLimit-Reset", "1700000100"}}};
    return p;
}

/* An answer of the key itself that came while it was asked is newer than what it was asked. */
static void what_was_told_meanwhile_is_newer(void **state)
{
    struct origin o = {.quota = TOLD};
    struct engine_told told = {0};
    struct rig r;

    (void)state;
    begin(&r, &o, "adapt=off pacing=demand reserve=0%");
    r.plan = redirects;
    get_as(&r, "http://elsewhere.example/", NULL);
    rig_run_until(&r, RIG_EPOCH + 60 * MS);
    assert_int_equal(r.sends, 2);
    get_as(&r, "https://api.github.com/repos/a/b", NULL);
    rig_run_until(&r, RIG_EPOCH + S);
    assert_string_equal(o.url[2], "https://api.github.com/rate_limit");
    assert_int_equal(r.sends, 4); /* it does not wait for the reset */
    assert_int_equal(o.at_ns[3], 260 * MS);
    fb_engine_keys(r.engine, see, &told);
    assert_int_equal(told.remaining, 4321);
    rig_run(&r);
    end(&r);
}

static void the_configuration_may_name_it(void **state)
{
    struct origin o = {.quota = TOLD};
    struct rig r;

    (void)state;
    begin(&r, &o, "adapt=off pacing=demand reserve=0%");
    assert_int_equal(fb_engine_set_quota(r.engine, "mine", "/wrong"), 0);
    assert_int_equal(fb_engine_set_quota(r.engine, "mine", "/left"), 0);
    rig_submit(&r, &(struct engine_task){
                       .url = "http://me:x@a.example:81/1", .provider = "mine", .pool = "core"});
    rig_get(&r, "http://b.example/1");
    rig_run(&r);
    assert_int_equal(r.sends, 3);
    assert_string_equal(o.url[1], "http://b.example/1"); /* others do not wait for it */
    assert_string_equal(o.url[0], "http://me:x@a.example:81/left");
    assert_at_least(o.at_ns[2], 100 * S);
    end(&r);
}

/* Less than all that shows who asks would ask about somebody else. */
static void too_many_headers_ask_nothing(void **state)
{
    (void)state;
    for (size_t count = 32; count <= 33; count++) {
        struct engine_header header[33];
        struct origin o = {.quota = {.answer_ns = MS, .status = 404}};
        struct rig r;

        for (size_t i = 0; i < count; i++)
            header[i] = (struct engine_header){"X-Part", "of it"};
        begin(&r, &o, "adapt=off");
        rig_submit(&r, &(struct engine_task){.url = "https://api.github.com/repos/a/b",
                                             .header = header,
                                             .header_count = count});
        rig_run(&r);
        assert_int_equal(r.sends, count == 32 ? 2 : 1);
        assert_int_equal(r.ends[ENGINE_OK], 1);
        end(&r);
    }
}

/* Nobody's task goes for it: the next of the key asks, when there is room. */
static void a_full_queue_is_left_as_it_is(void **state)
{
    struct origin o = {.quota = {.answer_ns = MS, .status = 404}};
    struct engine_options options = rig_options();
    struct rig r;

    (void)state;
    options.asks_quota = true;
    options.queue_max = 2;
    rig_open(&r, &options);
    r.more = &o;
    r.plan = answer;
    rig_get(&r, "http://b.example/1");
    rig_get(&r, "https://api.github.com/repos/a/b");
    assert_int_equal(rig_stats(&r).evicted, 0);
    rig_run(&r);
    assert_int_equal(r.sends, 2);
    assert_int_equal(r.ends[ENGINE_OK], 2);
    rig_get(&r, "https://api.github.com/repos/a/b");
    rig_run(&r);
    assert_int_equal(r.sends, 4);
    assert_string_equal(o.url[2], "https://api.github.com/rate_limit");
    end(&r);
}

static void note_pool(void *arg, const struct engine_key_state *s)
{
    if (strcmp(s->key.pool, "core") != 0)
        rig_copy(arg, FLY_POOL_NAME_SIZE, s->key.pool);
}

/* A pool of any name that a configuration may have is one that is asked for. */
static void its_own_pool_is_nobody_elses(void **state)
{
    struct origin o = {.quota = {.answer_ns = MS, .status = 404}};
    char pool[FLY_POOL_NAME_SIZE] = "";
    struct rig r;

    (void)state;
    begin(&r, &o, "adapt=off");
    rig_submit(&r, &(struct engine_task){.url = "https://api.github.com/a", .pool = "quota"});
    rig_run(&r);
    assert_int_equal(r.sends, 2);
    end(&r);
    begin(&r, &o, "adapt=off");
    rig_get(&r, "https://api.github.com/repos/a/b");
    rig_run(&r);
    fb_engine_keys(r.engine, note_pool, pool);
    assert_true(pool[0] && !fb_check_name(pool));
    end(&r);
}

static struct config *load(const char *provider)
{
    const struct config_sources from = {
        .file = "f.yaml", .bytes = provider, .size = strlen(provider)};
    static struct config_report report;
    struct config *c = NULL;

    assert_int_equal(fb_config_load(&from, &report, &c), 0);
    fb_config_report_fini(&report);
    return c;
}

/* How many requests are sent for one, which is what tells whether anybody was asked. */
static int64_t sends_for_one(struct rig *r, const char *pool)
{
    int64_t before = r->sends;

    rig_submit(
        r, &(struct engine_task){.url = "http://a.example/1", .provider = "mine", .pool = pool});
    rig_run(r);
    return r->sends - before;
}

static void what_is_no_longer_configured_is_not_asked(void **state)
{
    static const char *const texts[] = {
        "providers:\n  mine:\n    hosts: [a.example]\n",
        "providers:\n  other:\n    hosts: [b.example]\n",
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        struct origin o = {.quota = {.answer_ns = MS, .status = 404}};
        struct config *before =
            load("providers:\n  mine:\n    hosts: [a.example]\n    quota: /left\n");
        struct config *after = load(texts[i]);
        struct engine_options options = rig_options();
        struct fly_error err = {""};
        struct rig r;

        begin(&r, &o, "adapt=off");
        assert_int_equal(fb_engine_configure_providers(r.engine, before, &err), 0);
        /* The whole section is gone only by what forgets all that was said of single ones. */
        if (i == 1)
            assert_int_equal(fb_engine_tune(r.engine, &options, &err), 0);
        assert_int_equal(fb_engine_configure_providers(r.engine, after, &err), 0);
        assert_int_equal(sends_for_one(&r, "core"), 1);
        assert_int_equal(fb_engine_configure_providers(r.engine, before, &err), 0);
        assert_int_equal(sends_for_one(&r, "search"), 2);
        end(&r);
        fb_config_free(before);
        fb_config_free(after);
    }
}

static void nobody_asks_unless_told_to(void **state)
{
    struct origin o = {.quota = TOLD};
    struct engine_options options = rig_options();
    struct rig r;

    (void)state;
    rig_open(&r, &options);
    r.more = &o;
    r.plan = answer;
    get_as(&r, "https://api.github.com/repos/a/b", NULL);
    rig_run(&r);
    assert_int_equal(r.sends, 1);
    rig_fini(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(asked_before_anything_leaves),
        cmocka_unit_test(asked_once_for_each_credential),
        cmocka_unit_test(many_credentials),
        cmocka_unit_test(to_be_told_costs_nothing),
        cmocka_unit_test(work_does_not_depend_on_it),
        cmocka_unit_test(what_comes_too_late_is_not_believed),
        cmocka_unit_test(what_was_told_meanwhile_is_newer),
        cmocka_unit_test(the_configuration_may_name_it),
        cmocka_unit_test(too_many_headers_ask_nothing),
        cmocka_unit_test(a_full_queue_is_left_as_it_is),
        cmocka_unit_test(its_own_pool_is_nobody_elses),
        cmocka_unit_test(what_is_no_longer_configured_is_not_asked),
        cmocka_unit_test(nobody_asks_unless_told_to),
    };

    return cmocka_run_group_tests_name("a quota that is told for free", tests, NULL, NULL);
}
