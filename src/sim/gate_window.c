/* SPDX-License-Identifier: MIT */
/*
 * gate_window.c - gates that count per window: fixed, with debt, extended, logged, approximate.
 *
 * All counts are integers and all windows half open, [opening, opening + window).
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "core/instant.h"
#include "sim/gate.h"

/* The latest opening at or before `now_ns`. */
static int64_t opening(const struct gate *g, int64_t now_ns)
{
    int64_t since = (now_ns - g->phase_ns) % g->window_ns;

    return now_ns - (since < 0 ? since + g->window_ns : since);
}

/* An even spacing that puts at most `limit` - `spare` units into any interval of a window. */
static double even_spacing(const struct gate *g, int64_t spare, double squeeze_s, int32_t share)
{
    int64_t own = fb_max64(1, (g->limit - spare) / share);

    return (fb_seconds(g->window_ns) + squeeze_s) / (double)own;
}

/* The last piece must still fit as a whole. */
static double window_spacing(const struct gate *g, int64_t now_ns, double squeeze_s, int32_t share)
{
    (void)now_ns;
    return even_spacing(g, fb_max64(1, g->grain) - 1, squeeze_s, share);
}

static int64_t count_take(struct gate *g, int64_t now_ns, int64_t cost)
{
    (void)now_ns;
    g->used += cost;
    return 0;
}

/* Fixed. */

static void be_reborn(struct gate *g)
{
    g->phase_ns = g->reborn_ns % g->window_ns;
    g->reborn_ns = 0;
    g->opened_ns = -1;
}

static int64_t fixed_room(struct gate *g, int64_t now_ns)
{
    if (g->reborn_ns > 0 && now_ns >= g->reborn_ns)
        be_reborn(g);
    int64_t opened = opening(g, now_ns);

    if (opened != g->opened_ns) {
        g->opened_ns = opened;
        g->used = 0;
    }
    return g->limit - g->used;
}

static int64_t fixed_opens_at(struct gate *g, int64_t now_ns, int64_t cost)
{
    return fixed_room(g, now_ns) >= cost ? now_ns : g->opened_ns + g->window_ns;
}

const struct gate_kind fb_gate_fixed = {
    .name = "fixed window",
    .room = fixed_room,
    .take = count_take,
    .opens_at = fixed_opens_at,
    .spacing = window_spacing,
};

/* Debt: refusals count; each opening forgives one limit's worth. */

static int64_t debt_room(struct gate *g, int64_t now_ns)
{
    int64_t opened = opening(g, now_ns);
    int64_t passed = (opened - g->opened_ns) / g->window_ns;

    if (passed > 0) {
        g->opened_ns = opened;
        g->used = g->used / g->limit >= passed ? g->used - passed * g->limit : 0;
    }
    return fb_max64(0, g->limit - g->used);
}

static void debt_refuse(struct gate *g, int64_t now_ns, int64_t cost)
{
    (void)now_ns;
    g->used += cost;
}

static int64_t debt_opens_at(struct gate *g, int64_t now_ns, int64_t cost)
{
    if (debt_room(g, now_ns) >= cost)
        return now_ns;

    int64_t windows = fb_max64(1, (g->used + cost - 1) / g->limit);
    return g->opened_ns + windows * g->window_ns;
}

const struct gate_kind fb_gate_debt = {
    .name = "window with debt",
    .room = debt_room,
    .take = count_take,
    .refuse = debt_refuse,
    .opens_at = debt_opens_at,
    .spacing = window_spacing,
};

/* Extended: the window opens with the first request and, once full, with every refusal anew. */

static int64_t extend_room(struct gate *g, int64_t now_ns)
{
    if (g->used > 0 && now_ns - g->opened_ns >= g->window_ns)
        g->used = 0;
    return g->limit - g->used;
}

static int64_t extend_take(struct gate *g, int64_t now_ns, int64_t cost)
{
    if (g->used == 0)
        g->opened_ns = now_ns;
    g->used += cost;
    return 0;
}

static void extend_refuse(struct gate *g, int64_t now_ns, int64_t cost)
{
    (void)cost;
    g->opened_ns = now_ns;
}

static int64_t extend_opens_at(struct gate *g, int64_t now_ns, int64_t cost)
{
    return extend_room(g, now_ns) >= cost ? now_ns : g->opened_ns + g->window_ns;
}

const struct gate_kind fb_gate_extend = {
    .name = "window that refusals restart",
    .room = extend_room,
    .take = extend_take,
    .refuse = extend_refuse,
    .opens_at = extend_opens_at,
    .spacing = window_spacing,
};

/* Log: the stamps of the last `limit` units, oldest at `head`; `used` of them count. */

static int64_t *log_at(const struct gate *g, int64_t i)
{
    return &g->stamp[(g->head + i) % g->limit];
}

