/* SPDX-License-Identifier: MIT */
/* Where the next page is, what robots.txt allows, and what of a URL is kept. */
#include "unit.h"

#include "fetch/pages.h"
#include "fetch/place.h"
#include "fetch/result.h"
#include "fetch/robots.h"

static void links_are_found(void **state)
{
    static const struct {
        const char *value, *target;
    } CASES[] = {
        {"<https://h/2>; rel=\"next\"", "https://h/2"},
        {"<https://h/1>; rel=\"prev\", <https://h/3>; rel=\"next\"", "https://h/3"},
        {"</p?a=1,2>; title=\"a, b; rel=next\"; rel=next", "/p?a=1,2"},
        {"<x>; rel=\"prev next\"", "x"},
        {"<x>; title=\"a; rel=next\"; rel=last, <y>; rel=next", "y"},
        {"<x>; crossorigin; rel=last; rel=next", ""},
        {"<x>;rel=\"next", "x"},
        {"<x> ; rel = next", "x"},
        {"<x>; title\t=\t\"a\"; rel\t= \"next\"", "x"},
        {"<x>; a rel = next", ""},
        {"<x>; rel=", ""},
        {"<x>; rel", ""},
        {"<x>; REL=NEXT", "x"},
        {"<x>; rel=\"nextish\"", ""},
        {"<x>; rel=prev", ""},
        {"<x>", ""},
        {"<x; rel=next", ""},
        {"", ""},
        {"rel=next", ""},
        {"<x>; norel=next", ""},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        const char *target = "";
        size_t size = fb_pages_link(CASES[i].value, &target);
        if (size != strlen(CASES[i].target) || memcmp(target, CASES[i].target, size) != 0)
            fail_msg("%s: %.*s", CASES[i].value, (int)size, target);
    }
}

static void cursors_are_found(void **state)
{
    static const struct {
        const char *body, *pointer, *value;
    } CASES[] = {
        {"{\"next\":\"abc\"}", "/next", "abc"},
        {"{\"a\":{\"b\":[1,{\"c\":42}]}}", "/a/b/1/c", "42"},
        {"{\"a/b\":{\"~\":\"x\"}}", "/a~1b/~0", "x"},
        {"{\"next\":null}", "/next", ""},
        {"{\"next\":\"\"}", "/next", ""},
        {"{\"next\":false}", "/next", ""},
        {"{}", "/next", ""},
        {"[\"x\"]", "/0", "x"},
        {"[\"x\"]", "/1", ""},
        {"[\"x\"]", "/-", ""},
        {"not JSON", "/next", ""},
        {"", "/next", ""},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        struct buffer b = BUFFER_INIT;
        int found = fb_pages_cursor(CASES[i].body, strlen(CASES[i].body), CASES[i].pointer, &b);
        assert_int_equal(found, CASES[i].value[0] != '\0');
        assert_string_equal(fb_buffer_text(&b), CASES[i].value);
        fb_buffer_fini(&b);
    }
}

