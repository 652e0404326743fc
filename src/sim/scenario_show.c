/* SPDX-License-Identifier: MIT */
/*
 * scenario_show.c - a handful of limits with round numbers, for a first look and for pictures.
 *
 * They are not part of any score: what is drawn at random is what counts. Who is told a limit is
 * told 8/s where 5/s is true, as documentation often does.
 */
#include "core/instant.h"
#include "sim/draw.h"
#include "sim/scenario.h"

static void lasting(struct setup *s, double hours)
{
    s->duration_ns = fb_span(3600.0 * hours);
}

static void show_bucket(struct setup *s, struct rng *r)
{
    (void)r;
    lasting(s, 1.0);
    fb_setup_bucket(s, 5.0, 20.0);
    s->told_rate = 8.0;
}

static void show_window(struct setup *s, struct rng *r)
{
    lasting(s, 1.0);
    fb_draw_phase(r, fb_setup_window(s, &fb_gate_fixed, 5.0, 60.0));
    s->told_rate = 8.0;
}

/* The thirds of an hour: 10/s, then half of it, then four times that. */
static void show_steps(struct setup *s, struct rng *r)
{
    struct tide *t = &s->provider.tide;

    (void)r;
    lasting(s, 1.0);
    fb_tide_add(t, 0, 1.0);
    fb_tide_add(t, 1200 * FB_NS_PER_S, 0.5);
    fb_tide_add(t, 2400 * FB_NS_PER_S, 2.0);
    fb_setup_bucket(s, 10.0, 20.0)->tide = t;
}

static void show_box(struct setup *s, struct rng *r)
{
    show_bucket(s, r);
    s->provider.box = (struct box){
        .row = 5,
        .ban_ns = 60 * FB_NS_PER_S,
        .ban_max_ns = 3600 * FB_NS_PER_S,
        .growth = 2.0,
    };
}

static void show_headers(struct setup *s, struct rng *r)
{
    show_window(s, r);
    s->provider.manners.headers = fb_headers_window;
}

static const struct scenario SHOW[] = {
    {"show_bucket", "a token bucket of 5/s", show_bucket},
    {"show_window", "300 requests a minute, phase unknown", show_window},
    {"show_steps", "10/s, halves after 20 min, rises x 4 after 40", show_steps},
    {"show_box", "5/s, five refusals in a row are a ban", show_box},
    {"show_headers", "300 a minute, honest headers", show_headers},
};

const struct scenario_family fb_scenarios_show = {
    .name = "show",
    .scenarios = SHOW,
    .count = sizeof SHOW / sizeof SHOW[0],
};
