/* SPDX-License-Identifier: MIT */
/* manners.c - what answers tell about the first gate: the truth, less, or something else. */
#include <math.h>

#include <flyball/flyball.h>

#include "core/instant.h"
#include "sim/provider.h"

static const int64_t LAG_STEP_NS = 100 * FB_NS_PER_MS;

static int64_t whole_seconds_up(int64_t span_ns)
{
    return (span_ns + FB_NS_PER_S - 1) / FB_NS_PER_S * FB_NS_PER_S;
}

static int64_t clock_off_ns(const struct manners *m, int64_t now_ns)
{
    int64_t off = 0;

    for (int i = 0; i < 4; i++) {
        if (m->clock_from_ns[i] > 0 && now_ns >= m->clock_from_ns[i])
            off = m->clock_off_ns[i];
    }
    return off;
}

/* What `used` and the reset were a while ago: headers from a replica that lags. */
static int64_t lagging(struct provider *p, int64_t now_ns, int64_t used, int64_t *reset_ns)
{
    int64_t step = now_ns / LAG_STEP_NS;

    if (step - p->lag_at > FB_LAG_STEPS)
        p->lag_at = step - FB_LAG_STEPS;
    for (; p->lag_at < step; p->lag_at++) {
        p->lag_used[(p->lag_at + 1) % FB_LAG_STEPS] = used;
        p->lag_reset[(p->lag_at + 1) % FB_LAG_STEPS] = *reset_ns;
    }
    p->lag_used[step % FB_LAG_STEPS] = used;
    p->lag_reset[step % FB_LAG_STEPS] = *reset_ns;

    int64_t then = fb_max64(0, step - p->manners.header_lag_ns / LAG_STEP_NS) % FB_LAG_STEPS;
    *reset_ns = p->lag_reset[then];
    return p->lag_used[then];
}

void fb_headers_window(struct provider *p, int64_t now_ns, struct verdict *v)
{
    struct gate *g = &p->gate[0];
    double scale = p->manners.header_scale > 0.0 ? p->manners.header_scale : 1.0;

    g->kind->room(g, now_ns); /* brings the window up to date */

    int64_t reset_ns = g->opened_ns + g->window_ns;
    int64_t used = g->used;
    if (p->manners.header_lag_ns > 0)
        used = lagging(p, now_ns, used, &reset_ns);
    v->limit = (int64_t)floor((double)g->limit * scale + 0.5);
    v->remaining = fb_max64(0, v->limit - used);
    v->reset_ns = reset_ns + clock_off_ns(&p->manners, now_ns);
}

/* As most servers tell it: an instant in whole seconds, when one more would fit. */
void fb_headers_seconds(struct provider *p, int64_t now_ns, struct verdict *v)
{
    struct gate *g = &p->gate[0];

    v->remaining = g->kind->room(g, now_ns);
    v->limit = g->limit;
    v->reset_ns = whole_seconds_up(g->kind->opens_at(g, now_ns, v->remaining + 1));
}

void fb_headers_past(struct provider *p, int64_t now_ns, struct verdict *v)
{
    fb_headers_window(p, now_ns, v);
    v->reset_ns = p->gate[0].opened_ns - FB_NS_PER_S;
}

int64_t fb_retry_honest(const struct provider *p, int64_t now_ns, int64_t opens_ns)
{
    (void)p;
    return whole_seconds_up(opens_ns - now_ns);
}

int64_t fb_retry_zero(const struct provider *p, int64_t now_ns, int64_t opens_ns)
{
    (void)p;
    (void)now_ns;
    (void)opens_ns;
    return 0;
}

/* A fixed "1": many servers send it whatever the truth. */
int64_t fb_retry_short(const struct provider *p, int64_t now_ns, int64_t opens_ns)
{
    (void)p;
    (void)now_ns;
    (void)opens_ns;
    return FB_NS_PER_S;
}

int64_t fb_retry_long(const struct provider *p, int64_t now_ns, int64_t opens_ns)
{
    (void)p;
    (void)now_ns;
    (void)opens_ns;
    return 3600 * FB_NS_PER_S;
}
