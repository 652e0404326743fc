/* SPDX-License-Identifier: MIT */
/*
 * What a watcher promises, on virtual time: 200 live items, three sites with different limits, one
 * request in twenty failing; then everything that can happen to it, each with the grades and the
 * entries in the audit that it must lead to.
 */
#include "watch_rig.h"

#define LIVE 200

/* Three sites, of which the first is the best. Together they allow 25 looks a second. */
static struct world *three_sites(uint64_t seed)
{
    struct world *w = world_new(seed);
    struct site *a = add_site(w, "alpha", 3);
    struct site *b = add_site(w, "beta", 2);
    struct site *c = add_site(w, "gamma", 1);

    limit_site(w, a, "rate=12/s burst=6", 12, 6);
    limit_site(w, b, "rate=8/s burst=4", 8, 4);
    limit_site(w, c, "rate=5/s burst=2", 5, 2);
    b->latency_ns = 400 * MS;
    c->latency_ns = 800 * MS;
    a->fault = b->fault = c->fault = 0.05;
    w->items = w->live = LIVE;
    w->consumes = true;
    return w;
}

static void assert_manners(const struct world *w)
{
    struct watch_figures f = figures(w);

    assert_int_equal(f.violations, 0);
    assert_at_most(f.in_flight_most, w->plan.concurrency);
    assert_at_most(w->in_flight_most, w->plan.concurrency);
    assert_at_most(f.queued_most, w->plan.queue_max);
    for (size_t n = 0; n < w->sites; n++) {
        assert_int_equal(w->site[n].refused, 0);
        assert_at_most(w->site[n].in_flight_most, w->site[n].plan.concurrency);
    }
    assert_int_equal(w->without_origin, 0);
}

/* The grades that were told, in words: "degraded recovering healthy". */
static const char *grades_of(const struct world *w)
{
    static char text[RIG_GRADES * 12];
    size_t size = 0;

    text[0] = '\0';
    for (size_t n = 0; n < w->grade_count; n++)
        size += (size_t)snprintf(text + size, sizeof(text) - size, "%s%s", n ? " " : "",
                                 fb_health_name(w->grades[n]));
    return text;
}

static double hit_rate(const struct watch_figures *f)
{
    double hits = (double)f->hits[ITEM_live];

    return hits / (hits + (double)f->misses[ITEM_live]);
}

static void print(const char *what, const struct world *w)
{
    struct watch_figures f = figures(w);

    printf("%s: ages below 60 s %.4f, p50 %.1f s, p95 %.1f s, oldest %.1f s, hits %.3f, "
           "looks %lld, grades: %s\n",
           what, (double)w->ages_below / (double)(w->ages ? w->ages : 1),
           fb_seconds(f.spread[ITEM_live].p50_ns), fb_seconds(f.spread[ITEM_live].p95_ns),
           fb_seconds(f.spread[ITEM_live].oldest_ns), hit_rate(&f), (long long)f.looks,
           grades_of(w));
}

/* ---- as it should be ---- */

static void items_stay_fresh(void **state)
{
    struct world *w = three_sites(seed_of_run());

    (void)state;
    world_open(w);
    pass(w, 3600 * S);
    print("an hour", w);
    struct watch_figures f = figures(w);
    assert_true(w->ages > 3500 * LIVE);
    assert_true((double)w->ages_below >= 0.95 * (double)w->ages);
    assert_at_most(f.spread[ITEM_live].p50_ns, 30 * S);
    assert_at_most(w->over_most, 1);
    assert_true(hit_rate(&f) >= 0.85);
    assert_int_equal(w->grade_count, 0);
    assert_int_equal(f.grade, HEALTH_healthy);
    assert_int_equal(w->told[WATCH_DEMOTED], 0);
    /* Figures at every interval, without a gap. */
    assert_int_equal(w->told[WATCH_INTERVAL], 720);
    assert_int_equal(f.intervals, 720);
    assert_manners(w);
    world_free(w);
}

/* ---- what can happen ---- */

/* Entries of this kind in the audit, of this domain (NULL: any). */
static int audited(const struct world *w, enum watch_event_kind kind, const char *domain)
{
    const struct watch_audit_entry *e;
    int count = 0;

    for (size_t n = 0; (e = fb_watch_audit(w->watch, n)); n++)
        count += e->kind == kind && (!domain || strcmp(e->domain, domain) == 0);
    return count;
}

