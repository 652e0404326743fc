/* SPDX-License-Identifier: MIT */
/* Brief books beside an accountant under the same spec: the same answers to the same calls. */
#include "unit.h"

#include <stdbool.h>

#include "core/brief.h"
#include "core/bucket.h"
#include "core/instant.h"
#include "core/rng.h"
#include "core/spec.h"

#define SEED UINT64_C(77)

struct full {
    struct accountant a;
    _Alignas(8) unsigned char memory[8192];
};

static void open_books(struct full *f, const char *text, int64_t now_ns)
{
    struct spec s;
    struct fly_error err;

    assert_int_equal(fb_spec_read(text, &s, &err), 0);
    assert_true(fb_accountant_bytes(&s) <= sizeof(f->memory));
    memset(f, 0, sizeof(*f));
    fb_accountant_init(&f->a, &s, f->memory, SEED, now_ns);
}

static void only_a_bucket_fits(void **state)
{
    static const struct {
        const char *spec;
        bool fits;
    } rows[] = {
        {"rate=5/s", true},
        {"rate=5/s pacing=even", true},
        {"", false},
        {"rate=5/s concurrency=3", false},
        {"window=5/1s", false},
        {"rate=5/s window=100/1m", false},
        {"adapt=aimd", false},
        {"adapt=step rate=5/s", false},
        {"concurrency=3", false},
    };
    struct full f;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        open_books(&f, rows[i].spec, 0);
        assert_int_equal(fb_brief_fits(&f.a), rows[i].fits);
    }
}

/* ---- twins ---- */

enum { OUT_MAX = 32 };

struct twins {
    struct full pattern;
    struct full full;
    struct brief brief;
    int64_t now_ns;
    uint64_t ticket[2][OUT_MAX]; /* of the accountant, of the brief books */
    int out;
    struct rng rng;
};

static uint8_t key(void)
{
    return fb_ticket_key(SEED);
}

static void try_to_take(struct twins *w)
{
    int64_t cost = 1 + (int64_t)(fb_rng_next(&w->rng) % 4);
    struct verdict a = fb_accountant_ask(&w->full.a, cost, w->now_ns);
    struct verdict b = fb_brief_ask(&w->brief, &w->pattern.a, cost, w->now_ns);

    assert_int_equal(a.at_ns, b.at_ns);
    assert_ptr_equal(a.cause, b.cause);
    if (a.at_ns > w->now_ns || w->out == OUT_MAX)
        return;
    w->ticket[0][w->out] = fb_accountant_take(&w->full.a, cost, w->now_ns);
    w->ticket[1][w->out++] = fb_brief_take(&w->brief, &w->pattern.a, cost, w->now_ns, key());
}

static void end_one(struct twins *w)
{
    /* The oldest, so that none gets older than brief books can tell apart. */
    uint64_t full = w->ticket[0][0];
    uint64_t brief = w->ticket[1][0];

    w->out--;
    for (int i = 0; i < 2; i++)
        memmove(w->ticket[i], w->ticket[i] + 1, (size_t)w->out * sizeof(w->ticket[i][0]));
    /* Twice: the second time changes nothing. */
    for (int i = 0; i < 2; i++) {
        if (full % 2) {
            fb_accountant_cancel(&w->full.a, full, w->now_ns);
            fb_brief_cancel(&w->brief, &w->pattern.a, brief, w->now_ns, key());
        } else {
            struct fly_outcome o = outcome(full, 200, w->now_ns);
            fb_accountant_report(&w->full.a, &o, w->now_ns);
            fb_brief_report(&w->brief, brief, key());
        }
    }
}

/* Through an accountant and back: nothing is lost. */
static void there_and_back(struct twins *w, const char *spec)
{
    struct full other;

    open_books(&other, spec, w->now_ns);
    fb_brief_unfold(&w->brief, &other.a, w->now_ns);
    assert_int_equal(other.a.in_flight, w->full.a.in_flight);
    assert_int_equal(fb_accountant_ask(&other.a, 2, w->now_ns).at_ns,
                     fb_accountant_ask(&w->full.a, 2, w->now_ns).at_ns);
    assert_int_equal(fb_brief_is_rested(&w->brief, w->now_ns),
                     fb_accountant_is_rested(&other.a, w->now_ns));
    w->brief = fb_brief_fold(&other.a, w->now_ns);
}

static void answers_as_an_accountant_does(void **state)
{
    static const char *const specs[] = {
        "rate=5/s",       "rate=3/s burst=1",          "rate=1/7s burst=3",
        "rate=1000/s",    "rate=999999937/s burst=20", "rate=7/1h burst=2",
        "rate=1000000/s", "rate=0.37/s burst=1000",
    };
    static const int64_t steps_ns[] = {1, 1000, MS, S, 1000 * S};
    struct rng rng = {seed_of_run()};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(specs); i++) {
        struct twins w = {.rng = rng};
        open_books(&w.pattern, specs[i], 0);
        open_books(&w.full, specs[i], 0);
        w.brief = fb_brief_new(0);
        for (int step = 0; step < 4000; step++) {
            uint64_t scale = (uint64_t)steps_ns[fb_rng_next(&w.rng) % COUNT_OF(steps_ns)];
            w.now_ns += (int64_t)(fb_rng_next(&w.rng) % scale);
            try_to_take(&w);
            if (w.out > 0 && fb_rng_next(&w.rng) % 2)
                end_one(&w);
            if (step % 16 == 0)
                there_and_back(&w, specs[i]);
        }
        rng = w.rng;
    }
}

