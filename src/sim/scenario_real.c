/* SPDX-License-Identifier: MIT */
/* scenario_real.c - what runs against real servers showed; part of no score. */
#include <math.h>

#include "core/instant.h"
#include "sim/draw.h"
#include "sim/scenario.h"

static struct gate *window(struct setup *s, struct rng *r, const struct gate_kind *kind,
                           double rate, double window_s)
{
    struct gate *g = fb_setup_window(s, kind, rate, window_s);

    fb_setup_duration(s, r, rate, 600.0);
    fb_draw_phase(r, g);
    s->provider.manners.headers = fb_headers_seconds;
    s->provider.manners.retry_after = fb_retry_honest;
    return g;
}

/* About a second's worth is stored: a second of waiting overflows it. */
static void ra_bucket(struct setup *s, struct rng *r)
{
    double rate = fb_draw_log(r, 8.0, 30.0);

    fb_setup_duration(s, r, rate, 600.0);
    fb_setup_bucket(s, rate, fmax(5.0, floor(rate * fb_draw_between(r, 0.4, 1.5))));
    s->provider.manners.retry_after = fb_retry_honest;
}

/* Whoever is refused is shut out for some seconds, and is told so. */
static void ra_penalty(struct setup *s, struct rng *r)
{
    double rate = fb_draw_log(r, 2.0, 40.0);
    int64_t penalty_ns = fb_draw_int(r, 3, 20) * FB_NS_PER_S;

    fb_setup_duration(s, r, rate, 600.0);
    fb_setup_bucket(s, rate, fb_draw_burst(r, rate));
    s->provider.manners.retry_after = fb_retry_honest;
    s->provider.box =
        (struct box){.row = 1, .ban_ns = penalty_ns, .ban_max_ns = penalty_ns, .growth = 1.0};
}

static void often_503(struct setup *s, struct rng *r)
{
    double rate = fb_draw_log(r, 1.0, 50.0);

    fb_setup_duration(s, r, rate, 3600.0);
    fb_setup_bucket(s, rate, fb_draw_burst(r, rate));
    s->provider.chance_503 = fb_draw_between(r, 0.3, 0.5);
}

static void hdr_second(struct setup *s, struct rng *r)
{
    window(s, r, &fb_gate_log, fb_draw_log(r, 20.0, 200.0), 1.0);
}

/* The same next door, where answers take no time. */
static void hdr_near(struct setup *s, struct rng *r)
{
    hdr_second(s, r);
    s->net.base_s = 0.0002;
    s->net.jitter_s = 0.0002;
}

/* The same over a line that delays by 50 ms, more or less. */
static void hdr_sway(struct setup *s, struct rng *r)
{
    hdr_second(s, r);
    s->net.jitter_s = 0.03;
}

/* A bucket, and headers that call its rate the limit. */
static void hdr_store(struct setup *s, struct rng *r)
{
    double rate = floor(fb_draw_log(r, 20.0, 200.0));

    fb_setup_duration(s, r, rate, 600.0);
    fb_setup_bucket(s, rate, floor(rate * fb_draw_between(r, 0.2, 1.0)))->limit = (int64_t)rate;
    s->provider.manners.headers = fb_headers_seconds;
    s->provider.manners.retry_after = fb_retry_honest;
}

/* Longer windows that slide: one more fits within a second or so, whatever is left. */
static void hdr_slide(struct setup *s, struct rng *r)
{
    static const double WINDOWS_S[] = {15.0, 20.0, 30.0, 60.0, 300.0, 600.0, 900.0, 3600.0};
    double window_s = WINDOWS_S[fb_draw_int(r, 0, 7)];

    window(s, r, &fb_gate_log, fb_draw_log(r, fmax(0.2, 20.0 / window_s), 50.0), window_s);
}

static void hdr_jitter(struct setup *s, struct rng *r)
{
    double window_s = (double)fb_draw_int(r, 1, 60);

    window(s, r, &fb_gate_fixed, fb_draw_log(r, 20.0 / window_s, 100.0), window_s);
    s->net.jitter_s = 0.1;
}

/* The server is started again in the middle of a window: a new reset, and all of the quota. */
static void hdr_reborn(struct setup *s, struct rng *r)
{
    static const double WINDOWS_S[] = {10.0, 60.0, 3600.0};
    double window_s = WINDOWS_S[fb_draw_int(r, 0, 2)];
    struct gate *g =
        window(s, r, &fb_gate_fixed, fb_draw_log(r, 20.0 / window_s + 0.5, 50.0), window_s);

    g->reborn_ns = fb_span(window_s * fb_draw_between(r, 0.1, 2.0));
}

/* One in some hundreds is refused, whatever the pace, and nothing else tells of it. */
static void rare_429(struct setup *s, struct rng *r)
{
    double rate = fb_draw_log(r, 2.0, 100.0);

    fb_setup_duration(s, r, rate, 3600.0);
    fb_setup_bucket(s, rate, fb_draw_burst(r, rate));
    s->provider.chance_429 = fb_draw_log(r, 0.0005, 0.003);
}

/* So many at a time, with answers that take hardly longer than the way there and back. */
static void crowd_quick(struct setup *s, struct rng *r)
{
    struct service *v = &s->provider.service;
    int64_t limit = fb_draw_int(r, 3, 25);

    v->mean_s = fb_draw_log(r, 0.03, 0.2);
    v->alpha = fb_draw_between(r, 1.6, 2.5);
    v->max_s = 5.0;
    fb_setup_duration(s, r, (double)limit / v->mean_s, 3600.0);
    fb_setup_crowd(s, limit);
}

/* So many an hour, and nobody tells. */
static void hour_blind(struct setup *s, struct rng *r)
{
    double rate = fb_draw_log(r, 0.2, 20.0);

    fb_setup_duration(s, r, rate, 5.0 * 3600.0);
    fb_draw_phase(r, fb_setup_window(s, &fb_gate_fixed, rate, 3600.0));
}

static const struct scenario REAL[] = {
    {"ra_bucket", "a second's worth stored, Retry-After in seconds", ra_bucket},
    {"ra_penalty", "a bucket; each refusal shuts for seconds, told", ra_penalty},
    {"often_503", "30 to 50 % bare 503s, whatever the pace", often_503},
    {"hdr_second", "sliding windows of a second, headers", hdr_second},
    {"hdr_near", "the same next door", hdr_near},
    {"hdr_sway", "the same over an uneven line", hdr_sway},
    {"hdr_store", "buckets, headers that tell the rate", hdr_store},
    {"hdr_slide", "sliding windows of 15 s to an hour, headers", hdr_slide},
    {"hdr_jitter", "fixed windows, headers, jitter of 100 ms", hdr_jitter},
    {"hdr_reborn", "headers, a server that starts again once", hdr_reborn},
    {"rare_429", "0.5 to 3 429s in 1000, whatever the pace", rare_429},
    {"crowd_quick", "so many at a time, answers of 30 to 200 ms", crowd_quick},
    {"hour_blind", "so many an hour, and nothing tells", hour_blind},
};

const struct scenario_family fb_scenarios_real = {
    .name = "real",
    .scenarios = REAL,
    .count = sizeof REAL / sizeof REAL[0],
};
