/* SPDX-License-Identifier: MIT */
/* Holds: what a server asked for is waited for in full, then the key comes back gently. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <flyball/flyball.h>

#include "core/constraint.h"
#include "core/controller.h"
#include "core/instant.h"
#include "core/rng.h"
#include "core/spec.h"

#define S     FB_NS_PER_S
#define DAY   (86400 * S)
#define NOW   (1000 * S)
#define SLOTS FB_SLOTS_hold

struct rig {
    int64_t slot[SLOTS];
    struct rng rng;
};

static struct rig rig_of(uint64_t seed)
{
    struct rig r = {.rng = {seed}};
    struct spec s = {0};

    assert_true(fb_constraint_hold.init(r.slot, &s, NULL, NOW));
    return r;
}

static int64_t ready_at(const struct rig *r, int64_t in_flight, int64_t now_ns)
{
    return fb_constraint_hold.ready_at(
        r->slot, &(struct ask){.now_ns = now_ns, .cost = 1, .in_flight = in_flight});
}

/* An answer in which nothing is told. */
static struct fly_outcome outcome_of(int32_t status, int64_t sent_ns)
{
    return (struct fly_outcome){
        .sent_ns = sent_ns,
        .limit = FLY_ABSENT,
        .remaining = FLY_ABSENT,
        .reset_ns = FLY_ABSENT,
        .retry_after_ns = FLY_ABSENT,
        .status = status,
    };
}

static void report(struct rig *r, const struct fly_outcome *o, int64_t default_hold_ns,
                   int64_t now_ns)
{
    struct answer a = {
        .outcome = o,
        .now_ns = now_ns,
        .cost = 1,
        .default_hold_ns = default_hold_ns,
        .throttled = o->status == 429,
        .accepted = o->status >= 200 && o->status < 400,
    };

    fb_constraint_hold.report(r->slot, &a, &r->rng);
}

static void answer_with_wait(struct rig *r, int32_t status, int64_t wait_ns, int64_t now_ns)
{
    struct fly_outcome o = outcome_of(status, now_ns);

    o.retry_after_ns = wait_ns;
    report(r, &o, 0, now_ns);
}

static void accept(struct rig *r, int64_t sent_ns)
{
    struct fly_outcome o = outcome_of(200, sent_ns);

    report(r, &o, 0, sent_ns);
}

static void repace(struct rig *r, int64_t not_before_ns)
{
    fb_constraint_hold.repace(r->slot, &(struct pace){.not_before_ns = not_before_ns}, NOW);
}

static bool is_idle(const struct rig *r, int64_t now_ns)
{
    return fb_constraint_hold.idle(r->slot, now_ns);
}

static void assert_wait(const struct rig *r, int64_t from_ns, int64_t to_ns)
{
    int64_t at_ns = ready_at(r, 0, NOW);

    assert_true(at_ns >= from_ns && at_ns <= to_ns);
}

/* ---- what holds ---- */

static void nothing_is_held_at_first(void **state)
{
    struct rig r = rig_of(1);

    (void)state;
    assert_int_equal(ready_at(&r, 100, NOW), NOW);
    assert_int_equal(ready_at(&r, 100, -NOW), -NOW);
    assert_true(is_idle(&r, -NOW));
}

static void a_told_wait_is_kept_with_positive_jitter(void **state)
{
    int64_t least = INT64_MAX;
    int64_t most = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 1000; seed++) {
        struct rig r = rig_of(seed);
        answer_with_wait(&r, 429, 10 * S, NOW);
        assert_wait(&r, NOW + 10 * S, NOW + 10 * S + S / 10);
        least = fb_min64(least, ready_at(&r, 0, NOW));
        most = fb_max64(most, ready_at(&r, 0, NOW));
    }
    assert_true(most - least > S / 11); /* spread over nearly all of the 1 % */

    struct rig r = rig_of(1);
    answer_with_wait(&r, 429, 3600 * S, NOW);
    assert_wait(&r, NOW + 3600 * S, NOW + 3601 * S); /* at most a second of it */
}

static void an_error_with_a_told_wait_holds_too(void **state)
{
    struct rig r = rig_of(1);

    (void)state;
    answer_with_wait(&r, 400, 2 * S, NOW);
    assert_wait(&r, NOW + 2 * S, NOW + 2 * S + S / 50);
    answer_with_wait(&r, 503, 5 * S, NOW);
    assert_wait(&r, NOW + 5 * S, NOW + 5 * S + S / 20);
}

