/* SPDX-License-Identifier: MIT */
/* Sentences in a caller's buffer: never too long, always terminated, numbers as people write. */
#include "unit.h"

#include <math.h>

#include "util/buffer.h"
#include "util/text.h"
#include "util/wrap.h"

static void empty_text_is_terminated(void **state)
{
    char buffer[4] = "xxx";
    struct text t;

    (void)state;
    fb_text_init(&t, buffer, sizeof(buffer));
    assert_string_equal(buffer, "");
    assert_int_equal(t.left, 3);
}

static void grows_until_full_and_stays_terminated(void **state)
{
    char buffer[8];
    struct text t;

    (void)state;
    memset(buffer, '#', sizeof(buffer));
    fb_text_init(&t, buffer, 6);
    fb_text_add(&t, "abc");
    assert_string_equal(buffer, "abc");
    fb_text_add_bytes(&t, "defgh", 2);
    assert_string_equal(buffer, "abcde");
    fb_text_add(&t, "f");
    fb_text_add(&t, "");
    assert_string_equal(buffer, "abcde");
    assert_memory_equal(buffer + 6, "##", 2);
}

static void one_byte_holds_the_empty_text(void **state)
{
    char buffer[1] = {'x'};
    struct text t;

    (void)state;
    fb_text_init(&t, buffer, 1);
    fb_text_add(&t, "abc");
    assert_int_equal(buffer[0], 0);
}

typedef void add_fn(struct text *t, const void *value);

static void add_int(struct text *t, const void *value)
{
    fb_text_add_int(t, *(const int64_t *)value);
}

static void add_number(struct text *t, const void *value)
{
    fb_text_add_number(t, *(const double *)value);
}

static void add_span(struct text *t, const void *value)
{
    fb_text_add_span(t, *(const int64_t *)value);
}

static void assert_says(add_fn *add, const void *value, const char *expected)
{
    char buffer[64];
    struct text t;

    fb_text_init(&t, buffer, sizeof(buffer));
    add(&t, value);
    assert_string_equal(buffer, expected);
}

static void whole_numbers(void **state)
{
    static const struct {
        int64_t value;
        const char *text;
    } rows[] = {
        {0, "0"},
        {7, "7"},
        {-1, "-1"},
        {1234567890, "1234567890"},
        {INT64_MAX, "9223372036854775807"},
        {INT64_MIN, "-9223372036854775808"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        assert_says(add_int, &rows[i].value, rows[i].text);
}

static void fixed_numbers(void **state)
{
    static const struct {
        double value;
        int digits;
        const char *text;
    } rows[] = {
        {0.0, 0, "0"},           {0.0, 2, "0.00"},
        {1.25, 1, "1.3"},        {1.24, 1, "1.2"},
        {-1.5, 1, "-1.5"},       {0.999, 2, "1.00"},
        {0.05, 2, "0.05"},       {650.4, 0, "650"},
        {1.0, 9, "1.000000000"}, {8.9e18, 0, "8900000000000000000"},
        {9e18, 0, "inf"},        {8.9e18, 1, "inf"},
        {-1e300, 3, "-inf"},     {(double)NAN, 1, "inf"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char buffer[64];
        struct text t;
        fb_text_init(&t, buffer, sizeof(buffer));
        fb_text_add_fixed(&t, rows[i].value, rows[i].digits);
        assert_string_equal(buffer, rows[i].text);
    }
}

static void numbers_have_about_three_digits(void **state)
{
    static const struct {
        double value;
        const char *text;
    } rows[] = {
        {0.0, "0"},
        {0.0123, "0.0123"},
        {0.1, "0.100"},
        {1.25, "1.25"},
        {17.3, "17.3"},
        {99.96, "100.0"},
        {650.0, "650"},
        {1234567.0, "1234567"},
        {0.00001, "0.0000100"},
        {1e-9, "0.000000001"},
        {-2.5, "-2.50"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        assert_says(add_number, &rows[i].value, rows[i].text);
}

static void spans_have_at_most_two_units(void **state)
{
    static const struct {
        int64_t value;
        const char *text;
    } rows[] = {
        {-5, "0 ms"},
        {INT64_MIN, "0 ms"},
        {0, "0 ms"},
        {1, "1 ms"}, /* something is never told as nothing */
        {350 * MS, "350 ms"},
        {S, "1.0 s"},
        {9940 * MS, "9.9 s"},
        {10 * S, "10 s"},
        {41 * S + 999 * MS, "41 s"},
        {60 * S, "1 min"},
        {61 * S, "1 min 1 s"},
        {3600 * S, "1 h"},
        {6000 * S, "1 h 40 min"},
        {86400 * S, "1 d"},
        {86400 * S + 3599 * S, "1 d"},
        {90000 * S, "1 d 1 h"},
        {INT64_MAX, "106751 d 23 h"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        assert_says(add_span, &rows[i].value, rows[i].text);
}

static void check_wrapped(const char *text, size_t column, size_t indent, const char *expected)
{
    struct buffer b = BUFFER_INIT;

    fb_wrap(&b, text, column, indent, 10);
    assert_string_equal(fb_buffer_text(&b), expected);
    fb_buffer_fini(&b);
}

static void lines_break_at_blanks(void **state)
{
    (void)state;
    check_wrapped("", 0, 0, "");
    check_wrapped("one two", 0, 2, "one two");
    check_wrapped("one two three", 0, 2, "one two\n  three");
    check_wrapped("one two", 5, 0, "one\ntwo");
    check_wrapped("a   b ccccccc", 0, 0, "a   b\nccccccc");
    check_wrapped("a longer-than-all b", 0, 1, "a\n longer-than-all\n b");
    check_wrapped("\xc3\xa4\xc3\xa4\xc3\xa4 1234 6", 0, 0, "\xc3\xa4\xc3\xa4\xc3\xa4 1234 6");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_break_at_blanks),
        cmocka_unit_test(empty_text_is_terminated),
        cmocka_unit_test(grows_until_full_and_stays_terminated),
        cmocka_unit_test(one_byte_holds_the_empty_text),
        cmocka_unit_test(whole_numbers),
        cmocka_unit_test(fixed_numbers),
        cmocka_unit_test(numbers_have_about_three_digits),
        cmocka_unit_test(spans_have_at_most_two_units),
    };

    return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
