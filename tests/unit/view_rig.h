/* SPDX-License-Identifier: MIT */
/* view_rig.h - keys and batches to be shown, at an instant, and what is checked of any answer. */
#ifndef FLYBALL_TESTS_VIEW_RIG_H
#define FLYBALL_TESTS_VIEW_RIG_H

#include "unit.h"

#include <jansson.h>

#include "view/batch.h"
#include "view/words.h"

#define NOW (1794753127 * S) /* 2026-11-15T14:32:07Z */
#define MIN (60 * S)

static const struct view_style PLAIN = {.width = 80};

/* What a renderer writes is this, and where there is a width no line is longer. */
static inline void check(struct buffer *b, const struct view_style *style, const char *expected)
{
    const char *text = fb_buffer_text(b);

    assert_non_null(text);
    assert_string_equal(text, expected);
    while (style->width > 0 && *text) {
        size_t size = strcspn(text, "\n");
        assert_at_most((int64_t)fb_words_columns(text, size), (int64_t)style->width);
        text += size + 1;
    }
    fb_buffer_fini(b);
}

/* It is JSON, of this schema; the caller lets go of it. */
static inline json_t *check_json(struct buffer *b, const char *schema)
{
    const char *text = fb_buffer_text(b);
    json_error_t error;
    json_t *j = json_loads(text, JSON_REJECT_DUPLICATES, &error);

    if (!j)
        fail_msg("%s at %d in %s", error.text, error.position, text);
    assert_string_equal(json_string_value(json_object_get(j, "schema")), schema);
    assert_string_equal(json_string_value(json_object_get(j, "now")), "2026-11-15T14:32:07Z");
    fb_buffer_fini(b);
    return j;
}

static inline double number(const json_t *j, const char *name)
{
    const json_t *n = json_object_get(j, name);

    assert_true(json_is_number(n));
    return json_number_value(n);
}

/* ---------------------------------------------------------------------------------- examples */

static inline struct view_key github(const char *pool, int64_t left, int64_t limit,
                                     int64_t reset_ns)
{
    struct view_key k = {.provider = "github",
                         .seen_ns = NOW - S,
                         .quota_limit = limit,
                         .quota_left = left,
                         .quota_reset_ns = NOW + reset_ns,
                         .queued = 5,
                         .rate = 0.97,
                         .limit = 0.97,
                         .told_by = "x-ratelimit-*"};

    fb_view_put(k.pool, sizeof k.pool, pool);
    return k;
}

static inline struct view_key crossref(void)
{
    return (struct view_key){.provider = "api.crossref.org",
                             .pool = "default",
                             .seen_ns = NOW - 2 * S,
                             .flags = VIEW_KEY_LEARNED,
                             .queued = 190,
                             .in_flight = 3,
                             .rate = 9.7,
                             .limit = 9.94,
                             .confidence = 0.92,
                             .ready_ns = NOW + S / 20,
                             .cause = "bucket",
                             .refused = 2};
}

/* A refusal holds it. */
static inline struct view_key held(void)
{
    struct view_key k = crossref();

    k.ready_ns = NOW + 41 * S;
    fb_view_put(k.cause, sizeof k.cause, "hold");
    k.refused_ns = NOW - 3 * S;
    k.retry_after_ns = 44 * S;
    k.refused_status = 429;
    fb_view_put(k.refused_item, sizeof k.refused_item, "12482");
    return k;
}

static inline struct view_batch batch(void)
{
    struct view_batch b = {.name = "fetch-00c0ffee00c0ffee",
                           .list = "/home/me/urls.txt",
                           .output = "/home/me/out.jsonl",
                           .command = "flyball fetch urls.txt --jsonl out.jsonl",
                           .pid = 4711,
                           .running = 1,
                           .began_ns = NOW - 41 * S,
                           .updated_ns = NOW - S / 4,
                           .total = 600,
                           .done = 410,
                           .failed = 2,
                           .in_flight = 3,
                           .queued = 185,
                           .requests = 417,
                           .throttled = 2,
                           .retries = 1,
                           .rate = 9.7,
                           .eta_ns = NOW + 19 * S,
                           .bound = "~9.94/s",
                           .latency_p50_ns = 22 * MS,
                           .latency_p95_ns = 310 * MS,
                           .latency_p99_ns = 1200 * MS,
                           .wait_count = 2,
                           .wait = {{"bucket", 32 * S}, {"hold", 3 * S}},
                           .key_count = 1};

    b.key[0] = crossref();
    return b;
}

#endif
