/* SPDX-License-Identifier: MIT */
/* Answers as people and programs read them, to the letter. */
#include "view_rig.h"

#include "view/audit.h"
#include "view/deferred.h"
#include "view/learned.h"
#include "view/limits.h"
#include "view/rows.h"
#include "view/status.h"
#include "view/table.h"

/* ------------------------------------------------------------------------------------- limits */

static void limits_are_laid_out_as_remaining_and_reset(void **state)
{
    struct view_key keys[] = {github("core", 4850, 5000, 42 * MIN + 30 * S),
                              github("search", 28, 30, 75 * S)};
    struct view_limits v = {.key = keys, .key_count = 2};
    struct buffer b = BUFFER_INIT;

    (void)state;
    keys[0].limit = keys[1].limit = 0.0;
    fb_view_limits_text(&v, &PLAIN, NOW, &b);
    check(&b, &PLAIN,
          "Rate Limit Status: HEALTHY \u25cf\n"
          "\n"
          "github/core:\n"
          "  Remaining: 4,850 / 5,000 (97%)\n"
          "  Resets in: 42m 30s\n"
          "\n"
          "github/search:\n"
          "  Remaining: 28 / 30 (93%)\n"
          "  Resets in: 1m 15s\n");
}

static void verbose_limits_say_where_they_are_from(void **state)
{
    struct view_key keys[] = {github("core", 700, 5000, 42 * MIN), held()};
    struct view_limits v = {.key = keys, .key_count = 2, .hidden = 3};
    struct view_style style = {.width = 80, .ascii = true, .verbose = true};
    struct buffer b = BUFFER_INIT;

    (void)state;
    fb_view_put(keys[0].spec, sizeof keys[0].spec, "window=900/1m");
    fb_view_put(keys[0].said_by, sizeof keys[0].said_by, "preset");
    fb_view_put(keys[0].credential, sizeof keys[0].credential, "a91f0123456789ab");
    keys[0].window_limit = 810;
    keys[0].window_stated = 900;
    keys[0].window_left = 800;
    keys[0].window_ns = MIN;
    keys[0].limit = 0.0;
    fb_view_limits_text(&v, &style, NOW, &b);
    check(&b, &style,
          "Rate Limit Status: CRITICAL #\n"
          "\n"
          "github/core (credential a91f):\n"
          "  Remaining: 700 / 5,000 (14%)\n"
          "  Resets in: 42m (15:14:07)\n"
          "  Window:    800 left; 900/min as stated, of which 810 are used at most\n"
          "  Stated:    window=900/1m (preset)\n"
          "  Told by:   x-ratelimit-*\n"
          "  Seen:      1 s ago (14:32:06)\n"
          "\n"
          "api.crossref.org:\n"
          "  Limit:     ~9.94/s, learned, confidence 92 %\n"
          "  Next:      in 41 s (14:32:48), because: hold\n"
          "  Refused:   3 s ago (14:32:04), status 429\n"
          "  Seen:      2 s ago (14:32:05)\n"
          "\n"
          "3 more with --all\n");
}

/* Neither a guess nor a margin: what the server and the operator say is shown as they say it. */
static void a_limit_that_is_told_is_shown_as_told(void **state)
{
    struct view_key key = crossref();
    struct view_limits v = {.key = &key, .key_count = 1};
    struct buffer b = BUFFER_INIT;

    (void)state;
    key.flags |= VIEW_KEY_TOLD;
    key.limit = 10.0;
    key.window_limit = key.window_stated = 20;
    key.window_left = 15;
    key.window_ns = S;
    fb_view_limits_text(&v, &PLAIN, NOW, &b);
    check(&b, &PLAIN,
          "Rate Limit Status: HEALTHY \u25cf\n\napi.crossref.org:\n"
          "  Window:    15 left; 20/s as stated\n"
          "  Limit:     10.0/s, as the server tells\n");
    fb_view_limits_json(&v, NOW, &b);
    json_t *j = check_json(&b, "flyball.limits/1");
    const json_t *only = json_array_get(json_object_get(j, "limits"), 0);
    assert_true(json_is_true(json_object_get(only, "limit_told")));
    assert_int_equal(number(json_object_get(only, "window"), "stated"), 20);
    json_decref(j);
    key.window_limit = 0;
    fb_view_key_left(&key, NOW, &b);
    check(&b, &PLAIN, "");
    key.quota_limit = 100;
    key.quota_window_ns = 10 * S;
    key.quota_reset_ns = NOW - S;
    fb_view_limits_text(&v, &PLAIN, NOW, &b);
    check(&b, &PLAIN,
          "Rate Limit Status: HEALTHY \u25cf\n\napi.crossref.org:\n"
          "  Limit:     10.0/s, as the server tells: 100/10s\n");
    key.quota_limit = 0;
}

