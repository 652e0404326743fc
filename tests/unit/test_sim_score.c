/* SPDX-License-Identifier: MIT */
/* Scores: the formula, the means, and that neither depends on the number of threads. */
#include "unit.h"

#include <math.h>

#include "sim/contest.h"
#include "sim/plot.h"
#include "sim/run.h"
#include "sim/score.h"

static bool near(double a, double b)
{
    return fabs(a - b) < 1e-9;
}

static void the_formula(void **state)
{
    (void)state;
    assert_true(near(fb_score(1.0, 0.0), 100.0));
    assert_true(near(fb_score(1.3, -5.0), 100.0));
    assert_true(near(fb_score(0.5, 0.0), 50.0));
    assert_true(near(fb_score(1.0, 10.0), 50.0));
    assert_true(near(fb_score(0.9, 90.0), 9.0));
}

static void refusals_count_beyond_the_oracles(void **state)
{
    struct setup s = {.clients = 1, .duration_ns = 100 * S};
    struct tally own = {.duration_ns = 100 * S, .sent = 1000, .units = 900, .refused = 15};
    struct tally oracle = {.duration_ns = 100 * S, .sent = 1000, .units = 1000, .refused = 5};
    struct score r = fb_score_run(&s, &own, &oracle);

    (void)state;
    assert_true(near(r.goodput, 0.9));
    assert_true(near(r.per_1000, 15.0));
    assert_true(near(r.score, 45.0));
}

static void waiting_is_judged_by_its_time(void **state)
{
    struct setup s = {.clients = 1, .duration_ns = 100 * S, .demand = {.kind = DEMAND_CLUMPS}};
    struct tally own = {.duration_ns = 100 * S, .sent = 10, .stay_count = 10, .stay_sum_s = 40.0};
    struct tally oracle = {.duration_ns = 100 * S, .sent = 10, .stay_count = 10, .stay_sum_s = 10};

    (void)state;
    assert_true(near(fb_score_run(&s, &own, &oracle).goodput, 0.25));
}

static void an_unfinished_batch_takes_longer(void **state)
{
    struct setup s = {
        .clients = 1, .duration_ns = 100 * S, .demand = {.kind = DEMAND_BATCH, .clump = 50.0}};
    struct tally own = {.duration_ns = 100 * S, .accepted = 25, .last_done_ns = 90 * S};
    struct tally oracle = {.duration_ns = 100 * S, .accepted = 50, .last_done_ns = 50 * S};

    (void)state;
    assert_true(near(fb_score_run(&s, &own, &oracle).goodput, 0.25));
}

static void quantiles_and_fairness(void **state)
{
    struct tally t;

    (void)state;
    fb_tally_init(&t, 1000 * S);
    for (int64_t i = 1; i <= 100; i++)
        fb_tally_stay(&t, 0, i * S);
    assert_true(fb_tally_stay_quantile_s(&t, 0.95) > 93.0);
    assert_true(fb_tally_stay_quantile_s(&t, 0.95) < 97.0);
    assert_true(near(fb_tally_stay_mean_s(&t), 50.5));
    t.client_units[0] = t.client_units[1] = 10;
    assert_true(near(fb_tally_jain(&t, 2), 1.0));
    t.client_units[1] = 0;
    assert_true(near(fb_tally_jain(&t, 2), 0.5));
}

static void ninety_percent_must_last(void **state)
{
    struct tally own;
    struct tally oracle;

    (void)state;
    fb_tally_init(&own, FB_TALLY_BINS * S);
    fb_tally_init(&oracle, FB_TALLY_BINS * S);
    for (int i = 0; i < FB_TALLY_BINS; i++) {
        oracle.bin_units[i] = 100;
        own.bin_units[i] = i < 40 ? 50 : 95;
    }
    own.bin_units[10] = 130; /* one lucky burst */
    assert_true(near(fb_tally_to_90_s(&own, &oracle), 40.0));
    assert_true(near(fb_tally_to_90_s(&oracle, &oracle), 0.0));
}

