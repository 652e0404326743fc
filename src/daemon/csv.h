/* SPDX-License-Identifier: MIT */
/*
 * csv.h - figures over time into a file: a row for every provider and pool that has something to
 * tell, every so many seconds.
 *
 * The columns are the time, the provider, the pool, and the figures of history.h: sums over the
 * span that ends then, or what it was at its end; what is not known is empty. A file that is there
 * is added to. What cannot be written is lost, and told once.
 */
#ifndef FLYBALL_DAEMON_CSV_H
#define FLYBALL_DAEMON_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <flyball/flyball.h>

#include "daemon/history.h"

struct csv {
    int fd;         /* -1: nobody wants it */
    int64_t every;  /* seconds */
    int64_t passed; /* of these */
    bool has_failed;
    struct figures sum[METER_SETS];
};

void fb_csv_init(struct csv *c);

/*
 * Write to this file from now on, with a first line of names if it is empty; NULL: to none. 0, or
 * a negative errno with a sentence, and all is as it was. Also for a file that was moved away.
 */
int fb_csv_open(struct csv *c, const char *path, struct fly_error *err)
    __attribute__((warn_unused_result));
void fb_csv_close(struct csv *c);

/* A second has passed. False: something could not be written, for the first time. */
bool fb_csv_add(struct csv *c, int64_t second, const struct figures *now, const struct meters *m,
                size_t sets);

/* The line of names; the row of a set, or nothing where it has nothing to tell. */
void fb_csv_head(struct buffer *to);
void fb_csv_row(int64_t second, const struct meter_set *s, const struct figures *f,
                struct buffer *to);

#endif
