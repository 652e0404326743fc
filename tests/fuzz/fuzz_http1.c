/* SPDX-License-Identifier: MIT */
/*
 * fuzz_http1.c - any bytes as requests, cut in any way, and any lines as the head of an answer.
 *
 * The first byte seeds the cuts. What the reader tells must not depend on them, and every request
 * that it lets through must still be one when it is written out from its parts.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/http_rig.h"
#include "http1/answer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define HOLD(fact) ((fact) ? (void)0 : broken(#fact, __LINE__))

static const struct http_limits LIMITS = {.line = 256, .head = 1024, .fields = 8, .body = 100000};

static void broken(const char *fact, int line)
{
    fprintf(stderr, "fuzz_http1.c:%d: does not hold: %s\n", line, fact);
    abort();
}

/* ---- requests ---- */

static void put(char *to, size_t *at, struct slice s, const char *after)
{
    memcpy(to + *at, s.at, s.length);
    *at += s.length;
    memcpy(to + *at, after, strlen(after));
    *at += strlen(after);
}

/* The head from its parts, as a proxy would send it on. */
static size_t write_head(const struct http_request *q, char *to)
{
    size_t at = 0;

    put(to, &at, q->method, " ");
    put(to, &at, q->target, q->minor ? " HTTP/1.1\r\n" : " HTTP/1.0\r\n");
    for (size_t i = 0; i < q->head_count; i++) {
        put(to, &at, q->field[i].name, ": ");
        put(to, &at, q->field[i].value, "\r\n");
    }
    put(to, &at, FB_SLICE("\r\n"), "");
    return at;
}

/* Reading what was written gives the same parts: no byte in them means anything but itself. */
static void check_head(const struct http_request *q)
{
    char text[4096];
    size_t size = write_head(q, text);
    struct http_limits wide = {.line = 1024, .head = 4096, .fields = 8, .body = 100000};
    struct rig g;
    struct slice bytes = {text, size};
    struct slice body;

    rig_open(&g, &wide);
    HOLD(fb_http_read(&g.reader, &bytes, &body) == HTTP_HEAD);
    HOLD(bytes.length == 0);
    const struct http_request *p = &g.reader.request;
    HOLD(p->head_count == q->head_count && p->minor == q->minor);
    HOLD(p->length == q->length && p->chunked == q->chunked && p->keep_alive == q->keep_alive);
    HOLD(p->target.length == q->target.length);
    for (size_t i = 0; i < p->head_count; i++)
        HOLD(p->field[i].value.length == q->field[i].value.length);
    rig_close(&g);
}

static void read_requests(const char *at, size_t size, struct rng *rng)
{
    struct rig one;
    struct rig many;

    rig_open(&one, &LIMITS);
    rig_open(&many, &LIMITS);
    rig_run(&one, at, size, 1, rng);
    rig_run(&many, at, size, 64, rng);
    HOLD(one.told_size == many.told_size && memcmp(one.told, many.told, one.told_size) == 0);
    rig_close(&one);
    rig_close(&many);
}

static void check_heads(const char *at, size_t size)
{
    struct rig g;
    struct slice bytes = {at, size};
    struct slice body;
    enum http_event event;

    rig_open(&g, &LIMITS);
    do {
        event = fb_http_read(&g.reader, &bytes, &body);
        if (event == HTTP_HEAD)
            check_head(&g.reader.request);
        HOLD((event == HTTP_BAD) == (g.reader.fault != HTTP_FINE));
    } while (event != HTTP_MORE && event != HTTP_BAD);
    rig_close(&g);
}

/* ---- answers ---- */

static void read_answer(const char *at, size_t size)
{
    struct http_answer a;
    enum http_fault fault = HTTP_FINE;

    fb_http_answer_init(&a, &LIMITS);
    while (size > 0) {
        const char *end = memchr(at, '\n', size);
        size_t length = end ? (size_t)(end - at) + 1 : size;
        char *line = malloc(length); /* reading beyond it is seen */

        memcpy(line, at, length);
        enum http_fault now = fb_http_answer_line(&a, (struct slice){line, length});
        free(line);
        HOLD(fault == HTTP_FINE || now == fault);
        fault = now;
        at += length;
        size -= length;
    }
    enum http_fault last = fb_http_answer_end(&a);
    HOLD(fault == HTTP_FINE || last == fault);
    if (last == HTTP_FINE)
        HOLD(a.status >= 200 && a.status <= 999 && (!a.framing.has_coding || a.framing.chunked));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    struct rng rng = {data[0]};
    const char *at = (const char *)data + 1;

    read_requests(at, size - 1, &rng);
    check_heads(at, size - 1);
    read_answer(at, size - 1);
    return 0;
}
