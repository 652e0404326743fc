/* SPDX-License-Identifier: MIT */
/* A watcher's items over time: versions, states, pauses, other plans, records. */
#include "watch_rig.h"

#include "core/delta.h"

static struct world *two_sites(size_t items)
{
    struct world *w = world_new(1);

    add_site(w, "alpha", 2);
    add_site(w, "beta", 1);
    w->items = w->live = items;
    return w;
}

/* ---- versions ---- */

/* What a consumer has who starts from `since` with what was so then, and takes what it is given. */
static void assert_follows(struct world *w, const struct watch_item *i, size_t n)
{
    struct snapshot_field field[16];
    struct watch_version had;
    struct watch_version now;
    struct watch_delta d;

    fb_watch_version(w->watch, i, 0, &now);
    fb_watch_version(w->watch, i, n, &had);
    fb_watch_delta(w->watch, i, had.seq, &d);
    assert_int_equal(d.from, had.seq);
    assert_int_equal(d.to, now.seq);
    if (n == 0) {
        assert_int_equal(d.need, DELTA_NOTHING);
        return;
    }
    assert_int_equal(d.need, DELTA_CHANGES);
    assert_true(d.count < now.says.count);
    size_t count = fb_delta_apply(&had.says, d.change, d.count, field);
    assert_int_equal(count, now.says.count);
    for (size_t f = 0; f < count; f++) {
        assert_string_equal(field[f].name, now.says.field[f].name);
        assert_string_equal(field[f].value, now.says.field[f].value);
    }
}

static void versions_and_deltas(void **state)
{
    struct world *w = two_sites(1);
    struct watch_delta d;

    (void)state;
    world_open(w);
    pass(w, 300 * S);
    struct watch_item_view v = item(w, "item-0");
    const struct watch_item *i = fb_watch_find(w->watch, "item-0");
    assert_int_equal(v.kept, 5);
    assert_true(v.seq >= 12 && v.seq <= 20);
    assert_int_equal(w->told[WATCH_CHANGED], v.seq);
    for (size_t n = 0; n < v.kept; n++)
        assert_follows(w, i, n);
    /* Who has nothing, or what is no longer kept, or what never was, gets all of it. */
    static const int64_t others[] = {0, 1, 1000000};
    for (size_t n = 0; n < COUNT_OF(others); n++) {
        fb_watch_delta(w->watch, i, (uint64_t)others[n], &d);
        assert_int_equal(d.need, DELTA_WHOLE);
        assert_int_equal(d.count, v.fields);
    }
    world_free(w);
}

static void a_version_is_told_with_its_changes(void **state)
{
    struct world *w = two_sites(1);

    (void)state;
    w->follows = true;
    world_open(w);
    pass(w, 300 * S);
    /* The rig has applied each change to what it had, and compared. */
    assert_int_equal(w->followed, item(w, "item-0").seq);
    world_free(w);
}

/* ---- states ---- */

static void completed_items_are_kept_for_a_day(void **state)
{
    struct world *w = two_sites(2);

    (void)state;
    world_open(w);
    pass(w, 300 * S);
    assert_int_equal(item(w, "item-1").kept, 5);
    w->live = 1;
    pass(w, 20 * S);
    assert_int_equal(item(w, "item-1").state, ITEM_completed);
    assert_int_equal(item(w, "item-1").kept, 1);
    assert_int_equal(w->told[WATCH_STATE], 1);
    int64_t payload = figures(w).payload_bytes;
    pass(w, 23 * 3600 * S);
    assert_string_not_equal(value(w, "item-1", "score"), "");
    pass(w, 2 * 3600 * S);
    assert_int_equal(item(w, "item-1").kept, 0);
    assert_int_equal(item(w, "item-1").why, WATCH_WHY_FINAL);
    assert_true(figures(w).payload_bytes < payload);
    int64_t asked = w->site[0].asked + w->site[1].asked;
    w->items = 1;
    pass(w, 60 * S);
    assert_null(fb_watch_find(w->watch, "item-1"));
    assert_int_equal(w->told[WATCH_REMOVED], 1);
    assert_true(w->site[0].asked + w->site[1].asked - asked < 20);
    world_free(w);
}

