/* SPDX-License-Identifier: MIT */
/* The text of metrics, byte by byte, and what events add up to. */
#include "unit.h"

#include <math.h>

#include "core/recovery.h"
#include "daemon/meters.h"
#include "util/alloc.h"

static const struct metric_family COUNTER = {"a", METRIC_COUNTER, NULL, "how\nmany\\"};
static const struct metric_family GAUGE = {"g_seconds", METRIC_GAUGE, "seconds", "level"};
static const struct metric_family HISTOGRAM = {"h", METRIC_HISTOGRAM, NULL, "spread"};

static void check(struct buffer *b, const char *expected)
{
    assert_string_equal(fb_buffer_text(b), expected);
    fb_buffer_fini(b);
}

static void both_forms(void **state)
{
    struct buffer b = BUFFER_INIT;
    struct exposition x = {.out = &b};
    const struct metric_label label[] = {{"p", "a\"b\\c\nd"}, {"q", "é"}};

    (void)state;
    fb_metric_begin(&x, &COUNTER);
    fb_metric_sample(&x, label, 2, 3);
    fb_metric_begin(&x, &GAUGE);
    fb_metric_sample(&x, NULL, 0, 0.25);
    fb_metric_sample(&x, label, 1, INFINITY);
    fb_metric_sample(&x, label, 1, NAN);
    fb_metric_end(&x);
    check(&b, "# HELP a_total how\\nmany\\\\\n# TYPE a_total counter\n"
              "a_total{p=\"a\\\"b\\\\c\\nd\",q=\"é\"} 3\n"
              "# HELP g_seconds level\n# TYPE g_seconds gauge\ng_seconds 0.25\n"
              "g_seconds{p=\"a\\\"b\\\\c\\nd\"} +Inf\ng_seconds{p=\"a\\\"b\\\\c\\nd\"} NaN\n");

    x = (struct exposition){.out = &b, .openmetrics = true};
    fb_metric_begin(&x, &COUNTER);
    fb_metric_sample(&x, NULL, 0, 1e18);
    fb_metric_begin(&x, &GAUGE);
    fb_metric_end(&x);
    check(&b, "# HELP a how\\nmany\\\\\n# TYPE a counter\na_total 1e+18\n"
              "# HELP g_seconds level\n# TYPE g_seconds gauge\n# UNIT g_seconds seconds\n# EOF\n");
}

static void histograms(void **state)
{
    static const struct histogram_form FORM = {.bounds = 3, .bound = {0.5, 1, 2}};
    struct histogram h = {0};
    struct buffer b = BUFFER_INIT;
    struct exposition x = {.out = &b};

    (void)state;
    assert_close(fb_histogram_quantile(&h, &FORM, 0.5), 0.0, 0.0);
    fb_histogram_add(&h, &FORM, 0.5);
    fb_histogram_add(&h, &FORM, 1.5);
    fb_histogram_add(&h, &FORM, 1.5);
    fb_histogram_add(&h, &FORM, 7);
    assert_int_equal(fb_histogram_count(&h), 4);
    assert_close(fb_histogram_quantile(&h, &FORM, 0.25), 0.5, 1e-9);
    assert_close(fb_histogram_quantile(&h, &FORM, 0.5), 1.5, 1e-9);
    assert_close(fb_histogram_quantile(&h, &FORM, 0.99), 2.0, 1e-9);
    fb_metric_begin(&x, &HISTOGRAM);
    fb_metric_histogram(&x, &(struct metric_label){"p", "v"}, 1, &h, &FORM);
    check(&b, "# HELP h spread\n# TYPE h histogram\n"
              "h_bucket{p=\"v\",le=\"0.5\"} 1\nh_bucket{p=\"v\",le=\"1.0\"} 1\n"
              "h_bucket{p=\"v\",le=\"2.0\"} 3\nh_bucket{p=\"v\",le=\"+Inf\"} 4\n"
              "h_sum{p=\"v\"} 10.5\nh_count{p=\"v\"} 4\n");
}

/* ----------------------------------------------------------------------------------- meters */

static struct event event(enum event_type kind, const char *provider, const char *pool)
{
    struct event e = {.kind = kind, .until_ns = INT64_MIN, .method = "GET"};

    (void)snprintf(e.provider, sizeof e.provider, "%s", provider);
    (void)snprintf(e.pool, sizeof e.pool, "%s", pool);
    return e;
}

