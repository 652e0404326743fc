/* SPDX-License-Identifier: MIT */
/*
 * window_grains.c - the form of a window in which a grain of units shares the stamp of the last.
 *
 * Invariant: for any instant, at least as many stamps are later as units left later that did not
 * come back. So a stamp that is not later than the instant at which a grant left may go for so
 * many units of that grant: whoever left later still finds as many later stamps. What comes back
 * takes whole stamps with it, and what is less than a grain waits until it is one.
 */
#include <stdbool.h>

#include "core/instant.h"
#include "core/window_parts.h"

void fb_window_make_firm(struct window *w)
{
    assert(w->firm <= w->units);
    w->firm = w->units;
    w->loose = 0;
}

void fb_grains_stamp(struct windows *m, struct window *w, int64_t cost, uint64_t id, int64_t now_ns)
{
    int64_t *ring = fb_ring_of(m, w);
    uint16_t *ids = fb_ids_of(m, w);
    int64_t first = w->units / w->grain;
    int64_t last = (w->units + cost - 1) / w->grain;
    int64_t oldest = (w->units - w->known) / w->grain;

    assert(cost >= 1 && w->grain > 1);
    assert(last >= first && last - first < w->stamps);
    if (last > first)
        w->whole_id = id + 1;
    else if (w->units % w->grain == 0)
        w->whole_id = id;
    w->tail_id = id;
    for (int64_t i = first; i <= last; i++) {
        int64_t at = i % w->stamps;
        if (i - oldest == w->stamps) {
            w->lost_ns = ring[at];
            oldest++;
        }
        ring[at] = now_ns;
        ids[at] = (uint16_t)id;
    }
    w->units += cost;
    w->known = w->units - oldest * w->grain;
}

/* The oldest grain that may go. */
static int64_t oldest_grain(const struct window *w)
{
    int64_t unit = fb_max64(w->units - w->known, w->firm);

    assert(unit >= 0 && unit <= w->units);
    return (unit + w->grain - 1) / w->grain;
}

/* Take out `most` full grains, the newest of which is `last`, or as many as may go. As cut(). */
static int64_t cut_grains(struct windows *m, struct window *w, int64_t last, int64_t most)
{
    int64_t *ring = fb_ring_of(m, w);
    uint16_t *ids = fb_ids_of(m, w);
    int64_t count = fb_min64(most, last - oldest_grain(w) + 1);

    assert(most >= 0 && last < w->units / w->grain);
    if (count <= 0)
        return 0;
    for (int64_t i = last + 1; i * w->grain < w->units; i++) {
        ring[(i - count) % w->stamps] = ring[i % w->stamps];
        ids[(i - count) % w->stamps] = ids[i % w->stamps];
    }
    w->units -= count * w->grain;
    w->known -= count * w->grain;
    assert(w->known >= 0);
    return count;
}

/* All under this stamp had left when this grant did. A charge of just now bears an id to come. */
static bool is_by(const struct windows *m, uint16_t stamped, uint64_t id)
{
    uint16_t age = (uint16_t)(m->newest_id - stamped);

    return age != UINT16_MAX && age >= (uint16_t)(m->newest_id - id);
}

/* The newest such grain that is full. */
static int64_t grain_by(struct windows *m, const struct window *w, uint64_t id)
{
    const uint16_t *ids = fb_ids_of(m, w);
    int64_t oldest = oldest_grain(w);
    int64_t at = w->units / w->grain - 1;

    assert(oldest >= 0 && at >= -1);
    while (at >= oldest && !is_by(m, ids[at % w->stamps], id))
        at--;
    return at;
}

/* Full grains at once; the rest when it is one, from where it may go for all that waited. */
static void loosen(struct windows *m, struct window *w, uint64_t id, int64_t units)
{
    int64_t at = grain_by(m, w, id);

    if (at < oldest_grain(w))
        return; /* it has left the window, or will in its own time */
    at -= cut_grains(m, w, at, units / w->grain);
    int64_t from = w->loose > 0 ? fb_min64(at, w->loose_at) : at;
    w->loose += units % w->grain;
    if (w->loose >= w->grain) {
        at -= cut_grains(m, w, from, 1);
        w->loose -= w->grain;
        from = at; /* what is left is of this grant */
    }
    if (from < 0)
        w->loose = 0; /* there is none that may go */
    w->loose_at = fb_max64(from, 0);
    assert(w->loose >= 0 && w->loose < w->grain);
}

/* The last units are those of this grant, or of others with the same stamp. */
static bool is_last(const struct window *w, uint64_t id, int64_t units)
{
    if (w->units - units < fb_max64(w->firm, w->units - w->known))
        return false;
    return id == w->tail_id || (id >= w->whole_id && w->units % w->grain >= units);
}

void fb_grains_give_back(struct windows *m, struct window *w, uint64_t id, int64_t units)
{
    /* The caller may know the low bits of the id only: the latest grant that has them. */
    uint64_t whole = m->newest_id - (uint16_t)(m->newest_id - id);

    assert(units >= 0);
    if (whole > m->newest_id)
        return;
    if (!is_last(w, whole, units)) {
        loosen(m, w, whole, units);
        return;
    }
    if (units > w->units % w->grain)
        w->whole_id = whole + 1; /* what is the newest stamp now has older units, too */
    w->units -= units;
    w->known -= units;
    assert(w->known >= 0);
}
