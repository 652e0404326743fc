/* SPDX-License-Identifier: MIT */
/*
 * probe.h - find a limit that nobody told, keep just under it, notice when it moves.
 *
 * The controller holds an explicit belief about the provider (a limit, a burst, perhaps a quota
 * window, perhaps a bound on what is in flight, perhaps noise) and every number of it was counted:
 * between two moments at which the provider is known to be empty (two refusals, two window
 * openings) what it accepted, divided by the time, IS its limit. The pace is always
 * limit x (1 + lean): a little under it when settled, a little over while looking for more.
 *
 * A refusal opens an episode: everything stops, one request at a time asks whether the provider
 * accepts again, and what happened until then is a measurement.
 *
 * Times are int64_t instants; the belief itself is in floats, which are precise enough for it.
 */
#ifndef FLYBALL_CORE_ADAPT_PROBE_H
#define FLYBALL_CORE_ADAPT_PROBE_H

#include <stdbool.h>
#include <stdint.h>

/* What the present limit is worth. */
enum probe_phase {
    PROBE_FIRST,   /* no limit known yet: climbing */
    PROBE_SETTLED, /* measured */
    PROBE_TRIAL,   /* a raise believed after one refusal, the next one decides */
    PROBE_DOUBT,   /* measured from a few requests only: tried again soon */
};

enum probe_episode {
    EPISODE_NONE,
    EPISODE_WAITING, /* refused; the next request is a ping */
    EPISODE_PINGED,  /* the ping is out; nothing else leaves */
};

#define PROBE_LOG        9 /* counts of 134 ms each: a second */
#define PROBE_SLOT_WORDS 2 /* with 32 counts of 16 ms each: a second, too */

/* What was accepted in the last second, as long as nobody tells what is left. */
struct probe_log {
    uint8_t count[PROBE_LOG]; /* requests, by when they were sent */
    uint8_t second;           /* within a second, when it was refused last ... */
    uint8_t second_before;    /* ... and the time before */
    uint8_t sway_ms : 7;      /* by how much latencies deviated before this episode */
    bool by_second : 1;       /* the limit is counted by the second, in a window that slides */
};

struct probe {
    /* measurement */
    int64_t empty_ns;   /* when the provider was last known to be empty */
    int64_t opened_ns;  /* when the present window opened, as far as it was seen */
    int64_t ahead_ns;   /* when `ahead` was right */
    int64_t changed_ns; /* since when the limit has not moved much */

    union {
        struct {
            int64_t total_ns; /* the first request, or when the longest window yet opened */
            float total;      /* since then */
            float ahead;      /* shadow bucket: how far ahead of the limit */
        };
        uint64_t slots[PROBE_SLOT_WORDS]; /* slotted: what left in the last second */
    };

    /* search */
    int64_t look_ns; /* settled until then */
    int64_t step_ns; /* the present step began */
    int64_t next_ns; /* when the pace allowed the next grant */

    /* headers */
    int64_t told_until_ns; /* `told` holds until then */
    int64_t told_reset_ns; /* the last reset told; of headers that were dropped: until when */

    /* the episode */
    int64_t refused_ns; /* when it began */
    int64_t block_ns;   /* no ping before */
    union {
        int64_t pinged_ns;       /* in an episode: when the last ping left */
        struct {                 /* else */
            uint16_t log_bin;    /* the latest of the log */
            uint16_t slot_bin;   /* the latest of the slots ... */
            bool slotted;        /* ... if those are kept */
            bool own_all;        /* told_own was counted since nothing was used */
            uint8_t told_wait_s; /* the last wait that was told; 0: none was */
        };
    };

    /* belief; rates are units a second, amounts are units */
    float limit;
    float burst;    /* what the provider stores on top of it */
    float window_s; /* length of its quota window; 0: none */
    union {
        float limit_before; /* what to go back to: a trial was lost, or surprises were noise */
        /* In a window: accepted from when it opened until it closed. 0: unknown. Below: nothing was
         * counted yet, and when it opened is known to so many seconds. */
        float fitted;
        float cycle; /* first climb: accepted from a wait that was told to the refusal */
    };
    float unit;       /* what a request costs on average */
    float noise_gap;  /* requests between refusals, on average */
    float unrest;     /* evidence that they come closer together than that */
    float soft_mean;  /* answers between bare 403s or 503s, on average */
    float soft_proof; /* evidence that those are refusals here */
    float crowd;      /* evidence for a bound on what is in flight */

