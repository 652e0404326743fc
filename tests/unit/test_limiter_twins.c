/* SPDX-License-Identifier: MIT */
/* Two limiters and the same calls: same answers, and what must change nothing does not. */
#include "limiter_rig.h"

/* ---- twins: what must change nothing ---- */

enum { OUT_MAX = 64 };

struct script {
    struct rng rng;
    int64_t now_ns;
    uint64_t out[OUT_MAX];
    int out_count;
    uint64_t ended[OUT_MAX]; /* of the last grants */
    int ended_count;
};

static uint64_t pick_out(struct script *s)
{
    int i = (int)(fb_rng_next(&s->rng) % (uint64_t)s->out_count);
    uint64_t ticket = s->out[i];

    s->out[i] = s->out[--s->out_count];
    s->ended[s->ended_count++ % OUT_MAX] = ticket;
    return ticket;
}

/* One random step on both; they must answer alike. */
static void step_both(struct script *s, struct fly_limiter *a, struct fly_limiter *b)
{
    uint64_t what = fb_rng_next(&s->rng) % 10;

    s->now_ns += (int64_t)(fb_rng_next(&s->rng) % (uint64_t)(300 * MS));
    if (what < 6 || s->out_count == 0) {
        uint32_t cost = 1 + (uint32_t)(fb_rng_next(&s->rng) % 3);
        uint64_t ticket_a = 7;
        uint64_t ticket_b = 7;
        int64_t at_ns = fly_limiter_take(a, s->now_ns, cost, &ticket_a);
        assert_int_equal(fly_limiter_take(b, s->now_ns, cost, &ticket_b), at_ns);
        assert_int_equal(ticket_a, ticket_b);
        if (at_ns <= s->now_ns)
            s->out[s->out_count++] = ticket_a;
    } else if (what < 9) {
        uint64_t ticket = pick_out(s);
        struct fly_outcome o = random_outcome(&s->rng, ticket, s->now_ns);
        if (fb_rng_next(&s->rng) % 4 == 0) {
            uint32_t cost = (uint32_t)(fb_rng_next(&s->rng) % 5);
            fly_limiter_settle(a, s->now_ns, ticket, cost);
            fly_limiter_settle(b, s->now_ns, ticket, cost);
        }
        fly_limiter_report(a, s->now_ns, &o);
        fly_limiter_report(b, s->now_ns, &o);
    } else {
        uint64_t ticket = pick_out(s);
        fly_limiter_cancel(a, s->now_ns, ticket);
        fly_limiter_cancel(b, s->now_ns, ticket);
    }
    while (s->out_count == OUT_MAX) {
        uint64_t ticket = pick_out(s);
        report(a, s->now_ns, ticket, 200);
        report(b, s->now_ns, ticket, 200);
    }
}

static void same_calls_same_answers(void **state)
{
    uint64_t seed = seed_of_run();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(every_kind); i++) {
        struct fly_limiter *a = limiter(every_kind[i], 0);
        struct fly_limiter *b = limiter(every_kind[i], 0);
        struct script s = {.rng = {seed + i}};
        for (int n = 0; n < 5000; n++)
            step_both(&s, a, b);
        fly_limiter_free(a);
        fly_limiter_free(b);
    }
}

/* One of the things that must change nothing, on `a` alone. */
static void disturb(struct script *s, struct fly_limiter *a)
{
    uint64_t ticket =
        s->ended_count > 0
            ? s->ended[fb_rng_next(&s->rng) %
                       (uint64_t)(s->ended_count < OUT_MAX ? s->ended_count : OUT_MAX)]
            : 0;
    struct fly_outcome o = random_outcome(&s->rng, ticket, s->now_ns);
    struct fly_why w = {.size = sizeof(w)};

    switch (fb_rng_next(&s->rng) % 6) {
    case 0:
        fly_limiter_report(a, s->now_ns, &o);
        break;
    case 1:
        o.status = 429;
        o.retry_after_ns = 3600 * S;
        fly_limiter_report(a, s->now_ns, &o);
        break;
    case 2:
        fly_limiter_cancel(a, s->now_ns, ticket);
        break;
    case 3:
        fly_limiter_settle(a, s->now_ns, ticket, 1000);
        break;
    case 4:
        o.ticket = ticket ^ UINT64_C(1) << (fb_rng_next(&s->rng) % 64);
        fly_limiter_report(a, s->now_ns, &o);
        fly_limiter_cancel(a, s->now_ns, o.ticket);
        fly_limiter_settle(a, s->now_ns, o.ticket, 5);
        break;
    default:
        fly_limiter_why(a, s->now_ns, 1, &w);
        fly_limiter_rate(a);
        break;
    }
}

