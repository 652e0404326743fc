/* SPDX-License-Identifier: MIT */
/* signals_json.c - a signal as members of a JSON object; fields are only ever added. */
#include <string.h>

#include "cli/signals.h"
#include "util/json.h"

#define DIGITS 9

static double seconds(int64_t ns)
{
    return (double)ns / 1e9;
}

static void add_null(struct buffer *b, const char *name)
{
    fb_json_text(b, name, NULL);
}

static void add_count(struct buffer *b, const char *name, int64_t count)
{
    if (count == FLY_ABSENT)
        add_null(b, name);
    else
        fb_json_int(b, name, count);
}

static void add_seconds(struct buffer *b, const char *name, int64_t ns)
{
    if (ns == FLY_ABSENT)
        add_null(b, name);
    else
        fb_json_real(b, name, seconds(ns), DIGITS);
}

/* A rate told without a count is a limit of so much, also of a part of one, in a second. */
static void add_limit(struct buffer *b, const struct fly_pool *p)
{
    bool rate = p->limit == FLY_ABSENT && p->refill_millionths != FLY_ABSENT;
    double window_s = p->window_ns == FLY_ABSENT ? 1.0 : seconds(p->window_ns);

    if (!rate) {
        add_count(b, "limit", p->limit);
        add_seconds(b, "window_s", p->window_ns);
        return;
    }
    fb_json_real(b, "limit", (double)p->refill_millionths / 1e6 * window_s, DIGITS);
    fb_json_real(b, "window_s", window_s, DIGITS);
}

static void add_pool(struct buffer *b, const struct fly_pool *p)
{
    fb_buffer_add_text(b, "{\"name\":");
    fb_json_add_string(b, p->name, strlen(p->name));
    add_limit(b, p);
    add_count(b, "remaining", p->remaining);
    add_count(b, "used", p->used);
    add_seconds(b, "reset_in_s", p->reset_ns);
    if (p->refill_millionths != FLY_ABSENT)
        fb_json_real(b, "refill_per_s", (double)p->refill_millionths / 1e6, DIGITS);
    fb_buffer_add_char(b, '}');
}

static void add_flags(struct buffer *b, uint32_t flags)
{
    static const struct {
        const char *name;
        uint32_t flag;
    } ROWS[] = {
        {"throttled", FLY_SIGNAL_THROTTLED}, {"retryable", FLY_SIGNAL_RETRYABLE},
        {"banned", FLY_SIGNAL_BANNED},       {"quota_gone", FLY_SIGNAL_QUOTA_GONE},
        {"outage", FLY_SIGNAL_OUTAGE},       {"concurrency_refused", FLY_SIGNAL_CONCURRENCY},
        {"near_limit", FLY_SIGNAL_NEAR},     {"found", FLY_SIGNAL_FOUND},
    };

    for (size_t i = 0; i < sizeof(ROWS) / sizeof(ROWS[0]); i++)
        fb_json_bool(b, ROWS[i].name, flags & ROWS[i].flag);
}

void fb_signals_members(struct buffer *b, const struct fly_signal *s)
{
    char why[256];

    fb_json_int(b, "status", s->status);
    add_flags(b, s->flags);
    add_seconds(b, "retry_after_s", s->retry_after_ns);
    add_seconds(b, "hold_s", s->hold_ns);
    add_count(b, "concurrency_limit", s->concurrency);
    add_count(b, "stated_limit", s->stated_limit);
    add_seconds(b, "stated_window_s", s->stated_window_ns);
    fb_json_name(b, "scopes");
    fb_buffer_add_char(b, '[');
    for (size_t i = 0; i < s->pool_count; i++) {
        if (i > 0)
            fb_buffer_add_char(b, ',');
        add_pool(b, &s->pool[i]);
    }
    fb_buffer_add_char(b, ']');
    fly_signal_explain(s, why, sizeof(why));
    fb_json_text(b, "why", why);
}
