/* SPDX-License-Identifier: MIT */
/*
 * template.h - a URL with holes: "https://alpha.example.com/live/{id}?lang=en".
 *
 * {id} is what the source calls the item, {item} its canonical id. What is put into a URL is
 * percent-encoded but for letters, digits and "-._~", so that no id can add a segment, a
 * parameter or a host. Braces have no other meaning, and none in the host.
 */
#ifndef FLYBALL_CONFIG_TEMPLATE_H
#define FLYBALL_CONFIG_TEMPLATE_H

#include <stdbool.h>
#include <stddef.h>

#include "util/buffer.h"

#define FB_ID_MAX 255 /* bytes of an id */

struct template_words {
    const char *id;
    const char *item;
};

/* Whether its braces are right: {id} and {item}, each closed. */
bool fb_template_is_right(const char *text);

/* The same of a URL: http or https, holes only behind the host. */
bool fb_template_is_url(const char *text);

/* A URL without holes. */
bool fb_template_is_whole(const char *text);

/* An id that can be put into one: 1 to FB_ID_MAX bytes, no control characters, not "." or "..". */
bool fb_template_is_id(const char *id);

/*
 * Append the URL for these words. 0, or -EINVAL: one of the words that it needs is NULL or no id.
 * That memory is out is in the buffer.
 */
int fb_template_url(const char *text, const struct template_words *w, struct buffer *out)
    __attribute__((warn_unused_result));

/* The same without encoding, for an id made of another one. */
int fb_template_id(const char *text, const struct template_words *w, struct buffer *out)
    __attribute__((warn_unused_result));

#endif
