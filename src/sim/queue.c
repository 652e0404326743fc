/* SPDX-License-Identifier: MIT */
/* queue.c - the ring. */
#include "sim/queue.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

enum { FIRST_ROOM = 64 };

void fb_queue_fini(struct queue *q)
{
    free(q->ring);
    *q = (struct queue){0};
}

static int make_room(struct queue *q)
{
    if (q->count < q->room)
        return 0;

    size_t room = q->room ? 2 * q->room : FIRST_ROOM;
    struct work *ring = malloc(room * sizeof *ring);

    if (!ring)
        return -ENOMEM;
    for (size_t i = 0; i < q->count; i++)
        ring[i] = *fb_queue_get(q, i);
    free(q->ring);
    *q = (struct queue){.ring = ring, .count = q->count, .room = room};
    return 0;
}

int fb_queue_push(struct queue *q, const struct work *w)
{
    if (make_room(q) < 0)
        return -ENOMEM;
    q->ring[(q->head + q->count++) % q->room] = *w;
    return 0;
}

int fb_queue_push_front(struct queue *q, const struct work *w)
{
    if (make_room(q) < 0)
        return -ENOMEM;
    q->head = (q->head + q->room - 1) % q->room;
    q->ring[q->head] = *w;
    q->count++;
    return 0;
}

const struct work *fb_queue_get(const struct queue *q, size_t i)
{
    assert(i < q->count);
    return &q->ring[(q->head + i) % q->room];
}

void fb_queue_pop(struct queue *q)
{
    assert(q->count > 0);
    q->head = (q->head + 1) % q->room;
    q->count--;
}
