/* SPDX-License-Identifier: MIT */
/*
 * Random limits and random calls against a second opinion: a plain model that keeps every grant
 * in a list and counts. FLYBALL_DECISIONS sets how many decisions are made (1,000,000), and
 * FLYBALL_SEED repeats a run.
 */
#include "unit.h"

#include <stdbool.h>

#include "core/rng.h"
#include "core/wide.h"

enum {
    STEPS = 2000, /* decisions under one spec */
    WINDOWS = 3,
    GRANTS = 2 * STEPS, /* with true costs that came later */
    AGE_MAX = 300       /* grants are ended before so many others were made */
};

/* ---- the model ---- */

struct grant {
    uint64_t ticket;
    int64_t at_ns;
    int64_t units; /* still counted by windows */
    int64_t cost;
    bool out;
};

struct window {
    int64_t effective;
    int64_t length_ns;
};

struct model {
    /* the limits */
    int64_t permits; /* in every period; 0: no bucket */
    int64_t period_ns;
    int64_t burst;
    struct window window[WINDOWS];
    int windows;
    int64_t in_flight_max; /* 0: none */

    /* the books */
    int64_t now_ns;
    fb_wide tokens; /* permits x period */
    int64_t filled_ns;
    struct grant grant[GRANTS];
    int count;
    int oldest_out;
    int64_t in_flight;
    int64_t held_until_ns; /* nothing may leave earlier */
    bool held;             /* has been, at any time: it comes back gently, which is not modelled */
};

static fb_wide full(const struct model *m)
{
    return (fb_wide)m->burst * m->period_ns;
}

static void give(struct model *m, fb_wide tokens)
{
    m->tokens += tokens;
    if (m->tokens > full(m))
        m->tokens = full(m);
}

static void pass_time(struct model *m, int64_t now_ns)
{
    m->now_ns = now_ns;
    give(m, (fb_wide)(now_ns - m->filled_ns) * m->permits);
    m->filled_ns = now_ns;
}

static int64_t bucket_at(const struct model *m, int64_t cost)
{
    if (m->permits == 0)
        return m->now_ns;
    fb_wide need = cost < m->burst ? (fb_wide)cost * m->period_ns : full(m);
    if (m->tokens >= need)
        return m->now_ns;
    return m->now_ns + (int64_t)((need - m->tokens + m->permits - 1) / m->permits);
}

/* Count what lies in (T - length, T], for the earliest T at which `cost` still fits. */
static int64_t window_at(const struct model *m, const struct window *w, int64_t cost)
{
    int64_t counted = 0;
    int first = m->count;

    if (cost > w->effective)
        return FLY_NEVER;
    while (first > 0 && m->grant[first - 1].at_ns > m->now_ns - w->length_ns)
        counted += m->grant[--first].units;
    int64_t at_ns = m->now_ns;
    for (; counted + cost > w->effective; first++) {
        counted -= m->grant[first].units;
        at_ns = m->grant[first].at_ns + w->length_ns;
    }
    return at_ns;
}

