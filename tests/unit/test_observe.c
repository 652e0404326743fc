/* SPDX-License-Identifier: MIT */
/* Observers see all that happens, or how much they missed, and change nothing. */
#include "ledger_rig.h"
#include "limiter_rig.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "ledger/watch.h"
#include "util/alloc.h"

static size_t read_all(struct fly_limiter *l, uint64_t *cursor, struct fly_event *e, size_t most)
{
    uint64_t missed = 0;
    size_t count = fly_limiter_events(l, cursor, e, most, &missed);

    assert_int_equal(missed, 0);
    return count;
}

static struct fly_metrics metrics(struct fly_limiter *l, int64_t now_ns)
{
    struct fly_metrics m = {.size = sizeof(m)};

    assert_int_equal(fly_limiter_metrics(l, now_ns, &m), 0);
    return m;
}

static struct fly_usage usage(struct fly_limiter *l, int64_t now_ns)
{
    struct fly_usage u = {.size = sizeof(u)};

    assert_int_equal(fly_limiter_usage(l, now_ns, &u), 0);
    return u;
}

/* ---- events ---- */

static void tells_what_happens_in_order(void **state)
{
    struct fly_limiter *l = limiter("adapt=aimd rate=1/s burst=1", 0);
    struct fly_event e[16];
    uint64_t cursor = 0;

    (void)state;
    assert_int_equal(fly_limiter_observe(l, FLY_EVENTS_ALL, 16), 0);
    uint64_t ticket = granted(l, 0, 1);
    assert_at_least(take(l, S / 4, &ticket), 1);
    assert_at_least(take(l, S / 2, &ticket), 1); /* still the same wait */
    ticket = granted(l, S, 1);
    struct fly_outcome o = outcome(ticket, 429, S);
    o.latency_ns = 20 * MS;
    fly_limiter_report(l, S, &o);
    fly_limiter_report(l, S, &o); /* ended already: nothing happens */

    static const uint32_t kinds[] = {FLY_EVENT_REQUEST, FLY_EVENT_LIMITED, FLY_EVENT_RESET,
                                     FLY_EVENT_REQUEST, FLY_EVENT_OUTCOME, FLY_EVENT_RATE};
    assert_int_equal(read_all(l, &cursor, e, 16), COUNT_OF(kinds));
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        assert_int_equal(e[i].number, i + 1);
        assert_int_equal(e[i].kind, kinds[i]);
    }
    assert_int_equal(e[1].at_ns, S / 4);
    assert_int_equal(e[1].until_ns, S);
    assert_string_equal(e[1].cause, "bucket");
    assert_int_equal(e[2].waited_ns, S - S / 4);
    assert_int_equal(e[4].status, 429);
    assert_int_equal(e[4].throttled, 1);
    assert_int_equal(e[4].latency_ns, 20 * MS);
    assert_close(e[5].rate_before, 1.0, 1e-6);
    assert_close(e[5].rate, 0.8, 1e-6);
    assert_int_equal(read_all(l, &cursor, e, 16), 0);
    fly_limiter_free(l);
}

/* Threads do not read the clock at once: one may be told an earlier time than another. */
static void a_clock_that_lags_waits_for_nothing(void **state)
{
    struct fly_limiter *l = limiter("rate=1/s burst=1", 0);
    struct fly_event e[8];
    uint64_t cursor = 0;
    uint64_t ticket = granted(l, 0, 1);

    (void)state;
    assert_int_equal(fly_limiter_observe(l, FLY_EVENT_RESET | FLY_EVENT_OUTCOME, 8), 0);
    assert_at_least(take(l, 10, &ticket), 1);
    fly_limiter_cancel(l, 10, ticket);
    struct fly_outcome o = outcome(granted(l, 5, 1), 503, 5);
    o.flags = FLY_THROTTLED;
    fly_limiter_report(l, 5, &o);
    assert_int_equal(read_all(l, &cursor, e, 8), 2);
    assert_int_equal(e[0].waited_ns, 0);
    assert_int_equal(e[1].throttled, 1);
    fly_limiter_free(l);
}

