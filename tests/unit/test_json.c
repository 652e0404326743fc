/* SPDX-License-Identifier: MIT */
/* JSON as it is written: escapes, commas, UTF-8 and what is not. Buffers that cannot grow. */
#include "unit.h"

#include <math.h>

#include "util/alloc.h"
#include "util/hash.h"
#include "util/json.h"

static void strings_are_escaped(void **state)
{
    static const struct {
        const char *in, *out;
        size_t size;
    } CASES[] = {
        {"", "\"\"", 0},
        {"plain", "\"plain\"", 5},
        {"a\"b\\c", "\"a\\\"b\\\\c\"", 5},
        {"\n\r\t\x01\x7f", "\"\\n\\r\\t\\u0001\\u007f\"", 5},
        {"a\0b", "\"a\\u0000b\"", 3},
        {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"", 9},
        {"\xff", "\"\xef\xbf\xbd\"", 1},
        {"\xc3", "\"\xef\xbf\xbd\"", 1},
        {"\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"", 3},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        struct buffer b = BUFFER_INIT;

        fb_json_add_string(&b, CASES[i].in, CASES[i].size);
        assert_string_equal(fb_buffer_text(&b), CASES[i].out);
        fb_buffer_fini(&b);
    }
}

/* What is looked at eight bytes at a time comes out as one by one. */
static void every_byte_at_every_place(void **state)
{
    char text[20];

    (void)state;
    for (size_t at = 0; at < sizeof text; at++)
        for (int c = 0; c < 256; c++) {
            struct buffer whole = BUFFER_INIT;
            struct buffer parts = BUFFER_INIT;

            memset(text, 'a', sizeof text);
            text[at] = (char)c;
            fb_json_add_string(&whole, text, sizeof text);
            for (size_t i = 0; i < sizeof text; i++) {
                struct buffer one = BUFFER_INIT;

                fb_json_add_string(&one, &text[i], 1);
                fb_buffer_add(&parts, one.bytes + 1, one.size - 2);
                fb_buffer_fini(&one);
            }
            assert_int_equal(whole.size, parts.size + 2);
            assert_memory_equal(whole.bytes + 1, parts.bytes, parts.size);
            fb_buffer_fini(&whole);
            fb_buffer_fini(&parts);
        }
}

/* The first byte that is not UTF-8 may be anywhere in a long text. */
static void a_wrong_byte_anywhere_makes_it_base64(void **state)
{
    char bytes[64];

    (void)state;
    for (size_t at = 0; at < sizeof bytes; at++) {
        struct buffer b = BUFFER_INIT;

        memset(bytes, 'a', sizeof bytes);
        bytes[at] = '\xff';
        fb_json_bytes(&b, "x", bytes, sizeof bytes);
        assert_contains(fb_buffer_text(&b), "\"x_base64\":");
        fb_buffer_fini(&b);
    }
}

static void members_have_commas_between(void **state)
{
    struct buffer b = BUFFER_INIT;

    (void)state;
    fb_buffer_add_char(&b, '{');
    fb_json_text(&b, "a", "x{");
    fb_json_text(&b, "b", NULL);
    fb_json_int(&b, "c", -12);
    fb_json_bool(&b, "d", true);
    fb_json_real(&b, "e", 1.25, 2);
    fb_json_real(&b, "f", (double)INFINITY, 2);
    fb_json_bytes(&b, "g", "text", 4);
    fb_json_bytes(&b, "h", "\xff\x00", 2);
    fb_buffer_add_char(&b, '}');
    assert_string_equal(fb_buffer_text(&b),
                        "{\"a\":\"x{\",\"b\":null,\"c\":-12,\"d\":true,\"e\":1.25,\"f\":null,"
                        "\"g\":\"text\",\"h_base64\":\"/wA=\"}");
    fb_buffer_fini(&b);
}

/* The vectors of RFC 4648, section 10. */
static void base64_as_the_rfc_has_it(void **state)
{
    static const char *const CASES[][2] = {{"", ""},
                                           {"f", "Zg=="},
                                           {"fo", "Zm8="},
                                           {"foo", "Zm9v"},
                                           {"foob", "Zm9vYg=="},
                                           {"fooba", "Zm9vYmE="},
                                           {"foobar", "Zm9vYmFy"}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(CASES); i++) {
        struct buffer b = BUFFER_INIT;

        fb_json_add_base64(&b, CASES[i][0], strlen(CASES[i][0]));
        assert_string_equal(fb_buffer_text(&b), CASES[i][1]);
        fb_buffer_fini(&b);
    }
}

static void a_buffer_that_cannot_grow_says_so_once(void **state)
{
    struct buffer b = BUFFER_INIT;

    (void)state;
    fb_buffer_add_text(&b, "before");
    fb_alloc_fail_at(1);
    for (int i = 0; i < 200; i++)
        fb_buffer_add_text(&b, "0123456789");
    fb_alloc_fail_at(0);
    assert_true(b.failed);
    assert_null(fb_buffer_text(&b));
    fb_buffer_clear(&b);
    fb_buffer_add_text(&b, "after");
    assert_string_equal(fb_buffer_text(&b), "after");
    fb_buffer_fini(&b);
    assert_null(b.bytes);
}

static void a_buffer_keeps_what_it_has_when_it_grows(void **state)
{
    struct buffer b = BUFFER_INIT;

    (void)state;
    for (int i = 0; i < 100000; i++)
        fb_buffer_add_int(&b, i % 10);
    assert_int_equal(b.size, 100000);
    for (size_t i = 0; i < b.size; i++)
        assert_int_equal(b.bytes[i], '0' + (int)(i % 10));
    fb_buffer_fini(&b);
}

static void one_bit_changes_the_hash(void **state)
{
    unsigned char bytes[32] = {0};
    uint64_t whole = fb_hash_end(fb_hash_add(FB_HASH_INIT, bytes, sizeof bytes));

    (void)state;
    for (size_t bit = 0; bit < 8 * sizeof bytes; bit++) {
        bytes[bit / 8] ^= (unsigned char)(1u << (bit % 8));
        assert_true(fb_hash_end(fb_hash_add(FB_HASH_INIT, bytes, sizeof bytes)) != whole);
        bytes[bit / 8] ^= (unsigned char)(1u << (bit % 8));
    }
    assert_true(fb_hash_add_int(FB_HASH_INIT, 1) ==
                fb_hash_add(FB_HASH_INIT, "\1\0\0\0\0\0\0\0", 8));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strings_are_escaped),
        cmocka_unit_test(every_byte_at_every_place),
        cmocka_unit_test(a_wrong_byte_anywhere_makes_it_base64),
        cmocka_unit_test(members_have_commas_between),
        cmocka_unit_test(base64_as_the_rfc_has_it),
        cmocka_unit_test(a_buffer_that_cannot_grow_says_so_once),
        cmocka_unit_test(a_buffer_keeps_what_it_has_when_it_grows),
        cmocka_unit_test(one_bit_changes_the_hash),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
