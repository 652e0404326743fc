/* SPDX-License-Identifier: MIT */
/* The answer as a sentence: what is waited for, until when, and the pace that is kept. */
#include "unit.h"

#include <errno.h>

#include "core/accountant.h"
#include "core/hold.h"
#include "core/instant.h"
#include "core/spec.h"
#include "util/text.h"

static struct fly_why why(struct fly_limiter *l, int64_t now_ns, uint32_t cost)
{
    struct fly_why w = {.size = sizeof(w)};

    assert_int_equal(fly_limiter_why(l, now_ns, cost, &w), 0);
    return w;
}

static uint64_t take(struct fly_limiter *l, int64_t now_ns, uint32_t cost)
{
    uint64_t ticket = 0;

    assert_at_most(fly_limiter_take(l, now_ns, cost, &ticket), now_ns);
    return ticket;
}

static void may_start_now(void **state)
{
    struct fly_limiter *l = limiter("rate=10/s", 0);
    struct fly_why w = why(l, 0, 1);

    (void)state;
    assert_int_equal(w.until_ns, 0);
    assert_string_equal(w.cause, "go");
    assert_string_equal(w.text, "May start now. 10.0/s as stated.");
    fly_limiter_free(l);
}

static void waits_for_the_bucket(void **state)
{
    struct fly_limiter *l = limiter("rate=0.5/s burst=1", 0);

    (void)state;
    take(l, 0, 1);
    struct fly_why w = why(l, 0, 1);
    assert_int_equal(w.until_ns, 2 * S);
    assert_string_equal(w.cause, "bucket");
    assert_contains(w.text, "Next start in 2.0 s: ");
    assert_contains(w.text, "0.500/s as stated.");
    fly_limiter_free(l);
}

static void waits_for_a_window(void **state)
{
    struct fly_limiter *l = limiter("window=1/1h margin=0%", 0);

    (void)state;
    take(l, 0, 1);
    struct fly_why w = why(l, 10 * S, 1);
    assert_int_equal(w.until_ns, 3600 * S);
    assert_string_equal(w.cause, "window");
    assert_string_equal(w.text, "Next start in 59 min 50 s: a window is full, 1 in 1 h. "
                                "0.000278/s by the window that is stated.");
    fly_limiter_free(l);
}

static void of_several_windows_the_one_that_is_full_longest_is_named(void **state)
{
    struct fly_limiter *l = limiter("window=1/1s window=2/1m margin=0%", 0);

    (void)state;
    take(l, 0, 1);
    assert_contains(why(l, 0, 1).text, "a window is full, 1 in 1.0 s. 0.0333/s by the window");
    take(l, S, 1);
    assert_contains(why(l, S, 1).text, "a window is full, 2 in 1 min. ");
    fly_limiter_free(l);
}

static void a_margin_is_told_beside_what_is_stated(void **state)
{
    struct fly_limiter *l = limiter("window=10/1m margin=50%", 0);

    (void)state;
    take(l, 0, 5);
    assert_contains(why(l, 0, 1).text, "a window is full, 5 of 10 in 1 min. ");
    fly_limiter_free(l);
}

/* 6000 for an hour, of which `remaining` are left. */
static void tell(struct fly_limiter *l, int64_t remaining, int64_t now_ns)
{
    struct fly_outcome o = outcome(take(l, now_ns, 1), 200, now_ns);

    o.limit = 6000;
    o.remaining = remaining;
    o.reset_ns = 3600 * S;
    fly_limiter_report(l, now_ns, &o);
}

static void waits_for_a_quota_that_is_spread(void **state)
{
    struct fly_limiter *l = limiter("pacing=even ahead=1 adapt=off", 0);

    (void)state;
    assert_string_equal(why(l, 0, 1).text, "May start now. No rate is stated.");
    tell(l, 6000, 0);
    take(l, 0, 1);
    assert_contains(why(l, 0, 1).text, "ms: the quota told by the server is spread evenly: 5999 "
                                       "left, 600 kept in reserve, 5399 over 1 h");
    assert_contains(why(l, 0, 1).text, " = one each 0.667 s. 1.50/s by the quota that is told.");
    tell(l, 2400, S);
    take(l, 10 * S, 1);
    assert_contains(why(l, 10 * S, 1).text, "2398 left, 600 kept in reserve, 1798 over 59 min 5");
    assert_contains(why(l, 10 * S, 1).text, " x 1.5 = one each 3.00 s.");
    fly_limiter_free(l);
}

