/* SPDX-License-Identifier: MIT */
/* How much ended lately: of a batch, and of keys some of which wait. */
#include "unit.h"

#include "fetch/meter.h"

#define BEAT_NS (250 * MS)
#define BEGAN   (1000 * S)

/* So many looks at a key that ends `rate` a second; what is measured at the last of them. */
static double look(struct meter *m, uint64_t name, int64_t *now_ns, int looks, double rate,
                   int64_t *done, bool waits)
{
    double found = 0.0, part = 0.0;

    for (int i = 0; i < looks; i++) {
        *now_ns += BEAT_NS;
        part += rate * 0.25;
        *done += (int64_t)part;
        part -= (double)(int64_t)part;
        found = fb_meter_key(m, name, BEGAN, *now_ns, *done, waits);
    }
    return found;
}

static void a_batch_is_measured_over_five_seconds(void **state)
{
    struct meter m = {.count = 0};
    double found = 0.0;

    (void)state;
    assert_close(fb_meter_batch(&m, BEGAN, BEGAN + BEAT_NS, 3), 12.0, 1e-9);
    for (int i = 2; i <= 40; i++)
        found = fb_meter_batch(&m, BEGAN, BEGAN + i * BEAT_NS, 3);
    assert_close(found, 0.0, 1e-9);
    assert_close(fb_meter_batch(&m, BEGAN, BEGAN + 40 * BEAT_NS, 13), 10.0 / 4.75, 1e-6);
    m = (struct meter){.count = 0};
    assert_close(fb_meter_batch(&m, BEGAN, BEGAN, 3), 0.0, 1e-9); /* no time has passed */
}

static void what_a_key_does_is_followed(void **state)
{
    struct meter m = {.count = 0};
    int64_t now_ns = BEGAN, done = 0;

    (void)state;
    assert_close(look(&m, 1, &now_ns, 1, 8.0, &done, false), 8.0, 1e-6); /* at once */
    assert_close(look(&m, 1, &now_ns, 12, 8.0, &done, false), 8.0, 1e-6);
    assert_close(look(&m, 1, &now_ns, 80, 40.0, &done, false), 40.0, 1.0);
    double again = fb_meter_key(&m, 1, BEGAN, now_ns, done, false); /* in the same instant */
    assert_close(again, 40.0, 1.0);
    assert_true(look(&m, 1, &now_ns, 80, 0.0, &done, false) < 1.0);
}

/* An engine forgets keys that idle; under the same name they begin with nothing done. */
static void a_key_that_counts_anew_is_no_loss(void **state)
{
    struct meter m = {.count = 0};
    int64_t now_ns = BEGAN, done = 0;

    (void)state;
    assert_close(look(&m, 1, &now_ns, 40, 8.0, &done, false), 8.0, 1e-6);
    done = 0;
    assert_close(look(&m, 1, &now_ns, 1, 8.0, &done, false), 8.0, 1e-6);
}

static void only_the_key_that_waits_stays_as_it_was(void **state)
{
    struct meter m = {.count = 0};
    int64_t now_ns = BEGAN, first = 0, second = 0;

    (void)state;
    for (int i = 0; i < 40; i++) {
        int64_t before_ns = now_ns;
        (void)look(&m, 1, &before_ns, 1, 8.0, &first, false);
        (void)look(&m, 2, &now_ns, 1, 8.0, &second, false);
    }
    double held = 0.0, other = 0.0;
    for (int i = 0; i < 80; i++) {
        int64_t before_ns = now_ns;
        held = look(&m, 1, &before_ns, 1, 0.0, &first, true);
        other = look(&m, 2, &now_ns, 1, 80.0, &second, false);
    }
    assert_close(held, 8.0, 1e-3);
    assert_close(other, 80.0, 2.0);
}

static void what_ended_before_the_first_wait_counts(void **state)
{
    struct meter m = {.count = 0};

    (void)state;
    assert_close(fb_meter_key(&m, 1, BEGAN, BEGAN + BEAT_NS, 3, true), 12.0, 1e-6);
    assert_close(fb_meter_key(&m, 1, BEGAN, BEGAN + 8 * S, 3, true), 12.0, 1e-6);
}

/* Of an engine that has other work nobody knows what it did before. */
static void what_was_before_the_first_look_may_not_count(void **state)
{
    struct meter m = {.count = 0};

    (void)state;
    assert_close(fb_meter_key(&m, 1, BEGAN, BEGAN, 5000, false), 0.0, 1e-9);
    assert_close(fb_meter_key(&m, 1, 0, BEGAN + BEAT_NS, 5002, false), 8.0, 1e-6);
}

static void the_key_not_looked_at_for_longest_makes_room(void **state)
{
    struct meter m = {.count = 0};

    (void)state;
    for (uint64_t i = 1; i <= METER_KEYS; i++)
        (void)fb_meter_key(&m, i, BEGAN, BEGAN + S + (int64_t)i, 10, false);
    (void)fb_meter_key(&m, 1, BEGAN, BEGAN + 3 * S, 20, false);
    (void)fb_meter_key(&m, 99, BEGAN + 3 * S, BEGAN + 4 * S, 7, false); /* instead of 2 */
    assert_true(fb_meter_key(&m, 1, BEGAN, BEGAN + 4 * S, 20, true) > 0.0);
    assert_close(fb_meter_key(&m, 2, BEGAN + 4 * S, BEGAN + 4 * S, 10, true), 0.0, 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_batch_is_measured_over_five_seconds),
        cmocka_unit_test(what_a_key_does_is_followed),
        cmocka_unit_test(a_key_that_counts_anew_is_no_loss),
        cmocka_unit_test(only_the_key_that_waits_stays_as_it_was),
        cmocka_unit_test(what_ended_before_the_first_wait_counts),
        cmocka_unit_test(what_was_before_the_first_look_may_not_count),
        cmocka_unit_test(the_key_not_looked_at_for_longest_makes_room),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
