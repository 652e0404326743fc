/* SPDX-License-Identifier: MIT */
/* Runs: same seed same bytes, nothing lost, and what the client does with its limiter. */
#include "unit.h"

#include "core/instant.h"
#include "sim/engine.h"
#include "sim/run.h"
#include "sim/scenario.h"

/* A governor that grants every `gap_ns`, counts what it is told, and remembers nothing else. */
struct metronome {
    struct governor base;
    int64_t next_ns;
    int64_t out;
};

static const struct governor_kind metronome_kind;

static struct {
    int64_t gap_ns;
    int64_t made;
    int64_t granted;
    int64_t reported;
    int64_t cancelled;
    int64_t settled;
    int64_t settled_units;
    int64_t given_up;
    int64_t carried;
    int64_t in_flight_max;
} seen;

static struct governor *metronome_new(const struct governor_setting *s)
{
    struct metronome *m = calloc(1, sizeof *m);

    (void)s;
    seen.made++;
    m->base.kind = &metronome_kind;
    return &m->base;
}

static void metronome_free(struct governor *g)
{
    free(g);
}

static int64_t metronome_take(struct governor *g, int64_t now_ns, const struct work *w,
                              uint32_t cost, uint64_t *ret_ticket)
{
    struct metronome *m = (struct metronome *)g;

    (void)w;
    (void)cost;
    if (now_ns < m->next_ns)
        return m->next_ns;
    m->next_ns = now_ns + seen.gap_ns;
    *ret_ticket = (uint64_t)++seen.granted;
    m->out++;
    seen.in_flight_max = m->out > seen.in_flight_max ? m->out : seen.in_flight_max;
    return now_ns;
}

static void metronome_report(struct governor *g, int64_t now_ns, const struct fly_outcome *o)
{
    assert_int_equal(o->sent_ns + o->latency_ns, now_ns);
    ((struct metronome *)g)->out--;
    seen.reported++;
    seen.given_up += o->status == 0;
}

static void metronome_cancel(struct governor *g, int64_t now_ns, uint64_t ticket)
{
    (void)now_ns;
    (void)ticket;
    ((struct metronome *)g)->out--;
    seen.cancelled++;
}

static void metronome_settle(struct governor *g, int64_t now_ns, uint64_t ticket, uint32_t cost)
{
    (void)g;
    (void)now_ns;
    (void)ticket;
    seen.settled++;
    seen.settled_units += cost;
}

static double metronome_rate(struct governor *g)
{
    (void)g;
    return 1e9 / (double)seen.gap_ns;
}

static void metronome_carry(struct governor *from, struct governor *to, int64_t now_ns)
{
    assert_true(from != to && now_ns > FB_SIM_EPOCH_NS);
    seen.carried++;
}

static const struct governor_kind metronome_kind = {
    .carry = metronome_carry,
    .name = "metronome",
    .about = "",
    .new = metronome_new,
    .free = metronome_free,
    .take = metronome_take,
    .report = metronome_report,
    .cancel = metronome_cancel,
    .settle = metronome_settle,
    .rate = metronome_rate,
};

/* A bucket of 10/s and a quarter of an hour. */
static struct setup plain(void)
{
    struct setup s = {
        .net = {.base_s = 0.015, .jitter_s = 0.003},
        .clients = 1,
        .workers = 40,
        .duration_ns = 900 * S,
        .seed = 5,
    };

    fb_setup_bucket(&s, 10.0, 5.0);
    return s;
}

static struct tally run(const struct setup *s, const struct governor_kind *kind)
{
    struct tally t;
    struct run_options o = {.governor = kind};

    assert_int_equal(fb_run(s, &o, &t), 0);
    return t;
}

static struct tally tick(const struct setup *s, int64_t gap_ns)
{
    memset(&seen, 0, sizeof seen);
    seen.gap_ns = gap_ns;
    return run(s, &metronome_kind);
}

static void below_the_limit_all_is_accepted(void **state)
{
    struct setup s = plain();
    struct tally t = tick(&s, 125 * MS);

    (void)state;
    assert_in_range(t.sent, 7199, 7201);
    assert_int_equal(t.refused, 0);
    assert_in_range(t.accepted, t.sent - 2, t.sent);
}