static int64_t log_room(struct gate *g, int64_t now_ns)
{
    while (g->used > 0 && *log_at(g, 0) <= now_ns - g->window_ns) {
        g->head = (g->head + 1) % g->limit;
        g->used--;
    }
    return g->limit - g->used;
}

static int64_t log_take(struct gate *g, int64_t now_ns, int64_t cost)
{
    for (int64_t i = 0; i < cost; i++)
        *log_at(g, g->used++) = now_ns;
    return 0;
}

/* A refused unit takes the place of the oldest: the log keeps the last `limit` of all. */
static void log_refuse(struct gate *g, int64_t now_ns, int64_t cost)
{
    for (int64_t i = 0; i < cost; i++) {
        if (g->used == g->limit) {
            g->head = (g->head + 1) % g->limit;
            g->used--;
        }
        *log_at(g, g->used++) = now_ns;
    }
}

static int64_t log_opens_at(struct gate *g, int64_t now_ns, int64_t cost)
{
    int64_t missing = cost - log_room(g, now_ns);

    return missing <= 0 ? now_ns : *log_at(g, missing - 1) + g->window_ns;
}

const struct gate_kind fb_gate_log = {
    .name = "sliding log",
    .room = log_room,
    .take = log_take,
    .opens_at = log_opens_at,
    .spacing = window_spacing,
};

const struct gate_kind fb_gate_log_all = {
    .name = "sliding log of all requests",
    .room = log_room,
    .take = log_take,
    .refuse = log_refuse,
    .opens_at = log_opens_at,
    .spacing = window_spacing,
};

/* Approximate: this window's count plus the last one's, weighted by how much of it is in reach. */

static double approx_weight(const struct gate *g, int64_t now_ns)
{
    return 1.0 - (double)(now_ns - g->opened_ns) / (double)g->window_ns;
}

static int64_t approx_room(struct gate *g, int64_t now_ns)
{
    int64_t opened = opening(g, now_ns);

    if (opened != g->opened_ns) {
        g->used_before = opened - g->opened_ns == g->window_ns ? g->used : 0;
        g->opened_ns = opened;
        g->used = 0;
    }

    double seen = (double)g->used + (double)g->used_before * approx_weight(g, now_ns);
    return (int64_t)floor((double)g->limit - seen + 1e-9);
}

/* When a window that began at `opened_ns` weighs what came before it by no more than this. */
static int64_t approx_reaches(const struct gate *g, int64_t opened_ns, double weight)
{
    return opened_ns + (int64_t)((1.0 - fmin(1.0, weight)) * (double)g->window_ns) + 1;
}

static int64_t approx_opens_at(struct gate *g, int64_t now_ns, int64_t cost)
{
    if (approx_room(g, now_ns) >= cost)
        return now_ns;

    double left = (double)(g->limit - cost);
    double weight = (left - (double)g->used) / (double)fb_max64(1, g->used_before);
    if (weight >= 0.0)
        return approx_reaches(g, g->opened_ns, weight);
    /* This window alone is too full: it must become the one before. */
    return approx_reaches(g, g->opened_ns + g->window_ns, left / (double)g->used);
}

/* Two counts, each rounded by up to one, are weighed against each other. */
static double approx_spacing(const struct gate *g, int64_t now_ns, double squeeze_s, int32_t share)
{
    (void)now_ns;
    return even_spacing(g, 2, squeeze_s, share);
}

const struct gate_kind fb_gate_approx = {
    .name = "approximate sliding window",
    .room = approx_room,
    .take = count_take,
    .opens_at = approx_opens_at,
    .spacing = approx_spacing,
};

/* What all gates share. */

static bool is_log(const struct gate *g)
{
    return g->kind == &fb_gate_log || g->kind == &fb_gate_log_all;
}

int fb_gate_init(struct gate *g)
{
    g->level = g->burst;
    g->sum_then = 0.0;
    g->used = g->used_before = g->head = 0;
    g->opened_ns = g->window_ns > 0 ? opening(g, 0) : 0;
    g->stamp = NULL;
    if (g->pools == 0)
        g->pools = UINT32_MAX;
    if (!is_log(g))
        return 0;
    g->stamp = calloc((size_t)g->limit, sizeof *g->stamp);
    return g->stamp ? 0 : -ENOMEM;
}

void fb_gate_fini(struct gate *g)
{
    free(g->stamp);
    g->stamp = NULL;
}

double fb_gate_rate(const struct gate *g, int64_t now_ns)
{
    if (g->window_ns > 0)
        return (double)g->limit / fb_seconds(g->window_ns);
    return g->rate * (g->tide ? fb_tide_factor(g->tide, now_ns) : 1.0);
}
