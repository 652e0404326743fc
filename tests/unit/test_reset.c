/* SPDX-License-Identifier: MIT */
/* What a reset is: in seconds or milliseconds, from now or since 1970; and what two tell. */
#include "unit.h"

#include "signal_rig.h"

static int64_t reset_of(const struct fly_signal *s)
{
    return s->pool_count > 0 ? s->pool[0].reset_ns : FLY_ABSENT;
}

static void assert_reset(const struct fly_signal *s, int64_t reset_ms, const char *what)
{
    int64_t want_ns = reset_ms < 0 ? FLY_ABSENT : reset_ms * MS;

    if (reset_of(s) != want_ns)
        fail_msg("%s: %lld ms", what, (long long)(reset_of(s) / MS));
}

static void numbers_are_told_apart_by_size(void **state)
{
    static const struct {
        const char *value;
        int64_t reset_ms; /* -1: none */
    } rows[] = {
        {"0", 0},
        {"60", 60000},
        {"0.5", 500},
        {"2764800", 2764800000}, /* 32 days */
        {"2764801", -1},
        {"99999999", -1},
        {"100000000", -1},
        {"1700000060", 60000},
        {"1700000060.25", 60250},
        {"1699999990", 0},
        {"1699913600", 0}, /* a day ago */
        {"1699913599", -1},
        {"1702764800", 2764800000},
        {"1702764801", -1},
        {"1700000060000", 60000},
        {"1699999990000", 0},
        {"17000000600000", -1},
        {"1700000060000000", -1},
        {"600000", -1},        /* ten minutes in milliseconds, or a week in seconds? */
        {"604800", 604800000}, /* a week */
        {"90000", 90000000},   /* 25 hours */
        {"-60", -1},
        {"6m0s", 360000},
        {"800h", -1},
        {"2023-11-14T22:14:20Z", 60000},
        {"2023-11-14T22:13:00Z", 0},
        {"1680-01-01T00:00:00Z", 0},
        {"2024-11-14T22:14:20Z", -1},
        {"Tue, 14 Nov 2023 22:14:20 GMT", 60000},
        {"10, 12", 12000},
        {"soon", -1},
        {"", -1},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char text[128];
        snprintf(text, sizeof(text), "200\nx-ratelimit-limit: 9\nx-ratelimit-reset: %s\n\n",
                 rows[i].value);
        struct fly_signal s = signal_of(text);
        assert_reset(&s, rows[i].reset_ms, rows[i].value);
    }
}

/* The server's clock is what its instants are told in. */
static void instants_are_read_against_the_date(void **state)
{
    struct fly_signal s = signal_of("200\nDate: Tue, 14 Nov 2023 21:13:20 GMT\n"
                                    "x-ratelimit-reset: 1699996460\n\n");

    (void)state;
    assert_reset(&s, 60000, "an hour behind");
    s = signal_of("200\nx-ratelimit-reset: 1700000060\nDate: Fri, 01 Jan 1960 00:00:00 GMT\n\n");
    assert_reset(&s, 60000, "a date before all instants is none");
    s = signal_of("200\nx-ratelimit-reset: 1700000060\nDate: Fri, 01 Jan 2200 00:00:00 GMT\n\n");
    assert_reset(&s, 60000, "nor is one after");
    s = signal_of("200\nx-ratelimit-reset: 1700000060\nDate: today\n\n");
    assert_reset(&s, 60000, "nor is none at all");
}

