/* SPDX-License-Identifier: MIT */
/* What was learned outlasts the limiter; any other bytes are refused, and none make it faster. */
#include "limiter_rig.h"

#include <errno.h>
#include <stdbool.h>

#include "core/adapt/probe_parts.h"
#include "core/controller.h"
#include "core/state.h"

struct saved {
    unsigned char bytes[FLY_STATE_BYTES];
    size_t size;
};

static struct saved save(struct fly_limiter *l, int64_t now_ns)
{
    struct saved s;
    int size = fly_limiter_save(l, now_ns, s.bytes, sizeof(s.bytes));

    assert_true(size > 0);
    s.size = (size_t)size;
    return s;
}

static void load(struct fly_limiter *l, int64_t now_ns, int64_t passed_ns, const struct saved *s)
{
    struct fly_error err = {""};

    if (fly_limiter_load(l, now_ns, passed_ns, s->bytes, s->size, &err) != 0)
        fail_msg("%s", err.text);
}

static void assert_refused(struct fly_limiter *l, const struct saved *s, const char *because)
{
    struct fly_error err = {""};

    assert_int_equal(fly_limiter_load(l, 0, 0, s->bytes, s->size, &err), -EINVAL);
    assert_contains(err.text, because);
    assert_int_equal(fly_limiter_load(l, 0, 0, s->bytes, s->size, NULL), -EINVAL);
}

/* The checksum that whoever forges a state would compute too. */
static void seal(struct saved *s)
{
    uint64_t sum = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < s->size - 8; i++)
        sum = (sum ^ s->bytes[i]) * UINT64_C(0x100000001b3);
    for (size_t i = 0; i < 8; i++)
        s->bytes[s->size - 8 + i] = (unsigned char)(sum >> 8 * i);
}

static struct fly_learned learned(struct fly_limiter *l, int64_t now_ns)
{
    struct fly_learned x = {.size = sizeof(x)};

    assert_int_equal(fly_limiter_learned(l, now_ns, &x), 0);
    return x;
}

/* A provider that accepts `rate` a second; the limiter is driven for so long. */
struct provider {
    double rate;
    double level; /* requests ahead of the rate */
    double burst;
    int64_t at_ns;
    int accepted;
    int refused;
};

static int32_t serve(struct provider *p, int64_t now_ns)
{
    p->level -= (double)(now_ns - p->at_ns) * 1e-9 * p->rate;
    p->level = p->level > 0.0 ? p->level : 0.0;
    p->at_ns = now_ns;
    if (p->level + 1.0 > p->burst) {
        p->refused++;
        return 429;
    }
    p->level += 1.0;
    p->accepted++;
    return 200;
}

static int64_t drive(struct fly_limiter *l, struct provider *p, int64_t now_ns, int64_t end_ns)
{
    while (now_ns < end_ns) {
        uint64_t ticket;
        int64_t at_ns = take(l, now_ns, &ticket);
        if (at_ns > now_ns) {
            now_ns = at_ns;
            continue;
        }
        int32_t status = serve(p, now_ns);
        now_ns += 10 * MS;
        report(l, now_ns, ticket, status);
    }
    return now_ns;
}

/* ---- lasting ---- */

static void a_warm_start_learns_nothing_again(void **state)
{
    struct provider p = {.rate = 7.3, .burst = 12};
    struct fly_limiter *l = limiter("", 0);
    int64_t now_ns = drive(l, &p, 0, 2 * 3600 * S);
    struct saved s = save(l, now_ns);
    double rate = fly_limiter_rate(l);
    int learning = p.refused;

    (void)state;
    fly_limiter_free(l);
    assert_true(learning > 0);
    assert_close(rate, p.rate, 0.1 * p.rate);

    /* Another process, another clock. */
    int64_t shift_ns = 1700000000 * S;
    p.refused = p.accepted = 0;
    p.at_ns += shift_ns;
    l = limiter("", now_ns + shift_ns);
    load(l, now_ns + shift_ns, 0, &s);
    assert_true(fly_limiter_rate(l) <= rate * 1.0001);
    (void)drive(l, &p, now_ns + shift_ns, now_ns + shift_ns + 60 * S);
    assert_int_equal(p.refused, 0);
    assert_at_least(p.accepted, (int64_t)(0.9 * 60 * p.rate));
    fly_limiter_free(l);
}

