/* SPDX-License-Identifier: MIT */
/* Dates in HTTP: the three forms, whatever else looks like them, and two-digit years. */
#include "exact.h"

#include <regex.h>

#include "core/rng.h"
#include "signal/httpdate.h"

#define NOW (INT64_C(1700000000) * S) /* 14 November 2023, 22:13:20 */

static void the_three_forms(void **state)
{
    static const struct {
        const char *text;
        int64_t epoch_s;
    } rows[] = {
        {"Sun, 06 Nov 1994 08:49:37 GMT", 784111777},
        {"Sunday, 06-Nov-94 08:49:37 GMT", 784111777},
        {"Sun Nov  6 08:49:37 1994", 784111777},
        {"Sun Nov 06 08:49:37 1994", 784111777},
        {"Tue Nov 15 08:12:31 1994", 784887151},
        {"Thu, 01 Jan 1970 00:00:00 GMT", 0},
        {"Wed, 20 Feb 2018 11:32:00 GMT", 1519126320}, /* it was a Tuesday */
        {"Thu, 29 Feb 2024 23:59:59 GMT", 1709251199},
        {"Sat, 31 Dec 2016 23:59:60 GMT", 1483228800}, /* a leap second */
        {"Fri, 11 Apr 2262 23:47:16 GMT", 9223372036},
        {"Tue, 21 Sep 1677 00:12:44 GMT", -9223372036},
        {"Wednesday, 14-Nov-73 22:13:20 GMT", 3277923200}, /* in 50 years, to the second */
        {"Wednesday, 14-Nov-73 22:13:21 GMT", 122163201},  /* a second more: 1973 */
        {"Thursday, 01-Jan-70 00:00:00 GMT", 3155760000},
        {"Friday, 31-Dec-99 23:59:59 GMT", 946684799},
        {"Saturday, 01-Jan-00 00:00:00 GMT", 946684800},
        {"Tuesday, 31-Dec-74 23:59:59 GMT", 157766399},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        int64_t ns = -1;
        if (!fb_httpdate_read(exact(rows[i].text), NOW, &ns) || ns != rows[i].epoch_s * S)
            fail_msg("%s: %lld", rows[i].text, (long long)(ns / S));
    }
}

