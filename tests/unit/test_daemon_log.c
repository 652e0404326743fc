/* SPDX-License-Identifier: MIT */
/* The daemon's own log: two forms, four levels, one clock; and what is counted of requests. */
#include "unit.h"

#include <fcntl.h>
#include <unistd.h>

#include "daemon/gauges.h"
#include "daemon/log.h"
#include "daemon/metrics.h"

static char path[64];

static int begin(void **state)
{
    (void)state;
    (void)snprintf(path, sizeof path, "/tmp/flyball-log-XXXXXX");
    int fd = mkstemp(path);
    (void)close(fd);
    return fd < 0;
}

static int end(void **state)
{
    (void)state;
    return unlink(path);
}

static const char *content(void)
{
    static char text[4096];
    FILE *f = fopen(path, "re");

    assert_non_null(f);
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    (void)fclose(f);
    return text;
}

static int64_t clock_of(const void *arg)
{
    return *(const int64_t *)arg;
}

#define T "2023-11-14T22:13:20.123Z"

/* A line of each level, and an event of each level that events have. */
static const char *const LINES[][LOG_LEVELS] = {
    {"{\"time\":\"" T "\",\"level\":\"error\",\"event\":\"it\",\"text\":\"a \\\"b\\\" error\"}\n",
     "{\"time\":\"" T
     "\",\"level\":\"warning\",\"event\":\"it\",\"text\":\"a \\\"b\\\" warning\"}\n"
     "{\"time\":\"" T "\",\"level\":\"warning\",\"event\":\"stuck\"}\n",
     "{\"time\":\"" T "\",\"level\":\"info\",\"event\":\"it\",\"text\":\"a \\\"b\\\" info\"}\n"
     "{\"time\":\"" T "\",\"level\":\"info\",\"event\":\"recycle\"}\n",
     "{\"time\":\"" T "\",\"level\":\"debug\",\"event\":\"it\",\"text\":\"a \\\"b\\\" debug\"}\n"
     "{\"time\":\"" T "\",\"level\":\"debug\",\"event\":\"request\"}\n"},
    {"time=" T " level=error event=it text=\"a \\\"b\\\" error\"\n",
     "time=" T " level=warning event=it text=\"a \\\"b\\\" warning\"\n"
     "time=" T " level=warning event=stuck\n",
     "time=" T " level=info event=it text=\"a \\\"b\\\" info\"\n"
     "time=" T " level=info event=recycle\n",
     "time=" T " level=debug event=it text=\"a \\\"b\\\" debug\"\n"
     "time=" T " level=debug event=request\n"},
};

static void write_all(struct log *l, int64_t at_ns)
{
    static const char *const NAMES[] = {"error", "warning", "info", "debug"};
    static const enum event_type EVENTS[] = {FB_EVENT_KINDS, FB_EVENT_STUCK, FB_EVENT_RECYCLE,
                                             FB_EVENT_REQUEST};

    for (enum log_level level = LEVEL_error; level < LOG_LEVELS; level++) {
        fb_log(l, level, "it", "a \"b\" %s", NAMES[level]);
        if (level > LEVEL_error)
            fb_log_event(
                l, &(struct event){.at_ns = at_ns, .kind = EVENTS[level], .until_ns = INT64_MIN});
    }
}

/* Whatever is below the level is not there; time comes first, of one clock and in one form. */
static void each_form_and_level(void **state)
{
    static const enum log_form FORMS[] = {LOG_JSON, LOG_LOGFMT};
    const int64_t at_ns = INT64_C(1700000000123) * MS;
    struct fly_error err = {""};

    (void)state;
    for (size_t f = 0; f < 2; f++) {
        for (enum log_level level = LEVEL_error; level < LOG_LEVELS; level++) {
            struct log l = {.form = FORMS[f], .level = level, .now = clock_of, .arg = &at_ns};
            char expected[2048] = "";

            assert_int_equal(truncate(path, 0), 0);
            assert_int_equal(fb_log_open(&l, path, &err), 0);
            write_all(&l, at_ns);
            fb_log_close(&l);
            for (size_t i = 0, at = 0; i <= level; i++)
                at += (size_t)snprintf(expected + at, sizeof expected - at, "%s", LINES[f][i]);
            assert_string_equal(content(), expected);
            assert_int_equal(l.lines_lost, 0);
        }
    }
}