/* Whatever happened to it, the one that goes on is no faster. */
static void is_never_faster_than_before(void **state)
{
    struct rng rng = {seed_of_run()};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(every_kind); i++) {
        for (int run = 0; run < 20; run++) {
            struct fly_limiter *l = limiter(every_kind[i], 0);
            int64_t now_ns = 0;
            for (int step = 0; step < 200; step++) {
                uint64_t ticket = 0;
                now_ns += (int64_t)(fb_rng_next(&rng) % (uint64_t)(2 * S));
                if (take(l, now_ns, &ticket) > now_ns)
                    continue;
                struct fly_outcome o = random_outcome(&rng, ticket, now_ns);
                fly_limiter_report(l, now_ns, &o);
            }
            struct saved s = save(l, now_ns);
            struct fly_limiter *next = limiter(every_kind[i], now_ns);
            load(next, now_ns, 0, &s);
            double before = fly_limiter_rate(l);
            double after = fly_limiter_rate(next);
            if (after > before * 1.001)
                fail_msg("%s: %g before, %g after", every_kind[i], before, after);
            fly_limiter_free(l);
            fly_limiter_free(next);
        }
    }
}

static void a_hold_lasts(void **state)
{
    struct fly_limiter *l = limiter("rate=5/s", 0);

    (void)state;
    refuse(l, 0, granted(l, 0, 1), 100 * S);
    struct saved s = save(l, 10 * S);
    fly_limiter_free(l);

    l = limiter("rate=5/s", 1000 * S);
    load(l, 1000 * S, 0, &s);
    assert_at_least(next_at(l, 1000 * S, 1), 1090 * S);
    assert_at_most(next_at(l, 1000 * S, 1), 1091 * S);
    load(l, 1000 * S, 80 * S, &s);
    assert_at_most(next_at(l, 1000 * S, 1), 1011 * S);
    fly_limiter_free(l);
}

static void what_was_spent_is_not_given_twice(void **state)
{
    static const struct {
        const char *spec;
        int64_t passed_ns;
        int grants;
    } rows[] = {
        {"rate=1/s burst=10", 0, 3},
        {"rate=1/s burst=10", 4 * S, 7},
        {"rate=1/s burst=10", 3600 * S, 10},
        {"window=10/1m margin=0%", 0, 3},
        {"window=10/1m margin=0%", 59 * S, 3}, /* errs towards waiting */
        {"window=10/1m margin=0%", 60 * S, 10},
        {"window=10/1m window=20/1h margin=0%", 60 * S, 10},
        {"window=20000/1m margin=0%", 0, 19993},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fly_limiter *l = limiter(rows[i].spec, 0);
        assert_int_equal(grants_at(l, 0, 7), 7);
        struct saved s = save(l, 0);
        struct fly_limiter *next = limiter(rows[i].spec, 0);
        load(next, 0, rows[i].passed_ns, &s);
        int grants = grants_at(next, 0, 30000);
        assert_at_most(grants, rows[i].grants);
        assert_at_least(grants, rows[i].grants - rows[i].grants / 100); /* of a coarse window */
        fly_limiter_free(l);
        fly_limiter_free(next);
    }
}

static void a_quota_lasts_with_what_was_out(void **state)
{
    struct fly_limiter *l = limiter("rate=1000/s burst=100 pacing=demand", 0);
    struct fly_outcome o = outcome(granted(l, 0, 1), 200, 0);

    (void)state;
    o.limit = 100;
    o.remaining = 30;
    o.reset_ns = 100 * S;
    fly_limiter_report(l, 0, &o);
    assert_int_equal(grants_at(l, 0, 10), 10);
    struct saved s = save(l, 0);
    fly_limiter_free(l);

    l = limiter("rate=1000/s burst=100 pacing=demand", 0);
    load(l, S, 0, &s);
    assert_int_equal(grants_at(l, S, 100), 20);
    assert_at_least(next_at(l, S, 1), 101 * S);
    fly_limiter_free(l);
}

/* However many answers told nothing: what was learned in a long run is not refused afterwards. */
static void a_long_silence_is_no_damage(void **state)
{
    struct fly_limiter *l = fly_limiter_new("adapt=aimd rate=1000/s", 0, 1, NULL);
    struct fly_limiter *next = fly_limiter_new("adapt=aimd rate=1000/s", 0, 1, NULL);
    uint64_t ticket;

    (void)state;
    for (int64_t i = 1; i <= 2000; i++) {
        assert_at_most(fly_limiter_take(l, i * S, 1, &ticket), i * S);
        struct fly_outcome o = outcome(ticket, 200, i * S);
        fly_limiter_report(l, i * S, &o);
    }
    struct saved s = save(l, 2000 * S);
    load(next, 0, 0, &s);
    fly_limiter_free(next);
    fly_limiter_free(l);
}

