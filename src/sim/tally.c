/* SPDX-License-Identifier: MIT */
/* tally.c - counting. */
#include "sim/tally.h"

#include <math.h>

#include "core/instant.h"

#define PER_OCTAVE 32.0

void fb_tally_init(struct tally *t, int64_t duration_ns)
{
    *t = (struct tally){.duration_ns = duration_ns};
}

static int64_t bin_of(const struct tally *t, int64_t now_ns)
{
    int64_t width = t->duration_ns / FB_TALLY_BINS + 1;

    return fb_min64(now_ns / width, FB_TALLY_BINS - 1);
}

void fb_tally_sent(struct tally *t, int64_t now_ns)
{
    t->sent++;
    t->bin_sent[bin_of(t, now_ns)]++;
}

void fb_tally_accepted(struct tally *t, int64_t now_ns, uint32_t cost, int32_t client)
{
    t->accepted++;
    t->units += cost;
    t->client_units[client] += cost;
    t->bin_units[bin_of(t, now_ns)] += cost;
    t->last_done_ns = now_ns;
}

void fb_tally_refused(struct tally *t, int64_t now_ns)
{
    t->refused++;
    t->bin_refused[bin_of(t, now_ns)]++;
}

void fb_tally_stay(struct tally *t, int64_t born_ns, int64_t now_ns)
{
    double stay_s = fb_seconds(now_ns - born_ns);
    double class = PER_OCTAVE * log2(fmax(stay_s, 1e-3) / 1e-3);

    t->stay_count++;
    t->stay_sum_s += stay_s;
    t->stay[(int)fmin(class, FB_TALLY_STAYS - 1)]++;
}

double fb_tally_stay_mean_s(const struct tally *t)
{
    return t->stay_count > 0 ? t->stay_sum_s / (double)t->stay_count : 0.0;
}

double fb_tally_stay_quantile_s(const struct tally *t, double share)
{
    double left = share * (double)t->stay_count;

    for (int i = 0; i < FB_TALLY_STAYS; i++) {
        if (left <= t->stay[i])
            return 1e-3 * exp2((i + left / fmax(1.0, t->stay[i])) / PER_OCTAVE);
        left -= t->stay[i];
    }
    return fb_seconds(t->duration_ns);
}

double fb_tally_jain(const struct tally *t, int32_t clients)
{
    double sum = 0.0;
    double squares = 0.0;

    for (int32_t i = 0; i < clients; i++) {
        double x = (double)t->client_units[i];

        sum += x;
        squares += x * x;
    }
    return squares > 0.0 ? sum * sum / (clients * squares) : 0.0;
}

/* "For a while": five bins, so that one lucky burst does not count. */
double fb_tally_to_90_s(const struct tally *t, const struct tally *reference)
{
    enum { WHILE = 5 };

    for (int i = 0; i + WHILE <= FB_TALLY_BINS; i++) {
        double own = 0.0;
        double other = 0.0;

        for (int k = i; k < i + WHILE; k++) {
            own += t->bin_units[k];
            other += reference->bin_units[k];
        }
        if (own >= 0.9 * other)
            return fb_seconds(t->duration_ns) * i / FB_TALLY_BINS;
    }
    return fb_seconds(t->duration_ns);
}
