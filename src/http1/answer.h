/* SPDX-License-Identifier: MIT */
/*
 * answer.h - checks on the head of an answer that an HTTP client library leaves out.
 *
 * libcurl accepts heads that are cut in the middle, lists of lengths, odd codings, bare CRs. These
 * functions are fed the lines that its header callback gets, one by one and as they came, and say
 * at once whether the answer can be trusted; a caller that sees a fault fails the transfer.
 *
 *     curl_easy_setopt(h, CURLOPT_HEADERFUNCTION, ...): fb_http_answer_line(&a, line)
 *     after the transfer, even a successful one:        fb_http_answer_end(&a)
 *
 * One checker sees all heads of a transfer: "100 Continue", what a proxy said, redirects. A new
 * head begins with each status line; lines behind a complete head are trailers. Folded fields are
 * accepted, as a blank would be (RFC 9112, 5.2), unless they would change where the answer ends.
 */
#ifndef FLYBALL_HTTP1_ANSWER_H
#define FLYBALL_HTTP1_ANSWER_H

#include "http1/head.h"

struct http_answer {
    struct http_limits limits;
    struct http_framing framing; /* of the latest head */
    int status;                  /* of the latest head; 0: none yet */
    int major;                   /* of its version */

    /* For the checker alone. */
    bool complete; /* the empty line was seen */
    bool in_field; /* the last line was a field that may go on in the next */
    size_t bytes;
    size_t fields;
    enum http_fault fault;
};

void fb_http_answer_init(struct http_answer *a, const struct http_limits *limits);

/* One line with its end, as it came. The first fault stays. */
enum http_fault fb_http_answer_line(struct http_answer *a, struct slice line)
    __attribute__((warn_unused_result));

/* Nothing more comes: HTTP_HEAD_CUT unless the latest head was complete and not a 1xx. */
enum http_fault fb_http_answer_end(const struct http_answer *a) __attribute__((warn_unused_result));

/*
 * Whether its connection must not be used again although the answer is fine: it says both where
 * it ends by length and by chunks, of which the length is to be ignored.
 */
bool fb_http_answer_taints(const struct http_answer *a);

#endif