static void the_bounds_of_now_hold(void **state)
{
    struct fly_limiter *l = limiter("adapt=aimd rate=10/s ceiling=20/s", 0);
    struct saved s = save(l, 0);

    (void)state;
    fly_limiter_free(l);
    l = limiter("adapt=aimd rate=1/s ceiling=4/s", 0);
    load(l, 0, 0, &s);
    assert_close(fly_limiter_rate(l), 4.0, 1e-9);
    fly_limiter_free(l);

    l = limiter("", 0);
    struct provider p = {.rate = 20, .burst = 20};
    int64_t now_ns = drive(l, &p, 0, 1800 * S);
    s = save(l, now_ns);
    fly_limiter_free(l);
    l = limiter("adapt=probe ceiling=3/s", 0);
    load(l, 0, 0, &s);
    assert_true(fly_limiter_rate(l) <= 3.0001);
    fly_limiter_free(l);
}

/* ---- refused ---- */

static void every_damaged_byte_is_noticed(void **state)
{
    static const char *const specs[] = {"", "adapt=aimd", "adapt=step rate=1/s", "rate=1/s"};

    (void)state;
    for (size_t k = 0; k < COUNT_OF(specs); k++) {
        struct fly_limiter *l = limiter(specs[k], 0);
        struct saved s = save(l, 0);
        for (size_t i = 0; i < s.size; i++) {
            struct saved bad = s;
            bad.bytes[i] ^= 0x10;
            assert_refused(l, &bad, "saved state: ");
        }
        for (size_t size = 0; size < s.size; size++) {
            struct saved bad = s;
            bad.size = size;
            assert_refused(l, &bad, "saved state: ");
        }
        load(l, 0, 0, &s);
        fly_limiter_free(l);
    }
}

static void says_what_is_wrong(void **state)
{
    struct fly_limiter *l = limiter("adapt=aimd", 0);
    struct fly_limiter *other = limiter("adapt=step rate=1/s", 0);
    struct saved s = save(l, 0);
    struct saved bad = s;

    (void)state;
    assert_refused(other, &s, "another adapt=");
    bad.size = 39;
    assert_refused(l, &bad, "cut short");
    bad = s;
    bad.bytes[0] = 'F';
    assert_refused(l, &bad, "not one of this library");
    bad = s;
    bad.bytes[60]++;
    assert_refused(l, &bad, "damaged");
    bad = s;
    bad.bytes[8] = 1;
    seal(&bad);
    assert_refused(l, &bad, "another version");
    bad = s;
    bad.bytes[13] = 1;
    seal(&bad);
    assert_refused(l, &bad, "another version");
    bad = s;
    bad.bytes[10]++;
    seal(&bad);
    assert_refused(l, &bad, "wrong length");
    bad = s;
    bad.size += 8;
    seal(&bad);
    assert_refused(l, &bad, "wrong length");
    fly_limiter_free(l);
    fly_limiter_free(other);
}

/* Each word in turn takes values that no state has. */
static void every_range_is_checked(void **state)
{
    static const uint64_t words[] = {
        UINT64_C(0x7ff8000000000000), /* not a number */
        UINT64_C(0x7ff0000000000000), /* infinite */
        UINT64_C(0x8000000000000000), UINT64_C(0xffffffffffffffff), UINT64_C(0x7ffffffffffffffe),
    };
    static const char *const specs[] = {"", "adapt=aimd", "adapt=step rate=1/s", "rate=1/s"};

    (void)state;
    for (size_t k = 0; k < COUNT_OF(specs); k++) {
        struct fly_limiter *l = limiter(specs[k], 0);
        struct saved s = save(l, 0);
        for (size_t at = 32; at < s.size - 8; at += 8) {
            int refusals = 0;
            for (size_t i = 0; i < COUNT_OF(words); i++) {
                struct saved bad = s;
                memcpy(bad.bytes + at, &words[i], 8);
                seal(&bad);
                refusals += fly_limiter_load(l, 0, 0, bad.bytes, bad.size, NULL) != 0;
            }
            assert_at_least(refusals, 3);
        }
        fly_limiter_free(l);
    }
}

