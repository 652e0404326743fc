/* SPDX-License-Identifier: MIT */
/* UTF-8: every character there is, and no others. */
#include "unit.h"

#include "util/utf8.h"

/* As RFC 3629 defines the encoding, without looking whether the character exists. */
static size_t encode(uint32_t c, char *bytes)
{
    if (c < 0x80) {
        bytes[0] = (char)c;
        return 1;
    }
    size_t size = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = size - 1; i > 0; i--, c >>= 6)
        bytes[i] = (char)(0x80 | (c & 0x3F));
    bytes[0] = (char)((size == 2 ? 0xC0 : size == 3 ? 0xE0 : 0xF0) | c);
    return size;
}

static void every_character(void **state)
{
    (void)state;
    for (uint32_t c = 0; c < 0x1FFFFF; c++) {
        char bytes[4];
        size_t size = encode(c, bytes);
        bool is_character = c <= 0x10FFFF && (c < 0xD800 || c > 0xDFFF);
        assert_int_equal(fb_utf8_prefix(bytes, size), is_character ? size : 0);
        assert_int_equal(fb_utf8_prefix(bytes, size - 1), 0); /* cut off */
    }
}

static void wrong_bytes_are_found_where_they_are(void **state)
{
    static const struct {
        const char *text;
        size_t whole;
    } rows[] = {
        {"", 0},
        {"plain", 5},
        {"f\303\274\303\274", 5},
        {"f\303\274\303", 3},
        {"\377\376", 0},
        {"ab\200", 2},
        {"ab\300\200", 2},         /* overlong */
        {"ab\340\200\200", 2},     /* overlong */
        {"ab\360\200\200\200", 2}, /* overlong */
        {"ab\355\240\200", 2},     /* a surrogate */
        {"ab\303(", 2},
        {"ab\342\202(", 2},
        {"ab\365\200\200\200", 2},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        assert_int_equal(fb_utf8_prefix(rows[i].text, strlen(rows[i].text)), rows[i].whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_character),
        cmocka_unit_test(wrong_bytes_are_found_where_they_are),
    };

    return cmocka_run_group_tests_name("utf8", tests, NULL, NULL);
}
