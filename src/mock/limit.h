/* SPDX-License-Identifier: MIT */
/*
 * limit.h - the limit that the mock enforces: a limit text made into the gates of a model provider.
 *
 * Nothing is shared with the limiter but the words: what judges a client must not be what the
 * client was built from. Windows slide and are exact, `margin` means nothing; neither do the words
 * that tell a client how to keep to a limit (adapt, floor, ceiling, pacing, reserve), so that the
 * same text can be given to both sides. Words of the mock alone: `fixed=100/10s` (repeatable),
 * windows that all open at multiples of their length; `penalty=30s`, for how long a refusal shuts
 * the door.
 */
#ifndef FLYBALL_MOCK_LIMIT_H
#define FLYBALL_MOCK_LIMIT_H

#include <flyball/flyball.h>

#include "sim/provider.h"

/*
 * Read `text` and set up *ret_provider, full and at time 0 of a monotonic clock; its refusals have
 * this status. Ends with fb_provider_fini(). 0; -EINVAL with a sentence in `err`; -ENOMEM.
 */
int fb_mock_limit_read(const char *text, int32_t status, struct provider *ret_provider,
                       struct fly_error *err) __attribute__((warn_unused_result));

/* What a provider may tell of one gate. */
struct mock_pool {
    int64_t limit;
    int64_t remaining;
    int64_t window_s; /* 1 at least */
    int64_t reset_ns; /* from now until there is more: a window that opens, a bucket that is full */
};

/* What it may tell with one answer. */
struct mock_told {
    struct mock_pool pool[FB_GATES_MAX];
    int32_t pools;
    int32_t tightest; /* the one with the least left; valid if there are pools */
    bool refused;
    int64_t retry_ns; /* of a refusal: from now until it can succeed; 1 s if nobody knows */
};

/* Fill in what is true after the verdict on a request that arrived now. */
void fb_mock_tell(struct provider *p, int64_t now_ns, const struct verdict *v,
                  struct mock_told *ret_told);

#endif