/* Stopped soon after the first refusal: it holds, and the limit is not known yet. */
static void a_limit_that_is_being_learned_says_so(void **state)
{
    struct view_key key = held();
    struct view_limits v = {.key = &key, .key_count = 1};
    struct buffer b = BUFFER_INIT;

    (void)state;
    key.flags = VIEW_KEY_LEARNING;
    fb_view_limits_text(&v, &PLAIN, NOW, &b);
    check(&b, &PLAIN,
          "Rate Limit Status: WARNING \u25b2\n\napi.crossref.org:\n"
          "  Limit:     not known yet; being learned\n"
          "  Next:      in 41 s (14:32:48), because: hold\n");
    key.flags |= VIEW_KEY_LEARNED;
    fb_view_key_left(&key, NOW, &b); /* what is not known has no confidence */
    check(&b, &PLAIN, "");
    key.flags = VIEW_KEY_LEARNING;
    key.refused_ns = 0; /* counted, and by an earlier run */
    key.ready_ns = 0;
    fb_view_limits_text(&v, &PLAIN, NOW, &b);
    check(&b, &PLAIN,
          "Rate Limit Status: HEALTHY \u25cf\n\napi.crossref.org:\n"
          "  Limit:     not known yet; being learned\n");
    key.refused = 0;
    fb_view_limits_text(&v, &PLAIN, NOW, &b);
    check(&b, &PLAIN,
          "Rate Limit Status: HEALTHY \u25cf\n\napi.crossref.org:\n"
          "  Limit:     not known yet; nothing has refused in this run\n");
}

static void a_narrow_window_folds_at_blanks(void **state)
{
    struct view_key key = held();
    struct view_limits v = {.key = &key, .key_count = 1};
    struct view_style style = {.width = 36, .ascii = true};
    struct buffer b = BUFFER_INIT;

    (void)state;
    fb_view_limits_text(&v, &style, NOW, &b);
    check(&b, &style,
          "Rate Limit Status: WARNING !\n"
          "\n"
          "api.crossref.org:\n"
          "  Limit:     ~9.94/s, learned,\n"
          "             confidence 92 %\n"
          "  Next:      in 41 s (14:32:48),\n"
          "             because: hold\n");
    fb_buffer_add_text(&b, "  one       a-word-that-is-wider-than-the-window and more\n");
    fb_view_fold(&b, 0, 12, &style);
    assert_string_equal(fb_buffer_text(&b), "  one       a-word-that-is-wider-than-the-window\n"
                                            "            and more\n");
    fb_buffer_fini(&b);
}

static void no_limit_is_an_answer_too(void **state)
{
    struct view_limits v = {.hidden = 0};
    struct view_key past = github("core", 0, 5000, -S);
    struct buffer b = BUFFER_INIT;

    (void)state;
    fb_view_limits_text(&v, &PLAIN, NOW, &b);
    check(&b, &PLAIN, "No limit is known yet. Try: flyball demo\n");
    v.hidden = 1;
    fb_view_limits_text(&v, &PLAIN, NOW, &b);
    check(&b, &PLAIN, "No limit is in use now; --all shows those known.\n");
    past.limit = 0.0;
    v = (struct view_limits){.key = &past, .key_count = 1};
    fb_view_limits_text(&v, &PLAIN, NOW, &b);
    check(&b, &PLAIN,
          "Rate Limit Status: HEALTHY \u25cf\n\ngithub/core:\n"
          "  Remaining: all of it, its reset is past\n");
}

static void health_has_four_states(void **state)
{
    static const struct {
        int64_t left;
        enum view_health health;
        enum view_state state;
    } CASES[] = {{100, VIEW_HEALTHY, VIEW_ok},       {51, VIEW_HEALTHY, VIEW_ok},
                 {50, VIEW_WARNING, VIEW_warning},   {20, VIEW_WARNING, VIEW_warning},
                 {19, VIEW_CRITICAL, VIEW_critical}, {1, VIEW_CRITICAL, VIEW_critical},
                 {0, VIEW_EXHAUSTED, VIEW_critical}};

    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        struct view_key k = github("core", CASES[i].left, 100, MIN);
        assert_int_equal(fb_view_health(&k, NOW), CASES[i].health);
        assert_int_equal(fb_view_key_state(&k, NOW), CASES[i].state);
        assert_int_equal(fb_view_health(&k, NOW + MIN), VIEW_HEALTHY);
    }
}