/* The pace of who learns is not the one that is kept. */
static void a_quota_that_is_spread_has_the_word(void **state)
{
    struct fly_limiter *l = limiter("pacing=even ahead=1 adapt=aimd rate=50/s ceiling=60/s", 0);

    (void)state;
    tell(l, 6000, 0);
    take(l, S, 1);
    assert_string_equal(why(l, S, 1).cause, "quota");
    assert_contains(why(l, S, 1).text, "one each 0.667 s. 1.50/s by the quota that is told.");
    assert_null(strstr(why(l, S, 1).text, "aimd"));
    fly_limiter_free(l);
}

static void waits_for_a_quota_that_is_used_up(void **state)
{
    struct fly_limiter *l = limiter("pacing=demand reserve=0% adapt=off", 0);

    (void)state;
    tell(l, 30, 0);
    assert_string_equal(why(l, 0, 1).text, "May start now. 0.00833/s by the quota that is told.");
    tell(l, 0, S);
    struct fly_why w = why(l, S, 1);
    assert_string_equal(w.cause, "quota");
    assert_contains(w.text, ": the quota told by the server is used up: 0 left, more in 59 min 5");
    fly_limiter_free(l);
    l = limiter("pacing=demand reserve=10% adapt=off window=60/1m margin=0%", 0);
    tell(l, 5, 0);
    assert_contains(why(l, 0, 1).text, "is used up: 5 left, 600 kept in reserve, more in 1 h");
    /* Of two amounts the tighter one. */
    assert_contains(why(l, 0, 1).text, ". 0.000278/s by the quota that is told.");
    fly_limiter_free(l);
}

/* The larger the cost, the sooner what is left is not enough. */
static void a_cost_that_is_more_than_what_is_left(void **state)
{
    struct fly_limiter *l = limiter("pacing=even adapt=off", 0);

    (void)state;
    tell(l, 30, 0);
    assert_contains(why(l, 0, 40).text, "is used up: 30 left, 600 kept in reserve, more in 1 h");
    fly_limiter_free(l);
}

static void waits_for_whoever_asks_what_the_next_quota_is(void **state)
{
    struct fly_limiter *l = limiter("pacing=even adapt=off", 0);

    (void)state;
    tell(l, 30, 0);
    take(l, 3700 * S, 1);
    assert_string_equal(why(l, 3700 * S, 1).text,
                        "Next start in 10 s: the quota told by the server is over, and one request "
                        "asks for the next. No rate is stated.");
    fly_limiter_free(l);
}

static void waits_for_a_hold(void **state)
{
    struct fly_limiter *l = limiter("rate=10/s", 0);
    struct fly_outcome o = outcome(take(l, 0, 1), 429, 0);

    (void)state;
    o.retry_after_ns = 6000 * S;
    fly_limiter_report(l, 0, &o);
    struct fly_why w = why(l, 0, 1);
    assert_at_least(w.until_ns, 6000 * S);
    assert_string_equal(w.cause, "hold");
    assert_string_equal(w.text, "Next start in 1 h 40 min: a refusal holds the key, which comes "
                                "back gently.");
    fly_limiter_free(l);
}

/* "No limit met yet" would be wrong right after a refusal, and no pace is kept. */
static void in_a_hold_who_learns_is_silent(void **state)
{
    struct fly_limiter *l = limiter("", 0);
    struct fly_outcome o = outcome(take(l, 0, 1), 429, 0);

    (void)state;
    o.retry_after_ns = 90 * S;
    fly_limiter_report(l, 0, &o);
    assert_string_equal(why(l, 0, 1).cause, "hold");
    assert_int_equal(why(l, 0, 1).text[strlen(why(l, 0, 1).text) - 1], '.');
    assert_null(strstr(why(l, 0, 1).text, "/s"));
    fly_limiter_free(l);
}

/* Held until then by whoever learns, and by a server until `asked_ns`: the sentence. */
static void check_paced(const struct accountant *books, int64_t at_ns, int64_t asked_ns,
                        const char *sentence)
{
    struct accountant a = *books;
    char buffer[256];
    struct text t;

    a.slot[FB_SLOT_hold + FB_HOLD_PACE_UNTIL] = at_ns;
    a.slot[FB_SLOT_hold + FB_HOLD_UNTIL] = asked_ns;
    struct verdict v = fb_accountant_ask(&a, 1, 0);
    assert_ptr_equal(v.cause, &fb_constraint_hold);
    fb_text_init(&t, buffer, sizeof(buffer));
    fb_accountant_explain(&a, &v, 1, 0, &t);
    assert_contains(buffer, sentence);
}

static struct accountant books_of(const char *spec)
{
    struct accountant a;
    struct spec s;

