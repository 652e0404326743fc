/* SPDX-License-Identifier: MIT */
/* Numbers that servers write: the whole text is one, or it is refused. */
#include "exact.h"

#include <errno.h>

#include "core/rng.h"
#include "signal/number.h"

static void whole_numbers(void **state)
{
    static const struct {
        const char *text;
        int64_t value;
    } rows[] = {
        {"0", 0},
        {"5000", 5000},
        {"007", 7},
        {"1700000060", 1700000060},
        {"9223372036854775807", INT64_MAX},
        {"00000000000000000000000000000000000000001", 1},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        int64_t value = -1;
        assert_true(fb_number_read(exact(rows[i].text), &value));
        assert_int_equal(value, rows[i].value);
    }
}

static void decimals(void **state)
{
    static const struct {
        const char *text;
        int64_t millionths;
    } rows[] = {
        {"0", 0},
        {"0.0", 0},
        {"2", 2000000},
        {"988.0", 988000000},
        {"0.0083", 8300},
        {"50.00", 50000000},
        {"1470173023.123", 1470173023123000},
        {"0.000001", 1},
        {"0.0000011", 2}, /* rounded up */
        {"0.000000000000000001", 1},
        {"1.999999999999999999", 2000000},
        {"9223372036854.775807", INT64_MAX},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        int64_t value = -1;
        assert_true(fb_decimal_read(exact(rows[i].text), &value));
        assert_int_equal(value, rows[i].millionths);
    }
}

/* No number by any reading. */
static const char *const junk[] = {
    "",
    " ",
    "-",
    "-1",
    "-0",
    "+1",
    " 1",
    "1 ",
    "1,000",
    "1_000",
    "0x10",
    "1e3",
    "1E3",
    "inf",
    "nan",
    "NaN",
    "∞",
    "٣",
    "\xA0"
    "30",
    "1.5s",
    "0b1",
    "1.",
    ".5",
    "1..2",
    ".",
    "1.2.",
    "1.-",
    "1. 5",
    "1.5e1",
    "--1",
    "1;w=10",
    "1\n",
    "12abc",
    "true",
    "0,5",
    "1/2",
    "1'0",
    "\t1",
    "-1.5",
    "+1.5",
};

static void junk_is_refused_and_leaves_the_result_alone(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(junk); i++) {
        int64_t value = 42;
        if (fb_number_read(exact(junk[i]), &value) || fb_decimal_read(exact(junk[i]), &value))
            fail_msg("%s", junk[i]);
        assert_int_equal(value, 42);
    }
}

static void a_nul_is_no_end(void **state)
{
    int64_t value = 42;

    (void)state;
    assert_false(fb_number_read((struct slice){"10\0", 3}, &value));
    assert_false(fb_number_read((struct slice){"1\0000", 3}, &value));
    assert_false(fb_number_read((struct slice){NULL, 0}, &value));
    assert_false(fb_decimal_read((struct slice){NULL, 0}, &value));
    assert_int_equal(value, 42);
}

static void what_is_too_large_is_refused(void **state)
{
    static const char *const whole[] = {
        "9223372036854775808",
        "18446744073709551616",
        "92233720368547758070",
        "99999999999999999999999999999999999999999999",
    };
    static const char *const decimal[] = {
        "9223372036855",         "9223372036854.775808",   "9223372036854.7758071",
        "9223372036854775808.0", "0.0000000000000000001", /* 19 digits after the point */
        "0.1000000000000000000", "0.99999999999999999999",
    };
    int64_t value = 42;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(whole); i++)
        assert_false(fb_number_read(exact(whole[i]), &value));
    for (size_t i = 0; i < COUNT_OF(decimal); i++)
        assert_false(fb_decimal_read(exact(decimal[i]), &value));
    assert_int_equal(value, 42);
}

static void so_many_digits_and_no_more(void **state)
{
    struct slice s = FB_SLICE("20261115");
    int64_t value = 0;

    (void)state;
    assert_true(fb_digits_exactly(&s, 4, &value));
    assert_int_equal(value, 2026);
    assert_int_equal(s.length, 4);
    assert_true(fb_digits_exactly(&s, 4, &value));
    assert_int_equal(value, 1115);
    assert_int_equal(s.length, 0);
    assert_false(fb_digits_take(&(struct slice){"9223372036854775808", 19}, &value));
    assert_int_equal(value, 1115);
    assert_false(fb_digits_exactly(&(struct slice){"1", 1}, 2, &value));
    assert_false(fb_digits_exactly(&(struct slice){"1x", 2}, 2, &value));
    assert_false(fb_digits_exactly(&(struct slice){"x1", 2}, 2, &value));
}

/* The same by the C library: only after it is sure that there are digits alone. */
static bool expected_number(const char *text, int64_t *ret_value)
{
    if (text[0] == '\0' || strspn(text, "0123456789") != strlen(text))
        return false;
    errno = 0;
    *ret_value = strtoll(text, NULL, 10);
    return errno == 0;
}

/* By the digits themselves: six after the point, one more when anything is left over. */
static bool expected_decimal(const char *text, int64_t *ret_value)
{
    char digits[64];
    size_t whole = strspn(text, "0123456789");
    const char *part = text[whole] == '.' ? text + whole + 1 : "0";
    size_t length = strlen(part), kept = length < 6 ? length : 6;

    if (whole == 0 || length == 0 || length > 18 || strspn(part, "0123456789") != length ||
        (part[0] == '0' && part[1] == 0 && text[whole] != '.' && text[whole] != 0))
        return false;
    snprintf(digits, sizeof digits, "%.*s%.*s%.*s", (int)whole, text, (int)kept, part,
             (int)(6 - kept), "000000");
    if (!expected_number(digits, ret_value))
        return false;
    bool more = length > 6 && strspn(part + 6, "0") != length - 6;
    return !more || !__builtin_add_overflow(*ret_value, 1, ret_value);
}

static void agrees_with_simpler_readers(void **state)
{
    static const char bytes[] = "0123456789012345678901234567890123456789.. -+xe";
    struct rng r = {seed_of_run()};

    (void)state;
    for (int i = 0; i < 300000; i++) {
        char text[32];
        size_t length = fb_rng_next(&r) % 26;
        for (size_t at = 0; at < length; at++)
            text[at] = bytes[fb_rng_next(&r) % (i % 2 ? 41 : sizeof(bytes) - 1)];
        text[length] = '\0';

        int64_t want = 0, got = 0;
        bool is = expected_number(text, &want);
        if (fb_number_read(exact(text), &got) != is || (is && got != want))
            fail_msg("number \"%s\"", text);
        is = expected_decimal(text, &want);
        if (fb_decimal_read(exact(text), &got) != is || (is && got != want))
            fail_msg("decimal \"%s\": %lld, not %lld", text, (long long)got, (long long)want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_numbers),
        cmocka_unit_test(decimals),
        cmocka_unit_test(junk_is_refused_and_leaves_the_result_alone),
        cmocka_unit_test(a_nul_is_no_end),
        cmocka_unit_test(what_is_too_large_is_refused),
        cmocka_unit_test(so_many_digits_and_no_more),
        cmocka_unit_test(agrees_with_simpler_readers),
    };

    return cmocka_run_group_tests_name("number", tests, NULL, NULL);
}