static void what_resets_in_a_moment_is_healthy(void **state)
{
    struct view_key k = github("core", 1, 20, S);

    (void)state;
    assert_int_equal(fb_view_health(&k, NOW), VIEW_HEALTHY);
    assert_int_equal(fb_view_health(&k, NOW - 10 * S), VIEW_CRITICAL);
    k.quota_reset_ns = 0; /* nobody said when */
    k.quota_window_ns = MIN;
    assert_int_equal(fb_view_health(&k, NOW), VIEW_CRITICAL);
    assert_int_equal(fb_view_key_state(&k, NOW), VIEW_critical);
}

/* Little is left near the end of every window; it is a concern if it does not last until then. */
static void a_quota_that_is_spent_evenly_is_no_concern(void **state)
{
    static const struct {
        int64_t left;
        int64_t reset_ns;
        enum view_state state;
    } CASES[] = {
        {100, 12 * MIN, VIEW_ok},      {81, 60 * MIN, VIEW_ok},      {17, 12 * MIN, VIEW_ok},
        {15, 12 * MIN, VIEW_critical}, {39, 30 * MIN, VIEW_warning}, {41, 30 * MIN, VIEW_ok},
        {0, 6 * MIN, VIEW_critical},   {1, 6 * MIN, VIEW_critical},  {1, 4 * S, VIEW_ok}};

    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        struct view_key k = github("core", CASES[i].left, 100, CASES[i].reset_ns);
        k.quota_window_ns = 60 * MIN;
        assert_int_equal(fb_view_key_state(&k, NOW), CASES[i].state);
        k.quota_window_ns = 0;
        k.quota_most_s = 3600; /* the longest that was told is how long it is at least */
        assert_int_equal(fb_view_key_state(&k, NOW), CASES[i].state);
    }
}

/* One rule for the cell and for whoever draws it himself. */
static void what_is_left_is_that_of_what_holds_it_up(void **state)
{
    struct view_key k = github("core", 700, 5000, 42 * MIN);
    struct buffer b = BUFFER_INIT;

    (void)state;
    assert_int_equal(fb_view_key_left_by(&k, NOW), VIEW_LEFT_QUOTA);
    k.window_limit = 810;
    k.window_ns = MIN;
    assert_int_equal(fb_view_key_left_by(&k, NOW), VIEW_LEFT_QUOTA);
    k.ready_ns = NOW + 5 * S;
    fb_view_put(k.cause, sizeof k.cause, "window");
    assert_int_equal(fb_view_key_left_by(&k, NOW), VIEW_LEFT_WINDOW);
    fb_view_key_left(&k, NOW, &b);
    check(&b, &PLAIN, "0 of 810/min");
    fb_view_key_json(&k, NOW, &b);
    assert_contains(fb_buffer_text(&b), "\"left_by\":\"window\"");
    fb_buffer_fini(&b);
    assert_int_equal(fb_view_key_left_by(&k, NOW + 5 * S), VIEW_LEFT_QUOTA);
    k.quota_limit = 0;
    assert_int_equal(fb_view_key_left_by(&k, NOW + 5 * S), VIEW_LEFT_WINDOW);
    k.window_limit = 0;
    assert_int_equal(fb_view_key_left_by(&k, NOW), VIEW_LEFT_NOTHING);
}

