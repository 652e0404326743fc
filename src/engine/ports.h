/* SPDX-License-Identifier: MIT */
/*
 * ports.h - what the engine needs of the world: a clock, one timer, and somebody who sends.
 *
 * With libuv and libcurl behind them (net.c) it is the real one; with a simulated network and
 * virtual time it runs the same decisions thousands of times faster. The engine calls the ports;
 * the ports call what stands below them. All on one thread.
 */
#ifndef FLYBALL_ENGINE_PORTS_H
#define FLYBALL_ENGINE_PORTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/recovery.h"
#include "engine/engine.h"

/* One request on its way, as the sender sees it. */
struct attempt_request {
    const char *url;
    const char *method;
    const struct engine_header *header;
    size_t header_count;
    const void *body;
    size_t body_size;
    const char *id;
    const char *folder; /* for a large body of the answer, or NULL */
    int64_t connect_ns; /* that connecting may take: for name lookups that would outlive it */
    bool is_once; /* not to be sent twice: on a connection that is new or was in use just now */
    bool refuse_private; /* to a public address or not at all */
};

/* What came of it. Everything is the sender's and is borrowed for the call. */
struct attempt_end {
    enum failure failure; /* of the transfer: an answer of status 500 is none */
    const char *sentence; /* with a failure: what happened, for a person */
    int32_t status;       /* 0: no answer */
    int32_t http;         /* the version of HTTP times ten; 0: not known */
    const struct engine_header *header;
    size_t header_count;
    const void *body; /* with body_fd: its beginning, of beginning_size */
    size_t body_size;
    size_t beginning_size;
    int body_fd;      /* has all of it; 0: none */
    bool from_public; /* it came from an address that is not private */
};

struct attempt; /* the engine's */

struct engine_ports {
    void *self;
    bool has_threads; /* real time: observers have a thread of their own */

    /* Nanoseconds, never falling. */
    int64_t (*now)(void *self);

    /* Call fb_engine_tick() at this instant, or soon where it has passed; FLY_NEVER: not at all. */
    void (*wake_at)(void *self, int64_t at_ns);

    /*
     * Send it; fb_attempt_done() follows, later, unless it is aborted. *ret_transfer is given to
     * abort(). A negative errno: it could not even begin, and nothing follows.
     */
    int (*send)(void *self, struct attempt *a, const struct attempt_request *r,
                void **ret_transfer);

    /* End it now: the socket is closed and nothing follows. */
    void (*abort)(void *self, void *transfer);

    /* There is work (nothing may end the loop), or there is none. */
    void (*busy)(void *self, bool has_work);

    /* New connections and name lookups from here on. */
    void (*recycle)(void *self);

    /* The bounds of answers and the number of connections are as these options say; or NULL. */
    void (*tune)(void *self, const struct engine_options *o);

    /* How many connections were opened so far, and are open now (may be NULL). */
    int64_t (*connections)(void *self, int64_t *ret_open);

    /* The engine is gone: free everything, then call done(arg), which may be NULL. */
    void (*close)(void *self, void (*done)(void *arg), void *arg);
};

/* The time that was asked for has come, or something happened: decide what leaves now. */
void fb_engine_tick(struct engine *e);

/* Events are about to be told: read the clock once for all of them. */
void fb_engine_read_clock(struct engine *e);

/*
 * The request is about to leave on a connection that is ready. Called again, it is a re-send of
 * the sender's own making: false: it was not paid for, or must not be; abort it.
 */
bool fb_attempt_leaves(struct attempt *a) __attribute__((warn_unused_result));

/* Bytes of the request left, or bytes of the answer came. */
void fb_attempt_moves(struct attempt *a, bool is_answer);

/* It is over. The attempt is gone after this call; fb_engine_tick() should follow soon. */
void fb_attempt_done(struct attempt *a, const struct attempt_end *end);

#endif
