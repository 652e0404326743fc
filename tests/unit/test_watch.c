/* SPDX-License-Identifier: MIT */
/* A watcher's looks: which, where, how often, and what is made of what comes back. */
#include "watch_rig.h"

#include "util/alloc.h"

/* One site that answers at once and knows no limit. */
static struct world *one_site(size_t items)
{
    struct world *w = world_new(1);

    add_site(w, "alpha", 1);
    w->items = w->live = items;
    return w;
}

/* ---- plans ---- */

static void bad_plans_are_refused(void **state)
{
    struct world *w = one_site(1);
    struct watch_ports ports = {.self = w, .now = rig_now};
    struct watch_domain_plan twins[] = {{"a", 1, 1, true, false}, {"a", 1, 1, true, false}};
    struct watch_plan plan = w->plan;
    struct watch *watch = NULL;
    struct fly_error err = {""};

    (void)state;
    plan.interval_ns = 0;
    assert_int_equal(fb_watch_open(&ports, &plan, &watch, &err), -EINVAL);
    assert_contains(err.text, "interval");
    plan = w->plan;
    plan.domain = twins;
    plan.domain_count = 2;
    assert_int_equal(fb_watch_open(&ports, &plan, &watch, &err), -EINVAL);
    assert_contains(err.text, "two domains");
    twins[1].name = "";
    assert_int_equal(fb_watch_open(&ports, &plan, &watch, NULL), -EINVAL);
    twins[1] = (struct watch_domain_plan){"b", 0, 1, true, false};
    assert_int_equal(fb_watch_open(&ports, &plan, &watch, &err), -EINVAL);
    assert_contains(err.text, "weight");
    twins[1] = (struct watch_domain_plan){"b", 1, 0, true, false};
    assert_int_equal(fb_watch_open(&ports, &plan, &watch, &err), -EINVAL);
    assert_contains(err.text, "concurrency");
    assert_null(watch);
    fb_watch_close(NULL);
    world_free(w);
}

/* ---- which first ---- */

static void live_before_imminent_before_completed(void **state)
{
    struct world *w = one_site(3);
    const struct watch_item *i;
    int64_t fresh_ns[3];

    (void)state;
    w->live = w->imminent = 1;
    w->plan.concurrency = 1;
    world_open(w);
    pass(w, 4 * S);
    for (size_t n = 0; n < 3; n++) {
        struct watch_item_view v;
        i = fb_watch_item_at(w->watch, n);
        fb_watch_item(w->watch, i, &v);
        fresh_ns[v.state] = v.fresh_ns;
    }
    assert_true(fresh_ns[ITEM_live] > 0);
    assert_true(fresh_ns[ITEM_live] < fresh_ns[ITEM_imminent]);
    assert_true(fresh_ns[ITEM_imminent] < fresh_ns[ITEM_completed]);
    assert_int_equal(w->in_flight_most, 1);
    /* And each as often as is aimed at: 10 s, 60 s, an hour. */
    int64_t before = w->looks[LOOK_ITEM];
    pass(w, 3600 * S);
    assert_at_least(w->looks[LOOK_ITEM] - before, 350 + 58 + 1);
    assert_at_most(w->looks[LOOK_ITEM] - before, 360 + 60 + 1);
    world_free(w);
}

static void caps_hold(void **state)
{
    struct world *w = one_site(50);

    (void)state;
    add_site(w, "beta", 1);
    w->site[0].plan.concurrency = 3;
    w->plan.concurrency = 7;
    world_open(w);
    pass(w, 60 * S);
    assert_int_equal(w->site[0].in_flight_most, 3);
    assert_int_equal(w->in_flight_most, 7);
    assert_int_equal(figures(w).in_flight_most, 7);
    assert_int_equal(figures(w).violations, 0);
    world_free(w);
}

