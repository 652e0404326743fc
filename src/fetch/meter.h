/* SPDX-License-Identifier: MIT */
/*
 * meter.h - how much ended in the last seconds: of a whole batch, and of each of its keys.
 *
 * What is measured of a key stays as it was while that key waits: fewer and fewer are counted then,
 * which says nothing about the rest. Numbers in, numbers out; who looks says what time it is.
 */
#ifndef FLYBALL_FETCH_METER_H
#define FLYBALL_FETCH_METER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define METER_SAMPLES 21 /* five seconds of them */
#define METER_KEYS    64 /* further ones take the place of what was not looked at for longest */

struct meter_key {
    uint64_t name; /* a hash; 0: free */
    int64_t since_ns;
    int64_t at_ns; /* looked at last */
    int64_t done;  /* then */
    double rate;   /* a second */
};

/* What ended lately, and what people were told of. */
struct meter {
    struct {
        int64_t at_ns;
        int64_t done;
    } sample[METER_SAMPLES];
    size_t count; /* so far; the latest METER_SAMPLES are there */
    struct meter_key key[METER_KEYS];
    int64_t looked_ns; /* the last look; 0: none yet */
    int64_t line_ns;
    int64_t hold_until_ns; /* of the hold told last */
    bool was_learning;
    bool was_waiting;
};

/* So many of the batch, which began then, have ended by now: how many a second, lately? */
double fb_meter_batch(struct meter *m, int64_t began_ns, int64_t now_ns, int64_t done);

/*
 * The same of a key. Where it is new it had done nothing at `since_ns`; if that is now, what it did
 * so far is not counted. 0: nothing has ended yet.
 */
double fb_meter_key(struct meter *m, uint64_t name, int64_t since_ns, int64_t now_ns, int64_t done,
                    bool waits);

#endif
