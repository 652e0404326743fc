/* SPDX-License-Identifier: MIT */
/* Whatever happens: a million random events, and the pace stays finite, above zero, in bounds. */
#include "test_probe_hand.h"

#include "core/rng.h"

#define EVENTS  1000000
#define OUT_MAX 32

struct chaos {
    struct fly_limiter *l;
    struct rng rng;
    int64_t now_ns;
    double floor, ceiling;
    int out_count;
    struct {
        uint64_t ticket;
        int64_t sent_ns;
    } out[OUT_MAX];
};

static uint64_t below(struct chaos *c, uint64_t n)
{
    return fb_rng_next(&c->rng) % n;
}

/* Mostly something sensible, now and then the ends of the range. */
static int64_t wild(struct chaos *c, int64_t sensible)
{
    static const int64_t ends[] = {INT64_MIN, INT64_MIN + 1, -1, 0, 1, INT64_MAX - 1, INT64_MAX};
    uint64_t dice = below(c, 16);

    if (dice == 0)
        return ends[below(c, COUNT_OF(ends))];
    if (dice == 1)
        return (int64_t)fb_rng_next(&c->rng);
    return dice < 8 ? FLY_ABSENT : sensible;
}

static int32_t any_status(struct chaos *c)
{
    static const int32_t often[] = {200, 200, 200, 200, 200, 429, 429, 503, 403, 500, 0, 404};
    uint64_t dice = below(c, 20);

    return dice == 0 ? (int32_t)fb_rng_next(&c->rng) : often[below(c, COUNT_OF(often))];
}

static void advance(struct chaos *c)
{
    static const int64_t spans[] = {0, 1, 1000, MS, 10 * MS, 100 * MS, S, 10 * S, 100 * S};
    uint64_t dice = below(c, 10000);

    if (dice == 0)
        c->now_ns += 40 * 86400 * S;
    else if (c->now_ns < INT64_MAX / 8)
        c->now_ns += spans[below(c, COUNT_OF(spans))];
}

static void answer_one(struct chaos *c)
{
    uint64_t i = below(c, (uint64_t)c->out_count);
    struct fly_outcome o = outcome(c->out[i].ticket, any_status(c), c->out[i].sent_ns);

    if (below(c, 3) == 0) {
        o.limit = wild(c, (int64_t)below(c, 1000));
        o.remaining = wild(c, (int64_t)below(c, 1000));
        o.reset_ns = wild(c, c->now_ns + (int64_t)below(c, 100) * S);
    }
    if (below(c, 10) == 0)
        o.retry_after_ns = wild(c, (int64_t)below(c, 100) * S);
    if (below(c, 50) == 0)
        o.sent_ns = wild(c, o.sent_ns);
    o.latency_ns = wild(c, 0);
    o.flags = below(c, 20) == 0 ? (uint32_t)fb_rng_next(&c->rng) : 0;
    if (below(c, 10) == 0)
        fly_limiter_settle(c->l, c->now_ns, o.ticket, (uint32_t)below(c, 100));
    if (below(c, 10) == 0)
        fly_limiter_cancel(c->l, c->now_ns, o.ticket);
    else
        fly_limiter_report(c->l, c->now_ns, &o);
    c->out[i] = c->out[--c->out_count];
}

/* Now, or when it says; with nothing in flight that is a promise. */
static void ask_one(struct chaos *c)
{
    uint64_t ticket = 0;
    uint32_t cost = below(c, 20) == 0 ? 1 + (uint32_t)below(c, 1000) : 1;
    int64_t at_ns = fly_limiter_take(c->l, c->now_ns, cost, &ticket);

    if (at_ns > c->now_ns && at_ns < FLY_NEVER && below(c, 2) == 0) {
        c->now_ns = at_ns;
        at_ns = fly_limiter_take(c->l, c->now_ns, cost, &ticket);
        if (c->out_count == 0)
            assert_at_most(at_ns, c->now_ns);
    }
    if (at_ns > c->now_ns)
        return;
    c->out[c->out_count].ticket = ticket;
    c->out[c->out_count++].sent_ns = c->now_ns;
}

