/* SPDX-License-Identifier: MIT */
/* words.c - numbers, spans and instants as people and programs read them. */
#include "view/words.h"

#include <string.h>

#include "signal/civil.h"
#include "util/json.h"
#include "util/text.h"

#define NS_PER_S INT64_C(1000000000)
#define MINUTE_S 60
#define HOUR_S   3600
#define DAY_S    86400

void fb_words_count(int64_t n, struct buffer *to)
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

void fb_words_span(int64_t span_ns, struct buffer *to)
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

int fb_words_rate_digits(double rate)
{
    int digits = 2;

    if (rate >= 9.995)
        return rate >= 99.95 ? 0 : 1;
    for (double edge = 0.0995; rate > 0.0 && rate < edge && digits < 8; edge /= 10.0)
        digits++;
    return digits;
}

void fb_words_rate(double rate, struct buffer *to)
{
    char text[32];
    struct text t;

    fb_text_init(&t, text, sizeof text);
    fb_text_add_fixed(&t, rate, fb_words_rate_digits(rate));
    fb_buffer_add_text(to, text);
}

void fb_words_window(int64_t limit, int64_t window_ns, struct buffer *to)
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

static void add_two(int64_t n, struct buffer *to)
{
    if (n < 10)
        fb_buffer_add_char(to, '0');
    fb_buffer_add_int(to, n);
}

static void add_three(char between, int64_t a, int64_t b, int64_t c, struct buffer *to)
{
    add_two(a, to);
    fb_buffer_add_char(to, between);
    add_two(b, to);
    fb_buffer_add_char(to, between);
    add_two(c, to);
}

void fb_words_instant(int64_t at_s, struct buffer *to)
{
    struct civil c = fb_civil_of(at_s * NS_PER_S);

    add_three('-', c.year, c.month, c.day, to);
    fb_buffer_add_char(to, 'T');
    add_three(':', c.hour, c.minute, c.second, to);
    fb_buffer_add_char(to, 'Z');
}

void fb_words_clock(int64_t at_s, struct buffer *to)
{
    struct civil c = fb_civil_of(at_s * NS_PER_S);

    add_three(':', c.hour, c.minute, c.second, to);
}

void fb_words_minute(int64_t at_s, struct buffer *to)
{
    struct civil c = fb_civil_of(at_s * NS_PER_S);

    add_two(c.hour, to);
    fb_buffer_add_char(to, ':');
    add_two(c.minute, to);
}

int64_t fb_words_second(int64_t at_ns, bool is_end)
{
    return at_ns / NS_PER_S + (is_end && at_ns % NS_PER_S > 0);
}

/* The second `at_s` of an instant that is so far away. */
static void add_moment(int64_t at_s, int64_t span_ns, struct buffer *to)
{
    if (span_ns >= DAY_S * NS_PER_S || span_ns <= -DAY_S * NS_PER_S) {
        struct civil c = fb_civil_of(at_s * NS_PER_S);

        add_three('-', c.year, c.month, c.day, to);
        fb_buffer_add_char(to, ' ');
    }
    fb_words_clock(at_s, to);
}

void fb_words_moment(int64_t at_ns, int64_t now_ns, int64_t zone_s, struct buffer *to)
{
    add_moment(fb_words_second(at_ns, at_ns > now_ns) + zone_s, at_ns - now_ns, to);
}

void fb_words_end(int64_t at_ns, int64_t now_ns, int64_t zone_s, struct buffer *to)
{
    add_moment(fb_words_second(at_ns, true) + zone_s, at_ns - now_ns, to);
}

void fb_words_when_over(int64_t at_ns, int64_t now_ns, int64_t zone_s, struct buffer *to)
{
    fb_words_span(now_ns - at_ns, to);
    fb_buffer_add_text(to, " ago (");
    fb_words_end(at_ns, now_ns, zone_s, to);
    fb_buffer_add_char(to, ')');
}

void fb_words_when(int64_t at_ns, int64_t now_ns, int64_t zone_s, struct buffer *to)
{
    bool is_past = at_ns <= now_ns;

    fb_buffer_add_text(to, is_past ? "" : "in ");
    fb_words_span(is_past ? now_ns - at_ns : at_ns - now_ns, to);
    fb_buffer_add_text(to, is_past ? " ago (" : " (");
    fb_words_moment(at_ns, now_ns, zone_s, to);
    fb_buffer_add_char(to, ')');
}

size_t fb_words_columns(const char *text, size_t size)
{
    size_t columns = 0;

    for (size_t i = 0; i < size; i++)
        columns += ((unsigned char)text[i] & 0xc0) != 0x80; /* not the rest of a character */
    return columns;
}

/* ------------------------------------------------------------------------------------- as JSON */

void fb_words_json_span(struct buffer *to, const char *name, int64_t span_ns)
{
    fb_json_real(to, name, (double)span_ns / 1e9, 3);
}

void fb_words_json_latency(struct buffer *to, const char *name, int64_t span_ns)
{
    fb_json_real(to, name, (double)span_ns / 1e9, 6);
}

static void add_instant_json(struct buffer *to, const char *name, int64_t at_ns, int64_t now_ns,
                             bool is_end)
{
    char from_now[64];
    struct text t;

    if (at_ns <= 0 || at_ns == INT64_MAX)
        return;
    fb_json_name(to, name);
    fb_buffer_add_char(to, '"');
    fb_words_instant(fb_words_second(at_ns, is_end), to);
    fb_buffer_add_char(to, '"');
    fb_text_init(&t, from_now, sizeof from_now);
    fb_text_add(&t, name);
    fb_text_add(&t, "_in_s");
    fb_words_json_span(to, from_now, at_ns - now_ns);
}

void fb_words_json_instant(struct buffer *to, const char *name, int64_t at_ns, int64_t now_ns)
{
    add_instant_json(to, name, at_ns, now_ns, false);
}

void fb_words_json_end(struct buffer *to, const char *name, int64_t at_ns, int64_t now_ns)
{
    add_instant_json(to, name, at_ns, now_ns, true);
}