static void limits_in_json_have_numbers_and_instants(void **state)
{
    struct view_key keys[] = {github("core", 700, 5000, 90 * S), held()};
    struct view_limits v = {.key = keys, .key_count = 2};
    struct buffer b = BUFFER_INIT;

    (void)state;
    fb_view_limits_json(&v, NOW, &b);
    json_t *j = check_json(&b, "flyball.limits/1");
    const json_t *all = json_object_get(j, "limits");
    const json_t *quota = json_object_get(json_array_get(all, 0), "quota");
    const json_t *second = json_array_get(all, 1);

    assert_string_equal(json_string_value(json_object_get(j, "status")), "critical");
    assert_int_equal(json_array_size(all), 2);
    assert_int_equal(number(quota, "remaining"), 700);
    assert_string_equal(json_string_value(json_object_get(quota, "reset")), "2026-11-15T14:33:37Z");
    assert_close(number(quota, "reset_in_s"), 90.0, 1e-9);
    assert_string_equal(json_string_value(json_object_get(json_array_get(all, 0), "left_by")),
                        "quota");
    assert_null(json_object_get(second, "left_by"));
    assert_string_equal(json_string_value(json_object_get(second, "state")), "holding");
    assert_string_equal(json_string_value(json_object_get(second, "cause")), "hold");
    assert_close(number(second, "next_start_in_s"), 41.0, 1e-9);
    assert_int_equal(number(json_object_get(second, "last_refusal"), "status"), 429);
    json_decref(j);
}

/* ------------------------------------------------------------------------------------- status */

static void one_batch_is_told_in_full(void **state)
{
    struct view_batch one = batch();
    const struct view_batch *all[] = {&one};
    struct view_status v = {.batch = all, .batch_count = 1};
    struct buffer b = BUFFER_INIT;

    (void)state;
    fb_view_status_text(&v, &PLAIN, NOW, &b);
    check(
        &b, &PLAIN,
        "fetch-00c0ffee00c0ffee  \u25cf ok  process 4711\n"
        "  list      /home/me/urls.txt\n"
        "  output    /home/me/out.jsonl\n"
        "  items     412 of 600 (68 %): 410 ok, 2 failed\n"
        "  rate      9.70 items/s now, 3 in flight, 185 queued\n"
        "  ETA       in 19 s (14:32:26), bound by ~9.94/s\n"
        "  requests  417 sent, 2 throttled, 1 retry\n"
        "  answers   after 22 ms (p50), 310 ms (p95), 1.2 s (p99)\n"
        "  waited    bucket 32 s, hold 3.0 s\n"
        "  began     41 s ago (14:31:26)\n"
        "\n"
        "key               state  sent / limit    left           next start  queued  429s\n"
        "api.crossref.org  \u25cf ok   9.70 / ~9.94/s  learned, 92 %  in < 1 s       190     2\n");
}

static void an_ended_batch_says_how_and_how_to_go_on(void **state)
{
    struct view_batch one = batch();
    const struct view_batch *all[] = {&one};
    struct view_status v = {.batch = all, .batch_count = 1};
    struct buffer b = BUFFER_INIT;

    (void)state;
    one.running = 0;
    one.ended_ns = NOW - 5 * MIN;
    one.began_ns = one.ended_ns - 42 * S;
    one.exit_code = 130;
    one.key_count = 0;
    one.wait_count = 0;
    one.latency_p50_ns = 0;
    fb_view_status_text(&v, &PLAIN, NOW, &b);
    check(&b, &PLAIN,
          "fetch-00c0ffee00c0ffee  \u25cb not running\n"
          "  list      /home/me/urls.txt\n"
          "  output    /home/me/out.jsonl\n"
          "  items     412 of 600 (68 %): 410 ok, 2 failed\n"
          "  rate      9.70 items/s over the run: 412 in 42 s\n"
          "  requests  417 sent, 2 throttled, 1 retry\n"
          "  began     5m 42s ago (14:26:25)\n"
          "  ended     5m ago (14:27:07), exit 130\n"
          "  go on     flyball fetch urls.txt --jsonl out.jsonl\n");
    one.ended_ns = 0;
    fb_view_status_json(&v, NOW, &b);
    json_t *j = check_json(&b, "flyball.status/1");
    const json_t *items =
        json_object_get(json_array_get(json_object_get(j, "batches"), 0), "items");
    assert_int_equal(number(items, "ended"), 412);
    assert_int_equal(number(items, "earlier"), 0);
    assert_string_equal(json_string_value(json_object_get(j, "source")), "files");
    json_decref(j);
}

static void check_next(const struct view_batch *one, const char *expected)
{
    struct buffer b = BUFFER_INIT;

    fb_view_batch_next(one, &b);
    assert_string_equal(fb_buffer_text(&b), expected);
    fb_buffer_fini(&b);
}

