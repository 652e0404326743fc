/* SPDX-License-Identifier: MIT */
/*
 * read.h - read an answer, here or in a child, whatever its source needs.
 *
 * A desk runs so many children at most; further answers wait their turn.
 */
#ifndef FLYBALL_WATCH_SOURCES_READ_H
#define FLYBALL_WATCH_SOURCES_READ_H

#include <stdint.h>

#include <uv.h>

#include "watch/sources/source.h"

#define FB_DESK_CHILDREN 8 /* at once */

struct read_job;

/* Zeroes but for loop and program. */
struct read_desk {
    uv_loop_t *loop;
    const char *program;           /* that children are begun as: FB_CHILD_SELF */
    struct read_job *first, *last; /* that wait */
    struct read_job *running;
    int children;
    int64_t begun;  /* children, in all */
    int64_t killed; /* of those: by time or output */
};

/* An answer. Of the texts, NULL is "". */
struct read_page {
    struct slice body;
    const char *url, *type; /* Content-Type */
    const char *item, *id;  /* that it is about; of a list none */
    int32_t status;
};

/* What came of it: 0 and what was said, which is the callee's to free; or as read() of a kind says,
 * or as struct child_end does, with a sentence. */
typedef void read_done(void *user, int error, struct source_said *said, const char *sentence);

/*
 * Read a page by a rule, which must last until the end. 0: `done` is called once, perhaps before
 * this returns. A negative errno with a sentence: it is not.
 */
int fb_read(struct read_desk *d, const struct source_rule *r, const struct read_page *p,
            read_done *done, void *user, struct fly_error *err) __attribute__((warn_unused_result));

/* Give up all that is under way: each `done` is called, with -ECANCELED, by and by. */
void fb_desk_cancel(struct read_desk *d);

#endif
