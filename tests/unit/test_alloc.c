/* SPDX-License-Identifier: MIT */
/* The allocator of the edges, and its failure on demand. */
#include "unit.h"

#include "util/alloc.h"
#include "util/blocks.h"

static void memory_is_zeroed(void **state)
{
    static const unsigned char zeros[100];
    unsigned char *memory = fb_alloc(sizeof(zeros));

    (void)state;
    assert_non_null(memory);
    assert_memory_equal(memory, zeros, sizeof(zeros));
    fb_free(memory);
    fb_free(NULL);
}

static void lines_begin_where_the_cache_has_them(void **state)
{
    static const unsigned char zeros[1000];

    (void)state;
    for (size_t size = 1; size <= sizeof(zeros); size += 37) {
        void *memory = fb_alloc_lines(size);
        assert_int_equal((uintptr_t)memory % 64, 0);
        assert_memory_equal(memory, zeros, size);
        fb_free(memory);
    }
    fb_alloc_fail_at(1);
    assert_null(fb_alloc_lines(64));
    assert_null(fb_alloc_lines(SIZE_MAX));
}

static void memory_as_it_comes(void **state)
{
    void *memory = fb_alloc_raw(1000);

    (void)state;
    memset(memory, 1, 1000);
    fb_free(memory);
    fb_alloc_fail_at(1);
    assert_null(fb_alloc_raw(1000));
}

static void the_nth_call_fails_once(void **state)
{
    (void)state;
    for (size_t n = 1; n <= 5; n++) {
        fb_alloc_fail_at(n);
        for (size_t call = 1; call <= 7; call++) {
            void *memory = fb_alloc(8);
            assert_int_equal(memory == NULL, call == n);
            fb_free(memory);
        }
    }
}

static void zero_means_none(void **state)
{
    (void)state;
    fb_alloc_fail_at(1);
    fb_alloc_fail_at(0);
    void *memory = fb_alloc(8);
    assert_non_null(memory);
    fb_free(memory);
}

/* Every allocation that a limiter makes may fail: NULL, a sentence, and nothing leaks. */
static void a_limiter_without_memory(void **state)
{
    static const char *const specs[] = {NULL, "rate=1/s", "window=100/1s window=5000/1h",
                                        "rate=1/s adapt=step", "window=1000000/1h"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(specs); i++) {
        size_t n = 1;
        for (;; n++) {
            struct fly_error err = {""};
            fb_alloc_fail_at(n);
            struct fly_limiter *l = fly_limiter_new(specs[i], 0, 1, &err);
            fb_alloc_fail_at(0);
            fly_limiter_free(l);
            if (l)
                break;
            assert_contains(err.text, "out of memory");
        }
        assert_true(n > 1);

        fb_alloc_fail_at(1);
        assert_null(fly_limiter_new(specs[i], 0, 1, NULL));
        fb_alloc_fail_at(0);
    }
    fly_limiter_free(NULL);
}

static void blocks_come_and_go(void **state)
{
    static const size_t sizes[] = {1, 99, 100, 101, 5000};
    struct blocks b = {.bytes = 100};
    void *memory[COUNT_OF(sizes)];

    (void)state;
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < COUNT_OF(sizes); i++) {
            memory[i] = fb_blocks_get(&b, sizes[i]);
            assert_non_null(memory[i]);
            memset(memory[i], round, sizes[i]);
        }
        for (size_t i = 0; i < COUNT_OF(sizes); i++)
            fb_blocks_put(&b, memory[i], sizes[i]);
    }
    fb_blocks_put(&b, NULL, 1);
    assert_true(b.kept <= 3);
    fb_blocks_fini(&b);
    fb_alloc_fail_at(1);
    assert_null(fb_blocks_get(&b, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_zeroed),
        cmocka_unit_test(lines_begin_where_the_cache_has_them),
        cmocka_unit_test(memory_as_it_comes),
        cmocka_unit_test(blocks_come_and_go),
        cmocka_unit_test(the_nth_call_fails_once),
        cmocka_unit_test(zero_means_none),
        cmocka_unit_test(a_limiter_without_memory),
    };

    return cmocka_run_group_tests_name("alloc", tests, NULL, NULL);
}
