/* SPDX-License-Identifier: MIT */
/* Values that tell several things, dialects with code of their own, and the walk over JSON. */
#include "unit.h"

#include "signal/phrases.h"
#include "signal/reading.h"
#include "signal/scan.h"
#include "signal_rig.h"

static void fractions_and_rates(void **state)
{
    static const struct pools_row rows[] = {
        {"200\nX-RateLimit: 17/60\n\n", ":60,-,17,-,- "},
        {"200\nX-RateLimit-Remaining: 17/60\n\n", ":60,17,-,-,- "},
        {"200\nX-RateLimit-Limit: 100/hour\n\n", ":100,-,-,3600000,- "},
        {"200\nX-RateLimit-Limit: 100/1h\n\n", ":100,-,-,3600000,- "},
        {"200\nX-RateLimit-Limit: 100/fortnight\n\n", ""},
        {"200\nX-RateLimit-Limit: 100/0s\n\n", ":100,-,-,-,- "},
        {"200\nX-RateLimit-Limit: /40\n\n", ""},
        {"200\nX-RateLimit-Limit: 1/\n\n", ""},
        {"200\nX-RateLimit: soon/40\n\n", ""},
        {"200\nX-Shopify-Shop-Api-Call-Limit: 32/40\n\n", ":40,-,32,-,- "},
    };

    (void)state;
    assert_pools(rows, COUNT_OF(rows));
}

static void lists_of_numbers(void **state)
{
    static const struct pools_row rows[] = {
        {"200\nX-RateLimit-Limit: 600,30000\nX-RateLimit-Usage: 5,148\n\n",
         "15min:600,-,5,900000,- daily:30000,-,148,86400000,- "},
        {"200\nX-RateLimit-Limit: 600,30000\nX-RateLimit-Usage: 5\n\n",
         "15min:600,-,5,900000,- daily:30000,-,-,86400000,- "},
        {"200\nX-RateLimit-Limit: 600,\nX-RateLimit-Usage: ,\n\n", ":600,-,-,-,- "},
        {"200\nX-RateLimit-Limit: 600,30000\nX-RateLimit-Remaining: 1\nX-RateLimit-Usage-X: "
         "1\n\n",
         "15min:600,-,-,900000,- daily:30000,-,-,86400000,- :-,1,-,-,- x:-,-,1,-,- "},
        {"200\nX-RateLimit-Limit: 600,30000\nX-ReadRateLimit-Usage: 1\n\n",
         "15min:600,-,-,900000,- daily:30000,-,-,86400000,- read:-,-,1,-,- "},
        {"200\nX-ReadRateLimit-Limit: 7,9\nX-ReadRateLimit-Usage: 1,1\nX-RateLimit-Limit: 5\n\n",
         "read-15min:7,-,1,900000,- read-daily:9,-,1,86400000,- :5,-,-,-,- "},
        {"200\nX-RateLimit-Limit: 7,9\nX-RateLimit-Remaining: 3,2\n\n", ":7,2,-,-,- "},
        {"200\nX-RateLimit-Limit: 7,9,8\n\n", ":7,-,-,-,- "},
        {"200\nX-RateLimit-Limit: 1,000\nX-RateLimit-Remaining: 9\n\n", ":-,9,-,-,- "},
        {"200\nX-RateLimit-Limit: 7,0\n\n", ":0,-,-,-,- "},
        {"200\nX-RateLimit-Limit: 7,0.5\n\n", ":0,-,-,-,- "},
        {"200\nX-RateLimit-Limit: 7,,8\n\n", ":7,-,-,-,- "},
        {"200\nX-RateLimit-Limit: 1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,"
         "1\n\n",
         ""},
        {"200\nX-RateLimit-Reset: 9,a,8\n\n", ":-,-,-,-,9000 "},
        {"200\nX-RateLimit-Reset: a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,"
         "a,a\n\n",
         ""},
    };

    (void)state;
    assert_pools(rows, COUNT_OF(rows));
}

static void counts_with_names(void **state)
{
    static const struct pools_row rows[] = {
        {"200\nx-ms-ratelimit-remaining-resource: Get3Min;197,Get30Min;1297\n\n",
         "Get3Min:-,197,-,-,- Get30Min:-,1297,-,-,- "},
        {"200\nx-ratelimit-remaining: a;1,b,;2,c;x,d;4\n\n", "a:-,1,-,-,- d:-,4,-,-,- "},
        {"200\nx-ratelimit-remaining: x;a,x;a,x;a,x;a,x;a,x;a,x;a,x;a,x;a,x;a,x;a,x;a,x;a,x;a,x;a,"
         "x;a,x;a,x;a,x;a,x;a,x;a,x;a,x;a,x;a,x;a,x;a,x;a,x;a,x;a,x;a,x;a,x;a,x;a,x;1\n\n",
         ""},
    };

    (void)state;
    assert_pools(rows, COUNT_OF(rows));
}

