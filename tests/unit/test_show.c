/* SPDX-License-Identifier: MIT */
/* A key as answers show it: which limit binds, what is left of it, and what holds it up. */
#include "engine_rig.h"

#include "core/quota.h"
#include "engine/show.h"

#define RESET_S 60 /* as the header says */

struct seen {
    struct view_key key;
    struct view_key limits;
    int64_t now_ns;
};

static void see(void *arg, const struct engine_key_state *s)
{
    struct seen *to = arg;

    fb_show_key(s, to->now_ns, &to->key);
    fb_show_limits(s, to->now_ns, &to->limits);
}

/* The only key of the engine; its limits alone are no others. */
static struct view_key look(struct rig *r)
{
    struct seen seen = {.now_ns = fb_engine_now(r->engine)};

    fb_engine_keys(r->engine, see, &seen);
    assert_int_equal(seen.limits.bound.by, seen.key.bound.by);
    assert_true(seen.limits.bound.rate == seen.key.bound.rate);
    assert_true(seen.limits.limit == seen.key.limit);
    return seen.key;
}

static void open_under(struct rig *r, const char *limit)
{
    struct engine_options o = rig_options();

    o.limit = limit;
    rig_open(r, &o);
}

static void get(struct rig *r, int count)
{
    for (int i = 0; i < count; i++)
        rig_get(r, "http://a.example/");
}

static void end(struct rig *r)
{
    fb_engine_stop(r->engine, r->now_ns);
    rig_run(r);
    rig_fini(r);
}

static void check_cell(void (*put)(const struct view_key *k, int64_t now_ns, struct buffer *to),
                       const struct view_key *k, int64_t now_ns, const char *expected)
{
    struct buffer b = BUFFER_INIT;

    put(k, now_ns, &b);
    assert_string_equal(fb_buffer_text(&b), expected);
    fb_buffer_fini(&b);
}

static void put_rate(const struct view_key *k, int64_t now_ns, struct buffer *to)
{
    (void)now_ns;
    fb_view_key_rate(k, to);
}

static void check_json(const struct view_key *k, int64_t now_ns, const char *part)
{
    struct buffer b = BUFFER_INIT;

    fb_view_key_json(k, now_ns, &b);
    assert_contains(fb_buffer_text(&b), part);
    fb_buffer_fini(&b);
}

/* 15 a second in the long run: of a window there is a rate as well. */
static void a_window_is_a_limit(void **state)
{
    struct rig r;

    (void)state;
    open_under(&r, "adapt=off margin=0% window=900/1m");
    get(&r, 1);
    rig_run(&r);
    struct view_key k = look(&r);
    assert_int_equal(k.bound.by, BOUND_WINDOW);
    assert_true(k.bound.rate == 15.0);
    check_cell(put_rate, &k, r.now_ns, "0.00 / 15.0/s");
    check_json(&k, r.now_ns, "\"limit_per_s\":15.0000,\"limit_by\":\"window\"");
    rig_fini(&r);
}

static struct plan tells(struct rig *r, const struct attempt_request *q)
{
    (void)r;
    (void)q;
    return (struct plan){.answer_ns = 10 * MS,
                         .header = {{"X-RateLimit-Limit", "300"},
                                    {"X-RateLimit-Remaining", "5"},
                                    {"X-RateLimit-Reset", "60"}}};
}

/* A window that is full matters, and a quota that is told does not, however much of it is left. */
static void what_is_left_is_that_of_what_binds(void **state)
{
    struct rig r;

    (void)state;
    open_under(&r, "adapt=off margin=0% window=3/1m");
    r.plan = tells;
    get(&r, 5);
    rig_run_until(&r, r.now_ns + 10 * S);
    struct view_key k = look(&r);
    assert_string_equal(k.cause, "window");
    assert_int_equal(k.quota_left, 5);
    check_cell(fb_view_key_left, &k, fb_engine_now(r.engine), "0 of 3/min");
    assert_string_equal(fb_view_key_because(&k, fb_engine_now(r.engine)), "window");
    assert_int_equal(k.window_frees_ns, RIG_EPOCH + 60 * S);
    check_json(&k, RIG_EPOCH + 10 * S,
               "\"window_s\":60.000,\"reset\":\"2023-11-14T22:14:20Z\","
               "\"reset_in_s\":50.000}");
    assert_contains(k.why, "a window is full, 3 in 1 min.");
    end(&r);
}

