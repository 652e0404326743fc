/* SPDX-License-Identifier: MIT */
/*
 * Times to go against the truth: whole batches in virtual time, through the real engine, against
 * the limits of the mock. What is said when a tenth is done is compared with when all was done.
 */
#include "mock_rig.h"

#include "fetch/fetch_parts.h"

#define STEP_NS (250 * MS)

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
};

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
    o->engine.seed = 5;
    mock_rig_open(&mock, &o->engine, b->theirs, b->dialect);
    mock.phase_ns = b->phase_s * S;
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
        fail_msg("%s: %s %.0f s, took %.0f s", b->name, what, said_s, truth_s);
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
     0.05, 0},
    {"a learned rate", 3000, "rate=15/s burst=20", "retry-after", "", ETA_BOUND_RATE, 0.1, 0, 0},
    {"a quota by the minute", 1500, "fixed=200/1m", "github", "", ETA_BOUND_QUOTA, 0.1, 0, 0},
    {"a quota by the hour", 20000, "fixed=5000/1h", "github", "", ETA_BOUND_QUOTA, 0.1, 0, 0},
    {"the same from its middle on", 20000, "fixed=5000/1h", "github", "", ETA_BOUND_QUOTA, 0.1, 0,
     2000},
    {"an even pace", 8000, "fixed=1000/15m", "github", "pacing=even", ETA_BOUND_QUOTA, 0.1, 0, 100},
    {"an even pace within one window", 3000, "fixed=5000/1h", "github", "pacing=even reserve=20%",
     ETA_BOUND_QUOTA, 0.1, 0, 0},
    {"a quota on demand, some kept back", 8000, "fixed=1000/15m", "github",
     "pacing=demand reserve=20%", ETA_BOUND_QUOTA, 0.1, 0, 100},
    {"a preset with a window", 20000, "fixed=5000/1h", "github", "window=900/1m concurrency=100",
     ETA_BOUND_QUOTA, 0.1, 0, 0},
    {"a stated rate below the quota", 4000, "fixed=5000/1h", "github", "rate=1/s burst=1",
     ETA_BOUND_RATE, 0.1, 0.05, 0},
    {"a stated rate above the quota", 15000, "fixed=5000/1h", "github", "rate=3/s burst=1",
     ETA_BOUND_QUOTA, 0.1, 0, 0},
    {"a quota in another dialect", 3000, "fixed=500/1m", "openai", "", ETA_BOUND_QUOTA, 0.1, 0, 20},
    {"a stated window of an hour", 5000, "window=1000/1h", "none", "window=1000/1h margin=0%",
     ETA_BOUND_WINDOW, 0.1, 0.05, 0},
    {"a window with its margin", 5000, "window=1000/1h", "none", "window=1000/1h", ETA_BOUND_WINDOW,
     0.1, 0.05, 0},
};

static void times_come_true(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(BATCHES); i++)
        run_batch(&BATCHES[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_come_true),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
