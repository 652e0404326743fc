/* SPDX-License-Identifier: MIT */
/* Bare items of structured fields: every type, where it ends, what it means. */
#include "exact.h"

#include "signal/bare.h"

struct row {
    const char *text;
    enum bare_type type;
    int64_t number;
    const char *meaning; /* of a text, decoded */
    const char *rest;
};

static void items(void **state)
{
    static const struct row rows[] = {
        {"42", BARE_INTEGER, 42, "", ""},
        {"-0", BARE_INTEGER, 0, "", ""},
        {"-999999999999999;x", BARE_INTEGER, -999999999999999, "", ";x"},
        {"00042 ", BARE_INTEGER, 42, "", " "},
        {"1.5", BARE_DECIMAL, 1500, "", ""},
        {"-1.234,", BARE_DECIMAL, -1234, "", ","},
        {"0.05", BARE_DECIMAL, 50, "", ""},
        {"123456789012.123", BARE_DECIMAL, 123456789012123, "", ""},
        {"1.5.4", BARE_DECIMAL, 1500, "", ".4"},
        {"\"\"", BARE_STRING, 0, "", ""},
        {"\"a b\";r=5", BARE_STRING, 0, "a b", ";r=5"},
        {"\"a \\\"b\\\" \\\\\"", BARE_STRING, 0, "a \"b\" \\", ""},
        {"\"100%25\"", BARE_STRING, 0, "100%25", ""},
        {"\"~ \"", BARE_STRING, 0, "~ ", ""},
        {"tok", BARE_TOKEN, 0, "tok", ""},
        {"zZ", BARE_TOKEN, 0, "zZ", ""},
        {"Z", BARE_TOKEN, 0, "Z", ""},
        {"A", BARE_TOKEN, 0, "A", ""},
        {"*a!#$%&'*+-.^_`|~:/9 x", BARE_TOKEN, 0, "*a!#$%&'*+-.^_`|~:/9", " x"},
        {"a\\b", BARE_TOKEN, 0, "a", "\\b"},
        {"::", BARE_BYTES, 0, "", ""},
        {":aGVsbG8=:", BARE_BYTES, 0, "hello", ""},
        {":aGVsbG8:", BARE_BYTES, 0, "hello", ""}, /* without padding */
        {":iZ==:;x", BARE_BYTES, 0, "\211", ";x"}, /* with stray bits */
        {":/+Ah:", BARE_BYTES, 0, "\377\340!", ""},
        {"?0", BARE_BOOLEAN, 0, "", ""},
        {"?1, a", BARE_BOOLEAN, 1, "", ", a"},
        {"@1659578233", BARE_DATE, 1659578233, "", ""},
        {"@-1", BARE_DATE, -1, "", ""},
        {"%\"\"", BARE_DISPLAY, 0, "", ""},
        {"%\"f%c3%bc%c3%bc 100%25\"!", BARE_DISPLAY, 0, "f\303\274\303\274 100%", "!"},
        {"%\"a\\b\"", BARE_DISPLAY, 0, "a\\b", ""},
        {"%\"%22\"", BARE_DISPLAY, 0, "\"", ""},
        {"%\"%0a%20%ef%bb%bf~\"", BARE_DISPLAY, 0, "\n \357\273\277~", ""},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct slice s = exact(rows[i].text);
        struct bare b;
        char meaning[64];

        if (!fb_bare_take(&s, &b))
            fail_msg("%s", rows[i].text);
        assert_int_equal(b.type, rows[i].type);
        assert_int_equal(b.number, rows[i].number);
        assert_int_equal(s.length, strlen(rows[i].rest));
        assert_memory_equal(s.at, rows[i].rest, s.length);
        size_t length = fb_bare_decode(&b, meaning, sizeof meaning);
        assert_int_equal(length, strlen(rows[i].meaning));
        assert_memory_equal(meaning, rows[i].meaning, length);
    }
}

