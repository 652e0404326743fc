/* SPDX-License-Identifier: MIT */
/* Memory for libcurl: it is as good as malloc's, and what was given back comes again. */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/curl_memory.h"
#include "unit.h"

static void fill(char *at, size_t size)
{
    for (size_t i = 0; i < size; i++)
        at[i] = (char)(i * 7 + size);
}

static void assert_filled(const char *at, size_t size, size_t filled)
{
    for (size_t i = 0; i < size; i++)
        assert_int_equal(at[i], (char)(i * 7 + filled));
}

/* Twice: the second time from what was kept. */
static void blocks_of_every_size(void **state)
{
    (void)state;
    fb_curl_memory_begin();
    for (size_t i = 0; i < 2 * 20000; i += 13) {
        size_t size = i % 20000;
        char *a = fb_curl_get(size);
        char *b = fb_curl_get(size);

        assert_non_null(a);
        assert_ptr_not_equal(a, b);
        fill(a, size);
        memset(b, 0xff, size);
        fb_curl_put(b);
        assert_filled(a, size, size);
        fb_curl_put(a);
    }
    fb_curl_put(NULL);
    fb_curl_memory_end();
}

static void blocks_grow_and_shrink(void **state)
{
    static const size_t sizes[] = {0, 1, 60, 57, 500, 4096, 100, 17000, 17400, 60000, 3, 900000, 0};
    size_t filled = 0;
    char *at = fb_curl_resize(NULL, 0);

    (void)state;
    fb_curl_memory_begin();
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        at = fb_curl_resize(at, sizes[i]);
        assert_non_null(at);
        assert_filled(at, filled < sizes[i] ? filled : sizes[i], filled);
        fill(at, sizes[i]);
        filled = sizes[i];
    }
    fb_curl_put(at);
    fb_curl_memory_end();
}

static void zeroes_are_zeroes(void **state)
{
    static const char none[3000];

    (void)state;
    fb_curl_memory_begin();
    for (size_t size = 1; size < sizeof(none); size += 97) {
        char *at = fb_curl_get(size);

        memset(at, 0xff, size);
        fb_curl_put(at);
        at = fb_curl_zeroes(1, size);
        assert_memory_equal(at, none, size);
        fb_curl_put(at);
    }
    /* The compiler is not to see what is asked for. */
    volatile size_t much = SIZE_MAX / 2;
    assert_null(fb_curl_zeroes(much, 3));
    fb_curl_put(fb_curl_zeroes(0, 0));
    fb_curl_memory_end();
}

static void texts_are_copied(void **state)
{
    char long_text[300];

    (void)state;
    memset(long_text, 'x', sizeof(long_text) - 1);
    long_text[sizeof(long_text) - 1] = '\0';
    fb_curl_memory_begin();
    const char *const texts[] = {"", "a", long_text};
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        char *copy = fb_curl_text(texts[i]);

        assert_string_equal(copy, texts[i]);
        fb_curl_put(copy);
    }
    fb_curl_memory_end();
}

/* Whether what was given back comes again; a sanitizer is to see every block go. */
static bool is_kept(size_t size)
{
    void *first = fb_curl_get(size);
    uintptr_t was = (uintptr_t)first;

    fb_curl_put(first);
    void *again = fb_curl_get(size);
    bool is_same = (uintptr_t)again == was;
    fb_curl_put(again);
    return is_same;
}

static void what_is_given_back_comes_again(void **state)
{
#if defined(__SANITIZE_ADDRESS__)
    bool keeps = false;
#else
    bool keeps = true;
#endif

    (void)state;
    fb_curl_memory_begin();
    fb_curl_memory_begin();
    assert_int_equal(is_kept(100), keeps);
    assert_int_equal(is_kept(16385), keeps);
    fb_curl_memory_end();
    assert_int_equal(is_kept(100), keeps);
    fb_curl_memory_end();
    fb_curl_memory_end(); /* once too often is nothing */
    void *at = fb_curl_get(100);
    fb_curl_put(at);
}

/* More than may be kept is given back to the system: then lists do not grow for ever. */
static void only_so_much_is_kept(void **state)
{
    enum { BLOCKS = 2 * CURL_MEMORY_KEPT / 16384 };
    void *block[BLOCKS];

    (void)state;
    fb_curl_memory_begin();
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < BLOCKS; i++)
            assert_non_null(block[i] = fb_curl_get(16384));
        for (int i = 0; i < BLOCKS; i++)
            fb_curl_put(block[i]);
    }
    fb_curl_memory_end();
}

static void *use_elsewhere(void *from_here)
{
    char *own = fb_curl_text("of a thread that keeps nothing");

    fb_curl_put(from_here);
    return own;
}

/* As with names that are looked up: memory of one thread ends on another. */
static void other_threads_may_end_it(void **state)
{
    pthread_t thread;
    void *own = NULL;

    (void)state;
    fb_curl_memory_begin();
    for (int i = 0; i < 20; i++) {
        assert_int_equal(pthread_create(&thread, NULL, use_elsewhere, fb_curl_get(48)), 0);
        assert_int_equal(pthread_join(thread, &own), 0);
        assert_string_equal(own, "of a thread that keeps nothing");
        fb_curl_put(own);
    }
    free(fb_curl_get(100));
    fb_curl_put(malloc(100));
    fb_curl_memory_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_of_every_size),
        cmocka_unit_test(blocks_grow_and_shrink),
        cmocka_unit_test(zeroes_are_zeroes),
        cmocka_unit_test(texts_are_copied),
        cmocka_unit_test(what_is_given_back_comes_again),
        cmocka_unit_test(only_so_much_is_kept),
        cmocka_unit_test(other_threads_may_end_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