static void a_list_that_stays_the_same_lacks_it_again(void **state)
{
    struct world *w = two_sites(3);

    (void)state;
    world_open(w);
    pass(w, 60 * S);
    int64_t lists = w->lists;
    w->live = w->items = 2;
    while (w->lists == lists)
        pass(w, S);
    assert_int_equal(item(w, "item-2").state, ITEM_live);
    w->list_is_same = true;
    pass(w, 20 * S);
    assert_int_equal(w->lists, lists + 1);
    assert_int_equal(item(w, "item-2").state, ITEM_completed);
    assert_int_equal(item(w, "item-1").state, ITEM_live);
    world_free(w);
}

static void one_list_that_lacks_an_item_is_not_believed(void **state)
{
    struct world *w = two_sites(3);

    (void)state;
    world_open(w);
    pass(w, 60 * S);
    int64_t lists = w->lists;
    w->items = w->live = 2;
    while (w->lists < lists + 1)
        pass(w, S);
    w->items = w->live = 3;
    pass(w, 60 * S);
    assert_int_equal(fb_watch_warned(w->watch, WATCH_WARN_LOST), 0);
    assert_int_equal(item(w, "item-2").state, ITEM_live);
    w->items = w->live = 2;
    pass(w, 60 * S);
    assert_int_equal(fb_watch_warned(w->watch, WATCH_WARN_LOST), 1);
    assert_int_equal(item(w, "item-2").state, ITEM_completed);
    world_free(w);
}

/* ---- operators ---- */

static void pause_and_resume(void **state)
{
    struct world *w = two_sites(2);

    (void)state;
    world_open(w);
    pass(w, 60 * S);
    assert_int_equal(fb_watch_pause(w->watch, "nothing", 0), -ENOENT);
    assert_int_equal(fb_watch_resume(w->watch, "nothing"), -ENOENT);
    assert_int_equal(fb_watch_pause(w->watch, "item-0", 3600 * S), 0);
    assert_string_equal(w->last_trigger, "operator");
    pass(w, 600 * S);
    assert_true(item(w, "item-0").age_ns >= 595 * S);
    assert_int_equal(item(w, "item-0").why, WATCH_WHY_PAUSED);
    assert_int_equal(figures(w).grade, HEALTH_healthy);
    assert_int_equal(fb_watch_resume(w->watch, "item-0"), 0);
    pass(w, 5 * S);
    assert_at_most(item(w, "item-0").age_ns, 5 * S);
    assert_int_equal(fb_watch_audit(w->watch, 0)->kind, WATCH_RESUMED);
    assert_string_equal(fb_watch_audit(w->watch, 0)->id, "item-0");
    /* And by itself, as the plan says. */
    assert_int_equal(fb_watch_pause(w->watch, "item-0", 0), 0);
    pass(w, 310 * S);
    assert_at_most(item(w, "item-0").age_ns, 11 * S);
    world_free(w);
}

static void domains_off_and_on(void **state)
{
    struct world *w = two_sites(20);
    struct watch_field f;

    (void)state;
    world_open(w);
    pass(w, 60 * S);
    assert_int_equal(fb_watch_enable(w->watch, "nobody", false), -ENOENT);
    assert_int_equal(fb_watch_enable(w->watch, "alpha", false), 0);
    assert_int_equal(fb_watch_enable(w->watch, "alpha", false), 0);
    assert_int_equal(w->told[WATCH_DISABLED], 1);
    int64_t asked = w->site[0].asked;
    pass(w, 60 * S);
    assert_int_equal(w->site[0].asked, asked);
    assert_at_most(figures(w).spread[ITEM_live].oldest_ns, 11 * S);
    fb_watch_field(w->watch, fb_watch_find(w->watch, "item-0"), 1, &f);
    assert_int_equal(f.domain, 1);
    assert_int_equal(f.agree, 2);
    assert_int_equal(fb_watch_enable(w->watch, "alpha", true), 0);
    pass(w, 60 * S);
    assert_true(w->site[0].asked > asked);
    fb_watch_field(w->watch, fb_watch_find(w->watch, "item-0"), 1, &f);
    assert_int_equal(f.domain, 0);
    world_free(w);
}

