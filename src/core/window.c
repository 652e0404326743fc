/* SPDX-License-Identifier: MIT */
/*
 * window.c - sliding windows as rings of stamps, and the guard against uneven arrival.
 *
 * Units are numbered 0, 1, 2, ... as they leave; a unit that comes back is taken out and later
 * ones move down. With `units` gone so far and a limit of N, a request of cost c puts unit
 * number units + c - 1 on its way, so unit units + c - 1 - N has to be out of the window: one
 * look. The interval is half open: exactly `length` after a stamp that unit no longer counts.
 *
 * Invariant: the stamp found for a unit is never earlier than the instant at which it left, so
 * every error is towards waiting. In the exact form (one stamp a unit) the two are equal. In the
 * other `grain` units share the stamp of the last of them: see window_grains.c. The stamps are
 * written so that this holds even where only the rest is put back as it was: see cut().
 */
#include "core/window.h"

#include <assert.h>
#include <string.h>

#include <flyball/flyball.h>

#include "core/constraint.h"
#include "core/instant.h"
#include "core/spec.h"
#include "core/window_parts.h"
#include "util/text.h"

/* The only slot: the distance in bytes from the slot to its memory, wherever both are mapped. */
enum { MEMORY };

#define MEASURE_EVERY 16
#define COARSE_STAMPS 1024
#define EXTREMES      3 /* the most that 1 % of FB_LATENCIES rounds up to */

static struct windows *windows_of(const int64_t *slot)
{
    assert(slot[MEMORY] != 0);
    return (struct windows *)((uintptr_t)slot + (uintptr_t)slot[MEMORY]);
}

/* ---- setting up ---- */

static struct window window_of(const struct spec_window *s)
{
    struct window w = {
        .length_ns = s->length_ns,
        .effective = s->effective,
        .stated = s->limit,
        .limit = s->effective,
        .grain = 1,
        .stamps = s->effective,
    };

    assert(s->effective >= 1 && s->length_ns >= 1);
    if (s->effective > FB_EXACT_MAX) {
        /* The oldest units of interest may begin in the middle of a grain: one stamp more. */
        w.grain = (s->effective + COARSE_STAMPS - 1) / COARSE_STAMPS;
        w.stamps = (s->effective + w.grain - 1) / w.grain + 1;
        assert(w.grain > 1 && w.stamps <= COARSE_STAMPS + 1);
    }
    return w;
}

static size_t ring_bytes(const struct window *w)
{
    size_t stamps = (size_t)w->stamps;

    assert(w->stamps >= 1);
    return stamps * sizeof(int64_t) + (stamps * sizeof(uint16_t) + 7) / 8 * 8;
}

static size_t head_bytes(const struct spec *s)
{
    return sizeof(struct windows) + (size_t)s->window_count * sizeof(struct window);
}

/* Lay out the windows of `s`, in `m` too unless it is NULL. Returns the bytes they need. */
static size_t lay_out(const struct spec *s, struct windows *m)
{
    size_t at = head_bytes(s);

    for (int64_t i = 0; i < s->window_count; i++) {
        struct window w = window_of(&s->window[i]);
        assert(at % sizeof(int64_t) == 0);
        w.ring_at = at;
        at += ring_bytes(&w);
        if (m)
            m->window[i] = w;
    }
    return at;
}

size_t fb_window_bytes(const struct spec *s)
{
    assert(s->window_count >= 0 && s->window_count <= FB_WINDOWS_MAX);
    return s->window_count > 0 ? lay_out(s, NULL) : 0;
}

size_t fb_window_head_bytes(const struct spec *s)
{
    return s->window_count > 0 ? head_bytes(s) : 0;
}

static bool window_init(int64_t *slot, const struct spec *s, void *memory, int64_t now_ns)
{
    struct windows *m = memory;

    (void)now_ns;
    if (s->window_count == 0)
        return false;
    assert(m && (uintptr_t)m % 8 == 0);
    m->count = s->window_count;
    lay_out(s, m);
    slot[MEMORY] = (int64_t)((uintptr_t)m - (uintptr_t)slot);
    return true;
}

/* ---- asking ---- */

bool fb_window_too_large(const int64_t *slot, int64_t cost)
{
    const struct windows *m = windows_of(slot);

    for (int64_t i = 0; i < m->count; i++)
        if (cost > m->window[i].effective)
            return true;
    return false;
}

