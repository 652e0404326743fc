/* SPDX-License-Identifier: MIT */
/*
 * guard.h - whether a request may be here at all: against names that were made to point at this
 * machine (DNS rebinding), and against pages of other sites that a browser on it has open.
 *
 * Host must be a name of this machine's own loopback, the address that is listened on, or one that
 * was configured. An action must not come from another origin: what a browser says about that is
 * believed, and who says nothing (a command) is no browser. Pure.
 */
#ifndef FLYBALL_SERVE_GUARD_H
#define FLYBALL_SERVE_GUARD_H

#include <stdbool.h>
#include <stddef.h>

#include "http1/request.h"

struct guard {
    char own[64];            /* the host that is listened on, "" for none of its own */
    const char *const *host; /* further names, without ports; ended by NULL, or NULL */
    const char *token;       /* who knows it may act; NULL: nobody may */
    bool is_trusted;         /* a socket in the file system: who can open it may act */
};

/* The first field of this name (ASCII case does not matter), or nothing, at NULL. */
struct slice fb_guard_field(const struct http_request *q, const char *name);

/* Whether it is meant for this server. */
bool fb_guard_host(const struct guard *g, const struct http_request *q);

/* Whether it comes from another site. */
bool fb_guard_is_foreign(const struct http_request *q);

/* Whether it shows the token (Authorization: Bearer); how long that takes tells nothing. */
bool fb_guard_token(const struct guard *g, const struct http_request *q);

#endif