static void assert_live_stay_fresh(const struct world *w)
{
    struct watch_figures f = figures(w);

    assert_true((double)w->ages_below >= 0.95 * (double)w->ages);
    assert_at_most(f.spread[ITEM_live].p50_ns, 30 * S);
    assert_at_most(w->over_most, 1);
}

/* Ten times as many items, the others imminent and completed: these wait, and the grade says so. */
static void overload_is_degraded_and_no_more(void **state)
{
    struct world *w = three_sites(seed_of_run());

    (void)state;
    world_open(w);
    pass(w, 300 * S);
    w->items = 10 * LIVE;
    w->imminent = 5 * LIVE;
    pass(w, 1800 * S);
    print("overload", w);
    struct watch_figures f = figures(w);
    assert_live_stay_fresh(w);
    assert_true(hit_rate(&f) >= 0.85);
    assert_string_equal(grades_of(w), "degraded");
    assert_int_equal(audited(w, WATCH_GRADE, NULL), 1);
    assert_contains(f.grade_text, "more looks are due than there is room for");
    assert_int_equal(f.queued_most, w->plan.queue_max);
    assert_true(f.deferred > 0 && f.deferred_lately <= w->plan.queue_max);
    assert_at_most(w->queued_over, 2);
    /* It ends, and so does the grade. */
    w->items = w->live;
    w->imminent = 0;
    pass(w, 300 * S);
    assert_string_equal(grades_of(w), "degraded healthy");
    assert_manners(w);
    world_free(w);
}

static void a_dead_source_is_done_without(void **state)
{
    struct world *w = three_sites(seed_of_run());
    struct watch_domain_view v;

    (void)state;
    world_open(w);
    pass(w, 300 * S);
    w->site[0].is_dead = true;
    int64_t asked = w->site[0].asked;
    pass(w, 600 * S);
    print("one source dead", w);
    fb_watch_domain(w->watch, 0, &v);
    assert_true(v.is_down && v.is_demoted && v.failures > 0);
    assert_at_most(v.queued, 1);
    /* One look at a time, every 15 s or so: it is not hammered. */
    assert_at_most(w->site[0].asked - asked, 8 + 600 / 12);
    assert_live_stay_fresh(w);
    assert_int_equal(audited(w, WATCH_DOWN, "alpha"), 1);
    assert_int_equal(audited(w, WATCH_DEMOTED, "alpha"), 1);
    w->site[0].is_dead = false;
    pass(w, 900 * S);
    assert_int_equal(audited(w, WATCH_UP, "alpha"), 1);
    assert_int_equal(audited(w, WATCH_RESTORED, "alpha"), 1);
    assert_string_equal(grades_of(w), "");
    assert_int_equal(w->told[WATCH_PAUSED], 0);
    assert_manners(w);
    world_free(w);
}

static void an_item_that_fails_is_left_alone(void **state)
{
    struct world *w = three_sites(seed_of_run());

    (void)state;
    world_open(w);
    pass(w, 60 * S);
    for (size_t n = 0; n < w->sites; n++)
        w->site[n].failing = "item-7";
    pass(w, 120 * S);
    assert_true(item(w, "item-7").paused_ns > w->now_ns);
    assert_int_equal(figures(w).paused, 1);
    assert_int_equal(audited(w, WATCH_PAUSED, NULL), 1);
    pass(w, 1800 * S);
    /* Again and again, five minutes each, and nobody else suffers. */
    int pauses = audited(w, WATCH_PAUSED, NULL);
    assert_true(pauses >= 4 && pauses <= 7);
    assert_at_least(audited(w, WATCH_RESUMED, NULL), pauses - 1);
    assert_string_equal(grades_of(w), "");
    assert_int_equal(w->told[WATCH_DOWN], 0);
    assert_true((double)w->ages_below >= 0.95 * (double)w->ages);
    /* It is well again: an update within two intervals after its pause. */
    for (size_t n = 0; n < w->sites; n++)
        w->site[n].failing = NULL;
    for (size_t n = 0; n < 400 && item(w, "item-7").paused_ns > 0; n++)
        pass(w, S);
    pass(w, 2 * w->plan.interval_ns);
    assert_at_most(item(w, "item-7").age_ns, 2 * w->plan.interval_ns);
    assert_false(item(w, "item-7").is_out);
    assert_string_equal(grades_of(w), "");
    assert_manners(w);
    world_free(w);
}

