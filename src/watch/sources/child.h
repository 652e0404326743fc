/* SPDX-License-Identifier: MIT */
/*
 * child.h - a program that is given bytes and prints some, with an end to everything.
 *
 * Every child is begun as this very program under a word of its own (FB_CHILD_WORD): before
 * anything else it bounds its own memory and time, gives up gaining rights, and is set to die with
 * its parent. Then it becomes the program that was asked for, or reads HTML itself. It leads a
 * group of its own, and the whole group is killed when time is up, when it prints too much, or when
 * nobody wants the result any more. Its environment is what the order says and a few harmless
 * variables: no secret of the daemon's is among them.
 *
 * For one thread: that of the loop. SIGPIPE has to be ignored.
 */
#ifndef FLYBALL_WATCH_SOURCES_CHILD_H
#define FLYBALL_WATCH_SOURCES_CHILD_H

#include <stddef.h>
#include <stdint.h>

#include <uv.h>

#include "signal/slice.h"

#define FB_CHILD_WORD   "--child"        /* argv[1] of every child */
#define FB_CHILD_SELF   "/proc/self/exe" /* this program, even where its file was replaced */
#define FB_CHILD_STDERR 200              /* bytes of what it complains of that are kept */

struct child;
struct fly_error;

struct child_order {
    const char *program;      /* FB_CHILD_SELF */
    struct slice words;       /* each with its NUL: a kind, then what it wants; see child_main.h */
    struct slice environment; /* "NAME=value", each with its NUL */
    struct slice input;       /* copied */
    int64_t timeout_ns;
    int64_t memory_bytes;
    size_t output_max;
};

/* What came of it; ends with the callback. */
struct child_end {
    /*
     * 0; -ETIMEDOUT; -E2BIG: it printed too much; -EPROTO: it failed by itself; -ECANCELED; or why
     * it could not be started.
     */
    int error;
    const char *sentence; /* with an error, for a person */
    struct slice output;
};

typedef void child_done(void *user, const struct child_end *end);

/* Begin. 0, and `done` is called once, later; or a negative errno with a sentence. */
int fb_child_begin(uv_loop_t *loop, const struct child_order *o, child_done *done, void *user,
                   struct child **ret_child, struct fly_error *err)
    __attribute__((warn_unused_result));

/* Kill it. `done` follows, with -ECANCELED. */
void fb_child_cancel(struct child *c);

#endif
