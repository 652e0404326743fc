/* SPDX-License-Identifier: MIT */
/* The probe as a whole, through the public functions: what it finds out about small providers. */
#include "test_probe.h"

#define MINUTE (60 * S)
#define HOUR   (3600 * S)
#define SEEDS  3

static void tell_seed(const char *what, uint64_t seed)
{
    print_message("%s: seed %llu\n", what, (unsigned long long)seed);
}

/* The limit that is believed, as the sentence tells it. */
static double limit_of(struct world *w)
{
    struct fly_why y = why(w);
    const char *at = strstr(y.text, "the limit of ");

    assert_non_null(at);
    return strtod(at + strlen("the limit of "), NULL);
}

/* ---- beginning ---- */

static void begins_at_one_a_second_and_doubles(void **state)
{
    struct world w = {.kind = ANYTHING, .workers = 8, .latency_ns = MS, .seed = 1};
    double rate = 1.0;

    (void)state;
    begin(&w, "");
    assert_true(fly_limiter_rate(w.l) == 1.0);
    assert_contains(why(&w).text, "no limit known yet, climbing");
    while (w.now_ns < 40 * S) {
        run_until(&w, w.now_ns + 1);
        double now = fly_limiter_rate(w.l);
        assert_true(now >= rate && now <= 2.0 * rate);
        rate = now;
    }
    assert_true(rate > 300.0);
    assert_int_equal(w.refused, 0);
    end(&w);
}

static void a_stated_rate_is_where_it_begins(void **state)
{
    struct fly_limiter *l = limiter("adapt=probe rate=20/s", 0);

    (void)state;
    assert_true(fly_limiter_rate(l) == 20.0);
    fly_limiter_free(l);
}

/* Nothing refuses, so only the ceiling bounds it. */
static void a_ceiling_is_kept(void **state)
{
    struct world w = {.kind = ANYTHING, .workers = 8, .seed = 1};

    (void)state;
    begin(&w, "adapt=probe ceiling=7/s");
    run_until(&w, 2 * MINUTE);
    assert_close(fly_limiter_rate(w.l), 7.0, 1e-3);
    assert_close(accepted_rate(&w, 4 * MINUTE), 7.0, 0.1);
    end(&w);
}

/* Everything refuses, so only the floor is left. */
static void a_floor_is_kept(void **state)
{
    struct world w = {.kind = WINDOW, .length_ns = HOUR, .workers = 2, .seed = 1};

    (void)state;
    begin(&w, "adapt=probe floor=2/s");
    run_until(&w, 20 * MINUTE);
    assert_int_equal(w.accepted, 0);
    assert_true(fly_limiter_rate(w.l) >= 2.0);
    end(&w);
}

static void the_first_cost_is_one_request_a_second(void **state)
{
    struct fly_limiter *l = limiter("", 0);
    uint64_t ticket;

    (void)state;
    assert_int_equal(fly_limiter_take(l, 0, 30, &ticket), 0);
    report(l, 50 * MS, ticket, 200);
    assert_close(fly_limiter_rate(l), 30.0, 1e-3);
    fly_limiter_free(l);
}

/* ---- limits that stand ---- */

struct standing {
    struct world w;
    double limit;
    int64_t refused_most; /* in an hour */
    double least;         /* of the limit, in the second half of it */
};

static const struct standing standing[] = {
    {{.kind = BUCKET, .rate = 0.5, .burst = 3}, 0.5, 15, 0.95},
    {{.kind = BUCKET, .rate = 5, .burst = 10}, 5, 25, 0.95},
    {{.kind = BUCKET, .rate = 20, .burst = 50}, 20, 70, 0.95},
    {{.kind = BUCKET, .rate = 5, .burst = 10, .refuses_with = 403}, 5, 30, 0.95},
    {{.kind = BUCKET, .rate = 5, .burst = 10, .refuses_with = 503}, 5, 40, 0.95},
    {{.kind = BUCKET, .rate = 5, .burst = 10, .missing = 0.3}, 5, 25, 0.95},
    {{.kind = BUCKET, .rate = 5, .burst = 10, .cancels = 5}, 5, 25, 0.95},
    {{.kind = BUCKET, .rate = 15, .burst = 10, .retry_after = true}, 15, 25, 0.95},
    {{.kind = BUCKET, .rate = 20, .burst = 30, .retry_after = true}, 20, 25, 0.95},
    {{.kind = WINDOW, .count = 300, .length_ns = MINUTE}, 5, 35, 0.95},
    {{.kind = WINDOW, .count = 100, .length_ns = 10 * S}, 10, 60, 0.90},
    {{.kind = WINDOW, .count = 100, .length_ns = 10 * S, .retry_after = true}, 10, 20, 0.95},
    {{.kind = WINDOW, .count = 3000, .length_ns = 10 * MINUTE}, 5, 60, 0.95},
    {{.kind = WINDOW, .count = 300, .length_ns = MINUTE, .retry_after = true}, 5, 20, 0.95},
    {{.kind = SLIDING, .count = 300, .length_ns = MINUTE}, 5, 35, 0.95},
    {{.kind = SPACING, .rate = 2}, 2, 20, 0.90},
};

