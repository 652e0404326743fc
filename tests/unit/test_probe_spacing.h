/* SPDX-License-Identifier: MIT */
/*
 * test_probe_spacing.h - the probe in the hand, where nothing is stored: with a hint, a pair on its
 * way, or a step of a look.
 */
#ifndef FLYBALL_TESTS_TEST_PROBE_SPACING_H
#define FLYBALL_TESTS_TEST_PROBE_SPACING_H

#include "test_probe_hand.h"

#define READ_SPACED "between a pace that lasts and one that is refused at once"

/* Settled at `limit`, with a pace that was refused at once. */
static inline struct hand hinted(float limit, float too_fast)
{
    struct hand h = settled(limit, 300.0f);

    h.c.probe.too_fast = too_fast;
    return h;
}

/* The same, refused so for the second time; latencies deviate by that much. */
static inline struct hand spaced(float limit, float too_fast, float sway_ms)
{
    struct hand h = hinted(limit, too_fast);
    struct probe *p = &h.c.probe;

    p->burst_found = true;
    p->sway_s = (sway_ms + 0.2f) / 1000.0f;
    p->log.sway_ms = (unsigned)sway_ms & 127u;
    assert_true(fb_probe_spaced(p));
    return h;
}

/* The same, in a step of a look. */
static inline struct hand stepping(float limit, float too_fast, float sway_ms, float lean)
{
    struct hand h = spaced(limit, too_fast, sway_ms);
    struct probe *p = &h.c.probe;

    p->lean = lean;
    p->held = 0.0f;
    p->rate = limit * (1.0f + lean);
    p->step_ns = h.now_ns;
    (void)cancel(&h);
    return h;
}

/* In the middle of a pair. */
static inline struct hand pairing(float limit, float too_fast)
{
    struct hand h = hinted(limit, too_fast);

    serve(&h, 40);
    assert_true(fb_probe_pairs(&h.c.probe));
    return h;
}

/* So much later, at its time. */
static inline void look_after(struct hand *h)
{
    struct probe *p = &h->c.probe;

    h->now_ns = fb_max64(h->now_ns, p->look_ns);
    p->next_ns = h->now_ns;
    p->late = 0.0f;
    request(h, 200);
}

struct refusal {
    float lean;
    int32_t let_through; /* in this step */
    int32_t grants;      /* since the refusal before */
    int pings;           /* refused */
    int64_t in_flight;   /* with it */
    bool other;          /* another that was under way is refused as well */
    bool told_when;
    bool noise;
    bool hint;
};

static inline void be_refused(struct hand *h, const struct refusal *r)
{
    struct probe *p = &h->c.probe;

    p->step_count = r->let_through;
    p->since_refusal = r->grants - 1;
    p->noise_known = r->noise;
    h->in_flight_then = r->in_flight;
    h->o.retry_after_ns = r->told_when ? S : FLY_ABSENT;
    if (r->other)
        grant(h);
    refuse(h);
    if (r->other) {
        h->id = h->latest - 1;
        reply(h, 429);
        assert_int_equal(p->also_refused, 1);
    }
    h->o.retry_after_ns = FLY_ABSENT;
    for (int i = 0; i < r->pings; i++)
        ping(h, 429);
    recover(h, NULL);
}

#endif
