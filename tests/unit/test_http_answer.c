/* SPDX-License-Identifier: MIT */
/* Heads of answers: what a client library lets through and we do not. */
#include "unit.h"

#include "http1/answer.h"

static const struct http_limits limits = {.line = 100, .head = 200, .fields = 4};

/* Feed a text as a client library would: cut behind every LF. The rest is a cut line. */
static enum http_fault feed(struct http_answer *a, const char *at, size_t size)
{
    enum http_fault fault = HTTP_FINE;

    while (size > 0) {
        const char *end = memchr(at, '\n', size);
        size_t line = end ? (size_t)(end - at) + 1 : size;

        fault = fb_http_answer_line(a, (struct slice){at, line});
        at += line;
        size -= line;
    }
    return fault;
}

struct row {
    const char *bytes;
    size_t size;
    enum http_fault fault;
};

#define ROW(bytes, fault)               \
    {                                   \
        bytes, sizeof(bytes) - 1, fault \
    }
#define OK "HTTP/1.1 200 OK\r\n"

static const struct row rows[] = {
    ROW(OK "\r\n", HTTP_FINE),
    ROW("HTTP/1.0 404 Not Found\r\nA: b\r\n\r\n", HTTP_FINE),
    ROW("HTTP/1.1 200\r\n\r\n", HTTP_FINE),
    ROW("HTTP/1.1 200 \r\n\r\n", HTTP_FINE),
    ROW("HTTP/2 200 \r\ncontent-length: 5\r\n\r\n", HTTP_FINE),
    ROW("HTTP/3 200\r\n\r\n", HTTP_FINE),
    ROW(OK "Transfer-Encoding: chunked\r\n\r\n", HTTP_FINE),
    ROW(OK "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n", HTTP_FINE),
    ROW(OK "A: b\r\n c\r\n\td\r\n\r\n", HTTP_FINE),
    /* several heads, then trailers */
    ROW("HTTP/1.1 100 Continue\r\n\r\n" OK "\r\n", HTTP_FINE),
    ROW("HTTP/1.1 302 Found\r\nContent-Length: 1\r\n\r\n" OK "Content-Length: 2\r\n\r\n",
        HTTP_FINE),
    ROW(OK "A:\r\nB:\r\nC:\r\n\r\nX-Sum: 1\r\n\r\n", HTTP_FINE),
    ROW(OK "\r\nContent-Length: 1\r\n", HTTP_TRAILER),
    ROW(OK "\r\nX\r\n", HTTP_NO_COLON),
    /* cut */
    ROW("", HTTP_HEAD_CUT),
    ROW(OK, HTTP_HEAD_CUT),
    ROW(OK "Content-Le", HTTP_HEAD_CUT),
    ROW(OK "A: b\r\n", HTTP_HEAD_CUT),
    ROW("HTTP/1.1 100 Continue\r\n\r\n", HTTP_HEAD_CUT),
    ROW("HTTP/1.1 100 Continue\r\n\r\n" OK, HTTP_HEAD_CUT),
    /* bytes */
    ROW(OK "A: b\rX: c\r\n\r\n", HTTP_BARE_CR),
    ROW(OK "A: b\r\r\n\r\n", HTTP_BARE_CR),
    ROW(OK "A: b\0c\r\n\r\n", HTTP_NUL),
    ROW(OK "A: b\x01\r\n\r\n", HTTP_CONTROL),
    ROW(OK "A: b\x7f\r\n\r\n", HTTP_CONTROL),
    ROW(OK "A: \xc3\xa9\r\n\r\n", HTTP_FINE),
    ROW(OK "A-Long-Name: value\r\n\r\n", HTTP_FINE),
    ROW(OK "A-Long-Name: value\x01\r\n\r\n", HTTP_CONTROL),
    ROW(OK "A-Long-Name: \x01value\r\n\r\n", HTTP_CONTROL),
    ROW(OK "A-Long\x01-Name: value\r\n\r\n", HTTP_CONTROL),
    ROW(OK "A-Long-Name: valu\xc3\xa9\r\n\r\n", HTTP_FINE),
    ROW("HTTP/1.1 200 OK\n\n", HTTP_BARE_LF),
    ROW(OK "A: b\n\r\n", HTTP_BARE_LF),
    ROW(OK "\n", HTTP_BARE_LF),
    /* where the body ends */
    ROW(OK "Content-Length: 5, 50\r\n\r\n", HTTP_LENGTH),
    ROW(OK "Content-Length: -5\r\n\r\n", HTTP_LENGTH),
    ROW(OK "Content-Length: 5\r\nContent-Length: 50\r\n\r\n", HTTP_LENGTH_TWICE),
    ROW(OK "Content-Length: 5\r\n 0\r\n\r\n", HTTP_FOLD),
    ROW(OK "Transfer-Encoding: chunked, identity\r\n\r\n", HTTP_CODING_LAST),
    ROW(OK "Transfer-Encoding: identity\r\n\r\n", HTTP_CODING_LAST),
    ROW(OK "Transfer-Encoding: gzip, chunked\r\n\r\n", HTTP_CODING_UNKNOWN),
    ROW(OK "Transfer-Encoding : chunked\r\n\r\n", HTTP_NAME_BLANK),
    /* lines */
    ROW("hello\r\n\r\n", HTTP_STATUS_LINE),
    ROW("\r\n", HTTP_STATUS_LINE),
    ROW("HTTP/1.1\r\n\r\n", HTTP_STATUS_LINE),
    ROW("HTTP/1.1 20\r\n\r\n", HTTP_STATUS_LINE),
    ROW("HTTP/1.1 2000\r\n\r\n", HTTP_STATUS_LINE),
    ROW("HTTP/1.1 2x0 OK\r\n\r\n", HTTP_STATUS_LINE),
    ROW("HTTP/1.1 099 OK\r\n\r\n", HTTP_STATUS_LINE),
    ROW("HTTP/1.2 200 OK\r\n\r\n", HTTP_STATUS_LINE),
    ROW("http/1.1 200 OK\r\n\r\n", HTTP_STATUS_LINE),
    ROW("HTTP/9 200 OK\r\n\r\n", HTTP_STATUS_LINE),
    ROW(OK "\r\nHTTP/1.1 x\r\n", HTTP_STATUS_LINE),
    ROW(OK " A: b\r\n\r\n", HTTP_FOLD),
    ROW(OK ": b\r\n\r\n", HTTP_NAME_EMPTY),
    ROW(OK OK "\r\n", HTTP_NO_COLON),
    ROW(OK "A(: b\r\n", HTTP_NAME),
    /* limits */
    ROW(OK "A:\r\nB:\r\nC:\r\nD:\r\n\r\n", HTTP_FINE),
    ROW(OK "A:\r\nB:\r\nC:\r\nD:\r\nE:\r\n\r\n", HTTP_FIELDS_MANY),
};

