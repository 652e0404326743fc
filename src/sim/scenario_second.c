/* SPDX-License-Identifier: MIT */
/* scenario_second.c - the second family: demand that pauses, costs, company, lies, bad networks. */
#include <math.h>

#include "core/instant.h"
#include "sim/draw.h"
#include "sim/scenario.h"

#define MINUTE 60.0
#define HOUR   3600.0

/* What most rows start from. */

static struct gate *bucket(struct setup *s, struct rng *r, double rate_low, double rate_high)
{
    double rate = fb_draw_log(r, rate_low, rate_high);

    fb_setup_duration(s, r, rate, HOUR);
    return fb_setup_bucket(s, rate, fb_draw_burst(r, rate));
}

static struct gate *window_of(struct setup *s, struct rng *r, const struct gate_kind *kind,
                              double rate_high, double low_s, double high_s)
{
    double rate = fb_draw_log(r, 0.5, rate_high);
    double window_s = fb_draw_window(r, rate, low_s, high_s);

    fb_setup_duration(s, r, rate, HOUR);

    struct gate *g = fb_setup_window(s, kind, rate, window_s);
    fb_draw_phase(r, g);
    return g;
}

static struct gate *window(struct setup *s, struct rng *r)
{
    return window_of(s, r, &fb_gate_fixed, 20.0, 10.0, MINUTE);
}

static struct gate *minute_headers(struct setup *s, struct rng *r)
{
    s->provider.manners.headers = fb_headers_window;
    return window_of(s, r, &fb_gate_fixed, 20.0, MINUTE, MINUTE);
}

/* Demand that comes and goes. */

/* Clumps of about `size`, so far apart that the limit is used to about `used`. */
static void clumps(struct setup *s, double rate, double size, double used)
{
    s->demand.kind = DEMAND_CLUMPS;
    s->demand.clump = size;
    s->demand.pause_s = fmax(2.0 * MINUTE, size / (rate * used));
    s->duration_ns = fb_span(fmin(8.0 * HOUR, fmax(HOUR, 24.0 * s->demand.pause_s)));
}

static void onoff_bucket(struct setup *s, struct rng *r)
{
    double rate = fb_draw_log(r, 0.5, 10.0);
    double burst = floor(fb_draw_log(r, 50.0, 500.0));

    fb_setup_bucket(s, rate, burst);
    clumps(s, rate, burst * fb_draw_between(r, 1.0, 1.5), 0.5);
}

static void onoff_window(struct setup *s, struct rng *r)
{
    double rate = fb_draw_log(r, 1.0, 20.0);
    struct gate *g = fb_setup_window(s, &fb_gate_fixed, rate, MINUTE);

    fb_draw_phase(r, g);
    clumps(s, rate, (double)g->limit * fb_draw_between(r, 1.0, 1.5), 0.4);
}

static void poisson_60(struct setup *s, struct rng *r)
{
    double rate = fb_draw_log(r, 1.0, 50.0);

    fb_setup_duration(s, r, rate, HOUR);
    fb_setup_bucket(s, rate, floor(fb_draw_log(r, fmax(10.0, rate), 300.0)));
    s->demand.kind = DEMAND_POISSON;
    s->demand.rate = 0.6 * rate;
}

static void mix_inter(struct setup *s, struct rng *r)
{
    struct gate *g = bucket(s, r, 1.0, 50.0);

    s->demand.kind = DEMAND_MIXED;
    s->demand.rate = 0.2 * g->rate;
}

static void batch(struct setup *s, double rate)
{
    s->demand.kind = DEMAND_BATCH;
    s->demand.clump = 3000.0;
    s->duration_ns = fb_span(fmin(8.0 * HOUR, 600.0 + 4.0 * s->demand.clump / rate));
}

static void batch_bucket(struct setup *s, struct rng *r)
{
    struct gate *g = bucket(s, r, 1.0, 50.0);

    batch(s, g->rate);
}

static void batch_window(struct setup *s, struct rng *r)
{
    struct gate *g = window_of(s, r, &fb_gate_fixed, 50.0, 10.0, MINUTE);

    batch(s, fb_gate_rate(g, 0));
}

/* Refusals that cost. */

static void debt_window(struct setup *s, struct rng *r)
{
    window_of(s, r, &fb_gate_debt, 20.0, 10.0, MINUTE);
}

static void count_sliding(struct setup *s, struct rng *r)
{
    window_of(s, r, &fb_gate_log_all, 20.0, 10.0, MINUTE);
}

static void extend_window(struct setup *s, struct rng *r)
{
    window_of(s, r, &fb_gate_extend, 20.0, 10.0, MINUTE);
}

