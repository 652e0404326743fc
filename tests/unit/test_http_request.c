/* SPDX-License-Identifier: MIT */
/* The request reader: what is right is read, what is wrong is refused, however it is cut. */
#include "unit.h"

#include "http1/request_line.h"
#include "http_rig.h"

#define HOST "Host: a\r\n"
#define GET  "GET / HTTP/1.1\r\n" HOST

struct row {
    const char *bytes;
    size_t size;
    const char *told;
};

#define ROW(bytes, told)               \
    {                                  \
        bytes, sizeof(bytes) - 1, told \
    }

static const struct row right[] = {
    ROW(GET "\r\n", "HEAD GET / 1.1 keep 0 | Host=a\nEND\n"),
    ROW("\r\n" GET "\r\n", "HEAD GET / 1.1 keep 0 | Host=a\nEND\n"),
    ROW(GET "Connection: close\r\n\r\n",
        "HEAD GET / 1.1 close 0 | Host=a | Connection=close\nEND\n"),
    ROW(GET "Connection: foo, Close\r\n\r\n",
        "HEAD GET / 1.1 close 0 | Host=a | Connection=foo, Close\nEND\n"),
    ROW("GET /x HTTP/1.0\r\n\r\n", "HEAD GET /x 1.0 close 0\nEND\n"),
    ROW("GET /x HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
        "HEAD GET /x 1.0 keep 0 | Connection=keep-alive\nEND\n"),
    ROW("GET /x HTTP/1.0\r\nConnection: keep-alive, close\r\n\r\n",
        "HEAD GET /x 1.0 close 0 | Connection=keep-alive, close\nEND\n"),
    ROW("GET /x HTTP/1.0\r\nExpect: 100-continue\r\n\r\n",
        "HEAD GET /x 1.0 close 0 | Expect=100-continue\nEND\n"),
    ROW(GET "X:\t a b \t\r\nY:\r\nZ: \x80\xff\r\n\r\n",
        "HEAD GET / 1.1 keep 0 | Host=a | X=a b | Y= | Z=\x80\xff\nEND\n"),
    ROW("POST /p HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\nhello",
        "HEAD POST /p 1.1 keep 5 | Host=a | Content-Length=5\nBODY hello\nEND\n"),
    ROW("POST /p HTTP/1.1\r\n" HOST "content-length: 000\r\n\r\n",
        "HEAD POST /p 1.1 keep 0 | Host=a | content-length=000\nEND\n"),
    ROW("POST / HTTP/1.1\r\n" HOST "Expect: 100-Continue\r\nContent-Length: 1\r\n\r\nx",
        "HEAD POST / 1.1 keep continue 1 | Host=a | Expect=100-Continue | Content-Length=1\n"
        "BODY x\nEND\n"),
    ROW("POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: Chunked\r\n\r\n"
        "5\r\nhello\r\n00A;x=\"y;z\"\r\n0123456789\r\n0\r\n\r\n",
        "HEAD POST / 1.1 keep chunked 0 | Host=a | Transfer-Encoding=Chunked\n"
        "BODY hello0123456789\nEND\n"),
    ROW("POST / HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n"
        "1f\r\n0123456789012345678901234567890\r\n0\r\nX-Sum: 7\r\nY:\r\n\r\n" GET "\r\n",
        "HEAD POST / 1.1 keep chunked 0 | Host=a | Transfer-Encoding=chunked\n"
        "BODY 0123456789012345678901234567890\nEND | X-Sum=7 | Y=\n"
        "HEAD GET / 1.1 keep 0 | Host=a\nEND\n"),
    ROW(GET "\r\n" GET "\r\n"
            "POST /b HTTP/1.1\r\n" HOST "Content-Length: 2\r\n\r\nab" GET "\r\n",
        "HEAD GET / 1.1 keep 0 | Host=a\nEND\n"
        "HEAD GET / 1.1 keep 0 | Host=a\nEND\n"
        "HEAD POST /b 1.1 keep 2 | Host=a | Content-Length=2\nBODY ab\nEND\n"
        "HEAD GET / 1.1 keep 0 | Host=a\nEND\n"),
    ROW("OPTIONS * HTTP/1.1\r\n" HOST "\r\n", "HEAD OPTIONS * 1.1 keep 0 | Host=a\nEND\n"),
    ROW("CONNECT a:443 HTTP/1.1\r\n" HOST "\r\n", "HEAD CONNECT a:443 1.1 keep 0 | Host=a\nEND\n"),
    ROW("GET http://b:80/x?y HTTP/1.1\r\n" HOST "\r\n",
        "HEAD GET http://b:80/x?y 1.1 keep 0 | Host=a\nEND\n"),
    ROW("GET HTTPS://b HTTP/1.1\r\n" HOST "\r\n", "HEAD GET HTTPS://b 1.1 keep 0 | Host=a\nEND\n"),
    ROW("M-SEARCH / HTTP/1.1\r\nHost:\r\n\r\n", "HEAD M-SEARCH / 1.1 keep 0 | Host=\nEND\n"),
    ROW("GET /", ""),
    ROW("POST / HTTP/1.1\r\n" HOST "Content-Length: 9\r\n\r\nhell",
        "HEAD POST / 1.1 keep 9 | Host=a | Content-Length=9\nBODY hell"),
};

