/* SPDX-License-Identifier: MIT */
/*
 * quota.h - what a server tells about a budget: so many in all, so many left, until then.
 *
 * Two ways to spend it. `even` spreads what is left over the time left, more carefully the less
 * there is; `demand` goes at full speed until only the reserve is left. Either way nothing leaves
 * that the server would have to refuse: what is out counts as spent until it is answered, and
 * what is used up waits for the reset.
 *
 * Nothing is in force before an answer has told limit, remaining and reset, or after the server
 * has stopped telling them.
 */
#ifndef FLYBALL_CORE_QUOTA_H
#define FLYBALL_CORE_QUOTA_H

#include <stdint.h>

#define FB_QUOTA_MAX          INT64_C(1000000000000) /* larger figures are read as this */
#define FB_QUOTA_RESERVE_PPM  INT64_C(100000)        /* of `even`, unless said */
#define FB_QUOTA_BURST        10                     /* requests that `even` may run ahead */
#define FB_QUOTA_DELAY_MIN_NS INT64_C(50000000)
#define FB_QUOTA_DELAY_MAX_NS INT64_C(60000000000)

enum quota_health {
    QUOTA_HEALTHY,   /* more than 50 % left */
    QUOTA_WARNING,   /* 20 % or more */
    QUOTA_CRITICAL,  /* some */
    QUOTA_EXHAUSTED, /* nothing: wait for the reset */
};

/* The state of a budget of 1..FB_QUOTA_MAX, of which `remaining` <= limit is left. */
enum quota_health fb_quota_health(int64_t limit, int64_t remaining);

/*
 * How far apart `even` keeps requests of cost 1: time_left / (remaining - reserve), multiplied by
 * 1 above 50 % left, 1.5 from 20 %, 2 from 5 % and 4 below, within the bounds above. Rounded up,
 * towards waiting. time_left_ns >= 0.
 */
int64_t fb_quota_delay_ns(int64_t limit, int64_t remaining, int64_t reserve, int64_t time_left_ns);

#endif
