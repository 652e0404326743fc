/* SPDX-License-Identifier: MIT */
/* Snapshots: order, and finding in it. */
#include "unit.h"

#include "core/snapshot.h"

static void order_is_seen(void **state)
{
    static const struct snapshot_field good[] = {{"a", "1"}, {"ab", "2"}, {"b", "3"}};
    static const struct snapshot_field twice[] = {{"a", "1"}, {"a", "2"}};
    static const struct snapshot_field wrong[] = {{"a", "1"}, {"c", "2"}, {"b", "3"}};

    (void)state;
    assert_true(fb_snapshot_is_ordered(&(struct snapshot){NULL, 0}));
    assert_true(fb_snapshot_is_ordered(&(struct snapshot){good, 1}));
    assert_true(fb_snapshot_is_ordered(&(struct snapshot){good, 3}));
    assert_false(fb_snapshot_is_ordered(&(struct snapshot){twice, 2}));
    assert_false(fb_snapshot_is_ordered(&(struct snapshot){wrong, 3}));
}

static void values_are_found_by_name(void **state)
{
    static const struct snapshot_field field[] = {
        {"away", "2"},   {"clock", "\"61:04\""}, {"home", "1"},
        {"period", "2"}, {"state", "\"live\""},
    };

    (void)state;
    for (size_t count = 0; count <= COUNT_OF(field); count++) {
        struct snapshot s = {field, count};
        for (size_t i = 0; i < COUNT_OF(field); i++) {
            const char *value = fb_snapshot_find(&s, field[i].name);
            assert_true(value == (i < count ? field[i].value : NULL));
        }
        assert_null(fb_snapshot_find(&s, ""));
        assert_null(fb_snapshot_find(&s, "d"));
        assert_null(fb_snapshot_find(&s, "zone"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_is_seen),
        cmocka_unit_test(values_are_found_by_name),
    };

    return cmocka_run_group_tests_name("snapshot", tests, NULL, NULL);
}
