/* SPDX-License-Identifier: MIT */
/*
 * freshness.c - ages, and their percentiles by selection.
 *
 * Selection halves the range that holds the one it looks for around a pivot of three, so that ages
 * that come in order, as they do, cost no more than others.
 */
#include "core/freshness.h"

#include <assert.h>

#define THOUSANDTHS 1000

void fb_freshness_aims_init(struct freshness_aims *a)
{
#define X(name, aim_s) .aim_ns[ITEM_##name] = (aim_s)*FB_NS_PER_S,
    *a = (struct freshness_aims){FB_ITEM_STATES(X)};
#undef X
}

const char *fb_item_state_name(enum item_state state)
{
#define X(name, aim_s) #name,
    static const char *const names[] = {FB_ITEM_STATES(X)};
#undef X

    assert(state < ITEM_STATES);
    return names[state];
}

/* ---- one item ---- */

static int64_t since_ns(const struct freshness *f)
{
    return f->fresh_ns == FB_LONG_AGO ? f->known_ns : f->fresh_ns;
}

int64_t fb_freshness_age(const struct freshness *f, int64_t now_ns)
{
    assert(f->fresh_ns >= FB_LONG_AGO);
    return fb_max64(0, now_ns - since_ns(f));
}

int64_t fb_freshness_due_at(const struct freshness *f, const struct freshness_aims *a,
                            enum item_state state)
{
    assert(state < ITEM_STATES && a->aim_ns[state] >= 0);
    if (f->fresh_ns == FB_LONG_AGO)
        return f->known_ns;
    return fb_after(f->fresh_ns, a->aim_ns[state]);
}

int64_t fb_freshness_urgency(const struct freshness *f, const struct freshness_aims *a,
                             enum item_state state, int64_t now_ns)
{
    int64_t due_ns = fb_freshness_due_at(f, a, state);

    if (now_ns < due_ns)
        return 0;
    int64_t thousandth_ns = fb_max64(1, a->aim_ns[state] / THOUSANDTHS);
    assert(thousandth_ns >= 1 && now_ns >= due_ns);
    return (now_ns - due_ns) / thousandth_ns + 1;
}

/* ---- all of them ---- */

static void swap(int64_t *a, int64_t *b)
{
    int64_t was = *a;

    *a = *b;
    *b = was;
}

/* The middle one of the first, the middle and the last. */
static int64_t pivot(const int64_t *at, size_t count)
{
    int64_t a = at[0];
    int64_t b = at[count / 2];
    int64_t c = at[count - 1];

    assert(count > 0);

    return fb_max64(fb_min64(a, b), fb_min64(fb_max64(a, b), c));
}

/*
 * Smaller ones to the front, larger ones to the back. What equals the pivot lies between
 * *ret_first and the returned place.
 */
static size_t part(int64_t *at, size_t count, size_t *ret_first)
{
    int64_t middle = pivot(at, count);
    size_t first = 0;
    size_t next = 0;
    size_t last = count;

    while (next < last) {
        if (at[next] < middle)
            swap(&at[first++], &at[next++]);
        else if (at[next] > middle)
            swap(&at[next], &at[--last]);
        else
            next++;
    }
    assert(first < last && last <= count); /* the pivot is one of them */
    *ret_first = first;
    return last;
}

/* The one that stands at `rank`, from 0 on, when all are in order; those before are not larger. */
static int64_t select_rank(int64_t *at, size_t count, size_t rank)
{
    size_t first;

    assert(rank < count);
    for (;;) {
        size_t last = part(at, count, &first);
        if (rank >= first && rank < last)
            return at[rank];
        if (rank < first) {
            count = first;
            continue;
        }
        at += last;
        count -= last;
        rank -= last;
    }
}

/* How many must not exceed it, less 1; rounded up. */
static size_t rank_of(size_t count, size_t percent)
{
    assert(count > 0 && percent >= 1 && percent <= 100);
    return (count * percent + 99) / 100 - 1;
}

struct freshness_spread fb_freshness_spread(int64_t *ages_ns, size_t count)
{
    struct freshness_spread s = {.count = count};

    if (count == 0)
        return s;
    size_t p50 = rank_of(count, 50);
    size_t p95 = rank_of(count, 95);
    assert(p50 <= p95 && p95 < count);
    s.p95_ns = select_rank(ages_ns, count, p95);
    s.p50_ns = select_rank(ages_ns, p95 + 1, p50);
    s.oldest_ns = s.p95_ns;
    for (size_t i = p95 + 1; i < count; i++)
        s.oldest_ns = fb_max64(s.oldest_ns, ages_ns[i]);
    assert(s.p50_ns <= s.p95_ns && s.p95_ns <= s.oldest_ns);
    return s;
}
