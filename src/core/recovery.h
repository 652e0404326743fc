/* SPDX-License-Identifier: MIT */
/*
 * recovery.h - what can go wrong with a request, and what is then done about it.
 *
 * A failure has a class; classes form families. What follows depends on the operation that the
 * request serves, on the class and on the attempt: a table, in which rules given as text come
 * before the ones built in. The first rule that fits decides.
 *
 * Nothing is done here: the caller waits, sends again or gives up. How long a retry waits is
 * backoff.h, how many are affordable retry_budget.h.
 */
#ifndef FLYBALL_CORE_RECOVERY_H
#define FLYBALL_CORE_RECOVERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fly_error;

/* Families, from which a rule may take all classes at once. */
enum failure_family {
    FAMILY_NONE,
    FAMILY_THROTTLED, /* refused for rate, whatever the status */
    FAMILY_TIMEOUT,
    FAMILY_NETWORK,
    FAMILY_5XX,
    FAMILY_4XX,
    FAMILY_PAYLOAD, /* an answer that cannot be believed */
    FAMILY_LOCAL,   /* decided here, before or instead of sending: no rule changes it */
};

/* Name (as rules, logs and outputs write it), family, what it says to a person. */
#define FB_FAILURES(X)                                                              \
    X(NONE, "none", NONE, "nothing went wrong")                                     \
    X(THROTTLED, "throttled", THROTTLED, "refused for rate")                        \
    X(CONNECT_TIMEOUT, "connect-timeout", TIMEOUT, "no connection in time")         \
    X(FIRST_BYTE_TIMEOUT, "first-byte-timeout", TIMEOUT, "no answer began in time") \
    X(IDLE_TIMEOUT, "idle-timeout", TIMEOUT, "the answer stopped coming")           \
    X(TOTAL_TIMEOUT, "total-timeout", TIMEOUT, "the whole took too long")           \
    X(WATCHDOG, "watchdog", TIMEOUT, "ended by the watchdog")                       \
    X(DNS, "dns", NETWORK, "the host name was not found")                           \
    X(REFUSED, "refused", NETWORK, "the connection was refused")                    \
    X(RESET, "reset", NETWORK, "the connection was lost")                           \
    X(TLS, "tls", NETWORK, "no trusted connection")                                 \
    X(NETWORK, "network", NETWORK, "the network failed")                            \
    X(5XX, "5xx", 5XX, "the server failed")                                         \
    X(4XX, "4xx", 4XX, "the server turned the request down")                        \
    X(PAYLOAD, "payload", PAYLOAD, "the answer is malformed")                       \
    X(TOO_LARGE, "too-large", LOCAL, "the answer is larger than allowed")           \
    X(REDIRECTS, "redirects", LOCAL, "redirected too often or to nowhere")          \
    X(POLICY, "policy", LOCAL, "not allowed to go there")                           \
    X(OFFLINE, "offline", LOCAL, "offline: nothing is sent")                        \
    X(LATE, "late", LOCAL, "it cannot start in time")                               \
    X(NO_ROOM, "no-room", LOCAL, "the queue is full")                               \
    X(BAD_REQUEST, "bad-request", LOCAL, "the request cannot be sent as it stands") \
    X(STOPPED, "stopped", LOCAL, "stopped before it was done")                      \
    X(MEMORY, "memory", LOCAL, "out of memory")

enum failure {
#define X(name, text, family, says) FAIL_##name,
    FB_FAILURES(X)
#undef X
        FAIL_KINDS
};

enum strategy {
    STRATEGY_RETRY,    /* again after a backoff; after a throttled answer when the key allows */
    STRATEGY_DEFER,    /* later, in another run */
    STRATEGY_FAILOVER, /* the next alternative; without one as escalate */
    STRATEGY_SKIP,     /* leave it out and go on */
    STRATEGY_ESCALATE, /* it failed, and somebody has to know */
    STRATEGY_KINDS
};

enum recovery_mode {
    MODE_GRACEFUL, /* as the table says */
    MODE_STRICT,   /* nothing is skipped or deferred silently: it escalates */
    MODE_OFFLINE,  /* nothing is sent at all */
    MODE_KINDS
};

#define FB_RECOVERY_RULES_MAX    32 /* given as text */
#define FB_RECOVERY_ATTEMPTS_MAX 3  /* where the rule that says "retry" has no end of its own */
#define FB_OPERATION_SIZE        32 /* bytes of the name of an operation, its NUL included */
#define FB_OPERATION_DEFAULT     "download"

/* For these attempts of this operation and this class: that. */
struct recovery_rule {
    char operation[FB_OPERATION_SIZE]; /* "" fits all */
    enum failure_family family;        /* FAMILY_NONE fits all but FAMILY_LOCAL */
    enum failure failure;              /* one class of the family; FAIL_NONE: all of it */
    int32_t from, to;                  /* attempts; the first is 1 */
    enum strategy strategy;
};

struct recovery {
    enum recovery_mode mode;
    int32_t attempts_max; /* where a rule has no end of its own ... */
    bool bounds_all;      /* ... and where it has, too: somebody said how many */
    int32_t count;        /* of `rule` */
    struct recovery_rule rule[FB_RECOVERY_RULES_MAX];
};

/* The rules built in, and graceful. */
void fb_recovery_init(struct recovery *r);

/*
 * Add rules from a text such as "download/timeout/1-2=retry, validate/5xx=defer": operation,
 * family or class and attempts, "*" for all of them, the attempts left out for all. They come
 * before those that were there. 0, or -EINVAL with a sentence, or -ENOSPC; a mistake adds none.
 */
int fb_recovery_add(struct recovery *r, const char *text, struct fly_error *err)
    __attribute__((warn_unused_result));

/*
 * What to do about the failure of the `attempt`-th attempt. A throttled answer is not an attempt:
 * then `attempt` is the number that is going to be made again. While another source is left, what
 * would be given up goes there, unless a rule that was given as text says to give up.
 */
enum strategy fb_recovery_decide(const struct recovery *r, const char *operation,
                                 enum failure failure, int32_t attempt, bool has_other);

/* The class of an answer by its status: FAIL_NONE below 400. */
enum failure fb_failure_of_status(int32_t status);

enum failure_family fb_failure_family(enum failure f);

/* "idle-timeout"; "the answer stopped coming". */
const char *fb_failure_name(enum failure f);
const char *fb_failure_says(enum failure f);

const char *fb_strategy_name(enum strategy s);

/* "strict", "graceful", "offline": the mode, or -1. */
int fb_recovery_mode_find(const char *name);

#endif