/* Of the grades in the audit, "trigger/outcome", the oldest first. */
static const char *triggers_of(const struct world *w)
{
    static char text[512];
    const struct watch_audit_entry *e;
    size_t size = 0;

    text[0] = '\0';
    for (size_t n = WATCH_AUDIT_MAX; n-- > 0;)
        if ((e = fb_watch_audit(w->watch, n)) && e->kind == WATCH_GRADE)
            size += (size_t)snprintf(text + size, sizeof(text) - size, "%s%s/%s", size ? " " : "",
                                     e->trigger, e->outcome);
    return text;
}

static void set_dead(struct world *w, bool is_dead)
{
    for (size_t n = 0; n < w->sites; n++)
        w->site[n].is_dead = is_dead;
}

static void all_sources_dead_for_five_minutes(void **state)
{
    struct world *w = three_sites(seed_of_run());

    (void)state;
    world_open(w);
    pass(w, 300 * S);
    set_dead(w, true);
    int64_t dead_ns = w->now_ns;
    pass(w, 150 * S);
    assert_string_equal(grades_of(w), "degraded recovering");
    assert_at_most(w->graded_ns[0] - dead_ns, 75 * S);
    assert_at_least(w->graded_ns[1] - dead_ns, 90 * S);
    assert_at_most(w->graded_ns[1] - dead_ns, 105 * S);
    /* What was fresh then is as old as it is: nothing was forgotten. */
    int64_t fresh_ns = item(w, "item-3").fresh_ns;
    assert_true(fresh_ns > dead_ns - 20 * S && fresh_ns <= dead_ns);
    pass(w, 150 * S);
    assert_int_equal(item(w, "item-3").fresh_ns, fresh_ns);
    set_dead(w, false);
    int64_t back_ns = w->now_ns;
    pass(w, 120 * S);
    print("all dead", w);
    assert_string_equal(grades_of(w), "degraded recovering healthy");
    printf("healthy %.0f s after they were back\n", fb_seconds(w->graded_ns[2] - back_ns));
    assert_int_equal(audited(w, WATCH_DOWN, NULL), 3);
    assert_int_equal(audited(w, WATCH_UP, NULL), 3);
    assert_int_equal(audited(w, WATCH_RECOVERY, NULL), 2);
    assert_int_equal(audited(w, WATCH_UNHELPED, NULL), 1);
    assert_int_equal(audited(w, WATCH_RECOVERED, NULL), 1);
    assert_int_equal(audited(w, WATCH_RECYCLE, NULL), 2);
    assert_int_equal(w->recycles, 2);
    assert_int_equal(audited(w, WATCH_GRADE, NULL), 3);
    /* Which of the two is seen first is a matter of the interval. */
    const char *triggers = triggers_of(w);
    assert_true(strncmp(triggers, "p95/", 4) == 0 || strncmp(triggers, "median/", 7) == 0);
    assert_string_equal(strchr(triggers, '/'), "/degraded stall/recovering fresh/healthy");
    assert_int_equal(w->told[WATCH_PAUSED], 0);
    assert_manners(w);
    world_free(w);
}

/* What recovering does not help is not recovered again and again. */
static void recoveries_back_off(void **state)
{
    struct world *w = three_sites(seed_of_run());

    (void)state;
    world_open(w);
    pass(w, 60 * S);
    set_dead(w, true);
    pass(w, 4 * 3600 * S);
    int64_t recoveries = figures(w).recoveries;
    assert_true(recoveries >= 5 && recoveries <= 12);
    assert_int_equal(audited(w, WATCH_RECOVERY, NULL), recoveries);
    assert_at_least(audited(w, WATCH_UNHELPED, NULL), recoveries - 1);
    assert_contains(figures(w).grade_text, "nothing has succeeded for");
    set_dead(w, false);
    pass(w, 120 * S);
    assert_int_equal(figures(w).grade, HEALTH_healthy);
    assert_manners(w);
    world_free(w);
}