static void box_window(struct setup *s, struct rng *r)
{
    window_of(s, r, &fb_gate_fixed, 20.0, MINUTE, MINUTE);
    s->provider.box = (struct box){
        .row = 5,
        .ban_ns = 60 * FB_NS_PER_S,
        .ban_max_ns = 3600 * FB_NS_PER_S,
        .growth = 2.0,
        .extend_ns = 10 * FB_NS_PER_S,
    };
}

/* Costs of 1 to 50 units. */

#define COST_MAX  50
#define COST_MEAN ((1.0 + COST_MAX) / 2.0)

static void cost_known(struct setup *s, struct rng *r)
{
    double rate = fb_draw_log(r, 0.5, 10.0);

    fb_setup_duration(s, r, rate, HOUR);
    fb_setup_bucket(s, rate * COST_MEAN, 40.0 * COST_MEAN)->grain = COST_MAX;
    s->demand.cost_max = COST_MAX;
}

static void cost_after(struct setup *s, struct rng *r)
{
    cost_known(s, r);
    s->demand.cost_later = true;
}

static void cost_hdr(struct setup *s, struct rng *r)
{
    double rate = fb_draw_log(r, 0.5, 20.0);

    fb_setup_duration(s, r, rate, HOUR);

    struct gate *g = fb_setup_window(s, &fb_gate_fixed, rate * COST_MEAN, MINUTE);
    fb_draw_phase(r, g);
    g->grain = COST_MAX;
    s->provider.manners.headers = fb_headers_window;
    s->demand.cost_max = COST_MAX;
}

/* Company: several processes, several pools. */

static void multi(struct setup *s, struct rng *r, int32_t clients)
{
    double rate = fb_draw_log(r, 4.0, 50.0);

    fb_setup_duration(s, r, rate, 1.5 * HOUR);
    fb_draw_phase(r, fb_setup_window(s, &fb_gate_fixed, rate, MINUTE));
    s->clients = clients;
    s->workers = s->workers > clients ? s->workers / clients : 1;
}

static void multi_2(struct setup *s, struct rng *r)
{
    multi(s, r, 2);
}

static void multi_8(struct setup *s, struct rng *r)
{
    multi(s, r, 8);
}

static void multi_8_hdr(struct setup *s, struct rng *r)
{
    multi(s, r, 8);
    s->provider.manners.headers = fb_headers_window;
}

/* Three pools and a global limit that is a little more than their sum. */
static void pools(struct setup *s, struct rng *r)
{
    double sum = 0.0;
    double mix_sum = 0.0;

    for (uint32_t i = 0; i < 3; i++) {
        double rate = fb_draw_log(r, 0.5, 10.0);
        struct gate *g = fb_setup_bucket(s, rate, floor(fb_draw_log(r, 5.0, 100.0)));

        g->pools = 1u << i;
        s->demand.pool_share[i] = rate * fb_draw_between(r, 0.6, 1.4);
        mix_sum += s->demand.pool_share[i];
        sum += rate;
    }
    for (int i = 0; i < 3; i++)
        s->demand.pool_share[i] /= mix_sum;

    /* One draw a statement: the order of arguments is the compiler's to choose. */
    double global = sum * fb_draw_between(r, 1.05, 1.3);
    fb_setup_bucket(s, global, floor(fb_draw_log(r, 20.0, 200.0)));
    fb_setup_duration(s, r, sum, HOUR);
    s->told_rate = sum;
}

static void endpoints(struct setup *s, struct rng *r)
{
    pools(s, r);
    s->clients = 3;
    s->workers = s->workers > 3 ? s->workers / 3 : 1;
    s->demand.client_per_pool = true;
    s->told_rate /= 3.0;
}

static void endpoints_one(struct setup *s, struct rng *r)
{
    pools(s, r);
}

/* Other algorithms. */

static void approx_slide(struct setup *s, struct rng *r)
{
    window_of(s, r, &fb_gate_approx, 50.0, 10.0, MINUTE);
}

static void leaky_queue(struct setup *s, struct rng *r)
{
    double rate = fb_draw_log(r, 2.0, 20.0);

    fb_setup_duration(s, r, rate, HOUR);

    /* Few enough places that 40 workers can overfill the queue. */
    struct gate *g = fb_setup_bucket(s, rate, floor(fb_draw_between(r, 5.0, 30.0)));
    g->kind = &fb_gate_queue;
    g->status = 503;
}

/* Other ways to say no. */