static void other_answers_hold_nothing(void **state)
{
    static const int32_t statuses[] = {0, 200, 304};
    struct rig r = rig_of(1);

    (void)state;
    for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++)
        answer_with_wait(&r, statuses[i], 5 * S, NOW);
    answer_with_wait(&r, 503, FLY_ABSENT, NOW);
    answer_with_wait(&r, 503, 0, NOW);
    answer_with_wait(&r, 404, -5 * S, NOW);
    assert_int_equal(ready_at(&r, 100, NOW), NOW);
    assert_true(is_idle(&r, NOW));
}

static void a_refusal_that_tells_nothing_takes_the_default(void **state)
{
    static const int64_t told[] = {FLY_ABSENT, 0};

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct rig r = rig_of(1);
        struct fly_outcome o = outcome_of(429, NOW);
        o.retry_after_ns = told[i];
        report(&r, &o, 0, NOW);
        assert_int_equal(ready_at(&r, 0, NOW), NOW); /* the pace says */
        assert_true(is_idle(&r, NOW));
        report(&r, &o, 60 * S, NOW);
        assert_wait(&r, NOW + 60 * S, NOW + 60 * S + 3 * S / 5);
    }
}

static void a_refusal_waits_for_the_reset_of_what_is_used_up(void **state)
{
    struct fly_outcome o = outcome_of(429, NOW);

    (void)state;
    o.remaining = 0;
    o.reset_ns = NOW + 30 * S;
    struct rig r = rig_of(1);
    report(&r, &o, 60 * S, NOW); /* told, so the default does not matter */
    assert_wait(&r, NOW + 30 * S, NOW + 30 * S + 3 * S / 10);

    o.retry_after_ns = 40 * S;
    report(&r, &o, 60 * S, NOW);
    assert_wait(&r, NOW + 40 * S, NOW + 40 * S + 4 * S / 10);
}

static void a_reset_holds_only_if_it_is_why(void **state)
{
    struct fly_outcome o = outcome_of(429, NOW);
    struct rig r = rig_of(1);

    (void)state;
    o.reset_ns = NOW + 30 * S;
    o.remaining = 7;
    report(&r, &o, 2 * S, NOW);
    assert_wait(&r, NOW + 2 * S, NOW + 3 * S);

    o.remaining = 0;
    o.reset_ns = NOW - 30 * S; /* over already: nothing is told */
    report(&r, &o, 4 * S, NOW);
    assert_wait(&r, NOW + 4 * S, NOW + 5 * S);

    o.status = 503;
    o.reset_ns = NOW + 30 * S;
    report(&r, &o, 4 * S, NOW);
    assert_wait(&r, NOW + 4 * S, NOW + 5 * S);
}

static void absurd_waits_end_somewhere(void **state)
{
    struct fly_outcome o = outcome_of(429, NOW);
    struct rig r = rig_of(1);

    (void)state;
    answer_with_wait(&r, 429, INT64_MAX, NOW);
    assert_wait(&r, NOW + 7 * DAY, NOW + 7 * DAY + S);

    r = rig_of(2);
    report(&r, &o, INT64_MAX, NOW);
    assert_wait(&r, NOW + 7 * DAY, NOW + 7 * DAY + S);

    o.remaining = 0;
    o.reset_ns = INT64_MAX;
    report(&r, &o, 0, NOW);
    assert_wait(&r, NOW + 32 * DAY, NOW + 32 * DAY + S);
}

static void holds_at_the_end_of_time_never_end(void **state)
{
    struct rig r = rig_of(1);

    (void)state;
    answer_with_wait(&r, 429, 10 * S, FB_TIME_MAX - S);
    assert_int_equal(ready_at(&r, 0, FB_TIME_MAX - S), FB_NEVER);
    r = rig_of(2);
    answer_with_wait(&r, 429, S, FB_TIME_MAX);
    assert_int_equal(ready_at(&r, 0, FB_TIME_MAX), FB_NEVER);
}

static void a_hold_is_never_shortened(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct rng chance = {seed};
        struct rig r = rig_of(seed);
        int64_t now_ns = NOW;
        int64_t asked_ns = NOW;

        print_message("seed %llu\n", (unsigned long long)seed);
        for (int i = 0; i < 200; i++) {
            int64_t before_ns = ready_at(&r, 0, now_ns);
            now_ns += (int64_t)(fb_rng_next(&chance) % (uint64_t)(2 * S));
            int64_t wait_ns = (int64_t)(fb_rng_next(&chance) % (uint64_t)(30 * S));
            bool throttled = fb_rng_next(&chance) % 4 == 0;
            answer_with_wait(&r, throttled ? 429 : 200, wait_ns, now_ns);
            if (throttled)
                asked_ns = fb_max64(asked_ns, now_ns + wait_ns);
            int64_t after_ns = ready_at(&r, 0, now_ns);
            assert_true(after_ns >= fb_max64(now_ns, asked_ns));
            assert_true(after_ns >= before_ns || after_ns == now_ns);
        }
    }
}