static void what_has_ended_changes_nothing(void **state)
{
    uint64_t seed = seed_of_run();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(every_kind); i++) {
        struct fly_limiter *a = limiter(every_kind[i], 0);
        struct fly_limiter *b = limiter(every_kind[i], 0);
        struct script s = {.rng = {seed + i}};
        for (int n = 0; n < 5000; n++) {
            disturb(&s, a);
            step_both(&s, a, b);
        }
        fly_limiter_free(a);
        fly_limiter_free(b);
    }
}

static void a_hint_that_is_not_followed_changes_nothing(void **state)
{
    uint64_t seed = seed_of_run();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(every_kind); i++) {
        struct fly_limiter *a = limiter(every_kind[i], 0);
        struct fly_limiter *b = limiter(every_kind[i], 0);
        struct script s = {.rng = {seed + i}};
        for (int n = 0; n < 3000; n++) {
            uint64_t ticket;
            for (uint32_t cost = 1; cost < 5; cost++)
                if (next_at(a, s.now_ns, cost) > s.now_ns)
                    assert_true(fly_limiter_take(a, s.now_ns, cost, &ticket) > s.now_ns);
            step_both(&s, a, b);
        }
        fly_limiter_free(a);
        fly_limiter_free(b);
    }
}

/* ---- without the lock and with it ---- */

/* A step of a clock that mostly creeps, sometimes stands, and rarely leaps far. */
static int64_t leap(struct rng *rng)
{
    uint64_t what = fb_rng_next(rng) % 1000;

    if (what < 300)
        return 0;
    if (what < 990)
        return (int64_t)(fb_rng_next(rng) % (uint64_t)(400 * MS));
    return (int64_t)(fb_rng_next(rng) % (uint64_t)(100000 * S));
}

/* One of two limiters with the same limit always takes under its lock: they must agree. */
static void take_both_ways(const char *spec, int64_t origin_ns, uint64_t seed)
{
    struct fly_limiter *free_one = limiter(spec, origin_ns);
    struct fly_limiter *locked = limiter(spec, origin_ns);
    struct rng rng = {seed};
    int64_t now_ns = origin_ns;

    for (int i = 0; i < 20000; i++) {
        uint64_t ticket[2] = {0, 0};
        int64_t step_ns = leap(&rng);
        if (now_ns < INT64_MAX - S - step_ns)
            now_ns += step_ns;
        int64_t at_ns = fly_limiter_take(free_one, now_ns, 1, &ticket[0]);
        assert_int_equal(fly_take_all(&locked, &(uint32_t){1}, 1, now_ns, &ticket[1]), at_ns);
        assert_int_equal(ticket[0] != 0, ticket[1] != 0);
        if (ticket[0] && fb_rng_next(&rng) % 4 == 0) {
            fly_limiter_cancel(free_one, now_ns, ticket[0]);
            fly_limiter_cancel(locked, now_ns, ticket[1]);
        }
    }
    fly_limiter_free(free_one);
    fly_limiter_free(locked);
}

static void with_the_lock_and_without_it_is_the_same(void **state)
{
    static const char *const specs[] = {
        "rate=5/s burst=3", "rate=999983/s burst=7",      "rate=1000000000/s burst=1",
        "rate=1/s",         "rate=7/1m burst=1000000000", "rate=1/1d burst=2",
    };
    /* The last two end soon. */
    static const int64_t origins[] = {
        0, -S, INT64_MIN + 5, INT64_MAX / 2, INT64_MAX - 400000 * S, INT64_MAX - 3 * S};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(specs); i++)
        for (size_t j = 0; j < COUNT_OF(origins); j++)
            take_both_ways(specs[i], origins[j], seed_of_run() + i);
}

/* Another seed may change waits, never limits. */
static void chance_comes_from_the_seed_alone(void **state)
{
    struct fly_error err;
    struct fly_limiter *a = fly_limiter_new("rate=10/s", 0, 1, &err);
    struct fly_limiter *b = fly_limiter_new("rate=10/s", 0, 2, &err);

    (void)state;
    refuse(a, 0, granted(a, 0, 1), 100 * S);
    refuse(b, 0, granted(b, 0, 1), 100 * S);
    assert_at_least(next_at(a, 0, 1), 100 * S);
    assert_at_least(next_at(b, 0, 1), 100 * S);
    assert_true(next_at(a, 0, 1) != next_at(b, 0, 1));
    fly_limiter_free(a);
    fly_limiter_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_calls_same_answers),
        cmocka_unit_test(what_has_ended_changes_nothing),
        cmocka_unit_test(a_hint_that_is_not_followed_changes_nothing),
        cmocka_unit_test(with_the_lock_and_without_it_is_the_same),
        cmocka_unit_test(chance_comes_from_the_seed_alone),
    };

    return cmocka_run_group_tests_name("limiter_twins", tests, NULL, NULL);
}