/* What is done is not offered once more, and what failed only with the word that does it again. */
static void what_is_left_decides_what_is_next(void **state)
{
    struct view_batch one = batch();

    (void)state;
    one.running = 0;
    check_next(&one, one.command); /* it was killed */
    one.ended_ns = NOW - S;
    check_next(&one, one.command);
    one.total = 412;
    check_next(&one, "flyball fetch urls.txt --jsonl out.jsonl --retry-failed");
    fb_view_put(one.command, sizeof one.command, "flyball fetch --retry-failed urls.txt");
    check_next(&one, one.command);
    one.failed = 0;
    one.deferred = 2;
    check_next(&one, "flyball fetch --retry-failed urls.txt --deferred");
    one.total_grows = 1; /* its list was not read to its end */
    check_next(&one, one.command);
    one.total_grows = 0;
    one.deferred = 0;
    one.done = 412;
    check_next(&one, "");
    assert_true(fb_view_batch_is_over(&one));
    one.total = 600;
    one.command[0] = '\0';
    check_next(&one, "");
    assert_false(fb_view_batch_is_over(&one));
}

/* From files the keys are those of the batches; of one in several what was seen last. */
static void keys_of_batches_are_told_once(void **state)
{
    struct view_batch first = batch();
    struct view_batch second = batch();
    const struct view_batch *all[] = {&first, &second};
    struct view_status v = {.batch = all, .batch_count = 2};
    struct view_daemon d = {.version = "1", .pid = 7, .began_ns = NOW - MIN};
    struct buffer b = BUFFER_INIT;

    (void)state;
    second.key[0].seen_ns++;
    second.key[0].rate = 1.5;
    second.key[1] = github("core", 700, 5000, 90 * S);
    second.key_count = 2;
    for (int same = 0; same < 2; same++) {
        fb_view_status_json(&v, NOW, &b);
        json_t *j = check_json(&b, "flyball.status/1");
        const json_t *keys = json_object_get(j, "keys");
        assert_int_equal(json_array_size(keys), 2);
        assert_close(number(json_array_get(keys, 0), "rate_per_s"), same ? 9.7 : 1.5, 1e-9);
        json_decref(j);
        second.key[0].seen_ns = first.key[0].seen_ns; /* then the first has it */
    }
    v.daemon = &d; /* which has keys of its own, if any */
    fb_view_status_json(&v, NOW, &b);
    json_t *j = check_json(&b, "flyball.status/1");
    assert_int_equal(json_array_size(json_object_get(j, "keys")), 0);
    json_decref(j);
    v.daemon = NULL; /* a report has its own, too */
    v.key = first.key;
    v.key_count = 1;
    fb_view_status_json(&v, NOW, &b);
    j = check_json(&b, "flyball.status/1");
    assert_int_equal(json_array_size(json_object_get(j, "keys")), 1);
    json_decref(j);
}

static void several_batches_are_a_table(void **state)
{
    struct view_batch first = batch();
    struct view_batch second = batch();
    const struct view_batch *all[] = {&first, &second};
    struct view_status v = {.batch = all, .batch_count = 2};
    struct buffer b = BUFFER_INIT;

    (void)state;
    first.key[0] = held();
    second.running = 0;
    second.ended_ns = 0;
    second.updated_ns = NOW - 5 * MIN;
    fb_view_status_text(&v, &PLAIN, NOW, &b);
    check(&b, &PLAIN,
          "batch           state      items              failed  items/s  until\n"
          "fetch-00c0ffee  \u2016 holding  412 of 600 (68 %)       2     9.70  in 19 s\n"
          "fetch-00c0ffee  \u25cb idle     412 of 600 (68 %)       2     9.70  5m ago, killed\n");
    fb_view_put(second.name, sizeof second.name,
                "batch-1794753127-12"); /* was given, and is whole */
    fb_view_put(first.name, sizeof first.name, "fetch-of-mine-of-today");
    fb_view_status_text(&v, &PLAIN, NOW, &b);
    check(&b, &PLAIN,
          "batch                   state      items              failed  until\n"
          "fetch-of-mine-of-today  \u2016 holding  412 of 600 (68 %)       2  in 19 s\n"
          "batch-1794753127-12     \u25cb idle     412 of 600 (68 %)       2  5m ago, killed\n");
    fb_view_status_text(&(struct view_status){0}, &PLAIN, NOW, &b);
    check(&b, &PLAIN, "No batch is known. Try: flyball fetch urls.txt\n");
}