static void what_events_add_up_to(void **state)
{
    struct meters m;
    struct event e = event(FB_EVENT_REQUEST, "github", "core");

    (void)state;
    assert_int_equal(fb_meters_init(&m), 0);
    fb_meters_on_event(&m, &e);
    fb_meters_on_event(&m, &e);
    e.kind = FB_EVENT_ANSWER;
    e.status = 200;
    e.duration_ns = 20 * MS;
    fb_meters_on_event(&m, &e);
    e.status = 403; /* a refusal for rate in disguise */
    (void)snprintf(e.error, sizeof e.error, "throttled");
    fb_meters_on_event(&m, &e);
    e.status = 500;
    (void)snprintf(e.error, sizeof e.error, "5xx");
    fb_meters_on_event(&m, &e);
    e.kind = FB_EVENT_RETRY;
    fb_meters_on_event(&m, &e);
    e = event(FB_EVENT_OUTCOME, "github", "core");
    (void)snprintf(e.outcome, sizeof e.outcome, "failed");
    (void)snprintf(e.cause, sizeof e.cause, "hold");
    e.waited_ns = 2 * S;
    e.lost = 7;
    fb_meters_on_event(&m, &e);

    size_t i = fb_meters_find(&m, "github", "core");
    const struct meter_set *s = &m.set[i];
    assert_int_equal(i, 1);
    assert_int_equal(s->requests, 2);
    assert_int_equal(s->answers, 3);
    assert_int_equal(s->throttled, 1);
    assert_int_equal(s->errors, 1);
    assert_int_equal(s->retries, 1);
    assert_int_equal(s->tasks[ENGINE_FAILED], 1);
    assert_int_equal(s->tasks[ENGINE_OK], 0);
    assert_close(s->waited_s, 2.0, 1e-9);
    assert_int_equal(s->durations, 4); /* three, and "other" */
    assert_string_equal(m.cause[1], "hold");
    assert_int_equal(fb_histogram_count(&s->wait[1]), 1);
    assert_int_equal(m.recoveries, 3); /* "retry", "fail", and "other" */
    assert_int_equal(m.lost, 7);
    fb_meters_fini(&m);
}

/* However many hosts, methods, statuses, causes and operations there are. */
static void everything_is_bounded(void **state)
{
    struct meters m;
    uint64_t sum = 0;

    (void)state;
    assert_int_equal(fb_meters_init(&m), 0);
    fb_meters_reserve(&m, "github", "core", NULL);
    for (int i = 0; i < 100000; i++) {
        struct event e = event(i % 2 ? FB_EVENT_ANSWER : FB_EVENT_OUTCOME, "", "default");

        (void)snprintf(e.provider, sizeof e.provider, "host-%d.example", i);
        (void)snprintf(e.method, sizeof e.method, "M%d", i);
        (void)snprintf(e.cause, sizeof e.cause, "cause-%d", i);
        (void)snprintf(e.operation, sizeof e.operation, "op-%d", i);
        (void)snprintf(e.outcome, sizeof e.outcome, "failed");
        e.status = i;
        fb_meters_on_event(&m, &e);
    }
    assert_int_equal(m.sets, METER_SETS);
    assert_int_equal(m.causes, METER_CAUSES);
    assert_int_equal(m.recoveries, METER_RECOVERIES);
    assert_int_equal(fb_meters_find(&m, "host-99999.example", "default"), 0);
    for (size_t i = 0; i < m.sets; i++)
        sum += m.set[i].answers;
    assert_int_equal(sum, 50000);
    assert_true(fb_meters_find(&m, "github", "core") > 0);
    assert_int_equal(m.set[0].durations, METER_DURATIONS);
    fb_meters_fini(&m);
}

/* A name that is longer than its field is the same name every time. */
static void long_names(void **state)
{
    struct meters m;
    char name[200];

    (void)state;
    memset(name, 'a', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    assert_int_equal(fb_meters_init(&m), 0);
    fb_meters_reserve(&m, name, name, NULL);
    fb_meters_reserve(&m, name, name, NULL);
    assert_int_equal(m.sets, 2);
    assert_int_equal(fb_meters_find(&m, name, name), 1);
    fb_meters_fini(&m);
    fb_alloc_fail_at(1);
    assert_true(fb_meters_init(&m) < 0);
    fb_alloc_fail_at(0);
    fb_meters_fini(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_forms),
        cmocka_unit_test(histograms),
        cmocka_unit_test(what_events_add_up_to),
        cmocka_unit_test(everything_is_bounded),
        cmocka_unit_test(long_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
