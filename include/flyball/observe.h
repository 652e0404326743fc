/* SPDX-License-Identifier: MIT */
/*
 * observe.h - see what a limiter does, without being in its way.
 *
 * Events go into a ring that holds the latest of them. Nobody is called while a decision is made:
 * whoever wants to know reads the ring when it suits, with a cursor of its own, and is told how
 * many events were overwritten before they were read. There may be any number of readers.
 *
 *     fly_limiter_observe(l, FLY_EVENTS_ALL, 1000);
 *     ...
 *     static uint64_t cursor;
 *     missed += fly_limiter_drain(l, &cursor, print_event, stdout);
 *
 * A limiter that is not observed costs nothing for it. One that is takes its lock for each grant.
 *
 * Of a limiter that processes share, each sees what it does itself through this handle: its own
 * requests, waits and answers. What others learn is told as a change of the rate with the next
 * answer here. In the child of a fork nothing is observed until it asks for that itself.
 */
#ifndef FLYBALL_OBSERVE_H
#define FLYBALL_OBSERVE_H

#include <stddef.h>
#include <stdint.h>

#include <flyball/flyball.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Kinds of events. */
#define FLY_EVENT_REQUEST 1u  /* a grant: a request is made */
#define FLY_EVENT_LIMITED 2u  /* a limit is hit: until_ns, cause; once until the next grant */
#define FLY_EVENT_RESET   4u  /* the first grant after a limit was hit */
#define FLY_EVENT_OUTCOME 8u  /* what came of a request: status, latency_ns */
#define FLY_EVENT_RATE    16u /* something was learned: rate, rate_before */
#define FLY_EVENTS_ALL    31u

struct fly_event {
    uint64_t number;    /* from 1 on, without gaps */
    int64_t at_ns;      /* on the limiter's clock */
    int64_t until_ns;   /* LIMITED: when to ask again, or FLY_NEVER */
    int64_t waited_ns;  /* RESET: since the limit was hit */
    int64_t latency_ns; /* OUTCOME */
    double rate;        /* permits a second that are kept from now on; 0: no rate bounds it */
    double rate_before; /* RATE */
    uint32_t kind;      /* one of FLY_EVENT_... */
    uint32_t cost;      /* REQUEST, LIMITED, RESET */
    int32_t status;     /* OUTCOME */
    uint32_t throttled; /* OUTCOME: 1 for a refusal for rate */
    char cause[24];     /* LIMITED: as in struct fly_why */
};

/*
 * Observe the events of these kinds, the latest `events_max` of them (rounded up to a power of
 * two), and count for fly_limiter_metrics(). 0 of either ends it; nobody may be reading then.
 * -EALREADY when it is observed, -ENOMEM, -EINVAL for more than 2^20 events.
 */
FLY_API int fly_limiter_observe(struct fly_limiter *l, uint32_t kinds, size_t events_max);

/*
 * Read up to `most` events from *cursor on, 0 at first, and move it. Returns how many; what was
 * overwritten before it could be read is added to *missed.
 */
FLY_API size_t fly_limiter_events(struct fly_limiter *l, uint64_t *cursor,
                                  struct fly_event *ret_events, size_t most, uint64_t *missed);

/*
 * Call `on_event` for each event from *cursor on, on this thread and with no lock held, and move
 * it. Returns how many were missed.
 */
FLY_API uint64_t fly_limiter_drain(struct fly_limiter *l, uint64_t *cursor,
                                   void (*on_event)(void *self, const struct fly_event *event),
                                   void *self);

/* Sums since the limiter is observed, and figures of now. */
struct fly_metrics {
    uint64_t size;      /* sizeof(struct fly_metrics), set by the caller */
    uint64_t requests;  /* granted */
    uint64_t throttled; /* refused for rate by the provider */
    uint64_t rate_increases;
    uint64_t rate_decreases;
    uint64_t limited;         /* times that a limit was hit */
    int64_t wait_ns;          /* from each of those to the next grant, in all */
    int64_t wait_mean_ns;     /* the same per request */
    uint64_t successes;       /* accepted in a row */
    double rate;              /* kept now, permits a second; 0: no rate bounds it */
    double permits_available; /* that may leave at once, as far as a rate bounds that */
    uint64_t events;          /* written so far */
};

/* -EINVAL when `size` is too small; -ENOENT when it is not observed. */
FLY_API int fly_limiter_metrics(struct fly_limiter *l, int64_t now_ns,
                                struct fly_metrics *ret_metrics);

/* How much of its limit a limiter uses: of the fullest window, or else of the bucket. */
struct fly_usage {
    uint64_t size;      /* sizeof(struct fly_usage), set by the caller */
    int64_t used;       /* units in the window, or permits missing from the bucket */
    int64_t limit;      /* that may be used; 0: neither window nor rate is stated */
    int64_t stated;     /* as stated, before the margin */
    int64_t remaining;  /* limit - used, >= 0 */
    int64_t window_ns;  /* its length; of a bucket: how long it takes to fill */
    int64_t next_ns;    /* when a request may start: <= now, a later time, or FLY_NEVER */
    int64_t in_flight;  /* grants that are out */
    double utilization; /* used / limit, 0..1 */
    uint32_t limited;   /* 1: a request could not start now */
    uint32_t observed;  /* 1: the limiter is */
};

/*
 * Nothing changes. -EINVAL when `size` is too small; -EBUSY where another process keeps a shared
 * limiter for too long.
 */
FLY_API int fly_limiter_usage(struct fly_limiter *l, int64_t now_ns, struct fly_usage *ret_usage);

/* The same over several limiters. */
struct fly_overall {
    uint64_t size;           /* sizeof(struct fly_overall), set by the caller */
    uint64_t active;         /* limiters of which anything is used or out */
    uint64_t observed;       /* limiters that are */
    int64_t used;            /* in all */
    int64_t limit;           /* of the one used most */
    int64_t stated;          /* likewise */
    int64_t window_ns;       /* likewise */
    double margin;           /* likewise: 1 - limit / stated */
    uint64_t most_active;    /* its index */
    int64_t used_most;       /* what it uses */
    double utilization_most; /* the highest of all */
    uint64_t limited;        /* limiters in which a request could not start now */
    uint64_t bytes;          /* all limiters without their windows */
};

FLY_API int fly_overall_usage(struct fly_limiter *const *l, size_t n, int64_t now_ns,
                              struct fly_overall *ret_overall);

#ifdef __cplusplus
}
#endif

#endif
