/* SPDX-License-Identifier: MIT */
/* Providers: bans, headers and their lies, several gates at once, chance. */
#include "unit.h"

#include "core/instant.h"
#include "sim/provider.h"

static const struct work ONE = {.cost = 1};

static struct provider with_window(int64_t limit, int64_t window_ns, int64_t phase_ns)
{
    return (struct provider){
        .gate = {{.kind = &fb_gate_fixed,
                  .limit = limit,
                  .window_ns = window_ns,
                  .phase_ns = phase_ns}},
        .gate_count = 1,
    };
}

static struct verdict ask(struct provider *p, int64_t now_ns)
{
    struct verdict v;

    fb_provider_admit(p, now_ns, &ONE, &v);
    return v;
}

static void refuses_by_429_and_tells_nothing(void **state)
{
    struct provider p = with_window(2, 60 * S, 0);

    (void)state;
    assert_int_equal(fb_provider_init(&p, 1), 0);
    assert_int_equal(ask(&p, 1 * S).status, 200);
    assert_int_equal(ask(&p, 2 * S).status, 200);

    struct verdict v = ask(&p, 3 * S);
    assert_int_equal(v.status, 429);
    assert_true(v.refused && !v.passed);
    assert_true(v.limit == FLY_ABSENT && v.remaining == FLY_ABSENT);
    assert_true(v.reset_ns == FLY_ABSENT && v.retry_after_ns == FLY_ABSENT);
    assert_int_equal(ask(&p, 60 * S).status, 200);
    fb_provider_fini(&p);
}

static void honest_headers_count_down(void **state)
{
    struct provider p = with_window(3, 60 * S, 10 * S);

    (void)state;
    p.manners.headers = fb_headers_window;
    p.manners.retry_after = fb_retry_honest;
    assert_int_equal(fb_provider_init(&p, 1), 0);
    for (int64_t left = 2; left >= 0; left--) {
        struct verdict v = ask(&p, 20 * S);

        assert_int_equal(v.limit, 3);
        assert_int_equal(v.remaining, left);
        assert_int_equal(v.reset_ns, 70 * S);
        assert_true(v.retry_after_ns == FLY_ABSENT);
    }

    struct verdict v = ask(&p, 20 * S + 1);
    assert_int_equal(v.remaining, 0);
    assert_int_equal(v.retry_after_ns, 50 * S);
    fb_provider_fini(&p);
}

static void lies_are_told_as_asked(void **state)
{
    struct provider p = with_window(100, 60 * S, 0);

    (void)state;
    p.manners.headers = fb_headers_window;
    p.manners.header_scale = 1.2;
    p.manners.clock_from_ns[0] = 30 * S;
    p.manners.clock_off_ns[0] = 3600 * S;
    assert_int_equal(fb_provider_init(&p, 1), 0);

    struct verdict v = ask(&p, 10 * S);
    assert_int_equal(v.limit, 120);
    assert_int_equal(v.remaining, 119);
    assert_int_equal(v.reset_ns, 60 * S);
    assert_int_equal(ask(&p, 40 * S).reset_ns, 3660 * S);

    p.manners.headers = fb_headers_past;
    assert_true(ask(&p, 50 * S).reset_ns < 50 * S);
    fb_provider_fini(&p);
}

static void lagging_headers_tell_the_past(void **state)
{
    struct provider p = with_window(1000, 600 * S, 0);

    (void)state;
    p.manners.headers = fb_headers_window;
    p.manners.header_lag_ns = 2 * S;
    assert_int_equal(fb_provider_init(&p, 1), 0);
    for (int64_t i = 1; i <= 100; i++) {
        struct verdict v = ask(&p, i * 100 * MS);

        if (i > 30)
            assert_in_range(v.remaining, 1000 - i + 19, 1000 - i + 21);
    }
    fb_provider_fini(&p);
}

