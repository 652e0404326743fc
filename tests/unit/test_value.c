/* SPDX-License-Identifier: MIT */
/* Values of a limit text: read exactly and wholly, or refused for the right reason. */
#include "unit.h"

#include "core/spec.h"
#include "core/value.h"

#define DAY (86400 * S)

static void spans(void **state)
{
    static const struct {
        const char *text;
        int64_t ns;
    } rows[] = {
        {"s", S},
        {"1s", S},
        {"ms", MS},
        {"ns", 1},
        {"us", 1000},
        {"500ms", 500 * MS},
        {"1.5s", 1500 * MS},
        {"10m", 600 * S},
        {"min", 60 * S},
        {"2min", 120 * S},
        {"sec", S},
        {"1h", 3600 * S},
        {"hour", 3600 * S},
        {"1d", DAY},
        {"day", DAY},
        {"0.5h", 1800 * S},
        {"1.000000001s", S + 1},
        {"366d", 366 * DAY},
        {"007s", 7 * S},
        {"31622400s", 366 * DAY},
        {"0.000000001s", 1},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        int64_t ns = 0;
        assert_int_equal(fb_value_span(rows[i].text, &ns), VALUE_OK);
        assert_int_equal(ns, rows[i].ns);
    }
}

static void rates(void **state)
{
    static const struct {
        const char *text;
        int64_t permits;
        int64_t period_ns;
    } rows[] = {
        {"10/s", 10, S},
        {"0.1/s", 1, 10 * S},
        {"2.5/s", 25, 10 * S},
        {"5000/1h", 5000, 3600 * S},
        {"100/10s", 100, 10 * S},
        {"1/86400s", 1, DAY},
        {"1/366d", 1, 366 * DAY},
        {"1/1.5s", 1, 1500 * MS},
        {"1000000000/s", 1000000000, S},
        {"1/ns", 1, 1},
        {"86400000000000/d", 86400000000000, DAY}, /* 10^9 a second */
        {"0.0000001/s", 1, 10000000 * S},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct rate r = {0};
        assert_int_equal(fb_value_rate(rows[i].text, &r), VALUE_OK);
        assert_int_equal(r.permits, rows[i].permits);
        assert_int_equal(r.period_ns, rows[i].period_ns);
    }
}

static void counts(void **state)
{
    static const struct {
        const char *text;
        int64_t count;
    } rows[] = {{"1", 1}, {"10", 10}, {"0010", 10}, {"1000000000", 1000000000}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        int64_t count = 0;
        assert_int_equal(fb_value_count(rows[i].text, &count), VALUE_OK);
        assert_int_equal(count, rows[i].count);
    }
}

static void shares(void **state)
{
    static const struct {
        const char *text;
        int64_t ppm;
    } rows[] = {
        {"0%", 0},
        {"10%", 100000},
        {"2.5%", 25000},
        {"99%", 990000},
        {"0.0001%", 1},
        {"0.00001%", 1}, /* rounded up */
        {"99.99999%", 1000000},
        {"99.999999999%", 1000000},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        int64_t ppm = -1;
        assert_int_equal(fb_value_share(rows[i].text, &ppm), VALUE_OK);
        assert_int_equal(ppm, rows[i].ppm);
    }
}

struct refused {
    const char *text;
    enum value_error error;
};

static void refused_spans_leave_the_result_alone(void **state)
{
    static const struct refused rows[] = {
        {"", VALUE_MALFORMED},
        {"5", VALUE_MALFORMED},
        {"x", VALUE_MALFORMED},
        {"1 s", VALUE_MALFORMED},
        {"1S", VALUE_MALFORMED},
        {"1ss", VALUE_MALFORMED},
        {"1week", VALUE_MALFORMED},
        {".5s", VALUE_MALFORMED},
        {"5.s", VALUE_MALFORMED},
        {"1..5s", VALUE_MALFORMED},
        {"1.2.3s", VALUE_MALFORMED},
        {"1e3s", VALUE_MALFORMED},
        {"+1s", VALUE_MALFORMED},
        {"-1s", VALUE_NOT_POSITIVE},
        {"0s", VALUE_NOT_POSITIVE},
        {"0.0s", VALUE_NOT_POSITIVE},
        {"0.5ns", VALUE_TOO_LARGE}, /* too fine */
        {"1.0000000001s", VALUE_TOO_LARGE},
        {"367d", VALUE_TOO_LARGE},
        {"31622400.000000001s", VALUE_TOO_LARGE},
        {"999999999999999d", VALUE_TOO_LARGE},
        {"1000000000000000ns", VALUE_TOO_LARGE}, /* one digit more than is read */
        {"100000000000000.12s", VALUE_MALFORMED},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        int64_t ns = 42;
        if (fb_value_span(rows[i].text, &ns) != rows[i].error)
            fail_msg("%s", rows[i].text);
        assert_int_equal(ns, 42);
    }
}