static void cells_keep_the_worst(void **state)
{
    struct cell_score c = {0};
    struct score good = {.score = 90.0, .goodput = 0.95, .refused = 3};
    struct score bad = {.score = 40.0, .goodput = 0.5, .refused = 99, .bans = 2};

    (void)state;
    fb_cell_add(&c, &good, 11);
    fb_cell_add(&c, &bad, 12);
    fb_cell_add(&c, &good, 13);
    fb_cell_finish(&c);
    assert_true(near(c.score, 220.0 / 3.0));
    assert_true(near(c.score_min, 40.0));
    assert_true(near(c.goodput_min, 0.5));
    assert_int_equal(c.worst_seed, 12);
    assert_int_equal(c.refused_max, 99);
    assert_int_equal(c.bans, 2);
}

static void hold(struct contest *c, int32_t jobs)
{
    static const char *const SCENARIOS[] = {"bucket_slow", "noisy", "onoff_window", "multi_2"};

    *c = (struct contest){.seed = 40, .seeds = 3, .jobs = jobs, .hours = 0.2};
    for (size_t i = 0; i < COUNT_OF(SCENARIOS); i++) {
        const struct scenario_family *family;
        const struct scenario *s = fb_scenario_find(SCENARIOS[i], &family);

        c->cell[c->cell_count++] = (struct contest_cell){family, s, 40};
    }
    c->governor[c->governor_count++] = &fb_governor_old;
    c->governor[c->governor_count++] = &fb_governor_oracle;
    assert_int_equal(fb_contest_run(c), 0);
}

static void threads_do_not_matter(void **state)
{
    static struct contest one;
    static struct contest many;

    (void)state;
    hold(&one, 1);
    hold(&many, 5);
    assert_memory_equal(one.result, many.result, 8 * sizeof *one.result);
    for (int32_t i = 0; i < one.cell_count; i++)
        assert_true(near(fb_contest_get(&one, i, 1)->score, 100.0));
    assert_true(fb_contest_mean(&one, 0, NULL) > 0.0);
    assert_true(fb_contest_mean(&one, 1, &fb_scenarios_first) > 99.9);
    assert_true(fb_contest_mean(&one, 1, &fb_scenarios_show) < 0.0);
    fb_contest_fini(&one);
    fb_contest_fini(&many);
}

static void a_wrong_limit_text_is_an_error(void **state)
{
    struct contest *c = calloc(1, sizeof *c);
    const struct scenario_family *family;
    const struct scenario *s = fb_scenario_find("show_bucket", &family);

    (void)state;
    *c = (struct contest){.seed = 1, .seeds = 1, .jobs = 1, .spec = "rate=often"};
    c->cell[c->cell_count++] = (struct contest_cell){family, s, 1};
    c->governor[c->governor_count++] = &fb_governor_probe;
    assert_true(fb_contest_run(c) < 0);
    fb_contest_fini(c);
    free(c);
}

/* The picture is closed, and says what it shows. */
static void the_plot_is_whole(void **state)
{
    const struct scenario_family *family;
    const struct scenario *c = fb_scenario_find("show_steps", &family);
    struct setup s;
    struct tally t;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    (void)state;
    fb_scenario_draw(c, 8, 40, 0.0, &s);
    assert_int_equal(fb_run(&s, &(struct run_options){.governor = &fb_governor_old}, &t), 0);

    struct score r = fb_score_run(&s, &t, &t);
    struct plot_panel panel = {"old", "an older one", &t, &r};
    fb_plot_write(out, &(struct plot){c->name, c->about, &s, 8, &panel, 1});
    fclose(out);
    assert_int_equal(strncmp(text, "<svg ", 5), 0);
    assert_contains(text, "show_steps");
    assert_contains(text, "seed 8");
    assert_contains(text, "prefers-color-scheme");
    assert_contains(text, "class=\"limit\"");
    assert_string_equal(text + size - 7, "</svg>\n");
    assert_null(strstr(text, "nan"));
    assert_null(strstr(text, "nobody told")); /* this one was */
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_formula),
        cmocka_unit_test(refusals_count_beyond_the_oracles),
        cmocka_unit_test(waiting_is_judged_by_its_time),
        cmocka_unit_test(an_unfinished_batch_takes_longer),
        cmocka_unit_test(quantiles_and_fairness),
        cmocka_unit_test(ninety_percent_must_last),
        cmocka_unit_test(cells_keep_the_worst),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(a_wrong_limit_text_is_an_error),
        cmocka_unit_test(the_plot_is_whole),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