static void refusals_in_a_row_are_a_growing_ban(void **state)
{
    struct provider p = with_window(1, 1 * S, 0);

    (void)state;
    p.box = (struct box){.row = 3, .ban_ns = 10 * S, .ban_max_ns = 15 * S, .growth = 2.0};
    assert_int_equal(fb_provider_init(&p, 1), 0);
    assert_int_equal(ask(&p, 0).status, 200);
    assert_int_equal(ask(&p, 1).status, 429);
    assert_int_equal(ask(&p, 2).status, 429);
    assert_int_equal(ask(&p, 1 * S).status, 200); /* ends the row */
    for (int64_t i = 1; i <= 3; i++)
        assert_int_equal(ask(&p, 1 * S + i).status, 429);
    assert_int_equal(p.bans, 1);
    assert_int_equal(ask(&p, 11 * S).status, 429);
    assert_int_equal(ask(&p, 11 * S + 3).status, 200);
    for (int64_t i = 4; i <= 6; i++)
        assert_int_equal(ask(&p, 11 * S + i).status, 429);
    assert_int_equal(p.bans, 2);
    assert_int_equal(p.banned_until_ns, 26 * S + 6); /* doubled, but at most 15 s */
    fb_provider_fini(&p);
}

static void a_refusal_takes_from_no_gate(void **state)
{
    struct provider p = with_window(5, 60 * S, 0);

    (void)state;
    p.gate[1] =
        (struct gate){.kind = &fb_gate_fixed, .limit = 2, .window_ns = 1 * S, .status = 403};
    p.gate_count = 2;
    assert_int_equal(fb_provider_init(&p, 1), 0);
    for (int64_t i = 0; i < 20; i++)
        assert_int_equal(ask(&p, i).status, i < 2 ? 200 : 403);
    assert_int_equal(p.gate[0].used, 2);
    fb_provider_fini(&p);
}

static void pools_do_not_touch_each_other(void **state)
{
    struct provider p = with_window(1, 60 * S, 0);
    struct work other = {.cost = 1, .pool = 1};
    struct verdict v;

    (void)state;
    p.gate[0].pools = 1u << 0;
    assert_int_equal(fb_provider_init(&p, 1), 0);
    assert_int_equal(ask(&p, 1).status, 200);
    assert_int_equal(ask(&p, 2).status, 429);
    fb_provider_admit(&p, 3, &other, &v);
    assert_int_equal(v.status, 200);
    fb_provider_fini(&p);
}

static void chance_refuses_as_often_as_said(void **state)
{
    struct provider p = with_window(1000000, 60 * S, 0);
    int count[2] = {0};

    (void)state;
    p.chance_429 = 0.02;
    p.chance_503 = 0.05;
    assert_int_equal(fb_provider_init(&p, 9), 0);
    for (int64_t i = 0; i < 100000; i++) {
        struct verdict v = ask(&p, i);

        count[0] += v.status == 429 && v.refused;
        count[1] += v.status == 503 && !v.refused;
    }
    assert_in_range(count[0], 1800, 2200);
    assert_in_range(count[1], 4700, 5300);
    fb_provider_fini(&p);
}

static void latency_grows_before_the_limit(void **state)
{
    struct provider p = {
        .gate = {{.kind = &fb_gate_bucket, .rate = 10.0, .burst = 50.0}},
        .gate_count = 1,
        .service = {.strain_s = 1.0},
    };
    int64_t slow_ns = 0;

    (void)state;
    assert_int_equal(fb_provider_init(&p, 1), 0);
    for (int64_t i = 1; i <= 400; i++)
        slow_ns = ask(&p, i * 250 * MS).service_ns;
    assert_int_equal(slow_ns, 0); /* 4/s of 10/s: not felt */
    for (int64_t i = 1; i <= 400; i++)
        slow_ns = ask(&p, 100 * S + i * 110 * MS).service_ns;
    assert_in_range(slow_ns, 400 * MS, 900 * MS);
    fb_provider_fini(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_by_429_and_tells_nothing),
        cmocka_unit_test(honest_headers_count_down),
        cmocka_unit_test(lies_are_told_as_asked),
        cmocka_unit_test(lagging_headers_tell_the_past),
        cmocka_unit_test(refusals_in_a_row_are_a_growing_ban),
        cmocka_unit_test(a_refusal_takes_from_no_gate),
        cmocka_unit_test(pools_do_not_touch_each_other),
        cmocka_unit_test(chance_refuses_as_often_as_said),
        cmocka_unit_test(latency_grows_before_the_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
