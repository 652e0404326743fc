/* SPDX-License-Identifier: MIT */
/* scenario.c - what all draws share. */
#include "sim/scenario.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "core/instant.h"
#include "sim/draw.h"

#define REQUESTS_LEAST 4000.0
#define REQUESTS_MOST  1000000.0
#define RUN_LEAST_S    1800.0
#define RUN_MOST_S     (8.0 * 3600.0)

/* The windows that people choose. */
static const double ROUND_S[] = {1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1800, 3600};
enum { ROUND_COUNT = sizeof ROUND_S / sizeof ROUND_S[0] };

static const struct scenario_family *const FAMILIES[] = {
    &fb_scenarios_first, &fb_scenarios_second, &fb_scenarios_restored,
    &fb_scenarios_real,  &fb_scenarios_show,   NULL};

const struct scenario_family *fb_scenario_family_at(int i)
{
    return FAMILIES[i];
}

static const struct scenario *find_in(const struct scenario_family *f, const char *name)
{
    for (int32_t i = 0; i < f->count; i++) {
        if (strcmp(f->scenarios[i].name, name) == 0)
            return &f->scenarios[i];
    }
    return NULL;
}

const struct scenario *fb_scenario_find(const char *name, const struct scenario_family **ret_family)
{
    for (int i = 0; FAMILIES[i]; i++) {
        const struct scenario *c = find_in(FAMILIES[i], name);

        if (c) {
            *ret_family = FAMILIES[i];
            return c;
        }
    }
    return NULL;
}

static uint64_t hash(const char *name)
{
    uint64_t h = UINT64_C(0xCBF29CE484222325);

    for (; *name; name++)
        h = (h ^ (unsigned char)*name) * UINT64_C(0x100000001B3);
    return h;
}

void fb_scenario_draw(const struct scenario *c, uint64_t seed, int32_t workers, double hours,
                      struct setup *ret_setup)
{
    struct setup *s = ret_setup;
    struct rng r = fb_draw_stream(seed, hash(c->name));

    *s = (struct setup){
        .net = {.base_s = 0.015, .jitter_s = 0.003},
        .clients = 1,
        .workers = workers,
        .seed = fb_rng_next(&r),
    };
    c->draw(s, &r);
    if (s->told_rate <= 0.0)
        s->told_rate = fb_provider_rate(&s->provider, 0);
    if (hours > 0.0)
        s->duration_ns = fb_span(hours * 3600.0);
}

void fb_setup_duration(struct setup *s, struct rng *r, double rate, double least_s)
{
    double run_s = 3600.0 * fb_draw_log(r, 1.0, 8.0);

    run_s = fmax(run_s, fmax(REQUESTS_LEAST / rate, least_s));
    run_s = fmin(run_s, fmin(REQUESTS_MOST / rate, RUN_MOST_S));
    s->duration_ns = fb_span(fmax(run_s, RUN_LEAST_S));
}

static struct gate *add_gate(struct setup *s, const struct gate_kind *kind)
{
    struct provider *p = &s->provider;

    assert(p->gate_count < FB_GATES_MAX);
    p->gate[p->gate_count] = (struct gate){.kind = kind, .pools = UINT32_MAX};
    return &p->gate[p->gate_count++];
}

struct gate *fb_setup_bucket(struct setup *s, double rate, double burst)
{
    struct gate *g = add_gate(s, &fb_gate_bucket);

    g->rate = rate;
    g->burst = burst;
    return g;
}

struct gate *fb_setup_window(struct setup *s, const struct gate_kind *kind, double rate,
                             double window_s)
{
    struct gate *g = add_gate(s, kind);

    g->window_ns = fb_span(window_s);
    g->limit = fb_max64(1, (int64_t)floor(rate * window_s + 0.5));
    return g;
}

struct gate *fb_setup_crowd(struct setup *s, int64_t limit)
{
    struct gate *g = add_gate(s, &fb_gate_crowd);

    g->limit = limit;
    return g;
}

double fb_draw_burst(struct rng *r, double rate)
{
    return floor(fmax(fb_draw_log(r, 2.0, 501.0), 2.0 + 0.06 * rate));
}

double fb_draw_window(struct rng *r, double rate, double low_s, double high_s)
{
    double u = fb_rng_unit(r);
    int first = 0;
    int last = ROUND_COUNT - 1;

    while (first < last && (ROUND_S[first] < low_s || ROUND_S[first] * rate < 10.0))
        first++;
    while (last > first && ROUND_S[last] > high_s)
        last--;
    return ROUND_S[first + (int)(u * (last - first + 1))];
}

/* Whole seconds, as a window that is told in headers has; short ones start anywhere. */
void fb_draw_phase(struct rng *r, struct gate *g)
{
    double phase_s = fb_rng_unit(r) * fb_seconds(g->window_ns);

    g->phase_ns = fb_span(g->window_ns >= 10 * FB_NS_PER_S ? floor(phase_s) : phase_s);
}
