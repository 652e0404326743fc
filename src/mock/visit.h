/* SPDX-License-Identifier: MIT */
/*
 * visit.h - one request at the mock, from its verdict to the last byte of its answer.
 */
#ifndef FLYBALL_MOCK_VISIT_H
#define FLYBALL_MOCK_VISIT_H

#include <uv.h>

#include "core/rng.h"
#include "mock/ask.h"
#include "mock/mock.h"
#include "serve/server.h"

#define FB_MOCK_PIECE_MAX 65536
#define FB_MOCK_FILLER    (FB_MOCK_PIECE_MAX + 10) /* a piece that begins with any digit */

struct mock {
    const struct mock_options *options;
    uv_loop_t loop;
    uv_signal_t on_int;
    uv_signal_t on_term;
    uv_timer_t tick; /* brings the log's file up to date */
    uv_timer_t end;
    struct server *server;
    struct provider provider;
    struct mock_log log;
    struct rng rng;
    bool ending;
    char filler[FB_MOCK_FILLER];
};

struct visit {
    struct mock *mock;
    struct exchange *x;
    struct mock_ask ask;
    struct mock_told told;
    int64_t seq;
    int64_t wall_ns;
    int status;   /* of the answer */
    bool passed;  /* the gates count it until it leaves */
    bool cut;     /* by the mock, on purpose */
    bool waiting; /* the timer is set up */
    uv_timer_t timer;

    char etag[24];
    bool is_page;
    struct buffer body;  /* unless it is made of filler */
    int64_t body_length; /* in all */
    int64_t body_sent;
    int64_t body_stop; /* where it ends or is cut */
};

/* The head is there: judge, count, log. */
void fb_visit_begin(struct mock *m, struct exchange *x);

/* The request is complete: answer, now or after its delay. */
void fb_visit_answer(struct visit *v);

/* There is room again for more of the answer. */
void fb_visit_go_on(struct visit *v);

/* The exchange is over. Frees it. */
void fb_visit_end(struct visit *v, bool complete);

/* Decide on the body, and on what follows from it: the ETag, a 304, a 404. */
void fb_visit_make_body(struct visit *v);

/* The next bytes of the body, at most so many; the caller raises v->body_sent. */
struct slice fb_visit_next_piece(const struct visit *v, int64_t most);

/* Digits, FB_MOCK_FILLER of them. */
void fb_mock_fill(char *filler);

/* "/__stats", "/__log": about the mock itself, never counted. */
void fb_mock_answer_control(struct mock *m, struct exchange *x);

#endif