static void stand(const struct standing *s, int workers, uint64_t seed)
{
    struct world w = s->w;

    w.workers = workers;
    w.seed = seed;
    w.jitter_ns = 6 * MS;
    w.phase_ns = w.length_ns / 60 * (int64_t)(seed * 17 % 60);
    begin(&w, "");
    run_until(&w, HOUR / 2 + 3 * w.length_ns);
    double used = accepted_rate(&w, w.now_ns + HOUR / 2) / s->limit;
    if (!(used >= s->least && used <= 1.01) || w.refused > s->refused_most)
        fail_msg("used %.3f of the limit, refused %lld times", used, (long long)w.refused);
    end(&w);
}

static void a_limit_that_stands_is_found_and_kept(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(standing); i++)
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            print_message("row %zu, seed %llu\n", i, (unsigned long long)seed);
            stand(&standing[i], 1, seed);
            stand(&standing[i], 40, seed);
        }
}

/* Two in five fail by a bare 503, whatever the pace: the limit is found all the same. */
static void a_share_of_503s_is_lived_with(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct world w = {.kind = BUCKET, .rate = 10, .burst = 20, .workers = 8, .seed = seed};

        tell_seed("stumbles", seed);
        w.stumbles = 0.4;
        begin(&w, "");
        run_until(&w, HOUR / 2);
        assert_true(accepted_rate(&w, HOUR) > 0.9 * 0.6 * 10); /* what the pace of 10/s leaves */
        end(&w);
    }
}

/* The pace itself lies a few percent under the limit, or a look is going on. */
static void the_pace_settles_under_the_limit(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct world w = {.kind = BUCKET, .rate = 5, .burst = 10, .workers = 4, .seed = seed};
        int64_t under = 0;
        int64_t all = 0;

        tell_seed("bucket", seed);
        begin(&w, "");
        run_until(&w, HOUR / 2);
        for (; w.now_ns < HOUR; all++) {
            run_until(&w, w.now_ns + S);
            double rate = fly_limiter_rate(w.l);
            under += rate >= 0.92 * 5.0 && rate <= 1.01 * 5.0;
        }
        assert_at_least(10 * under, 9 * all);
        end(&w);
    }
}

static void a_window_is_recognised(void **state)
{
    struct world hourly = {.kind = WINDOW, .count = 3000, .length_ns = 10 * MINUTE, .seed = 1};
    struct world sliding = {.kind = SLIDING, .count = 300, .length_ns = MINUTE, .seed = 1};

    (void)state;
    begin(&hourly, "");
    run_until(&hourly, HOUR);
    assert_contains(why(&hourly).text, "(window of 10 min)");
    end(&hourly);
    begin(&sliding, "");
    run_until(&sliding, HOUR);
    assert_contains(why(&sliding).text, "(window of 1 min)");
    end(&sliding);
}

/* ---- limits that move ---- */

static void a_limit_that_falls_and_rises_is_followed(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct world w = {.kind = BUCKET, .rate = 10, .burst = 10, .workers = 8, .seed = seed};

        tell_seed("moving", seed);
        begin(&w, "");
        run_until(&w, HOUR / 2);
        w.rate = 4;
        run_until(&w, HOUR / 2 + 5 * MINUTE);
        assert_true(fly_limiter_rate(w.l) < 4.5);
        assert_true(accepted_rate(&w, HOUR) > 0.9 * 4);
        w.rate = 16;
        run_until(&w, HOUR + HOUR / 2);
        assert_true(accepted_rate(&w, 2 * HOUR) > 0.9 * 16);
        end(&w);
    }
}

/* ---- not about the pace ---- */

