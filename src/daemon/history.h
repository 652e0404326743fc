/* SPDX-License-Identifier: MIT */
/*
 * history.h - how it went: figures of every provider and pool, a second, ten seconds and a minute
 * at a time, in rings of fixed length.
 *
 * A figure is either a sum over the step (requests sent) or what it was at its end (the limit).
 * Ten samples of a ring make one of the next. Memory is taken when a label set is first seen and
 * never grows beyond sets x rings. Pure but for that.
 */
#ifndef FLYBALL_DAEMON_HISTORY_H
#define FLYBALL_DAEMON_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/meters.h"
#include "util/buffer.h"

/* Name, whether it is a sum. */
#define FB_FIGURES(X)                                                  \
    X(sent, true)        /* requests that left */                      \
    X(done, true)        /* tasks that ended well */                   \
    X(failed, true)      /* tasks that failed */                       \
    X(throttled, true)   /* refusals for rate */                       \
    X(waited_s, true)    /* of the tasks that ended, in all */         \
    X(latency_s, true)   /* of the answers, in all */                  \
    X(answers, true)     /* to divide that by */                       \
    X(errors, true)      /* of these: 5xx, timeouts, none at all */    \
    X(limit, false)      /* permits a second; absent: none is known */ \
    X(confidence, false) /* in it */                                   \
    X(left, false)       /* of the quota that the server told */       \
    X(queued, false)                                                   \
    X(in_flight, false)

#define X(name, is_sum) FIGURE_##name,
enum figure { FB_FIGURES(X) FIGURES };
#undef X

/* Absent figures are NaN. */
struct figures {
    float value[FIGURES];
};

/* "sent" */
const char *fb_figure_name(enum figure f);

/* Nothing is known; and a span and the one after it as one. */
struct figures fb_figures_none(void);
void fb_figures_merge(struct figures *to, const struct figures *more);

struct ring_form {
    int step_s;
    size_t length;
};

#define HISTORY_RINGS 3
extern const struct ring_form fb_history_form[HISTORY_RINGS]; /* 1 s, 10 s, 60 s */

struct history {
    int64_t second;                     /* seconds since 1970 of the newest sample; 0: none */
    uint64_t count[HISTORY_RINGS];      /* samples so far */
    struct figures *sample[METER_SETS]; /* all rings of a set, one after another; NULL: not seen */
    struct figures pending[METER_SETS][HISTORY_RINGS];
};

void fb_history_init(struct history *h);
void fb_history_fini(struct history *h);

/*
 * The second that ends now. now[i] are the figures of set i, of `sets`; those of sums since the
 * last call. Seconds that were missed are filled with nothing.
 */
void fb_history_add(struct history *h, int64_t second, const struct figures *now, size_t sets);

/* The latest `most` samples of the ring with this step (1, 10 or 60); "" is every provider. */
struct history_part {
    int step_s;
    size_t most;
    const char *provider;
    const char *pool;
};

/*
 * That part as JSON, oldest sample first; `names` are the meters that know how sets are called,
 * locked. -EINVAL: there is no such step.
 */
int fb_history_json(const struct history *h, const struct meters *names,
                    const struct history_part *part, struct buffer *out)
    __attribute__((warn_unused_result));

#endif
