/* SPDX-License-Identifier: MIT */
/*
 * controller.h - the contract of what learns, and the table of it.
 *
 * A controller watches grants and answers and says which pace to keep. It delays nothing itself:
 * the constraints do that with the pace it asked for, so there is still one accountant and one
 * answer. Its state is a plain value of fixed size; it may use double.
 *
 * To add one: write core/adapt/<name>.h and .c, and add its row and its state below.
 */
#ifndef FLYBALL_CORE_CONTROLLER_H
#define FLYBALL_CORE_CONTROLLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/adapt/aimd.h"
#include "core/adapt/probe.h"
#include "core/adapt/step.h"

struct answer;
struct ask;
struct field;
struct spec;
struct text;

#define FB_CONTROLLERS(X) X(probe) X(aimd) X(step)

#define FB_NO_CAP INT64_MAX

/* 0..1: how far so many answers that agree are to be believed. */
static inline double fb_confidence(int64_t agreed)
{
    return (double)agreed / ((double)agreed + 50.0);
}

/* What a controller asks of the constraints. */
struct pace {
    double rate;           /* units a second, > 0; 0: no rate of its own */
    int64_t not_before_ns; /* nothing leaves earlier; unlike a hold it may be taken back */
    int64_t in_flight_max; /* FB_NO_CAP: none */
    float burst;           /* units that may leave at once after idling, >= 1 */
    float limit_share;     /* 1, or the share of the stated windows that may be used */
};

/* What a pace that lets nothing leave yet waits for. */
enum pace_wait {
    PACE_FREE,    /* it lets requests leave, or a hold of the server lasts as long */
    PACE_REFUSED, /* a refusal told no time: one request tries it then */
    PACE_FAILED,  /* too much fails: the same */
    PACE_ASKED,   /* one request is out, and its answer decides */
    PACE_SPENT    /* what the learned limit allows until then is used up */
};

/* What was learned, as far as every controller can say it. */
struct learned {
    double reduction;    /* 0..1: the share of what was stated, or is allowed, that is not used */
    double confidence;   /* 0..1 */
    int64_t recovery_ns; /* how long the provider takes to accept again, about */
    int64_t changed_ns;  /* when it last learned something else; FB_LONG_AGO: never */
};

union controller_state {
    struct aimd aimd;
    struct step step;
    struct probe probe;
};

struct controller {
    const char *name; /* as in adapt=... */

    /* Begin at the spec's rate, or the controller's own. The pace is complete afterwards. */
    void (*init)(union controller_state *c, struct pace *p, const struct spec *s, int64_t now_ns);

    /* A grant was made. Returns whether *p changed. NULL: grants say nothing. */
    bool (*on_grant)(union controller_state *c, struct pace *p, const struct ask *q);

    /* A grant came back unsent. NULL: nothing to undo. */
    bool (*on_cancel)(union controller_state *c, struct pace *p, const struct ask *q);

    /* An answer arrived. Returns whether *p changed. */
    bool (*on_outcome)(union controller_state *c, struct pace *p, const struct answer *a);

    /* How long a refusal without a stated time holds the key; 0: not_before_ns says it. */
    int64_t (*default_hold)(const union controller_state *c);

    /* Why nothing leaves before not_before_ns. NULL: it never asks for that. */
    enum pace_wait (*waits)(const union controller_state *c);

    /*
     * What of the state outlasts the process: a table over its members (field.h). All others
     * stay as init() left them; resume() then sees to it that what was read fits together and to
     * the bounds of the spec, and makes the pace. It never is faster than what was learned.
     */
    const struct field *fields;
    size_t field_count;
    void (*resume)(union controller_state *c, struct pace *p, int64_t now_ns);

    /* What was learned so far. */
    void (*learned)(const union controller_state *c, const struct pace *p,
                    struct learned *ret_learned);

    /* One sentence: which pace, and what it was learned from. */
    void (*explain)(const union controller_state *c, const struct pace *p, int64_t now_ns,
                    struct text *ret_text);
};

#define X(name) extern const struct controller fb_controller_##name;
FB_CONTROLLERS(X)
#undef X

#define X(name) +1
enum { FB_CONTROLLER_COUNT = 0 FB_CONTROLLERS(X) };
#undef X

/* By number from 1 on; number 0 is NULL, which learns nothing. */
extern const struct controller *const fb_controllers[FB_CONTROLLER_COUNT + 1];

/* The number of one of them, or of NULL. */
uint8_t fb_controller_number(const struct controller *c);

#endif
