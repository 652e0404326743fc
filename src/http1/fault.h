/* SPDX-License-Identifier: MIT */
/*
 * fault.h - what can be wrong with a message: one row each, with its status and its sentence.
 *
 * The status is what a server answers to a request with this fault. In an answer of an origin
 * every fault means the same, a bad gateway, whatever the row says.
 */
#ifndef FLYBALL_HTTP1_FAULT_H
#define FLYBALL_HTTP1_FAULT_H

#define FB_HTTP_FAULTS(X)                                                                  \
    X(HTTP_FINE, 200, "nothing is wrong")                                                  \
    /* bytes */                                                                            \
    X(HTTP_NUL, 400, "a NUL byte in the head")                                             \
    X(HTTP_CONTROL, 400, "a control character in the head")                                \
    X(HTTP_BARE_CR, 400, "a CR without LF")                                                \
    X(HTTP_BARE_LF, 400, "a LF without CR")                                                \
    /* the first line */                                                                   \
    X(HTTP_BLANK_LINES, 400, "more than one empty line before the request")                \
    X(HTTP_REQUEST_LINE, 400, "the first line is not METHOD TARGET HTTP/1.1")              \
    X(HTTP_METHOD, 400, "the method is not a word")                                        \
    X(HTTP_TARGET, 400, "the target has a form or a character that is not allowed")        \
    X(HTTP_VERSION, 505, "neither HTTP/1.1 nor HTTP/1.0")                                  \
    X(HTTP_STATUS_LINE, 400, "the first line is not HTTP/1.1 STATUS REASON")               \
    /* fields */                                                                           \
    X(HTTP_FOLD, 400, "a field line begins with a blank")                                  \
    X(HTTP_NO_COLON, 400, "a field line without a colon")                                  \
    X(HTTP_NAME_EMPTY, 400, "a field without a name")                                      \
    X(HTTP_NAME_BLANK, 400, "a blank between the name of a field and its colon")           \
    X(HTTP_NAME, 400, "a character in the name of a field that is not allowed")            \
    X(HTTP_HOST_MISSING, 400, "no Host")                                                   \
    X(HTTP_HOST_TWICE, 400, "more than one Host")                                          \
    X(HTTP_HOST, 400, "a Host that is none")                                               \
    X(HTTP_EXPECT, 417, "an expectation other than 100-continue")                          \
    /* where the body ends */                                                              \
    X(HTTP_LENGTH, 400, "a Content-Length that is not one plain number")                   \
    X(HTTP_LENGTH_TWICE, 400, "more than one Content-Length")                              \
    X(HTTP_LENGTH_AND_CODING, 400, "both Content-Length and Transfer-Encoding")            \
    X(HTTP_CODING, 400, "a Transfer-Encoding that is not a list of words")                 \
    X(HTTP_CODING_LAST, 400, "a Transfer-Encoding that does not end with chunked, once")   \
    X(HTTP_CODING_OLD, 400, "a Transfer-Encoding with HTTP/1.0")                           \
    X(HTTP_CODING_UNKNOWN, 501, "a Transfer-Encoding other than chunked")                  \
    X(HTTP_CHUNK_SIZE, 400, "a chunk whose size is not a plain hexadecimal number")        \
    X(HTTP_CHUNK_EXTENSION, 400, "a chunk extension with a character that is not allowed") \
    X(HTTP_CHUNK_END, 400, "a chunk that does not end where its size says")                \
    X(HTTP_TRAILER, 400, "a trailer field that must stand in the head")                    \
    /* limits */                                                                           \
    X(HTTP_TARGET_LONG, 414, "the first line is too long")                                 \
    X(HTTP_LINE_LONG, 431, "a field line is too long")                                     \
    X(HTTP_HEAD_LONG, 431, "the head is too long")                                         \
    X(HTTP_FIELDS_MANY, 431, "too many fields")                                            \
    X(HTTP_BODY_LONG, 413, "the body is too long")                                         \
    /* the end */                                                                          \
    X(HTTP_HEAD_CUT, 400, "the head ends before its empty line")

enum http_fault {
#define X(name, status, reason) name,
    FB_HTTP_FAULTS(X)
#undef X
};

/* What to answer: 400, 413, 414, 417, 431, 501, 505; 200 for HTTP_FINE. */
int fb_http_fault_status(enum http_fault fault);

/* For people, without a full stop: "more than one Content-Length". */
const char *fb_http_fault_reason(enum http_fault fault);

#endif