static void spans_surely_from_now_win(void **state)
{
    struct fly_signal s =
        signal_of("200\nx-ratelimit-reset: 1700009999\nx-ratelimit-reset-after: 1.5\n\n");

    (void)state;
    assert_reset(&s, 1500, "reset-after");
    s = signal_of("200\nx-ratelimit-limit: 3\nx-ratelimit-reset-after: 9999999999\n\n");
    assert_reset(&s, -1, "too far");
    s = signal_of("200\nx-ratelimit-limit: 3\nx-ratelimit-reset-after: later\n\n");
    assert_reset(&s, -1, "no span");
    s = signal_of("200\nx-ratelimit-limit: 3\nx-ratelimit-reset-after-ms: 250\n\n");
    assert_reset(&s, 250, "in milliseconds");
    s = signal_of("200\nx-ratelimit-reset: 1700000050\nx-ratelimit-resettime: Tue, 14 Nov 2023 "
                  "22:14:20 GMT\n\n");
    assert_reset(&s, 60000, "the later of two instants");
}

/* ---- milliseconds ---- */

static void the_window_tells_the_unit(void **state)
{
    struct fly_signal s = signal_of("200\nx-ratelimit-limit-requests: 120\n"
                                    "x-ratelimit-reset-requests: 500\n"
                                    "x-ratelimit-renewalperiod-requests: 60\n"
                                    "x-ratelimit-limit-tokens: 120000\n"
                                    "x-ratelimit-reset-tokens: 7\n"
                                    "x-ratelimit-renewalperiod-tokens: 60\n\n");

    (void)state;
    assert_int_equal(s.pool[0].reset_ns, 500 * MS);
    assert_int_equal(s.pool[1].reset_ns, 7 * MS); /* the other pool proves it */
    s = signal_of("200\nx-ratelimit-reset: 500000\nx-ratelimit-period: 60\n\n");
    assert_reset(&s, -1, "too long in either unit");
    s = signal_of("200\nx-ratelimit-reset: 30000000\nx-ratelimit-period: 36000\n\n");
    assert_reset(&s, 30000000, "too long in seconds to be told at all");
    s = signal_of("200\nx-ratelimit-reset: 50\nx-ratelimit-period: 60\n\n");
    assert_reset(&s, 50000, "within its window");
    s = signal_of("200\nx-ratelimit-reset: 1700000060\nx-ratelimit-period: 60\n\n");
    assert_reset(&s, 60000, "an instant is no span");
}

static void a_preset_settles_it(void **state)
{
    static const struct {
        const char *preset;
        const char *value;
        int64_t reset_ms;
    } rows[] = {
        {"prisjakt", "600000", 600000},
        {"github", "1700000060", 60000},
        {"github", "60", -1},
        {"linear", "1700000060000", 60000},
        {"linear", "1700000060", -1},
        {"reddit", "375", 375000},
        {"reddit", "600000", 600000000},
        {"openai", "60", 60000},
        {"nobody", "60", 60000},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char text[128];
        struct fly_response about = {.now_ns = RIG_NOW, .preset = rows[i].preset};
        snprintf(text, sizeof(text), "200\nx-ratelimit-limit: 5\nx-ratelimit-reset: %s\n\n",
                 rows[i].value);
        struct fly_signal s = signal_about(about, text);
        assert_reset(&s, rows[i].reset_ms, rows[i].preset);
    }
}

/* ---- learning ---- */

/* Responses a few seconds apart, with these numbers. */
static uint32_t learned(const int64_t *seconds, const int64_t *numbers, size_t count)
{
    struct fly_reset_habit habit = {0};

    for (size_t i = 0; i < count; i++) {
        char text[128];
        struct fly_response about = {.now_ns = RIG_NOW + seconds[i] * S, .habit = &habit};
        snprintf(text, sizeof(text), "200\nx-ratelimit-limit: 9\nx-ratelimit-reset: %lld\n\n",
                 (long long)numbers[i]);
        (void)signal_about(about, text);
    }
    return habit.unit;
}

