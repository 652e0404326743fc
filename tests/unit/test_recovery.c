/* SPDX-License-Identifier: MIT */
/* Recovery: the table cell by cell, its bounds, modes, and rules given as text. */
#include "unit.h"

#include <errno.h>

#include "core/event.h"
#include "core/pause.h"
#include "core/recovery.h"

static struct recovery table(void)
{
    struct recovery r;

    fb_recovery_init(&r);
    return r;
}

/* For attempts 1, 2, ... a letter each: Retry, Defer, Failover, Skip, Escalate. */
static void row_of(const struct recovery *r, const char *operation, enum failure f, bool has_other,
                   const char *letters)
{
    for (int32_t i = 0; letters[i]; i++) {
        enum strategy s = fb_recovery_decide(r, operation, f, i + 1, has_other);

        if ("RDFSE"[s] != letters[i])
            fail_msg("%s/%s/%d: %s, expected %c", operation, fb_failure_name(f), i + 1,
                     fb_strategy_name(s), letters[i]);
    }
}

static void row(const struct recovery *r, const char *operation, enum failure f,
                const char *letters)
{
    row_of(r, operation, f, false, letters);
}

static void the_table(void **state)
{
    struct recovery r = table();

    (void)state;
    row(&r, "download", FAIL_THROTTLED, "RRRRRRRRRR");
    row(&r, "validate", FAIL_THROTTLED, "DD");
    row(&r, "resolve", FAIL_THROTTLED, "FF");
    row(&r, "extract", FAIL_THROTTLED, "RRRRR");
    row(&r, "manifest-fetch", FAIL_THROTTLED, "RRRRR");
    row(&r, "download", FAIL_IDLE_TIMEOUT, "RREE");
    row(&r, "resolve", FAIL_CONNECT_TIMEOUT, "RRFF");
    row(&r, "manifest-fetch", FAIL_TOTAL_TIMEOUT, "RRFF");
    row(&r, "validate", FAIL_FIRST_BYTE_TIMEOUT, "DD");
    row(&r, "extract", FAIL_WATCHDOG, "RRSS");
    row(&r, "download", FAIL_RESET, "RREE");
    row(&r, "resolve", FAIL_DNS, "RREE");
    row(&r, "mine", FAIL_TLS, "RREE");
    row(&r, "download", FAIL_5XX, "RRRRSS");
    row(&r, "resolve", FAIL_5XX, "RSS");
    row(&r, "download", FAIL_4XX, "EE");
    row(&r, "download", FAIL_PAYLOAD, "RREE");
}

static void another_source_before_giving_up(void **state)
{
    struct recovery r = table();

    (void)state;
    row_of(&r, "download", FAIL_4XX, true, "FF");
    row_of(&r, "download", FAIL_5XX, true, "RRRRFF");
    row_of(&r, "download", FAIL_REFUSED, true, "RRFF");
    row_of(&r, "download", FAIL_PAYLOAD, true, "RRFF");
    row_of(&r, "extract", FAIL_WATCHDOG, true, "RRFF");
    row_of(&r, "download", FAIL_THROTTLED, true, "RRRRR");
    row_of(&r, "validate", FAIL_IDLE_TIMEOUT, true, "DD");
    row_of(&r, "download", FAIL_STOPPED, true, "E");
    r.mode = MODE_STRICT;
    row_of(&r, "validate", FAIL_IDLE_TIMEOUT, true, "FF");
}

static void a_rule_that_was_given_says_when_to_give_up(void **state)
{
    struct recovery r = table();
    struct fly_error err;

    (void)state;
    assert_int_equal(fb_recovery_add(&r, "download/4xx=skip, */dns=escalate, x/tls=retry", &err),
                     0);
    row_of(&r, "download", FAIL_4XX, true, "SS");
    row_of(&r, "download", FAIL_DNS, true, "EE");
    row_of(&r, "x", FAIL_TLS, true, "RRFF");
}

static void what_is_decided_here_is_final(void **state)
{
    struct recovery r = table();

    (void)state;
    assert_int_equal(fb_recovery_add(&r, "*/*=retry", NULL), 0);
    row(&r, "download", FAIL_TOO_LARGE, "EE");
    row(&r, "download", FAIL_POLICY, "EE");
    row(&r, "download", FAIL_4XX, "RRE");
}