static void parameters_are_set(void **state)
{
    static const struct {
        const char *url, *made;
    } CASES[] = {
        {"http://h/p", "http://h/p?after=a%2Fb"},
        {"http://h/p?x=1", "http://h/p?x=1&after=a%2Fb"},
        {"http://h/p?after=0&x=1", "http://h/p?x=1&after=a%2Fb"},
        {"http://h/p?afters=0#f", "http://h/p?afters=0&after=a%2Fb"},
        {"http://h/p?", "http://h/p?after=a%2Fb"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        struct buffer b = BUFFER_INIT;
        fb_pages_set(CASES[i].url, "after", "a/b", &b);
        assert_string_equal(fb_buffer_text(&b), CASES[i].made);
        fb_buffer_fini(&b);
    }
}

static void what_is_kept_of_a_page_holds_no_secret_of_the_list(void **state)
{
    static const struct {
        const char *base, *url, *kept;
    } CASES[] = {
        {"http://h/p?key=K", "http://h/p?page=2&key=K", "http://h/p?page=2&key={}"},
        {"http://u:s@h/p?key=K", "http://u:s@h/q?key=K&n=1", "http://h/q?key={}&n=1"},
        {"http://h/p", "http://h/p?page=2", "http://h/p?page=2"},
        {"http://h/p?page=1", "http://h/p?page=2", "http://h/p?page=2"},
        {"http://h/p?flag", "http://h/p?flag&a=b", "http://h/p?flag&a=b"},
        {"https://u:s@h/p", "http://h/q", "http://h/q"},
        {"https://u:s@h/p", "https://h:8/q", "https://h:8/q"},
        {"http://h/p", "http://h/p/2", "http://h/p/2"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        struct buffer kept = BUFFER_INIT;
        struct buffer again = BUFFER_INIT;

        fb_pages_strip(CASES[i].base, CASES[i].url, &kept);
        assert_string_equal(fb_buffer_text(&kept), CASES[i].kept);
        fb_pages_restore(CASES[i].base, kept.bytes, &again);
        assert_string_equal(fb_buffer_text(&again), CASES[i].url);
        fb_buffer_fini(&kept);
        fb_buffer_fini(&again);
    }
}

static void places_have_no_user_and_no_query(void **state)
{
    static const char *const CASES[][2] = {
        {"https://h/p?q=1#f", "https://h/p"}, {"https://u:p@h:8/p", "https://h:8/p"},
        {"https://u:p@x@h?q", "https://h"},   {"http://h", "http://h"},
        {"http://h/p@q", "http://h/p@q"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        struct buffer b = BUFFER_INIT;
        fb_place_add(&b, CASES[i][0]);
        assert_string_equal(fb_buffer_text(&b), CASES[i][1]);
        fb_buffer_fini(&b);
    }
    struct buffer b = BUFFER_INIT;
    fb_place_add_shown(&b, "https://u:p@h/p?page=2&api_key=K&x&token=&X-Amz-Signature=S#f");
    assert_string_equal(fb_buffer_text(&b),
                        "https://h/p?page=2&api_key=...&x&token=...&X-Amz-Signature=...");
    fb_buffer_fini(&b);
    assert_true(fb_is_secret_header("AUTHORIZATION"));
    assert_false(fb_is_secret_header("Accept"));
}

static void robots_are_told(void **state)
{
    static const char RULES[] = "# a remark\r\n"
                                "User-agent: *\r\n"
                                "Disallow: /private # all of it\r\n"
                                "Allow: /private/open\r\n"
                                "Disallow: /*.gif$\r\n"
                                "Disallow: /t%65a/%2f\r\n"
                                "Disallow: /\u00e9%2a\r\n"
                                "Disallow:\r\n"
                                "Sitemap: https://h/map\r\n"
                                "\r\n"
                                "User-agent: one\r\n"
                                "USER-AGENT: two\r\n"
                                "disallow: /\r\n"
                                "allow: /a*z\r\n";
    static const struct {
        const char *agent, *path;
        bool allow;
    } CASES[] = {
        {"flyball", "/", true},
        {"flyball", "/private", false},
        {"flyball", "/private/x?y", false},
        {"flyball", "/private/open/x", true},
        {"flyball", "/a.gif", false},
        {"flyball", "/a.gif?x", true},
        {"flyball", "/gif", true},
        {"flyball", "/%70riv%61te", false}, /* an escape of a letter is the letter */
        {"flyball", "/tea/%2F", false},
        {"flyball", "/te%61//", true}, /* one of what has a meaning is not */
        {"flyball", "/%c3%a9*", false},
        {"flyball", "/%c3%a9x", true},
        {"flyball", "/%7", true},
        {"flyball", "/a.gif#x", false}, /* that is not sent */
        {"One", "/x", false},
        {"two", "/private/open", false},
        {"two", "/abcz", true},
        {"two", "/az", true},
        {"two", "/ab", false},
        {"three", "/x", true},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        if (fb_robots_allow(RULES, sizeof RULES - 1, CASES[i].agent, CASES[i].path) !=
            CASES[i].allow)
            fail_msg("%s %s", CASES[i].agent, CASES[i].path);
    }
    assert_true(fb_robots_allow("", 0, "a", "/"));
    assert_true(fb_robots_allow("Disallow: /", 11, "a", "/"));
    assert_false(fb_robots_allow("\xef\xbb\xbfUser-agent:*\nDisallow:/", 26, "a", "/"));
    assert_false(fb_robots_allow("User-agent:*\nDisallow:/", 23, "a", "/"));
    assert_true(fb_robots_allow("User-agent:*\nDisallow:/a\nAllow:/a", 33, "a", "/a"));
}

/* A pattern of stars must not take for ever. */
static void a_hostile_pattern_ends(void **state)
{
    char rules[600] = "User-agent: *\nDisallow: /";
    char path[2000] = "/";

    (void)state;
    for (size_t at = strlen(rules); at < 500; at += 2)
        memcpy(rules + at, "*a", 2);
    memset(path + 1, 'a', sizeof path - 2);
    (void)fb_robots_allow(rules, strlen(rules), "x", path);
}

static void file_names_are_safe_and_apart(void **state)
{
    static const char *const IDS[] = {"12",   "1.2", "a/b",           "a_b", "..",      ".",
                                      "../x", "",    "flyball.jsonl", "a b", "\xc3\xa9"};
    struct buffer names[COUNT_OF(IDS)];

    (void)state;
    memset(names, 0, sizeof names);
    for (size_t i = 0; i < COUNT_OF(IDS); i++) {
        fb_result_file_name(IDS[i], &names[i]);
        const char *name = fb_buffer_text(&names[i]);
        assert_null(strchr(name, '/'));
        assert_true(name[0] != '.');
        assert_string_not_equal(name, "flyball.jsonl");
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(name, names[k].bytes);
    }
    assert_string_equal(names[0].bytes, "12");
    for (size_t i = 0; i < COUNT_OF(IDS); i++)
        fb_buffer_fini(&names[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(links_are_found),
        cmocka_unit_test(cursors_are_found),
        cmocka_unit_test(parameters_are_set),
        cmocka_unit_test(what_is_kept_of_a_page_holds_no_secret_of_the_list),
        cmocka_unit_test(places_have_no_user_and_no_query),
        cmocka_unit_test(robots_are_told),
        cmocka_unit_test(a_hostile_pattern_ends),
        cmocka_unit_test(file_names_are_safe_and_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