#define POST  "POST / HTTP/1.1\r\n" HOST
#define CHUNK POST "Transfer-Encoding: chunked\r\n\r\n"

static const struct row wrong[] = {
    /* where the body ends */
    ROW(POST "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", "400 both Content-Length"),
    ROW(POST "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n", "400 both Content-Length"),
    ROW(POST "Content-Length: 5\r\nContent-Length: 5\r\n\r\n", "400 more than one Content-Length"),
    ROW(POST "Content-Length: 5\r\nContent-Length: 50\r\n", "400 more than one Content-Length"),
    ROW(POST "Content-Length: 5, 50\r\n", "400 a Content-Length"),
    ROW(POST "Content-Length: 5, 5\r\n", "400 a Content-Length"),
    ROW(POST "Content-Length: +5\r\n", "400 a Content-Length"),
    ROW(POST "Content-Length: -5\r\n", "400 a Content-Length"),
    ROW(POST "Content-Length: 0x5\r\n", "400 a Content-Length"),
    ROW(POST "Content-Length: 5 0\r\n", "400 a Content-Length"),
    ROW(POST "Content-Length: 5.\r\n", "400 a Content-Length"),
    ROW(POST "Content-Length:\r\n", "400 a Content-Length"),
    ROW(POST "Content-Length: 1234567890123456789\r\n", "400 a Content-Length"),
    ROW(POST "Content-Length: 1000001\r\n\r\n", "413 the body is too long"),
    ROW(POST "Transfer-Encoding: chunked, gzip\r\n", "400 a Transfer-Encoding that does not"),
    ROW(POST "Transfer-Encoding: chunked, chunked\r\n", "400 a Transfer-Encoding that does not"),
    ROW(POST "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
        "400 a Transfer-Encoding that does not"),
    ROW(POST "Transfer-Encoding: xchunked\r\n\r\n", "400 a Transfer-Encoding that does not"),
    ROW(POST "Transfer-Encoding: identity\r\n\r\n", "400 a Transfer-Encoding that does not"),
    ROW(POST "Transfer-Encoding: gzip, chunked\r\n\r\n", "501 a Transfer-Encoding other"),
    ROW(POST "Transfer-Encoding:\r\n", "400 a Transfer-Encoding that is not"),
    ROW(POST "Transfer-Encoding: chunked,\r\n", "400 a Transfer-Encoding that is not"),
    ROW(POST "Transfer-Encoding: \"chunked\"\r\n", "400 a Transfer-Encoding that is not"),
    ROW(POST "Transfer-Encoding: chunked;q=1\r\n", "400 a Transfer-Encoding that is not"),
    ROW("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", "400 a Transfer-Encoding with"),
    /* chunks */
    ROW(CHUNK "5\nhello\r\n", "400 a chunk whose size"),
    ROW(CHUNK "5\r\nhello\n", "400 a chunk that does not end"),
    ROW(CHUNK "5\r\nhello\r\r", "400 a chunk that does not end"),
    ROW(CHUNK "5\r\nhello!", "400 a chunk that does not end"),
    ROW(CHUNK "5\rx", "400 a chunk whose size"), ROW(CHUNK "\r\n", "400 a chunk whose size"),
    ROW(CHUNK "x\r\n", "400 a chunk whose size"), ROW(CHUNK "-1\r\n", "400 a chunk whose size"),
    ROW(CHUNK "5 \r\n", "400 a chunk whose size"), ROW(CHUNK "0x5\r\n", "400 a chunk whose size"),
    ROW(CHUNK "5G\r\n", "400 a chunk whose size"), ROW(CHUNK ";a\r\n", "400 a chunk whose size"),
    ROW(CHUNK "0123456789abcdef\r\n", "400 a chunk whose size"),
    ROW(CHUNK "5;a\nhello", "400 a chunk extension"),
    ROW(CHUNK "5;\0\r\n", "400 a chunk extension"),
    ROW(CHUNK "fffffffff\r\n", "413 the body is too long"),
    ROW(CHUNK "1\r\na\r\nF4240\r\n", "413 the body is too long"),
    ROW(CHUNK "0\r\nContent-Length: 5\r\n", "400 a trailer field"),
    ROW(CHUNK "0\r\nhost: b\r\n", "400 a trailer field"),
    ROW(CHUNK "0\r\nX\r\n", "400 a field line without"),
    ROW(CHUNK "0\r\nX: 1\n", "400 a LF without CR"),
    /* fields */
    ROW("POST / HTTP/1.1\r\n" HOST "Transfer-Encoding : chunked\r\n", "400 a blank between"),
    ROW(GET "X\t: 1\r\n", "400 a blank between"),
    ROW(GET "X: 1\r\n 2\r\n", "400 a field line begins with a blank"),
    ROW(GET "X: 1\r\n\t2\r\n", "400 a field line begins with a blank"),
    ROW("GET / HTTP/1.1\r\n Host: a\r\n", "400 a field line begins with a blank"),
    ROW(GET ": 1\r\n", "400 a field without a name"),
    ROW(GET "X\r\n", "400 a field line without a colon"),
    ROW(GET "X Y: 1\r\n", "400 a character in the name"),
    ROW(GET "X(: 1\r\n", "400 a character in the name"),
    ROW(GET "X\x80: 1\r\n", "400 a character in the name"),
    ROW(GET "X\x01: 1\r\n", "400 a control character"),
    ROW(GET "X: \x7f\r\n", "400 a control character"), ROW(GET "X: a\0b\r\n", "400 a NUL byte"),
    ROW(GET "X: a\rb\r\n", "400 a CR without LF"), ROW(GET "X: a\r\r\n", "400 a CR without LF"),
    ROW(GET "X: a\nY: b\r\n", "400 a LF without CR"), ROW(GET "\n", "400 a LF without CR"),
    ROW("GET / HTTP/1.1\n", "400 a LF without CR"), ROW("GET / HTTP/1.1\r\n\r\n", "400 no Host"),
    ROW(GET "hOST: b\r\n", "400 more than one Host"),
    ROW("GET / HTTP/1.1\r\nHost: a b\r\n", "400 a Host that is none"),
    ROW("GET / HTTP/1.1\r\nHost: a/b\r\n", "400 a Host that is none"),
    ROW("GET / HTTP/1.1\r\nHost: a@b\r\n", "400 a Host that is none"),
    ROW("GET / HTTP/1.1\r\nHost: \xe4\r\n", "400 a Host that is none"),
    ROW(GET "Expect: 200-ok\r\n", "417 an expectation"),
    /* the first line */
    ROW("\r\n\r\n", "400 more than one empty line"), ROW("GET /\r\n", "400 the first line is not"),
    ROW("GET\r\n", "400 the first line is not"),
    ROW("GET  / HTTP/1.1\r\n", "400 the first line is not"),
    ROW("GET / HTTP/1.1 \r\n", "400 the first line is not"),
    ROW("GET / http/1.1\r\n", "400 the first line is not"),
    ROW("GET / HTTP/1,1\r\n", "400 the first line is not"),
    ROW("GET / HTTP/x.1\r\n", "400 the first line is not"),
    ROW("GET / HTTP/1.x\r\n", "400 the first line is not"),
    ROW("GET / HTTP/11\r\n", "400 the first line is not"), ROW("GET / HTTP/2.0\r\n", "505 neither"),
    ROW("GET / HTTP/1.2\r\n", "505 neither"), ROW("GET / HTTP/0.9\r\n", "505 neither"),
    ROW("PRI * HTTP/2.0\r\n", "505 neither"), ROW("G(T / HTTP/1.1\r\n", "400 the method"),
    ROW(" / HTTP/1.1\r\n", "400 the method"), ROW("GET  HTTP/1.1\r\n", "400 the target"),
    ROW("GET x HTTP/1.1\r\n", "400 the target"), ROW("GET * HTTP/1.1\r\n", "400 the target"),
    ROW("OPTIONS x HTTP/1.1\r\n", "400 the target"), ROW("GET /a#b HTTP/1.1\r\n", "400 the target"),
    ROW("GET /\xc3\xa4 HTTP/1.1\r\n", "400 the target"),
    ROW("GET /a\tb HTTP/1.1\r\n", "400 the target"),
    ROW("GET ftp://a/ HTTP/1.1\r\n", "400 the target"),
    ROW("GET http:///a HTTP/1.1\r\n", "400 the target"),
    ROW("GET http://a@b/ HTTP/1.1\r\n", "400 the target"),
    ROW("GET http://?q HTTP/1.1\r\n", "400 the target"),
    ROW("CONNECT /a HTTP/1.1\r\n", "400 the target"),
    ROW("CONNECT a HTTP/1.1\r\n", "400 the target"),
    ROW("CONNECT http://a:1/ HTTP/1.1\r\n", "400 the target"),
    ROW("\x16\x03\x01", "400 a control character"), /* a TLS client, told without waiting */
};

