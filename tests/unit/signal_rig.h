/* SPDX-License-Identifier: MIT */
/*
 * signal_rig.h - responses as small texts: a line with the status, headers, an empty line, a body.
 */
#ifndef FLYBALL_TESTS_SIGNAL_RIG_H
#define FLYBALL_TESTS_SIGNAL_RIG_H

#include "unit.h"

#include <stdbool.h>

#define RIG_NOW (INT64_C(1700000000) * S) /* 14 November 2023, 22:13:20 */

#define THROTTLED  FLY_SIGNAL_THROTTLED
#define RETRYABLE  FLY_SIGNAL_RETRYABLE
#define BANNED     FLY_SIGNAL_BANNED
#define GONE       FLY_SIGNAL_QUOTA_GONE
#define OUTAGE     FLY_SIGNAL_OUTAGE
#define CONCURRENT FLY_SIGNAL_CONCURRENCY
#define NEAR       FLY_SIGNAL_NEAR
#define FOUND      FLY_SIGNAL_FOUND

/* Read the text as the response that `about` tells of, but for the status, which it tells. */
static inline struct fly_signal signal_about(struct fly_response about, const char *text)
{
    struct fly_signal s = {.size = sizeof(s)};
    struct fly_signal_reader r;

    about.size = sizeof(about);
    about.status = (int32_t)strtol(text, NULL, 10);
    assert_int_equal(fly_signal_begin(&r, &about), 0);
    for (text += strcspn(text, "\n") + 1; *text && *text != '\n';) {
        size_t name = strcspn(text, ":");
        size_t line = strcspn(text, "\n");
        fly_signal_header(&r, text, name, text + name + 1, line - name - 1);
        text += line + 1;
    }
    if (*text)
        fly_signal_body(&r, text + 1, strlen(text + 1));
    assert_int_equal(fly_signal_end(&r, &s), 0);
    return s;
}

static inline struct fly_signal signal_at(int64_t now_ns, const char *text)
{
    return signal_about((struct fly_response){.now_ns = now_ns}, text);
}

static inline struct fly_signal signal_of(const char *text)
{
    return signal_at(RIG_NOW, text);
}

static inline char *add_told(char *at, char *end, char before, int64_t value, int64_t unit)
{
    int n = value == FLY_ABSENT
                ? snprintf(at, (size_t)(end - at), "%c-", before)
                : snprintf(at, (size_t)(end - at), "%c%lld", before, (long long)(value / unit));
    return n < end - at ? at + n : end - 1;
}

/*
 * All pools as one text, "name:limit,remaining,used,window,reset" and a blank after each, times in
 * milliseconds, "-" for what was not told, "+rate" in millionths a second where there is one.
 */
static inline const char *pools_of(const struct fly_signal *s, char *text, size_t size)
{
    char *at = text, *end = text + size;

    text[0] = '\0';
    for (size_t i = 0; i < s->pool_count; i++) {
        const struct fly_pool *p = &s->pool[i];
        int n = snprintf(at, (size_t)(end - at), "%s", p->name);
        at = n < end - at ? at + n : end - 1;
        at = add_told(at, end, ':', p->limit, 1);
        at = add_told(at, end, ',', p->remaining, 1);
        at = add_told(at, end, ',', p->used, 1);
        at = add_told(at, end, ',', p->window_ns, MS);
        at = add_told(at, end, ',', p->reset_ns, MS);
        if (p->refill_millionths != FLY_ABSENT)
            at = add_told(at, end, '+', p->refill_millionths, 1);
        if (end - at > 1)
            *at++ = ' ';
        *at = '\0';
    }
    return text;
}

/* A response, and what its pools are. */
struct pools_row {
    const char *response;
    const char *pools;
};

static inline void assert_pools(const struct pools_row *rows, size_t count)
{
    char text[2048];

    for (size_t i = 0; i < count; i++) {
        struct fly_signal s = signal_of(rows[i].response);
        if (strcmp(pools_of(&s, text, sizeof(text)), rows[i].pools))
            fail_msg("%s\n  gives    %s\n  expected %s", rows[i].response, text, rows[i].pools);
    }
}

#endif
