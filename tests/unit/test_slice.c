/* SPDX-License-Identifier: MIT */
/* Borrowed text: trimmed, compared, taken apart. */
#include "unit.h"

#include "signal/slice.h"

static void assert_text(struct slice s, const char *expected)
{
    assert_int_equal(s.length, strlen(expected));
    if (s.length > 0)
        assert_memory_equal(s.at, expected, s.length);
}

static void blanks_go_at_both_ends_only(void **state)
{
    (void)state;
    assert_text(fb_slice_trim(fb_slice_of(" \t a b\r\n")), "a b");
    assert_text(fb_slice_trim(fb_slice_of("a")), "a");
    assert_text(fb_slice_trim(fb_slice_of(" \n ")), "");
    assert_text(fb_slice_trim((struct slice){NULL, 0}), "");
}

static void heads_and_tails_stay_inside(void **state)
{
    struct slice s = FB_SLICE("abc");

    (void)state;
    assert_text(fb_slice_head(s, 2), "ab");
    assert_text(fb_slice_head(s, 9), "abc");
    assert_text(fb_slice_after(s, 2), "c");
    assert_text(fb_slice_after(s, 9), "");
    assert_text(fb_slice_after((struct slice){NULL, 0}, 1), "");
}

static void case_of_letters_does_not_matter(void **state)
{
    struct slice s = FB_SLICE("Retry-After");

    (void)state;
    assert_true(fb_slice_is(s, "retry-AFTER"));
    assert_false(fb_slice_is(s, "retry-afte"));
    assert_false(fb_slice_is(s, "retry_after"));
    assert_true(fb_slice_begins(s, "RETRY-"));
    assert_false(fb_slice_begins(s, "after"));
    assert_false(fb_slice_begins(s, "retry-after-ms"));
    assert_true(fb_slice_ends(s, "-after"));
    assert_false(fb_slice_ends(s, "-before"));
    assert_false(fb_slice_ends(s, "x-retry-after"));
    assert_false(fb_slice_is(FB_SLICE("@[`{"), "`{@["));
    assert_true(fb_slice_equal(s, FB_SLICE("RETRY-after")));
    assert_false(fb_slice_equal(s, FB_SLICE("retry-aftes")));
    assert_false(fb_slice_equal(s, FB_SLICE("retry")));
}

static void finds_the_first_or_the_end(void **state)
{
    (void)state;
    assert_int_equal(fb_slice_find(FB_SLICE("a,b,c"), ','), 1);
    assert_int_equal(fb_slice_find(FB_SLICE("abc"), ','), 3);
    assert_int_equal(fb_slice_find((struct slice){NULL, 0}, ','), 0);
}

static void searches_for_texts(void **state)
{
    (void)state;
    assert_int_equal(fb_slice_search(FB_SLICE("a \"error\""), "\"error"), 2);
    assert_int_equal(fb_slice_search(FB_SLICE("a \"err"), "\"error"), 6);
    assert_int_equal(fb_slice_search(FB_SLICE("abc"), "abcd"), 3);
    assert_int_equal(fb_slice_search((struct slice){NULL, 0}, "abcd"), 0);
}

static void lists_have_a_part_more_than_separators(void **state)
{
    struct slice list = FB_SLICE("a, b ,,c,");
    static const char *const parts[] = {"a", "b", "", "c", ""};
    struct slice part;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(parts); i++) {
        assert_true(fb_slice_next(&list, ',', &part));
        assert_text(part, parts[i]);
    }
    assert_false(fb_slice_next(&list, ',', &part));
    assert_text(part, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blanks_go_at_both_ends_only),
        cmocka_unit_test(heads_and_tails_stay_inside),
        cmocka_unit_test(case_of_letters_does_not_matter),
        cmocka_unit_test(finds_the_first_or_the_end),
        cmocka_unit_test(searches_for_texts),
        cmocka_unit_test(lists_have_a_part_more_than_separators),
    };

    return cmocka_run_group_tests_name("slice", tests, NULL, NULL);
}