    assert_int_equal(fb_spec_read(spec, &s, NULL), 0);
    fb_accountant_init(&a, &s, NULL, 1, 0);
    return a;
}

/* No server asked for what was learned, and nobody says that one did. */
static void a_wait_of_what_learns_is_not_told_as_a_refusal(void **state)
{
    struct accountant a = books_of("");
    struct probe *p = &a.learned.probe;

    (void)state;
    check_paced(&a, 9 * S, FB_LONG_AGO,
                "Next start in 9.0 s: what the learned limit allows until then is used up.");
    check_paced(&a, 9 * S, 9 * S, "Next start in 9.0 s: a refusal holds the key");
    p->episode = EPISODE_WAITING;
    check_paced(&a, 9 * S, 8 * S,
                "Next start in 9.0 s: a refusal told no time, and one request tries it then.");
    p->outage = true;
    check_paced(&a, 9 * S, FB_LONG_AGO,
                "Next start in 9.0 s: too much fails, and one request tries it then.");
    p->episode = EPISODE_PINGED;
    check_paced(&a, FB_NEVER, FB_LONG_AGO,
                "Waits for an answer: one request is out to see how the others may go on.");
    assert_int_equal(fb_accountant_pace_wait(&a, 0), PACE_FREE);
    a.slot[FB_SLOT_hold + FB_HOLD_PACE_UNTIL] = 9 * S;
    struct verdict v = {20 * S, &fb_constraint_bucket}; /* what waits longer is the cause */
    char buffer[256];
    struct text t;
    fb_text_init(&t, buffer, sizeof(buffer));
    fb_accountant_explain(&a, &v, 1, 0, &t);
    assert_contains(buffer, fb_constraint_bucket.says);

    a = books_of("adapt=aimd"); /* never asks for it: whoever did is not known */
    check_paced(&a, 9 * S, FB_LONG_AGO, "Next start in 9.0 s: a refusal holds the key");
    a = books_of("adapt=off");
    check_paced(&a, 9 * S, FB_LONG_AGO, "Next start in 9.0 s: a refusal holds the key");
}

static void waits_for_an_answer(void **state)
{
    struct fly_limiter *l = limiter("concurrency=1 rate=10/s", 0);

    (void)state;
    take(l, 0, 1);
    struct fly_why w = why(l, 0, 1);
    assert_int_equal(w.until_ns, FLY_NEVER);
    assert_string_equal(w.cause, "concurrency");
    assert_contains(w.text, "Waits for an answer: ");
    fly_limiter_free(l);
}

static void no_wait_helps_a_cost_that_is_too_large(void **state)
{
    struct fly_limiter *l = limiter("window=10/1s", 0);
    struct fly_why w = why(l, 0, 10);

    (void)state;
    assert_int_equal(w.until_ns, FLY_NEVER);
    assert_string_equal(w.cause, "too-large");
    assert_contains(w.text, "Can never start: it costs more than a window allows.");
    assert_string_equal(why(l, 0, 9).cause, "go");
    fly_limiter_free(l);
}

static void of_several_the_longest_wait_is_named(void **state)
{
    struct fly_limiter *l = limiter("rate=1/s burst=1 window=2/1m margin=0%", 0);

    (void)state;
    take(l, 0, 1);
    assert_string_equal(why(l, 0, 1).cause, "bucket");
    take(l, S, 1);
    assert_string_equal(why(l, S, 1).cause, "window");
    assert_int_equal(why(l, S, 1).until_ns, 60 * S);
    fly_limiter_free(l);
}

static void who_learns_tells_the_pace(void **state)
{
    static const struct {
        const char *spec;
        const char *says;
    } rows[] = {{"", "/s"}, {"adapt=aimd", "aimd"}, {"adapt=step rate=1/s", "step"}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fly_limiter *l = limiter(rows[i].spec, 0);
        struct fly_why w = why(l, 0, 1);
        assert_contains(w.text, "May start now. ");
        assert_contains(w.text, rows[i].says);
        fly_limiter_free(l);
    }
}

static void asking_why_changes_nothing_and_answers_as_take_does(void **state)
{
    struct fly_limiter *l = limiter("rate=2/s burst=3", 0);

    (void)state;
    for (int64_t now_ns = 0; now_ns < 10 * S; now_ns += 130 * MS) {
        uint64_t ticket;
        int64_t said_ns = why(l, now_ns, 1).until_ns;
        assert_int_equal(why(l, now_ns, 1).until_ns, said_ns);
        assert_int_equal(fly_limiter_take(l, now_ns, 1, &ticket), said_ns);
    }
    fly_limiter_free(l);
}

