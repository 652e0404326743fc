/* SPDX-License-Identifier: MIT */
/*
 * request.h - a strict reader of HTTP/1.1 requests: bytes in, events out.
 *
 * It does no I/O, keeps no clock and allocates nothing: the caller brings the bytes as they come,
 * in pieces of any size, and the memory for one head. The same bytes give the same events however
 * they are cut (only the pieces of a body are cut as the input is). Whatever is wrong ends it for
 * good: after HTTP_BAD the connection is to be closed, for nobody knows where the next request
 * would begin.
 *
 *     for (;;) {
 *         event = fb_http_read(&reader, &bytes, &body);
 *         HTTP_MORE: all bytes are used, wait for more
 *         HTTP_HEAD: reader.request is complete; HTTP_BODY: `body` is the next piece
 *         HTTP_END:  the request is over; what is left in `bytes` belongs to the next one
 *         HTTP_BAD:  reader.fault says why
 *     }
 */
#ifndef FLYBALL_HTTP1_REQUEST_H
#define FLYBALL_HTTP1_REQUEST_H

#include "http1/head.h"

enum http_event { HTTP_MORE, HTTP_HEAD, HTTP_BODY, HTTP_END, HTTP_BAD };

/* Valid from HTTP_HEAD until the first byte of the next request is read. */
struct http_request {
    struct slice method; /* a token, as sent */
    struct slice target; /* "/path?query", "http://host/...", "host:port" or "*" */
    int minor;           /* HTTP/1.minor: 0 or 1 */
    bool keep_alive;     /* the client wants to go on afterwards */
    bool wants_continue; /* it waits for "100 Continue" before the body */
    bool chunked;        /* the length of the body is not known */
    int64_t length;      /* of the body where it is known; 0: there is none */
    const struct http_field *field;
    size_t field_count; /* from HTTP_END on with the trailers, which come last */
    size_t head_count;  /* of them in the head */
};

struct http_reader {
    struct http_limits limits;
    struct http_request request;
    struct http_framing framing;
    enum http_fault fault;

    /* For the reader alone. */
    int state;
    char *store; /* of the caller: the lines of the head, without their ends */
    size_t used; /* of the store */
    size_t line; /* where the line begins that is being read */
    size_t spent;
    struct http_field *field;
    int64_t body; /* bytes announced so far */
    int64_t left; /* of the body or of the chunk */
    int digits;   /* of the chunk size */
    bool cr;      /* the last byte was CR */
    bool blank;   /* an empty line came before the request */
    bool host;    /* there was one */
};

/*
 * Begin. `store` has limits->head bytes and `fields` limits->fields places; both belong to the
 * reader until its last use, and requests point into them.
 */
void fb_http_reader_init(struct http_reader *r, const struct http_limits *limits, char *store,
                         struct http_field *fields);

/*
 * Read on: takes what it uses off *bytes, up to the next event. HTTP_MORE leaves *bytes empty.
 * *ret_body is set by HTTP_BODY alone, to a part of *bytes.
 */
enum http_event fb_http_read(struct http_reader *r, struct slice *bytes, struct slice *ret_body);

/* True between two requests: nothing of the next one was read. */
bool fb_http_reader_is_idle(const struct http_reader *r);

/*
 * Path and query of a target: "/a?b" of itself and of "http://host/a?b", "/" of "http://host",
 * but "?b" of "http://host?b".
 */
struct slice fb_http_path(struct slice target);

#endif
