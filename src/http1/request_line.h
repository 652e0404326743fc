/* SPDX-License-Identifier: MIT */
/*
 * request_line.h - the first line of a request and what a Host may be.
 */
#ifndef FLYBALL_HTTP1_REQUEST_LINE_H
#define FLYBALL_HTTP1_REQUEST_LINE_H

#include "http1/request.h"

/* Read "METHOD TARGET HTTP/1.x" into method, target and minor of *q. */
enum http_fault fb_http_request_line(struct slice line, struct http_request *q);

/* Whether a value may stand in Host: a name or address and maybe a port, or nothing at all. */
bool fb_http_is_host(struct slice value);

#endif
