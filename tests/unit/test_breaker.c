/* SPDX-License-Identifier: MIT */
/* Breaker: closed, open, half open; one trial; old news; whether 429 counts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/breaker.h"
#include "core/instant.h"
#include "core/rng.h"

#define S   FB_NS_PER_S
#define NOW (100 * S)

static struct breaker closed(void)
{
    struct breaker b;

    fb_breaker_init(&b);
    return b;
}

/* Opened at NOW. */
static struct breaker opened(void)
{
    struct breaker b = closed();

    for (int i = 0; i < 5; i++)
        fb_breaker_on_failure(&b, NOW - S, NOW);
    assert_int_equal(b.state, BREAKER_OPEN);
    return b;
}

/* With a trial that left at NOW + 60 s. */
static struct breaker half_open(void)
{
    struct breaker b = opened();

    fb_breaker_take(&b, NOW + 60 * S);
    assert_int_equal(b.state, BREAKER_HALF_OPEN);
    return b;
}

static void lets_all_through_while_closed(void **state)
{
    struct breaker b = closed();

    (void)state;
    assert_int_equal(fb_breaker_ready_at(&b, NOW), NOW);
    fb_breaker_take(&b, NOW);
    fb_breaker_take(&b, NOW);
    assert_int_equal(b.state, BREAKER_CLOSED);
    assert_int_equal(fb_breaker_ready_at(&b, -NOW), -NOW);
}

static void opens_after_five_failures_in_a_row(void **state)
{
    struct breaker b = closed();

    (void)state;
    for (int i = 0; i < 4; i++)
        fb_breaker_on_failure(&b, NOW, NOW);
    fb_breaker_on_success(&b, NOW, NOW); /* ends the row */
    for (int i = 0; i < 4; i++)
        fb_breaker_on_failure(&b, NOW, NOW);
    assert_int_equal(b.state, BREAKER_CLOSED);
    fb_breaker_on_failure(&b, NOW, NOW);
    assert_int_equal(b.state, BREAKER_OPEN);
    assert_int_equal(fb_breaker_ready_at(&b, NOW), NOW + 60 * S);
    assert_int_equal(fb_breaker_ready_at(&b, NOW + 59 * S), NOW + 60 * S);
    assert_true(fb_breaker_ready_at(&b, NOW + 60 * S) <= NOW + 60 * S);
}

static void sends_one_trial(void **state)
{
    struct breaker b = half_open();

    (void)state;
    assert_int_equal(fb_breaker_ready_at(&b, NOW + 61 * S), FB_NEVER);
    assert_int_equal(fb_breaker_ready_at(&b, NOW + 6000 * S), FB_NEVER);
}

static void a_trial_that_succeeds_closes_it(void **state)
{
    struct breaker b = half_open();

    (void)state;
    fb_breaker_on_success(&b, NOW + 60 * S, NOW + 61 * S);
    assert_int_equal(b.state, BREAKER_CLOSED);
    assert_int_equal(fb_breaker_ready_at(&b, NOW + 61 * S), NOW + 61 * S);
    for (int i = 0; i < 4; i++) /* and all five lives are back */
        fb_breaker_on_failure(&b, NOW + 61 * S, NOW + 62 * S);
    assert_int_equal(b.state, BREAKER_CLOSED);
}

static void a_trial_that_fails_opens_it_again(void **state)
{
    struct breaker b = half_open();

    (void)state;
    fb_breaker_on_failure(&b, NOW + 60 * S, NOW + 70 * S);
    assert_int_equal(b.state, BREAKER_OPEN);
    assert_int_equal(fb_breaker_ready_at(&b, NOW + 70 * S), NOW + 130 * S);
}

static void a_trial_that_was_not_sent_leaves_its_place(void **state)
{
    struct breaker b = half_open();
    struct breaker none = closed();

    (void)state;
    fb_breaker_cancel(&b, NOW, NOW + 61 * S); /* not the trial */
    assert_int_equal(b.state, BREAKER_HALF_OPEN);
    fb_breaker_cancel(&b, NOW + 60 * S, NOW + 61 * S);
    assert_int_equal(b.state, BREAKER_OPEN);
    assert_true(fb_breaker_ready_at(&b, NOW + 61 * S) <= NOW + 61 * S);
    fb_breaker_take(&b, NOW + 61 * S);
    assert_int_equal(fb_breaker_ready_at(&b, NOW + 61 * S), FB_NEVER);
    fb_breaker_cancel(&none, NOW, NOW);
    assert_int_equal(none.state, BREAKER_CLOSED);
}

