/* SPDX-License-Identifier: MIT */
/* The books of one key: ask all, start at the latest, take from all, end each grant once. */
#include "unit.h"

#include "core/accountant.h"
#include "core/bucket.h"
#include "core/instant.h"
#include "core/spec.h"
#include "core/window.h"

struct rig {
    struct accountant a;
    _Alignas(8) unsigned char memory[]; /* right behind, as in a limiter */
};

static struct rig *rig_of(const char *text, uint64_t seed, int64_t now_ns)
{
    struct spec s;
    struct fly_error err;

    if (fb_spec_read(text, &s, &err) != 0)
        fail_msg("%s", err.text);
    struct rig *r = calloc(1, sizeof(*r) + fb_accountant_bytes(&s));
    assert_non_null(r);
    fb_accountant_init(&r->a, &s, r->memory, seed, now_ns);
    return r;
}

static struct rig *rig(const char *text)
{
    return rig_of(text, 1, 0);
}

static int64_t ready_at(const struct rig *r, int64_t cost, int64_t now_ns)
{
    return fb_accountant_ask(&r->a, cost, now_ns).at_ns;
}

static uint64_t take(struct rig *r, int64_t cost, int64_t now_ns)
{
    struct verdict v = fb_accountant_ask(&r->a, cost, now_ns);

    assert_at_most(v.at_ns, now_ns);
    assert_null(v.cause);
    return fb_accountant_take(&r->a, cost, now_ns);
}

static void answer(struct rig *r, uint64_t ticket, int32_t status, int64_t now_ns)
{
    struct fly_outcome o = outcome(ticket, status, now_ns);

    fb_accountant_report(&r->a, &o, now_ns);
}

/* ---- asking ---- */

static void the_latest_answer_counts_and_never_the_sum(void **state)
{
    struct rig *r = rig("rate=1/s burst=1 window=1/3s window=1/2s margin=0%");

    (void)state;
    take(r, 1, 0);
    struct verdict v = fb_accountant_ask(&r->a, 1, 0);
    assert_int_equal(v.at_ns, 3 * S);
    assert_ptr_equal(v.cause, &fb_constraint_window);
    take(r, 1, 3 * S);
    free(r);
}

static void trying_is_asking_and_then_taking(void **state)
{
    struct rig *tried = rig("rate=3/s burst=4 window=9/2s adapt=off margin=0%");
    struct rig *asked = rig("rate=3/s burst=4 window=9/2s adapt=off margin=0%");
    struct rng rng = {seed_of_run()};
    int64_t now_ns = 0;

    (void)state;
    for (int i = 0; i < 2000; i++) {
        uint64_t ticket = 0;
        int64_t cost = 1 + (int64_t)(fb_rng_next(&rng) % 3);
        /* Now and then the clock lags. */
        now_ns += (int64_t)(fb_rng_next(&rng) % (uint64_t)S) - S / 8;
        struct verdict v = fb_accountant_try(&tried->a, cost, now_ns, &ticket);
        struct verdict w = fb_accountant_ask(&asked->a, cost, now_ns);
        assert_int_equal(v.at_ns, w.at_ns);
        assert_ptr_equal(v.cause, w.cause);
        bool goes = w.at_ns <= now_ns;
        assert_int_equal(ticket, goes ? fb_accountant_take(&asked->a, cost, now_ns) : 0);
    }
    assert_memory_equal(&tried->a, &asked->a, sizeof(tried->a));
    free(tried);
    free(asked);
}

static void of_equal_answers_the_first_row_is_the_cause(void **state)
{
    struct rig *r = rig("rate=1/s burst=1 window=1/1s margin=0%");

    (void)state;
    take(r, 1, 0);
    struct verdict v = fb_accountant_ask(&r->a, 1, 0);
    assert_int_equal(v.at_ns, S);
    assert_ptr_equal(v.cause, &fb_constraint_window);
    free(r);
}

static void asking_changes_nothing(void **state)
{
    static const char *const specs[] = {"", "adapt=aimd", "rate=1/s concurrency=2",
                                        "rate=1/s adapt=step"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(specs); i++) {
        struct rig *r = rig(specs[i]);
        take(r, 1, 5);
        struct accountant before = r->a;
        for (int64_t now_ns = 5; now_ns < 10 * S; now_ns += S)
            fb_accountant_ask(&r->a, 3, now_ns);
        assert_memory_equal(&r->a, &before, sizeof(before));
        free(r);
    }
}

