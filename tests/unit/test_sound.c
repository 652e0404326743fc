/* SPDX-License-Identifier: MIT */
/* Books that may be any bytes: what was really written is sound, what cannot have been is not. */
#include "unit.h"

#include <stdbool.h>

#include "core/accountant.h"
#include "core/bucket.h"
#include "core/hold.h"
#include "core/instant.h"
#include "core/quota.h"
#include "core/rng.h"
#include "core/spec.h"
#include "util/alloc.h"

struct found {
    struct spec spec;
    size_t bytes;
    struct accountant *fresh;
    struct accountant *a;
};

static struct accountant *books(const struct found *f)
{
    struct accountant *a = fb_alloc(f->bytes);

    assert_non_null(a);
    fb_accountant_init(a, &f->spec, a + 1, 1, 0);
    return a;
}

static struct found found_new(const char *spec)
{
    struct found f;

    assert_int_equal(fb_spec_read(spec, &f.spec, NULL), 0);
    f.bytes = sizeof(struct accountant) + fb_accountant_bytes(&f.spec);
    f.fresh = books(&f);
    f.a = books(&f);
    return f;
}

static void found_free(struct found *f)
{
    fb_free(f->fresh);
    fb_free(f->a);
}

static void live(struct accountant *a, uint64_t seed)
{
    struct rng rng = {seed};
    int64_t now_ns = 0;
    uint64_t ticket = 0;

    for (int i = 0; i < 400; i++) {
        now_ns += (int64_t)(fb_rng_next(&rng) % (uint64_t)(200 * MS));
        int64_t cost = 1 + (int64_t)(fb_rng_next(&rng) % 3);
        if (fb_accountant_ask(a, cost, now_ns).at_ns <= now_ns)
            ticket = fb_accountant_take(a, cost, now_ns);
        struct fly_outcome o = outcome(ticket, fb_rng_next(&rng) % 20 ? 200 : 429, now_ns);
        if (fb_rng_next(&rng) % 4 == 0) {
            o.limit = 1000;
            o.remaining = (int64_t)(fb_rng_next(&rng) % 1000);
            o.reset_ns = now_ns + 30 * S;
        }
        if (fb_rng_next(&rng) % 3 == 0)
            fb_accountant_cancel(a, ticket, now_ns);
        else if (fb_rng_next(&rng) % 3 != 0)
            fb_accountant_report(a, &o, now_ns);
    }
}

static void whatever_happened_is_sound(void **state)
{
    static const char *const specs[] = {
        "",
        "rate=5/s",
        "window=10/1s window=50/1m rate=20/s concurrency=4",
        "window=20000/1m",
        "adapt=aimd rate=2/s ceiling=10/s",
        "adapt=step window=30/1s",
        "pacing=demand reserve=5%",
        "pacing=even rate=100/s",
    };
    uint64_t seed = seed_of_run();

    (void)state;
    for (size_t i = 0; i < COUNT_OF(specs); i++) {
        struct found f = found_new(specs[i]);
        assert_true(fb_accountant_is_sound(f.a, f.fresh));
        live(f.a, seed + i);
        assert_true(fb_accountant_is_sound(f.a, f.fresh));
        double rate = fb_bucket_rate(fb_accountant_bucket(f.a));
        assert_true(fb_accountant_relearn(f.a, f.fresh));
        assert_true(fb_accountant_is_sound(f.a, f.fresh));
        assert_true(fb_bucket_rate(fb_accountant_bucket(f.a)) <= rate * 1.0001);
        found_free(&f);
    }
}

#define KINDS "window=10/1s rate=20/s concurrency=4 pacing=demand"

/* Each of these, done to sound books, leaves books that are not. */
#define DAMAGES(X)                                                                  \
    X(a->in_force ^= 1)                                                             \
    X(a->plain ^= 1)                                                                \
    X(a->learner = 1)                                                               \
    X(a->even = 1)                                                                  \
    X(a->watched = 1)                                                               \
    X(a->tickets.words++)                                                           \
    X(a->tickets.words_off++)                                                       \
    X(a->tickets.newest = UINT64_MAX)                                               \
    X(a->now_ns = -1)                                                               \
    X(a->in_flight = -1)                                                            \
    X(a->units_out = INT64_MAX)                                                     \
    X(a->in_flight = a->units_out + 1)                                              \
    X(a->slot[FB_SLOT_hold + FB_HOLD_RAMP] = 40)                                    \
    X(a->slot[FB_SLOT_concurrency]++)                                               \
    X(a->slot[FB_SLOT_concurrency + 1] = -1)                                        \
    X(a->slot[FB_SLOT_quota + FB_QUOTA_LIMIT] = -1)                                 \
    X(a->slot[FB_SLOT_bucket + FB_BUCKET_LEVEL] = -1)                               \
    X(a->slot[FB_SLOT_bucket + FB_BUCKET_TICKS] = 0)                                \
    X(a->slot[FB_SLOT_bucket + FB_BUCKET_TICKS]++)                                  \
    X(a->slot[FB_SLOT_bucket + FB_BUCKET_BASE] = a->now_ns + 1)                     \
    X(a->slot[FB_SLOT_window] += 8)                                                 \
    X(((int64_t *)(a + 1))[0]++)                     /* how many windows */         \
    X(((int64_t *)(a + 1))[1] = -1)                  /* measured */                 \
    X(((int64_t *)(a + 1))[4 + 7] = -1)              /* a latency */                \
    X(((int64_t *)(a + 1))[4 + 256] = 1)             /* the length of the window */ \
    X(((int64_t *)(a + 1))[4 + 256 + 6] = INT64_MAX) /* known */                    \
    X(((int64_t *)((unsigned char *)a + fb_accountant_undo_bytes(s)))[2] = INT64_MIN)

