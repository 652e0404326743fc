/* SPDX-License-Identifier: MIT */
/* state.c - save, load and tell what a limiter learned: core/state.h under its lock. */
#include "core/state.h"

#include <errno.h>

#include <flyball/state.h>

#include "core/accountant.h"
#include "core/instant.h"
#include "ledger/body.h"
#include "util/text.h"

int fly_limiter_save(struct fly_limiter *l, int64_t now_ns, void *bytes, size_t size)
{
    struct body *b = fb_enter(l);

    if (!b)
        return -EBUSY;
    size_t needed = fb_state_bytes(&b->books);
    int result = needed <= size ? (int)needed : -ENOSPC;

    if (result > 0)
        fb_state_write(&b->books, fb_inner(l, now_ns), bytes);
    fb_leave(l);
    return result;
}

int fly_limiter_load(struct fly_limiter *l, int64_t now_ns, int64_t passed_ns, const void *bytes,
                     size_t size, struct fly_error *err)
{
    struct body *b = fb_enter(l);

    if (!b)
        return -EBUSY;
    fb_change(l);
    int result = fb_state_read(&b->books, fb_inner(l, now_ns),
                               fb_clamp64(passed_ns, 0, FB_TIME_MAX), bytes, size, err);
    fb_leave_changed(l);
    return result;
}

int fly_limiter_learned(struct fly_limiter *l, int64_t now_ns, struct fly_learned *ret_learned)
{
    struct text t;

    (void)now_ns;
    if (ret_learned->size < sizeof(*ret_learned))
        return -EINVAL;
    struct body *b = fb_enter(l);
    if (!b)
        return -EBUSY;
    const struct controller *c = fb_accountant_controller(&b->books);
    struct learned x = fb_accountant_learned(&b->books);
    *ret_learned = (struct fly_learned){
        .size = ret_learned->size,
        .rate = fb_bucket_rate(fb_accountant_bucket(&b->books)),
        .reduction = x.reduction,
        .confidence = x.confidence,
        .recovery_ns = x.recovery_ns,
        .changed_ns = x.changed_ns == FB_LONG_AGO ? FLY_ABSENT : fb_outer(l, x.changed_ns),
    };
    fb_text_init(&t, ret_learned->by, sizeof(ret_learned->by));
    fb_text_add(&t, c ? c->name : "off");
    fb_leave(l);
    return 0;
}