/* When a unit left, or later than that. */
static int64_t stamp_of(struct windows *m, const struct window *w, int64_t unit)
{
    /*
     * Where units came back there is more room than the ring knows of. Of the older ones none
     * left later than the latest forgotten; that one has expired, unless a true cost came as a
     * surprise.
     */
    if (unit < w->units - w->known)
        return w->lost_ns;
    return fb_ring_of(m, w)[unit / w->grain % w->stamps];
}

static int64_t free_at(struct windows *m, const struct window *w, int64_t cost, int64_t now_ns)
{
    int64_t unit = w->units + cost - 1 - w->limit;

    assert(w->limit >= 1 && w->limit <= w->effective);
    /* More than the pace leaves, but not more than the window holds: into an empty one. */
    unit = fb_min64(unit, w->units - 1);
    if (unit < 0)
        return now_ns;
    assert(unit >= w->units - w->effective);
    int64_t stamp_ns = stamp_of(m, w, unit);
    return fb_after(stamp_ns, w->length_ns + fb_min64(m->spread_ns, w->length_ns / 4));
}

static int64_t window_ready_at(const int64_t *slot, const struct ask *q)
{
    struct windows *m = windows_of(slot);
    int64_t at_ns = q->now_ns;

    assert(q->cost >= 1);
    if (fb_window_too_large(slot, q->cost))
        return FB_NEVER;
    for (int64_t i = 0; i < m->count; i++)
        at_ns = fb_max64(at_ns, free_at(m, &m->window[i], q->cost, q->now_ns));
    return at_ns;
}

/* ---- taking ---- */

static void stamp_each(struct windows *m, struct window *w, int64_t cost, uint64_t id,
                       int64_t now_ns)
{
    int64_t *ring = fb_ring_of(m, w);
    uint16_t *ids = fb_ids_of(m, w);

    assert(cost >= 1 && cost <= w->stamps);
    for (int64_t i = 0; i < cost; i++) {
        int64_t at = w->units % w->stamps;
        if (w->known == w->stamps)
            w->lost_ns = ring[at];
        else
            w->known++;
        ring[at] = now_ns;
        ids[at] = (uint16_t)id;
        w->units++;
    }
    assert(w->known <= w->units);
}

static void window_take(int64_t *slot, const struct ask *q)
{
    struct windows *m = windows_of(slot);

    assert(window_ready_at(slot, q) <= q->now_ns);
    for (int64_t i = 0; i < m->count; i++) {
        struct window *w = &m->window[i];
        if (w->grain == 1)
            stamp_each(m, w, q->cost, q->id, q->now_ns);
        else
            fb_grains_stamp(m, w, q->cost, q->id, q->now_ns);
    }
    m->newest_id = q->id;
}

/* ---- giving back ---- */

/*
 * Take `count` units out, the newest of which is `last`. What was behind them moves down: left in
 * the middle, each place has its own stamp or a later one.
 */
static void cut(struct windows *m, struct window *w, int64_t last, int64_t count)
{
    int64_t *ring = fb_ring_of(m, w);
    uint16_t *ids = fb_ids_of(m, w);

    assert(count >= 1 && count <= w->known);
    assert(last < w->units && last - count >= w->units - w->known - 1);
    for (int64_t i = last + 1; i < w->units; i++) {
        ring[(i - count) % w->stamps] = ring[i % w->stamps];
        ids[(i - count) % w->stamps] = ids[i % w->stamps];
    }
    w->units -= count;
    w->known -= count;
}

/* Cut up to `most` units of the grant that lie together, the newest first. Returns how many. */
static int64_t cut_newest(struct windows *m, struct window *w, uint16_t id, int64_t most)
{
    const uint16_t *ids = fb_ids_of(m, w);
    int64_t oldest = fb_max64(w->units - w->known, w->firm);
    int64_t last = w->units - 1;
    int64_t count = 0;

    assert(most >= 1 && oldest >= 0);
    while (last >= oldest && ids[last % w->stamps] != id)
        last--;
    while (count < most && last - count >= oldest && ids[(last - count) % w->stamps] == id)
        count++;
    if (count > 0)
        cut(m, w, last, count);
    return count;
}

void fb_window_mend(int64_t *slot)
{
    struct windows *m = windows_of(slot);

    assert(m->count >= 1 && m->count <= FB_WINDOWS_MAX);
    for (int64_t i = 0; i < m->count; i++)
        fb_window_make_firm(&m->window[i]);
}