static void malformed(void **state)
{
    static const char *const rows[] = {
        "",
        "later",
        "30",
        "Tue, 14 Nov 2023 25:61:61 GMT",
        "Tue, 14 Nov 2023 22:14:20 PST",
        "Tue, 14 Nov 2023 22:14:20 UTC",
        "Tue, 14 Nov 2023 22:14:20 +0000",
        "Tue, 14 Nov 2023 22:14:20",
        "Tue, 14 Nov 2023 22:14:20 GMT ",
        " Tue, 14 Nov 2023 22:14:20 GMT",
        "Tue, 14 Nov 2023 22:14:20 gmt",
        "tue, 14 nov 2023 22:14:20 GMT",
        "TUE, 14 NOV 2023 22:14:20 GMT",
        "Tue, 14 Nov 23 22:14:20 GMT",
        "Tue, 14-Nov-2023 22:14:20 GMT",
        "Tue, 14-Nov-23 22:14:20 GMT", /* the long weekday belongs to this form */
        "Tuesday, 14 Nov 2023 22:14:20 GMT",
        "14 Nov 2023 22:14:20 GMT",
        "Tue 14 Nov 2023 22:14:20 GMT",
        "Tue,14 Nov 2023 22:14:20 GMT",
        "Tue,  14 Nov 2023 22:14:20 GMT",
        "Foo, 14 Nov 2023 22:14:20 GMT",
        "Tue, 4 Nov 2023 22:14:20 GMT",
        "Tue, 00 Nov 2023 22:14:20 GMT",
        "Tue, 31 Nov 2023 22:14:20 GMT",
        "Wed, 29 Feb 2023 22:14:20 GMT",
        "Tue, 14 Nova 2023 22:14:20 GMT",
        "Tue, 14 11 2023 22:14:20 GMT",
        "Tue, 14 Nov 2023 2:14:20 GMT",
        "Tue, 14 Nov 2023 22:14 GMT",
        "Tue, 14 Nov 2023 22:14:20.5 GMT",
        "Tue, 14 Nov 2023 24:00:00 GMT",
        "Tue, 14 Nov 2023 22:60:00 GMT",
        "Tue, 14 Nov 2023 22:14:60 GMT",
        "Tue, 14 Nov 2023 23:59:61 GMT",
        "Tue, 14 Nov -023 22:14:20 GMT",
        "Tue, 14 Nov 0x23 22:14:20 GMT",
        "Tue, 14 Nov 9999 22:14:20 GMT",
        "Mon, 01 Jan 0001 00:00:00 GMT",
        "Tue Nov 14 22:14:20 2023 GMT",
        "Tue Nov 14 22:14:20 23",
        "Tue Nov 4 22:14:20 2023",
        "Tue Nov   4 22:14:20 2023",
        "Tue Nov  14 22:14:20 2023",
        "Tue Nov  0 22:14:20 2023",
        "Tuesday Nov 14 22:14:20 2023",
        "Tuesday, 29-Feb-23 22:14:20 GMT",
        "Tuesday, 14-Nov-2023 22:14:20 GMT",
        "Tuesday, 14-Nov-x3 22:14:20 GMT",
        "Tuesday, 14 Nov 23 22:14:20 GMT",
        "Tuesday 14-Nov-23 22:14:20 GMT",
        "2023-11-14T22:14:20Z",
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        int64_t ns = 42;
        if (fb_httpdate_read(exact(rows[i]), NOW, &ns))
            fail_msg("%s", rows[i]);
        assert_int_equal(ns, 42);
    }
    int64_t ns = 42;
    assert_false(fb_httpdate_read((struct slice){NULL, 0}, NOW, &ns));
    assert_false(fb_httpdate_read((struct slice){"Sun Nov  6 08:49:37 1994\0", 25}, NOW, &ns));
    assert_int_equal(ns, 42);
}

enum { IMF, RFC850, ASCTIME, FORMS };

static void print_date(int form, const struct tm *tm, char *text, size_t size)
{
    char day[32], clock[32];

    strftime(clock, sizeof clock, "%H:%M:%S", tm);
    strftime(day, sizeof day,
             form == IMF      ? "%a, %d %b %Y"
             : form == RFC850 ? "%A, %d-%b-"
                              : "%a %b %e",
             tm);
    if (form == ASCTIME)
        snprintf(text, size, "%s %s %d", day, clock, tm->tm_year + 1900);
    else if (form == RFC850)
        snprintf(text, size, "%s%02d %s GMT", day, tm->tm_year % 100, clock);
    else
        snprintf(text, size, "%s %s GMT", day, clock);
}

/* Any instant of the years around now, printed by the C library in each form. */
static void what_the_c_library_prints_is_read_back(void **state)
{
    struct rng r = {seed_of_run()};

    (void)state;
    for (int i = 0; i < 100000; i++) {
        int form = i % FORMS;
        int64_t now_s = (int64_t)(fb_rng_next(&r) % 6000000000u);
        int64_t most = form == RFC850 ? 1577700000 : 2000000000; /* just below 50 years */
        time_t then = (time_t)(now_s + most - (int64_t)(fb_rng_next(&r) % (uint64_t)(2 * most)));
        struct tm tm;
        char text[64];
        int64_t ns = -1;

        assert_non_null(gmtime_r(&then, &tm));
        print_date(form, &tm, text, sizeof text);
        if (!fb_httpdate_read(exact(text), now_s * S, &ns) || ns != (int64_t)then * S)
            fail_msg("%s at %lld: %lld", text, (long long)now_s, (long long)(ns / S));
    }
}