/* A thread whose clock was read earlier is told what holds now, not what held then. */
static void a_clock_that_lags_behind_the_books(void **state)
{
    struct rig *r = rig("rate=1/s burst=2");

    (void)state;
    take(r, 1, 10 * S);
    take(r, 1, 9 * S); /* still one there */
    assert_int_equal(r->a.now_ns, 10 * S);
    assert_int_equal(ready_at(r, 1, 0), 11 * S);
    free(r);
}

/* ---- plain or not ---- */

static void plain_while_a_bucket_alone_decides(void **state)
{
    static const struct {
        const char *spec;
        bool plain;
    } rows[] = {
        {"rate=10/s", true},
        {"rate=10/s burst=3 reserve=5%", true},
        {"rate=10/s concurrency=5", false},
        {"rate=10/s window=5/1s", false},
        {"rate=10/s adapt=aimd", false},
        {"rate=10/s adapt=probe", false},
        {"", false},
        {"adapt=off", false},
        {"window=5/1s", false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct rig *r = rig(rows[i].spec);
        assert_int_equal(fb_accountant_is_plain(&r->a, 0), rows[i].plain);
        free(r);
    }
}

static void a_hold_ends_being_plain_until_it_is_over(void **state)
{
    struct rig *r = rig("rate=10/s");
    uint64_t ticket = take(r, 1, 0);

    (void)state;
    answer(r, ticket, 429, S);
    assert_false(fb_accountant_is_plain(&r->a, S));
    assert_at_least(ready_at(r, 1, S), 61 * S);
    assert_ptr_equal(fb_accountant_ask(&r->a, 1, S).cause, &fb_constraint_hold);

    /* It comes back gently: until enough was accepted each answer is waited for. */
    int64_t now_ns = ready_at(r, 1, S);
    for (int i = 0; i < 1000 && !fb_accountant_is_plain(&r->a, now_ns); i++) {
        now_ns = fb_max64(now_ns, ready_at(r, 1, now_ns));
        answer(r, take(r, 1, now_ns), 200, now_ns);
        now_ns += S;
    }
    assert_true(fb_accountant_is_plain(&r->a, now_ns));
    free(r);
}

/* ---- the contract of every row ---- */

/* Each constraint keeps to the slots that its row gives it. */
static void no_row_has_too_few_slots(void **state)
{
#define X(name, slots) {&fb_constraint_##name, slots},
    static const struct {
        const struct constraint *ops;
        int slots;
    } rows[] = { FB_CONSTRAINTS(X) };
#undef X
    enum { ROOM = 32, WINDOW_BYTES = 8192 };
    static const char text[] = "rate=10/s burst=5 window=3/1s concurrency=2 pacing=even adapt=aimd";
    struct spec s;

    (void)state;
    assert_int_equal(fb_spec_read(text, &s, NULL), 0);
    assert_true(fb_window_bytes(&s) <= WINDOW_BYTES);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct {
            int64_t slot[ROOM];
            uint64_t memory[WINDOW_BYTES / 8];
        } m = {{0}, {0}};
        struct rng rng = {1};
        struct ask q = {.now_ns = S, .cost = 1, .id = 1};
        struct fly_outcome o = outcome(1, 429, S);
        struct answer a = {.outcome = &o, .now_ns = S, .cost = 1, .granted = 1, .throttled = true};
        struct pace p = {.rate = 2.0, .burst = 3.0, .in_flight_max = 9, .limit_share = 0.5};
        for (int n = rows[i].slots; n < ROOM; n++)
            m.slot[n] = 0x5a5a;

        o.limit = 100;
        o.remaining = 50;
        o.reset_ns = 100 * S;
        o.retry_after_ns = S;
        assert_true(rows[i].ops->init(m.slot, &s, m.memory, 0));
        if (rows[i].ops->repace)
            rows[i].ops->repace(m.slot, &p, S);
        if (rows[i].ops->ready_at(m.slot, &q) <= S && rows[i].ops->take)
            rows[i].ops->take(m.slot, &q);
        if (rows[i].ops->report)
            rows[i].ops->report(m.slot, &a, &rng);
        if (rows[i].ops->refund)
            rows[i].ops->refund(m.slot, &q);
        for (int n = rows[i].slots; n < ROOM; n++)
            assert_int_equal(m.slot[n], 0x5a5a);
    }
}