static void a_shrinking_number_tells_its_unit(void **state)
{
    static const int64_t at[] = {0, 5, 10};
    static const int64_t in_s[] = {600, 595, 590};
    static const int64_t in_ms[] = {583211, 578211, 573300};
    static const int64_t fixed[] = {60, 60, 60};
    static const int64_t turned[] = {3, 600, 595};
    static const int64_t jumps[] = {90000, 80000, 70000};
    static const int64_t mixed[] = {600, 595, 595};

    (void)state;
    assert_int_equal(learned(at, in_s, 3), FLY_RESET_SECONDS);
    assert_int_equal(learned(at, in_ms, 3), FLY_RESET_MILLISECONDS);
    assert_int_equal(learned(at, fixed, 3), FLY_RESET_FIXED);
    assert_int_equal(learned(at, turned, 3), FLY_RESET_UNKNOWN); /* one vote is none */
    assert_int_equal(learned(at, jumps, 3), FLY_RESET_MILLISECONDS);
    assert_int_equal(learned(at, mixed, 3), FLY_RESET_UNKNOWN);
}

static void what_proves_nothing_teaches_nothing(void **state)
{
    static const int64_t soon[] = {0, 1, 1};
    static const int64_t late[] = {0, 4000, 8000};
    static const int64_t back[] = {100, 50, 0};
    static const int64_t at[] = {0, 5, 10};
    static const int64_t numbers[] = {9000, 8999, 8998};
    static const int64_t little[] = {9000, 8999, 8998};
    static const int64_t epochs[] = {1700000060, 1700000060, 1700000060};
    static const int64_t wild[] = {50000000, 40000000, 30000000};

    (void)state;
    assert_int_equal(learned(soon, numbers, 3), FLY_RESET_UNKNOWN);
    assert_int_equal(learned(late, numbers, 3), FLY_RESET_UNKNOWN);
    assert_int_equal(learned(back, numbers, 3), FLY_RESET_UNKNOWN);
    assert_int_equal(learned(at, little, 3), FLY_RESET_UNKNOWN);
    assert_int_equal(learned(at, epochs, 3), FLY_RESET_UNKNOWN);
    assert_int_equal(learned(at, wild, 3), FLY_RESET_UNKNOWN);
}

static void pools_are_not_mixed_up(void **state)
{
    struct fly_reset_habit habit = {0};

    (void)state;
    for (int64_t i = 0; i < 4; i++) {
        struct fly_response about = {.now_ns = RIG_NOW + i * 5 * S, .habit = &habit};
        (void)signal_about(about, i % 2 == 0 ? "200\nx-ratelimit-a-reset: 60\n\n"
                                             : "200\nx-ratelimit-b-reset: 60\n\n");
    }
    assert_int_equal(habit.unit, FLY_RESET_UNKNOWN);
}

static void what_was_learned_is_used(void **state)
{
    static const char text[] = "200\nx-ratelimit-limit: 9\nx-ratelimit-reset: 600000\n\n";
    struct fly_reset_habit habit = {.unit = FLY_RESET_MILLISECONDS};
    struct fly_response about = {.now_ns = RIG_NOW, .habit = &habit};
    struct fly_signal s = signal_about(about, text);

    (void)state;
    assert_reset(&s, 600000, "learned: milliseconds");
    habit = (struct fly_reset_habit){.unit = FLY_RESET_SECONDS};
    s = signal_about(about, text);
    assert_reset(&s, 600000000, "learned: seconds");
    (void)signal_about(about, "200\nx-ratelimit-limit: 9\n\n"); /* tells nothing */
    habit = (struct fly_reset_habit){.unit = FLY_RESET_FIXED};
    s = signal_about(about, text);
    assert_reset(&s, -1, "in doubt as before");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_told_apart_by_size),
        cmocka_unit_test(instants_are_read_against_the_date),
        cmocka_unit_test(spans_surely_from_now_win),
        cmocka_unit_test(the_window_tells_the_unit),
        cmocka_unit_test(a_preset_settles_it),
        cmocka_unit_test(a_shrinking_number_tells_its_unit),
        cmocka_unit_test(what_proves_nothing_teaches_nothing),
        cmocka_unit_test(pools_are_not_mixed_up),
        cmocka_unit_test(what_was_learned_is_used),
    };

    return cmocka_run_group_tests_name("reset", tests, NULL, NULL);
}
