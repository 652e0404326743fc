/* SPDX-License-Identifier: MIT */
/* Until when, because of what, and what would change it, to the letter. */
#include "view_rig.h"

#include "view/limits.h"
#include "view/status.h"
#include "view/why.h"

static void why_says_until_when_and_what_would_change_it(void **state)
{
    struct view_why v = {.subject = "https://api.crossref.org/works/1",
                         .verdict = VIEW_VERDICT_waits,
                         .until_ns = NOW + 41 * S,
                         .source = "process 4711, which runs",
                         .batch = "fetch-00c0ffee00c0ffee",
                         .item = "17",
                         .has_key = true};
    struct buffer b = BUFFER_INIT;

    (void)state;
    v.key = held();
    fb_view_why_text(&v, &PLAIN, NOW, &b);
    check(&b, &PLAIN,
          "https://api.crossref.org/works/1\n"
          "\u2016 waits until 14:32:48, in 41 s\n"
          "  because  hold: a refusal holds the whole key\n"
          "  rule     Retry-After: 44, with status 429\n"
          "  key      api.crossref.org, 190 queued\n"
          "  refused  3 s ago (14:32:04), item 12482\n"
          "  batch    fetch-00c0ffee00c0ffee, item 17\n"
          "  change   only time: the server asked for it, and nothing here shortens it.\n"
          "           Another credential has a budget of its own.\n"
          "  source   process 4711, which runs\n");
    fb_view_why_json(&v, NOW, &b);
    json_t *j = check_json(&b, "flyball.why/1");
    assert_string_equal(json_string_value(json_object_get(j, "cause")), "hold");
    assert_string_equal(json_string_value(json_object_get(j, "rule")),
                        "Retry-After: 44, with status 429");
    assert_close(number(j, "until_in_s"), 41.0, 1e-9);
    assert_non_null(json_object_get(j, "change"));
    json_decref(j);
}

/* Nobody asked for it: what was learned is used up, or has to be tried. */
static void what_learns_is_not_told_as_the_server(void **state)
{
    struct view_why v = {.subject = "x", .verdict = VIEW_VERDICT_waits, .until_ns = NOW + 41 * S};
    struct buffer b = BUFFER_INIT;

    (void)state;
    v.has_key = true;
    v.key = held();
    v.key.queued = 0;
    v.key.retry_after_ns = 0;
    v.key.flags |= VIEW_KEY_PACED;
    assert_string_equal(fb_view_key_because(&v.key, NOW), "refused");
    assert_int_equal(fb_view_health(&v.key, NOW), VIEW_WARNING);
    fb_view_why_text(&v, &PLAIN, NOW, &b);
    check(&b, &PLAIN,
          "x\n\u2016 waits until 14:32:48, in 41 s\n"
          "  because  hold: no server said for how long: one request tries it then\n"
          "  rule     status 429, without a time\n"
          "  key      api.crossref.org\n"
          "  refused  3 s ago (14:32:04), item 12482\n"
          "  change   the answer to that request.\n");
    v.key.quota_limit = v.key.quota_left = 100; /* however much is left */
    v.key.quota_reset_ns = NOW + 3600 * S;
    assert_int_equal(fb_view_health(&v.key, NOW), VIEW_WARNING);
    v.key.quota_limit = v.key.quota_left = v.key.quota_reset_ns = 0;
    v.key.flags |= VIEW_KEY_SPENT;
    assert_string_equal(fb_view_key_because(&v.key, NOW), "learned");
    assert_int_equal(fb_view_health(&v.key, NOW), VIEW_HEALTHY);
    fb_view_why_text(&v, &PLAIN, NOW, &b);
    check(&b, &PLAIN,
          "x\n\u2016 waits until 14:32:48, in 41 s\n"
          "  because  hold: what the learned limit allows until then is used up\n"
          "  rule     learned: ~9.94/s, confidence 92 %\n"
          "  key      api.crossref.org\n"
          "  refused  3 s ago (14:32:04), item 12482\n"
          "  change   only time: then it goes on by itself. --limit states a limit,\n"
          "           'flyball learned reset' begins anew.\n");
    v.key.quota_limit = 50; /* by what the server tells of it */
    v.key.quota_reset_ns = NOW + 41 * S;
    fb_view_put(v.key.told_by, sizeof v.key.told_by, "x-ratelimit-remaining");
    fb_view_why_text(&v, &PLAIN, NOW, &b);
    check(&b, &PLAIN,
          "x\n\u2016 waits until 14:32:48, in 41 s\n"
          "  because  hold: what the server says is left until then is used up\n"
          "  rule     x-ratelimit-remaining: 0 of 50 left\n"
          "  key      api.crossref.org\n"
          "  left     0 of 50, full again in 41 s (14:32:48)\n"
          "  refused  3 s ago (14:32:04), item 12482\n"
          "  change   only time: its reset, and nothing here brings that nearer.\n");
    v.key.quota_limit = v.key.quota_reset_ns = 0;
    v.key.told_by[0] = '\0';
    fb_view_put(v.key.cause, sizeof v.key.cause, "ramp");
    v.key.flags &= ~VIEW_KEY_SPENT;
    v.until_ns = VIEW_NEVER;
    fb_view_why_text(&v, &PLAIN, NOW, &b);
    check(&b, &PLAIN,
          "x\n\u2016 waits until an answer comes\n"
          "  because  ramp: one request is out to see how the others may go on\n"
          "  rule     status 429, without a time\n"
          "  key      api.crossref.org\n"
          "  refused  3 s ago (14:32:04), item 12482\n"
          "  change   its answer.\n");
}