static void takes_of_several_are_told_too(void **state)
{
    struct fly_limiter *l[] = {limiter("rate=1/s burst=1", 0), limiter("rate=1/s burst=1", 0)};
    const uint32_t cost[] = {1, 1};
    uint64_t ticket[2];

    (void)state;
    assert_int_equal(fly_limiter_observe(l[0], FLY_EVENTS_ALL, 16), 0);
    assert_int_equal(fly_take_all(l, cost, 2, 0, ticket), 0);
    assert_int_equal(fly_take_all(l, cost, 2, 0, ticket), S);
    assert_int_equal(metrics(l[0], 0).requests, 1);
    fly_limiter_free(l[0]);
    fly_limiter_free(l[1]);
}

static void only_the_kinds_asked_for(void **state)
{
    struct fly_limiter *l = limiter("adapt=aimd", 0);
    struct fly_event e[4];
    uint64_t cursor = 0;

    (void)state;
    assert_int_equal(fly_limiter_observe(l, FLY_EVENT_RATE, 1000), 0);
    refuse(l, 0, granted(l, 0, 1), S);
    assert_int_equal(read_all(l, &cursor, e, 4), 1);
    assert_int_equal(e[0].kind, FLY_EVENT_RATE);
    assert_int_equal(metrics(l, 0).requests, 1); /* counted all the same */
    fly_limiter_free(l);
}

static void what_was_overwritten_is_counted(void **state)
{
    struct fly_limiter *l = limiter("rate=1000000/s burst=1000", 0);
    struct fly_event e[16];
    uint64_t cursor = 0;
    uint64_t missed = 0;

    (void)state;
    assert_int_equal(fly_limiter_observe(l, FLY_EVENT_REQUEST, 5), 0); /* 8 places */
    for (int i = 0; i < 20; i++)
        (void)granted(l, i, 1);
    assert_int_equal(fly_limiter_events(l, &cursor, e, 3, &missed), 3);
    assert_int_equal(missed, 12);
    assert_int_equal(e[0].number, 13);
    assert_int_equal(fly_limiter_events(l, &cursor, e, 16, &missed), 5);
    assert_int_equal(e[4].at_ns, 19);
    assert_int_equal(missed, 12);
    cursor = 1000; /* of something else */
    assert_int_equal(fly_limiter_events(l, &cursor, e, 16, &missed), 0);
    assert_int_equal(cursor, 20);
    fly_limiter_free(l);
}

static void count_event(void *self, const struct fly_event *e)
{
    uint64_t *sum = self;

    *sum += e->number;
}

static void drains_through_a_function(void **state)
{
    struct fly_limiter *l = limiter("rate=1000000/s burst=1000", 0);
    uint64_t cursor = 0;
    uint64_t sum = 0;

    (void)state;
    assert_int_equal(fly_limiter_drain(l, &cursor, count_event, &sum), 0); /* not observed */
    assert_int_equal(fly_limiter_observe(l, FLY_EVENTS_ALL, 32), 0);
    for (int i = 0; i < 40; i++)
        (void)granted(l, i, 1);
    assert_int_equal(fly_limiter_drain(l, &cursor, count_event, &sum), 8);
    assert_int_equal(sum, (9 + 40) * 32 / 2);
    assert_int_equal(fly_limiter_drain(l, &cursor, count_event, &sum), 0);
    fly_limiter_free(l);
}

/* A limiter that is observed decides as one that is not. */
static void changes_no_decision(void **state)
{
    struct rng rng = {seed_of_run()};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(every_kind); i++) {
        struct fly_limiter *l[] = {limiter(every_kind[i], 0), limiter(every_kind[i], 0)};
        int64_t now_ns = 0;
        assert_int_equal(fly_limiter_observe(l[1], FLY_EVENTS_ALL, 64), 0);
        for (int step = 0; step < 500; step++) {
            uint64_t ticket[2] = {0, 0};
            now_ns += (int64_t)(fb_rng_next(&rng) % (uint64_t)S);
            int64_t at_ns = take(l[0], now_ns, &ticket[0]);
            assert_int_equal(take(l[1], now_ns, &ticket[1]), at_ns);
            if (at_ns > now_ns)
                continue;
            struct fly_outcome o = random_outcome(&rng, ticket[0], now_ns);
            fly_limiter_report(l[0], now_ns, &o);
            o.ticket = ticket[1];
            fly_limiter_report(l[1], now_ns, &o);
        }
        fly_limiter_free(l[0]);
        fly_limiter_free(l[1]);
    }
}

