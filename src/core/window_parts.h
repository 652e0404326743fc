/* SPDX-License-Identifier: MIT */
/*
 * window_parts.h - what the two forms of a window have in common, and the form with grains.
 *
 * Only window.c and window_grains.c include this. The form is that of the limit: see window.h.
 */
#ifndef FLYBALL_CORE_WINDOW_PARTS_H
#define FLYBALL_CORE_WINDOW_PARTS_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define FB_LATENCIES 256

struct window {
    int64_t length_ns;
    int64_t effective; /* the ring is sized for it */
    int64_t stated;    /* before the margin */
    int64_t limit;     /* what the pace leaves of it: 1..effective */
    int64_t grain;     /* units that share a stamp */
    int64_t stamps;    /* in the ring */
    int64_t units;     /* gone so far, less those that came back */
    int64_t known;     /* so many of the latest units the ring still holds */
    int64_t lost_ns;   /* the latest stamp that the ring does not hold any more */
    int64_t firm;      /* units before this one do not come back */
    size_t ring_at;    /* bytes from the beginning of the memory to the stamps */
    /* The other form: */
    uint64_t whole_id; /* grants from here on lie wholly under the newest stamp */
    uint64_t tail_id;  /* whose units are the last ones */
    int64_t loose;     /* units that came back and still have their stamps: less than a grain */
    int64_t loose_at;  /* the newest grain that may go for them */
};

struct windows {
    int64_t count;
    int64_t measured;  /* latencies, ever */
    int64_t spread_ns; /* of the latencies kept */
    uint64_t newest_id;
    int64_t latency_ns[FB_LATENCIES];
    struct window window[];
};

static inline int64_t *fb_ring_of(struct windows *m, const struct window *w)
{
    assert(w->ring_at % sizeof(int64_t) == 0);
    return (int64_t *)((uintptr_t)m + w->ring_at);
}

/* Beside each stamp the low bits of the id of the grant: in the other form, of the last one. */
static inline uint16_t *fb_ids_of(struct windows *m, const struct window *w)
{
    assert(w->stamps >= 1);
    return (uint16_t *)(fb_ring_of(m, w) + w->stamps);
}

/* What is in the window now leaves it in its own time. */
void fb_window_make_firm(struct window *w);

/* Where units share a stamp: `cost` more leave now, with a grant or as a charge of its own. */
void fb_grains_stamp(struct windows *m, struct window *w, int64_t cost, uint64_t id,
                     int64_t now_ns);

/*
 * Likewise: so many units of a grant come back. Less than a grain of them may be missing until
 * more come, and all of them where they have left the window or are firm.
 */
void fb_grains_give_back(struct windows *m, struct window *w, uint64_t id, int64_t units);

#endif