    /* measurement */
    float accepted; /* since empty_ns */
    union {
        float spent;      /* in a window: since opened_ns */
        float kept_limit; /* else, where a window is kept: what was told */
        float too_fast;   /* else: a pace that was refused at once; 0: none was */
    };

    /* search */
    float rate; /* the pace: limit x (1 + lean), within the bounds */
    float lean; /* -margin when settled */
    float margin;
    union {
        float evidence; /* settled: requests that the limit was counted from */
        float held;     /* looking: a pace that lasted, and cannot come from what is stored */
        float cycle_s;  /* first climb: how long `cycle` took; 0: there is none yet */
    };
    float latency_s; /* of answers, on average */
    float late;      /* share of grants that came late: the application is the limit */
    float floor;     /* bounds from the spec; 0: none */
    float ceiling;

    union {
        float told; /* headers: what is left until the reset, evenly spent */
        float line; /* before anything was told: evidence that too many arrive at a time */
    };
    float told_left; /* what was left; -1: nobody tells; below: -1 - the window that is kept */
    float share;     /* of what is used there, ours */
    union {
        struct {
            float told_own;  /* accepted since the window told began */
            float told_low;  /* the least that was left in the present window */
            float told_pace; /* a short window bears this pace, by what was left; 0: not known */
        };
        struct probe_log log; /* before anything was told */
    };
    union {
        float pause_s; /* in an episode: between pings */
        float sway_s;  /* else: by how much latencies deviate, on average */
    };

    int32_t since_refusal; /* grants since the last refusal, or look */
    int32_t step_count;    /* successes in the present step */
    uint16_t latest_id;    /* of the latest grant, low bits */
    uint16_t refused_id;   /* the latest when the last episode began */
    uint8_t crowd_min;     /* refused only with at least so many in flight */
    uint8_t soft_gap;      /* answers since the last bare 403 or 503, as far as a byte counts */
    uint8_t phase;         /* enum probe_phase */
    uint8_t reading;       /* which reading the limit comes from, for `why` */
    uint8_t also_refused;  /* of what was under way when this episode began */
    uint8_t also_accepted; /* and of those so many were accepted */
    uint8_t surprises;     /* isolated refusals in a row; from 3 on: noise */
    uint8_t doubts;        /* climbs out of doubt so far */
    uint8_t verified;      /* how far headers were checked */
    bool burst_found;      /* too much at once was refused: it does not grow any more */
    bool noise_known;      /* it was noisy here not long ago */
    bool moves;            /* the limit was seen to fall after it had held: it may again */

    uint8_t episode : 2;    /* enum probe_episode */
    uint8_t echoes : 2;     /* refusals right after an opening, in a row */
    uint8_t quotas : 3;     /* spent at once since idling */
    bool answered : 1;      /* an answer was seen */
    uint8_t failed_row : 5; /* failures in a row that say nothing about the rate */
    bool opening_seen : 1;  /* a window was seen to open */
    bool bursting : 1;      /* since idling nothing was refused and no look begun */
    bool looked : 1;        /* a limit held for a while since total_ns */
    uint8_t cuts : 3;       /* of the limit, one soon after the other; 7 are many */
    bool stood : 1;         /* the limit held for long before the refusals at hand */
    bool outage : 1;        /* this episode began with failures, not with a refusal */
    bool forgiven : 1;      /* a refusal in this step of a look was taken for chance */
    bool told_when : 1;     /* this episode: Retry-After said when it opens */
    bool closed : 1; /* all of that under way was refused; if told_when: to wait as the last time */
    uint8_t failed_pings : 4; /* refused, in this episode */
    bool put_off : 1;         /* the next look, because of a pause */
    uint8_t soft_row : 3;     /* bare 403s or 503s that slowing down did not end */
};

/* The limit that people are told of: a bucket that tells what it holds may bear a higher pace. */
float fb_probe_limit_shown(const struct probe *p);

/*
 * A window in seconds that was told and followed, while all that is to come fits into what is left
 * and nothing else was met: it sets no pace, but is not forgotten. 0: there is none.
 */
float fb_probe_kept_s(const struct probe *p);

/* Whether no limit was met, nor is what a server tells taken for it. */
bool fb_probe_is_unmet(const struct probe *p);

/* Nothing is measured yet, but the climb was refused more than once: the pace is near the limit. */
bool fb_probe_is_near(const struct probe *p);

#endif
