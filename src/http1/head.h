/* SPDX-License-Identifier: MIT */
/*
 * head.h - the lines of a head, one by one: fields, and what they say about the body.
 *
 * Requests and answers share this; what is allowed of it differs and is told where it does.
 * Nothing here sees a line's end: lines come without CR LF.
 */
#ifndef FLYBALL_HTTP1_HEAD_H
#define FLYBALL_HTTP1_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "http1/fault.h"
#include "signal/slice.h"

/* Ceilings of a message. What is above is refused, never cut. */
struct http_limits {
    size_t line;   /* bytes of a line, its end not counted */
    size_t head;   /* bytes of the head with all line ends, trailers and chunk extensions */
    size_t fields; /* of head and trailers together */
    int64_t body;  /* bytes of the body */
};

#define FB_HTTP_LINE_MAX   16384
#define FB_HTTP_HEAD_MAX   65536
#define FB_HTTP_FIELDS_MAX 100

#define FB_HTTP_LIMITS \
    ((struct http_limits){FB_HTTP_LINE_MAX, FB_HTTP_HEAD_MAX, FB_HTTP_FIELDS_MAX, INT64_C(1) << 40})

struct http_field {
    struct slice name;
    struct slice value; /* without blanks around it */
};

/* What the fields of one head say about its body and its connection. All zero at the start. */
struct http_framing {
    int64_t length; /* valid if has_length */
    bool has_length;
    bool has_coding;     /* there was a Transfer-Encoding */
    bool chunked;        /* it ends with chunked */
    bool coding_unknown; /* it names something else, too */
    bool close;          /* Connection: close */
    bool keep_alive;     /* Connection: keep-alive */
};

/* One byte of a line: fine, or what is wrong. CR and LF are for the caller to look at. */
enum http_fault fb_http_byte(unsigned char c);

/* Whether all of it is a token of RFC 9110: not empty, no separators. */
bool fb_http_is_token(struct slice s);

/* One field line without its end. *ret_field is untouched if it is refused. */
enum http_fault fb_http_field(struct slice line, struct http_field *ret_field);

/* The value of the first field of this name; at NULL: there is none. */
struct slice fb_http_find(const struct http_field *fields, size_t count, const char *name);

/* Take in one field of the head; those that say nothing about framing change nothing. */
enum http_fault fb_http_framing_add(struct http_framing *f, const struct http_field *field);

/* Whether a field must not come as a trailer. */
bool fb_http_is_head_only(struct slice name);

#endif