static void above_the_limit_the_rest_is_refused(void **state)
{
    struct setup s = plain();
    struct tally t = tick(&s, 50 * MS);

    (void)state;
    assert_in_range(t.accepted, 9000, 9006);
    assert_in_range(t.accepted + t.refused + t.failed, t.sent - 3, t.sent);
    assert_int_equal(seen.granted, t.sent);
    assert_int_equal(seen.reported, t.accepted + t.refused + t.failed);
}

static void one_worker_waits_for_its_answer(void **state)
{
    struct setup s = plain();
    struct tally t;

    (void)state;
    s.workers = 1;
    t = tick(&s, 1);
    assert_int_equal(seen.in_flight_max, 1);
    /* 36 ms there and back. */
    assert_in_range(t.sent, 900 * 1000 / 38, 900 * 1000 / 34);
}

static void who_gives_up_reports_it_once(void **state)
{
    struct setup s = plain();
    struct tally t;

    (void)state;
    s.provider.service.mean_s = 1.0;
    s.timeout_s = 1.0;
    t = tick(&s, 200 * MS);
    assert_true(seen.given_up > t.sent / 4);
    assert_int_equal(t.failed, seen.given_up);
    assert_in_range(seen.reported, t.sent - 40, t.sent);
}

/* A cap counts what the server still works on, and ends where the work ends. */
static void ghosts_stay_in_the_building(void **state)
{
    struct setup s = plain();
    struct tally t;

    (void)state;
    s.provider.gate_count = 0;
    fb_setup_crowd(&s, 2);
    s.provider.service.mean_s = 2.0;
    s.timeout_s = 0.5;
    t = tick(&s, 300 * MS);
    assert_true(t.refused > 0);
    assert_true(run(&s, &fb_governor_oracle).refused < t.refused / 10);
}

static void a_restart_forgets_what_is_under_way(void **state)
{
    struct setup s = plain();

    (void)state;
    s.restarts = 3;
    tick(&s, 125 * MS);
    assert_int_equal(seen.made, 4);
    assert_true(seen.reported < seen.granted);
    assert_int_equal(seen.carried, 0);
    s.restored = true;
    tick(&s, 125 * MS);
    assert_int_equal(seen.carried, 3);
}

static void cancelled_grants_are_not_sent(void **state)
{
    struct setup s = plain();
    struct tally t;

    (void)state;
    s.cancel_share = 0.2;
    t = tick(&s, 125 * MS);
    assert_int_equal(seen.cancelled, t.cancelled);
    assert_int_equal(seen.granted, t.sent + t.cancelled);
    assert_in_range(t.cancelled, 1250, 1630);
}

static void the_true_cost_is_settled(void **state)
{
    struct setup s = plain();
    struct tally t;

    (void)state;
    s.provider.gate[0].rate = 1000.0;
    s.provider.gate[0].burst = 1000.0;
    s.demand.cost_max = 50;
    s.demand.cost_later = true;
    t = tick(&s, 125 * MS);
    assert_int_equal(seen.settled, t.accepted);
    assert_int_equal(seen.settled_units, t.units);
}

static void a_batch_ends(void **state)
{
    struct setup s = plain();
    struct tally t;

    (void)state;
    s.demand.kind = DEMAND_BATCH;
    s.demand.clump = 100.0;
    t = tick(&s, 125 * MS);
    assert_int_equal(t.accepted, 100);
    assert_int_equal(t.stay_count, 100);
    assert_in_range(t.last_done_ns, 12 * S, 13 * S);
    assert_true(fb_tally_stay_mean_s(&t) > 6.0 && fb_tally_stay_mean_s(&t) < 6.5);
}

static void what_waits_at_the_end_counts(void **state)
{
    struct setup s = plain();
    struct tally t;

    (void)state;
    s.demand.kind = DEMAND_BATCH;
    s.demand.clump = 3.0;
    t = tick(&s, 600 * S);
    assert_int_equal(t.accepted, 2);
    assert_int_equal(t.stay_count, 3);
    assert_true(fb_tally_stay_mean_s(&t) > (600.0 + 900.0) / 3.0);
}

