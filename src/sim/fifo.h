/* SPDX-License-Identifier: MIT */
/* fifo.h - work that waits for the limiter: a ring that grows, open at both ends. */
#ifndef FLYBALL_SIM_FIFO_H
#define FLYBALL_SIM_FIFO_H

#include <stddef.h>

#include "sim/provider.h"

struct fifo {
    struct work *ring;
    size_t head;
    size_t count;
    size_t room;
};

/* A zeroed queue is empty. */
void fb_fifo_fini(struct fifo *q);

/* 0 or -ENOMEM. */
int fb_fifo_push(struct fifo *q, const struct work *w) __attribute__((warn_unused_result));
int fb_fifo_push_front(struct fifo *q, const struct work *w) __attribute__((warn_unused_result));

/* The i-th from the front, i < count. */
const struct work *fb_fifo_get(const struct fifo *q, size_t i);

/* Take the front off; count > 0. */
void fb_fifo_pop(struct fifo *q);

#endif