static void more_left_than_there_is(void **state)
{
    struct fly_limiter *l = limiter("rate=1/s", 0);
    struct saved s = save(l, 0);

    (void)state;
    s.bytes[32 + 3 * 8] = 9; /* left of a limit of 0 */
    seal(&s);
    assert_refused(l, &s, "out of range: FB_QUOTA_LEFT");
    fly_limiter_free(l);
}

static void too_little_room(void **state)
{
    struct fly_limiter *l = limiter("", 0);
    unsigned char bytes[40];
    struct fly_learned small = {.size = 8};

    (void)state;
    assert_int_equal(fly_limiter_save(l, 0, bytes, sizeof(bytes)), -ENOSPC);
    assert_int_equal(fly_limiter_learned(l, 0, &small), -EINVAL);
    fly_limiter_free(l);
}

/* ---- the belief of the probe ---- */

static union controller_state belief(uint8_t phase, float lean)
{
    return (union controller_state){.probe = {
                                        .limit = 4.0f,
                                        .rate = 8.0f,
                                        .lean = lean,
                                        .margin = 0.1f,
                                        .unit = 1.0f,
                                        .phase = phase,
                                        .opened_ns = FB_LONG_AGO,
                                        .look_ns = FB_LONG_AGO,
                                        .changed_ns = 5,
                                        .since_refusal = 50,
                                    }};
}

/* A look upward is not gone on with; what a climb halved is whole again. */
static void a_look_upward_ends(void **state)
{
    static const struct {
        uint8_t phase;
        float lean;
        float limit;
        float rate;
    } rows[] = {
        {PROBE_FIRST, 7.0f, 4.0f, 8.0f},    {PROBE_SETTLED, 1.0f, 4.0f, 3.6f},
        {PROBE_SETTLED, -0.1f, 4.0f, 3.6f}, {PROBE_DOUBT, 1.0f, 8.0f, 7.2f},
        {PROBE_DOUBT, -0.1f, 4.0f, 3.6f},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        union controller_state c = belief(rows[i].phase, rows[i].lean);
        fb_probe_resume(&c.probe, 100 * S);
        assert_close((double)c.probe.limit, (double)rows[i].limit, 1e-5);
        assert_close((double)c.probe.rate, (double)rows[i].rate, 1e-5);
        /* The next one is put off; a first climb has none planned. */
        assert_int_equal(c.probe.look_ns > 100 * S, rows[i].phase != PROBE_FIRST);
    }
}

/* A climb that was refused has slowed down: it goes on with that, and looks upward later. */
static void a_climb_that_was_refused_ends(void **state)
{
    union controller_state c = belief(PROBE_FIRST, 7.0f);

    (void)state;
    c.probe.surprises = 1;
    c.probe.rate = 20.0f;
    fb_probe_resume(&c.probe, 100 * S);
    assert_int_equal(c.probe.phase, PROBE_SETTLED);
    assert_close((double)c.probe.limit, 20.0, 1e-5);
    assert_close((double)c.probe.rate, 18.0, 1e-5);
    assert_true(c.probe.look_ns > 200 * S && c.probe.surprises == 0);
    assert_close((double)c.probe.evidence, 100.0, 1e-6); /* of a pace that was kept, and not more */
}

/*
 * What was counted well is left alone for as long as a process may last, until it has held for so
 * long; a look that was under way is put off, with what it was about.
 */
static void a_look_at_a_window_is_put_off(void **state)
{
    static const struct {
        float lean, evidence;
        int32_t since_refusal;
        double requests, evidence_left;
    } rows[] = {
        {0.1f, 0.0f, 50, 2400, 200},  {0.1f, 0.0f, 2400, 600, 200}, {-0.1f, 0.0f, 50, 72, 0},
        {-0.1f, 59.0f, 50, 72, 59},   {-0.1f, 60.0f, 50, 2400, 60}, {-0.1f, 60.0f, 2399, 2400, 60},
        {-0.1f, 60.0f, 2400, 72, 60},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        union controller_state c = belief(PROBE_SETTLED, rows[i].lean);
        c.probe.window_s = 10.0f;
        c.probe.evidence = rows[i].evidence;
        c.probe.since_refusal = rows[i].since_refusal;
        fb_probe_resume(&c.probe, 100 * S);
        double requests = (double)(c.probe.look_ns - 100 * S) / 1e9 * (double)c.probe.rate;
        assert_close(requests, rows[i].requests, 1.0);
        assert_close((double)c.probe.evidence, rows[i].evidence_left, 1e-6);
    }
}

