/* SPDX-License-Identifier: MIT */
/* scenario_first.c - the first family: always more to do, and nineteen kinds of limit. */
#include <math.h>

#include "core/instant.h"
#include "sim/draw.h"
#include "sim/scenario.h"

#define SLOW 0.2, 5.0
#define FAST 5.0, 650.0
#define MID  0.5, 50.0

/* A window of `kind`, as long as the run can show it six times. */
static struct gate *draw_window_gate(struct setup *s, struct rng *r, const struct gate_kind *kind,
                                     double rate_low, double rate_high)
{
    double rate = fb_draw_log(r, rate_low, rate_high);

    fb_setup_duration(s, r, rate, 3600.0);

    double window_s = fb_draw_window(r, rate, 1.0, fb_seconds(s->duration_ns) / 6.0);
    struct gate *g = fb_setup_window(s, kind, rate, window_s);
    fb_draw_phase(r, g);
    return g;
}

static struct gate *draw_bucket_gate(struct setup *s, struct rng *r, double rate_low,
                                     double rate_high)
{
    double rate = fb_draw_log(r, rate_low, rate_high);

    fb_setup_duration(s, r, rate, 3600.0);
    return fb_setup_bucket(s, rate, fb_draw_burst(r, rate));
}

static void window_slow(struct setup *s, struct rng *r)
{
    draw_window_gate(s, r, &fb_gate_fixed, SLOW);
}

static void window_fast(struct setup *s, struct rng *r)
{
    draw_window_gate(s, r, &fb_gate_fixed, FAST);
}

static void sliding(struct setup *s, struct rng *r)
{
    draw_window_gate(s, r, &fb_gate_log, 0.2, 100.0);
}

static void bucket_slow(struct setup *s, struct rng *r)
{
    draw_bucket_gate(s, r, SLOW);
}

static void bucket_fast(struct setup *s, struct rng *r)
{
    draw_bucket_gate(s, r, FAST);
}

static void spacing(struct setup *s, struct rng *r)
{
    double rate = fb_draw_log(r, 0.2, 20.0);

    fb_setup_duration(s, r, rate, 3600.0);
    fb_setup_bucket(s, rate, 1.0);
}

static void dual(struct setup *s, struct rng *r)
{
    double rate = fb_draw_log(r, 0.2, 20.0);
    double long_s = fb_draw_window(r, rate, 600.0, 3600.0);
    double short_s = fb_draw_window(r, 4.0 * rate, 1.0, 10.0);
    double short_rate = fmax(10.0 / short_s, rate * fb_draw_log(r, 3.0, 30.0));

    fb_setup_duration(s, r, rate, 6.0 * long_s);
    fb_draw_phase(r, fb_setup_window(s, &fb_gate_fixed, rate, long_s));
    fb_draw_phase(r, fb_setup_window(s, &fb_gate_fixed, short_rate, short_s));
}

static void step_limit(struct setup *s, struct rng *r)
{
    struct gate *g = draw_bucket_gate(s, r, 0.5, 100.0);
    struct tide *t = &s->provider.tide;
    int64_t half_ns = fb_span(fb_seconds(s->duration_ns) * fb_draw_between(r, 0.2, 0.35));
    int64_t rise_ns = fb_span(fb_seconds(s->duration_ns) * fb_draw_between(r, 0.5, 0.7));

    fb_tide_add(t, 0, 1.0);
    fb_tide_add(t, half_ns, 0.5);
    fb_tide_add(t, rise_ns, 2.0);
    g->tide = t;
}

static void day(struct setup *s, struct rng *r)
{
    struct gate *g = draw_bucket_gate(s, r, 0.5, 50.0);
    struct tide *t = &s->provider.tide;

    t->period_s = 3600.0 * fb_draw_between(r, 3.0, 8.0);
    t->swing = fb_draw_between(r, 0.3, 0.6);
    t->shift_s = t->period_s * fb_rng_unit(r);
    g->tide = t;
}

static void concurrency(struct setup *s, struct rng *r)
{
    struct service *v = &s->provider.service;
    int64_t limit = fb_draw_int(r, 2, 20);

    v->mean_s = fb_draw_log(r, 0.2, 3.0);
    v->alpha = fb_draw_between(r, 1.6, 2.5);
    v->max_s = 60.0;
    fb_setup_duration(s, r, (double)limit / v->mean_s, 3600.0);
    fb_setup_crowd(s, limit);
}

