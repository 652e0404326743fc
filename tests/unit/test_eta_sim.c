/* SPDX-License-Identifier: MIT */
/*
 * Times to go against the truth: whole batches in virtual time, through the real engine, against
 * the limits of the mock. What is said when a tenth is done is compared with when all was done, for
 * several seeds: of chance, of latencies, and of when the API's window begins.
 */
#include "mock_rig.h"

#include "fetch/fetch_parts.h"
#include "fetch/look.h"

#define STEP_NS (250 * MS)
#define SEED    5
#define SEEDS   5
#define PHASE   (977 * MS) /* of the API's window, from one seed to the next */

struct batch {
    const char *name;
    int64_t items;
    const char *theirs;  /* what the API enforces */
    const char *dialect; /* and tells */
    const char *ours;    /* what the client was told; "": nothing */
    enum eta_bound bound;
    double off_most; /* of the estimate at a tenth */
    double plan_off; /* of the plan; 0: none is possible */
    int64_t phase_s; /* how far the API's window is when it begins */
    int64_t later_s; /* of a quota that was told before: so much earlier */
    int before;      /* requests of that earlier batch; 0: 30 */
};

static int64_t seed; /* from 0 on */
static struct mock_rig mock;
static struct fetch fetch;
static int64_t ended_ns;

static void note_end(struct rig *r, const struct engine_result *result)
{
    assert_int_equal(result->end, ENGINE_OK);
    fetch.count[ENTRY_done]++;
    ended_ns = r->now_ns;
}

static void begin(const struct batch *b, struct fetch_options *o)
{
    fb_fetch_options_init(o);
    o->engine.limit = o->limit = b->ours;
    o->engine.seed = (uint64_t)(SEED + seed);
    mock_rig_open(&mock, &o->engine, b->theirs, b->dialect);
    mock.rng = (struct rng){(uint64_t)(SEED + seed)};
    mock.phase_ns = b->phase_s * S + seed * PHASE;
    mock.rig.on_result = note_end;
    fetch = (struct fetch){.o = o,
                           .engine = mock.rig.engine,
                           .total = b->items,
                           .seen = b->items,
                           .list_ended = true,
                           .began_ns = RIG_EPOCH};
}

static double share_off(double said, double truth)
{
    return (said > truth ? said - truth : truth - said) / truth;
}

static void check(const struct batch *b, const char *what, double said_s, double most)
{
    double truth_s = (double)(ended_ns - RIG_EPOCH) / 1e9;

    if (getenv("FLYBALL_SHOW"))
        print_message("%s: %s %.0f s, took %.0f s: %.1f %% off\n", b->name, what, said_s, truth_s,
                      100.0 * share_off(said_s, truth_s));
    if (share_off(said_s, truth_s) > most)
        fail_msg("%s, seed %d: %s %.0f s, took %.0f s", b->name, (int)(SEED + seed), what, said_s,
                 truth_s);
}

/* What is said before anything is sent. */
static double plan(const struct batch *b)
{
    struct progress p;

    fb_engine_pause(mock.rig.engine);
    for (int64_t i = 0; i < b->items; i++)
        rig_get(&mock.rig, "http://a.example/");
    fb_pulse_read(&fetch, &p);
    fb_engine_resume(mock.rig.engine);
    assert_true(b->plan_off == 0.0 || p.eta.span_ns != FB_ETA_UNKNOWN);
    return (double)p.eta.span_ns / 1e9;
}

static void run_batch(const struct batch *b)
{
    struct fetch_options o;
    struct progress p;

    begin(b, &o);
    double planned_s = plan(b);
    do {
        rig_run_until(&mock.rig, mock.rig.now_ns + STEP_NS);
        fb_engine_read_clock(mock.rig.engine);
        fb_pulse_read(&fetch, &p);
    } while (p.done < b->items / 10);
    double said_s = (double)(mock.rig.now_ns - RIG_EPOCH + p.eta.span_ns) / 1e9;
    assert_int_not_equal(p.eta.span_ns, FB_ETA_UNKNOWN);
    rig_run(&mock.rig);
    assert_int_equal(fetch.count[ENTRY_done], b->items);
    check(b, "at a tenth", said_s, b->off_most);
    assert_int_equal(p.eta.bound, b->bound);
    if (b->plan_off > 0.0)
        check(b, "planned", planned_s, b->plan_off);
    mock_rig_fini(&mock);
}

