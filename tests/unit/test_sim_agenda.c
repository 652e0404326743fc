/* SPDX-License-Identifier: MIT */
/* The agenda: earliest first, equal times in order of arrival, whatever the number of events. */
#include "unit.h"

#include "core/rng.h"
#include "sim/agenda.h"

static void empty_has_nothing(void **state)
{
    struct agenda a;
    struct event e;

    (void)state;
    assert_int_equal(fb_agenda_init(&a), 0);
    assert_false(fb_agenda_pop(&a, &e));
    fb_agenda_fini(&a);
    fb_agenda_fini(&a);
}

static void equal_times_keep_their_order(void **state)
{
    struct agenda a;
    struct event e;

    (void)state;
    assert_int_equal(fb_agenda_init(&a), 0);
    for (uint16_t i = 0; i < 1000; i++)
        assert_int_equal(fb_agenda_push(&a, 7 + (i % 2), i % 5, i), 0);
    for (uint16_t i = 0; i < 1000; i++) {
        uint16_t expected = (uint16_t)(i < 500 ? 2 * i : 2 * (i - 500) + 1);

        assert_true(fb_agenda_pop(&a, &e));
        assert_int_equal(e.slot, expected);
        assert_int_equal(e.kind, expected % 5);
        assert_int_equal(e.at_ns, i < 500 ? 7 : 8);
    }
    assert_false(fb_agenda_pop(&a, &e));
    fb_agenda_fini(&a);
}

/* Pushes and pops in any mixture: never an event before one that is earlier. */
static void time_never_runs_backwards(void **state)
{
    struct rng rng = {seed_of_run()};
    struct agenda a;
    struct event e;
    int64_t now_ns = 0;

    (void)state;
    assert_int_equal(fb_agenda_init(&a), 0);
    for (int i = 0; i < 100000; i++) {
        int64_t at_ns = now_ns + (int64_t)(fb_rng_next(&rng) % 50);

        assert_int_equal(fb_agenda_push(&a, at_ns, 0, 0), 0);
        if (fb_rng_unit(&rng) < 0.9 && fb_agenda_pop(&a, &e)) {
            assert_at_least(e.at_ns, now_ns);
            now_ns = e.at_ns;
        }
    }
    while (fb_agenda_pop(&a, &e)) {
        assert_at_least(e.at_ns, now_ns);
        now_ns = e.at_ns;
    }
    fb_agenda_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_has_nothing),
        cmocka_unit_test(equal_times_keep_their_order),
        cmocka_unit_test(time_never_runs_backwards),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