static void check(struct chaos *c)
{
    double rate = fly_limiter_rate(c->l);

    if (!(isfinite(rate) && rate > 0.0 && rate >= 0.999 * c->floor && rate <= 1.001 * c->ceiling))
        fail_msg("rate %g at %lld", rate, (long long)c->now_ns);
}

/* With nothing in flight it always says when. */
static void check_alive(struct chaos *c)
{
    struct fly_why y = {.size = sizeof(y)};

    while (c->out_count > 0)
        answer_one(c);
    assert_int_equal(fly_limiter_why(c->l, c->now_ns, 1, &y), 0);
    assert_true(y.until_ns < FLY_NEVER);
    assert_true(strlen(y.text) > 20 && strlen(y.text) < sizeof(y.text) - 1);
}

/* So many events, or until the clock is ten years on. */
static int storm(const char *spec, struct chaos c, int events)
{
    int i = 0;

    c.l = limiter(spec, 0);
    while (i < events && c.now_ns < 3650 * 86400 * S) {
        if (c.out_count > 0 && (c.out_count == OUT_MAX || below(&c, 2) == 0))
            answer_one(&c);
        else
            ask_one(&c);
        check(&c);
        advance(&c);
        if (i++ % 1000 == 0)
            check_alive(&c);
    }
    check_alive(&c);
    fly_limiter_free(c.l);
    return i;
}

static void storms(const char *spec, double floor, double ceiling, uint64_t seed)
{
    struct chaos c = {.rng = {seed}, .floor = floor, .ceiling = ceiling};

    for (int events = EVENTS / 4; events > 0; c.rng.state = fb_rng_next(&c.rng))
        events -= storm(spec, c, events < 20000 ? events : 20000);
}

static void the_pace_is_finite_and_above_zero_whatever_happens(void **state)
{
    uint64_t seed = seed_of_run();

    (void)state;
    storms("", 0.0, 1e9, seed);
    storms("adapt=probe rate=10/s floor=0.5/s ceiling=50/s", 0.5, 50.0, seed + 1);
    storms("adapt=probe pacing=even floor=1/1h", 1.0 / 3600, 1e9, seed + 2);
    storms("adapt=probe rate=100000/s concurrency=7 ceiling=1000000/s", 0.0, 1e6, seed + 3);
}

/* ---- by hand ---- */

/* What a measurement may fall back to: it was measured before. */
static float oldest(const struct probe *p)
{
    return p->limit_before;
}

/*
 * Any run of answers that tell nothing but their status: no reading raises the limit above the
 * pace that was refused, unless to what was measured before, and none makes it zero.
 */
static void no_reading_raises_the_limit_above_what_was_refused(void **state)
{
    static const int32_t statuses[] = {200, 200, 200, 200, 200, 200, 200, 200, 429, 500};
    struct chaos c = {.rng = {seed_of_run()}};
    int readings = 0;

    (void)state;
    for (int run = 0; run < 100; run++) {
        struct hand h = hand_of("");
        uint64_t luck = 10 + below(&c, 300);
        for (int i = 0; i < 2000; i++) {
            struct probe *p = &h.c.probe;
            struct probe before = *p;
            bool bad = below(&c, luck) == 0 || (p->episode != EPISODE_NONE && below(&c, 3) == 0);
            int32_t status = bad ? 429 : statuses[below(&c, 8)];
            h.in_flight_then = 1 + (int64_t)below(&c, 12);
            h.now_ns += (int64_t)(1e9 / h.pace.rate);
            ping(&h, status);
            assert_true(p->limit > 0.0f && p->rate > 0.0f && h.pace.rate > 0.0);
            if (before.episode == EPISODE_NONE || p->episode != EPISODE_NONE)
                continue;
            readings++;
            float most = fb_maxf(fb_maxf(before.rate, before.limit), oldest(&before));
            most = fb_maxf(most, 0.001f); /* no limit is believed to be less */
            if (!(p->limit <= 1.0001f * most))
                fail_msg("%g > %g: %s", (double)p->limit, (double)most, fb_probe_reading_says(p));
        }
    }
    assert_at_least(readings, 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_pace_is_finite_and_above_zero_whatever_happens),
        cmocka_unit_test(no_reading_raises_the_limit_above_what_was_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