static int64_t latest(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* When a request may leave, but for what a hold brings with it. */
static int64_t model_at(const struct model *m, int64_t cost)
{
    int64_t at_ns = latest(m->now_ns, bucket_at(m, cost));

    for (int i = 0; i < m->windows; i++)
        at_ns = latest(at_ns, window_at(m, &m->window[i], cost));
    if (m->in_flight_max > 0 && m->in_flight >= m->in_flight_max)
        at_ns = FLY_NEVER;
    return at_ns;
}

static bool too_large(const struct model *m, int64_t cost)
{
    for (int i = 0; i < m->windows; i++)
        if (cost > m->window[i].effective)
            return true;
    return false;
}

static void model_take(struct model *m, int64_t cost, uint64_t ticket)
{
    m->tokens -= (fb_wide)cost * m->period_ns;
    m->grant[m->count++] = (struct grant){ticket, m->now_ns, cost, cost, true};
    m->in_flight++;
}

static void model_end(struct model *m, struct grant *g)
{
    g->out = false;
    m->in_flight--;
}

static void model_give_back(struct model *m, struct grant *g, int64_t units)
{
    give(m, (fb_wide)units * m->period_ns);
    g->units -= units;
    g->cost -= units;
}

/* ---- a world: a limiter, its model and what happens to both ---- */

struct world {
    struct model m;
    struct fly_limiter *l;
    struct rng rng;
    uint64_t seed;
    int step;
    char spec[200];
    int64_t scale;   /* of costs and windows; above 1 there is no bucket */
    bool settles_up; /* then windows may err towards waiting */
    bool refusals;
    int64_t hint_ns; /* for `hint_cost`, while nothing has intervened; 0: none */
    int64_t hint_cost;
};

static void blame(const struct world *w, const char *what, int64_t a, int64_t b, int line)
{
    print_error("line %d: %s: %lld, %lld\n  spec \"%s\", FLYBALL_SEED=%llu, step %d, now %lld\n",
                line, what, (long long)a, (long long)b, w->spec, (unsigned long long)w->seed,
                w->step, (long long)w->m.now_ns);
    fail();
}

#define expect(w, holds, what, a, b)                \
    do {                                            \
        if (!(holds))                               \
            blame((w), (what), (a), (b), __LINE__); \
    } while (0)

static uint64_t draw(struct world *w, uint64_t n)
{
    return fb_rng_next(&w->rng) % n;
}

static void add_word(struct world *w, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void add_word(struct world *w, const char *format, ...)
{
    size_t at = strlen(w->spec);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(w->spec + at, sizeof(w->spec) - at, format, arguments);
    va_end(arguments);
}

static void draw_bucket(struct world *w)
{
    static const struct {
        int64_t permits;
        int64_t period_ns;
        const char *text;
    } rates[] = {
        {1, S, "1/s"},
        {3, S, "3/s"},
        {7, S, "7/s"},
        {650, S, "650/s"},
        {1, 10 * S, "0.1/s"},
        {1, 86400 * S, "1/1d"},
        {999983, S, "999983/s"},
        {5000, 3600 * S, "5000/1h"},
        {1000000000, S, "1000000000/s"},
        {5, 2 * S, "2.5/s"},
    };
    uint64_t i = draw(w, COUNT_OF(rates));

    w->m.permits = rates[i].permits;
    w->m.period_ns = rates[i].period_ns;
    w->m.burst = 1 + (int64_t)draw(w, draw(w, 4) ? 12 : 1000);
    add_word(w, "rate=%s burst=%d ", rates[i].text, (int)w->m.burst);
}

static void draw_window(struct world *w)
{
    static const struct {
        int64_t ns;
        const char *text;
    } lengths[] = {{MS, "1ms"}, {S, "1s"}, {10 * S, "10s"}, {3600 * S, "1h"}, {7 * S, "7s"}};
    uint64_t i = draw(w, COUNT_OF(lengths));
    int64_t limit = (1 + (int64_t)draw(w, 40)) * w->scale;

    w->m.window[w->m.windows++] = (struct window){limit, lengths[i].ns};
    add_word(w, "window=%d/%s ", (int)limit, lengths[i].text);
}

static void draw_margin(struct world *w)
{
    int64_t margin = draw(w, 3) ? (int64_t)draw(w, 100) : 10;

    if (margin != 10 || draw(w, 2))
        add_word(w, "margin=%d%% ", (int)margin);
    for (int i = 0; i < w->m.windows; i++) {
        struct window *window = &w->m.window[i];
        window->effective = latest(1, window->effective * (100 - margin) / 100);
    }
}

static void draw_spec(struct world *w)
{
    w->scale = draw(w, 4) ? 1 : 2 + (int64_t)draw(w, 5000);
    if (draw(w, 4) > 0 && w->scale == 1)
        draw_bucket(w);
    for (uint64_t n = draw(w, WINDOWS + 1); n > 0; n--)
        draw_window(w);
    draw_margin(w);
    if (draw(w, 3) == 0) {
        w->m.in_flight_max = 1 + (int64_t)draw(w, 10);
        add_word(w, "concurrency=%d ", (int)w->m.in_flight_max);
    }
    add_word(w, "adapt=off");
    w->settles_up = draw(w, 3) == 0;
    w->refusals = draw(w, 3) == 0;
}

static void begin(struct world *w, uint64_t seed)
{
    static const int64_t starts[] = {0, 0, -5 * S, INT64_C(1700000000) * S, 123456789};
    struct fly_error err = {""};

    *w = (struct world){.seed = seed, .rng = {seed}};
    draw_spec(w);
    pass_time(&w->m, starts[draw(w, COUNT_OF(starts))]);
    w->m.held_until_ns = w->m.now_ns;
    w->m.tokens = full(&w->m);
    w->l = fly_limiter_new(w->spec, w->m.now_ns, seed, &err);
    if (!w->l)
        fail_msg("%s: %s", w->spec, err.text);
}

/* ---- what may happen ---- */

/* Whether a window shares stamps: then it may err towards waiting as well. */
static bool is_coarse(const struct model *m)
{
    for (int i = 0; i < m->windows; i++)
        if (m->window[i].effective > 10000)
            return true;
    return false;
}

static void check_hint(struct world *w, int64_t cost, int64_t at_ns)
{
    if (w->hint_ns == 0 || w->hint_cost != cost)
        return;
    /* After a hold what is out is waited for. */
    if (w->m.held && w->m.in_flight > 0 && at_ns == FLY_NEVER)
        return;
    if (w->m.now_ns < w->hint_ns)
        expect(w, at_ns == w->hint_ns, "the hint has moved by itself", w->hint_ns, at_ns);
    else
        expect(w, at_ns <= w->m.now_ns, "not granted when the hint came", w->hint_ns, at_ns);
}

static void check_refusal(struct world *w, int64_t cost, int64_t at_ns, int64_t model_ns)
{
    struct model *m = &w->m;

    expect(w, at_ns >= m->held_until_ns, "a hint within a hold", at_ns, m->held_until_ns);
    expect(w, at_ns >= model_ns, "a hint before the limit", at_ns, model_ns);
    if (!m->held && !(w->settles_up && m->windows > 0) && !is_coarse(m))
        expect(w, at_ns == model_ns, "a hint later than the limit", at_ns, model_ns);
    expect(w, at_ns < FLY_NEVER || m->in_flight > 0 || too_large(m, cost),
           "never, though nothing is out", at_ns, cost);
}

static void try_take(struct world *w)
{
    struct model *m = &w->m;
    int64_t cost = draw(w, 4) ? 1 : 1 + (int64_t)draw(w, draw(w, 10) ? 5 : 60);
    uint64_t ticket = 0;

    if (w->scale > 1)
        cost = cost * w->scale - (int64_t)draw(w, (uint64_t)w->scale);
    int64_t model_ns = model_at(m, cost);
    if (w->hint_ns != 0 && draw(w, 4))
        cost = w->hint_cost, model_ns = model_at(m, cost);
    int64_t at_ns = fly_limiter_take(w->l, m->now_ns, (uint32_t)cost, &ticket);
    expect(w, (at_ns <= m->now_ns) == (ticket != 0), "a ticket goes with a grant", at_ns, 0);
    check_hint(w, cost, at_ns);
    if (at_ns <= m->now_ns) {
        expect(w, model_ns <= m->now_ns, "granted before the limit allows", model_ns, cost);
        expect(w, m->now_ns >= m->held_until_ns, "granted within a hold", m->held_until_ns, 0);
        model_take(m, cost, ticket);
        w->hint_ns = 0;
        return;
    }
    check_refusal(w, cost, at_ns, model_ns);
    w->hint_ns = at_ns < FLY_NEVER ? at_ns : 0;
    w->hint_cost = cost;
}

static struct grant *pick_out(struct world *w)
{
    struct model *m = &w->m;

    while (!m->grant[m->oldest_out].out)
        m->oldest_out++;
    int i = m->oldest_out + (int)draw(w, (uint64_t)(m->count - m->oldest_out));
    if (m->count - m->oldest_out > AGE_MAX)
        i = m->oldest_out;
    while (!m->grant[i].out)
        i--;
    return &m->grant[i];
}

/* Returns whether the grant may still be cancelled as a whole. */
static bool settle(struct world *w, struct grant *g)
{
    struct model *m = &w->m;
    int64_t cost = (int64_t)draw(w, (uint64_t)g->cost + 1);
    bool up = w->settles_up && draw(w, 2);

    if (up)
        cost = g->cost + (int64_t)draw(w, (uint64_t)(20 * w->scale));
    fly_limiter_settle(w->l, m->now_ns, g->ticket, (uint32_t)cost);
    if (!up) {
        model_give_back(m, g, g->cost - cost);
        return true;
    }
    /* What was used beyond the grant counts from now on. */
    m->tokens -= (fb_wide)(cost - g->cost) * m->period_ns;
    m->grant[m->count++] = (struct grant){.at_ns = m->now_ns, .units = cost - g->cost};
    g->cost = cost;
    return false;
}

static void refuse(struct world *w, struct fly_outcome *o)
{
    struct model *m = &w->m;
    int64_t wait_ns = 60 * S;

    o->status = 429;
    if (draw(w, 2)) {
        o->retry_after_ns = (int64_t)draw(w, (uint64_t)(100 * S));
        if (o->retry_after_ns > 0)
            wait_ns = o->retry_after_ns;
    }
    m->held_until_ns = latest(m->held_until_ns, m->now_ns + wait_ns);
    m->held = true;
}

static void end_one(struct world *w)
{
    struct model *m = &w->m;
    struct grant *g = pick_out(w);

    bool whole = true;

    w->hint_ns = 0;
    if (draw(w, 4) == 0)
        whole = settle(w, g);
    if (whole && draw(w, 3) == 0) {
        fly_limiter_cancel(w->l, m->now_ns, g->ticket);
        model_end(m, g);
        model_give_back(m, g, g->cost);
        return;
    }
    struct fly_outcome o = outcome(g->ticket, draw(w, 5) ? 200 : 500, g->at_ns);
    if (w->refusals && draw(w, 20) == 0)
        refuse(w, &o);
    fly_limiter_report(w->l, m->now_ns, &o);
    model_end(m, g);
}

/* Again what has been done before, or what never was: nothing happens. */
static void do_nothing(struct world *w)
{
    struct model *m = &w->m;
    int age = 1 + (int)draw(w, AGE_MAX);

    if (age > m->count || m->grant[m->count - age].out)
        return;
    uint64_t ticket = m->grant[m->count - age].ticket;
    struct fly_outcome o = outcome(ticket, draw(w, 2) ? 200 : 429, m->now_ns);
    switch (draw(w, 4)) {
    case 0:
        fly_limiter_report(w->l, m->now_ns, &o);
        break;
    case 1:
        fly_limiter_cancel(w->l, m->now_ns, ticket);
        break;
    case 2:
        fly_limiter_settle(w->l, m->now_ns, ticket, 50);
        break;
    default:
        fly_limiter_cancel(w->l, m->now_ns, 0);
        break;
    }
}

static void wait_a_little(struct world *w)
{
    struct model *m = &w->m;
    int64_t gap_ns = m->permits ? m->period_ns / m->permits + 1 : S;
    int64_t to_ns = m->now_ns;

    switch (draw(w, 8)) {
    case 0:
    case 1:
        to_ns += (int64_t)draw(w, (uint64_t)gap_ns);
        break;
    case 2:
    case 3:
        to_ns = w->hint_ns > 0 ? w->hint_ns : to_ns;
        break;
    case 4:
        to_ns = w->hint_ns > 0 ? w->hint_ns - 1 : to_ns;
        break;
    case 5:
        to_ns += (int64_t)draw(w, 3);
        break;
    case 6:
        if (draw(w, 50) == 0)
            to_ns += gap_ns * (int64_t)draw(w, 1000);
        break;
    default:
        break;
    }
    if (w->hint_ns > 0 && to_ns > w->hint_ns && draw(w, 2))
        to_ns = w->hint_ns;
    pass_time(m, latest(m->now_ns, to_ns));
}

static void run_world(uint64_t seed)
{
    static struct world w;

    begin(&w, seed);
    for (w.step = 0; w.step < STEPS; w.step++) {
        wait_a_little(&w);
        if (w.m.in_flight > 0 && (draw(&w, 3) == 0 || w.m.count - w.m.oldest_out > AGE_MAX))
            end_one(&w);
        if (draw(&w, 4) == 0)
            do_nothing(&w);
        try_take(&w);
    }
    fly_limiter_free(w.l);
}

static void against_a_second_opinion(void **state)
{
    const char *given = getenv("FLYBALL_DECISIONS");
    long decisions = given ? strtol(given, NULL, 10) : 1000000;
    uint64_t seed = seed_of_run();

    (void)state;
    for (long i = 0; i < decisions / STEPS; i++)
        run_world(seed + (uint64_t)i);
}

/* ---- what the model says nothing about ---- */

enum { SPAN_GRANTS = 200 };

/* With every kind of arrival: over ANY span no more than burst + span x rate. */
static void over_any_span(void **state)
{
    struct rng rng = {seed_of_run()};

    (void)state;
    for (int round = 0; round < 100; round++) {
        static const struct {
            const char *spec;
            int64_t permits;
            int64_t period_ns;
            int64_t burst;
        } rows[] = {{"rate=3/s burst=4", 3, S, 4},
                    {"rate=999983/s burst=1", 999983, S, 1},
                    {"rate=1/1d burst=7", 1, 86400 * S, 7},
                    {"rate=0.7/s burst=2 concurrency=1000", 7, 10 * S, 2},
                    {"rate=4999/1h", 4999, 3600 * S, 10}};
        size_t row = fb_rng_next(&rng) % COUNT_OF(rows);
        struct fly_limiter *l = limiter(rows[row].spec, 0);
        int64_t at_ns[SPAN_GRANTS];
        int64_t now_ns = 0;
        int n = 0;

        while (n < SPAN_GRANTS) {
            uint64_t ticket;
            int64_t next_ns = fly_limiter_take(l, now_ns, 1, &ticket);
            if (next_ns <= now_ns) {
                at_ns[n++] = now_ns;
                report(l, now_ns, ticket, 200);
            }
            uint64_t most = (uint64_t)(3 * rows[row].period_ns / rows[row].permits);
            now_ns = fb_rng_next(&rng) % 2 ? latest(now_ns, next_ns)
                                           : now_ns + (int64_t)(fb_rng_next(&rng) % most);
        }
        for (int i = 0; i < n; i++) {
            for (int j = i; j < n; j++) {
                fb_wide span = (fb_wide)(at_ns[j] - at_ns[i]) * rows[row].permits;
                assert_at_most(j - i + 1, rows[row].burst + (int64_t)(span / rows[row].period_ns));
            }
        }
        fly_limiter_free(l);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(against_a_second_opinion),
        cmocka_unit_test(over_any_span),
    };

    return cmocka_run_group_tests_name("properties", tests, NULL, NULL);
}
