/* SPDX-License-Identifier: MIT */
/* signals_print.c - a signal for a person: a sentence, a table of pools, the pace that follows. */
#include <inttypes.h>

#include "cli/signals.h"
#include "util/text.h"

#define CELL 24

static void count_cell(char *cell, int64_t count)
{
    struct text t;

    fb_text_init(&t, cell, CELL);
    if (count == FLY_ABSENT)
        fb_text_add(&t, "-");
    else
        fb_text_add_int(&t, count);
}

static void span_cell(char *cell, int64_t span_ns)
{
    struct text t;

    fb_text_init(&t, cell, CELL);
    if (span_ns == FLY_ABSENT)
        fb_text_add(&t, "-");
    else
        fb_text_add_span(&t, span_ns);
}

static void limit_cell(char *cell, const struct fly_pool *p)
{
    struct text t;

    if (p->limit != FLY_ABSENT || p->refill_millionths == FLY_ABSENT) {
        count_cell(cell, p->limit);
        return;
    }
    fb_text_init(&t, cell, CELL);
    fb_text_add_number(&t, (double)p->refill_millionths / 1e6);
    fb_text_add(&t, "/s");
}

static void print_pool(FILE *out, const struct fly_pool *p)
{
    char limit[CELL], left[CELL], used[CELL], window[CELL], reset[CELL];

    limit_cell(limit, p);
    count_cell(left, p->remaining);
    count_cell(used, p->used);
    span_cell(window, p->window_ns);
    span_cell(reset, p->reset_ns);
    fprintf(out, "%-24s %12s %12s %12s %12s %12s\n", p->name[0] ? p->name : "(unnamed)", limit,
            left, used, window, reset);
}

static void print_pools(FILE *out, const struct fly_signal *s)
{
    if (s->pool_count == 0)
        return;
    fprintf(out, "\n%-24s %12s %12s %12s %12s %12s\n", "POOL", "LIMIT", "LEFT", "USED", "WINDOW",
            "RESET IN");
    for (size_t i = 0; i < s->pool_count; i++)
        print_pool(out, &s->pool[i]);
    fputc('\n', out);
}

/* ---- the pace ---- */

static int64_t left_of(const struct fly_pool *p)
{
    if (p->remaining != FLY_ABSENT || p->limit == FLY_ABSENT || p->used == FLY_ABSENT)
        return p->remaining;
    return p->used < p->limit ? p->limit - p->used : 0;
}

/* Permits a second that the pool allows from here on; negative: it does not tell. */
static double pace_of(const struct fly_pool *p)
{
    int64_t left = left_of(p);

    if (left != FLY_ABSENT && p->reset_ns != FLY_ABSENT && p->reset_ns > 0)
        return (double)left / ((double)p->reset_ns / 1e9);
    if (p->refill_millionths != FLY_ABSENT)
        return (double)p->refill_millionths / 1e6;
    if (p->limit != FLY_ABSENT && p->window_ns != FLY_ABSENT)
        return (double)p->limit / ((double)p->window_ns / 1e9);
    return -1.0;
}

static const struct fly_pool *tightest(const struct fly_signal *s, double *ret_pace)
{
    const struct fly_pool *found = NULL;

    for (size_t i = 0; i < s->pool_count; i++) {
        double pace = pace_of(&s->pool[i]);
        if (pace >= 0.0 && (!found || pace < *ret_pace)) {
            found = &s->pool[i];
            *ret_pace = pace;
        }
    }
    return found;
}

static void add_pool_pace(struct text *t, const struct fly_pool *p, double pace)
{
    const char *name = p->name[0] ? p->name : "the pool";

    if (pace > 0.0) {
        fb_text_add_number(t, pace);
        fb_text_add(t, "/s, bound by ");
        fb_text_add(t, name);
        return;
    }
    fb_text_add(t, "nothing until ");
    fb_text_add(t, name);
    fb_text_add(t, " resets");
}

/* Nothing is left of it before the hold is over, and no longer. */
static bool resets_within(const struct fly_pool *p, double pace, int64_t hold_ns)
{
    return p && !(pace > 0.0) && p->reset_ns != FLY_ABSENT && p->reset_ns <= hold_ns;
}

static void print_pace(FILE *out, const struct fly_signal *s)
{
    double pace = 0.0;
    const struct fly_pool *p = tightest(s, &pace);
    bool is_one = s->hold_ns > 0 && resets_within(p, pace, s->hold_ns);
    char text[160];
    struct text t;

    fb_text_init(&t, text, sizeof(text));
    fb_text_add(&t, "Pace: ");
    if (s->hold_ns > 0) {
        fb_text_add(&t, "nothing for ");
        fb_text_add_span(&t, s->hold_ns);
        fb_text_add(&t, is_one ? "; by then " : ", then ");
    }
    if (is_one) {
        fb_text_add(&t, p->name[0] ? p->name : "the pool");
        fb_text_add(&t, " has been reset");
    } else if (p) {
        add_pool_pace(&t, p, pace);
    } else if (s->stated_limit != FLY_ABSENT) {
        fb_text_add_number(&t, (double)s->stated_limit / ((double)s->stated_window_ns / 1e9));
        fb_text_add(&t, "/s, as the text states");
    } else {
        fb_text_add(&t, "as fast as probing finds; no rate is told");
    }
    if (s->concurrency != FLY_ABSENT) {
        fb_text_add(&t, ", at most ");
        fb_text_add_int(&t, s->concurrency);
        fb_text_add(&t, " at once");
    }
    fprintf(out, "%s.\n", text);
}

void fb_signals_print(FILE *out, const struct fly_signal *s)
{
    char why[256];

    fly_signal_explain(s, why, sizeof(why));
    fprintf(out, "%s\n", why);
    if (!(s->flags & FLY_SIGNAL_FOUND)) {
        fputs("It says nothing about limits.\n", out);
        return;
    }
    print_pools(out, s);
    print_pace(out, s);
}