static void begin_anew(void **state)
{
    struct world *w = two_sites(20);

    (void)state;
    w->plan.recycle_looks = 500;
    world_open(w);
    pass(w, 60 * S);
    int64_t fresh_ns = item(w, "item-3").fresh_ns;
    fb_watch_recycle(w->watch);
    assert_int_equal(item(w, "item-3").fresh_ns, fresh_ns);
    assert_int_equal(w->recycles, 1);
    assert_string_equal(fb_watch_audit(w->watch, 0)->trigger, "operator");
    pass(w, 300 * S);
    assert_true(w->recycles >= 2);
    assert_string_equal(fb_watch_audit(w->watch, 0)->trigger, "looks");
    assert_int_equal(figures(w).recycles, w->recycles);
    w->plan.recycle_looks = 0;
    w->plan.recycle_ns = 3600 * S;
    assert_int_equal(fb_watch_configure(w->watch, &w->plan, NULL), 0);
    pass(w, 3700 * S);
    assert_string_equal(fb_watch_audit(w->watch, 0)->trigger, "uptime");
    world_free(w);
}

static void the_audit_is_a_ring(void **state)
{
    struct world *w = two_sites(1);

    (void)state;
    world_open(w);
    for (int n = 0; n < 250; n++)
        fb_watch_recycle(w->watch);
    assert_int_equal(fb_watch_audits(w->watch), 250);
    assert_int_equal(w->told[WATCH_RECYCLE], 250);
    assert_non_null(fb_watch_audit(w->watch, WATCH_AUDIT_MAX - 1));
    assert_null(fb_watch_audit(w->watch, WATCH_AUDIT_MAX));
    world_free(w);
}

/* ---- other plans ---- */

/* Other limits show in the figures of the same instant. */
static void limits_change_at_once(void **state)
{
    struct world *w = two_sites(10);
    struct fly_error err = {""};

    (void)state;
    world_open(w);
    pass(w, 60 * S);
    w->plan.health.degraded_ns = S;
    w->plan.health.failing_ns = 100 * S;
    w->plan.concurrency = 2;
    assert_int_equal(fb_watch_configure(w->watch, &w->plan, &err), 0);
    assert_int_equal(figures(w).grade, HEALTH_degraded);
    assert_int_equal(fb_watch_plan(w->watch)->concurrency, 2);
    w->plan.health.failing_ns = 0;
    assert_int_equal(fb_watch_configure(w->watch, &w->plan, &err), -EINVAL);
    assert_contains(err.text, "failing");
    assert_int_equal(fb_watch_plan(w->watch)->health.failing_ns, 100 * S);
    world_free(w);
}

/* The most at once in this span, as the sites see it. */
static void watch_caps(struct world *w, int64_t span_ns)
{
    w->in_flight_most = w->site[0].in_flight_most = 0;
    pass(w, span_ns);
}

/* Under load: what was under way may end, and after an interval nothing is above the new cap. */
static void caps_change_within_an_interval(void **state)
{
    struct world *w = two_sites(400);

    (void)state;
    w->site[0].latency_ns = w->site[1].latency_ns = S;
    w->site[0].plan.concurrency = w->site[1].plan.concurrency = 40;
    world_open(w);
    watch_caps(w, 60 * S);
    assert_int_equal(w->in_flight_most, 40);
    w->plan.concurrency = 2;
    assert_int_equal(fb_watch_configure(w->watch, &w->plan, NULL), 0);
    pass(w, w->plan.interval_ns);
    watch_caps(w, 60 * S);
    assert_int_equal(w->in_flight_most, 2);
    w->plan.concurrency = 40;
    w->domains[0].concurrency = 8;
    assert_int_equal(fb_watch_configure(w->watch, &w->plan, NULL), 0);
    pass(w, w->plan.interval_ns);
    watch_caps(w, 60 * S);
    assert_int_equal(w->in_flight_most, 40);
    assert_int_equal(w->site[0].in_flight_most, 8);
    w->domains[0].concurrency = 1;
    assert_int_equal(fb_watch_configure(w->watch, &w->plan, NULL), 0);
    pass(w, w->plan.interval_ns);
    watch_caps(w, 60 * S);
    assert_int_equal(w->site[0].in_flight_most, 1);
    assert_int_equal(figures(w).violations, 0);
    world_free(w);
}