static void keys_with_values(void **state)
{
    static const struct pools_row rows[] = {
        {"200\nRateLimit: limit=100, remaining=50, reset=5\n\n", ":100,50,-,-,5000 "},
        {"200\nz-ratelimit-tickets: total=100; remaining=99; resets=41\n\n",
         "tickets:100,99,-,-,41000 "},
        {"200\nx-ratelimit-info: LIMIT=9; used=4; other; =5; reset=x; remaining=x\n\n",
         "info:9,-,4,-,- "},
        {"200\nx-ratelimit-info: limit=x; used=x; policy=3\n\n", ""},
        {"200\nx-ratelimit-info: nothing\n\n", ""},
        {"200\nx-ratelimit-info: =5\n\n", ""},
        {"200\nx-ratelimit-info: a-key-of-more-than-24-letters=5\n\n", ""},
        {"200\nsforce-limit-info: api-usage=25/5000; per-app=17/250(appName=x)\n\n",
         "api-usage:5000,-,25,-,- per-app:250,-,17,-,- "},
        {"200\nsforce-limit-info: api-usage=x/5000\n\n", ""},
        {"200\nRateLimit: limit=1,limit=1,limit=1,limit=1,limit=1,limit=1,limit=1,limit=1,limit=1,"
         "limit=1,limit=1,limit=1,limit=1,limit=1,limit=1,limit=1,limit=1,limit=1,limit=1,limit=1,"
         "limit=1,limit=1,limit=1,limit=1,limit=1,limit=1,limit=1,limit=1,limit=1,limit=1,limit=1,"
         "limit=1,remaining=0\n\n",
         ":1,-,-,-,- "},
    };

    (void)state;
    assert_pools(rows, COUNT_OF(rows));
}

static void structured_fields(void **state)
{
    static const struct pools_row rows[] = {
        {"200\nRateLimit-Policy: \"a\";q=5;w=60, b;q=6;w=1\nRateLimit: \"a\";r=4;t=9\n\n",
         "a:5,4,-,60000,9000 b:6,-,-,1000,- "},
        {"200\nRateLimit-Policy: \"a\";q=5;w=0\n\n", "a:5,-,-,-,- "},
        {"200\nRateLimit-Policy: \"a\";q=5;w=2764801\n\n", "a:5,-,-,-,- "},
        {"200\nRateLimit: \"a\";r=-1;t=-1\n\n", ""},
        {"200\nRateLimit: \"a\";r=1.5;t=2764801\n\n", ""},
        {"200\nRateLimit: \"a\";r=1;t=9, (1 2), \"b\";r=2\n\n", "a:-,1,-,-,9000 "},
        {"200\nRateLimit: ?1, 1.5, \"b\";r=2\n\n", "b:-,2,-,-,- "},
        {"200\nRateLimit: \"a\";r=1;;\n\n", ""},
        {"200\nRateLimit: \"a name that is longer than any name that is kept in a pool\";r=1\n\n",
         "a name that is longer than any name that is kep:-,1,-,-,- "},
        {"200\nRateLimit-Limit: 10, 10;w=1, 50;w=60\n\n", ":10,-,-,1000,- w60:50,-,-,60000,- "},
        {"200\nRateLimit-Limit: 10;w=1, 10;w=5\n\n", ":10,-,-,1000,- w5:10,-,-,5000,- "},
        {"200\nRateLimit-Limit: 10, -1;w=1, 7;w=0\n\n", ":10,-,-,-,- "},
        {"200\nRateLimit-Limit: 10.5;w=1, 7;w=2\n\n", ":7,-,-,2000,- "},
        {"200\nRateLimit-Limit: 10, 10;;\n\n", ""},
        {"200\nRateLimit-Policy: 100;w=10\nRateLimit-Remaining: 5\n\n", ":100,5,-,10000,- "},
        {"200\nRateLimit-Policy: 100;w=10\n\n", "w10:100,-,-,10000,- "},
        {"200\nRateLimit-Policy: 100;w=10, 5;w=1\nRateLimit-Remaining: 5\n\n",
         "w10:100,-,-,10000,- w1:5,-,-,1000,- :-,5,-,-,- "},
        {"200\nRateLimit-Limit: 10\nRateLimit-Policy: 100;w=10\n\n",
         ":10,-,-,-,- w10:100,-,-,10000,- "},
    };

    (void)state;
    assert_pools(rows, COUNT_OF(rows));
}