/* What was learned is no use where less is left. */
static void of_learned_and_told_the_tighter_one_binds(void **state)
{
    struct rig r;

    (void)state;
    open_under(&r, "rate=200/s adapt=step");
    r.plan = tells;
    get(&r, 1);
    rig_run(&r);
    struct view_key k = look(&r);
    assert_int_equal(k.bound.by, BOUND_QUOTA);
    assert_true(k.bound.rate > 0.9 / RESET_S && k.bound.rate < 1.1 / RESET_S); /* the reserve */
    assert_true(k.limit > 100.0);
    assert_true(k.told_ns > 0 && k.told_ns <= fb_engine_now(r.engine));
    check_json(&k, r.now_ns, "\"limit_by\":\"quota\"");
    check_json(&k, r.now_ns, "\"learned_per_s\":200.0000");
    check_json(&k, r.now_ns, "\"told\":\"2023-11-14T22:13:20Z\"");
    rig_fini(&r);
}

static struct plan tells_of_a_moment(struct rig *r, const struct attempt_request *q)
{
    (void)r;
    (void)q;
    return (struct plan){.answer_ns = 10 * MS,
                         .header = {{"X-RateLimit-Limit", "10"},
                                    {"X-RateLimit-Remaining", "9"},
                                    {"X-RateLimit-Reset", "2"}}};
}

/* 9 until the reset in 2 s are not 4.5 a second: it may be a bucket that is nearly full. */
static void a_quota_of_a_moment_is_no_limit_to_show(void **state)
{
    struct rig r;

    (void)state;
    open_under(&r, "rate=200/s adapt=step");
    r.plan = tells_of_a_moment;
    get(&r, 1);
    rig_run(&r);
    struct view_key k = look(&r);
    assert_int_equal(k.quota_left, 9);
    assert_int_equal(k.bound.by, BOUND_LEARNED);
    assert_false(k.flags & VIEW_KEY_TOLD); /* 200 a second are not 10 */
    rig_fini(&r);
}

static struct plan tells_of_some_seconds(struct rig *r, const struct attempt_request *q)
{
    (void)r;
    (void)q;
    return (struct plan){.answer_ns = 10 * MS,
                         .header = {{"X-RateLimit-Limit", "60"},
                                    {"X-RateLimit-Remaining", "9"},
                                    {"X-RateLimit-Reset", "9"}}};
}

/* 9 in 9 s now, 60 in 10 s a moment later: neither is what there is to know. */
static void a_short_window_is_no_limit_of_the_moment(void **state)
{
    struct rig r;

    (void)state;
    open_under(&r, "");
    r.plan = tells_of_some_seconds;
    get(&r, 1);
    rig_run_until(&r, r.now_ns + S);
    struct view_key k = look(&r);
    assert_int_equal(k.quota_left, 9);
    assert_true(k.quota_reset_ns > k.seen_ns + 7 * S);
    assert_int_equal(k.bound.by, BOUND_NOTHING);
    check_cell(put_rate, &k, r.now_ns, "0.00 / ?");
    rig_fini(&r);
}

struct known {
    struct fly_learned learned;
    int64_t now_ns;
};

static void know(void *arg, const struct engine_key_state *s)
{
    struct known *to = arg;

    to->learned.size = sizeof(to->learned);
    assert_int_equal(fb_show_learned(s, to->now_ns, &to->learned), 0);
}

/* The limit of the only key, as `learned` has it. */
static double learned_of(struct rig *r)
{
    struct known k = {.now_ns = fb_engine_now(r->engine)};

    fb_engine_keys(r->engine, know, &k);
    return k.learned.rate;
}