static void cost_0_is_explained_as_1(void **state)
{
    struct fly_limiter *l = limiter("rate=1/s burst=1", 0);

    (void)state;
    take(l, 0, 1);
    assert_int_equal(why(l, 0, 0).until_ns, why(l, 0, 1).until_ns);
    fly_limiter_free(l);
}

static void a_smaller_struct_of_an_older_program_is_refused(void **state)
{
    struct fly_limiter *l = limiter("rate=1/s", 0);
    struct fly_why w = {.size = sizeof(w) - 1, .until_ns = 42, .cause = "untouched"};

    (void)state;
    assert_int_equal(fly_limiter_why(l, 0, 1, &w), -EINVAL);
    assert_int_equal(w.until_ns, 42);
    assert_string_equal(w.cause, "untouched");
    w.size = sizeof(w) + 100;
    assert_int_equal(fly_limiter_why(l, 0, 1, &w), 0);
    fly_limiter_free(l);
}

/* A constraint is called by its other name when it can say only "never". */
static void names_of_never(void **state)
{
    static const struct constraint two_names = {.name = "a", .never = "b", .says = "c"};
    static const struct constraint one_name = {.name = "a", .says = "c"};

    (void)state;
    assert_string_equal(fb_accountant_cause(&(struct verdict){.at_ns = 1}), "go");
    assert_string_equal(fb_accountant_cause(&(struct verdict){1, &two_names}), "a");
    assert_string_equal(fb_accountant_cause(&(struct verdict){FB_NEVER, &two_names}), "b");
    assert_string_equal(fb_accountant_cause(&(struct verdict){FB_NEVER, &one_name}), "a");
}

/* Every constraint has all that the sentences are made of, and its sentence is a whole one. */
static void every_constraint_can_be_explained(void **state)
{
#define X(name, slots) &fb_constraint_##name,
    static const struct constraint *const all[] = { FB_CONSTRAINTS(X) };
#undef X
    struct accountant a;
    struct spec s;

    (void)state;
    assert_int_equal(fb_spec_read("adapt=off", &s, NULL), 0);
    fb_accountant_init(&a, &s, NULL, 1, 0);
    for (size_t i = 0; i < COUNT_OF(all); i++) {
        char buffer[256];
        struct text t;
        assert_true(strlen(all[i]->name) < sizeof(((struct fly_why *)0)->cause));
        assert_true(!all[i]->never || strlen(all[i]->never) < sizeof(((struct fly_why *)0)->cause));
        assert_true(!all[i]->word == !all[i]->expects && !all[i]->word == !all[i]->read);
        fb_text_init(&t, buffer, sizeof(buffer));
        fb_accountant_explain(&a, &(struct verdict){5 * S, all[i]}, 1, 0, &t);
        assert_contains(buffer, "Next start in 5.0 s: ");
        assert_contains(buffer, all[i]->says);
        assert_int_equal(buffer[strlen(buffer) - 1], '.');
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(may_start_now),
        cmocka_unit_test(waits_for_the_bucket),
        cmocka_unit_test(waits_for_a_window),
        cmocka_unit_test(of_several_windows_the_one_that_is_full_longest_is_named),
        cmocka_unit_test(a_margin_is_told_beside_what_is_stated),
        cmocka_unit_test(waits_for_a_quota_that_is_spread),
        cmocka_unit_test(a_quota_that_is_spread_has_the_word),
        cmocka_unit_test(waits_for_a_quota_that_is_used_up),
        cmocka_unit_test(a_cost_that_is_more_than_what_is_left),
        cmocka_unit_test(waits_for_whoever_asks_what_the_next_quota_is),
        cmocka_unit_test(waits_for_a_hold),
        cmocka_unit_test(in_a_hold_who_learns_is_silent),
        cmocka_unit_test(a_wait_of_what_learns_is_not_told_as_a_refusal),
        cmocka_unit_test(waits_for_an_answer),
        cmocka_unit_test(no_wait_helps_a_cost_that_is_too_large),
        cmocka_unit_test(of_several_the_longest_wait_is_named),
        cmocka_unit_test(who_learns_tells_the_pace),
        cmocka_unit_test(asking_why_changes_nothing_and_answers_as_take_does),
        cmocka_unit_test(cost_0_is_explained_as_1),
        cmocka_unit_test(a_smaller_struct_of_an_older_program_is_refused),
        cmocka_unit_test(names_of_never),
        cmocka_unit_test(every_constraint_can_be_explained),
    };

    return cmocka_run_group_tests_name("explain", tests, NULL, NULL);
}