static const struct http_limits limits = {.line = 200, .head = 400, .fields = 5, .body = 1000000};

static void reads_what_is_right(void **state)
{
    struct rng rng = {1};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(right); i++) {
        struct rig g;

        rig_open(&g, &limits);
        rig_run(&g, right[i].bytes, right[i].size, 1000000, &rng);
        assert_string_equal(g.told, right[i].told);
        rig_close(&g);
    }
}

/* The last line of the transcript; a fault ends it. */
static const char *last_line(const char *told)
{
    size_t size = strlen(told);

    while (size > 0 && (size == strlen(told) || told[size - 1] != '\n'))
        size--;
    return told + size;
}

static void refuses_what_is_wrong(void **state)
{
    struct rng rng = {1};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        struct rig g;

        rig_open(&g, &limits);
        rig_run(&g, wrong[i].bytes, wrong[i].size, 1000000, &rng);
        const char *last = last_line(g.told);
        if (strncmp(last, "BAD ", 4) != 0 ||
            strncmp(last + 4, wrong[i].told, strlen(wrong[i].told)) != 0)
            fail_msg("row %zu: %s\nexpected %s, told %s", i, wrong[i].bytes, wrong[i].told, g.told);
        /* Once bad, always bad, whatever comes. */
        assert_false(rig_feed(&g, GET "\r\n", sizeof(GET) + 1));
        assert_false(rig_feed(&g, "", 0));
        rig_close(&g);
    }
}