static const struct batch BATCHES[] = {
    {"a stated rate", 2000, "rate=10/s burst=20", "none", "rate=10/s burst=5", ETA_BOUND_RATE, 0.1,
     0.05, 0, 0, 0},
    {"a learned rate", 3000, "rate=15/s burst=20", "retry-after", "", ETA_BOUND_RATE, 0.1, 0, 0, 0,
     0},
    {"a slow one", 3000, "rate=5/s burst=20", "retry-after", "", ETA_BOUND_RATE, 0.1, 0, 0, 0, 0},
    {"a fast one, not measured yet", 6000, "rate=50/s burst=50", "retry-after", "", ETA_BOUND_RATE,
     0.1, 0, 0, 0, 0},
    {"one that nobody tells of", 3000, "rate=5/s burst=20", "none", "", ETA_BOUND_RATE, 0.1, 0, 0,
     0, 0},
    {"one that shuts out", 1500, "rate=5/s burst=20 penalty=5s", "retry-after", "", ETA_BOUND_RATE,
     0.1, 0, 0, 0, 0},
    {"a learned window of a minute", 3000, "fixed=100/1m", "retry-after", "", ETA_BOUND_RATE, 0.1,
     0, 10, 0, 0},
    {"a learned window of an hour", 20000, "fixed=1000/1h", "retry-after", "", ETA_BOUND_RATE, 0.1,
     0, 100, 0, 0},
    {"a quota by the minute", 1500, "fixed=200/1m", "github", "", ETA_BOUND_QUOTA, 0.1, 0, 0, 0, 0},
    {"a quota by the hour", 20000, "fixed=5000/1h", "github", "", ETA_BOUND_QUOTA, 0.1, 0, 0, 0, 0},
    {"the same from its middle on", 20000, "fixed=5000/1h", "github", "", ETA_BOUND_QUOTA, 0.1, 0,
     2000, 0, 0},
    {"an even pace", 8000, "fixed=1000/15m", "github", "pacing=even", ETA_BOUND_QUOTA, 0.1, 0, 100,
     0, 0},
    {"an even pace within one window", 3000, "fixed=5000/1h", "github", "pacing=even reserve=20%",
     ETA_BOUND_QUOTA, 0.1, 0, 0, 0, 0},
    {"a quota on demand, some kept back", 8000, "fixed=1000/15m", "github",
     "pacing=demand reserve=20%", ETA_BOUND_QUOTA, 0.1, 0, 100, 0, 0},
    {"a preset with a window", 20000, "fixed=5000/1h", "github", "window=900/1m concurrency=100",
     ETA_BOUND_QUOTA, 0.1, 0, 0, 0, 0},
    {"a stated rate below the quota", 4000, "fixed=5000/1h", "github", "rate=1/s burst=1",
     ETA_BOUND_RATE, 0.1, 0.05, 0, 0, 0},
    {"a stated rate above the quota", 15000, "fixed=5000/1h", "github", "rate=3/s burst=1",
     ETA_BOUND_QUOTA, 0.1, 0, 0, 0, 0},
    {"a quota in another dialect", 3000, "fixed=500/1m", "openai", "", ETA_BOUND_QUOTA, 0.1, 0, 20,
     0, 0},
    {"a stated window of an hour", 5000, "window=1000/1h", "none", "window=1000/1h margin=0%",
     ETA_BOUND_WINDOW, 0.1, 0.05, 0, 0, 0},
    {"a window with its margin", 5000, "window=1000/1h", "none", "window=1000/1h", ETA_BOUND_WINDOW,
     0.1, 0.05, 0, 0, 0},
};

static void times_come_true(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(BATCHES); i++)
        for (seed = 0; seed < SEEDS; seed++)
            run_batch(&BATCHES[i]);
}

/* --------------------------------------------------------------- a quota that is known before */

/* What an earlier batch leaves: its record (store/runs.h), and what its limiter had learned. */
static struct view_batch record;
static unsigned char learned[4096];
static int learned_size;
static int64_t passed_ns;

static struct fly_limiter *limiter_of(void *user, const struct engine_key *k, int64_t now_ns,
                                      struct fly_error *err)
{
    struct fly_limiter *l = fly_limiter_new(fetch.o->limit, now_ns, 6, err);