/* Servers that answer are well, items that fail are not. */
static void what_fails_is_seen_at_once(void **state)
{
    struct view_batch some = batch();
    const struct view_batch *all[] = {&some};
    struct view_daemon d = {.version = "1", .pid = 7, .began_ns = NOW - MIN, .grade = "healthy"};
    struct view_status v = {.daemon = &d, .batch = all, .batch_count = 1};
    struct buffer b = BUFFER_INIT;
    static const struct {
        int64_t done, failed, unknown;
        enum view_state state;
    } CASES[] = {{0, 4, 0, VIEW_ok},        {0, 5, 0, VIEW_critical}, {1, 3, 1, VIEW_critical},
                 {3, 4, 0, VIEW_warning},   {4, 1, 0, VIEW_warning},  {5, 1, 0, VIEW_ok},
                 {0, 0, 20, VIEW_critical}, {410, 2, 0, VIEW_ok}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        some.done = CASES[i].done;
        some.failed = CASES[i].failed;
        some.unknown = CASES[i].unknown;
        assert_int_equal(fb_view_batch_state(&some, NOW), CASES[i].state);
    }
    fb_view_status_text(&v, &PLAIN, NOW, &b);
    assert_contains(fb_buffer_text(&b), "): providers healthy, 2 of 412 items failed\n");
    fb_buffer_clear(&b);
    some.failed = 0;
    fb_view_status_text(&v, &PLAIN, NOW, &b);
    assert_contains(fb_buffer_text(&b), "): healthy\n");
    fb_buffer_clear(&b);
    some.failed = 412;
    some.running = 0; /* that is over */
    fb_view_status_text(&v, &PLAIN, NOW, &b);
    assert_contains(fb_buffer_text(&b), "): healthy\n");
    fb_buffer_fini(&b);
}

static void top_fits_the_screen(void **state)
{
    struct view_batch first = batch();
    const struct view_batch *all[] = {&first};
    struct view_status v = {.batch = all, .batch_count = 1};
    struct view_style style = {.width = 60, .rows = 24, .zone_s = 3600};
    struct buffer b = BUFFER_INIT;

    (void)state;
    first.key[1] = held();
    first.key_count = 2;
    fb_view_top_text(&v, &style, NOW, &b);
    check(&b, &style,
          "flyball  15:32:07  \u2016 1 holding  \u25cf 1 ok\n"
          "\n"
          "batch           state      items              until\n"
          "fetch-00c0ffee  \u2016 holding  412 of 600 (68 %)  in 19 s\n"
          "\n"
          "key               state      sent / limit    next start\n"
          "api.crossref.org  \u2016 holding  9.70 / ~9.94/s  in 41 s\n"
          "api.crossref.org  \u25cf ok       9.70 / ~9.94/s  in < 1 s\n");
    style.rows = 4;
    fb_view_top_text(&v, &style, NOW, &b);
    check(&b, &style,
          "flyball  15:32:07  \u2016 1 holding  \u25cf 1 ok\n"
          "\n"
          "batch           state      items              until\n"
          "5 more lines\n");
    fb_view_top_json(&v, NOW, &b);
    json_decref(check_json(&b, "flyball.top/1"));
}

/* Whatever the width, no line is wider, and nothing is written past the end. */
static void no_width_is_exceeded(void **state)
{
    struct view_batch first = batch();
    const struct view_batch *all[] = {&first, &first};

    (void)state;
    for (size_t width = 12; width < 200; width++) {
        struct view_style style = {.width = width};
        struct buffer b = BUFFER_INIT;

        fb_view_batches_table(all, 2, &style, NOW, &b);
        char *copy = strdup(fb_buffer_text(&b));
        check(&b, &style, copy);
        free(copy);
    }
}

static void colour_is_added_to_the_words(void **state)
{
    static const struct view_column COLUMNS[] = {{.title = "a", .keep = 99},
                                                 {.title = "state", .keep = 99, .is_state = true},
                                                 {.title = "b", .keep = 99}};
    struct view_style style = {.color = true};
    struct buffer b = BUFFER_INIT;
    struct view_table t;

    (void)state;
    fb_view_table_init(&t, COLUMNS, 3);
    fb_view_table_add(&t, "x\ny");
    fb_view_table_add(&t, "holding");
    fb_view_table_add(&t, "\x1b[2J");
    fb_view_table_print(&t, &style, false, &b);
    fb_view_table_fini(&t);
    check(&b, &style, "x?y  \x1b[35m\u2016 holding\x1b[0m  ?[2J\n");
}

