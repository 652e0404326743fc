/* SPDX-License-Identifier: MIT */
/* pause.c - a count and an instant. */
#include "core/pause.h"

#include <assert.h>

#include "core/instant.h"

void fb_pause_init(struct pause *p, int32_t failures_max, int64_t span_ns)
{
    assert(failures_max >= 0);
    assert(span_ns >= 0);
    *p = (struct pause){
        .until_ns = FB_LONG_AGO,
        .span_ns = span_ns,
        .failures_max = failures_max,
    };
}

void fb_pause_on_success(struct pause *p)
{
    p->failures = 0;
}

void fb_pause_end(struct pause *p, int64_t now_ns)
{
    p->until_ns = fb_min64(p->until_ns, now_ns);
    assert(p->until_ns <= now_ns);
}

bool fb_pause_on_failure(struct pause *p, int64_t now_ns)
{
    assert(p->failures >= 0 && p->span_ns >= 0);
    /* What fails during a pause left before it. */
    if (p->failures_max == 0 || now_ns < p->until_ns)
        return false;
    p->failures++;
    if (p->failures < p->failures_max)
        return false;
    p->failures = 0;
    p->until_ns = fb_after(now_ns, p->span_ns);
    return true;
}