/* ---- tickets ---- */

static void what_is_in_flight_is_counted(void **state)
{
    static const char *const specs[] = {"rate=1000/s burst=100",
                                        "rate=1000/s burst=100 concurrency=9", "window=1000/1s",
                                        "adapt=aimd burst=100"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(specs); i++) {
        struct rig *r = rig(specs[i]);
        uint64_t a = take(r, 1, 0);
        uint64_t b = take(r, 2, 0);
        uint64_t c = take(r, 3, 0);
        assert_int_equal(r->a.in_flight, 3);
        assert_int_equal(r->a.units_out, 6);
        answer(r, b, 200, S);
        assert_int_equal(r->a.in_flight, 2);
        assert_int_equal(r->a.units_out, 4);
        fb_accountant_cancel(&r->a, a, S);
        assert_int_equal(r->a.in_flight, 1);
        assert_int_equal(r->a.units_out, 3);
        answer(r, c, 0, 2 * S);
        assert_int_equal(r->a.in_flight, 0);
        assert_int_equal(r->a.units_out, 0);
        free(r);
    }
}

/* Old tickets are not told apart: told twice, one may take another's units, never its last. */
static void each_in_flight_has_a_unit_out(void **state)
{
    struct rig *r = rig("rate=1000/s burst=9");
    uint64_t dear = take(r, 5, 0);

    (void)state;
    for (int i = 1; i <= 2 * FB_TICKET_RING; i++)
        (void)take(r, 1, i * MS);
    answer(r, dear, 200, 9 * S);
    assert_int_equal(r->a.units_out, r->a.in_flight);
    answer(r, dear, 200, 9 * S);
    assert_int_equal(r->a.in_flight, 2 * FB_TICKET_RING - 1);
    assert_int_equal(r->a.units_out, r->a.in_flight);
    free(r);
}

/* Whatever is done with a ticket that is not out, the books stay as they are. */
static void assert_changes_nothing(struct rig *r, uint64_t ticket, int64_t now_ns)
{
    struct accountant before = r->a;
    struct fly_outcome o = outcome(ticket, 429, now_ns);

    o.retry_after_ns = 100 * S;
    fb_accountant_report(&r->a, &o, now_ns);
    fb_accountant_cancel(&r->a, ticket, now_ns);
    fb_accountant_settle(&r->a, ticket, 100, now_ns);
    before.now_ns = r->a.now_ns;
    assert_memory_equal(&r->a, &before, sizeof(before));
}

static void ended_and_unknown_tickets_change_nothing(void **state)
{
    static const char *const specs[] = {"rate=1/s burst=100", "rate=1/s burst=100 concurrency=9",
                                        "window=1000/1s",     "adapt=aimd burst=100",
                                        "adapt=off",          "adapt=step rate=1/s burst=100"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(specs); i++) {
        struct rig *r = rig(specs[i]);
        uint64_t reported = take(r, 1, 0);
        uint64_t cancelled = take(r, 2, 0);
        uint64_t settled = take(r, 3, 0);
        take(r, 1, 0); /* stays out */
        answer(r, reported, 200, 0);
        fb_accountant_cancel(&r->a, cancelled, 0);
        fb_accountant_settle(&r->a, settled, 5, 0);
        answer(r, settled, 200, 0);

        assert_changes_nothing(r, reported, 0);
        assert_changes_nothing(r, cancelled, 0);
        assert_changes_nothing(r, settled, 0);
        assert_changes_nothing(r, 0, 0);
        assert_changes_nothing(r, UINT64_MAX, 0);
        assert_changes_nothing(r, reported ^ 1, 0);
        assert_int_equal(r->a.in_flight, 1);
        free(r);
    }
}