static void stragglers_change_nothing(void **state)
{
    struct breaker b = opened();

    (void)state;
    fb_breaker_on_success(&b, NOW - S, NOW + S); /* while open */
    fb_breaker_on_failure(&b, NOW - S, NOW + S);
    assert_int_equal(fb_breaker_ready_at(&b, NOW), NOW + 60 * S);

    fb_breaker_take(&b, NOW + 60 * S);
    fb_breaker_on_success(&b, NOW - S, NOW + 61 * S); /* while the trial is out */
    fb_breaker_on_failure(&b, NOW - S, NOW + 61 * S);
    assert_int_equal(b.state, BREAKER_HALF_OPEN);

    fb_breaker_on_success(&b, NOW + 60 * S, NOW + 62 * S);
    fb_breaker_on_failure(&b, NOW + 62 * S, NOW + 63 * S);
    fb_breaker_on_success(&b, NOW - S, NOW + 63 * S); /* does not end the row either */
    for (int i = 0; i < 40; i++)                      /* after it closed */
        fb_breaker_on_failure(&b, NOW - S, NOW + 64 * S);
    assert_int_equal(b.state, BREAKER_CLOSED);
    assert_int_equal(b.failures, 1);
    fb_breaker_on_success(&b, NOW + 62 * S, NOW + 64 * S); /* left as it closed: this one does */
    assert_int_equal(b.failures, 0);
}

static void whether_429_counts_is_a_setting(void **state)
{
    struct breaker b = closed();
    struct breaker strict = closed();

    (void)state;
    strict.counts_429 = true;
    for (int i = 0; i < 5; i++) {
        fb_breaker_on_throttled(&b, NOW, NOW);
        fb_breaker_on_throttled(&strict, NOW, NOW);
    }
    assert_int_equal(b.state, BREAKER_CLOSED);
    assert_int_equal(b.failures, 0);
    assert_int_equal(strict.state, BREAKER_OPEN);
}

static void a_refused_trial_was_answered(void **state)
{
    struct breaker b = half_open();
    struct breaker strict = half_open();

    (void)state;
    fb_breaker_on_throttled(&b, NOW + 60 * S, NOW + 61 * S);
    assert_int_equal(b.state, BREAKER_CLOSED);
    strict.counts_429 = true;
    fb_breaker_on_throttled(&strict, NOW + 60 * S, NOW + 61 * S);
    assert_int_equal(strict.state, BREAKER_OPEN);
}

static void settings_may_be_changed(void **state)
{
    struct breaker b = closed();

    (void)state;
    b.failures_max = 1;
    b.open_ns = 5 * S;
    fb_breaker_on_failure(&b, NOW, NOW);
    assert_int_equal(fb_breaker_ready_at(&b, NOW), NOW + 5 * S);
}

/* Against a service that goes down and up: while it is down, one request a minute finds out. */
static void an_outage_costs_few_requests(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 50; seed++) {
        struct rng rng = {seed};
        struct breaker b = closed();
        int64_t up_at_ns = (int64_t)(fb_rng_next(&rng) % (uint64_t)(3600 * S));
        int failed = 0;
        int64_t first_ns = -1;

        print_message("seed %llu\n", (unsigned long long)seed);
        for (int64_t now_ns = 0; now_ns < 3700 * S; now_ns += S) {
            if (fb_breaker_ready_at(&b, now_ns) > now_ns)
                continue;
            fb_breaker_take(&b, now_ns);
            if (now_ns >= up_at_ns) {
                fb_breaker_on_success(&b, now_ns, now_ns);
                first_ns = first_ns < 0 ? now_ns : first_ns;
            } else {
                fb_breaker_on_failure(&b, now_ns, now_ns);
                failed++;
            }
        }
        assert_true(failed <= 5 + up_at_ns / (60 * S) + 1);
        assert_true(first_ns - up_at_ns <= 61 * S);
        assert_int_equal(b.state, BREAKER_CLOSED);
    }
}

static void hope_lets_one_trial_leave(void **state)
{
    struct breaker b = opened();

    (void)state;
    fb_breaker_try(&b, NOW + S);
    assert_int_equal(b.state, BREAKER_OPEN);
    assert_true(fb_breaker_ready_at(&b, NOW + S) <= NOW + S);
    fb_breaker_take(&b, NOW + S);
    fb_breaker_try(&b, NOW + S); /* it is out already */
    assert_int_equal(fb_breaker_ready_at(&b, NOW + S), FB_NEVER);
    fb_breaker_on_failure(&b, NOW + S, NOW + 2 * S);
    assert_int_equal(fb_breaker_ready_at(&b, NOW + 2 * S), NOW + 62 * S);
    b = closed();
    fb_breaker_try(&b, NOW);
    assert_int_equal(b.state, BREAKER_CLOSED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lets_all_through_while_closed),
        cmocka_unit_test(opens_after_five_failures_in_a_row),
        cmocka_unit_test(sends_one_trial),
        cmocka_unit_test(a_trial_that_succeeds_closes_it),
        cmocka_unit_test(a_trial_that_fails_opens_it_again),
        cmocka_unit_test(a_trial_that_was_not_sent_leaves_its_place),
        cmocka_unit_test(stragglers_change_nothing),
        cmocka_unit_test(whether_429_counts_is_a_setting),
        cmocka_unit_test(a_refused_trial_was_answered),
        cmocka_unit_test(settings_may_be_changed),
        cmocka_unit_test(hope_lets_one_trial_leave),
        cmocka_unit_test(an_outage_costs_few_requests),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