/* Domains are known by name: another order, one that goes, one that comes. */
static void domains_move(void **state)
{
    struct world *w = two_sites(5);
    struct watch_domain_view v;
    struct watch_field f;

    (void)state;
    world_open(w);
    pass(w, 60 * S);
    int64_t fresh_ns = item(w, "item-2").fresh_ns;
    uint64_t seq = item(w, "item-2").seq;
    /* The rig answers by number, so its sites move as well, with what is under way. */
    struct site alpha = w->site[0];
    w->site[0] = w->site[1];
    w->site[1] = alpha;
    w->domains[0] = w->site[0].plan;
    w->domains[1] = w->site[1].plan;
    assert_int_equal(fb_watch_configure(w->watch, &w->plan, NULL), 0);
    assert_true(item(w, "item-2").fresh_ns >= fresh_ns);
    assert_int_equal(item(w, "item-2").seq, seq);
    fb_watch_field(w->watch, fb_watch_find(w->watch, "item-2"), 1, &f);
    fb_watch_domain(w->watch, f.domain, &v);
    assert_string_equal(v.name, "alpha");
    assert_true(v.looks > 0);
    pass(w, 60 * S);
    /* alpha goes, gamma comes: what alpha said goes, too, and the list knows gamma's ids. */
    add_site(w, "gamma", 3);
    w->site[1] = w->site[2];
    w->site[1].in_flight = alpha.in_flight;
    w->sites = 2;
    w->domains[1] = w->site[1].plan;
    assert_int_equal(fb_watch_configure(w->watch, &w->plan, NULL), 0);
    assert_int_equal(fb_watch_domain_find(w->watch, "alpha"), -1);
    fb_watch_field(w->watch, fb_watch_find(w->watch, "item-2"), 1, &f);
    assert_int_equal(f.domain, 0);
    pass(w, 60 * S);
    fb_watch_field(w->watch, fb_watch_find(w->watch, "item-2"), 1, &f);
    assert_int_equal(f.domain, 1);
    assert_int_equal(figures(w).violations, 0);
    assert_at_most(figures(w).spread[ITEM_live].oldest_ns, 11 * S);
    world_free(w);
}

/* ---- records ---- */

static struct world *kept_world(void)
{
    struct world *w = two_sites(3);

    w->keeps = true;
    w->kept = calloc(3, sizeof(*w->kept));
    w->kept_count = 3;
    w->site[0].plan.has_static = true;
    world_open(w);
    pass(w, 60 * S);
    fb_watch_keep_all(w->watch);
    return w;
}

static void damaged_records_are_refused(void **state)
{
    struct world *w = kept_world();
    struct kept k = w->kept[1];

    (void)state;
    world_kill(w);
    world_open(w);
    for (size_t n = 0; n < k.size; n++) {
        assert_int_equal(fb_watch_restore(w->watch, k.record, n), -EINVAL);
        k.record[n] ^= 0x11;
        assert_int_equal(fb_watch_restore(w->watch, k.record, k.size), -EINVAL);
        k.record[n] ^= 0x11;
    }
    assert_int_equal(fb_watch_count(w->watch), 0);
    assert_int_equal(fb_watch_restore(w->watch, k.record, k.size), 0);
    assert_int_equal(fb_watch_restore(w->watch, k.record, k.size), -EEXIST);
    assert_string_equal(value(w, "item-1", "venue"), "stadium");
    world_free(w);
}

static void a_pause_outlives_a_restart(void **state)
{
    struct world *w = kept_world();

    (void)state;
    assert_int_equal(fb_watch_pause(w->watch, "item-0", 600 * S), 0);
    pass(w, 10 * S);
    world_kill(w);
    w->now_ns += 60 * S;
    world_open(w);
    for (size_t n = 0; n < 3; n++)
        assert_int_equal(fb_watch_restore(w->watch, w->kept[n].record, w->kept[n].size), 0);
    w->wake_ns = w->now_ns;
    pass(w, 300 * S);
    assert_true(item(w, "item-0").paused_ns > 0);
    assert_at_most(item(w, "item-1").age_ns, 11 * S);
    pass(w, 300 * S);
    assert_int_equal(item(w, "item-0").paused_ns, 0);
    assert_at_most(item(w, "item-0").age_ns, 11 * S);
    world_free(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions_and_deltas),
        cmocka_unit_test(a_version_is_told_with_its_changes),
        cmocka_unit_test(completed_items_are_kept_for_a_day),
        cmocka_unit_test(a_list_that_stays_the_same_lacks_it_again),
        cmocka_unit_test(one_list_that_lacks_an_item_is_not_believed),
        cmocka_unit_test(pause_and_resume),
        cmocka_unit_test(domains_off_and_on),
        cmocka_unit_test(begin_anew),
        cmocka_unit_test(the_audit_is_a_ring),
        cmocka_unit_test(limits_change_at_once),
        cmocka_unit_test(caps_change_within_an_interval),
        cmocka_unit_test(domains_move),
        cmocka_unit_test(damaged_records_are_refused),
        cmocka_unit_test(a_pause_outlives_a_restart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