static void tickets_of_another_limiter_are_unknown(void **state)
{
    struct rig *a = rig_of("window=10/1s", 1, 0);
    struct rig *b = rig_of("window=10/1s", 2, 0);
    uint64_t ticket = take(a, 1, 0);

    (void)state;
    take(b, 1, 0);
    assert_changes_nothing(b, ticket, 0);
    free(a);
    free(b);
}

/* All that a burst, a window or a bound lets out at once is remembered exactly. */
static void as_many_are_remembered_as_may_be_out(void **state)
{
    static const struct {
        const char *spec;
        int grants;
    } rows[] = {{"rate=1/1h burst=3000", 3000},
                {"rate=1/1h burst=20000", 20000},
                {"adapt=off concurrency=2500", 2500},
                {"window=5000/1h margin=0%", 5000},
                {"window=3/1s window=900/1h burst=700 rate=1000/s margin=0%", 3}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct rig *r = rig(rows[i].spec);
        uint64_t *tickets = calloc((size_t)rows[i].grants, sizeof(uint64_t));
        assert_non_null(tickets);
        for (int n = 0; n < rows[i].grants; n++)
            tickets[n] = take(r, 1, 0);
        for (int round = 0; round < 2; round++)
            for (int n = 0; n < rows[i].grants; n++)
                fb_accountant_cancel(&r->a, tickets[n], 0);
        assert_int_equal(r->a.in_flight, 0);
        assert_int_equal(ready_at(r, rows[i].grants, 0), 0);
        free(tickets);
        free(r);
    }
}

/* Of grants older than the ring as many may end as can be out; their permits stay spent. */
static void old_tickets_end_but_give_nothing_back(void **state)
{
    struct rig *r = rig("rate=600/1m burst=500 concurrency=512");
    uint64_t first = take(r, 10, 0);
    uint64_t second = take(r, 10, 0);

    (void)state;
    for (int64_t i = 1; i < FB_TICKET_RING; i++)
        answer(r, take(r, 1, i * S), 200, i * S);
    int64_t now_ns = FB_TICKET_RING * S;
    take(r, 500, now_ns);
    assert_int_equal(r->a.in_flight, 3);
    int64_t at_ns = ready_at(r, 1, now_ns);

    /* It may cost more, but not less. */
    fb_accountant_settle(&r->a, first, 1, now_ns);
    assert_int_equal(ready_at(r, 1, now_ns), at_ns);
    fb_accountant_settle(&r->a, first, 5, now_ns);
    assert_int_equal(ready_at(r, 1, now_ns), at_ns + 400 * MS);
    fb_accountant_cancel(&r->a, first, now_ns);
    assert_int_equal(ready_at(r, 1, now_ns), at_ns + 400 * MS);
    assert_int_equal(r->a.in_flight, 2);
    answer(r, second, 200, now_ns);
    assert_int_equal(r->a.in_flight, 1);
    assert_changes_nothing(r, first, now_ns);
    assert_changes_nothing(r, second, now_ns);
    free(r);
}

/* Time alone makes no ticket old: what has ended stays ended while the key idles. */
static void ended_tickets_stay_ended_while_the_key_idles(void **state)
{
    static const char *const specs[] = {"rate=10/s concurrency=2", "window=10/1s concurrency=2",
                                        "adapt=aimd concurrency=2"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(specs); i++) {
        struct rig *r = rig(specs[i]);
        uint64_t ended = take(r, 1, 0);
        answer(r, ended, 200, 0);
        take(r, 1, 0);
        take(r, 1, 1000 * S);
        assert_changes_nothing(r, ended, 1000 * S);
        assert_int_equal(r->a.in_flight, 2);
        assert_int_equal(ready_at(r, 1, 1000 * S), FB_NEVER);
        free(r);
    }
}

/* ---- true costs ---- */

