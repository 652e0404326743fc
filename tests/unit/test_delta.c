/* SPDX-License-Identifier: MIT */
/* Deltas: what changed, what it makes of the old, and who needs what. */
#include "unit.h"

#include "core/delta.h"
#include "core/rng.h"

static const struct snapshot_field before[] = {{"away", "0"}, {"home", "1"}, {"note", "rain"}};
static const struct snapshot_field after[] = {{"away", "0"}, {"clock", "62"}, {"home", "2"}};
static const struct snapshot none = {NULL, 0};
static const struct snapshot old = {before, 3};
static const struct snapshot new = {after, 3};

static void what_changed(void **state)
{
    struct delta_change c[6];

    (void)state;
    assert_int_equal(fb_delta(&old, &new, c), 3);
    assert_string_equal(c[0].name, "clock");
    assert_string_equal(c[0].value, "62");
    assert_string_equal(c[1].name, "home");
    assert_string_equal(c[1].value, "2");
    assert_string_equal(c[2].name, "note");
    assert_null(c[2].value);
    assert_int_equal(fb_delta(&old, &old, c), 0);
    assert_int_equal(fb_delta(&none, &none, c), 0);
    /* From nothing it is all of it, and to nothing all is gone. */
    assert_int_equal(fb_delta(&none, &new, c), 3);
    assert_string_equal(c[2].value, "2");
    assert_int_equal(fb_delta(&new, &none, c), 3);
    assert_null(c[0].value);
}

/* What is said to be gone and was never there stays so. */
static void changes_that_say_nothing_new(void **state)
{
    static const struct delta_change c[] = {{"away", "0"}, {"bench", NULL}, {"zone", NULL}};
    struct snapshot_field f[6];

    (void)state;
    assert_int_equal(fb_delta_apply(&old, c, 3, f), 3);
    for (int i = 0; i < 3; i++) {
        assert_string_equal(f[i].name, before[i].name);
        assert_string_equal(f[i].value, before[i].value);
    }
    assert_int_equal(fb_delta_apply(&none, NULL, 0, f), 0);
}

enum { NAMES = 12, KEPT = 5 };

static const char *const names[NAMES] = {"a", "b", "c", "d", "e", "f",
                                         "g", "h", "i", "j", "k", "l"};
static const char *const values[] = {"0", "1", "2"};

struct version {
    struct snapshot_field field[NAMES];
    struct snapshot s;
};

static void draw(struct version *v, struct rng *rng)
{
    v->s = (struct snapshot){v->field, 0};
    for (int i = 0; i < NAMES; i++)
        if (fb_rng_next(rng) % 2)
            v->field[v->s.count++] =
                (struct snapshot_field){names[i], values[fb_rng_next(rng) % COUNT_OF(values)]};
}

static void assert_same(const struct snapshot *a, const struct snapshot *b)
{
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        assert_string_equal(a->field[i].name, b->field[i].name);
        assert_string_equal(a->field[i].value, b->field[i].value);
    }
}

/* Consumers that come back after any time have in the end what all others have. */
static void whoever_comes_back_misses_nothing(void **state)
{
    struct rng rng = {seed_of_run()};
    struct version kept[KEPT + 1];
    struct snapshot_field mine[2 * NAMES];
    struct delta_change c[2 * NAMES];
    struct snapshot have = {mine, 0};
    uint64_t has = 0;
    int needed[3] = {0};

    (void)state;
    for (uint64_t latest = 1; latest <= 3000; latest++) {
        struct version *now = &kept[latest % (KEPT + 1)];
        draw(now, &rng);
        if (fb_rng_next(&rng) % 4 != 0)
            continue;
        enum delta_need need = fb_delta_need(has, latest, KEPT);
        needed[need]++;
        const struct snapshot *from = need == DELTA_WHOLE ? &none : &kept[has % (KEPT + 1)].s;
        if (need == DELTA_CHANGES)
            assert_same(&have, from);
        else
            have.count = 0;
        size_t changes = fb_delta(from, &now->s, c);
        struct snapshot_field next[2 * NAMES];
        size_t count = fb_delta_apply(&have, c, changes, next);
        memcpy(mine, next, count * sizeof(next[0]));
        have.count = count;
        has = latest;
        assert_same(&have, &now->s);
    }
    assert_true(needed[DELTA_CHANGES] > 100 && needed[DELTA_WHOLE] > 100);
}

static void who_needs_what(void **state)
{
    (void)state;
    assert_int_equal(fb_delta_need(7, 7, 5), DELTA_NOTHING);
    assert_int_equal(fb_delta_need(0, 0, 5), DELTA_NOTHING);
    assert_int_equal(fb_delta_need(6, 7, 5), DELTA_CHANGES);
    assert_int_equal(fb_delta_need(2, 7, 5), DELTA_CHANGES);
    assert_int_equal(fb_delta_need(1, 7, 5), DELTA_WHOLE);
    assert_int_equal(fb_delta_need(0, 3, 5), DELTA_WHOLE);
    assert_int_equal(fb_delta_need(8, 7, 5), DELTA_WHOLE); /* of another time */
    assert_int_equal(fb_delta_need(6, 7, 0), DELTA_WHOLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_changed),
        cmocka_unit_test(changes_that_say_nothing_new),
        cmocka_unit_test(whoever_comes_back_misses_nothing),
        cmocka_unit_test(who_needs_what),
    };

    return cmocka_run_group_tests_name("delta", tests, NULL, NULL);
}
