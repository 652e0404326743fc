/* SPDX-License-Identifier: MIT */
/*
 * assets.h - the files of the dashboard, carried in the command.
 *
 * They are made from web/ by tools/embed when it is built. "/page.html" is a template that page.c
 * fills in; the others are served as they are, packed for those who take that.
 */
#ifndef FLYBALL_DAEMON_ASSETS_H
#define FLYBALL_DAEMON_ASSETS_H

#include <stddef.h>

struct call;

struct asset_bytes {
    const unsigned char *at;
    size_t size;
};

struct asset {
    const char *path; /* "/app.js"; NULL ends the table */
    const char *type;
    struct asset_bytes plain;
    struct asset_bytes packed; /* gzip */
};

extern const struct asset fb_assets[];

/* NULL: there is none. */
const struct asset *fb_asset_find(const char *path, size_t length);

/* The answers to "/", and to the files that the page needs. */
void fb_page_answer(struct call *c);
void fb_asset_answer(struct call *c);

#endif