/* A queue of 4: what is less urgent makes room, what has none comes later. */
static void the_queue_is_bounded(void **state)
{
    struct world *w = one_site(30);
    struct watch_figures f;

    (void)state;
    w->live = 3;
    w->imminent = 10;
    w->plan.queue_max = 4;
    w->plan.concurrency = 2;
    world_open(w);
    pass(w, 600 * S);
    f = figures(w);
    assert_int_equal(f.queued_most, 4);
    assert_true(f.deferred > 0);
    assert_at_most(f.spread[ITEM_live].oldest_ns, 15 * S);
    /* All had their turn all the same. */
    pass(w, 4000 * S);
    for (size_t n = 0; n < 30; n++) {
        struct watch_item_view v;
        fb_watch_item(w->watch, fb_watch_item_at(w->watch, n), &v);
        assert_true(v.fresh_ns > 0);
    }
    world_free(w);
}

/* What is live has its place in a queue that is full of what is not. */
static void live_items_find_room(void **state)
{
    struct world *w = one_site(60);

    (void)state;
    w->live = 3;
    w->plan.queue_max = 4;
    w->plan.aims.aim_ns[ITEM_completed] = 20 * S; /* three times as much as can be done */
    w->site[0].plan.concurrency = 1;
    w->site[0].latency_ns = S;
    world_open(w);
    pass(w, 60 * S);
    for (int n = 0; n < 600; n++) {
        pass(w, S);
        assert_at_most(figures(w).spread[ITEM_live].oldest_ns, 14 * S);
    }
    world_free(w);
}

/* Three times as much as can be done: every item has its turn, the oldest first, wherever. */
static void scarcity_is_shared(void **state)
{
    struct world *w = one_site(30);

    (void)state;
    add_site(w, "beta", 5);
    w->site[0].skips = 2; /* every other item is known to beta alone */
    w->site[0].latency_ns = w->site[1].latency_ns = S;
    w->plan.concurrency = 1;
    world_open(w);
    pass(w, 120 * S);
    for (int n = 0; n < 300; n++) {
        pass(w, S);
        assert_at_most(figures(w).spread[ITEM_live].oldest_ns, 45 * S);
    }
    assert_at_least(w->site[0].asked, 60);
    world_free(w);
}

/* An answer holds for the instant at which it was asked for, not for when it came. */
static void ages_count_from_the_question(void **state)
{
    struct world *w = one_site(1);

    (void)state;
    w->site[0].latency_ns = 4 * S;
    world_open(w);
    while (w->told[WATCH_CHANGED] == 0)
        pass(w, 10 * MS);
    assert_at_least(item(w, "item-0").age_ns, 2 * S);
    world_free(w);
}

/* Nothing is live: looks come in bunches, half a minute apart. */
static void idleness(void **state)
{
    struct world *w = one_site(4);

    (void)state;
    w->live = 0;
    w->imminent = 4;
    world_open(w);
    pass(w, 3600 * S);
    struct watch_figures f = figures(w);
    assert_true(f.is_idle);
    assert_int_equal(f.grade, HEALTH_healthy);
    assert_int_equal((f.intervals + 5) / 10, 12);
    assert_true(w->looks[LOOK_LIST] <= 125);
    for (size_t n = 0; n < 4; n++) {
        struct watch_item_view v;
        fb_watch_item(w->watch, fb_watch_item_at(w->watch, n), &v);
        assert_int_equal((f.interval_ns - v.fresh_ns) % w->plan.idle_ns, 0);
    }
    /* One becomes live: within an interval of the list that says so it is looked at. */
    w->live = 1;
    w->imminent = 3;
    pass(w, 36 * S);
    assert_int_equal(item(w, "item-0").state, ITEM_live);
    assert_at_most(item(w, "item-0").age_ns, 11 * S);
    assert_false(figures(w).is_idle);
    world_free(w);
}

/* ---- failures ---- */

