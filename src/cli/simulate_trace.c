/* SPDX-License-Identifier: MIT */
/* simulate_trace.c - what happened in one run, a line an event worth reading. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>

#include "cli/simulate.h"
#include "core/instant.h"
#include "sim/run.h"
#include "util/alloc.h"

/* Between events worth a line: what happened since. */
struct tracer {
    FILE *out;
    const struct setup *setup;
    double last_rate;
    int64_t sent;
    int64_t accepted;
    int64_t refused;
};

static void print_setup(FILE *out, const struct setup *s)
{
    const struct provider *p = &s->provider;

    fprintf(out, "# %.2f h, %d client(s) x %d workers\n", fb_seconds(s->duration_ns) / 3600.0,
            s->clients, s->workers);
    for (int32_t i = 0; i < p->gate_count; i++) {
        const struct gate *g = &p->gate[i];

        fprintf(out, "# %s: %.4g/s", g->kind->name, fb_gate_rate(g, 0));
        if (g->window_ns > 0)
            fprintf(out, ", %" PRId64 " per %.0f s, phase %.2f s", g->limit,
                    fb_seconds(g->window_ns), fb_seconds(g->phase_ns));
        else if (g->limit > 0)
            fprintf(out, ", %" PRId64 " at a time", g->limit);
        else
            fprintf(out, ", burst %.0f", g->burst);
        fputc('\n', out);
    }
    fputs("#     seconds client event           pace    limit in-fl.  sent   ok  429  why\n", out);
}

static void line(struct tracer *t, const struct sight *s, const char *event)
{
    const struct governor_kind *kind = s->governor->kind;
    char why[320] = "";

    if (kind->why)
        kind->why(s->governor, FB_SIM_EPOCH_NS + s->now_ns, why, sizeof why);
    fprintf(t->out,
            "%13.3f %6d %-12s %8.4g %8.4g %6" PRId64 " %5" PRId64 " %4" PRId64 " %4" PRId64
            "  %s\n",
            fb_seconds(s->now_ns), s->client, event, kind->rate(s->governor),
            fb_provider_rate(&t->setup->provider, s->now_ns), s->in_flight, t->sent, t->accepted,
            t->refused, why);
    t->last_rate = kind->rate(s->governor);
    t->sent = t->accepted = t->refused = 0;
}

static void watch(void *context, const struct sight *s)
{
    struct tracer *t = context;
    double rate = s->governor->kind->rate(s->governor);
    char event[24];

    t->sent += s->kind == SIGHT_SENT;
    if (s->kind == SIGHT_ANSWER) {
        t->accepted += s->status == 200;
        t->refused += s->refused;
        if (s->status != 200) {
            snprintf(event, sizeof event, "%s %d", s->refused ? "refused" : "failed", s->status);
            line(t, s, event);
        } else if (fabs(rate - t->last_rate) > 0.01 * t->last_rate) {
            line(t, s, "pace");
        }
    } else if (s->kind == SIGHT_GAVE_UP) {
        line(t, s, "gave up");
    } else if (s->kind == SIGHT_RESTART) {
        line(t, s, "restart");
    }
}

static void print_end(FILE *out, const struct setup *s, const struct tally *t,
                      const struct tally *oracle)
{
    struct score r = fb_score_run(s, t, oracle);

    fprintf(out,
            "# sent %" PRId64 " accepted %" PRId64 " refused %" PRId64 " failed %" PRId64
            " bans %d, goodput %.4f, 429/1000 %.2f, score %.2f%s\n",
            t->sent, t->accepted, t->refused, t->failed, t->bans, r.goodput, r.per_1000, r.score,
            t->stuck ? ", STUCK" : "");
}

int fb_simulate_trace(FILE *out, const struct contest *c)
{
    struct setup *s = fb_alloc(sizeof *s);
    struct tally *t = fb_alloc(2 * sizeof *t);
    struct tracer tracer = {.out = out, .setup = s};
    struct run_options oracle = {.governor = &fb_governor_oracle};
    struct run_options own = {
        .governor = c->governor[0], .spec = c->spec, .watch = watch, .context = &tracer};
    int error = s && t ? 0 : -ENOMEM;

    if (error == 0) {
        fb_scenario_draw(c->cell[0].scenario, c->seed, c->cell[0].workers, c->hours, s);
        error = fb_run(s, &oracle, &t[0]);
    }
    if (error == 0) {
        print_setup(out, s);
        error = fb_run(s, &own, &t[1]);
    }
    if (error == 0)
        print_end(out, s, &t[1], &t[0]);
    fb_free(t);
    fb_free(s);
    return error;
}
