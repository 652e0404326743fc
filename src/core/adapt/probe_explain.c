/* SPDX-License-Identifier: MIT */
/*
 * probe_explain.c - the belief as a sentence: which pace, how far from which limit, and what that
 * limit was learned from.
 */
#include "core/adapt/probe_parts.h"
#include "core/controller.h"
#include "util/text.h"

#define TOLD "what the server says is left, spent evenly until its reset"

static void add_lean(struct text *t, const struct probe *p)
{
    float share = p->lean < 0.0f ? -p->lean : p->lean;

    fb_text_add_number(t, (double)(100.0f * share));
    fb_text_add(t, p->lean < 0.0f ? " % under the limit of " : " % over the limit of ");
    fb_text_add_number(t, (double)p->limit);
    fb_text_add(t, "/s, ");
    fb_text_add(t, fb_probe_reading_says(p));
}

static void add_burst(struct text *t, const struct probe *p)
{
    fb_text_add(t, "what was saved up while idling leaves at once, then not above ");
    fb_text_add_number(t, (double)p->limit);
    fb_text_add(t, "/s, ");
    fb_text_add(t, fb_probe_reading_says(p));
}

/* Until when it lasts is the server's to tell; of the first window what is known is a rest. */
static void add_window(struct text *t, const struct probe *p)
{
    if (p->window_s <= 0.0f || p->phase == PROBE_FIRST)
        return;
    fb_text_add(t, " (window of ");
    fb_text_add_span(t, fb_span(p->window_s));
    fb_text_add(t, ")");
}

static void add_climb(struct text *t, const struct probe *p, bool is_told)
{
    if (is_told)
        fb_text_add(t, "climbing to " TOLD);
    else if (fb_probe_kept_s(p) > 0.0f)
        fb_text_add(t, "climbing, for all that is to come fits into what the server says is left");
    else
        fb_text_add(t, "no limit known yet, climbing");
}

void fb_probe_explain(const union controller_state *c, const struct pace *pace, int64_t now_ns,
                      struct text *t)
{
    const struct probe *p = &c->probe;
    bool is_told = p->told_until_ns > now_ns;
    bool follows = is_told && pace->rate >= 0.99 * (double)p->told;

    fb_text_add_number(t, pace->rate);
    fb_text_add(t, "/s: ");
    if (follows)
        fb_text_add(t, TOLD);
    else if (p->phase == PROBE_FIRST)
        add_climb(t, p, is_told);
    else if (p->bursting && pace->rate > 1.01 * (double)p->rate)
        add_burst(t, p);
    else
        add_lean(t, p);
    if (!follows)
        add_window(t, p);
    fb_text_add(t, p->outage ? "; failing, asked one at a time." : ".");
}
