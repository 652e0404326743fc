/* SPDX-License-Identifier: MIT */
/*
 * provider.h - a model API: gates that decide, manners of saying so, and what it is like to wait.
 *
 * A request is judged when it ARRIVES. The provider knows its true limits; what it tells of them
 * in its answers (headers, Retry-After, status) may be nothing, the truth, or a lie.
 */
#ifndef FLYBALL_SIM_PROVIDER_H
#define FLYBALL_SIM_PROVIDER_H

#include <stdbool.h>
#include <stdint.h>

#include "core/rng.h"
#include "sim/gate.h"

#define FB_GATES_MAX 8
#define FB_LAG_STEPS 64

/* One unit of the client's work. */
struct work {
    int64_t born_ns; /* when it was asked for */
    uint32_t cost;   /* units of the limit that it takes */
    uint16_t pool;   /* which of the provider's pools it draws on */
    uint16_t rank;   /* 0 goes before 1 */
};

/* What the provider answers. The times are on the provider's idea of the client's clock. */
struct verdict {
    int64_t service_ns; /* how long the answer takes, network not included */
    int64_t limit;      /* or FLY_ABSENT, as the three below */
    int64_t remaining;
    int64_t reset_ns;
    int64_t retry_after_ns;
    int32_t status;
    bool refused; /* for rate: by a gate, a ban, or a 429 out of the blue */
    bool passed;  /* went through the gates */
};

struct provider;

/* How it answers. Every function may be NULL: it then tells nothing. */
struct manners {
    int32_t status; /* of a refusal; 0: 429 */
    void (*headers)(struct provider *p, int64_t now_ns, struct verdict *v);
    /* The Retry-After of a refusal that in truth ends at `opens_ns`. */
    int64_t (*retry_after)(const struct provider *p, int64_t now_ns, int64_t opens_ns);
    double header_scale;      /* what headers say / the truth; 0 counts as 1 */
    int64_t header_lag_ns;    /* how old what headers say is */
    int64_t clock_from_ns[4]; /* from then on (0: unused) ... */
    int64_t clock_off_ns[4];  /* ... the provider's clock is ahead by this */
};

/* Too many refusals in a row are answered by a ban, each longer than the last. */
struct box {
    int32_t row;    /* refusals without a success between that ban; 0: no box */
    uint32_t gates; /* bit i: refusals of gate i count; 0: of all */
    int64_t ban_ns; /* the first ban */
    int64_t ban_max_ns;
    double growth;     /* the next is so much longer */
    int64_t extend_ns; /* every request during a ban adds this */
};

/* How long an answer takes. */
struct service {
    double mean_s;   /* 0: at once */
    double alpha;    /* > 1: heavy tailed; 0: exponential */
    double max_s;    /* 0: unbounded */
    double strain_s; /* added when the load reaches the limit; grows from half of it on */
};

struct provider {
    struct gate gate[FB_GATES_MAX];
    int32_t gate_count;
    struct tide tide;
    struct manners manners;
    struct box box;
    struct service service;
    double chance_429; /* refused for no reason */
    double chance_503; /* failed for no reason */

    /* Where it stands. */
    struct rng rng;
    int64_t banned_until_ns;
    int64_t next_ban_ns;
    int32_t refused_row;
    int32_t bans;
    double load; /* smoothed arrivals a second */
    int64_t load_ns;
    int64_t lag_used[FB_LAG_STEPS]; /* what was used, a tenth of a second apart */
    int64_t lag_reset[FB_LAG_STEPS];
    int64_t lag_at; /* the latest step filled */
};

/* Complete a provider whose description is filled in. 0 or -ENOMEM; fini in any case. */
int fb_provider_init(struct provider *p, uint64_t seed) __attribute__((warn_unused_result));
void fb_provider_fini(struct provider *p);

/* Judge a request that arrives now. */
void fb_provider_admit(struct provider *p, int64_t now_ns, const struct work *w,
                       struct verdict *ret_verdict);

/* A request that passed has been answered. */
void fb_provider_leave(struct provider *p, const struct work *w);

/* Whether leaving matters at all. */
bool fb_provider_has_crowd(const struct provider *p);

/* The true limit in units a second for pool 0 (or all) now. */
double fb_provider_rate(const struct provider *p, int64_t now_ns);

/* Manners to choose from. */
void fb_headers_window(struct provider *p, int64_t now_ns, struct verdict *v);
void fb_headers_seconds(struct provider *p, int64_t now_ns, struct verdict *v);
void fb_headers_past(struct provider *p, int64_t now_ns, struct verdict *v);
int64_t fb_retry_honest(const struct provider *p, int64_t now_ns, int64_t opens_ns);
int64_t fb_retry_zero(const struct provider *p, int64_t now_ns, int64_t opens_ns);
int64_t fb_retry_short(const struct provider *p, int64_t now_ns, int64_t opens_ns);
int64_t fb_retry_long(const struct provider *p, int64_t now_ns, int64_t opens_ns);

#endif