/* ---- what may be forgotten ---- */

static void rests_when_full_and_nothing_is_out(void **state)
{
    struct full pattern;
    struct brief b = fb_brief_new(5);

    (void)state;
    open_books(&pattern, "rate=3/s burst=2", 0);
    assert_true(fb_brief_is_rested(&b, 5));
    uint64_t ticket = fb_brief_take(&b, &pattern.a, 1, 5, key());
    assert_false(fb_brief_is_rested(&b, 5));
    assert_false(fb_brief_is_rested(&b, S));
    fb_brief_report(&b, ticket, key());
    /* A third of a second is not a whole number of nanoseconds: the last one counts. */
    assert_false(fb_brief_is_rested(&b, 5 + S / 3));
    assert_true(fb_brief_is_rested(&b, 5 + S / 3 + 1));
    fb_brief_report(&b, ticket ^ 1, key());
    assert_true(fb_brief_is_rested(&b, S));
}

static void grants_beyond_the_last_64_are_counted(void **state)
{
    struct full pattern;
    struct brief b = fb_brief_new(0);
    uint64_t ticket[70];

    (void)state;
    open_books(&pattern, "rate=1/s burst=1000", 0);
    for (size_t i = 0; i < COUNT_OF(ticket); i++)
        ticket[i] = fb_brief_take(&b, &pattern.a, 1, 0, key());
    for (size_t i = 0; i < COUNT_OF(ticket); i++) {
        assert_false(fb_brief_is_rested(&b, 1000 * S));
        fb_brief_cancel(&b, &pattern.a, ticket[i], 0, key());
    }
    /* Those of the old ones stay spent. */
    assert_int_equal(fb_brief_ask(&b, &pattern.a, 1000, 0).at_ns, 6 * S);
    assert_true(fb_brief_is_rested(&b, 1000 * S));
    fb_brief_cancel(&b, &pattern.a, ticket[0], 0, key());
    assert_int_equal(fb_brief_ask(&b, &pattern.a, 1000, 0).at_ns, 6 * S);
}

static void what_tells_something(void **state)
{
    struct fly_outcome plain = outcome(1, 503, 0);
    struct fly_outcome rows[6];

    (void)state;
    assert_false(fb_brief_is_told(&plain));
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        rows[i] = plain;
    rows[0].status = 429;
    rows[1].flags = FLY_THROTTLED;
    rows[2].limit = 5;
    rows[3].remaining = 5;
    rows[4].reset_ns = 5;
    rows[5].retry_after_ns = 0;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        assert_true(fb_brief_is_told(&rows[i]));
}

/* ---- without memory for more ---- */

static void a_hold_is_kept_as_a_debt(void **state)
{
    struct full pattern;
    struct brief b = fb_brief_new(0);

    (void)state;
    open_books(&pattern, "rate=3/s burst=10", 0);
    fb_brief_hold(&b, &pattern.a, 60 * S);
    int64_t at_ns = fb_brief_ask(&b, &pattern.a, 1, 0).at_ns;
    assert_at_least(at_ns, 60 * S);
    assert_at_most(at_ns, 61 * S);
    fb_brief_hold(&b, &pattern.a, 30 * S); /* never shortened */
    assert_int_equal(fb_brief_ask(&b, &pattern.a, 1, 0).at_ns, at_ns);
}

static void a_charge_is_spent(void **state)
{
    struct full pattern;
    struct brief b = fb_brief_new(0);

    (void)state;
    open_books(&pattern, "rate=1/s burst=10", 0);
    fb_brief_charge(&b, &pattern.a, 15, 0);
    assert_int_equal(fb_brief_ask(&b, &pattern.a, 1, 0).at_ns, 6 * S);
}

/* Beyond what the clock can count it stays where it is, and waits. */
static void absurd_debts_and_clocks(void **state)
{
    struct full pattern;
    struct brief b = fb_brief_new(0);

    (void)state;
    open_books(&pattern, "rate=1/366d burst=10", 0);
    for (int i = 0; i < 20; i++)
        fb_brief_charge(&b, &pattern.a, UINT32_MAX, FB_TIME_MAX);
    assert_true(fb_brief_ask(&b, &pattern.a, 1, FB_TIME_MAX).at_ns == FB_NEVER);
    assert_true(fb_brief_ask(&b, &pattern.a, 1, -FB_TIME_MAX).at_ns > FB_TIME_MAX / 2);
    assert_false(fb_brief_is_rested(&b, FB_TIME_MAX));

    open_books(&pattern, "rate=999999937/s burst=10", 0);
    b = fb_brief_new(FB_TIME_MAX);
    assert_true(fb_brief_ask(&b, &pattern.a, 1, -FB_TIME_MAX).at_ns > -FB_TIME_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_a_bucket_fits),
        cmocka_unit_test(answers_as_an_accountant_does),
        cmocka_unit_test(rests_when_full_and_nothing_is_out),
        cmocka_unit_test(grants_beyond_the_last_64_are_counted),
        cmocka_unit_test(what_tells_something),
        cmocka_unit_test(a_hold_is_kept_as_a_debt),
        cmocka_unit_test(a_charge_is_spent),
        cmocka_unit_test(absurd_debts_and_clocks),
    };

    return cmocka_run_group_tests_name("brief", tests, NULL, NULL);
}