static void begins_once_and_ends(void **state)
{
    struct fly_limiter *l = limiter("rate=1/s", 0);
    struct fly_metrics m = {.size = sizeof(m)};

    (void)state;
    assert_int_equal(fly_limiter_observe(l, 0, 0), 0); /* was not */
    assert_int_equal(fly_limiter_metrics(l, 0, &m), -ENOENT);
    assert_int_equal(fly_limiter_observe(l, FLY_EVENTS_ALL, (1u << 20) + 1), -EINVAL);
    for (size_t n = 1; n <= 2; n++) {
        fb_alloc_fail_at(n);
        assert_int_equal(fly_limiter_observe(l, FLY_EVENTS_ALL, 8), -ENOMEM);
        fb_alloc_fail_at(0);
    }
    assert_int_equal(fly_limiter_observe(l, FLY_EVENTS_ALL, 8), 0);
    assert_int_equal(fly_limiter_observe(l, FLY_EVENTS_ALL, 8), -EALREADY);
    assert_int_equal(usage(l, 0).observed, 1);
    assert_int_equal(fly_limiter_observe(l, FLY_EVENTS_ALL, 0), 0);
    assert_int_equal(usage(l, 0).observed, 0);
    assert_int_equal(fly_limiter_observe(l, FLY_EVENTS_ALL, 8), 0);
    m.size = 8;
    assert_int_equal(fly_limiter_metrics(l, 0, &m), -EINVAL);
    fly_limiter_free(l);
}

/* More of them than there are rows. */
static void many_are_observed(void **state)
{
    struct fly_limiter *l[200];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(l); i++) {
        l[i] = limiter("rate=1/s", 0);
        assert_int_equal(fly_limiter_observe(l[i], FLY_EVENTS_ALL, 1), 0);
    }
    for (size_t i = 0; i < COUNT_OF(l); i += 2)
        (void)granted(l[i], 0, 1);
    for (size_t i = 0; i < COUNT_OF(l); i++) {
        assert_int_equal(metrics(l[i], 0).requests, i % 2 == 0);
        fly_limiter_free(l[i]);
    }
}

/* ---- figures ---- */

static void sums_of_a_while(void **state)
{
    struct fly_limiter *l = limiter("adapt=aimd rate=1/s burst=2 ceiling=2/s", 0);

    (void)state;
    assert_int_equal(fly_limiter_observe(l, FLY_EVENTS_ALL, 8), 0);
    assert_close(metrics(l, 0).permits_available, 2.0, 1e-6);
    uint64_t first = granted(l, 0, 1);
    uint64_t second = granted(l, 0, 1);
    assert_close(metrics(l, S / 2).permits_available, 0.5, 1e-6);
    uint64_t none;
    assert_at_least(take(l, 0, &none), 1);
    fly_limiter_cancel(l, 0, first);
    report(l, 0, second, 200);
    uint64_t third = granted(l, S, 1);
    struct fly_metrics m = metrics(l, S);
    assert_int_equal(m.requests, 3);
    assert_int_equal(m.limited, 1);
    assert_int_equal(m.wait_ns, S);
    assert_int_equal(m.wait_mean_ns, S / 3);
    assert_int_equal(m.successes, 1);
    refuse(l, S, third, FLY_ABSENT);
    m = metrics(l, S);
    assert_int_equal(m.throttled, 1);
    assert_int_equal(m.successes, 0);
    assert_int_equal(m.rate_decreases, 1);
    assert_close(m.rate, 0.8, 1e-6);
    assert_int_equal(m.events, 8);
    for (int i = 0; i < 100; i++)
        report(l, (100 + 2 * i) * S, granted(l, (100 + 2 * i) * S, 1), i % 2 ? 204 : 200);
    report(l, 400 * S, granted(l, 400 * S, 1), 500);
    m = metrics(l, 400 * S);
    assert_int_equal(m.rate_increases, 1);
    assert_int_equal(m.successes, 100);
    fly_limiter_free(l);
}

