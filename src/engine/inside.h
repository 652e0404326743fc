/* SPDX-License-Identifier: MIT */
/*
 * inside.h - the engine's own structs, shared by its files and by nobody else.
 *
 * A job is always in one state, and what counts it follows from that: queued (in the queue, perhaps
 * delayed), asked (on_start was called, holds a slot), flying (an attempt is out, holds a slot),
 * ending (refused at once; the next turn tells). Whoever moves it calls one function of job.c.
 */
#ifndef FLYBALL_ENGINE_INSIDE_H
#define FLYBALL_ENGINE_INSIDE_H

#include <flyball/flyball.h>

#include "core/breaker.h"
#include "core/instant.h"
#include "core/pause.h"
#include "core/queue.h"
#include "core/retry_budget.h"
#include "core/rng.h"
#include "engine/control.h"
#include "engine/engine.h"
#include "engine/observe.h"
#include "engine/ports.h"
#include "engine/table.h"
#include "ledger/siphash.h"
#include "util/blocks.h"

#define FB_ENGINE_THROTTLED_MAX 100
#define FB_ENGINE_JOB_BYTES     512 /* of most tasks; the others have memory of their own */
#define FB_ENGINE_RESERVE_NS    (10 * FB_NS_PER_S) /* idle so long, the reserved share opens */

#define FB_ENGINE_POOLS 8 /* told beside a key's own; further ones do not count */

/* What was taken for one request: from the key's own limiter, and from those of told pools. */
struct tickets {
    int32_t more;
    uint64_t at[1 + FB_ENGINE_POOLS];
};

struct more_pool {
    struct fly_limiter *limiter;
    char name[FLY_POOL_NAME_SIZE];
};

/* How long a request may take and what is done when it fails: of all, or of one provider. */
struct manners {
    int64_t connect_ns, first_byte_ns, idle_ns, total_ns;
    struct recovery recovery;
};

struct quota_ask; /* quota.c */

struct provider {
    struct table_entry entry;
    struct queue_lane lane; /* keys that wait for a slot here */
    struct retry_budget budget;
    int32_t in_flight;
    int32_t asked; /* on_start was called for them, and not answered */
    int32_t keys;
    bool has_preset;         /* something is known of it beforehand, or may be */
    bool is_disabled;        /* nothing new is sent to it */
    struct manners *manners; /* owned; NULL: those of all */
    char *quota_path;        /* owned; NULL: as the preset says */
    struct quota_ask *asks;  /* owned: by credential, what was asked there and what was said */
    char name[];
};

struct key {
    struct table_entry entry;
    struct queue_key q;
    struct key *newer, *older; /* in the order in which they are looked at */
    struct provider *provider;
    struct fly_limiter *limiter;
    struct more_pool *more; /* NULL: answers tell of one pool at most */
    int32_t more_count;
    bool has_own; /* `own` is the name that answers have for the limiter's pool */
    char own[FLY_POOL_NAME_SIZE];
    const char *preset; /* the name of what is known of the provider, or NULL */
    struct fly_reset_habit habit;
    struct engine_told told;
    struct engine_failures failures;
    struct breaker breaker;
    struct pause pause;
    int64_t failed_ns;     /* the last time that it did */
    int64_t down_since_ns; /* the breaker opened; FB_NEVER: it is closed */
    double rate;           /* as last told to observers */
    int64_t left_ns;       /* the last request left */
    int64_t requests;      /* that left; of those ... */
    int64_t refused;       /* ... for rate */
    int32_t in_flight;
    int64_t said;    /* its limiter was told that so much is to come, ... */
    int64_t said_ns; /* ... then; 0: never */
    int64_t jobs;    /* under it, in whatever state; of them ... */
    int64_t trials;  /* ... with ENGINE_OWN_TRIALS */
    /* Those that somebody was asked about (on_start) and that have not left: */
    int32_t promised;            /* how many; of them ... */
    int32_t asked;               /* ... without an answer */
    int32_t promised_most;       /* more are not asked about at a time */
    int64_t promised_units;      /* what they cost */
    const struct quota_ask *ask; /* how much is left is asked; NULL: no longer, or not at all */
    bool has_asked;
    bool waits;     /* it was told to wait, and observers heard of it */
    char cause[24]; /* for what */
    const char *pool;
    const char *credential;
    char name[]; /* provider, pool, credential, each with its NUL */
};

struct engine_client {
    struct engine *engine;
    struct engine_caller caller;
    struct engine_client *next; /* of the engine's */
    int64_t tasks;              /* that have not ended */
    int64_t more;               /* to be submitted; below 0: not known */
    struct engine_client_stats stats;
    const struct key *last_key; /* of its tasks; to compare with, it may be gone */
    int64_t stop_ns;            /* what is under way is cut off then; FB_NEVER: not stopping */
    bool is_stopping;
    bool wants_room; /* a submit of its did not fit */
};