/* 2, 4, 8 s and more after each failure, each a little longer by chance; then a pause. */
static void attempts_back_off(void **state)
{
    struct world *w = one_site(2);
    struct watch_link_view l;

    (void)state;
    world_open(w);
    pass(w, 30 * S);
    w->site[0].failing = "item-1";
    int64_t told = w->told[WATCH_PAUSED];
    int64_t failed_ns = 0;
    int32_t failures = 0;
    for (int n = 0; n < 2000 && w->told[WATCH_PAUSED] == told; n++) {
        pass(w, 100 * MS);
        fb_watch_link(w->watch, fb_watch_find(w->watch, "item-1"), 0, &l);
        if (l.failures == failures)
            continue;
        if (failures > 0)
            assert_at_least(w->now_ns - failed_ns,
                            fb_max64(S << failures, failures == 3 ? 10 * S : 0) - 100 * MS);
        failures = l.failures;
        failed_ns = w->now_ns;
        assert_int_equal(l.failure, FAIL_5XX);
        assert_true(l.why == WATCH_WHY_BACKOFF || l.why == WATCH_WHY_PAUSED);
    }
    assert_int_equal(failures, w->plan.pause_failures);
    assert_int_equal(item(w, "item-1").why, WATCH_WHY_PAUSED);
    assert_true(item(w, "item-1").is_out);
    assert_string_equal(w->last_trigger, "failures");
    assert_int_equal(figures(w).retries, failures - 1);
    assert_int_equal(figures(w).given_up, 1);
    assert_int_equal(figures(w).grade, HEALTH_healthy);
    world_free(w);
}

/* Where one domain fails another one takes over at once. */
static void the_next_domain_takes_over(void **state)
{
    struct world *w = one_site(1);

    (void)state;
    add_site(w, "beta", 0.5);
    w->site[0].failing = "item-0";
    world_open(w);
    pass(w, 3 * S);
    assert_at_most(item(w, "item-0").age_ns, 3 * S);
    assert_int_equal(w->site[1].asked, 1);
    pass(w, 600 * S);
    assert_int_equal(w->told[WATCH_PAUSED], 0);
    assert_at_most(item(w, "item-0").age_ns, 11 * S);
    world_free(w);
}

static void what_is_absent_is_not_asked_for_a_minute(void **state)
{
    struct world *w = one_site(5);

    (void)state;
    w->site[0].knows_nothing = true;
    world_open(w);
    pass(w, 600 * S);
    assert_true(w->site[0].asked >= 5 * 9 && w->site[0].asked <= 5 * 11);
    assert_int_equal(figures(w).absent, 5);
    assert_int_equal(figures(w).ended[LOOK_ABSENT], w->site[0].asked);
    assert_int_equal(figures(w).grade, HEALTH_healthy);
    assert_int_equal(item(w, "item-1").why, WATCH_WHY_ABSENT);
    /* It turns up: it is seen, and its age counts. */
    w->site[0].knows_nothing = false;
    pass(w, 70 * S);
    assert_int_equal(figures(w).absent, 0);
    assert_at_most(item(w, "item-1").age_ns, 11 * S);
    world_free(w);
}

static void the_list_may_fail(void **state)
{
    struct world *w = one_site(5);

    (void)state;
    world_open(w);
    pass(w, 60 * S);
    w->list_is_dead = true;
    pass(w, 600 * S);
    assert_int_equal(w->told[WATCH_LIST_FAILED], 1);
    assert_int_equal(fb_watch_count(w->watch), 5);
    assert_int_equal(figures(w).grade, HEALTH_healthy);
    w->list_is_dead = false;
    pass(w, 60 * S);
    assert_int_equal(w->told[WATCH_LIST_BACK], 1);
    world_free(w);
}

/* ---- answers ---- */

static void hits_and_misses(void **state)
{
    struct world *w = one_site(1);

    (void)state;
    world_open(w);
    assert_null(fb_watch_read(w->watch, "item-0"));
    assert_int_equal(figures(w).misses_unknown, 1);
    pass(w, 5 * S);
    assert_non_null(fb_watch_read(w->watch, "item-0"));
    assert_int_equal(figures(w).hits[ITEM_live], 1);
    w->site[0].is_dead = true;
    pass(w, 30 * S);
    /* Still there, with its age, marked as stale: a miss. */
    assert_non_null(fb_watch_read(w->watch, "item-0"));
    assert_true(item(w, "item-0").is_stale);
    assert_string_not_equal(value(w, "item-0", "score"), "");
    assert_int_equal(figures(w).misses[ITEM_live], 1);
    world_free(w);
}

