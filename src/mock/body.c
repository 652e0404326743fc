/* SPDX-License-Identifier: MIT */
/*
 * body.c - what an answer of the mock holds: a small object, a page, a refusal, or so many bytes.
 */
#include <inttypes.h>
#include <stdio.h>

#include "core/instant.h"
#include "mock/visit.h"
#include "util/hash.h"
#include "util/json.h"

#define PAGE_ITEMS 10

static void write_page(struct visit *v)
{
    const struct mock_ask *a = &v->ask;
    struct buffer *b = &v->body;

    fb_buffer_add_text(b, "{");
    fb_json_int(b, "page", a->page);
    fb_json_int(b, "of", a->of);
    fb_json_name(b, "items");
    for (int64_t i = 0; i < PAGE_ITEMS; i++) {
        fb_buffer_add_char(b, i > 0 ? ',' : '[');
        fb_buffer_add_int(b, (a->page - 1) * PAGE_ITEMS + i + 1);
    }
    fb_buffer_add_text(b, "]}\n");
}

/* The same request gets the same bytes, so that an ETag is true. */
static void write_usual(struct visit *v)
{
    struct slice path = fb_http_path(v->x->request->target);

    fb_buffer_add_text(&v->body, "{");
    fb_json_bytes(&v->body, "path", path.at, path.length);
    fb_json_int(&v->body, "status", v->status);
    fb_buffer_add_text(&v->body, "}\n");
}

/* A page of a site; where there is none, or it fails, what every path answers. */
static void write_site(struct visit *v)
{
    const struct mock_options *o = v->mock->options;

    if (v->passed && v->status == 200)
        v->status = o->site->answer(&o->fixture, v->wall_ns, v->ask.path, &v->body);
    if (v->status != 200)
        fb_buffer_clear(&v->body);
}

static bool is_page(const struct visit *v)
{
    return v->passed && v->status == 200 && !v->mock->options->site &&
           fb_slice_is(v->ask.path, "/pages");
}

/* Whether the client says that it has this already. */
static bool is_known(const struct visit *v)
{
    const struct http_request *q = v->x->request;
    struct slice known = fb_http_find(q->field, q->head_count, "if-none-match");
    struct slice part;

    while (fb_slice_next(&known, ',', &part))
        if (fb_slice_is(part, v->etag) || fb_slice_is(part, "*"))
            return true;
    return false;
}

static void make_etag(struct visit *v)
{
    struct slice path = fb_http_path(v->x->request->target);
    uint64_t hash = fb_hash_add(FB_HASH_INIT, path.at, path.length);

    hash = fb_hash_end(fb_hash_add(hash, v->body.bytes, v->body.size));
    snprintf(v->etag, sizeof(v->etag), "\"%016" PRIx64 "\"", hash);
    if (v->status == 200 && is_known(v))
        v->status = 304;
}

static void write_body(struct visit *v)
{
    if (!v->passed) {
        fb_buffer_clear(&v->body);
        fb_buffer_add_text(&v->body, v->mock->options->dialect->refusal);
    } else if (v->is_page) {
        write_page(v);
    } else if (v->body.size == 0) {
        write_usual(v);
    }
}

void fb_visit_make_body(struct visit *v)
{
    if (is_page(v) && v->ask.page > v->ask.of)
        v->status = 404;
    v->is_page = is_page(v);
    if (v->mock->options->site && v->body.size == 0)
        write_site(v);
    write_body(v);
    v->body_length = v->passed && v->ask.bytes >= 0 ? v->ask.bytes : (int64_t)v->body.size;
    v->body_stop = v->body_length;
    if (v->passed && v->ask.fault == ASK_CUT)
        v->body_stop = fb_max64(0, fb_min64(v->ask.cut, v->body_length - 1));
    make_etag(v);
}

void fb_mock_fill(char *filler)
{
    for (int i = 0; i < FB_MOCK_FILLER; i++)
        filler[i] = (char)('0' + i % 10);
}

struct slice fb_visit_next_piece(const struct visit *v, int64_t most)
{
    int64_t size = fb_min64(v->body_stop - v->body_sent, most);
    bool filled = v->passed && v->ask.bytes >= 0;

    return (struct slice){
        filled ? v->mock->filler + v->body_sent % 10 : v->body.bytes + v->body_sent, (size_t)size};
}
