/* SPDX-License-Identifier: MIT */
/*
 * engine.h - tasks in, results out: each exactly once, at the right pace, whatever happens.
 *
 * A task is one request that somebody wants answered. The engine queues it under its key (provider
 * x pool x credential), waits for the key's limiter, sends it, follows redirects, reads what the
 * answer says about limits, tries again, fails over, defers or gives up as the recovery table says,
 * and calls on_result once. Every request that leaves, retry and redirect hop included, has taken
 * a permit, and every permit is reported exactly once.
 *
 *     struct engine_options o;
 *     fb_engine_options_init(&o);
 *     o.on_result = take_result;
 *     fb_engine_open(loop, &o, &engine, &err);
 *     struct engine_task t = {.url = "https://api.example.com/1", .id = "1", .user = mine};
 *     fb_engine_submit(engine, &t, NULL, &err);
 *     uv_run(loop, UV_RUN_DEFAULT);          returns when nothing is left to do
 *     fb_engine_close(engine, NULL, NULL);   and uv_run() again, so that handles close
 *
 * One thread runs the loop and the engine: every function here, and every callback unless it says
 * otherwise, belongs to it. Callbacks may call any function here but fb_engine_close(). Nothing
 * blocks: an embedder whose work is slow hands it to a thread of its own.
 *
 * Time is one int64_t of nanoseconds: CLOCK_BOOTTIME, moved by anchor_ns so that it counts from
 * the epoch.
 */
#ifndef FLYBALL_ENGINE_ENGINE_H
#define FLYBALL_ENGINE_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/event.h"
#include "core/queue.h"
#include "core/recovery.h"

struct engine;
struct engine_client; /* one of several who submit tasks; see engine/control.h */
struct engine_key_state;
struct engine_ports;
struct fly_error;
struct fly_limiter;
struct job; /* a task inside; valid from fb_engine_submit() to the end of its on_result */
struct uv_loop_s;

struct engine_header {
    const char *name;
    const char *value;
};

/* ---------------------------------------------------------------------------------------- tasks */

/* The method is not idempotent, but sending it twice does no harm (an idempotency key). */
#define ENGINE_RETRYABLE 1u
/* 3xx is an answer like any other. */
#define ENGINE_NO_REDIRECT 2u
/*
 * Whoever submits it knows by itself when to leave a host alone: neither breaker nor pause of the
 * key keeps it, and its failures count for neither. Limits, holds and slots are as for all.
 */
#define ENGINE_OWN_TRIALS 4u
/* A 304 costs nothing of any limit of the key, stated ones included: its permits go back. */
#define ENGINE_UNMODIFIED_FREE 8u

/*
 * What is wanted. Zero means "the usual" for every field but url. All of it is copied; the caller
 * may forget it at once.
 */
struct engine_task {
    const char *url;                    /* http or https */
    const char *method;                 /* NULL: GET */
    const struct engine_header *header; /* sent as given, after the engine's own */
    size_t header_count;
    const void *body;
    size_t body_size;
    const char *id;         /* for results, logs and X-Request-Id; NULL: "" */
    const char *provider;   /* NULL: host and port of the URL */
    const char *preset;     /* what is known of that provider, by name; NULL: by host or provider */
    const char *pool;       /* NULL: "default" */
    const char *credential; /* what the key is told apart by; NULL: a hash of Authorization */
    const char *operation;  /* row of the recovery table; NULL: "download" */
    const char
        *folder; /* a body above spill_bytes goes to an unnamed file there; NULL: none does */
    const char *const *alternative; /* other URLs for the same thing, best first */
    size_t alternative_count;
    enum priority priority;
    uint32_t cost;         /* permits; 0: 1 */
    uint32_t flags;        /* ENGINE_... */
    int32_t attempts;      /* already made, in an earlier run */
    int64_t not_before_ns; /* an instant; a deferred task that is run again */
    int64_t patience_ns;   /* a span: it must have started by then, or ends at once; 0: for ever */
    int64_t *late_ns; /* an instant: if it will start later, it is not taken; NULL: never mind */
    void *user;       /* comes back with the result */
    struct engine_client *client; /* who is told; NULL: the callbacks of the options */
};

/* -------------------------------------------------------------------------------------- results */

#define FB_ENGINE_ENDS(X)                                                                    \
    X(OK, "ok")               /* an answer below 400, 304 included */                        \
    X(FAILED, "failed")       /* and no strategy is left */                                  \
    X(DEFERRED, "deferred")   /* not before ready_at_ns: run it again then */                \
    X(SKIPPED, "skipped")     /* left out, as the table says */                              \
    X(UNKNOWN, "unknown")     /* not idempotent, sent, and nobody knows whether it worked */ \
    X(CANCELLED, "cancelled") /* the engine or the caller stopped it; as if never submitted */