/* What hardly changes is asked for once, is part of the picture, and makes nothing fresh. */
static void static_fields(void **state)
{
    struct world *w = one_site(3);
    struct watch_link_view l;
    struct watch_field f;

    (void)state;
    w->site[0].plan.has_static = true;
    world_open(w);
    pass(w, 3600 * S);
    assert_int_equal(w->looks[LOOK_STATIC], 3);
    assert_string_equal(value(w, "item-2", "venue"), "stadium");
    const struct watch_item *i = fb_watch_find(w->watch, "item-2");
    fb_watch_link(w->watch, i, 0, &l);
    assert_true(l.static_ns > 0 && l.static_ns < l.fresh_ns);
    fb_watch_field(w->watch, i, 2, &f);
    assert_string_equal(f.name, "venue");
    assert_int_equal(f.fresh_ns, l.static_ns);
    assert_string_equal(fb_watch_says(w->watch, i, 0, "venue"), "stadium");
    pass(w, 18 * 3600 * S);
    assert_int_equal(w->looks[LOOK_STATIC], 6);
    world_free(w);
}

/* Not modified: as fresh as any, no version, and free where these are. */
static void what_is_the_same_is_fresh(void **state)
{
    struct world *w = one_site(1);

    (void)state;
    w->site[0].says_same = true;
    world_open(w);
    pass(w, 100 * S);
    assert_int_equal(item(w, "item-0").seq, 1);
    assert_at_most(item(w, "item-0").age_ns, 11 * S);
    assert_true(figures(w).ended[LOOK_SAME] >= 8);
    assert_int_equal(figures(w).was_free, figures(w).ended[LOOK_SAME]);
    world_free(w);
}

/* Among equals the look that costs nothing, though the other site is believed more. */
static void what_costs_nothing_goes_first(void **state)
{
    int64_t asked[2];

    (void)state;
    for (int is_free = 0; is_free < 2; is_free++) {
        struct world *w = one_site(20);

        add_site(w, "beta", 2);
        w->site[0].says_same = is_free;
        world_open(w);
        pass(w, 600 * S);
        asked[is_free] = w->site[0].asked;
        assert_true(w->site[1].asked > 20); /* it is compared all the same */
        assert_at_most(item(w, "item-7").age_ns, 11 * S);
        world_free(w);
    }
    print_message("asked %lld times where it costs, %lld where it is free\n", (long long)asked[0],
                  (long long)asked[1]);
    assert_true(asked[1] * 4 > asked[0] * 5);
}

/* An answer in disorder, or larger than allowed, is a failure and changes nothing. */
static void malformed_answers(void **state)
{
    static const struct snapshot_field wrong[] = {{"b", "1"}, {"a", "2"}};
    struct world *w = one_site(1);
    struct watch_answer a = {.end = LOOK_OK, .says = {.field = wrong, .count = 2}};
    struct watch_domain_view v;

    (void)state;
    world_open(w);
    pass(w, 30 * S);
    uint64_t seq = item(w, "item-0").seq;
    while (!w->flight[0].look || w->flight[0].look->kind != LOOK_ITEM)
        pass(w, 10 * MS);
    struct watch_look *l = w->flight[0].look;
    w->flight[0].look = NULL;
    fb_watch_looked(w->watch, l, &a);
    assert_int_equal(item(w, "item-0").seq, seq);
    fb_watch_domain(w->watch, 0, &v);
    assert_int_equal(v.failed[FAIL_PAYLOAD], 1);
    assert_int_equal(v.failure, FAIL_PAYLOAD);
    assert_int_equal(fb_watch_domain_find(w->watch, "nobody"), -1);
    world_free(w);
}

/* ---- ids ---- */

static void list(struct world *w, const char *id, enum item_state state, const char *domain_id)
{
    struct watch_entry e = {.id = id, .state = state, .domain_id = &domain_id};

    assert_int_equal(fb_watch_listed(w->watch, NULL, &e, 1), 0);
}

/* As long as the list says so; told once. */
static void a_state_that_nobody_knows(void **state)
{
    struct world *w = one_site(0);
    const char *const id = "1";
    struct watch_entry e = {
        .id = "one", .state = ITEM_completed, .domain_id = &id, .word = "abandoned"};

    (void)state;
    w->plan.has_list = false;
    world_open(w);
    for (int i = 0; i < 2; i++)
        assert_int_equal(fb_watch_listed(w->watch, NULL, &e, 1), 0);
    assert_int_equal(fb_watch_warned(w->watch, WATCH_WARN_STATE), 2);
    assert_int_equal(w->told[WATCH_WARNING], 1);
    assert_string_equal(fb_watch_warning(w->watch, 0)->text,
                        "the list has a state for it that nobody knows: one as abandoned");
    world_free(w);
}

