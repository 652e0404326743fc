/* SPDX-License-Identifier: MIT */
/*
 * ring.h - the latest events, written by whoever makes them and read by anybody, without waiting.
 *
 * Writers follow each other under a lock that no reader takes. A reader copies an event and then
 * looks whether it was overwritten meanwhile: then it is lost, and counted. So no reader, however
 * slow, can keep a writer waiting.
 */
#ifndef FLYBALL_LEDGER_RING_H
#define FLYBALL_LEDGER_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <flyball/observe.h>

#include "ledger/lock.h"

#define FB_EVENT_WORDS (sizeof(struct fly_event) / sizeof(uint64_t))

struct ring_place {
    _Atomic uint64_t number; /* of the event in it; 0: none, or one is being written */
    _Atomic uint64_t word[FB_EVENT_WORDS];
};

struct ring {
    struct lock lock;      /* of the writers */
    uint32_t places;       /* a power of two */
    _Atomic uint64_t next; /* number of the next event, less 1 */
    struct ring_place place[];
};

/* A ring for at least so many events, 1..2^20; NULL when memory is out. Free with fb_free(). */
struct ring *fb_ring_new(size_t events_max);

/* Write an event; its number is filled in. */
void fb_ring_write(struct ring *r, struct fly_event *e);

/* As fly_limiter_events(). */
size_t fb_ring_read(const struct ring *r, uint64_t *cursor, struct fly_event *ret_events,
                    size_t most, uint64_t *missed);

#endif