static void usage_of_windows(void **state)
{
    struct fly_limiter *l = limiter("window=1000/1m window=5000/1h", 0);

    (void)state;
    assert_int_equal(grants_at(l, 0, 850), 850);
    struct fly_usage u = usage(l, S);
    assert_int_equal(u.used, 850);
    assert_int_equal(u.limit, 900);
    assert_int_equal(u.stated, 1000);
    assert_int_equal(u.remaining, 50);
    assert_close(u.utilization, 850.0 / 900.0, 1e-9);
    assert_int_equal(u.limited, 0);
    assert_int_equal(u.next_ns, S);
    assert_int_equal(u.window_ns, 60 * S);
    assert_int_equal(u.in_flight, 850);
    assert_int_equal(grants_at(l, S, 100), 50);
    u = usage(l, S);
    assert_int_equal(u.limited, 1);
    assert_int_equal(u.next_ns, 60 * S);
    assert_close(u.utilization, 1.0, 1e-9);
    /* A minute later the hour is what is used most. */
    u = usage(l, 100 * S);
    assert_int_equal(u.used, 900);
    assert_int_equal(u.limit, 4500);
    assert_int_equal(u.window_ns, 3600 * S);
    fly_limiter_free(l);
}

static void usage_of_the_others(void **state)
{
    struct fly_limiter *l = limiter("rate=2/s burst=10", 0);
    struct fly_limiter *none = limiter("adapt=off", 0);
    struct fly_usage small = {.size = 8};

    (void)state;
    assert_int_equal(grants_at(l, 0, 4), 4);
    struct fly_usage u = usage(l, 0);
    assert_int_equal(u.used, 4);
    assert_int_equal(u.limit, 10);
    assert_int_equal(u.window_ns, 5 * S);
    assert_int_equal(usage(none, 0).limit, 0);
    assert_close(usage(none, 0).utilization, 0.0, 0);
    assert_int_equal(fly_limiter_observe(none, FLY_EVENTS_ALL, 1), 0);
    assert_close(metrics(none, 0).permits_available, 0.0, 0);
    assert_int_equal(metrics(none, 0).wait_mean_ns, 0);
    assert_int_equal(fly_limiter_usage(l, 0, &small), -EINVAL);
    fly_limiter_free(l);
    fly_limiter_free(none);
}

/* A window counts whatever else bounds the limiter; a bucket alone does not. */
static void windows_in_use(void **state)
{
    const char *text[] = {"window=20/1h margin=0%", "rate=50/s burst=20 window=20/1h margin=0%",
                          "window=20/1h margin=0% adapt=probe"};
    struct fly_limiter *bucket = limiter("rate=2/s burst=10", 0);

    (void)state;
    for (size_t i = 0; i < sizeof text / sizeof text[0]; i++) {
        struct fly_limiter *l = limiter(text[i], 0);
        int64_t now_ns = 0;

        assert_close(fb_window_utilization(l, 0), 0.0, 0);
        for (int n = 0; n < 17; n++, now_ns += 60 * S)
            assert_int_equal(grants_at(l, now_ns, 1), 1);
        assert_close(fb_window_utilization(l, now_ns), 17.0 / 20.0, 1e-9);
        fly_limiter_free(l);
    }
    assert_int_equal(grants_at(bucket, 0, 10), 10);
    assert_true(isnan(fb_window_utilization(bucket, 0)));
    fly_limiter_free(bucket);
}

