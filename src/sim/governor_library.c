/* SPDX-License-Identifier: MIT */
/*
 * governor_library.c - the library's own controllers, through its public functions only.
 *
 * The kinds differ in nothing but the limit text that they are made with.
 */
#include <stdio.h>
#include <stdlib.h>

#include "sim/draw.h"
#include "sim/governor.h"

struct library {
    struct governor base;
    struct fly_limiter *limiter;
};

static struct fly_limiter *limiter_of(struct governor *g)
{
    return ((struct library *)g)->limiter;
}

static struct governor *library_new(const struct governor_kind *kind, const char *spec,
                                    const struct governor_setting *s)
{
    struct library *l = malloc(sizeof *l);

    if (!l)
        return NULL;
    l->base.kind = kind;
    l->limiter = fly_limiter_new(spec, s->now_ns, s->seed, NULL);
    if (l->limiter)
        return &l->base;
    free(l);
    return NULL;
}

static void library_free(struct governor *g)
{
    fly_limiter_free(limiter_of(g));
    free(g);
}

static int64_t library_take(struct governor *g, int64_t now_ns, const struct work *w, uint32_t cost,
                            uint64_t *ret_ticket)
{
    (void)w;
    return fly_limiter_take(limiter_of(g), now_ns, cost, ret_ticket);
}

static void library_report(struct governor *g, int64_t now_ns, const struct fly_outcome *o)
{
    fly_limiter_report(limiter_of(g), now_ns, o);
}

static void library_cancel(struct governor *g, int64_t now_ns, uint64_t ticket)
{
    fly_limiter_cancel(limiter_of(g), now_ns, ticket);
}

static void library_settle(struct governor *g, int64_t now_ns, uint64_t ticket, uint32_t cost)
{
    fly_limiter_settle(limiter_of(g), now_ns, ticket, cost);
}

static double library_rate(struct governor *g)
{
    return fly_limiter_rate(limiter_of(g));
}

/* Through bytes, as from one process to the next. */
static void library_carry(struct governor *from, struct governor *to, int64_t now_ns)
{
    unsigned char bytes[FLY_STATE_BYTES];
    int size = fly_limiter_save(limiter_of(from), now_ns, bytes, sizeof bytes);

    if (size > 0)
        (void)fly_limiter_load(limiter_of(to), now_ns, 0, bytes, (size_t)size, NULL);
}

static void library_why(struct governor *g, int64_t now_ns, char *ret_text, size_t size)
{
    struct fly_why why = {.size = sizeof why};

    if (fly_limiter_why(limiter_of(g), now_ns, 1, &why) == 0)
        snprintf(ret_text, size, "%s: %s", why.cause, why.text);
}

static struct governor *probe_new(const struct governor_setting *s)
{
    return library_new(&fb_governor_probe, s->spec, s);
}

static struct governor *aimd_new(const struct governor_setting *s)
{
    return library_new(&fb_governor_aimd, "adapt=aimd", s);
}

static struct governor *aimd_told_new(const struct governor_setting *s)
{
    char spec[128];
    double told = s->setup->told_rate;

    snprintf(spec, sizeof spec, "adapt=aimd rate=%.3f/s floor=%.3f/s ceiling=%.3f/s", told,
             told / 10.0, told * 2.0);
    return library_new(&fb_governor_aimd_told, spec, s);
}

static struct governor *step_new(const struct governor_setting *s)
{
    char spec[64];
    struct rng r = fb_draw_stream(s->seed, 5);
    double told = s->setup->told_rate * fb_draw_log(&r, 0.5, 2.0);

    snprintf(spec, sizeof spec, "adapt=step rate=%.3f/s", told);
    return library_new(&fb_governor_step, spec, s);
}

#define LIBRARY_KIND(c_name, c_text, c_about)           \
    const struct governor_kind fb_governor_##c_name = { \
        .name = c_text,                                 \
        .about = c_about,                               \
        .new = c_name##_new,                            \
        .free = library_free,                           \
        .take = library_take,                           \
        .report = library_report,                       \
        .cancel = library_cancel,                       \
        .settle = library_settle,                       \
        .rate = library_rate,                           \
        .carry = library_carry,                         \
        .why = library_why,                             \
    }

LIBRARY_KIND(probe, "probe", "this library, told nothing");
LIBRARY_KIND(aimd, "aimd", "x 0.8 when refused, + 1 % after 100 successes, from 0.5/s");
LIBRARY_KIND(aimd_told, "aimd-told", "aimd, started at the documented limit");
LIBRARY_KIND(step, "step", "cuts a configured limit, which is wrong by up to a factor of 2");