enum engine_end {
#define X(name, text) ENGINE_##name,
    FB_ENGINE_ENDS(X)
#undef X
        ENGINE_ENDS
};

/* What came of a task. Everything it points to is the engine's and ends with the callback. */
struct engine_result {
    const char *id;
    void *user;
    enum engine_end end;
    enum failure failure; /* FAIL_NONE with ENGINE_OK */
    const char *sentence; /* for a person: what happened; "" with ENGINE_OK */
    bool escalated;       /* somebody has to know; in strict mode the run is over */
    bool was_sent;        /* at least one request of it left this process */
    int32_t status;       /* of the last answer; 0: there was none */
    const char *url;      /* the one that answered last: after redirects and failover */
    const char *method;
    const struct engine_header *header; /* of the last answer, values unfolded, names as sent */
    size_t header_count;
    const void *body; /* whole, and only with an answer; NUL follows it; NULL with body_fd */
    size_t body_size;
    int body_fd;       /* a file without a name that has the body, open for the call; 0: none has */
    int32_t attempts;  /* earlier runs included; throttled answers are none */
    int32_t requests;  /* what left in this run: attempts, redirect hops, paid re-sends */
    int32_t throttled; /* answers that were refusals for rate */
    int32_t redirects;
    int32_t source; /* 0: url itself, n: the n-th alternative */
    int64_t submitted_ns, sent_ns, first_byte_ns, ended_ns; /* last attempt; 0: it never came */
    int64_t waited_ns;    /* in all, from wanting to leave until leaving */
    int64_t ready_at_ns;  /* ENGINE_DEFERRED: the true time at which it could start */
    const char *cause;    /* what it waited for last: "bucket", "hold", "concurrency", ... or "" */
    const char *provider; /* of the key that it ran under last */
    const char *pool;
};

/* -------------------------------------------------------------------------------------- options */

/* A key, as limiters are made for it. */
struct engine_key {
    const char *provider;
    const char *pool;
    const char *credential; /* a keyed hash in hexadecimal, never the secret; "" without one */
};

/* When the queue is full; never in favour of a lower priority. */
enum engine_full {
    ENGINE_FULL_DEFER, /* the lowest and newest ends as ENGINE_DEFERRED */
    ENGINE_FULL_DROP,  /* ... as ENGINE_FAILED, FAIL_NO_ROOM */
};

/* How connections are made; strings may be NULL, and are copied. As curl's options of that name. */
struct engine_connect {
    const char *user_agent; /* NULL: "flyball/VERSION" */
    const char *proxy, *no_proxy, *proxy_user;
    const char *ca_file, *ca_path, *client_cert, *client_key;
    const char *interface;
    const char *const *resolve; /* "host:port:address", ended by NULL */
    bool insecure;              /* certificates are not checked */
    bool http1_only;
    bool decompress;       /* ask for compression and undo it */
    bool refuse_private;   /* no loopback, link-local or private address at all, as resolved */
    bool redirect_private; /* allow a redirect from a public address to a private one */
};

struct engine_options {
    void *user; /* first argument of every callback */

    /* Called once per task. */
    void (*on_result)(void *user, const struct engine_result *r);
    /*
     * Before a request that is not idempotent is sent (each time), up to 250 ms before it can
     * leave. Commit "started" and then call fb_engine_go(), now or later. Of a key it is called for
     * one at first, again after the answer, and for more at a time the better they leave at once:
     * after a crash nobody knows of what is started whether it left. What is started may still
     * wait, and end without having been sent. NULL: such requests leave like others.
     */
    void (*on_start)(void *user, struct job *j, void *task_user, int32_t attempt);
    /* The queue has fallen to a half of queue_max again after a submit did not fit, or is idle. */
    void (*on_room)(void *user);
    /*
     * Make the limiter of a new key; the engine frees it. NULL, or returning NULL with `err` empty:
     * fly_limiter_new(limit). Returning NULL with a sentence in `err` fails the task.
     */
    struct fly_limiter *(*limiter_of)(void *user, const struct engine_key *k, int64_t now_ns,
                                      struct fly_error *err);
    /*
     * An idle key is about to be forgotten, and with it what its limiter has learned; true: it may.
     * NULL: keys that learn are kept. No function of the engine may be called from here.
     */
    bool (*on_forget)(void *user, const struct engine_key_state *s);
    /* On the WATCHDOG'S OWN THREAD: the loop has stood still for so long. NULL: no watchdog. */
    void (*on_stuck)(void *user, int64_t still_ns);
    int64_t stuck_ns; /* 30 s */

