/* SPDX-License-Identifier: MIT */
/* tide.c - steps by bisection, the swing in closed form. */
#include "sim/tide.h"

#include <assert.h>
#include <math.h>

#include "core/instant.h"

static const double TURN = 6.283185307179586;

/* The step in force at `now_ns`. */
static int32_t step_at(const struct tide *t, int64_t now_ns)
{
    int32_t low = 0;
    int32_t high = t->count;

    while (high - low > 1) {
        int32_t middle = (low + high) / 2;

        if (t->from_ns[middle] <= now_ns)
            low = middle;
        else
            high = middle;
    }
    return low;
}

void fb_tide_add(struct tide *t, int64_t from_ns, double factor)
{
    int32_t i = t->count;

    assert(i < FB_TIDE_STEPS_MAX);
    assert(i == 0 ? from_ns == 0 : from_ns >= t->from_ns[i - 1]);
    t->from_ns[i] = from_ns;
    t->factor[i] = factor;
    t->sum_before[i] = i == 0 ? 0.0 : fb_tide_sum(t, from_ns);
    t->count = i + 1;
}

double fb_tide_factor(const struct tide *t, int64_t now_ns)
{
    if (t->count > 0)
        return t->factor[step_at(t, now_ns)];
    if (t->period_s > 0.0)
        return 1.0 + t->swing * sin(TURN * (fb_seconds(now_ns) + t->shift_s) / t->period_s);
    return 1.0;
}

double fb_tide_sum(const struct tide *t, int64_t now_ns)
{
    double s = fb_seconds(now_ns);

    if (t->count > 0) {
        int32_t i = step_at(t, now_ns);
        return t->sum_before[i] + t->factor[i] * fb_seconds(now_ns - t->from_ns[i]);
    }
    if (t->period_s > 0.0) {
        double k = TURN / t->period_s;
        return s + t->swing / k * (cos(k * t->shift_s) - cos(k * (s + t->shift_s)));
    }
    return s;
}
