/* SPDX-License-Identifier: MIT */
/* eta.c - the time that each limit asks for what is left, and the longest of them. */
#include "fetch/eta.h"

#include "core/instant.h"
#include "core/quota.h"

#define NS_PER_S 1e9
#define STEPS    64   /* in which an even spending is followed */
#define YEARS_NS 9e18 /* longer than anybody waits */

static int64_t span_of(double ns)
{
    return ns < YEARS_NS ? (int64_t)ns : FB_ETA_UNKNOWN - 1;
}

static double at_rate(int64_t todo, double rate)
{
    return (double)todo / rate * NS_PER_S;
}

/* What fits leaves at once; the rest in blocks, each a window after the one before. */
static double in_windows(int64_t todo, const struct eta_budget *w)
{
    int64_t left = w->left > 0 ? w->left : 0;

    if (todo <= left)
        return 0.0;
    int64_t blocks = (todo - left - 1) / w->limit;
    return (double)w->more_ns + (double)blocks * (double)w->window_ns;
}

/* pacing=even: so many of what is left, while the time to the reset runs out. */
static double evenly(int64_t todo, const struct eta_budget *q, int64_t left, int64_t span_ns)
{
    double each = (double)todo / STEPS, spent_ns = 0.0;

    for (int i = 0; i < STEPS; i++) {
        int64_t now_left = left - (int64_t)(each * i);
        int64_t to_go_ns = fb_max64(0, span_ns - (int64_t)spent_ns);

        spent_ns += each * (double)fb_quota_delay_ns(q->limit, now_left, q->kept, to_go_ns);
    }
    return spent_ns;
}

/* So many of a window that has just opened. */
static double in_one(int64_t todo, const struct eta_budget *q)
{
    if (q->spending == ETA_EVEN)
        return evenly(todo, q, q->limit, q->window_ns);
    double share = (double)todo / (double)(q->limit - q->kept);
    return q->spending == ETA_SPREAD ? share * (double)q->window_ns : 0.0;
}

/* What is left until the reset, then window after window. */
static double in_quotas(int64_t todo, const struct eta_budget *q)
{
    int64_t left = fb_max64(0, q->left - q->kept);

    if (todo <= left)
        return q->spending == ETA_EVEN ? evenly(todo, q, q->left, q->more_ns) : 0.0;
    int64_t each = q->limit - q->kept;
    int64_t whole = (todo - left - 1) / each;
    return (double)q->more_ns + (double)whole * (double)q->window_ns +
           in_one(todo - left - whole * each, q);
}

/* The pace kept now is that of what is left until the reset: after it there is another. */
static bool paces(const struct eta_budget *q, double rate)
{
    return q->spending != ETA_AT_ONCE && rate > 0.0 && q->more_ns > 0 &&
           (double)(q->left - q->kept) / (double)q->more_ns * NS_PER_S <= rate * 1.2;
}

static bool is_told(const struct eta_budget *q)
{
    return q->limit > q->kept && q->window_ns > 0 && q->more_ns > 0;
}

static void longer(struct eta *e, double *most, double ns, enum eta_bound bound)
{
    if (ns > *most) {
        *most = ns;
        e->bound = bound;
    }
}

static void add_limits(struct eta *e, double *most, const struct eta_key *k)
{
    bool told = is_told(&k->quota);
    bool paced = told && paces(&k->quota, k->rate);
    bool open = k->climbs && !paced; /* neither what it is nor what it is going to be is known */

    if (k->rate > 0.0 && !k->learning && !open && !(paced && k->todo > k->quota.left))
        longer(e, most, at_rate(k->todo, k->rate), paced ? ETA_BOUND_QUOTA : ETA_BOUND_RATE);
    if (k->window.limit > 0)
        longer(e, most, in_windows(k->todo, &k->window), ETA_BOUND_WINDOW);
    if (told && !open)
        longer(e, most, in_quotas(k->todo, &k->quota), ETA_BOUND_QUOTA);
}

struct eta fb_eta_of_key(const struct eta_key *k, bool is_full)
{
    struct eta e = {.span_ns = 0, .bound = ETA_BOUND_NOTHING};
    double most = 0.0;

    if (k->todo <= 0)
        return e;
    add_limits(&e, &most, k);
    bool is_pace = !k->learning && !k->climbs && (e.bound == ETA_BOUND_NOTHING || is_full);
    if (k->measured > 0.0 && is_pace)
        longer(&e, &most, at_rate(k->todo, k->measured), ETA_BOUND_ANSWERS);
    if (e.bound == ETA_BOUND_NOTHING) {
        e.span_ns = FB_ETA_UNKNOWN;
        return e;
    }
    /* A budget that is used up has counted the wait already. */
    bool counted = e.bound == ETA_BOUND_WINDOW ||
                   (e.bound == ETA_BOUND_QUOTA && k->quota.left <= k->quota.kept);
    if (k->wait_ns > 0 && !counted) {
        if ((double)k->wait_ns > most)
            e.bound = ETA_BOUND_HOLD;
        most += (double)k->wait_ns;
    }
    e.span_ns = span_of(most);
    return e;
}

struct eta fb_eta(const struct eta_key *k, size_t count, bool is_full)
{
    struct eta last = {.span_ns = 0, .bound = ETA_BOUND_NOTHING};

    for (size_t i = 0; i < count; i++) {
        struct eta e = fb_eta_of_key(&k[i], is_full);

        if (e.span_ns > last.span_ns) {
            last = e;
            last.key = i;
        }
    }
    return last;
}