static void refused_rates_leave_the_result_alone(void **state)
{
    static const struct refused rows[] = {
        {"", VALUE_MALFORMED},
        {"10", VALUE_MALFORMED},
        {"10/", VALUE_MALFORMED},
        {"/s", VALUE_MALFORMED},
        {"10s", VALUE_MALFORMED},
        {"10/5", VALUE_MALFORMED},
        {"10/x", VALUE_MALFORMED},
        {"10/s/s", VALUE_MALFORMED},
        {"10 /s", VALUE_MALFORMED},
        {"0x10/s", VALUE_MALFORMED},
        {"1,5/s", VALUE_MALFORMED},
        {"nan/s", VALUE_MALFORMED},
        {"inf/s", VALUE_MALFORMED},
        {"0/s", VALUE_NOT_POSITIVE},
        {"0.000/s", VALUE_NOT_POSITIVE},
        {"-3/s", VALUE_NOT_POSITIVE},
        {"3/-1s", VALUE_NOT_POSITIVE},
        {"3/0s", VALUE_NOT_POSITIVE},
        {"1000000001/s", VALUE_TOO_LARGE},
        {"2/ns", VALUE_TOO_LARGE},
        {"1/367d", VALUE_TOO_LARGE},
        {"0.1/366d", VALUE_TOO_LARGE},
        {"0.00000001/s", VALUE_TOO_LARGE},
        {"99999999999999999999/s", VALUE_TOO_LARGE},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct rate r = {42, 43};
        if (fb_value_rate(rows[i].text, &r) != rows[i].error)
            fail_msg("%s", rows[i].text);
        assert_int_equal(r.permits, 42);
        assert_int_equal(r.period_ns, 43);
    }
}

static void refused_counts_leave_the_result_alone(void **state)
{
    static const struct refused rows[] = {
        {"", VALUE_MALFORMED},           {"a", VALUE_MALFORMED},
        {"1a", VALUE_MALFORMED},         {"1.5", VALUE_MALFORMED},
        {"1.0", VALUE_MALFORMED},        {" 1", VALUE_MALFORMED},
        {"0", VALUE_NOT_POSITIVE},       {"-1", VALUE_NOT_POSITIVE},
        {"1000000001", VALUE_TOO_LARGE}, {"99999999999999999999999999", VALUE_TOO_LARGE},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        int64_t count = 42;
        if (fb_value_count(rows[i].text, &count) != rows[i].error)
            fail_msg("%s", rows[i].text);
        assert_int_equal(count, 42);
    }
}

static void refused_shares_leave_the_result_alone(void **state)
{
    static const struct refused rows[] = {
        {"", VALUE_MALFORMED},
        {"10", VALUE_MALFORMED},
        {"%", VALUE_MALFORMED},
        {"10%%", VALUE_MALFORMED},
        {"10 %", VALUE_MALFORMED},
        {"0.1", VALUE_MALFORMED},
        {"-1%", VALUE_NEGATIVE},
        {"100%", VALUE_TOO_LARGE},
        {"1000%", VALUE_TOO_LARGE},
        {"100.0%", VALUE_TOO_LARGE},
        {"0.0000000001%", VALUE_TOO_LARGE},
        {"999999999999999%", VALUE_TOO_LARGE},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        int64_t ppm = 42;
        if (fb_value_share(rows[i].text, &ppm) != rows[i].error)
            fail_msg("%s", rows[i].text);
        assert_int_equal(ppm, 42);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spans),
        cmocka_unit_test(rates),
        cmocka_unit_test(counts),
        cmocka_unit_test(shares),
        cmocka_unit_test(refused_spans_leave_the_result_alone),
        cmocka_unit_test(refused_rates_leave_the_result_alone),
        cmocka_unit_test(refused_counts_leave_the_result_alone),
        cmocka_unit_test(refused_shares_leave_the_result_alone),
    };

    return cmocka_run_group_tests_name("value", tests, NULL, NULL);
}
