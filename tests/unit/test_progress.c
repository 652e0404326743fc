/* SPDX-License-Identifier: MIT */
/* Lines about progress: what they say at every width, and times that come from the budget. */
#include "unit.h"

#include "fetch/eta.h"
#include "fetch/progress.h"
#include "view/words.h"

#define MIN (60 * S)
#define H   (3600 * S)
#define DAY (24 * H)

/* A batch at an API that tells of 5000 an hour. */
static struct progress batch(void)
{
    return (struct progress){
        .provider = "github",
        .pool = "core",
        .done = 12481,
        .total = 20000,
        .failed = 2,
        .rate = 1.25,
        .limit_learned = true,
        .quota = {.limit = 5000, .left = 2600, .window_ns = H, .more_ns = 30 * MIN},
        .eta = {.span_ns = 100 * MIN + 15 * S, .bound = ETA_BOUND_QUOTA},
        .now_ns = 1794753127 * S, /* 2026-11-15T14:32:07Z */
    };
}

static void check_line(const struct progress *p, size_t width, const char *expected)
{
    struct buffer b = BUFFER_INIT;

    fb_progress_line(p, width, &b);
    assert_string_equal(fb_buffer_text(&b), expected);
    assert_at_most((int64_t)strlen(b.bytes), (int64_t)width);
    fb_buffer_fini(&b);
}

static void line_leaves_out_what_matters_least(void **state)
{
    struct progress p = batch();

    (void)state;
    check_line(&p, 160,
               "github  [=======>    ]  12,481/20,000  62 %  1.25/s  core 2,600/5,000 left  "
               "429s 0  ETA 1h 40m (16:12), bound by core 5000/h");
    check_line(&p, 80,
               "12,481/20,000  1.25/s  2,600 left  429s 0  ETA 1h 40m, bound by core 5000/h");
    p.waits_ns = 41 * S; /* for whom? */
    check_line(&p, 80, "github  12,481/20,000  1.25/s  429s 0  waits 41 s, ETA 1h 40m");
    p.waits_ns = 0;
    check_line(&p, 70, "12,481/20,000  1.25/s  429s 0  ETA 1h 40m, bound by core 5000/h");
    check_line(&p, 40, "12,481/20,000  1.25/s  ETA 1h 40m");
    check_line(&p, 20, "12,481/20,000");
    check_line(&p, 10, "12,481/20,");
}

/* Whatever the numbers are, no line is longer than there is room. */
static void no_width_is_exceeded(void **state)
{
    struct progress p = batch();

    (void)state;
    p.total_grows = true;
    p.waits_ns = 41 * S;
    p.throttled = INT64_MAX;
    p.total = INT64_MAX;
    p.rate = 1e17;
    for (size_t width = 10; width < 200; width++) {
        struct buffer b = BUFFER_INIT;

        fb_progress_line(&p, width, &b);
        assert_at_most((int64_t)b.size, (int64_t)width);
        fb_buffer_fini(&b);
    }
}

