/* SPDX-License-Identifier: MIT */
/*
 * probe_slots.c - what left within the last second, where a window of a second slides.
 *
 * Such a window gives back a place a second after it was taken. At an even pace that is all there
 * is to know; but a machine stands still now and then. What it did not send meanwhile may be made
 * up for at once, if the same gap is left a second later: else one too many is there then. So it is
 * counted when places were taken, and the next request leaves no earlier than one is given back.
 *
 * No more than three leave within a bin. A place is given back when all of its bin is a second ago,
 * which errs towards waiting.
 *
 * Invariant: while `slotted`, slot_bin is the latest bin, and none is more than a second older.
 */
#include <assert.h>
#include <string.h>

#include <flyball/flyball.h>

#include "core/adapt/probe_parts.h"

#define BINS      64
#define GUARD_NS  (2 * FB_NS_PER_MS) /* two that left a second apart may arrive in less */
#define BIN_NS    ((FB_NS_PER_S + GUARD_NS) / (BINS - 1) + 1)
#define BIN_MOST  3 /* as far as two bits count */
#define SPAN_S    ((float)(BINS * BIN_NS) / 1e9f)
#define PACE_MOST 120.0f /* a second: faster, and two bits are too few */
#define ODD_BITS  UINT64_C(0x5555555555555555)

static unsigned count_of(const struct probe *p, unsigned bin)
{
    return (unsigned)(p->slots[bin % BINS / 32] >> (2 * (bin % 32))) & BIN_MOST;
}

static void set_count(struct probe *p, unsigned bin, unsigned count)
{
    uint64_t *word = &p->slots[bin % BINS / 32];
    unsigned shift = 2 * (bin % 32);

    assert(count <= BIN_MOST);
    *word = (*word & ~((uint64_t)BIN_MOST << shift)) | (uint64_t)count << shift;
}

static unsigned taken(const struct probe *p)
{
    int sum = 0;

    for (int i = 0; i < PROBE_SLOT_WORDS; i++)
        sum += __builtin_popcountll(p->slots[i] & ODD_BITS) +
               2 * __builtin_popcountll(p->slots[i] >> 1 & ODD_BITS);
    return (unsigned)sum;
}

/* The even pace of such a window, or 0 where there is none. */
static float pace_of_slots(const struct probe *p)
{
    bool fits = p->unit <= 1.0f && p->window_s <= 1.0f && p->told_pace <= PACE_MOST;

    if (!fits || p->lean >= 0.0f || p->episode != EPISODE_NONE || p->sway_s > EVEN_S)
        return 0.0f;
    return fb_probe_slides(p) ? p->told_pace : 0.0f;
}

/* What such a pace takes within all bins. */
static unsigned places(float pace)
{
    assert(pace >= 0.0f);
    return (unsigned)(pace * SPAN_S + 0.5f);
}

/* Nothing is known of the second before: all was taken, evenly. */
static void begin(struct probe *p, uint16_t bin, unsigned most)
{
    for (unsigned i = 0; i < BINS; i++)
        set_count(p, bin + 1 + i, (i + 1) * most / BINS - i * most / BINS);
    p->slot_bin = bin;
    p->slotted = true;
}

static void move_on(struct probe *p, uint16_t bin)
{
    uint16_t steps = (uint16_t)(bin - p->slot_bin);

    if (steps >= BINS)
        memset(p->slots, 0, sizeof(p->slots));
    else
        for (uint16_t i = 1; i <= steps; i++)
            set_count(p, p->slot_bin + i, 0);
    p->slot_bin = bin;
}

static void take(struct probe *p, uint16_t bin, unsigned most)
{
    if (p->slotted)
        move_on(p, bin);
    else
        begin(p, bin, most);
    unsigned count = count_of(p, bin);
    set_count(p, bin, count < BIN_MOST ? count + 1 : BIN_MOST);
}

/* From when on there is room: in the next bin, or when the oldest place is given back. */
static int64_t room_ns(const struct probe *p, int64_t bin, unsigned most)
{
    unsigned steps = 1;

    if (taken(p) < most)
        return count_of(p, p->slot_bin) < BIN_MOST ? FB_LONG_AGO : (bin + 1) * BIN_NS;
    assert(count_of(p, p->slot_bin) > 0); /* so it ends */
    while (count_of(p, p->slot_bin + steps) == 0)
        steps++;
    return (bin + steps) * BIN_NS;
}

bool fb_probe_take_slot(struct probe *p, int64_t now_ns, int64_t cost)
{
    float pace = pace_of_slots(p);
    unsigned most = places(pace);
    int64_t bin = now_ns / BIN_NS;

    assert(cost >= 1);
    if (most == 0 || cost > 1) /* two bits do not count what costs more */
        return fb_probe_forget_slots(p, now_ns);
    take(p, (uint16_t)bin, most);
    int64_t room = room_ns(p, bin, most);
    p->block_ns = fb_max64(p->block_ns, room);
    return room > now_ns;
}

bool fb_probe_forget_slots(struct probe *p, int64_t now_ns)
{
    if (p->episode != EPISODE_NONE || !p->slotted)
        return false;
    p->slotted = false;
    p->total_ns = p->ahead_ns = now_ns;
    p->total = p->ahead = 0.0f;
    return true;
}