#define X(statement)                                     \
    {                                                    \
        struct found f = found_new(KINDS);               \
        struct accountant *a = f.a;                      \
        const struct spec *s = &f.spec;                  \
        (void)s;                                         \
        live(a, 1);                                      \
        assert_true(fb_accountant_is_sound(a, f.fresh)); \
        statement;                                       \
        if (fb_accountant_is_sound(a, f.fresh))          \
            fail_msg("sound in spite of " #statement);   \
        found_free(&f);                                  \
    }

static void what_cannot_have_happened_is_not_sound(void **state)
{
    (void)state;
    DAMAGES(X)
}
#undef X

/* What learns may have come to any pace, but a pace it must be. */
static void a_learned_pace_is_a_pace(void **state)
{
    struct found f = found_new("adapt=aimd rate=5/s");
    int64_t *bucket = fb_accountant_bucket(f.a);

    (void)state;
    bucket[FB_BUCKET_TICKS] = 1;
    bucket[FB_BUCKET_PERMIT] = 1000;
    bucket[FB_BUCKET_BURST] = 1000;
    assert_true(fb_accountant_is_sound(f.a, f.fresh));
    bucket[FB_BUCKET_BURST] = 999;
    assert_false(fb_accountant_is_sound(f.a, f.fresh));
    found_free(&f);
}

static void what_was_learned_is_in_range_or_forgotten(void **state)
{
    struct found f = found_new("adapt=aimd rate=5/s ceiling=9/s");

    (void)state;
    f.a->learned.aimd.rate = 7.0;
    assert_true(fb_accountant_relearn(f.a, f.fresh));
    assert_close(fb_bucket_rate(fb_accountant_bucket(f.a)), 7.0, 1e-6);
    f.a->learned.aimd.rate = -1.0;
    assert_false(fb_accountant_relearn(f.a, f.fresh));
    assert_close(fb_bucket_rate(fb_accountant_bucket(f.a)), 5.0, 1e-6);
    found_free(&f);
    f = found_new("rate=5/s");
    assert_true(fb_accountant_relearn(f.a, f.fresh)); /* nothing learns */
    found_free(&f);
}

/* An id that cannot be is no harm. */
static void a_grant_later_than_the_newest(void **state)
{
    struct found f = found_new("window=20000/1m");
    uint64_t ticket = fb_accountant_take(f.a, 1, 0);

    (void)state;
    ((int64_t *)(f.a + 1))[3] = 0; /* the newest id that the windows know */
    assert_true(fb_accountant_is_sound(f.a, f.fresh));
    fb_accountant_cancel(f.a, ticket, 0);
    assert_true(fb_accountant_is_sound(f.a, f.fresh));
    found_free(&f);
}

/* Any flag is read as one. */
static void any_bytes_of_a_prober(void **state)
{
    struct rng rng = {seed_of_run()};

    (void)state;
    for (int round = 0; round < 2000; round++) {
        struct found f = found_new("");
        unsigned char *bytes = (unsigned char *)&f.a->learned;
        live(f.a, (uint64_t)round % 7);
        for (int i = 0; i < 3; i++) {
            size_t at = fb_rng_next(&rng) % sizeof(f.a->learned);
            bytes[at] = (unsigned char)fb_rng_next(&rng);
        }
        (void)fb_accountant_relearn(f.a, f.fresh);
        live(f.a, 3);
        found_free(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whatever_happened_is_sound),
        cmocka_unit_test(what_cannot_have_happened_is_not_sound),
        cmocka_unit_test(a_learned_pace_is_a_pace),
        cmocka_unit_test(what_was_learned_is_in_range_or_forgotten),
        cmocka_unit_test(a_grant_later_than_the_newest),
        cmocka_unit_test(any_bytes_of_a_prober),
    };

    return cmocka_run_group_tests_name("sound", tests, NULL, NULL);
}
