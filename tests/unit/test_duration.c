/* SPDX-License-Identifier: MIT */
/* Spans as Go prints them: read exactly and wholly, or refused. */
#include "exact.h"

#include "core/rng.h"
#include "signal/duration.h"

static void spans(void **state)
{
    static const struct {
        const char *text;
        int64_t ns;
    } rows[] = {
        {"0s", 0},
        {"1s", S},
        {"1m", 60 * S},
        {"1h", 3600 * S},
        {"1d", 86400 * S},
        {"4ms", 4 * MS},
        {"120ms", 120 * MS},
        {"6m0s", 360 * S},
        {"1m13.588s", 73588 * MS},
        {"20m52.666s", 1252666 * MS},
        {"17.399999999s", 17399999999},
        {"1h0m0s", 3600 * S},
        {"2d3h4m5s6ms7us8ns", 183845006007008},
        {"1.5h", 5400 * S},
        {"0.5ms", MS / 2},
        {"1.5us", 1500},
        {"0.1ns", 1}, /* rounded up */
        {"1.0000000001s", S + 1},
        {"1.0000000000s", S},
        {"3\302\265s", 3000},
        {"3\316\274s", 3000},
        {"00090s", 90 * S},
        {"106751d", 106751 * (86400 * S)},
        {"9223372036854775807ns", INT64_MAX},
        {"9223372036s854775807ns", INT64_MAX},
        {"1h1ns", 3600 * S + 1},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        int64_t ns = -1;
        if (!fb_duration_read(exact(rows[i].text), &ns) || ns != rows[i].ns)
            fail_msg("%s: %lld", rows[i].text, (long long)ns);
    }
}

static const char *const not_spans[] = {
    "",
    " ",
    "s",
    "5",
    "0",
    "-1s",
    "+1s",
    "1 s",
    " 1s",
    "1s ",
    "1S",
    "1MS",
    "1fortnight",
    "1w",
    "1sec",
    "1min",
    "6m 0s",
    "6m0s; drop",
    "1s1m",
    "1s1s",
    "1ms1s",
    "1us1\302\265s",
    "1.5m30s",
    "1.s",
    ".5s",
    "1..5s",
    "1.5.5s",
    "1e3s",
    "0x1s",
    "1m-1s",
    "1m+1s",
    "s1",
    "1m2",
    "1m2.5",
    "1,5s",
    "\302\265s",
    "1\302s",
    "1\265s",
    "1\302\265",
    "inf",
    "99999999999h",
    "9223372036854775808ns",
    "106752d",
    "9223372036.854775808s",
    "9223372036s854775808ns",
    "1.0000000000000000001s",
    "9223372036854775807.1ns",
    "99999999999999999999s",
    "req_b176c7aa266e48aa8e",
    "PT5S",
    "00:00:05",
    "1d1d",
    "1h1h",
    "1m1.s",
};

static void refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(not_spans); i++) {
        int64_t ns = 42;
        if (fb_duration_read(exact(not_spans[i]), &ns))
            fail_msg("%s", not_spans[i]);
        assert_int_equal(ns, 42);
    }
    int64_t ns = 42;
    assert_false(fb_duration_read((struct slice){NULL, 0}, &ns));
    assert_false(fb_duration_read((struct slice){"1s\0", 3}, &ns));
    assert_int_equal(ns, 42);
}

/* As Go's Duration.String() does it, for spans from a second on. */
static void print_as_go(int64_t ns, char *text, size_t size)
{
    int64_t h = ns / (3600 * S), m = ns / (60 * S) % 60;
    int length = 0;

    if (h > 0)
        length += snprintf(text, size, "%lldh", (long long)h);
    if (h > 0 || m > 0)
        length += snprintf(text + length, size - (size_t)length, "%lldm", (long long)m);
    length += snprintf(text + length, size - (size_t)length, "%lld.%09lld",
                       (long long)(ns / S % 60), (long long)(ns % S));
    while (text[length - 1] == '0')
        length--;
    if (text[length - 1] == '.')
        length--;
    memcpy(text + length, "s", 2);
}

static void what_go_prints_is_read_back(void **state)
{
    struct rng r = {seed_of_run()};

    (void)state;
    for (int i = 0; i < 200000; i++) {
        char text[64];
        int64_t ns = 0, want = (int64_t)(fb_rng_next(&r) >> (1 + i % 33));
        /* Half of them without a fraction of a second, as most are. */
        want = i % 2 ? want : want / S * S;
        print_as_go(want, text, sizeof text);
        if (!fb_duration_read(exact(text), &ns) || ns != want)
            fail_msg("%s: %lld, not %lld", text, (long long)ns, (long long)want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spans),
        cmocka_unit_test(refused),
        cmocka_unit_test(what_go_prints_is_read_back),
    };

    return cmocka_run_group_tests_name("duration", tests, NULL, NULL);
}
