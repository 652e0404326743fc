/* SPDX-License-Identifier: MIT */
/*
 * watch.c - the limiters that are observed, found by their address.
 *
 * Invariant: a watch is found, written to and removed under the lock of its row. Readers of its
 * ring take that lock only to find it: they promise not to read while the watch ends.
 */
#include "ledger/watch.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>

#include <flyball/observe.h>

#include "core/accountant.h"
#include "core/bucket.h"
#include "ledger/body.h"
#include "ledger/life.h"
#include "ledger/lock.h"
#include "ledger/ring.h"
#include "ledger/slot.h"
#include "util/alloc.h"
#include "util/text.h"

#define ROWS       64
#define EVENTS_MAX (1u << 20)
#define AT_ONCE    16 /* events that a drain reads before it calls */

struct watch {
    struct watch *next;
    const struct fly_limiter *limiter;
    struct ring *ring;
    uint32_t kinds;
    double rate;  /* of a shared one, when it was looked at last */
    bool limited; /* since limited_ns, nothing was granted since */
    int64_t limited_ns;
    struct fly_metrics sums;
};

struct row {
    struct lock lock;
    struct watch *first;
};

static struct row rows[ROWS];
static _Atomic uint64_t rows_of; /* which process */

/* In the child of a fork nothing is observed: its parent was perhaps in the middle of an event. */
static void empty_rows(void *self)
{
    (void)self;
    for (int i = 0; i < ROWS; i++)
        rows[i] = (struct row){.first = NULL};
}

static struct row *row_of(const struct fly_limiter *l)
{
    return &rows[(uintptr_t)l / 64 % ROWS];
}

static struct row *lock_row(const struct fly_limiter *l)
{
    struct row *row = row_of(l);

    fb_life_once(&rows_of, empty_rows, NULL);
    fb_lock(&row->lock);
    return row;
}

/* The place in the row that points to the watch of `l`, or to NULL. */
static struct watch **find(struct row *row, const struct fly_limiter *l)
{
    struct watch **at = &row->first;

    while (*at && (*at)->limiter != l)
        at = &(*at)->next;
    return at;
}

/* The watch with its row locked; NULL and nothing locked when there is none. */
static struct watch *enter(const struct fly_limiter *l)
{
    struct row *row = lock_row(l);
    struct watch *w = *find(row, l);

    if (!w)
        fb_unlock(&row->lock);
    return w;
}

static void leave(const struct watch *w)
{
    fb_unlock(&row_of(w->limiter)->lock);
}

static void tell(struct watch *w, struct fly_event *e)
{
    if (w->kinds & e->kind)
        fb_ring_write(w->ring, e);
}

/* ---- what happens ---- */

/* The wait is over. */
static void tell_reset(struct watch *w, int64_t now_ns, uint32_t cost)
{
    struct fly_event e = {
        .kind = FLY_EVENT_RESET,
        .at_ns = now_ns,
        .cost = cost,
        .waited_ns = now_ns > w->limited_ns ? now_ns - w->limited_ns : 0,
    };

    w->limited = false;
    w->sums.wait_ns += e.waited_ns;
    tell(w, &e);
}

void fb_watch_granted(const struct fly_limiter *l, int64_t now_ns, uint32_t cost)
{
    struct fly_event e = {.kind = FLY_EVENT_REQUEST, .at_ns = now_ns, .cost = cost};
    struct watch *w = enter(l);

    if (!w)
        return;
    if (w->limited)
        tell_reset(w, now_ns, cost);
    w->sums.requests++;
    tell(w, &e);
    leave(w);
}

void fb_watch_limited(const struct fly_limiter *l, int64_t now_ns, uint32_t cost, int64_t until_ns,
                      const char *cause)
{
    struct fly_event e = {
        .kind = FLY_EVENT_LIMITED,
        .at_ns = now_ns,
        .cost = cost,
        .until_ns = until_ns,
    };
    struct text t;
    struct watch *w = enter(l);

    if (!w)
        return;
    if (!w->limited) {
        fb_text_init(&t, e.cause, sizeof(e.cause));
        fb_text_add(&t, cause);
        w->limited = true;
        w->limited_ns = now_ns;
        w->sums.limited++;
        tell(w, &e);
    }
    leave(w);
}

static void tell_rate(struct watch *w, int64_t now_ns, double before, double after)
{
    struct fly_event e = {
        .kind = FLY_EVENT_RATE,
        .at_ns = now_ns,
        .rate = after,
        .rate_before = before,
    };

    if (after > before)
        w->sums.rate_increases++;
    else
        w->sums.rate_decreases++;
    tell(w, &e);
}

