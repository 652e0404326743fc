/* SPDX-License-Identifier: MIT */
/*
 * agenda.c - the heap. Invariant: no event is earlier than its parent at (i - 1) / 2.
 *
 * A few dozen events are pending at a time, all within a kilobyte: a plain heap beats everything
 * cleverer. Sifting moves a hole instead of swapping.
 */
#include "sim/agenda.h"

#include <errno.h>
#include <stdlib.h>

enum { FIRST_ROOM = 256 };

static bool earlier(const struct event *a, const struct event *b)
{
    return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->order < b->order;
}

int fb_agenda_init(struct agenda *a)
{
    *a = (struct agenda){.heap = malloc(FIRST_ROOM * sizeof *a->heap), .room = FIRST_ROOM};
    return a->heap ? 0 : -ENOMEM;
}

void fb_agenda_fini(struct agenda *a)
{
    free(a->heap);
    *a = (struct agenda){0};
}

static int grow(struct agenda *a)
{
    struct event *heap = realloc(a->heap, 2 * a->room * sizeof *heap);

    if (!heap)
        return -ENOMEM;
    a->heap = heap;
    a->room *= 2;
    return 0;
}

int fb_agenda_push(struct agenda *a, int64_t at_ns, uint16_t kind, uint16_t slot)
{
    if (a->count == a->room && grow(a) < 0)
        return -ENOMEM;

    struct event e = {at_ns, a->next_order++, kind, slot};
    size_t hole = a->count++;

    while (hole > 0 && earlier(&e, &a->heap[(hole - 1) / 2])) {
        a->heap[hole] = a->heap[(hole - 1) / 2];
        hole = (hole - 1) / 2;
    }
    a->heap[hole] = e;
    return 0;
}

bool fb_agenda_pop(struct agenda *a, struct event *ret_event)
{
    if (a->count == 0)
        return false;
    *ret_event = a->heap[0];

    struct event last = a->heap[--a->count];
    size_t hole = 0;

    for (size_t child; (child = 2 * hole + 1) < a->count; hole = child) {
        if (child + 1 < a->count && earlier(&a->heap[child + 1], &a->heap[child]))
            child++;
        if (!earlier(&a->heap[child], &last))
            break;
        a->heap[hole] = a->heap[child];
    }
    a->heap[hole] = last;
    return true;
}