static void give_back_each(struct windows *m, struct window *w, uint64_t id, int64_t units)
{
    /* More than once where a true cost was settled upwards: the later charge lies apart. */
    while (units > 0) {
        int64_t found = cut_newest(m, w, (uint16_t)id, units);
        if (found == 0)
            return;
        units -= found;
    }
}

/*
 * A true cost above what was asked: the rest counts from now, over the limit if need be. More
 * than a windowful says no more than a full window does.
 */
static void charge(struct windows *m, struct window *w, uint64_t id, int64_t units, int64_t now_ns)
{
    int64_t charged = fb_min64(units, w->effective);

    assert(units >= 1);
    if (w->grain == 1)
        stamp_each(m, w, charged, id, now_ns);
    else
        fb_grains_stamp(m, w, charged, m->newest_id + 1, now_ns);
    if (w->grain > 1 && charged < units)
        fb_window_make_firm(w); /* more would come back than is there */
}

/* The same for what nobody knows whose it is. */
static void fill(struct windows *m, struct window *w, int64_t units, int64_t now_ns)
{
    charge(m, w, m->newest_id, units, now_ns);
    if (w->grain > 1)
        fb_window_make_firm(w);
}

static void window_refund(int64_t *slot, const struct ask *q)
{
    struct windows *m = windows_of(slot);

    for (int64_t i = 0; i < m->count; i++) {
        struct window *w = &m->window[i];
        if (q->cost < 0)
            charge(m, w, q->id, -q->cost, q->now_ns);
        else if (w->grain == 1)
            give_back_each(m, w, q->id, q->cost);
        else
            fb_grains_give_back(m, w, q->id, q->cost);
    }
}

static void window_exhaust(int64_t *slot, int64_t now_ns)
{
    struct windows *m = windows_of(slot);

    for (int64_t i = 0; i < m->count; i++)
        fill(m, &m->window[i], m->window[i].effective, now_ns);
}

/* ---- the guard ---- */

/* Keep the largest few, largest first. */
static void keep_largest(int64_t kept[EXTREMES], int64_t x)
{
    for (int i = 0; i < EXTREMES; i++) {
        if (x > kept[i]) {
            int64_t smaller = kept[i];
            kept[i] = x;
            x = smaller;
        }
    }
}

/* p99 - p1 of the latencies kept. At either end fewer than 1 % are left out, never more. */
static int64_t spread(const struct windows *m)
{
    int64_t count = fb_min64(m->measured, FB_LATENCIES);
    int64_t largest[EXTREMES] = {0};
    int64_t smallest[EXTREMES] = {-FB_TIME_MAX, -FB_TIME_MAX, -FB_TIME_MAX}; /* negated */

    assert(count >= EXTREMES);
    for (int64_t i = 0; i < count; i++) {
        keep_largest(largest, m->latency_ns[i]);
        keep_largest(smallest, -m->latency_ns[i]);
    }
    assert((count - 1) / 100 < EXTREMES && largest[0] >= largest[EXTREMES - 1]);
    return largest[(count - 1) / 100] + smallest[(count - 1) / 100];
}

static void window_report(int64_t *slot, const struct answer *a, struct rng *rng)
{
    struct windows *m = windows_of(slot);
    const struct fly_outcome *o = a->outcome;

    (void)rng;
    if (o->status == 0 || o->latency_ns < 0)
        return;
    assert(m->measured >= 0);
    m->latency_ns[m->measured % FB_LATENCIES] = fb_min64(o->latency_ns, FB_TIME_MAX);
    m->measured++;
    if (m->measured % MEASURE_EVERY == 0)
        m->spread_ns = spread(m);
    assert(m->spread_ns >= 0);
}

/* ---- the pace ---- */

static void window_repace(int64_t *slot, const struct pace *p, int64_t now_ns)
{
    struct windows *m = windows_of(slot);
    /* To the nearest, because 0.7 as a double is a little less than seven tenths. */
    int64_t share_ppm = (int64_t)((double)p->limit_share * (double)FB_MILLION + 0.5);

    (void)now_ns;
    assert(share_ppm >= 0 && share_ppm <= FB_MILLION);
    for (int64_t i = 0; i < m->count; i++) {
        struct window *w = &m->window[i];
        /* Rounded down, towards waiting; but a window of 1 is not one of 0. */
        w->limit = fb_max64(1, w->effective * share_ppm / FB_MILLION);
        assert(w->limit <= w->effective);
    }
}

/* ---- what lasts ---- */

