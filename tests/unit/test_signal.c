/* SPDX-License-Identifier: MIT */
/* The public face of signals: whole and in pieces, outcomes, sentences, what is kept apart. */
#include "unit.h"

#include <errno.h>
#include <stdbool.h>

#include "signal_rig.h"

/* ---- sizes ---- */

static void structs_of_another_size_are_refused(void **state)
{
    struct fly_response about = {.size = sizeof(about) - 1, .status = 200};
    struct fly_signal s = {.size = sizeof(s)};
    struct fly_signal_reader r;

    (void)state;
    assert_int_equal(fly_signal_begin(&r, &about), -EINVAL);
    assert_int_equal(fly_signal_read(&about, NULL, 0, NULL, 0, &s), -EINVAL);
    about.size = sizeof(about);
    s.size = sizeof(s) - 1;
    assert_int_equal(fly_signal_read(&about, NULL, 0, NULL, 0, &s), -EINVAL);
    s.size = sizeof(s);
    assert_int_equal(fly_signal_read(&about, NULL, 0, NULL, 0, &s), 0);
}

static void any_time_is_taken(void **state)
{
    static const int64_t times[] = {INT64_MIN, -1, 0, INT64_MAX};
    struct fly_header h = {"Retry-After", 11, "Sun, 06 Nov 1994 08:49:37 GMT", 29};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(times); i++) {
        struct fly_response about = {.size = sizeof(about), .now_ns = times[i], .status = 429};
        struct fly_signal s = {.size = sizeof(s)};
        assert_int_equal(fly_signal_read(&about, &h, 1, NULL, 0, &s), 0);
        assert_true(s.retry_after_ns == FLY_ABSENT || s.retry_after_ns == 0);
    }
}

/* ---- kinds of refusal ---- */