static void strict_mode_hides_nothing(void **state)
{
    struct recovery r = table();

    (void)state;
    r.mode = MODE_STRICT;
    row(&r, "validate", FAIL_THROTTLED, "EE");
    row(&r, "download", FAIL_5XX, "RRRREE");
    row(&r, "resolve", FAIL_THROTTLED, "FF");
    row(&r, "download", FAIL_RESET, "RREE");
}

static void attempts_are_bounded(void **state)
{
    struct recovery r = table();

    (void)state;
    r.attempts_max = 1;
    row(&r, "download", FAIL_RESET, "EE");
    row(&r, "download", FAIL_THROTTLED, "RR");
    row(&r, "download", FAIL_5XX, "RRRRSS"); /* a bound of the table's own */
    r.attempts_max = 5;
    row(&r, "download", FAIL_RESET, "RRRREE");
    r.bounds_all = true;
    r.attempts_max = 1;
    row(&r, "download", FAIL_5XX, "EEEESS");
    row(&r, "resolve", FAIL_CONNECT_TIMEOUT, "EEF");
    row(&r, "download", FAIL_THROTTLED, "RRRRR"); /* not an attempt */
    assert_int_equal(fb_recovery_add(&r, "download/5xx/1-3=retry", NULL), 0);
    r.attempts_max = 2;
    row(&r, "download", FAIL_5XX, "REEES");
}

static void rules_as_text(void **state)
{
    struct recovery r = table();

    (void)state;
    assert_int_equal(fb_recovery_add(&r, "", NULL), 0);
    assert_int_equal(fb_recovery_add(&r, "download/timeout/1-2=skip, */idle-timeout/3=defer", NULL),
                     0);
    row(&r, "download", FAIL_IDLE_TIMEOUT, "SSDE");
    row(&r, "download", FAIL_CONNECT_TIMEOUT, "SSEE");
    row(&r, "extract", FAIL_IDLE_TIMEOUT, "RRDS");
    /* What comes later comes first. */
    assert_int_equal(fb_recovery_add(&r, "*/429=escalate\nresolve/timeout/1-=failover", NULL), 0);
    row(&r, "download", FAIL_THROTTLED, "EE");
    row(&r, "resolve", FAIL_IDLE_TIMEOUT, "FFFF");
    assert_int_equal(fb_recovery_add(&r, "mine/*/2=retry", NULL), 0);
    row(&r, "mine", FAIL_4XX, "ERE");
}

