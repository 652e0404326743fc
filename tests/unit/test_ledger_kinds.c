/* SPDX-License-Identifier: MIT */
/* What every kind of ledger promises, over every row of FB_LEDGERS. */
#include "ledger_rig.h"

#include <errno.h>
#include <stdatomic.h>

#include <flyball/observe.h>
#include <flyball/state.h>
#include <flyball/wait.h>

#include "core/quota.h"

struct kind {
    const char *name;
    struct place place;
    char address[128];
    struct fly_ledger *ledger;
};

/* A ledger of that kind which nobody had before. */
static struct kind kind_new(const char *name)
{
    struct kind k = {.name = name, .place = place_new()};

    /* Where a kind has no name for its ledgers it takes none. */
    (void)snprintf(k.address, sizeof(k.address), "%s:%s", name,
                   strcmp(name, "memory") == 0 ? "" : k.place.path);
    k.ledger = ledger_at(k.address);
    assert_string_equal(k.ledger->kind->name, name);
    return k;
}

static void kind_free(struct kind *k)
{
    fly_ledger_close(k->ledger);
    place_free(&k->place);
}

/* ---- the contract ---- */

static void a_key_has_one_budget(struct kind *k)
{
    struct fly_limiter *a = limiter_of(k->ledger, "core", "rate=1/1h burst=10");
    struct fly_limiter *b = limiter_of(k->ledger, "core", "rate=1/1h burst=10");
    struct fly_limiter *c = limiter_of(k->ledger, "search", "rate=1/1h burst=10");

    assert_int_equal(grants_now(a, 6), 6);
    assert_int_equal(grants_now(b, 100), 4);
    assert_int_equal(grants_now(c, 100), 10);
    fly_limiter_free(a);
    fly_limiter_free(b);
    fly_limiter_free(c);
    a = limiter_of(k->ledger, "core", "rate=1/1h burst=10");
    assert_int_equal(grants_now(a, 100), 0); /* it outlasts its handles */
    fly_limiter_free(a);
}

static void a_child_spends_the_same_budget(struct kind *k)
{
    struct fly_limiter *l = limiter_of(k->ledger, "core", "window=9/1h margin=0%");
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0)
        _exit(grants_now(l, 4));
    assert_int_equal(status_of(child), 4);
    assert_int_equal(grants_now(l, 100), 5);
    fly_limiter_free(l);
}

static void a_refusal_holds_everybody(struct kind *k)
{
    struct fly_limiter *a = limiter_of(k->ledger, "core", "rate=100/s");
    struct fly_limiter *b = limiter_of(k->ledger, "core", "rate=100/s");
    struct fly_why why = {.size = sizeof(why)};
    int64_t now_ns = fly_now();
    uint64_t ticket = 0;

    assert_at_most(fly_limiter_take(a, now_ns, 1, &ticket), now_ns);
    struct fly_outcome o = outcome(ticket, 429, now_ns);
    o.retry_after_ns = 3600 * S;
    fly_limiter_report(a, now_ns, &o);
    assert_at_least(fly_limiter_take(b, now_ns, 1, &ticket), now_ns + 3600 * S);
    assert_int_equal(fly_limiter_why(b, now_ns, 1, &why), 0);
    assert_string_equal(why.cause, "hold");
    fly_limiter_free(a);
    fly_limiter_free(b);
}

static void grants_end_once(struct kind *k)
{
    struct fly_limiter *l = limiter_of(k->ledger, "core", "concurrency=2 adapt=off");
    int64_t now_ns = fly_now();
    uint64_t ticket[2] = {0};

    for (int i = 0; i < 2; i++)
        assert_at_most(fly_limiter_take(l, now_ns, 1, &ticket[i]), now_ns);
    assert_at_least(fly_limiter_take(l, now_ns, 1, &ticket[1]), now_ns + 1);
    fly_limiter_cancel(l, now_ns, ticket[0]);
    fly_limiter_cancel(l, now_ns, ticket[0]);
    assert_int_equal(grants_now(l, 9), 1);
    fly_limiter_settle(l, now_ns, ticket[1], 5);
    report(l, now_ns, ticket[1], 200);
    report(l, now_ns, ticket[1], 200);
    assert_int_equal(grants_now(l, 9), 1);
    fly_limiter_free(l);
}

