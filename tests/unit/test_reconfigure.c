/* SPDX-License-Identifier: MIT */
/*
 * Other limits for a limiter in use, of this process and of a ledger: nothing is forgotten, and
 * the change lets nothing leave that either limit would have kept. Meant for the thread sanitizer
 * too.
 */
#include "ledger_rig.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "util/alloc.h"

/* A limiter of either kind at a time that the tests move on by themselves. */
struct rig {
    struct place place;
    struct fly_ledger *ledger;
    struct fly_limiter *l;
    int64_t now_ns;
};

static struct rig rig_new(bool shared, const char *spec)
{
    struct rig r = {.now_ns = fly_now()};

    if (shared) {
        r.place = place_new();
        r.ledger = ledger_at(r.place.path);
        r.l = limiter_of(r.ledger, "core", spec);
    } else {
        r.l = limiter(spec, r.now_ns);
    }
    /* A ledger reads its own clock: be a little ahead of it, and stay there. */
    r.now_ns += 60 * S;
    return r;
}

static void rig_free(struct rig *r)
{
    fly_limiter_free(r->l);
    fly_ledger_close(r->ledger);
    if (r->ledger)
        place_free(&r->place);
}

static int grants(struct rig *r, int most)
{
    uint64_t ticket;
    int n = 0;

    while (n < most && fly_limiter_take(r->l, r->now_ns, 1, &ticket) <= r->now_ns)
        n++;
    return n;
}

static void change_to(struct rig *r, const char *spec)
{
    struct fly_error err = {""};

    if (fly_limiter_reconfigure(r->l, spec, r->now_ns, &err) < 0)
        fail_msg("%s: %s", spec, err.text);
}

static const char *cause(struct rig *r)
{
    static struct fly_why why;

    why.size = sizeof(why);
    assert_int_equal(fly_limiter_why(r->l, r->now_ns, 1, &why), 0);
    return why.cause;
}

/* Each test for a limiter of this process, and for one of a ledger. */
#define EITHER(r, spec)                  \
    for (int kind = 0; kind < 2; kind++) \
        for (struct rig r = rig_new(kind, spec), *once = &r; once; rig_free(&r), once = NULL)

static void the_permits_that_are_there_stay(void **state)
{
    (void)state;
    EITHER(r, "rate=1/1h burst=10")
    {
        assert_int_equal(grants(&r, 4), 4);
        change_to(&r, "rate=1/1h burst=100");
        assert_int_equal(grants(&r, 200), 6);
        change_to(&r, "rate=100/s burst=5");
        assert_int_equal(grants(&r, 200), 0);
        r.now_ns += S;
        assert_int_equal(grants(&r, 200), 5);
    }
    EITHER(r, "rate=1/1h burst=100")
    {
        assert_int_equal(grants(&r, 20), 20);
        change_to(&r, "rate=1/1h burst=10");
        assert_int_equal(grants(&r, 200), 10);
    }
}

static void a_window_of_the_same_length_goes_on(void **state)
{
    (void)state;
    EITHER(r, "window=10/1m margin=0%")
    {
        assert_int_equal(grants(&r, 6), 6);
        r.now_ns += 30 * S;
        assert_int_equal(grants(&r, 99), 4);
        change_to(&r, "window=14/1m margin=0%");
        assert_int_equal(grants(&r, 99), 4);
        change_to(&r, "window=8/1m margin=0%");
        assert_int_equal(grants(&r, 99), 0);
        r.now_ns += 30 * S; /* the first six have left, eight are in it */
        assert_int_equal(grants(&r, 99), 0);
        r.now_ns += 30 * S;
        assert_int_equal(grants(&r, 99), 8);
    }
}