static void usage_of_all_together(void **state)
{
    struct fly_limiter *l[] = {limiter("window=10/1m", 0), limiter("window=1000/1m", 0),
                               limiter("window=100/1m", 0)};
    struct fly_overall all = {.size = sizeof(all)};
    struct fly_overall small = {.size = 8};

    (void)state;
    assert_int_equal(fly_overall_usage(l, 3, 0, &small), -EINVAL);
    assert_int_equal(fly_overall_usage(l, 0, 0, &all), 0);
    assert_int_equal(all.active, 0);
    assert_int_equal(grants_at(l[0], 0, 100), 9);
    assert_int_equal(grants_at(l[1], 0, 200), 200);
    assert_int_equal(fly_limiter_observe(l[2], FLY_EVENTS_ALL, 8), 0);
    assert_int_equal(fly_overall_usage(l, 3, 0, &all), 0);
    assert_int_equal(all.active, 2);
    assert_int_equal(all.observed, 1);
    assert_int_equal(all.used, 209);
    assert_int_equal(all.most_active, 1);
    assert_int_equal(all.used_most, 200);
    assert_int_equal(all.limit, 900);
    assert_int_equal(all.stated, 1000);
    assert_close(all.margin, 0.1, 1e-9);
    assert_int_equal(all.window_ns, 60 * S);
    assert_close(all.utilization_most, 1.0, 1e-9);
    assert_int_equal(all.limited, 1);
    assert_int_equal(all.bytes, 3 * fly_limiter_state_size());

    /* Nothing is stated: what is out makes it active. */
    struct fly_limiter *none = limiter("adapt=off", 0);
    (void)granted(none, 0, 1);
    assert_int_equal(fly_overall_usage(&none, 1, 0, &all), 0);
    assert_int_equal(all.active, 1);
    assert_close(all.margin, 0.0, 0);
    fly_limiter_free(none);
    for (size_t i = 0; i < 3; i++)
        fly_limiter_free(l[i]);
}

/* ---- beginning anew ---- */

static void a_reset_forgets_all_but_what_is_out(void **state)
{
    static const char *const specs[] = {"rate=1/s burst=10", "window=10/1h margin=0%",
                                        "adapt=aimd rate=1/s burst=10"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(specs); i++) {
        struct fly_limiter *l = limiter(specs[i], 0);
        double rate = fly_limiter_rate(l);
        assert_int_equal(fly_limiter_observe(l, FLY_EVENTS_ALL, 64), 0);
        assert_int_equal(grants_at(l, 0, 8), 8);
        uint64_t last = granted(l, 0, 1);
        refuse(l, 0, granted(l, 0, 1), 100 * S);
        assert_int_equal(usage(l, 0).limited, 1);
        assert_int_equal(fly_limiter_reset(l, specs[i], 0, NULL), 0);
        assert_close(fly_limiter_rate(l), rate, 1e-9);
        assert_int_equal(usage(l, 0).in_flight, 9);
        report(l, 0, last, 200);
        assert_int_equal(usage(l, 0).in_flight, 8);
        assert_int_equal(grants_at(l, 0, 20), 10);
        assert_int_equal(usage(l, 0).observed, 1);
        fly_limiter_free(l);
    }
}

static void a_reset_that_fails_changes_nothing(void **state)
{
    struct fly_limiter *l = limiter("rate=1/s burst=1", 0);
    struct fly_error err = {""};

    (void)state;
    (void)granted(l, 0, 1);
    assert_int_equal(fly_limiter_reset(l, "rate=ten/s", 0, &err), -EINVAL);
    assert_contains(err.text, "rate=ten/s");
    fb_alloc_fail_at(1);
    assert_int_equal(fly_limiter_reset(l, "rate=1/s burst=1", 0, &err), -ENOMEM);
    fb_alloc_fail_at(0);
    assert_int_equal(next_at(l, 0, 1), S);
    fly_limiter_free(l);
}