#define AGAIN "  change   running its batch again with --deferred, at that time.\n"

/* Every time on the clock of whoever reads it. */
static void what_is_past_is_told_in_plain_words(void **state)
{
    struct view_why v = {
        .subject = "the last wait", .verdict = VIEW_VERDICT_waited, .until_ns = NOW - 65 * S};
    struct view_style style = PLAIN;
    struct buffer b = BUFFER_INIT;

    (void)state;
    style.zone_s = 3600;
    fb_view_why_text(&v, &style, NOW, &b);
    check(&b, &style, "the last wait\n\u25cf waits no longer; it did until 1m 5s ago (15:31:02)\n");
    v.verdict = VIEW_VERDICT_deferred;
    fb_view_why_text(&v, &style, NOW, &b);
    check(&b, &style, "the last wait\n\u2016 deferred; due 1m 5s ago (15:31:02)\n" AGAIN);
    v.until_ns = NOW + 41 * S;
    fb_view_why_text(&v, &style, NOW, &b);
    check(&b, &style, "the last wait\n\u2016 deferred until 15:32:48, in 41 s\n" AGAIN);
}

static void judge(const struct view_key *k, bool sends, struct view_why *ret_why)
{
    *ret_why = (struct view_why){.subject = "x"};
    fb_view_why_judge(k, sends, NOW, ret_why);
}

/* What was seen is a moment old: at a pace the next one waits again, and until when is said. */
static void a_wait_at_a_pace_has_an_end(void **state)
{
    struct view_key k = crossref();
    struct buffer b = BUFFER_INIT;
    struct view_why v;

    (void)state;
    k.pace = 0.5;
    k.ready_ns = NOW - 3 * S;
    judge(&k, true, &v);
    assert_true(v.verdict == VIEW_VERDICT_waits && v.until_ns == NOW + S);
    fb_view_why_text(&v, &PLAIN, NOW, &b);
    check(&b, &PLAIN,
          "x\n\u2016 waits until 14:32:08, in 1 s\n"
          "  because  bucket: the rate allows no more yet\n"
          "  rule     learned: ~9.94/s, confidence 92 %\n"
          "  key      api.crossref.org, 190 queued\n"
          "  change   answers: the pace rises by itself while nothing refuses. --limit\n"
          "           states one, 'flyball learned reset' begins anew.\n");
    fb_view_key_next(&k, NOW, &b); /* as the table has it */
    assert_string_equal(fb_buffer_text(&b), "in 1 s");
    fb_buffer_fini(&b);
    judge(&k, false, &v); /* nobody sends any more */
    assert_true(v.verdict == VIEW_VERDICT_now && v.until_ns == 0);
    k.pace = 1e-30; /* for ever, about */
    assert_true(fb_view_key_next_ns(&k, NOW) > NOW + 86400 * S);
    k.pace = 0.0; /* none is kept */
    judge(&k, true, &v);
    assert_int_equal(v.verdict, VIEW_VERDICT_now);
}

/* A hold and a quota whose end is past are not what a request would wait for. */
static void what_is_over_is_not_said(void **state)
{
    struct view_key k = held();
    struct buffer b = BUFFER_INIT;
    struct view_why v;

    (void)state;
    k.pace = 10.0;
    k.ready_ns = NOW - S;
    k.queued = 1;
    judge(&k, true, &v);
    fb_view_why_text(&v, &PLAIN, NOW, &b);
    check(&b, &PLAIN,
          "x\n\u25cf a request may start now\n"
          "  rule     learned: ~9.94/s, confidence 92 %\n"
          "  key      api.crossref.org, 1 queued\n"
          "  refused  3 s ago (14:32:04), item 12482\n");
    k = github("core", 0, 50, -S);
    k.queued = 0;
    judge(&k, false, &v);
    fb_view_why_text(&v, &PLAIN, NOW, &b);
    check(&b, &PLAIN, "x\n\u25cf a request may start now\n  key      github/core\n");
    k.quota_reset_ns = NOW + 3 * S;
    k.quota_window_ns = 10 * S; /* as the server told it */
    judge(&k, false, &v);
    fb_view_why_text(&v, &PLAIN, NOW, &b);
    check(&b, &PLAIN,
          "x\n\u25cf a request may start now\n"
          "  rule     x-ratelimit-*: 0 of 50/10s left\n"
          "  key      github/core\n"
          "  left     0 of 50, full again in 3 s (14:32:10)\n");
}