static void another_window_is_filled_as_far_as_is_known(void **state)
{
    (void)state;
    /* The longer one knows an upper bound for the shorter one. */
    EITHER(r, "window=10/1m margin=0%")
    {
        assert_int_equal(grants(&r, 6), 6);
        change_to(&r, "window=10/1s margin=0%");
        assert_int_equal(grants(&r, 99), 4);
        r.now_ns += 2 * S;
        assert_int_equal(grants(&r, 99), 10);
    }
    EITHER(r, "window=10/1m margin=0%")
    {
        assert_int_equal(grants(&r, 6), 6);
        r.now_ns += 61 * S;
        change_to(&r, "window=10/1s margin=0%");
        assert_int_equal(grants(&r, 99), 10);
    }
    /* Nothing was ever used. */
    EITHER(r, "window=10/1m margin=0%")
    {
        change_to(&r, "window=20/1m margin=0%");
        assert_int_equal(grants(&r, 99), 20);
    }
    /* Stamps of single units and of many do not mix, but how many there are is known. */
    EITHER(r, "window=100/1m margin=0%")
    {
        assert_int_equal(grants(&r, 60), 60);
        change_to(&r, "window=20000/1m margin=0%");
        assert_int_equal(grants(&r, 30000), 19940);
        change_to(&r, "window=10000/1m margin=0%");
        assert_int_equal(grants(&r, 30000), 0);
    }
    /* A shorter one does not: it is full, for its whole length. */
    EITHER(r, "window=10/1s margin=0%")
    {
        assert_int_equal(grants(&r, 1), 1);
        change_to(&r, "window=50/1m margin=0%");
        r.now_ns += 59 * S;
        assert_int_equal(grants(&r, 99), 0);
        r.now_ns += 60 * S;
        assert_int_equal(grants(&r, 99), 50);
    }
    /* Nor does a bucket; but what was never used is empty. */
    EITHER(r, "rate=100/s")
    {
        change_to(&r, "window=5/1m margin=0%");
        assert_int_equal(grants(&r, 99), 5);
        change_to(&r, "rate=1/1h burst=7");
        assert_int_equal(grants(&r, 99), 0);
        change_to(&r, "window=20000/1m margin=0%");
        assert_int_equal(grants(&r, 99), 0);
        change_to(&r, "window=30000/1m margin=0%");
        assert_int_equal(grants(&r, 20000), 10000);
    }
}

static void what_is_in_flight_stays_in_flight(void **state)
{
    (void)state;
    EITHER(r, "concurrency=3 adapt=off")
    {
        uint64_t ticket = 0;
        assert_at_most(fly_limiter_take(r.l, r.now_ns, 1, &ticket), r.now_ns);
        assert_int_equal(grants(&r, 1), 1);
        change_to(&r, "concurrency=2 adapt=off rate=1000000/s burst=5000");
        assert_int_equal(grants(&r, 9), 0);
        assert_string_equal(cause(&r), "concurrency");
        report(r.l, r.now_ns, ticket, 200);
        report(r.l, r.now_ns, ticket, 200); /* and only once */
        r.now_ns += S;
        assert_int_equal(grants(&r, 9), 1);
    }
}

/* Fewer grants are remembered one by one: the older ones are only counted. */
static void a_smaller_record_of_what_is_out(void **state)
{
    struct rig r = rig_new(false, "rate=1000000/s burst=4000");
    uint64_t ticket[1000];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(ticket); i++)
        assert_at_most(fly_limiter_take(r.l, r.now_ns, 1, &ticket[i]), r.now_ns);
    change_to(&r, "rate=1000000/s burst=10 concurrency=500");
    r.now_ns += S;
    assert_int_equal(grants(&r, 9), 0);
    for (size_t i = 0; i < COUNT_OF(ticket); i++)
        report(r.l, r.now_ns, ticket[i], 200);
    r.now_ns += S;
    assert_int_equal(grants(&r, 20), 10);
    rig_free(&r);
}

