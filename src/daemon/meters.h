/* SPDX-License-Identifier: MIT */
/*
 * meters.h - what was counted since the start, for each provider and pool.
 *
 * An observer of the engine fills them, on the observers' thread; whoever reads them holds the
 * lock for as long. The number of label sets is bounded: names that are reserved (configured
 * providers) have a place, others take one while there are any, and all the rest is counted as
 * "other".
 */
#ifndef FLYBALL_DAEMON_METERS_H
#define FLYBALL_DAEMON_METERS_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "core/event.h"
#include "daemon/exposition.h"
#include "engine/engine.h"

#define METER_SETS       64 /* the first one is "other" */
#define METER_CAUSES     12 /* of waits; the first one is "other" */
#define METER_DURATIONS  8  /* series of answers in a set; the first one is "other" */
#define METER_RECOVERIES 128

extern const struct histogram_form fb_wait_form;
extern const struct histogram_form fb_duration_form; /* of OpenTelemetry's conventions */

/* Answers of one kind. */
struct meter_duration {
    char method[16];
    char error[24];
    int32_t status; /* 0: none came */
    int32_t http;   /* the version of HTTP times ten; 0: not known */
    struct histogram seconds;
    struct exemplar exemplar; /* the last answer that was a part of a trace */
};

struct meter_set {
    char provider[64];
    char pool[64];
    char address[64];       /* of the server, where there is only one; else "" */
    char port[8];           /* that was said */
    uint64_t requests;      /* that left */
    uint64_t answers;       /* attempts that came to an end */
    uint64_t errors;        /* of these: 5xx, timeouts, no answer */
    uint64_t client_errors; /* 4xx that were no refusals for rate */
    uint64_t wrong_row;     /* of those the latest, in a row: nothing has succeeded since */
    int64_t wrong_ns;       /* when the last of them came, */
    int32_t wrong_status;   /* and what it said */
    uint64_t throttled;
    uint64_t retries;
    uint64_t tasks[ENGINE_ENDS]; /* that ended */
    double waited_s;
    size_t durations;
    struct histogram wait[METER_CAUSES]; /* by cause, as the meters have them */
    struct meter_duration duration[METER_DURATIONS];
};

/* What was done about failures. */
struct meter_recovery {
    char operation[24];
    char error[24];
    char strategy[16]; /* "retry", "failover", "defer", "skip"; "fail": nothing helped */
    uint64_t count;
};

struct meters {
    pthread_mutex_t lock;
    size_t sets, sets_max, causes, recoveries;
    struct meter_set *set;
    uint16_t slot[METER_SETS * 4]; /* by hash; 0: free, else 1 + index */
    char cause[METER_CAUSES][24];
    struct meter_recovery recovery[METER_RECOVERIES];
    uint64_t by_kind[FB_EVENT_KINDS];
    uint64_t lost; /* events that never came here */
};

/* 0 or -ENOMEM. */
int fb_meters_init(struct meters *m) __attribute__((warn_unused_result));
void fb_meters_fini(struct meters *m);

/* No more label sets than so many, "other" among them; those that there are stay. */
void fb_meters_bound(struct meters *m, size_t sets_max);

/*
 * Keep a place for this name; later ones, beyond the bound, are "other". `host` is where it is, if
 * it is at one place; NULL: not known. A provider without a name of its own is called by its host.
 */
void fb_meters_reserve(struct meters *m, const char *provider, const char *pool, const char *host);

/* The index of its set: 0, "other", where it has none. With the lock held. */
size_t fb_meters_find(const struct meters *m, const char *provider, const char *pool);

/* As an observer: .on_event = fb_meters_on_event, .self = the meters. */
void fb_meters_on_event(void *self, const struct event *e);

#endif
