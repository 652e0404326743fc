/* SPDX-License-Identifier: MIT */
/* The section `watch`: what is so when nobody says anything, and whose limits hold for a source. */
#include "source_rig.h"

#include "watch/live_parts.h"

#define SOURCE "{url: 'http://h.example/{id}', fields: {a: /a}"

/* The plan of a configuration that says nothing is the one of the watcher itself. */
static void defaults_are_those_of_the_watcher(void **state)
{
    struct watch_domain_plan domain[CONFIG_SOURCES_MAX];
    struct watch_plan made, own;
    struct rig r;

    (void)state;
    rig_source(&r, SOURCE "}");
    fb_watch_live_plan(r.config, &made, domain);
    fb_watch_plan_init(&own);
    assert_int_equal(made.domain_count, 1);
    assert_string_equal(domain[0].name, "a");
    assert_int_equal(domain[0].concurrency, 8);
    assert_true(domain[0].enabled && !domain[0].has_static);
    assert_true(made.has_list);
    made.domain = own.domain = NULL;
    made.domain_count = 0;
    made.has_list = own.has_list;
    assert_memory_equal(&made.aims, &own.aims, sizeof own.aims);
    assert_memory_equal(&made.health, &own.health, sizeof own.health);
    assert_memory_equal(&made.reliability, &own.reliability, sizeof own.reliability);
    assert_memory_equal(made.ttl_ns, own.ttl_ns, sizeof own.ttl_ns);
    assert_int_equal(made.interval_ns, own.interval_ns);
    assert_int_equal(made.idle_ns, own.idle_ns);
    assert_int_equal(made.list_ns, own.list_ns);
    assert_int_equal(made.static_ns, own.static_ns);
    assert_int_equal(made.absent_ns, own.absent_ns);
    assert_int_equal(made.final_ns, own.final_ns);
    assert_int_equal(made.history, own.history);
    assert_int_equal(made.concurrency, own.concurrency);
    assert_int_equal(made.queue_max, own.queue_max);
    assert_int_equal(made.items_max, own.items_max);
    assert_int_equal(made.attempts, own.attempts);
    assert_int_equal(made.pause_failures, own.pause_failures);
    assert_int_equal(made.pause_ns, own.pause_ns);
    assert_int_equal(made.recycle_ns, own.recycle_ns);
    assert_int_equal(made.recycle_looks, own.recycle_looks);
    rig_fini(&r);
}

static void what_is_said_is_in_the_plan(void **state)
{
    struct watch_domain_plan domain[CONFIG_SOURCES_MAX];
    struct watch_plan p;
    struct rig r;

    (void)state;
    rig_load(&r, "recycle: {tasks: 77}\n"
                 "watch:\n"
                 "  interval: 2s\n"
                 "  idle: 1s\n" /* not below the interval */
                 "  concurrency: 7\n"
                 "  queue: 9\n"
                 "  attempts: 4\n"
                 "  aims: {live: 3s}\n"
                 "  health: {degraded: 11s, failing: 13s, stall: 17s}\n"
                 "  cache: {live: 4s, static: 24h, missing: 5s, final: 6s, snapshots: 8}\n"
                 "  pause: {failures: 2, time: 19s}\n"
                 "  reliability: {demote: 25%, restore: 75%}\n"
                 "  items: {url: 'http://h/', every: 21s}\n"
                 "  sources:\n"
                 "    a: " SOURCE ", weight: 5, concurrency: 3, enabled: false,\n"
                 "        static: {url: 'http://h/v/{id}', fields: {v: /v}}}\n");
    fb_watch_live_plan(r.config, &p, domain);
    assert_int_equal(p.interval_ns, 2 * S);
    assert_int_equal(p.idle_ns, 2 * S);
    assert_int_equal(p.list_ns, 21 * S);
    assert_int_equal(p.concurrency, 7);
    assert_int_equal(p.queue_max, 9);
    assert_int_equal(p.attempts, 4);
    assert_int_equal(p.aims.aim_ns[ITEM_live], 3 * S);
    assert_int_equal(p.health.degraded_ns, 11 * S);
    assert_int_equal(p.health.failing_ns, 13 * S);
    assert_int_equal(p.health.stall_ns, 17 * S);
    assert_int_equal(p.ttl_ns[ITEM_live], 4 * S);
    assert_int_equal(p.static_ns, 86400 * S);
    assert_int_equal(p.absent_ns, 5 * S);
    assert_int_equal(p.final_ns, 6 * S);
    assert_int_equal(p.history, 8);
    assert_int_equal(p.pause_failures, 2);
    assert_int_equal(p.pause_ns, 19 * S);
    assert_close(p.reliability.demote, 0.25, 1e-9);
    assert_close(p.reliability.restore, 0.75, 1e-9);
    assert_int_equal(p.recycle_looks, 77);
    assert_close(domain[0].weight, 5.0, 0.0);
    assert_int_equal(domain[0].concurrency, 3);
    assert_true(!domain[0].enabled && domain[0].has_static);
    rig_fini(&r);
}

/* A source has its own limit, or that of a provider, and neither touches the other. */
static void limits_are_found_by_the_name_of_a_source(void **state)
{
    struct rig r;

    (void)state;
    rig_load(&r, "pacing: {reserve: 5%}\n"
                 "providers: {site: {hosts: [h.example], limit: window=10/1s}}\n"
                 "watch:\n"
                 "  items: {url: 'http://h/', limit: window=3/1s}\n"
                 "  sources:\n"
                 "    own: " SOURCE ", limit: {window: 5/1s}, rate: 7/s}\n"
                 "    site-s: " SOURCE "}\n"
                 "    named: " SOURCE ", provider: site}\n");
    assert_contains(fb_config_limit_of(r.config, "own", "default"), "window=5/1s");
    assert_contains(fb_config_limit_of(r.config, "own", "default"), "rate=7/s");
    assert_contains(fb_config_limit_of(r.config, "own", "default"), "reserve=5%");
    assert_contains(fb_config_limit_of(r.config, CONFIG_ITEMS_NAME, "default"), "window=3/1s");
    assert_contains(fb_config_limit_of(r.config, "site", NULL), "window=10/1s");
    assert_string_equal(r.config->watch.source[2].ask.provider, "site");
    assert_null(r.config->watch.source[1].ask.limit);
    assert_non_null(fb_config_source(&r.config->watch, "own"));
    assert_null(fb_config_source(&r.config->watch, "nobody"));
    rig_fini(&r);
}

static void without_sources_nothing_is_watched(void **state)
{
    struct rig r;

    (void)state;
    rig_load(&r, "mode: strict\n");
    assert_false(fb_config_watches(&r.config->watch));
    rig_fini(&r);
    rig_load(&r, "watch: {enabled: false, items: {url: 'http://h/'}, sources: {a: " SOURCE "}}}");
    assert_false(fb_config_watches(&r.config->watch));
    rig_fini(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_those_of_the_watcher),
        cmocka_unit_test(what_is_said_is_in_the_plan),
        cmocka_unit_test(limits_are_found_by_the_name_of_a_source),
        cmocka_unit_test(without_sources_nothing_is_watched),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
