/* SPDX-License-Identifier: MIT */
/*
 * event.h - what an engine tells those who watch it, and the contract of an observer.
 *
 * An event is a value: everything is copied into it, so an observer may read it at any time, on
 * any thread, and keep it. Observers are told, never asked: nothing that they do reaches a
 * decision. What does not fit into their bounded queue is dropped and counted.
 */
#ifndef FLYBALL_CORE_EVENT_H
#define FLYBALL_CORE_EVENT_H

#include <stdint.h>

#include "core/trace.h"

#define FB_EVENTS(X)                                                             \
    X(REQUEST, "request")   /* an attempt is sent now */                         \
    X(WAIT, "wait")         /* a limit is hit: the key waits until until_ns */   \
    X(RESET, "reset")       /* the wait is over: the key goes on */              \
    X(ANSWER, "answer")     /* an attempt came to its end */                     \
    X(RETRY, "retry")       /* it will be made again, at until_ns */             \
    X(FAILOVER, "failover") /* the next alternative takes over */                \
    X(REDIRECT, "redirect") /* one hop further */                                \
    X(RATE, "rate")         /* the key's pace has changed to `rate` */           \
    X(DEFERRAL, "deferral") /* the task is put off until until_ns */             \
    X(OUTCOME, "outcome")   /* the task is over */                               \
    X(BREAKER, "breaker")   /* the provider's breaker opened or closed: cause */ \
    X(PAUSE, "pause")       /* the key is paused until until_ns */               \
    X(HEALTH, "health")     /* a grade has changed */                            \
    X(RECYCLE, "recycle")   /* connections and name lookups begin anew */        \
    X(STUCK, "stuck")       /* the watchdog saw the loop stand still */

enum event_type {
#define X(name, text) FB_EVENT_##name,
    FB_EVENTS(X)
#undef X
        FB_EVENT_KINDS
};

struct event {
    int64_t at_ns;
    int64_t until_ns;    /* see the kind; INT64_MIN: nothing to say */
    int64_t duration_ns; /* of the attempt (ANSWER) or the whole (OUTCOME) */
    int64_t waited_ns;   /* of that, for permits */
    double rate;         /* permits a second (RATE) */
    enum event_type kind;
    int32_t status;   /* HTTP, or 0 */
    int32_t http;     /* its version times ten, or 0 */
    int32_t attempt;  /* the first is 1 */
    uint32_t lost;    /* events dropped just before this one */
    char outcome[16]; /* "ok", "failed", ... (OUTCOME); "retry", "skip" ... (others) */
    char error[24];   /* the class of the failure, or "" */
    char cause[24];   /* why it waits: "bucket", "hold", ... */
    char method[16];  /* of the request; cut where longer, like what follows */
    char operation[24];
    char provider[64];
    char pool[32];
    char item[64];              /* the task's id */
    char trace[FB_TRACE_BYTES]; /* of the request, or "" */
};

/* Never called by two threads at once; it may be slow, it may not call the engine. */
struct observer {
    void (*on_event)(void *self, const struct event *e);
    void *self;
};

/* "request"; see FB_EVENTS. */
const char *fb_event_name(enum event_type kind);

#endif
