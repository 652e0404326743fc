/* SPDX-License-Identifier: MIT */
/* What those who keep many limiters ask of one, beyond the public functions. */
#include "ledger_rig.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include <flyball/state.h>

#include "ledger/inner.h"

#define SPEC "adapt=aimd rate=1/s burst=1"

/* What a limiter knows that was refused once. */
static size_t learn(unsigned char *bytes)
{
    struct fly_limiter *l = fly_limiter_new(SPEC, 0, 1, NULL);
    uint64_t ticket = 0;

    assert_int_equal(fly_limiter_take(l, 0, 1, &ticket), 0);
    struct fly_outcome o = outcome(ticket, 429, 0);
    o.retry_after_ns = MS;
    fly_limiter_report(l, 0, &o);
    int size = fly_limiter_save(l, 0, bytes, FLY_STATE_BYTES);
    assert_true(size > 0);
    fly_limiter_free(l);
    return (size_t)size;
}

/* Only who knows nothing better takes what an earlier process had learned. */
static void a_state_is_loaded_into_what_is_new(void **state)
{
    struct fly_limiter *l = fly_limiter_new(SPEC, 0, 2, NULL);
    unsigned char bytes[FLY_STATE_BYTES];
    size_t size = learn(bytes);
    uint64_t ticket;

    (void)state;
    assert_int_equal(fb_limiter_load_first(l, 0, 0, bytes, size - 1), -EINVAL);
    assert_close(fly_limiter_rate(l), 1.0, 1e-6);
    assert_int_equal(fb_limiter_load_first(l, 0, -S, bytes, size), 0);
    assert_close(fly_limiter_rate(l), 0.8, 1e-6);
    fly_limiter_free(l);
    l = fly_limiter_new(SPEC, 0, 3, NULL);
    assert_int_equal(fly_limiter_take(l, 0, 1, &ticket), 0);
    assert_int_equal(fb_limiter_load_first(l, 0, 0, bytes, size), -EALREADY);
    assert_close(fly_limiter_rate(l), 1.0, 1e-6);
    fly_limiter_free(l);
}

static void at_rest_nothing_is_out_or_spent(void **state)
{
    struct fly_limiter *l = fly_limiter_new("rate=1/s burst=1 concurrency=2", 0, 1, NULL);
    uint64_t ticket;

    (void)state;
    assert_false(fb_limiter_is_shared(l));
    assert_true(fb_limiter_is_rested(l, 0));
    assert_int_equal(fly_limiter_take(l, 0, 1, &ticket), 0);
    assert_false(fb_limiter_is_rested(l, 5 * S)); /* it is out */
    struct fly_outcome o = outcome(ticket, 200, 0);
    fly_limiter_report(l, 0, &o);
    assert_false(fb_limiter_is_rested(l, S / 2)); /* the bucket is not full */
    assert_true(fb_limiter_is_rested(l, S));
    fly_limiter_free(l);
}

/* Whoever takes a key last says its limit; whether others have it, too, can be seen. */
static void the_limit_text_of_a_key_that_others_have(void **state)
{
    struct fly_limiter *own = fly_limiter_new("rate=1/s", 0, 1, NULL);
    struct place place = place_new();
    struct fly_ledger *ledger = ledger_at(place.path);
    struct fly_limiter *l = limiter_of(ledger, "core", "rate=1/s burst=1");
    char text[FB_SPEC_BYTES];
    int go[2], ready[2];
    bool is_alone = false;
    char byte = 0;

    (void)state;
    assert_false(fb_limiter_spec(own, text, &is_alone));
    fly_limiter_free(own);
    assert_true(fb_limiter_spec(l, text, &is_alone) && is_alone);
    assert_string_equal(text, "rate=1/s burst=1");
    assert_int_equal(pipe(go) | pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        struct fly_ledger *there = ledger_at(place.path);
        struct fly_limiter *other = limiter_of(there, "core", "rate=2/s");

        if (!other || write(ready[1], "r", 1) != 1 || read(go[0], &byte, 1) != 1)
            _exit(1);
        _exit(0); /* it dies and gives nothing back */
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_true(fb_limiter_spec(l, text, &is_alone) && !is_alone);
    assert_string_equal(text, "rate=2/s");
    assert_int_equal(write(go[1], "g", 1), 1);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_true(fb_limiter_spec(l, text, &is_alone) && is_alone);
    assert_string_equal(text, "rate=2/s");
    for (int i = 0; i < 2; i++)
        assert_int_equal(close(go[i]) | close(ready[i]), 0);
    fly_limiter_free(l);
    fly_ledger_close(ledger);
    place_free(&place);
}

/* The secret of a ledger is that of all; it can be chosen only while nothing lies under it. */
static void the_secret_of_a_ledger(void **state)
{
    static const unsigned char WANTED[FB_SIPHASH_SECRET_BYTES] = "a secret of ours";
    static const unsigned char OTHER[FB_SIPHASH_SECRET_BYTES] = "another secret";
    unsigned char found[FB_SIPHASH_SECRET_BYTES], again[FB_SIPHASH_SECRET_BYTES];
    struct place place = place_new();
    struct fly_ledger *ledger = ledger_at(place.path);

    (void)state;
    assert_int_equal(fb_ledger_secret(ledger, NULL, found), 0);
    assert_int_equal(fb_ledger_secret(ledger, WANTED, again), 0);
    assert_memory_equal(again, WANTED, sizeof(again));
    assert_memory_not_equal(again, found, sizeof(again));
    struct fly_limiter *l = limiter_of(ledger, "core", "rate=1/s burst=1");
    assert_int_equal(fb_ledger_secret(ledger, OTHER, again), 0);
    assert_memory_equal(again, WANTED, sizeof(again));

    uint64_t ticket;
    int64_t now_ns = fly_now();
    assert_at_most(fly_limiter_take(l, now_ns, 1, &ticket), now_ns);
    assert_true(fb_limiter_is_shared(l) && fb_limiter_is_rested(l, now_ns)); /* it lies in a file */
    fly_limiter_free(l);
    fly_ledger_close(ledger);
    place_free(&place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_state_is_loaded_into_what_is_new),
        cmocka_unit_test(at_rest_nothing_is_out_or_spent),
        cmocka_unit_test(the_limit_text_of_a_key_that_others_have),
        cmocka_unit_test(the_secret_of_a_ledger),
    };

    return cmocka_run_group_tests_name("inner", tests, NULL, NULL);
}