static void another_spec_keeps_what_was_spent(struct kind *k)
{
    struct fly_limiter *a = limiter_of(k->ledger, "core", "window=10/1h margin=0%");
    struct fly_limiter *b = NULL;

    assert_int_equal(grants_now(a, 7), 7);
    b = limiter_of(k->ledger, "core", "window=20/1h margin=0%");
    assert_int_equal(grants_now(a, 5), 5);
    assert_int_equal(grants_now(b, 100), 8);
    assert_int_equal(fly_limiter_reconfigure(a, "window=30/1h margin=0%", fly_now(), NULL), 0);
    assert_int_equal(grants_now(b, 100), 10);
    fly_limiter_free(a);
    fly_limiter_free(b);
}

/* For all who have it, and what is out stays out. */
static void a_reset_begins_anew(struct kind *k)
{
    const char *const spec = "window=10/1h margin=0% concurrency=14";
    struct fly_limiter *a = limiter_of(k->ledger, "core", spec);
    struct fly_limiter *b = limiter_of(k->ledger, "core", spec);
    struct fly_error err = {""};

    assert_int_equal(grants_now(a, 10), 10);
    assert_int_equal(fly_limiter_reset(b, "window=ten/1h", fly_now(), &err), -EINVAL);
    assert_contains(err.text, "window=ten/1h");
    assert_int_equal(grants_now(b, 10), 0);
    assert_int_equal(fly_limiter_reset(b, spec, fly_now(), &err), 0);
    assert_int_equal(grants_now(a, 10), 4); /* of 14 in flight 10 are */
    fly_limiter_free(a);
    fly_limiter_free(b);
}

static void several_at_once_or_none(struct kind *k)
{
    struct kind other = kind_new(k->name);
    struct fly_limiter *l[3] = {limiter_of(k->ledger, "a", "rate=1/1h burst=2"),
                                limiter_of(other.ledger, "a", "rate=1/1h burst=5"),
                                limiter("rate=1/1h burst=5", fly_now())};
    const uint32_t cost[3] = {1, 1, 1};
    uint64_t ticket[3];
    int64_t now_ns = fly_now();

    for (int i = 0; i < 2; i++)
        assert_at_most(fly_take_all(l, cost, 3, now_ns, ticket), now_ns);
    assert_at_least(fly_take_all(l, cost, 3, now_ns, ticket), now_ns + 1);
    assert_int_equal(grants_now(l[1], 9), 3);
    for (int i = 0; i < 3; i++)
        fly_limiter_free(l[i]);
    kind_free(&other);
}

static void what_was_learned_can_be_kept(struct kind *k)
{
    struct fly_limiter *l = limiter_of(k->ledger, "core", "rate=1/1h burst=5");
    struct fly_learned x = {.size = sizeof(x)};
    unsigned char bytes[FLY_STATE_BYTES];

    assert_int_equal(grants_now(l, 3), 3);
    int size = fly_limiter_save(l, fly_now(), bytes, sizeof(bytes));
    assert_at_least(size, 1);
    assert_int_equal(fly_limiter_learned(l, fly_now(), &x), 0);
    assert_string_equal(x.by, "off");
    struct fly_limiter *fresh = limiter_of(k->ledger, "other", "rate=1/1h burst=5");
    assert_int_equal(fly_limiter_load(fresh, fly_now(), 0, bytes, (size_t)size, NULL), 0);
    assert_int_equal(grants_now(fresh, 9), 2);
    fly_limiter_free(l);
    fly_limiter_free(fresh);
}

