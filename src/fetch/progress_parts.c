/* SPDX-License-Identifier: MIT */
/* progress_parts.c - the words that lines about progress are made of. */
#include <string.h>

#include "fetch/progress.h"
#include "signal/civil.h"
#include "util/text.h"

#define NS_PER_S INT64_C(1000000000)
#define MINUTE_S 60
#define HOUR_S   3600
#define DAY_S    86400

void fb_progress_count(int64_t n, struct buffer *to)
{
    char digits[24];
    struct text t;

    fb_text_init(&t, digits, sizeof digits);
    fb_text_add_int(&t, n);
    size_t size = strlen(digits);
    for (size_t i = 0; i < size; i++) {
        if (i > 0 && (size - i) % 3 == 0 && digits[i - 1] != '-')
            fb_buffer_add_char(to, ',');
        fb_buffer_add_char(to, digits[i]);
    }
}

static void add_units(int64_t span_s, int64_t large, char large_name, int64_t small,
                      char small_name, struct buffer *to)
{
    fb_buffer_add_int(to, span_s / large);
    fb_buffer_add_char(to, large_name);
    if (span_s % large / small == 0)
        return;
    fb_buffer_add_char(to, ' ');
    fb_buffer_add_int(to, span_s % large / small);
    fb_buffer_add_char(to, small_name);
}

void fb_progress_span(int64_t span_ns, struct buffer *to)
{
    int64_t s = span_ns / NS_PER_S + (span_ns % NS_PER_S >= NS_PER_S / 2);

    if (s < 1) {
        fb_buffer_add_text(to, "< 1 s");
    } else if (s < MINUTE_S) {
        fb_buffer_add_int(to, s);
        fb_buffer_add_text(to, " s");
    } else if (s < HOUR_S) {
        add_units(s, MINUTE_S, 'm', 1, 's', to);
    } else if (s < DAY_S) {
        add_units(s, HOUR_S, 'h', MINUTE_S, 'm', to);
    } else if (s <= 365 * (int64_t)DAY_S) {
        add_units(s, DAY_S, 'd', HOUR_S, 'h', to);
    } else {
        fb_buffer_add_text(to, "> 1 y");
    }
}

void fb_progress_rate(double rate, struct buffer *to)
{
    char text[32];
    struct text t;

    fb_text_init(&t, text, sizeof text);
    fb_text_add_fixed(&t, rate, rate >= 99.95 ? 0 : rate >= 9.995 ? 1 : 2);
    fb_buffer_add_text(to, text);
}

static void add_two(char before, int64_t n, struct buffer *to)
{
    fb_buffer_add_char(to, before);
    if (n < 10)
        fb_buffer_add_char(to, '0');
    fb_buffer_add_int(to, n);
}

void fb_progress_instant(int64_t at_s, struct buffer *to)
{
    struct civil c = fb_civil_of(at_s * NS_PER_S);

    fb_buffer_add_int(to, c.year);
    add_two('-', c.month, to);
    add_two('-', c.day, to);
    add_two('T', c.hour, to);
    add_two(':', c.minute, to);
    add_two(':', c.second, to);
    fb_buffer_add_char(to, 'Z');
}

void fb_progress_clock(int64_t at_s, struct buffer *to)
{
    struct civil c = fb_civil_of(at_s * NS_PER_S);

    add_two('(', c.hour, to);
    add_two(':', c.minute, to);
    fb_buffer_add_char(to, ')');
}

/* "5000/h": a window has a name of its own, or a length. */
static void add_window(int64_t limit, int64_t window_ns, struct buffer *to)
{
    static const struct {
        int64_t seconds;
        const char *name;
    } UNITS[] = {{1, "s"}, {MINUTE_S, "min"}, {HOUR_S, "h"}, {DAY_S, "d"}};
    int64_t s = window_ns / NS_PER_S;

    fb_buffer_add_int(to, limit);
    fb_buffer_add_char(to, '/');
    for (size_t i = 0; i < sizeof UNITS / sizeof UNITS[0]; i++) {
        if (s == UNITS[i].seconds) {
            fb_buffer_add_text(to, UNITS[i].name);
            return;
        }
    }
    fb_buffer_add_int(to, s % MINUTE_S == 0 ? s / MINUTE_S : s);
    fb_buffer_add_text(to, s % MINUTE_S == 0 ? "min" : "s");
}

static void add_quota(const struct progress *p, struct buffer *to)
{
    if (strcmp(p->pool, "default") != 0) {
        fb_buffer_add_text(to, p->pool);
        fb_buffer_add_char(to, ' ');
    }
    add_window(p->quota.limit, p->quota.window_ns, to);
}

void fb_progress_bound(const struct progress *p, struct buffer *to)
{
    switch (p->eta.bound) {
    case ETA_BOUND_NOTHING:
        return;
    case ETA_BOUND_RATE:
        fb_buffer_add_text(to, p->limit_learned ? "~" : "");
        fb_progress_rate(p->limit, to);
        fb_buffer_add_text(to, "/s");
        return;
    case ETA_BOUND_WINDOW:
        add_window(p->window_limit, p->window_ns, to);
        return;
    case ETA_BOUND_QUOTA:
        add_quota(p, to);
        return;
    case ETA_BOUND_HOLD:
        fb_buffer_add_text(to, "a hold");
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