static void github(struct setup *s, struct rng *r)
{
    double rate = fb_draw_log(r, 1.0, 5.0);

    fb_setup_duration(s, r, rate, 6.0 * HOUR);
    fb_draw_phase(r, fb_setup_window(s, &fb_gate_fixed, rate, HOUR));

    struct gate *hidden =
        fb_setup_window(s, &fb_gate_fixed, rate * fb_draw_log(r, 0.7, 2.5), MINUTE);
    fb_draw_phase(r, hidden);
    hidden->status = 403;
    s->provider.manners.status = 403;
    s->provider.manners.headers = fb_headers_window;
    s->provider.manners.retry_after = fb_retry_honest;
    s->provider.box = (struct box){
        .row = 1,
        .gates = 1u << 1,
        .ban_ns = 60 * FB_NS_PER_S,
        .ban_max_ns = 3600 * FB_NS_PER_S,
        .growth = 2.0,
    };
}

static void thr_403(struct setup *s, struct rng *r)
{
    bucket(s, r, 0.5, 50.0)->status = 403;
}

static void thr_503(struct setup *s, struct rng *r)
{
    bucket(s, r, 0.5, 50.0)->status = 503;
}

static void ra_short(struct setup *s, struct rng *r)
{
    window(s, r);
    s->provider.manners.retry_after = fb_retry_short;
}

static void ra_long(struct setup *s, struct rng *r)
{
    window(s, r);
    s->provider.manners.retry_after = fb_retry_long;
}

static void hdr_lag(struct setup *s, struct rng *r)
{
    minute_headers(s, r);
    s->provider.manners.header_lag_ns = 2 * FB_NS_PER_S;
}

/* A reset in whole seconds says little about a window of a few, less if it moves. */
static void hdr_short(struct setup *s, struct rng *r)
{
    const struct gate_kind *kind = fb_draw_chance(r, 0.5) ? &fb_gate_fixed : &fb_gate_log;
    double window_s = (double)fb_draw_int(r, 1, 10);
    double rate = fb_draw_log(r, 20.0 / window_s, 200.0);

    fb_setup_duration(s, r, rate, 600.0);
    fb_draw_phase(r, fb_setup_window(s, kind, rate, window_s));
    s->provider.manners.headers = fb_headers_seconds;
    s->provider.manners.retry_after = fb_retry_honest;
}

static void clock_step(struct setup *s, struct rng *r)
{
    static const int64_t OFF_S[] = {30, -28, 3600};
    struct manners *m = &s->provider.manners;

    minute_headers(s, r);
    for (int i = 0; i < 3; i++) {
        m->clock_from_ns[i] = s->duration_ns / 4 * (i + 1);
        m->clock_off_ns[i] = OFF_S[i] * FB_NS_PER_S;
    }
}

/* Slow answers. */

static void llm_conc(struct setup *s, struct rng *r)
{
    int64_t limit = fb_draw_int(r, 4, 16);
    struct service *v = &s->provider.service;

    v->mean_s = fb_draw_between(r, 40.0, 150.0);
    v->max_s = 600.0;
    fb_setup_crowd(s, limit);
    fb_setup_duration(s, r, (double)limit / v->mean_s, 6.0 * HOUR);
}

static void impatient(struct setup *s, struct rng *r)
{
    s->provider.service.mean_s = fb_draw_between(r, 2.0, 4.0);
    s->provider.service.alpha = 1.4;
    s->provider.service.max_s = 120.0;
    s->timeout_s = 15.0;
}

static void timeout_bucket(struct setup *s, struct rng *r)
{
    bucket(s, r, 0.5, 6.0);
    impatient(s, r);
}

static void timeout_conc(struct setup *s, struct rng *r)
{
    int64_t limit = fb_draw_int(r, 4, 16);

    impatient(s, r);
    fb_setup_crowd(s, limit);
    fb_setup_duration(s, r, (double)limit / s->provider.service.mean_s, HOUR);
}

/* A rough life. */

static void restart_bucket(struct setup *s, struct rng *r)
{
    bucket(s, r, 1.0, 50.0);
    s->restarts = (int32_t)fb_draw_int(r, 3, 6);
}

static void restart_window(struct setup *s, struct rng *r)
{
    window(s, r);
    s->restarts = (int32_t)fb_draw_int(r, 3, 6);
}

static void restored_bucket(struct setup *s, struct rng *r)
{
    restart_bucket(s, r);
    s->restored = true;
}

static void restored_window(struct setup *s, struct rng *r)
{
    restart_window(s, r);
    s->restored = true;
}

