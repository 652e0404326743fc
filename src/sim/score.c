/* SPDX-License-Identifier: MIT */
/* score.c - the arithmetic of scores. */
#include "sim/score.h"

#include <math.h>

#include "core/instant.h"

double fb_score(double goodput, double refused_per_1000_beyond_oracle)
{
    double x = fmax(0.0, refused_per_1000_beyond_oracle);

    return 100.0 * fmin(1.0, goodput) * 10.0 / (10.0 + x);
}

static double per_1000(const struct tally *t)
{
    return t->sent > 0 ? 1000.0 * (double)t->refused / (double)t->sent : 0.0;
}

/* A batch that was not finished would have taken that much longer at the same pace. */
static double makespan_s(const struct setup *s, const struct tally *t)
{
    double all = s->demand.clump;

    if ((double)t->accepted >= floor(all))
        return fb_seconds(t->last_done_ns);
    return fb_seconds(t->duration_ns) * all / fmax(1.0, (double)t->accepted);
}

static double merit_of(const struct setup *s, const struct tally *t)
{
    switch (s->demand.kind) {
    case DEMAND_POISSON:
        return 1.0 / fmax(1e-6, fb_tally_stay_quantile_s(t, 0.95));
    case DEMAND_CLUMPS:
        return 1.0 / fmax(1e-6, fb_tally_stay_mean_s(t));
    case DEMAND_BATCH:
        return 1.0 / fmax(1e-6, makespan_s(s, t));
    case DEMAND_ALWAYS:
    case DEMAND_MIXED:
        break;
    }
    return (double)t->units / fb_seconds(t->duration_ns);
}

struct score fb_score_run(const struct setup *s, const struct tally *t, const struct tally *oracle)
{
    struct score r = {
        .per_1000 = per_1000(t),
        .to_90_s = fb_tally_to_90_s(t, oracle),
        .jain = s->clients > 1 ? fb_tally_jain(t, s->clients) : 1.0,
        .stay_p95_s = t->stay_count > 0 ? fb_tally_stay_quantile_s(t, 0.95) : 0.0,
        .merit = merit_of(s, t),
        .sent = t->sent,
        .refused = t->refused,
        .bans = t->bans,
        .stuck = t->stuck,
    };

    r.goodput = r.merit / fmax(1e-12, merit_of(s, oracle));
    r.score = fb_score(r.goodput, r.per_1000 - per_1000(oracle));
    return r;
}

void fb_cell_add(struct cell_score *c, const struct score *s, uint64_t seed)
{
    if (c->runs == 0 || s->score < c->score_min) {
        c->score_min = s->score;
        c->worst_seed = seed;
    }
    c->goodput_min = c->runs == 0 ? s->goodput : fmin(c->goodput_min, s->goodput);
    c->refused_max = fb_max64(c->refused_max, s->refused);
    c->runs++;
    c->score += s->score;
    c->goodput += s->goodput;
    c->per_1000 += s->per_1000;
    c->refused += (double)s->refused;
    c->to_90_s += s->to_90_s;
    c->jain += s->jain;
    c->stay_p95_s += s->stay_p95_s;
    c->bans += s->bans;
    c->sent += s->sent;
    c->stuck += s->stuck;
}

void fb_cell_finish(struct cell_score *c)
{
    double n = c->runs > 0 ? c->runs : 1;

    c->score /= n;
    c->goodput /= n;
    c->per_1000 /= n;
    c->refused /= n;
    c->to_90_s /= n;
    c->jain /= n;
    c->stay_p95_s /= n;
}