static void providers_with_code_of_their_own(void **state)
{
    static const struct pools_row rows[] = {
        {"200\nX-Sentry-Rate-Limits: 60:transaction:key, 2700::organization, x:a, 9, , "
         "9999999:far:x\n\n",
         "transaction:-,0,-,-,60000 :-,0,-,-,2700000 "},
        {"200\nX-Sentry-Rate-Limits: 1:a,1:a,1:a,1:a,1:a,1:a,1:a,1:a,1:a,1:a,1:a,1:a,1:a,1:a,1:a,"
         "1:a,1:b\n\n",
         "a:-,0,-,-,1000 "},
        {"200\nX-MBX-USED-WEIGHT-1M: 12\nx-mbx-used-weight: 12\nx-mbx-order-count-10s: x\n\n",
         "used-weight-1m:-,-,12,60000,- "},
        {"200\nx-mbx-a-name-that-is-longer-than-any-name-that-is-kept-1m: 12\n\n", ""},
        {"200\nx-app-usage: {\"call_count\":28,\"total_time\":1.5}\n\n",
         "app.call_count:100,-,28,-,- app.total_time:100,-,1,-,- "},
        {"200\nx-app-usage: 5\n\n", ""},
        {"200\nx-app-usage: [5,{\"a\":\"b\",\"type\":\"\",\"c\":\"x\",\"d\":null}]\n\n", ""},
        {"200\n\n{\"throttleStatus\":{\"maximumAvailable\":1000,\"currentlyAvailable\":-1,"
         "\"restoreRate\":0,\"other\":5}}",
         "graphql:1000,-,-,-,- "},
        {"200\n\n{\"throttleStatus\":null}", ""},
        {"200\n\n\"thr", ""},
        {"429\n\n{\"error\":\"x\",\"count\":\"5\",\"limit\":\"3\",\"a\":{\"limit\":\"1\"}}",
         ":3,-,5,-,- "},
        {"429\n\n{\"count\":\"5\"}", ""},
        {"429\n\n{\"limit\":\"5\"}", ""},
        {"429\n\nrate limit on tokens per min (TPM): Limit 10, Used 8, Requested 3",
         "tokens:10,-,8,"
         "60000,- "},
        {"429\n\nrate limit: Limit 10, Used 8", ""},
        {"429\n\nrate limit tokens per bottle: Limit 10, Used 8", ""},
        {"429\n\nrate limit: Limit 10, Used x", ""},
        {"429\n\nrate limit: Limit 10, Left 5", ""},
        {"429\n\nrate limit: Limit x", ""},
        {"429\n\nrate limit: Limit", ""},
    };

    (void)state;
    assert_pools(rows, COUNT_OF(rows));
}

/* Minutes until access is regained, where the provider says so. */
static void time_to_regain_access(void **state)
{
    static const struct {
        const char *minutes;
        int64_t wait_s;
    } rows[] = {{"19", 1140}, {"0", -1}, {"x", -1}, {"999999999", -1}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char text[160];
        snprintf(text, sizeof(text),
                 "400\nx-business-use-case-usage: "
                 "{\"1\":[{\"estimated_time_to_regain_access\":%s}]}\n\n",
                 rows[i].minutes);
        struct fly_signal s = signal_of(text);
        assert_true(s.retry_after_ns == (rows[i].wait_s < 0 ? FLY_ABSENT : rows[i].wait_s * S));
    }
}

