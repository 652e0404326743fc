/* SPDX-License-Identifier: MIT */
/* usage.c - how much of their limits limiters use, one by one and all together. */
#include <errno.h>
#include <math.h>
#include <stddef.h>

#include <flyball/observe.h>

#include "core/accountant.h"
#include "core/bucket.h"
#include "core/instant.h"
#include "core/window.h"
#include "ledger/body.h"
#include "ledger/slot.h"
#include "ledger/table.h"
#include "ledger/watch.h"

double fb_permits_available(struct fly_limiter *l, int64_t now_ns)
{
    struct body *b = fb_enter(l);

    if (!b)
        return 0.0;
    int64_t now = fb_max64(fb_inner(l, now_ns), b->books.now_ns);
    double permits = fb_bucket_available(fb_accountant_bucket(&b->books), now);

    fb_leave(l);
    return permits;
}

double fb_window_utilization(struct fly_limiter *l, int64_t now_ns)
{
    struct body *b = fb_enter(l);
    double share = NAN;

    if (!b)
        return NAN;
    if (b->books.in_force >> FB_CONSTRAINT_window & 1) {
        int64_t now = fb_max64(fb_inner(l, now_ns), b->books.now_ns);
        struct window_use u = fb_window_fullest(&b->books.slot[FB_SLOT_window], now);

        share = (double)fb_min64(u.used, u.limit) / (double)u.limit;
    }
    fb_leave(l);
    return share;
}

/* A bucket as if it were a window: what is missing comes back in the time that it takes to fill. */
static struct window_use bucket_use(const int64_t *slot, int64_t now_ns)
{
    if (slot[FB_BUCKET_TICKS] == 0)
        return (struct window_use){.used = 0};
    int64_t burst = slot[FB_BUCKET_BURST] / slot[FB_BUCKET_PERMIT];

    return (struct window_use){
        .used = fb_bucket_owed(slot, now_ns),
        .limit = burst,
        .stated = burst,
        .length_ns = slot[FB_BUCKET_BURST] / slot[FB_BUCKET_TICKS],
    };
}

static struct window_use use_of(const struct accountant *a, int64_t now_ns)
{
    if (a->in_force >> FB_CONSTRAINT_window & 1)
        return fb_window_fullest(&a->slot[FB_SLOT_window], now_ns);
    return bucket_use(&a->slot[FB_SLOT_bucket], now_ns);
}

struct fly_usage fb_usage_of(const struct accountant *a, int64_t now_ns)
{
    struct window_use u = use_of(a, now_ns);
    int64_t at_ns = fb_accountant_ask(a, 1, now_ns).at_ns;

    return (struct fly_usage){
        .used = u.used,
        .limit = u.limit,
        .stated = u.stated,
        .remaining = fb_max64(0, u.limit - u.used),
        .window_ns = u.length_ns,
        .next_ns = at_ns,
        .in_flight = a->in_flight,
        .utilization = u.limit > 0 ? (double)fb_min64(u.used, u.limit) / (double)u.limit : 0.0,
        .limited = at_ns > now_ns,
    };
}

int fly_limiter_usage(struct fly_limiter *l, int64_t now_ns, struct fly_usage *ret_usage)
{
    if (ret_usage->size < sizeof(*ret_usage))
        return -EINVAL;
    struct body *b = fb_enter(l);
    if (!b)
        return -EBUSY;
    struct fly_usage u = fb_usage_of(&b->books, fb_max64(fb_inner(l, now_ns), b->books.now_ns));
    u.size = ret_usage->size;
    u.next_ns = u.limited ? fb_outer(l, u.next_ns) : now_ns;
    u.observed = fb_is_watched(l, b);
    *ret_usage = u;
    fb_leave(l);
    return 0;
}

static void add(struct fly_overall *all, const struct fly_usage *u, size_t index)
{
    all->active += u->used > 0 || u->in_flight > 0;
    all->observed += u->observed;
    all->limited += u->limited;
    all->used += u->used;
    if (u->utilization > all->utilization_most)
        all->utilization_most = u->utilization;
    if (index > 0 && u->used <= all->used_most)
        return;
    all->most_active = index;
    all->used_most = u->used;
    all->limit = u->limit;
    all->stated = u->stated;
    all->window_ns = u->window_ns;
    all->margin = u->stated > 0 ? 1.0 - (double)u->limit / (double)u->stated : 0.0;
}

int fly_overall_usage(struct fly_limiter *const *l, size_t n, int64_t now_ns,
                      struct fly_overall *ret_overall)
{
    struct fly_overall all = {.size = ret_overall->size};

    if (ret_overall->size < sizeof(*ret_overall))
        return -EINVAL;
    for (size_t i = 0; i < n; i++) {
        struct fly_usage u = {.size = sizeof(u)};
        (void)fly_limiter_usage(l[i], now_ns, &u);
        add(&all, &u, i);
    }
    all.bytes = n * fly_limiter_state_size();
    *ret_overall = all;
    return 0;
}
