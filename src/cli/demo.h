/* SPDX-License-Identifier: MIT */
/*
 * demo.h - the parts of `flyball demo`: an API with a secret, and what is shown of the race to it.
 */
#ifndef FLYBALL_CLI_DEMO_H
#define FLYBALL_CLI_DEMO_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <termios.h>

#include <uv.h>

#include <flyball/flyball.h>

#include "fetch/progress.h"
#include "mock/mock.h"
#include "mock/secret.h"

/* ------------------------------------------------------------------------------ demo_api.c */

/* The API, in a process of its own that does not outlive this one. */
struct demo_api {
    pid_t pid; /* 0: it does not run */
    int from;  /* a pipe */
    int port;
};

/* 0, or a negative errno with a sentence. */
int fb_demo_api_start(struct demo_api *a, const char *limit, const struct dialect *dialect,
                      uint64_t seed, struct fly_error *err) __attribute__((warn_unused_result));

/*
 * End it. What it counted is in *ret_stats; false: it died before it could say so, or has never
 * been started.
 */
bool fb_demo_api_stop(struct demo_api *a, struct mock_stats *ret_stats);

/* ---------------------------------------------------------------------------- demo_rival.c */

/*
 * A client that is compared: a plain libcurl loop of 40 at a time in a process of its own, against
 * an API of its own with the same limit. `old` is told the limit and paces itself by a bucket with
 * a delay on top; without it nothing paces, and what is refused three times is given up.
 */
struct demo_rival {
    struct demo_api api;
    pid_t pid; /* 0: it does not run */
    int from;  /* a pipe */
    const char *name;
    /* What came of it. */
    int64_t done;
    int64_t lost;
    int64_t spent_ns;
    struct mock_stats stats;
};

enum { DEMO_RIVALS = 2 };

/* Start them all. 0, or a negative errno with a sentence: then some run, and are to be stopped. */
int fb_demo_rivals_start(struct demo_rival *r, const struct secret *secret,
                         const struct dialect *dialect, int64_t requests, uint64_t seed,
                         struct fly_error *err) __attribute__((warn_unused_result));

/* End them, however far they are, and read what came of it. */
void fb_demo_rivals_stop(struct demo_rival *r);

/* ----------------------------------------------------------------------------- demo_show.c */

struct demo_show {
    bool is_live; /* a terminal: one line is drawn again and again */
    bool was_learning;
    bool was_near; /* it was said what the limit is */
    bool has_line;
    int64_t throttled; /* as told last */
    int64_t calm_ns;   /* since then nothing was refused */
    int64_t line_ns;   /* when the next line is due */
    struct progress last;
};

void fb_demo_show_begin(struct demo_show *s);

/* A line with the time before it (-1: without), broken at blanks on a narrow terminal. */
void fb_demo_say(struct demo_show *s, int64_t at_ns, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* For struct fetch_options: `to` is a struct demo_show. */
void fb_demo_on_progress(void *to, const struct progress *p, bool is_over);

/* ----------------------------------------------------------------------------- demo_keys.c */

/* What can be pressed meanwhile. Its handles are closed with the loop's others. */
struct demo_keys {
    struct demo_show *show;
    uv_poll_t input;
    uv_process_t process;  /* which starts a browser */
    bool is_opening;       /* it runs */
    bool is_changed;       /* the terminal is, */
    struct termios before; /* which was like this */
    char where[64];        /* the dashboard: "address:port" */
};

/* Listen to them, where there is a terminal; whether there is. `where` is copied. */
bool fb_demo_keys_begin(struct demo_keys *k, struct demo_show *show, uv_loop_t *loop,
                        const char *where);

/* The terminal is as it was. */
void fb_demo_keys_end(struct demo_keys *k);

#endif