enum job_state { JOB_QUEUED, JOB_ASKED, JOB_FLYING, JOB_ENDING };

struct job {
    struct queue_task q;
    struct engine *engine;
    struct engine_client *client;
    size_t size; /* of all this, what is behind it included */
    struct key *key;
    struct attempt *attempt; /* while flying */
    void *user;
    const char *first_url; /* as submitted: credentials are for its origin */
    const char *url;       /* the present one */
    char *moved;           /* where a redirect led; owned; NULL: none */
    const char *method;
    const char *id;
    const char *operation;
    const char *provider, *preset, *pool, *credential, *folder; /* as given, or NULL */
    const struct engine_header *header;
    const char *const *alternative;
    const void *body;
    size_t body_size;
    int64_t submitted_ns;
    int64_t wanted_ns; /* from then on it could have left, had it been allowed */
    int64_t waited_ns;
    int64_t sent_ns, first_byte_ns; /* of the last attempt */
    int64_t ready_at_ns;
    uint32_t header_count;
    uint32_t cost;
    uint32_t flags;
    int32_t attempts; /* in all */
    int32_t tries;    /* of the present source */
    int32_t requests;
    int32_t throttled;
    int16_t redirects;
    int16_t source;
    int16_t alternative_count;
    uint8_t state; /* enum job_state */
    uint8_t failure;
    bool is_promised; /* on_start was called for the next attempt, which may yet wait, ... */
    bool is_approved; /* ... and answered */
    bool is_retry;    /* the next attempt pays from the retry budget */
    bool was_sent;    /* ever */
    bool from_public; /* redirected from a public address */
    bool is_foreign;  /* redirected to another origin: credentials stay behind */
    bool drops_body;  /* redirected into a GET */
    bool is_cancelled;
    char cause[24]; /* what it waited for last, or "" */
};

enum attempt_phase { PHASE_CONNECT, PHASE_FIRST_BYTE, PHASE_BODY };

struct attempt {
    struct engine *engine;
    struct job *job;
    struct key *key;
    void *transfer;        /* the port's */
    struct heap_node node; /* by deadline */
    struct tickets tickets;
    int64_t sent_ns;  /* granted */
    int64_t moved_ns; /* the last byte, or the present phase, began */
    int64_t first_byte_ns;
    int64_t total_ns;     /* deadline */
    struct attempt *next; /* of those that fly, or of the free ones */
    struct attempt *prev; /* of those that fly */
    enum attempt_phase phase;
    bool has_left;
};

struct engine {
    struct engine_options options;
    struct engine_ports ports;
    struct manners manners;
    struct queue queue;
    struct table keys, providers;
    struct key *oldest, *newest; /* keys, as they are looked at for forgetting */
    struct heap deadlines;       /* attempts */
    struct attempt *flying;
    struct attempt *free_attempt;
    struct engine_client own; /* with the callbacks of the options; the others follow it */
    struct blocks jobs;
    struct queue_list asked;  /* jobs, by their queue links */
    struct queue_list ending; /* jobs refused at once */
    struct observe *observe;  /* NULL: nobody looks */
    struct rng rng;
    struct siphash_secret secret; /* of the hash of credentials */
    struct engine_stats stats;
    int64_t now_ns;
    int64_t wake_ns;        /* as the port was told */
    int64_t interactive_ns; /* the last time that there was any */
    int64_t stop_ns;        /* everything is cut off then; FB_NEVER: not stopping */
    int64_t recycled_ns;
    int64_t recycled_done;
    int64_t recycled_connections;
    struct engine_client *asker; /* of quota.c; NULL: nobody was asked yet */
    bool is_stopping, is_paused, is_busy, in_turn;
};

/* engine.c */
void fb_engine_want_turn(struct engine *e); /* something changed outside of a turn: have one */
int fb_engine_read_rules(const struct engine_options *o, struct recovery *ret_recovery,
                         struct fly_error *err);
int fb_engine_check_limit(const char *limit, struct fly_error *err);

/* The engine is, or whoever submitted it. */
static inline bool fb_job_is_stopping(const struct job *j)
{
    return j->engine->is_stopping || j->client->is_stopping;
}

/* Neither breaker nor pause is its affair. */
static inline bool fb_job_has_own_trials(const struct job *j)
{
    return (j->flags & ENGINE_OWN_TRIALS) != 0;
}

/* manners.c */
int fb_manners_renew(struct engine *e, const struct engine_options *o, struct fly_error *err);
const struct manners *fb_manners_of(const struct key *k, const struct engine *e);