static void kinds_are_kept_apart(void **state)
{
    static const struct {
        const char *response;
        uint32_t flags;
        int64_t hold_s;
    } rows[] = {
        {"200\n\n", 0, 0},
        {"100\nRetry-After: 5\n\n", FOUND, 5},
        {"404\n\n", 0, 0},
        {"429\n\n", THROTTLED | RETRYABLE | FOUND, 1},
        {"429\nRetry-After: 0\n\n", THROTTLED | RETRYABLE | FOUND, 1},
        {"429\nRetry-After: 60\n\n", THROTTLED | RETRYABLE | FOUND, 60},
        {"503\nRetry-After: 60\n\n", OUTAGE | RETRYABLE | FOUND, 60},
        {"503\n\nbusy", OUTAGE | RETRYABLE, 0},
        {"408\n\n", RETRYABLE, 0},
        {"598\n\n", OUTAGE | RETRYABLE, 0},
        {"418\n\n", THROTTLED | RETRYABLE | BANNED | FOUND, 900},
        {"429\n\nerror code: 1015", THROTTLED | RETRYABLE | BANNED | FOUND, 900},
        {"429\nRetry-After: 9\n\nerror code: 1015", THROTTLED | RETRYABLE | FOUND, 9},
        {"403\n\nYour IP has been blocked", THROTTLED | BANNED | FOUND, 900},
        {"429\n\nmonthly quota exceeded", THROTTLED | RETRYABLE | GONE | FOUND, 3600},
        {"429\nRetry-After: 30\n\nmonthly quota exceeded", THROTTLED | RETRYABLE | FOUND, 30},
        {"429\nRetry-After: 7200\n\n", THROTTLED | RETRYABLE | GONE | FOUND, 7200},
        {"429\nx-ratelimit-remaining-day: 0\n\n", THROTTLED | RETRYABLE | GONE | FOUND, 3600},
        {"429\nx-ratelimit-remaining-month: 0\n\n", THROTTLED | RETRYABLE | GONE | FOUND, 3600},
        {"429\nx-ratelimit-remaining-hour: 0\n\n", THROTTLED | RETRYABLE | FOUND, 1},
        {"429\nx-ratelimit-remaining: 0\nx-ratelimit-reset: 50\n\n", THROTTLED | RETRYABLE | FOUND,
         50},
        {"429\nx-ratelimit-remaining: 0\nx-ratelimit-reset: 864000\n\n",
         THROTTLED | RETRYABLE | FOUND, 86400},
        {"429\nx-ratelimit-limit: 5\nx-ratelimit-used: 5\nx-ratelimit-reset: 50\n\n",
         THROTTLED | RETRYABLE | FOUND, 50},
        {"429\nx-ratelimit-limit: 5\nx-ratelimit-used: 4\nx-ratelimit-reset: 50\n\n",
         THROTTLED | RETRYABLE | FOUND, 1},
        {"429\nx-ratelimit-limit: 5\nx-ratelimit-reset: 50\n\n", THROTTLED | RETRYABLE | FOUND, 1},
        {"429\n\nToo many concurrent requests", THROTTLED | RETRYABLE | CONCURRENT | FOUND, 1},
        {"200\nX-RateLimit-NearLimit: true\n\n", NEAR | FOUND, 0},
        {"200\nX-RateLimit-NearLimit: false\n\n", 0, 0},
        {"200\nX-Concurrency-Limit: 3\n\n", FOUND, 0},
        {"403\nx-ratelimit-remaining: 0\n\n", THROTTLED | RETRYABLE | FOUND, 1},
        {"403\nx-ratelimit-limit: 7\n\n", FOUND, 0},
        {"400\nx-ratelimit-remaining: 0\n\n", FOUND, 0},
        {"404\n\nrate limit exceeded", 0, 0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fly_signal s = signal_of(rows[i].response);
        if (s.flags != rows[i].flags || s.hold_ns != rows[i].hold_s * S)
            fail_msg("%s: flags %u, hold %lld s", rows[i].response, s.flags,
                     (long long)(s.hold_ns / S));
    }
}

/* ---- outcomes ---- */

static void each_pool_makes_an_outcome(void **state)
{
    struct fly_signal s = signal_of("429\nRetry-After: 16\n"
                                    "x-ratelimit-limit-requests: 100\n"
                                    "x-ratelimit-remaining-requests: 99\n"
                                    "x-ratelimit-reset-requests: 2s\n"
                                    "x-ratelimit-limit-tokens: 1000\n"
                                    "x-ratelimit-used-tokens: 1200\n\n");
    struct fly_outcome o = {.sent_ns = 1, .latency_ns = 2, .ticket = 3};

    (void)state;
    assert_int_equal(fly_signal_outcomes(&s), 2);
    fly_signal_outcome(&s, 0, 10 * S, &o);
    assert_int_equal(o.limit, 100);
    assert_int_equal(o.remaining, 99);
    assert_int_equal(o.reset_ns, 12 * S);
    assert_int_equal(o.retry_after_ns, 16 * S);
    assert_int_equal(o.status, 429);
    assert_int_equal(o.flags, FLY_THROTTLED);
    assert_int_equal(o.sent_ns, 1);
    assert_int_equal(o.latency_ns, 2);
    assert_int_equal(o.ticket, 3);

    fly_signal_outcome(&s, 1, 10 * S, &o);
    assert_int_equal(o.limit, 1000);
    assert_int_equal(o.remaining, 0);
    assert_true(o.reset_ns == FLY_ABSENT);
}

static void without_a_pool_there_is_one_outcome(void **state)
{
    struct fly_signal s = signal_of("200\n\n");
    struct fly_outcome o = FLY_OUTCOME_INIT;

    (void)state;
    assert_int_equal(fly_signal_outcomes(&s), 1);
    fly_signal_outcome(&s, 0, 0, &o);
    assert_true(o.limit == FLY_ABSENT && o.remaining == FLY_ABSENT);
    assert_true(o.reset_ns == FLY_ABSENT && o.retry_after_ns == FLY_ABSENT);
    assert_int_equal(o.flags, 0);
}

/* Two of limit, used and remaining give the third. */
static void counts_follow_from_each_other(void **state)
{
    struct fly_signal s = signal_of("200\nx-ratelimit-used: 12\nx-ratelimit-remaining: 988.0\n"
                                    "x-ratelimit-reset: 5\n\n");
    struct fly_outcome o = FLY_OUTCOME_INIT;

    (void)state;
    fly_signal_outcome(&s, 0, 0, &o);
    assert_int_equal(o.limit, 1000);
    assert_int_equal(o.remaining, 988);
    s.pool[0].used = INT64_MAX;
    fly_signal_outcome(&s, 0, INT64_MAX - 1, &o);
    assert_int_equal(o.limit, INT64_MAX);
    assert_true(o.reset_ns == FLY_ABSENT); /* no such instant */
    s.pool[0].remaining = FLY_ABSENT;
    fly_signal_outcome(&s, 0, 0, &o);
    assert_true(o.limit == FLY_ABSENT && o.remaining == FLY_ABSENT);
}

/* A ban that tells no time still holds; a refusal for rate leaves that to the limiter. */
static void bans_and_spent_quotas_hold(void **state)
{
    struct fly_signal s = signal_of("418\n\n");
    struct fly_outcome o = FLY_OUTCOME_INIT;

    (void)state;
    fly_signal_outcome(&s, 0, 0, &o);
    assert_int_equal(o.retry_after_ns, 900 * S);
    s = signal_of("429\n\n");
    fly_signal_outcome(&s, 0, 0, &o);
    assert_true(o.retry_after_ns == FLY_ABSENT);
}

/* ---- prose ---- */

static void limits_in_sentences_are_read(void **state)
{
    static const struct {
        const char *body;
        int64_t limit;
        int64_t window_s;
    } rows[] = {
        {"Maximum 5 requests within 1 minute", 5, 60},
        {"Clients may not make more than 350 requests per hour.", 350, 3600},
        {"Server allows 100 requests per second", 100, 1},
        {"current limit is 1200 request weight per 1 MINUTE", 1200, 60},
        {"limit of 10 requests/second", 10, 1},
        {"60 API calls in any 60 second period", 60, 60},
        {"at most 3 queries every 10s", 3, 10},
        {"60 requests in each 5 seconds", 60, 5},
        {"Limit: 100 per 1 hour", 100, 3600},
        {"Limit 100 or so", FLY_ABSENT, 0},
        {"100 per hour", FLY_ABSENT, 0},
        {"a 100 per hour", FLY_ABSENT, 0},
        {"100 requests per 0s", FLY_ABSENT, 0},
        {"100 requests per", FLY_ABSENT, 0},
        {"100 requests per any", FLY_ABSENT, 0},
        {"100 requests per 9", FLY_ABSENT, 0},
        {"100 requests per fortnight", FLY_ABSENT, 0},
        {"100 requests per 0 seconds", FLY_ABSENT, 0},
        {"100 requests per 99999999999 weeks", FLY_ABSENT, 0},
        {"0 requests per second", FLY_ABSENT, 0},
        {"100 apples per second", FLY_ABSENT, 0},
        {"many requests per second", FLY_ABSENT, 0},
        {"5 requests per second, 100 requests per minute", 5, 1},
        {"100", FLY_ABSENT, 0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char response[160];
        snprintf(response, sizeof(response), "429\n\n%s", rows[i].body);
        struct fly_signal s = signal_of(response);
        int64_t window_ns = rows[i].limit == FLY_ABSENT ? FLY_ABSENT : rows[i].window_s * S;
        if (s.stated_limit != rows[i].limit || s.stated_window_ns != window_ns)
            fail_msg("%s: %lld in %lld s", rows[i].body, (long long)s.stated_limit,
                     (long long)(s.stated_window_ns / S));
    }
}

static void waits_in_sentences_are_read(void **state)
{
    static const struct {
        const char *body;
        int64_t wait_ms;
    } rows[] = {
        {"Please try again in 9.816s.", 9816},
        {"Please retry after 30 seconds", 30000},
        {"wait 5 minutes", 300000},
        {"Please wait at least 2 hrs", 7200000},
        {"Expected available in 86 seconds.", 86000},
        {"The limit resets in 250 ms", 250},
        {"try again in 1 day", 86400000},
        {"try again in a few minutes", -1},
        {"try again in 5 apples", -1},
        {"try again in", -1},
        {"try again in 5", -1},
        {"try again in 99999999 weeks", -1},
        {"come back in 5 seconds", -1},
        {"in 5 seconds", -1},
        {"banned until 1700000060.", 60000},
        {"banned until 1700000060500", 60500},
        {"banned until 2023-11-14T22:14:20Z", 60000},
        {"banned until 2023-11-14T23:14:20+01:00", 60000},
        {"a_b - please wait- 5 seconds", 5000},
        {"banned until 12", -1},
        {"banned until 99999999999999999", -1},
        {"banned until 34000012000", -1},
        {"Retry after 2023-11-14T22:14:20Z.", 60000},
        {"Created at 2023-11-14T22:14:20Z.", -1},
        {"banned until tomorrow", -1},
        {"banned until", -1},
        {"{\"retry_after\": 1.5}", 1500},
        {"{\"error\":{\"retryAfterMs\":\"1500\"}}", 1500},
        {"{\"details\":[{\"retryDelay\":\"3s\"}]}", 3000},
        {"{\"retry_after\": \"soon\"}", -1},
        {"{\"a_key_longer_than_any_of_ours_is\": 5}", -1},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char response[160];
        snprintf(response, sizeof(response), "429\n\n%s", rows[i].body);
        struct fly_signal s = signal_of(response);
        int64_t wait_ns = rows[i].wait_ms < 0 ? FLY_ABSENT : rows[i].wait_ms * MS;
        if (s.retry_after_ns != wait_ns)
            fail_msg("%s: %lld ms", rows[i].body, (long long)(s.retry_after_ns / MS));
    }
}

/* So many words are looked at, and no more. */
static void long_prose_is_cut(void **state)
{
    static const char end[] = "try again in 5 seconds";
    char text[4 + 2 * 300 + sizeof(end)] = "429\n\n";

    (void)state;
    for (size_t i = 5; i + sizeof(end) < sizeof(text); i++)
        text[i] = i % 2 ? 'a' : ' ';
    memcpy(text + sizeof(text) - sizeof(end), end, sizeof(end));
    text[sizeof(text) - sizeof(end) - 1] = ' ';
    assert_true(signal_of(text).retry_after_ns == FLY_ABSENT);
}

/* ---- bodies ---- */

/* The last bytes count, however long it is and in whichever pieces it comes. */
static void the_end_of_a_long_body_is_read(void **state)
{
    static const size_t pieces[] = {1, 100, 2047, 2048, 2049, 4096, 20000};
    static const char end[] = "{\"throttleStatus\":{\"maximumAvailable\":1000.0,"
                              "\"currentlyAvailable\":4,\"restoreRate\":50}}";
    char body[20000];

    (void)state;
    memset(body, 'x', sizeof(body));
    memcpy(body + sizeof(body) - sizeof(end) + 1, end, sizeof(end) - 1);
    for (size_t i = 0; i < COUNT_OF(pieces); i++) {
        struct fly_response about = {.size = sizeof(about), .now_ns = RIG_NOW, .status = 200};
        struct fly_signal s = {.size = sizeof(s)};
        struct fly_signal_reader r;
        assert_int_equal(fly_signal_begin(&r, &about), 0);
        for (size_t at = 0; at < sizeof(body); at += pieces[i])
            fly_signal_body(&r, body + at,
                            sizeof(body) - at < pieces[i] ? sizeof(body) - at : pieces[i]);
        assert_int_equal(fly_signal_end(&r, &s), 0);
        assert_int_equal(s.pool_count, 1);
        assert_string_equal(s.pool[0].name, "graphql");
        assert_int_equal(s.pool[0].remaining, 4);
        assert_int_equal(s.pool[0].refill_millionths, 50000000);
    }
}

static void success_is_a_refusal_only_by_an_error_in_json(void **state)
{
    static const struct {
        const char *body;
        bool throttled;
    } rows[] = {
        {"{\"errors\":[{\"message\":\"x\",\"extensions\":{\"code\":\"THROTTLED\"}}]}", true},
        {"{\"error\":\"ratelimited\"}", true},
        {"{\"status\":\"OVER_QUERY_LIMIT\"}", true},
        {"{\"status\":\"ok\"}", false},
        {"{\"message\":\"rate limited\",\"errors\":[]}", false},
        {"{\"error\":429}", false},
        {"{\"errors\":[]} \"throttled\"", false},
        {"{\"error\":\"not found\"}", false},
        {"too many requests", false},
        {"[\"error\",\"throttled\"]", false},
        {"{\"data\":{\"error\":\"throttled\"}}", false},
        {"\"error\" throttled", false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char response[160];
        snprintf(response, sizeof(response), "200\n\n%s", rows[i].body);
        struct fly_signal s = signal_of(response);
        if (!!(s.flags & FLY_SIGNAL_THROTTLED) != rows[i].throttled)
            fail_msg("%s", rows[i].body);
    }
}

static void quota_endpoints_tell_pools(void **state)
{
    static const char body[] =
        "{\"resources\":{\"core\":{\"limit\":5000,\"used\":1,\"remaining\":4999,"
        "\"reset\":1700000060},\"search\":{\"limit\":30,\"remaining\":\"x\",\"resetAt\":"
        "\"2023-11-14T22:14:20Z\",\"resets\":1}},\"limit\":9,\"list\":[[{\"limit\":1}]]}";
    struct fly_response about = {
        .size = sizeof(about), .now_ns = RIG_NOW, .status = 200, .flags = FLY_RESPONSE_QUOTA};
    struct fly_signal s = {.size = sizeof(s)};

    (void)state;
    assert_int_equal(fly_signal_read(&about, NULL, 0, body, sizeof(body) - 1, &s), 0);
    assert_int_equal(s.pool_count, 2);
    assert_string_equal(s.pool[0].name, "core");
    assert_int_equal(s.pool[0].limit, 5000);
    assert_int_equal(s.pool[0].used, 1);
    assert_int_equal(s.pool[0].remaining, 4999);
    assert_int_equal(s.pool[0].reset_ns, 60 * S);
    assert_string_equal(s.pool[1].name, "search");
    assert_true(s.pool[1].remaining == FLY_ABSENT);
    assert_int_equal(s.pool[1].reset_ns, 60 * S);
}

/* ---- sentences ---- */

static void sentences_tell_what_and_why(void **state)
{
    static const struct {
        const char *response;
        const char *says;
    } rows[] = {
        {"200\n\n", "Not refused (status 200)."},
        {"404\n\n", "Failed, but not for rate (status 404)."},
        {"429\nRetry-After: 30\n\n", "Refused for rate (status 429). Send nothing for 30 s."},
        {"429\nRetry-After: 0\n\n", "Refused for rate (status 429). Send nothing for 1.0 s at "
                                    "least; the response states no wait that long."},
        {"403\n\nsecondary rate limit",
         "Refused for rate (status 403, \"secondary rate limit\"). Send nothing for 1.0 s at "
         "least; the response states no wait that long."},
        {"403\nRetry-After: 5\n\n",
         "Refused for rate (status 403, \"retry-after\"). Send nothing for 5.0 s."},
        {"403\nx-ratelimit-remaining: 0\n\n",
         "Refused for rate (status 403, \"nothing left\"). Send nothing for 1.0 s at least; the "
         "response states no wait that long."},
        {"429\nx-ratelimit-limit: 9\nx-ratelimit-remaining: 0\nx-ratelimit-reset: 60\n\n",
         "Refused for rate (status 429). Send nothing for 1 min, until the reset."},
        {"429\nx-ratelimit-limit: 9\nx-ratelimit-remaining: 0\nx-ratelimit-reset: 60\n"
         "Retry-After: 90\n\n",
         "Refused for rate (status 429). Send nothing for 1 min 30 s."},
        {"429\nx-ratelimit-limit: 9\nx-ratelimit-remaining: 5\nRetry-After: 30\n\n",
         "Refused for rate (status 429). Send nothing for 30 s."},
        {"403\n\nYour IP has been blocked",
         "Shut out (status 403, \"has been blocked\"). Waiting alone does not lift it."},
        {"429\nRetry-After: 7200\n\n",
         "Refused: a long budget is used up (status 429). Send nothing for 2 h."},
        {"429\nRetry-After: 2\n\ntoo many concurrent",
         "Refused: too many requests at once (status 429, \"too many concurrent\"). Send nothing "
         "for 2.0 s."},
        {"500\n\n", "The server is in trouble; not a matter of rate (status 500). Another try may "
                    "succeed; no wait is stated."},
        {"200\nx-ratelimit-nearlimit: true\n\n", "Not refused (status 200). A limit is near."},
        {"400\n\nconcurrent requests", "Failed, but not for rate (status 400)."},
    };
    char text[256];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct fly_signal s = signal_of(rows[i].response);
        fly_signal_explain(&s, text, sizeof(text));
        assert_string_equal(text, rows[i].says);
    }
    struct fly_signal s = signal_of("429\n\n");
    fly_signal_explain(&s, text, 5);
    assert_string_equal(text, "Refu");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(structs_of_another_size_are_refused),
        cmocka_unit_test(any_time_is_taken),
        cmocka_unit_test(kinds_are_kept_apart),
        cmocka_unit_test(each_pool_makes_an_outcome),
        cmocka_unit_test(without_a_pool_there_is_one_outcome),
        cmocka_unit_test(counts_follow_from_each_other),
        cmocka_unit_test(bans_and_spent_quotas_hold),
        cmocka_unit_test(limits_in_sentences_are_read),
        cmocka_unit_test(waits_in_sentences_are_read),
        cmocka_unit_test(long_prose_is_cut),
        cmocka_unit_test(the_end_of_a_long_body_is_read),
        cmocka_unit_test(success_is_a_refusal_only_by_an_error_in_json),
        cmocka_unit_test(quota_endpoints_tell_pools),
        cmocka_unit_test(sentences_tell_what_and_why),
    };

    return cmocka_run_group_tests_name("signal", tests, NULL, NULL);
}
