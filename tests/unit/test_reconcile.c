/* SPDX-License-Identifier: MIT */
/* Reconciliation: rank, provenance, conflicts, and the same picture whatever the order. */
#include "unit.h"

#include <stdbool.h>

#include "core/reconcile.h"
#include "core/rng.h"

static const struct snapshot_field official[] = {{"home", "1"}, {"state", "live"}};
static const struct snapshot_field quick[] = {{"away", "0"}, {"home", "2"}, {"state", "live"}};
static const struct snapshot_field chatty[] = {{"away", "0"}, {"venue", "Oval"}};

static struct reconcile_source source(const struct snapshot_field *field, size_t count,
                                      double weight, double reliability)
{
    return (struct reconcile_source){
        .says = {field, count},
        .weight = weight,
        .reliability = reliability,
    };
}

/* ---- rank ---- */

static void rank_is_weight_times_reliability(void **state)
{
    struct reconcile_source s[] = {
        source(NULL, 0, 10.0, 0.5), /* 5 */
        source(NULL, 0, 8.0, 1.0),  /* 8 */
        source(NULL, 0, 5.0, 1.0),  /* 5, of a lower weight */
        source(NULL, 0, 5.0, 1.0),  /* the same, and later */
        source(NULL, 0, 99.0, 1.0), /* demoted */
        source(NULL, 0, 98.0, 1.0), /* demoted */
    };
    static const uint32_t expected[] = {1, 0, 2, 3, 4, 5};

    (void)state;
    s[4].demoted = true;
    s[5].demoted = true;
    for (size_t i = 0; i < COUNT_OF(expected); i++)
        for (size_t k = 0; k < COUNT_OF(expected); k++)
            assert_int_equal(fb_reconcile_is_before(s, expected[i], expected[k]), i < k);
}

/* ---- the picture ---- */

static void each_field_says_where_it_is_from(void **state)
{
    struct reconcile_source s[] = {source(official, 2, 3.0, 1.0), source(quick, 3, 2.0, 1.0),
                                   source(chatty, 2, 1.0, 1.0)};
    struct reconciled r[7];

    (void)state;
    assert_int_equal(fb_reconcile(s, 3, r), 4);
    assert_string_equal(r[0].name, "away");
    assert_string_equal(r[0].value, "0");
    assert_int_equal(r[0].source, 1);
    assert_int_equal(r[0].agree, 1 << 1 | 1 << 2);
    assert_int_equal(r[0].disagree, 0);
    assert_string_equal(r[1].name, "home");
    assert_string_equal(r[1].value, "1");
    assert_int_equal(r[1].source, 0);
    assert_int_equal(r[1].agree, 1 << 0);
    assert_int_equal(r[1].disagree, 1 << 1);
    assert_string_equal(r[2].name, "state");
    assert_int_equal(r[2].agree, 1 << 0 | 1 << 1);
    assert_string_equal(r[3].name, "venue");
    assert_int_equal(r[3].source, 2);
}

/* A source that fails loses its say, field by field, and gets it back. */
static void a_source_that_fails_loses_its_say(void **state)
{
    struct reconcile_source s[] = {source(official, 2, 3.0, 0.6), source(quick, 3, 2.0, 1.0)};
    struct reconciled r[5];

    (void)state;
    assert_int_equal(fb_reconcile(s, 2, r), 3);
    assert_string_equal(r[1].value, "2");
    s[0].reliability = 1.0;
    assert_int_equal(fb_reconcile(s, 2, r), 3);
    assert_string_equal(r[1].value, "1");
    s[0].demoted = true;
    assert_int_equal(fb_reconcile(s, 2, r), 3);
    assert_string_equal(r[1].value, "2");
    /* Where it alone has a field, that is still better than none. */
    s[1].says.count = 1;
    assert_int_equal(fb_reconcile(s, 2, r), 3);
    assert_string_equal(r[1].value, "1");
}

static void nobody_says_nothing(void **state)
{
    struct reconcile_source s[] = {source(NULL, 0, 1.0, 1.0), source(NULL, 0, 2.0, 1.0)};
    struct reconciled r[1];

    (void)state;
    assert_int_equal(fb_reconcile(s, 0, r), 0);
    assert_int_equal(fb_reconcile(s, 2, r), 0);
}

/* ---- many of them ---- */

enum { FIELDS = 26 };

static const char *const names[FIELDS] = {"a", "b", "c", "d", "e", "f", "g", "h", "i",
                                          "j", "k", "l", "m", "n", "o", "p", "q", "r",
                                          "s", "t", "u", "v", "w", "x", "y", "z"};
static const char *const values[] = {"0", "1", "2"};

/* As asking every source for every field, best first, would have it. */
static void as_plainly_looked_up(void **state)
{
    static struct snapshot_field field[FB_RECONCILE_SOURCES][FIELDS];
    static struct reconciled r[FB_RECONCILE_SOURCES * FIELDS];
    struct reconcile_source s[FB_RECONCILE_SOURCES];
    struct rng rng = {seed_of_run()};

    (void)state;
    for (int round = 0; round < 500; round++) {
        uint32_t count = 1 + (uint32_t)(fb_rng_next(&rng) % FB_RECONCILE_SOURCES);
        for (uint32_t i = 0; i < count; i++) {
            size_t fields = 0;
            for (int k = 0; k < FIELDS; k++)
                if (fb_rng_next(&rng) % 3 == 0)
                    field[i][fields++] = (struct snapshot_field){
                        names[k], values[fb_rng_next(&rng) % COUNT_OF(values)]};
            double weight = 1.0 + (double)(fb_rng_next(&rng) % 3);
            double reliability = (double)(fb_rng_next(&rng) % 3) / 2.0;
            s[i] = source(field[i], fields, weight, reliability);
            s[i].demoted = fb_rng_next(&rng) % 5 == 0;
        }
        size_t made = fb_reconcile(s, count, r);
        size_t at = 0;
        for (int k = 0; k < FIELDS; k++) {
            uint32_t best = count;
            for (uint32_t i = 0; i < count; i++)
                if (fb_snapshot_find(&s[i].says, names[k]) &&
                    (best == count || fb_reconcile_is_before(s, i, best)))
                    best = i;
            if (best == count)
                continue;
            assert_true(at < made);
            assert_string_equal(r[at].name, names[k]);
            assert_int_equal(r[at].source, best);
            assert_string_equal(r[at].value, fb_snapshot_find(&s[best].says, names[k]));
            assert_int_equal(r[at].agree & r[at].disagree, 0);
            assert_true(r[at].agree >> best & 1);
            at++;
        }
        assert_int_equal(at, made);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rank_is_weight_times_reliability),
        cmocka_unit_test(each_field_says_where_it_is_from),
        cmocka_unit_test(a_source_that_fails_loses_its_say),
        cmocka_unit_test(nobody_says_nothing),
        cmocka_unit_test(as_plainly_looked_up),
    };

    return cmocka_run_group_tests_name("reconcile", tests, NULL, NULL);
}
