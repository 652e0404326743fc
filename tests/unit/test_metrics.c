/* SPDX-License-Identifier: MIT */
/* Rows of metrics, series that are merged, and the report that is drawn from them. */
#include "unit.h"

#include <jansson.h>

#include "fetch/metrics.h"
#include "view/report.h"
#include "view/series.h"

static void columns_and_rows_fit_together(void **state)
{
    struct metrics_row row = {.at_ns = 1794753127 * S,
                              .elapsed_ns = 2500 * MS,
                              .done = 12,
                              .rate = 11.8,
                              .limit = 12.04,
                              .tokens = 0.25,
                              .sent = 12,
                              .throttled = 1,
                              .in_flight = 3,
                              .queued = 185,
                              .answers = 11,
                              .p50_ns = 22 * MS,
                              .p95_ns = 31 * MS,
                              .p99_ns = 1200 * MS,
                              .key = "a.example/core"};
    struct buffer b = BUFFER_INIT;

    (void)state;
    row.wait_ns[METRICS_WAIT_bucket] = 750 * MS;
    row.wait_ns[METRICS_WAIT_hold] = 250 * MS;
    fb_metrics_head(&b);
    fb_metrics_line(&row, &b);
    row = (struct metrics_row){.at_ns = 1794753128 * S, .tokens = -1.0, .key = "=cmd,\"x\""};
    fb_metrics_line(&row, &b);
    assert_string_equal(
        fb_buffer_text(&b),
        "time,elapsed_s,done,rate,limit,tokens,sent,throttled,in_flight,queued,wait_bucket_s,"
        "wait_window_s,wait_quota_s,wait_hold_s,wait_concurrency_s,wait_other_s,answers,"
        "latency_p50_ms,latency_p95_ms,latency_p99_ms,key\n"
        "2026-11-15T14:32:07Z,2.50,12,11.800,12.040,0.250,12,1,3,185,0.75,0.00,0.00,0.25,0.00,"
        "0.00,11,22.00,31.00,1200.00,a.example/core\n"
        "2026-11-15T14:32:08Z,0.00,0,0.000,,,0,0,0,0,0.00,0.00,0.00,0.00,0.00,0.00,0,,,,"
        "\"'=cmd,\"\"x\"\"\"\n");
    fb_buffer_fini(&b);
}

static void every_cause_has_a_column(void **state)
{
    (void)state;
    assert_int_equal(fb_metrics_wait("bucket"), METRICS_WAIT_bucket);
    assert_int_equal(fb_metrics_wait("concurrency"), METRICS_WAIT_concurrency);
    assert_int_equal(fb_metrics_wait("ramp"), METRICS_WAIT_hold);
    assert_int_equal(fb_metrics_wait("breaker"), METRICS_WAIT_other);
    assert_int_equal(fb_metrics_wait("other"), METRICS_WAIT_other);
}

/* A day in seconds: sums and time stay what they were, in bounded room. */
static void nothing_is_lost_when_rows_are_merged(void **state)
{
    struct view_series *s = malloc(sizeof *s);
    int64_t sent = 0;
    int64_t waited = 0;
    int64_t at_ns = 1000 * S;

    (void)state;
    assert_non_null(s);
    fb_view_series_init(s, S);
    for (int i = 0; i < 86400; i++) {
        struct view_row row = {.began_ns = 1000 * S + i * S, .span_ns = S};
        row.key[0].sent = i % 17;
        row.wait_ns[2] = i % 5 * MS;
        sent += i % 17;
        waited += i % 5 * MS;
        fb_view_series_add(s, &row);
    }
    assert_at_most((int64_t)s->count, VIEW_SERIES_ROWS);
    assert_at_least((int64_t)s->count, VIEW_SERIES_ROWS / 2 - 1);
    for (size_t i = 0; i < s->count; i++) {
        assert_int_equal(s->row[i].began_ns, at_ns);
        at_ns += s->row[i].span_ns;
        sent -= s->row[i].key[0].sent;
        waited -= s->row[i].wait_ns[2];
    }
    assert_int_equal(at_ns, 1000 * S + 86400 * S);
    assert_int_equal(sent, 0);
    assert_int_equal(waited, 0);
    free(s);
}

/* ----------------------------------------------------------------------------------- reports */

struct example {
    struct view_batch batch;
    struct view_series series;
    struct spans answers;
    struct view_report report;
};

static struct example *example_new(int rows)
{
    struct example *e = calloc(1, sizeof *e);