static void a_hold_and_a_quota_go_on(void **state)
{
    (void)state;
    EITHER(r, "pacing=demand rate=1000/s burst=50")
    {
        uint64_t ticket[2] = {0};
        for (int i = 0; i < 2; i++)
            assert_at_most(fly_limiter_take(r.l, r.now_ns, 1, &ticket[i]), r.now_ns);
        struct fly_outcome o = outcome(ticket[0], 200, r.now_ns);
        o.limit = 100;
        o.remaining = 3;
        o.reset_ns = r.now_ns + 7200 * S;
        fly_limiter_report(r.l, r.now_ns, &o);
        o = outcome(ticket[1], 429, r.now_ns);
        o.retry_after_ns = 3600 * S;
        fly_limiter_report(r.l, r.now_ns, &o);
        change_to(&r, "pacing=demand rate=500/s burst=50");
        assert_string_equal(cause(&r), "hold");
        change_to(&r, "pacing=demand rate=500/s burst=50 concurrency=10");
        r.now_ns += 3700 * S;
        assert_at_most(grants(&r, 99), 3);
        assert_int_equal(grants(&r, 99), 0);
    }
}

static void what_was_learned_goes_on(void **state)
{
    (void)state;
    EITHER(r, "adapt=aimd rate=10/s ceiling=20/s")
    {
        uint64_t ticket = 0;
        assert_at_most(fly_limiter_take(r.l, r.now_ns, 1, &ticket), r.now_ns);
        report(r.l, r.now_ns, ticket, 429);
        double rate = fly_limiter_rate(r.l);
        assert_close(rate, 8.0, 1e-6);
        change_to(&r, "adapt=aimd rate=10/s ceiling=30/s");
        assert_close(fly_limiter_rate(r.l), rate, 1e-6);
        change_to(&r, "adapt=aimd rate=2/s ceiling=5/s");
        assert_close(fly_limiter_rate(r.l), 5.0, 1e-6);
        change_to(&r, "");
        assert_true(fly_limiter_rate(r.l) > 0.0);
    }
}

static void a_mistake_changes_nothing(void **state)
{
    (void)state;
    EITHER(r, "rate=1/1h burst=10")
    {
        struct fly_error err = {""};
        assert_int_equal(grants(&r, 4), 4);
        assert_int_equal(fly_limiter_reconfigure(r.l, "rate=fast", r.now_ns, &err), -EINVAL);
        assert_contains(err.text, "rate=fast");
        assert_int_equal(grants(&r, 99), 6);
    }
    struct rig r = rig_new(false, "rate=1/1h burst=10");
    struct fly_error err = {""};
    fb_alloc_fail_at(1);
    assert_int_equal(fly_limiter_reconfigure(r.l, "", r.now_ns, &err), -ENOMEM);
    assert_int_equal(grants(&r, 99), 10);
    rig_free(&r);
}

/* A ledger without room for both leaves the key as it is. */
static void without_room_nothing_changes(void **state)
{
    struct place place = place_new();
    struct fly_ledger_options tiny = {.size = sizeof(tiny), .bytes = 65536};
    struct fly_ledger *ledger = NULL;
    struct fly_error err = {""};

    (void)state;
    assert_int_equal(fly_ledger_open(place.path, &tiny, &ledger, &err), 0);
    struct fly_limiter *l = limiter_of(ledger, "core", "rate=1/1h burst=3");
    int rc = fly_limiter_reconfigure(l, "window=10000/1h", fly_now(), &err);
    assert_int_equal(rc, -ENOSPC);
    assert_contains(err.text, "full");
    uint64_t ticket;
    int64_t now_ns = fly_now();
    for (int i = 0; i < 3; i++)
        assert_at_most(fly_limiter_take(l, now_ns, 1, &ticket), now_ns);
    assert_at_least(fly_limiter_take(l, now_ns, 1, &ticket), now_ns + 1);
    fly_limiter_free(l);
    fly_ledger_close(ledger);
    place_free(&place);
}

/* ---- others ---- */

