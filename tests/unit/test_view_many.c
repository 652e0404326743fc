/* SPDX-License-Identifier: MIT */
/* Answers about many batches take as long as there are keys, not as there are pairs of them. */
#include "view_rig.h"

#include <stdlib.h>
#include <time.h>

#include "view/status.h"

#define FEW 64
#define ALL 512

/* So many batches with as many keys as fit, no two alike. */
static const struct view_batch **make(size_t count)
{
    const struct view_batch **all = calloc(count, sizeof *all);

    assert_non_null(all);
    for (size_t b = 0; b < count; b++) {
        struct view_batch *batch = calloc(1, sizeof *batch);

        assert_non_null(batch);
        batch->key_count = VIEW_BATCH_KEYS;
        for (size_t i = 0; i < VIEW_BATCH_KEYS; i++) {
            (void)snprintf(batch->key[i].provider, VIEW_NAME, "%zu-%zu.example", i, b);
            batch->key[i].seen_ns = NOW;
        }
        all[b] = batch;
    }
    return all;
}

/* The processor's time for the first so many. */
static double cost(const struct view_batch *const *all, size_t count)
{
    struct view_status v = {.batch = all, .batch_count = count};
    struct buffer b = BUFFER_INIT;
    clock_t began = clock();

    fb_view_status_json(&v, NOW, &b);
    clock_t ended = clock();
    assert_non_null(fb_buffer_text(&b));
    fb_buffer_fini(&b);
    return (double)(ended - began);
}

static void eight_times_as_many_cost_about_as_much_more(void **state)
{
    const struct view_batch **all = make(ALL);
    double best = 1e9;

    (void)state;
    for (int i = 0; i < 3; i++) {
        double few = cost(all, FEW);
        double ratio = cost(all, ALL) / (few > 0.0 ? few : 1.0);

        best = ratio < best ? ratio : best;
    }
    if (best >= 24.0) /* by pairs it would be 64 */
        print_error("%d times as many took %.1f times as long\n", ALL / FEW, best);
    assert_true(best < 24.0);
    for (size_t i = 0; i < ALL; i++)
        free((void *)(uintptr_t)all[i]);
    free(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eight_times_as_many_cost_about_as_much_more),
    };

    return cmocka_run_group_tests_name("view many", tests, NULL, NULL);
}