    const char *limit; /* text for keys without another, to be kept; NULL: nothing is known */
    const char *const *recovery; /* rules as text, ended by NULL; later ones come first */
    enum recovery_mode mode;
    int32_t attempts_max;         /* where the table has no end: 3 */
    bool attempts_bound_all;      /* everywhere, whatever the table and `recovery` say */
    bool asks_quota;              /* where a provider tells it for free, before the first request */
    bool retry_throttled_forever; /* else after 100 refusals a task is deferred */

    int32_t concurrency;          /* in all: 40 */
    int32_t concurrency_provider; /* 0: no bound of its own */
    int32_t concurrency_key;      /* 0: no bound but the limiter's */
    int32_t reserved;             /* of `concurrency`, for high, live and imminent work: 0 */

    int64_t queue_max; /* tasks: 1,000,000 */
    enum engine_full when_full;
    int64_t keys_kept; /* above so many, idle keys are forgotten when that breaks no limit: 1024 */
    int32_t ageing;    /* so many starts in a row pass a lower priority over: 16; 0: any number */

    int64_t connect_ns;    /* 10 s, TLS included */
    int64_t first_byte_ns; /* 30 s, from the request sent to the first line of the answer */
    int64_t idle_ns;       /* 30 s without a byte */
    int64_t total_ns;      /* 120 s for one attempt */
    int64_t hold_max_ns;   /* a longer wait of a key defers its tasks: 1 h; 0: none does */
    int64_t
        outage_max_ns; /* a provider that is down for longer defers its tasks: 15 min; 0: none */
    int32_t breaker_failures; /* in a row, of a key: then nothing leaves but trials: 5; 0: never */
    int64_t breaker_ns;       /* from one trial to the next: 60 s */
    bool breaker_counts_429;  /* a refusal for rate is a failure, too */
    int32_t pause_failures;   /* in a row, for R9's pause of a key: 10; 0: never */
    int64_t pause_ns;         /* 300 s */
    int32_t redirects_max;    /* 10 */

    int64_t body_bytes_max; /* decompressed: 64 MiB; more is FAIL_TOO_LARGE */
    int64_t spill_bytes;    /* larger ones go to a file where the task names a folder: 256 KiB */
    int64_t head_bytes_max; /* 64 KiB */
    int32_t headers_max;    /* 200 */
    int32_t inflate_max;    /* decompressed : compressed, above the first MiB: 200 */

    int64_t recycle_ns;    /* connections, name lookups and handles begin anew: 6 h */
    int64_t recycle_tasks; /* or after so many: 10,000 */

    const struct observer *observer; /* told on a thread of its own */
    size_t observer_count;
    size_t events_max; /* that wait for observers: 4096 */

    int64_t anchor_ns;        /* 0: chosen so that the clock counts from the epoch */
    uint64_t seed;            /* 0: from the system */
    unsigned char secret[16]; /* keys the hash of credentials; zeroes: from the system */
    struct engine_connect connect;
};

/* Everything as the comments above say. */
void fb_engine_options_init(struct engine_options *o);

/* ----------------------------------------------------------------------------------- the engine */

/* On a libuv loop with libcurl. 0, or a negative errno with a sentence: -EINVAL for options. */
int fb_engine_open(struct uv_loop_s *loop, const struct engine_options *o,
                   struct engine **ret_engine, struct fly_error *err)
    __attribute__((warn_unused_result));

/* On anything else, such as virtual time: see engine/ports.h. */
int fb_engine_new(const struct engine_ports *ports, const struct engine_options *o,
                  struct engine **ret_engine, struct fly_error *err)
    __attribute__((warn_unused_result));

/*
 * Queue a task. 0 and *ret_job (unless ret_job is NULL): on_result will be called, once, from a
 * later turn of the loop. -ENOBUFS: full, and nothing lower is queued: on_room will be called;
 * -EINVAL: no such URL, method or header; -ESHUTDOWN: stopped; -ENOMEM; -EAGAIN: it would
 * start after *late_ns, which is now the time at which it could. Then there is no result.
 * `err`, unless NULL, says what is wrong with it.
 */
int fb_engine_submit(struct engine *e, const struct engine_task *t, struct job **ret_job,
                     struct fly_error *err) __attribute__((warn_unused_result));

/* The answer to on_start: 0 to send it; anything else ends the task as ENGINE_CANCELLED. */
void fb_engine_go(struct engine *e, struct job *j, int verdict);