static void it_can_be_observed(struct kind *k)
{
    struct fly_limiter *l = limiter_of(k->ledger, "core", "rate=1/1h burst=2");
    struct fly_metrics m = {.size = sizeof(m)};
    struct fly_usage u = {.size = sizeof(u)};

    assert_int_equal(fly_limiter_observe(l, FLY_EVENTS_ALL, 16), 0);
    assert_int_equal(fly_limiter_observe(l, FLY_EVENTS_ALL, 16), -EALREADY);
    assert_int_equal(grants_now(l, 9), 2);
    assert_int_equal(fly_limiter_metrics(l, fly_now(), &m), 0);
    assert_int_equal(m.requests, 2);
    assert_int_equal(m.limited, 1);
    assert_int_equal(fly_limiter_usage(l, fly_now(), &u), 0);
    assert_int_equal(u.used, 2);
    assert_int_equal(u.observed, 1);
    fly_limiter_free(l);
}

static void whoever_waits_is_told_the_truth(struct kind *k)
{
    struct fly_limiter *l = limiter_of(k->ledger, "core", "rate=1/1h burst=1");
    int64_t at_ns = 0;
    uint64_t ticket = 0;

    assert_int_equal(fly_wait(l, 1, FLY_NEVER, NULL, &at_ns, &ticket), 0);
    assert_at_most(at_ns, fly_now());
    assert_int_equal(fly_wait(l, 1, fly_now() + S, NULL, &at_ns, &ticket), -ETIMEDOUT);
    assert_at_least(at_ns, fly_now() + 3000 * S);
    fly_limiter_free(l);
}

static void mistakes_and_want_of_room_are_told(struct kind *k)
{
    struct fly_limiter *l[2000];
    struct fly_error err = {""};
    char pool[32];
    int made = 0;
    int rc = 0;

    struct fly_key key = {"api.example.com", "core", "secret"};
    assert_int_equal(fly_ledger_limiter(k->ledger, &key, "rate=fast", &l[0], &err), -EINVAL);
    assert_contains(err.text, "rate=fast");
    while (rc == 0 && made < 2000) {
        (void)snprintf(pool, sizeof(pool), "pool %d", made);
        key.pool = pool;
        rc = fly_ledger_limiter(k->ledger, &key, "rate=1/1h burst=1", &l[made], &err);
        made += rc == 0;
    }
    assert_int_equal(rc, -ENOSPC);
    assert_contains(err.text, "full");
    for (int i = 0; i < made; i++)
        fly_limiter_free(l[i]);
}

/* ---- over every kind ---- */

typedef void (*promise)(struct kind *k);

static const promise promises[] = {
    a_key_has_one_budget,
    a_child_spends_the_same_budget,
    a_refusal_holds_everybody,
    grants_end_once,
    another_spec_keeps_what_was_spent,
    a_reset_begins_anew,
    several_at_once_or_none,
    what_was_learned_can_be_kept,
    it_can_be_observed,
    whoever_waits_is_told_the_truth,
    mistakes_and_want_of_room_are_told,
};

static void keeps_every_promise(const char *name)
{
    for (size_t i = 0; i < COUNT_OF(promises); i++) {
        struct kind k = kind_new(name);
        promises[i](&k);
        kind_free(&k);
    }
}

