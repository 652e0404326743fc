/* SPDX-License-Identifier: MIT */
/* A shelf against a plain list: what was added is found, what was removed is not. */
#include "unit.h"

#include <errno.h>
#include <stdbool.h>

#include "core/rng.h"
#include "ledger/shelf.h"
#include "util/alloc.h"

enum { KEYS = 300 };

/* Few different high bits: many want the same place. */
static uint64_t crowded(int i)
{
    return (uint64_t)(i % 3) << 63 | (uint64_t)(i % 5 == 0) << 62 | (uint64_t)(i + 1);
}

static void check(const struct shelf *s, const bool *there)
{
    uint32_t count = 0;

    for (int i = 0; i < KEYS; i++) {
        const struct entry *e = fb_shelf_find(s, crowded(i));
        assert_int_equal(e != NULL, there[i]);
        count += there[i];
        if (e)
            assert_int_equal(e->brief.full_ns, i);
    }
    assert_int_equal(s->count, count);
}

static void finds_what_is_there(void **state)
{
    struct shelf s = {.count = 0};
    bool there[KEYS] = {false};
    struct rng rng = {seed_of_run()};

    (void)state;
    for (int step = 0; step < 3000; step++) {
        int i = (int)(fb_rng_next(&rng) % KEYS);
        if (there[i]) {
            fb_shelf_remove(&s, fb_shelf_find(&s, crowded(i)));
        } else {
            if (fb_shelf_is_full(&s))
                assert_int_equal(fb_shelf_fit(&s, s.count + 1), 0);
            struct entry *e = fb_shelf_add(&s, crowded(i));
            assert_int_equal(e->brief.full_ns, 0);
            e->brief.full_ns = i;
        }
        there[i] = !there[i];
        if (step % 50 == 0)
            check(&s, there);
        if (step % 500 == 499)
            assert_int_equal(fb_shelf_fit(&s, s.count), 0);
    }
    check(&s, there);
    fb_shelf_fini(&s);
    assert_null(fb_shelf_find(&s, 1));
}

static void is_as_wide_as_it_must_be(void **state)
{
    struct shelf s = {.count = 0};

    (void)state;
    assert_true(fb_shelf_is_full(&s));
    for (uint32_t count = 0; count < 5000; count++) {
        assert_int_equal(fb_shelf_fit(&s, count), 0);
        assert_at_least(s.places, count + count / 3);
        assert_at_most(s.places, 2 * count + 8);
    }
    assert_int_equal(fb_shelf_fit(&s, 1), 0);
    assert_int_equal(s.places, 8);
    fb_shelf_fini(&s);
}

static void stays_as_it_is_without_memory(void **state)
{
    struct shelf s = {.count = 0};

    (void)state;
    assert_int_equal(fb_shelf_fit(&s, 1), 0);
    fb_shelf_add(&s, 5)->brief.full_ns = 7;
    fb_alloc_fail_at(1);
    assert_int_equal(fb_shelf_fit(&s, 1000), -ENOMEM);
    fb_alloc_fail_at(0);
    assert_int_equal(fb_shelf_find(&s, 5)->brief.full_ns, 7);
    fb_shelf_fini(&s);
}

static void holds_brief_books_or_an_address(void **state)
{
    struct entry e = {.hash = 1, .brief = fb_brief_new(0)};
    struct books *books = (struct books *)(uintptr_t)0x7f0000001230;

    (void)state;
    assert_null(fb_entry_books(&e));
    fb_entry_set_books(&e, books);
    assert_ptr_equal(fb_entry_books(&e), books);
    e.brief = fb_brief_new(0);
    assert_null(fb_entry_books(&e));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_is_there),
        cmocka_unit_test(is_as_wide_as_it_must_be),
        cmocka_unit_test(stays_as_it_is_without_memory),
        cmocka_unit_test(holds_brief_books_or_an_address),
    };

    return cmocka_run_group_tests_name("shelf", tests, NULL, NULL);
}