/* With as many pools as can be kept, whatever else is told is left out and nothing breaks. */
static void further_pools_are_not_kept(void **state)
{
    static const char *const more[] = {
        "x-ratelimit-limit: 5",
        "x-ratelimit-limit: 5/6",
        "x-ratelimit-limit: 5/hour",
        "x-ratelimit-limit: 5,6",
        "x-ratelimit-limit: 5,6,7",
        "x-ratelimit-limit: 5;w=1",
        "x-ratelimit-limit: 5.5",
        "x-ratelimit-limit-per-second: 5.5",
        "x-ratelimit-limit-per-second: 5",
        "x-ratelimit-remaining: a;5",
        "x-ratelimit-reset: 5",
        "x-ratelimit-reset-after: 5",
        "x-ratelimit-period: 5",
        "x-ratelimit-fillrate: 5",
        "ratelimit: limit=5",
        "ratelimit: a;r=5",
        "ratelimit-policy: 5;w=1",
        "sforce-limit-info: a=5/6",
        "x-sentry-rate-limits: 5:a",
        "x-mbx-used-1m: 5",
        "x-app-usage: {\"a\":5}",
        "a: b\n\n{\"throttleStatus\":{\"maximumAvailable\":1}}",
        "a: b\n\n{\"count\":\"5\",\"limit\":\"3\"}",
        "a: b\n\nrate limit on tokens per min: Limit 10, Used 8",
        "a: b\n\n{\"core\":{\"limit\":5}}",
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(more); i++) {
        struct fly_response about = {.now_ns = RIG_NOW, .flags = FLY_RESPONSE_QUOTA};
        char text[1024] = "429\n";
        for (size_t k = 0; k < FLY_POOLS_MAX; k++)
            snprintf(text + strlen(text), sizeof(text) - strlen(text),
                     "x-ratelimit-limit-pool%zu: 7\n", k);
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s\n\n", more[i]);
        struct fly_signal s = signal_about(about, text);
        assert_int_equal(s.pool_count, FLY_POOLS_MAX);
        assert_string_equal(s.pool[15].name, "pool15");
        for (size_t k = 0; k < FLY_POOLS_MAX; k++)
            assert_int_equal(s.pool[k].limit, 7);
    }
}

/* ---- phrases ---- */

static void phrases_need_no_spelling(void **state)
{
    static const struct {
        const char *text;
        bool refuses;
    } rows[] = {
        {"Rate limit exceeded", true},
        {"RATE_LIMIT_EXCEEDED", true},
        {"userRateLimitExceeded", true},
        {"rate-limited", true},
        {"You have reached your usage limit", true},
        {"see our rate limit", false},
        {"exceeded the maximum size", false},
        {"rate limi", false},
        {"", false},
        {"42 9 {}", false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char text[64];
        snprintf(text, sizeof(text), "400\n\n%s", rows[i].text);
        struct fly_signal s = signal_of(text);
        if (!!(s.flags & THROTTLED) != rows[i].refuses)
            fail_msg("%s", rows[i].text);
    }
}

/* ---- JSON ---- */

static void values_come_with_their_keys(void **state)
{
    struct scan j;
    struct scan_value v;

    (void)state;
    fb_scan_init(&j, fb_slice_of("{\"a\" : \"x\\\"y\",\r\n\t\"b\":[1,{\"c\":true}], \"d\":\"\"}"));
    assert_true(fb_scan_next(&j, &v));
    assert_true(fb_slice_is(v.key, "a") && fb_slice_is(v.text, "x\\\"y") && v.string);
    assert_true(fb_scan_next(&j, &v));
    assert_true(v.key.length == 0 && fb_slice_is(v.text, "1") && !v.string && j.depth == 2);
    assert_true(fb_slice_is(j.key[1], "b"));
    assert_true(fb_scan_next(&j, &v));
    assert_true(fb_slice_is(v.key, "c") && fb_slice_is(v.text, "true") && j.depth == 3);
    assert_true(fb_scan_next(&j, &v));
    assert_true(fb_slice_is(v.key, "d") && v.text.length == 0);
    assert_false(fb_scan_next(&j, &v));
    assert_false(fb_scan_next(&j, &v));
}

static void broken_json_ends_somewhere(void **state)
{
    static const char *const texts[] = {
        "\"open", "\"esc\\",    "}",    "]", "{\"a\":}", "[[[[[[[[[[[[[[[[[[[[[[[[",
        "{\"a\"", "1\"2\"3[4]", "5{6}",
    };
    struct scan j;
    struct scan_value v;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        size_t n = 0;
        fb_scan_init(&j, fb_slice_of(texts[i]));
        while (fb_scan_next(&j, &v))
            n++;
        assert_true(n <= 4);
        assert_false(fb_scan_next(&j, &v));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fractions_and_rates),
        cmocka_unit_test(lists_of_numbers),
        cmocka_unit_test(counts_with_names),
        cmocka_unit_test(keys_with_values),
        cmocka_unit_test(structured_fields),
        cmocka_unit_test(providers_with_code_of_their_own),
        cmocka_unit_test(time_to_regain_access),
        cmocka_unit_test(further_pools_are_not_kept),
        cmocka_unit_test(phrases_need_no_spelling),
        cmocka_unit_test(values_come_with_their_keys),
        cmocka_unit_test(broken_json_ends_somewhere),
    };

    return cmocka_run_group_tests_name("dialects", tests, NULL, NULL);
}