static void a_true_cost_moves_the_books(void **state)
{
    struct rig *r = rig("rate=10/s burst=10 concurrency=9");
    uint64_t up = take(r, 1, 0);

    (void)state;
    fb_accountant_settle(&r->a, up, 4, 0);
    answer(r, up, 200, 0);
    assert_int_equal(r->a.units_out, 0);
    assert_int_equal(ready_at(r, 6, 0), 0);
    assert_int_equal(ready_at(r, 7, 0), 100 * MS);

    uint64_t down = take(r, 6, 0);
    fb_accountant_settle(&r->a, down, 1, 0);
    answer(r, down, 200, 0);
    assert_int_equal(r->a.units_out, 0);
    assert_int_equal(ready_at(r, 5, 0), 0);
    assert_int_equal(ready_at(r, 6, 0), 100 * MS);
    free(r);
}

static void settled_again_the_last_word_counts(void **state)
{
    struct rig *r = rig("rate=10/s burst=10 concurrency=9");
    uint64_t ticket = take(r, 1, 0);

    (void)state;
    fb_accountant_settle(&r->a, ticket, 8, 0);
    fb_accountant_settle(&r->a, ticket, 8, 0);
    fb_accountant_settle(&r->a, ticket, 3, 0);
    answer(r, ticket, 200, 0);
    assert_int_equal(r->a.units_out, 0);
    assert_int_equal(ready_at(r, 7, 0), 0);
    assert_int_equal(ready_at(r, 8, 0), 100 * MS);
    free(r);
}

static void cancelled_after_it_was_settled_all_comes_back(void **state)
{
    struct rig *r = rig("rate=10/s burst=10 concurrency=9");
    uint64_t ticket = take(r, 2, 0);

    (void)state;
    fb_accountant_settle(&r->a, ticket, 7, 0);
    fb_accountant_cancel(&r->a, ticket, 0);
    assert_int_equal(r->a.units_out, 0);
    assert_int_equal(ready_at(r, 10, 0), 0);
    free(r);
}

/* Two threads settle, then report: neither forgets what the other settled. */
static void settled_side_by_side(void **state)
{
    static const int orders[][4] = {{0, 1, 2, 3}, {0, 1, 3, 2}, {0, 2, 1, 3}, {0, 3, 2, 1}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(orders); i++) {
        struct rig *r = rig("rate=10/s burst=100 concurrency=9");
        uint64_t a = take(r, 1, 0);
        uint64_t b = take(r, 50, 0);
        for (int j = 0; j < 4; j++) {
            switch (orders[i][j]) {
            case 0:
                fb_accountant_settle(&r->a, a, 10, 0);
                break;
            case 1:
                fb_accountant_settle(&r->a, b, 20, 0);
                break;
            case 2:
                answer(r, a, 200, 0);
                break;
            case 3:
                answer(r, b, 200, 0);
                break;
            }
        }
        assert_int_equal(r->a.in_flight, 0);
        assert_int_equal(r->a.units_out, 0);
        free(r);
    }
}

/* ---- what learns ---- */

static void a_controller_hears_of_grants_cancels_and_answers(void **state)
{
    struct rig *aimd = rig("adapt=aimd rate=1/s burst=10");
    uint64_t ticket;

    (void)state;
    for (int i = 0; i < 3; i++) {
        ticket = take(aimd, 1, 0);
        answer(aimd, ticket, 200, 0);
        fb_accountant_cancel(&aimd->a, take(aimd, 1, 0), 0);
    }
    assert_close(fb_bucket_rate(fb_accountant_bucket(&aimd->a)), 1.0, 1e-9);
    ticket = take(aimd, 1, 0);
    answer(aimd, ticket, 429, 0);
    assert_close(fb_bucket_rate(fb_accountant_bucket(&aimd->a)), 0.8, 1e-9);
    free(aimd);

    /* The prober stops everything at a refusal but one request, which asks whether it is over. */
    struct rig *probe = rig("");
    int64_t now_ns = 0;
    answer(probe, take(probe, 1, now_ns), 429, now_ns);
    now_ns = ready_at(probe, 1, now_ns);
    assert_true(now_ns > 0 && now_ns < FB_NEVER);
    ticket = take(probe, 1, now_ns);
    assert_int_equal(ready_at(probe, 1, now_ns), FB_NEVER);
    assert_int_equal(ready_at(probe, 1, now_ns + 1000 * S), FB_NEVER);
    fb_accountant_cancel(&probe->a, ticket, now_ns);
    assert_true(ready_at(probe, 1, now_ns) < FB_NEVER);
    free(probe);
}

