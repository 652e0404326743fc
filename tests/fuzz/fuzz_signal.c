/* SPDX-License-Identifier: MIT */
/*
 * fuzz_signal.c - any bytes as a response: a line with the status, headers, an empty line, a body.
 *
 * Whatever they are, a refusal never means "retry now", nothing holds longer than the bounds say,
 * every number told is one that can be, and the pieces in which a body comes do not matter.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <flyball/flyball.h>

#include "signal/slice.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define HOLD(fact) ((fact) ? (void)0 : broken(#fact, __LINE__))
#define NOW_NS     (INT64_C(1700000000) * 1000000000)
#define LATER_NS   (INT64_C(5) * 1000000000)

static void broken(const char *fact, int line)
{
    fprintf(stderr, "fuzz_signal.c:%d: does not hold: %s\n", line, fact);
    abort();
}

/* ---- feeding ---- */

static struct slice take_line(struct slice *rest)
{
    size_t end = fb_slice_find(*rest, '\n');
    struct slice line = fb_slice_head(*rest, end);

    *rest = fb_slice_after(*rest, end + 1);
    return line;
}

static int32_t take_status(struct slice *rest)
{
    struct slice line = take_line(rest);
    int32_t status = 0;

    for (size_t i = 0; i < line.length && i < 3; i++)
        status = status * 10 + (int32_t)((unsigned char)line.at[i] % 10);
    return status;
}

static void feed(struct fly_signal_reader *r, struct slice rest, size_t piece)
{
    for (;;) {
        struct slice line = take_line(&rest);
        if (line.length == 0)
            break;
        size_t colon = fb_slice_find(line, ':');
        struct slice value = fb_slice_after(line, colon + 1);
        fly_signal_header(r, line.at, colon, value.at, value.length);
    }
    while (rest.length > 0) {
        struct slice part = fb_slice_head(rest, piece);
        fly_signal_body(r, part.at, part.length);
        rest = fb_slice_after(rest, part.length);
    }
}

static void read_response(struct slice input, int64_t now_ns, size_t piece,
                          struct fly_reset_habit *habit, struct fly_signal *ret_signal)
{
    struct fly_response about = {
        .size = sizeof(about), .now_ns = now_ns, .habit = habit, .flags = FLY_RESPONSE_QUOTA};
    struct fly_signal_reader r;

    memset(&r, 0x5A, sizeof(r));
    memset(ret_signal, 0, sizeof(*ret_signal));
    ret_signal->size = sizeof(*ret_signal);
    about.status = take_status(&input);
    HOLD(fly_signal_begin(&r, &about) == 0);
    feed(&r, input, piece);
    HOLD(fly_signal_end(&r, ret_signal) == 0);
}

/* ---- what always holds ---- */

static void hold_within(int64_t value, int64_t low, int64_t high)
{
    HOLD(value == FLY_ABSENT || (value >= low && value <= high));
}

static void hold_pool(const struct fly_pool *p)
{
    HOLD(memchr(p->name, '\0', sizeof(p->name)) != NULL);
    hold_within(p->limit, 0, INT64_MAX);
    hold_within(p->remaining, 0, INT64_MAX);
    hold_within(p->used, 0, INT64_MAX);
    hold_within(p->refill_millionths, 1, INT64_MAX);
    hold_within(p->window_ns, 1, FLY_SIGNAL_RESET_MAX_NS);
    hold_within(p->reset_ns, 0, FLY_SIGNAL_RESET_MAX_NS);
}

static void hold_outcomes(const struct fly_signal *s)
{
    for (size_t i = 0; i < fly_signal_outcomes(s); i++) {
        struct fly_outcome o = FLY_OUTCOME_INIT;
        fly_signal_outcome(s, i, NOW_NS, &o);
        HOLD(!(s->flags & FLY_SIGNAL_THROTTLED) == !(o.flags & FLY_THROTTLED));
        hold_within(o.reset_ns, NOW_NS, NOW_NS + FLY_SIGNAL_RESET_MAX_NS);
        hold_within(o.retry_after_ns, 0, FLY_SIGNAL_WAIT_MAX_NS);
        hold_within(o.remaining, 0, INT64_MAX);
        hold_within(o.limit, 0, INT64_MAX);
    }
}

static void hold_signal(const struct fly_signal *s)
{
    char text[64];

    if (s->flags & FLY_SIGNAL_THROTTLED)
        HOLD(s->hold_ns >= FLY_SIGNAL_HOLD_MIN_NS);
    HOLD(s->hold_ns >= 0 && s->hold_ns <= FLY_SIGNAL_WAIT_MAX_NS);
    HOLD(s->retry_after_ns == FLY_ABSENT || s->hold_ns >= s->retry_after_ns);
    hold_within(s->retry_after_ns, 0, FLY_SIGNAL_WAIT_MAX_NS);
    hold_within(s->concurrency, 1, INT64_MAX);
    hold_within(s->stated_limit, 1, INT64_MAX);
    hold_within(s->stated_window_ns, 1, FLY_SIGNAL_RESET_MAX_NS);
    HOLD(s->pool_count <= FLY_POOLS_MAX);
    for (size_t i = 0; i < s->pool_count; i++)
        hold_pool(&s->pool[i]);
    hold_outcomes(s);
    fly_signal_explain(s, text, sizeof(text));
    HOLD(memchr(text, '\0', sizeof(text)) != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice input = {(const char *)data, size};
    struct fly_reset_habit habit = {0};
    struct fly_signal whole, pieces, later;
    size_t piece = size > 0 ? data[size - 1] % 61 + 1u : 1u;

    if (size == 0)
        return 0;
    read_response(input, NOW_NS, size, NULL, &whole);
    hold_signal(&whole);
    read_response(input, NOW_NS, piece, NULL, &pieces);
    HOLD(!memcmp(&whole, &pieces, sizeof(whole)));
    for (int64_t i = 0; i < 3; i++) {
        read_response(input, NOW_NS + i * LATER_NS, size, &habit, &later);
        hold_signal(&later);
    }
    return 0;
}
