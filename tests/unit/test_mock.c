/* SPDX-License-Identifier: MIT */
/* The parts of the mock: limit texts as gates, what is told of them, queries, the log. */
#include "unit.h"

#include <errno.h>
#include <unistd.h>

#include "mock/ask.h"
#include "mock/dialect.h"
#include "mock/limit.h"
#include "mock/log.h"
#include "util/alloc.h"

/* ---- limits ---- */

static const struct work ONE = {.cost = 1};

static void open_limit(struct provider *p, const char *text)
{
    struct fly_error err = {""};

    if (fb_mock_limit_read(text, 429, p, &err) < 0)
        fail_msg("%s: %s", text, err.text);
}

static bool passes(struct provider *p, int64_t now_ns)
{
    struct verdict v;

    fb_provider_admit(p, now_ns, &ONE, &v);
    assert_int_equal(v.status, v.passed ? 200 : 429);
    return v.passed;
}

/* How many of 100 requests at this instant pass. */
static int passing(struct provider *p, int64_t now_ns)
{
    int count = 0;

    for (int i = 0; i < 100; i++)
        count += passes(p, now_ns);
    return count;
}

static void a_window_slides_and_has_no_margin(void **state)
{
    struct provider p;

    (void)state;
    open_limit(&p, "window=10/1s margin=50% adapt=probe");
    assert_int_equal(passing(&p, 100 * S), 10);
    assert_int_equal(passing(&p, 101 * S - 1), 0);
    assert_int_equal(passing(&p, 101 * S), 10);
    fb_provider_fini(&p);
}

static void a_fixed_window_opens_at_multiples(void **state)
{
    struct provider p;

    (void)state;
    open_limit(&p, "fixed=10/10s");
    assert_int_equal(passing(&p, 19 * S), 10);
    assert_int_equal(passing(&p, 20 * S - 1), 0);
    assert_int_equal(passing(&p, 20 * S), 10);
    fb_provider_fini(&p);
}

static void a_rate_is_a_bucket(void **state)
{
    struct provider p;

    (void)state;
    open_limit(&p, "rate=2/s burst=5");
    assert_int_equal(passing(&p, 7 * S), 5);
    assert_int_equal(passing(&p, 8 * S), 2);
    fb_provider_fini(&p);
    open_limit(&p, "rate=2/s adapt=probe");
    assert_int_equal(passing(&p, 7 * S), 10);
    fb_provider_fini(&p);
}

static void concurrency_counts_who_is_in(void **state)
{
    struct provider p;

    (void)state;
    open_limit(&p, "concurrency=3");
    assert_int_equal(passing(&p, S), 3);
    fb_provider_leave(&p, &ONE);
    assert_int_equal(passing(&p, S), 1);
    fb_provider_fini(&p);
}

static void a_penalty_shuts_the_door(void **state)
{
    struct provider p;

    (void)state;
    open_limit(&p, "window=2/1s penalty=30s");
    assert_int_equal(passing(&p, 10 * S), 2);
    assert_int_equal(passing(&p, 40 * S - 1), 0);
    assert_int_equal(passing(&p, 40 * S), 2);
    fb_provider_fini(&p);
}

static void without_a_text_all_pass(void **state)
{
    struct provider p;

    (void)state;
    open_limit(&p, NULL);
    assert_int_equal(passing(&p, S), 100);
    fb_provider_fini(&p);
}