static void a_cancel_that_changes_no_pace(void **state)
{
    struct rig *r = rig("");
    uint64_t ticket = take(r, 1, 0);

    (void)state;
    fb_accountant_cancel(&r->a, ticket, 0);
    take(r, 1, 0);
    free(r);
}

static void which_answers_are_refusals(void **state)
{
    static const struct {
        int32_t status;
        uint32_t flags;
        double rate; /* of aimd afterwards, from 1.0 */
    } rows[] = {
        {429, 0, 0.8},
        {200, FLY_THROTTLED, 0.8},
        {403, FLY_THROTTLED, 0.8},
        {0, FLY_THROTTLED, 0.8},
        {200, 0, 1.0},
        {503, 0, 1.0},
        {0, 0, 1.0},
        {404, 0, 1.0},
        {200, 2, 1.0},
        {INT32_MAX, 0, 1.0},
        {INT32_MIN, 0, 1.0},
        {429, FLY_THROTTLED, 0.8},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct rig *r = rig("adapt=aimd rate=1/s");
        struct fly_outcome o = outcome(take(r, 1, 0), rows[i].status, 0);
        o.flags = rows[i].flags;
        fb_accountant_report(&r->a, &o, 0);
        assert_close(fb_bucket_rate(fb_accountant_bucket(&r->a)), rows[i].rate, 1e-9);
        free(r);
    }
}

static void only_2xx_and_3xx_are_successes(void **state)
{
    static const struct {
        int32_t status;
        bool accepted;
    } rows[] = {{199, false}, {200, true},  {204, true},  {304, true},
                {399, true},  {400, false}, {500, false}, {0, false}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct rig *r = rig("adapt=aimd rate=1/s burst=200");
        for (int n = 0; n < 100; n++)
            answer(r, take(r, 1, 0), rows[i].status, 0);
        double rate = fb_bucket_rate(fb_accountant_bucket(&r->a));
        assert_close(rate, rows[i].accepted ? 1.01 : 1.0, 1e-9);
        free(r);
    }
}

/* 60 s where nothing learns, else as the controller says. */
static void a_refusal_that_tells_no_time(void **state)
{
    static const struct {
        const char *spec;
        int64_t least_ns;
        int64_t most_ns;
    } rows[] = {
        {"rate=100/s", 60 * S, 61 * S},
        {"adapt=off", 60 * S, 61 * S},
        {"adapt=aimd", 60 * S, 61 * S},
        {"adapt=step rate=100/s", 2 * S, 3 * S},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct rig *r = rig(rows[i].spec);
        answer(r, take(r, 1, 0), 429, 0);
        assert_at_least(ready_at(r, 1, 0), rows[i].least_ns);
        assert_at_most(ready_at(r, 1, 0), rows[i].most_ns);
        free(r);
    }
}

/* ---- what is to come ---- */

/* A request that is answered at once, and told that so many of 5000 are left for an hour. */
static void request_told(struct rig *r, int64_t left, int64_t now_ns)
{
    struct fly_outcome o = outcome(take(r, 1, now_ns), 200, now_ns);

    o.limit = 5000;
    o.remaining = left;
    o.reset_ns = now_ns + 3600 * S;
    fb_accountant_report(&r->a, &o, now_ns);
}