static void ids_that_do_not_fit(void **state)
{
    struct world *w = one_site(0);
    char long_id[WATCH_ID_BYTES + 1];

    (void)state;
    w->plan.has_list = false;
    world_open(w);
    list(w, "one", ITEM_live, NULL);
    assert_int_equal(fb_watch_warned(w->watch, WATCH_WARN_UNMAPPED), 1);
    list(w, "one", ITEM_live, NULL); /* with every list, but once is enough */
    assert_int_equal(fb_watch_warned(w->watch, WATCH_WARN_UNMAPPED), 1);
    pass(w, 10 * S);
    assert_int_equal(item(w, "one").why, WATCH_WHY_UNMAPPED);
    assert_int_equal(figures(w).unmapped, 1);
    list(w, "one", ITEM_live, "a1");
    assert_ptr_equal(fb_watch_find_mapped(w->watch, 0, "a1"), fb_watch_find(w->watch, "one"));
    list(w, "two", ITEM_live, "a1");
    assert_int_equal(fb_watch_warned(w->watch, WATCH_WARN_TWICE), 1);
    list(w, "two", ITEM_live, "a2");
    list(w, "two", ITEM_live, "a3");
    assert_int_equal(fb_watch_warned(w->watch, WATCH_WARN_CHANGED), 1);
    fb_watch_unmapped(w->watch, 0, "a3");
    fb_watch_unmapped(w->watch, 0, "a4");
    fb_watch_unmapped(w->watch, 9, "a4");
    assert_int_equal(fb_watch_warned(w->watch, WATCH_WARN_UNKNOWN), 1);
    fb_watch_ambiguous(w->watch, 0, "two", "a6");
    fb_watch_ambiguous(w->watch, 9, "two", "a6");
    assert_int_equal(fb_watch_warned(w->watch, WATCH_WARN_AMBIGUOUS), 1);
    memset(long_id, 'x', sizeof(long_id) - 1);
    long_id[sizeof(long_id) - 1] = '\0';
    list(w, long_id, ITEM_live, "a5");
    list(w, "", ITEM_live, "a5");
    assert_int_equal(fb_watch_warned(w->watch, WATCH_WARN_REFUSED), 2);
    int64_t all = figures(w).warnings;
    fb_watch_refused(w->watch, 0);
    fb_watch_refused(w->watch, 40); /* one warning, which counts for all of them */
    assert_int_equal(fb_watch_warned(w->watch, WATCH_WARN_REFUSED), 42);
    assert_int_equal(figures(w).warnings, all + 40);
    assert_null(fb_watch_find_mapped(w->watch, 0, "a5"));
    assert_string_equal(fb_watch_warning_name(WATCH_WARN_TWICE), "twice");
    world_free(w);
}

#define REFUSED_COUNT (WATCH_WARNINGS_MAX + 50)

/* A list of entries that cannot be taken, from the first to the last or the other way. */
static void list_refused(struct world *w, size_t count, bool is_backwards)
{
    static char id[REFUSED_COUNT][16];
    struct watch_entry e[REFUSED_COUNT];

    for (size_t n = 0; n < count; n++) {
        (void)snprintf(id[n], sizeof(id[n]), "wrong-%zu", is_backwards ? count - 1 - n : n);
        e[n] = (struct watch_entry){.id = id[n], .state = ITEM_STATES};
    }
    w->now_ns += S;
    assert_int_equal(fb_watch_listed(w->watch, NULL, e, count), 0);
}

static void too_many_warnings_are_one_line(void **state)
{
    struct world *w = one_site(0);

    (void)state;
    world_open(w);
    list_refused(w, REFUSED_COUNT, false);
    assert_int_equal(w->told[WATCH_WARNING], WATCH_WARNINGS_MAX + 1);
    list_refused(w, REFUSED_COUNT, false);
    list_refused(w, REFUSED_COUNT, true);
    assert_int_equal(w->told[WATCH_WARNING], WATCH_WARNINGS_MAX + 1);
    list_refused(w, REFUSED_COUNT - 1, false);
    assert_int_equal(w->told[WATCH_WARNING], WATCH_WARNINGS_MAX + 2);
    assert_int_equal(fb_watch_warned(w->watch, WATCH_WARN_REFUSED), 4 * REFUSED_COUNT - 1);
    world_free(w);
}

