/* SPDX-License-Identifier: MIT */
/* router.c - find the route, ask the guard, collect the body, call the function. */
#include "serve/router.h"

#include <string.h>

#include "serve/pack.h"
#include "util/alloc.h"
#include "util/json.h"

#define CSP                                                                           \
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " \
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

#define QUERY_MAX 4096 /* bytes of a value */

/* ---------------------------------------------------------------------------------- answers */

void fb_call_begin(struct call *c, int status, const char *type)
{
    fb_answer_begin(c->x, status);
    fb_answer_field(c->x, "Content-Type", fb_slice_of(type));
    fb_answer_field(c->x, "Cache-Control", FB_SLICE("no-store"));
    fb_answer_field(c->x, "Content-Security-Policy", FB_SLICE(CSP));
    fb_answer_field(c->x, "X-Content-Type-Options", FB_SLICE("nosniff"));
    fb_answer_field(c->x, "Referrer-Policy", FB_SLICE("no-referrer"));
}

void fb_call_send(struct call *c, int status, const char *type, struct slice body)
{
    struct buffer packed = BUFFER_INIT;
    bool may_pack = body.length >= PACK_LEAST && body.length <= PACK_MOST;
    bool is_packed = may_pack &&
                     fb_pack_is_wanted(fb_guard_field(c->x->request, "Accept-Encoding")) &&
                     fb_pack(body, &packed);

    fb_call_begin(c, status, type);
    if (status == 405)
        fb_answer_field(c->x, "Allow", fb_slice_of(c->route->method));
    if (may_pack)
        fb_answer_field(c->x, "Vary", FB_SLICE("Accept-Encoding"));
    if (is_packed)
        fb_answer_field(c->x, "Content-Encoding", FB_SLICE("gzip"));
    fb_answer_send(c->x, is_packed ? (struct slice){packed.bytes, packed.size} : body);
    fb_buffer_fini(&packed);
}

void fb_call_send_json(struct call *c, int status, struct buffer *json)
{
    if (json->failed)
        fb_call_send(c, 500, "text/plain", FB_SLICE("out of memory\n"));
    else
        fb_call_send(c, status, "application/json", (struct slice){json->bytes, json->size});
    fb_buffer_fini(json);
}

void fb_call_refuse(struct call *c, int status, const char *sentence)
{
    struct buffer b = BUFFER_INIT;

    fb_buffer_add_char(&b, '{');
    fb_json_text(&b, "error", sentence);
    fb_buffer_add_text(&b, "}\n");
    fb_call_send_json(c, status, &b);
}

/* ------------------------------------------------------------------------------------ query */

