/* SPDX-License-Identifier: MIT */
/* Names of headers: which are about limits, what they say, and whose pool it is. */
#include "unit.h"

#include "signal/name.h"
#include "signal/reading.h"
#include "signal/tell.h"
#include "signal_rig.h"

static void words_say_what_a_value_is(void **state)
{
    static const struct pools_row rows[] = {
        {"200\nX-RateLimit-Limit: 5\n\n", ":5,-,-,-,- "},
        {"200\nx_rate_limit_remaining: 5\n\n", ":-,5,-,-,- "},
        {"200\nHTTP_X_RATELIMIT_LIMIT: 5\n\n", ":5,-,-,-,- "},
        {"200\nx--ratelimit--limit-: 5\n\n", ":5,-,-,-,- "},
        {"200\nX-RateLimit-Quota: 5\n\n", ":5,-,-,-,- "},
        {"200\nX-Quota-Max: 5\n\n", ":5,-,-,-,- "},
        {"200\nX-RateLimit-Count: 5\n\n", ":-,-,5,-,- "},
        {"200\nX-Throttle-Limit: 5\n\n", ":5,-,-,-,- "},
        {"200\nX-RateLimit-ResetIn: 5\n\n", ":-,-,-,-,5000 "},
        {"200\nacme-limit-info: api-usage=18/5000\n\n", "api-usage:5000,-,18,-,- "},
        {"200\nX-RateLimit-Used-Percent: 5\n\n", ""},
        {"200\nX-Reset: a=18/5000\n\n", ""},
        {"200\nX-RateLimit-Next: 2s\n\n", ":-,-,-,-,2000 "},
        {"200\nX-RateLimit-Limit: 5\nX-RateLimit-Window: 1m\n\n", ":5,-,-,60000,- "},
        {"200\nX-RateLimit-Limit: 5\nX-RateLimit-Window-Ms: 500\n\n", ":5,-,-,500,- "},
        {"200\nX-RateLimit-Limit: 5\nX-RateLimit-Window: 0\n\n", ":5,-,-,-,- "},
        {"200\nX-RateLimit-Limit: 5\nX-RateLimit-Window: 33d\n\n", ":5,-,-,-,- "},
        {"200\nX-RateLimit-Limit: 5\nX-RateLimit-Window: wide\n\n", ":5,-,-,-,- "},
        {"200\nX-RateLimit-Limit: 5\nX-RateLimit-Rate: 2\n\n", ":5,-,-,-,-+2000000 "},
        {"200\nX-RateLimit-Limit: 5\nX-RateLimit-Fill-Rate: 0\n\n", ":5,-,-,-,- "},
        {"200\nX-RateLimit-Limit: 5\nX-RateLimit-Fill-Rate: fast\n\n", ":5,-,-,-,- "},
        {"200\nX-RateLimit-Fill: 10\nX-RateLimit-Interval: 4s\n\n", ":-,-,-,4000,-+2500000 "},
    };

    (void)state;
    assert_pools(rows, COUNT_OF(rows));
}