/* 10 in a second: what is believed wavers about that, and what is shown does not. */
static void so_many_in_so_long_a_time_are_shown_as_told(void **state)
{
    static const char *const ABOUT[] = {"rate=9/s adapt=step", "rate=11/s adapt=step"};
    struct rig r;

    (void)state;
    for (int i = 0; i < 2; i++) {
        open_under(&r, ABOUT[i]);
        r.plan = tells_of_a_moment;
        get(&r, 1);
        rig_run(&r);
        assert_false(look(&r).flags & VIEW_KEY_TOLD); /* it may be the rest of a longer one */
        rig_run_until(&r, r.now_ns + 3 * S);
        get(&r, 1);
        rig_run(&r);
        struct view_key k = look(&r);
        assert_true(k.flags & VIEW_KEY_TOLD);
        assert_true(k.limit == 10.0 && k.bound.rate == 10.0);
        assert_true(learned_of(&r) == 10.0);
        check_cell(put_rate, &k, r.now_ns, "0.00 / 10.0/s");
        rig_fini(&r);
    }
    open_under(&r, "rate=9/s"); /* who states it knows better */
    r.plan = tells_of_a_moment;
    get(&r, 1);
    rig_run(&r);
    assert_false(look(&r).flags & VIEW_KEY_TOLD);
    rig_fini(&r);
}

static struct plan tells_of_a_window(struct rig *r, const struct attempt_request *q)
{
    (void)q;
    if (r->more) /* nothing is told any more */
        return (struct plan){.answer_ns = 10 * MS};
    return (struct plan){.answer_ns = 10 * MS,
                         .header = {{"RateLimit-Policy", "\"default\";q=60;w=10"},
                                    {"RateLimit", "\"default\";r=59;t=5"}}};
}

/* 59 until a reset in 5 s, of 60 in 10 s: so it is said, and so it is shown. */
static void what_is_told_is_shown_from_the_first_answer_on(void **state)
{
    struct rig r;

    (void)state;
    open_under(&r, "");
    r.plan = tells_of_a_window;
    get(&r, 1);
    rig_run(&r);
    struct view_key k = look(&r);
    assert_true(k.flags & VIEW_KEY_TOLD);
    assert_true(k.limit == 6.0 && k.bound.rate == 6.0 && learned_of(&r) == 6.0);
    rig_fini(&r);
}

/* 60 and a reset in 9 s: it may be a minute that is nearly over. */
static void the_rest_of_a_window_is_no_limit(void **state)
{
    struct rig r;

    (void)state;
    open_under(&r, "");
    r.plan = tells_of_some_seconds;
    get(&r, 1);
    rig_run(&r);
    struct view_key k = look(&r);
    assert_false(k.flags & VIEW_KEY_TOLD);
    assert_true(k.flags & VIEW_KEY_LEARNING && k.bound.by == BOUND_NOTHING);
    assert_true(learned_of(&r) == 0.0);
    rig_fini(&r);
}

/* A minute's worth of answers without a word about it: whoever told may have changed his mind. */
static void what_is_told_no_longer_is_not_told(void **state)
{
    struct rig r;

    (void)state;
    open_under(&r, "adapt=step rate=6/s");
    r.plan = tells_of_a_window;
    get(&r, 1);
    rig_run(&r);
    rig_run_until(&r, r.now_ns + 60 * S);
    assert_true(look(&r).flags & VIEW_KEY_TOLD); /* nothing was asked: nothing was not told */
    r.more = &r;
    get(&r, 1);
    rig_run(&r);
    struct view_key k = look(&r);
    assert_false(k.flags & VIEW_KEY_TOLD);
    rig_fini(&r);
}