void fb_watch_reported(const struct fly_limiter *l, int64_t now_ns, const struct fly_outcome *o,
                       double before, double after)
{
    struct fly_event e = {
        .kind = FLY_EVENT_OUTCOME,
        .at_ns = now_ns,
        .latency_ns = o->latency_ns,
        .status = o->status,
        .throttled = o->status == 429 || (o->flags & FLY_THROTTLED),
        .rate = after,
    };
    struct watch *w = enter(l);

    if (!w)
        return;
    if (e.throttled)
        w->sums.successes = 0;
    else if (o->status >= 200 && o->status < 400)
        w->sums.successes++;
    w->sums.throttled += e.throttled;
    tell(w, &e);
    if (fb_is_shared(l)) /* other processes may have changed it too */
        before = w->rate;
    w->rate = after;
    if (before < after || before > after)
        tell_rate(w, now_ns, before, after);
    leave(w);
}

/* ---- beginning and ending ---- */

void fb_watch_drop(const struct fly_limiter *l)
{
    struct row *row = lock_row(l);
    struct watch **at = find(row, l);
    struct watch *w = *at;

    if (w)
        *at = w->next;
    fb_unlock(&row->lock);
    if (w)
        fb_free(w->ring);
    fb_free(w);
}

static int begin(struct fly_limiter *l, uint32_t kinds, size_t events_max)
{
    struct watch *w = fb_alloc(sizeof(*w));

    if (!w)
        return -ENOMEM;
    *w = (struct watch){
        .limiter = l,
        .kinds = kinds,
        .ring = fb_ring_new(events_max),
        .rate = fly_limiter_rate(l),
    };
    if (!w->ring) {
        fb_free(w);
        return -ENOMEM;
    }
    struct row *row = lock_row(l);
    struct watch **at = find(row, l);
    bool is_new = !*at;
    if (is_new)
        *at = w;
    fb_unlock(&row->lock);
    if (is_new)
        return 0;
    fb_free(w->ring);
    fb_free(w);
    return -EALREADY;
}

/* From now on each decision is told, or none is; of a shared one for this handle alone. */
static void set_watched(struct fly_limiter *l, bool watched)
{
    if (fb_is_shared(l)) {
        atomic_store(&fb_share_of(l)->watched, watched);
        return;
    }
    struct body *b = fb_enter(l);
    assert(b); /* nobody else's process has it */
    b->books.watched = watched;
    fb_leave(l);
}

int fly_limiter_observe(struct fly_limiter *l, uint32_t kinds, size_t events_max)
{
    if (kinds == 0 || events_max == 0) {
        set_watched(l, false);
        fb_watch_drop(l);
        return 0;
    }
    if (events_max > EVENTS_MAX)
        return -EINVAL;
    int result = begin(l, kinds, events_max);
    if (result == 0)
        set_watched(l, true);
    return result;
}

/* ---- reading ---- */

static const struct ring *ring_of(const struct fly_limiter *l)
{
    struct watch *w = enter(l);

    if (!w)
        return NULL;
    leave(w);
    return w->ring;
}

size_t fly_limiter_events(struct fly_limiter *l, uint64_t *cursor, struct fly_event *ret_events,
                          size_t most, uint64_t *missed)
{
    const struct ring *r = ring_of(l);

    return r ? fb_ring_read(r, cursor, ret_events, most, missed) : 0;
}

uint64_t fly_limiter_drain(struct fly_limiter *l, uint64_t *cursor,
                           void (*on_event)(void *self, const struct fly_event *event), void *self)
{
    struct fly_event e[AT_ONCE];
    uint64_t missed = 0;
    size_t count;

    do {
        count = fly_limiter_events(l, cursor, e, AT_ONCE, &missed);
        for (size_t i = 0; i < count; i++)
            on_event(self, &e[i]);
    } while (count == AT_ONCE);
    return missed;
}

int fly_limiter_metrics(struct fly_limiter *l, int64_t now_ns, struct fly_metrics *ret_metrics)
{
    if (ret_metrics->size < sizeof(*ret_metrics))
        return -EINVAL;
    struct watch *w = enter(l);
    if (!w)
        return -ENOENT;
    uint64_t size = ret_metrics->size;
    *ret_metrics = w->sums;
    ret_metrics->size = size;
    ret_metrics->events = atomic_load_explicit(&w->ring->next, memory_order_relaxed);
    leave(w);

    int64_t requests = (int64_t)ret_metrics->requests;
    ret_metrics->wait_mean_ns = requests > 0 ? ret_metrics->wait_ns / requests : 0;
    ret_metrics->rate = fly_limiter_rate(l);
    ret_metrics->permits_available = fb_permits_available(l, now_ns);
    return 0;
}
