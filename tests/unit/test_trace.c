/* SPDX-License-Identifier: MIT */
/* The id of a trace: taken whole, or not at all. */
#include "unit.h"

#include "core/trace.h"

#define ID     "0af7651916cd43dd8448eb211c80319c"
#define PARENT "b7ad6b7169203331"

static void taken(void **state)
{
    char id[FB_TRACE_BYTES] = "x";

    (void)state;
    assert_true(fb_trace_id("00-" ID "-" PARENT "-01", id));
    assert_string_equal(id, ID);
    /* A later version may have more behind it. */
    assert_true(fb_trace_id("cc-" ID "-" PARENT "-00-more", id));
    assert_true(fb_trace_id("f0-" ID "-" PARENT "-00", id)); /* only ff is none */
}

static void not_taken(void **state)
{
    static const char *const BAD[] = {
        "",
        "00",
        "00-",
        "00-" ID,
        "00-" ID "-" PARENT,
        "00-" ID "-" PARENT "-",
        "00-" ID "-" PARENT "-0",
        "00-" ID "-" PARENT "-01x",
        "ff-" ID "-" PARENT "-01",
        "fg-" ID "-" PARENT "-01",
        "00-0AF7651916cd43dd8448eb211c80319c-" PARENT "-01",
        "00-00000000000000000000000000000000-" PARENT "-01",
        "00-" ID "-0000000000000000-01",
        "00_" ID "-" PARENT "-01",
        "00-" ID "_" PARENT "-01",
        "00-" ID "-" PARENT "_01",
        "0g-" ID "-" PARENT "-01",
    };
    char id[FB_TRACE_BYTES] = "x";

    (void)state;
    assert_false(fb_trace_id(NULL, id));
    assert_string_equal(id, "");
    for (size_t i = 0; i < COUNT_OF(BAD); i++) {
        /* In memory of its own length, so that a sanitizer sees who reads on. */
        char *copy = strdup(BAD[i]);

        id[0] = 'x';
        if (fb_trace_id(copy, id) || id[0])
            fail_msg("%s was taken", BAD[i]);
        free(copy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(taken), cmocka_unit_test(not_taken)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