static void penalty_box(struct setup *s, struct rng *r)
{
    struct box *b = &s->provider.box;

    draw_bucket_gate(s, r, MID);
    b->row = (int32_t)fb_draw_int(r, 5, 10);
    b->ban_ns = fb_span(fb_draw_between(r, 30.0, 120.0));
    b->growth = 2.0;
    b->ban_max_ns = 3600 * FB_NS_PER_S;
}

static void shared(struct setup *s, struct rng *r)
{
    struct gate *g = draw_bucket_gate(s, r, 1.0, 50.0);
    struct tide *t = &s->provider.tide;
    double every_s = fmax(900.0, fb_seconds(s->duration_ns) / 48.0);
    int64_t at_ns = 0;

    while (at_ns < s->duration_ns && t->count < FB_TIDE_STEPS_MAX) {
        fb_tide_add(t, at_ns, fb_draw_between(r, 0.25, 1.0));
        at_ns += fb_span(every_s * fb_draw_between(r, 0.5, 1.5));
    }
    g->tide = t;
}

static void noisy(struct setup *s, struct rng *r)
{
    draw_bucket_gate(s, r, 1.0, 50.0);
    s->provider.chance_429 = fb_draw_between(r, 0.002, 0.006);
    s->provider.chance_503 = fb_draw_between(r, 0.002, 0.01);
}

static void strained(struct setup *s, struct rng *r)
{
    draw_bucket_gate(s, r, 1.0, 50.0);
    s->provider.service.mean_s = 0.03;
    s->provider.service.strain_s = fb_draw_log(r, 0.2, 2.0);
}

static void draw_told_window(struct setup *s, struct rng *r, double rate_high, double window_s)
{
    double rate = fb_draw_log(r, 0.2, rate_high);

    fb_setup_duration(s, r, rate, 6.0 * window_s);
    fb_draw_phase(r, fb_setup_window(s, &fb_gate_fixed, rate, window_s));
    s->provider.manners.headers = fb_headers_window;
}

static void hdr_minute(struct setup *s, struct rng *r)
{
    draw_told_window(s, r, 200.0, 60.0);
}

static void hdr_hour(struct setup *s, struct rng *r)
{
    draw_told_window(s, r, 30.0, 3600.0);
}

static void hdr_wrong(struct setup *s, struct rng *r)
{
    static const double WINDOW_S[] = {60.0, 600.0, 3600.0};

    draw_told_window(s, r, 30.0, WINDOW_S[fb_draw_int(r, 0, 2)]);
    s->provider.manners.header_scale = fb_draw_chance(r, 0.5) ? 0.8 : 1.2;
}

static void hdr_past(struct setup *s, struct rng *r)
{
    draw_window_gate(s, r, &fb_gate_fixed, 0.2, 100.0);
    s->provider.manners.headers = fb_headers_past;
    s->provider.manners.retry_after = fb_retry_zero;
}

static void retry_after(struct setup *s, struct rng *r)
{
    draw_window_gate(s, r, &fb_gate_fixed, 0.2, 100.0);
    s->provider.manners.retry_after = fb_retry_honest;
}

static const struct scenario FIRST[] = {
    {"window_slow", "fixed window, 0.2-5/s, phase unknown", window_slow},
    {"window_fast", "fixed window, 5-650/s, phase unknown", window_fast},
    {"sliding", "exact sliding log, 0.2-100/s", sliding},
    {"bucket_slow", "token bucket, 0.2-5/s, burst 2-500", bucket_slow},
    {"bucket_fast", "token bucket, 5-650/s", bucket_fast},
    {"spacing", "strict spacing: a burst of 1", spacing},
    {"dual", "a short and a long window at once", dual},
    {"step_limit", "the limit halves, later it rises x 4", step_limit},
    {"day", "the limit follows the day", day},
    {"concurrency", "so many at a time, heavy-tailed answers", concurrency},
    {"penalty_box", "5-10 refusals in a row are a ban that grows", penalty_box},
    {"shared", "others use the same limit, their load jumps", shared},
    {"noisy", "503s and 429s out of the blue", noisy},
    {"strained", "latency grows long before the first 429", strained},
    {"hdr_minute", "honest headers, per minute", hdr_minute},
    {"hdr_hour", "honest headers, per hour", hdr_hour},
    {"hdr_wrong", "headers wrong by 20 %, either way", hdr_wrong},
    {"hdr_past", "a reset in the past, Retry-After 0", hdr_past},
    {"retry_after", "Retry-After and nothing else", retry_after},
};

const struct scenario_family fb_scenarios_first = {
    .name = "first",
    .scenarios = FIRST,
    .count = sizeof FIRST / sizeof FIRST[0],
    .one_worker_too = true,
};
