/* SPDX-License-Identifier: MIT */
/* Lists: URLs, ranges, JSON lines, and everything that is none of them. */
#include "store_rig.h"

#include <errno.h>

#include "fetch/list.h"
#include "fetch/range.h"

static struct list *open_list(const char *text)
{
    struct fly_error err = {""};
    struct list *l = NULL;

    rig_write(rig_path("list"), text, strlen(text));
    assert_int_equal(fb_list_open(rig_path("list"), &l, &err), 0);
    return l;
}

static void expect_url(struct list *l, const char *id, const char *url)
{
    struct fly_error err = {""};
    struct item item;
    int found = fb_list_next(l, &item, &err);

    if (found != 1)
        fail_msg("%d %s", found, err.text);
    assert_string_equal(item.id, id);
    assert_string_equal(item.url, url);
}

static void expect_error(struct list *l, const char *says)
{
    struct fly_error err = {""};
    struct item item;

    assert_int_equal(fb_list_next(l, &item, &err), -EINVAL);
    assert_contains(err.text, says);
}

static void expect_end(struct list *l)
{
    struct fly_error err = {""};
    struct item item;

    assert_int_equal(fb_list_next(l, &item, &err), 0);
    assert_int_equal(fb_list_next(l, &item, &err), 0);
}

static void lines_are_urls(void **state)
{
    struct list *l =
        open_list("\xef\xbb\xbfhttp://a/1\r\n\n  # remark\n\thttps://b/2  \nHTTP://c/3");

    (void)state;
    expect_url(l, "1", "http://a/1");
    expect_url(l, "4", "https://b/2");
    expect_url(l, "5", "HTTP://c/3");
    expect_end(l);
    fb_list_close(l);
    assert_int_equal(fb_list_count(rig_path("list")), 3);
}

static void an_empty_list_is_one(void **state)
{
    struct list *l = open_list("");

    (void)state;
    expect_end(l);
    fb_list_close(l);
    assert_int_equal(fb_list_count(rig_path("list")), 0);
    assert_int_equal(fb_list_count("-"), -1);
    assert_int_equal(fb_list_count(rig_path("none")), -1);
}

static void ranges_are_counted_out(void **state)
{
    struct list *l = open_list("http://a/{2..3}/{09..10}\nhttp://b/{x}/{3..1}/{1..}\n");

    (void)state;
    expect_url(l, "1.1", "http://a/2/09");
    expect_url(l, "1.2", "http://a/2/10");
    expect_url(l, "1.3", "http://a/3/09");
    expect_url(l, "1.4", "http://a/3/10");
    expect_url(l, "2", "http://b/{x}/{3..1}/{1..}");
    expect_end(l);
    fb_list_close(l);
    assert_int_equal(fb_list_count(rig_path("list")), 5);
}

static void absurd_ranges_are_refused(void **state)
{
    struct list *l = open_list("http://a/{1..999999999999999}\n"
                               "http://a/{1..9}{1..9}{1..9}{1..9}{1..9}\nhttp://a/\n");

    (void)state;
    expect_error(l, ":1: a range");
    expect_error(l, ":2: a range");
    expect_url(l, "3", "http://a/");
    fb_list_close(l);
}

static void a_wrong_line_does_not_end_the_list(void **state)
{
    struct list *l = open_list("example.com\nhttp://ok/\nhttp:///x\nhttp://a b/\n\xff\xfe\n"
                               "{\"url\":1}\n{\"nothing\":1}\n{]\nhttp://end/");

    (void)state;
    expect_error(l, ":1: not a URL");
    expect_url(l, "2", "http://ok/");
    expect_error(l, ":3: a URL without a host");
    expect_error(l, ":4: a URL with a blank");
    expect_error(l, ":5: not UTF-8");
    expect_error(l, ":6: \"url\" is not a text");
    expect_error(l, ":7: there is no \"nothing\"");
    expect_error(l, ":8: not JSON");
    expect_url(l, "9", "http://end/");
    expect_end(l);
    fb_list_close(l);
}