static struct governor *hopeless_new(const struct governor_setting *s);

static int64_t hopeless_take(struct governor *g, int64_t now_ns, const struct work *w,
                             uint32_t cost, uint64_t *ret_ticket)
{
    (void)g;
    (void)w;
    (void)cost;
    (void)ret_ticket;
    return now_ns + 1;
}

static const struct governor_kind hopeless_kind = {
    .name = "hopeless",
    .new = hopeless_new,
    .free = metronome_free,
    .take = hopeless_take,
};

static struct governor *hopeless_new(const struct governor_setting *s)
{
    struct governor *g = metronome_new(s);

    g->kind = &hopeless_kind;
    return g;
}

static void a_governor_that_gets_nowhere_is_found_out(void **state)
{
    struct setup s = plain();

    (void)state;
    assert_true(run(&s, &hopeless_kind).stuck);
}

static void same_seed_same_bytes(void **state)
{
    static const char *const SCENARIOS[] = {"shared",       "concurrency",    "noisy",   "multi_8",
                                            "timeout_conc", "restart_window", "stall_2s"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(SCENARIOS); i++) {
        const struct scenario_family *family;
        const struct scenario *c = fb_scenario_find(SCENARIOS[i], &family);

        for (int g = 0; fb_governor_at(g); g++) {
            struct setup s;
            struct tally t[2];

            memset(t, 0, sizeof t);
            for (int k = 0; k < 2; k++) {
                fb_scenario_draw(c, 3, 40, 0.1, &s);
                t[k] = run(&s, fb_governor_at(g));
            }
            assert_memory_equal(&t[0], &t[1], sizeof t[0]);
        }
    }
}

static void other_seeds_draw_other_worlds(void **state)
{
    const struct scenario_family *family;
    const struct scenario *c = fb_scenario_find("window_slow", &family);
    struct setup a;
    struct setup b;

    (void)state;
    fb_scenario_draw(c, 1, 40, 0.0, &a);
    fb_scenario_draw(c, 2, 40, 0.0, &b);
    assert_true(a.seed != b.seed);
    assert_true(fb_provider_rate(&a.provider, 0) != fb_provider_rate(&b.provider, 0));
}

/* Every scenario draws something that can run, within the bounds that its header promises. */
static void every_scenario_is_sane(void **state)
{
    (void)state;
    for (int f = 0; fb_scenario_family_at(f); f++) {
        const struct scenario_family *family = fb_scenario_family_at(f);

        for (int32_t i = 0; i < family->count; i++) {
            for (uint64_t seed = 0; seed < 50; seed++) {
                struct setup s;

                fb_scenario_draw(&family->scenarios[i], seed, 40, 0.0, &s);
                assert_in_range(s.duration_ns, 600 * S, INT64_C(8) * 3600 * S);
                assert_in_range(s.clients, 1, FB_CLIENTS_MAX);
                assert_in_range(s.provider.gate_count, 1, FB_GATES_MAX);
                assert_true(s.told_rate > 0.0 && s.told_rate < 1e6);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(below_the_limit_all_is_accepted),
        cmocka_unit_test(above_the_limit_the_rest_is_refused),
        cmocka_unit_test(one_worker_waits_for_its_answer),
        cmocka_unit_test(who_gives_up_reports_it_once),
        cmocka_unit_test(ghosts_stay_in_the_building),
        cmocka_unit_test(a_restart_forgets_what_is_under_way),
        cmocka_unit_test(cancelled_grants_are_not_sent),
        cmocka_unit_test(the_true_cost_is_settled),
        cmocka_unit_test(a_batch_ends),
        cmocka_unit_test(what_waits_at_the_end_counts),
        cmocka_unit_test(a_governor_that_gets_nowhere_is_found_out),
        cmocka_unit_test(same_seed_same_bytes),
        cmocka_unit_test(other_seeds_draw_other_worlds),
        cmocka_unit_test(every_scenario_is_sane),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