static void lines_that_are_lost_are_counted(void **state)
{
    struct log l = {.form = LOG_JSON, .level = LEVEL_info};

    (void)state;
    l.fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
    fb_log(&l, LEVEL_error, "it", "full");
    fb_log_event(&l, &(struct event){.kind = FB_EVENT_RECYCLE});
    fb_log(&l, LEVEL_debug, "it", "not written anyway");
    assert_int_equal(l.lines_lost, 2);
    (void)close(l.fd);
}

/* ------------------------------------------------------------------------------------ metrics */

static void answer(struct meters *m, const char *method, int32_t status, const char *error)
{
    struct event e = {
        .kind = FB_EVENT_ANSWER, .status = status, .http = 11, .provider = "it", .pool = "default"};

    (void)snprintf(e.method, sizeof e.method, "%s", method);
    (void)snprintf(e.error, sizeof e.error, "%s", error);
    fb_meters_on_event(m, &e);
}

static void has(const struct buffer *b, const char *line)
{
    if (!strstr(b->bytes, line))
        fail_msg("%s is not in\n%s", line, b->bytes);
}

/* 4xx are not ok; methods that nobody knows share one name, however many there are. */
static void outcomes_and_methods(void **state)
{
    static struct gauges gauges;
    struct meters m;
    struct metrics_facts f = {
        .gauges = &gauges, .meters = &m, .grade = "healthy", .log_lines_lost = 7};
    struct buffer b = BUFFER_INIT;

    (void)state;
    assert_int_equal(fb_meters_init(&m), 0);
    answer(&m, "GET", 200, "");
    fb_meters_on_event(&m, &(struct event){.kind = FB_EVENT_ANSWER,
                                           .status = 200,
                                           .http = 20,
                                           .method = "HEAD",
                                           .provider = "two",
                                           .pool = "default"});
    answer(&m, "GET", 304, "");
    answer(&m, "PATCH", 404, "4xx");
    answer(&m, "get", 403, "4xx");
    answer(&m, "PROPFIND", 403, "4xx");
    answer(&m, "GET", 429, "throttled");
    answer(&m, "GET", 503, "5xx");
    answer(&m, "GET", 0, "dns");
    fb_metrics_write(&f, false, &b);
    assert_non_null(fb_buffer_text(&b));
    has(&b, "flyball_requests_total{provider=\"it\",pool=\"default\",outcome=\"ok\"} 2\n");
    has(&b,
        "flyball_requests_total{provider=\"it\",pool=\"default\",outcome=\"client_error\"} 3\n");
    has(&b, "flyball_requests_total{provider=\"it\",pool=\"default\",outcome=\"throttled\"} 1\n");
    has(&b, "flyball_requests_total{provider=\"it\",pool=\"default\",outcome=\"error\"} 2\n");
    has(&b, "http_client_request_duration_seconds_count{provider=\"it\",pool=\"default\","
            "http_request_method=\"_OTHER\",http_response_status_code=\"403\","
            "error_type=\"4xx\",server_address=\"\",server_port=\"\","
            "network_protocol_version=\"1.1\"} 2\n");
    has(&b, "http_request_method=\"PATCH\"");
    has(&b, "network_protocol_version=\"2\"}");
    assert_null(strstr(b.bytes, "PROPFIND"));
    has(&b, "flyball_log_lines_lost_total 7\n");
    fb_buffer_fini(&b);
    fb_meters_fini(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_form_and_level, begin, end),
        cmocka_unit_test(lines_that_are_lost_are_counted),
        cmocka_unit_test(outcomes_and_methods),
    };

    return cmocka_run_group_tests_name("the daemon's log and counts", tests, NULL, NULL);
}
