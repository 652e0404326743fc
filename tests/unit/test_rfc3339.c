/* SPDX-License-Identifier: MIT */
/* Instants of RFC 3339, with what servers leave out of them. */
#include "exact.h"

#include "core/rng.h"
#include "signal/rfc3339.h"

static void instants(void **state)
{
    static const struct {
        const char *text;
        int64_t ns;
    } rows[] = {
        {"1970-01-01T00:00:00Z", 0},
        {"2025-06-23T10:26:53Z", 1750674413 * S},
        {"2016-08-12T15:30:00+00:00", 1471015800 * S},
        {"2016-08-12T17:30:00+02:00", 1471015800 * S},
        {"2016-08-12T10:00:00-05:30", 1471015800 * S},
        {"2016-08-12T15:30:00-00:00", 1471015800 * S},
        {"2024-07-01T14:32:28.645Z", 1719844348645 * MS},
        {"2021-05-10T14:30Z", 1620657000 * S},
        {"2021-05-10T14:30+02:00", 1620649800 * S},
        {"2021-05-10t14:30:00z", 1620657000 * S},
        {"2021-05-10 14:30:00Z", 1620657000 * S},
        {"1990-12-31T23:59:60Z", 662688000 * S},
        {"1990-12-31T15:59:60-08:00", 662688000 * S},
        {"1970-01-01T00:00:00.000000001Z", 1},
        {"1970-01-01T00:00:00.0000000001Z", 1}, /* rounded up */
        {"1970-01-01T00:00:00.999999999999Z", S},
        {"1969-12-31T23:59:59.5Z", -S / 2},
        {"1970-01-01T23:59:00+23:59", 0},
        {"2262-04-11T23:47:16.854775807Z", INT64_MAX},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        int64_t ns = -1;
        if (!fb_rfc3339_read(exact(rows[i].text), &ns) || ns != rows[i].ns)
            fail_msg("%s: %lld", rows[i].text, (long long)ns);
    }
}

static const char *const not_instants[] = {
    "",
    "now",
    "2025",
    "2025-06-23",
    "2025-06-23T",
    "2025-06-23TZ",
    "2025-06-23T1Z",
    "2025-06-23T10Z",
    "2025-06-23T10:Z",
    "2025-06-23T10:2Z",
    "2025-06-23T10",
    "2025-06-23T10:26",
    "2025-06-23T10:26:53",
    "2025-06-23T10:26:Z",
    "2025-06-23T10:26:53.Z",
    "2025-06-23T10:26:53.5",
    "2025-06-23T10:26.5Z",
    "2025-06-23T10:26:53,5Z",
    "2025-06-23T10:26:53ZZ",
    "2025-06-23T10:26:53Z ",
    " 2025-06-23T10:26:53Z",
    "2025-06-23T10:26:53 Z",
    "2025-06-23T10:26:53UTC",
    "2025-06-23T10:26:53+0200",
    "2025-06-23T10:26:53+02",
    "2025-06-23T10:26:53+02:0",
    "2025-06-23T10:26:53+2:00",
    "2025-06-23T10:26:53+02-00",
    "2025-06-23T10:26:53+24:00",
    "2025-06-23T10:26:53+00:60",
    "2025-06-23T10:26:53 +02:00",
    "2025-06-23_10:26:53Z",
    "2025/06/23T10:26:53Z",
    "2025-6-23T10:26:53Z",
    "2025-06-3T10:26:53Z",
    "2025-0623T10:26:53Z",
    "20250623T102653Z",
    "25-06-23T10:26:53Z",
    "+2025-06-23T10:26:53Z",
    "-2025-06-23T10:26:53Z",
    "12025-06-23T10:26:53Z",
    "2025-13-23T10:26:53Z",
    "2025-06-31T10:26:53Z",
    "2025-02-29T10:26:53Z",
    "2025-06-23T24:00:00Z",
    "2025-06-23T10:60:00Z",
    "2025-06-23T10:26:60Z",
    "2025-06-23T1:26:53Z",
    "2025-06-23T10:6:53Z",
    "2025-06-23T1026:53Z",
    "2025-06-23T10:26:5Z",
    "2025-W26-1T10:26:53Z",
    "9999-12-31T23:59:59Z",
    "0001-01-01T00:00:00Z",
    "2262-04-11T23:47:16.854775808Z",
    "1970-01-01T00:00:00.0000000000000000001Z",
};

static void refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(not_instants); i++) {
        int64_t ns = 42;
        if (fb_rfc3339_read(exact(not_instants[i]), &ns))
            fail_msg("%s", not_instants[i]);
        assert_int_equal(ns, 42);
    }
    int64_t ns = 42;
    assert_false(fb_rfc3339_read((struct slice){NULL, 0}, &ns));
    assert_false(fb_rfc3339_read((struct slice){"2021-05-10T14:30Z\0", 18}, &ns));
    assert_int_equal(ns, 42);
}

static void what_the_c_library_prints_is_read_back(void **state)
{
    struct rng r = {seed_of_run()};

    (void)state;
    for (int i = 0; i < 100000; i++) {
        int64_t s = (int64_t)(fb_rng_next(&r) % 9000000000u), ns = -1;
        int64_t part = (int64_t)(fb_rng_next(&r) % (uint64_t)S);
        int offset = (int)(fb_rng_next(&r) % 2879) - 1439; /* minutes */
        int minutes = offset < 0 ? -offset : offset;
        time_t local = (time_t)(s + offset * 60);
        struct tm tm;
        char date[32], text[64];

        assert_non_null(gmtime_r(&local, &tm));
        strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &tm);
        snprintf(text, sizeof text, "%s.%09lld%c%02d:%02d", date, (long long)part,
                 offset < 0 ? '-' : '+', minutes / 60, minutes % 60);
        if (!fb_rfc3339_read(exact(text), &ns) || ns != s * S + part)
            fail_msg("%s: %lld", text, (long long)ns);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instants),
        cmocka_unit_test(refused),
        cmocka_unit_test(what_the_c_library_prints_is_read_back),
    };

    return cmocka_run_group_tests_name("rfc3339", tests, NULL, NULL);
}