static void what_fits_sets_no_pace(void **state)
{
    static const struct {
        const char *spec;
        int64_t backlog, left;
        bool paces;
    } rows[] = {
        {"adapt=probe", -1, 4000, true},
        {"adapt=probe", 4001, 4000, false}, /* the first of it is taken */
        {"adapt=probe", 4001, 3999, true},
        {"adapt=probe", 1001, 4000, false},
        {"adapt=probe", 1, 1, false},
        {"adapt=probe", 1, 0, true},
        {"adapt=probe reserve=20%", 3001, 4000, false},
        {"adapt=probe reserve=20%", 3002, 4000, true},
        {"adapt=probe pacing=even", 1001, 4000, true},
        {"adapt=probe pacing=demand", -1, 4000, false},
        {"adapt=probe pacing=demand", 4002, 4000, true},
        {"adapt=probe pacing=demand", 1001, 4000, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct rig *r = rig(rows[i].spec);

        fb_accountant_backlog(&r->a, rows[i].backlog, 0);
        request_told(r, rows[i].left, 0);
        if ((r->a.learned.probe.told_until_ns != FB_LONG_AGO) != rows[i].paces)
            fail_msg("row %zu", i);
        free(r);
    }
}

static void what_fits_is_no_bound(void **state)
{
    struct rig *r = rig("rate=50/s");

    (void)state;
    request_told(r, 4000, 0);
    assert_int_equal(fb_accountant_amounts(&r->a, 0).by, BOUND_QUOTA);
    fb_accountant_backlog(&r->a, 3501, 0);
    assert_int_equal(fb_accountant_amounts(&r->a, 0).by, BOUND_QUOTA);
    fb_accountant_backlog(&r->a, 3500, 20 * S);
    assert_int_equal(fb_accountant_amounts(&r->a, 20 * S).by, BOUND_NOTHING);
    for (int i = 0; i < 200; i++) /* as fast as is stated */
        (void)take(r, 1, 20 * S + i * 20 * MS);
    free(r);
    r = rig("rate=50/s pacing=even");
    request_told(r, 4000, 0);
    fb_accountant_backlog(&r->a, 3, 0);
    assert_int_equal(fb_accountant_amounts(&r->a, 0).by, BOUND_QUOTA);
    free(r);
}

/* What is not spread has no place in the row: nothing is given back of those that have one. */
static void a_cancelled_grant_of_what_fits_had_no_place(void **state)
{
    struct rig *r = rig("adapt=off");

    (void)state;
    request_told(r, 4000, 0);
    while (ready_at(r, 1, 0) <= 0) /* nobody knows what is to come: as far ahead as it may be */
        request_told(r, 4000, 0);
    int64_t at_ns = ready_at(r, 1, 0);
    fb_accountant_backlog(&r->a, 1000, 0);
    for (int i = 0; i < 20; i++)
        fb_accountant_cancel(&r->a, take(r, 1, 0), 0);
    fb_accountant_backlog(&r->a, -1, 0);
    assert_int_equal(ready_at(r, 1, 0), at_ns);
    free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_latest_answer_counts_and_never_the_sum),
        cmocka_unit_test(trying_is_asking_and_then_taking),
        cmocka_unit_test(of_equal_answers_the_first_row_is_the_cause),
        cmocka_unit_test(asking_changes_nothing),
        cmocka_unit_test(a_clock_that_lags_behind_the_books),
        cmocka_unit_test(plain_while_a_bucket_alone_decides),
        cmocka_unit_test(a_hold_ends_being_plain_until_it_is_over),
        cmocka_unit_test(no_row_has_too_few_slots),
        cmocka_unit_test(what_is_in_flight_is_counted),
        cmocka_unit_test(each_in_flight_has_a_unit_out),
        cmocka_unit_test(ended_and_unknown_tickets_change_nothing),
        cmocka_unit_test(tickets_of_another_limiter_are_unknown),
        cmocka_unit_test(as_many_are_remembered_as_may_be_out),
        cmocka_unit_test(old_tickets_end_but_give_nothing_back),
        cmocka_unit_test(ended_tickets_stay_ended_while_the_key_idles),
        cmocka_unit_test(a_true_cost_moves_the_books),
        cmocka_unit_test(settled_again_the_last_word_counts),
        cmocka_unit_test(cancelled_after_it_was_settled_all_comes_back),
        cmocka_unit_test(settled_side_by_side),
        cmocka_unit_test(a_controller_hears_of_grants_cancels_and_answers),
        cmocka_unit_test(a_cancel_that_changes_no_pace),
        cmocka_unit_test(which_answers_are_refusals),
        cmocka_unit_test(only_2xx_and_3xx_are_successes),
        cmocka_unit_test(what_fits_sets_no_pace),
        cmocka_unit_test(what_fits_is_no_bound),
        cmocka_unit_test(a_cancelled_grant_of_what_fits_had_no_place),
        cmocka_unit_test(a_refusal_that_tells_no_time),
    };

    return cmocka_run_group_tests_name("accountant", tests, NULL, NULL);
}