static void other_headers_are_left_alone(void **state)
{
    static const struct pools_row rows[] = {
        {"200\nX-Request-Count: 5\n\n", ""},
        {"200\nX-Total-Requests: 5\n\n", ""},
        {"200\nX-Page-Limit: 5\n\n", ""},
        {"200\nX-Limit: 5\n\n", ""},
        {"200\nLimit: 5\n\n", ""},
        {"200\nResult: 5\n\n", ""},
        {"200\nX-RateLimit-Cost: 5\n\n", ""},
        {"200\nX-RateLimit-Id: 5\n\n", ""},
        {"200\nX-Requests-Daily: 5\n\n", ""},
        {"200\nX-Response-Requests-Daily: 5\n\n", ""},
        {"200\nx-ratelimit-\x7flimit: 5\n\n", ""},
        {"200\nX-Response-Period: 5\n\n", ""},
        {"200\nX-Rate-Reset: 5\n\n", ""},
        {"200\nX-Retry: 5\n\n", ""},
        {"200\nX-Concurrent-Used: 5\n\n", ""},
        {"200\nX-Concurrent-Resets: 5\n\n", ""},
        {"200\nx-ratelimit limit: 5\n\n", ""},
        {"200\nx-ratelimit-l\xc3\xadmit: 5\n\n", ""},
        {"200\nX-Limit-a-b-c-d-e-f-g-h-i-j-k-l-m-n-o-daily: 5\n\n", ""},
        {"200\nX-Limit-a-b-c-d-e-f-g-h-i-j-k-l-daily: 5\n\n", ""},
        {"200\n: 5\n\n", ""},
        {"200\nx-: 5\n\n", ""},
        {"200\nx-ratelimit-limit-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
         "aaaaaaaaaaaaaaa: 5\n\n",
         ""},
    };

    (void)state;
    assert_pools(rows, COUNT_OF(rows));
}

static void the_rest_is_the_name(void **state)
{
    static const struct pools_row rows[] = {
        {"200\nX-RateLimit-Limit-Tokens: 5\n\n", "tokens:5,-,-,-,- "},
        {"200\nX_RATELIMIT_LIMIT_TOKENS: 5\n\n", "tokens:5,-,-,-,- "},
        {"200\nA-RateLimit-Limit-Tokens: 5\n\n", "tokens:5,-,-,-,- "},
        {"200\nX-RateLimit-Tokens-Limit: 5\n\n", "tokens:5,-,-,-,- "},
        {"200\nX-User-RateLimit-Limit: 5\n\n", "user:5,-,-,-,- "},
        {"200\nX-ReadRateLimit-Limit: 5\n\n", "read:5,-,-,-,- "},
        {"200\nX-Daily-Rate-Limit-Limit: 5\n\n", "daily:5,-,-,86400000,- "},
        {"200\nX-RateLimit-Limit-Bucket-Uploads: 5\n\n", "bucket-uploads:5,-,-,-,- "},
        {"200\nX-Calls-Left: 5\n\n", ":-,5,-,-,- "},
        {"200\nX-Requests-Left: 5\n\n", "requests:-,5,-,-,- "},
        {"200\nX-Interesting-Calls-Left: 5\n\n", "interesting:-,5,-,-,- "},
        {"200\nX-Rate-Limits-Left: 5\n\n", ":-,5,-,-,- "},
        {"200\nX-Bucket-Calls-Left: 5\n\n", "bucket:-,5,-,-,- "},
        {"200\nX-RateLimit-Limit-Global-Search: 5\n\n", "global-search:5,-,-,-,- "},
        {"200\nX-RateLimit-Limit-v2: 5\n\n", "v2:5,-,-,-,- "},
        {"200\nX-RateLimit-Limit-2: 5\n\n", "2:5,-,-,-,- "},
        {"200\nX-RateLimit-Limit-Superratelimits: 5\n\n", "superratelimits:5,-,-,-,- "},
    };

    (void)state;
    assert_pools(rows, COUNT_OF(rows));
}