static const char *const not_items[] = {
    "",
    "-",
    "-a",
    "--1",
    "- 1",
    "1234567890123456",
    "-1234567890123456",
    "99999999999999999999",
    "1.",
    "1.x",
    "1.1234",
    "1234567890123.0",
    "\"",
    "\"a",
    "\"a\\",
    "\"a\\\"",
    "\"a\\x\"",
    "\"\t\"",
    "\"\n\"",
    "\"\177\"",
    "\"\303\274\"",
    "'a'",
    ":",
    ":a:",
    ":a",
    ":aGVsbG8=",
    ":aGVs bG8=:",
    ":=aGVsbG8=:",
    ":a=GVsbG8=:",
    ":aGVsbG8.:",
    ":_-Ah:",
    ":aGVsbA=:",
    ":aGVsbG8==:",
    ":aGVs=:",
    ":aGVs====:",
    ":aGVsb:",
    "?",
    "?2",
    "?T",
    "? 1",
    "@",
    "@x",
    "@1.5",
    "@ 1",
    "@1000000000000000",
    "%",
    "%a",
    "%\"",
    "%\"a",
    "%\"%\"",
    "%\"%a\"",
    "%\"%c3\"",
    "%\"%C3%BC\"",
    "%\"%g0\"",
    "%\"%0g\"",
    "%\"%1g\"",
    "%a\"",
    "%\"%c3%28\"",
    "%\"%a0%a1\"",
    "%\"\t\"",
    "%\"\303\274\"",
    "%\"%c3",
    "%'a'",
    "!",
    "_a",
    "(",
    "=",
    ",",
    ";",
    " 1",
    "\\",
    "\200",
    "+1",
};

static void refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(not_items); i++) {
        struct slice s = exact(not_items[i]);
        struct bare b;
        if (fb_bare_take(&s, &b))
            fail_msg("%s", not_items[i]);
    }
    struct bare b;
    assert_false(fb_bare_take(&(struct slice){NULL, 0}, &b));
    assert_false(fb_bare_take(&(struct slice){"\0", 1}, &b));
    assert_false(fb_bare_take(&(struct slice){"\"\0\"", 3}, &b));
    assert_false(fb_bare_take(&(struct slice){":\0:", 3}, &b));
    assert_false(fb_bare_take(&(struct slice){":\0\0:", 4}, &b));
    assert_false(fb_bare_take(&(struct slice){"%\"%\0a\"", 6}, &b));
}

static void a_token_ends_at_a_nul(void **state)
{
    struct slice s = {"a\0b", 3};
    struct bare b;

    (void)state;
    assert_true(fb_bare_take(&s, &b));
    assert_int_equal(b.text.length, 1);
    assert_int_equal(s.length, 2);
}

static void a_nul_may_be_meant(void **state)
{
    struct slice s = FB_SLICE("%\"a%00\"");
    struct bare b;
    char bytes[4];

    (void)state;
    assert_true(fb_bare_take(&s, &b));
    assert_int_equal(fb_bare_decode(&b, bytes, sizeof bytes), 2);
    assert_memory_equal(bytes, "a\0", 2);
}

static void a_small_buffer_is_filled_and_the_length_told(void **state)
{
    struct slice s = FB_SLICE("\"abcdef\"");
    struct bare b;
    char bytes[4] = "....";

    (void)state;
    assert_true(fb_bare_take(&s, &b));
    assert_int_equal(fb_bare_decode(&b, bytes, 3), 6);
    assert_memory_equal(bytes, "abc.", 4);
    assert_int_equal(fb_bare_decode(&b, NULL, 0), 6);
}

/* Every byte string of a length is the meaning of some base64. */
static void base64_there_and_back(void **state)
{
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    (void)state;
    for (unsigned value = 0; value < 65536; value++) {
        char text[8] = ":....=:", bytes[4];
        struct slice s = {text, 6};
        struct bare b;

        text[1] = alphabet[value >> 10];
        text[2] = alphabet[value >> 4 & 63];
        text[3] = alphabet[value << 2 & 63];
        text[4] = '=';
        text[5] = ':';
        assert_true(fb_bare_take(&s, &b));
        assert_int_equal(fb_bare_decode(&b, bytes, sizeof bytes), 2);
        assert_int_equal((uint8_t)bytes[0] << 8 | (uint8_t)bytes[1], value);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items),
        cmocka_unit_test(refused),
        cmocka_unit_test(a_token_ends_at_a_nul),
        cmocka_unit_test(a_nul_may_be_meant),
        cmocka_unit_test(a_small_buffer_is_filled_and_the_length_told),
        cmocka_unit_test(base64_there_and_back),
    };

    return cmocka_run_group_tests_name("bare", tests, NULL, NULL);
}