/* What colours a word takes no room in a window. */
static void colour_has_no_width(void **state)
{
    struct view_batch one = batch();
    const struct view_batch *all[] = {&one};
    struct view_status v = {.batch = all, .batch_count = 1};
    struct view_style style = {.color = true, .width = 40};
    struct buffer b = BUFFER_INIT;

    (void)state;
    one.running = 0;
    fb_view_status_text(&v, &style, NOW, &b);
    assert_contains(fb_buffer_text(&b), "ffee  \x1b[2m\u25cb not running\x1b[0m\n  list");
    fb_buffer_fini(&b);
}

/* -------------------------------------------------------------------------------- the others */

static void learned_is_a_table(void **state)
{
    static const struct view_learned_row ROW = {.provider = "api.crossref.org",
                                                .host = "api.crossref.org",
                                                .pool = "default",
                                                .by = "probe",
                                                .rate = 9.94,
                                                .confidence = 0.92,
                                                .recovery_ns = 1 * S,
                                                .changed_ns = NOW - 5 * MIN,
                                                .saved_ns = NOW - 10 * S};
    static const struct view_learned_event EVENT = {.provider = "api.crossref.org",
                                                    .pool = "default",
                                                    .kind = "lowered",
                                                    .why = "probe",
                                                    .before = 12.4,
                                                    .after = 9.94,
                                                    .at_ns = NOW - 5 * MIN};
    struct view_learned v = {.row = &ROW, .row_count = 1, .event = &EVENT, .event_count = 1};
    struct view_style style = {.width = 90, .verbose = true};
    struct buffer b = BUFFER_INIT;

    (void)state;
    fb_view_learned_text(&v, &style, NOW, &b);
    check(&b, &style,
          "provider          pool   limit  confidence  refusals last  by     changed  saved\n"
          "api.crossref.org  -     9.94/s        92 %          1.0 s  probe  5m ago   10 s ago\n"
          "\n"
          "when    provider          pool  what     limit           by\n"
          "5m ago  api.crossref.org  -     lowered  12.4 -> 9.94/s  probe\n");
    fb_view_learned_json(&v, NOW, &b);
    json_t *j = check_json(&b, "flyball.learned/1");
    const json_t *row = json_array_get(json_object_get(j, "learned"), 0);
    assert_close(number(row, "limit_per_s"), 9.94, 1e-9);
    assert_close(number(row, "changed_in_s"), -300.0, 1e-9);
    assert_int_equal(json_array_size(json_object_get(j, "events")), 1);
    json_decref(j);
    v = (struct view_learned){.row_count = 0};
    fb_view_learned_text(&v, &style, NOW, &b);
    check(&b, &style, "Nothing has been learned yet. Try: flyball demo\n");
}

static void deferred_is_a_table(void **state)
{
    static const struct view_deferred_row ROWS[] = {
        {"7", "https://a.example/7", "throttled", "urls.txt", "", 7, 1794753127 + 3600, 1794753000},
        {"8", "https://a.example/8", "robots", "urls.txt", "", 8, 0, 1794753000},
    };
    struct view_deferred v = {.row = ROWS, .row_count = 2};
    struct buffer b = BUFFER_INIT;

    (void)state;
    fb_view_deferred_text(&v, &PLAIN, NOW, &b);
    check(&b, &PLAIN,
          "not before  from now  item  where                why        list\n"
          "15:32:07    in 1h     7     https://a.example/7  throttled  urls.txt\n"
          "not known             8     https://a.example/8  robots     urls.txt\n");
    fb_view_deferred_json(&v, NOW, &b);
    json_t *j = check_json(&b, "flyball.deferred/1");
    assert_int_equal(json_array_size(json_object_get(j, "deferred")), 2);
    json_decref(j);
}