static void a_shared_limiter_tells_its_usage(void **state)
{
    struct place p = place_new();
    struct fly_ledger *ledger = ledger_at(p.path);
    struct fly_limiter *l = limiter_of(ledger, "core", "window=100/1h margin=0%");
    struct fly_learned x = {.size = sizeof(x)};
    unsigned char bytes[FLY_STATE_BYTES];

    (void)state;
    assert_int_equal(fly_limiter_observe(l, 0, 0), 0);
    assert_int_equal(usage(l, fly_now()).observed, 0);
    uint64_t before = (uint64_t)usage(l, fly_now()).used;
    (void)granted(l, fly_now(), 1);
    assert_int_equal(usage(l, fly_now()).used, before + 1);
    assert_int_equal(usage(l, fly_now()).limit, 100);
    assert_int_equal(fly_limiter_learned(l, fly_now(), &x), 0);
    assert_string_equal(x.by, "off");
    int size = fly_limiter_save(l, fly_now(), bytes, sizeof(bytes));
    assert_true(size > 0);
    assert_int_equal(fly_limiter_load(l, fly_now(), 0, bytes, (size_t)size, NULL), 0);
    fly_limiter_free(l);
    fly_ledger_close(ledger);
    place_free(&p);
}

/* ---- processes ---- */

/* Run `work` in a child that ends without giving anything back. */
static int in_child(int (*work)(struct fly_limiter *l), struct fly_limiter *l)
{
    pid_t child = fork();

    assert_true(child >= 0);
    if (child == 0)
        _exit(work(l));
    return status_of(child);
}

static int be_refused(struct fly_limiter *l)
{
    int64_t now_ns = fly_now();
    uint64_t ticket = 0;
    struct fly_event e;
    uint64_t cursor = 0;
    uint64_t missed = 0;

    if (fly_limiter_take(l, now_ns, 1, &ticket) > now_ns)
        return 1;
    report(l, now_ns, ticket, 429);
    /* Nothing is observed here until it is asked for. */
    if (fly_limiter_events(l, &cursor, &e, 1, &missed) != 0 || cursor != 0)
        return 2;
    if (fly_limiter_observe(l, FLY_EVENTS_ALL, 4) != 0)
        return 3;
    (void)fly_limiter_take(l, now_ns, 1, &ticket);
    return fly_limiter_events(l, &cursor, &e, 1, &missed) == 1 ? 0 : 4;
}

/* Its own requests and answers, and what others learned with the next answer. */
static void a_shared_limiter_tells_each_process_its_own(void **state)
{
    struct place p = place_new();
    struct fly_ledger *ledger = ledger_at(p.path);
    struct fly_limiter *l = limiter_of(ledger, "core", "adapt=aimd rate=1/s burst=5");
    struct fly_event e[16];
    uint64_t cursor = 0;
    int64_t now_ns = fly_now();

    (void)state;
    assert_int_equal(fly_limiter_observe(l, FLY_EVENTS_ALL, 16), 0);
    uint64_t ticket = granted(l, now_ns, 1);
    assert_int_equal(in_child(be_refused, l), 0);
    assert_at_least(take(l, now_ns, &ticket), now_ns + 1); /* held by what the child was told */
    report(l, now_ns, ticket, 200);

    static const uint32_t kinds[] = {FLY_EVENT_REQUEST, FLY_EVENT_LIMITED, FLY_EVENT_OUTCOME,
                                     FLY_EVENT_RATE};
    assert_int_equal(read_all(l, &cursor, e, 16), COUNT_OF(kinds));
    for (size_t i = 0; i < COUNT_OF(kinds); i++)
        assert_int_equal(e[i].kind, kinds[i]);
    assert_string_equal(e[1].cause, "hold");
    assert_close(e[3].rate_before, 1.0, 1e-6);
    assert_close(e[3].rate, 0.8, 1e-6);

    struct fly_metrics m = metrics(l, now_ns);
    assert_int_equal(m.requests, 1);
    assert_int_equal(m.throttled, 0);
    assert_int_equal(m.rate_decreases, 1);
    assert_int_equal(fly_limiter_observe(l, 0, 0), 0);
    assert_int_equal(usage(l, now_ns).observed, 0);
    fly_limiter_free(l);
    fly_ledger_close(ledger);
    place_free(&p);
}

