/* SPDX-License-Identifier: MIT */
/* test_probe_told.h - the probe in the hand, told by headers what is left. */
#ifndef FLYBALL_TESTS_TEST_PROBE_TOLD_H
#define FLYBALL_TESTS_TEST_PROBE_TOLD_H

#include "test_probe_hand.h"

/* The next answers tell this. */
static inline void tell(struct hand *h, int64_t limit, int64_t remaining, int64_t reset_ns)
{
    h->o.limit = limit;
    h->o.remaining = remaining;
    h->o.reset_ns = reset_ns;
    h->c.probe.told_own = (float)limit - (float)remaining; /* nobody else uses it */
}

/* Settled at 10/s, in a window of 600 a minute that was told once and ends 60 s from now. */
static inline struct hand told(void)
{
    struct hand h = settled(10.0f, 300.0f);

    tell(&h, 600, 599, h.now_ns + 60 * S);
    request(&h, 200);
    return h;
}

/* The same at the beginning of its second window, when the check begins. */
static inline struct hand checking(void)
{
    struct hand h = told();

    h.now_ns = h.o.reset_ns - S;
    tell(&h, 600, 9, h.o.reset_ns);
    request(&h, 200);
    h.now_ns = h.o.reset_ns;
    tell(&h, 600, 599, h.o.reset_ns + 60 * S);
    request(&h, 200);
    assert_true(fb_probe_verifying(&h.c.probe));
    return h;
}

/* The same, checked: a refusal came with nothing left. */
static inline struct hand honest(void)
{
    struct hand h = checking();

    h.now_ns = h.o.reset_ns - 5 * S;
    tell(&h, 600, 0, h.o.reset_ns);
    refuse(&h);
    assert_false(fb_probe_verifying(&h.c.probe));
    h.now_ns = h.o.reset_ns;
    tell(&h, 600, 599, h.o.reset_ns + 60 * S);
    request(&h, 200);
    return h;
}

#endif
