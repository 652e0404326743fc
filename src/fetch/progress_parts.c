/* SPDX-License-Identifier: MIT */
/* progress_parts.c - the words that lines about progress are made of. */
#include <string.h>

#include "fetch/progress.h"
#include "view/words.h"

static void add_quota(const struct progress *p, struct buffer *to)
{
    if (strcmp(p->pool, "default") != 0) {
        fb_buffer_add_text(to, p->pool);
        fb_buffer_add_char(to, ' ');
    }
    fb_words_window(p->quota.limit, p->quota.window_ns, to);
}

void fb_progress_bound(const struct progress *p, struct buffer *to)
{
    switch (p->eta.bound) {
    case ETA_BOUND_NOTHING:
        return;
    case ETA_BOUND_RATE:
        fb_buffer_add_text(to, p->limit_learned ? "~" : "");
        fb_words_rate(p->limit, to);
        fb_buffer_add_text(to, "/s");
        return;
    case ETA_BOUND_WINDOW:
        fb_words_window(p->window_limit, p->window_ns, to);
        return;
    case ETA_BOUND_QUOTA:
        add_quota(p, to);
        return;
    case ETA_BOUND_HOLD:
        fb_buffer_add_text(to, "hold");
        return;
    case ETA_BOUND_ANSWERS:
        fb_buffer_add_text(to, "answers");
        return;
    }
}

void fb_progress_bar(const struct progress *p, size_t width, struct buffer *to)
{
    size_t room = width - 2;
    size_t full = p->total > 0 && p->done > 0
                      ? (size_t)((double)p->done / (double)p->total * (double)room)
                      : 0;

    full = full > room ? room : full;
    fb_buffer_add_char(to, '[');
    for (size_t i = 0; i < room; i++)
        fb_buffer_add_char(to, i < full ? '=' : i == full ? '>' : ' ');
    fb_buffer_add_char(to, ']');
}