static void objects_say_all_they_can(void **state)
{
    struct list *l = open_list(
        "{\"url\":\"http://a/\",\"method\":\"PATCH\",\"headers\":{\"A\":\"1\",\"B\":\"2\"},"
        "\"body\":\"x\\u0000y\",\"id\":\"me\",\"priority\":\"live\",\"operation\":\"resolve\","
        "\"pool\":\"search\",\"alternatives\":[\"http://b/\",\"https://c/\"],\"cost\":7,"
        "\"retryable\":true}\n{\"url\":\"http://a/\",\"body\":[1,{\"b\":null}]}\n"
        "{\"url\":\"http://a/\",\"id\":42}\n");
    struct fly_error err = {""};
    struct item i;

    (void)state;
    /* Jansson refuses NUL in a text, and so do we. */
    assert_int_equal(fb_list_next(l, &i, &err), -EINVAL);
    assert_int_equal(fb_list_next(l, &i, &err), 1);
    assert_string_equal(i.body, "[1,{\"b\":null}]");
    assert_string_equal(i.method, "POST");
    assert_string_equal(i.header[0].name, "Content-Type");
    assert_string_equal(i.header[0].value, "application/json");
    assert_int_equal(fb_list_next(l, &i, &err), 1);
    assert_string_equal(i.id, "42");
    fb_list_close(l);

    l = open_list(
        "{\"url\":\"http://a/\",\"method\":\"PATCH\",\"headers\":{\"A\":\"1\",\"B\":\"2\"},"
        "\"body\":\"xy\",\"id\":\"me\",\"priority\":\"live\",\"operation\":\"resolve\","
        "\"pool\":\"search\",\"alternatives\":[\"http://b/\",\"https://c/\"],\"cost\":7,"
        "\"retryable\":true}\n");
    assert_int_equal(fb_list_next(l, &i, &err), 1);
    assert_string_equal(i.method, "PATCH");
    assert_int_equal(i.header_count, 2);
    assert_int_equal(i.body_size, 2);
    assert_string_equal(i.id, "me");
    assert_int_equal(i.priority, PRIORITY_LIVE);
    assert_string_equal(i.operation, "resolve");
    assert_string_equal(i.pool, "search");
    assert_int_equal(i.alternative_count, 2);
    assert_string_equal(i.alternative[1], "https://c/");
    assert_int_equal(i.cost, 7);
    assert_true(i.retryable);
    fb_list_close(l);
}

static void members_are_checked(void **state)
{
    static const char *const WRONG[] = {
        "\"method\":\"\"",
        "\"headers\":[]",
        "\"headers\":{\"a\":1}",
        "\"id\":\"\"",
        "\"id\":1.5",
        "\"priority\":\"no\"",
        "\"operation\":3",
        "\"pool\":\"\"",
        "\"alternatives\":[\"x\"]",
        "\"alternatives\":\"x\"",
        "\"cost\":0",
        "\"cost\":1e3",
        "\"retryable\":1",
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(WRONG); i++) {
        char line[200];
        (void)snprintf(line, sizeof line, "{\"url\":\"http://a/\",%s}\n", WRONG[i]);
        struct list *l = open_list(line);
        expect_error(l, " is not ");
        expect_end(l);
        fb_list_close(l);
    }
}

static void a_line_that_is_too_long_is_told_once(void **state)
{
    size_t size = LIST_LINE_MAX + (1u << 20);
    char *text = malloc(size + 32);

    (void)state;
    assert_non_null(text);
    memset(text, 'a', size);
    memcpy(text + size, "\nhttp://after/\n", 16);
    struct list *l = open_list(text);
    expect_error(l, ":1: longer than");
    expect_url(l, "2", "http://after/");
    expect_end(l);
    fb_list_close(l);
    free(text);
}

static void a_hash_tells_requests_apart(void **state)
{
    struct engine_header header[1] = {{"A", "1"}};
    struct item a = {.id = "1", .url = "http://a/", .header = header};
    struct item b = a;
    uint64_t hash = fb_item_hash(&a);

    (void)state;
    assert_true(fb_item_hash(&b) == hash);
    b.url = "http://b/";
    assert_true(fb_item_hash(&b) != hash);
    b = a;
    b.method = "POST";
    assert_true(fb_item_hash(&b) != hash);
    b = a;
    b.header_count = 1;
    assert_true(fb_item_hash(&b) != hash);
    b = a;
    b.body = "x";
    b.body_size = 1;
    assert_true(fb_item_hash(&b) != hash);
}

static void words_can_be_a_list(void **state)
{
    static const char *const LINES[] = {"http://a/{1..2}", "http://b/"};
    struct list *l = NULL;

    (void)state;
    assert_int_equal(fb_list_of(LINES, 2, &l), 0);
    expect_url(l, "1.1", "http://a/1");
    expect_url(l, "1.2", "http://a/2");
    expect_url(l, "2", "http://b/");
    expect_end(l);
    fb_list_close(l);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, rig_setup, rig_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(lines_are_urls),
        TEST(an_empty_list_is_one),
        TEST(ranges_are_counted_out),
        TEST(absurd_ranges_are_refused),
        TEST(a_wrong_line_does_not_end_the_list),
        TEST(objects_say_all_they_can),
        TEST(members_are_checked),
        TEST(a_line_that_is_too_long_is_told_once),
        TEST(a_hash_tells_requests_apart),
        TEST(words_can_be_a_list),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
