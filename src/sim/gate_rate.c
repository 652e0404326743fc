/* SPDX-License-Identifier: MIT */
/* gate_rate.c - gates that let a steady stream through: the bucket, the queue and the crowd. */
#include <math.h>
#include <stddef.h>

#include "core/instant.h"
#include "sim/gate.h"

/* A token that is missing by less than this is there: sums of doubles are not exact. */
static const double DUST = 1e-9;

static double tide_sum(const struct gate *g, int64_t now_ns)
{
    return g->tide ? fb_tide_sum(g->tide, now_ns) : fb_seconds(now_ns);
}

static double tide_factor(const struct gate *g, int64_t now_ns)
{
    return g->tide ? fb_tide_factor(g->tide, now_ns) : 1.0;
}

/* The bucket: tokens drip in at rate x tide and are lost above `burst`. */

static int64_t bucket_room(struct gate *g, int64_t now_ns)
{
    double sum = tide_sum(g, now_ns);

    g->level = fmin(g->burst, g->level + g->rate * (sum - g->sum_then));
    g->sum_then = sum;
    return (int64_t)floor(g->level + DUST);
}

static int64_t bucket_take(struct gate *g, int64_t now_ns, int64_t cost)
{
    (void)now_ns;
    g->level -= (double)cost;
    return 0;
}

static int64_t bucket_opens_at(struct gate *g, int64_t now_ns, int64_t cost)
{
    if (bucket_room(g, now_ns) >= cost)
        return now_ns;

    double rate = g->rate * tide_factor(g, now_ns);
    return now_ns + fb_span(((double)cost - g->level) / rate) + 1;
}

/*
 * n spacings s may be squeezed by x and must still bring n - (burst - 1) tokens; the shortest run
 * that can fail is n = burst. With burst 1 this is s = 1/rate + x.
 */
static double bucket_spacing(const struct gate *g, int64_t now_ns, double squeeze_s, int32_t share)
{
    /* A limit that is about to fall has fallen for what is sent now. */
    double soon = tide_factor(g, now_ns + 40 * FB_NS_PER_MS);
    double rate = g->rate * fmin(tide_factor(g, now_ns), soon);
    double stored_s = fmax(0.0, g->burst - share) / rate;
    double extra_s = fmax(0.0, squeeze_s - stored_s) / fmax(1.0, g->burst);

    return share * (1.0 / rate + extra_s);
}

const struct gate_kind fb_gate_bucket = {
    .name = "bucket",
    .room = bucket_room,
    .take = bucket_take,
    .opens_at = bucket_opens_at,
    .spacing = bucket_spacing,
};

/* The queue: `opened_ns` is when the server will be free; what waits is rate x the time until. */

static int64_t queue_room(struct gate *g, int64_t now_ns)
{
    double waiting = fb_seconds(fb_max64(0, g->opened_ns - now_ns)) * g->rate;

    return (int64_t)floor(g->burst - waiting + DUST);
}

static int64_t queue_take(struct gate *g, int64_t now_ns, int64_t cost)
{
    g->opened_ns = fb_max64(g->opened_ns, now_ns) + fb_span((double)cost / g->rate);
    return g->opened_ns - now_ns;
}

static int64_t queue_opens_at(struct gate *g, int64_t now_ns, int64_t cost)
{
    int64_t places_ns = fb_span((g->burst - (double)cost) / g->rate);

    return fb_max64(now_ns, g->opened_ns - places_ns);
}

static double queue_spacing(const struct gate *g, int64_t now_ns, double squeeze_s, int32_t share)
{
    (void)now_ns;
    (void)squeeze_s;
    return share / g->rate;
}

const struct gate_kind fb_gate_queue = {
    .name = "queue",
    .room = queue_room,
    .take = queue_take,
    .opens_at = queue_opens_at,
    .spacing = queue_spacing,
};

/* The crowd: `used` requests are in the building. */

static int64_t crowd_room(struct gate *g, int64_t now_ns)
{
    (void)now_ns;
    return g->limit > g->used ? FB_ROOM_MAX : 0;
}

static int64_t crowd_take(struct gate *g, int64_t now_ns, int64_t cost)
{
    (void)now_ns;
    (void)cost;
    g->used++;
    return 0;
}

static void crowd_leave(struct gate *g)
{
    g->used--;
}

static int64_t crowd_opens_at(struct gate *g, int64_t now_ns, int64_t cost)
{
    (void)cost;
    return g->limit > g->used ? now_ns : INT64_MAX;
}

static double crowd_spacing(const struct gate *g, int64_t now_ns, double squeeze_s, int32_t share)
{
    (void)g;
    (void)now_ns;
    (void)squeeze_s;
    (void)share;
    return 0.0;
}

const struct gate_kind fb_gate_crowd = {
    .name = "crowd",
    .room = crowd_room,
    .take = crowd_take,
    .leave = crowd_leave,
    .opens_at = crowd_opens_at,
    .spacing = crowd_spacing,
};