#define X(name)                       \
    static void name##_(void **state) \
    {                                 \
        (void)state;                  \
        keeps_every_promise(#name);   \
    }
FB_LEDGERS(X)
#undef X

/* ---- addresses ---- */

static void an_address_names_a_kind_or_a_file(void **state)
{
    struct place place = place_new();
    struct fly_ledger *ledger = ledger_at(place.path);
    struct fly_error err = {""};
    char address[128];

    (void)state;
    assert_string_equal(ledger->kind->name, "shared");
    fly_ledger_close(ledger);
    (void)snprintf(address, sizeof(address), "shared:%s", place.path);
    ledger = ledger_at(address);
    fly_ledger_close(ledger);
    assert_int_equal(fly_ledger_open("memory:mine", NULL, &ledger, &err), -EINVAL);
    assert_contains(err.text, "has no name");
    /* Not a kind: a file in a folder that is not there. */
    assert_int_equal(fly_ledger_open("memory/a", NULL, &ledger, &err), -ENOENT);
    assert_int_equal(fly_ledger_open("memories:/a", NULL, &ledger, &err), -ENOENT);

    assert_int_equal(setenv("FLYBALL_LEDGER", "memory:", 1), 0);
    assert_int_equal(fly_ledger_open(NULL, NULL, &ledger, &err), 0);
    assert_string_equal(ledger->kind->name, "memory");
    fly_ledger_close(ledger);
    assert_int_equal(unsetenv("FLYBALL_LEDGER"), 0);
    place_free(&place);
}

/* Two of them are two, unlike two handles of one file. */
static void memory_is_nobody_elses(void **state)
{
    struct fly_ledger *one = ledger_at("memory:");
    struct fly_ledger *two = ledger_at("memory:");
    struct fly_limiter *a = limiter_of(one, "core", "rate=1/1h burst=3");
    struct fly_limiter *b = limiter_of(two, "core", "rate=1/1h burst=3");

    (void)state;
    assert_int_equal(grants_now(a, 9), 3);
    assert_int_equal(grants_now(b, 9), 3);
    fly_limiter_free(a);
    fly_limiter_free(b);
    fly_ledger_close(one);
    fly_ledger_close(two);
}

/* Everybody locks them in one order, whatever kind they are of. */
static void several_kinds_at_once(void **state)
{
    struct place place = place_new();
    struct fly_ledger *ledger[2] = {ledger_at(place.path), ledger_at("memory:")};
    struct fly_limiter *l[2] = {limiter_of(ledger[0], "a", "rate=1/1h burst=5"),
                                limiter_of(ledger[1], "a", "rate=1/1h burst=3")};
    struct fly_limiter *turned[2] = {l[1], l[0]};
    const uint32_t cost[2] = {1, 1};
    int64_t now_ns = fly_now();
    uint64_t ticket[2];

    (void)state;
    assert_at_most(fly_take_all(l, cost, 2, now_ns, ticket), now_ns);
    assert_at_most(fly_take_all(turned, cost, 2, now_ns, ticket), now_ns);
    assert_int_equal(grants_now(l[0], 9), 3);
    assert_int_equal(grants_now(l[1], 9), 1);
    for (int i = 0; i < 2; i++) {
        fly_limiter_free(l[i]);
        fly_ledger_close(ledger[i]);
    }
    place_free(&place);
}

/* Options without a size of the ledger mean the usual one. */
static void options_may_say_nothing(void **state)
{
    struct fly_ledger_options options = {.size = sizeof(options)};
    struct fly_ledger *ledger = NULL;

    (void)state;
    assert_int_equal(fly_ledger_open("memory:", &options, &ledger, NULL), 0);
    assert_int_equal(ledger->bytes, 8 << 20);
    fly_ledger_close(ledger);
}

/* Of those who share it the largest number counts, whoever says it. */
static void what_is_to_come_is_shared(void **state)
{
    struct place place = place_new();
    struct fly_ledger *ledger = ledger_at(place.path);
    struct fly_limiter *a = limiter_of(ledger, "core", ""), *b = limiter_of(ledger, "core", "");
    const int64_t *quota = &fb_body_of(a)->books.slot[FB_SLOT_quota];
    int64_t now_ns = fly_now();

    (void)state;
    fly_limiter_backlog(a, now_ns, 3000);
    fly_limiter_backlog(b, now_ns, 100);
    assert_int_equal(fb_quota_backlog(quota), 3000);
    assert_int_equal(grants_now(b, 1), 1);
    assert_int_equal(fb_quota_backlog(quota), 2999);
    fly_limiter_backlog(b, now_ns + 15 * S, 100);
    assert_int_equal(fb_quota_backlog(quota), 100);
    fly_limiter_free(a);
    fly_limiter_free(b);
    fly_ledger_close(ledger);
    place_free(&place);
}

int main(void)
{
#define X(name) cmocka_unit_test(name##_),
    const struct CMUnitTest tests[] = {
        FB_LEDGERS(X) cmocka_unit_test(an_address_names_a_kind_or_a_file),
        cmocka_unit_test(memory_is_nobody_elses),
        cmocka_unit_test(several_kinds_at_once),
        cmocka_unit_test(what_is_to_come_is_shared),
        cmocka_unit_test(options_may_say_nothing),
    };
#undef X

    return cmocka_run_group_tests_name("ledger, kinds", tests, NULL, NULL);
}