/* ---- the pace's instant ---- */

static void the_pace_may_take_its_instant_back(void **state)
{
    struct rig r = rig_of(1);

    (void)state;
    repace(&r, NOW + 8 * S);
    assert_int_equal(ready_at(&r, 0, NOW), NOW + 8 * S);
    assert_false(is_idle(&r, NOW));
    repace(&r, NOW + 3 * S);
    assert_int_equal(ready_at(&r, 0, NOW), NOW + 3 * S);
    assert_int_equal(ready_at(&r, 100, NOW + 3 * S), NOW + 3 * S); /* and no ramp after it */
    assert_true(is_idle(&r, NOW + 3 * S));
}

static void the_pace_cannot_shorten_the_servers(void **state)
{
    struct rig r = rig_of(1);

    (void)state;
    answer_with_wait(&r, 429, 10 * S, NOW);
    int64_t held_ns = ready_at(&r, 0, NOW);
    repace(&r, NOW + 2 * S);
    assert_int_equal(ready_at(&r, 0, NOW), held_ns);
    repace(&r, NOW + 20 * S);
    assert_int_equal(ready_at(&r, 0, NOW), NOW + 20 * S);
}

/* ---- coming back ---- */

static void comes_back_with_one_and_doubles(void **state)
{
    struct rig r = rig_of(1);

    (void)state;
    answer_with_wait(&r, 429, 10 * S, NOW);
    int64_t t = ready_at(&r, 0, NOW);
    assert_int_equal(ready_at(&r, 5, NOW), t);
    assert_int_equal(ready_at(&r, 0, t), t);
    assert_int_equal(ready_at(&r, 1, t), FB_NEVER);
    /* A round trip: everything that was allowed out is accepted, and twice as much may leave. */
    for (int64_t allowed = 1; allowed <= 16; allowed *= 2) {
        assert_int_equal(ready_at(&r, allowed - 1, t), t);
        assert_int_equal(ready_at(&r, allowed, t), FB_NEVER);
        assert_false(is_idle(&r, t));
        for (int64_t i = 0; i < allowed; i++)
            accept(&r, t);
    }
    for (int i = 32; i < 39; i++)
        accept(&r, t);
    assert_int_equal(ready_at(&r, 39, t), FB_NEVER);
    accept(&r, t);
    assert_int_equal(ready_at(&r, 1000, t), t);
    assert_true(is_idle(&r, t));
    accept(&r, t);
    assert_true(is_idle(&r, t));
}

static void only_answers_from_after_the_hold_count(void **state)
{
    struct rig r = rig_of(1);

    (void)state;
    answer_with_wait(&r, 429, 10 * S, NOW);
    int64_t t = ready_at(&r, 0, NOW);
    for (int i = 0; i < 100; i++)
        accept(&r, t - 1);
    assert_int_equal(ready_at(&r, 1, t), FB_NEVER);
    struct fly_outcome failed = outcome_of(500, t);
    report(&r, &failed, 0, t);
    assert_int_equal(ready_at(&r, 1, t), FB_NEVER); /* a failure adds nothing */
    accept(&r, t);
    assert_int_equal(ready_at(&r, 1, t), t);
}

static void another_refusal_begins_the_ramp_anew(void **state)
{
    struct rig r = rig_of(1);

    (void)state;
    answer_with_wait(&r, 429, S, NOW);
    int64_t t = ready_at(&r, 0, NOW);
    for (int i = 0; i < 10; i++)
        accept(&r, t);
    answer_with_wait(&r, 429, S, t);
    t = ready_at(&r, 0, t);
    assert_int_equal(ready_at(&r, 1, t), FB_NEVER);
    assert_int_equal(ready_at(&r, 0, t), t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_held_at_first),
        cmocka_unit_test(a_told_wait_is_kept_with_positive_jitter),
        cmocka_unit_test(an_error_with_a_told_wait_holds_too),
        cmocka_unit_test(other_answers_hold_nothing),
        cmocka_unit_test(a_refusal_that_tells_nothing_takes_the_default),
        cmocka_unit_test(a_refusal_waits_for_the_reset_of_what_is_used_up),
        cmocka_unit_test(a_reset_holds_only_if_it_is_why),
        cmocka_unit_test(absurd_waits_end_somewhere),
        cmocka_unit_test(holds_at_the_end_of_time_never_end),
        cmocka_unit_test(a_hold_is_never_shortened),
        cmocka_unit_test(the_pace_may_take_its_instant_back),
        cmocka_unit_test(the_pace_cannot_shorten_the_servers),
        cmocka_unit_test(comes_back_with_one_and_doubles),
        cmocka_unit_test(only_answers_from_after_the_hold_count),
        cmocka_unit_test(another_refusal_begins_the_ramp_anew),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
