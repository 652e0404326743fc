/* SPDX-License-Identifier: MIT */
/*
 * The demo in virtual time: a client that was told nothing uses nine tenths of the limit, whichever
 * is drawn, from the first request to the last answer, and loses nothing. One in fifty draws falls
 * short of it by up to two hundredths: a store that is full again after each Retry-After looks like
 * a window of a second at first, and that costs a refusal more.
 */
#include "mock_rig.h"

#include "mock/secret.h"

#define SEEDS     300
#define WHOLE     0.9
#define LEAST     0.88
#define SHORT     6 /* draws of 300, at most, that do not use WHOLE */
#define MEAN      0.925
#define LONGEST_S 70.0

static void draws_are_within_bounds_and_repeat(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 2000; seed++) {
        struct secret s = fb_secret_draw(seed);
        struct secret again = fb_secret_draw(seed);
        double needed_s = fb_secret_needed_s(&s, s.requests);

        assert_true(s.rate >= 10.0 && s.rate <= 20.0);
        assert_true(s.burst >= 10 && s.burst <= 30 && (double)s.burst >= 0.55 * s.rate - 1e-9);
        assert_true(needed_s > 57.8 && needed_s <= 61.0);
        assert_string_equal(s.text, again.text);
        assert_int_equal(s.requests, again.requests);
    }
    assert_true(fb_secret_needed_s(&(struct secret){.rate = 10.0, .burst = 20}, 20) == 0.0);
}

static void note_end(struct rig *r, const struct engine_result *result)
{
    (void)result;
    *(int64_t *)r->more = r->now_ns;
}

/* What of the limit was used, by the time that the last answer took: at least so much. */
static double race(uint64_t seed, struct secret s, double least)
{
    static struct mock_rig m;
    struct engine_options o;
    int64_t ended_ns = 0;

    fb_engine_options_init(&o);
    o.seed = seed;
    mock_rig_open(&m, &o, s.text, "retry-after");
    m.arrivals = m.refused = 0;
    m.rig.on_result = note_end;
    m.rig.more = &ended_ns;
    for (int64_t i = 0; i < s.requests; i++)
        rig_get(&m.rig, "http://a.example/");
    rig_run(&m.rig);
    double spent_s = (double)(ended_ns - RIG_EPOCH) / 1e9;
    double used = fb_secret_needed_s(&s, s.requests) / spent_s;
    assert_int_equal(m.rig.ends[ENGINE_OK], s.requests);
    assert_int_equal(m.arrivals - m.refused, s.requests);
    if (getenv("FLYBALL_SHOW"))
        print_message("seed %llu, %s: used %.1f %%, %.1f s, %lld refused\n",
                      (unsigned long long)seed, s.text, 100.0 * used, spent_s,
                      (long long)m.refused);
    else if (used < least || spent_s > LONGEST_S || m.refused > 12)
        fail_msg("seed %llu, %s: used %.1f %%, %.1f s, %lld refused", (unsigned long long)seed,
                 s.text, 100.0 * used, spent_s, (long long)m.refused);
    mock_rig_fini(&m);
    return used;
}

static void nine_tenths_are_used(void **state)
{
    double sum = 0.0;
    int small = 0;
    int shorts = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct secret s = fb_secret_draw(seed);

        double used = race(seed, s, LEAST);
        sum += used;
        shorts += used < WHOLE;
        small += (double)s.burst < s.rate;
    }
    if (getenv("FLYBALL_SHOW"))
        print_message("mean %.1f %%, %d of %d with a small store\n", 100.0 * sum / SEEDS, small,
                      SEEDS);
    assert_true(sum / SEEDS >= MEAN);
    assert_in_range(shorts, 0, SHORT);
    assert_true(small >= SEEDS / 10); /* the hard ones are among them */
    (void)race(4711, fb_secret_draw(4711), WHOLE);
}

/* A store that is full within half the second of a Retry-After is not drawn: it costs more. */
static void a_smaller_store_costs_more(void **state)
{
    (void)state;
    (void)race(1, (struct secret){20.0, 10, 1190, "rate=20/s burst=10"}, 0.87);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws_are_within_bounds_and_repeat),
        cmocka_unit_test(nine_tenths_are_used),
        cmocka_unit_test(a_smaller_store_costs_more),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