static void mistakes_are_explained(void **state)
{
    static const struct {
        const char *text;
        const char *says;
    } bad[] = {
        {"download", "operation/failure"},
        {"download/timeout", "operation/failure"},
        {"download=retry", "operation/failure"},
        {"/timeout=retry", "an operation"},
        {"an-operation-with-a-name-that-is-too-long/timeout=retry", "an operation"},
        {"download/slow=retry", "429, timeout"},
        {"download/policy=retry", "429, timeout"},
        {"download/timeout/0=retry", "attempts"},
        {"download/timeout/x=retry", "attempts"},
        {"download/timeout/1-x=retry", "attempts"},
        {"download/timeout/2-1=retry", "attempts"},
        {"download/timeout/1x=retry", "attempts"},
        {"download/timeout/12345=retry", "attempts"},
        {"download/timeout/=retry", "attempts"},
        {"download/timeout/1=again", "retry, defer"},
        {"download/timeout/1 =retry", "operation/failure"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct recovery r = table();
        struct fly_error err = {""};

        assert_int_equal(fb_recovery_add(&r, bad[i].text, &err), -EINVAL);
        assert_contains(err.text, bad[i].says);
        assert_int_equal(r.count, 0);
        assert_int_equal(fb_recovery_add(&r, bad[i].text, NULL), -EINVAL);
    }
}

static void a_mistake_adds_none(void **state)
{
    struct recovery r = table();

    (void)state;
    assert_int_equal(fb_recovery_add(&r, "*/5xx=skip */4xx=no", NULL), -EINVAL);
    assert_int_equal(r.count, 0);
}

static void only_so_many_rules(void **state)
{
    struct recovery r = table();
    struct fly_error err = {""};

    (void)state;
    for (int i = 0; i < FB_RECOVERY_RULES_MAX; i++)
        assert_int_equal(fb_recovery_add(&r, "*/5xx=skip", NULL), 0);
    assert_int_equal(fb_recovery_add(&r, "*/5xx=skip", &err), -ENOSPC);
    assert_contains(err.text, "32");
    assert_int_equal(r.count, FB_RECOVERY_RULES_MAX);
}

static void classes_of_status(void **state)
{
    (void)state;
    assert_int_equal(fb_failure_of_status(200), FAIL_NONE);
    assert_int_equal(fb_failure_of_status(304), FAIL_NONE);
    assert_int_equal(fb_failure_of_status(404), FAIL_4XX);
    assert_int_equal(fb_failure_of_status(429), FAIL_THROTTLED);
    assert_int_equal(fb_failure_of_status(503), FAIL_5XX);
    assert_int_equal(fb_failure_family(FAIL_TLS), FAMILY_NETWORK);
    assert_string_equal(fb_failure_name(FAIL_TLS), "tls");
    assert_string_equal(fb_failure_says(FAIL_DNS), "the host name was not found");
    assert_string_equal(fb_strategy_name(STRATEGY_FAILOVER), "failover");
}

static void modes_by_name(void **state)
{
    (void)state;
    assert_int_equal(fb_recovery_mode_find("strict"), MODE_STRICT);
    assert_int_equal(fb_recovery_mode_find("graceful"), MODE_GRACEFUL);
    assert_int_equal(fb_recovery_mode_find("offline"), MODE_OFFLINE);
    assert_int_equal(fb_recovery_mode_find("fast"), -1);
}

static void every_event_has_a_name(void **state)
{
    (void)state;
    for (int i = 0; i < FB_EVENT_KINDS; i++)
        assert_non_null(fb_event_name((enum event_type)i));
    assert_string_equal(fb_event_name(FB_EVENT_WAIT), "wait");
}

static void a_pause_begins_and_ends_by_itself(void **state)
{
    struct pause p;

    (void)state;
    fb_pause_init(&p, 3, 300 * S);
    assert_true(fb_pause_ready_at(&p) <= 0);
    assert_false(fb_pause_on_failure(&p, 1 * S));
    assert_false(fb_pause_on_failure(&p, 2 * S));
    fb_pause_on_success(&p);
    assert_false(fb_pause_on_failure(&p, 3 * S));
    assert_false(fb_pause_on_failure(&p, 4 * S));
    assert_true(fb_pause_on_failure(&p, 5 * S));
    assert_int_equal(fb_pause_ready_at(&p), 305 * S);
    assert_false(fb_pause_on_failure(&p, 6 * S)); /* it left before */
    assert_int_equal(p.failures, 0);
    for (int i = 0; i < 2; i++)
        assert_false(fb_pause_on_failure(&p, 305 * S));
    assert_true(fb_pause_on_failure(&p, 305 * S));
}

static void no_pause_without_a_bound(void **state)
{
    struct pause p;

    (void)state;
    fb_pause_init(&p, 0, S);
    for (int i = 0; i < 1000; i++)
        assert_false(fb_pause_on_failure(&p, S));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table),
        cmocka_unit_test(another_source_before_giving_up),
        cmocka_unit_test(a_rule_that_was_given_says_when_to_give_up),
        cmocka_unit_test(what_is_decided_here_is_final),
        cmocka_unit_test(strict_mode_hides_nothing),
        cmocka_unit_test(attempts_are_bounded),
        cmocka_unit_test(rules_as_text),
        cmocka_unit_test(mistakes_are_explained),
        cmocka_unit_test(a_mistake_adds_none),
        cmocka_unit_test(only_so_many_rules),
        cmocka_unit_test(classes_of_status),
        cmocka_unit_test(modes_by_name),
        cmocka_unit_test(every_event_has_a_name),
        cmocka_unit_test(a_pause_begins_and_ends_by_itself),
        cmocka_unit_test(no_pause_without_a_bound),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
