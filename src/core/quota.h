/* SPDX-License-Identifier: MIT */
/*
 * quota.h - what a server tells about a budget: so many in all, so many left, until then.
 *
 * Two ways to spend it. `even` spreads what is left over the time left, more carefully the less
 * there is; `demand` goes at full speed until only the reserve is left. Either way nothing leaves
 * that the server would have to refuse: what is out counts as spent until it is answered, and
 * what is used up waits for the reset.
 *
 * Somebody may know how many requests are still to come, the backlog. Where all of them fit into
 * what is left above the reserve nothing is spread, unless `even` was asked for.
 *
 * Nothing is in force before an answer has told limit, remaining and reset, or after the server
 * has stopped telling them.
 */
#ifndef FLYBALL_CORE_QUOTA_H
#define FLYBALL_CORE_QUOTA_H

#include <stdbool.h>
#include <stdint.h>

#define FB_QUOTA_MAX          INT64_C(1000000000000) /* larger figures are read as this */
#define FB_QUOTA_RESERVE_PPM  INT64_C(100000)        /* of `even`, unless said */
#define FB_QUOTA_BURST        10                     /* requests that `even` may run ahead */
#define FB_QUOTA_ASKED_MAX    3                      /* what is counted of `asked` */
#define FB_QUOTA_DELAY_MIN_NS INT64_C(50000000)
#define FB_QUOTA_DELAY_MAX_NS INT64_C(60000000000)

/* Slots of the constraint `quota`. */
enum {
    FB_QUOTA_LIMIT,     /* as told last; 0: nothing is in force */
    FB_QUOTA_LEFT,      /* the least told in this window */
    FB_QUOTA_UNTOLD,    /* spent by silent answers that what was told may not include ... */
    FB_QUOTA_SILENT_AT, /* ... of which the last left then */
    FB_QUOTA_ANCHOR,    /* the reset told first for this window: what it is recognised by */
    FB_QUOTA_OPENS,     /* when it is over: the latest reset told for it, with jitter */
    FB_QUOTA_SINCE,     /* when this window was first heard of */
    FB_QUOTA_BACKLOG,   /* packed, with `asked`: answers in a row that told nothing since then */
    FB_QUOTA_ASKED_AT,  /* when the latest of those left */
    FB_QUOTA_NEXT,      /* even: where the evenly spaced requests have got to ... */
    FB_QUOTA_AHEAD,     /* ... and how far that may be ahead of now */
    FB_QUOTA_RESERVE,   /* parts per million of the limit */
    FB_QUOTA_EVEN,      /* 0: on demand; else how evenly: the bounds of the spacing, packed */
    FB_QUOTA_SLOTS
};

enum quota_health {
    QUOTA_HEALTHY,   /* more than 50 % left */
    QUOTA_WARNING,   /* 20 % or more */
    QUOTA_CRITICAL,  /* some */
    QUOTA_EXHAUSTED, /* nothing: wait for the reset */
};

/* The state of a budget of 1..FB_QUOTA_MAX, of which `remaining` <= limit is left. */
enum quota_health fb_quota_health(int64_t limit, int64_t remaining);

/* How `even` spaces requests. */
struct spacing {
    int64_t least_ns, most_ns; /* apart */
    int64_t ahead;             /* requests that may run ahead */
};

#define FB_SPACING_DEFAULT                                                   \
    {                                                                        \
        .least_ns = FB_QUOTA_DELAY_MIN_NS, .most_ns = FB_QUOTA_DELAY_MAX_NS, \
        .ahead = FB_QUOTA_BURST                                              \
    }

/*
 * In one slot, never 0: milliseconds up to 70 minutes, rounded up towards waiting, and up to half a
 * million requests ahead.
 */
int64_t fb_spacing_pack(const struct spacing *s);
struct spacing fb_spacing_unpack(int64_t packed);

/*
 * How far apart `even` keeps requests of cost 1: time_left / (remaining - reserve), multiplied by
 * 1 above 50 % left, 1.5 from 20 %, 2 from 5 % and 4 below, within the bounds above. Rounded up,
 * towards waiting. time_left_ns >= 0.
 */
int64_t fb_quota_delay_ns(int64_t limit, int64_t remaining, int64_t reserve, int64_t time_left_ns);

/*
 * Units are still to be asked for; -1: nobody knows how many. Of several who say it the largest
 * counts, and not knowing is the largest of all, for as long as that is said every few seconds.
 * Whether the quota is in force does not matter.
 */
void fb_quota_say_backlog(int64_t *slot, int64_t units, int64_t now_ns);
int64_t fb_quota_backlog(const int64_t *slot);

/* So many were asked for and leave. More than there were to come: nobody knows any more. */
void fb_quota_count_down(int64_t *slot, int64_t units);

/* Whether `units` fit into what is told to be left, above the reserve. limit >= 1. */
bool fb_quota_fits(const int64_t *slot, int64_t limit, int64_t remaining, int64_t units);

/*
 * Units a second at which what was told is spent: as `even` spaces them, else what is left above
 * the reserve over the time left. 0: nothing is in force.
 */
double fb_quota_rate(const int64_t *slot, int64_t units_out, int64_t now_ns);

#endif