static void names_tell_windows(void **state)
{
    static const struct pools_row rows[] = {
        {"200\nX-RateLimit-Limit-10-Second: 5\n\n", "10-second:5,-,-,10000,- "},
        {"200\nX-RateLimit-Limit-15min: 5\n\n", "15min:5,-,-,900000,- "},
        {"200\nX-RateLimit-Limit-1h: 5\n\n", "1h:5,-,-,3600000,- "},
        {"200\nX-RateLimit-Limit-1d: 5\n\n", "1d:5,-,-,86400000,- "},
        {"200\nX-RateLimit-Limit-24hour: 5\n\n", "24hour:5,-,-,86400000,- "},
        {"200\nX-RateLimit-Limit-3x: 5\n\n", "3x:5,-,-,-,- "},
        {"200\nX-RateLimit-Limit-99999999999999999999m: 5\n\n", "99999999999999999999m:5,-,-,-,- "},
        {"200\nX-RateLimit-Limit-9999999999d: 5\n\n", "9999999999d:5,-,-,-,- "},
        {"200\nX-RateLimit-Limit-0s: 5\n\n", "0s:5,-,-,-,- "},
        {"200\nX-RateLimit-Limit-Monthly: 5\n\n", "monthly:5,-,-,-,- "},
        {"200\nX-RateLimit-Daily: 5\n\n", "daily:5,-,-,86400000,- "},
        {"200\nX-Limit-Per-Second: 5\nX-Remaining-This-Second: 4\n\n", "second:5,4,-,1000,- "},
        {"200\nX-Limit-Per-Day: 5\nX-Remaining-Today: 4\n\n", "day:5,4,-,86400000,- "},
        {"200\nDaily-Limit: 5\n\n", "daily:5,-,-,86400000,- "},
        {"200\nMonthly-Limit: 5\n\n", "monthly:5,-,-,-,- "},
        {"200\nX-RateLimit-Limit-Tokens-Per-Minute: 5\n\n", "tokens-minute:5,-,-,60000,- "},
    };

    (void)state;
    assert_pools(rows, COUNT_OF(rows));
}

/* A limit with a point is a rate where nothing is counted beside it. */
static void rates_are_no_counts(void **state)
{
    static const struct pools_row rows[] = {
        {"200\nX-RateLimit-Limit: 0.0083\n\n", ":-,-,-,-,-+8300 "},
        {"200\nX-RateLimit-Limit: 0.0\n\n", ""},
        {"200\nX-RateLimit-Limit: 5.5\nX-RateLimit-Remaining: 2\n\n", ":5,2,-,-,- "},
        {"200\nX-RateLimit-Limit: 5.5\nX-RateLimit-Used: 2\n\n", ":5,-,2,-,- "},
        {"200\nX-RateLimit-Limit: 5.5\nX-RateLimit-Reset: 2\n\n", ":5,-,-,-,2000 "},
        {"200\nX-RateLimit-Limit: 7.5\nX-RateLimit-Interval: 5s\n\n", ":-,-,-,5000,-+1500000 "},
        {"200\nX-RateLimit-Limit-Per-Second: 50.00\nX-RateLimit-Limit: 100\n\n",
         ":100,-,-,-,-+50000000 "},
        {"200\nX-RateLimit-Limit-Per-Second: 50.00\nX-RateLimit-Limit: 2.5\n\n",
         ":-,-,-,-,-+50000000 "},
        {"200\nX-RateLimit-Limit-Per-Second-Objects: 2.5\n\n", "objects:-,-,-,-,-+2500000 "},
        {"200\nX-RateLimit-Limit-Per-Second: 0.00\n\n", ""},
        {"200\nX-RateLimit-Limit-Per-Second: fast\n\n", ""},
        {"200\nX-RateLimit-Limit-Per-Month: 2.5\n\n", "month:-,-,-,-,-+2500000 "},
        {"200\nX-RateLimit-Fill: 9000000000000\nX-RateLimit-Window-Ms: 0.000001\n\n",
         ":-,-,-,0,-+9223372036854775807 "},
    };

    (void)state;
    assert_pools(rows, COUNT_OF(rows));
}

/* Who tells a limit is not whose it is, unless two would be confused. */
static void vendors_keep_pools_apart_only_where_they_must(void **state)
{
    static const struct pools_row rows[] = {
        {"200\nAcme-RateLimit-Limit: 5\nAcme-RateLimit-Daily: 9\n\n",
         ":5,-,-,-,- daily:9,-,-,86400000,- "},
        {"200\nAcme-RateLimit-Limit: 5\nRateLimit-Limit: 9\n\n", "acme:5,-,-,-,- :9,-,-,-,- "},
        {"200\nAcme-RateLimit-Limit: 5\nEcma-RateLimit-Limit: 9\n\n",
         "acme:5,-,-,-,- ecma:9,-,-,-,- "},
        {"200\nAcme-User-RateLimit-Limit: 5\n\n", "user:5,-,-,-,- "},
    };

    (void)state;
    assert_pools(rows, COUNT_OF(rows));
}