/* Grain by grain, towards more. */
static int64_t used_of(struct windows *m, const struct window *w, int64_t now_ns)
{
    int64_t most = fb_min64(w->units, w->effective);
    int64_t used = 0;

    while (used < most && fb_after(stamp_of(m, w, w->units - 1 - used), w->length_ns) > now_ns)
        used += w->grain;
    assert(most >= 0 && used <= most + w->grain);
    return fb_min64(used, most);
}

int64_t fb_window_used(const int64_t *slot, int64_t now_ns)
{
    struct windows *m = windows_of(slot);
    int64_t most = 0;

    for (int64_t i = 0; i < m->count; i++)
        most = fb_max64(most, used_of(m, &m->window[i], now_ns));
    assert(most >= 0);
    return most;
}

static struct window_use use_of(struct windows *m, const struct window *w, int64_t now_ns)
{
    struct window_use u = {
        .used = used_of(m, w, now_ns),
        .limit = w->limit,
        .stated = w->stated,
        .length_ns = w->length_ns,
        .frees_ns = now_ns,
    };

    /* Where the pace leaves less than is in it, so many have to leave before there is room. */
    if (u.used > 0)
        u.frees_ns = fb_after(stamp_of(m, w, w->units - fb_min64(u.used, u.limit)),
                              w->length_ns + fb_min64(m->spread_ns, w->length_ns / 4));
    return u;
}

struct window_use fb_window_fullest(const int64_t *slot, int64_t now_ns)
{
    struct windows *m = windows_of(slot);
    struct window_use fullest = {.used = -1, .limit = 1};

    for (int64_t i = 0; i < m->count; i++) {
        struct window_use u = use_of(m, &m->window[i], now_ns);
        /* Both below 2^31: the products fit. */
        int64_t more = u.used * fullest.limit - fullest.used * u.limit;

        if (more > 0 || (more == 0 && u.frees_ns > fullest.frees_ns))
            fullest = u;
    }
    return fullest;
}

double fb_window_rate(const int64_t *slot)
{
    const struct windows *m = windows_of(slot);
    double least = 0.0;

    assert(m->count >= 1);
    for (int64_t i = 0; i < m->count; i++) {
        double rate = (double)m->window[i].limit * 1e9 / (double)m->window[i].length_ns;

        if (i == 0 || rate < least)
            least = rate;
    }
    return least;
}

/* ---- saying ---- */

/* Of the window that is full for longest. */
static void window_figures(const int64_t *slot, const struct ask *q, struct text *ret_text)
{
    struct windows *m = windows_of(slot);
    const struct window *last = &m->window[0];

    for (int64_t i = 1; i < m->count; i++)
        if (free_at(m, &m->window[i], q->cost, q->now_ns) > free_at(m, last, q->cost, q->now_ns))
            last = &m->window[i];
    fb_text_add(ret_text, ", ");
    fb_text_add_int(ret_text, last->limit);
    if (last->limit < last->stated) { /* what the margin and the pace leave of it */
        fb_text_add(ret_text, " of ");
        fb_text_add_int(ret_text, last->stated);
    }
    fb_text_add(ret_text, " in ");
    fb_text_add_span(ret_text, last->length_ns);
}

void fb_window_fill(int64_t *slot, int64_t units, int64_t now_ns, int64_t passed_ns)
{
    struct windows *m = windows_of(slot);

    assert(units >= 0);
    for (int64_t i = 0; i < m->count; i++)
        if (units > 0 && m->window[i].length_ns > passed_ns)
            fill(m, &m->window[i], units, now_ns);
}

/* ---- other windows ---- */

/* The window of this length, or NULL. */
static struct window *find_length(struct windows *m, int64_t length_ns)
{
    for (int64_t i = 0; i < m->count; i++)
        if (m->window[i].length_ns == length_ns)
            return &m->window[i];
    return NULL;
}

/* The latest units with their stamps, as many as both rings hold. */
static void carry_stamps(struct windows *m, struct window *w, struct windows *old,
                         const struct window *was)
{
    int64_t kept = fb_min64(was->known, w->stamps);

    w->units = was->units;
    w->known = kept;
    w->firm = was->firm;
    w->lost_ns = was->lost_ns;
    if (kept < was->known)
        w->lost_ns = stamp_of(old, was, was->units - 1 - kept);
    for (int64_t unit = was->units - kept; unit < was->units; unit++) {
        fb_ring_of(m, w)[unit % w->stamps] = stamp_of(old, was, unit);
        fb_ids_of(m, w)[unit % w->stamps] = fb_ids_of(old, was)[unit % was->stamps];
    }
}

