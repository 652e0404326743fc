/* SPDX-License-Identifier: MIT */
/*
 * place.h - parts of a URL, and what of it may be shown or kept.
 */
#ifndef FLYBALL_FETCH_PLACE_H
#define FLYBALL_FETCH_PLACE_H

#include <stddef.h>

#include "util/buffer.h"

/* "https://host:port" at the beginning of a URL, without the user: begin and size in `url`. */
struct origin {
    size_t scheme_size; /* "https" */
    size_t host;        /* where host and port begin */
    size_t host_size;
    size_t path; /* where the path begins; the end of the URL when there is none */
};

void fb_origin_of(const char *url, struct origin *ret_origin);

/* Whether they have one scheme, host and port. */
bool fb_is_same_origin(const char *a, const char *b);

/*
 * The URL without user, query and fragment: they may hold secrets, and this goes into journals and
 * onto terminals.
 */
void fb_place_add(struct buffer *out, const char *url);

/* The whole URL, but for the user and the values of parameters whose names speak of secrets. */
void fb_place_add_shown(struct buffer *out, const char *url);

/* Whether a header of this name carries a credential. */
bool fb_is_secret_header(const char *name);

#endif