static void windows_are_known_by_their_opening(void **state)
{
    union controller_state c = belief(PROBE_SETTLED, -0.1f);
    struct learned x = {.confidence = 0};
    struct pace pace = {.rate = 3.6};

    (void)state;
    c.probe.window_s = 60.0f;
    fb_probe_resume(&c.probe, 100 * S);
    assert_false(c.probe.opening_seen);
    c.probe.opened_ns = 50 * S;
    fb_probe_resume(&c.probe, 100 * S);
    assert_true(c.probe.opening_seen);
    fb_probe_learned(&c, &pace, &x);
    assert_int_equal(x.recovery_ns, 60 * S);
    assert_close(x.confidence, 0.5, 1e-9);
    assert_int_equal(x.changed_ns, 5);
}

/* How long it was away is known to the second: the window that was told of is still the same. */
static void what_is_told_of_the_same_window_is_heard(void **state)
{
    (void)state;
    for (int64_t off_ns = -900 * MS; off_ns <= 900 * MS; off_ns += 300 * MS) {
        union controller_state c = belief(PROBE_SETTLED, -0.1f);
        struct probe *p = &c.probe;
        struct fly_outcome o = outcome(1, 200, 0);
        struct answer a = {.outcome = &o, .now_ns = 110 * S, .cost = 1, .granted = 1};

        p->window_s = 3600.0f;
        p->opened_ns = (2000 - 3600) * S;
        p->share = 1.0f;
        p->told_left = 1010.0f;
        p->told_own = 3990.0f;
        p->told_reset_ns = 2000 * S + off_ns;
        p->verified = HONEST;
        fb_probe_resume(p, 100 * S);
        o.limit = 5000;
        o.remaining = 1000;
        o.reset_ns = 2000 * S;
        a.accepted = true;
        fb_probe_told(p, &a, false);
        assert_true(p->told_left == 1000.0f && p->opened_ns == -1600 * S);
        assert_close((double)p->told, 1000.0 / 1890.0, 0.01);
    }
}

/* ---- figures ---- */

static void figures_of_step(void **state)
{
    struct fly_limiter *l = limiter("adapt=step rate=10/s burst=100", 0);

    (void)state;
    assert_int_equal(learned(l, 0).changed_ns, FLY_ABSENT);
    for (int i = 0; i < 3; i++)
        refuse(l, 100 * S * i, granted(l, 100 * S * i, 1), 4 * S);
    struct fly_learned x = learned(l, 200 * S);
    assert_string_equal(x.by, "step");
    assert_close(x.rate, 9.0, 1e-6);
    assert_close(x.reduction, 0.1, 1e-9);
    assert_close(x.confidence, 0.0, 1e-9);
    assert_int_equal(x.recovery_ns, 4 * S);
    assert_int_equal(x.changed_ns, 200 * S);
    for (int i = 0; i < 50; i++)
        report(l, (300 + i) * S, granted(l, (300 + i) * S, 1), 200);
    assert_close(learned(l, 400 * S).confidence, 0.5, 1e-9);

    struct saved s = save(l, 400 * S);
    struct fly_limiter *next = limiter("adapt=step rate=10/s burst=100", 7 * S);
    load(next, 7 * S, S, &s);
    x = learned(next, 7 * S);
    assert_close(x.reduction, 0.1, 1e-9);
    assert_close(x.confidence, 0.5, 1e-9);
    assert_int_equal(x.recovery_ns, 4 * S);
    assert_int_equal(x.changed_ns, 7 * S - 201 * S);
    fly_limiter_free(l);
    fly_limiter_free(next);
}

