/* SPDX-License-Identifier: MIT */
/* Spans in buckets: none is lost, none looks quicker than it was, or is a sixteenth off. */
#include "unit.h"

#include "core/spans.h"

static void every_span_has_a_bucket_around_it(void **state)
{
    (void)state;
    for (int64_t span = 1; span < INT64_MAX / 3; span += span / 7 + 1) {
        struct spans h;

        fb_spans_init(&h);
        fb_spans_add(&h, span);
        int64_t end = fb_spans_share(&h, 0.5);
        if (span >= fb_spans_begin(FB_SPANS_BUCKETS)) {
            assert_int_equal(end, fb_spans_begin(FB_SPANS_BUCKETS));
            continue;
        }
        assert_true(end > span);
        assert_at_most(end - span, span / 16 + 1024);
    }
}

static void buckets_follow_each_other(void **state)
{
    (void)state;
    assert_int_equal(fb_spans_begin(0), 0);
    for (int i = 0; i < FB_SPANS_BUCKETS; i++)
        assert_true(fb_spans_begin(i) < fb_spans_begin(i + 1));
    assert_at_least(fb_spans_begin(FB_SPANS_BUCKETS), 3600 * S);
}

static void shares_are_in_order(void **state)
{
    struct spans h;

    (void)state;
    fb_spans_init(&h);
    assert_int_equal(fb_spans_share(&h, 0.99), 0);
    for (int64_t i = 1; i <= 100; i++)
        fb_spans_add(&h, i * MS);
    assert_int_equal(h.count, 100);
    assert_close((double)fb_spans_share(&h, 0.5), 50e6, 4e6);
    assert_close((double)fb_spans_share(&h, 0.95), 95e6, 7e6);
    assert_at_least(fb_spans_share(&h, 1.0), 100 * MS);
    assert_at_most(fb_spans_share(&h, 0.0), 2 * MS);
    fb_spans_add(&h, -5);
    assert_at_most(fb_spans_share(&h, 0.0), 1024);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_span_has_a_bucket_around_it),
        cmocka_unit_test(buckets_follow_each_other),
        cmocka_unit_test(shares_are_in_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