static void line_while_learning_and_when_learned(void **state)
{
    struct progress p = {.provider = "127.0.0.1:80",
                         .pool = "default",
                         .done = 41,
                         .total = 600,
                         .rate = 20.13,
                         .limit = 20.0,
                         .limit_learned = true,
                         .learning = true,
                         .spent_ns = 3 * S,
                         .eta = {.span_ns = FB_ETA_UNKNOWN}};

    (void)state;
    check_line(&p, 60, "[>           ]   41/600   6 %  20.1/s  429s 0  learning");
    check_line(&p, 72, "[>           ]   41/600   6 %  20.1/s  429s 0  learning: no ceiling yet");
    p.spent_ns = S;
    check_line(&p, 79,
               "[>           ]   41/600   6 %  20.1/s of ?  429s 0  learning: starting low");
    p.waits_ns = 14 * S;
    check_line(&p, 70, "127.0.0.1:80   41/600   6 %  20.1/s  429s 0  waits 14 s, learning");
    p.waits_ns = 0;
    p.learning = false;
    p.throttled = 2;
    p.limit = 12.04;
    p.eta = (struct eta){.span_ns = 46 * S, .bound = ETA_BOUND_RATE};
    check_line(&p, 60, " 41/600   6 %  20.1/s  429s 2  ETA 46 s, bound by ~12.0/s");
    p.confidence = 0.806;
    check_line(&p, 130,
               "127.0.0.1:80  [>           ]   41/600   6 %  20.1/s of ~12.0  429s 2  "
               "confidence 81 %  ETA 46 s (00:00), bound by ~12.0/s");
    p.waits_ns = S;
    check_line(&p, 60, "127.0.0.1:80   41/600  20.1/s  429s 2  waits 1 s, ETA 46 s");
    check_line(&p, 50, " 41/600  20.1/s  429s 2  waits 1 s, ETA 46 s");
    p.is_down = true;
    check_line(&p, 60, " 41/600  20.1/s  429s 2  waits 1 s (no answer), ETA 46 s");
    p.failed_status = 500;
    check_line(&p, 50, " 41/600  20.1/s  429s 2  waits 1 s (500), ETA 46 s");
    p.is_down = false;
    p.total_grows = true;
    p.waits_ns = 0;
    check_line(&p, 79, " 41/600+  20.1/s of ~12.0  429s 2  ETA at least 46 s, bound by ~12.0/s");
}

static void line_of_nothing_and_of_all(void **state)
{
    struct progress p = {.done = 0, .total = 0};

    (void)state;
    check_line(&p, 79, "0/0  0.00/s  429s 0");
    p.done = p.total = 3;
    p.rate = 650.2;
    check_line(&p, 79, "[============]  3/3  100 %  650/s  429s 0");
}

static void check_plain(const struct progress *p, const char *expected)
{
    struct buffer b = BUFFER_INIT;

    fb_progress_plain(p, &b);
    assert_string_equal(fb_buffer_text(&b), expected);
    fb_buffer_fini(&b);
}

static void plain_and_json(void **state)
{
    struct progress p = batch();
    struct buffer b = BUFFER_INIT;

    (void)state;
    check_plain(&p, "2026-11-15T14:32:07Z fetch done=12481 total=20000 rate=1.25 bound=core:5000/h "
                    "eta=2026-11-15T16:12:22Z in_flight=0 throttled=0 failed=2 deferred=0");
    fb_progress_json(&p, &b);
    assert_string_equal(
        fb_buffer_text(&b),
        "{\"type\":\"progress\",\"done\":12481,\"total\":20000,\"rate\":1.25,\"learning\":false,"
        "\"remaining\":2600,\"bound\":{\"by\":\"core 5000/h\",\"provider\":\"github\",\"pool\":"
        "\"core\",\"limit\":5000,\"window_s\":3600},\"eta\":\"2026-11-15T16:12:22Z\",\"eta_s\":"
        "6015.0,\"in_flight\":0,\"throttled\":0,\"failed\":2,\"deferred\":0}");
    fb_buffer_fini(&b);
    p.eta.bound = ETA_BOUND_HOLD;
    check_plain(&p, "2026-11-15T14:32:07Z fetch done=12481 total=20000 rate=1.25 bound=hold "
                    "eta=2026-11-15T16:12:22Z in_flight=0 throttled=0 failed=2 deferred=0");
    p.total_grows = true;
    p.learning = true;
    p.eta.span_ns = FB_ETA_UNKNOWN;
    check_plain(&p, "2026-11-15T14:32:07Z fetch done=12481 rate=1.25 learning in_flight=0 "
                    "throttled=0 failed=2 deferred=0");
}

