/* SPDX-License-Identifier: MIT */
/* Answers as gzip: what is packed is what was given, and only for those who take it. */
#include "unit.h"

#include <zlib.h>

#include "serve/pack.h"
#include "util/alloc.h"

static void who_takes_it(void **state)
{
    static const struct {
        const char *accept;
        bool wanted;
    } rows[] = {
        {"gzip", true},
        {"deflate, gzip, br", true},
        {"GZIP;q=0.5", true},
        {"br;q=1.0, gzip; q=0.001", true},
        {"gzip;q=1", true},
        {"gzip;level=9", true},
        {"", false},
        {"identity", false},
        {"gzip;q=0", false},
        {"br, gzip; q=0.000", false},
        {"xgzip, gzipped", false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (fb_pack_is_wanted(fb_slice_of(rows[i].accept)) != rows[i].wanted)
            fail_msg("'%s'", rows[i].accept);
}

static void what_comes_out_is_what_went_in(void **state)
{
    struct buffer plain = BUFFER_INIT;
    struct buffer packed = BUFFER_INIT;
    static char back[200000];
    z_stream z = {.next_out = (Bytef *)back, .avail_out = sizeof back};

    (void)state;
    for (int i = 0; i < 10000; i++)
        fb_buffer_add_int(&plain, i % 777);
    fb_buffer_add_text(&packed, "before");
    assert_true(fb_pack((struct slice){plain.bytes, plain.size}, &packed));
    assert_memory_equal(packed.bytes, "before", 6);
    assert_true(packed.size < plain.size / 4);
    z.next_in = (Bytef *)packed.bytes + 6;
    z.avail_in = (uInt)(packed.size - 6);
    assert_int_equal(inflateInit2(&z, 31), Z_OK);
    assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
    assert_int_equal(z.total_out, plain.size);
    assert_memory_equal(back, plain.bytes, plain.size);
    assert_int_equal(inflateEnd(&z), Z_OK);
    fb_buffer_fini(&plain);
    fb_buffer_fini(&packed);
}

static void without_memory_it_says_so(void **state)
{
    int failed = 0;

    (void)state;
    for (size_t at = 1; at < 20; at++) {
        struct buffer packed = BUFFER_INIT;

        fb_alloc_fail_at(at);
        bool is_packed = fb_pack(FB_SLICE("some words, some words"), &packed);
        fb_alloc_fail_at(0);
        assert_int_equal(packed.failed, !is_packed);
        failed += !is_packed;
        fb_buffer_fini(&packed);
    }
    assert_at_least(failed, 2);
}

/* Above the largest: plain, and said so. */
static void too_long_is_not_packed(void **state)
{
    static char plain[PACK_MOST + 1];
    struct buffer packed = BUFFER_INIT;

    (void)state;
    assert_true(fb_pack((struct slice){plain, PACK_MOST}, &packed));
    assert_false(packed.failed);
    fb_buffer_clear(&packed);
    assert_false(fb_pack((struct slice){plain, PACK_MOST + 1}, &packed));
    assert_true(packed.failed);
    fb_buffer_fini(&packed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_takes_it),
        cmocka_unit_test(what_comes_out_is_what_went_in),
        cmocka_unit_test(without_memory_it_says_so),
        cmocka_unit_test(too_long_is_not_packed),
    };

    return cmocka_run_group_tests_name("pack", tests, NULL, NULL);
}
