/* SPDX-License-Identifier: MIT */
/*
 * A decision that was left in the middle: what fb_accountant_undo_bytes() covers is put back, and
 * whatever the rest holds, nothing may leave earlier than if the decision had never begun.
 */
#include "unit.h"

#include <stdbool.h>

#include "core/accountant.h"
#include "core/instant.h"
#include "core/rng.h"
#include "core/spec.h"
#include "util/alloc.h"

enum { OUT_MAX = 12, STEPS = 20000 };

/* Two sets of books with the same history; decisions on `torn` are left in the middle. */
struct pair {
    struct spec spec;
    size_t bytes;
    struct accountant *whole;
    struct accountant *torn;
    unsigned char *before;
    struct rng rng;
    int64_t now_ns;
    uint64_t out[OUT_MAX];
    int out_count;
};

static uint64_t draw(struct pair *p, uint64_t below)
{
    return fb_rng_next(&p->rng) % below;
}

static struct accountant *books(const struct pair *p)
{
    struct accountant *a = fb_alloc(p->bytes);

    assert_non_null(a);
    fb_accountant_init(a, &p->spec, a + 1, 1, 0);
    return a;
}

static void report_to(struct accountant *a, uint64_t ticket, int32_t status, int64_t now_ns)
{
    struct fly_outcome o = outcome(ticket, status, now_ns);

    o.latency_ns = now_ns % (50 * MS);
    fb_accountant_report(a, &o, now_ns);
}

/* One random decision that changes `a`. */
static void change(struct pair *p, struct accountant *a)
{
    int64_t cost = 1 + (int64_t)draw(p, 3);
    uint64_t ticket = p->out_count > 0 ? p->out[draw(p, (uint64_t)p->out_count)] : 0;
    uint64_t what = draw(p, 4);

    if (what == 0 && fb_accountant_ask(a, cost, p->now_ns).at_ns <= p->now_ns)
        (void)fb_accountant_take(a, cost, p->now_ns);
    else if (what == 1)
        fb_accountant_cancel(a, ticket, p->now_ns);
    else if (what == 2)
        fb_accountant_settle(a, ticket, (uint32_t)draw(p, 5), p->now_ns);
    else
        report_to(a, ticket, 200, p->now_ns);
}

/* Begin a decision on `torn`, keep any part of what it wrote behind the undo bytes. */
static void tear(struct pair *p)
{
    size_t kept = fb_accountant_undo_bytes(&p->spec);
    unsigned char *now = (unsigned char *)p->torn;

    memcpy(p->before, now, p->bytes);
    change(p, p->torn);
    memcpy(now, p->before, kept);
    for (size_t at = kept; at < p->bytes; at += 8)
        if (draw(p, 2))
            memcpy(now + at, p->before + at, 8);
    fb_accountant_mend(p->torn);
}

static void end_one(struct pair *p)
{
    int i = (int)draw(p, (uint64_t)p->out_count);
    uint64_t ticket = p->out[i];

    p->out[i] = p->out[--p->out_count];
    if (draw(p, 2)) {
        fb_accountant_cancel(p->whole, ticket, p->now_ns);
        fb_accountant_cancel(p->torn, ticket, p->now_ns);
    } else {
        report_to(p->whole, ticket, 200, p->now_ns);
        report_to(p->torn, ticket, 200, p->now_ns);
    }
}

/* Ask both; the torn one never says an earlier time. What leaves, leaves both. */
static void ask_both(struct pair *p)
{
    int64_t cost = 1 + (int64_t)draw(p, 3);
    int64_t true_ns = fb_accountant_ask(p->whole, cost, p->now_ns).at_ns;
    int64_t at_ns = fb_accountant_ask(p->torn, cost, p->now_ns).at_ns;

    assert_at_least(at_ns, true_ns);
    if (at_ns == FB_NEVER || p->out_count == OUT_MAX)
        return;
    if (at_ns > p->now_ns && draw(p, 2))
        return;
    p->now_ns = fb_max64(p->now_ns, at_ns);
    uint64_t ticket = fb_accountant_take(p->whole, cost, p->now_ns);
    assert_int_equal(fb_accountant_take(p->torn, cost, p->now_ns), ticket);
    p->out[p->out_count++] = ticket;
}

static void never_earlier(const char *spec, uint64_t seed)
{
    struct pair p = {.rng = {seed}};
    struct fly_error err;

    assert_int_equal(fb_spec_read(spec, &p.spec, &err), 0);
    p.bytes = sizeof(struct accountant) + fb_accountant_bytes(&p.spec);
    p.whole = books(&p);
    p.torn = books(&p);
    p.before = fb_alloc(p.bytes);
    for (int i = 0; i < STEPS; i++) {
        p.now_ns += (int64_t)draw(&p, 20 * MS);
        if (draw(&p, 4) == 0)
            tear(&p);
        ask_both(&p);
        if (p.out_count == OUT_MAX || (p.out_count > 0 && draw(&p, 3) == 0))
            end_one(&p);
    }
    fb_free(p.whole);
    fb_free(p.torn);
    fb_free(p.before);
}

static void nothing_leaves_earlier_after_a_torn_decision(void **state)
{
    static const char *const specs[] = {
        "window=10/1s",
        "window=7/300ms window=40/2s margin=0%",
        "window=30/1s rate=100/s concurrency=8",
        "window=20000/10s",
        "rate=50/s burst=4",
    };
    uint64_t seed = seed_of_run();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(specs); i++)
        never_earlier(specs[i], seed + i);
}

/* What is not put back is stamps only: without windows a decision is undone to the bit. */
static void without_windows_it_is_undone_to_the_bit(void **state)
{
    static const char *const specs[] = {"", "rate=10/s burst=2000", "adapt=aimd", "pacing=even"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(specs); i++) {
        struct spec s;
        assert_int_equal(fb_spec_read(specs[i], &s, NULL), 0);
        assert_int_equal(fb_accountant_undo_bytes(&s),
                         sizeof(struct accountant) + fb_accountant_bytes(&s));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_leaves_earlier_after_a_torn_decision),
        cmocka_unit_test(without_windows_it_is_undone_to_the_bit),
    };

    return cmocka_run_group_tests_name("undo", tests, NULL, NULL);
}