static void check_why(const struct view_key *k, int64_t now_ns, const char *expected)
{
    struct buffer b = BUFFER_INIT;

    fb_view_key_why(k, now_ns, &b);
    assert_string_equal(fb_buffer_text(&b), expected);
    fb_buffer_fini(&b);
}

/* Written a moment ago, read now. */
static void a_sentence_is_true_when_it_is_read(void **state)
{
    struct view_key k = crossref();

    (void)state;
    fb_view_put(k.why, sizeof k.why, "Next start in 109 ms: the rate: no more. 9.79/s now.");
    check_why(&k, NOW, "Next start in 50 ms: the rate: no more. 9.79/s now.");
    check_why(&k, k.ready_ns, "May start now. 9.79/s now.");
    fb_view_put(k.why, sizeof k.why, "Next start in 41 s: a refusal holds the key.");
    check_why(&k, k.ready_ns, "May start now.");
    fb_view_put(k.why, sizeof k.why, "Waits for an answer: one is out.");
    check_why(&k, NOW, k.why);
    k.why[0] = '\0';
    check_why(&k, NOW, "");
}

static void a_batch_that_has_ended_tells_what_it_waited_for(void **state)
{
    struct view_why v = {.subject = "the last wait",
                         .verdict = VIEW_VERDICT_waited,
                         .until_ns = NOW - 65 * S,
                         .lasted_ns = 5200 * MS,
                         .batch = "fetch-00c0ffee00c0ffee",
                         .progress = "412 of 600 (68 %)",
                         .wait_count = 2,
                         .wait = {{"bucket", 32 * S}, {"hold", 3 * S}},
                         .next = "flyball fetch urls.txt --jsonl out.jsonl",
                         .has_key = true};
    struct buffer b = BUFFER_INIT;

    (void)state;
    v.key = held();
    fb_view_why_text(&v, &PLAIN, NOW, &b);
    check(&b, &PLAIN,
          "the last wait\n"
          "\u25cf waits no longer; it did for 5.2 s, until 1m 5s ago (14:31:02)\n"
          "  because  hold: a refusal holds the whole key\n"
          "  rule     Retry-After: 44, with status 429\n"
          "  key      api.crossref.org, 190 queued then\n"
          "  refused  3 s ago (14:32:04), item 12482\n"
          "  batch    fetch-00c0ffee00c0ffee, 412 of 600 (68 %)\n"
          "  in all   bucket 32 s, hold 3.0 s\n"
          "  next     flyball fetch urls.txt --jsonl out.jsonl\n");
    fb_view_why_json(&v, NOW, &b);
    json_t *j = check_json(&b, "flyball.why/1");
    assert_close(number(j, "lasted_s"), 5.2, 1e-9);
    assert_int_equal(json_array_size(json_object_get(j, "waits")), 2);
    assert_string_equal(json_string_value(json_object_get(j, "next")), v.next);
    json_decref(j);
}

static void a_rule_is_a_spec_or_what_was_learned(void **state)
{
    struct view_why v = {.subject = "x", .verdict = VIEW_VERDICT_waits, .until_ns = NOW + S};
    struct buffer b = BUFFER_INIT;

    (void)state;
    v.has_key = true;
    v.key = crossref();
    v.key.queued = 0;
    fb_view_why_text(&v, &PLAIN, NOW, &b);
    check(&b, &PLAIN,
          "x\n\u2016 waits until 14:32:08, in 1 s\n"
          "  because  bucket: the rate allows no more yet\n"
          "  rule     learned: ~9.94/s, confidence 92 %\n"
          "  key      api.crossref.org\n"
          "  change   answers: the pace rises by itself while nothing refuses. --limit\n"
          "           states one, 'flyball learned reset' begins anew.\n");
    fb_view_put(v.key.spec, sizeof v.key.spec, "rate=2/s");
    fb_view_put(v.key.said_by, sizeof v.key.said_by, "command line");
    fb_view_why_text(&v, &PLAIN, NOW, &b);
    check(&b, &PLAIN,
          "x\n\u2016 waits until 14:32:08, in 1 s\n"
          "  because  bucket: the rate allows no more yet\n"
          "  rule     rate=2/s (command line)\n"
          "  key      api.crossref.org\n"
          "  change   a higher rate= or burst= where the limit is stated.\n");
}

