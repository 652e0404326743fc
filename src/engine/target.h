/* SPDX-License-Identifier: MIT */
/*
 * target.h - where a request goes, taken apart for libcurl.
 *
 * Most requests of a handle go to the origin of the one before: then only path and query are set,
 * which costs a tenth of reading the whole URL. The result never differs from reading it whole.
 */
#ifndef FLYBALL_ENGINE_TARGET_H
#define FLYBALL_ENGINE_TARGET_H

#include <curl/curl.h>
#include <stdbool.h>

#include "util/buffer.h"

struct target {
    CURLU *url;           /* NULL: memory was out, and nothing can be read */
    struct buffer origin; /* the beginning of what was read last, up to its path; may be empty */
    struct buffer path;   /* for a moment */
};

void fb_target_init(struct target *t);
void fb_target_fini(struct target *t);

/* Make t->url this one. False: it cannot be read, and t->url is not to be used. */
bool fb_target_set(struct target *t, const char *url);

#endif