static void bad_limits_are_explained(void **state)
{
    static const char *const rows[][2] = {
        {"windo=1/s", "windo=1/s: unknown word, expected one of rate"},
        {"windo=1/s", "concurrency, fixed, penalty"},
        {"fixed=1.5/s", "fixed=1.5/s: not understood, expected a count and a length"},
        {"fixed=x", "fixed=x: not understood"},
        {"penalty=x", "penalty=x: not understood, expected a time such as 30s"},
        {"penalty=1s penalty=2s", "said twice"},
        {"window=100000000/1h", "too large for the mock"},
        {"window=1/1s window=1/2s window=1/3s window=1/4s window=1/5s fixed=1/6s rate=1/s "
         "concurrency=1 fixed=1/8s",
         "at most 8"},
        {"fixed=1/1s fixed=1/1s fixed=1/1s fixed=1/1s fixed=1/1s fixed=1/1s fixed=1/1s fixed=1/1s "
         "fixed=1/1s",
         "fixed=1/1s: one more than"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct provider p;
        struct fly_error err = {""};

        assert_int_equal(fb_mock_limit_read(rows[i][0], 429, &p, &err), -EINVAL);
        assert_contains(err.text, rows[i][1]);
    }
}

/* ---- what is told ---- */

struct told {
    char text[2000];
};

static void add(void *to, const char *name, const char *value)
{
    char *text = ((struct told *)to)->text;
    size_t size = strlen(text);

    snprintf(text + size, sizeof(struct told) - size, "%s: %s\n", name, value);
}

/* After `before` requests at 100.5 s, what one more at `now_ns` is told. */
static struct told tell(const char *dialect, const char *limit, int before, int64_t now_ns)
{
    struct told told = {""};
    struct provider p;
    struct verdict v;
    struct mock_told t;
    struct field_sink sink = {add, &told};

    open_limit(&p, limit);
    for (int i = 0; i < before; i++)
        fb_provider_admit(&p, 100500 * MS, &ONE, &v);
    fb_provider_admit(&p, now_ns, &ONE, &v);
    fb_mock_tell(&p, now_ns, &v, &t);
    /* The wall clock is 1000 s ahead. */
    fb_dialect_find(dialect)->tell(&t, now_ns + 1000 * S, &sink);
    fb_provider_fini(&p);
    return told;
}

static void each_dialect_in_its_words(void **state)
{
    static const struct {
        const char *dialect;
        const char *limit;
        int before;
        const char *told;
    } rows[] = {
        {"github", "window=3/10s", 1,
         "X-RateLimit-Limit: 3\nX-RateLimit-Remaining: 1\nX-RateLimit-Used: 2\n"
         "X-RateLimit-Reset: 1111\nX-RateLimit-Resource: core\n"},
        {"github", "fixed=3/10s", 3,
         "X-RateLimit-Limit: 3\nX-RateLimit-Remaining: 0\nX-RateLimit-Used: 3\n"
         "X-RateLimit-Reset: 1110\nX-RateLimit-Resource: core\nRetry-After: 9\n"},
        {"github", "concurrency=1", 1, "Retry-After: 1\n"},
        {"github", "window=2/10s penalty=30s", 2,
         "X-RateLimit-Limit: 2\nX-RateLimit-Remaining: 0\nX-RateLimit-Used: 2\n"
         "X-RateLimit-Reset: 1131\nX-RateLimit-Resource: core\nRetry-After: 30\n"},
        {"ietf", "window=3/10s window=9/1m", 1,
         "RateLimit-Policy: \"default\";q=3;w=10, \"w60\";q=9;w=60\n"
         "RateLimit: \"default\";r=1;t=10, \"w60\";r=7;t=60\n"},
        {"ietf", "rate=2/s burst=4", 4,
         "RateLimit-Policy: \"default\";q=4;w=2\nRateLimit: \"default\";r=0;t=2\n"},
        {"ietf", "concurrency=1", 0, ""},
        {"ietf-old", "fixed=9/10s window=3/10s", 3,
         "RateLimit-Limit: 3\nRateLimit-Remaining: 0\nRateLimit-Reset: 10\nRetry-After: 10\n"},
        {"ietf-old", "concurrency=1", 0, ""},
        {"openai", "window=3/100ms", 0,
         "x-ratelimit-limit-requests: 3\nx-ratelimit-remaining-requests: 2\n"
         "x-ratelimit-reset-requests: 100ms\n"},
        {"openai", "fixed=2/10s", 2,
         "x-ratelimit-limit-requests: 2\nx-ratelimit-remaining-requests: 0\n"
         "x-ratelimit-reset-requests: 9s\nretry-after-ms: 9000\nRetry-After: 9\n"},
        {"openai", "fixed=2/370ms", 0,
         "x-ratelimit-limit-requests: 2\nx-ratelimit-remaining-requests: 1\n"
         "x-ratelimit-reset-requests: 10ms\n"},
        {"openai", "window=1/6m", 0,
         "x-ratelimit-limit-requests: 1\nx-ratelimit-remaining-requests: 0\n"
         "x-ratelimit-reset-requests: 6m0s\n"},
        {"openai", "window=2/6.25s", 0,
         "x-ratelimit-limit-requests: 2\nx-ratelimit-remaining-requests: 1\n"
         "x-ratelimit-reset-requests: 6.250s\n"},
        {"openai", "concurrency=1", 0, ""},
        {"anthropic", "fixed=2/10s", 2,
         "anthropic-ratelimit-requests-limit: 2\nanthropic-ratelimit-requests-remaining: 0\n"
         "anthropic-ratelimit-requests-reset: 1970-01-01T00:18:30Z\nRetry-After: 9\n"},
        {"anthropic", "concurrency=1", 0, ""},
        {"retry-after", "fixed=2/10s", 0, ""},
        {"retry-after", "fixed=2/10s", 2, "Retry-After: 9\n"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct told told = tell(rows[i].dialect, rows[i].limit, rows[i].before, 101 * S);

        if (strcmp(told.text, rows[i].told) != 0)
            fail_msg("row %zu: expected\n%stold\n%s", i, rows[i].told, told.text);
    }
    assert_null(fb_dialect_find("none")->tell);
    assert_null(fb_dialect_find("nonsense"));
    for (size_t i = 0; fb_dialect_names[i]; i++)
        assert_non_null(fb_dialect_find(fb_dialect_names[i]));
}

/* ---- queries ---- */

static struct mock_ask ask(const char *target)
{
    struct mock_ask a;
    const char *expects;

    assert_null(fb_mock_ask_read(fb_slice_of(target), &a, &expects));
    return a;
}

static void queries_ask_for_things(void **state)
{
    struct mock_ask a = ask("/a/b");

    (void)state;
    assert_int_equal(a.path.length, 4);
    assert_int_equal(a.status, 200);
    assert_int_equal(a.bytes, -1);
    assert_int_equal(a.fault, ASK_FINE);
    a = ask("/x?status=503&delay=1.5s&unknown=17&bytes=0&retry_after=0&drip=20ms&&y");
    assert_int_equal(a.path.length, 2);
    assert_int_equal(a.status, 503);
    assert_int_equal(a.delay_ns, 1500 * MS);
    assert_int_equal(a.bytes, 0);
    assert_int_equal(a.retry_s, 0);
    assert_int_equal(a.drip_ns, 20 * MS);
    a = ask("/pages?page=3&of=20");
    assert_int_equal(a.page, 3);
    assert_int_equal(a.of, 20);
    assert_int_equal(ask("?hang").fault, ASK_HANG);
    assert_int_equal(ask("?close").fault, ASK_CLOSE);
    assert_int_equal(ask("?reset").fault, ASK_RESET);
    assert_int_equal(ask("?cut=0").fault, ASK_CUT);
    assert_int_equal(ask("?cut=7").cut, 7);
    assert_int_equal(ask("/?").path.length, 1);
}

static void bad_values_are_named(void **state)
{
    static const char *const rows[][2] = {
        {"/?status=199", "status"}, {"/?status=600", "status"},
        {"/?status=", "status"},    {"/?status", "status"},
        {"/?status=-5", "status"},  {"/?bytes=1073741825", "bytes"},
        {"/?delay=5", "delay"},     {"/?delay=0000000000000000000000000000000000001s", "delay"},
        {"/?drip=x", "drip"},       {"/?cut=x", "cut"},
        {"/?hang=1", "hang"},       {"/?page=0", "page"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct mock_ask a;
        const char *expects = NULL;
        const char *wrong = fb_mock_ask_read(fb_slice_of(rows[i][0]), &a, &expects);

        assert_non_null(wrong);
        assert_string_equal(wrong, rows[i][1]);
        assert_non_null(expects);
    }
}

/* ---- the log ---- */

static const struct mock_arrival ARRIVAL = {
    .mono_ns = 5, .wall_ns = 7, .connection = 3, .verdict = 'A', .status = 200};

static struct mock_arrival arrival(struct slice id, char verdict)
{
    struct mock_arrival a = ARRIVAL;

    a.method = FB_SLICE("GET");
    a.target = FB_SLICE("/x");
    a.id = id;
    a.verdict = verdict;
    return a;
}

static void the_log_has_a_line_for_each(void **state)
{
    struct mock_log l;
    struct mock_arrival a = arrival(FB_SLICE("a\tb"), 'A');
    struct mock_arrival b = arrival(FB_SLICE(""), 'R');

    (void)state;
    assert_int_equal(fb_mock_log_open(&l, NULL), 0);
    assert_int_equal(fb_mock_log_arrival(&l, &a), 1);
    assert_int_equal(fb_mock_log_arrival(&l, &b), 2);
    fb_mock_log_end(&l, 9, 2, "aborted");
    assert_string_equal(fb_buffer_text(&l.recent), "A\t5\t7\t1\t3\t*\tGET\t/x\ta b\tA\t200\t1\n"
                                                   "A\t5\t7\t2\t3\t*\tGET\t/x\t-\tR\t200\t2\n"
                                                   "E\t9\t2\taborted\n");
    struct buffer json = BUFFER_INIT;
    fb_mock_stats_json(&l.stats, &json);
    assert_contains(fb_buffer_text(&json),
                    "\"arrivals\":2,\"accepted\":1,\"rejected\":1,\"failed\":0,"
                    "\"aborted\":1,\"inflight\":1,\"peak_inflight\":2");
    fb_buffer_fini(&json);
    assert_int_equal(fb_mock_log_close(&l), 0);
}

/* Memory holds the latest lines, whole ones; the file holds all. */
static void the_log_is_bounded(void **state)
{
    char path[] = "/tmp/flyball-log-XXXXXX";
    int fd = mkstemp(path);
    struct mock_log l;
    struct mock_arrival a = arrival(FB_SLICE("id"), 'A');
    long all = 0;

    (void)state;
    assert_int_equal(fb_mock_log_open(&l, path), 0);
    for (int i = 0; i < 60000; i++) {
        size_t size = l.recent.size;

        fb_mock_log_arrival(&l, &a);
        all += l.recent.size > size ? (long)(l.recent.size - size) : 0;
        assert_true(l.recent.size <= FB_MOCK_LOG_MAX && l.recent.bytes[0] == 'A');
    }
    assert_true(all > FB_MOCK_LOG_MAX);
    fb_mock_log_flush(&l);
    assert_true(lseek(fd, 0, SEEK_END) > all - 100);
    assert_int_equal(fb_mock_log_close(&l), 0);
    close(fd);
    unlink(path);
}

static void the_log_says_when_it_cannot_write(void **state)
{
    struct mock_log l;
    struct mock_arrival a = arrival(FB_SLICE("id"), 'F');

    (void)state;
    assert_int_equal(fb_mock_log_open(&l, "/nowhere/at/all"), -ENOENT);
    assert_int_equal(fb_mock_log_open(&l, "/dev/full"), 0);
    fb_mock_log_arrival(&l, &a);
    fb_mock_log_flush(&l);
    assert_int_equal(fb_mock_log_close(&l), -ENOSPC);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_window_slides_and_has_no_margin),
        cmocka_unit_test(a_fixed_window_opens_at_multiples),
        cmocka_unit_test(a_rate_is_a_bucket),
        cmocka_unit_test(concurrency_counts_who_is_in),
        cmocka_unit_test(a_penalty_shuts_the_door),
        cmocka_unit_test(without_a_text_all_pass),
        cmocka_unit_test(bad_limits_are_explained),
        cmocka_unit_test(each_dialect_in_its_words),
        cmocka_unit_test(queries_ask_for_things),
        cmocka_unit_test(bad_values_are_named),
        cmocka_unit_test(the_log_has_a_line_for_each),
        cmocka_unit_test(the_log_is_bounded),
        cmocka_unit_test(the_log_says_when_it_cannot_write),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
