/* SPDX-License-Identifier: MIT */
/* Members of a value as words and back, each within the range that its row says. */
#include "unit.h"

#include <stdbool.h>

#include "core/field.h"
#include "core/instant.h"

struct sample {
    double wide;
    float narrow;
    int64_t at_ns;
    int64_t number;
    int32_t small;
    uint32_t positive[3];
    uint8_t tiny;
    bool flag;
    int64_t not_kept;
};

static const struct field fields[] = {
    FB_FIELD(struct sample, wide, FIELD_DOUBLE, -10, 10),
    FB_FIELD(struct sample, narrow, FIELD_FLOAT, 0, 2),
    FB_FIELD(struct sample, at_ns, FIELD_INSTANT, -100, 1000),
    FB_FIELD(struct sample, number, FIELD_INT64, -5, 5),
    FB_FIELD(struct sample, small, FIELD_INT32, -100, 100),
    {"positive", FIELD_UINT32, offsetof(struct sample, positive), 3, 0, UINT32_MAX},
    FB_FIELD(struct sample, tiny, FIELD_UINT8, 1, 200),
    FB_FIELD(struct sample, flag, FIELD_BOOL, 0, 1),
};

enum { ROWS = COUNT_OF(fields), WORDS = ROWS + 2 };

static const struct sample example = {
    .wide = -2.5,
    .narrow = 0.1f,
    .at_ns = 70 * S,
    .number = -4,
    .small = -99,
    .positive = {0, 7, UINT32_MAX},
    .tiny = 200,
    .flag = true,
    .not_kept = 3,
};

static void comes_back_as_it_was(void **state)
{
    uint64_t word[WORDS];
    struct sample x = {.not_kept = 9};

    (void)state;
    assert_int_equal(fb_fields_words(fields, ROWS), WORDS);
    fb_fields_write(fields, ROWS, &example, 100 * S, word);
    assert_null(fb_fields_read(fields, ROWS, word, 100 * S, 0, &x));
    assert_close(x.wide, -2.5, 0);
    assert_true(x.narrow == 0.1f);
    assert_int_equal(x.at_ns, 70 * S);
    assert_int_equal(x.number, -4);
    assert_int_equal(x.small, -99);
    assert_memory_equal(x.positive, example.positive, sizeof(x.positive));
    assert_int_equal(x.tiny, 200);
    assert_true(x.flag);
    assert_int_equal(x.not_kept, 9);
}

static void instants_are_ages(void **state)
{
    static const struct {
        int64_t at_ns;
        int64_t then_ns;
        int64_t now_ns;
        int64_t passed_ns;
        int64_t expected_ns;
    } rows[] = {
        {70, 100, 5000, 0, 4970},
        {70, 100, 5000, 1000, 3970},
        {170, 100, 5000, 0, 5070}, /* to come */
        {FB_LONG_AGO, 100, 5000, 1000, FB_LONG_AGO},
        {FB_LONG_AGO, FB_TIME_MAX, 0, 0, FB_LONG_AGO},
        {0, 0, -FB_TIME_MAX, FB_TIME_MAX, FB_LONG_AGO},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct sample x = {.at_ns = rows[i].at_ns};
        uint64_t word;
        fb_fields_write(&fields[2], 1, &x, rows[i].then_ns, &word);
        assert_null(fb_fields_read(&fields[2], 1, &word, rows[i].now_ns, rows[i].passed_ns, &x));
        assert_int_equal(x.at_ns, rows[i].expected_ns);
    }
}

/* Never is as late as a time can be. */
static void never_is_very_late(void **state)
{
    static const struct field any = FB_FIELD(struct sample, at_ns, FIELD_INSTANT, -4e9, 4e9);
    struct sample x = {.at_ns = FB_NEVER};
    uint64_t word;

    (void)state;
    fb_fields_write(&any, 1, &x, 0, &word);
    assert_null(fb_fields_read(&any, 1, &word, 0, 0, &x));
    assert_int_equal(x.at_ns, FB_TIME_MAX);
    x.at_ns = FB_NEVER;
    fb_fields_write(&fields[2], 1, &x, 0, &word);
    assert_string_equal(fb_fields_read(&fields[2], 1, &word, 0, 0, &x), "at_ns");
}

static uint64_t bits(double x)
{
    uint64_t word;

    memcpy(&word, &x, sizeof(word));
    return word;
}

static void each_range_is_kept(void **state)
{
    const struct {
        size_t word;
        uint64_t value;
        const char *fault; /* NULL: it is right */
    } rows[] = {
        {0, bits(10), NULL},
        {0, bits(10.1), "wide"},
        {0, bits(-10.1), "wide"},
        {0, bits(__builtin_nan("")), "wide"},
        {1, bits(-0.5), "narrow"},
        {1, bits(__builtin_inf()), "narrow"},
        {2, (uint64_t)(1000 * S), NULL},
        {2, (uint64_t)(1000 * S) + 1000, "at_ns"},
        {2, (uint64_t)(-101 * S), "at_ns"},
        {3, 6, "number"},
        {3, (uint64_t)-6, "number"},
        {4, 101, "small"},
        {5, UINT64_C(1) << 32, "positive"},
        {7, (uint64_t)-1, "positive"},
        {8, 0, "tiny"},
        {8, 201, "tiny"},
        {9, 2, "flag"},
    };
    struct sample x;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        uint64_t word[WORDS];
        fb_fields_write(fields, ROWS, &example, 100 * S, word);
        word[rows[i].word] = rows[i].value;
        const char *fault = fb_fields_read(fields, ROWS, word, 100 * S, 0, &x);
        if (rows[i].fault)
            assert_string_equal(fault, rows[i].fault);
        else
            assert_null(fault);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comes_back_as_it_was),
        cmocka_unit_test(instants_are_ages),
        cmocka_unit_test(never_is_very_late),
        cmocka_unit_test(each_range_is_kept),
    };

    return cmocka_run_group_tests_name("field", tests, NULL, NULL);
}