/* Of what is told and what the user states the smaller one binds. */
static void a_stated_window_below_what_is_told_binds(void **state)
{
    struct rig r;

    (void)state;
    open_under(&r, "adapt=step rate=5.5/s margin=0% window=58/10s");
    r.plan = tells_of_a_window;
    get(&r, 1);
    rig_run(&r);
    struct view_key k = look(&r);
    assert_false(k.flags & VIEW_KEY_TOLD);
    assert_true(k.bound.rate < 5.9);
    rig_fini(&r);
    open_under(&r, "adapt=step rate=5.5/s margin=0% window=90/10s");
    r.plan = tells_of_a_window;
    get(&r, 1);
    rig_run(&r);
    k = look(&r);
    assert_true(k.flags & VIEW_KEY_TOLD && k.limit == 6.0 && k.bound.rate == 6.0);
    rig_fini(&r);
}

/* While nothing has refused there is a pace, and no limit. */
static void a_limit_that_was_not_met_is_none(void **state)
{
    struct rig r;

    (void)state;
    open_under(&r, "");
    get(&r, 1);
    rig_run(&r);
    assert_true(learned_of(&r) == 0.0);
    rig_fini(&r);
    open_under(&r, "rate=200/s adapt=step");
    get(&r, 1);
    rig_run(&r);
    assert_true(learned_of(&r) == look(&r).limit);
    rig_fini(&r);
}

static struct plan boasts(struct rig *r, const struct attempt_request *q)
{
    (void)r;
    (void)q;
    return (struct plan){.answer_ns = 10 * MS,
                         .header = {{"X-RateLimit-Limit", "9000000000000000000"},
                                    {"X-RateLimit-Remaining", "8000000000000000000"},
                                    {"X-RateLimit-Reset", "60"}}};
}

/* Whatever a server says, there is a share of it to keep in reserve. */
static void the_largest_figures_are_reckoned_with(void **state)
{
    struct rig r;

    (void)state;
    open_under(&r, "adapt=off pacing=demand reserve=10%");
    r.plan = boasts;
    get(&r, 1);
    rig_run(&r);
    struct view_key k = look(&r);
    assert_int_equal(k.quota_limit, FB_QUOTA_MAX);
    assert_int_equal(k.quota_left, FB_QUOTA_MAX);
    assert_int_equal(k.bound.by, BOUND_QUOTA);
    assert_true(k.bound.rate > 0.8e12 / RESET_S && k.bound.rate < 1.2e12 / RESET_S);
    rig_fini(&r);
}

static void a_learned_limit_binds_where_nothing_else_does(void **state)
{
    struct rig r;

    (void)state;
    open_under(&r, "rate=200/s adapt=step");
    get(&r, 1);
    rig_run(&r);
    struct view_key k = look(&r);
    assert_int_equal(k.bound.by, BOUND_LEARNED);
    check_cell(put_rate, &k, r.now_ns, "0.00 / ~200/s");
    rig_fini(&r);
    open_under(&r, "rate=200/s");
    get(&r, 1);
    rig_run(&r);
    assert_int_equal(look(&r).bound.by, BOUND_STATED);
    rig_fini(&r);
    open_under(&r, "");
    get(&r, 1);
    rig_run(&r);
    k = look(&r);
    assert_int_equal(k.bound.by, BOUND_NOTHING);
    check_cell(put_rate, &k, r.now_ns, "0.00 / ?");
    rig_fini(&r);
}

static struct plan refuses(struct rig *r, const struct attempt_request *q)
{
    (void)q;
    return (struct plan){.answer_ns = 10 * MS,
                         .status = 429,
                         .header = {{r->more ? "X-Other" : "Retry-After", "90"}}};
}