/* What is told does not depend on how the bytes were cut. */
static void assert_cuts_do_not_matter(const char *bytes, size_t size, struct rng *rng)
{
    struct rig whole;

    rig_open(&whole, &limits);
    rig_run(&whole, bytes, size, 1, rng);
    for (size_t most = 2; most <= 256; most *= 4) {
        struct rig g;

        rig_open(&g, &limits);
        rig_run(&g, bytes, size, most, rng);
        assert_string_equal(g.told, whole.told);
        rig_close(&g);
    }
    rig_close(&whole);
}

static void cuts_do_not_matter(void **state)
{
    struct rng rng = {seed_of_run()};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(right); i++)
        assert_cuts_do_not_matter(right[i].bytes, right[i].size, &rng);
    for (size_t i = 0; i < COUNT_OF(wrong); i++)
        assert_cuts_do_not_matter(wrong[i].bytes, wrong[i].size, &rng);
}

/* Rows strung together, with a byte changed here and there. */
static void cuts_do_not_matter_to_nonsense(void **state)
{
    struct rng rng = {seed_of_run()};
    char bytes[2000];

    (void)state;
    for (int run = 0; run < 3000; run++) {
        size_t size = 0;

        while (size < 600) {
            uint64_t pick = fb_rng_next(&rng) % (COUNT_OF(right) + COUNT_OF(wrong));
            const struct row *row =
                pick < COUNT_OF(right) ? &right[pick] : &wrong[pick - COUNT_OF(right)];

            memcpy(bytes + size, row->bytes, row->size);
            size += row->size;
        }
        for (uint64_t n = fb_rng_next(&rng) % 3; n > 0; n--) {
            size_t at = (size_t)(fb_rng_next(&rng) % size);

            bytes[at] = (char)fb_rng_next(&rng);
        }
        assert_cuts_do_not_matter(bytes, size, &rng);
    }
}

/* ---- limits ---- */

/* 77 bytes of a field line. */
#define FILL ": 6789 123456789 123456789 123456789 123456789 123456789 123456789 12345678\r\n"

/* `prefix`, then `count` times the byte, then `suffix`: what is told in the end. */
static void assert_told(const char *prefix, char byte, size_t count, const char *suffix,
                        const char *told)
{
    struct rng rng = {7};
    char *bytes = malloc(strlen(prefix) + count + strlen(suffix));
    size_t size = strlen(prefix);
    struct rig g;

    memcpy(bytes, prefix, size);
    memset(bytes + size, byte, count);
    size += count;
    memcpy(bytes + size, suffix, strlen(suffix));
    size += strlen(suffix);
    rig_open(&g, &limits);
    rig_run(&g, bytes, size, 100, &rng);
    assert_contains(last_line(g.told), told);
    rig_close(&g);
    free(bytes);
}