static void restored_hdr(struct setup *s, struct rng *r)
{
    minute_headers(s, r);
    s->restarts = (int32_t)fb_draw_int(r, 3, 6);
    s->restored = true;
}

static void cancel_20pc(struct setup *s, struct rng *r)
{
    bucket(s, r, 0.5, 50.0);
    s->cancel_share = 0.2;
}

/* A bucket so small that the network matters. */
static void small_bucket(struct setup *s, struct rng *r)
{
    double rate = fb_draw_log(r, 1.0, 20.0);

    fb_setup_duration(s, r, rate, HOUR);
    fb_setup_bucket(s, rate, floor(fb_draw_log(r, 4.0, 20.0)));
}

static void jit_1ms(struct setup *s, struct rng *r)
{
    small_bucket(s, r);
    s->net.jitter_s = 0.001;
}

static void jit_100ms(struct setup *s, struct rng *r)
{
    small_bucket(s, r);
    s->net.jitter_s = 0.1;
}

static void stall_2s(struct setup *s, struct rng *r)
{
    small_bucket(s, r);
    s->net.stall_s = 2.0;
    s->net.stall_every_s = fb_draw_between(r, 30.0, 120.0);
}

static const struct scenario SECOND[] = {
    {"onoff_bucket", "bursts after idle minutes; by time in system", onoff_bucket},
    {"onoff_window", "the same under a window per minute", onoff_window},
    {"poisson_60", "demand at 60 % of the limit; by p95 in system", poisson_60},
    {"mix_inter", "interactive requests over bulk", mix_inter},
    {"batch_bucket", "a cold batch of 3000; by makespan", batch_bucket},
    {"batch_window", "the same under a window", batch_window},
    {"debt_window", "refusals are charged to the next windows", debt_window},
    {"count_sliding", "refusals are logged like requests", count_sliding},
    {"extend_window", "a refusal restarts the shut window", extend_window},
    {"cost_known", "costs of 1 to 50, known before", cost_known},
    {"cost_after", "costs of 1 to 50, known from the answer", cost_after},
    {"cost_hdr", "costs of 1 to 50, headers count units", cost_hdr},
    {"multi_2", "two processes on one key", multi_2},
    {"multi_8", "eight processes on one key", multi_8},
    {"multi_8_hdr", "eight processes, headers shared", multi_8_hdr},
    {"approx_slide", "weighted counter of two windows", approx_slide},
    {"leaky_queue", "the provider queues, then 503", leaky_queue},
    {"endpoints", "three pools and a global one, a limiter each", endpoints},
    {"endpoints_one", "the same, one limiter for all", endpoints_one},
    {"github", "hourly headers, a hidden limit per minute, bans", github},
    {"thr_403", "refuses by a bare 403", thr_403},
    {"thr_503", "refuses by a bare 503", thr_503},
    {"ra_short", "Retry-After: 1, whatever the truth", ra_short},
    {"ra_long", "Retry-After: 3600, whatever the truth", ra_long},
    {"hdr_lag", "headers are two seconds old", hdr_lag},
    {"hdr_short", "windows of seconds, resets in whole ones", hdr_short},
    {"clock_step", "the provider's clock jumps", clock_step},
    {"llm_conc", "answers of minutes, so many at a time", llm_conc},
    {"timeout_bucket", "the client gives up, the quota is spent", timeout_bucket},
    {"timeout_conc", "the client gives up, the server works on", timeout_conc},
    {"restart_bucket", "the limiter forgets everything now and then", restart_bucket},
    {"restart_window", "the same under a window", restart_window},
    {"cancel_20pc", "one grant in five is given back", cancel_20pc},
    {"jit_1ms", "small bucket, jitter of 1 ms", jit_1ms},
    {"jit_100ms", "small bucket, jitter of 100 ms", jit_100ms},
    {"stall_2s", "small bucket, the network stalls for 2 s", stall_2s},
    {"box_window", "a window with a penalty box", box_window},
};

/* Beside those that lose everything: what lasts is worth the difference. */
static const struct scenario RESTORED[] = {
    {"restored_bucket", "restart_bucket, with what was saved", restored_bucket},
    {"restored_window", "restart_window, with what was saved", restored_window},
    {"restored_hdr", "restarts under headers, with what was saved", restored_hdr},
};

const struct scenario_family fb_scenarios_restored = {
    .name = "restored",
    .scenarios = RESTORED,
    .count = sizeof RESTORED / sizeof RESTORED[0],
};

const struct scenario_family fb_scenarios_second = {
    .name = "second",
    .scenarios = SECOND,
    .count = sizeof SECOND / sizeof SECOND[0],
};
