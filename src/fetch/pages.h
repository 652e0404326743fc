/* SPDX-License-Identifier: MIT */
/*
 * pages.h - where the next page is, and how to keep that without its secrets.
 */
#ifndef FLYBALL_FETCH_PAGES_H
#define FLYBALL_FETCH_PAGES_H

#include <stddef.h>

#include "util/buffer.h"

/*
 * The target of rel=next in the value of a Link header (RFC 8288): its beginning and size in
 * `value`. 0 when there is none.
 */
size_t fb_pages_link(const char *value, const char **ret_target);

/*
 * What a JSON body has at `pointer` (RFC 6901), as text; 1, or 0: nothing, null, false or "".
 */
int fb_pages_cursor(const char *body, size_t size, const char *pointer, struct buffer *out);

/* `url` with the parameter `name` set to `value`, which is escaped as it needs. */
void fb_pages_set(const char *url, const char *name, const char *value, struct buffer *out);

/*
 * The URL of a page to be kept: parameters that `base`, the URL of the list, has with the same
 * value, and the user, are left out; restore puts them back from there.
 */
void fb_pages_strip(const char *base, const char *url, struct buffer *out);
void fb_pages_restore(const char *base, const char *kept, struct buffer *out);

#endif
