/* SPDX-License-Identifier: MIT */
/*
 * http_rig.h - run the request reader over bytes that come in pieces, and write down what it says.
 *
 * The transcript holds heads, bodies and ends of all requests, and the fault with the number of
 * bytes read up to it; pieces of a body are joined, so that it does not depend on the cuts.
 */
#ifndef FLYBALL_TESTS_HTTP_RIG_H
#define FLYBALL_TESTS_HTTP_RIG_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/rng.h"
#include "http1/request.h"

struct rig {
    struct http_reader reader;
    char *store;
    struct http_field *fields;
    char *told; /* the transcript */
    size_t told_size;
    size_t read; /* bytes */
    bool in_body;
};

static inline void rig_open(struct rig *g, const struct http_limits *limits)
{
    *g = (struct rig){
        .store = malloc(limits->head),
        .fields = malloc(limits->fields * sizeof(struct http_field)),
    };
    g->told = calloc(1, 1);
    fb_http_reader_init(&g->reader, limits, g->store, g->fields);
}

static inline void rig_close(struct rig *g)
{
    free(g->told);
    free(g->store);
    free(g->fields);
}

static inline void rig_put(struct rig *g, const char *at, size_t size)
{
    g->told = realloc(g->told, g->told_size + size + 1);
    memcpy(g->told + g->told_size, at, size);
    g->told_size += size;
    g->told[g->told_size] = '\0';
}

static inline void rig_say(struct rig *g, const char *text)
{
    rig_put(g, text, strlen(text));
}

static inline void rig_tell_fields(struct rig *g, size_t from)
{
    const struct http_request *q = &g->reader.request;

    for (size_t i = from; i < q->field_count; i++) {
        rig_say(g, " | ");
        rig_put(g, q->field[i].name.at, q->field[i].name.length);
        rig_say(g, "=");
        rig_put(g, q->field[i].value.at, q->field[i].value.length);
    }
}

static inline void rig_tell_head(struct rig *g)
{
    const struct http_request *q = &g->reader.request;
    char more[100];

    rig_say(g, "HEAD ");
    rig_put(g, q->method.at, q->method.length);
    rig_say(g, " ");
    rig_put(g, q->target.at, q->target.length);
    snprintf(more, sizeof(more), " 1.%d %s%s%s%lld", q->minor, q->keep_alive ? "keep " : "close ",
             q->wants_continue ? "continue " : "", q->chunked ? "chunked " : "",
             (long long)q->length);
    rig_say(g, more);
    rig_tell_fields(g, 0);
    rig_say(g, "\n");
}

/* Tell one event. False: the reader wants more, or nothing any more. */
static inline bool rig_tell(struct rig *g, enum http_event event, struct slice body)
{
    char bad[200];

    if (g->in_body && event != HTTP_BODY && event != HTTP_MORE) {
        g->in_body = false;
        rig_say(g, "\n");
    }
    switch (event) {
    case HTTP_HEAD:
        rig_tell_head(g);
        return true;
    case HTTP_BODY:
        rig_say(g, g->in_body ? "" : "BODY ");
        g->in_body = true;
        rig_put(g, body.at, body.length);
        return true;
    case HTTP_END:
        rig_say(g, "END");
        rig_tell_fields(g, g->reader.request.head_count);
        rig_say(g, "\n");
        return true;
    case HTTP_BAD:
        snprintf(bad, sizeof(bad), "BAD %d %s, after %zu bytes\n",
                 fb_http_fault_status(g->reader.fault), fb_http_fault_reason(g->reader.fault),
                 g->read);
        rig_say(g, bad);
        return false;
    case HTTP_MORE:
        break;
    }
    return false;
}

/* Bring one piece. False: it is bad. The piece is copied: reading beyond it is seen. */
static inline bool rig_feed(struct rig *g, const char *at, size_t size)
{
    char *piece = malloc(size > 0 ? size : 1);
    struct slice bytes = {piece, size};
    struct slice body = {NULL, 0};
    enum http_event event;
    size_t left;

    memcpy(piece, at, size);
    do {
        left = bytes.length;
        event = fb_http_read(&g->reader, &bytes, &body);
        g->read += left - bytes.length;
    } while (rig_tell(g, event, body));
    free(piece);
    return event != HTTP_BAD;
}

/* All of it in pieces of random sizes up to `most`; the transcript is in g->told. */
static inline void rig_run(struct rig *g, const char *at, size_t size, size_t most, struct rng *rng)
{
    bool good = true;

    while (size > 0 && good) {
        size_t piece = 1 + (size_t)(fb_rng_next(rng) % most);

        piece = piece < size ? piece : size;
        good = rig_feed(g, at, piece);
        at += piece;
        size -= piece;
    }
}

#endif
