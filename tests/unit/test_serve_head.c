/* SPDX-License-Identifier: MIT */
/* What a server writes: heads that cannot be forged, and addresses as text. */
#include "unit.h"

#include <arpa/inet.h>
#include <errno.h>

#include "serve/address.h"
#include "serve/head.h"

static void writes_a_head(void **state)
{
    static struct head h;

    (void)state;
    fb_head_start(&h, 429);
    fb_head_date(&h, 784111777);
    fb_head_field(&h, FB_SLICE("X-A"), FB_SLICE("b \xc3\xa4\t;"));
    fb_head_number(&h, "Content-Length", 17);
    struct slice text = fb_head_end(&h);
    assert_int_equal(text.length, strlen(text.at));
    assert_string_equal(text.at, "HTTP/1.1 429 Too Many Requests\r\n"
                                 "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
                                 "X-A: b \xc3\xa4\t;\r\n"
                                 "Content-Length: 17\r\n\r\n");
}

static void refuses_to_be_forged(void **state)
{
    const struct {
        struct slice name;
        struct slice value;
    } rows[] = {
        {FB_SLICE("X"), FB_SLICE("a\r\nY: b")}, {FB_SLICE("X"), FB_SLICE("a\nb")},
        {FB_SLICE("X"), FB_SLICE("a\rb")},      {FB_SLICE("X"), FB_SLICE("a\0b")},
        {FB_SLICE("X: a\r\nY"), FB_SLICE("b")}, {FB_SLICE(""), FB_SLICE("b")},
        {FB_SLICE("X Y"), FB_SLICE("b")},
    };
    static struct head h;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        fb_head_start(&h, 200);
        fb_head_field(&h, rows[i].name, rows[i].value);
        assert_null(fb_head_end(&h).at);
    }
}

static void never_sends_a_part(void **state)
{
    static struct head h;
    static char value[FB_ANSWER_HEAD_MAX];

    (void)state;
    memset(value, 'a', sizeof(value));
    /* The largest value that fits: status line, name, ends and the terminating NUL around it. */
    size_t most = sizeof(h.bytes) - 1 - strlen("HTTP/1.1 200 OK\r\nX: \r\n\r\n");
    for (size_t more = 0; more < 2; more++) {
        fb_head_start(&h, 200);
        fb_head_field(&h, FB_SLICE("X"), (struct slice){value, most + more});
        assert_int_equal(fb_head_end(&h).length, more ? 0 : sizeof(h.bytes) - 1);
    }
}

static void names_every_status(void **state)
{
    (void)state;
    assert_string_equal(fb_status_reason(431), "Request Header Fields Too Large");
    assert_string_equal(fb_status_reason(299), "Unknown");
}

static void addresses(void **state)
{
    static const char *const rows[][2] = {
        {"127.0.0.1:8080", "127.0.0.1:8080"},   {"0.0.0.0:0", "0.0.0.0:0"},
        {"localhost:65535", "127.0.0.1:65535"}, {"[::1]:80", "[::1]:80"},
        {"[0:0::1]:080", "[::1]:80"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        union address a;
        char text[FB_ADDRESS_TEXT];

        assert_int_equal(fb_address_read(rows[i][0], &a), 0);
        fb_address_write(&a, text);
        assert_string_equal(text, rows[i][1]);
    }
}

static void no_addresses(void **state)
{
    static const char *const rows[] = {
        "",
        ":",
        "8080",
        "127.0.0.1",
        "127.0.0.1:",
        "127.0.0.1:65536",
        "127.0.0.1:-1",
        "127.0.0.1:+1",
        "127.0.0.1:1x",
        "127.0.0.1:000001",
        "127.1:80",
        "example.org:80",
        "a-rather-long-name.example.org:80",
        "::1:80",
        "[::1:80",
        "[]:80",
        "[:80",
        "[1.2.3.4]:80",
        "[0000:0000:0000:0000:0000:0000:0000:0000:0000:0000]:80",
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        union address a;

        assert_int_equal(fb_address_read(rows[i], &a), -EINVAL);
    }
}

static void hosts(void **state)
{
    union address a;
    union address b;

    (void)state;
    assert_int_equal(fb_address_read("127.0.0.1:1", &a), 0);
    assert_int_equal(fb_address_read("127.0.0.1:2", &b), 0);
    assert_true(fb_address_is_same_host(&a, &b));
    assert_int_equal(fb_address_port(&b), 2);
    assert_int_equal(fb_address_read("127.0.0.2:1", &b), 0);
    assert_false(fb_address_is_same_host(&a, &b));
    assert_int_equal(fb_address_read("[::1]:1", &b), 0);
    assert_false(fb_address_is_same_host(&a, &b));
    assert_int_equal(fb_address_read("[::1]:2", &a), 0);
    assert_true(fb_address_is_same_host(&a, &b));
    assert_int_equal(fb_address_read("[::2]:2", &a), 0);
    assert_false(fb_address_is_same_host(&a, &b));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_a_head),
        cmocka_unit_test(refuses_to_be_forged),
        cmocka_unit_test(never_sends_a_part),
        cmocka_unit_test(names_every_status),
        cmocka_unit_test(addresses),
        cmocka_unit_test(no_addresses),
        cmocka_unit_test(hosts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