static void an_answer_about_another_item(void **state)
{
    struct world *w = one_site(1);
    const struct watch_warning *g;

    (void)state;
    w->site[0].answers = "alpha77";
    world_open(w);
    pass(w, 20 * S);
    assert_int_equal(item(w, "item-0").seq, 0);
    assert_true(fb_watch_warned(w->watch, WATCH_WARN_MISMATCH) > 0);
    g = fb_watch_warning(w->watch, 0);
    assert_int_equal(g->kind, WATCH_WARN_MISMATCH);
    assert_string_equal(g->id, "item-0");
    assert_string_equal(g->domain_id, "alpha77");
    assert_contains(g->text, "another item");
    assert_int_equal(w->told[WATCH_WARNING], 1);
    assert_null(fb_watch_warning(w->watch, 1));
    world_free(w);
}

/* ---- all the same ---- */

/* The same world gives the same looks. */
static uint64_t trace(uint64_t seed)
{
    struct world *w = one_site(40);
    uint64_t sum = 0;

    add_site(w, "beta", 2);
    w->site[0].fault = w->site[1].fault = 0.1;
    w->rng.state = seed;
    world_open(w);
    pass(w, 300 * S);
    for (size_t n = 0; n < 40; n++) {
        struct watch_item_view v;
        fb_watch_item(w->watch, fb_watch_item_at(w->watch, n), &v);
        sum = sum * 31 + (uint64_t)v.fresh_ns;
    }
    world_free(w);
    return sum;
}

static void same_seed_same_looks(void **state)
{
    (void)state;
    assert_int_equal(trace(5), trace(5));
    assert_true(trace(5) != trace(6));
}

/* Every allocation fails once: nothing is lost but time. */
static void without_memory(void **state)
{
    (void)state;
    for (size_t n = 1; n < 60; n++) {
        struct world *w = one_site(3);
        struct watch_ports ports = {.self = w,
                                    .now = rig_now,
                                    .wake_at = rig_wake_at,
                                    .look = rig_look,
                                    .tell = rig_tell,
                                    .recycle = rig_recycle};
        struct fly_error err = {""};
        w->domains[0] = w->site[0].plan;
        w->plan.domain = w->domains;
        w->plan.domain_count = 1;
        w->forgives = true;
        fb_alloc_fail_at(n);
        int r = fb_watch_open(&ports, &w->plan, &w->watch, &err);
        if (r == 0) {
            pass(w, 60 * S);
            assert_int_equal(fb_watch_count(w->watch), 3);
            assert_at_most(item(w, "item-2").age_ns, 15 * S);
        } else {
            assert_int_equal(r, -ENOMEM);
        }
        fb_alloc_fail_at(0);
        world_free(w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_plans_are_refused),
        cmocka_unit_test(live_before_imminent_before_completed),
        cmocka_unit_test(caps_hold),
        cmocka_unit_test(the_queue_is_bounded),
        cmocka_unit_test(live_items_find_room),
        cmocka_unit_test(scarcity_is_shared),
        cmocka_unit_test(ages_count_from_the_question),
        cmocka_unit_test(idleness),
        cmocka_unit_test(attempts_back_off),
        cmocka_unit_test(the_next_domain_takes_over),
        cmocka_unit_test(what_is_absent_is_not_asked_for_a_minute),
        cmocka_unit_test(the_list_may_fail),
        cmocka_unit_test(hits_and_misses),
        cmocka_unit_test(static_fields),
        cmocka_unit_test(what_is_the_same_is_fresh),
        cmocka_unit_test(what_costs_nothing_goes_first),
        cmocka_unit_test(malformed_answers),
        cmocka_unit_test(ids_that_do_not_fit),
        cmocka_unit_test(a_state_that_nobody_knows),
        cmocka_unit_test(too_many_warnings_are_one_line),
        cmocka_unit_test(an_answer_about_another_item),
        cmocka_unit_test(same_seed_same_looks),
        cmocka_unit_test(without_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
