/* SPDX-License-Identifier: MIT */
/* Heap: in order, first in first out among equals, any node taken out, a million of them. */
#include "unit.h"

#include "core/heap.h"
#include "core/rng.h"

struct thing {
    int64_t order;
    uint64_t added;
    struct heap_node node;
};

static struct thing *thing_of(struct heap_node *n)
{
    return FB_HEAP_OWNER(n, struct thing, node);
}

static void add(struct heap *h, struct thing *t, int64_t order)
{
    t->order = order;
    t->added = h->added;
    fb_heap_add(h, &t->node, order);
}

/* Everything that is left comes out in order. */
static size_t drain(struct heap *h)
{
    const struct thing *last = NULL;
    size_t count = 0;

    for (struct heap_node *n; (n = fb_heap_first(h)); count++) {
        const struct thing *t = thing_of(n);

        if (last)
            assert_true(last->order < t->order ||
                        (last->order == t->order && last->added < t->added));
        last = t;
        fb_heap_remove(h, n);
        assert_false(fb_heap_has(n));
    }
    return count;
}

static void empty(void **state)
{
    struct heap h = {0};
    struct heap_node n = {0};

    (void)state;
    assert_null(fb_heap_first(&h));
    assert_false(fb_heap_has(&n));
}

static void one(void **state)
{
    struct heap h = {0};
    struct thing t = {0};

    (void)state;
    add(&h, &t, 7);
    assert_true(fb_heap_has(&t.node));
    assert_ptr_equal(fb_heap_first(&h), &t.node);
    fb_heap_remove(&h, &t.node);
    assert_null(fb_heap_first(&h));
    add(&h, &t, 8);
    assert_int_equal(drain(&h), 1);
}

static void equals_keep_their_order(void **state)
{
    struct heap h = {0};
    struct thing t[100] = {0};

    (void)state;
    for (size_t i = 0; i < 100; i++)
        add(&h, &t[i], 5);
    for (size_t i = 0; i < 100; i++) {
        assert_ptr_equal(fb_heap_first(&h), &t[i].node);
        fb_heap_remove(&h, &t[i].node);
    }
}

static void any_node_can_be_taken_out(void **state)
{
    uint64_t seed = seed_of_run();
    struct rng rng = {seed};
    static struct thing t[1000];
    struct heap h = {0};
    size_t in = 0;

    (void)state;
    memset(t, 0, sizeof(t));
    for (int step = 0; step < 100000; step++) {
        struct thing *x = &t[fb_rng_next(&rng) % 1000];

        if (fb_heap_has(&x->node)) {
            fb_heap_remove(&h, &x->node);
            in--;
        } else {
            add(&h, x, (int64_t)(fb_rng_next(&rng) % 50));
            in++;
        }
    }
    assert_int_equal(drain(&h), in);
}

static void a_million(void **state)
{
    size_t count = 1000000;
    struct thing *t = calloc(count, sizeof(*t));
    struct rng rng = {3};
    struct heap h = {0};

    (void)state;
    assert_non_null(t);
    for (size_t i = 0; i < count; i++)
        add(&h, &t[i], (int64_t)(fb_rng_next(&rng) % 1000000));
    assert_int_equal(drain(&h), count);
    free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty),
        cmocka_unit_test(one),
        cmocka_unit_test(equals_keep_their_order),
        cmocka_unit_test(any_node_can_be_taken_out),
        cmocka_unit_test(a_million),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