static void a_bound_on_what_is_in_flight_is_found_and_kept(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct world w = {.kind = CROWD,
                          .count = 8,
                          .workers = 40,
                          .seed = seed,
                          .latency_ns = 300 * MS,
                          .jitter_ns = 60 * MS};

        tell_seed("crowd", seed);
        begin(&w, "");
        run_until(&w, HOUR / 2);
        int64_t refused = w.refused;
        w.out_most = 0;
        double used = accepted_rate(&w, HOUR);
        assert_at_most(refused, 60);
        assert_at_most(w.refused - refused, 40); /* of 43,000: it is looked at now and then */
        assert_at_most(w.out_most, 10);
        assert_true(used > 0.95 * 8 / 0.33);
        end(&w);
    }
}

static void noise_does_not_drive_the_limit_down(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct world w = {
            .kind = BUCKET, .rate = 5, .burst = 10, .noise = 0.005, .workers = 4, .seed = seed};

        tell_seed("noise", seed);
        begin(&w, "");
        run_until(&w, HOUR / 2);
        assert_true(accepted_rate(&w, 2 * HOUR) > 0.6 * 5);
        assert_at_most(w.refused, 20 * w.sent / 1000);
        end(&w);
    }
}

/* Five failures in a row, and it asks one at a time, ever more rarely, once a minute at last. */
static void an_outage_is_waited_for_and_teaches_nothing(void **state)
{
    struct world w = {.kind = BUCKET,
                      .rate = 5,
                      .burst = 10,
                      .workers = 40,
                      .seed = 1,
                      .dead_from_ns = 1000 * S,
                      .dead_until_ns = 2000 * S};

    (void)state;
    begin(&w, "");
    run_until(&w, 999 * S);
    double limit = limit_of(&w);
    run_until(&w, 1100 * S);
    int64_t sent = w.sent;
    assert_at_most(w.failed, 15);
    assert_contains(why(&w).text, "; failing, asked one at a time.");
    run_until(&w, 1999 * S);
    assert_at_least(w.sent - sent, 12);
    assert_at_most(w.sent - sent, 16);
    int64_t accepted = w.accepted;
    while (w.accepted == accepted)
        run_until(&w, w.now_ns + 1);
    assert_true(limit_of(&w) == limit);
    assert_true(accepted_rate(&w, 2600 * S) > 0.9 * 5);
    end(&w);
}

/* ---- headers, as a whole ---- */

static struct world told(double share, uint64_t seed)
{
    return (struct world){.kind = WINDOW,
                          .count = 300,
                          .length_ns = MINUTE,
                          .told_share = share,
                          .workers = 8,
                          .jitter_ns = 6 * MS,
                          .seed = seed,
                          .phase_ns = (int64_t)(seed * 17 % 60) * S};
}

static void honest_headers_are_followed_to_the_last(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct world w = told(1.0, seed);

        begin(&w, "");
        run_until(&w, 10 * MINUTE);
        assert_contains(why(&w).text, "what the server says is left, spent evenly until its reset");
        assert_null(strstr(why(&w).text, "window of")); /* that is the server's to tell */
        assert_true(accepted_rate(&w, HOUR) >= 0.995 * 5);
        assert_at_most(w.refused, 1); /* the one that checked them */
        end(&w);
    }
}

static void headers_that_lie_do_little_harm(void **state)
{
    static const double shares[] = {0.8, 1.2};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(shares); i++)
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            struct world w = told(shares[i], seed);

            begin(&w, "");
            run_until(&w, HOUR / 2);
            assert_true(accepted_rate(&w, HOUR) >= 0.96 * 5);
            assert_at_most(w.refused, 15);
            assert_contains(why(&w).text, "counted from one opening of its window to the next");
            end(&w);
        }
}

static void a_step_of_their_clock_does_no_harm(void **state)
{
    static const int64_t steps[] = {30 * S, -28 * S, 3600 * S};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        struct world w = told(1.0, i + 1);

        begin(&w, "");
        run_until(&w, 15 * MINUTE);
        w.clock_step_ns = steps[i];
        run_until(&w, 25 * MINUTE);
        assert_true(accepted_rate(&w, HOUR) >= 0.9 * 5);
        w.clock_step_ns = 0;
        run_until(&w, HOUR + 10 * MINUTE);
        assert_true(accepted_rate(&w, 2 * HOUR) >= 0.9 * 5);
        assert_at_most(w.refused, 40);
        end(&w);
    }
}

/* ---- demand ---- */

