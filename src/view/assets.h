/* SPDX-License-Identifier: MIT */
/*
 * assets.h - the files of the dashboard, carried in the command.
 *
 * They are made from web/ by tools/embed when it is built. "/page.html" is a template that
 * view/page.h fills in; a daemon serves the others as they are, packed for those who take that,
 * and a report has them inside.
 */
#ifndef FLYBALL_VIEW_ASSETS_H
#define FLYBALL_VIEW_ASSETS_H

#include <stddef.h>

struct asset_bytes {
    const unsigned char *at;
    size_t size;
};

struct asset {
    const char *path; /* "/app.js"; NULL ends the table */
    const char *type;
    const char *hash; /* "sha256-...": by which a policy allows it */
    struct asset_bytes plain;
    struct asset_bytes packed; /* gzip */
};

extern const struct asset fb_assets[];

/* NULL: there is none. */
const struct asset *fb_asset_find(const char *path, size_t length);

#endif