static void audit_is_a_line_for_each_event(void **state)
{
    static const struct view_audit_event EVENTS[] = {
        {.at_ns = NOW - S,
         .provider = "github",
         .pool = "core",
         .kind = "hold",
         .cause = "retry-after",
         .until_ns = NOW + 40 * S,
         .took_ns = 1500 * MS,
         .text = "held for 41 s"},
        {.at_ns = NOW - 2 * 86400 * S,
         .kind = "reload",
         .cause = "operator",
         .item = "m1",
         .outcome = "refused",
         .text = "flyball.yaml read"},
    };
    struct view_audit v = {.event = EVENTS, .event_count = 2};
    struct buffer b = BUFFER_INIT;

    (void)state;
    fb_view_audit_text(&v, &PLAIN, NOW, &b);
    check(&b, &PLAIN,
          "time                 key          event   cause\n"
          "14:32:06             github/core  hold    retry-after  held for 41 s\n"
          "2026-11-13 14:32:07               reload  operator     flyball.yaml read\n");
    struct view_style wide = PLAIN;
    wide.width = 100;
    fb_view_audit_text(&v, &wide, NOW, &b);
    check(&b, &wide,
          "time                 key          event   cause        outcome\n"
          "14:32:06             github/core  hold    retry-after           held for 41 s\n"
          "2026-11-13 14:32:07               reload  operator     refused  flyball.yaml read\n");
    fb_view_audit_json(&v, NOW, &b);
    json_t *j = check_json(&b, "flyball.audit/1");
    const json_t *first = json_array_get(json_object_get(j, "events"), 0);
    const json_t *second = json_array_get(json_object_get(j, "events"), 1);
    assert_true(json_is_null(json_object_get(second, "provider")));
    assert_true(json_is_null(json_object_get(first, "item")));
    assert_string_equal(json_string_value(json_object_get(second, "item")), "m1");
    assert_string_equal(json_string_value(json_object_get(second, "outcome")), "refused");
    assert_null(json_object_get(second, "until"));
    assert_true(json_real_value(json_object_get(first, "took_s")) > 1.4);
    assert_non_null(json_object_get(first, "until_in_s"));
    json_decref(j);
}

static void names_are_cut_at_whole_characters(void **state)
{
    char field[6];

    (void)state;
    fb_view_put(field, sizeof field, "ab\u20accd");
    assert_string_equal(field, "ab\u20ac");
    fb_view_put(field, sizeof field, "abc\u20ac");
    assert_string_equal(field, "abc");
    fb_view_put(field, sizeof field, "abcdefg");
    assert_string_equal(field, "abcde");
}

static void instants_are_said_from_now(void **state)
{
    static const struct {
        int64_t at_ns;
        const char *text;
    } CASES[] = {{NOW + 41 * S, "in 41 s (14:32:48)"},
                 {NOW + 41 * S + 1, "in 41 s (14:32:49)"},
                 {NOW - 41 * S, "41 s ago (14:31:26)"},
                 {NOW, "< 1 s ago (14:32:07)"},
                 {NOW + 2 * 86400 * S, "in 2d (2026-11-17 14:32:07)"}};

    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        struct buffer b = BUFFER_INIT;
        fb_words_when(CASES[i].at_ns, NOW, 0, &b);
        assert_string_equal(fb_buffer_text(&b), CASES[i].text);
        fb_buffer_fini(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_are_laid_out_as_remaining_and_reset),
        cmocka_unit_test(verbose_limits_say_where_they_are_from),
        cmocka_unit_test(a_limit_that_is_told_is_shown_as_told),
        cmocka_unit_test(a_limit_that_is_being_learned_says_so),
        cmocka_unit_test(a_narrow_window_folds_at_blanks),
        cmocka_unit_test(no_limit_is_an_answer_too),
        cmocka_unit_test(health_has_four_states),
        cmocka_unit_test(what_resets_in_a_moment_is_healthy),
        cmocka_unit_test(a_quota_that_is_spent_evenly_is_no_concern),
        cmocka_unit_test(what_is_left_is_that_of_what_holds_it_up),
        cmocka_unit_test(limits_in_json_have_numbers_and_instants),
        cmocka_unit_test(one_batch_is_told_in_full),
        cmocka_unit_test(an_ended_batch_says_how_and_how_to_go_on),
        cmocka_unit_test(what_is_left_decides_what_is_next),
        cmocka_unit_test(keys_of_batches_are_told_once),
        cmocka_unit_test(several_batches_are_a_table),
        cmocka_unit_test(what_fails_is_seen_at_once),
        cmocka_unit_test(top_fits_the_screen),
        cmocka_unit_test(no_width_is_exceeded),
        cmocka_unit_test(colour_is_added_to_the_words),
        cmocka_unit_test(colour_has_no_width),
        cmocka_unit_test(learned_is_a_table),
        cmocka_unit_test(deferred_is_a_table),
        cmocka_unit_test(audit_is_a_line_for_each_event),
        cmocka_unit_test(names_are_cut_at_whole_characters),
        cmocka_unit_test(instants_are_said_from_now),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
