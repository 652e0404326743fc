/* SPDX-License-Identifier: MIT */
/* fifo.c - the ring. */
#include "sim/fifo.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

enum { FIRST_ROOM = 64 };

void fb_fifo_fini(struct fifo *q)
{
    free(q->ring);
    *q = (struct fifo){0};
}

static int make_room(struct fifo *q)
{
    if (q->count < q->room)
        return 0;

    size_t room = q->room ? 2 * q->room : FIRST_ROOM;
    struct work *ring = malloc(room * sizeof *ring);

    if (!ring)
        return -ENOMEM;
    for (size_t i = 0; i < q->count; i++)
        ring[i] = *fb_fifo_get(q, i);
    free(q->ring);
    *q = (struct fifo){.ring = ring, .count = q->count, .room = room};
    return 0;
}

int fb_fifo_push(struct fifo *q, const struct work *w)
{
    if (make_room(q) < 0)
        return -ENOMEM;
    q->ring[(q->head + q->count++) % q->room] = *w;
    return 0;
}

int fb_fifo_push_front(struct fifo *q, const struct work *w)
{
    if (make_room(q) < 0)
        return -ENOMEM;
    q->head = (q->head + q->room - 1) % q->room;
    q->ring[q->head] = *w;
    q->count++;
    return 0;
}

const struct work *fb_fifo_get(const struct fifo *q, size_t i)
{
    assert(i < q->count);
    return &q->ring[(q->head + i) % q->room];
}

void fb_fifo_pop(struct fifo *q)
{
    assert(q->count > 0);
    q->head = (q->head + 1) % q->room;
    q->count--;
}