static void costs_are_counted_in_units(void **state)
{
    (void)state;
    for (int later = 0; later <= 1; later++)
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            struct world w = {.kind = BUCKET,
                              .rate = 50,
                              .burst = 100,
                              .workers = 40,
                              .cost_max = 20,
                              .settles = later == 1,
                              .seed = seed};

            tell_seed(later ? "cost later" : "cost", seed);
            begin(&w, "");
            run_until(&w, HOUR / 2);
            int64_t units = w.units;
            run_until(&w, HOUR);
            assert_true((double)(w.units - units) >= 0.88 * 50 * 1800);
            assert_at_most(w.refused, 45);
            end(&w);
        }
}

static void an_application_that_wants_little_gets_it(void **state)
{
    struct world w = {.kind = BUCKET, .rate = 5, .burst = 10, .every_ns = 500 * MS, .seed = 1};

    (void)state;
    begin(&w, "");
    run_until(&w, HOUR);
    assert_int_equal(w.refused, 0);
    assert_at_least(w.accepted, 7100); /* two a second */
    end(&w);
}

static void gaps_in_the_demand_do_not_mislead(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct world w = {.kind = BUCKET,
                          .rate = 5,
                          .burst = 50,
                          .workers = 40,
                          .seed = seed,
                          .on_ns = MINUTE,
                          .off_ns = 2 * MINUTE,
                          .jitter_ns = 6 * MS};

        tell_seed("gaps", seed);
        begin(&w, "");
        run_until(&w, 2 * HOUR);
        assert_close(limit_of(&w), 5.0, 1.0);
        assert_at_most(w.refused, 120);
        end(&w);
    }
}

static void after_idling_what_is_stored_may_leave_at_once(void **state)
{
    struct world w = {.kind = BUCKET, .rate = 5, .burst = 60, .workers = 64, .seed = 1};

    (void)state;
    begin(&w, "");
    run_until(&w, HOUR / 4);
    w.on_ns = 3 * S;
    w.off_ns = 297 * S;                /* 15 minutes are three of these */
    run_until(&w, HOUR / 4 + 598 * S); /* the first pause at a limit may be the last */
    int64_t sent = w.sent;
    int64_t refused = w.refused;
    run_until(&w, HOUR / 4 + 603 * S);
    assert_at_least(w.sent - sent, 25); /* and not 15 */
    assert_at_most(w.refused - refused, 2);
    end(&w);
}

/* ---- always ---- */

static void same_calls_same_answers(void **state)
{
    struct world a = {.kind = BUCKET,
                      .rate = 9,
                      .burst = 7,
                      .noise = 0.003,
                      .workers = 9,
                      .cost_max = 3,
                      .cancels = 7,
                      .missing = 0.1,
                      .seed = 5,
                      .dead_from_ns = 300 * S,
                      .dead_until_ns = 400 * S,
                      .jitter_ns = 9 * MS};
    struct world b = a;

    (void)state;
    begin(&a, "");
    begin(&b, "");
    for (int64_t t = S; t < 20 * MINUTE; t += S) {
        run_until(&a, t);
        run_until(&b, t);
        assert_int_equal(a.now_ns, b.now_ns);
        assert_true(fly_limiter_rate(a.l) == fly_limiter_rate(b.l));
        assert_string_equal(why(&a).text, why(&b).text);
    }
    assert_int_equal(a.sent, b.sent);
    end(&a);
    end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(begins_at_one_a_second_and_doubles),
        cmocka_unit_test(a_stated_rate_is_where_it_begins),
        cmocka_unit_test(a_ceiling_is_kept),
        cmocka_unit_test(a_floor_is_kept),
        cmocka_unit_test(the_first_cost_is_one_request_a_second),
        cmocka_unit_test(a_limit_that_stands_is_found_and_kept),
        cmocka_unit_test(a_share_of_503s_is_lived_with),
        cmocka_unit_test(the_pace_settles_under_the_limit),
        cmocka_unit_test(a_window_is_recognised),
        cmocka_unit_test(a_limit_that_falls_and_rises_is_followed),
        cmocka_unit_test(a_bound_on_what_is_in_flight_is_found_and_kept),
        cmocka_unit_test(noise_does_not_drive_the_limit_down),
        cmocka_unit_test(an_outage_is_waited_for_and_teaches_nothing),
        cmocka_unit_test(honest_headers_are_followed_to_the_last),
        cmocka_unit_test(headers_that_lie_do_little_harm),
        cmocka_unit_test(a_step_of_their_clock_does_no_harm),
        cmocka_unit_test(costs_are_counted_in_units),
        cmocka_unit_test(an_application_that_wants_little_gets_it),
        cmocka_unit_test(gaps_in_the_demand_do_not_mislead),
        cmocka_unit_test(after_idling_what_is_stored_may_leave_at_once),
        cmocka_unit_test(same_calls_same_answers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