static void what_the_server_told_is_a_rule(void **state)
{
    struct view_why v = {.subject = "x", .verdict = VIEW_VERDICT_now, .has_key = true};
    struct buffer b = BUFFER_INIT;

    (void)state;
    v.key = github("core", 1712, 5000, 90 * S);
    v.key.queued = 0;
    v.key.told_ns = NOW - 3 * S;
    fb_view_why_text(&v, &PLAIN, NOW, &b);
    check(&b, &PLAIN,
          "x\n\u25cf a request may start now\n"
          "  rule     x-ratelimit-*: 1,712 of 5,000 left, told 3 s ago\n"
          "  key      github/core\n"
          "  left     1,712 of 5,000, full again in 1m 30s (14:33:37)\n");
    v.key.told_ns = 0;
    fb_view_why_text(&v, &PLAIN, NOW, &b);
    assert_contains(fb_buffer_text(&b), "of 5,000 left\n");
    fb_buffer_fini(&b);
}

/* Items are those of all runs; which of them this one did is said before what is its own. */
static void a_resumed_batch_says_what_is_of_which_run(void **state)
{
    struct view_batch one = batch();
    const struct view_batch *all[] = {&one};
    struct view_status v = {.batch = all, .batch_count = 1};
    struct buffer b = BUFFER_INIT;

    (void)state;
    one.running = 0;
    one.key_count = one.wait_count = one.latency_p50_ns = 0;
    one.ended_ns = NOW;
    one.earlier = 350;
    one.rate = 62.0 / 41.0;
    fb_view_status_text(&v, &PLAIN, NOW, &b);
    check(&b, &PLAIN,
          "fetch-00c0ffee00c0ffee  \u25cb not running\n"
          "  list      /home/me/urls.txt\n"
          "  output    /home/me/out.jsonl\n"
          "  items     412 of 600 (68 %): 410 ok, 2 failed\n"
          "  before    350 of them, in earlier runs; all below is of this run alone\n"
          "  rate      1.51 items/s over the run: 62 in 41 s\n"
          "  requests  417 sent, 2 throttled, 1 retry\n"
          "  began     41 s ago (14:31:26)\n"
          "  ended     < 1 s ago (14:32:07), exit 0\n"
          "  go on     flyball fetch urls.txt --jsonl out.jsonl\n");
    fb_view_status_json(&v, NOW, &b);
    json_t *j = check_json(&b, "flyball.status/1");
    const json_t *items =
        json_object_get(json_array_get(json_object_get(j, "batches"), 0), "items");
    assert_int_equal(number(items, "earlier"), 350);
    json_decref(j);
}

/* The same second in every answer, before it and after it. */
static void an_end_is_rounded_up_everywhere(void **state)
{
    int64_t end_ns = NOW + 41 * S + S / 3;
    struct buffer b = BUFFER_INIT;

    (void)state;
    fb_words_when(end_ns, NOW, 0, &b);
    fb_buffer_add_char(&b, ' ');
    fb_words_end(end_ns, NOW, 0, &b);
    fb_buffer_add_char(&b, ' ');
    fb_words_when_over(end_ns, NOW + MIN, 0, &b);
    assert_string_equal(fb_buffer_text(&b), "in 41 s (14:32:49) 14:32:49 19 s ago (14:32:49)");
    fb_buffer_clear(&b);
    fb_words_json_end(&b, "a", end_ns, NOW);
    fb_words_json_end(&b, "b", end_ns, NOW + MIN);
    fb_words_json_instant(&b, "c", end_ns, NOW + MIN); /* what has happened, in that second */
    assert_string_equal(fb_buffer_text(&b), "\"a\":\"2026-11-15T14:32:49Z\",\"a_in_s\":41.333,"
                                            "\"b\":\"2026-11-15T14:32:49Z\",\"b_in_s\":-18.667,"
                                            "\"c\":\"2026-11-15T14:32:48Z\",\"c_in_s\":-18.667");
    fb_buffer_fini(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_resumed_batch_says_what_is_of_which_run),
        cmocka_unit_test(an_end_is_rounded_up_everywhere),
        cmocka_unit_test(why_says_until_when_and_what_would_change_it),
        cmocka_unit_test(what_learns_is_not_told_as_the_server),
        cmocka_unit_test(what_is_past_is_told_in_plain_words),
        cmocka_unit_test(a_wait_at_a_pace_has_an_end),
        cmocka_unit_test(what_is_over_is_not_said),
        cmocka_unit_test(a_sentence_is_true_when_it_is_read),
        cmocka_unit_test(a_batch_that_has_ended_tells_what_it_waited_for),
        cmocka_unit_test(what_the_server_told_is_a_rule),
        cmocka_unit_test(a_rule_is_a_spec_or_what_was_learned),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