static void figures_of_the_others(void **state)
{
    struct fly_limiter *l = limiter("adapt=aimd rate=1/s ceiling=2/s", 0);
    struct fly_limiter *plain = limiter("rate=3/s", 0);
    struct fly_limiter *bounded = limiter("adapt=probe ceiling=50/s", 0);
    struct fly_limiter *probing = limiter("", 0);
    struct provider p = {.rate = 5, .burst = 5};

    (void)state;
    refuse(l, 0, granted(l, 0, 1), FLY_ABSENT);
    struct fly_learned x = learned(l, 0);
    assert_string_equal(x.by, "aimd");
    assert_close(x.reduction, 0.6, 1e-9);
    assert_int_equal(x.recovery_ns, 60 * S);
    assert_int_equal(x.changed_ns, 0);
    assert_string_equal(learned(plain, 0).by, "off");
    assert_close(learned(plain, 0).rate, 3.0, 1e-6);
    assert_close(learned(probing, 0).confidence, 0.0, 1e-9);
    assert_close(learned(bounded, 0).reduction, 0.98, 1e-6);
    int64_t now_ns = drive(probing, &p, 0, 3600 * S);
    x = learned(probing, now_ns);
    assert_string_equal(x.by, "probe");
    assert_true(x.confidence > 0.5 && x.confidence < 1.0);
    assert_true(x.recovery_ns > 0);
    assert_close(x.reduction, 0.0, 1e-9);
    fly_limiter_free(l);
    fly_limiter_free(plain);
    fly_limiter_free(bounded);
    fly_limiter_free(probing);
}

/* Told from the bytes alone, whoever wrote them. */
static void bytes_say_whether_something_was_learned(void **state)
{
    struct fly_limiter *plain = fly_limiter_new("rate=1/s", 0, 1, NULL);
    struct fly_limiter *learns = fly_limiter_new("", 0, 1, NULL);
    struct saved nothing = save(plain, 0), s = save(learns, 0);

    (void)state;
    assert_false(fb_state_is_learned(nothing.bytes, nothing.size));
    assert_true(fb_state_is_learned(s.bytes, s.size));
    assert_false(fb_state_is_learned(s.bytes, 16));
    s.bytes[8]++; /* another version */
    assert_false(fb_state_is_learned(s.bytes, s.size));
    s.bytes[8]--;
    s.bytes[0]++; /* something else */
    assert_false(fb_state_is_learned(s.bytes, s.size));
    fly_limiter_free(plain);
    fly_limiter_free(learns);
}

/* What is kept of headers lasts; a half of it, or a window of nothing, is damage. */
static void what_headers_told_is_kept_over_a_restart(void **state)
{
    static const struct {
        float limit, window_s, kept_s;
    } rows[] = {{3.0f, 20.0f, 20.0f}, {0.0f, 20.0f, 0.0f}, {3.0f, 1e-6f, 0.0f}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        union controller_state c = belief(PROBE_FIRST, 1.0f);
        c.probe.kept_limit = rows[i].limit;
        c.probe.told_left = -1.0f - rows[i].window_s;
        fb_probe_resume(&c.probe, 100 * S);
        assert_true(fb_probe_kept_s(&c.probe) == rows[i].kept_s);
        struct pace pace = {.rate = 1.0};
        struct learned l = {.confidence = -1.0};
        fb_probe_learned(&c, &pace, &l);
        assert_true((l.confidence >= 0.0) == (rows[i].kept_s > 0.0f));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_warm_start_learns_nothing_again),
        cmocka_unit_test(is_never_faster_than_before),
        cmocka_unit_test(a_hold_lasts),
        cmocka_unit_test(what_was_spent_is_not_given_twice),
        cmocka_unit_test(a_quota_lasts_with_what_was_out),
        cmocka_unit_test(a_long_silence_is_no_damage),
        cmocka_unit_test(the_bounds_of_now_hold),
        cmocka_unit_test(every_damaged_byte_is_noticed),
        cmocka_unit_test(says_what_is_wrong),
        cmocka_unit_test(every_range_is_checked),
        cmocka_unit_test(more_left_than_there_is),
        cmocka_unit_test(too_little_room),
        cmocka_unit_test(a_look_upward_ends),
        cmocka_unit_test(a_climb_that_was_refused_ends),
        cmocka_unit_test(a_look_at_a_window_is_put_off),
        cmocka_unit_test(windows_are_known_by_their_opening),
        cmocka_unit_test(what_is_told_of_the_same_window_is_heard),
        cmocka_unit_test(what_headers_told_is_kept_over_a_restart),
        cmocka_unit_test(figures_of_step),
        cmocka_unit_test(figures_of_the_others),
        cmocka_unit_test(bytes_say_whether_something_was_learned),
    };

    return cmocka_run_group_tests_name("state", tests, NULL, NULL);
}