/* A limiter of this process is copied by a fork, and observed in neither way there. */
static void a_copied_limiter_is_not_observed(void **state)
{
    struct fly_limiter *l = limiter("rate=1/1h burst=5", fly_now());

    (void)state;
    assert_int_equal(fly_limiter_observe(l, FLY_EVENTS_ALL, 16), 0);
    assert_int_equal(in_child(be_refused, l), 0);
    assert_int_equal(metrics(l, fly_now()).requests, 0);
    fly_limiter_free(l);
}

/* ---- threads ---- */

struct shared {
    struct fly_limiter *l;
    _Atomic int64_t now_ns;
    _Atomic bool done;
    uint64_t seen;
    uint64_t missed;
    bool broken;
};

static void *make_events(void *argument)
{
    struct shared *s = argument;

    for (int i = 0; i < 20000; i++) {
        uint64_t ticket;
        int64_t now_ns = atomic_fetch_add(&s->now_ns, 1000);
        if (take(s->l, now_ns, &ticket) <= now_ns)
            report(s->l, now_ns, ticket, 200);
    }
    return NULL;
}

static void *read_events(void *argument)
{
    struct shared *s = argument;
    uint64_t cursor = 0;
    uint64_t last = 0;
    bool done;

    do {
        struct fly_event e[32];
        done = atomic_load(&s->done);
        size_t count = fly_limiter_events(s->l, &cursor, e, 32, &s->missed);
        for (size_t i = 0; i < count; i++) {
            /* Whole, and in order. */
            bool whole = e[i].kind == FLY_EVENT_REQUEST
                             ? e[i].cost == 1 && e[i].status == 0
                             : e[i].kind == FLY_EVENT_OUTCOME && e[i].status == 200;
            s->broken |= e[i].number <= last || !whole;
            last = e[i].number;
        }
        s->seen += count;
        done = done && count == 0;
    } while (!done);
    return NULL;
}

static void readers_and_writers_at_once(void **state)
{
    struct shared s = {.l = limiter("rate=1000000000/s burst=1000000", 0)};
    pthread_t writer[3];
    pthread_t reader;

    (void)state;
    assert_int_equal(fly_limiter_observe(s.l, FLY_EVENTS_ALL, 64), 0);
    assert_int_equal(pthread_create(&reader, NULL, read_events, &s), 0);
    for (size_t i = 0; i < COUNT_OF(writer); i++)
        assert_int_equal(pthread_create(&writer[i], NULL, make_events, &s), 0);
    for (size_t i = 0; i < COUNT_OF(writer); i++)
        assert_int_equal(pthread_join(writer[i], NULL), 0);
    atomic_store(&s.done, true);
    assert_int_equal(pthread_join(reader, NULL), 0);
    assert_false(s.broken);
    assert_int_equal(s.seen + s.missed, metrics(s.l, 0).events);
    assert_true(s.seen > 0);
    fly_limiter_free(s.l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_what_happens_in_order),
        cmocka_unit_test(a_clock_that_lags_waits_for_nothing),
        cmocka_unit_test(takes_of_several_are_told_too),
        cmocka_unit_test(only_the_kinds_asked_for),
        cmocka_unit_test(what_was_overwritten_is_counted),
        cmocka_unit_test(drains_through_a_function),
        cmocka_unit_test(changes_no_decision),
        cmocka_unit_test(begins_once_and_ends),
        cmocka_unit_test(many_are_observed),
        cmocka_unit_test(sums_of_a_while),
        cmocka_unit_test(usage_of_windows),
        cmocka_unit_test(usage_of_the_others),
        cmocka_unit_test(windows_in_use),
        cmocka_unit_test(usage_of_all_together),
        cmocka_unit_test(a_reset_forgets_all_but_what_is_out),
        cmocka_unit_test(a_reset_that_fails_changes_nothing),
        cmocka_unit_test(a_shared_limiter_tells_its_usage),
        cmocka_unit_test(a_shared_limiter_tells_each_process_its_own),
        cmocka_unit_test(a_copied_limiter_is_not_observed),
        cmocka_unit_test(readers_and_writers_at_once),
    };

    return cmocka_run_group_tests_name("observe", tests, NULL, NULL);
}