static void judges_heads(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct http_answer a;

        fb_http_answer_init(&a, &limits);
        enum http_fault fault = feed(&a, rows[i].bytes, rows[i].size);
        enum http_fault end = fb_http_answer_end(&a);
        if (end != rows[i].fault)
            fail_msg("row %zu: %s\nexpected: %s, told: %s", i, rows[i].bytes,
                     fb_http_fault_reason(rows[i].fault), fb_http_fault_reason(end));
        /* What can be told before the end is told at once; and the first fault stays. */
        if (end != HTTP_FINE && end != HTTP_HEAD_CUT) {
            assert_int_equal(fault, end);
            assert_int_equal(fb_http_answer_line(&a, FB_SLICE(OK)), end);
        }
    }
}

/* A line of `size` bytes with its end. */
static enum http_fault feed_line(struct http_answer *a, size_t size)
{
    char line[300];

    assert_true(size >= 4 && size <= sizeof(line));
    memset(line, 'x', size);
    line[1] = ':';
    line[size - 2] = '\r';
    line[size - 1] = '\n';
    return fb_http_answer_line(a, (struct slice){line, size});
}

static void keeps_to_the_limits(void **state)
{
    struct http_answer a;

    (void)state;
    fb_http_answer_init(&a, &limits);
    assert_int_equal(feed(&a, OK, sizeof(OK) - 1), HTTP_FINE);
    assert_int_equal(feed_line(&a, 103), HTTP_LINE_LONG);

    /* 17 of the status line and 183: the head is full, and the next byte is too much. */
    for (size_t more = 0; more < 2; more++) {
        fb_http_answer_init(&a, &limits);
        assert_int_equal(feed(&a, OK, sizeof(OK) - 1), HTTP_FINE);
        assert_int_equal(feed_line(&a, 102), HTTP_FINE);
        assert_int_equal(feed_line(&a, 81 + more), more ? HTTP_HEAD_LONG : HTTP_FINE);
    }
}

static void tells_what_the_head_says(void **state)
{
    static const char both[] = OK "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n";
    static const char length[] = OK "Content-Length: 5\r\nConnection: close\r\n\r\n";
    struct http_answer a;

    (void)state;
    fb_http_answer_init(&a, &limits);
    assert_int_equal(feed(&a, both, sizeof(both) - 1), HTTP_FINE);
    assert_true(fb_http_answer_taints(&a));
    /* The next head of the same transfer begins afresh. */
    assert_int_equal(feed(&a, length, sizeof(length) - 1), HTTP_FINE);
    assert_false(fb_http_answer_taints(&a));
    assert_int_equal(feed(&a, OK "\r\n", sizeof(OK) + 1), HTTP_FINE);
    assert_false(fb_http_answer_taints(&a));
    assert_int_equal(feed(&a, length, sizeof(length) - 1), HTTP_FINE);
    assert_int_equal(a.framing.length, 5);
    assert_true(a.framing.close);
    assert_int_equal(a.status, 200);
    assert_int_equal(a.major, 1);
}

static void an_empty_line_is_no_line(void **state)
{
    struct http_answer a;

    (void)state;
    fb_http_answer_init(&a, &limits);
    assert_int_equal(fb_http_answer_line(&a, FB_SLICE("")), HTTP_HEAD_CUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(judges_heads),
        cmocka_unit_test(keeps_to_the_limits),
        cmocka_unit_test(tells_what_the_head_says),
        cmocka_unit_test(an_empty_line_is_no_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
