/* SPDX-License-Identifier: MIT */
/* What makes headers trusted, by hand: refusals, the order of answers, what proved true. */
#include "test_probe_told.h"

/* Of few requests one that is left is room, unless this one costs more. */
static void one_that_is_left_of_few_is_room(void **state)
{
    static const struct {
        int64_t limit, left, cost;
        bool is_room;
    } rows[] = {{12, 1, 1, true},
                {12, 0, 1, false},
                {12, 2, 3, false},
                {12, 3, 4, true},
                {60, 1, 1, false}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct hand h = told();
        tell(&h, rows[i].limit, rows[i].left, h.o.reset_ns);
        h.cost = rows[i].cost;
        refuse(&h);
        assert_true((h.c.probe.verified == BOUND_ONLY) == rows[i].is_room);
    }
}

/* An answer that another one overtook tells what was left before that: it changes nothing. */
static void what_was_overtaken_says_nothing(void **state)
{
    static const struct {
        int64_t left, out; /* told, and how many left after that request */
        bool slides, is_heard;
        int32_t status;
    } rows[] = {{302, 3, false, false, 200},
                {303, 2, false, true, 200},
                {299, 3, false, true, 200},
                {302, 3, true, true, 200},
                {302, 3, false, true, 429}}; /* a refusal is heard all the same */

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct hand h = told();
        struct probe *p = &h.c.probe;
        tell(&h, 600, 300, h.o.reset_ns);
        request(&h, 200);
        h.now_ns += 50 * MS;
        tell(&h, 600, rows[i].left, h.o.reset_ns);
        if (rows[i].slides)
            p->told_own = 1000.0f;
        grant(&h);
        uint64_t id = h.id;
        for (int64_t k = 0; k < rows[i].out; k++)
            grant(&h);
        h.id = id;
        (void)reply(&h, rows[i].status);
        assert_true((p->told_left != 300.0f) == rows[i].is_heard);
    }
}

/* A refusal in it was taken for the end of a short window, while what is told had proved true. */
static void what_proved_true_is_told_anew(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct hand h = honest();
        struct probe *p = &h.c.probe;
        p->window_s = i == 1 ? 60.0f : 2.0f;
        p->since_refusal = i == 3 ? 10 : 2; /* later it is their clock */
        h.now_ns = i == 2 ? h.o.reset_ns - 2 * S : h.now_ns + S;
        tell(&h, 600, 590, h.o.reset_ns);
        p->opened_ns = h.now_ns;
        request(&h, 200);
        assert_close((double)p->window_s, i >= 2 ? 2.0 : 60.0, 1e-6);
    }
}

/* Half a step early only of few that cost one each, answered before the next, and all ours. */
static void the_last_is_early_where_it_is_alone(void **state)
{
    (void)state;
    for (int i = 0; i < 6; i++) {
        struct hand h = told();
        struct probe *p = &h.c.probe;
        h.now_ns = h.o.reset_ns - 30 * S - 10 * MS;
        h.in_flight = i == 1 ? 1 : 0;
        p->unit = i == 2 ? 2.0f : 1.0f;
        p->latency_s = i == 3 ? 0.9f : 0.01f;
        p->share = i == 4 ? 0.5f : 1.0f;
        tell(&h, i == 5 ? 600 : 60, 20, h.o.reset_ns);
        request(&h, 200);
        assert_true((h.pace.rate > 20.4 / 30.0) == (i == 0));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_that_is_left_of_few_is_room),
        cmocka_unit_test(the_last_is_early_where_it_is_alone),
        cmocka_unit_test(what_was_overtaken_says_nothing),
        cmocka_unit_test(what_proved_true_is_told_anew),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