/* The caller does not want it any more: its request is cut off, its result CANCELLED or UNKNOWN. */
void fb_engine_cancel(struct engine *e, struct job *j);

/*
 * Stop: what is queued ends as ENGINE_CANCELLED at once, what is under way has until `deadline_ns`,
 * an instant; then it is cut off and ends as CANCELLED, or UNKNOWN where it may have worked.
 * on_room is called no more. A second call may bring the deadline forward.
 */
void fb_engine_stop(struct engine *e, int64_t deadline_ns);

/* Nothing new leaves until fb_engine_resume(); what is under way goes on. */
void fb_engine_pause(struct engine *e);
void fb_engine_resume(struct engine *e);

/*
 * Begin anew with connections, name lookups and handles; what is under way ends on the old ones.
 * A key whose breaker is open may try one request at once, even in the middle of its pause.
 */
void fb_engine_recycle(struct engine *e);

/*
 * Stop at once (see fb_engine_stop) and free everything; then `done`, unless NULL, is called. On a
 * libuv loop that needs further turns of it; otherwise it is done on return. NULL is allowed.
 */
void fb_engine_close(struct engine *e, void (*done)(void *arg), void *arg);

struct engine_stats {
    int64_t submitted, done;  /* tasks */
    int64_t end[ENGINE_ENDS]; /* of those done */
    int64_t queued, asked, in_flight;
    int64_t queued_by[FB_QUEUE_LEVELS]; /* of those queued, from the highest priority on */
    int64_t in_flight_most;             /* at any time: never above `concurrency` */
    int64_t requests;                   /* that left: permits taken and not given back */
    int64_t retries;                    /* of those */
    int64_t redirects;                  /* of those */
    int64_t resends_paid;               /* libcurl's own, of those */
    int64_t resends_refused; /* libcurl wanted to send again and had no permit, or must not */
    int64_t throttled, failovers, timeouts;
    int64_t evicted; /* from a full queue, in favour of a higher priority */
    int64_t refused; /* submits that did not fit */
    int64_t body_bytes;
    int64_t connections;      /* opened */
    int64_t connections_open; /* of these, now; those without a request among them */
    int64_t recycles;
    int64_t events_lost; /* that observers could not take in time */
    int64_t keys;
    int64_t keys_forgotten;
};

/* The engine's clock. */
int64_t fb_engine_now(const struct engine *e);

void fb_engine_stats(const struct engine *e, struct engine_stats *ret_stats);

/* What the answers under a key said last; zeroes: nothing was said. */
struct engine_told {
    int64_t limit, remaining; /* of its pool */
    int64_t window_ns;        /* so long a time the limit is for; 0: not said */
    int64_t reset_ns;         /* an instant */
    int64_t reset_most_ns;    /* the longest time until a reset that was ever told */
    int64_t first_reset_ns;   /* the first reset that was told; 0: none, or nobody knows */
    int64_t told_ns;          /* when all this was told last */
    int64_t retry_after_ns;   /* with the last refusal for rate; 0: not said */
    int64_t refused_ns;       /* when that came */
    int32_t status;           /* of it */
    char item[64];            /* the id of the task, cut where longer */
    char header[64];          /* that told what is left, in small letters, or "the body" */
};

/* Failures of a key that speak against its host, one after another and all alike; 0: none. */
struct engine_failures {
    int32_t count;
    int32_t status; /* that was answered; 0: nothing was */
    char says[64];  /* what it is, where nothing was answered */
};

/* What a key is doing, for status and --plan. */
struct engine_key_state {
    struct engine_key key;
    struct fly_limiter *limiter; /* the engine's; ask it why */
    int64_t queued, in_flight;
    const int64_t *queued_by;  /* by priority, the most urgent first */
    int64_t oldest_ns;         /* since when the oldest of those is queued; 0: none is */
    int64_t left_ns;           /* when a request left last; 0: none did */
    int64_t requests, refused; /* that left; of those for rate */
    bool is_enabled;           /* its provider is */
    bool is_broken;            /* its breaker is open: only trials leave ... */
    int64_t broken_until_ns;   /* ... the next one then; FLY_NEVER: it is on its way */
    int64_t ready_at_ns;       /* <= now: it may send; FLY_NEVER: an answer decides */
    const char *cause;         /* "" or what it waits for */
    const struct engine_told *told;
    struct engine_failures failures; /* the last ones; of a breaker, those that opened it */
};

/* Call `each` for every key, in no particular order. */
void fb_engine_keys(struct engine *e, void (*each)(void *arg, const struct engine_key_state *s),
                    void *arg);

/* "ok", "failed", ... */
const char *fb_engine_end_name(enum engine_end end);

#endif