/* keys.c */
struct provider *fb_provider_find(const struct engine *e, const char *name);
struct provider *fb_provider_get(struct engine *e, const char *name, bool has_preset);
void fb_key_set_breaker(struct key *k, const struct engine_options *o);
int fb_key_get(struct engine *e, const struct job *j, struct key **ret_key, struct fly_error *err);
void fb_key_free(struct key *k);
void fb_key_describe(const struct engine *e, const struct key *k, struct engine_key_state *ret);
void fb_keys_fini(struct engine *e);
void fb_keys_try(struct engine *e); /* each that is broken: one request, at once */
int64_t fb_key_estimate(const struct engine *e, const struct key *k);
int64_t fb_job_estimate(const struct job *j);
void fb_key_note_rate(struct engine *e, struct key *k);

/* forget.c */
void fb_key_enlist(struct engine *e, struct key *k);
void fb_keys_forget_some(struct engine *e);        /* there is a new one */
void fb_job_set_key(struct job *j, struct key *k); /* NULL: it ends */

/* job.c */
int fb_job_new(struct engine *e, const struct engine_task *t, struct job **ret_job,
               struct fly_error *err);
bool fb_job_is_idempotent(const struct job *j);
void fb_job_drop(struct job *j);                    /* it was never submitted */
void fb_job_queue(struct job *j);                   /* into its key, by its priority */
void fb_job_delay(struct job *j, int64_t until_ns); /* not before then */
void fb_job_refuse(struct job *j, enum failure f, int64_t ready_at_ns); /* ends in the next turn */
void fb_job_ask(struct job *j);                                         /* calls on_start */
void fb_job_promise(struct job *j, bool is_promised); /* counts it among those of its key */
void fb_job_end(struct job *j, enum engine_end end, enum failure f, const char *sentence,
                const struct attempt_end *last);
void fb_job_defer(struct job *j, enum failure f, int64_t ready_at_ns, const char *sentence,
                  const struct attempt_end *last);

/* quota.c */
void fb_quota_begin(struct job *j); /* the first one of its key: ask, or hear what is known */
int64_t fb_quota_awaited_until(const struct key *k); /* past: nothing is awaited */
void fb_quota_forget(struct provider *p);

/* route.c */
bool fb_route_is_redirect(const struct job *j, const struct attempt_end *end);
int fb_route_redirect(struct job *j, const struct attempt_end *end, const char **ret_sentence);
int fb_route_failover(struct job *j); /* 0; or -ENOENT: there is no other source */
bool fb_route_sends_header(const struct job *j, const char *name);

/* dispatch.c */
int64_t fb_key_broken_until(const struct engine *e, const struct key *k, const char **ret_cause);
void fb_dispatch(struct engine *e);

/* attempt.c */
void fb_attempt_start(struct job *j, const struct tickets *t);
void fb_attempt_cut(struct attempt *a, enum failure f); /* cut off; what follows is decided */
void fb_attempt_deadlines(struct engine *e);
int64_t fb_attempt_next_deadline(const struct engine *e);

/* outcome.c: the attempt is reported and over; decide what becomes of its job. */
void fb_outcome(struct job *j, const struct attempt *a, const struct attempt_end *end,
                bool is_throttled);

/* answer.c: what the answer says about limits, for every limiter of the key. */
bool fb_answer_report(struct attempt *a, const struct attempt_end *end);
/* For people who ask; the limiter has its own books. */
void fb_told_remember(struct engine_told *told, const struct fly_outcome *o, int64_t window_ns,
                      int64_t now_ns);

/* client.c */
/* What is to come of a key, as if all of it cost as much as what is asked for now. */
void fb_key_say_backlog(struct engine *e, struct key *k, int64_t cost);

/* more_pools.c */
int64_t fb_pools_take(struct key *k, int64_t now_ns, uint32_t cost, struct tickets *ret_tickets);
void fb_pools_cancel(struct key *k, int64_t now_ns, const struct tickets *t);
void fb_pools_why(const struct key *k, int64_t now_ns, uint32_t cost, struct fly_why *ret_why);
size_t fb_pools_own(struct key *k, const struct fly_signal *s);
void fb_pools_report(const struct attempt *a, const struct fly_signal *s, size_t own);
void fb_pools_state(struct engine *e, struct key *k, const struct fly_signal *s);
void fb_pools_forget(struct key *k);

/* url.c */
struct url_parts {
    const char *host; /* where it begins in the URL; with brackets */
    size_t host_size;
    const char *authority; /* host and port, without userinfo */
    size_t authority_size;
    const char *userinfo;
    size_t userinfo_size; /* 0: none */
    bool is_https;
};

int fb_url_read(const char *url, struct url_parts *ret_parts);
int fb_url_follow(const char *base, const char *location, char **ret_url);
bool fb_url_same_origin(const char *a, const char *b);

/* observe: fill in what is known and pass it on. */
void fb_engine_tell(struct engine *e, enum event_type kind, const struct job *j,
                    const struct key *k, const struct event *more);

static inline struct job *fb_job_of(struct queue_task *t)
{
    return FB_HEAP_OWNER(t, struct job, q);
}

static inline struct key *fb_key_of(struct queue_key *k)
{
    return FB_HEAP_OWNER(k, struct key, q);
}

#endif
