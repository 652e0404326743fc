/* SPDX-License-Identifier: MIT */
/*
 * body.c - the beginning and the end of a body: kept while it comes, read when it is over.
 */
#include "signal/body.h"

#include <assert.h>
#include <string.h>

#include "signal/dialect.h"
#include "signal/phrases.h"
#include "signal/prose.h"
#include "signal/scan.h"
#include "signal/tell.h"
#include "signal/words.h"

/* ---- keeping ---- */

static size_t head_length(const struct reading *r)
{
    return r->body_length < sizeof(r->head) ? r->body_length : sizeof(r->head);
}

static void add_tail(struct reading *r, struct slice piece)
{
    size_t size = sizeof(r->tail);

    if (piece.length >= size) {
        memcpy(r->tail, piece.at + piece.length - size, size);
        r->tail_length = size;
        return;
    }
    size_t keep = r->tail_length < size - piece.length ? r->tail_length : size - piece.length;
    memmove(r->tail, r->tail + r->tail_length - keep, keep);
    memcpy(r->tail + keep, piece.at, piece.length);
    r->tail_length = keep + piece.length;
}

void fb_body_add(struct reading *r, struct slice piece)
{
    size_t at = head_length(r);
    struct slice first = fb_slice_head(piece, sizeof(r->head) - at);
    struct slice rest = fb_slice_after(piece, first.length);

    if (first.length > 0)
        memcpy(r->head + at, first.at, first.length);
    if (rest.length > 0)
        add_tail(r, rest);
    r->body_length += piece.length;
}

/* ---- answers that went well ---- */

/* Members at the top of an answer by which a refusal is told with a status of success. */
static bool tells_error(struct slice key)
{
    return fb_slice_is(key, "error") || fb_slice_is(key, "errors") || fb_slice_is(key, "status");
}

/* Most answers are no errors: see that before walking through one. */
static bool may_tell_error(struct slice body)
{
    return body.at[0] == '{' && (fb_slice_search(body, "\"err") < body.length ||
                                 fb_slice_search(body, "\"status\"") < body.length);
}

static void read_errors(struct reading *r, struct slice body)
{
    struct scan_value v;
    struct scan j;

    if (!may_tell_error(body))
        return;
    fb_scan_init(&j, body);
    while (fb_scan_next(&j, &v)) {
        if (v.string && j.depth > 0 && tells_error(j.key[1]))
            fb_phrases_read(r, v.text);
    }
}

/* ---- refusals ---- */

/* Members that tell a wait; compared without case, dashes and underscores. */
static const struct {
    const char *key;
    int64_t unit_ns;
} WAITS[] = {
    {"retryafter", FB_S},        {"retryafterseconds", FB_S}, {"retryafterms", FB_MS},
    {"retryin", FB_S},           {"retrydelay", FB_S},        {"retryafterinseconds", FB_S},
    {"retryaftermillis", FB_MS}, {"waitseconds", FB_S},
};

static struct slice squeeze_key(struct slice key, char *small, size_t size)
{
    size_t n = 0;

    for (size_t i = 0; i < key.length && n < size; i++) {
        if (key.at[i] != '_' && key.at[i] != '-')
            small[n++] = fb_lower(key.at[i]);
    }
    return (struct slice){small, n};
}

static void read_wait(struct reading *r, const struct scan_value *v)
{
    char small[24];
    struct slice key = squeeze_key(v->key, small, sizeof(small));

    for (size_t i = 0; i < sizeof(WAITS) / sizeof(WAITS[0]); i++) {
        if (fb_slice_is(key, WAITS[i].key))
            fb_tell_wait(r, v->text, WAITS[i].unit_ns);
    }
}

static void read_waits(struct reading *r, struct slice body)
{
    struct scan_value v;
    struct scan j;

    fb_scan_init(&j, body);
    while (fb_scan_next(&j, &v))
        read_wait(r, &v);
}

static void read_refusal(struct reading *r, struct slice body)
{
    struct tokens t;

    fb_phrases_read(r, body);
    fb_tokens_read(&t, body);
    fb_prose_read(r, &t);
    read_waits(r, body);
}

/* ---- endpoints that tell quotas ---- */

static void tell_quota(struct reading *r, struct pool *p, const struct scan_value *v)
{
    char small[24];
    struct slice key = squeeze_key(v->key, small, sizeof(small));
    int64_t count;

    if (fb_slice_is(key, "reset") || fb_slice_is(key, "resetat"))
        (void)fb_tell_reset(r, p, v->text);
    else if (!fb_read_count(v->text, &count))
        return;
    else if (fb_slice_is(key, "limit"))
        fb_told_least(&p->limit, count);
    else if (fb_slice_is(key, "remaining"))
        fb_told_least(&p->remaining, count);
    else if (fb_slice_is(key, "used"))
        fb_told_most(&p->used, count);
}

static bool is_quota_word(struct slice key)
{
    return fb_slice_is(key, "limit") || fb_slice_is(key, "remaining") || fb_slice_is(key, "used") ||
           fb_slice_begins(key, "reset");
}

/* {"resources":{"core":{"limit":5000,...}}}: an object of such words is a pool of that name. */
static void read_quotas(struct reading *r, struct slice body)
{
    struct scan_value v;
    struct scan j;

    fb_scan_init(&j, body);
    while (fb_scan_next(&j, &v)) {
        if (j.depth < 2 || !is_quota_word(v.key) || j.key[j.depth - 1].length == 0)
            continue;
        struct pool *p = fb_pool_get(r, j.key[j.depth - 1], 0);
        if (p)
            tell_quota(r, p, &v);
    }
}

/* ---- all of it ---- */

static void read_part(struct reading *r, struct slice body)
{
    if (body.length == 0)
        return;
    if (r->status >= 400)
        read_refusal(r, body);
    else
        read_errors(r, body);
    for (size_t i = 0; i < fb_dialect_count; i++) {
        if (fb_dialects[i]->body)
            fb_dialects[i]->body(r, body);
    }
}

void fb_body_read(struct reading *r)
{
    struct slice head = {r->head, head_length(r)};

    assert(r->tail_length <= sizeof(r->tail));
    read_part(r, fb_slice_trim(head));
    read_part(r, fb_slice_trim((struct slice){r->tail, r->tail_length}));
    if (r->flags & FLY_RESPONSE_QUOTA)
        read_quotas(r, head);
}