static void a_liar_is_found_out(void **state)
{
    struct world *w = three_sites(seed_of_run());
    struct watch_domain_view v;
    struct watch_field f;
    char truth[24];

    (void)state;
    world_open(w);
    pass(w, 300 * S);
    w->site[0].is_lying = true;
    pass(w, 30 * S);
    /* For now it is believed, being the best; that the others say otherwise can be seen. */
    const struct watch_item *i = fb_watch_find(w->watch, "item-5");
    fb_watch_field(w->watch, i, 1, &f);
    assert_string_equal(f.name, "score");
    assert_int_equal(f.domain, 0);
    assert_int_equal(f.disagree, 6);
    assert_string_not_equal(fb_watch_says(w->watch, i, 1, "score"), f.value);
    pass(w, 270 * S);
    assert_int_equal(audited(w, WATCH_DEMOTED, "alpha"), 1);
    pass(w, 30 * S);
    fb_watch_field(w->watch, i, 1, &f);
    assert_true(f.domain != 0);
    snprintf(truth, sizeof(truth), "%lld", (long long)true_score(w, 5, f.fresh_ns));
    assert_string_equal(f.value, truth);
    w->site[0].is_lying = false;
    pass(w, 900 * S);
    fb_watch_domain(w->watch, 0, &v);
    assert_false(v.is_demoted);
    assert_at_least(audited(w, WATCH_RESTORED, "alpha"), 1);
    assert_int_equal(w->told[WATCH_DEMOTED], audited(w, WATCH_DEMOTED, "alpha"));
    assert_string_equal(grades_of(w), "");
    assert_live_stay_fresh(w);
    assert_manners(w);
    world_free(w);
}

/* Back by an hour: nothing happens. Forward by ten minutes: all is old, and soon no longer. */
static void a_clock_that_steps(void **state)
{
    struct world *w = three_sites(seed_of_run());

    (void)state;
    world_open(w);
    pass(w, 300 * S);
    int64_t looks = figures(w).looks;
    w->step_ns -= 3600 * S;
    w->wake_ns += 3600 * S; /* it was asked for on the clock that stepped */
    pass(w, 300 * S);
    assert_int_equal(audited(w, WATCH_CLOCK, NULL), 1);
    assert_string_equal(grades_of(w), "");
    assert_true(figures(w).looks - looks > 300 * 15);
    assert_live_stay_fresh(w);
    w->step_ns += 600 * S;
    w->wake_ns -= 600 * S;
    pass(w, 120 * S);
    print("a clock that steps", w);
    /* Nothing has succeeded in that time, so connections begin anew. */
    assert_string_equal(grades_of(w), "recovering healthy");
    assert_at_most(w->graded_ns[1] - w->graded_ns[0], 60 * S);
    assert_int_equal(audited(w, WATCH_RECOVERY, NULL), 1);
    assert_int_equal(audited(w, WATCH_RECOVERED, NULL), 1);
    assert_manners(w);
    world_free(w);
}

static void kill_and_restart(void **state)
{
    struct world *w = three_sites(seed_of_run());
    uint64_t seq[LIVE];

    (void)state;
    w->keeps = true;
    w->kept = calloc(LIVE, sizeof(*w->kept));
    w->kept_count = LIVE;
    world_open(w);
    pass(w, 303 * S);
    int64_t fresh_ns = item(w, "item-9").fresh_ns;
    for (size_t n = 0; n < LIVE; n++) {
        char id[16];
        snprintf(id, sizeof(id), "item-%zu", n);
        seq[n] = item(w, id).seq;
    }
    world_kill(w);
    w->now_ns += 20 * S; /* until it is started again */
    world_open(w);
    for (size_t n = 0; n < LIVE; n++)
        assert_int_equal(fb_watch_restore(w->watch, w->kept[n].record, w->kept[n].size), 0);
    assert_int_equal(fb_watch_count(w->watch), LIVE);
    /* As old as it is, by at most one interval that was not kept; with its picture and ids. */
    struct watch_item_view v = item(w, "item-9");
    assert_true(v.fresh_ns <= fresh_ns && v.fresh_ns >= fresh_ns - w->plan.interval_ns - 10 * S);
    assert_int_equal(v.links, 3);
    assert_string_not_equal(value(w, "item-9", "score"), "");
    for (size_t n = 0; n < LIVE; n++)
        assert_true(item(w, w->kept[n].id).seq > seq[n]);
    w->wake_ns = w->now_ns;
    pass(w, 60 * S);
    print("killed", w);
    assert_string_equal(grades_of(w), "");
    assert_at_most(figures(w).spread[ITEM_live].oldest_ns, 60 * S);
    assert_live_stay_fresh(w);
    assert_manners(w);
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_stay_fresh),
        cmocka_unit_test(overload_is_degraded_and_no_more),
        cmocka_unit_test(a_dead_source_is_done_without),
        cmocka_unit_test(an_item_that_fails_is_left_alone),
        cmocka_unit_test(all_sources_dead_for_five_minutes),
        cmocka_unit_test(recoveries_back_off),
        cmocka_unit_test(a_liar_is_found_out),
        cmocka_unit_test(a_clock_that_steps),
        cmocka_unit_test(kill_and_restart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
