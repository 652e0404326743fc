/* SPDX-License-Identifier: MIT */
/*
 * site.h - sites that tell of matches (mock/match.h), each in its own way: paths, names, ids, form.
 *
 * The backend says which matches there are; the others tell of one match a page. To add a site:
 * write its function, and a row in the table below it.
 */
#ifndef FLYBALL_MOCK_SITE_H
#define FLYBALL_MOCK_SITE_H

#include "mock/match.h"
#include "util/buffer.h"

struct site {
    const char *name;
    const char *type; /* of its pages */
    /* Write the page at `path` as it is now. Returns the status; but for 200 the page is dropped.
     */
    int (*answer)(const struct fixture *f, int64_t wall_ns, struct slice path, struct buffer *page);
};

/* Or NULL. */
const struct site *fb_site_find(const char *name);

/* The names, NULL behind the last. */
extern const char *const fb_site_names[];

#endif