/* The server's own words, not those of whoever learns: nothing is "climbing" now. */
static void a_hold_says_who_asked_for_it(void **state)
{
    struct rig r;

    (void)state;
    open_under(&r, "");
    r.plan = refuses;
    get(&r, 1);
    rig_run_until(&r, r.now_ns + 5 * S);
    struct view_key k = look(&r);
    assert_string_equal(k.cause, "hold");
    assert_string_equal(fb_view_key_because(&k, k.ready_ns - S), "Retry-After");
    assert_string_equal(fb_view_key_because(&k, k.ready_ns), "");
    assert_contains(k.why, "Next start in 1 min 2");
    assert_contains(k.why, ": Retry-After 90, told with a 429 ");
    assert_null(strstr(k.why, "climbing"));
    check_json(&k, k.seen_ns, "\"cause\":\"hold\",\"because\":\"Retry-After\"");
    end(&r);

    open_under(&r, "adapt=off");
    r.more = &r; /* a refusal that tells no time */
    r.plan = refuses;
    get(&r, 1);
    rig_run_until(&r, r.now_ns + S);
    k = look(&r);
    assert_string_equal(fb_view_key_because(&k, k.seen_ns), "refused");
    assert_contains(k.why, "a refusal holds the key");
    assert_false(k.flags & VIEW_KEY_PACED);
    end(&r);

    open_under(&r, ""); /* the same, and something learns: it tries one request */
    r.more = &r;
    r.plan = refuses;
    get(&r, 1);
    rig_run_until(&r, r.now_ns + 30 * MS);
    k = look(&r);
    assert_string_equal(k.cause, "hold");
    assert_contains(k.why, "a refusal told no time, and one request tries it then");
    assert_true(k.flags & VIEW_KEY_PACED && !(k.flags & VIEW_KEY_SPENT));
    end(&r);
}

static struct plan breaks(struct rig *r, const struct attempt_request *q)
{
    (void)r;
    (void)q;
    return (struct plan){.answer_ns = 10 * MS, .status = 500};
}

static void a_breaker_says_until_when(void **state)
{
    struct rig r;

    (void)state;
    open_under(&r, "adapt=off");
    r.plan = breaks;
    get(&r, 20);
    rig_run_until(&r, r.now_ns + 10 * S);
    struct view_key k = look(&r);
    assert_true(k.flags & VIEW_KEY_BROKEN);
    assert_int_equal(fb_view_key_state(&k, k.seen_ns), VIEW_critical); /* and not only held up */
    assert_true(k.broken_ns > k.seen_ns && k.broken_ns <= k.seen_ns + 300 * S);
    check_json(&k, k.seen_ns, "\"breaker_open\":true,\"breaker_until\":\"2023-");
    assert_string_equal(k.why, "Next start in 4 min 50 s: too many failures in a row, it is left "
                               "alone for a while; the last 20 answers were 500.");
    end(&r);
}

/* Only an answer can help. */
static void a_bound_of_the_engine_is_said_too(void **state)
{
    struct engine_options o = rig_options();
    struct rig r;

    (void)state;
    o.concurrency_key = 1;
    rig_open(&r, &o);
    get(&r, 2);
    rig_run_until(&r, r.now_ns + MS);
    struct view_key k = look(&r);
    assert_int_equal(k.ready_ns, VIEW_NEVER);
    assert_string_equal(k.why, "Waits: as many requests as allowed are under way.");
    rig_run(&r);
    rig_fini(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_window_is_a_limit),
        cmocka_unit_test(what_is_left_is_that_of_what_binds),
        cmocka_unit_test(of_learned_and_told_the_tighter_one_binds),
        cmocka_unit_test(a_quota_of_a_moment_is_no_limit_to_show),
        cmocka_unit_test(a_short_window_is_no_limit_of_the_moment),
        cmocka_unit_test(so_many_in_so_long_a_time_are_shown_as_told),
        cmocka_unit_test(what_is_told_is_shown_from_the_first_answer_on),
        cmocka_unit_test(the_rest_of_a_window_is_no_limit),
        cmocka_unit_test(what_is_told_no_longer_is_not_told),
        cmocka_unit_test(a_stated_window_below_what_is_told_binds),
        cmocka_unit_test(a_limit_that_was_not_met_is_none),
        cmocka_unit_test(the_largest_figures_are_reckoned_with),
        cmocka_unit_test(a_learned_limit_binds_where_nothing_else_does),
        cmocka_unit_test(a_hold_says_who_asked_for_it),
        cmocka_unit_test(a_breaker_says_until_when),
        cmocka_unit_test(a_bound_of_the_engine_is_said_too),
    };

    return cmocka_run_group_tests_name("show", tests, NULL, NULL);
}