static void titles_name_the_pool_without_a_name(void **state)
{
    static const struct pools_row rows[] = {
        {"200\nX-RateLimit-Limit: 5\nX-RateLimit-Resource: core\n\n", "core:5,-,-,-,- "},
        {"200\nX-RateLimit-Bucket: abc\nX-RateLimit-Limit: 5\n\n", "abc:5,-,-,-,- "},
        {"200\nX-RateLimit-Resource: core\n\n", ""},
        {"200\nX-RateLimit-Limit: 5\nX-RateLimit-Resource: \n\n", ":5,-,-,-,- "},
        {"200\nX-RateLimit-Limit: 5\nX-RateLimit-Resource: a b\n\n", ":5,-,-,-,- "},
        {"200\nX-RateLimit-Limit: 5\nX-RateLimit-Resource: \xc3\xa9\n\n", ":5,-,-,-,- "},
        {"200\nX-RateLimit-Limit: 5\nX-RateLimit-Limit-core: 6\nX-RateLimit-Resource: core\n\n",
         ":5,-,-,-,- core:6,-,-,-,- "},
        {"200\nX-RateLimit-Limit: 5\nX-RateLimit-Resource: "
         "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n\n",
         ":5,-,-,-,- "},
        {"200\nX-RateLimit-Limit: 5\nX-RateLimit-Resource: \x7f\n\n", ":5,-,-,-,- "},
    };

    (void)state;
    assert_pools(rows, COUNT_OF(rows));
}

/* The names that are known by heart are read as the rules would read them. */
static void common_names_follow_the_rules(void **state)
{
    static const char *const front[] = {"x-ratelimit-", "x-rate-limit-", "ratelimit-"};
    static const struct {
        const char *end;
        enum role role;
    } rows[] = {{"limit", ROLE_LIMIT}, {"remaining", ROLE_REMAINING}, {"reset", ROLE_RESET}};

    (void)state;
    for (size_t f = 0; f < COUNT_OF(front); f++) {
        for (size_t i = 0; i < COUNT_OF(rows); i++) {
            struct header_name n;
            char name[64];
            snprintf(name, sizeof(name), "%s%s", front[f], rows[i].end);
            assert_true(fb_name_read(fb_slice_of(name), &n));
            assert_int_equal(n.role, rows[i].role);
            assert_int_equal(n.pool.length, 0);
            assert_true(n.window_ns == FLY_ABSENT && !n.ms && n.vendor == 0);
        }
    }
}

