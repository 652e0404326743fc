/* SPDX-License-Identifier: MIT */
/*
 * pause.h - leave alone what keeps failing, for a while, so that the others go on.
 *
 * For an item or a host: after `failures_max` failures in a row nothing leaves for `span_ns`; then
 * it resumes by itself and counts from zero. Unlike a breaker it sends no trial and knows no
 * answers that come late.
 */
#ifndef FLYBALL_CORE_PAUSE_H
#define FLYBALL_CORE_PAUSE_H

#include <stdbool.h>
#include <stdint.h>

#define FB_PAUSE_FAILURES 10
#define FB_PAUSE_NS       INT64_C(300000000000)

struct pause {
    int64_t until_ns;
    int64_t span_ns;
    int32_t failures; /* in a row */
    int32_t failures_max;
};

/* Never paused where `failures_max` is 0. */
void fb_pause_init(struct pause *p, int32_t failures_max, int64_t span_ns);

/* From when on something may leave: <= now for "now". */
static inline int64_t fb_pause_ready_at(const struct pause *p)
{
    return p->until_ns;
}

void fb_pause_on_success(struct pause *p);

/* It is over now, if it was not before. */
void fb_pause_end(struct pause *p, int64_t now_ns);

/* Whether the pause begins with this one. */
bool fb_pause_on_failure(struct pause *p, int64_t now_ns);

#endif
