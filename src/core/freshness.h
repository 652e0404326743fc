/* SPDX-License-Identifier: MIT */
/*
 * freshness.h - how old is what is known about an item, which one is to be looked at next, and how
 * the ages of all of them are spread.
 *
 * An item is live, imminent or completed. Each state has an age that is aimed at: a live item is
 * due for another look sooner than one that is over. Live items always come before imminent ones,
 * and these before completed ones; among equals the one that is longest overdue comes first, by
 * what is aimed at.
 *
 * Nothing here forgets when an item was fresh, whatever is recovered or begun anew around it.
 */
#ifndef FLYBALL_CORE_FRESHNESS_H
#define FLYBALL_CORE_FRESHNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/instant.h"

/* Every state of an item, the most urgent first, and the age in seconds that is aimed at. */
#define FB_ITEM_STATES(X) \
    X(live, 10)           \
    X(imminent, 60)       \
    X(completed, 3600)

#define X(name, aim_s) ITEM_##name,
enum item_state { FB_ITEM_STATES(X) ITEM_STATES };
#undef X

struct freshness {
    int64_t known_ns; /* since when there is such an item: what was never fresh ages from here on */
    int64_t fresh_ns; /* the instant for which the latest snapshot holds, or FB_LONG_AGO */
};

struct freshness_aims {
    int64_t aim_ns[ITEM_STATES];
};

/* The ages of the table above. */
void fb_freshness_aims_init(struct freshness_aims *a);

/* "live", "imminent", "completed" */
const char *fb_item_state_name(enum item_state state);

/* An item that is known from now on. */
static inline struct freshness fb_freshness_new(int64_t now_ns)
{
    return (struct freshness){.known_ns = now_ns, .fresh_ns = FB_LONG_AGO};
}

/* A snapshot holds for the instant at which it was asked for. An older one changes nothing. */
static inline void fb_freshness_on_snapshot(struct freshness *f, int64_t asked_ns)
{
    f->fresh_ns = fb_max64(f->fresh_ns, asked_ns);
}

/* >= 0, also where a clock lags. */
int64_t fb_freshness_age(const struct freshness *f, int64_t now_ns);

/* From when on another look is due; an item that was never looked at is due since it is known. */
int64_t fb_freshness_due_at(const struct freshness *f, const struct freshness_aims *a,
                            enum item_state state);

/*
 * What an item costs that waits: 0 when it is not due yet, else how many times over it has
 * passed what is aimed at, in thousandths, plus 1.
 */
int64_t fb_freshness_urgency(const struct freshness *f, const struct freshness_aims *a,
                             enum item_state state, int64_t now_ns);

/* ---- all of them ---- */

struct freshness_spread {
    size_t count;
    int64_t p50_ns;
    int64_t p95_ns;
    int64_t oldest_ns;
};

/*
 * The spread of these ages, which are put into another order; all 0 where there are none. A
 * percentile is the smallest age that so many of them do not exceed: exact, in linear time.
 */
struct freshness_spread fb_freshness_spread(int64_t *ages_ns, size_t count);

#endif
