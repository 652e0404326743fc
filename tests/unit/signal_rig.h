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

#endif