static void keeps_to_the_limits(void **state)
{
    (void)state;
    /* The line: 200 bytes without its end; "GET / HTTP/1.1" has 14, "X: " 3. */
    assert_told("GET /", 'a', 186, " HTTP/1.1\r\n" HOST "\r\n", "END");
    assert_told("GET /", 'a', 187, " HTTP/1.1\r\n" HOST "\r\n", "414 the first line is too long");
    assert_told("GET /", 'a', 9999, "", "414 the first line is too long");
    assert_told(GET "X: ", 'a', 197, "\r\n\r\n", "END");
    assert_told(GET "X: ", 'a', 198, "\r\n\r\n", "431 a field line is too long");
    /* The head: 400 bytes with all ends; all but the X are 266. */
    assert_told(GET "A" FILL "B" FILL "C" FILL "X: ", 'a', 134, "\r\n\r\n", "END");
    assert_told(GET "A" FILL "B" FILL "C" FILL "X: ", 'a', 135, "\r\n\r\n",
                "431 the head is too long");
    assert_told(GET "A:\r\nB:\r\nC:\r\nD", ':', 1, "\r\n\r\n", "END");
    assert_told(GET "A:\r\nB:\r\nC:\r\nD:\r\nE", ':', 1, "\r\n", "431 too many fields");
    /* Trailers and chunk extensions count, too. */
    assert_told(CHUNK "0\r\nA:\r\nB:\r\nC:\r\nD", ':', 1, "\r\n", "431 too many fields");
    assert_told(CHUNK "1;", 'x', 300, "\r\na\r\n0\r\n\r\n", "END");
    assert_told(CHUNK "1;", 'x', 360, "\r\na\r\n0\r\n\r\n", "431 the head is too long");
    assert_told(CHUNK, '0', 15, "\r\n\r\n", "END");
    assert_told(CHUNK "f4240\r\n", 'x', 1000000, "\r\n0\r\n\r\n", "END");
}

static void the_usual_limits(void **state)
{
    struct http_limits usual = FB_HTTP_LIMITS;

    (void)state;
    assert_int_equal(usual.line, 16 * 1024);
    assert_int_equal(usual.head, 64 * 1024);
    assert_int_equal(usual.fields, 100);
}

/* ---- the small ones ---- */

static void paths(void **state)
{
    static const char *const rows[][2] = {
        {"/", "/"},
        {"/a?b", "/a?b"},
        {"*", "*"},
        {"http://host/a?b", "/a?b"},
        {"https://host:8/a//?", "/a//?"},
        {"http://host", "/"},
        {"http://host?b/c", "?b/c"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct slice path = fb_http_path(fb_slice_of(rows[i][0]));

        assert_int_equal(path.length, strlen(rows[i][1]));
        assert_memory_equal(path.at, rows[i][1], path.length);
    }
}

static void idle_between_requests(void **state)
{
    struct rig g;

    (void)state;
    rig_open(&g, &limits);
    assert_true(fb_http_reader_is_idle(&g.reader));
    rig_feed(&g, "G", 1);
    assert_false(fb_http_reader_is_idle(&g.reader));
    rig_feed(&g, GET "\r\n" + 1, sizeof(GET));
    assert_true(fb_http_reader_is_idle(&g.reader));
    rig_close(&g);
}

static void finds_fields(void **state)
{
    struct http_field fields[2] = {{FB_SLICE("A"), FB_SLICE("1")}, {FB_SLICE("a"), FB_SLICE("2")}};
    struct http_field untouched = fields[0];

    (void)state;
    assert_string_equal(fb_http_find(fields, 2, "a").at, "1");
    assert_null(fb_http_find(fields, 2, "b").at);
    assert_int_equal(fb_http_field(FB_SLICE(""), &untouched), HTTP_NO_COLON);
    assert_ptr_equal(untouched.name.at, fields[0].name.at);
    assert_false(fb_http_is_token(FB_SLICE("a\0b")));
    assert_true(fb_http_is_token(FB_SLICE("a|~")));
    assert_false(fb_http_is_token(FB_SLICE("a{")));
    assert_false(fb_http_is_host(FB_SLICE("a\x7f")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_is_right),
        cmocka_unit_test(refuses_what_is_wrong),
        cmocka_unit_test(cuts_do_not_matter),
        cmocka_unit_test(cuts_do_not_matter_to_nonsense),
        cmocka_unit_test(keeps_to_the_limits),
        cmocka_unit_test(the_usual_limits),
        cmocka_unit_test(paths),
        cmocka_unit_test(idle_between_requests),
        cmocka_unit_test(finds_fields),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
