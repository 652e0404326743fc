/* SPDX-License-Identifier: MIT */
/*
 * sentry.c - "X-Sentry-Rate-Limits: 60:transaction:key, 2700:default;error:organization": each
 * member closes some categories for so many seconds; no category means all of them.
 */
#include "signal/dialect.h"
#include "signal/number.h"

#define MEMBERS_MAX 16

static void tell_member(struct reading *r, struct slice member)
{
    struct slice seconds, name;
    int64_t span_s;

    (void)fb_slice_next(&member, ':', &seconds); /* there is always a first part */
    if (!fb_slice_next(&member, ':', &name) || !fb_number_read(seconds, &span_s) ||
        span_s > FLY_SIGNAL_RESET_MAX_NS / FB_S)
        return;
    struct pool *p = fb_pool_get(r, name, 0);
    if (!p)
        return;
    fb_told_least(&p->remaining, 0);
    fb_told_most(&p->after_ns, span_s * FB_S);
}

void fb_sentry_header(struct reading *r, struct slice name, struct slice value)
{
    struct slice member;

    (void)name;
    for (size_t i = 0; i < MEMBERS_MAX && fb_slice_next(&value, ',', &member); i++)
        tell_member(r, member);
}
