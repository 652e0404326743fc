/* SPDX-License-Identifier: MIT */
/* queue.h - work that waits for the limiter: a ring that grows, open at both ends. */
#ifndef FLYBALL_SIM_QUEUE_H
#define FLYBALL_SIM_QUEUE_H

#include <stddef.h>

#include "sim/provider.h"

struct queue {
    struct work *ring;
    size_t head;
    size_t count;
    size_t room;
};

/* A zeroed queue is empty. */
void fb_queue_fini(struct queue *q);

/* 0 or -ENOMEM. */
int fb_queue_push(struct queue *q, const struct work *w) __attribute__((warn_unused_result));
int fb_queue_push_front(struct queue *q, const struct work *w) __attribute__((warn_unused_result));

/* The i-th from the front, i < count. */
const struct work *fb_queue_get(const struct queue *q, size_t i);

/* Take the front off; count > 0. */
void fb_queue_pop(struct queue *q);

#endif