    assert_non_null(e);
    fb_view_put(e->batch.list, sizeof e->batch.list, "/a/<script>alert(1)</script>&\".txt");
    fb_view_put(e->batch.key[0].provider, sizeof e->batch.key[0].provider, "<img onerror=x>");
    fb_view_put(e->batch.key[0].pool, sizeof e->batch.key[0].pool, "default");
    e->batch.key_count = 1;
    e->batch.key[0].requests = rows;
    e->batch.began_ns = 1794753127 * S;
    e->batch.ended_ns = e->batch.began_ns + rows * S;
    fb_view_series_init(&e->series, S);
    fb_spans_init(&e->answers);
    for (int i = 0; i < rows; i++) {
        struct view_row row = {.began_ns = e->batch.began_ns + i * S, .span_ns = S};
        row.key[0] = (struct view_series_key){
            .sent = 10 + i % 3, .refused = i == 3, .limit = i > 3 ? 12.5f : 0.0f};
        fb_view_series_add(&e->series, &row);
        fb_spans_add(&e->answers, (20 + i) * MS);
    }
    e->report = (struct view_report){&e->batch, &e->series, &e->answers};
    return e;
}

/* Every element that is opened is closed, in order. */
static void check_nesting(const char *text)
{
    char open[32][16];
    int depth = 0;

    for (const char *at = strchr(text, '<'); at; at = strchr(at + 1, '<')) {
        char name[16] = "";
        const char *from = at + 1 + (at[1] == '/');
        const char *close = strchr(at, '>');
        size_t size = strcspn(from, " >/\n");

        assert_non_null(close);
        if (*from == '!')
            continue;
        assert_true(size > 0 && size < sizeof name);
        memcpy(name, from, size);
        if (close[-1] == '/' && at[1] != '/')
            continue;
        if (at[1] != '/') {
            assert_true(depth < 32);
            memcpy(open[depth++], name, sizeof name);
            continue;
        }
        assert_true(depth > 0);
        assert_string_equal(open[--depth], name);
    }
    assert_int_equal(depth, 0);
}

static void pictures_are_well_formed(void **state)
{
    static const int ROWS[] = {0, 1, 2, 60, 1000};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        struct example *e = example_new(ROWS[i]);
        struct buffer picture = BUFFER_INIT;

        fb_view_report_svg(&e->report, &picture);
        check_nesting(fb_buffer_text(&picture));
        assert_null(strstr(picture.bytes, "nan"));
        fb_buffer_fini(&picture);
        free(e);
    }
}

/* What is between the element that holds the figures and its end. */
static const char *figures_of(const char *page, size_t *ret_size)
{
    const char *mark = "id=\"boot\">";
    const char *from = strstr(page, mark);
    const char *end = from ? strstr(from, "</script>") : NULL;

    assert_non_null(end);
    *ret_size = (size_t)(end - from) - strlen(mark);
    return from + strlen(mark);
}

static void pages_hold_their_figures_and_nobody_elses(void **state)
{
    static const int ROWS[] = {0, 1, 60, 1000};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(ROWS); i++) {
        struct example *e = example_new(ROWS[i]);
        struct buffer page = BUFFER_INIT;
        size_t size;

        fb_view_put(e->batch.command, sizeof e->batch.command, "flyball fetch of-mine");
        fb_view_put(e->batch.journal, sizeof e->batch.journal, "/home/me/mine.journal");
        fb_view_report_html(&e->report, &page);
        const char *json = figures_of(fb_buffer_text(&page), &size);
        json_t *root = json_loadb(json, size, JSON_REJECT_DUPLICATES, NULL);
        assert_non_null(root);
        assert_true(json_is_true(json_object_get(root, "frozen")));
        assert_int_equal(
            json_integer_value(json_object_get(json_object_get(root, "latency"), "count")),
            ROWS[i]);
        const json_t *history = json_object_get(root, "history");
        assert_int_equal(json_array_size(json_object_get(history, "ends_s")), e->series.count);
        json_decref(root);
        assert_null(memchr(json, '<', size));
        assert_null(strstr(page.bytes, "<img"));
        assert_null(strstr(page.bytes, "<script>alert"));
        assert_null(strstr(page.bytes, "of-mine"));
        assert_null(strstr(page.bytes, "mine.journal"));
        assert_contains(page.bytes, "&lt;img onerror=x&gt;");
        assert_contains(page.bytes, "default-src 'none'; script-src 'sha256-");
        fb_buffer_fini(&page);
        free(e);
    }
}

static void names_say_what_a_report_is(void **state)
{
    (void)state;
    assert_true(fb_view_report_is_svg("a.svg"));
    assert_true(fb_view_report_is_html("a.HTML"));
    assert_true(fb_view_report_is_html("x/y.htm"));
    assert_false(fb_view_report_is_svg(".svg"));
    assert_false(fb_view_report_is_html("a.txt"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_and_rows_fit_together),
        cmocka_unit_test(every_cause_has_a_column),
        cmocka_unit_test(nothing_is_lost_when_rows_are_merged),
        cmocka_unit_test(pictures_are_well_formed),
        cmocka_unit_test(pages_hold_their_figures_and_nobody_elses),
        cmocka_unit_test(names_say_what_a_report_is),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