    (void)user;
    (void)k;
    assert_int_equal(fly_limiter_load(l, now_ns, passed_ns, learned, (size_t)learned_size, err), 0);
    return l;
}

static void keep_learned(void *arg, const struct engine_key_state *s)
{
    (void)arg;
    learned_size = fly_limiter_save(s->limiter, mock.rig.now_ns, learned, sizeof learned);
}

static void run_earlier_batch(int requests)
{
    struct progress p;
    static struct look l;

    for (int i = 0; i < requests; i++)
        rig_get(&mock.rig, "http://a.example/");
    rig_run(&mock.rig);
    fb_look(&fetch, &l, &p);
    assert_int_equal(l.count, 1);
    record = (struct view_batch){.key_count = 1};
    record.key[0] = l.shown[0];
    fb_engine_keys(mock.rig.engine, keep_learned, NULL);
    assert_true(learned_size > 0);
}

/* The plan knows what the API told another batch, and that batch's limiter is gone on with. */
static void run_planned(const struct batch *b)
{
    static struct view_batch *records[] = {&record};
    struct fetch_options o;

    begin(b, &o);
    run_earlier_batch(b->before > 0 ? b->before : 30);
    passed_ns = b->later_s * S;
    int64_t moved_ns = mock.rig.now_ns - RIG_EPOCH + passed_ns;
    record.key[0].quota_reset_ns -= moved_ns;
    record.key[0].seen_ns -= moved_ns;
    o.engine.limiter_of = limiter_of;
    mock_rig_again(&mock, &o.engine, passed_ns);
    mock.rig.on_result = note_end;
    fetch = (struct fetch){.o = &o,
                           .engine = mock.rig.engine,
                           .total = b->items,
                           .seen = b->items,
                           .list_ended = true,
                           .began_ns = RIG_EPOCH,
                           .runs = {.batch = records, .count = 1}};
    double planned_s = plan(b);
    rig_run(&mock.rig);
    assert_int_equal(fetch.count[ENTRY_done], b->items);
    check(b, "planned", planned_s, b->plan_off);
    mock_rig_fini(&mock);
}

static const struct batch PLANNED[] = {
    {"a known quota by the hour", 20000, "fixed=5000/1h", "github", "", ETA_BOUND_QUOTA, 0, 0.05, 0,
     60, 0},
    {"the same in its middle", 20000, "fixed=5000/1h", "github", "", ETA_BOUND_QUOTA, 0, 0.05, 2000,
     60, 0},
    {"one whose window is told, near its end", 20000, "fixed=5000/1h", "ietf", "", ETA_BOUND_QUOTA,
     0, 0.05, 3300, 60, 0},
    {"the same with some left over", 8000, "fixed=5000/1h", "ietf", "", ETA_BOUND_QUOTA, 0, 0.05,
     1000, 600, 0},
    {"a known quota that is full again", 20000, "fixed=5000/1h", "github", "", ETA_BOUND_QUOTA, 0,
     0.05, 0, 3570, 0},
    {"what fits into the open window", 3000, "fixed=5000/1h", "github", "", ETA_BOUND_QUOTA, 0,
     0.05, 600, 60, 0},
    {"a known quota by the minute", 3000, "fixed=500/1m", "openai", "", ETA_BOUND_QUOTA, 0, 0.05, 0,
     5, 0},
    {"a known quota, spent evenly", 8000, "fixed=1000/15m", "github", "pacing=even",
     ETA_BOUND_QUOTA, 0, 0.05, 100, 60, 0},
    {"a rate that was learned", 3000, "rate=15/s burst=20", "retry-after", "", ETA_BOUND_RATE, 0,
     0.05, 0, 5, 600},
    {"one that shut out", 300, "rate=5/s burst=20 penalty=5s", "retry-after", "", ETA_BOUND_RATE, 0,
     0.05, 0, 5, 300},
    {"a window that was learned", 3000, "fixed=100/1m", "retry-after", "", ETA_BOUND_RATE, 0, 0.05,
     10, 5, 300},
};

static void plans_of_known_quotas_come_true(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(PLANNED); i++)
        for (seed = 0; seed < SEEDS; seed++)
            run_planned(&PLANNED[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_come_true),
        cmocka_unit_test(plans_of_known_quotas_come_true),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