static void spans_have_at_most_two_units(void **state)
{
    static const struct {
        int64_t ns;
        const char *text;
    } CASES[] = {
        {0, "< 1 s"},
        {499 * MS, "< 1 s"},
        {500 * MS, "1 s"},
        {40 * S, "40 s"},
        {60 * S, "1m"},
        {750 * S, "12m 30s"},
        {H, "1h"},
        {100 * MIN, "1h 40m"},
        {24 * H, "1d"},
        {76 * H, "3d 4h"},
        {365 * DAY, "365d"},
        {366 * DAY, "> 1 y"},
        {INT64_MAX - 1, "> 1 y"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        struct buffer b = BUFFER_INIT;

        fb_words_span(CASES[i].ns, &b);
        assert_string_equal(fb_buffer_text(&b), CASES[i].text);
        fb_buffer_fini(&b);
    }
}

static void a_slow_rate_is_not_told_as_nothing(void **state)
{
    static const struct {
        double rate;
        const char *text;
    } CASES[] = {
        {0.0, "0.00"},           {650.4, "650"},          {99.95, "100"},
        {11.84, "11.8"},         {9.996, "10.0"},         {1.25, "1.25"},
        {0.5, "0.50"},           {0.0996, "0.10"},        {1.0 / 60, "0.017"},
        {10.0 / 3600, "0.0028"}, {1.0 / 3600, "0.00028"}, {1.0 / 86400, "0.000012"},
        {1e-12, "0.00000000"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        struct buffer b = BUFFER_INIT;

        fb_words_rate(CASES[i].rate, &b);
        assert_string_equal(fb_buffer_text(&b), CASES[i].text);
        fb_buffer_fini(&b);
    }
}

/* ---- the time to go ---- */

static void check_eta(const struct eta_key *k, double measured, bool is_full, int64_t span_ns,
                      enum eta_bound bound)
{
    struct eta_key measured_key = *k;
    measured_key.measured = measured;
    struct eta e = fb_eta_of_key(&measured_key, is_full);

    assert_int_equal(e.span_ns, span_ns);
    assert_int_equal(e.bound, bound);
}

static void eta_of_a_rate(void **state)
{
    struct eta_key k = {.todo = 600, .rate = 12.0};

    (void)state;
    check_eta(&k, 0.0, false, 50 * S, ETA_BOUND_RATE);
    check_eta(&k, 3.0, false, 50 * S, ETA_BOUND_RATE); /* what was measured does not matter ... */
    check_eta(&k, 3.0, true, 200 * S, ETA_BOUND_ANSWERS); /* ... unless no more fits */
    k.wait_ns = 41 * S;
    check_eta(&k, 3.0, false, 91 * S, ETA_BOUND_RATE);
    k.wait_ns = 51 * S;
    check_eta(&k, 3.0, false, 101 * S, ETA_BOUND_HOLD);
    k.learning = true; /* the pace will rise: nobody knows how far */
    check_eta(&k, 3.0, false, FB_ETA_UNKNOWN, ETA_BOUND_NOTHING);
}

static void eta_without_limits(void **state)
{
    struct eta_key k = {.todo = 600};

    (void)state;
    check_eta(&k, 0.0, false, FB_ETA_UNKNOWN, ETA_BOUND_NOTHING);
    check_eta(&k, 60.0, false, 10 * S, ETA_BOUND_ANSWERS);
    k.todo = 0;
    check_eta(&k, 60.0, false, 0, ETA_BOUND_NOTHING);
    k.todo = INT64_MAX;
    check_eta(&k, 1e-9, false, FB_ETA_UNKNOWN - 1, ETA_BOUND_ANSWERS);
}

static void eta_of_a_window(void **state)
{
    struct eta_key k = {.todo = 100,
                        .window = {.limit = 50, .left = 20, .window_ns = 10 * S, .more_ns = 4 * S}};

    (void)state;
    check_eta(&k, 40.0, false, 14 * S, ETA_BOUND_WINDOW); /* 20 now, 50 at 4 s, 30 at 14 s */
    k.todo = 70;
    check_eta(&k, 40.0, false, 4 * S, ETA_BOUND_WINDOW);
    k.todo = 20;
    check_eta(&k, 40.0, false, S / 2, ETA_BOUND_ANSWERS);
    k.todo = 71;
    k.window.left = -3; /* more than it may be: the limit was lowered */
    k.wait_ns = 4 * S;
    check_eta(&k, 40.0, false, 14 * S, ETA_BOUND_WINDOW);
}

/* The rest of this hour, then 5000 an hour: the pace of this hour is not that of the next. */
static void eta_of_a_quota(void **state)
{
    struct eta_key k = {.todo = 7600,
                        .rate = 100.0 / (30 * 60),
                        .quota = {.limit = 5000, .left = 100, .window_ns = H, .more_ns = 30 * MIN}};

    (void)state;
    check_eta(&k, 1.0, false, 2 * H, ETA_BOUND_QUOTA);
    k.todo = 100; /* it is spread until the reset */
    check_eta(&k, 1.0, false, 30 * MIN, ETA_BOUND_QUOTA);
    k.rate = 0.0;
    k.todo = 7600;
    k.quota.left = 0;
    k.wait_ns = 30 * MIN; /* which is the wait for the reset, and counts once */
    check_eta(&k, 1.0, false, 2 * H + 72 * S, ETA_BOUND_QUOTA);
    k.todo = 4000;
    k.quota.left = k.quota.kept = 1000; /* and so does that of what is kept back */
    k.quota.spending = ETA_AT_ONCE;
    check_eta(&k, 1.0, false, 30 * MIN, ETA_BOUND_QUOTA);
    k.quota.spending = ETA_SPREAD;
    k.quota.kept = 0;
    k.wait_ns = 0;
    k.quota.left = 5000;
    k.rate = 0.5; /* a stricter pace than the quota asks for */
    k.todo = 1000;
    check_eta(&k, 1.0, false, 2000 * S, ETA_BOUND_RATE);
    k.quota.window_ns = 0; /* not said: a quota of which nobody knows how long it is */
    k.rate = 0.0;
    check_eta(&k, 1.0, false, 1000 * S, ETA_BOUND_ANSWERS);
}

/* A short quota is told, and the pace is still far from it: what it will be nobody knows. */
static void eta_of_a_pace_that_climbs(void **state)
{
    struct eta_key k = {.todo = 20,
                        .rate = 0.5,
                        .climbs = true,
                        .quota = {.limit = 24, .left = 23, .window_ns = 2 * S, .more_ns = 2 * S}};

    (void)state;
    check_eta(&k, 5.0, false, FB_ETA_UNKNOWN, ETA_BOUND_NOTHING);
    k.todo = 60;
    check_eta(&k, 5.0, true, FB_ETA_UNKNOWN, ETA_BOUND_NOTHING);
    k.rate = 10.0; /* there it is */
    check_eta(&k, 5.0, false, 4 * S + 2 * S * 13 / 24, ETA_BOUND_QUOTA);
    k.todo = 20;
    check_eta(&k, 5.0, false, 2 * S, ETA_BOUND_QUOTA);
    k.quota.limit = 0; /* none is told any more */
    check_eta(&k, 5.0, false, FB_ETA_UNKNOWN, ETA_BOUND_NOTHING);
}

static void the_last_key_decides(void **state)
{
    struct eta_key k[] = {{.todo = 10, .rate = 1.0}, {.todo = 10, .rate = 0.5}, {.todo = 0}};
    struct eta e = fb_eta(k, COUNT_OF(k), false);

    (void)state;
    assert_int_equal(e.span_ns, 20 * S);
    assert_int_equal(e.key, 1);
    e = fb_eta(k, 0, false);
    assert_int_equal(e.span_ns, 0);
    assert_int_equal(e.bound, ETA_BOUND_NOTHING);
    k[2] = (struct eta_key){.todo = 1, .learning = true};
    e = fb_eta(k, COUNT_OF(k), false);
    assert_true(e.span_ns == FB_ETA_UNKNOWN);
    assert_int_equal(e.key, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(line_leaves_out_what_matters_least),
        cmocka_unit_test(no_width_is_exceeded),
        cmocka_unit_test(line_while_learning_and_when_learned),
        cmocka_unit_test(line_of_nothing_and_of_all),
        cmocka_unit_test(plain_and_json),
        cmocka_unit_test(spans_have_at_most_two_units),
        cmocka_unit_test(a_slow_rate_is_not_told_as_nothing),
        cmocka_unit_test(eta_of_a_rate),
        cmocka_unit_test(eta_without_limits),
        cmocka_unit_test(eta_of_a_window),
        cmocka_unit_test(eta_of_a_quota),
        cmocka_unit_test(eta_of_a_pace_that_climbs),
        cmocka_unit_test(the_last_key_decides),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