/* Another process, and another handle of this one, go on with the key where it is now. */
static void everybody_follows(void **state)
{
    struct place place = place_new();
    struct fly_ledger *ledger = ledger_at(place.path);
    struct fly_limiter *a = limiter_of(ledger, "core", "rate=1/1h burst=10");
    struct fly_limiter *b = limiter_of(ledger, "core", "rate=1/1h burst=10");
    _Atomic int *stage = shared_memory(sizeof(*stage));
    uint64_t ticket = 0;
    int64_t now_ns = fly_now();

    (void)state;
    pid_t child = fork();
    if (child == 0) {
        int granted = fly_limiter_take(a, now_ns, 1, &ticket) <= now_ns;
        atomic_store(stage, 1);
        while (atomic_load(stage) == 1)
            ;
        while (fly_limiter_take(a, now_ns, 1, &ticket) <= now_ns)
            granted++;
        _exit(granted);
    }
    while (atomic_load(stage) == 0)
        ;
    /* The last one says, also by opening it with another spec. */
    struct fly_limiter *c = limiter_of(ledger, "core", "rate=1/1h burst=5");
    assert_at_most(fly_limiter_take(b, now_ns, 1, &ticket), now_ns);
    atomic_store(stage, 2);
    assert_int_equal(status_of(child), 1 + 4);
    assert_at_least(fly_limiter_take(a, now_ns, 1, &ticket), now_ns + 1);
    /* Blocks that were left are used again, sooner or later: it does not fill up. */
    for (int i = 0; i < 40; i++)
        assert_int_equal(
            fly_limiter_reconfigure(c, i % 2 ? "rate=1/1h" : "rate=2/1h", now_ns, NULL), 0);
    fly_limiter_free(a);
    fly_limiter_free(b);
    fly_limiter_free(c);
    fly_ledger_close(ledger);
    place_free(&place);
}

/* Threads take while the limits change under them: never more than the larger of both. */
struct crowd {
    struct fly_limiter *l;
    int64_t now_ns;
    _Atomic bool over;
    _Atomic int64_t granted;
};

static void *take_all_the_time(void *argument)
{
    struct crowd *c = argument;
    uint64_t ticket;

    while (!atomic_load(&c->over))
        if (fly_limiter_take(c->l, c->now_ns, 1, &ticket) <= c->now_ns)
            atomic_fetch_add(&c->granted, 1);
    return NULL;
}

static void threads_take_meanwhile(void **state)
{
    static const char *const specs[] = {"rate=1/1h burst=50000", "rate=2/1h burst=60000",
                                        "rate=1/1h burst=60000 concurrency=100000"};
    struct crowd c = {.l = limiter(specs[0], 0)};
    pthread_t threads[4];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, take_all_the_time, &c), 0);
    for (size_t i = 0; i < 300; i++)
        assert_int_equal(fly_limiter_reconfigure(c.l, specs[i % COUNT_OF(specs)], 0, NULL), 0);
    atomic_store(&c.over, true);
    for (size_t i = 0; i < COUNT_OF(threads); i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    uint64_t ticket;
    while (fly_limiter_take(c.l, 0, 1, &ticket) <= 0)
        atomic_fetch_add(&c.granted, 1);
    /* What was there at the beginning is all that ever was; each change may cost a permit. */
    assert_at_most(atomic_load(&c.granted), 50000);
    assert_at_least(atomic_load(&c.granted), 50000 - 300);
    fly_limiter_free(c.l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_permits_that_are_there_stay),
        cmocka_unit_test(a_window_of_the_same_length_goes_on),
        cmocka_unit_test(another_window_is_filled_as_far_as_is_known),
        cmocka_unit_test(what_is_in_flight_stays_in_flight),
        cmocka_unit_test(a_smaller_record_of_what_is_out),
        cmocka_unit_test(a_hold_and_a_quota_go_on),
        cmocka_unit_test(what_was_learned_goes_on),
        cmocka_unit_test(a_mistake_changes_nothing),
        cmocka_unit_test(without_room_nothing_changes),
        cmocka_unit_test(everybody_follows),
        cmocka_unit_test(threads_take_meanwhile),
    };

    return cmocka_run_group_tests_name("reconfigure", tests, NULL, NULL);
}