/* The most that can be in a window of this length by what the old ones say. */
static int64_t used_at_most(struct windows *old, const struct window *w, int64_t now_ns)
{
    int64_t most = w->effective;

    for (int64_t i = 0; i < old->count; i++)
        if (old->window[i].length_ns >= w->length_ns)
            most = fb_min64(most, used_of(old, &old->window[i], now_ns));
    return most;
}

static void carry_one(struct windows *m, struct window *w, struct windows *old, int64_t now_ns)
{
    const struct window *was = find_length(old, w->length_ns);

    if (was && was->grain == 1 && w->grain == 1) {
        carry_stamps(m, w, old, was);
        return;
    }
    int64_t units = used_at_most(old, w, now_ns);
    if (units > 0)
        fill(m, w, units, now_ns);
}

void fb_window_carry(int64_t *slot, const int64_t *from, bool used, int64_t now_ns)
{
    struct windows *m = windows_of(slot);
    struct windows *old = from ? windows_of(from) : NULL;

    if (!old) {
        if (used)
            window_exhaust(slot, now_ns);
        return;
    }
    m->newest_id = old->newest_id;
    m->measured = old->measured;
    m->spread_ns = old->spread_ns;
    memcpy(m->latency_ns, old->latency_ns, sizeof(m->latency_ns));
    for (int64_t i = 0; used && i < m->count; i++)
        carry_one(m, &m->window[i], old, now_ns);
}

/* ---- any bytes ---- */

static bool window_is_sound(struct windows *m, const struct window *w, const struct window *fresh)
{
    const int64_t *ring = fb_ring_of(m, fresh);
    uint64_t gone = (uint64_t)w->units - (uint64_t)w->known; /* whole grains */
    const struct range ranges[] = {
        {(int64_t)(gone % (uint64_t)fresh->grain), 0, 0},
        {w->length_ns, fresh->length_ns, fresh->length_ns},
        {w->effective, fresh->effective, fresh->effective},
        {w->grain, fresh->grain, fresh->grain},
        {w->stated, fresh->stated, fresh->stated},
        {w->stamps, fresh->stamps, fresh->stamps},
        {(int64_t)w->ring_at, (int64_t)fresh->ring_at, (int64_t)fresh->ring_at},
        {w->limit, 1, fresh->effective},
        {w->known, 0, fb_min64(fresh->stamps * fresh->grain, w->units)},
        {w->firm, 0, w->units},
        {w->loose, 0, fresh->grain - 1},
        FB_A_NUMBER(w->loose_at),
        FB_A_NUMBER(w->units),
        FB_AN_INSTANT(w->lost_ns),
    };
    bool sound = FB_ALL_IN_RANGE(ranges);

    for (int64_t i = 0; sound && i < fresh->stamps; i++)
        sound = fb_in_range(&FB_AN_INSTANT(ring[i]), 1);
    return sound;
}

static bool window_sound(const int64_t *slot, const int64_t *fresh)
{
    if (slot[MEMORY] != fresh[MEMORY])
        return false;
    struct windows *m = windows_of(slot);
    const struct windows *pattern = windows_of(fresh);
    const struct range ranges[] = {
        {m->count, pattern->count, pattern->count},
        FB_A_NUMBER(m->measured),
        FB_A_NUMBER(m->spread_ns),
    };
    bool sound = FB_ALL_IN_RANGE(ranges);
    for (int i = 0; sound && i < FB_LATENCIES; i++)
        sound = fb_in_range(&FB_A_NUMBER(m->latency_ns[i]), 1);
    for (int64_t i = 0; sound && i < pattern->count; i++)
        sound = window_is_sound(m, &m->window[i], &pattern->window[i]);
    return sound;
}

/* Empty: it would take a windowful. What was measured of the latencies is measured again. */
static bool window_rested(const int64_t *slot, int64_t now_ns)
{
    struct windows *m = windows_of(slot);

    for (int64_t i = 0; i < m->count; i++)
        if (free_at(m, &m->window[i], m->window[i].limit, now_ns) > now_ns)
            return false;
    return true;
}

const struct constraint fb_constraint_window = {
    .name = "window",
    .never = "too-large",
    .says = "a window is full",
    .never_says = "it costs more than a window allows",
    .init = window_init,
    .ready_at = window_ready_at,
    .take = window_take,
    .refund = window_refund,
    .exhaust = window_exhaust,
    .report = window_report,
    .figures = window_figures,
    .repace = window_repace,
    .sound = window_sound,
    .rested = window_rested,
};
