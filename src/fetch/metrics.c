/* SPDX-License-Identifier: MIT */
/* metrics.c - columns, in a table. */
#include "fetch/metrics.h"

#include <stddef.h>
#include <string.h>

#include "util/text.h"
#include "view/words.h"

#define NS_PER_S INT64_C(1000000000)

/* How a field of the row is written. */
enum metrics_form {
    FORM_INSTANT,
    FORM_SECONDS,
    FORM_MS,
    FORM_COUNT,
    FORM_RATE,
    FORM_TOKENS,
    FORM_KEY
};

/* Name, form, field. */
#define FB_METRICS_COLUMNS(X)                                           \
    X("time", INSTANT, at_ns)                                           \
    X("elapsed_s", SECONDS, elapsed_ns)                                 \
    X("done", COUNT, done)                                              \
    X("rate", TOKENS, rate)                                             \
    X("limit", RATE, limit)                                             \
    X("tokens", TOKENS, tokens)                                         \
    X("sent", COUNT, sent)                                              \
    X("throttled", COUNT, throttled)                                    \
    X("in_flight", COUNT, in_flight)                                    \
    X("queued", COUNT, queued)                                          \
    X("wait_bucket_s", SECONDS, wait_ns[METRICS_WAIT_bucket])           \
    X("wait_window_s", SECONDS, wait_ns[METRICS_WAIT_window])           \
    X("wait_quota_s", SECONDS, wait_ns[METRICS_WAIT_quota])             \
    X("wait_hold_s", SECONDS, wait_ns[METRICS_WAIT_hold])               \
    X("wait_concurrency_s", SECONDS, wait_ns[METRICS_WAIT_concurrency]) \
    X("wait_other_s", SECONDS, wait_ns[METRICS_WAIT_other])             \
    X("answers", COUNT, answers)                                        \
    X("latency_p50_ms", MS, p50_ns)                                     \
    X("latency_p95_ms", MS, p95_ns)                                     \
    X("latency_p99_ms", MS, p99_ns)                                     \
    X("key", KEY, key)

static const struct {
    const char *name;
    enum metrics_form form;
    size_t offset;
} COLUMN[] = {
#define X(name, form, field) {name, FORM_##form, offsetof(struct metrics_row, field)},
    FB_METRICS_COLUMNS(X)
#undef X
};
enum { COLUMNS = sizeof COLUMN / sizeof COLUMN[0] };

enum metrics_wait fb_metrics_wait(const char *cause)
{
    static const char *const NAMES[METRICS_WAITS] = {
#define X(name) #name,
        FB_METRICS_WAITS(X)
#undef X
    };

    if (strcmp(cause, "ramp") == 0) /* how a hold ends */
        return METRICS_WAIT_hold;
    for (int i = 0; i < METRICS_WAIT_other; i++) {
        if (strcmp(NAMES[i], cause) == 0)
            return (enum metrics_wait)i;
    }
    return METRICS_WAIT_other;
}

void fb_metrics_head(struct buffer *to)
{
    for (int i = 0; i < COLUMNS; i++) {
        fb_buffer_add_text(to, i > 0 ? "," : "");
        fb_buffer_add_text(to, COLUMN[i].name);
    }
    fb_buffer_add_char(to, '\n');
}

static void add_fixed(double value, int digits, struct buffer *to)
{
    char text[48];
    struct text t;

    fb_text_init(&t, text, sizeof text);
    fb_text_add_fixed(&t, value, digits);
    fb_buffer_add_text(to, text);
}

void fb_metrics_text(const char *text, struct buffer *to)
{
    bool is_plain = strcspn(text, "\",\r\n") == strlen(text) && !strchr("=+-@", text[0]);

    if (is_plain || !text[0]) {
        fb_buffer_add_text(to, text);
        return;
    }
    fb_buffer_add_text(to, strchr("=+-@", text[0]) ? "\"'" : "\"");
    for (; *text; text++)
        fb_buffer_add_text(to, *text == '"' ? "\"\"" : (char[]){*text, '\0'});
    fb_buffer_add_char(to, '"');
}

static void add_value(const void *at, enum metrics_form form, struct buffer *to)
{
    int64_t whole = 0;
    double real = 0.0;
    const char *text = NULL;

    if (form == FORM_KEY)
        memcpy(&text, at, sizeof text);
    else if (form == FORM_RATE || form == FORM_TOKENS)
        memcpy(&real, at, sizeof real);
    else
        memcpy(&whole, at, sizeof whole);
    switch (form) {
    case FORM_INSTANT:
        fb_words_instant(whole / NS_PER_S, to);
        return;
    case FORM_SECONDS:
        add_fixed((double)whole / 1e9, 2, to);
        return;
    case FORM_MS:
        if (whole > 0)
            add_fixed((double)whole / 1e6, 2, to);
        return;
    case FORM_COUNT:
        fb_buffer_add_int(to, whole);
        return;
    case FORM_RATE:
        if (real > 0.0)
            add_fixed(real, 3, to);
        return;
    case FORM_TOKENS:
        if (real >= 0.0)
            add_fixed(real, 3, to);
        return;
    case FORM_KEY:
        fb_metrics_text(text ? text : "", to);
        return;
    }
}

void fb_metrics_line(const struct metrics_row *r, struct buffer *to)
{
    for (int i = 0; i < COLUMNS; i++) {
        fb_buffer_add_text(to, i > 0 ? "," : "");
        add_value((const char *)r + COLUMN[i].offset, COLUMN[i].form, to);
    }
    fb_buffer_add_char(to, '\n');
}
