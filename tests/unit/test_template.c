/* SPDX-License-Identifier: MIT */
/* URLs with holes, and ids that want to be more than an id. */
#include "unit.h"

#include <errno.h>

#include "config/template.h"

static void expect_url(const char *template, const char *id, const char *url)
{
    struct buffer out = BUFFER_INIT;
    struct template_words w = {.id = id, .item = "i"};

    assert_int_equal(fb_template_url(template, &w, &out), url ? 0 : -EINVAL);
    if (url)
        assert_string_equal(fb_buffer_text(&out), url);
    fb_buffer_fini(&out);
}

static void holes_are_filled_and_encoded(void **state)
{
    (void)state;
    expect_url("http://h/{id}", "1", "http://h/1");
    expect_url("http://h/{item}/{id}?x={id}", "7", "http://h/i/7?x=7");
    expect_url("http://h/", NULL, "http://h/");
    expect_url("http://h/{item}", NULL, "http://h/i");
    expect_url("http://h/{id}", "a/b?c=d&e#f", "http://h/a%2Fb%3Fc%3Dd%26e%23f");
    expect_url("http://h/{id}", "{item}", "http://h/%7Bitem%7D");
    expect_url("http://h/{id}", "\xc3\xa9 %", "http://h/%C3%A9%20%25");
    expect_url("http://h/{id}.json", "..a", "http://h/..a.json");
}

static void what_is_no_id_fills_nothing(void **state)
{
    char longest[FB_ID_MAX + 2];

    (void)state;
    expect_url("http://h/{id}", NULL, NULL);
    expect_url("http://h/{id}", "", NULL);
    expect_url("http://h/{id}", ".", NULL);
    expect_url("http://h/{id}", "..", NULL);
    expect_url("http://h/{id}", "a\r\nX-Evil: 1", NULL);
    expect_url("http://h/{id}", "a\x7f", NULL);
    memset(longest, 'a', sizeof longest);
    longest[FB_ID_MAX + 1] = '\0';
    expect_url("http://h/{id}", longest, NULL);
    longest[FB_ID_MAX] = '\0';
    assert_true(fb_template_is_id(longest));
}

static void rules_make_ids(void **state)
{
    struct buffer out = BUFFER_INIT;
    struct template_words w = {.item = "a/b"};

    (void)state;
    assert_int_equal(fb_template_id("m-{item}", &w, &out), 0);
    assert_string_equal(fb_buffer_text(&out), "m-a/b");
    fb_buffer_fini(&out);
}

static void holes_are_only_behind_the_host(void **state)
{
    static const char *const RIGHT[] = {"http://h/{id}", "https://h?x={id}",
                                        "http://h:1/{item}{id}", "http://h/"};
    static const char *const WRONG[] = {
        "http://{id}/",      "http://h{id}/", "http://h:{id}/",   "{id}",           "ftp://h/{id}",
        "http://u:p@h/{id}", "http://h/{id",  "http://h/id}",     "http://h/{nid}", "http://h/{}",
        "http://h/{{id}}",   "http:///{id}",  "http://h/a b{id}", "{id}://h/"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(RIGHT); i++)
        if (!fb_template_is_url(RIGHT[i]))
            fail_msg("%s is right", RIGHT[i]);
    for (size_t i = 0; i < COUNT_OF(WRONG); i++)
        if (fb_template_is_url(WRONG[i]))
            fail_msg("%s is wrong", WRONG[i]);
    assert_true(fb_template_is_whole("http://h/x"));
    assert_false(fb_template_is_whole("http://h/{id}"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(holes_are_filled_and_encoded),
        cmocka_unit_test(what_is_no_id_fills_nothing),
        cmocka_unit_test(rules_make_ids),
        cmocka_unit_test(holes_are_only_behind_the_host),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