static void waits_come_under_several_names(void **state)
{
    static const struct {
        const char *header;
        int64_t wait_ms;
    } rows[] = {
        {"Retry-After: 3", 3000},
        {"Retry-After: 0.5", 500},
        {"Retry-After: 3s", 3000},
        {"Retry-After:   3  ", 3000},
        {"Retry-After: 1700000009", 9000},
        {"Retry-After: 1699999999", 0},
        {"Retry-After: 2023-11-14T22:14:20Z", 60000},
        {"Retry-After: Tue, 14 Nov 2023 22:14:20 GMT", 60000},
        {"Retry-After: Tue, 14 Nov 2023 22:13:00 GMT", 0},
        {"Retry-After: Thu, 14 Nov 2030 22:13:00 GMT", -1},
        {"Retry-After: Wed, 22 Nov 2023 12:00:00 GMT", -1}, /* between 7 and 8 days */
        {"Retry-After: 604800", 604800000},
        {"Retry-After: 120, 60", 120000},
        {"Retry-After: a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,9", -1},
        {"Retry-After: 604801", -1},
        {"Retry-After: 1600000000", -1},
        {"Retry-After: 9223372036854775807", -1},
        {"Retry-After: 9000000000000", -1},
        {"Retry-After: soon", -1},
        {"Retry-After-Ms: 250", 250},
        {"X-Retry-After: 3", 3000},
        {"X-RateLimit-Retry-After-Seconds: 3", 3000},
        {"X-Retry-Soon: 3", -1},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char text[128];
        snprintf(text, sizeof(text), "429\n%s\n\n", rows[i].header);
        struct fly_signal s = signal_of(text);
        int64_t want_ns = rows[i].wait_ms < 0 ? FLY_ABSENT : rows[i].wait_ms * MS;
        if (s.retry_after_ns != want_ns)
            fail_msg("%s: %lld ms", rows[i].header, (long long)(s.retry_after_ns / MS));
    }
}

/* A caller whose clock does not begin in 1970 is told spans all the same. */
static void spans_need_no_calendar(void **state)
{
    struct fly_signal s = signal_at(1000 * S, "429\nRetry-After: 30\nx-ratelimit-limit: 1\n"
                                              "x-ratelimit-reset: 40\n\nbanned until 12");

    (void)state;
    assert_int_equal(s.retry_after_ns, 30 * S);
    assert_int_equal(s.pool[0].reset_ns, 40 * S);
}

static void a_preset_may_tell_the_unit_of_waits(void **state)
{
    static const struct preset in_ms = {.name = "x", .retry = RESET_DELTA_MS};
    static const struct preset in_s = {.name = "x", .retry = RESET_DELTA_S};
    struct reading r = {
        .now_ns = RIG_NOW, .date_ns = FLY_ABSENT, .wait_ns = FLY_ABSENT, .wait_at_ns = FLY_ABSENT};
    struct header_name n = {.role = ROLE_WAIT};

    (void)state;
    r.preset = &in_ms;
    fb_tell(&r, &n, fb_slice_of("1500"));
    assert_int_equal(r.wait_ns, 1500 * MS);
    r.preset = &in_s;
    fb_tell(&r, &n, fb_slice_of("1500"));
    assert_int_equal(r.wait_ns, 1500 * S);
}

static void concurrency_is_told_by_headers(void **state)
{
    static const struct {
        const char *header;
        int64_t limit;
    } rows[] = {
        {"X-Concurrency-Limit: 3", 3},
        {"X-Concurrent-Requests-Limit: 4", 4},
        {"X-RateLimit-Concurrency-Limit: 5", 5},
        {"X-Concurrency-Limit: 0", FLY_ABSENT},
        {"X-Concurrency-Limit: few", FLY_ABSENT},
        {"X-Concurrency-Remaining: 5", FLY_ABSENT},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char text[128];
        snprintf(text, sizeof(text), "200\n%s\n\n", rows[i].header);
        struct fly_signal s = signal_of(text);
        assert_true(s.concurrency == rows[i].limit);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_say_what_a_value_is),
        cmocka_unit_test(other_headers_are_left_alone),
        cmocka_unit_test(the_rest_is_the_name),
        cmocka_unit_test(names_tell_windows),
        cmocka_unit_test(rates_are_no_counts),
        cmocka_unit_test(vendors_keep_pools_apart_only_where_they_must),
        cmocka_unit_test(titles_name_the_pool_without_a_name),
        cmocka_unit_test(common_names_follow_the_rules),
        cmocka_unit_test(waits_come_under_several_names),
        cmocka_unit_test(spans_need_no_calendar),
        cmocka_unit_test(a_preset_may_tell_the_unit_of_waits),
        cmocka_unit_test(concurrency_is_told_by_headers),
    };

    return cmocka_run_group_tests_name("names", tests, NULL, NULL);
}