static int hex(char c)
{
    if (fb_is_digit(c))
        return c - '0';
    c = fb_lower(c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The byte at *i, its escape undone; -1: it is none. */
static int next_byte(struct slice s, size_t *i)
{
    char c = s.at[(*i)++];

    if (c == '+')
        return ' ';
    if (c != '%')
        return (unsigned char)c;
    int high = *i + 1 < s.length ? hex(s.at[*i]) : -1;
    int low = high >= 0 ? hex(s.at[*i + 1]) : -1;
    *i += 2;
    return low < 0 ? -1 : high * 16 + low;
}

/* In a query a plus is a blank. */
static bool unescape(struct slice s, bool is_query, char *to, size_t size)
{
    char text[QUERY_MAX];
    size_t used = 0;

    for (size_t i = 0; i < s.length;) {
        bool is_plus = s.at[i] == '+' && !is_query;
        int byte = next_byte(s, &i);

        byte = is_plus ? '+' : byte;
        if (byte <= 0 || used + 1 >= size || used + 1 >= sizeof text)
            return false;
        text[used++] = (char)byte;
    }
    text[used] = '\0';
    memcpy(to, text, used + 1);
    return true;
}

bool fb_call_unescape(struct slice part, char *to, size_t size)
{
    return unescape(part, false, to, size);
}

/* The first value of that name, as it came. */
static bool find_value(const struct call *c, const char *name, struct slice *ret_value)
{
    struct slice rest = c->query;
    struct slice part;

    while (fb_slice_next(&rest, '&', &part)) {
        size_t equals = fb_slice_find(part, '=');

        *ret_value = fb_slice_after(part, equals + 1);
        if (fb_slice_equal(fb_slice_head(part, equals), fb_slice_of(name)))
            return true;
    }
    return false;
}

bool fb_call_query(const struct call *c, const char *name, char *to, size_t size)
{
    struct slice value;

    return find_value(c, name, &value) && unescape(value, true, to, size);
}

bool fb_call_option(const struct call *c, const char *name, char *to, size_t size)
{
    struct slice value;

    return !find_value(c, name, &value) || unescape(value, true, to, size);
}

/* ---------------------------------------------------------------------------------- routing */

static bool fits_path(const struct route *r, struct slice path)
{
    size_t size = strlen(r->path);

    if (size > 1 && r->path[size - 1] == '/')
        return path.length >= size && memcmp(path.at, r->path, size) == 0;
    return path.length == size && memcmp(path.at, r->path, size) == 0;
}

static bool fits_method(const struct route *r, struct slice method)
{
    return (method.length == strlen(r->method) &&
            memcmp(method.at, r->method, method.length) == 0) ||
           (strcmp(r->method, "GET") == 0 && method.length == 4 &&
            memcmp(method.at, "HEAD", 4) == 0);
}

/* The route of this path; of several the one whose method fits, else any. */
static const struct route *find(const struct router *r, struct slice path, struct slice method)
{
    const struct route *found = NULL;

    for (size_t t = 0; r->tables[t]; t++) {
        for (const struct route *at = r->tables[t]; at->path; at++) {
            if (!fits_path(at, path))
                continue;
            if (fits_method(at, method))
                return at;
            found = at;
        }
    }
    return found;
}

/* 0, or the status that refuses it and why. */
static int judge(const struct call *c, const char **ret_why)
{
    const struct guard *g = &c->router->guard;
    const struct http_request *q = c->x->request;

    *ret_why = "";
    if (!fb_guard_host(g, q)) {
        *ret_why = "this Host is not one that this server answers for";
        return 403;
    }
    if (!c->route) {
        *ret_why = "there is nothing here";
        return 404;
    }
    if (c->route->is_action && fb_guard_is_foreign(q)) {
        *ret_why = "this request comes from another site";
        return 403;
    }
    if (!fits_method(c->route, q->method)) {
        *ret_why = "not with this method";
        return 405;
    }
    if (c->route->is_action && !g->is_trusted && !fb_guard_token(g, q)) {
        *ret_why = "actions need the token (Authorization: Bearer ...), or the control socket";
        return 403;
    }
    return 0;
}

static void on_request(void *context, struct exchange *x)
{
    struct call *c = fb_alloc(sizeof *c);
    const char *why = "";

    if (!c) {
        fb_answer_begin(x, 503);
        fb_answer_send(x, FB_SLICE(""));
        return;
    }
    x->data = c;
    c->x = x;
    c->router = context;
    c->path = fb_http_path(x->request->target);
    size_t mark = fb_slice_find(c->path, '?');
    c->query = fb_slice_after(c->path, mark + 1);
    c->path = fb_slice_head(c->path, mark);
    c->route = find(c->router, c->path, x->request->method);
    int status = judge(c, &why);
    if (status == 0 && x->request->length > (int64_t)c->router->body_max) {
        status = 413;
        why = "the body is too large";
    }
    if (status > 0)
        fb_call_refuse(c, status, why);
}

static void on_body(void *context, struct exchange *x, struct slice piece)
{
    struct call *c = x->data;

    (void)context;
    if (c->body.size + piece.length > c->router->body_max)
        fb_call_refuse(c, 413, "the body is too large");
    else
        fb_buffer_add(&c->body, piece.at, piece.length);
}

static void on_end(void *context, struct exchange *x)
{
    struct call *c = x->data;

    (void)context;
    if (c->body.failed)
        fb_call_refuse(c, 503, "out of memory");
    else
        c->route->answer(c);
}

static void on_room(void *context, struct exchange *x)
{
    struct call *c = x->data;

    (void)context;
    if (c->on_room)
        c->on_room(c);
}

static void on_close(void *context, struct exchange *x, bool complete)
{
    struct call *c = x->data;

    (void)context;
    (void)complete;
    if (!c)
        return;
    x->data = NULL;
    if (c->on_close)
        c->on_close(c);
    fb_buffer_fini(&c->body);
    fb_free(c);
}

const struct handler fb_router_handler = {
    .on_request = on_request,
    .on_body = on_body,
    .on_end = on_end,
    .on_room = on_room,
    .on_close = on_close,
};