/* Two-digit years by trying every century: the latest that is not too far ahead. */
static void two_digit_years_by_trial(void **state)
{
    struct rng r = {seed_of_run()};

    (void)state;
    for (int i = 0; i < 20000; i++) {
        int64_t now_s = (int64_t)(fb_rng_next(&r) % 6000000000u), want = INT64_MIN, ns = 0;
        time_t now = (time_t)now_s, drawn = (time_t)(fb_rng_next(&r) % 6000000000u);
        struct tm limit, tm;
        char text[64];

        assert_non_null(gmtime_r(&now, &limit));
        limit.tm_year += 50;
        assert_non_null(gmtime_r(&drawn, &tm));
        if (tm.tm_mon == 1 && tm.tm_mday == 29)
            continue; /* not there in every century */
        print_date(RFC850, &tm, text, sizeof text);
        for (tm.tm_year = tm.tm_year % 100 - 200; tm.tm_year < 360; tm.tm_year += 100) {
            struct tm copy = tm;
            int64_t s = (int64_t)timegm(&copy);
            if (s > want && s <= (int64_t)timegm(&limit))
                want = s;
        }
        assert_true(fb_httpdate_read(exact(text), now_s * S, &ns));
        if (ns / S != want)
            fail_msg("%s at %lld: %lld", text, (long long)now_s, (long long)(ns / S));
    }
}

#define DAY2        "(0[1-9]|[12][0-9]|3[01])"
#define DAYE        "( [1-9]|0[1-9]|[12][0-9]|3[01])"
#define MONTH       "(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
#define CLOCK       "([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]"
#define SHORT       "(Sun|Mon|Tue|Wed|Thu|Fri|Sat)"
#define LONG        "(Sunday|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday)"
#define LEAP        "23:59:60"
#define TIME        "(" CLOCK "|" LEAP ")"
#define YEAR        "(167[89]|16[89][0-9]|1[7-9][0-9]{2}|2[01][0-9]{2}|22[0-5][0-9]|226[01])"
#define IMF_DATE    SHORT ", " DAY2 " " MONTH " " YEAR " " TIME " GMT"
#define RFC850_DATE LONG ", " DAY2 "-" MONTH "-[0-9][0-9] " TIME " GMT"
#define ASC_DATE    SHORT " " MONTH " " DAYE " " TIME " " YEAR
#define SYNTAX      "^(" IMF_DATE "|" RFC850_DATE "|" ASC_DATE ")$"

/* Every single byte of a right date replaced by every other: right only where the RFC's grammar
 * is. The dates are of a month of 31 days, in years far from both ends. */
static void one_wrong_byte(void **state)
{
    static const char *const rows[] = {
        "Sun, 06 Mar 1994 08:49:37 GMT",
        "Sunday, 06-May-94 08:49:37 GMT",
        "Sun Jan  6 08:49:37 1994",
        "Sun Aug 16 23:59:59 1994",
    };
    regex_t syntax;

    (void)state;
    assert_int_equal(regcomp(&syntax, SYNTAX, REG_EXTENDED | REG_NOSUB), 0);
    for (size_t row = 0; row < COUNT_OF(rows); row++) {
        for (size_t at = 0; at < strlen(rows[row]); at++) {
            for (int byte = 1; byte < 256; byte++) {
                char text[64];
                int64_t ns;
                snprintf(text, sizeof text, "%s", rows[row]);
                text[at] = (char)byte;
                bool want = regexec(&syntax, text, 0, NULL, 0) == 0;
                if (fb_httpdate_read(exact(text), NOW, &ns) != want)
                    fail_msg("%s", text);
            }
        }
    }
    regfree(&syntax);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_three_forms),
        cmocka_unit_test(malformed),
        cmocka_unit_test(what_the_c_library_prints_is_read_back),
        cmocka_unit_test(two_digit_years_by_trial),
        cmocka_unit_test(one_wrong_byte),
    };

    return cmocka_run_group_tests_name("httpdate", tests, NULL, NULL);
}
