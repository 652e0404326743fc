/* SPDX-License-Identifier: MIT */
/*
 * demo_show.c - what people see of the demo: a live line, and what happens in words.
 *
 * Without a terminal the line is printed now and then: often at first, when much happens.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/demo.h"
#include "core/instant.h"
#include "fetch/screen.h"
#include "util/text.h"
#include "util/wrap.h"

#define TIME_WIDE  6 /* "12.3  " */
#define PLAIN_WIDE 114
#define ERASE      "\r\x1b[K"
#define CALM_NS    (2 * FB_NS_PER_S) /* refusals closer together are one */
#define CONFIDENT  0.8 /* 200 requests since the last refusal: at most 15 % above the truth */

void fb_demo_show_begin(struct demo_show *s)
{
    const char *ci = getenv("CI");
    const char *term = getenv("TERM");

    *s = (struct demo_show){.is_live = isatty(STDOUT_FILENO) && isatty(STDERR_FILENO) &&
                                       !(ci && *ci) && !(term && strcmp(term, "dumb") == 0)};
}

static void erase(struct demo_show *s)
{
    if (s->has_line)
        fputs(ERASE, stdout);
    s->has_line = false;
}

static void print_time(int64_t at_ns)
{
    printf("%4.1f  ", (double)at_ns / 1e9);
}

void fb_demo_say(struct demo_show *s, int64_t at_ns, const char *format, ...)
{
    struct buffer lines = BUFFER_INIT;
    char text[512];
    va_list words;

    va_start(words, format);
    (void)vsnprintf(text, sizeof text, format, words);
    va_end(words);
    fb_wrap(&lines, text, TIME_WIDE, TIME_WIDE, s->is_live ? fb_screen_width() : PLAIN_WIDE);
    erase(s);
    if (at_ns >= 0)
        print_time(at_ns);
    else
        printf("%*s", TIME_WIDE, "");
    (void)fwrite(lines.bytes, 1, lines.size, stdout);
    putchar('\n');
    (void)fflush(stdout);
    fb_buffer_fini(&lines);
}

/* Whose limit it is goes without saying here. */
static void add_line(const struct demo_show *s, const struct progress *p, struct buffer *to)
{
    struct progress plain = *p;
    size_t width = s->is_live ? fb_screen_width() : PLAIN_WIDE;

    plain.provider[0] = '\0';
    fb_progress_line(&plain, width > TIME_WIDE ? width - TIME_WIDE : 1, to);
}

static void show_line(struct demo_show *s, const struct progress *p, bool is_last)
{
    struct buffer b = BUFFER_INIT;

    add_line(s, p, &b);
    erase(s);
    print_time(p->spent_ns);
    (void)fwrite(b.bytes, 1, b.size, stdout);
    s->has_line = s->is_live && !is_last;
    if (!s->has_line)
        putchar('\n');
    (void)fflush(stdout);
    fb_buffer_fini(&b);
}

/* Every second at first, then every five. */
static bool is_due(struct demo_show *s, const struct progress *p)
{
    if (s->is_live)
        return true;
    if (p->spent_ns < s->line_ns)
        return false;
    int64_t step_ns = (p->spent_ns < 5 * FB_NS_PER_S ? 1 : 5) * FB_NS_PER_S;
    s->line_ns = (p->spent_ns / step_ns + 1) * step_ns;
    return true;
}

static void tell_refusal(struct demo_show *s, const struct progress *p)
{
    const char *what = s->throttled == 0 ? "a ceiling" : "again";
    char wait[64] = "until it accepts again";
    struct text t;

    if (p->retry_after_ns > 0) {
        fb_text_init(&t, wait, sizeof wait);
        fb_text_add_span(&t, p->retry_after_ns);
        fb_text_add(&t, " (Retry-After)");
    }
    fb_demo_say(s, p->spent_ns, "|| 429: %s. Everything waits %s; then gently on", what, wait);
}

/* Right after the first refusal what the API had stored is part of what was counted. */
static void tell_limit(struct demo_show *s, const struct progress *p)
{
    if (p->learning || p->limit <= 0.0)
        return;
    if (s->was_learning && p->throttled > 0)
        fb_demo_say(s, p->spent_ns, "|| the limit is somewhere below %.1f/s", p->limit);
    if (!s->was_near && p->throttled > 0 && p->confidence >= CONFIDENT) {
        fb_demo_say(s, p->spent_ns, "|| the limit is near %.1f/s", p->limit);
        s->was_near = true;
    }
}

/* What has happened since the last look. */
static void tell_events(struct demo_show *s, const struct progress *p)
{
    if (p->throttled > s->throttled) {
        if (s->throttled == 0 || p->spent_ns - s->calm_ns > CALM_NS)
            tell_refusal(s, p);
        s->throttled = p->throttled;
        s->calm_ns = p->spent_ns;
    }
    tell_limit(s, p);
    s->was_learning = p->learning;
}

void fb_demo_on_progress(void *to, const struct progress *p, bool is_over)
{
    struct demo_show *s = to;

    s->last = *p;
    if (is_over) {
        show_line(s, p, true);
        return;
    }
    tell_events(s, p);
    if (is_due(s, p))
        show_line(s, p, false);
}
