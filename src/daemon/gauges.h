/* SPDX-License-Identifier: MIT */
/*
 * gauges.h - how every provider and pool stands now: read from the engine once a second, for
 * metrics, history, alerts and the grade alike.
 *
 * Keys of one provider and pool (several credentials) are added up. Limiters are asked only for
 * label sets that have a name: of the many in "other" there is how much is queued and under way.
 */
#ifndef FLYBALL_DAEMON_GAUGES_H
#define FLYBALL_DAEMON_GAUGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/history.h"
#include "daemon/meters.h"
#include "engine/engine.h"

#define GAUGE_WRONG_ROW 10                         /* answers of 4xx in a row are worth a word, */
#define GAUGE_WRONG_NS  (60 * INT64_C(1000000000)) /* for so long after the last */

struct gauge {
    int64_t keys, queued, in_flight;
    int64_t broken;       /* breakers that are open */
    int64_t wrong_row;    /* answers in a row that were 4xx, the last of them just now; 0: few */
    int32_t wrong_status; /* of the last */
    bool is_disabled;     /* its provider is switched off, whether it has keys or not */
    double limit;         /* permits a second at which limiters let go, of all keys; 0: no rate */
    double bound;         /* the tightest of limits, windows and quotas, of all; 0: none is known */
    double learned;       /* of the limits the learned ones, of all; 0: none was */
    double confidence;    /* the least of those that were learned; NaN: none was */
    double sent;          /* requests in the last second */
    double quota_limit;   /* told by the server; 0: nothing was told */
    double quota_left;
    double quota_reset_s; /* since 1970, the next one */
    double used;          /* the largest share of a limit that is in use, 0..1; NaN: not known */
    double wait_s;        /* the longest time until a key may start that has something queued */
    char cause[24];       /* of that wait */
};

struct gauges {
    size_t sets;
    struct gauge set[METER_SETS];
    struct meter_sums {
        double requests, done, failed, throttled, waited_s, latency_s, answers, errors;
    } before[METER_SETS]; /* as they were a second ago */
    struct engine_stats stats;
};

/*
 * Look at the engine and the meters: fill in `g`, and the figures of the second that ends now.
 * `now_ns` is the engine's.
 */
void fb_gauges_read(struct gauges *g, struct engine *engine, struct meters *m, int64_t now_ns,
                    struct figures figures[METER_SETS]);

#endif
