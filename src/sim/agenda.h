/* SPDX-License-Identifier: MIT */
/*
 * agenda.h - what happens next on the virtual clock: a binary heap of 16-byte events.
 *
 * Events of the same instant come out in the order in which they were put in. That, and nothing
 * else, makes two runs of one seed equal to the byte.
 */
#ifndef FLYBALL_SIM_AGENDA_H
#define FLYBALL_SIM_AGENDA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event {
    int64_t at_ns;
    uint32_t order; /* rises with every event put in */
    uint16_t kind;  /* the caller's */
    uint16_t slot;  /* the caller's: whom it concerns */
};

struct agenda {
    struct event *heap;
    size_t count;
    size_t room;
    uint32_t next_order;
};

/* 0 or -ENOMEM. fini accepts what init left behind, zeroes included. */
int fb_agenda_init(struct agenda *a) __attribute__((warn_unused_result));
void fb_agenda_fini(struct agenda *a);

/* Put an event in. The agenda grows as needed; 0 or -ENOMEM. */
int fb_agenda_push(struct agenda *a, int64_t at_ns, uint16_t kind, uint16_t slot)
    __attribute__((warn_unused_result));

/* The earliest event, taken out; false when nothing is left. */
bool fb_agenda_pop(struct agenda *a, struct event *ret_event);

#endif
