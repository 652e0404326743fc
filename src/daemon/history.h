/* SPDX-License-Identifier: MIT */
/*
 * history.h - how it went: figures of every provider and pool, a second, ten seconds and a minute
 * at a time, in rings of fixed length.
 *
 * A figure is a sum over the step (requests sent), what it was at its end (the limit), or the most
 * that it was (an age). Ten samples of a ring make one of the next. Memory is taken when a label
 * set is first seen and never grows beyond sets x rings. Pure but for that.
 *
 * What is watched has a set of its own, behind those of the providers, with figures of its own.
 */
#ifndef FLYBALL_DAEMON_HISTORY_H
#define FLYBALL_DAEMON_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/meters.h"
#include "util/buffer.h"

/* Name, whether it is a sum. */
#define FB_FIGURES(X)                                                                       \
    X(sent, true)        /* requests that left */                                           \
    X(done, true)        /* tasks that ended well */                                        \
    X(failed, true)      /* tasks that failed */                                            \
    X(throttled, true)   /* refusals for rate */                                            \
    X(waited_s, true)    /* of the tasks that ended, in all */                              \
    X(latency_s, true)   /* of the answers, in all */                                       \
    X(answers, true)     /* to divide that by */                                            \
    X(errors, true)      /* of these: 5xx, timeouts, none at all */                         \
    X(limit, false)      /* permits a second, the tightest of all; absent: none is known */ \
    X(confidence, false) /* in it */                                                        \
    X(left, false)       /* of the quota that the server told */                            \
    X(queued, false)                                                                        \
    X(in_flight, false)

#define X(name, is_sum) FIGURE_##name,
enum figure { FB_FIGURES(X) FIGURES };
#undef X

/* Of what is watched: name, how seconds become one sample. */
#define FB_WATCH_FIGURES(X)                                            \
    X(p50_s, MOST)     /* age of live items: half are younger */       \
    X(p95_s, MOST)     /* nineteen of twenty are */                    \
    X(grade, MOST)     /* as its enum has it: larger ones are worse */ \
    X(recoveries, SUM) /* that began */

#define X(name, joined) WATCHED_##name,
enum watch_figure { FB_WATCH_FIGURES(X) WATCH_FIGURES };
#undef X

/* Absent figures are NaN. */
struct figures {
    float value[FIGURES];
};

/* "sent" */
const char *fb_figure_name(enum figure f);

/* Nothing is known; and a span and the one after it as one, of a provider. */
struct figures fb_figures_none(void);
void fb_figures_merge(struct figures *to, const struct figures *more);

struct ring_form {
    int step_s;
    size_t length;
};

#define HISTORY_RINGS 3
#define HISTORY_SETS  (METER_SETS + 1) /* the last one is what is watched */
#define HISTORY_LATE  10 /* seconds: what comes later than that was not measured in between */
extern const struct ring_form fb_history_form[HISTORY_RINGS]; /* 1 s, 10 s, 60 s */

struct history {
    int64_t second;                       /* seconds since 1970 of the newest sample; 0: none */
    uint64_t count[HISTORY_RINGS];        /* samples so far */
    struct figures *sample[HISTORY_SETS]; /* all rings of a set, one by one; NULL: not seen */
    struct figures pending[HISTORY_SETS][HISTORY_RINGS];
};

void fb_history_init(struct history *h);
void fb_history_fini(struct history *h);

/*
 * The second that ends now. now[i] are the figures of set i, of `sets`; those of sums since the
 * last call. `watched` are those of what is watched; NULL: nothing is. A call that comes late by up
 * to HISTORY_LATE seconds stands for all of them: sums are spread over them. Longer gaps are filled
 * with nothing, since nothing is known of them.
 */
void fb_history_add(struct history *h, int64_t second, const struct figures *now, size_t sets,
                    const struct figures *watched);

/* What of the latest `count` samples of a figure in a ring is known, as a sum. */
double fb_history_sum(const struct history *h, size_t set, int ring, enum figure f, size_t count);

/* The latest `most` samples of the ring with this step (1, 10 or 60); "" is every provider. */
struct history_part {
    int step_s;
    size_t most;
    const char *provider;
    const char *pool;
    const char *only; /* the name of one figure; "": all of them */
    bool watched;     /* what is watched, and no provider */
};

/*
 * That part as JSON, oldest sample first; `names` are the meters that know how sets are called,
 * locked. -EINVAL: there is no such step, or no such figure.
 */
int fb_history_json(const struct history *h, const struct meters *names,
                    const struct history_part *part, struct buffer *out)
    __attribute__((warn_unused_result));

#endif
