/* SPDX-License-Identifier: MIT */
/*
 * A night's work: 16,000 items from an API whose limit nobody told, 8 hours, no intervention.
 *
 * The real engine and limiter on virtual time against the simulator's model of an API, which judges
 * on its own account. In the night some answers never come, some connections are lost, the server
 * fails now and then, and for ten minutes it is down.
 */
#include "engine_rig.h"

#include "core/rng.h"
#include "sim/provider.h"

#define ITEMS 16000
#define HOUR  (3600 * S)

struct night {
    struct provider api;
    struct rng rng;
    unsigned char ended[ITEMS]; /* how often each came to its end */
    int64_t longest_ns;         /* attempt */
    int64_t page_begin_ns;
    int64_t page_ns[ITEMS / 80]; /* 200 pages of 80 items */
    int pages, done;
};

static struct plan during_the_night(struct rig *r, const struct attempt_request *q)
{
    struct night *n = r->more;
    int64_t passed_ns = r->now_ns - RIG_EPOCH;
    double chance = fb_rng_unit(&n->rng);
    struct work w = {.born_ns = r->now_ns, .cost = 1};
    struct verdict v;

    (void)q;
    if (passed_ns > 2 * HOUR && passed_ns < 2 * HOUR + 600 * S)
        return (struct plan){.failure = FAIL_REFUSED};
    if (chance < 0.002)
        return (struct plan){.connect_ns = 20 * MS, .answer_ns = FB_NEVER};
    if (chance < 0.004)
        return (struct plan){.connect_ns = 20 * MS, .answer_ns = 5 * S, .failure = FAIL_RESET};
    fb_provider_admit(&n->api, passed_ns, &w, &v);
    return (struct plan){.connect_ns = 20 * MS, .answer_ns = v.service_ns, .status = v.status};
}

static void count(struct rig *r, const struct engine_result *result)
{
    struct night *n = r->more;
    int64_t took_ns = result->ended_ns - result->sent_ns;
    long item = strtol(result->id, NULL, 10);

    n->ended[item]++;
    n->longest_ns = result->sent_ns && took_ns > n->longest_ns ? took_ns : n->longest_ns;
    if (++n->done % 80 == 0) {
        n->page_ns[n->pages++] = r->now_ns - n->page_begin_ns;
        n->page_begin_ns = r->now_ns;
    }
}

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

static void sleep_well(uint64_t seed)
{
    struct engine_options o = rig_options();
    static struct night n;
    struct rig r;
    struct engine_stats s;

    n = (struct night){.rng = {seed}};
    n.api = (struct provider){
        .gate = {{.kind = &fb_gate_bucket, .rate = 1.0, .burst = 10.0, .pools = 1}},
        .gate_count = 1,
        .service = {.mean_s = 0.4, .max_s = 10.0},
        .chance_503 = 0.002,
    };
    assert_int_equal(fb_provider_init(&n.api, seed), 0);
    o.limit = ""; /* nothing is known */
    o.seed = seed;
    o.concurrency = 5;
    rig_open(&r, &o);
    r.plan = during_the_night;
    r.on_result = count;
    r.more = &n;
    n.page_begin_ns = RIG_EPOCH;
    for (int i = 0; i < ITEMS; i++) {
        char id[16];

        snprintf(id, sizeof(id), "%d", i);
        rig_submit(&r, &(struct engine_task){.url = "http://api.example/item", .id = id});
    }
    rig_run_until(&r, RIG_EPOCH + 8 * HOUR);
    s = rig_stats(&r);
    qsort(n.page_ns, (size_t)n.pages, sizeof(n.page_ns[0]), by_size);
    print_message("seed %llu: %lld of %d in %.2f h, %lld throttled, %lld retries, %lld timeouts, "
                  "page median %.1f s, 5 %% below %.1f, 5 %% above %.1f\n",
                  (unsigned long long)seed, (long long)s.end[ENGINE_OK], ITEMS,
                  (double)(r.last.ended_ns - RIG_EPOCH) / (double)HOUR, (long long)s.throttled,
                  (long long)s.retries, (long long)s.timeouts, (double)n.page_ns[n.pages / 2] / 1e9,
                  (double)n.page_ns[n.pages / 20] / 1e9,
                  (double)n.page_ns[n.pages - n.pages / 20] / 1e9);
    for (int i = 0; i < ITEMS; i++)
        assert_int_equal(n.ended[i], 1);
    assert_int_equal(s.end[ENGINE_OK], ITEMS);
    assert_true(s.throttled * 100 < s.requests);
    assert_at_most(n.longest_ns, 120 * S);
    assert_at_most(s.in_flight_most, 5);
    rig_fini(&r);
    fb_provider_fini(&n.api);
}

static void nobody_has_to_get_up(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++)
        sleep_well(seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_has_to_get_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
