/* SPDX-License-Identifier: MIT */
/*
 * run.h - one run: a setup, a governor, a virtual clock.
 *
 * Same setup and same governor, same tally to the last bit. A run owns all it needs: runs may go
 * on in several threads at once.
 */
#ifndef FLYBALL_SIM_RUN_H
#define FLYBALL_SIM_RUN_H

#include <stdint.h>

#include "sim/governor.h"
#include "sim/setup.h"
#include "sim/tally.h"

/* What an observer is told of: each grant, each answer, each fresh start of a limiter. */
enum sight_kind { SIGHT_SENT, SIGHT_ANSWER, SIGHT_GAVE_UP, SIGHT_RESTART };

struct sight {
    enum sight_kind kind;
    int64_t now_ns;
    int32_t client;
    int32_t status; /* of an answer */
    bool refused;   /* the answer is a refusal for rate */
    int64_t latency_ns;
    int64_t in_flight; /* of this client, this one not among them */
    struct governor *governor;
};

struct run_options {
    const struct governor_kind *governor;
    const char *spec;                                    /* see governor_setting */
    void (*watch)(void *context, const struct sight *s); /* or NULL */
    void *context;
};

/* 0 with *ret_tally complete; -ENOMEM; or -EINVAL when the governor could not be made. */
int fb_run(const struct setup *s, const struct run_options *o, struct tally *ret_tally)
    __attribute__((warn_unused_result));

#endif
